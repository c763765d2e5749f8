/*
 * crash_test.c - processes are killed at random moments, power is lost, the disk is full:
 * afterwards, the database has the old state or the new one, passes the check and gives the right
 * answers, and leftover files do not accumulate.
 *
 * Power loss is simulated: every write to the database file is recorded (the functions below take
 * precedence over those of the C library, also in liblmdb). A state after the loss consists of
 * everything that was synced, and any of the pages that were not. HEAPDB_HOSTILE=long: 20 times as
 * many moments. HEAPDB_SEED=N: other moments.
 */
#include "support/hostile.h"
#include "support/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

/* Number of crash moments in the short form. */
#define KILLS 80
#define LOSSES 200
/*
 * Number of objects added to the small dump, so that import and tables take a few milliseconds and
 * several transactions.
 */
#define EXTRA 3000

static char folder[512], dump_path[600], db_path[600];
static uint64_t want, seed;
static long full_size;

static unsigned long times(unsigned long count)
{
	return hostile_is_long() ? 20 * count : count;
}

/* ---- recording ---- */

enum op_kind { OP_WRITE, OP_SIZE, OP_SYNC, OP_RENAME };

struct op {
	enum op_kind kind;
	bool is_synced;  /* a synchronous write, which is durable when it returns */
	uint64_t offset; /* or the new size */
	uint64_t size;
	uint8_t *data;
};

static struct {
	bool is_on;
	ino_t inode; /* inode of the recorded file; 0: the first file that is written */
	struct op *ops;
	size_t count, capacity;
} rec;

static bool is_watched(int fd)
{
	struct stat st;

	if (!rec.is_on || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (!rec.inode)
		rec.inode = st.st_ino;
	return st.st_ino == rec.inode;
}

static void record(enum op_kind kind, int fd, const void *data, uint64_t size, uint64_t offset)
{
	struct op *op;

	if (rec.count == rec.capacity) {
		rec.capacity = rec.capacity ? 2 * rec.capacity : 256;
		rec.ops = realloc(rec.ops, rec.capacity * sizeof(*rec.ops));
		if (!rec.ops)
			abort();
	}
	op = &rec.ops[rec.count++];
	*op = (struct op){ .kind = kind, .offset = offset, .size = size };
	if (kind != OP_WRITE)
		return;
	op->is_synced = (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
	op->data = malloc(size ? size : 1);
	if (!op->data)
		abort();
	memcpy(op->data, data, size);
}

static void forget(void)
{
	for (size_t i = 0; i < rec.count; i++)
		free(rec.ops[i].data);
	free(rec.ops);
	rec.ops = NULL;
	rec.count = rec.capacity = 0;
}

HDB_API ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	const ssize_t n = syscall(SYS_pwrite64, fd, data, size, offset);

	if (n > 0 && is_watched(fd))
		record(OP_WRITE, fd, data, (uint64_t)n, (uint64_t)offset);
	return n;
}

HDB_API ssize_t writev(int fd, const struct iovec *parts, int count)
{
	const off_t at = rec.is_on ? lseek(fd, 0, SEEK_CUR) : 0;
	const ssize_t n = syscall(SYS_writev, fd, parts, count);
	uint64_t left = n > 0 ? (uint64_t)n : 0, offset = (uint64_t)at;

	if (n <= 0 || !is_watched(fd))
		return n;
	for (int i = 0; i < count && left; i++) {
		const uint64_t part = parts[i].iov_len < left ? parts[i].iov_len : left;

		record(OP_WRITE, fd, parts[i].iov_base, part, offset);
		offset += part;
		left -= part;
	}
	return n;
}

HDB_API ssize_t write(int fd, const void *data, size_t size)
{
	const off_t at = rec.is_on ? lseek(fd, 0, SEEK_CUR) : 0;
	const ssize_t n = syscall(SYS_write, fd, data, size);

	if (n > 0 && at >= 0 && is_watched(fd))
		record(OP_WRITE, fd, data, (uint64_t)n, (uint64_t)at);
	return n;
}

HDB_API int ftruncate(int fd, off_t size)
{
	const int r = (int)syscall(SYS_ftruncate, fd, size);

	if (r == 0 && is_watched(fd))
		record(OP_SIZE, fd, NULL, 0, (uint64_t)size);
	return r;
}

HDB_API int fsync(int fd)
{
	const int r = (int)syscall(SYS_fsync, fd);

	if (r == 0 && is_watched(fd))
		record(OP_SYNC, fd, NULL, 0, 0);
	return r;
}

HDB_API int fdatasync(int fd)
{
	const int r = (int)syscall(SYS_fdatasync, fd);

	if (r == 0 && is_watched(fd))
		record(OP_SYNC, fd, NULL, 0, 0);
	return r;
}

HDB_API int rename(const char *from, const char *to)
{
	if (rec.is_on)
		record(OP_RENAME, -1, NULL, 0, 0);
	return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

/* ---- states after a power loss ---- */

struct image {
	uint8_t *data;
	uint64_t size, capacity;
};

static void grow(struct image *image, uint64_t size)
{
	if (size > image->capacity) {
		image->capacity = 2 * size;
		image->data = realloc(image->data, image->capacity);
		if (!image->data)
			abort();
	}
	if (size > image->size)
		memset(image->data + image->size, 0, size - image->size);
	if (size > image->size)
		image->size = size;
}

static void apply(struct image *image, const struct op *op, uint64_t from, uint64_t size)
{
	grow(image, op->offset + from + size);
	memcpy(image->data + op->offset + from, op->data + from, size);
}

static void resize(struct image *image, uint64_t size)
{
	grow(image, size);
	image->size = size;
}

/*
 * Replays the operations before `end`: all operations up to the last sync, and some pages of later
 * operations.
 */
static void lose(struct image *image, size_t end, unsigned keep_percent)
{
	size_t synced = 0;

	for (size_t i = 0; i < end; i++)
		if (rec.ops[i].kind == OP_SYNC)
			synced = i;
	for (size_t i = 0; i < end; i++) {
		const struct op *op = &rec.ops[i];
		const bool is_sure = i < synced || op->is_synced;

		if (op->kind == OP_SIZE && (is_sure || test_random(&seed) % 100 < keep_percent))
			resize(image, op->offset);
		for (uint64_t at = 0; op->kind == OP_WRITE && at < op->size; at += 4096) {
			const uint64_t n = op->size - at < 4096 ? op->size - at : 4096;

			if (is_sure || test_random(&seed) % 100 < keep_percent)
				apply(image, op, at, n);
		}
	}
}

static struct image read_image(const char *path)
{
	struct image image = { 0 };
	FILE *f = fopen(path, "rb");
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	grow(&image, (uint64_t)st.st_size);
	assert_int_equal(fread(image.data, 1, image.size, f), image.size);
	(void)fclose(f);
	return image;
}

static void write_image(const struct image *image, const char *path)
{
	const int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, image->data, image->size), image->size);
	(void)close(fd);
}

