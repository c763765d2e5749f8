/*
 * graph/preorder.h - assigns preorder numbers to the inner nodes of a tree, whose parents are given
 * in any order.
 *
 * It is intended for trees that consist mostly of leaves and are too large for an array of nodes. A
 * node takes one bit, and an inner node 8 more bytes. The children of a node form a linked list.
 * The walk needs no stack, because the link of the last child leads back to the parent. The walk
 * replaces links with numbers. The order of siblings is arbitrary and depends on thread scheduling.
 */
#ifndef GRAPH_PREORDER_H
#define GRAPH_PREORDER_H

#include "graph/access.h"
#include "base/rank_bitset.h"

/* An inner node. It contains links while the tree is being built, and numbers afterwards. */
struct graph_preorder_link {
	/*
	 * first child, or GRAPH_NONE if there is no inner child; later the preorder number of the
	 * node
	 */
	_Atomic uint32_t first;
	/*
	 * Next sibling or, for the last sibling, the parent (GRAPH_NONE on the top level). Later
	 * the end of the node's subtree, which is the number after the last one in the subtree.
	 */
	_Atomic uint32_t next;
};

struct graph_preorder {
	struct base_work *work;
	struct base_ranks inner;          /* nodes */
	struct graph_preorder_link *link; /* indexed by position among the inner nodes */
	_Atomic uint64_t *is_last; /* bit set, same index: whether the node has no next sibling */
	_Atomic uint32_t top;      /* first inner node of the top level */
	struct base_big link_big, last_big;
};

/*
 * Prepares a tree without inner nodes. `work` is borrowed. The caller must release *order even
 * after a failure.
 */
int graph_preorder_init(struct graph_preorder *order, uint32_t node_count, struct base_work *work,
			struct hdb_error *err);
void graph_preorder_release(struct graph_preorder *order);

/* Step 1: marks a node that has children. May be called on any thread. */
static inline void graph_preorder_mark(struct graph_preorder *order, uint32_t node)
{
	base_ranks_put(&order->inner, node);
}

static inline bool graph_preorder_is_inner(const struct graph_preorder *order, uint32_t node)
{
	return base_ranks_has(&order->inner, node);
}

/* Step 2, after all inner nodes have been marked: allocates memory for them. */
int graph_preorder_count(struct graph_preorder *order, struct hdb_error *err);

/* Returns the index of a node among the inner nodes. */
static inline uint32_t graph_preorder_place(const struct graph_preorder *order, uint32_t node)
{
	return base_ranks_before(&order->inner, node);
}

/* Prefetches the data that graph_preorder_place and graph_preorder_mark read. */
static inline void graph_preorder_prefetch(const struct graph_preorder *order, uint32_t node)
{
	base_ranks_prefetch(&order->inner, node);
}

/*
 * Step 3, once for each inner node: sets its parent, which must have been marked. Both are places
 * among the inner nodes. GRAPH_NONE stands for the top level. May be called on any thread.
 */
void graph_preorder_link(struct graph_preorder *order, uint32_t place, uint32_t parent);

/*
 * Step 4: numbers the inner nodes from 0 on, each before its descendants. Fails with HDB_ECORRUPT,
 * without a message, if some inner nodes are not below the top level.
 */
int graph_preorder_number(struct graph_preorder *order, struct hdb_error *err);

/* Return the number of an inner node, and the end of the numbers in its subtree. */
static inline uint32_t graph_preorder_first(const struct graph_preorder *order, uint32_t place)
{
	return atomic_load_explicit(&order->link[place].first, memory_order_relaxed);
}

static inline uint32_t graph_preorder_end(const struct graph_preorder *order, uint32_t place)
{
	return atomic_load_explicit(&order->link[place].next, memory_order_relaxed);
}

#endif
