/*
 * tests/analysis/hash_counter_test.c - compares counts by hash with a plain array: each hash occurs
 * once, in the order of counts and then of first objects.
 */
#include "analysis/hash_counter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define HASHES 6000u
#define OBJECTS 60000u

struct entry {
	struct analysis_counter_head head;
	uint32_t name;
};

/* Tags and low bits repeat, so entries collide. */
static struct heap_text_hash hash_of(uint32_t name)
{
	return (struct heap_text_hash){ .low = name % 97, .high = (uint64_t)name << 20 };
}

static void counted(void **state)
{
	struct session session = { 0 };
	struct analysis_counter counter = {
		.session = &session,
		.entry_bytes = sizeof(struct entry),
		.what = "test",
	};
	static uint64_t count[HASHES];
	struct base_work work;
	struct hdb_error err;
	uint64_t kept, least = UINT64_MAX;
	uint32_t distinct = 0, name = 1;

	(void)state;
	base_work_init(&work, 0, 1, NULL);
	session.work = &work;
	for (uint32_t ix = 0; ix < OBJECTS; ix++) {
		struct entry *entry;
		void *room;

		name = (uint32_t)((name * 2862933555777941757ull + 3037000493u) >> 11) % HASHES;
		if (ix % 5 == 0)
			name = 7; /* counted very often */
		assert_int_equal(analysis_counter_add(&counter, hash_of(name), ix, &room, &err),
				 HDB_OK);
		entry = room;
		if (!count[name]++) {
			distinct++;
			assert_int_equal(entry->head.first_ix, ix);
			entry->name = name;
		}
		assert_int_equal(entry->name, name);
		assert_int_equal(entry->head.count, count[name]);
	}
	assert_int_equal(counter.used, distinct);
	assert_int_equal(analysis_counter_order(&counter, 3, &kept, &err), HDB_OK);
	for (uint64_t i = 0; i < kept; i++) {
		const struct entry *entry = analysis_counter_at(&counter, i);

		assert_int_equal(entry->head.count, count[entry->name]);
		assert_true(entry->head.count >= 3 && entry->head.count <= least);
		least = entry->head.count;
		count[entry->name] = 0;
	}
	for (uint32_t i = 0; i < HASHES; i++)
		assert_true(count[i] < 3);
	analysis_counter_release(&counter);
	assert_int_equal(work.memory_used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(counted) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
