/*
 * graph/dominators/semi_nca.h - immediate dominators of a rooted graph, and what follows from them
 * at once.
 *
 * A virtual root has an edge to every node marked as root, so a root's immediate dominator is
 * the virtual root. Algorithm: SEMI-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and
 * Related Problems", 2005), with an explicit stack everywhere. Reads no files.
 *
 * Threads search at the same time. Each takes the nodes that it meets first, by its own
 * depth-first search from its own roots. An edge from one thread's nodes to another's is a way from
 * the virtual root that has no node in common with the way by which the other one came: the virtual
 * root dominates that node. So a path that
 * leaves a thread's part and comes back does so at such a node: parts can be solved independently,
 * at the same time. Which thread takes a node is a race; its dominator is the same either way.
 *
 * The result is in the numbers of those preorders, one after the other: the virtual root has number
 * 0, reached nodes 1..count, and a dominator's number is always lower than the node's. So whatever
 * is summed up the tree is summed by one loop from the highest number down.
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
	uint32_t count;            /* reached nodes */
	const uint32_t *dominator; /* by number: the dominator's number; [0] is 0 */
	struct base_runs numbers;  /* by node, as graph_dominators_numbers gives them */
	uint64_t step_count;       /* nodes and edges looked at, links followed */
	struct base_big dominator_big;
};

/*
 * How to find semidominators: as the budget allows; with links for all nodes; with links for joins
 * only (semi_lowmem.c); or, for tests, with links and one search a thread even for few nodes. The
 * result is the same.
 */
enum graph_search {
	GRAPH_SEARCH_ANY,
	GRAPH_SEARCH_LINKS,
	GRAPH_SEARCH_LOWMEM,
	GRAPH_SEARCH_PARTS,
	GRAPH_SEARCHES
};

/* Nodes at which graph_dominators_numbers can start: multiples of this. */
#define GRAPH_NUMBERS_STEP 128u

/* Bytes a node of the largest array that graph_dominators needs, when it has given up the rows. */
#define GRAPH_DOMINATORS_BYTES 8u

/*
 * Of the budget, what the search should have whatever the rows take: base_work_keep it before
 * they are loaded; graph_dominators gives it free.
 */
static inline uint64_t graph_dominators_kept(const struct base_work *work, uint32_t node_count)
{
	const uint64_t wanted = (uint64_t)node_count / 2 + ((uint64_t)4 << 20);

	return wanted < work->memory_bytes / 2 ? wanted : work->memory_bytes / 2;
}

/*
 * Fills *out; release it in any case. `rows`, whose work is this one's, are given up: they are
 * released when the search is done with them. `root_bits` is a bit vector of node_count bits
 * (64-bit words). Duplicate edges and self-loops are fine. Time O(edges x log nodes) in the worst
 * case, near linear on heaps. Memory: see src/README.md.
 */
int graph_dominators(struct graph_rows *rows, const uint64_t *root_bits, enum graph_search how,
		     struct graph_dominators *out, struct hdb_error *err);
void graph_dominators_release(struct graph_dominators *dominators);

/*
 * The numbers of nodes [first, first + count), 0 for those that no root reaches; first is a
 * multiple of GRAPH_NUMBERS_STEP, and `numbers` has room for as many more to the next multiple. May
 * be called on any thread.
 */
int graph_dominators_numbers(const struct graph_dominators *dominators, uint32_t first,
			     uint64_t *numbers, uint32_t count, struct hdb_error *err);

/*
 * The nodes by number, into *big (uint32_t, count + 1 of them; to be freed with base_big_free):
 * GRAPH_NONE for number 0.
 */
int graph_dominators_nodes(const struct graph_dominators *dominators, struct base_big *big,
			   struct hdb_error *err);

/*
 * Turns shallow sizes by number into retained ones, in place; that of the virtual root becomes the
 * sum. HDB_ELIMIT if narrow sizes do not hold a sum: what they were is lost then.
 */
int graph_retained(const struct graph_dominators *dominators, struct base_sizes *sizes,
		   struct hdb_error *err);

#endif
