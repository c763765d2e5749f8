/*
 * tests/analysis/merged_test.c - nodes and names of a merged tree, without a heap. The invariants
 * are asserted after every step, and the assertions fail when the tree is broken on purpose.
 */
#include "analysis/merged.h"

#include "support/death.h"
#include "support/structure_checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define NAMES 40u
#define STEPS 4000u

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % below;
}

static void check_merged(const struct analysis_merged *m)
{
	const size_t n = m->tree.nodes.count;

	assert(m->sums.count == n * m->dump_count);
	base_idmap_check(&m->names.by_hash);
	base_idmap_check(&m->tree.by_place);
	assert(m->names.by_hash.count == m->names.list.count);
	assert(m->tree.by_place.count == n);
	for (uint32_t v = 0; v < n; v++) {
		const struct base_tree_node *node = analysis_merged_node(m, v);
		const bool is_top = node->parent == ANALYSIS_MERGED_TOP;
		const uint64_t place = (uint64_t)(node->parent + 1) << 32 | node->name;

		/* Parents have lower numbers. */
		assert(is_top || node->parent < v);
		assert(node->depth ==
		       (is_top ? 0 : analysis_merged_node(m, node->parent)->depth + 1));
		assert(node->depth < ANALYSIS_MERGED_DEPTH);
		assert(node->name < m->names.list.count);
		assert(node->hint == ANALYSIS_MERGED_TOP || node->hint < n);
		assert(base_idmap_get(&m->tree.by_place, place) == v);
	}
}

static void check(void *m)
{
	check_merged(m);
}

static void grow_and_break(void **state)
{
	struct analysis_merged m;
	struct base_work work;
	struct session session = { .work = &work };
	struct base_tree_node *node;
	uint32_t names[NAMES], child, again;
	uint64_t seed = 1;

	(void)state;
	base_work_init(&work, 0, 1, NULL);
	analysis_merged_init(&m, DERIVE_CLASS, 2);
	analysis_merged_limit(&m, &session);
	for (uint32_t i = 0; i < NAMES; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "name %u", i);
		assert_int_equal(analysis_merged_text(&m, name, &names[i], NULL), HDB_OK);
		assert_int_equal(analysis_merged_text(&m, name, &again, NULL), HDB_OK);
		assert_int_equal(names[i], again);
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		const uint32_t parent = m.tree.nodes.count && draw(&seed, 8) ?
						(uint32_t)draw(&seed, m.tree.nodes.count) :
						ANALYSIS_MERGED_TOP;
		const uint32_t name = names[draw(&seed, NAMES)];

		assert_int_equal(analysis_merged_child(&m, parent, name, &child, NULL), HDB_OK);
		assert_int_equal(analysis_merged_child(&m, parent, name, &again, NULL), HDB_OK);
		assert_int_equal(child, again);
		assert_true(child == parent || analysis_merged_node(&m, child)->name == name);
		if (i % 500 == 0)
			check_merged(&m);
	}
	check_merged(&m);
	analysis_merged_finish(&m);
	assert_false(dies(check, &m));
	node = base_tree_node(&m.tree, (uint32_t)m.tree.nodes.count - 1);
	node->parent = (uint32_t)m.tree.nodes.count;
	assert_true(dies(check, &m));
	node->parent = ANALYSIS_MERGED_TOP;
	assert_true(dies(check, &m));
	m.tree.nodes.count--;
	assert_true(dies(check, &m));
	analysis_merged_release(&m);
	base_work_release(&work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grow_and_break),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
