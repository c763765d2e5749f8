/*
 * graph/node_map.h - a set of nodes that numbers its members 0, 1, 2 ... in the order in which
 * they came.
 *
 * For walks of a small part of a graph: its size goes with the members, not with the graph.
 */
#ifndef GRAPH_NODE_MAP_H
#define GRAPH_NODE_MAP_H

#include "graph/access.h"

struct graph_node_map {
	uint32_t *node; /* the members, by number */
	uint32_t count, limit;
	uint32_t *slot; /* hash table of numbers, at most half full; GRAPH_NONE: free */
	uint64_t slots; /* a power of two, or 0 */
};

/* The number of `node`, or GRAPH_NONE if it is no member. */
uint32_t graph_node_map_find(const struct graph_node_map *map, uint32_t node);

/*
 * Adds `node` unless it is there; *number is its number. HDB_OK if added, HDB_END if it was
 * there.
 */
int graph_node_map_add(struct graph_node_map *map, uint32_t node, uint32_t *number,
		       struct hdb_error *err);

/* Frees all; a map starts as zeros, and is so again. */
void graph_node_map_release(struct graph_node_map *map);

#endif
