/*
 * tests/graph/reach_test.c - the breadth-first tree, the cheapest paths (all, and those to single
 * nodes) and marking around a set, on random graphs, and the time that they take on big shapes.
 */
#include "support/graph_oracle.h"

#include "graph/reach.h"

#define GRAPH_COUNT 5000
#define SHAPE_SECONDS 10.0

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, (uint64_t)4 << 30, 1, NULL);
	oracle_start();
	return 0;
}

/* Depth by relaxing all edges until nothing changes; UINT32_MAX where not reached. */
static void depths(const struct oracle_graph *g, uint32_t *depth)
{
	bool changed = true;

	for (uint32_t v = 0; v < g->node_count; v++)
		depth[v] = oracle_bit(g->roots, v) ? 0 : UINT32_MAX;
	while (changed) {
		changed = false;
		for (uint64_t e = 0; e < g->edge_count; e++) {
			const uint32_t d = depth[g->from[e]];
			if (d != UINT32_MAX && d + 1 < depth[g->to[e]]) {
				depth[g->to[e]] = d + 1;
				changed = true;
			}
		}
	}
}

static bool has_edge(const struct oracle_graph *g, uint32_t from, uint32_t to)
{
	for (uint64_t e = 0; e < g->edge_count; e++) {
		if (g->from[e] == from && g->to[e] == to)
			return true;
	}
	return false;
}

/* ---- the cheapest paths ---- */

#define KINDS 5u

static uint32_t own_target;

static uint8_t root_cost(void *ctx, uint32_t node)
{
	(void)ctx;
	return (uint8_t)(1 + node % 7);
}

/* Nodes of the last kind have one target of their own. */
static int own_targets(void *ctx, uint32_t node, const uint32_t **targets, size_t *count,
		       struct hdb_error *err)
{
	const uint32_t n = *(const uint32_t *)ctx;

	(void)err;
	own_target = (node * 3 + 1) % n;
	*targets = &own_target;
	*count = 1;
	return HDB_OK;
}

/* What a reference costs, said once more. */
static uint32_t cost_of(const struct graph_costs *c, uint32_t from, uint32_t to)
{
	const uint32_t n = *(const uint32_t *)c->ctx;

	if (c->nodes[from].kind >= c->first_mixed && to == (from * 3 + 1) % n)
		return c->own_cost;
	return c->cost[c->nodes[from].kind * KINDS + c->nodes[to].kind];
}

/* The search for single paths: what `row` needs. */
struct near {
	uint32_t node_count; /* first, for own_targets */
	const struct graph_rows *rows;
	struct graph_cost_node *nodes;
	const struct graph_cost_node *kinds; /* all kinds, which `row` copies */
	struct base_vec targets;             /* uint32_t */
};

static int near_row(void *ctx, uint32_t node, struct graph_near_row *out, struct hdb_error *err)
{
	struct near *near = ctx;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = graph_rows_get(near->rows, node, target, &row);

	near->targets.count = 0;
	for (unsigned i = 0; i < count; i++)
		TRY(base_vec_push(&near->targets, &target[i], sizeof(*target), err));
	for (uint64_t i = row.at; i < row.end; i++) {
		const uint32_t to = graph_rows_long(near->rows, i);

		TRY(base_vec_push(&near->targets, &to, sizeof(to), err));
	}
	*out = (struct graph_near_row){ near->targets.data, near->targets.count, row.at < row.end };
	near->nodes[node].kind = near->kinds[node].kind;
	for (size_t i = 0; i < out->count; i++)
		near->nodes[out->targets[i]].kind = near->kinds[out->targets[i]].kind;
	return HDB_OK;
}

/*
 * Whatever the order in which nodes are searched, their parents are those of the whole tree.
 * Returns the number of nodes whose parent is known.
 */
