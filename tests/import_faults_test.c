/*
 * import_faults_test.c - the n-th call that can fail does fail, once or from then on: of import, of building derived
 * tables, of queries. Each time a clear error or the right answer, no crash, no leak, the old database intact.
 *
 * Our own calls are caught by the linker; pwrite, writev, fsync, fdatasync and ftruncate are defined here, which
 * reaches the calls inside liblmdb, too.
 *
 * Link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup,--wrap=realpath
 * Link with: -Wl,--wrap=asprintf,--wrap=mmap,--wrap=open,--wrap=fopen,--wrap=fstat,--wrap=stat
 * Link with: -Wl,--wrap=pread,--wrap=rename,--wrap=fchmod,--wrap=fcntl,--wrap=posix_fallocate
 * Link with: -Wl,--wrap=mkostemp,--wrap=mkdtemp,--wrap=pthread_create
 * Link with: -Wl,--wrap=mdb_env_create,--wrap=mdb_env_open,--wrap=mdb_env_sync
 * Link with: -Wl,--wrap=mdb_txn_begin,--wrap=mdb_txn_commit,--wrap=mdb_dbi_open
 * Link with: -Wl,--wrap=mdb_cursor_open,--wrap=mdb_cursor_get,--wrap=mdb_cursor_del
 * Link with: -Wl,--wrap=mdb_put,--wrap=mdb_del,--wrap=mdb_env_get_fd,--wrap=mdb_get
 */
#include "support/hostile.h"
#include "support/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <cmocka.h>

/* One step may take this long, seconds of processor time. */
#define STEP_SECONDS_MAX 20

/* ---- faults ---- */

static struct {
	bool is_armed;
	bool is_sticky;        /* all calls from the n-th on */
	unsigned long at;      /* which call fails, from 1; 0: none, calls are counted */
	unsigned long count;   /* calls so far */
	long live;             /* blocks of memory that are not freed */
	const char *failed;    /* what failed last */
} fault;

/* Whether this call is to fail, with that errno. */
static bool fails(const char *name, int code)
{
	if (!fault.is_armed)
		return false;
	fault.count++;
	if (!fault.at || fault.count < fault.at || (fault.count > fault.at && !fault.is_sticky))
		return false;
	fault.failed = name;
	errno = code;
	return true;
}

/* What the linker calls in place of NAME, and how that calls the real one. */
#define WRAP(type, name, params) \
	type __real_##name params; type __wrap_##name params; type __wrap_##name params

WRAP(void *, malloc, (size_t size))
{
	void *p = fails("malloc", ENOMEM) ? NULL : __real_malloc(size);

	fault.live += p != NULL;
	return p;
}

WRAP(void *, calloc, (size_t count, size_t size))
{
	void *p = fails("calloc", ENOMEM) ? NULL : __real_calloc(count, size);

	fault.live += p != NULL;
	return p;
}

WRAP(void *, realloc, (void *old, size_t size))
{
	void *p = fails("realloc", ENOMEM) ? NULL : __real_realloc(old, size);

	fault.live += p && !old;
	return p;
}

WRAP(void, free, (void *p))
{
	fault.live -= p != NULL;
	__real_free(p);
}

WRAP(char *, strdup, (const char *text))
{
	char *p = fails("strdup", ENOMEM) ? NULL : __real_strdup(text);

	fault.live += p != NULL;
	return p;
}

WRAP(char *, realpath, (const char *path, char *buf))
{
	char *p = fails("realpath", ENOMEM) ? NULL : __real_realpath(path, buf);

	fault.live += p && !buf;
	return p;
}

int __wrap_asprintf(char **out, const char *format, ...);
int __wrap_asprintf(char **out, const char *format, ...)
{
	va_list args;
	int r;

	if (fails("asprintf", ENOMEM))
		return -1;
	va_start(args, format);
	r = vasprintf(out, format, args);
	va_end(args);
	fault.live += r >= 0;
	return r;
}

