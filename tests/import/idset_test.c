/* idset_test.c - compares import/idset.c with a sorted array, for dense, sparse and odd sets. */
#include "import/idset.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define COUNT 40000u

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Looking up many IDs at once gives the same results as one by one: IDs in the set, their
 * neighbours, and distant IDs.
 */
static void check_many(const struct idset *set, const uint64_t *ids, uint32_t n)
{
	static const uint64_t far[] = {
		0, 1, 4, 8, 1 << 20, UINT64_MAX, UINT64_MAX - 7, 1ull << 63
	};
	const uint32_t count = n / 16 * 3 + 8;
	uint64_t *wanted = malloc(count * sizeof(*wanted));
	uint32_t *found = malloc(count * sizeof(*found));
	size_t in_set = 0;

	for (uint32_t i = 0; i < count; i++)
		wanted[i] = i % 13 ? ids[(uint64_t)i * 7919 % n] + i % 3 * 4 + (i % 31 == 0) :
				     far[i % 8];
	for (uint32_t i = 0; i < count; i++)
		in_set += import_idset_find(set, wanted[i]) != IDSET_NONE;
	assert_int_equal(import_idset_find_many(set, wanted, count, found), in_set);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(found[i], import_idset_find(set, wanted[i]));
	free(wanted);
	free(found);
}

/* Adds the IDs, some of them twice, and compares every result. */
static void check_set(uint64_t *ids, uint32_t count, bool want_sparse)
{
	struct idset set;
	uint64_t duplicates, added = 0, *scan = malloc((count + 1) * sizeof(*scan));
	uint32_t *found = malloc((count + 1) * sizeof(*found)), n = 0;

	import_idset_init(&set);
	for (uint32_t i = 0; i < count; i++) {
		const int r = import_idset_add(&set, ids[i], NULL);

		assert_true(r == HDB_OK || r == HDB_END);
		added += r == HDB_OK;
	}
	assert_int_equal(import_idset_finish(&set, &duplicates, NULL), HDB_OK);
	assert_int_equal(set.is_sparse, want_sparse);
	qsort(ids, count, sizeof(*ids), compare);
	for (uint32_t i = 0; i < count; i++)
		if (i == 0 || ids[i] != ids[i - 1])
			ids[n++] = ids[i];
	assert_int_equal(set.count, n);
	assert_int_equal(added - duplicates, n);
	import_idset_find_many(&set, ids, n, found);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(import_idset_find(&set, ids[i]), i);
		assert_int_equal(found[i], i);
		assert_true(import_idset_has(&set, ids[i]));
		if (i + 1 == n || ids[i + 1] != ids[i] + 1)
			assert_int_equal(import_idset_find(&set, ids[i] + 1), IDSET_NONE);
		if (i + 1 == n || ids[i + 1] != ids[i] + 8)
			assert_int_equal(import_idset_find(&set, ids[i] + 8), IDSET_NONE);
	}
	check_many(&set, ids, n);
	for (uint32_t first = 0; first < n; first += 1 + n / 37) {
		const uint32_t want = n - first < 5000 ? n - first : 5000;

		scan[want] = UINT64_MAX;
		import_idset_scan(&set, first, want, scan);
		assert_memory_equal(scan, ids + first, want * sizeof(*scan));
		assert_int_equal(scan[want], UINT64_MAX);
	}
	assert_int_equal(import_idset_find(&set, UINT64_MAX), IDSET_NONE);
	import_idset_release(&set);
	free(scan);
	free(found);
}

static void test_heap_like(void **state)
{
	uint64_t *ids = malloc(COUNT * sizeof(*ids)), seed = 11, at = 0x7f0000000000;

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		ids[i] = at;
		at += 16 + 8 * (test_random(&seed) % 9) + (i % 5000 == 0 ? 1 << 26 : 0);
	}
	/* IDs are not in order, and some occur twice. */
	for (uint32_t i = 0; i < COUNT; i += 3) {
		const uint32_t k = (uint32_t)(test_random(&seed) % COUNT);
		const uint64_t x = ids[i];

		ids[i] = ids[k];
		ids[k] = i % 99 ? x : ids[i];
	}
	ids[7] = 0;
	check_set(ids, COUNT, false);
	free(ids);
}

/*
 * The HPROF agent numbers objects 1, 2, 3 ...: the unit of the bits shrinks during the additions.
 */
static void test_small_numbers(void **state)
{
	uint64_t *ids = malloc(COUNT * sizeof(*ids));

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++)
		ids[i] = i < 100 ? 8 * i : 800 + i * 3;
	check_set(ids, COUNT, false);
	free(ids);
}

