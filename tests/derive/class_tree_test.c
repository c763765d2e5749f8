/*
 * class_tree_test.c - the tree of classes compared with walking up the superclasses, on random
 * trees, chains and cycles.
 */
#include "derive/class_tree.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { MAX = 300 };

/* Finds the first superclass that has an open class below it, by examining all classes. */
static uint32_t plain_covered(const struct class_tree *tree, uint32_t no)
{
	for (; no != STORE_NONE; no = tree->parent[no])
		for (uint32_t other = 0; other < tree->count; other++)
			for (uint32_t up = other; tree->open[other] && up != STORE_NONE;
			     up = tree->parent[up])
				if (up == no)
					return no;
	return STORE_NONE;
}

static void try_tree(uint64_t *seed, uint32_t n, unsigned shape)
{
	struct store_class classes[MAX] = { { 0 } };
	struct heap heap = { .class_count = n, .classes = { .records = classes } };
	struct class_tree tree = { 0 };
	uint32_t opened[64];
	unsigned open_count = 0;

	for (uint32_t no = 0; no < n; no++) {
		const uint32_t below = (uint32_t)(test_random(seed) % (no ? no : 1));

		classes[no].super_no = no == 0 || test_random(seed) % 20 == 0 ? STORE_NONE :
				       shape == 0                             ? below :
				       shape == 1                             ? no - 1 :
										no / 2;
	}
	if (shape == 3)
		classes[n / 4].super_no = n - 1;
	assert_int_equal(derive_class_tree_init(&tree, &heap, NULL), HDB_OK);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(tree.pre[tree.order[i]], i);
	for (unsigned step = 0; step < 300; step++) {
		const uint32_t no = (uint32_t)(test_random(seed) % n);

		assert_int_equal(derive_class_tree_covered(&tree, no), plain_covered(&tree, no));
		if (open_count < 64 && test_random(seed) % 2)
			derive_class_tree_open(&tree, opened[open_count++] = no);
		else if (open_count)
			derive_class_tree_close(&tree, opened[--open_count]);
	}
	derive_class_tree_release(&tree);
}

static void test_random_trees(void **state)
{
	uint64_t seed = 4711;

	(void)state;
	for (unsigned i = 0; i < 60; i++)
		try_tree(&seed, 8 + (uint32_t)(test_random(&seed) % (MAX - 8)), i % 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_trees) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