static uint32_t check_near(struct oracle_graph *g, const struct graph_costs *all,
			   const uint32_t *parent, uint64_t references_max)
{
	const uint32_t n = g->node_count, step = oracle_below(n) | 1;
	struct near ctx = { .node_count = n,
			    .rows = oracle_rows(g, &work),
			    .nodes = calloc(n, sizeof(*ctx.nodes)),
			    .kinds = all->nodes };
	uint32_t *found = malloc(n * sizeof *found), known_count = 0;
	struct graph_near_options options = { .costs = *all,
					      .root_bits = g->roots,
					      .work = &work,
					      .node_count = n,
					      .references_max = references_max,
					      .parent = found,
					      .row = near_row };
	struct graph_near *near = NULL;
	struct hdb_error err;
	bool is_known;

	assert_non_null(ctx.nodes);
	assert_non_null(found);
	options.costs.nodes = ctx.nodes;
	options.costs.ctx = &ctx;
	assert_int_equal(graph_near_open(&options, &near, &err), HDB_OK);
	for (uint32_t i = 0, v = step % n; i < n; i++, v = (v + step) % n) {
		assert_int_equal(graph_near_find(near, v, UINT64_MAX, &is_known, &err), HDB_OK);
		known_count += is_known;
		assert_true(is_known || references_max < UINT64_MAX);
		if (is_known)
			assert_int_equal(graph_near_has(near, v) ? found[v] : v, parent[v]);
		else if (graph_near_has(near, v))
			assert_int_not_equal(parent[v], v);
	}
	assert_int_equal(graph_near_find(near, GRAPH_NONE, UINT64_MAX, &is_known, &err), HDB_OK);
	assert_true(is_known || references_max < UINT64_MAX);
	for (uint32_t v = 0; v < n; v++)
		ctx.nodes[v].kind = all->nodes[v].kind;
	assert_int_equal(graph_near_finish(near, ctx.rows, &err), HDB_OK);
	assert_memory_equal(found, parent, n * sizeof(*found));
	graph_near_close(near);
	base_vec_release(&ctx.targets);
	free(ctx.nodes);
	free(found);
	return known_count;
}

/* Relaxes all edges until nothing changes, and compares. */
static void check_cheapest(struct oracle_graph *g, const struct graph_rows *rows)
{
	struct graph_cost_node nodes[ORACLE_NODES_MAX];
	uint8_t cost[KINDS * KINDS];
	uint32_t ctx = g->node_count;
	const struct graph_costs costs = { .nodes = nodes,
					   .kinds = KINDS,
					   .cost = cost,
					   .root = root_cost,
					   .first_mixed = KINDS - 1,
					   .own_cost = 1,
					   .own = own_targets,
					   .ctx = &ctx };
	uint32_t best[ORACLE_NODES_MAX], parent[ORACLE_NODES_MAX];
	struct hdb_error err;
	bool changed = true;

	for (unsigned i = 0; i < KINDS * KINDS; i++)
		cost[i] = (uint8_t)(1 + (i * 29 + g->edge_count) % GRAPH_COST_MAX);
	for (uint32_t v = 0; v < g->node_count; v++) {
		nodes[v].kind = (uint8_t)((v * 2654435761u >> 7) % KINDS);
		best[v] = oracle_bit(g->roots, v) ? root_cost(NULL, v) : UINT32_MAX;
	}
	while (changed) {
		changed = false;
		for (uint64_t e = 0; e < g->edge_count; e++) {
			const uint32_t from = g->from[e], to = g->to[e];

			if (best[from] == UINT32_MAX ||
			    best[from] + cost_of(&costs, from, to) >= best[to])
				continue;
			best[to] = best[from] + cost_of(&costs, from, to);
			changed = true;
		}
	}
	assert_int_equal(graph_cheapest_tree(rows, g->roots, &costs, parent, &err), HDB_OK);
	(void)check_near(g, &costs, parent, UINT64_MAX);
	(void)check_near(g, &costs, parent, oracle_below((uint32_t)g->edge_count + 1));
	for (uint32_t v = 0; v < g->node_count; v++) {
		if (best[v] == UINT32_MAX)
			assert_int_equal(parent[v], v);
		else if (parent[v] == GRAPH_NONE)
			assert_int_equal(best[v], root_cost(NULL, v));
		else
			assert_int_equal(best[v], best[parent[v]] + cost_of(&costs, parent[v], v));
	}
}

static void check_tree(const struct oracle_graph *g, const struct graph_rows *rows)
{
	uint32_t depth[ORACLE_NODES_MAX], parent[ORACLE_NODES_MAX], again[ORACLE_NODES_MAX];
	struct hdb_error err;

	depths(g, depth);
	assert_int_equal(graph_reach_tree(rows, g->roots, &work, parent, &err), HDB_OK);
	assert_int_equal(graph_reach_tree(rows, g->roots, &work, again, &err), HDB_OK);
	assert_memory_equal(parent, again, g->node_count * sizeof *parent);
	for (uint32_t v = 0; v < g->node_count; v++) {
		if (depth[v] == UINT32_MAX) {
			assert_int_equal(parent[v], v);
		} else if (depth[v] == 0) {
			assert_int_equal(parent[v], GRAPH_NONE);
		} else {
			assert_int_equal(depth[parent[v]], depth[v] - 1);
			assert_true(has_edge(g, parent[v], v));
		}
	}
}

static void check_around(const struct oracle_graph *g, const struct graph_rows *rows)
{
	bool blocked[ORACLE_NODES_MAX] = { 0 }, reached[ORACLE_NODES_MAX];
	uint64_t blocked_bits[1] = { 0 }, bits[1] = { ~(uint64_t)0 };
	const uint32_t picks = oracle_below(6);
	struct hdb_error err;

	for (uint32_t i = 0; i < picks; i++) {
		const uint32_t v = oracle_below(g->node_count);
		blocked[v] = true;
		oracle_set(blocked_bits, v);
	}
	oracle_reach(g, blocked, reached);
	assert_int_equal(
		graph_reach_around(rows, g->roots, picks ? blocked_bits : NULL, bits, &err),
		HDB_OK);
	for (uint32_t v = 0; v < g->node_count; v++)
		assert_int_equal(oracle_bit(bits, v), reached[v]);
}

