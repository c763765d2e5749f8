/*
 * graph/dominators/nca_grow.h - immediate dominators where references lead anywhere, of edges that
 * are shown once, in any order.
 *
 * A depth-first search over such a graph waits for memory at each step, since it must know what the
 * last step met. Here nothing waits. Any spanning tree will do to begin with; each edge lets its
 * target's parent rise to the nearest common ancestor of it and the edge's source, in any order and
 * on all threads. What dominates a node is above it at all times. When no edge lets anything rise
 * any more, what is above a node dominates it ("parent property": Georgiadis, Tarjan, "Dominator
 * Tree Verification and Vertex-Disjoint Paths", SODA 2005), and the tree is the dominator tree.
 * Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001) let dominators rise
 * alike, from below in the order of a search.
 *
 * Two steps. The tree grows pass by pass, a colour of its root handed down to each node: where an
 * edge leads to a node of another colour, that node is known to end at the top, and of such nodes
 * nothing else has to be kept. That is most nodes of a random graph. All other edges go into spill
 * buckets. Then the nodes that are not at the top get a place for their parent, and the edges to
 * them are gone through until nothing rises.
 *
 * Which heaps take it: those nearly all of whose references lead far, which it needs half the time
 * and memory for, and those most of whose references do where the budget has no room for
 * contract.h: no other way goes through a table in order only.
 *
 * On deep or narrow graphs there are many passes and long walks: those are counted, and it gives up
 * early. Where one object holds nearly all there is one colour, and all would be left to the second
 * step: it gives up when that shows. Memory: a byte and a bit and a half a node, then 2 bits, and 4
 * bytes for those that are not at the top; edges take 5 bytes, one for each node that is reached
 * and those between nodes of one colour, in a file where the budget has no room.
 */
#ifndef GRAPH_DOMINATORS_NCA_GROW_H
#define GRAPH_DOMINATORS_NCA_GROW_H

#include "base/vec.h"
#include "graph/access.h"
#include "graph/adjacency.h"
#include "base/spill_buckets.h"
#include "base/rank_bitset.h"

#include <stdatomic.h>

/* Nodes of a group, of which is known whether it has to be shown. */
#define GRAPH_NCA_GROUP 32u

/*
 * The bits of a cell beside a parent's are its level, as far as they go. With fewer than 16 levels
 * most walks would be the slow ones: this is the limit for nodes.
 */
#define GRAPH_NCA_NODES_MAX ((1u << 28) - 2)

/*
 * Edges that wait until what is known of their targets is in the caches, and walks that take turns.
 */
#define GRAPH_NCA_EDGES 2048u
#define GRAPH_NCA_WALKS 64u

struct graph_nca_edge {
	uint32_t source, target;
};

struct graph_nca {
	struct base_work *work;
	uint32_t node_count;
	/* While the tree grows: */
	_Atomic uint8_t *colour;   /* by node; 0: not reached */
	uint32_t *shown;           /* by group, bits: edges were shown */
	_Atomic uint8_t *waits;    /* by group: it has nodes that were reached and not shown */
	uint32_t bucket_count;     /* ranges of targets */
	struct base_buckets edges; /* by range: of the tree; then the others that may matter */
	/* After that: */
	unsigned level_shift;
	uint32_t level_max;     /* stands for all levels from here on */
	uint64_t *top;          /* bits: the virtual root is the parent; in place of `shown` */
	struct base_ranks low;  /* nodes in the tree that are not in `top` */
	_Atomic uint32_t *cell; /* of those: level and parent */
	/* a walk is too long, or too many edges would be kept: the tree is of no use */
	atomic_bool is_given_up;
	uint64_t pass_count, shown_count, step_count, change_count;
	uint64_t reached_count; /* since the pass began */
	uint64_t reached_total; /* before that */
	bool is_judged;         /* by colours */
	struct base_big colour_big, shown_big, waits_big, cell_big;
};

