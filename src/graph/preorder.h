/*
 * graph/preorder.h - preorder numbers of the inner nodes of a tree, from its nodes' parents in any order.
 *
 * For trees whose most nodes are leaves, and which fit in no memory node by node: a node takes 1.5 bits, an inner
 * node 8 bytes more. Children of a node are linked to a list; the walk needs no stack, since the last child's link
 * leads back to the parent, and leaves its numbers where the links were. The order of siblings is any: it differs
 * with the threads.
 */
#ifndef GRAPH_PREORDER_H
#define GRAPH_PREORDER_H

#include "base/bytes.h"
#include "base/work.h"
#include "graph/access.h"

#include <stdatomic.h>

/* An inner node: links while the tree is made, then numbers. */
struct graph_preorder_link {
	_Atomic uint32_t first;  /* child, GRAPH_NONE: no inner one; then: its preorder number */
	_Atomic uint32_t next;   /* sibling; of the last one the parent, GRAPH_NONE: the top; then: the number
				    after the last one of its subtree */
};

struct graph_preorder {
	struct base_work *work;
	uint32_t node_count;
	uint32_t inner_count;
	_Atomic uint64_t *bits;      /* by node: whether it is inner */
	uint32_t *before;            /* inner nodes before each word of bits */
	struct graph_preorder_link *link; /* by place among the inner nodes */
	_Atomic uint64_t *is_last;   /* by place: no sibling follows */
	_Atomic uint32_t top;        /* first inner node of the top level */
	struct base_big bits_big, before_big, link_big, last_big;
};

/* A tree of leaves. `work` is lent. Release it in any case. */
int graph_preorder_init(struct graph_preorder *order, uint32_t node_count, struct base_work *work,
			struct hdb_error *err);
void graph_preorder_release(struct graph_preorder *order);

/* First: a node, below node_count, has children. On any thread. */
static inline void graph_preorder_mark(struct graph_preorder *order, uint32_t node)
{
	const uint64_t bit = (uint64_t)1 << (node & 63);
	_Atomic uint64_t *word = &order->bits[node / 64];

	if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
		(void)atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}

static inline bool graph_preorder_is_inner(const struct graph_preorder *order, uint32_t node)
{
	return atomic_load_explicit(&order->bits[node / 64], memory_order_relaxed) >> (node & 63) & 1;
}

/* Second, once all are marked: makes room for them. */
int graph_preorder_count(struct graph_preorder *order, struct hdb_error *err);

/* Place of a node among the inner ones: how many come before it. */
static inline uint32_t graph_preorder_place(const struct graph_preorder *order, uint32_t node)
{
	const uint64_t word = atomic_load_explicit(&order->bits[node / 64], memory_order_relaxed);

	return order->before[node / 64] + count_bits(word & (((uint64_t)1 << (node & 63)) - 1));
}

/* Asks for the memory that this needs, or graph_preorder_mark. */
static inline void graph_preorder_prefetch(const struct graph_preorder *order, uint32_t node)
{
	__builtin_prefetch(&order->before[node / 64]);
	__builtin_prefetch((const void *)&order->bits[node / 64]);
}

/* Third, for each inner node once: its parent, which was marked, as places; GRAPH_NONE: the top. On any thread. */
void graph_preorder_link(struct graph_preorder *order, uint32_t place, uint32_t parent);

/*
 * Fourth: numbers the inner nodes from 0, each before those below it. HDB_ECORRUPT, with no message, if the top does
 * not reach them all.
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
