/*
 * tests/graph/reach_masks_test.c - reachability around several sets, found in one walk, equals
 * reachability around each set alone, on random graphs.
 */
#include "support/graph_oracle.h"

#include "graph/reach_masks.h"

#define GRAPH_COUNT 3000

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, (uint64_t)4 << 30, 1, NULL);
	oracle_start();
	return 0;
}

static void check(struct oracle_graph *g)
{
	bool blocked[GRAPH_MASK_SETS][ORACLE_NODES_MAX] = { { 0 } }, reached[ORACLE_NODES_MAX];
	struct graph_member members[ORACLE_NODES_MAX];
	uint32_t masks[ORACLE_NODES_MAX];
	uint64_t is_member[1] = { 0 };
	const unsigned sets = 1 + oracle_below(GRAPH_MASK_SETS);
	const struct graph_rows *rows = oracle_rows(g, &work);
	struct hdb_error err;
	size_t count = 0;

	for (unsigned s = 0; s < sets; s++)
		for (uint32_t picks = oracle_below(6); picks > 0; picks--)
			blocked[s][oracle_below(g->node_count)] = true;
	for (uint32_t v = 0; v < g->node_count; v++) {
		uint32_t mask = 0;

		for (unsigned s = 0; s < sets; s++)
			mask |= (uint32_t)blocked[s][v] << s;
		if (!mask)
			continue;
		members[count++] = (struct graph_member){ v, mask };
		oracle_set(is_member, v);
	}
	assert_int_equal(
		graph_reach_masks(rows, g->roots,
				  &(struct graph_mask_sets){ members, count, is_member, sets },
				  masks, &err),
		HDB_OK);
	for (unsigned s = 0; s < sets; s++) {
		oracle_reach(g, blocked[s], reached);
		for (uint32_t v = 0; v < g->node_count; v++)
			assert_int_equal(masks[v] >> s & 1, reached[v]);
	}
	for (uint32_t v = 0; v < g->node_count; v++)
		assert_true(sets == GRAPH_MASK_SETS || masks[v] >> sets == 0);
}

static void random_graphs(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < GRAPH_COUNT; i++) {
		struct oracle_graph g;

		oracle_random_graph(&g);
		oracle_build(&g, false);
		check(&g);
		oracle_free(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(random_graphs) };

	return cmocka_run_group_tests(tests, start, NULL);
}
