/*
 * graph/size_order.h - orders nodes by size, largest first; nodes of the same size keep their
 * order.
 *
 * Most sizes in a heap are small. Nodes of small sizes are only counted, so that each node is moved
 * directly to its place in a second pass. The few larger nodes are sorted. Memory: 256 KB, and 16
 * bytes for each large node, whose number is limited.
 */
#ifndef GRAPH_SIZE_ORDER_H
#define GRAPH_SIZE_ORDER_H

#include "base/sort.h"
#include "base/vec.h"

#include <stdbool.h>

/* Sizes below this are counted, because few nodes are larger. */
#define GRAPH_SMALL_SIZES 65536u

struct graph_size_order {
	/*
	 * indexed by small size: number of nodes of this size, and later the place of the next one
	 */
	uint32_t *place;
	struct base_vec large; /* struct base_sort_key */
	/* number of large nodes, including nodes that did not fit */
	uint64_t large_count;
};

/* Initialises an order, which must be released even after a failure. */
int graph_size_order_init(struct graph_size_order *order, struct hdb_error *err);
void graph_size_order_release(struct graph_size_order *order);

/* Records a node with a large size; private. */
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

/* Returns whether there are too many large nodes. If there are, this order cannot be used. */
bool graph_size_order_is_full(const struct graph_size_order *order);

/*
 * Call it when all `node_count` nodes are counted and the order is not full. Puts the large nodes
 * at the start of `node`, which has room for all nodes, and computes the places of the others.
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