static void test_scattered(void **state)
{
	uint64_t *ids = malloc(COUNT * sizeof(*ids)), seed = 3;

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++)
		ids[i] = test_random(&seed);
	ids[5] = ids[6];
	check_set(ids, COUNT, true);
	free(ids);
}

/* Sparse and very uneven IDs: low IDs, a cluster, and one far away. */
static void test_uneven(void **state)
{
	uint64_t *ids = malloc(COUNT * sizeof(*ids)), wanted[5];
	uint32_t found[5];
	uint64_t seed = 4, duplicates;
	struct idset set;

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++)
		ids[i] =
			i < 9 ? 8 * (i + 1) :
				0x7f0000000000 + ((uint64_t)i << 24) + 8 * (test_random(&seed) % 9);
	ids[COUNT - 1] = UINT64_MAX - 7;
	check_set(ids, COUNT, true);
	import_idset_init(&set);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(import_idset_add(&set, ids[i], NULL), HDB_OK);
	assert_int_equal(import_idset_finish(&set, &duplicates, NULL), HDB_OK);
	assert_true(set.is_sparse);
	wanted[0] = 80;
	wanted[1] = ids[9] - 8;
	wanted[2] = ids[9];
	wanted[3] = UINT64_MAX;
	wanted[4] = 8;
	import_idset_find_many(&set, wanted, 5, found);
	assert_int_equal(found[0], IDSET_NONE);
	assert_int_equal(found[1], IDSET_NONE);
	assert_int_equal(found[2], 9);
	assert_int_equal(found[3], IDSET_NONE);
	assert_int_equal(found[4], 0);
	import_idset_release(&set);
	free(ids);
}

/* Classes that the dump lacks are added after the first numbering. */
static void test_adding_later(void **state)
{
	struct idset set;
	uint64_t duplicates;

	(void)state;
	import_idset_init(&set);
	for (uint64_t id = 0x100000; id < 0x200000; id += 16)
		assert_int_equal(import_idset_add(&set, id, NULL), HDB_OK);
	assert_int_equal(import_idset_finish(&set, &duplicates, NULL), HDB_OK);
	assert_int_equal(import_idset_find(&set, 0x100000), 0);
	assert_int_equal(import_idset_add(&set, 0, NULL), HDB_OK);
	assert_int_equal(import_idset_add(&set, 0x150008, NULL), HDB_OK);
	assert_int_equal(import_idset_add(&set, 0x150000, NULL), HDB_END);
	assert_int_equal(import_idset_finish(&set, &duplicates, NULL), HDB_OK);
	assert_int_equal(import_idset_find(&set, 0), 0);
	assert_int_equal(import_idset_find(&set, 0x100000), 1);
	assert_int_equal(import_idset_find(&set, 0x150008), 1 + 0x5000 + 1);
	assert_int_equal(import_idset_find(&set, 0x150010), 1 + 0x5000 + 2);
	import_idset_release(&set);
}

/* The set becomes sparse with the first ID after the numbering. All other IDs are still in it. */
static void test_turning_later(void **state)
{
	const uint64_t first = 0x7f0000000000, apart = 1 << 20;
	struct idset probe, set;
	uint64_t duplicates, count = 0;

	(void)state;
	import_idset_init(&probe);
	while (!probe.is_sparse)
		assert_int_equal(import_idset_add(&probe, first + count++ * apart, NULL), HDB_OK);
	import_idset_release(&probe);
	count--; /* this many IDs make a set dense */
	import_idset_init(&set);
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(import_idset_add(&set, first + i * apart, NULL), HDB_OK);
	assert_int_equal(import_idset_finish(&set, &duplicates, NULL), HDB_OK);
	assert_false(set.is_sparse);
	assert_int_equal(import_idset_add(&set, 8, NULL), HDB_OK);
	assert_true(set.is_sparse);
	for (uint64_t i = 0; i < count; i++)
		assert_true(import_idset_has(&set, first + i * apart));
	assert_false(import_idset_has(&set, first + count * apart));
	assert_int_equal(import_idset_finish(&set, &duplicates, NULL), HDB_OK);
	assert_int_equal(duplicates, 0);
	assert_int_equal(set.count, count + 1);
	assert_int_equal(import_idset_find(&set, 8), 0);
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(import_idset_find(&set, first + i * apart), i + 1);
	import_idset_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap_like),    cmocka_unit_test(test_small_numbers),
		cmocka_unit_test(test_scattered),    cmocka_unit_test(test_uneven),
		cmocka_unit_test(test_adding_later), cmocka_unit_test(test_turning_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
