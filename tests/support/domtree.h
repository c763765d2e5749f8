/*
 * support/domtree.h - simple versions of operations on a dominator tree: lists of children, and a
 * walk. Tests compare their results with those of graph/child_rows.h and graph/preorder.h, which
 * work on trees that do not fit in memory.
 *
 * The tree is an array idom[]. An element is the parent node, GRAPH_NONE for the virtual root, or
 * the node itself if it is not in the tree. All functions take linear time, except for sorting, and
 * do not recurse. If idom[] is not a tree, they return HDB_ECORRUPT or leave out nodes, but never
 * hang.
 */
#ifndef SUPPORT_DOMTREE_H
#define SUPPORT_DOMTREE_H

#include "base/work.h"
#include "graph/access.h"
#include "base/size_array.h"

/*
 * The children of every node. The children of v are child[first[v]] to child[first[v + 1] - 1]. Row
 * node_count has the children of the virtual root. Unreachable nodes are in no row.
 */
struct graph_children {
	uint32_t node_count;
	const uint32_t *first; /* node_count + 2 entries */
	const uint32_t *child; /* first[node_count + 1] entries */
	struct base_big first_big, child_big;
};

/* A tree. The arrays are borrowed. `retained` may be NULL. */
struct graph_tree {
	const uint32_t *idom;
	uint32_t node_count;
	const struct base_sizes *retained;
};

/*
 * Fills *out. Each row is sorted by `retained`, descending, then by node, ascending. If `retained`
 * is NULL, rows are sorted by node. *out must be released in any case. Memory: 4 bytes per node, 4
 * per child, and 32 per entry of the longest row while it is being sorted.
 */
int graph_children(struct graph_tree tree, struct base_work *work, struct graph_children *out,
		   struct hdb_error *err);
void graph_children_release(struct graph_children *children);

/* A step of the walk. Each node is entered before its children and left after them. */
struct graph_walk_frame {
	uint32_t node;
	uint32_t at; /* index of the next child in child[] */
};

/* Number of frames in a chunk of the stack. A tree may be as deep as its number of nodes. */
#define GRAPH_WALK_PIECE (1u << 17)

struct graph_walk {
	const struct graph_children *children;
	struct base_work *work;
	/* chunks of the stack, which holds the nodes entered but not left, the start first */
	struct base_big *pieces;
	size_t piece_count, piece_limit;
	struct graph_walk_frame *top; /* frame of the node that was entered last */
	uint32_t depth;               /* frames in use */
	bool skip;
};

/*
 * Starts a walk of the nodes below `start`, which is not itself entered or left. node_count means
 * the whole tree. `children` and `work` are borrowed. The walk must be released in any case.
 * Memory: 8 bytes per level of the tree, within the budget of `work`.
 */
int graph_walk_init(struct graph_walk *walk, const struct graph_children *children, uint32_t start,
		    struct base_work *work, struct hdb_error *err);
void graph_walk_release(struct graph_walk *walk);

/*
 * Returns the next event. *enter is true if the node is entered, and false if it is left. Returns
 * HDB_OK, HDB_END or HDB_ENOMEM.
 */
int graph_walk_next(struct graph_walk *walk, uint32_t *node, bool *enter, struct hdb_error *err);

/* Skips the children of the node that was entered last. The next event leaves this node. */
void graph_walk_skip(struct graph_walk *walk);

#endif
