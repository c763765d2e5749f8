/*
 * graph/node_map.h - a set of nodes that numbers its members 0, 1, 2 and so on, in the order in
 * which they are added.
 *
 * The size of the map depends on the number of members and not on the size of the graph, so it is
 * suitable for walks over a small part of a graph.
 */
#ifndef GRAPH_NODE_MAP_H
#define GRAPH_NODE_MAP_H

#include "graph/access.h"

struct graph_node_map {
	uint32_t *node; /* members, indexed by number */
	uint32_t count, limit;
	uint32_t *slot; /* hash table of numbers, at most half full; GRAPH_NONE marks a free slot */
	uint64_t slots; /* a power of two, or 0 */
};

/* Returns the number of `node`, or GRAPH_NONE if it is not a member. */
uint32_t graph_node_map_find(const struct graph_node_map *map, uint32_t node);

/*
 * Adds `node` unless it is already a member, and sets *number to its number. Returns HDB_OK if it
 * was added, and HDB_END if it was already a member.
 */
int graph_node_map_add(struct graph_node_map *map, uint32_t node, uint32_t *number,
		       struct hdb_error *err);

/* Frees the memory and zeroes the map. A zeroed map is empty. */
void graph_node_map_release(struct graph_node_map *map);

#endif
