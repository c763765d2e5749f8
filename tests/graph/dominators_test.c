/*
 * tests/graph/dominators_test.c - compares dominators, retained sizes, lists of children and the
 * walk with naive deletion on random graphs, and limits their time on big graphs.
 */
#include "support/graph_oracle.h"

#include "support/domtree.h"

/*
 * Maximum processor time in seconds for a graph of a million nodes or more. Quadratic work would
 * take hours.
 */
#define SHAPE_SECONDS 20.0

#define GRAPH_COUNT 6000

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, (uint64_t)4 << 30, 1, NULL);
	oracle_start();
	return 0;
}

/* The dominators by node: GRAPH_NONE for the virtual root, v itself if no root reaches it. */
static uint64_t *numbers_of(const struct graph_dominators *d)
{
	uint64_t *number =
		oracle_alloc((uint64_t)d->node_count + GRAPH_NUMBERS_STEP, sizeof *number);
	struct hdb_error err;

	assert_int_equal(graph_dominators_numbers(d, 0, number, d->node_count, &err), HDB_OK);
	return number;
}

static uint32_t *by_node(const struct graph_dominators *d)
{
	uint64_t *number = numbers_of(d);
	uint32_t *idom = oracle_alloc(d->node_count, sizeof *idom);
	struct base_big big = { 0 };
	struct hdb_error err;
	const uint32_t *node;

	assert_int_equal(graph_dominators_nodes(d, &big, &err), HDB_OK);
	node = big.data;
	for (uint32_t v = 0; v < d->node_count; v++) {
		const uint32_t w = (uint32_t)number[v];
		assert_true(w <= d->count);
		assert_true(w == 0 || (node[w] == v && d->dominator[w] < w));
		idom[v] = w ? node[d->dominator[w]] : v;
	}
	base_big_free(&big);
	free(number);
	return idom;
}

/* The retained sizes by node, computed from shallow sizes. */
static void retained_of(const struct graph_dominators *d, uint64_t *by_node, bool is_wide)
{
	struct base_sizes sizes;
	struct hdb_error err;
	uint64_t *number = numbers_of(d);
	uint64_t sum = 0;

	assert_int_equal(base_sizes_init(&sizes, (uint64_t)d->count + 1, is_wide, &work, &err),
			 HDB_OK);
	for (uint32_t v = 0; v < d->node_count; v++) {
		if (number[v]) {
			assert_true(base_sizes_set(&sizes, (uint32_t)number[v], by_node[v]));
			sum += by_node[v];
		}
	}
	const int rc = graph_retained(d, &sizes, &err);
	if (!is_wide && sum > UINT32_MAX) {
		base_sizes_release(&sizes);
		free(number);
		assert_int_equal(rc, HDB_ELIMIT);
		retained_of(d, by_node, true);
		return;
	}
	assert_int_equal(rc, HDB_OK);
	assert_int_equal(base_sizes_get(&sizes, 0), sum);
	for (uint32_t v = 0; v < d->node_count; v++) {
		if (number[v])
			by_node[v] = base_sizes_get(&sizes, (uint32_t)number[v]);
	}
	free(number);
	base_sizes_release(&sizes);
}

/* Computes dominators by node. `sizes`, if not NULL, become retained sizes. */
static uint32_t *dominators(struct oracle_graph *g, uint64_t *sizes)
{
	struct graph_dominators d;
	struct hdb_error err = { 0 };
	uint32_t *idom;

	assert_int_equal(graph_dominators(oracle_rows(g, &work), g->roots,
					  (enum graph_search)oracle_below(GRAPH_SEARCHES), &d,
					  &err),
			 HDB_OK);
	idom = by_node(&d);
	if (sizes)
		retained_of(&d, sizes, oracle_below(2));
	graph_dominators_release(&d);
	assert_int_equal(work.memory_used, 0);
	return idom;
}

/* Whether v dominates w, found by walking up at most n steps. */
static bool dominates(const uint32_t *idom, uint32_t n, uint32_t v, uint32_t w)
{
	for (uint32_t steps = 0; w != v; steps++) {
		assert_true(steps <= n);
		w = idom[w];
		if (w == GRAPH_NONE)
			return false;
	}
	return true;
}

/* graph_children with sizes of either width. */
static int sorted_by(const uint32_t *idom, uint32_t n, const uint64_t *by_node,
		     struct graph_children *out, struct hdb_error *err)
{
	struct base_sizes sizes;
	bool fits = true;
	int rc;

