/*
 * tests/graph/nca_test.c - dominators by common ancestors and sums up their tree, against
 * dominators by search, on random graphs shown in any order, on threads, and on graphs that are not
 * for it.
 */
#include "support/graph_oracle.h"

#include "base/pipeline.h"
#include "graph/dominators/nca_grow.h"
#include "graph/dominators/subtree_sums.h"

#define GRAPH_COUNT 4000

/* Nodes of the graphs that threads work on. */
#define BIG_NODES 300000u

/* Groups that a thread takes at once. */
#define ITEM_GROUPS 64u

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, (uint64_t)4 << 30, 2, NULL);
	oracle_start();
	return 0;
}

struct showing {
	struct graph_nca nca;
	const struct oracle_graph *g;
	struct graph_nca_batch *batch[8];
};

static void show_group(struct showing *s, struct graph_nca_batch *batch, uint32_t group)
{
	const struct oracle_graph *g = s->g;
	uint32_t mask;

	if (!graph_nca_wants(&s->nca, batch, group, &mask))
		return;
	for (uint32_t i = 0; i < GRAPH_NCA_GROUP; i++) {
		const uint32_t v = group * GRAPH_NCA_GROUP + i;

		if (mask >> i & 1)
			graph_nca_show(&s->nca, batch, v, g->target[0] + g->first[0][v],
				       g->first[0][v + 1] - g->first[0][v]);
	}
}

static int show_item(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct showing *s = ctx;
	const uint64_t end = (item + 1) * ITEM_GROUPS;

	(void)err;
	for (uint64_t g = item * ITEM_GROUPS; g < end && g * GRAPH_NCA_GROUP < s->g->node_count;
	     g++)
		show_group(s, s->batch[slot], (uint32_t)g);
	graph_nca_flush(&s->nca, s->batch[slot]);
	return HDB_OK;
}

static int take_item(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct showing *s = ctx;

	(void)item;
	return graph_nca_join(&s->nca, s->batch[slot], err);
}

/* Shows everything until it is done, or given up: what graph_nca_next said last. */
static int show_all(struct showing *s, unsigned threads)
{
	const uint32_t groups = s->g->node_count / GRAPH_NCA_GROUP + 1;
	const struct base_pipeline pipeline = {
		.item_count = groups / ITEM_GROUPS + 1,
		.threads = threads,
		.slot_count = 4 * threads,
		.ctx = s,
		.produce = show_item,
		.consume = take_item,
	};
	struct hdb_error err;
	int rc;

	for (unsigned i = 0; i < 4 * threads; i++)
		s->batch[i] = oracle_alloc(1, sizeof *s->batch[i]);
	assert_int_equal(graph_nca_init(&s->nca, s->g->node_count, s->g->roots, &work, &err),
			 HDB_OK);
	do {
		assert_int_equal(base_pipeline_run(&pipeline, &err), HDB_OK);
		rc = graph_nca_next(&s->nca);
	} while (rc == HDB_OK);
	if (rc == HDB_END)
		rc = graph_nca_rise(&s->nca, &err);
	for (unsigned i = 0; i < 4 * threads; i++) {
		graph_nca_batch_release(s->batch[i]);
		free(s->batch[i]);
	}
	return rc;
}

/* Sums of v % 1000 by a tree of parents. */
static int sum_up(struct graph_subtree_sums *sums, uint32_t n, const uint32_t *parent)
{
	uint64_t *size = oracle_alloc(n, sizeof *size);
	struct base_vec sizes[2] = { 0 };
	struct hdb_error err;
	int rc;

	for (uint32_t v = 0; v < n; v++)
		size[v] = v % 1000;
	assert_int_equal(graph_subtree_sums_init(sums, n, &work, &err), HDB_OK);
	graph_subtree_sums_mark(sums, 0, parent, n / 2);
	graph_subtree_sums_mark(sums, n / 2, parent + n / 2, n - n / 2);
	graph_subtree_sums_rank(sums);
	assert_int_equal(graph_subtree_sums_begin(sums, &err), HDB_OK);
	assert_int_equal(
		graph_subtree_sums_add(sums, &sizes[0],
				       &(struct graph_tree_range){ .first = n / 3,
								   .count = n - n / 3,
								   .parent = parent + n / 3,
								   .size = size + n / 3 },
				       &err),
		HDB_OK);
	assert_int_equal(graph_subtree_sums_add(sums, &sizes[1],
						&(struct graph_tree_range){ .count = n / 3,
									    .parent = parent,
									    .size = size },
						&err),
			 HDB_OK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(graph_subtree_sums_join(sums, &sizes[i], &err), HDB_OK);
		base_vec_release(&sizes[i]);
	}
	rc = graph_subtree_sums_up(sums, &err);
	free(size);
	return rc;
}