WRAP(void *, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t offset))
{
	return fails("mmap", ENOMEM) ? MAP_FAILED : __real_mmap(at, size, prot, flags, fd, offset);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	if (fails("open", EMFILE))
		return -1;
	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	return __real_open(path, flags, mode);
}

int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...)
{
	va_list args;
	void *arg;

	if (fails("fcntl", ENOLCK))
		return -1;
	va_start(args, what);
	arg = va_arg(args, void *);
	va_end(args);
	return __real_fcntl(fd, what, arg);
}

WRAP(FILE *, fopen, (const char *path, const char *mode))
{
	return fails("fopen", EMFILE) ? NULL : __real_fopen(path, mode);
}

WRAP(int, fstat, (int fd, struct stat *st))
{
	return fails("fstat", EIO) ? -1 : __real_fstat(fd, st);
}

WRAP(int, stat, (const char *path, struct stat *st))
{
	return fails("stat", EIO) ? -1 : __real_stat(path, st);
}

WRAP(ssize_t, pread, (int fd, void *data, size_t size, off_t offset))
{
	return fails("pread", EIO) ? -1 : __real_pread(fd, data, size, offset);
}

WRAP(int, rename, (const char *from, const char *to))
{
	return fails("rename", EIO) ? -1 : __real_rename(from, to);
}

WRAP(int, fchmod, (int fd, mode_t mode))
{
	return fails("fchmod", EPERM) ? -1 : __real_fchmod(fd, mode);
}

WRAP(int, posix_fallocate, (int fd, off_t offset, off_t size))
{
	return fails("posix_fallocate", ENOSPC) ? ENOSPC : __real_posix_fallocate(fd, offset, size);
}

WRAP(int, mkostemp, (char *name, int flags))
{
	return fails("mkostemp", ENOSPC) ? -1 : __real_mkostemp(name, flags);
}

WRAP(char *, mkdtemp, (char *name))
{
	return fails("mkdtemp", ENOSPC) ? NULL : __real_mkdtemp(name);
}

WRAP(int, pthread_create, (pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			   void *arg))
{
	return fails("pthread_create", EAGAIN) ? EAGAIN :
	       __real_pthread_create(thread, attr, run, arg);
}

/* LMDB's own results: as if memory or the disk had failed inside. */
WRAP(int, mdb_env_create, (MDB_env **env))
{
	return fails("mdb_env_create", ENOMEM) ? ENOMEM : __real_mdb_env_create(env);
}

WRAP(int, mdb_env_open, (MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode))
{
	return fails("mdb_env_open", EIO) ? EIO : __real_mdb_env_open(env, path, flags, mode);
}

WRAP(int, mdb_env_sync, (MDB_env *env, int force))
{
	return fails("mdb_env_sync", EIO) ? EIO : __real_mdb_env_sync(env, force);
}

WRAP(int, mdb_env_get_fd, (MDB_env *env, mdb_filehandle_t *fd))
{
	return fails("mdb_env_get_fd", EINVAL) ? EINVAL : __real_mdb_env_get_fd(env, fd);
}

WRAP(int, mdb_txn_begin, (MDB_env *env, MDB_txn *parent, unsigned flags, MDB_txn **txn))
{
	return fails("mdb_txn_begin", ENOMEM) ? ENOMEM :
	       __real_mdb_txn_begin(env, parent, flags, txn);
}

/* Frees the transaction even when it fails, as LMDB does. */
WRAP(int, mdb_txn_commit, (MDB_txn *txn))
{
	if (!fails("mdb_txn_commit", ENOSPC))
		return __real_mdb_txn_commit(txn);
	mdb_txn_abort(txn);
	return ENOSPC;
}

WRAP(int, mdb_dbi_open, (MDB_txn *txn, const char *name, unsigned flags, MDB_dbi *dbi))
{
	return fails("mdb_dbi_open", ENOMEM) ? ENOMEM :
	       __real_mdb_dbi_open(txn, name, flags, dbi);
}