	for (int is_wide = oracle_below(2) == 0;; is_wide = 1) {
		assert_int_equal(base_sizes_init(&sizes, n, is_wide, &work, err), HDB_OK);
		for (uint32_t v = 0; v < n; v++)
			fits = base_sizes_set(&sizes, v, by_node[v]) && fits;
		if (fits || is_wide)
			break;
		base_sizes_release(&sizes);
	}
	rc = graph_children((struct graph_tree){ idom, n, &sizes }, &work, out, err);
	base_sizes_release(&sizes);
	return rc;
}

static void check_children(const uint32_t *idom, uint32_t n, const uint64_t *retained)
{
	struct graph_children c;
	struct graph_walk walk;
	struct hdb_error err;
	uint32_t listed = 0, reached = 0, entered = 0, left = 0, v;
	bool enter;
	uint32_t path[ORACLE_NODES_MAX];
	uint32_t depth = 0;

	assert_int_equal(sorted_by(idom, n, retained, &c, &err), HDB_OK);
	assert_int_equal(c.first[0], 0);
	for (uint32_t r = 0; r <= n; r++) {
		for (uint32_t i = c.first[r]; i < c.first[r + 1]; i++, listed++) {
			const uint32_t a = c.child[i];
			assert_int_equal(idom[a], r == n ? GRAPH_NONE : r);
			assert_int_not_equal(idom[a], a);
			if (i > c.first[r]) {
				const uint32_t b = c.child[i - 1];
				assert_true(retained[b] > retained[a] ||
					    (retained[b] == retained[a] && b < a));
			}
		}
	}
	for (v = 0; v < n; v++)
		reached += idom[v] != v;
	assert_int_equal(listed, reached);
	assert_int_equal(graph_walk_init(&walk, &c, n, &work, &err), HDB_OK);
	while (graph_walk_next(&walk, &v, &enter, &err) == HDB_OK) {
		if (enter) {
			assert_int_equal(idom[v], depth ? path[depth - 1] : GRAPH_NONE);
			path[depth++] = v;
			entered++;
		} else {
			assert_int_equal(path[--depth], v);
			left++;
		}
	}
	assert_int_equal(entered, reached);
	assert_int_equal(left, reached);
	graph_walk_release(&walk);
	graph_children_release(&c);
	assert_int_equal(work.memory_used, 0);
}

static void check_graph(struct oracle_graph *g)
{
	const uint32_t n = g->node_count;
	bool reached[ORACLE_NODES_MAX], without[ORACLE_NODES_MAX];
	bool blocked[ORACLE_NODES_MAX] = { 0 };
	uint64_t sizes[ORACLE_NODES_MAX], retained[ORACLE_NODES_MAX];
	uint32_t *idom;

	/* With few different sizes, many are equal. */
	const uint64_t size_limit = oracle_below(2) ? 2 : UINT32_MAX;
	oracle_reach(g, NULL, reached);
	for (uint32_t v = 0; v < n; v++)
		retained[v] = sizes[v] = reached[v] ? oracle_below(size_limit) : 0;
	idom = dominators(g, retained);
	for (uint32_t v = 0; v < n; v++) {
		uint64_t sum = 0;
		assert_int_equal(idom[v] != v, reached[v]);
		if (!reached[v]) {
			assert_int_equal(retained[v], 0);
			continue;
		}
		blocked[v] = true;
		oracle_reach(g, blocked, without);
		blocked[v] = false;
		for (uint32_t w = 0; w < n; w++) {
			if (!reached[w])
				continue;
			assert_int_equal(dominates(idom, n, v, w), !without[w]);
			if (!without[w])
				sum += sizes[w];
		}
		assert_int_equal(retained[v], sum);
	}
	check_children(idom, n, retained);
	free(idom);
}

static void random_graphs(void **state)
{
	(void)state;
	for (int i = 0; i < (int)oracle_size(GRAPH_COUNT); i++) {
		struct oracle_graph g;
		oracle_random_graph(&g);
		oracle_build(&g, false);
		check_graph(&g);
		oracle_free(&g);
	}
}

