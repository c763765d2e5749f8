/*
 * tests/graph/parts_test.c - compares concurrent searches on threads with one search without links
 * (semi_lowmem.c): the dominators are the same, whichever search takes which nodes.
 */
#include "support/graph_oracle.h"

#include "graph/dominators/semi_nca.h"

/*
 * Number of nodes in a graph, and number of graphs. Starting a thread takes as long as a few
 * thousand nodes.
 */
#define NODES 30000u
#define GRAPHS 60u

static struct base_work work;

static void report(void *ctx, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
	(void)ctx;
	(void)stage;
	(void)unit;
	assert_true(done <= total);
}

static int start(void **state)
{
	const struct hdb_progress progress = { .report = report };

	(void)state;
	base_work_init(&work, (uint64_t)4 << 30, 1, &progress);
	oracle_start();
	return 0;
}

/*
 * Dominators by node: GRAPH_NONE for the virtual root, the node itself if it is unreachable. Owned.
 */
static uint32_t *dominators(struct oracle_graph *g, enum graph_search how, unsigned threads)
{
	const uint32_t n = g->node_count;
	uint64_t *number = oracle_alloc((uint64_t)n + GRAPH_NUMBERS_STEP, sizeof *number);
	uint32_t *found = oracle_alloc(n, sizeof *found);
	struct base_big nodes = { 0 };
	struct graph_dominators d;
	struct hdb_error err;
	const uint32_t *node;

	work.threads = threads;
	assert_int_equal(graph_dominators(oracle_rows(g, &work), g->roots, how, &d, &err), HDB_OK);
	assert_int_equal(graph_dominators_numbers(&d, 0, number, n, &err), HDB_OK);
	assert_int_equal(graph_dominators_nodes(&d, &nodes, &err), HDB_OK);
	node = nodes.data;
	for (uint32_t v = 0; v < n; v++) {
		assert_true(number[v] <= d.count);
		assert_true(!number[v] ||
			    (node[number[v]] == v && d.dominator[number[v]] < number[v]));
		found[v] = number[v] ? node[d.dominator[number[v]]] : v;
	}
	base_big_free(&nodes);
	graph_dominators_release(&d);
	free(number);
	assert_int_equal(work.memory_used, 0);
	return found;
}

/*
 * Short or long edges in both directions, with one root in `root_part` nodes. Some dominators are
 * deep, and several parts reach many of the nodes.
 */
static void draw(struct oracle_graph *g, uint32_t degree, uint32_t reach, uint32_t root_part)
{
	oracle_init(g, NODES, (uint64_t)NODES * (degree + 1));
	for (uint32_t v = 0; v < NODES; v++) {
		const uint32_t count = oracle_below(degree + 1);

		if (v % 16)
			oracle_edge(g, v - 1, v);
		for (uint32_t i = 0; i < count; i++)
			oracle_edge(g, v, (v + NODES - reach / 2 + oracle_below(reach)) % NODES);
		if (oracle_below(root_part) == 0)
			oracle_set(g->roots, v);
	}
	oracle_set(g->roots, 0);
	oracle_build(g, false);
}

static void compare(struct oracle_graph *g)
{
	static const unsigned threads[] = { 1, 2, 2, 3, 7 };
	uint32_t *one = dominators(g, GRAPH_SEARCH_LOWMEM, 1);

	for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
		uint32_t *found = dominators(g, GRAPH_SEARCH_PARTS, threads[i]);

		for (uint32_t v = 0; v < g->node_count; v++)
			assert_int_equal(found[v], one[v]);
		free(found);
	}
	free(one);
}

static void random_graphs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < GRAPHS; i++) {
		struct oracle_graph g;

		draw(&g, 1 + i % 4, i % 3 ? 64 : NODES, 1u << (2 + oracle_below(12)));
		compare(&g);
		oracle_free(&g);
	}
}

/* Two roots, and from each of them a list that meets the other one's here and there. */
static void two_lists(void **state)
{
	struct oracle_graph g;

	(void)state;
	oracle_init(&g, NODES, (uint64_t)NODES * 2);
	for (uint32_t v = 0; v + 2 < NODES; v++) {
		oracle_edge(&g, v, v + 2);
		if (oracle_below(1000) == 0)
			oracle_edge(&g, v, (v + 1 + 2 * oracle_below(500)) % NODES);
	}
	oracle_set(g.roots, 0);
	oracle_set(g.roots, 1);
	oracle_build(&g, false);
	compare(&g);
	oracle_free(&g);
}

/*
 * Nearly all nodes below one: a list of some nodes leads to it, a root that has little else meets
 * some of what is below, and some of it is a list that another one leads to, too.
 */
static void one_giant(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 24; i++) {
		const uint32_t depth = i % 6, met = i / 6 % 4;
		struct oracle_graph g;

		oracle_init(&g, NODES, (uint64_t)NODES * 5);
		for (uint32_t v = 0; v < depth; v++)
			oracle_edge(&g, v, v + 1);
		for (uint32_t v = depth + 1; v + 100 < NODES; v++) {
			if (oracle_below(i % 2 ? 4 : 4000) == 0 || v < depth + 8)
				oracle_edge(&g, depth, v);
			if (v + 101 < NODES)
				oracle_edge(&g, v, v + 1);
			oracle_edge(&g, v, depth + 1 + oracle_below(NODES - 101 - depth));
			if (i % 3 == 0)
				oracle_edge(&g, depth + 1 + oracle_below(NODES - 101 - depth), v);
		}
		for (uint32_t v = NODES - 100; v + 1 < NODES; v++)
			oracle_edge(&g, v, v + 1);
		for (uint32_t k = 0; k < met; k++)
			oracle_edge(&g, NODES - 50 + k, depth + 1 + oracle_below(NODES / 2));
		oracle_set(g.roots, 0);
		oracle_set(g.roots, NODES - 100);
		oracle_build(&g, false);
		compare(&g);
		oracle_free(&g);
	}
}

