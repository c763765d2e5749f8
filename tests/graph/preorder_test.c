/*
 * tests/graph/preorder_test.c - preorder numbers of inner nodes on random forests, chains and
 * cycles, linked in any order: each subtree has consecutive numbers, as many as it has nodes,
 * within the numbers of its parent's subtree.
 */
#include "graph/preorder.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { MAX = 2000, DEEP = 1000000 };

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, 0, 1, NULL);
	return 0;
}

/* Marks, links from the last node on or from the first, and numbers. */
static int number(const uint32_t *parent, uint32_t n, bool is_backward,
		  struct graph_preorder *order, struct hdb_error *err)
{
	assert_int_equal(graph_preorder_init(order, n, &work, err), HDB_OK);
	for (uint32_t v = 0; v < n; v++)
		if (parent[v] != GRAPH_NONE)
			graph_preorder_mark(order, parent[v]);
	assert_int_equal(graph_preorder_count(order, err), HDB_OK);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t v = is_backward ? n - 1 - i : i;

		if (graph_preorder_is_inner(order, v))
			graph_preorder_link(order, graph_preorder_place(order, v),
					    parent[v] == GRAPH_NONE ?
						    GRAPH_NONE :
						    graph_preorder_place(order, parent[v]));
	}
	return graph_preorder_number(order, err);
}

/*
 * Each inner node's numbers begin below its parent's, do not leave them, and are as many as its
 * subtree has nodes.
 */
static void check(const uint32_t *parent, uint32_t n, const struct graph_preorder *order)
{
	static uint32_t below[MAX];
	static uint8_t is_taken[MAX];
	uint32_t inner_count = 0;

	memset(below, 0, sizeof(below));
	memset(is_taken, 0, sizeof(is_taken));
	for (uint32_t v = 0; v < n; v++) {
		bool has_children = false;

		for (uint32_t c = 0; c < n && !has_children; c++)
			has_children = parent[c] == v;
		assert_int_equal(graph_preorder_is_inner(order, v), has_children);
		inner_count += has_children;
		for (uint32_t up = v; has_children && up != GRAPH_NONE; up = parent[up])
			below[up]++;
	}
	assert_int_equal(order->inner.count, inner_count);
	for (uint32_t v = 0; v < n; v++) {
		const uint32_t place = graph_preorder_place(order, v);
		uint32_t first, end;

		if (!below[v])
			continue;
		first = graph_preorder_first(order, place);
		end = graph_preorder_end(order, place);
		assert_int_equal(end - first, below[v]);
		assert_true(first < inner_count && !is_taken[first]);
		is_taken[first] = 1;
		if (parent[v] != GRAPH_NONE) {
			const uint32_t above = graph_preorder_place(order, parent[v]);

			assert_true(graph_preorder_first(order, above) < first);
			assert_true(end <= graph_preorder_end(order, above));
		}
	}
}

static void test_forests(void **state)
{
	static uint32_t parent[MAX];
	uint64_t seed = 42;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		const uint32_t n = 1 + (uint32_t)(test_random(&seed) % (round < 190 ? 150 : MAX));
		const unsigned shape = (unsigned)(test_random(&seed) % 4);
		struct graph_preorder order = { 0 };

		/* Trees by node numbers that rise or fall on the way up; chains; few parents. */
		for (uint32_t v = 0; v < n; v++) {
			const uint64_t r = test_random(&seed);

			parent[v] = v == 0 || r % 50 == 0 ? GRAPH_NONE :
				    shape == 0            ? (uint32_t)(r / 64 % v) :
				    shape == 1            ? v - 1 :
				    shape == 2            ? v / 2 :
							    (uint32_t)(r / 64 % (v / 10 + 1));
		}
		if (round % 2) {
			for (uint32_t v = 0; v < n / 2; v++) {
				const uint32_t other = parent[v];

				parent[v] = parent[n - 1 - v];
				parent[n - 1 - v] = other;
			}
			for (uint32_t v = 0; v < n; v++)
				if (parent[v] != GRAPH_NONE)
					parent[v] = n - 1 - parent[v];
		}
		assert_int_equal(number(parent, n, round / 2 % 2, &order, NULL), HDB_OK);
		check(parent, n, &order);
		graph_preorder_release(&order);
		assert_int_equal(work.memory_used, 0);
	}
}

/* A list of a million needs no stack. */
static void test_deep(void **state)
{
	uint32_t *parent = malloc(DEEP * sizeof(*parent));
	struct graph_preorder order = { 0 };

	(void)state;
	assert_non_null(parent);
	for (uint32_t v = 0; v < DEEP; v++)
		parent[v] = v ? v - 1 : GRAPH_NONE;
	assert_int_equal(number(parent, DEEP, false, &order, NULL), HDB_OK);
	for (uint32_t v = 0; v < DEEP - 1; v++) {
		assert_int_equal(graph_preorder_first(&order, v), v);
		assert_int_equal(graph_preorder_end(&order, v), DEEP - 1);
	}
	graph_preorder_release(&order);
	free(parent);
}

/* What no root leads to has no number, and is reported. */
static void test_circles(void **state)
{
	static const uint32_t circle[] = { GRAPH_NONE, 0, 3, 2, 1 }, own[] = { 0, 0 };
	struct graph_preorder order = { 0 };

	(void)state;
	assert_int_equal(number(circle, 5, false, &order, NULL), HDB_ECORRUPT);
	graph_preorder_release(&order);
	assert_int_equal(number(own, 2, false, &order, NULL), HDB_ECORRUPT);
	graph_preorder_release(&order);
	assert_int_equal(number(own, 0, false, &order, NULL), HDB_OK);
	assert_int_equal(order.inner.count, 0);
	graph_preorder_release(&order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forests),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_circles),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