/* Long lists of children, with equal sizes among them. */
static void sorted_children(void **state)
{
	const uint32_t n = 5000;
	uint32_t *idom = oracle_alloc(n, sizeof *idom);
	uint64_t *sizes = oracle_alloc(n, sizeof *sizes);
	struct graph_children c;
	struct hdb_error err;

	(void)state;
	for (uint32_t v = 0; v < n; v++) {
		idom[v] = v % 7 == 0 ? GRAPH_NONE : v % 7 * 7;
		sizes[v] = oracle_random() >> oracle_below(64) & ~(uint64_t)0xff00;
	}
	assert_int_equal(sorted_by(idom, n, sizes, &c, &err), HDB_OK);
	assert_int_equal(c.first[n + 1], n);
	for (uint32_t r = 0; r <= n; r++) {
		for (uint32_t i = c.first[r] + 1; i < c.first[r + 1]; i++) {
			const uint32_t a = c.child[i - 1], b = c.child[i];
			assert_true(sizes[a] > sizes[b] || (sizes[a] == sizes[b] && a < b));
		}
	}
	graph_children_release(&c);
	free(idom);
	free(sizes);
}

static void skipped_subtrees(void **state)
{
	/* 0 -> 1 -> 2, 0 -> 3. Node 4 is unreachable. */
	const uint32_t idom[] = { GRAPH_NONE, 0, 1, 0, 4 };
	const uint64_t sizes[] = { 40, 20, 10, 10, 0 };
	const char *want = "+0+1-1+3-3-0";
	struct graph_children c;
	struct graph_walk walk;
	struct hdb_error err;
	char got[32] = "";
	uint32_t v;
	bool enter;

	(void)state;
	assert_int_equal(sorted_by(idom, 5, sizes, &c, &err), HDB_OK);
	assert_int_equal(graph_walk_init(&walk, &c, 5, &work, &err), HDB_OK);
	while (graph_walk_next(&walk, &v, &enter, &err) == HDB_OK) {
		(void)snprintf(got + strlen(got), sizeof got - strlen(got), "%c%u",
			       enter ? '+' : '-', v);
		if (enter && v == 1)
			graph_walk_skip(&walk);
	}
	assert_string_equal(got, want);
	graph_walk_release(&walk);
	assert_int_equal(graph_walk_init(&walk, &c, 2, &work, &err), HDB_OK);
	assert_int_equal(graph_walk_next(&walk, &v, &enter, &err), HDB_END);
	assert_int_equal(graph_walk_next(&walk, &v, &enter, &err), HDB_END);
	graph_walk_release(&walk);
	graph_children_release(&c);
}

static void damaged_tables(void **state)
{
	/* 9 is a child of 3. */
	const uint32_t wide[] = { GRAPH_NONE, 9, 0 };
	uint64_t sizes[] = { 1, 1, 1 };
	struct graph_children c;
	struct hdb_error err;

	(void)state;
	assert_int_equal(sorted_by(wide, 3, sizes, &c, &err), HDB_ECORRUPT);
	graph_children_release(&c);
	assert_int_equal(work.memory_used, 0);
}

static void cancelled(void **state)
{
	struct oracle_graph g;
	volatile int cancel = 1;
	struct graph_dominators d;
	struct hdb_error err;

	(void)state;
	oracle_init(&g, 200000, 200000);
	for (uint32_t v = 0; v + 1 < 200000; v++)
		oracle_edge(&g, v, v + 1);
	oracle_set(g.roots, 0);
	oracle_build(&g, false);
	work.progress.cancel = &cancel;
	assert_int_equal(
		graph_dominators(oracle_rows(&g, &work), g.roots, GRAPH_SEARCH_ANY, &d, &err),
		HDB_EINTR);
	work.progress.cancel = NULL;
	graph_dominators_release(&d);
	assert_int_equal(work.memory_used, 0);
	oracle_free(&g);
}

static void no_nodes(void **state)
{
	struct oracle_graph g;
	struct graph_children c;
	struct hdb_error err;

	(void)state;
	oracle_init(&g, 0, 0);
	oracle_build(&g, false);
	free(dominators(&g, NULL));
	oracle_free(&g);
	assert_int_equal(graph_children((struct graph_tree){ NULL, 0, NULL }, &work, &c, &err),
			 HDB_OK);
	assert_int_equal(c.first[1], 0);
	graph_children_release(&c);
}

/*
 * Builds a graph with root 0, computes its dominators, checks the time and frees the graph. The
 * caller checks idom.
 */
