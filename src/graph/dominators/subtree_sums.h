/*
 * graph/dominators/subtree_sums.h - sizes summed up a tree that is given by each node's parent, in
 * any order of nodes.
 *
 * Most nodes of a dominator tree have no children: only those that have get a place to sum in,
 * found by a bit vector with ranks. Parents are shown twice, range by range and on any thread:
 * first to mark who has children, then with sizes. Sizes of a range are sorted by the stretch of
 * places that they belong to, and added up one stretch after the other, which has a lock; where the
 * budget has no room for the places, which are in a file then, sizes go into spill buckets by
 * place, and each bucket is added up in memory. Places are in parts of 1 MiB each, which what freed
 * arrays left behind has room for. Memory: a bit a node, 16 bytes a node with children; in a file,
 * some 4 a node that has a parent, too.
 */
#ifndef GRAPH_DOMINATORS_SUBTREE_SUMS_H
#define GRAPH_DOMINATORS_SUBTREE_SUMS_H

#include "base/vec.h"
#include "graph/access.h"
#include "base/spill_buckets.h"
#include "base/rank_bitset.h"

#include <pthread.h>
#include <stdbool.h>

/* A node with children. */
struct graph_subtree_sum {
	uint64_t below;   /* of what is below it */
	uint32_t up;      /* its parent's rank, GRAPH_NONE below the virtual root */
	uint32_t waiting; /* children with children whose sums are missing */
};

struct graph_subtree_sums {
	struct base_work *work;
	struct base_ranks inner;         /* nodes with children */
	struct graph_subtree_sum **part; /* by range of ranks */
	struct base_big *part_big;       /* theirs */
	struct base_big file;            /* or all of them, one after the other */
	unsigned lock_bits;              /* a stretch is 2^lock_bits ranks */
	pthread_mutex_t *lock;           /* by stretch, while sizes are added in memory */
	uint32_t lock_count;
	/* if those are in a file, by range of ranks: parent's rank; size, how many inner nodes */
	struct base_buckets sizes;
};

/* Prepares for a tree of node_count nodes. `work` is lent. Release it in any case. */
int graph_subtree_sums_init(struct graph_subtree_sums *sums, uint32_t node_count,
			    struct base_work *work, struct hdb_error *err);
void graph_subtree_sums_release(struct graph_subtree_sums *sums);

/*
 * The parents of the nodes from `first` on: a node, GRAPH_NONE below the virtual root, the node
 * itself if it is in no tree. On any thread.
 */
void graph_subtree_sums_mark(struct graph_subtree_sums *sums, uint32_t first,
			     const uint32_t *parent, uint32_t count);

/* Once all parents are marked: ranks them. */
void graph_subtree_sums_rank(struct graph_subtree_sums *sums);
int graph_subtree_sums_begin(struct graph_subtree_sums *sums, struct hdb_error *err);

/* Neighbouring nodes: from `first` on, their parents, and sizes. */
struct graph_tree_range {
	uint32_t first, count;
	const uint32_t *parent;
	const uint64_t *size;
};

/*
 * The same parents, and sizes; every node once. On any thread, with a vec that no other uses
 * (zero-initialise; struct graph_tree_size), which graph_subtree_sums_join empties, one thread at a
 * time.
 */
struct graph_tree_size {
	uint32_t rank;        /* of the parent */
	uint32_t inner_count; /* of those that it is of: inner nodes */
	uint64_t size;        /* of neighbours with the same parent */
};
int graph_subtree_sums_add(struct graph_subtree_sums *sums, struct base_vec *sizes,
			   const struct graph_tree_range *nodes, struct hdb_error *err);
int graph_subtree_sums_join(struct graph_subtree_sums *sums, struct base_vec *sizes,
			    struct hdb_error *err);

/* Once all sizes were added: sums them up the tree. HDB_ECORRUPT if it is no tree. */
int graph_subtree_sums_up(struct graph_subtree_sums *sums, struct hdb_error *err);

/*
 * The sums of all that is below the nodes from `first` on, themselves not included. On any thread.
 */
void graph_subtree_sums_below(const struct graph_subtree_sums *sums, uint32_t first,
			      uint64_t *below, uint32_t count);

#endif