/* Parents and sums against the search in depth. */
static void compare(const struct showing *s, struct oracle_graph *g)
{
	const uint32_t n = g->node_count;
	uint64_t *number = oracle_alloc((uint64_t)n + GRAPH_NUMBERS_STEP, sizeof *number);
	struct base_big nodes = { 0 };
	struct graph_dominators d;
	struct graph_subtree_sums sums;
	struct base_sizes sizes;
	struct hdb_error err;
	const uint32_t *node;
	uint32_t *parent = oracle_alloc(n, sizeof *parent);
	uint64_t *below = oracle_alloc(n, sizeof *below);

	assert_int_equal(
		graph_dominators(oracle_rows(g, &work), g->roots, GRAPH_SEARCH_LINKS, &d, &err),
		HDB_OK);
	assert_int_equal(graph_dominators_numbers(&d, 0, number, n, &err), HDB_OK);
	assert_int_equal(graph_dominators_nodes(&d, &nodes, &err), HDB_OK);
	assert_int_equal(base_sizes_init(&sizes, (uint64_t)d.count + 1, true, &work, &err), HDB_OK);
	node = nodes.data;
	graph_nca_parents(&s->nca, 0, n / 2, parent);
	graph_nca_parents(&s->nca, n / 2, n - n / 2, parent + n / 2);
	for (uint32_t v = 0; v < n; v++) {
		const uint32_t w = (uint32_t)number[v];

		assert_int_equal(parent[v], w ? node[d.dominator[w]] : v);
		if (w)
			assert_true(base_sizes_set(&sizes, w, v % 1000));
	}
	assert_int_equal(graph_retained(&d, &sizes, &err), HDB_OK);
	assert_int_equal(sum_up(&sums, n, parent), HDB_OK);
	graph_subtree_sums_below(&sums, 0, below, n);
	for (uint32_t v = 0; v < n; v++)
		if (number[v])
			assert_int_equal(base_sizes_get(&sizes, (uint32_t)number[v]),
					 v % 1000 + below[v]);
	if (n > 7) {
		graph_subtree_sums_below(&sums, 7, number, n - 7);
		assert_memory_equal(number, below + 7, (n - 7) * sizeof *below);
	}
	free(below);
	free(parent);
	graph_subtree_sums_release(&sums);
	base_sizes_release(&sizes);
	base_big_free(&work, &nodes);
	graph_dominators_release(&d);
	free(number);
}

static void random_graphs(void **state)
{
	(void)state;
	for (int i = 0; i < GRAPH_COUNT; i++) {
		struct oracle_graph g;
		struct showing s = { .g = &g };

		oracle_random_graph(&g);
		oracle_build(&g, false);
		assert_int_equal(show_all(&s, 1), HDB_OK);
		compare(&s, &g);
		graph_nca_release(&s.nca);
		assert_int_equal(work.memory_used, 0);
		oracle_free(&g);
	}
}

/*
 * A random graph of BIG_NODES, on two threads. With one reference a node it may be deep, and with
 * one root all nodes have one colour: given up. With few roots one of them may be ahead, which
 * looks the same.
 */
static void compare_big(uint32_t degree, int root_count)
{
	struct oracle_graph g;
	struct showing s = { .g = &g };
	int rc;

	oracle_init(&g, BIG_NODES, (uint64_t)BIG_NODES * degree + 10000);
	for (uint64_t e = 0; e < (uint64_t)BIG_NODES * degree; e++)
		oracle_edge(&g, oracle_below(BIG_NODES), oracle_below(BIG_NODES));
	for (int i = 0; i < root_count; i++) {
		const uint32_t root = oracle_below(BIG_NODES);

		oracle_set(g.roots, root);
		for (int e = 0; e < 600; e++)
			oracle_edge(&g, root, oracle_below(BIG_NODES));
	}
	oracle_build(&g, false);
	rc = show_all(&s, 2);
	if ((degree > 1 && root_count > 1) || rc != GRAPH_BUDGET) {
		assert_int_equal(rc, HDB_OK);
		compare(&s, &g);
	}
	graph_nca_release(&s.nca);
	oracle_free(&g);
}

/* Sparse to dense. With one root there is one colour, and every node rises by walks alone. */
static void threads(void **state)
{
	(void)state;
	for (uint32_t degree = 1; degree <= 4; degree++)
		for (int roots = 1; roots <= 16; roots += 15)
			compare_big(degree, roots);
}