static uint32_t *solve(struct oracle_graph *g, const char *name)
{
	const uint32_t n = g->node_count;
	uint64_t *sizes = oracle_alloc(n, sizeof *sizes);
	struct graph_children c;
	struct hdb_error err;
	uint64_t reached = 0, top = 0;

	oracle_set(g->roots, 0);
	oracle_build(g, false);
	for (uint32_t v = 0; v < n; v++)
		sizes[v] = 1;
	const clock_t before = clock();
	uint32_t *idom = dominators(g, sizes);
	for (uint32_t v = 0; v < n; v++)
		reached += idom[v] != v;
	assert_int_equal(sorted_by(idom, n, sizes, &c, &err), HDB_OK);
	const double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
	print_message("%-24s %8" PRIu32 " nodes %8" PRIu64 " edges: %.2f s\n", name, n,
		      g->edge_count, seconds);
	assert_true(seconds < SHAPE_SECONDS);
	for (uint32_t v = 0; v < n; v++)
		top += idom[v] == GRAPH_NONE ? sizes[v] : 0;
	assert_int_equal(top, reached);
	graph_children_release(&c);
	free(sizes);
	oracle_free(g);
	return idom;
}

static void list_of_five_million(void **state)
{
	const uint32_t n = oracle_size(5000000);
	struct oracle_graph g;
	uint32_t *idom;

	(void)state;
	/*
	 * Each node has a later second edge back to its predecessor, so that the search must go
	 * back to it.
	 */
	oracle_init(&g, n, 2 * (uint64_t)n);
	for (uint32_t v = 0; v + 1 < n; v++) {
		oracle_edge(&g, v, v + 1);
		if (v > 0)
			oracle_edge(&g, v, v - 1);
	}
	idom = solve(&g, "doubly linked list");
	for (uint32_t v = 1; v < n; v++)
		assert_int_equal(idom[v], v - 1);
	free(idom);
}

static void ring(void **state)
{
	const uint32_t n = oracle_size(3000000);
	struct oracle_graph g;
	uint32_t *idom;

	(void)state;
	oracle_init(&g, n, 3 * (uint64_t)n);
	for (uint32_t v = 0; v < n; v++) {
		oracle_edge(&g, v, (v + 1) % n);
		oracle_edge(&g, v, (v + n - 1) % n);
	}
	oracle_edge(&g, 0, n / 2);
	idom = solve(&g, "ring");
	for (uint32_t v = 1; v < n; v++)
		assert_int_equal(idom[v], 0);
	free(idom);
}

static void ladder(void **state)
{
	const uint32_t rungs = oracle_size(1000000);
	struct oracle_graph g;
	uint32_t *idom;

	(void)state;
	/* Diamonds 3k -> 3k+1, 3k+2 -> 3k+3. */
	oracle_init(&g, 3 * rungs + 1, 4 * (uint64_t)rungs);
	for (uint32_t k = 0; k < 3 * rungs; k += 3) {
		oracle_edge(&g, k, k + 1);
		oracle_edge(&g, k, k + 2);
		oracle_edge(&g, k + 1, k + 3);
		oracle_edge(&g, k + 2, k + 3);
	}
	idom = solve(&g, "ladder of diamonds");
	for (uint32_t v = 1; v <= 3 * rungs; v++)
		assert_int_equal(idom[v], (v - 1) / 3 * 3);
	free(idom);
}

static void star(void **state)
{
	const uint32_t n = oracle_size(5000000);
	struct oracle_graph g;
	uint32_t *idom;

	(void)state;
	/* Every node also refers to node 1, and node 1 refers to every node. */
	oracle_init(&g, n, 3 * (uint64_t)n);
	for (uint32_t v = 1; v < n; v++) {
		oracle_edge(&g, 0, v);
		oracle_edge(&g, v, 1);
		oracle_edge(&g, 1, n - v);
	}
	idom = solve(&g, "star");
	for (uint32_t v = 1; v < n; v++)
		assert_int_equal(idom[v], 0);
	free(idom);
}

/*
 * A node refers to a chain and to a wide tail, and the end of the chain also refers to the tail.
 * This takes plain SEMI-NCA quadratic time.
 */
static void chain_with_wide_tail(void **state)
{
	const uint32_t chain = oracle_size(1000000), tail = chain, n = 2 + chain + tail;
	struct oracle_graph g;
	uint32_t *idom;

	(void)state;
	oracle_init(&g, n, (uint64_t)n + 2 * (uint64_t)tail);
	oracle_edge(&g, 0, 1);
	for (uint32_t v = 1; v <= chain; v++)
		oracle_edge(&g, v, v + 1);
	for (uint32_t v = 2 + chain; v < n; v++) {
		oracle_edge(&g, 1 + chain, v);
		/* Half of the edges come from the start of the chain, half from inside. */
		oracle_edge(&g, v % 2 ? 1 : v - chain, v);
	}
	idom = solve(&g, "chain with wide tail");
	for (uint32_t v = 1; v < n; v++)
		assert_int_equal(idom[v], v < 2 + chain ? v - 1 : v % 2 ? 1 : v - chain);
	free(idom);
}

