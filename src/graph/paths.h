/*
 * graph/paths.h - paths from roots to a node, the shortest first.
 *
 * A breadth-first search over the referrers. As in Eclipse MAT each node is visited once, and
 * each time that a root is met its path is given: so not all paths there are, but one for every
 * root that is found, never longer than the next. Beyond a root the search does not go on,
 * except from the target itself.
 */
#ifndef GRAPH_PATHS_H
#define GRAPH_PATHS_H

#include "base/vec.h"
#include "graph/node_map.h"

struct graph_paths_options {
	uint32_t max_nodes; /* visited; 0: no limit */
	/* Says whether the reference from -> to does not count. NULL: all do. */
	int (*skip)(void *ctx, uint32_t from, uint32_t to, bool *skip, struct hdb_error *err);
	void *ctx; /* for skip; lent */
};

struct graph_paths {
	const struct graph_access *graph;
	struct graph_paths_options opt;
	struct graph_node_map map; /* visited, in the order of the search */
	struct base_vec toward;    /* uint32_t by number: that of the next one to the target */
	uint32_t expanded;         /* numbers below it were asked for their referrers */
	uint32_t looked;           /* numbers below it were looked at as roots */
	uint32_t *path;            /* the last one given */
	size_t path_limit;
};

/*
 * Starts at `target`; graph and what `opt` (may be NULL) points to are lent. An unreachable
 * target has no paths. HDB_OK or a failure. Release it in any case.
 */
int graph_paths_init(struct graph_paths *paths, const struct graph_access *graph, uint32_t target,
		     const struct graph_paths_options *opt, struct hdb_error *err);
void graph_paths_release(struct graph_paths *paths);

/*
 * The next path: *path holds *count nodes from the target to the root, borrowed until the next
 * call. HDB_OK, HDB_END when there is none, GRAPH_BUDGET when max_nodes were visited, or a failure.
 */
int graph_paths_next(struct graph_paths *paths, const uint32_t **path, size_t *count,
		     struct hdb_error *err);

#endif
