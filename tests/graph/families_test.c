/*
 * tests/graph/families_test.c - no graph is slow: limits the steps per edge that finding dominators
 * takes, on graphs of many families, below the virtual root and below one object. Small graphs are
 * compared with a simple algorithm.
 */
#include "support/graph_oracle.h"

/*
 * Number of nodes: of graphs whose results are compared, and of graphs whose steps are counted. In
 * the long form, the latter are larger, and one family in MOST_PART, chosen by the seed, has the
 * maximum.
 */
#define SMALL_NODES 150u
#define NODES 60000u
#define NODES_LONG 500000u
#define NODES_MOST 4000000u
#define MOST_PART 16u

/* Maximum number of steps per edge, relative to the median family. */
#define TIMES_MAX 3.0

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, (uint64_t)8 << 30, 2, NULL);
	oracle_start();
	return 0;
}

/* ---- families: nodes 0 to 2 are above all others; edges to nodes from 3 on ---- */

typedef void draw(struct oracle_graph *g, uint32_t n, uint32_t k);

/* Each node has k random referrers. k = 1 gives a random tree. */
static void in_degree(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 3; v < n; v++)
		for (uint32_t i = 0; i < k; i++)
			oracle_edge(g, oracle_below(k == 1 ? v : n), v);
}

/* A few nodes have most of the edges, as sources or as targets. */
static void power_law(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 3; v < n; v++) {
		const double r = (double)oracle_below(1 << 30) / (1 << 30);
		const uint32_t hub = 3 + (uint32_t)((n - 3) * r * r * r * r);

		oracle_edge(g, oracle_below(v), v);
		oracle_edge(g, k ? hub : v, k ? v : hub);
		oracle_edge(g, k ? oracle_below(n) : v, k ? v : 3 + oracle_below(n - 3));
	}
}

/* A grid with edges to the right and down, and with k also back. */
static void grid(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	uint32_t width = 1;

	while (width * width < n)
		width++;
	for (uint32_t v = 0; v + width < n; v++) {
		oracle_edge(g, v, v + 1);
		oracle_edge(g, v, v + width);
		if (k)
			oracle_edge(g, v + width, v);
	}
}

/* Layers of k nodes. Each node has three referrers in the previous layer. */
static void layers(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 3; v < n; v++)
		for (uint32_t i = 0; i < 3; i++)
			oracle_edge(g, v < k ? i : v / k * k - k + oracle_below(k), v);
}

static void expander(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	(void)k;
	for (uint64_t v = 1; v < n; v++) {
		oracle_edge(g, (uint32_t)v, (uint32_t)(2 * v % n));
		oracle_edge(g, (uint32_t)v, (uint32_t)((2 * v + 1) % n));
		oracle_edge(g, (uint32_t)v, (uint32_t)((5 * v + 3) % n));
	}
}

/* Edges between neighbours, and one edge in k to a random node. */
static void small_world(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 0; v < n; v++)
		for (uint32_t i = 1; i <= 3; i++)
			oracle_edge(g, v, oracle_below(k) ? (v + i) % n : oracle_below(n));
}

/* A binary tree with additional edges from nodes to their ancestors, or with k, to random nodes. */
static void tree(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 1; v < n; v++) {
		oracle_edge(g, (v - 1) / 2, v);
		oracle_edge(g, v, k ? oracle_below(n) : v >> (1 + oracle_below(8)));
	}
}

static void bipartite(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 3; v < n; v++)
		for (uint32_t i = 0; i < k; i++)
			oracle_edge(g,
				    v < n / 2 ? n / 2 + oracle_below(n / 2) : oracle_below(n / 2),
				    v);
}

static void ladder(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 0; v + 2 < n; v++) {
		oracle_edge(g, v, v + 2);
		oracle_edge(g, v, v ^ 1);
		if (k)
			oracle_edge(g, v + 2, v);
	}
}

/* k: with back edges. */
static void ring(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 0; v < n; v++) {
		oracle_edge(g, v, (v + 1) % n);
		if (k)
			oracle_edge(g, (v + 1) % n, v);
	}
}

/* One list in the lower half; each node of the upper half refers to k of its nodes. */
static void shared_tails(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 3; v + 1 < n / 2; v++)
		oracle_edge(g, v, v + 1);
	for (uint32_t v = n / 2; v < n; v++) {
		oracle_edge(g, oracle_below(3), v);
		for (uint32_t i = 0; i < k; i++)
			oracle_edge(g, v, 3 + oracle_below(n / 2 - 3));
	}
}

/*
 * A list whose nodes refer to the nodes of the upper half. Each node of the upper half has k random
 * referrers.
 */
static void wide_tail(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 0; v + 1 < n / 2; v++)
		oracle_edge(g, v, v + 1);
	for (uint32_t v = n / 2; v < n; v++)
		for (uint32_t i = 0; i < k; i++)
			oracle_edge(g, oracle_below(n / 2), v);
}

