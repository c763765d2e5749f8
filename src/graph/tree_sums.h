/*
 * graph/tree_sums.h - sizes summed up a tree that is given by each node's parent, in any order of nodes.
 *
 * Most nodes of a dominator tree have no children: only those that have get a place to sum in, found by a bit
 * vector with ranks. Parents are shown twice, range by range and on any thread: first to mark who has children, then
 * with sizes. Memory: a bit and a half a node, 16 bytes a node with children.
 */
#ifndef GRAPH_TREE_SUMS_H
#define GRAPH_TREE_SUMS_H

#include "graph/access.h"
#include "base/work.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Bits of which the rank is counted, not kept: those of a cache line. */
#define GRAPH_RANK_BITS 512u

/* A node with children. */
struct graph_tree_sum {
	_Atomic uint64_t below;     /* of what is below it */
	uint32_t up;                /* its parent's rank, GRAPH_NONE below the virtual root */
	_Atomic uint32_t waiting;   /* children with children whose sums are missing */
};

struct graph_tree_sums {
	struct base_work *work;
	uint32_t node_count;
	uint32_t inner_count;       /* nodes with children */
	_Atomic uint64_t *inner;    /* bits by node */
	uint32_t *rank;             /* by GRAPH_RANK_BITS nodes: inner nodes before them */
	struct graph_tree_sum *sum; /* by rank */
	struct base_big inner_big, rank_big, sum_big;
};

/* Prepares for a tree of node_count nodes. `work` is lent. Release it in any case. */
int graph_tree_sums_init(struct graph_tree_sums *sums, uint32_t node_count, struct base_work *work,
			 struct hdb_error *err);
void graph_tree_sums_release(struct graph_tree_sums *sums);

/*
 * The parents of the nodes from `first` on: a node, GRAPH_NONE below the virtual root, the node itself if it is in no
 * tree. On any thread.
 */
void graph_tree_sums_mark(struct graph_tree_sums *sums, uint32_t first, const uint32_t *parent,
			  uint32_t count);

/* Once all parents are marked: ranks them. Returns the bytes that graph_tree_sums_begin will take. */
uint64_t graph_tree_sums_rank(struct graph_tree_sums *sums);
int graph_tree_sums_begin(struct graph_tree_sums *sums, struct hdb_error *err);

/* The same parents, and sizes; every node once. On any thread. */
void graph_tree_sums_add(struct graph_tree_sums *sums, uint32_t first, const uint32_t *parent,
			 const uint64_t *size, uint32_t count);

/* Once all sizes were added: sums them up the tree. HDB_ECORRUPT if it is no tree. */
int graph_tree_sums_up(struct graph_tree_sums *sums, struct hdb_error *err);

/* The sums of all that is below the nodes from `first` on, themselves not included. On any thread. */
void graph_tree_sums_below(const struct graph_tree_sums *sums, uint32_t first, uint64_t *below,
			   uint32_t count);

#endif
