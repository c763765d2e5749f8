/*
 * platform_test.c - the replacements in base/platform.h behave like the functions of Linux. They
 * are tested even if the rest of the build uses those of Linux.
 */
#ifndef PORTABLE
#define PORTABLE
#endif
#include "base/platform.c" /* NOLINT(bugprone-suspicious-include) */

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define COUNT 1000

struct item {
	int key, place;
};

static int by_key(const void *a, const void *b, void *ctx)
{
	(*(int *)ctx)++;
	return ((const struct item *)a)->key - ((const struct item *)b)->key;
}

/* Equal keys keep their order, for any number of keys, with and without memory. */
static void test_sort(void **state)
{
	static struct item items[COUNT];

	(void)state;
	for (int count = 0; count <= COUNT; count += count < 40 ? 1 : 240) {
		for (int way = 0; way < 2; way++) {
			int calls = 0;
			const struct order order = { sizeof(items[0]), by_key, &calls };

			for (int i = 0; i < count; i++)
				items[i] = (struct item){ (i * 7919) % 10, i };
			if (way)
				insert_all(&order, (char *)items, (size_t)count);
			else
				portable_qsort_r(items, (size_t)count, sizeof(items[0]), by_key,
						 &calls);
			for (int i = 1; i < count; i++)
				assert_true(items[i - 1].key < items[i].key ||
					    (items[i - 1].key == items[i].key &&
					     items[i - 1].place < items[i].place));
			assert_true(count < 2 || calls > 0);
		}
	}
}

static void test_bytes(void **state)
{
	static const char text[] = "a/b/c";
	char secret[] = "secret", reason[64] = "";
	uint8_t one[16], two[16];

	(void)state;
	assert_ptr_equal(portable_memrchr(text, '/', 5), text + 3);
	assert_ptr_equal(portable_memrchr(text, '/', 3), text + 1);
	assert_ptr_equal(portable_memrchr(text, 'a', 1), text);
	assert_null(portable_memrchr(text, '/', 1));
	assert_null(portable_memrchr(text, 'a', 0));
	portable_explicit_bzero(secret, sizeof(secret));
	assert_memory_equal(secret, "\0\0\0\0\0\0", 7);
	assert_int_equal(portable_getrandom(one, sizeof(one), 0), sizeof(one));
	assert_int_equal(portable_getrandom(two, sizeof(two), 0), sizeof(two));
	assert_memory_not_equal(one, two, sizeof(one));
	memcpy(one, (const void *)(uintptr_t)portable_getauxval(AT_RANDOM), sizeof(one));
	memcpy(two, (const void *)(uintptr_t)portable_getauxval(AT_RANDOM), sizeof(two));
	assert_memory_equal(one, two, sizeof(one));
	assert_int_equal(portable_getauxval(AT_RANDOM + 1), 0);
	assert_string_equal(portable_strerror_r(ENOENT, reason, sizeof(reason)),
			    "No such file or directory");
}

static void test_files(void **state)
{
	const int fd = portable_memfd_create("heapdb-test", MFD_CLOEXEC);
	struct portable_statx st = { 0 };
	struct stat real;

	(void)state;
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(portable_fallocate(fd, 0, 3 * COPY_BYTES + 5), 0);
	assert_int_equal(fstat(fd, &real), 0);
	assert_int_equal(real.st_size, 3 * COPY_BYTES + 5);
	assert_int_equal(real.st_nlink, 0);
	assert_true(real.st_blocks * 512 >= 3 * COPY_BYTES);
	(void)close(fd);
	assert_int_equal(portable_fallocate(fd, 0, 1), EBADF);
	assert_int_equal(portable_statx(AT_FDCWD, ".", 0, STATX_MTIME, &st), 0);
	assert_int_equal(stat(".", &real), 0);
	assert_true(S_ISDIR(st.stx_mode));
	assert_true(st.stx_mtime.tv_sec == real.st_mtim.tv_sec &&
		    st.stx_mtime.tv_nsec == (uint32_t)real.st_mtim.tv_nsec);
	assert_int_equal(portable_statx(AT_FDCWD, "missing", 0, STATX_MTIME, &st), -1);
}

static void test_pipes(void **state)
{
	int from[2], to[2];
	char bytes[8];
	const int fd = portable_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)state;
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	(void)close(fd);
	assert_int_equal(portable_pipe2(from, O_CLOEXEC), 0);
	assert_int_equal(portable_pipe2(to, 0), 0);
	assert_true(fcntl(from[0], F_GETFD) & fcntl(from[1], F_GETFD) & FD_CLOEXEC);
	assert_false(fcntl(to[0], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(from[1], "hello", 5), 5);
	assert_int_equal(portable_splice(from[0], to[1], 4), 4);
	assert_int_equal(portable_splice(from[0], to[1], COPY_BYTES), 1);
	assert_int_equal(read(to[0], bytes, sizeof(bytes)), 5);
	assert_memory_equal(bytes, "hello", 5);
	(void)close(from[1]);
	assert_int_equal(portable_splice(from[0], to[1], COPY_BYTES), 0);
	(void)close(from[0]);
	(void)close(to[0]);
	(void)close(to[1]);
}

static void test_processor(void **state)
{
	(void)state;
#ifdef __x86_64__
#undef __builtin_cpu_supports
#undef __builtin_cpu_is
#if !defined(__clang__)
	assert_int_equal(portable_cpu_supports("bmi2"), __builtin_cpu_supports("bmi2") &&
								__builtin_cpu_supports("bmi") &&
								__builtin_cpu_supports("popcnt"));
	assert_int_equal(portable_cpu_supports("avx2"), __builtin_cpu_supports("avx2") != 0);
	assert_int_equal(portable_cpu_is("amdfam17h"), __builtin_cpu_is("amdfam17h") != 0);
	assert_int_equal(portable_cpu_is("amdfam15h"), __builtin_cpu_is("amdfam15h") != 0);
#endif
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),      cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_files),     cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_processor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