WRAP(int, mdb_cursor_open, (MDB_txn *txn, MDB_dbi dbi, MDB_cursor **cursor))
{
	return fails("mdb_cursor_open", ENOMEM) ? ENOMEM :
	       __real_mdb_cursor_open(txn, dbi, cursor);
}

WRAP(int, mdb_cursor_get, (MDB_cursor *cursor, MDB_val *k, MDB_val *v, MDB_cursor_op op))
{
	return fails("mdb_cursor_get", EIO) ? EIO : __real_mdb_cursor_get(cursor, k, v, op);
}

WRAP(int, mdb_cursor_del, (MDB_cursor *cursor, unsigned flags))
{
	return fails("mdb_cursor_del", ENOMEM) ? ENOMEM : __real_mdb_cursor_del(cursor, flags);
}

WRAP(int, mdb_put, (MDB_txn *txn, MDB_dbi dbi, MDB_val *k, MDB_val *v, unsigned flags))
{
	return fails("mdb_put", MDB_MAP_FULL) ? MDB_MAP_FULL :
	       __real_mdb_put(txn, dbi, k, v, flags);
}

WRAP(int, mdb_get, (MDB_txn *txn, MDB_dbi dbi, MDB_val *k, MDB_val *v))
{
	return fails("mdb_get", EIO) ? EIO : __real_mdb_get(txn, dbi, k, v);
}

WRAP(int, mdb_del, (MDB_txn *txn, MDB_dbi dbi, MDB_val *k, MDB_val *v))
{
	return fails("mdb_del", ENOMEM) ? ENOMEM : __real_mdb_del(txn, dbi, k, v);
}

/* Calls of liblmdb: these definitions are found before the C library's. */
HDB_API ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return fails("pwrite", ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, data, size, offset);
}

HDB_API ssize_t writev(int fd, const struct iovec *parts, int count)
{
	return fails("writev", ENOSPC) ? -1 : syscall(SYS_writev, fd, parts, count);
}

