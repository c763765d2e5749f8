/*
 * graph/size_order.h - sorts nodes by size, largest first. Nodes of the same size keep their order.
 *
 * Most nodes of a heap are small. Small nodes are only counted, so that a second pass can move each
 * of them directly to its place. The few larger nodes are sorted. Memory: 256 KB, and 16 bytes for
 * each large node, whose number is limited.
 */
#ifndef GRAPH_SIZE_ORDER_H
#define GRAPH_SIZE_ORDER_H

#include "base/sort.h"
#include "base/vec.h"

#include <stdbool.h>

/* Sizes below this limit are counted. Few nodes are larger. */
#define GRAPH_SMALL_SIZES 65536u

struct graph_size_order {
	/*
	 * indexed by small size: number of nodes of this size, and later the place of the next such
	 * node
	 */
	uint32_t *place;
	struct base_vec large; /* struct base_sort_key */
	/* number of large nodes; if it exceeds LARGE_MAX, `large` is empty */
	uint64_t large_count;
};

/* Initialises an order, which must be released even after a failure. */
int graph_size_order_init(struct graph_size_order *order, struct hdb_error *err);
void graph_size_order_release(struct graph_size_order *order);

/* Internal function: records a node with a large size. */
int graph_size_order_large(struct graph_size_order *order, uint32_t node, uint64_t size,
			   struct hdb_error *err);

/* Counts a node. Call it for each node once, in order. */
static inline int graph_size_order_count(struct graph_size_order *order, uint32_t node,
					 uint64_t size, struct hdb_error *err)
{
	if (size >= GRAPH_SMALL_SIZES)
		return graph_size_order_large(order, node, size, err);
	order->place[size]++;
	return HDB_OK;
}

/* Returns whether there are too many large nodes, in which case this order cannot be used. */
bool graph_size_order_is_full(const struct graph_size_order *order);

/*
 * Must be called after all `node_count` nodes have been counted, if the order is not full. Moves
 * the large nodes to the start of `node`, which must have room for all nodes, and computes the
 * places of the other nodes.
 */
int graph_size_order_start(struct graph_size_order *order, uint32_t *node, uint32_t node_count,
			   struct hdb_error *err);

/* Moves a node to its place. Must be called for each counted node, in the same order. */
static inline void graph_size_order_place(struct graph_size_order *order, uint32_t *node,
					  uint32_t v, uint64_t size)
{
	if (size < GRAPH_SMALL_SIZES)
		node[order->place[size]++] = v;
}

#endif
