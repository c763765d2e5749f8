/*
 * graph/reach.h - finds the nodes that are reachable from the roots, either as a breadth-first tree
 * or by marking them without entering a blocked set.
 */
#ifndef GRAPH_REACH_H
#define GRAPH_REACH_H

#include "graph/access.h"
#include "graph/adjacency.h"

#include <stdatomic.h>

/*
 * Sets parent[v] (node_count entries, provided by the caller) to GRAPH_NONE for a root, to v itself
 * for an unreachable node, and otherwise to the previous node on a shortest path from a root. The
 * tree is deterministic: roots are visited in ascending order, then nodes level by level, and edges
 * in their order. Temporary memory: 4 bytes per node.
 */
int graph_reach_tree(const struct graph_rows *rows, const uint64_t *root_bits,
		     struct base_work *work, uint32_t *parent, struct hdb_error *err);

/* Maximum cost of a reference or a root. The minimum is 1. */
#define GRAPH_COST_MAX 63u

/* A node of a search by cost. */
struct graph_cost_node {
	uint8_t kind;       /* set by the caller */
	_Atomic uint8_t at; /* used by the search */
};

/* Costs of references. */
struct graph_costs {
	struct graph_cost_node *nodes; /* node_count entries, provided by the caller */
	unsigned kinds;
	/* by kind of the source, then by kind of the target: kinds * kinds entries; borrowed */
	const uint8_t *cost;
	/*
	 * Kinds of leaves, from first_leaf to end_leaf - 1. All nodes of such a kind have the same
	 * references.
	 */
	uint8_t first_leaf, end_leaf;
	/* Returns the cost of starting at a root. */
	uint8_t (*root)(void *ctx, uint32_t node);
	/*
	 * Nodes of the kinds from first_mixed on may have references of cost own_cost. The function
	 * `own` returns the targets of these references.
	 */
	uint8_t first_mixed, own_cost;
	int (*own)(void *ctx, uint32_t node, const uint32_t **targets, size_t *count,
		   struct hdb_error *err);
	void *ctx; /* argument of both functions; borrowed */
};

/*
 * Like graph_reach_tree, but finds cheapest instead of shortest paths. Among paths of equal cost,
 * the first one found is used. Roots are visited in ascending order. Temporary memory: about 5
 * bytes per node. The time is linear in the number of references, because waiting nodes are in a
 * ring of GRAPH_COST_MAX + 1 buckets. The tree does not depend on the number of threads. Both
 * functions of `costs` are called on the calling thread.
 */
int graph_cheapest_tree(const struct graph_rows *rows, const uint64_t *root_bits,
			const struct graph_costs *costs, uint32_t *parent, struct hdb_error *err);

/*
 * The search of graph_cheapest_tree, but on the calling thread and without a graph in memory. It
 * stops as soon as the path to the requested node is known, and can be continued later. It ends for
 * good when it would follow more than references_max references.
 */
struct graph_near;
struct graph_near_row {
	const uint32_t *targets;
	size_t count;
	bool is_long; /* whether the row is a long row in struct graph_rows */
};
struct graph_near_options {
	/*
	 * the nodes of `costs` must be zeroed, `row` sets their kinds, and all pointers are
	 * borrowed
	 */
	struct graph_costs costs;
	const uint64_t *root_bits;
	struct base_work *work;
	uint32_t node_count;
	uint64_t references_max;
	uint32_t *parent; /* node_count entries, set only for nodes that are found */
	/*
	 * Reads the row of a node, valid until the next call, and sets the kinds of the node and
	 * its targets. `ctx` is costs.ctx. If the row has more than references_max targets,
	 * only the count is needed.
	 */
	int (*row)(void *ctx, uint32_t node, struct graph_near_row *out, struct hdb_error *err);
};
/* The caller must close *out, which may be set even after a failure. */
int graph_near_open(const struct graph_near_options *options, struct graph_near **out,
		    struct hdb_error *err);
void graph_near_close(struct graph_near *near);
/*
 * Searches for the path to a node, until references_max references have been followed in all calls
 * together. *is_known is false if the search stopped before the answer was known. If *is_known is
 * true, the node is reachable if and only if graph_near_has returns true for the node, and
 * parent[node] is then its parent in the tree that graph_cheapest_tree builds. GRAPH_NONE is never
 * found. After a failure, the search must be closed.
 */
int graph_near_find(struct graph_near *near, uint32_t node, uint64_t references_max, bool *is_known,
		    struct hdb_error *err);
/*
 * Continues the search in a graph until the tree equals the result of graph_cheapest_tree. Before
 * the call, the kinds of all nodes must be set. Afterwards, the search must be closed.
 */
int graph_near_finish(struct graph_near *near, const struct graph_rows *rows,
		      struct hdb_error *err);
/* Returns whether some path to the node has been found, perhaps not the cheapest. */
bool graph_near_has(const struct graph_near *near, uint32_t node);

/*
 * Sets a bit in `reached` for each node that is reachable from the roots without entering a node of
 * `blocked_bits`, which may be NULL. `reached` is like root_bits. The caller provides it, and the
 * function clears it first. Blocked nodes are not marked. Temporary memory: 4 bytes per node.
 */
int graph_reach_around(const struct graph_rows *rows, const uint64_t *root_bits,
		       const uint64_t *blocked_bits, uint64_t *reached, struct hdb_error *err);

/*
 * Finds a smallest set of nodes from which all nodes that are not reachable from the roots can be
 * reached. It contains one node per group of cycles to which no node outside the group leads. Sets
 * the bits of this set in `orphans`, which is like root_bits and is provided by the caller. The
 * result is deterministic. Temporary memory: 4 bytes and 2 bits per node.
 */
int graph_reach_orphans(const struct graph_rows *rows, const uint64_t *root_bits,
			struct base_work *work, uint64_t *orphans, struct hdb_error *err);

#endif
