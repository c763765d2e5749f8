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

/* Whether both say the same. */
static void compare_with(struct contracting *x, unsigned threads)
{
	struct oracle_graph *g = (struct oracle_graph *)(uintptr_t)x->g;
	uint32_t *parent, *found;

	x->settling = GRAPH_SETTLINGS;
	/* A hundred thousand threads take most of the time. */
	work.threads = threads;
	contract(x, threads, &work);
	found = contracted(x);
	parent = search(g);
	for (uint32_t v = 0; v < g->node_count; v++)
		assert_int_equal(found[v], parent[v]);
	free(found);
	free(parent);
	graph_contract_release(&x->c);
	assert_int_equal(work.memory_used, 0);
}

/* Rounds that it took. */
static unsigned compare(struct oracle_graph *g, const bool *is_soft, uint32_t share,
			unsigned threads)
{
	struct contracting x = { .g = g, .is_soft = is_soft, .share = share };

	compare_with(&x, threads);
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

/* Where edges to some nodes are left out; both ways to put that right are needed. */
static void thin_graphs(bool is_whole)
{
	const uint32_t count =
		oracle_size(getenv("HEAPDB_HOSTILE") ? GRAPH_COUNT_LONG : GRAPH_COUNT);
	unsigned raised = 0, spared = 0, at_once = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct contracting x = { .share = CONTRACT_SHARE,
					 .is_thinned = !is_whole || i % 4,
					 .is_whole = is_whole };
		struct oracle_graph g;
		bool *is_soft;

		oracle_random_graph(&g);
		oracle_build(&g, false);
		is_soft = i % 2 ? soft_edges(&g) : oracle_alloc(g.edge_count, sizeof *is_soft);
		x.g = &g;
		x.is_soft = is_soft;
		compare_with(&x, 1 + (i % 8 == 0));
		raised += x.raised_count > 0;
		spared += x.spared_count > 0;
		at_once += x.round_count == 1;
		free(is_soft);
		oracle_free(&g);
	}
	/* Of few graphs none may be so. */
	if (count < GRAPH_COUNT)
		return;
	assert_true(raised > count / 100);
	assert_true(spared > count / 100);
	assert_true(at_once > count / 100);
}

static void thinned_graphs(void **state)
{
	(void)state;
	thin_graphs(false);
}

static void whole_graphs(void **state)
{
	(void)state;
	thin_graphs(true);
}

/* A graph with edges that are left out: nodes, the roots, and edges; the ends of lists are NONE. */
struct thin_graph {
	uint32_t node_count, roots[3];
	uint32_t edges[16][2];
	uint32_t thinned[3][2]; /* edges */
};

static struct contracting thin_by_hand(const struct thin_graph *in)
{
	const bool is_soft[16] = { false };
	struct contracting x = { .is_soft = is_soft, .share = CONTRACT_SHARE, .is_thinned = true };
	struct oracle_graph g;
	size_t count = 0;

	while (in->edges[count][0] != GRAPH_NONE)
		count++;
	oracle_init(&g, in->node_count, count);
	for (size_t e = 0; e < count; e++)
		oracle_edge(&g, in->edges[e][0], in->edges[e][1]);
	for (size_t i = 0; in->roots[i] != GRAPH_NONE; i++)
		oracle_set(g.roots, in->roots[i]);
	oracle_build(&g, false);
	x.g = &g;
	begin_thinning(&x, &work);
	for (size_t i = 0; in->thinned[i][0] != GRAPH_NONE; i++) {
		const uint32_t *edge = in->thinned[i];

		add_popular(&x.thinning, edge[1]);
		add_thin_pair(&x.thinning, source_of(edge[0]).class_no, edge[1], 1);
	}
	compare_with(&x, 1);
	oracle_free(&g);
	x.g = NULL;
	x.is_soft = NULL;
	return x;
}

/*
 * 2 and 4 seem to be below 1. The edge that raises 2 is met after the one from below 2 to 4, which
 * raises 4, too.
 */
