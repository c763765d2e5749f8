/*
 * graph/access.h - a graph that is not in memory: neighbours are asked for, node by node.
 *
 * The algorithms that look at a small part of the heap (retained_local.h, paths.h) work on
 * this; whoever has the graph (tables of a database, or plain arrays in tests) fills in the
 * functions.
 */
#ifndef GRAPH_ACCESS_H
#define GRAPH_ACCESS_H

#include "base/error.h"

#include <stdbool.h>

#define GRAPH_NONE UINT32_MAX

/* A result above 0 beside HDB_END and HDB_NOTFOUND: a limit that the caller set was reached. */
enum { GRAPH_BUDGET = 3 };

enum graph_side { GRAPH_REFERENCES, GRAPH_REFERRERS };

struct graph_access {
	void *ctx;
	uint32_t node_count;
	/* Starts a list of the neighbours of `node` on one side; ends the list before. */
	int (*begin)(void *ctx, enum graph_side side, uint32_t node, struct hdb_error *err);
	/* Lends the next batch of that list until the next call; *count 0 at its end. */
	int (*next)(void *ctx, const uint32_t **batch, size_t *count, struct hdb_error *err);
	/*
	 * The reach tree: *reachable says whether a root reaches the node; *parent is its
	 * parent in the tree, GRAPH_NONE for a root.
	 */
	int (*reach)(void *ctx, uint32_t node, bool *reachable, uint32_t *parent,
		     struct hdb_error *err);
	bool (*is_root)(void *ctx, uint32_t node);
};

#endif
