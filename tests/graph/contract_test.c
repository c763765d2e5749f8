/*
 * tests/graph/contract_test.c - dominators by way of the small graph against those of the whole
 * graph, on random graphs with hard and soft edges and on big ones, on threads.
 */
#include "support/graph_contract.h"

/* Small graphs, and how many where time does not matter (HEAPDB_HOSTILE=long). */
#define GRAPH_COUNT 3000
#define GRAPH_COUNT_LONG 30000

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, (uint64_t)4 << 30, 2, NULL);
	oracle_start();
	return 0;
}

/* The same without contraction: owned. */
static uint32_t *search(struct oracle_graph *g)
{
	uint64_t *number =
		oracle_alloc((uint64_t)g->node_count + GRAPH_NUMBERS_STEP, sizeof *number);
	uint32_t *parent = oracle_alloc(g->node_count, sizeof *parent);
	struct base_big nodes = { 0 };
	struct graph_dominators d;
	struct hdb_error err;
	const uint32_t *node;

	assert_int_equal(
		graph_dominators(oracle_rows(g, &work), g->roots, GRAPH_SEARCH_LINKS, &d, &err),
		HDB_OK);
	assert_int_equal(graph_dominators_numbers(&d, 0, number, g->node_count, &err), HDB_OK);
	assert_int_equal(graph_dominators_nodes(&d, &nodes, &err), HDB_OK);
	node = nodes.data;
	for (uint32_t v = 0; v < g->node_count; v++)
		parent[v] = number[v] ? node[d.dominator[number[v]]] : v;
	base_big_free(&work, &nodes);
	graph_dominators_release(&d);
	free(number);
	return parent;
}

/* Rounds that it took. */
static unsigned compare(struct oracle_graph *g, const bool *is_soft, uint32_t share,
			unsigned threads)
{
	struct contracting x = {
		.g = g, .is_soft = is_soft, .share = share, .settling = GRAPH_SETTLINGS
	};
	uint32_t *parent, *found;

	contract(&x, threads, &work);
	found = contracted(&x);
	parent = search(g);
	for (uint32_t v = 0; v < g->node_count; v++)
		assert_int_equal(found[v], parent[v]);
	free(found);
	free(parent);
	graph_contract_release(&x.c);
	assert_int_equal(work.memory_used, 0);
	return x.round_count;
}

/* Edges to some nodes are soft, not all of them. */
static bool *soft_edges(const struct oracle_graph *g)
{
	bool *is_soft = oracle_alloc(g->edge_count, sizeof *is_soft);
	const uint32_t part = 1 + oracle_below(4), few = 1 + oracle_below(3);

	for (uint64_t e = 0; e < g->edge_count; e++)
		is_soft[e] =
			g->target[GRAPH_REFERENCES][e] % part == 0 && oracle_below(few + 1) > 0;
	return is_soft;
}

static void random_graphs(void **state)
{
	const uint32_t count =
		oracle_size(getenv("HEAPDB_HOSTILE") ? GRAPH_COUNT_LONG : GRAPH_COUNT);
	unsigned twice = 0;

	(void)state;
	for (uint32_t i = 0; i < count; i++) {
		struct oracle_graph g;
		bool *is_soft;

		oracle_random_graph(&g);
		oracle_build(&g, false);
		is_soft = soft_edges(&g);
		const unsigned rounds = compare(&g, is_soft, CONTRACT_SHARE, 1 + (i % 8 == 0));
		assert_true(rounds <= 2);
		twice += rounds == 2;
		free(is_soft);
		oracle_free(&g);
	}
	/* Both ways are there. */
	assert_true(twice > 0 && twice < count / 2);
}

/* Trees of 300,000 nodes, with paths, rings out of reach, and some edges across. */
static void threads(void **state)
{
	const uint32_t n = oracle_size(300000);

	(void)state;
	for (uint32_t kind = 0; kind < 6; kind++) {
		struct oracle_graph g;
		bool *is_soft;

		oracle_init(&g, n, 3 * (uint64_t)n);
		for (uint32_t v = 1; v < n; v++) {
			const uint32_t before = kind % 3 == 0 ? 1 :
						kind % 3 == 1 ? v :
						v < 4         ? v :
								4;
			const uint32_t up = v - 1 - oracle_below(before);

			if (oracle_below(1000))
				oracle_edge(&g, up, v);
			else
				oracle_edge(&g, v + 5 < n ? v + 5 : v, v);
			if (kind >= 3 && oracle_below(50) == 0)
				oracle_edge(&g, oracle_below(n), oracle_below(n));
			oracle_edge(&g, v, oracle_below(20));
		}
		oracle_set(g.roots, 0);
		for (int i = 0; i < 300; i++)
			oracle_set(g.roots, oracle_below(n));
		oracle_build(&g, false);
		is_soft = oracle_alloc(g.edge_count, sizeof *is_soft);
		for (uint64_t e = 0; e < g.edge_count; e++)
			is_soft[e] = g.target[GRAPH_REFERENCES][e] < 20;
		compare(&g, is_soft, 4096, 2);
		free(is_soft);
		oracle_free(&g);
	}
}