static void below_what_rises(void **state)
{
	const struct contracting x = thin_by_hand(&(struct thin_graph){
		.node_count = 7,
		.roots = { 0, 5, GRAPH_NONE },
		.edges = { { 0, 1 },
			   { 1, 2 },
			   { 1, 4 },
			   { 2, 3 },
			   { 3, 4 },
			   { 5, 6 },
			   { 6, 2 },
			   { GRAPH_NONE } },
		.thinned = { { 6, 2 }, { 3, 4 }, { GRAPH_NONE } },
	});

	(void)state;
	assert_int_equal(x.raised_count, 1);
	/* Then 2 has an edge, and cannot just rise. */
	assert_int_equal(x.spared_count, 2);
	assert_int_equal(x.round_count, 3);
}

/*
 * 2 and 3 seem to be below 1. One of them can rise: what is below its dominator then is not below
 * that of the other.
 */
static void beside_what_rises(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t rising = 2 + i, other = 3 - i;
		const struct contracting x = thin_by_hand(&(struct thin_graph){
			.node_count = 12,
			.roots = { 0, GRAPH_NONE },
			.edges = { { 0, 1 },
				   { 1, 2 },
				   { 1, 3 },
				   { 0, 5 },
				   { 5, rising },
				   { 5, 6 },
				   { 1, 6 },
				   { 5, 8 },
				   { 8, 6 },
				   { 8, rising },
				   { 5, 11 },
				   { 11, 6 },
				   { 11, other },
				   { other, 9 },
				   { 1, 9 },
				   { GRAPH_NONE } },
			.thinned = { { 5, 2 }, { 5, 3 }, { GRAPH_NONE } },
		});

		/* In each round. */
		assert_int_equal(x.raised_count, 2);
		assert_int_equal(x.spared_count, 1);
		assert_int_equal(x.round_count, 2);
	}
}

/* The ways from 0 to 4 part at 1, which is not kept as long as the one by 3 is left out. */
static void meeting_at_what_is_not_kept(void **state)
{
	const struct contracting x = thin_by_hand(&(struct thin_graph){
		.node_count = 5,
		.roots = { 0, GRAPH_NONE },
		.edges = { { 0, 1 }, { 1, 2 }, { 1, 3 }, { 2, 4 }, { 3, 4 }, { GRAPH_NONE } },
		.thinned = { { 3, 4 }, { GRAPH_NONE } },
	});

	(void)state;
	assert_int_equal(x.raised_count, 0);
	assert_int_equal(x.spared_count, 1);
	assert_int_equal(x.round_count, 2);
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
 * any: edges too many would change no dominator. The second pass, too, changes nothing.
 */
static void step_over(bool is_twice)
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

	assert_int_equal(graph_contract_init(&c, FEW_NODES, roots, &work, &err), HDB_OK);
	assert_int_equal(graph_contract_begin(&c, &err), HDB_OK);
	for (size_t e = 0; e < FEW_EDGES; e++) {
		const struct graph_source from = { few_edges[e][0], GRAPH_NONE };
		const bool matters = graph_contract_see(&c, from, &few_edges[e][1], 1, 1);

		graph_contract_note(&c, from.v / 64, (uint64_t)matters << (from.v % 64));
	}
	assert_int_equal(graph_contract_seen(&c, &err), HDB_OK);
	if (is_twice)
		for (size_t e = 0; e < FEW_EDGES; e++)
			if (!graph_contract_is_kept(&c, few_edges[e][0]))
				graph_contract_mark(
					&c, (struct graph_source){ few_edges[e][0], GRAPH_NONE },
					&few_edges[e][1], 1);
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

static void stepped_over(void **state)
{
	(void)state;
	step_over(false);
	step_over(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),     cmocka_unit_test(thinned_graphs),
		cmocka_unit_test(whole_graphs),      cmocka_unit_test(below_what_rises),
		cmocka_unit_test(beside_what_rises), cmocka_unit_test(meeting_at_what_is_not_kept),
		cmocka_unit_test(threads),           cmocka_unit_test(long_paths),
		cmocka_unit_test(stepped_over),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