/* What v reaches, itself included. */
static void reach_from(const struct oracle_graph *g, uint32_t v, bool *reached)
{
	bool changed = true;

	memset(reached, 0, ORACLE_NODES_MAX * sizeof *reached);
	reached[v] = true;
	while (changed) {
		changed = false;
		for (uint64_t e = 0; e < g->edge_count; e++) {
			if (reached[g->from[e]] && !reached[g->to[e]])
				reached[g->to[e]] = changed = true;
		}
	}
}

/*
 * Each node that the roots do not reach has an orphan before it, or is one; and no node reaches an
 * orphan but those that the orphan reaches, of which none is an orphan, too: one of each group of
 * cycles that nothing else leads to.
 */
static void check_orphans(const struct oracle_graph *g, const struct graph_rows *rows)
{
	bool reaches[ORACLE_NODES_MAX][ORACLE_NODES_MAX], by_roots[ORACLE_NODES_MAX] = { 0 };
	uint64_t orphans[1] = { ~(uint64_t)0 };
	struct hdb_error err;

	assert_int_equal(graph_reach_orphans(rows, g->roots, &work, orphans, &err), HDB_OK);
	for (uint32_t v = 0; v < g->node_count; v++) {
		reach_from(g, v, reaches[v]);
		for (uint32_t to = 0; to < g->node_count; to++)
			by_roots[to] |= oracle_bit(g->roots, v) && reaches[v][to];
	}
	assert_true(g->node_count == 64 || orphans[0] >> g->node_count == 0);
	for (uint32_t v = 0; v < g->node_count; v++) {
		bool is_covered = by_roots[v];

		for (uint32_t o = 0; o < g->node_count; o++)
			is_covered |= oracle_bit(orphans, o) && reaches[o][v];
		assert_true(is_covered);
		if (!oracle_bit(orphans, v))
			continue;
		assert_false(by_roots[v]);
		for (uint32_t o = 0; o < g->node_count; o++) {
			assert_true(!reaches[o][v] || reaches[v][o]);
			assert_true(o == v || !reaches[v][o] || !oracle_bit(orphans, o));
		}
	}
}

static void random_graphs(void **state)
{
	(void)state;
	for (int i = 0; i < (int)oracle_size(GRAPH_COUNT); i++) {
		struct oracle_graph g;
		oracle_random_graph(&g);
		oracle_build(&g, false);
		const struct graph_rows *rows = oracle_rows(&g, &work);
		check_tree(&g, rows);
		check_cheapest(&g, rows);
		check_around(&g, rows);
		check_orphans(&g, rows);
		oracle_free(&g);
	}
	assert_int_equal(work.memory_used, 0);
}

/* Roots come ascending, and of two nodes on a level the one met first is the parent. */
static void order(void **state)
{
	struct oracle_graph g;
	uint32_t parent[6];
	struct hdb_error err;

	(void)state;
	oracle_init(&g, 6, 6);
	oracle_set(g.roots, 4);
	oracle_set(g.roots, 1);
	oracle_edge(&g, 4, 0);
	oracle_edge(&g, 1, 0);
	oracle_edge(&g, 1, 4);
	oracle_edge(&g, 4, 3);
	oracle_edge(&g, 0, 2);
	oracle_edge(&g, 3, 2);
	oracle_build(&g, false);
	const struct graph_rows *rows = oracle_rows(&g, &work);
	assert_int_equal(graph_reach_tree(rows, g.roots, &work, parent, &err), HDB_OK);
	assert_int_equal(parent[0], 1);
	assert_int_equal(parent[1], GRAPH_NONE);
	assert_int_equal(parent[2], 0);
	assert_int_equal(parent[3], 4);
	assert_int_equal(parent[4], GRAPH_NONE);
	assert_int_equal(parent[5], 5);
	oracle_free(&g);
}

static void big_shapes(void **state)
{
	const uint32_t n = oracle_size(5000000);
	struct oracle_graph g;
	uint32_t *parent = oracle_alloc(n, sizeof *parent);
	struct hdb_error err;

	(void)state;
	/* A list whose nodes all refer to its first half's end, too. */
	oracle_init(&g, n, 2 * (uint64_t)n);
	for (uint32_t v = 0; v + 1 < n; v++) {
		oracle_edge(&g, v, v + 1);
		if (v >= n / 2)
			oracle_edge(&g, v, n / 2);
	}
	oracle_set(g.roots, 0);
	oracle_build(&g, false);
	const struct graph_rows *rows = oracle_rows(&g, &work);
	const clock_t before = clock();
	assert_int_equal(graph_reach_tree(rows, g.roots, &work, parent, &err), HDB_OK);
	assert_true((double)(clock() - before) / CLOCKS_PER_SEC < SHAPE_SECONDS);
	for (uint32_t v = 1; v < n; v++)
		assert_int_equal(parent[v], v - 1);
	free(parent);
	oracle_free(&g);
}

