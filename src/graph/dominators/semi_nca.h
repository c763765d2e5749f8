/*
 * graph/dominators/semi_nca.h - immediate dominators of a rooted graph, and retained sizes.
 *
 * A virtual root has an edge to every node that is marked as a root, so the immediate dominator of
 * a root is the virtual root. The algorithm is SEMI-NCA (Georgiadis, "Linear-Time Algorithms for
 * Dominators and Related Problems", 2005), with explicit stacks everywhere.
 *
 * Threads search concurrently. Each thread takes the nodes that it finds first in a depth-first
 * search from its own roots. An edge from a node of one thread to a node of another completes a
 * path from the virtual root that shares no node with the path found by the other thread, so the
 * virtual root dominates the target of this edge. A path that leaves the part of a thread returns
 * to it only at such a node. The parts can therefore be solved independently and concurrently.
 * Which thread takes a node depends on timing, but the dominator of the node is always the same.
 *
 * Results use the numbers of these preorders, which follow one another. The virtual root has number
 * 0, and reached nodes have numbers 1 to count. The number of a dominator is always lower than that
 * of the node, so sums along the tree need only one loop, from the highest number down.
 */
#ifndef GRAPH_DOMINATORS_SEMI_NCA_H
#define GRAPH_DOMINATORS_SEMI_NCA_H

#include "graph/access.h"
#include "graph/adjacency.h"
#include "base/packed_runs.h"
#include "base/size_array.h"

struct graph_dominators {
	struct base_work *work;
	uint32_t node_count;
	uint32_t count; /* number of reached nodes */
	/* indexed by node number: number of the node's dominator; [0] is 0 */
	const uint32_t *dominator;
	struct base_runs numbers; /* indexed by node; read with graph_dominators_numbers */
	uint64_t step_count;      /* number of visited nodes, visited edges, and followed links */
	struct base_big dominator_big;
};

/*
 * Specifies how to find semidominators. The default depends on the budget. The other values force
 * links for all nodes, links only for joins (semi_lowmem.c), or, for tests, links and one search
 * per thread even for few nodes. The result is always the same.
 */
enum graph_search {
	GRAPH_SEARCH_ANY,
	GRAPH_SEARCH_LINKS,
	GRAPH_SEARCH_LOWMEM,
	GRAPH_SEARCH_PARTS,
	GRAPH_SEARCHES
};

/* Alignment of the first node passed to graph_dominators_numbers. */
#define GRAPH_NUMBERS_STEP 128u

/* Bytes per node of the largest array that graph_dominators allocates after releasing the rows. */
#define GRAPH_DOMINATORS_BYTES 8u

/*
 * Returns the part of the budget to reserve for the search before the rows are loaded
 * (base_work_keep). graph_dominators returns this part to the budget.
 */
static inline uint64_t graph_dominators_kept(const struct base_work *work, uint32_t node_count)
{
	const uint64_t wanted = (uint64_t)node_count / 2 + ((uint64_t)4 << 20);

	return wanted < work->memory_bytes / 2 ? wanted : work->memory_bytes / 2;
}

/*
 * Computes the dominators. The caller must release *out even after a failure. Takes ownership of
 * `rows`, whose work is used, and releases them as soon as the search no longer needs them.
 * `root_bits` is a bit vector of node_count bits (64-bit words). Duplicate edges and self-loops are
 * allowed. The time is O(edges x log nodes) in the worst case, and nearly linear for heaps. For the
 * memory, see src/README.md.
 */
int graph_dominators(struct graph_rows *rows, const uint64_t *root_bits, enum graph_search how,
		     struct graph_dominators *out, struct hdb_error *err);
void graph_dominators_release(struct graph_dominators *dominators);

/*
 * Reads the numbers of nodes [first, first + count), which are 0 for unreachable nodes. `first`
 * must be a multiple of GRAPH_NUMBERS_STEP, and `numbers` must have room up to the next multiple.
 * May be called on any thread.
 */
int graph_dominators_numbers(const struct graph_dominators *dominators, uint32_t first,
			     uint64_t *numbers, uint32_t count, struct hdb_error *err);

/*
 * Returns the nodes, indexed by number, in *big (uint32_t, count + 1 entries), which the caller
 * must free with base_big_free. The node with number 0 is GRAPH_NONE.
 */
int graph_dominators_nodes(const struct graph_dominators *dominators, struct base_big *big,
			   struct hdb_error *err);

/*
 * Converts shallow sizes, indexed by number, to retained sizes in place. The virtual root's size
 * becomes the total. If a sum does not fit in narrow sizes, the function fails with HDB_ELIMIT, and
 * the sizes are lost.
 */
int graph_retained(const struct graph_dominators *dominators, struct base_sizes *sizes,
		   struct hdb_error *err);

#endif
