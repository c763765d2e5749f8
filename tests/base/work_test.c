/*
 * work_test.c - large arrays and scratch files: within the budget; beyond it, in files; on file
 * systems without unnamed files; and if the directory cannot be written. Also arrays that are freed
 * and reused.
 *
 * Link with: -Wl,--wrap=open -Wl,--wrap=fstatfs
 */
#include "base/spill.h"
#include "base/work.h"
#include "support/structure_checks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <cmocka.h>

#define MIB (1u << 20)

/* Behaves like a file system without O_TMPFILE, such as NFS. */
static bool has_no_tmpfile;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	if (has_no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	return __real_open(path, flags, mode);
}

/* Type and free space that every file system reports. */
static struct statfs fs = { .f_type = 0xef53, .f_bsize = 4096, .f_bavail = 1 << 20 };

int __wrap_fstatfs(int fd, struct statfs *out);
int __wrap_fstatfs(int fd, struct statfs *out)
{
	(void)fd;
	*out = fs;
	return 0;
}

static char folder[300];

static unsigned entries_of(const char *path)
{
	DIR *dir = opendir(path);
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count - 2;
}

static void begin(struct base_work *work, const char *dir)
{
	base_work_init(work, 1, 1, NULL); /* as little as it takes */
	work->scratch_dir = dir;
	work->tmp_dir = dir;
}

static bool is_clear(const struct base_big *big)
{
	const uint8_t *p = big->data;

	for (uint64_t i = 0; i < big->size_bytes; i += 512)
		if (p[i])
			return false;
	return true;
}

/* Allocates an array beyond the budget, and checks that it is in a file and contains zeros. */
static void in_file(struct base_work *work)
{
	const uint64_t size = base_work_room(work) + 3 * MIB;
	struct base_big big;

	assert_int_equal(base_big_alloc(work, &big, size, "test", NULL), HDB_OK);
	assert_true(big.is_file);
	assert_true(is_clear(&big));
	memset(big.data, 1, big.size_bytes);
	assert_int_equal(entries_of(folder), 0);
	base_work_check(work);
	base_big_free(&big);
	base_work_check(work);
}

static void test_files(void **state)
{
	struct base_work work;
	struct stat st;
	int fd;

	(void)state;
	begin(&work, folder);
	for (unsigned turn = 0; turn < 2; turn++) {
		has_no_tmpfile = turn == 1;
		in_file(&work);
		assert_int_equal(base_scratch_file(&work, &fd, NULL), HDB_OK);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		assert_int_equal(entries_of(folder), 0);
		(void)close(fd);
	}
	has_no_tmpfile = false;
	base_work_release(&work);
}

/* If one directory is missing, the other is used. If that is missing, too, memory is used. */
static void test_no_folder(void **state)
{
	static char long_name[5000];
	struct base_work work;
	struct hdb_error err;
	struct stat st;
	int fd = -1;

	(void)state;
	begin(&work, "/nonexistent/a");
	work.tmp_dir = folder;
	in_file(&work);
	assert_int_equal(base_scratch_file(&work, &fd, &err), HDB_OK);
	(void)close(fd);
	memset(long_name, 'a', sizeof(long_name) - 1);
	for (unsigned turn = 0; turn < 2; turn++) {
		work.tmp_dir = turn ? long_name : "/nonexistent/b";
		in_file(&work);
		assert_int_equal(base_scratch_file(&work, &fd, &err), HDB_OK);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_nlink, 0);
		assert_int_equal(write(fd, "x", 1), 1);
		(void)close(fd);
	}
	base_work_release(&work);
}

/* Without any directory, memory beyond the budget is used. */
static void test_no_scratch(void **state)
{
	struct base_work work;
	struct hdb_error err;
	struct base_big big;

	(void)state;
	begin(&work, folder);
	work.scratch_dir = NULL;
	assert_int_equal(base_big_alloc(&work, &big, 64 * MIB, "test", &err), HDB_OK);
	assert_false(big.is_file);
	base_big_free(&big);
	base_work_release(&work);
}

/*
 * If a file cannot grow, there is an error before the array is used, not a bus error during its
 * use.
 */
