/*
 * tests/rewrite/id_bits_test.c - compares sets of identifiers with a list, and reads names from a
 * file. The structures' own checks pass, and fail if a structure is damaged on purpose.
 */
#include "rewrite/id_bits.h"

#include "rewrite/renames.h"
#include "support/death.h"
#include "support/structure_checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define IDS 600u

static void id_bits_check(const struct rewrite_id_bits *set)
{
	assert(set->shift <= 3);
	base_idmap_check(&set->parts);
	base_vec_check(&set->bits);
	assert(set->parts.count == set->bits.count);
	for (uint64_t i = 0; i < set->parts.capacity; i++)
		assert(set->parts.slots[i].value == BASE_IDMAP_NONE ||
		       set->parts.slots[i].value < set->bits.count);
	for (size_t i = 0; i < set->bits.count; i++)
		assert(base_vec_at(&set->bits, struct base_big, i)->size_bytes > 0);
}

static void renames_check(const struct rewrite_renames *n)
{
	uint32_t classes = 0;

	base_idmap_check(&n->exact);
	for (size_t i = 0; i < n->lines.count; i++) {
		const struct rewrite_rename *one = base_vec_at(&n->lines, struct rewrite_rename, i);

		assert(one->from < one->to);
		assert(one->to < n->texts.count);
		/* Each text ends where the next begins. */
		assert(one->from == 0 || *base_vec_at(&n->texts, char, one->from - 1) == '\0');
		assert(*base_vec_at(&n->texts, char, one->to - 1) == '\0');
		classes += !one->is_package;
	}
	assert(n->exact.count <= classes);
}

static void check_ids(void *set)
{
	id_bits_check(set);
}

static void check_renames(void *names)
{
	renames_check(names);
}

static bool is_among(const uint64_t *ids, unsigned count, uint64_t id)
{
	for (unsigned i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static void ids(void **state)
{
	static uint64_t list[IDS];
	struct base_work work;
	struct rewrite_id_bits set = { .work = &work, .shift = rewrite_id_shift(0x7f8) };
	uint64_t seed = 7;

	(void)state;
	base_work_init(&work, 0, 1, NULL);
	assert_int_equal(set.shift, 3);
	for (unsigned i = 0; i < IDS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		/* Close together, and sometimes far away. */
		list[i] = ((seed >> 40) + (i % 50 ? 0 : (uint64_t)i << 36)) << 3;
		assert_int_equal(rewrite_id_bits_add(&set, list[i], NULL), HDB_OK);
		id_bits_check(&set);
	}
	for (unsigned i = 0; i < IDS; i++) {
		assert_true(rewrite_id_bits_has(&set, list[i]));
		assert_int_equal(rewrite_id_bits_has(&set, list[i] + 8),
				 is_among(list, IDS, list[i] + 8));
	}
	assert_false(dies(check_ids, &set));
	set.bits.count--;
	assert_true(dies(check_ids, &set));
	set.bits.count++;
	set.shift = 4;
	assert_true(dies(check_ids, &set));
	rewrite_id_bits_release(&set);
	base_work_release(&work);
}

static void renames(void **state)
{
	struct rewrite_renames names = { 0 };
	struct rewrite_rename *one;
	char path[4096];
	FILE *f;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/names", getenv("TMPDIR") ? getenv("TMPDIR") : ".");
	f = fopen(path, "w");
	assert_non_null(f);
	(void)fputs("# names\ncom.acme.Foo -> com.other.Bar\ncom.acme. -> org.neutral.\n\n"
		    "a.B -> c.D\n",
		    f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(rewrite_renames_read(&names, path, NULL), HDB_OK);
	assert_int_equal(names.lines.count, 3);
	assert_false(dies(check_renames, &names));
	one = base_vec_at(&names.lines, struct rewrite_rename, 1);
	one->to += 1;
	assert_true(dies(check_renames, &names));
	one->to = names.texts.count;
	assert_true(dies(check_renames, &names));
	rewrite_renames_release(&names);
	(void)remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids),
		cmocka_unit_test(renames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