/*
 * Small graphs with one to three roots: mostly trees in which few nodes own nearly all, level below
 * level, with some edges between levels in both directions.
 */
static void owners(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4 * GRAPHS; i++) {
		const uint32_t n = 16 + oracle_below(400), deep = 2 + oracle_below(8);
		const uint32_t more = oracle_below(n);
		struct oracle_graph g;

		oracle_init(&g, n, (uint64_t)n + more);
		for (uint32_t v = 1; v < n; v++)
			oracle_edge(&g, v < deep ? v - 1 : oracle_below(i % 2 ? v : deep), v);
		for (uint32_t k = 0; k < more; k++)
			oracle_edge(&g, oracle_below(n), oracle_below(i % 4 < 2 ? n : n / 2));
		oracle_set(g.roots, 0);
		for (uint32_t k = 0; k < i % 3; k++)
			oracle_set(g.roots, oracle_below(n));
		oracle_build(&g, false);
		compare(&g);
		oracle_free(&g);
	}
}

/* Nodes that lead to thousands wait in many searches at once, and others take what waits. */
static void long_rows(void **state)
{
	struct oracle_graph g;

	(void)state;
	for (uint32_t hubs = 1; hubs < 20; hubs += 3) {
		oracle_init(&g, NODES, (uint64_t)NODES * 3);
		for (uint32_t i = 0; i < NODES; i++) {
			const uint32_t hub = oracle_below(hubs) * (NODES / hubs);
			const uint32_t v = oracle_below(NODES);

			oracle_edge(&g, hub, v);
			oracle_edge(&g, v, oracle_below(100) ? oracle_below(NODES) : hub);
			if (i % 64 == 0)
				oracle_edge(&g, hub, hub);
			if (oracle_below(1000) == 0)
				oracle_set(g.roots, v);
		}
		for (uint32_t hub = 0; hub < hubs; hub += 2)
			oracle_set(g.roots, hub * (NODES / hubs));
		oracle_build(&g, false);
		compare(&g);
		oracle_free(&g);
	}
}

static uint64_t steps_of(struct oracle_graph *g, enum graph_search how, uint64_t memory_bytes)
{
	const uint64_t budget = work.memory_bytes;
	struct graph_dominators d;
	uint64_t steps;
	struct hdb_error err;

	work.threads = 1;
	work.memory_bytes = memory_bytes;
	assert_int_equal(graph_dominators(oracle_rows(g, &work), g->roots, how, &d, &err), HDB_OK);
	work.memory_bytes = budget;
	steps = d.step_count;
	graph_dominators_release(&d);
	return steps;
}

/*
 * Where memory is short, links are for joins only if few nodes are joins: on a graph in which most
 * are, folding takes longer than links in a file.
 */
static void short_memory(void **state)
{
	(void)state;
	for (unsigned is_dense = 0; is_dense < 2; is_dense++) {
		const uint32_t every = is_dense ? 1 : 16;
		struct oracle_graph g;
		uint64_t links, lowmem, found;

		oracle_init(&g, NODES, (uint64_t)NODES * 2);
		for (uint32_t v = 0; v + 1 < NODES; v++) {
			oracle_edge(&g, v, v + 1);
			if (v % every == 0)
				oracle_edge(&g, v, oracle_below(NODES));
		}
		oracle_set(g.roots, 0);
		oracle_build(&g, false);
		links = steps_of(&g, GRAPH_SEARCH_LINKS, (uint64_t)4 << 30);
		lowmem = steps_of(&g, GRAPH_SEARCH_LOWMEM, (uint64_t)4 << 30);
		found = steps_of(&g, GRAPH_SEARCH_ANY, 1 << 16);
		assert_int_not_equal(links, lowmem);
		assert_int_equal(found, is_dense ? links : lowmem);
		oracle_free(&g);
	}
}

/* Whichever part sees it first, all end. */
static void cancelled(void **state)
{
	volatile int cancel = 1;
	struct graph_dominators d;
	struct oracle_graph g;
	struct hdb_error err;

	(void)state;
	oracle_init(&g, 400000, 400000);
	for (uint32_t v = 0; v + 2 < 400000; v++)
		oracle_edge(&g, v, v + 2);
	oracle_set(g.roots, 0);
	oracle_set(g.roots, 399999);
	oracle_set(g.roots, 1);
	oracle_build(&g, false);
	work.threads = 2;
	work.progress.cancel = &cancel;
	assert_int_equal(
		graph_dominators(oracle_rows(&g, &work), g.roots, GRAPH_SEARCH_PARTS, &d, &err),
		HDB_EINTR);
	work.progress.cancel = NULL;
	graph_dominators_release(&d);
	assert_int_equal(work.memory_used, 0);
	oracle_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs), cmocka_unit_test(two_lists),
		cmocka_unit_test(one_giant),     cmocka_unit_test(owners),
		cmocka_unit_test(long_rows),     cmocka_unit_test(short_memory),
		cmocka_unit_test(cancelled),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
