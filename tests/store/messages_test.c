/*
 * messages_test.c - error messages of the store that damaged blocks (damaged_test) do not cause:
 * results of LMDB, file headers, files that other users have planted, limits, and lists that change
 * while they are read.
 * Link with: -Wl,--wrap=stat,--wrap=mdb_txn_id,--wrap=mdb_put,--wrap=ZSTD_compress2
 * Link with: -Wl,--wrap=lstat,--wrap=fstat,--wrap=posix_fallocate
 */
#include "store/column.h"
#include "store/env.h"
#include "store/lists.h"
#include "store/lists_put.h"
#include "store/own_file.h"
#include "store/packed.h"
#include "store/pages.h"
#include "store/records.h"
#include "store/store_private.h"
#include "support/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <zstd.h>
#include <cmocka.h>

static struct {
	bool other_inode; /* stat and lstat return another file */
	bool other_txn;   /* a transaction has a number that no meta page has */
	off_t size;       /* size that fstat returns; 0: the real size */
	int put;          /* result of mdb_put; 0: the real result */
	bool no_pack;     /* compressing fails */
	/* lock file that another process opens, after which posix_fallocate finds the disk full */
	const char *full_path;
	int other_fd; /* its descriptor */
} wrong;

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
	const int r = __real_stat(path, st);

	st->st_ino += wrong.other_inode;
	return r;
}

int __real_lstat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st)
{
	const int r = __real_lstat(path, st);

	st->st_ino += wrong.other_inode;
	return r;
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
	const int r = __real_fstat(fd, st);

	st->st_size = wrong.size ? wrong.size : st->st_size;
	return r;
}

int __real_posix_fallocate(int fd, off_t offset, off_t size);
int __wrap_posix_fallocate(int fd, off_t offset, off_t size);
int __wrap_posix_fallocate(int fd, off_t offset, off_t size)
{
	if (!wrong.full_path)
		return __real_posix_fallocate(fd, offset, size);
	wrong.other_fd = open(wrong.full_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return ENOSPC;
}

size_t __real_mdb_txn_id(MDB_txn *txn);
size_t __wrap_mdb_txn_id(MDB_txn *txn);
size_t __wrap_mdb_txn_id(MDB_txn *txn)
{
	return __real_mdb_txn_id(txn) + 2 * wrong.other_txn;
}

int __real_mdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *k, MDB_val *v, unsigned flags);
int __wrap_mdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *k, MDB_val *v, unsigned flags);
int __wrap_mdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *k, MDB_val *v, unsigned flags)
{
	return wrong.put ? wrong.put : __real_mdb_put(txn, dbi, k, v, flags);
}

size_t __real_ZSTD_compress2(ZSTD_CCtx *c, void *to, size_t room, const void *from, size_t size);
size_t __wrap_ZSTD_compress2(ZSTD_CCtx *c, void *to, size_t room, const void *from, size_t size);
size_t __wrap_ZSTD_compress2(ZSTD_CCtx *c, void *to, size_t room, const void *from, size_t size)
{
	return wrong.no_pack ? (size_t)-64 : __real_ZSTD_compress2(c, to, room, from, size);
}

static struct hdb_error err;

#define FAILS(call, expected, text) \
	do { \
		const int code_ = ((err = (struct hdb_error){ 0 }), (call)); \
		if (code_ != (expected) || !strstr(err.message, (text))) \
			fail_msg("%d \"%s\", expected %d \"%s\"", code_, err.message, (expected), \
				 (text)); \
	} while (0)

