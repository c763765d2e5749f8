/*
 * graph/size_order.h - nodes by size, largest first, and of one size in the order in which they
 * come.
 *
 * Of heaps most sizes are small: those are counted, so that each node has its place when it comes
 * again, and the few larger ones are sorted. Memory: 256 KB, and 16
 * bytes a large node, of which there is a limit.
 */
#ifndef GRAPH_SIZE_ORDER_H
#define GRAPH_SIZE_ORDER_H

#include "base/sort.h"
#include "base/vec.h"

#include <stdbool.h>

/* Sizes below this are counted: few nodes are larger. */
#define GRAPH_SMALL_SIZES 65536u

struct graph_size_order {
	uint32_t *place;       /* by small size: how many have it; then where the next one goes */
	struct base_vec large; /* struct base_sort_key */
	uint64_t large_count;  /* whether they are there or too many */
};

/* Release it in any case. */
int graph_size_order_init(struct graph_size_order *order, struct hdb_error *err);
void graph_size_order_release(struct graph_size_order *order);

/* Notes a node that has a large size; private. */
int graph_size_order_large(struct graph_size_order *order, uint32_t node, uint64_t size,
			   struct hdb_error *err);

/* Counts a node: each once, in order. */
static inline int graph_size_order_count(struct graph_size_order *order, uint32_t node,
					 uint64_t size, struct hdb_error *err)
{
	if (size >= GRAPH_SMALL_SIZES)
		return graph_size_order_large(order, node, size, err);
	order->place[size]++;
	return HDB_OK;
}

/* Whether more nodes are large than are kept: then this is no way to sort them. */
bool graph_size_order_is_full(const struct graph_size_order *order);

/*
 * When all `node_count` nodes are counted and the order is not full: puts the large ones at the
 * start of `node`, which has room for all, and makes places for the others.
 */
int graph_size_order_start(struct graph_size_order *order, uint32_t *node, uint32_t node_count,
			   struct hdb_error *err);

/* Puts a node into its place: each that was counted, in the same order. */
static inline void graph_size_order_place(struct graph_size_order *order, uint32_t *node,
					  uint32_t v, uint64_t size)
{
	if (size < GRAPH_SMALL_SIZES)
		node[order->place[size]++] = v;
}

#endif
