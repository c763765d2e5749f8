/*
 * graph/dominators.h - immediate dominators of a rooted graph given as arrays.
 *
 * Nodes are 0..node_count-1, edges are CSR. A virtual root has an edge to every node marked as
 * root, so a root's immediate dominator is the virtual root (GRAPH_NONE). Algorithm: SEMI-NCA
 * (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005), with an
 * explicit stack everywhere. Reads no files.
 */
#ifndef GRAPH_DOMINATORS_H
#define GRAPH_DOMINATORS_H

#include "base/work.h"
#include "graph/access.h"

/* A directed graph in compressed sparse rows; everything is lent. */
struct graph_csr {
	uint32_t node_count;
	const uint64_t *first;  /* node_count + 1 entries: v's edges are first[v] .. first[v+1]-1 */
	const uint32_t *target; /* first[node_count] entries */
	/* Called once when an algorithm needs the edges no more, so that their memory serves it. NULL: nothing. */
	void (*drop)(void *ctx);
	void *drop_ctx;
};

/*
 * Fills idom[v] (node_count entries, lent) with v's immediate dominator: a node, GRAPH_NONE for
 * the virtual root, or v itself for a node that no root reaches. `root_bits` is a bit vector of
 * node_count bits (64-bit words). Duplicate edges and self-loops are fine. Time O(edges x log
 * nodes) in the worst case, near linear on heaps.
 */
int graph_dominators(const struct graph_csr *graph, const uint64_t *root_bits,
		     struct base_work *work, uint32_t *idom, struct hdb_error *err);

#endif
