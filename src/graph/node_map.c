/* graph/node_map.c - a hash table with open addressing for an array of members. */
#include "graph/node_map.h"

#include "base/scope.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64

/*
 * Returns the first slot to search for a node. Uses the high bits of a product, because the low
 * bits of node numbers repeat.
 */
static inline uint64_t slot_of(const struct graph_node_map *map, uint32_t node)
{
	return (node * 0x9e3779b97f4a7c15u >> 20) & (map->slots - 1);
}

/* Returns the slot that contains `node`, or the free slot in which it belongs. */
static inline uint64_t find_slot(const struct graph_node_map *map, uint32_t node)
{
	uint64_t s = slot_of(map, node);

	while (map->slot[s] != GRAPH_NONE && map->node[map->slot[s]] != node)
		s = (s + 1) & (map->slots - 1);
	return s;
}

uint32_t graph_node_map_find(const struct graph_node_map *map, uint32_t node)
{
	return map->slots ? map->slot[find_slot(map, node)] : GRAPH_NONE;
}

static int grow_slots(struct graph_node_map *map, struct hdb_error *err)
{
	const uint64_t slots = map->slots ? 4 * map->slots : SLOTS_MIN;
	uint32_t *slot;

	TRY(BASE_ALLOC(slot, slots, "set of nodes", err));
	memset(slot, 0xff, slots * sizeof *slot);
	free(map->slot);
	map->slot = slot;
	map->slots = slots;
	for (uint32_t i = 0; i < map->count; i++)
		slot[find_slot(map, map->node[i])] = i;
	return HDB_OK;
}

static int grow_nodes(struct graph_node_map *map, struct hdb_error *err)
{
	const uint64_t limit = map->limit ? 2 * (uint64_t)map->limit : SLOTS_MIN;
	uint32_t *node;

	if (limit > UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many nodes in a set (limit %" PRIu32 ")",
				map->count);
	node = realloc(map->node, limit * sizeof *node);
	if (!node)
		return hdb_fail_memory(err, "set of nodes", limit * sizeof *node);
	map->node = node;
	map->limit = (uint32_t)limit;
	return HDB_OK;
}

int graph_node_map_add(struct graph_node_map *map, uint32_t node, uint32_t *number,
		       struct hdb_error *err)
{
	uint64_t s;

	if (2 * ((uint64_t)map->count + 1) > map->slots)
		TRY(grow_slots(map, err));
	s = find_slot(map, node);
	if (map->slot[s] != GRAPH_NONE) {
		*number = map->slot[s];
		return HDB_END;
	}
	if (map->count == map->limit)
		TRY(grow_nodes(map, err));
	assert(map->count < map->limit);
	map->node[map->count] = node;
	map->slot[s] = *number = map->count++;
	return HDB_OK;
}

void graph_node_map_release(struct graph_node_map *map)
{
	free(map->node);
	free(map->slot);
	*map = (struct graph_node_map){ 0 };
}
