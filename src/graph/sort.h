/*
 * graph/sort.h - linear-time sorting of node lists.
 */
#ifndef GRAPH_SORT_H
#define GRAPH_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A node and what it is sorted by. */
struct graph_key {
	uint64_t key;
	uint32_t node;
};

/* Sorts `keys` by key ascending, stable. `spare` has room for as many and is overwritten. */
void graph_sort_keys(struct graph_key *keys, struct graph_key *spare, size_t count);

/* Sorts nodes ascending; `spare` has room for as many and is overwritten. */
void graph_sort_nodes(uint32_t *nodes, uint32_t *spare, size_t count);

#endif
