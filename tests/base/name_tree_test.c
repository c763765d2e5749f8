/*
 * tests/base/name_tree_test.c - names and nodes are found again, and a tree is listed in the order
 * of a recursive walk.
 */
#include "base/name_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define NODES 3000u

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % below;
}

static void names(void **state)
{
	struct base_names names = { 0 };
	char text[8] = "a";
	const struct base_name rows[] = {
		{ text, 1, 0 }, { text, 1, 1 }, { "", 0, 0 }, { "ab", 2, 0 }, { "a\0b", 3, 0 },
	};
	uint32_t no;

	(void)state;
	for (uint32_t turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			assert_int_equal(base_names_add(&names, &rows[i], i == 3, &no, NULL),
					 HDB_OK);
			assert_int_equal(no, i);
		}
	text[0] = 'b'; /* the map has its own copy of the name */
	assert_string_equal(base_vec_at(&names.list, struct base_name, 0)->text, "a");
	base_names_release(&names);
}

/* Orders siblings by name, descending. Four successive names are equal. */
static int compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct base_tree *tree = ctx;

	return (int)(base_tree_node(tree, b)->name / 4) - (int)(base_tree_node(tree, a)->name / 4);
}

/* Returns the best child of `parent` that is not listed yet. */
static uint32_t best(const struct base_tree *tree, const struct base_tree_list *list,
		     const bool *is_done, uint32_t parent)
{
	uint32_t found = BASE_TREE_TOP;

	for (uint32_t v = 0; v < NODES; v++)
		if (base_tree_node(tree, v)->parent == parent && !is_done[v] &&
		    list->is_listed[v] && base_tree_node(tree, v)->depth <= list->max_depth &&
		    (found == BASE_TREE_TOP || compare(tree, v, found) < 0))
			found = v;
	return found;
}

static void order(void **state)
{
	struct base_tree tree = { 0 };
	bool is_listed[NODES], is_done[NODES] = { 0 };
	const struct base_tree_list list = { compare, &tree, is_listed, 5 };
	uint32_t at = BASE_TREE_TOP, node, *made = NULL;
	uint64_t seed = 7;
	size_t count, i = 0;

	(void)state;
	while (tree.nodes.count < NODES) {
		const size_t n = tree.nodes.count;
		const uint32_t parent =
			n && draw(&seed, 9) ? (uint32_t)draw(&seed, n) : BASE_TREE_TOP;
		const uint32_t name = (uint32_t)draw(&seed, 400);

		if (base_tree_child(&tree, parent, name) != BASE_TREE_TOP)
			continue;
		assert_int_equal(base_tree_add(&tree, parent, name, &node, NULL), HDB_OK);
		assert_int_equal(base_tree_child(&tree, parent, name), node);
		is_listed[node] = draw(&seed, 20) && (parent == BASE_TREE_TOP || is_listed[parent]);
	}
	assert_int_equal(base_tree_order(&tree, &list, &made, &count, NULL), HDB_OK);
	for (;;) {
		node = best(&tree, &list, is_done, at);
		if (node == BASE_TREE_TOP && at == BASE_TREE_TOP)
			break;
		if (node == BASE_TREE_TOP) {
			at = base_tree_node(&tree, at)->parent;
			continue;
		}
		assert_true(i < count);
		assert_int_equal(made[i++], node);
		is_done[node] = true;
		at = node;
	}
	assert_int_equal(i, count);
	assert_true(count > NODES / 4 && count < NODES);
	free(made);
	base_tree_release(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(names), cmocka_unit_test(order) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
