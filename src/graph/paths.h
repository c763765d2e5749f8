/*
 * graph/paths.h - finds paths from roots to a node, shortest first.
 *
 * The paths are found by a breadth-first search over referrers. As in Eclipse MAT, each node is
 * visited once, and one path is returned for each root found, in ascending order of length. Other
 * paths are not found. The search does not continue beyond a root, unless the root is the target
 * itself.
 */
#ifndef GRAPH_PATHS_H
#define GRAPH_PATHS_H

#include "base/vec.h"
#include "graph/node_map.h"

struct graph_paths_options {
	uint32_t max_nodes; /* maximum number of visited nodes, or 0 for no limit */
	/*
	 * Sets *skip to whether the reference from `from` to `to` is ignored. If NULL, no reference
	 * is ignored.
	 */
	int (*skip)(void *ctx, uint32_t from, uint32_t to, bool *skip, struct hdb_error *err);
	void *ctx; /* argument of skip; borrowed */
};

struct graph_paths {
	const struct graph_access *graph;
	struct graph_paths_options opt;
	struct graph_node_map map; /* visited nodes, in search order */
	/* uint32_t, indexed by node number: the next node on the path to the target */
	struct base_vec toward;
	uint32_t expanded; /* nodes with a lower number have been expanded */
	uint32_t looked;   /* it is known which nodes with a lower number are roots */
	uint32_t *path;    /* the last path returned */
	size_t path_limit;
};

/*
 * Begins a search from `target`. `graph` and the pointers in `opt` (which may be NULL) are
 * borrowed. An unreachable target has no paths. The caller must release *paths even after a
 * failure.
 */
int graph_paths_init(struct graph_paths *paths, const struct graph_access *graph, uint32_t target,
		     const struct graph_paths_options *opt, struct hdb_error *err);
void graph_paths_release(struct graph_paths *paths);

/*
 * Returns the next path, which consists of *count nodes from the target to the root and is valid
 * until the next call. The result is HDB_OK, HDB_END if there are no more paths, GRAPH_BUDGET if
 * max_nodes nodes have been visited, or an error.
 */
int graph_paths_next(struct graph_paths *paths, const uint32_t **path, size_t *count,
		     struct hdb_error *err);

#endif
