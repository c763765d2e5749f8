/*
 * graph/tree_sums.h - sizes summed up a tree that is given by each node's parent, in any order of nodes.
 *
 * Most nodes of a dominator tree have no children: only those that have get a place to sum in, found by a bit
 * vector with ranks. Memory: a bit and a half a node, 16 bytes a node with children.
 */
#ifndef GRAPH_TREE_SUMS_H
#define GRAPH_TREE_SUMS_H

#include "graph/access.h"
#include "base/work.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Bits of which the rank is counted, not kept. */
#define GRAPH_RANK_BITS 512u

struct graph_tree_sums {
	struct base_work *work;
	uint32_t node_count;
	uint32_t inner_count;       /* nodes with children */
	uint64_t *inner;            /* bits by node */
	uint32_t *rank;             /* by GRAPH_RANK_BITS nodes: inner nodes before them */
	_Atomic uint64_t *sum;      /* by rank: of what is below the node */
	uint32_t *up;               /* by rank: the parent's rank, GRAPH_NONE below the virtual root */
	uint32_t *waiting;          /* by rank: children with children whose sums are missing */
	struct base_big inner_big, rank_big, sum_big, up_big, waiting_big;
};

/*
 * Prepares for a tree: parent(ctx, v) is a node, GRAPH_NONE below the virtual root, v itself if v is in no tree. `work`
 * is lent. Release it in any case. Time: two passes over the nodes.
 */
int graph_tree_sums_init(struct graph_tree_sums *sums, uint32_t node_count,
			 uint32_t (*parent)(const void *ctx, uint32_t v), const void *ctx,
			 struct base_work *work, struct hdb_error *err);
void graph_tree_sums_release(struct graph_tree_sums *sums);

/* The place of a node with children. */
static inline uint32_t graph_tree_sums_rank(const struct graph_tree_sums *sums, uint32_t v)
{
	const uint32_t first = v / GRAPH_RANK_BITS * (GRAPH_RANK_BITS / 64);
	uint32_t rank = sums->rank[v / GRAPH_RANK_BITS];

	for (uint32_t w = first; w < v / 64; w++)
		rank += (uint32_t)__builtin_popcountll(sums->inner[w]);
	return rank + (uint32_t)__builtin_popcountll(sums->inner[v / 64] &
						     (((uint64_t)1 << (v % 64)) - 1));
}

static inline bool graph_tree_sums_is_inner(const struct graph_tree_sums *sums, uint32_t v)
{
	return sums->inner[v / 64] >> (v % 64) & 1;
}

/* Adds the size of a child of `parent`, a node. On any thread. */
static inline void graph_tree_sums_add(struct graph_tree_sums *sums, uint32_t parent, uint64_t size)
{
	atomic_fetch_add_explicit(&sums->sum[graph_tree_sums_rank(sums, parent)], size,
				  memory_order_relaxed);
}

/* Once all sizes were added: sums them up the tree. HDB_ECORRUPT if it is no tree. */
int graph_tree_sums_up(struct graph_tree_sums *sums, struct hdb_error *err);

/* The sum of all that is below v, itself not included. */
static inline uint64_t graph_tree_sums_below(const struct graph_tree_sums *sums, uint32_t v)
{
	return graph_tree_sums_is_inner(sums, v) ?
	       atomic_load_explicit(&sums->sum[graph_tree_sums_rank(sums, v)], memory_order_relaxed) : 0;
}

#endif
