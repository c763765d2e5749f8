/*
 * graph/reach_masks.h - for each of several sets of nodes, finds the nodes that are reachable from
 * the roots without entering the set, all in a single walk.
 */
#ifndef GRAPH_REACH_MASKS_H
#define GRAPH_REACH_MASKS_H

#include "graph/adjacency.h"

/* Maximum number of sets in one walk. */
#define GRAPH_MASK_SETS 32u

/* A node and the sets to which it belongs, one bit each. */
struct graph_member {
	uint32_t node;
	uint32_t sets;
};

/*
 * Computes reached[v] (node_count entries, provided by the caller). Bit s is set if v is not in set
 * s and some path from the roots to v contains no nodes of set s. Sets are numbered below
 * set_count. Members are in ascending order of node, and each node appears once. is_member is the
 * bit set of these nodes. A node is visited again if another path to it avoids more sets. This
 * happens at most set_count times, and in heaps once or twice. Temporary memory: 4 bytes and a bit
 * per node.
 */
struct graph_mask_sets {
	const struct graph_member *members; /* members in order of node */
	size_t member_count;
	const uint64_t *is_member; /* bit set of the nodes in `members` */
	unsigned count;            /* number of sets, at most GRAPH_MASK_SETS */
};
int graph_reach_masks(const struct graph_rows *rows, const uint64_t *root_bits,
		      const struct graph_mask_sets *sets, uint32_t *reached, struct hdb_error *err);

#endif