static void test_disk_full(void **state)
{
	struct rlimit old, little;
	struct base_work work;
	struct base_spill spill = { .work = &work };
	struct hdb_error err;
	struct base_big big;
	static uint8_t data[2 * MIB];

	(void)state;
	begin(&work, folder);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	little = (struct rlimit){ MIB, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	assert_int_equal(base_big_alloc(&work, &big, base_work_room(&work) + 3 * MIB, "test", &err),
			 HDB_EIO);
	assert_non_null(strstr(err.message, folder));
	/*
	 * If the only usable directory has no space, the result is a failure. Memory is not used
	 * instead.
	 */
	work.tmp_dir = "/nonexistent/b";
	assert_int_equal(base_big_alloc(&work, &big, base_work_room(&work) + 3 * MIB, "test", &err),
			 HDB_EIO);
	assert_null(big.data);
	work.tmp_dir = folder;
	assert_int_equal(base_spill_write(&spill, 0, data, sizeof(data), &err), HDB_EIO);
	assert_non_null(strstr(err.message, "cannot write a temporary file"));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	base_spill_close(&spill);
	base_work_release(&work);
}

static void test_spill(void **state)
{
	struct base_work work;
	struct base_spill spill = { .work = &work };
	struct hdb_error err;
	char data[8];

	(void)state;
	begin(&work, folder);
	base_spill_close(&spill); /* nothing was written to it */
	base_spill_prefetch(&spill, 0, 8);
	assert_int_equal(base_spill_write(&spill, 1000, "12345678", 8, &err), HDB_OK);
	base_spill_prefetch(&spill, 1000, 8);
	assert_int_equal(base_spill_read(&spill, 1004, data, 4, &err), HDB_OK);
	assert_memory_equal(data, "5678", 4);
	/* There is no data after the end. */
	assert_int_equal(base_spill_read(&spill, 1004, data, 8, &err), HDB_EIO);
	base_spill_close(&spill);
	base_spill_close(&spill);
	/* Without any directory. */
	begin(&work, "/nonexistent");
	assert_int_equal(base_spill_write(&spill, 1000, "12345678", 8, &err), HDB_OK);
	assert_int_equal(base_spill_read(&spill, 1004, data, 4, &err), HDB_OK);
	assert_memory_equal(data, "5678", 4);
	base_spill_close(&spill);
}

/*
 * Arrays of many sizes, freed in a different order than they were allocated, never overlap and are
 * always zeroed.
 */
static void test_pool(void **state)
{
	enum { COUNT = 100 };
	static struct base_big big[COUNT];
	struct base_work work;
	uint32_t seed = 1;

	(void)state;
	base_work_init(&work, 1ull << 30, 1, NULL);
	base_pool_reserve(&work, 8 * MIB);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = round % 2; i < COUNT; i += 1 + round % 3) {
			if (big[i].data)
				continue;
			seed = seed * 1664525 + 1013904223;
			assert_int_equal(base_big_alloc(&work, &big[i], MIB / 2 + seed % (2 * MIB),
							"test", NULL),
					 HDB_OK);
			assert_true(is_clear(&big[i]));
			memset(big[i].data, (int)i + 1, big[i].size_bytes);
		}
		for (unsigned i = 0; i < COUNT; i++) {
			const uint8_t *p = big[i].data;

			if (!p)
				continue;
			assert_int_equal(p[0], i + 1);
			assert_int_equal(p[big[i].size_bytes - 1], i + 1);
			/* Every other array, so that freed arrays do not merge. */
			if (i % 2 == round % 2)
				base_big_free(&big[i]);
		}
		assert_true(work.pool_count <= BASE_POOL_MAX);
	}
	for (unsigned i = 0; i < COUNT; i++)
		base_big_free(&big[i]);
	assert_int_equal(work.memory_used, 0);
	base_work_release(&work);
	assert_int_equal(work.pool_bytes, 0);
	assert_int_equal(work.pool_count, 0);
}

/*
 * Pooled memory is returned as far as other memory is needed, and the rest of the piece stays
 * usable.
 */
