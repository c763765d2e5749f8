/*
 * tests/graph/retained_local_test.c - compares local retained sets with deletion on random graphs;
 * budgets, failing access, and time on big shapes.
 */
#include "support/graph_oracle.h"

#include "graph/reach.h"
#include "graph/retained_local.h"

#define GRAPH_COUNT 4000
#define SHAPE_SECONDS 20.0

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, (uint64_t)4 << 30, 1, NULL);
	oracle_start();
	return 0;
}

static uint32_t *reach_tree(struct oracle_graph *g)
{
	uint32_t *parent = oracle_alloc(g->node_count, sizeof *parent);
	struct hdb_error err;

	assert_int_equal(graph_reach_tree(oracle_rows(g, &work), g->roots, &work, parent, &err),
			 HDB_OK);
	return parent;
}

/* What `members` retain: what is reached, but not without them. */
static uint32_t by_deletion(const struct oracle_graph *g, const uint32_t *members, size_t count,
			    uint32_t *nodes)
{
	bool blocked[ORACLE_NODES_MAX] = { 0 }, with[ORACLE_NODES_MAX], without[ORACLE_NODES_MAX];
	uint32_t found = 0;

	for (size_t i = 0; i < count; i++)
		blocked[members[i]] = true;
	oracle_reach(g, NULL, with);
	oracle_reach(g, blocked, without);
	for (uint32_t v = 0; v < g->node_count; v++) {
		if (with[v] && !without[v])
			nodes[found++] = v;
	}
	return found;
}

static void check_set(const struct oracle_graph *g, const struct graph_access *access,
		      const uint32_t *members, size_t count)
{
	uint32_t want[ORACLE_NODES_MAX];
	const uint32_t want_count = by_deletion(g, members, count, want);
	struct graph_retained_set set;
	struct hdb_error err;

	assert_int_equal(graph_retained_local(access, (struct graph_members){ members, count },
					      NULL, &set, &err),
			 HDB_OK);
	assert_int_equal(set.count, want_count);
	assert_memory_equal(set.nodes, want, want_count * sizeof *want);
	assert_int_equal(set.subtree_nodes - set.removed_nodes, want_count);
	const struct graph_retained_options small = {
		.max_nodes = set.subtree_nodes > 1 ? set.subtree_nodes - 1 : 0,
		.max_edges = set.edges > 1 && set.subtree_nodes <= 1 ? set.edges - 1 : 0,
	};
	const struct graph_retained_options enough = {
		.max_nodes = set.subtree_nodes,
		.max_edges = 2 * set.edges + 100,
	};
	graph_retained_set_release(&set);
	if (small.max_nodes || small.max_edges) {
		assert_int_equal(graph_retained_local(access,
						      (struct graph_members){ members, count },
						      &small, &set, &err),
				 GRAPH_BUDGET);
		assert_int_equal(set.count, 0);
		graph_retained_set_release(&set);
	}
	assert_int_equal(graph_retained_local(access, (struct graph_members){ members, count },
					      &enough, &set, &err),
			 HDB_OK);
	assert_int_equal(set.count, want_count);
	graph_retained_set_release(&set);
}

static void check_failures(struct oracle_access *a, const struct graph_access *access,
			   uint32_t node)
{
	struct graph_retained_set set;
	struct hdb_error err;
	int rc = HDB_EIO;

	for (int call = 1; rc != HDB_OK; call++) {
		a->fail_in = call;
		rc = graph_retained_local(access, (struct graph_members){ &node, 1 }, NULL, &set,
					  &err);
		if (rc != HDB_OK) {
			assert_int_equal(rc, HDB_EIO);
			assert_int_equal(set.count, 0);
		}
		graph_retained_set_release(&set);
	}
	a->fail_in = 0;
}

