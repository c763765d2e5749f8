/*
 * graph/meet.h - immediate dominators where references lead anywhere, of edges that are shown in passes.
 *
 * A depth-first search over such a graph waits for memory at each step, since it must know what the
 * last step met. Here nothing waits: any spanning tree will do, and what each edge does to it can be
 * done in any order and on all threads. The tree grows pass by pass; an edge to a node that is in it already
 * lets that node's parent rise to the nearest common ancestor of it and the edge's source. What
 * dominates a node is above it at all times. When no edge lets anything rise any more, what
 * is above a node dominates it ("parent property": Georgiadis, Tarjan, "Dominator Tree Verification and Vertex-Disjoint
 * Paths", SODA 2005), and the tree is the dominator tree. Cooper, Harvey and Kennedy, "A Simple, Fast
 * Dominance Algorithm" (2001) let dominators rise alike, from below in the order of a search.
 *
 * On random graphs most nodes rise to the top at once and walks are short. On deep or narrow graphs
 * there are many passes and long walks: those are counted, and it gives up early. Memory:
 * 4 bytes and 2 bits a node, and a byte a node for edges, of which those are kept that may matter again: the others
 * are shown when their source is reached, and that is that.
 */
#ifndef GRAPH_MEET_H
#define GRAPH_MEET_H

#include "base/vec.h"
#include "base/work.h"
#include "graph/access.h"

#include <stdatomic.h>

/* Nodes of a group, of which is known whether it has to be shown. */
#define GRAPH_MEET_GROUP 32u

/* An edge is far when its ends are more nodes apart than rows of which fit the second-level cache. */
#define GRAPH_FAR 100000u

/*
 * The bits of a cell beside a parent's are its level, as far as they go. With fewer than 16 levels most walks
 * would be the slow ones: this is the limit for nodes.
 */
#define GRAPH_MEET_NODES_MAX ((1u << 28) - 2)

/* Edges that wait until what is known of their targets is in the caches, and walks that take turns. */
#define GRAPH_MEET_EDGES 2048u
#define GRAPH_MEET_WALKS 64u

struct graph_meet {
	struct base_work *work;
	uint32_t node_count;
	unsigned level_shift;
	uint32_t level_max;           /* stands for all levels from here on */
	_Atomic uint32_t *cell;       /* by node, and the virtual root: level and parent; 0: not reached */
	_Atomic uint64_t *top;        /* bits: the virtual root is the parent, which is final */
	uint32_t *shown;              /* by group, bits: edges were shown */
	_Atomic uint8_t *waits;       /* by group: it has nodes that were reached and not shown */
	bool is_checking;             /* all were shown, and are shown again until nothing changes */
	atomic_bool is_too_deep;
	atomic_bool keeps_edges;      /* `edges` had room for all of them so far */
	uint64_t pass_count, shown_count, step_count;
	uint64_t reached_count;       /* since the pass began */
	uint64_t change_count;        /* so */
	struct base_vec edges;        /* struct graph_meet_edge: to nodes that may have to rise again */
	struct base_big cell_big, top_big, shown_big, waits_big;
};

struct graph_meet_edge {
	uint32_t source, target;
};

/* What a thread works with. Zero-initialise; it is large: allocate it. */
struct graph_meet_batch {
	uint32_t edge_count, walk_count;
	struct graph_meet_edge edge[GRAPH_MEET_EDGES];
	struct graph_meet_walk {
		uint32_t a, b;      /* walk up until they meet */
		uint32_t node;      /* becomes the child of where they do */
		uint32_t parent;    /* of it when this walk began: b */
		uint32_t source;    /* of the edge: a */
	} walk[GRAPH_MEET_WALKS];
	struct base_vec edges;      /* struct graph_meet_edge: to be kept */
	uint64_t reached_count, change_count, step_count, shown_count;
};

/*
 * Starts with the roots (a bit vector of node_count bits). node_count is at most GRAPH_MEET_NODES_MAX. `work` is lent.
 * Release it in any case.
 */
int graph_meet_init(struct graph_meet *meet, uint32_t node_count, const uint64_t *root_bits,
		    struct base_work *work, struct hdb_error *err);
void graph_meet_release(struct graph_meet *meet);

/*
 * Whether edges of a group's nodes have to be shown in this pass; if so, in mask (bit i: of the group's node i)
 * which. Each group is asked for once a pass, on any thread.
 */
bool graph_meet_wants(struct graph_meet *meet, struct graph_meet_batch *batch, uint32_t group,
		      uint32_t *mask);

/*
 * Shows edges of v, on any thread, with a batch that no other uses; what was shown waits in the batch until
 * graph_meet_flush. Duplicates, self-loops and edges to roots are fine.
 */
void graph_meet_show(struct graph_meet *meet, struct graph_meet_batch *batch, uint32_t v,
		     const uint32_t *targets, uint64_t count);
void graph_meet_flush(struct graph_meet *meet, struct graph_meet_batch *batch);

/* Adds to the pass what a batch was used for, and empties it. One thread at a time. */
int graph_meet_join(struct graph_meet *meet, struct graph_meet_batch *batch, struct hdb_error *err);

/*
 * Ends a pass, all batches joined: HDB_OK if there has to be another one, HDB_END when the tree is the
 * dominator tree, GRAPH_BUDGET when this is not the way.
 */
int graph_meet_next(struct graph_meet *meet, struct hdb_error *err);

/* The parent of v: GRAPH_NONE for the virtual root, v itself if no root reaches v. */
static inline uint32_t graph_meet_parent(const struct graph_meet *meet, uint32_t v)
{
	const uint32_t cell = atomic_load_explicit(&meet->cell[v], memory_order_relaxed);
	const uint32_t parent = cell & (((uint32_t)1 << meet->level_shift) - 1);

	if (cell == 0)
		return v;
	return parent == meet->node_count ? GRAPH_NONE : parent;
}

#endif
