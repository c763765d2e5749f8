/*
 * tests/graph/settle_test.c - settling on threads, with levels that are wide, against a search: the
 * same dominators, whoever meets which node first.
 */
#include "support/graph_oracle.h"

#include "graph/dominators/settle.h"

/* Of a graph, and how many: a level is searched on all threads from some thousand nodes on. */
#define NODES 100000u
#define GRAPHS 16u

/* Of a node that several refer to: none is this one. */
#define SEVERAL (GRAPH_NONE - 1)

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, (uint64_t)4 << 30, 1, NULL);
	oracle_start();
	return 0;
}

/* Dominators by a search: GRAPH_NONE: the virtual root, the node itself: not reached. Owned. */
static uint32_t *search(struct oracle_graph *g)
{
	const uint32_t n = g->node_count;
	uint64_t *number = oracle_alloc((uint64_t)n + GRAPH_NUMBERS_STEP, sizeof *number);
	uint32_t *found = oracle_alloc(n, sizeof *found);
	struct base_big nodes = { 0 };
	struct graph_dominators d;
	struct hdb_error err;
	const uint32_t *node;

	work.threads = 1;
	assert_int_equal(
		graph_dominators(oracle_rows(g, &work), g->roots, GRAPH_SEARCH_ANY, &d, &err),
		HDB_OK);
	assert_int_equal(graph_dominators_numbers(&d, 0, number, n, &err), HDB_OK);
	assert_int_equal(graph_dominators_nodes(&d, &nodes, &err), HDB_OK);
	node = nodes.data;
	for (uint32_t v = 0; v < n; v++)
		found[v] = number[v] ? node[d.dominator[number[v]]] : v;
	base_big_free(&work, &nodes);
	graph_dominators_release(&d);
	free(number);
	return found;
}

/* Bits by node: one other refers to it, and it is no root. Owned. */
static uint64_t *list_single(const struct oracle_graph *g)
{
	uint64_t *single = oracle_alloc(g->node_count / 64 + 1, sizeof *single);
	uint32_t *up = oracle_alloc(g->node_count, sizeof *up);

	memset(up, 0xff, g->node_count * sizeof *up);
	for (uint64_t e = 0; e < g->edge_count; e++) {
		const uint32_t from = g->from[e], to = g->to[e];

		if (from == to || up[to] == from)
			continue;
		up[to] = up[to] == GRAPH_NONE ? from : SEVERAL;
	}
	for (uint32_t v = 0; v < g->node_count; v++)
		if (up[v] < SEVERAL && !oracle_bit(g->roots, v))
			oracle_set(single, v);
	free(up);
	return single;
}

static void compare(struct oracle_graph *g)
{
	static const unsigned threads[] = { 1, 2, 2, 3, 7 };
	uint64_t *single = list_single(g);
	uint32_t *one = search(g);
	struct hdb_error err;

	for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
		struct graph_rows *rows = oracle_rows(g, &work);
		const struct graph_settle_in in = { rows, g->roots, single };
		struct graph_settled settled;

		work.threads = threads[i];
		assert_int_equal(graph_settle(&in, GRAPH_SEARCH_ANY, &settled, &err), HDB_OK);
		for (uint32_t v = 0; v < g->node_count; v++)
			assert_int_equal(settled.dominator[v], one[v]);
		/* Passes whose number has a bound. */
		assert_true(settled.step_count < (uint64_t)16 * (g->node_count + g->edge_count));
		graph_settled_release(&settled);
		graph_rows_release(rows);
		assert_int_equal(work.memory_used, 0);
	}
	free(one);
	free(single);
}

/*
 * Random edges. The nodes before `gates` are a path, below the only root, from the last of which a
 * part of all is reached, and a second, longer way leads to that one, so that those between have
 * most nodes below them in a tree and dominate none; or there are roots anywhere.
 */
static void draw(struct oracle_graph *g, uint32_t degree, uint32_t gates, uint32_t root_part)
{
	oracle_init(g, NODES, (uint64_t)NODES * (degree + 1));
	for (uint32_t v = 0; v + 1 < gates; v++)
		oracle_edge(g, v, v + 1);
	for (uint32_t v = gates; gates && v < 3 * gates; v++) {
		oracle_edge(g, v == gates ? 0 : v - 1, v);
		if (v == 3 * gates - 1)
			oracle_edge(g, v, gates - 1);
	}
	/* Leaves that such a node refers to, and others. */
	for (uint32_t v = 1; v + 1 < gates; v++)
		oracle_edge(g, v, NODES - v);
	for (uint32_t v = 3 * gates; v < NODES - gates; v++) {
		const uint32_t count = oracle_below(degree + 1);

		if (gates && oracle_below(8) == 0)
			oracle_edge(g, gates - 1, v);
		for (uint32_t i = 0; i < count; i++)
			oracle_edge(g, v, 3 * gates + oracle_below(NODES - 3 * gates));
		if (!gates && oracle_below(root_part) == 0)
			oracle_set(g->roots, v);
	}
	oracle_set(g->roots, 0);
	oracle_build(g, false);
}

static void random_graphs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < GRAPHS; i++) {
		struct oracle_graph g;

		draw(&g, 1 + i % 5, i % 2 ? 1 + oracle_below(5) : 0, 1u << (1 + oracle_below(8)));
		compare(&g);
		oracle_free(&g);
	}
}

/*
 * Halves one after the other, each random and below one object, which the half before holds: the
 * second search stops at gates between wide levels.
 */
static void stages(void **state)
{
	const uint32_t size = NODES / 4;

	(void)state;
	for (unsigned part = 2; part < 16; part *= 2) {
		struct oracle_graph g;

		oracle_init(&g, NODES, (uint64_t)NODES * 4);
		for (uint32_t s = 0; s < 4; s++) {
			const uint32_t first = s * size;

			for (uint32_t v = first + 1; v < first + size; v++) {
				if (oracle_below(part) == 0)
					oracle_edge(&g, first, v);
				oracle_edge(&g, v, first + 1 + oracle_below(size - 1));
				oracle_edge(&g, v, first + 1 + oracle_below(size - 1));
			}
			for (unsigned i = 0; s < 3 && i < 100; i++)
				oracle_edge(&g, first + 1 + oracle_below(size - 1), first + size);
		}
		oracle_set(g.roots, 0);
		oracle_build(&g, false);
		compare(&g);
		oracle_free(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(stages),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