static void random_graphs(void **state)
{
	(void)state;
	for (int i = 0; i < (int)oracle_size(GRAPH_COUNT); i++) {
		struct oracle_graph g;
		uint32_t members[8];
		oracle_random_graph(&g);
		oracle_build(&g, true);
		uint32_t *parent = reach_tree(&g);
		struct oracle_access a = { .graph = &g, .parent = parent };
		const struct graph_access access = oracle_graph_access(&a);
		for (uint32_t v = 0; v < g.node_count; v++)
			check_set(&g, &access, &v, 1);
		for (int k = 0; k < 10; k++) {
			const size_t count = oracle_below(9);
			for (size_t m = 0; m < count; m++)
				members[m] = oracle_below(g.node_count);
			check_set(&g, &access, members, count);
		}
		if (i % 100 == 0)
			check_failures(&a, &access, oracle_below(g.node_count));
		free(parent);
		oracle_free(&g);
	}
}

static void no_such_node(void **state)
{
	struct oracle_graph g;
	const uint32_t member = 1;
	struct graph_retained_set set;
	struct hdb_error err;

	(void)state;
	oracle_init(&g, 1, 0);
	oracle_build(&g, true);
	uint32_t *parent = reach_tree(&g);
	struct oracle_access a = { .graph = &g, .parent = parent };
	const struct graph_access access = oracle_graph_access(&a);
	assert_int_equal(graph_retained_local(&access, (struct graph_members){ &member, 1 }, NULL,
					      &set, &err),
			 HDB_EUSAGE);
	graph_retained_set_release(&set);
	free(parent);
	oracle_free(&g);
}

/* Solves for `member`, in time; returns how many nodes it retains. Frees the graph. */
static uint32_t retained_of(struct oracle_graph *g, uint32_t member, const char *name)
{
	oracle_build(g, true);
	uint32_t *parent = reach_tree(g);
	struct oracle_access a = { .graph = g, .parent = parent };
	const struct graph_access access = oracle_graph_access(&a);
	struct graph_retained_set set;
	struct hdb_error err;
	const clock_t before = clock();

	assert_int_equal(graph_retained_local(&access, (struct graph_members){ &member, 1 }, NULL,
					      &set, &err),
			 HDB_OK);
	const double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
	print_message("%-8s subtree %" PRIu32 " removed %" PRIu32 " edges %" PRIu64 ": %.2f s\n",
		      name, set.subtree_nodes, set.removed_nodes, set.edges, seconds);
	assert_true(seconds < SHAPE_SECONDS);
	for (uint32_t i = 1; i < set.count; i++)
		assert_true(set.nodes[i - 1] < set.nodes[i]);
	const uint32_t count = set.count;
	graph_retained_set_release(&set);
	free(parent);
	oracle_free(g);
	return count;
}

static void big_shapes(void **state)
{
	const uint32_t n = oracle_size(2000000);
	struct oracle_graph g;

	(void)state;
	oracle_init(&g, n, 2 * (uint64_t)n);
	for (uint32_t v = 0; v + 1 < n; v++) {
		oracle_edge(&g, v, v + 1);
		oracle_edge(&g, v + 1, v);
	}
	oracle_set(g.roots, 0);
	assert_int_equal(retained_of(&g, 7, "list"), n - 7);

	/* A ring that is entered at 0: the subtree is half of it, and all of it goes away. */
	oracle_init(&g, n, 2 * (uint64_t)n);
	for (uint32_t v = 0; v < n; v++) {
		oracle_edge(&g, v, (v + 1) % n);
		oracle_edge(&g, (v + 1) % n, v);
	}
	oracle_set(g.roots, 0);
	assert_int_equal(retained_of(&g, 1, "ring"), 1);

	oracle_init(&g, n, 2 * (uint64_t)n);
	oracle_edge(&g, 0, 1);
	for (uint32_t v = 2; v < n; v++) {
		oracle_edge(&g, 1, n + 1 - v);
		oracle_edge(&g, v, 1);
	}
	oracle_set(g.roots, 0);
	assert_int_equal(retained_of(&g, 1, "star"), n - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(no_such_node),
		cmocka_unit_test(big_shapes),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
