/*
 * support/domtree.h - what is read off a dominator tree, the plain way: children lists, a walk. An
 * oracle for what graph/child_rows.h and graph/preorder.h make of trees that fit no memory.
 *
 * The tree comes as idom[]: a node, GRAPH_NONE for the virtual root, the node
 * itself for a node that is in no tree. Everything here is linear (sorting aside) and free of
 * recursion. An idom[] that is no tree gives HDB_ECORRUPT or leaves nodes out; it never hangs.
 */
#ifndef SUPPORT_DOMTREE_H
#define SUPPORT_DOMTREE_H

#include "base/work.h"
#include "graph/access.h"
#include "base/size_array.h"

/*
 * The children of every node: those of v are child[first[v]] .. child[first[v + 1] - 1], and row
 * node_count holds those of the virtual root. Unreached nodes are in no row.
 */
struct graph_children {
	uint32_t node_count;
	const uint32_t *first; /* node_count + 2 entries */
	const uint32_t *child; /* first[node_count + 1] entries */
	struct base_big first_big, child_big;
};

/* A tree, lent; `retained` may be NULL. */
struct graph_tree {
	const uint32_t *idom;
	uint32_t node_count;
	const struct base_sizes *retained;
};

/*
 * Fills *out, each row sorted by `retained` descending, then by node ascending; `retained` NULL
 * sorts by node alone. Release *out in any case. Memory: 4 bytes a node, 4 a child, and 32 for
 * each entry of the longest row while it is sorted.
 */
int graph_children(struct graph_tree tree, struct base_work *work, struct graph_children *out,
		   struct hdb_error *err);
void graph_children_release(struct graph_children *children);

/* A step of the walk: each node is entered before its children and left after them. */
struct graph_walk_frame {
	uint32_t node;
	uint32_t at; /* next entry of child[] */
};

/* Frames of a piece of the stack; a tree may be as deep as it has nodes. */
#define GRAPH_WALK_PIECE (1u << 17)

struct graph_walk {
	const struct graph_children *children;
	struct base_work *work;
	struct base_big *pieces; /* of the stack: the nodes entered and not left, the start first */
	size_t piece_count, piece_limit;
	struct graph_walk_frame *top; /* of the last node entered */
	uint32_t depth;               /* frames in use */
	bool skip;
};

/*
 * Starts a walk of the subtree below `start` (which is itself neither entered nor left):
 * node_count for the whole tree. `children` and `work` are lent. Release it in any case. Memory: 8
 * bytes a level of the tree, within the work's budget.
 */
int graph_walk_init(struct graph_walk *walk, const struct graph_children *children, uint32_t start,
		    struct base_work *work, struct hdb_error *err);
void graph_walk_release(struct graph_walk *walk);

/* The next event: `*enter` says which. HDB_OK, HDB_END, or HDB_ENOMEM. */
int graph_walk_next(struct graph_walk *walk, uint32_t *node, bool *enter, struct hdb_error *err);

/* Leaves out the children of the node that was entered last; it is left next. */
void graph_walk_skip(struct graph_walk *walk);

#endif