/* Checks that the database is complete and gives the right answers. */
static void expect_good(const char *path, const char *when, unsigned long i)
{
	struct hdb_error err = { 0 };
	uint64_t got = 0;

	if (hostile_check(path, dump_path, &err) != HDB_OK)
		fail_msg("%s %lu (seed): the check fails: %s", when, i, err.message);
	if (hostile_answers(path, dump_path, &got, &err) != HDB_OK)
		fail_msg("%s %lu: no answer: %s", when, i, err.message);
	if (got != want)
		fail_msg("%s %lu: another answer", when, i);
}

static int import_to(const char *path, struct hdb_error *err)
{
	const struct hdb_import_options opt = { .force = 1,
						.threads = 1,
						.memory_bytes = 16 << 20 };

	return hdb_import(dump_path, path, &opt, NULL, err);
}

/* Power is lost at a random operation while tables are built. */
static void test_power_build(void **state)
{
	struct hdb_error err = { 0 };
	struct image base;
	uint64_t got;
	struct stat st;

	(void)state;
	assert_int_equal(import_to(db_path, &err), HDB_OK);
	base = read_image(db_path);
	assert_int_equal(stat(db_path, &st), 0);
	rec.inode = st.st_ino;
	rec.is_on = true;
	assert_int_equal(hostile_answers(db_path, dump_path, &got, &err), HDB_OK);
	rec.is_on = false;
	assert_true(rec.count > 8);
	for (unsigned long i = 0; i < times(LOSSES); i++) {
		const size_t end = test_random(&seed) % (rec.count + 1);
		struct image image = { 0 };

		grow(&image, base.size);
		memcpy(image.data, base.data, base.size);
		lose(&image, end, (unsigned)(test_random(&seed) % 5) * 25);
		temp_remove_db(db_path);
		write_image(&image, db_path);
		expect_good(db_path, "power lost while building, state", i);
		free(image.data);
	}
	print_message("%zu operations recorded while building\n", rec.count);
	free(base.data);
	forget();
}

/* Once a new database has its name, its contents are on the disk, whatever happens. */
static void test_power_import(void **state)
{
	struct hdb_error err = { 0 };
	size_t renamed = 0;

	(void)state;
	temp_remove_db(db_path);
	rec.inode = 0;
	rec.is_on = true;
	assert_int_equal(import_to(db_path, &err), HDB_OK);
	rec.is_on = false;
	while (renamed < rec.count && rec.ops[renamed].kind != OP_RENAME)
		renamed++;
	assert_true(renamed > 2 && renamed < rec.count);
	for (size_t end = renamed; end <= rec.count; end++) {
		struct image image = { 0 };

		lose(&image, end, 0);
		temp_remove_db(db_path);
		write_image(&image, db_path);
		expect_good(db_path, "power lost after the import, state", end);
		free(image.data);
	}
	print_message("%zu operations recorded while importing, %zu after the rename\n", rec.count,
		      rec.count - renamed);
	forget();
}

/* ---- kill -9 ---- */