/*
 * A random graph under one object is not for this way, which has to say so before it costs as much
 * as the way that follows: before any walk, and before each node is looked at
 * twice (how many are depends on the threads).
 */
static void one_object(void **state)
{
	const uint32_t n = 3000000;
	struct oracle_graph g;
	struct showing s = { .g = &g };

	(void)state;
	oracle_init(&g, n, 4 * (uint64_t)n + 1);
	for (uint64_t e = 0; e < 4 * (uint64_t)n; e++)
		oracle_edge(&g, oracle_below(n), oracle_below(n));
	oracle_edge(&g, n - 1, 0);
	oracle_set(g.roots, n - 1);
	oracle_build(&g, false);
	assert_int_equal(show_all(&s, 2), GRAPH_BUDGET);
	assert_true(s.nca.step_count == 0 && s.nca.shown_count < 2 * (uint64_t)n);
	graph_nca_release(&s.nca);
	oracle_free(&g);
}

/* Buckets and arrays in files. */
static void little_memory(void **state)
{
	(void)state;
	work.memory_bytes = 1 << 20;
	work.scratch_dir = work.tmp_dir;
	compare_big(2, 1);
	compare_big(3, 16);
	work.scratch_dir = NULL;
	work.memory_bytes = (uint64_t)4 << 30;
	assert_int_equal(work.memory_used, 0);
}

/* Lists in no order, and one behind another: given up, soon. */
static void deep_graphs(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct oracle_graph g;
		struct showing s = { .g = &g };
		const clock_t begin = clock();

		oracle_init(&g, BIG_NODES, 2 * (uint64_t)BIG_NODES);
		/* 7919 has no factor in common with the number of nodes. */
		for (uint64_t i = 0; i + 1 < BIG_NODES; i++) {
			const uint64_t step = kind ? 1 : 7919;

			oracle_edge(&g, (uint32_t)(i * step % BIG_NODES),
				    (uint32_t)((i + 1) * step % BIG_NODES));
			if (kind)
				oracle_edge(&g, oracle_below(i + 1), (uint32_t)i + 1);
		}
		oracle_set(g.roots, 0);
		oracle_build(&g, false);
		const int rc = show_all(&s, 1);
		if (kind == 0)
			assert_int_equal(rc, GRAPH_BUDGET);
		if (rc == HDB_OK)
			compare(&s, &g);
		assert_true(clock() - begin < 10 * CLOCKS_PER_SEC);
		graph_nca_release(&s.nca);
		oracle_free(&g);
	}
}

/* Place k of a list that goes from one item to the next, and so through all of them in a pass. */
static uint32_t list_node(uint32_t k)
{
	const uint32_t items = BIG_NODES / (ITEM_GROUPS * GRAPH_NCA_GROUP);

	return k % items * ITEM_GROUPS * GRAPH_NCA_GROUP + k / items;
}

/*
 * A list that few passes reach, and a shorter way to its end: the walk up from there is longer than
 * all that is allowed, which must not be taken for an answer.
 */
static void long_walks(void **state)
{
	const uint32_t length = 6000;

	(void)state;
	for (unsigned threads = 1; threads <= 2; threads++) {
		struct oracle_graph g;
		struct showing s = { .g = &g };

		oracle_init(&g, BIG_NODES, length + 1);
		for (uint32_t k = 0; k + 1 < length; k++)
			oracle_edge(&g, list_node(k), list_node(k + 1));
		oracle_edge(&g, list_node(length / 2), list_node(length - 1));
		oracle_set(g.roots, list_node(0));
		oracle_build(&g, false);
		assert_int_equal(show_all(&s, threads), GRAPH_BUDGET);
		/* All on one thread is in order, so that it is the walk that was too long. */
		assert_true(threads > 1 || s.nca.pass_count < 64);
		graph_nca_release(&s.nca);
		oracle_free(&g);
	}
}

/* A ring of parents is no tree. */
static void no_tree(void **state)
{
	const uint32_t ring[] = { 1, 2, 3, 4, 0 };
	struct graph_subtree_sums sums;

	(void)state;
	assert_int_equal(sum_up(&sums, 5, ring), HDB_ECORRUPT);
	graph_subtree_sums_release(&sums);
	assert_int_equal(work.memory_used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs), cmocka_unit_test(threads),
		cmocka_unit_test(one_object),    cmocka_unit_test(little_memory),
		cmocka_unit_test(deep_graphs),   cmocka_unit_test(long_walks),
		cmocka_unit_test(no_tree),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