static void test_give_way(void **state)
{
	struct base_work work;
	struct base_big kept = { 0 }, freed = { 0 }, again = { 0 };
	uint64_t counted = 0;

	(void)state;
	base_work_init(&work, 16 * MIB, 1, NULL);
	assert_int_equal(base_big_alloc(&work, &freed, 10 * MIB, "test", NULL), HDB_OK);
	assert_int_equal(base_big_alloc(&work, &kept, 4 * MIB, "test", NULL), HDB_OK);
	memset(freed.data, 1, freed.size_bytes);
	base_big_free(&freed);
	assert_int_equal(work.pool_bytes, 10 * MIB);
	base_work_count(&work, &counted, 7 * MIB);
	assert_int_equal(work.pool_bytes, 5 * MIB);
	base_work_check(&work);
	assert_int_equal(base_big_alloc(&work, &again, 5 * MIB, "test", NULL), HDB_OK);
	assert_true(is_clear(&again));
	assert_int_equal(work.pool_bytes, 0);
	memset(again.data, 2, again.size_bytes);
	base_work_check(&work);
	base_big_free(&again);
	base_big_free(&kept);
	base_work_count(&work, &counted, 0);
	base_work_release(&work);
}

/* Allocates, fills and frees arrays of 2 MiB. Returns how many of them were pages of files. */
static unsigned count_cached(struct base_work *work, unsigned count)
{
	struct base_big big[16] = { 0 };
	unsigned cached = 0;

	assert_true(count <= sizeof(big) / sizeof(big[0]));
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(base_big_alloc(work, &big[i], 2 * MIB, "test", NULL), HDB_OK);
		assert_true(is_clear(&big[i]));
		assert_false(big[i].is_file);
		memset(big[i].data, (int)i + 1, big[i].size_bytes);
		cached += big[i].is_cached;
		base_work_check(work);
	}
	assert_int_equal(work->memory_used, count * 2ull * MIB);
	assert_int_equal(entries_of(folder), 0);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(((uint8_t *)big[i].data)[2 * MIB - 1], i + 1);
		base_big_free(&big[i]);
		base_work_check(work);
	}
	return cached;
}