/* A kind of find_shared's nodes that may be leaves. */
#define LEAF_KIND 2u

static uint8_t kind_at(uint32_t v)
{
	return (uint8_t)((v * 2654435761u >> 7) % KINDS);
}

/* The tree of a graph whose buckets are large, found on so many threads. */
static void find_shared(struct oracle_graph *g, unsigned threads, bool has_leaves, uint32_t *parent)
{
	static const uint8_t cost[] = { 1, 2, 1, 1, 3, 1, 2, 2, 1, 1, 4, 1, 1,
					2, 1, 1, 1, 2, 3, 1, 2, 1, 1, 1, 1 };
	struct graph_cost_node *nodes = calloc(g->node_count, sizeof *nodes);
	uint32_t ctx = g->node_count;
	const struct graph_costs costs = { .nodes = nodes,
					   .kinds = KINDS,
					   .cost = cost,
					   .first_leaf = LEAF_KIND,
					   .end_leaf = has_leaves ? LEAF_KIND + 1 : LEAF_KIND,
					   .root = root_cost,
					   .first_mixed = KINDS - 1,
					   .own_cost = 1,
					   .own = own_targets,
					   .ctx = &ctx };
	struct hdb_error err;

	assert_non_null(nodes);
	for (uint32_t v = 0; v < g->node_count; v++)
		nodes[v].kind = kind_at(v);
	work.threads = threads;
	assert_int_equal(graph_cheapest_tree(oracle_rows(g, &work), g->roots, &costs, parent, &err),
			 HDB_OK);
	work.threads = 1;
	if (threads == 1)
		assert_int_equal(check_near(g, &costs, parent, UINT64_MAX), g->node_count);
	free(nodes);
}

/* Whatever the threads, of paths that cost the same the one found first is taken. */
static void threads(void **state)
{
	const uint32_t n = 500000;
	uint32_t *alone = calloc(n, sizeof *alone), *shared = calloc(n, sizeof *shared);
	struct oracle_graph g;

	(void)state;
	assert_non_null(alone);
	assert_non_null(shared);
	oracle_init(&g, n, 4 * (uint64_t)n);
	for (uint32_t v = 0; v < n; v++)
		for (unsigned e = 0; e < 3; e++)
			oracle_edge(&g, v, oracle_below(n));
	/* Long rows, and one that is longer than what a thread takes. */
	for (uint32_t i = 0; i < n; i++)
		oracle_edge(&g, i < n / 2 ? 7 : i / 100, oracle_below(n));
	for (uint32_t v = 0; v < 20; v++)
		oracle_set(g.roots, v * 1000);
	oracle_build(&g, false);
	find_shared(&g, 1, false, alone);
	for (unsigned count = 2; count <= 5; count++) {
		find_shared(&g, count, false, shared);
		assert_memory_equal(alone, shared, n * sizeof *alone);
	}
	free(alone);
	free(shared);
	oracle_free(&g);
}

/* Leaves are found on the same paths as others. Only they refer to the node of their class. */
static void leaves(void **state)
{
	const uint32_t n = 200000, class_node = n - 1;
	uint32_t *plain = calloc(n, sizeof *plain), *quick = calloc(n, sizeof *quick);
	struct oracle_graph g;

	(void)state;
	assert_non_null(plain);
	assert_non_null(quick);
	assert_int_not_equal(kind_at(class_node), LEAF_KIND);
	oracle_init(&g, n, 3 * (uint64_t)n);
	for (uint32_t v = 0; v < n; v++)
		for (unsigned e = 0; e < (kind_at(v) == LEAF_KIND ? 1 : 3); e++)
			oracle_edge(&g, v,
				    kind_at(v) == LEAF_KIND ? class_node :
							      oracle_below(class_node));
	oracle_set(g.roots, 0);
	oracle_set(g.roots, 1000);
	oracle_build(&g, false);
	find_shared(&g, 1, false, plain);
	for (unsigned count = 1; count <= 3; count++) {
		find_shared(&g, count, true, quick);
		assert_memory_equal(plain, quick, n * sizeof *plain);
	}
	free(plain);
	free(quick);
	oracle_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs), cmocka_unit_test(order),
		cmocka_unit_test(big_shapes),    cmocka_unit_test(threads),
		cmocka_unit_test(leaves),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