static void chains_with_shared_tail(void **state)
{
	const uint32_t chains = oracle_size(1000), length = 1000, tail = oracle_size(1000000);
	const uint32_t n = 1 + chains * length + tail, joint = 1 + chains * length;
	struct oracle_graph g;
	uint32_t *idom;

	(void)state;
	oracle_init(&g, n, 2 * (uint64_t)n + chains);
	for (uint32_t c = 0; c < chains; c++) {
		const uint32_t head = 1 + c * length;
		oracle_edge(&g, 0, head);
		for (uint32_t i = 0; i + 1 < length; i++)
			oracle_edge(&g, head + i, head + i + 1);
		oracle_edge(&g, head + length - 1, joint);
	}
	for (uint32_t v = joint; v + 1 < n; v++)
		oracle_edge(&g, v, v + 1);
	/* Each node of the chain also refers to the tail, so only the root dominates the tail. */
	for (uint32_t v = 1; v < joint; v++)
		oracle_edge(&g, v, joint + (v * 7919) % tail);
	idom = solve(&g, "chains with shared tail");
	for (uint32_t v = 1; v < joint; v++)
		assert_int_equal(idom[v], (v - 1) % length ? v - 1 : 0);
	assert_int_equal(idom[joint], 0);
	free(idom);
}

static void binary_tree(void **state)
{
	const uint32_t n = oracle_size(1 << 22);
	struct oracle_graph g;
	uint32_t *idom;

	(void)state;
	oracle_init(&g, n, 2 * (uint64_t)n);
	for (uint32_t v = 1; v < n; v++) {
		oracle_edge(&g, (v - 1) / 2, v);
		oracle_edge(&g, v, (v - 1) / 2);
	}
	idom = solve(&g, "binary tree");
	for (uint32_t v = 1; v < n; v++)
		assert_int_equal(idom[v], (v - 1) / 2);
	free(idom);
}

/* Numbers each node when it is entered and when it is left. Nodes outside the tree have 0. */
static void number_tree(const uint32_t *idom, uint32_t n, uint32_t *in, uint32_t *out)
{
	struct graph_children c;
	struct graph_walk walk;
	struct hdb_error err;
	uint32_t v, time = 0;
	bool enter;

	assert_int_equal(graph_children((struct graph_tree){ idom, n, NULL }, &work, &c, &err),
			 HDB_OK);
	assert_int_equal(graph_walk_init(&walk, &c, n, &work, &err), HDB_OK);
	while (graph_walk_next(&walk, &v, &enter, &err) == HDB_OK)
		*(enter ? &in[v] : &out[v]) = ++time;
	graph_walk_release(&walk);
	graph_children_release(&c);
}

/*
 * On a big random graph, the dominator of a node must dominate, or be, each of the node's reachable
 * referrers. So every computed dominator really dominates.
 */
static void big_random(void **state)
{
	const uint32_t n = oracle_size(1000000);
	struct oracle_graph g;
	uint32_t *in = oracle_alloc(n, sizeof *in), *out = oracle_alloc(n, sizeof *out);

	(void)state;
	oracle_init(&g, n, 2 * (uint64_t)n);
	for (uint64_t e = 0; e < 2 * (uint64_t)n; e++)
		oracle_edge(&g, oracle_below(n), oracle_below(n));
	for (int i = 0; i < 10; i++)
		oracle_set(g.roots, oracle_below(n));
	oracle_build(&g, false);
	uint32_t *idom = dominators(&g, NULL);
	number_tree(idom, n, in, out);
	for (uint64_t e = 0; e < g.edge_count; e++) {
		const uint32_t from = g.from[e], d = idom[g.to[e]];
		if (in[from] == 0)
			continue;
		assert_int_not_equal(d, g.to[e]);
		assert_true(d == GRAPH_NONE || (in[d] <= in[from] && out[from] <= out[d]));
	}
	free(idom);
	free(in);
	free(out);
	oracle_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(sorted_children),
		cmocka_unit_test(skipped_subtrees),
		cmocka_unit_test(damaged_tables),
		cmocka_unit_test(cancelled),
		cmocka_unit_test(no_nodes),
		cmocka_unit_test(list_of_five_million),
		cmocka_unit_test(ring),
		cmocka_unit_test(ladder),
		cmocka_unit_test(star),
		cmocka_unit_test(chain_with_wide_tail),
		cmocka_unit_test(chains_with_shared_tail),
		cmocka_unit_test(binary_tree),
		cmocka_unit_test(big_random),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