/* Counts the files in the directory, and checks that only their owner may access them. */
static unsigned count_files(void)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	unsigned count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char path[1200];
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] == '.' && entry->d_name[1 + (entry->d_name[1] == '.')] == 0)
			continue;
		assert_int_equal(stat(path, &st), 0);
		if (strcmp(path, dump_path) != 0 && (st.st_mode & 077) != 0)
			fail_msg("%s has mode %o", path, st.st_mode & 07777);
		count++;
	}
	(void)closedir(dir);
	return count;
}

static uint64_t now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* In a child process, imports again if is_import is set, and otherwise builds all tables. */
static pid_t start(bool is_import)
{
	const pid_t child = fork();
	struct hdb_error err;
	uint64_t got;

	if (child == 0)
		_exit(is_import ? import_to(db_path, &err) != HDB_OK :
				  hostile_answers(db_path, dump_path, &got, &err) != HDB_OK);
	return child;
}

static void test_kills(void **state)
{
	uint64_t took[2] = { 0 }, begin;
	unsigned long finished = 0;
	struct hdb_error err;
	struct stat st;
	int status;

	(void)state;
	for (unsigned what = 0; what < 2; what++) {
		begin = now_us();
		assert_int_equal(waitpid(start(what == 0), &status, 0) > 0, 1);
		assert_int_equal(status, 0);
		took[what] = now_us() - begin;
	}
	for (unsigned long i = 0; i < times(KILLS); i++) {
		const unsigned what = (unsigned)(test_random(&seed) % 2);
		pid_t child;

		if (what == 1)
			assert_int_equal(import_to(db_path, &err), HDB_OK);
		child = start(what == 0);
		(void)usleep((useconds_t)(test_random(&seed) % (took[what] * 11 / 10 + 1)));
		(void)kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		finished += WIFEXITED(status);
		expect_good(db_path, what ? "killed while building," : "killed while importing,",
			    i);
		/*
		 * The dump, the database, its lock file, and one leftover that the next import
		 * replaces.
		 */
		assert_true(count_files() <= 4);
		assert_int_equal(stat(db_path, &st), 0);
		assert_true(st.st_size <= 2 * full_size);
	}
	print_message("%lu kills, %lu children were done before\n", times(KILLS), finished);
	assert_int_equal(import_to(db_path, &err), HDB_OK);
	assert_true(count_files() <= 3);
}

/* ---- a full disk ---- */

/*
 * Runs in a child process whose files are limited to `size` bytes. Returns 0 for success, 1 for a
 * failure with a message, 2 for anything else.
 */
static int run_in_room(bool is_import, uint64_t size)
{
	const struct rlimit limit = { size, size };
	struct hdb_error err = { 0 };
	uint64_t got = 0;
	int r;

	if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 3;
	r = is_import ? import_to(db_path, &err) : hostile_answers(db_path, dump_path, &got, &err);
	if (r == HDB_OK)
		return is_import || got == want ? 0 : 2;
	return r == HDB_EIO && err.message[0] ? 1 : 2;
}

static void test_disk_full(void **state)
{
	const unsigned long steps = hostile_is_long() ? 400 : 25;
	unsigned refused = 0;
	struct hdb_error err;

	(void)state;
	for (unsigned long i = 0; i < 2 * steps; i++) {
		const bool is_import = i % 2 == 0;
		pid_t child;
		int status;

		assert_int_equal(import_to(db_path, &err), HDB_OK);
		child = fork();
		if (child == 0)
			_exit(run_in_room(is_import, (uint64_t)full_size * (i / 2) / steps));
		assert_int_equal(waitpid(child, &status, 0), child);
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
			fail_msg("disk full after %lu of %lu: status %#x", i / 2, steps, status);
		refused += WEXITSTATUS(status) == 1;
		expect_good(db_path, "disk full, step", i);
		assert_true(count_files() <= 3);
	}
	print_message("%lu full disks, %u refused\n", 2 * steps, refused);
	assert_true(refused > steps / 2);
}

static int setup(void **state)
{
	const char *from = getenv("HEAPDB_SEED");
	struct hdb_error err;
	struct stat st;
	struct hw w;

	(void)state;
	seed = from ? strtoull(from, NULL, 0) | 1 : 20240229;
	print_message("seed %" PRIu64 "\n", seed);
	hostile_path(folder, sizeof(folder), "crash");
	(void)snprintf(dump_path, sizeof(dump_path), "%s/c.hprof", folder);
	(void)snprintf(db_path, sizeof(db_path), "%s/c.heapdb", folder);
	if (mkdir(folder, 0700) != 0)
		return -1;
	hostile_dump(&w, HOSTILE_JAVA8, EXTRA);
	if (hw_save(&w, dump_path) != 0)
		return -1;
	hw_release(&w);
	if (import_to(db_path, &err) != HDB_OK ||
	    hostile_answers(db_path, dump_path, &want, &err) != HDB_OK || stat(db_path, &st) != 0)
		return -1;
	full_size = st.st_size;
	return 0;
}

static int teardown(void **state)
{
	char leftover[700];

	(void)state;
	(void)snprintf(leftover, sizeof(leftover), "%s.importing", db_path);
	(void)unlink(leftover);
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_build),
		cmocka_unit_test(test_power_import),
		cmocka_unit_test(test_kills),
		cmocka_unit_test(test_disk_full),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
