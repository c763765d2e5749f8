/*
 * tests/base/spill_buckets_test.c - buckets return the records put into them, and stay within the
 * budget regardless of the order.
 */
#include "base/work.h"
#include "base/spill_buckets.h"
#include "support/structure_checks.h"
#include "support/temp.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define BUCKETS 1000u
#define RECORDS 10000u /* a bucket */
#define BUDGET ((uint64_t)16 << 20)
#define CHUNKS_BYTES (BUDGET / 4)

/* Size of a slab (spill_buckets.c), which may be allocated for a bucket's first chunk. */
#define SLACK ((uint64_t)1 << 20)

static uint64_t value_of(uint32_t bucket, uint32_t k)
{
	return (uint64_t)bucket << 20 ^ (uint64_t)k * 7919;
}

/* Follows a list of slots to its end, and adds its length to *seen. */
static void check_list(const struct base_buckets *buckets, uint32_t first, uint64_t *seen)
{
	for (uint32_t no = first; no != GRAPH_NO_SLOT;
	     no = base_vec_at(&buckets->slots, struct base_bucket_slot, no)->next) {
		assert(no < buckets->slots.count);
		++*seen;
		assert(*seen <= buckets->slots.count);
	}
}

/*
 * Each chunk is in one list, which belongs to a bucket or contains free chunks, and every list
 * ends.
 */
static void check_buckets(const struct base_buckets *buckets)
{
	uint64_t seen = 0, being_filled = 0;

	assert(buckets->chunk_bytes >= GRAPH_CHUNK_MIN && buckets->chunk_bytes <= GRAPH_CHUNK_MAX);
	assert(buckets->full < buckets->chunk_bytes);
	base_vec_check(&buckets->slots);
	base_vec_check(&buckets->slabs);
	for (uint32_t i = 0; i < buckets->bucket_count; i++) {
		const struct base_bucket *bucket = &buckets->bucket[i];

		assert((bucket->first == GRAPH_NO_SLOT) == (bucket->last == GRAPH_NO_SLOT));
		assert(!bucket->chunk || bucket->used <= buckets->chunk_bytes);
		assert(bucket->chunk || bucket->used == UINT32_MAX);
		being_filled += bucket->chunk != NULL;
		check_list(buckets, bucket->first, &seen);
	}
	check_list(buckets, buckets->free_place, &seen);
	assert(seen + being_filled <= buckets->slots.count);
}

static void add(struct base_buckets *buckets, uint32_t bucket, uint32_t k)
{
	const uint64_t v[] = { (uint64_t)bucket * RECORDS + k, value_of(bucket, k), k % 3 };
	struct hdb_error err;

	assert_int_equal(base_buckets_add(buckets, bucket, BASE_RECORD(2, 1), v, &err), HDB_OK);
}

static void read_back(const struct base_buckets *buckets, uint32_t bucket)
{
	struct base_bucket_reader reader;
	uint64_t v[BASE_BUCKET_FIELDS];
	struct hdb_error err;

	assert_int_equal(base_bucket_begin(buckets, bucket, &reader, &err), HDB_OK);
	for (uint32_t k = 0; k < RECORDS; k++) {
		assert_int_equal(base_bucket_next(&reader, BASE_RECORD(2, 1), v, &err), HDB_OK);
		assert_int_equal(v[0], (uint64_t)bucket * RECORDS + k);
		assert_int_equal(v[1], value_of(bucket, k));
		assert_int_equal(v[2], k % 3);
	}
	assert_int_equal(base_bucket_next(&reader, BASE_RECORD(2, 1), v, &err), HDB_END);
	base_bucket_end(&reader);
}

/* Fills one bucket after the other, or all buckets in turn, with about 40 MB. */
static void fill(bool in_turn, bool has_file)
{
	struct base_buckets buckets = { 0 };
	struct base_work work;
	struct hdb_error err;

	base_work_init(&work, BUDGET, 1, NULL);
	work.scratch_dir = has_file ? work.tmp_dir : NULL;
	assert_int_equal(
		base_buckets_init(&buckets,
				  &(struct base_buckets_plan){ .bucket_count = BUCKETS,
							       .chunks_bytes = CHUNKS_BYTES,
							       .kept_bytes = BUDGET / 4,
							       .what = "test" },
				  &work, &err),
		HDB_OK);
	for (uint32_t i = 0; i < BUCKETS * RECORDS; i++)
		add(&buckets, in_turn ? i % BUCKETS : i / RECORDS,
		    in_turn ? i / BUCKETS : i % RECORDS);
	if (has_file)
		assert_true(work.memory_peak <= BUDGET + BUCKETS * GRAPH_CHUNK_MIN + SLACK);
	else
		assert_true(work.memory_peak > 3 * BUDGET / 2);
	check_buckets(&buckets);
	for (uint32_t bucket = 0; bucket < BUCKETS; bucket++)
		read_back(&buckets, bucket);
	for (uint32_t bucket = 0; bucket < BUCKETS; bucket += 2)
		base_bucket_drop(&buckets, bucket);
	check_buckets(&buckets);
	for (uint32_t k = 0; k < RECORDS; k++)
		for (uint32_t bucket = 0; bucket < BUCKETS; bucket += 2)
			add(&buckets, bucket, k);
	for (uint32_t bucket = 0; bucket < BUCKETS; bucket++)
		read_back(&buckets, bucket);
	base_buckets_release(&buckets);
	assert_int_equal(work.memory_used, 0);
	base_work_release(&work);
}

static void one_after_the_other(void **state)
{
	(void)state;
	fill(false, true);
	fill(false, false);
}

static void all_in_turn(void **state)
{
	(void)state;
	fill(true, true);
	fill(true, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(all_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
