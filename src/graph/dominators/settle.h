/*
 * graph/dominators/settle.h - the dominators of most nodes of a graph whose edges lead anywhere, by
 * a search that waits for nothing.
 *
 * A depth-first search waits for memory at each step. A breadth-first one knows long before which
 * rows it needs. It finds a spanning tree, and with it two kinds of dominators:
 *
 * A gate is a node that dominates more than half of all. It has more than half of all below it in
 * any spanning tree, so all gates are on one path of a first tree. A second search puts off the
 * nodes of that path as long as there is anything else to do. When just one of them waits, it
 * dominates all that was not met yet; while that is more than half, it is a gate, and the gate
 * before it (at first the virtual root) is its dominator. What is met between two gates is the
 * first one's stage. The search ends when the last node of the path is met, or half of all: what it
 * has not met by then is of the last stage.
 *
 * A node is settled if its dominator is known to be its stage's gate: it is a root, or next to the
 * gate, or an edge leads to it from below another settled node than the one that it is below in the
 * tree. (Let w and x be those two. A node y that dominates v is on the tree's path from x to v. The
 * gate is the dominator of w, so that a way from there to w goes round y, and the tree's path from
 * w to the edge's source has no node in common with the one that y is on.) Each round settles more,
 * since what was settled in the one before counts as another node. The first one looks at a
 * sixteenth of the rows: it settles classes and whatever else nearly all refer to.
 *
 * The dominator of a settled node may be taken for its only referrer: nobody else's dominator
 * changes. So what is left is a forest below settled nodes, and a search of that with those as
 * roots tells the rest; what it finds to be below the virtual root is dominated by its stage's
 * gate. On random graphs a few nodes in a hundred are left.
 *
 * Which graphs take it: small ones of contract.h most of whose edges are far (graph_is_far).
 * Bounds: two searches and GRAPH_SETTLE_ROUNDS passes over the edges whatever the graph. Memory: 16
 * bytes a node and a bit.
 */
#ifndef GRAPH_DOMINATORS_SETTLE_H
#define GRAPH_DOMINATORS_SETTLE_H

#include "graph/dominators/semi_nca.h"

/* Passes over the edges, after the searches. */
#define GRAPH_SETTLE_ROUNDS 6u

struct graph_settled {
	struct base_work *work;
	/* By node: a node; GRAPH_NONE: the virtual root; the node itself: not reached. */
	uint32_t *dominator;
	uint32_t left_count; /* nodes that were not settled */
	uint32_t rest_count; /* nodes of the search for those */
	uint64_t step_count; /* nodes and edges looked at, links followed */
	struct base_big dominator_big;
};

/*
 * Whether three edges in four lead to nodes so far away that a search would wait for memory at each
 * of them.
 */
bool graph_is_far(const struct graph_rows *rows);

/* A graph, lent. */
struct graph_settle_in {
	const struct graph_rows *rows;
	const uint64_t *root_bits; /* by node */
	/* Bits by node: edges lead there from just one other (some of them; none is a root). */
	const uint64_t *single;
};

/* Fills *out; release it in any case. `how` is for what is left. */
int graph_settle(const struct graph_settle_in *in, enum graph_search how, struct graph_settled *out,
		 struct hdb_error *err);
void graph_settled_release(struct graph_settled *settled);

#endif
