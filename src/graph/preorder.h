/*
 * graph/preorder.h - preorder numbers of the inner nodes of a tree, from its nodes' parents in any
 * order.
 *
 * For trees whose most nodes are leaves, and which fit in no memory node by node: a node takes a
 * bit, an inner node 8 bytes more. Children of a node are linked to a list; the walk needs no
 * stack, since the last child's link leads back to the parent, and leaves its numbers where the
 * links were. The order of siblings is any: it differs with the threads.
 */
#ifndef GRAPH_PREORDER_H
#define GRAPH_PREORDER_H

#include "graph/access.h"
#include "base/rank_bitset.h"

/* An inner node: links while the tree is made, then numbers. */
struct graph_preorder_link {
	_Atomic uint32_t first; /* child, GRAPH_NONE: no inner one; then: its preorder number */
	/*
	 * sibling; of the last one the parent, GRAPH_NONE: the top; then: the number after the last
	 * one of its subtree
	 */
	_Atomic uint32_t next;
};

struct graph_preorder {
	struct base_work *work;
	struct base_ranks inner;          /* nodes */
	struct graph_preorder_link *link; /* by place among the inner nodes */
	_Atomic uint64_t *is_last;        /* by place: no sibling follows */
	_Atomic uint32_t top;             /* first inner node of the top level */
	struct base_big link_big, last_big;
};

/* A tree of leaves. `work` is lent. Release it in any case. */
int graph_preorder_init(struct graph_preorder *order, uint32_t node_count, struct base_work *work,
			struct hdb_error *err);
void graph_preorder_release(struct graph_preorder *order);

/* First: a node, below node_count, has children. On any thread. */
static inline void graph_preorder_mark(struct graph_preorder *order, uint32_t node)
{
	base_ranks_put(&order->inner, node);
}

static inline bool graph_preorder_is_inner(const struct graph_preorder *order, uint32_t node)
{
	return base_ranks_has(&order->inner, node);
}

/* Second, once all are marked: makes room for them. */
int graph_preorder_count(struct graph_preorder *order, struct hdb_error *err);

/* Place of a node among the inner ones: how many come before it. */
static inline uint32_t graph_preorder_place(const struct graph_preorder *order, uint32_t node)
{
	return base_ranks_before(&order->inner, node);
}

/* Prefetches what this, or graph_preorder_mark, reads. */
static inline void graph_preorder_prefetch(const struct graph_preorder *order, uint32_t node)
{
	base_ranks_prefetch(&order->inner, node);
}

/*
 * Third, for each inner node once: its parent, which was marked, as places; GRAPH_NONE: the top. On
 * any thread.
 */
void graph_preorder_link(struct graph_preorder *order, uint32_t place, uint32_t parent);

/*
 * Fourth: numbers the inner nodes from 0, each before those below it. HDB_ECORRUPT, with no
 * message, if the top does not reach them all.
 */
int graph_preorder_number(struct graph_preorder *order, struct hdb_error *err);

/* Number of the inner node at a place, and the number after those of its subtree. */
static inline uint32_t graph_preorder_first(const struct graph_preorder *order, uint32_t place)
{
	return atomic_load_explicit(&order->link[place].first, memory_order_relaxed);
}

static inline uint32_t graph_preorder_end(const struct graph_preorder *order, uint32_t place)
{
	return atomic_load_explicit(&order->link[place].next, memory_order_relaxed);
}

#endif