/* Arrays of 100 elements. Each element refers to k arrays. */
static void arrays(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 3; v < n; v++) {
		if (v % 101 == 3) {
			oracle_edge(g, oracle_below(v), v);
			continue;
		}
		oracle_edge(g, v - (v + 98) % 101, v);
		for (uint32_t i = 0; i < k; i++)
			oracle_edge(g, v, 3 + oracle_below((n - 3) / 101 + 1) * 101 % (n - 3));
	}
}

/* A list with edges that skip up to k nodes, and back. */
static void skips(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 0; v + 1 < n; v++) {
		const uint32_t far = v + 1 + oracle_below(k);

		oracle_edge(g, v, v + 1);
		oracle_edge(g, v, far < n ? far : n - 1);
		oracle_edge(g, far < n ? far : n - 1, v);
	}
}

/* A list with an edge from each node to the node at the same distance from the end. */
static void nested(struct oracle_graph *g, uint32_t n, uint32_t k)
{
	for (uint32_t v = 0; v + 1 < n; v++) {
		oracle_edge(g, v, v + 1);
		oracle_edge(g, k ? n - 1 - v : v, k ? v : n - 1 - v);
	}
}

static const struct family {
	const char *name;
	draw *draw;
	uint32_t k;
} families[] = {
	{ "random tree", in_degree, 1 },
	{ "in-degree 2", in_degree, 2 },
	{ "in-degree 3", in_degree, 3 },
	{ "in-degree 5", in_degree, 5 },
	{ "in-degree 10", in_degree, 10 },
	{ "in-degree 20", in_degree, 20 },
	{ "many referrers", power_law, 0 },
	{ "many references", power_law, 1 },
	{ "grid", grid, 0 },
	{ "grid and back", grid, 1 },
	{ "layers of 10", layers, 10 },
	{ "layers of 1000", layers, 1000 },
	{ "expander", expander, 0 },
	{ "small world 5", small_world, 5 },
	{ "small world 100", small_world, 100 },
	{ "tree, edges up", tree, 0 },
	{ "tree, edges anywhere", tree, 1 },
	{ "bipartite 2", bipartite, 2 },
	{ "bipartite 8", bipartite, 8 },
	{ "ladder", ladder, 0 },
	{ "ladder and back", ladder, 1 },
	{ "ring", ring, 0 },
	{ "ring and back", ring, 1 },
	{ "shared tails", shared_tails, 1 },
	{ "shared tails 4", shared_tails, 4 },
	{ "wide tail", wide_tail, 2 },
	{ "wide tail 6", wide_tail, 6 },
	{ "arrays", arrays, 1 },
	{ "arrays 3", arrays, 3 },
	{ "skips of 3", skips, 3 },
	{ "skips of 1000", skips, 1000 },
	{ "nested", nested, 0 },
	{ "nested, from the end", nested, 1 },
};

#define FAMILIES (sizeof families / sizeof families[0])

/* The numbers of nodes are independent of their positions. */
static void shuffle(struct oracle_graph *g)
{
	uint32_t *to = oracle_alloc(g->node_count, sizeof *to);

	for (uint32_t v = 0; v < g->node_count; v++) {
		const uint32_t k = oracle_below(v + 1ull);

		to[v] = to[k];
		to[k] = v;
	}
	for (uint64_t e = 0; e < g->edge_count; e++) {
		g->from[e] = to[g->from[e]];
		g->to[e] = to[g->to[e]];
	}
	memset(g->roots, 0, ((uint64_t)g->node_count / 64 + 1) * sizeof *g->roots);
	oracle_set(g->roots, to[0]);
	free(to);
}

static void make(struct oracle_graph *g, const struct family *family, uint32_t n, bool is_under_one,
		 bool is_shuffled)
{
	oracle_init(g, n, 24ull * n + 64);
	oracle_edge(g, 0, 1);
	oracle_edge(g, 0, 2);
	oracle_edge(g, 1, 3);
	oracle_edge(g, 2, n - 1);
	family->draw(g, n, family->k);
	oracle_set(g->roots, 0);
	if (is_under_one && is_shuffled)
		shuffle(g);
	for (int i = 0; i < 200 && !is_under_one; i++)
		oracle_set(g->roots, oracle_below(n));
	oracle_build(g, false);
}

/* ---- dominators ---- */

/*
 * Dominators computed by iteration (Cooper, Harvey, Kennedy). n stands for the virtual root. Owned.
 */
