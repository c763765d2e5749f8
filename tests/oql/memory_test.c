/*
 * tests/oql/memory_test.c - memory of statements: arenas and the budget that they share, arrays and
 * texts in them, sets of keys.
 */
#include "common/escape.h"
#include "oql/oql_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define KEYS 700

static void test_keys(void **state)
{
	struct oql_budget budget = { .most_bytes = 1 << 24 };
	struct oql_keys keys = { .budget = &budget };
	char text[16];

	(void)state;
	for (size_t i = 0; i < 2 * KEYS; i++) {
		const struct oql_str key = { text, (size_t)sprintf(text, "%zu", i % KEYS) };
		bool is_new = false;
		size_t no = SIZE_MAX;

		assert_true(oql_keys_has(&keys, key) == (i >= KEYS));
		assert_int_equal(oql_keys_put(&keys, key, &is_new, &no, NULL), HDB_OK);
		assert_true(is_new == (i < KEYS));
		assert_int_equal(no, i % KEYS);
	}
	assert_false(oql_keys_has(&keys, (struct oql_str){ "", 0 }));
	assert_int_equal(keys.names.list.count, KEYS);
	oql_keys_release(&keys);
	assert_int_equal(budget.used_bytes, 0);
}

/* Two arenas share a budget: one can use memory that the other returns. */
static void test_arenas(void **state)
{
	struct oql_budget budget = { .most_bytes = 1 << 20 };
	struct oql_arena a = { .budget = &budget }, b = { .budget = &budget };
	struct hdb_error err = { 0 };
	size_t count = 0;
	void *taken;

	(void)state;
	for (size_t size = 1; (taken = oql_take(&a, size, 1, &err)); size = size * 3 % 9973 + 1) {
		assert_int_equal((uintptr_t)taken % _Alignof(max_align_t), 0);
		assert_true(budget.used_bytes <= budget.most_bytes);
		count++;
	}
	assert_true(count > 100);
	assert_int_equal(err.code, HDB_ELIMIT);
	assert_null(oql_take(&b, 1 << 19, 1, &err));
	oql_arena_reset(&a);
	assert_non_null(oql_take(&b, 1 << 19, 1, &err));
	oql_arena_release(&a);
	oql_arena_release(&b);
	assert_int_equal(budget.used_bytes, 0);
}

/* Arrays keep their elements, and do not change when they reach their limit. */
static void test_arrays(void **state)
{
	struct oql_budget budget = { .most_bytes = 1 << 16 };
	struct oql_arena arena = { .budget = &budget };
	uint64_t *inside = NULL;
	struct base_vec outside = { 0 };
	size_t inside_room = 0, inside_count = 0;
	struct hdb_error err = { 0 };

	(void)state;
	while (inside_count < inside_room || OQL_GROW(&arena, inside, inside_room, &err)) {
		inside[inside_count] = inside_count;
		inside_count++;
	}
	assert_int_equal(err.code, HDB_ELIMIT);
	while (oql_room(&outside, sizeof(uint64_t), 1 << 16)) {
		*base_vec_at(&outside, uint64_t, outside.count) = outside.count;
		outside.count++;
	}
	assert_true(inside_count > 1000);
	assert_int_equal(outside.count, (1 << 16) / sizeof(uint64_t));
	for (size_t i = 0; i < inside_count; i++)
		assert_int_equal(inside[i], i);
	for (size_t i = 0; i < outside.count; i++)
		assert_int_equal(*base_vec_at(&outside, uint64_t, i), i);
	base_vec_release(&outside);
	oql_arena_release(&arena);
}

/*
 * Every character is encoded so that the decoder reads it back. Invalid code points become U+FFFD.
 */
static void test_characters(void **state)
{
	(void)state;
	for (uint32_t c = 0; c <= 0x110000; c++) {
		const bool is_one = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
		uint32_t read = 0;
		char buf[4];
		const size_t size = base_utf8(buf, c);

		if (utf8_decode(buf, size, &read) != size || read != (is_one ? c : 0xfffd))
			fail_msg("U+%04X is read as U+%04X", c, read);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_arenas),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
