/*
 * tests/graph/child_rows_test.c - rows of children from buckets, sorted in memory or merged from
 * runs, in memory or in a scratch file, compared with graph_children.
 */
#include "graph/child_rows.h"
#include "support/domtree.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define NODES 300000u

/* From this length on, a list is "big", and the top level is handled separately. */
#define TOP_LIMIT 100u

struct expected {
	const struct graph_children *children;
	const struct base_sizes *sizes;
	uint64_t at; /* index of the next entry in child[] */
	uint32_t row;
};

/*
 * A forest. `top` percent of the nodes are roots, some nodes are in no tree, and one parent has a
 * tenth of the others. `large` percent of the sizes are too large to be counted individually.
 */
static void make_forest(uint32_t *idom, struct base_sizes *sizes, unsigned top, unsigned large,
			uint64_t *seed)
{
	for (uint32_t v = 0; v < NODES; v++) {
		const uint64_t r = test_random(seed) % 100;

		idom[v] = v == 0 || r < top ? GRAPH_NONE :
			  r == 99           ? v :
			  r >= 90           ? NODES / 2 :
					      (uint32_t)(test_random(seed) % v);
		if (v == NODES / 2)
			idom[v] = GRAPH_NONE;
		assert_true(base_sizes_set(
			sizes, v,
			test_random(seed) % 50 +
				(test_random(seed) % 100 < large ? GRAPH_SMALL_SIZES - 10 : 0)));
	}
}

static int take(void *ctx, uint32_t row, uint32_t node, uint64_t size, struct hdb_error *err)
{
	struct expected *e = ctx;

	(void)err;
	while (e->at >= e->children->first[(size_t)e->row + 1])
		e->row++;
	assert_int_equal(row, e->row);
	assert_int_equal(node, e->children->child[e->at++]);
	assert_int_equal(size, base_sizes_get(e->sizes, node));
	return HDB_OK;
}

static int take_top(void *ctx, const uint32_t *nodes, uint64_t count, struct hdb_error *err)
{
	struct expected *e = ctx;

	(void)err;
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(nodes[i], e->children->child[e->at++]);
	return HDB_OK;
}

static void check_range(struct graph_child_rows *rows, uint32_t no, uint64_t top_count,
			struct expected *e)
{
	const struct graph_children *c = e->children;
	struct graph_child_range range = { 0 };
	struct hdb_error err;
	uint32_t base, count;

	graph_child_range_rows(rows, no, &base, &count);
	if (!graph_child_range_fits(rows, no)) {
		assert_int_equal(graph_child_rows_merge(rows, no, take, e, &err), HDB_OK);
		return;
	}
	assert_int_equal(graph_child_range_sort(rows, no, &range, &err), HDB_OK);
	assert_int_equal(range.base, base);
	assert_int_equal(range.count, count);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t row = base + i;
		const uint64_t length =
			row == NODES && top_count ? 0 : c->first[(size_t)row + 1] - c->first[row];

		assert_int_equal(range.first[i + 1] - range.first[i], length);
		for (uint64_t k = 0; k < length; k++)
			assert_int_equal(range.node[range.first[i] + k], c->child[e->at++]);
	}
	graph_child_range_release(&range);
}

static void check(unsigned top, uint64_t memory_bytes, uint64_t range_limit, uint64_t run_limit)
{
	struct base_work work;
	struct graph_child_rows rows;
	struct graph_children children;
	struct base_sizes sizes;
	struct hdb_error err;
	uint32_t *idom = malloc(NODES * sizeof(*idom));
	uint64_t seed = 11 + top, top_count;
	struct expected e = { .children = &children, .sizes = &sizes };

	assert_non_null(idom);
	base_work_init(&work, 0, 1, NULL);
	work.memory_bytes = memory_bytes;
	work.scratch_dir = work.tmp_dir;
	assert_int_equal(base_sizes_init(&sizes, NODES, false, &work, &err), HDB_OK);
	make_forest(idom, &sizes, top, run_limit == 1000 ? 90 : 3, &seed);
	assert_int_equal(
		graph_children((struct graph_tree){ idom, NODES, &sizes }, &work, &children, &err),
		HDB_OK);
	assert_int_equal(graph_child_rows_init(&rows, NODES, &work, &err), HDB_OK);
	rows.range_limit = range_limit;
	rows.run_limit = run_limit;
	for (uint32_t v = 0; v < NODES; v++)
		if (idom[v] != v)
			assert_int_equal(graph_child_rows_add(&rows, idom[v], v,
							      base_sizes_get(&sizes, v), &err),
					 HDB_OK);
	assert_int_equal(rows.buckets.spill.is_open, memory_bytes < 1 << 20);
	assert_int_equal(graph_child_rows_end(&rows, TOP_LIMIT, &top_count, &err), HDB_OK);
	assert_int_equal(top_count > 0, top > 0);
	for (uint32_t no = 0; no < rows.range_count; no++) {
		check_range(&rows, no, top_count, &e);
		base_bucket_drop(&rows.buckets, no);
	}
	if (top_count) {
		assert_int_equal(e.at, children.first[NODES]);
		assert_int_equal(graph_child_rows_top(&rows, take_top, &e, &err), HDB_OK);
	}
	assert_int_equal(e.at, children.first[NODES + 1]);
	graph_child_rows_release(&rows);
	graph_children_release(&children);
	base_sizes_release(&sizes);
	assert_int_equal(work.memory_used, 0);
	base_work_release(&work);
	free(idom);
}

static void test_rows(void **state)
{
	static const uint64_t memory[] = { (uint64_t)1 << 30, 1 << 16 };
	static const uint64_t ranges[] = { 1 << 20, 100 }, runs[] = { 1 << 20, 1000, 37 };
	static const unsigned tops[] = { 0, 60 };

	(void)state;
	for (size_t m = 0; m < 2; m++)
		for (size_t r = 0; r < 2; r++)
			for (size_t k = 0; k < 3; k++)
				for (size_t t = 0; t < 2; t++)
					check(tops[t], memory[m], ranges[r], runs[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
