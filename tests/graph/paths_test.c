/*
 * tests/graph/paths_test.c - paths to roots: valid, shortest first, one for every root that is
 * found; skipped edges, budgets, failing access, long paths.
 */
#include "support/graph_oracle.h"

#include "graph/paths.h"
#include "graph/reach.h"

#define GRAPH_COUNT 4000

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, (uint64_t)4 << 30, 1, NULL);
	oracle_start();
	return 0;
}

/* Which references do not count: a hash of both ends decides. */
static uint32_t skip_of_eight;

static bool skipped(uint32_t from, uint32_t to)
{
	return (from * 2654435761u ^ to * 40503u) >> 7 & 1 && (from + to) % 8 < skip_of_eight;
}

static int skip_edge(void *ctx, uint32_t from, uint32_t to, bool *skip, struct hdb_error *err)
{
	(void)ctx;
	(void)err;
	*skip = skipped(from, to);
	return HDB_OK;
}

/*
 * Steps from every node to the target over references that count, not going on beyond roots
 * (but for the target); UINT32_MAX where there is no way, or no root reaches the node.
 */
static void distances(const struct oracle_graph *g, const uint32_t *parent, uint32_t target,
		      uint32_t *distance)
{
	bool changed = true;

	for (uint32_t v = 0; v < g->node_count; v++)
		distance[v] = UINT32_MAX;
	distance[target] = parent[target] == target ? UINT32_MAX : 0;
	while (changed) {
		changed = false;
		for (uint64_t e = 0; e < g->edge_count; e++) {
			const uint32_t from = g->from[e], to = g->to[e], d = distance[to];
			if (d == UINT32_MAX || parent[from] == from || skipped(from, to) ||
			    (to != target && oracle_bit(g->roots, to)))
				continue;
			if (d + 1 < distance[from]) {
				distance[from] = d + 1;
				changed = true;
			}
		}
	}
}

static bool has_edge(const struct oracle_graph *g, uint32_t from, uint32_t to)
{
	for (uint64_t i = g->first[0][from]; i < g->first[0][from + 1]; i++) {
		if (g->target[0][i] == to)
			return true;
	}
	return false;
}

static void check_paths(const struct oracle_graph *g, const struct graph_access *access,
			const uint32_t *parent, uint32_t target)
{
	const struct graph_paths_options opt = { .skip = skip_edge };
	uint32_t distance[ORACLE_NODES_MAX], want = 0, got = 0;
	bool given[ORACLE_NODES_MAX] = { 0 };
	struct graph_paths paths;
	struct hdb_error err;
	const uint32_t *path;
	size_t count, last = 0;
	int rc;

	distances(g, parent, target, distance);
	for (uint32_t v = 0; v < g->node_count; v++)
		want += oracle_bit(g->roots, v) && distance[v] != UINT32_MAX;
	assert_int_equal(graph_paths_init(&paths, access, target, &opt, &err), HDB_OK);
	while ((rc = graph_paths_next(&paths, &path, &count, &err)) == HDB_OK) {
		const uint32_t root = path[count - 1];
		assert_int_equal(path[0], target);
		assert_true(oracle_bit(g->roots, root));
		assert_false(given[root]);
		given[root] = true;
		assert_int_equal(count - 1, distance[root]);
		assert_true(count >= last);
		for (size_t i = 1; i < count; i++) {
			assert_true(has_edge(g, path[i], path[i - 1]));
			assert_false(skipped(path[i], path[i - 1]));
		}
		last = count;
		got++;
	}
	assert_int_equal(rc, HDB_END);
	assert_int_equal(graph_paths_next(&paths, &path, &count, &err), HDB_END);
	assert_int_equal(got, want);
	for (uint32_t i = 0; i < paths.map.count; i++)
		assert_int_not_equal(parent[paths.map.node[i]], paths.map.node[i]);
	graph_paths_release(&paths);
}

/* Without skipping, the first path is as long as the way up the reach tree. */
static void check_first(const struct graph_access *access, const uint32_t *parent, uint32_t target)
{
	struct graph_paths paths;
	struct hdb_error err;
	const uint32_t *path;
	size_t count, depth = 0;

	assert_int_equal(graph_paths_init(&paths, access, target, NULL, &err), HDB_OK);
	if (parent[target] == target) {
		assert_int_equal(graph_paths_next(&paths, &path, &count, &err), HDB_END);
	} else {
		for (uint32_t v = target; v != GRAPH_NONE; v = parent[v])
			depth++;
		assert_int_equal(graph_paths_next(&paths, &path, &count, &err), HDB_OK);
		assert_int_equal(count, depth);
	}
	graph_paths_release(&paths);
}