HDB_API int fsync(int fd)
{
	return fails("fsync", EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

HDB_API int fdatasync(int fd)
{
	return fails("fdatasync", EIO) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

HDB_API int ftruncate(int fd, off_t size)
{
	return fails("ftruncate", ENOSPC) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

/* ---- what is tried ---- */

static char dump_path[512], db_path[512], temp_name[600];

struct image {
	uint8_t *data;
	size_t size;
};
static struct image base_image, full_image;
static uint64_t want;

static struct image read_image(void)
{
	struct image image = { 0 };
	FILE *f = fopen(db_path, "rb");
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	image.size = (size_t)st.st_size;
	image.data = malloc(image.size);
	assert_non_null(image.data);
	assert_int_equal(fread(image.data, 1, image.size, f), image.size);
	(void)fclose(f);
	return image;
}

static void write_image(const struct image *image)
{
	FILE *f = fopen(db_path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(image->data, 1, image->size, f), image->size);
	assert_int_equal(fclose(f), 0);
}

static bool is_image(const struct image *image)
{
	const struct image now = read_image();
	const bool same = now.size == image->size && memcmp(now.data, image->data, now.size) == 0;

	free(now.data);
	return same;
}

static int do_import(uint64_t *hash, struct hdb_error *err)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };

	*hash = want;
	return hdb_import(dump_path, db_path, &opt, NULL, err);
}

static int do_ask(uint64_t *hash, struct hdb_error *err)
{
	return hostile_answers(db_path, dump_path, hash, err);
}

static int run(int (*what)(uint64_t *, struct hdb_error *), unsigned long at, bool is_sticky,
	       uint64_t *hash, struct hdb_error *err)
{
	int r;

	*err = (struct hdb_error){ 0 };
	fault.at = at;
	fault.is_sticky = is_sticky;
	fault.count = 0;
	fault.live = 0;
	fault.failed = "nothing";
	fault.is_armed = true;
	hostile_seconds(STEP_SECONDS_MAX);
	r = what(hash, err);
	hostile_seconds(0);
	fault.is_armed = false;
	return r;
}

/* What must hold after a run, whatever failed in it. */
static void judge(int r, uint64_t hash, const struct hdb_error *err, unsigned long at,
		  bool is_sticky)
{
	const char *how = is_sticky ? "from then on" : "once";

	if (r > 0)
		fail_msg("call %lu (%s) fails %s: result %d", at, fault.failed, how, r);
	if (r < 0 && (!err->message[0] || r == HDB_EBUG || r == HDB_EFORMAT))
		fail_msg("call %lu (%s) fails %s: result %d, \"%s\"", at, fault.failed, how, r,
			 err->message);
	if (r == HDB_OK && hash != want)
		fail_msg("call %lu (%s) fails %s: another answer", at, fault.failed, how);
	if (fault.live != 0)
		fail_msg("call %lu (%s) fails %s: %ld blocks of memory leak", at, fault.failed, how,
			 fault.live);
}

/* After each failure the file is `before`, or whole. */
static void sweep(int (*what)(uint64_t *, struct hdb_error *), const struct image *before,
		  bool is_import)
{
	unsigned long calls, errors = 0, runs = 0;
	struct hdb_error err;
	uint64_t hash;

	write_image(before);
	assert_int_equal(run(what, 0, false, &hash, &err), HDB_OK);
	calls = fault.count;
	assert_true(calls > 100);
	for (unsigned long i = 0; i < 2 * calls; i++) {
		const unsigned long at = i / 2 + 1;
		const bool is_sticky = i % 2 != 0;
		int r;

		write_image(before);
		r = run(what, at, is_sticky, &hash, &err);
		judge(r, hash, &err, at, is_sticky);
		runs++;
		errors += r < 0;
		if (access(temp_name, F_OK) == 0)
			fail_msg("call %lu (%s): litter", at, fault.failed);
		if (!is_image(before) && hostile_check(db_path, dump_path, &err) != HDB_OK)
			fail_msg("call %lu (%s): %s", at, fault.failed, err.message);
		if (!is_import && r < 0 && i % 7 == 0) {
			/* What was left does not stand in the way of the next. */
			if (hostile_answers(db_path, dump_path, &hash, &err) != HDB_OK ||
			    hash != want)
				fail_msg("call %lu (%s): then: %s", at, fault.failed, err.message);
		}
	}
	print_message("%lu calls that can fail, %lu runs, %lu ended in an error\n", calls, runs,
		      errors);
	assert_true(errors > runs / 4);
}

static void test_import(void **state)
{
	(void)state;
	sweep(do_import, &full_image, true);
}

static void test_build(void **state)
{
	(void)state;
	sweep(do_ask, &base_image, false);
}

static void test_query(void **state)
{
	(void)state;
	sweep(do_ask, &full_image, false);
}

static int setup(void **state)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err;
	struct hw w;

	(void)state;
	hostile_path(dump_path, sizeof(dump_path), "faults.hprof");
	hostile_path(db_path, sizeof(db_path), "faults.heapdb");
	(void)snprintf(temp_name, sizeof(temp_name), "%s.importing", db_path);
	hostile_dump(&w, HOSTILE_JAVA8, 40);
	if (hw_save(&w, dump_path) != 0)
		return -1;
	hw_release(&w);
	if (hdb_import(dump_path, db_path, &opt, NULL, &err) != HDB_OK)
		return -1;
	base_image = read_image();
	if (hostile_answers(db_path, dump_path, &want, &err) != HDB_OK ||
	    hostile_answers(db_path, dump_path, &want, &err) != HDB_OK) {
		(void)fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	full_image = read_image();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(base_image.data);
	free(full_image.data);
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_import), cmocka_unit_test(test_build),
		cmocka_unit_test(test_query),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
