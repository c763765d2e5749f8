/*
 * graph/reach.h - what the roots reach: a breadth-first tree, and plain marking around a
 * blocked set.
 */
#ifndef GRAPH_REACH_H
#define GRAPH_REACH_H

#include "graph/access.h"
#include "graph/adjacency.h"

/*
 * Fills parent[v] (node_count entries, lent): GRAPH_NONE for a root, v itself for what no root
 * reaches, else the node before v on a shortest path from a root. The tree is always the same
 * for the same graph: roots ascending, then level by level, edges in their order. Temporary
 * memory: 4 bytes a node.
 */
int graph_reach_tree(const struct graph_rows *rows, const uint64_t *root_bits,
		     struct base_work *work, uint32_t *parent, struct hdb_error *err);

/* Costs of a reference, and of beginning at a root: 1 to this. */
#define GRAPH_COST_MAX 63u

/* A node of a search by cost. */
struct graph_cost_node {
	uint8_t kind; /* the caller's */
	uint8_t at;   /* the search's */
};

/* What a reference costs. */
struct graph_costs {
	struct graph_cost_node *nodes; /* node_count, lent */
	unsigned kinds;
	const uint8_t *cost; /* by kind of its source, then of its target: kinds * kinds; lent */
	/* What it costs to begin at a root. */
	uint8_t (*root)(void *ctx, uint32_t node);
	/* Nodes of kinds from this on have references that cost `own_cost`; `own` lends them. */
	uint8_t first_mixed, own_cost;
	int (*own)(void *ctx, uint32_t node, const uint32_t **targets, size_t *count,
		   struct hdb_error *err);
	void *ctx; /* of both; lent */
};

/*
 * As graph_reach_tree, with the cheapest paths instead of the shortest; of paths that cost the same
 * the one that was met first, roots ascending. Temporary memory: some 5 bytes a node. Linear in the
 * references: nodes wait in a ring of GRAPH_COST_MAX + 1 buckets.
 */
int graph_cheapest_tree(const struct graph_rows *rows, const uint64_t *root_bits,
			const struct graph_costs *costs, uint32_t *parent, struct hdb_error *err);

/*
 * Sets the bit in `reached` (bits as root_bits, lent, cleared first) of every node that the
 * roots reach without entering a node of `blocked_bits` (NULL: none), itself not one. *count
 * (may be NULL) is how many. Temporary memory: 4 bytes a node.
 */
int graph_reach_around(const struct graph_rows *rows, const uint64_t *root_bits,
		       const uint64_t *blocked_bits, uint64_t *reached, struct hdb_error *err);

/*
 * Fills in `orphans` (bits as root_bits, lent) with a smallest set of nodes that reach all that the
 * roots do not: each is a node that no node outside its own cycles leads to, one of each such group
 * of cycles; always the same for the same graph. Temporary memory: 4 bytes and 2 bits a node.
 */
int graph_reach_orphans(const struct graph_rows *rows, const uint64_t *root_bits,
			struct base_work *work, uint64_t *orphans, struct hdb_error *err);

#endif
