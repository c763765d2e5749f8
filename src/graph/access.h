/*
 * graph/access.h - interface to a graph that is not in memory. Neighbours are requested node by
 * node.
 *
 * Algorithms that visit a small part of the heap (retained_local.h, paths.h) use this interface.
 * The client (tables of a database, or plain arrays in tests) provides the functions.
 */
#ifndef GRAPH_ACCESS_H
#define GRAPH_ACCESS_H

#include "base/error.h"

#include <stdbool.h>

#define GRAPH_NONE UINT32_MAX

/*
 * A positive result in addition to HDB_END and HDB_NOTFOUND: a limit set by the caller has been
 * reached.
 */
enum { GRAPH_BUDGET = 3 };

enum graph_side { GRAPH_REFERENCES, GRAPH_REFERRERS };

struct graph_access {
	void *ctx;
	uint32_t node_count;
	/* Begins a list of the neighbours of `node` on the given side. Ends the previous list. */
	int (*begin)(void *ctx, enum graph_side side, uint32_t node, struct hdb_error *err);
	/*
	 * Returns the next batch of the list, valid until the next call. Sets *count to 0 at the
	 * end.
	 */
	int (*next)(void *ctx, const uint32_t **batch, size_t *count, struct hdb_error *err);
	/*
	 * Reads a node of the reach tree. Sets *reachable to whether the node is reachable from a
	 * root, and *parent to its parent in the tree, or to GRAPH_NONE for a root.
	 */
	int (*reach)(void *ctx, uint32_t node, bool *reachable, uint32_t *parent,
		     struct hdb_error *err);
	bool (*is_root)(void *ctx, uint32_t node);
};

#endif