static uint32_t *simple_dominators(const struct oracle_graph *g)
{
	const uint32_t n = g->node_count;
	uint32_t *dominator = oracle_alloc(n + 1ull, sizeof *dominator);
	uint32_t *level = oracle_alloc(n + 1ull, sizeof *level);
	bool changed = true;

	for (uint32_t v = 0; v < n; v++) {
		dominator[v] = oracle_bit(g->roots, v) ? n : v;
		level[v] = 1;
	}
	while (changed) {
		changed = false;
		for (uint64_t e = 0; e < g->edge_count; e++) {
			const uint32_t v = g->to[e];
			uint32_t a = g->from[e], b = dominator[v];

			if (dominator[a] == a)
				continue;
			if (b == v)
				b = a;
			while (a != b) {
				const bool is_a = b == n || (a != n && level[a] >= level[b]);

				a = is_a ? dominator[a] : a;
				b = is_a ? b : dominator[b];
			}
			if (dominator[v] == a)
				continue;
			dominator[v] = a;
			changed = true;
			/* Levels are computed again, because graphs are small. */
			for (uint32_t i = 0; i < n; i++) {
				uint32_t x = i;

				for (level[i] = 0; x != n && dominator[x] != x && level[i] <= n;
				     level[i]++)
					x = dominator[x];
			}
		}
	}
	free(level);
	return dominator;
}

/* Dominators by node, in the form of simple_dominators. */
static uint32_t *found_dominators(struct oracle_graph *g, enum graph_search how)
{
	const uint32_t n = g->node_count;
	uint32_t *found = oracle_alloc(n, sizeof *found);
	uint64_t *number = oracle_alloc(n + GRAPH_NUMBERS_STEP, sizeof *number);
	struct base_big nodes = { 0 };
	struct graph_dominators d;
	struct hdb_error err;

	assert_int_equal(graph_dominators(oracle_rows(g, &work), g->roots, how, &d, &err), HDB_OK);
	assert_int_equal(graph_dominators_numbers(&d, 0, number, n, &err), HDB_OK);
	assert_int_equal(graph_dominators_nodes(&d, &nodes, &err), HDB_OK);
	for (uint32_t v = 0; v < n; v++) {
		const uint32_t above = d.dominator[number[v]];

		found[v] = !number[v] ? v : above ? ((const uint32_t *)nodes.data)[above] : n;
	}
	base_big_free(&nodes);
	graph_dominators_release(&d);
	free(number);
	return found;
}

static void small_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < 12 * FAMILIES; i++) {
		struct oracle_graph g;
		uint32_t *dominator;

		make(&g, &families[i % FAMILIES], SMALL_NODES + oracle_below(SMALL_NODES), i & 1,
		     i & 2);
		dominator = simple_dominators(&g);
		for (unsigned how = 0; how < GRAPH_SEARCHES; how++) {
			uint32_t *found = found_dominators(&g, (enum graph_search)how);

			for (uint32_t v = 0; v < g.node_count; v++)
				assert_int_equal(found[v], dominator[v]);
			free(found);
		}
		free(dominator);
		oracle_free(&g);
	}
}

/* ---- steps ---- */

/* Searches whose steps are counted: with links for all nodes, and only for joins. */
static const enum graph_search counted[] = { GRAPH_SEARCH_LINKS, GRAPH_SEARCH_LOWMEM };
#define COUNTED (sizeof counted / sizeof *counted)

static double steps_of(struct oracle_graph *g, enum graph_search how)
{
	const double size = (double)g->node_count + (double)g->edge_count;
	struct graph_dominators d;
	struct hdb_error err;
	double steps;

	assert_int_equal(graph_dominators(oracle_rows(g, &work), g->roots, how, &d, &err), HDB_OK);
	steps = (double)d.step_count / size;
	graph_dominators_release(&d);
	return 1 + steps;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void steps(void **state)
{
	const bool is_long = getenv("HEAPDB_HOSTILE") != NULL;
	const size_t most = oracle_below(MOST_PART);
	double all[COUNTED][2 * FAMILIES], sorted[2 * FAMILIES];

	(void)state;
	for (size_t i = 0; i < 2 * FAMILIES; i++) {
		const uint32_t n = !is_long              ? NODES :
				   i % MOST_PART == most ? NODES_MOST :
							   NODES_LONG;
		struct oracle_graph g;

		make(&g, &families[i / 2], oracle_size(n), i & 1, true);
		for (unsigned way = 0; way < COUNTED; way++)
			all[way][i] = steps_of(&g, counted[way]);
		oracle_free(&g);
	}
	for (unsigned way = 0; way < COUNTED; way++) {
		memcpy(sorted, all[way], sizeof sorted);
		qsort(sorted, 2 * FAMILIES, sizeof *sorted, compare_doubles);
		print_message("way %u: median %.2f steps an edge, most %.2f\n", way,
			      sorted[FAMILIES], sorted[2 * FAMILIES - 1]);
		for (size_t i = 0; i < 2 * FAMILIES; i++) {
			if (all[way][i] <= TIMES_MAX * sorted[FAMILIES])
				continue;
			print_message("%s, %s: %.2f steps an edge\n", families[i / 2].name,
				      i & 1 ? "under one object" : "under the virtual root",
				      all[way][i]);
			assert_true(all[way][i] <= TIMES_MAX * sorted[FAMILIES]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_ones),
		cmocka_unit_test(steps),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
