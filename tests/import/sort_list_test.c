/*
 * sort_list_test.c - tests import/sort_list.c against qsort.
 */
#include "import/sort_list.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#ifdef __x86_64__

/* What must stay as it is behind the last. */
#define GUARD 0x5a5a5a5au

static int compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void check(const uint32_t *list, unsigned n)
{
	uint32_t got[IMPORT_SORT_MAX + 1], want[IMPORT_SORT_MAX + 1];
	bool is_same, has_same = false;

	for (unsigned i = 0; i <= IMPORT_SORT_MAX; i++)
		got[i] = want[i] = i < n ? list[i] : GUARD;
	is_same = import_sort_avx2(got, n);
	qsort(want, n, sizeof(*want), compare);
	assert_memory_equal(got, want, sizeof(got));
	for (unsigned i = 1; i < n; i++)
		has_same |= want[i] == want[i - 1];
	assert_int_equal(is_same, has_same);
}

/* A network that sorts all zeros and ones sorts everything. */
static void test_zeros_and_ones(void **state)
{
	(void)state;
	if (!__builtin_cpu_supports("avx2"))
		skip();
	for (uint32_t bits = 0; bits < 1u << 16; bits++) {
		uint32_t list[16];

		for (unsigned i = 0; i < 16; i++)
			list[i] = bits >> i & 1;
		check(list, 16);
	}
	/* Of 32: halves that are sorted, which is what is merged, in each place. */
	for (unsigned a = 0; a <= 16; a++) {
		for (unsigned b = 0; b <= 16; b++) {
			uint32_t list[32];

			for (unsigned i = 0; i < 32; i++)
				list[i] = i % 16 < (i < 16 ? a : b);
			check(list, 32);
		}
	}
}

static void test_all_lengths(void **state)
{
	static const uint32_t masks[] = { 3, 0xff, UINT32_MAX };
	uint64_t seed = 15;

	(void)state;
	if (!__builtin_cpu_supports("avx2"))
		skip();
	for (unsigned n = 1; n <= IMPORT_SORT_MAX; n++) {
		for (unsigned round = 0; round < 3000; round++) {
			uint32_t list[IMPORT_SORT_MAX];

			for (unsigned i = 0; i < n; i++) {
				list[i] = (uint32_t)test_random(&seed) & masks[round % 3];
				/* The highest number is one, too. */
				if (round % 7 == 0)
					list[i] = ~list[i];
			}
			check(list, n);
		}
	}
}

#endif

int main(void)
{
#ifdef __x86_64__
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zeros_and_ones),
		cmocka_unit_test(test_all_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	return 0;
#endif
}