static void test_lmdb(void **state)
{
	static const struct {
		int result, code;
		const char *message;
	} rows[] = {
		{ MDB_CORRUPTED, HDB_ECORRUPT, "p: damaged database (MDB_CORRUPTED" },
		{ MDB_PAGE_NOTFOUND, HDB_ECORRUPT, "p: damaged database (MDB_PAGE_NOTFOUND" },
		{ MDB_INVALID, HDB_ECORRUPT, "p: not a heap database" },
		{ MDB_VERSION_MISMATCH, HDB_EVERSION, "p: written by another version of LMDB" },
		{ MDB_MAP_FULL, HDB_ELIMIT,
		  "p: no address space left for the database while testing" },
		{ MDB_READERS_FULL, HDB_ELIMIT, "too many concurrent readers (limit " },
		{ EIO, HDB_EIO, "p: testing: the disk is full or has failed" },
		{ EACCES, HDB_EIO, "p: testing: Permission denied" },
		{ ENOMEM, HDB_ENOMEM, "p: testing" },
		{ MDB_KEYEXIST, HDB_EBUG, "while testing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		FAILS(store_fail_mdb(&err, rows[i].result, "p", "testing"), rows[i].code,
		      rows[i].message);
}

/* A small database with a list; its path is static. */
static const char *make(void)
{
	static char path[512];
	const uint64_t first[] = { 0, 40, 41 };
	uint32_t target[41];
	struct base_vec bytes = { 0 };
	struct store_writer *w;

	(void)snprintf(path, sizeof(path), "%s", temp_path("messages.heapdb"));
	for (uint32_t i = 0; i < 41; i++)
		target[i] = i;
	assert_int_equal(store_create(path, true, 1 << 20, &w, NULL), HDB_OK);
	assert_int_equal(store_lists_encode(&bytes,
					    &(struct store_lists_rows){ .first_ix = 0,
									.count = 2,
									.first = first,
									.target = target },
					    NULL),
			 HDB_OK);
	assert_int_equal(store_put(w, STORE_REFERENCES,
				   &(struct store_block){ .item_count = 2,
							  .data = bytes.data,
							  .size = bytes.count },
				   NULL),
			 HDB_OK);
	assert_int_equal(store_put_table(w, STORE_REFERENCES, 2, NULL), HDB_OK);
	assert_int_equal(store_publish(w, NULL, &err), HDB_OK);
	base_vec_release(&bytes);
	return path;
}

/* Changes the header of a file, or cuts the file. */
static void test_files(void **state)
{
	static const struct {
		off_t size; /* 0: the whole file */
		off_t at;
		uint32_t value;
		int code;
		const char *message;
	} rows[] = {
		{ 100, 0, 0, HDB_ECORRUPT,
		  "truncated database: 52 bytes are missing at its start" },
		{ 9000, 0, 0, HDB_ECORRUPT, "truncated database: 9000 bytes, " },
		{ 0, 16, 0xdec0efbe, HDB_EVERSION,
		  "written on a machine with the opposite byte order; import the dump again on "
		  "this machine" },
		{ 0, 20, 2, HDB_EVERSION, "written by another version of LMDB" },
		{ 0, 16, 1, HDB_ECORRUPT, "not a heap database" },
		{ 0, 40, 3, HDB_ECORRUPT,
		  "damaged: a meta page records an impossible page size; import the dump again" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *path = make();
		const int fd = open(path, O_RDWR | O_CLOEXEC);
		uint64_t wanted;

		assert_true(fd >= 0);
		if (rows[i].size)
			assert_int_equal(ftruncate(fd, rows[i].size), 0);
		else
			assert_int_equal(pwrite(fd, &rows[i].value, 4, rows[i].at), 4);
		FAILS(store_pages_check_file(fd, path, &wanted, &err), rows[i].code,
		      rows[i].message);
		(void)close(fd);
		temp_remove_db(path);
	}
}

static void test_snapshots(void **state)
{
	const char *path = make();
	struct store_column column = { .table = STORE_RETAINED, .ix_count = 2 };
	struct store_lists lists = { .table = STORE_REFERENCES,
				     .big_table = STORE_REFERENCES_BIG,
				     .ix_count = 100 };
	const uint32_t *batch;
	struct store *store;
	struct pages pages;
	uint64_t value;
	size_t count;

	(void)state;
	wrong.other_inode = true;
	FAILS(store_open(path, &store, &err), HDB_EIO, "other processes keep replacing this file");
	wrong.other_inode = false;
	wrong.other_txn = true;
	FAILS(store_open(path, &store, &err), HDB_ECORRUPT,
	      "damaged: no meta page for transaction");
	wrong.other_txn = false;
	assert_int_equal(store_open(path, &store, &err), HDB_OK);
	column.store = lists.store = store;
	FAILS(store_column_get(&column, 2, &value, &err), HDB_ECORRUPT, "object beyond the table");

	/* A list has lost entries after the handle moved to a newer snapshot. */
	assert_int_equal(store_lists_begin(&lists, 0, NULL, &err), HDB_OK);
	assert_int_equal(store_refresh(store, &err), HDB_OK);
	lists.left = 1000;
	FAILS(store_lists_next(&lists, &batch, &count, &err), HDB_ECORRUPT,
	      "list has become shorter");

	FAILS(store_pages_open(&pages, &(struct pages_file){ store->view.map, 8192, "p" },
			       mdb_txn_id(store->view.txn), &err),
	      HDB_ECORRUPT, "p: truncated database: 8192 bytes, ");
	store->view.fault = 4097;
	FAILS(store_fault(store, &err), HDB_EIO,
	      "cannot read at offset 4096 (the file shrank, or the disk failed)");
	store->view.fault = 0;
	wrong.size = 8192;
	FAILS(store_fault_size(store, &err), HDB_EIO,
	      "cannot read at offset 8192 (the file now ends there)");
	wrong.size = 4096;
	FAILS(store_refresh(store, &err), HDB_ECORRUPT, "truncated database: 4096 bytes");
	wrong.size = 0;
	store_close(store);
	temp_remove_db(path);
}

/* A list stored in parts: the bytes of a part end inside an entry, or before the last entry. */
static void test_big_lists(void **state)
{
	static const struct {
		const char *part;
		size_t size;
		const char *message;
	} rows[] = {
		{ "\x80", 1, "big list does not decode" },
		{ "", 0, "big list is short" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *path = temp_path("big.heapdb");
		struct base_vec bytes = { 0 };
		const uint64_t first[] = { 0 }, length[] = { STORE_LIST_BIG + 2 };
		struct store_lists lists = { .table = STORE_REFERENCES,
					     .big_table = STORE_REFERENCES_BIG,
					     .ix_count = 100 };
		const uint32_t *batch;
		struct store_writer *w;
		struct store *store;
		size_t count = 1;
		int r = HDB_OK;

		assert_int_equal(store_create(path, true, 1 << 20, &w, NULL), HDB_OK);
		assert_int_equal(store_lists_encode(&bytes,
						    &(struct store_lists_rows){ .count = 1,
										.first = first,
										.lengths = length },
						    &err),
				 HDB_OK);
		assert_int_equal(store_put(w, STORE_REFERENCES,
					   &(struct store_block){ .item_count = 1,
								  .data = bytes.data,
								  .size = bytes.count },
					   NULL),
				 HDB_OK);
		assert_int_equal(
			store_put(w, STORE_REFERENCES_BIG,
				  &(struct store_block){ .item_count = 1,
							 .data = (const uint8_t *)rows[i].part,
							 .size = rows[i].size },
				  NULL),
			HDB_OK);
		assert_int_equal(store_put_table(w, STORE_REFERENCES, 1, NULL), HDB_OK);
		assert_int_equal(store_put_table(w, STORE_REFERENCES_BIG, 1, NULL), HDB_OK);
		assert_int_equal(store_publish(w, NULL, &err), HDB_OK);
		assert_int_equal(store_open(path, &store, &err), HDB_OK);
		lists.store = store;
		r = store_lists_begin(&lists, 0, NULL, &err);
		while (r == HDB_OK && count)
			r = store_lists_next(&lists, &batch, &count, &err);
		if (r != HDB_ECORRUPT || !strstr(err.message, rows[i].message))
			fail_msg("%d %s", r, err.message);
		base_vec_release(&bytes);
		store_close(store);
		temp_remove_db(path);
	}
}

/* Files with a name that others can guess. */
static void test_planted(void **state)
{
	static char path[512], lock[520];
	struct stat st;
	MDB_env *env;
	int fd;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s", temp_path("planted"));
	(void)snprintf(lock, sizeof(lock), "%s-lock", path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0644), 0);
	(void)close(fd);
	FAILS(store_temp_open(path, &fd, &err), HDB_EIO,
	      "is readable or writable by other users; remove the file (heapdb overwrites only "
	      "temporary files left over from your own imports)");
	FAILS(store_temp_rename(lock, path, false, &err), HDB_EEXIST, "another process created ");
	assert_int_equal(unlink(path), 0);

	wrong.other_inode = true;
	FAILS(store_temp_open(path, &fd, &err), HDB_EIO,
	      "other processes keep creating and removing this file");
	wrong.other_inode = false;
	(void)unlink(path);

	assert_int_equal(store_env_create(path, 1 << 20, &env, &err), HDB_OK);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	FAILS(store_temp_same(env, fd, path, &err), HDB_EIO, "another process replaced this file");
	(void)close(fd);
	mdb_env_close(env);

	assert_int_equal(stat(path, &st), 0);
	(void)unlink(lock);
	assert_int_equal(symlink("elsewhere", lock), 0);
	FAILS(store_lock_prepare(path, &st, &err), HDB_EIO,
	      "so heapdb cannot use this file as the lock file of the database; remove the file");
	temp_remove_db(path);
}

/*
 * The disk has no room for the lock file that another process has opened in the meantime. The next
 * process must not create another one.
 */
static void test_full_lock(void **state)
{
	const char *path = temp_path("lock.heapdb"), *lock = temp_path("lock.heapdb-lock");
	struct stat used, named, st = { 0 };

	(void)state;
	wrong.full_path = lock;
	assert_int_equal(store_lock_prepare(path, &st, &err), HDB_END);
	assert_true(wrong.other_fd >= 0);
	wrong.full_path = NULL;
	assert_int_equal(store_lock_prepare(path, &st, &err), HDB_OK);
	assert_int_equal(stat(lock, &named), 0);
	assert_int_equal(fstat(wrong.other_fd, &used), 0);
	assert_int_equal(used.st_ino, named.st_ino);
	assert_int_equal(used.st_nlink, 1);
	/* What a process left that died before the file had room is completed. */
	assert_int_equal(used.st_size, 32768);
	(void)close(wrong.other_fd);
	temp_remove_db(path);
}

static void test_limits(void **state)
{
	static const uint8_t zeros[4096];
	const char *path = temp_path("limits.heapdb");
	struct base_vec out = { .count = (size_t)UINT32_MAX + 1 };
	struct store_lists_writer lists = { .out = &out };
	struct base_work work = { .memory_bytes = 16 << 20 };
	const struct store_block huge = { .item_count = 1,
					  .data = zeros,
					  .size = (uint64_t)UINT32_MAX + 1 };
	const struct store_block small = { .item_count = 1, .data = zeros, .size = sizeof(zeros) };
	struct store_packer *packer;
	struct store_writer *w;
	const uint8_t *packed;
	uint64_t counted = 0, packed_size;

	(void)state;
	FAILS(store_count_classes(&work, 10000000, &counted, &err), HDB_ELIMIT,
	      "MiB of memory, but the memory budget allows 16 MiB; use --memory ");
	FAILS(store_lists_begin_group(&lists, &err), HDB_ELIMIT,
	      "a block of lists is larger than 4 GiB");

	assert_int_equal(store_create(path, true, 1 << 20, &w, NULL), HDB_OK);
	FAILS(store_put_meta_number(
		      w, "a name that is longer than the 63 bytes that the key of a meta value has",
		      1, &err),
	      HDB_ELIMIT, "meta name longer than 63 bytes: a name");
	FAILS(store_put(w, STORE_OBJECTS, &huge, &err), HDB_ELIMIT,
	      "block too large for LMDB: 4294967296 bytes (limit 4 GiB)");
	wrong.put = ENOSPC;
	FAILS(store_put(w, STORE_OBJECTS, &small, &err), HDB_EIO, " MB more needed, ");
	assert_true(store_is_full(w));
	wrong.put = 0;
	store_abort(w);

	assert_int_equal(store_packer_new(&packer, &err), HDB_OK);
	wrong.no_pack = true;
	FAILS(store_pack(packer, &small, &packed, &packed_size, &err), HDB_ENOMEM,
	      "cannot compress 4096 bytes: ");
	wrong.no_pack = false;
	store_packer_free(packer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lmdb),      cmocka_unit_test(test_files),
		cmocka_unit_test(test_snapshots), cmocka_unit_test(test_big_lists),
		cmocka_unit_test(test_planted),   cmocka_unit_test(test_full_lock),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