static void check_budget(const struct graph_access *access, uint32_t target)
{
	struct graph_paths paths;
	struct hdb_error err;
	const uint32_t *path;
	size_t count;
	uint32_t visited;
	int rc;

	assert_int_equal(graph_paths_init(&paths, access, target, NULL, &err), HDB_OK);
	while (graph_paths_next(&paths, &path, &count, &err) == HDB_OK)
		;
	visited = paths.map.count;
	graph_paths_release(&paths);
	if (visited < 2)
		return;
	const struct graph_paths_options opt = { .max_nodes = 1 + oracle_below(visited - 1) };
	assert_int_equal(graph_paths_init(&paths, access, target, &opt, &err), HDB_OK);
	while ((rc = graph_paths_next(&paths, &path, &count, &err)) == HDB_OK)
		assert_true(count <= opt.max_nodes);
	assert_int_equal(rc, GRAPH_BUDGET);
	assert_int_equal(graph_paths_next(&paths, &path, &count, &err), GRAPH_BUDGET);
	graph_paths_release(&paths);
}

static void check_failures(struct oracle_access *a, const struct graph_access *access,
			   uint32_t target)
{
	struct graph_paths paths;
	struct hdb_error err;
	const uint32_t *path;
	size_t count;
	int rc = HDB_EIO;

	for (int call = 1; rc < 0; call++) {
		a->fail_in = call;
		rc = graph_paths_init(&paths, access, target, NULL, &err);
		while (rc == HDB_OK)
			rc = graph_paths_next(&paths, &path, &count, &err);
		assert_true(rc == HDB_EIO || rc == HDB_END);
		graph_paths_release(&paths);
	}
	a->fail_in = 0;
}

static void random_graphs(void **state)
{
	(void)state;
	for (int i = 0; i < (int)oracle_size(GRAPH_COUNT); i++) {
		struct oracle_graph g;
		struct hdb_error err;
		oracle_random_graph(&g);
		oracle_build(&g, true);
		uint32_t *parent = oracle_alloc(g.node_count, sizeof *parent);
		assert_int_equal(
			graph_reach_tree(oracle_rows(&g, &work), g.roots, &work, parent, &err),
			HDB_OK);
		struct oracle_access a = { .graph = &g, .parent = parent };
		const struct graph_access access = oracle_graph_access(&a);
		skip_of_eight = oracle_below(9);
		for (uint32_t v = 0; v < g.node_count; v++) {
			check_paths(&g, &access, parent, v);
			check_first(&access, parent, v);
			check_budget(&access, v);
		}
		if (i % 100 == 0)
			check_failures(&a, &access, oracle_below(g.node_count));
		free(parent);
		oracle_free(&g);
	}
}

static void long_list(void **state)
{
	const uint32_t n = oracle_size(3000000);
	struct oracle_graph g;
	uint32_t *parent = oracle_alloc(n, sizeof *parent);
	struct graph_paths paths;
	struct hdb_error err;
	const uint32_t *path;
	size_t count;

	(void)state;
	oracle_init(&g, n, 2 * (uint64_t)n);
	for (uint32_t v = 0; v + 1 < n; v++) {
		oracle_edge(&g, v, v + 1);
		oracle_edge(&g, v + 1, v);
	}
	oracle_set(g.roots, 0);
	oracle_build(&g, true);
	assert_int_equal(graph_reach_tree(oracle_rows(&g, &work), g.roots, &work, parent, &err),
			 HDB_OK);
	struct oracle_access a = { .graph = &g, .parent = parent };
	const struct graph_access access = oracle_graph_access(&a);
	assert_int_equal(graph_paths_init(&paths, &access, n - 1, NULL, &err), HDB_OK);
	assert_int_equal(graph_paths_next(&paths, &path, &count, &err), HDB_OK);
	assert_int_equal(count, n);
	assert_int_equal(path[1], n - 2);
	assert_int_equal(path[n - 1], 0);
	assert_int_equal(graph_paths_next(&paths, &path, &count, &err), HDB_END);
	graph_paths_release(&paths);
	assert_int_equal(graph_paths_init(&paths, &access, n, NULL, &err), HDB_EUSAGE);
	graph_paths_release(&paths);
	free(parent);
	oracle_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(long_list),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