/* Beyond the limit of anonymous memory, arrays are pages of files, up to their own limit. */
static void test_anonymous_limit(void **state)
{
	const struct statfs good = fs;
	struct rlimit old, little;
	struct base_work work;
	struct base_big big, more;
	uint64_t others = 0;

	(void)state;
	base_work_init(&work, 0, 1, NULL);
	assert_true(work.cached_max > 0);
	work.memory_bytes = 64 * MIB;
	work.cached_max = 16 * MIB;
	work.scratch_dir = folder;
	assert_int_equal(count_cached(&work, 10), 0);
	base_work_release(&work);
	base_work_limit_anonymous(&work, 8 * MIB);
	/* The second time, pooled memory is reused. */
	for (unsigned turn = 0; turn < 2; turn++) {
		assert_int_equal(count_cached(&work, 10), 6);
		assert_int_equal(work.anonymous_bytes, 8 * MIB);
	}
	/* Not more than the limit. */
	assert_int_equal(count_cached(&work, 14), 8);
	assert_int_equal(work.anonymous_bytes, 12 * MIB);
	/* Pooled memory beyond the limit is returned as soon as other memory is needed. */
	base_work_limit_anonymous(&work, 4 * MIB);
	assert_int_equal(base_big_alloc(&work, &big, 18 * MIB, "test", NULL), HDB_OK);
	assert_int_equal(work.anonymous_bytes, 18 * MIB);
	base_work_check(&work);
	base_big_free(&big);
	base_work_release(&work);
	assert_int_equal(work.anonymous_bytes + work.cached_bytes, 0);

	/* Memory of other users counts. */
	base_work_limit_anonymous(&work, 8 * MIB);
	base_work_count(&work, &others, 10 * MIB);
	base_work_count(&work, &others, 5 * MIB);
	assert_int_equal(others, 5 * MIB);
	assert_int_equal(base_work_room(&work), 59 * MIB);
	base_work_check(&work);
	assert_int_equal(base_big_alloc(&work, &big, 2 * MIB, "test", NULL), HDB_OK);
	assert_false(big.is_cached);
	base_work_count(&work, &others, 6 * MIB + 1);
	assert_int_equal(base_big_alloc(&work, &more, 2 * MIB, "test", NULL), HDB_OK);
	assert_true(more.is_cached);
	base_work_count(&work, &others, 0);
	base_big_free(&big);
	base_big_free(&more);
	assert_int_equal(work.memory_used, 0);
	base_work_check(&work);
	base_work_release(&work);

	/* A memory file system, a network file system, a full disk, and a read-only disk. */
	base_work_limit_anonymous(&work, 8 * MIB);
	fs.f_type = 0x01021994;
	assert_int_equal(count_cached(&work, 8), 0);
	fs.f_type = 0x6969;
	base_work_release(&work);
	assert_int_equal(count_cached(&work, 8), 0);
	fs = good;
	fs.f_bavail = 8 * 2 * MIB / 4096;
	base_work_release(&work);
	assert_int_equal(count_cached(&work, 8), 0);
	fs = good;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	little = (struct rlimit){ MIB, old.rlim_max };
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	base_work_release(&work);
	assert_int_equal(count_cached(&work, 8), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	base_work_release(&work);
	assert_int_equal(count_cached(&work, 8), 4);
	base_work_release(&work);
	work.scratch_dir = NULL;
	assert_int_equal(count_cached(&work, 8), 0);
	base_work_release(&work);

	/* If the user sets a budget, memory is anonymous. */
	base_work_init(&work, 64 * MIB, 1, NULL);
	work.scratch_dir = folder;
	base_work_limit_anonymous(&work, 8 * MIB);
	assert_int_equal(count_cached(&work, 10), 0);
	base_work_release(&work);
}

static char told[100];

static void notice(void *ctx, const char *text)
{
	(void)ctx;
	(void)snprintf(told, sizeof(told), "%s", text);
}

static void test_caller(void **state)
{
	static volatile int cancel;
	const struct hdb_progress progress = { .notice = notice, .cancel = &cancel };
	struct base_work work;
	struct hdb_error err;

	(void)state;
	base_work_init(&work, 0, 0, NULL);
	assert_true(work.memory_bytes > 0);
	assert_int_equal(base_work_default(2ull << 30), 512ull << 20);
	assert_int_equal(base_work_default(8ull << 30), MEMORY_DEFAULT_MAX);
	assert_int_equal(base_work_default(MEMORY_LARGE), MEMORY_DEFAULT_MAX);
	assert_int_equal(base_work_default(64ull << 30), 16ull << 30);
	assert_true(work.threads > 0);
	base_work_init(&work, 2 * MEMORY_DEFAULT_MAX, 0, NULL);
	assert_int_equal(work.memory_bytes, 2 * MEMORY_DEFAULT_MAX);
	base_work_init(&work, 0, 0, NULL);
	base_notice(&work, "to nobody");
	base_work_init(&work, 0, 1000000, &progress);
	assert_true(work.threads < 1000000);
	base_notice(&work, "to us");
	assert_string_equal(told, "to us");
	assert_int_equal(base_step(&work, 1, &err), HDB_OK);
	cancel = 1;
	assert_int_equal(base_step(&work, 1, &err), HDB_EINTR);
	(void)unsetenv("TMPDIR");
	base_work_init(&work, 0, 1, NULL);
	assert_string_equal(work.tmp_dir, "/tmp");
}

/* A budget covers all memory of a process, so arrays and threads get less. */
static void test_allow(void **state)
{
	struct base_work work;

	(void)state;
	base_work_init(&work, 1024 * MIB, 2, NULL);
	base_work_allow(&work);
	assert_int_equal(work.threads, 2);
	assert_in_range(work.memory_bytes, 984 * MIB, 1016 * MIB);

	base_work_init(&work, 64 * MIB, 16, NULL);
	base_work_allow(&work);
	assert_in_range(work.threads, 1, 4);
	assert_in_range(work.memory_bytes, 32 * MIB, 56 * MIB);

	base_work_init(&work, 1, 16, NULL); /* as little as it takes */
	base_work_allow(&work);
	assert_int_equal(work.threads, 1);
	assert_in_range(work.memory_bytes, 1, 16 * MIB);
	base_work_init(&work, 20 * MIB, 1, NULL);
	base_work_allow(&work);
	assert_in_range(work.memory_bytes, 1, 16 * MIB);
}

static int setup(void **state)
{
	const char *dir = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");

	(void)state;
	(void)snprintf(folder, sizeof(folder), "%s/heapdb-work-XXXXXX", dir ? dir : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),           cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_no_scratch),      cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_spill),           cmocka_unit_test(test_pool),
		cmocka_unit_test(test_anonymous_limit), cmocka_unit_test(test_caller),
		cmocka_unit_test(test_allow),           cmocka_unit_test(test_give_way),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
