/*
 * tests/graph/node_map_test.c - a set of nodes numbers its members in the order in which they were
 * added.
 */
#include "graph/node_map.h"
#include "support/graph_oracle.h"

#include <assert.h>

#define NODES 3000u

/* Checks the invariant: each member can be found by its number. */
static void map_check(const struct graph_node_map *map)
{
	assert(map->count <= map->limit);
	assert((map->slots & (map->slots - 1)) == 0);
	assert(2 * (uint64_t)map->count <= map->slots);
	for (uint32_t i = 0; i < map->count; i++)
		assert(graph_node_map_find(map, map->node[i]) == i);
}

static void random_nodes(void **state)
{
	struct graph_node_map map = { 0 };
	uint32_t number[NODES], count = 0;
	struct hdb_error err;

	(void)state;
	memset(number, 0xff, sizeof(number));
	map_check(&map);
	assert_int_equal(graph_node_map_find(&map, 0), GRAPH_NONE);
	for (uint32_t i = 0; i < 4 * NODES; i++) {
		const uint32_t node = (uint32_t)oracle_below(NODES);
		const bool is_new = number[node] == UINT32_MAX;
		uint32_t got;

		assert_int_equal(graph_node_map_add(&map, node, &got, &err),
				 is_new ? HDB_OK : HDB_END);
		if (is_new)
			number[node] = count++;
		assert_int_equal(got, number[node]);
		if (i % 512 == 0)
			map_check(&map);
	}
	map_check(&map);
	for (uint32_t node = 0; node < NODES; node++)
		assert_int_equal(graph_node_map_find(&map, node),
				 number[node] == UINT32_MAX ? GRAPH_NONE : number[node]);
	graph_node_map_release(&map);
	map_check(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(random_nodes) };

	oracle_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