/*
 * A path of a million nodes, each with an edge to one of two classes: soft edges are pushed up all
 * of it.
 */
static void long_paths(void **state)
{
	const uint32_t n = oracle_size(1000000);

	(void)state;
	for (int is_down = 0; is_down < 2; is_down++) {
		struct oracle_graph g;
		bool *is_soft;
		const clock_t begin = clock();

		oracle_init(&g, n, 3 * (uint64_t)n);
		for (uint32_t i = 0; i + 3 < n; i++) {
			const uint32_t v = is_down ? n - 1 - i : i + 2,
				       next = is_down ? v - 1 : v + 1;

			oracle_edge(&g, v, next);
			oracle_edge(&g, v, i % 2);
		}
		oracle_set(g.roots, is_down ? n - 1 : 2);
		oracle_build(&g, false);
		is_soft = oracle_alloc(g.edge_count, sizeof *is_soft);
		for (uint64_t e = 0; e < g.edge_count; e++)
			is_soft[e] = g.target[GRAPH_REFERENCES][e] < 2;
		compare(&g, is_soft, 4096, 2);
		assert_true(clock() - begin < 10 * CLOCKS_PER_SEC);
		free(is_soft);
		oracle_free(&g);
	}
}

/* Edges of a graph of 11 nodes that is contracted by hand. */
static const uint32_t few_edges[][2] = {
	/* 3 is kept, since it refers to 4, which has several referrers: 1 and 2 are left out. */
	{ 0, 1 },
	{ 1, 2 },
	{ 2, 3 },
	{ 3, 4 },
	{ 0, 4 },
	/* 5 is kept, too: its referrer is. */
	{ 3, 5 },
	{ 5, 4 },
	/* No root reaches 6; 7 is kept below it, and has nothing kept above. */
	{ 6, 7 },
	{ 7, 4 },
	/* A ring that no root reaches: 9 is kept, and is above itself. */
	{ 8, 9 },
	{ 9, 8 },
	{ 9, 4 },
	/* 10 is a root. */
	{ 2, 10 },
};

#define FEW_EDGES (sizeof few_edges / sizeof few_edges[0])
#define FEW_NODES 11u

/*
 * Of what is stepped over, each kept node below has one edge pushed, and no other kept node has
 * any: edges too many would change no dominator.
 */
static void stepped_over(void **state)
{
	const uint64_t roots[] = { 1 | 1 << 10 };
	/* By node: where the edge pushed to it starts. */
	const uint32_t expected[FEW_NODES] = {
		GRAPH_NONE, GRAPH_NONE, GRAPH_NONE, 0, GRAPH_NONE, GRAPH_NONE,
		GRAPH_NONE, GRAPH_NONE, GRAPH_NONE, 9, GRAPH_NONE,
	};
	struct graph_pushes pushes = { .edges = { 0 } };
	struct graph_contract c;
	struct hdb_error err;
	uint32_t kept_count = 0;

	(void)state;
	assert_int_equal(graph_contract_init(&c, FEW_NODES, roots, &work, &err), HDB_OK);
	for (size_t e = 0; e < FEW_EDGES; e++)
		graph_contract_see(&c, few_edges[e][0], &few_edges[e][1], 1, 1);
	assert_int_equal(graph_contract_seen(&c, &err), HDB_OK);
	for (size_t e = 0; e < FEW_EDGES; e++)
		if (!graph_contract_is_kept(&c, few_edges[e][0]))
			graph_contract_mark(&c, few_edges[e][0], &few_edges[e][1], 1);
	assert_int_equal(graph_contract_marked(&c, &err), HDB_OK);
	for (uint32_t v = 0; v < FEW_NODES; v++) {
		const struct graph_pushed *edge;

		if (!graph_contract_is_kept(&c, v))
			continue;
		kept_count++;
		graph_pushes_start(&pushes);
		assert_int_equal(graph_contract_push_kept(&c, &pushes, v, &err), HDB_OK);
		assert_int_equal(pushes.edges.count, expected[v] != GRAPH_NONE);
		edge = pushes.edges.data;
		if (pushes.edges.count) {
			assert_int_equal(c.node[edge->source], expected[v]);
			assert_int_equal(c.node[edge->target], v);
		}
	}
	assert_int_equal(kept_count, 7);
	base_vec_release(&pushes.edges);
	graph_contract_release(&c);
	assert_int_equal(work.memory_used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(threads),
		cmocka_unit_test(long_paths),
		cmocka_unit_test(stepped_over),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