/* What a thread works with. Zero-initialise; it is large: allocate it. */
struct graph_nca_batch {
	uint32_t edge_count, walk_count;
	struct graph_nca_edge edge[GRAPH_NCA_EDGES];
	struct graph_nca_walk {
		uint32_t a, b;   /* walk up until they meet */
		uint32_t node;   /* becomes the child of where they do */
		uint32_t parent; /* of it when this walk began: b */
		uint32_t source; /* of the edge: a */
	} walk[GRAPH_NCA_WALKS];
	struct base_vec tree;   /* struct graph_nca_edge: by which nodes were reached */
	struct base_vec others; /* so: between nodes of one colour, or that a walk has compared */
	bool is_short;          /* of memory for those */
	uint64_t reached_count, change_count, step_count, shown_count;
};

void graph_nca_batch_release(struct graph_nca_batch *batch);

/*
 * Starts with the roots (a bit vector of node_count bits). node_count is at most
 * GRAPH_NCA_NODES_MAX. `work` is lent. Release it in any case.
 */
int graph_nca_init(struct graph_nca *nca, uint32_t node_count, const uint64_t *root_bits,
		   struct base_work *work, struct hdb_error *err);
void graph_nca_release(struct graph_nca *nca);

/*
 * Whether edges of a group's nodes have to be shown in this pass; if so, in mask (bit i: of the
 * group's node i) which. Each group is asked for once a pass, on any thread. Each node's edges are
 * shown once.
 */
bool graph_nca_wants(struct graph_nca *nca, struct graph_nca_batch *batch, uint32_t group,
		     uint32_t *mask);

/* How many of `count` groups from `first` on wait to be shown, about. On any thread. */
uint32_t graph_nca_waiting(const struct graph_nca *nca, uint32_t first, uint32_t count);

/*
 * Shows edges of v, on any thread, with a batch that no other uses; what was shown waits in the
 * batch until graph_nca_flush. Duplicates, self-loops and edges to roots are fine.
 */
void graph_nca_show(struct graph_nca *nca, struct graph_nca_batch *batch, uint32_t v,
		    const uint32_t *targets, uint64_t count);
void graph_nca_flush(struct graph_nca *nca, struct graph_nca_batch *batch);

/*
 * Adds to the pass what a batch was used for, and empties it. One thread at a time; to be called
 * before the edges that the batch was shown are many millions.
 */
int graph_nca_join(struct graph_nca *nca, struct graph_nca_batch *batch, struct hdb_error *err);

/*
 * Ends a pass, all batches joined: HDB_OK if there has to be another one, HDB_END when all is
 * shown, GRAPH_BUDGET when this is not the way.
 */
int graph_nca_next(struct graph_nca *nca);

/*
 * Once all is shown: lets nodes rise until the tree is the dominator tree. GRAPH_BUDGET when this
 * is not the way.
 */
int graph_nca_rise(struct graph_nca *nca, struct hdb_error *err);

/*
 * Then: parents of nodes from `first` on: GRAPH_NONE for the virtual root, v itself if no root
 * reaches v.
 */
void graph_nca_parents(const struct graph_nca *nca, uint32_t first, uint32_t count,
		       uint32_t *parent);

/* For nca_grow.c and nca_refine.c. */

/*
 * Nodes of a range: what is known of one fits the second-level cache; differences of targets take
 * three bytes.
 */
#define GRAPH_NCA_RANGE_BITS 20u

/* In a colour: the node is at the top. Colours are 1 to 127. */
#define GRAPH_NCA_TOP 0x80u

/* Puts edges in spill buckets by target, from bucket `first_bucket` on, and empties them. */
int graph_nca_put(struct base_buckets *buckets, uint32_t first_bucket, struct base_vec *edges,
		  struct hdb_error *err);

/* Steps of walks that are allowed, for all rounds together. */
uint64_t graph_nca_steps_max(const struct graph_nca *nca);

/* Whether it has become too much. */
bool graph_nca_is_hopeless(const struct graph_nca *nca);

#endif
