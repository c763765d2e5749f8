/* graph/paths.c - finds paths from roots to a node by breadth-first search over referrers. */
#include "graph/paths.h"

#include "base/scope.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Adds a node that was found from node number `toward`. Returns GRAPH_BUDGET if there are too many
 * nodes.
 */
static int visit(struct graph_paths *p, uint32_t node, uint32_t toward, struct hdb_error *err)
{
	uint32_t number;
	int rc;

	if (p->opt.max_nodes && p->map.count >= p->opt.max_nodes)
		return GRAPH_BUDGET;
	/*
	 * The array is enlarged first, so that every node in the map has an entry even if memory is
	 * exhausted.
	 */
	TRY(base_vec_reserve(&p->toward, 1, sizeof(toward), err));
	rc = graph_node_map_add(&p->map, node, &number, err);
	if (rc != HDB_OK)
		return rc < 0 ? rc : HDB_OK;
	assert(number == p->toward.count);
	assert(toward == GRAPH_NONE || toward < number);
	((uint32_t *)p->toward.data)[p->toward.count++] = toward;
	return HDB_OK;
}

int graph_paths_init(struct graph_paths *paths, const struct graph_access *graph, uint32_t target,
		     const struct graph_paths_options *opt, struct hdb_error *err)
{
	bool reachable;
	uint32_t parent;

	*paths = (struct graph_paths){ .graph = graph };
	if (opt)
		paths->opt = *opt;
	if (target >= graph->node_count)
		return hdb_fail(err, HDB_EUSAGE,
				"target node %" PRIu32 " of a path is out of range (%" PRIu32
				" nodes)",
				target, graph->node_count);
	TRY(graph->reach(graph->ctx, target, &reachable, &parent, err));
	return reachable ? visit(paths, target, GRAPH_NONE, err) : HDB_OK;
}

void graph_paths_release(struct graph_paths *paths)
{
	graph_node_map_release(&paths->map);
	base_vec_release(&paths->toward);
	free(paths->path);
	*paths = (struct graph_paths){ 0 };
}

/*
 * Visits referrer `from` of `to` (number `toward`), unless `from` has already been visited, is
 * unreachable, or its reference does not count.
 */
static int meet(struct graph_paths *p, uint32_t from, uint32_t to, uint32_t toward,
		struct hdb_error *err)
{
	bool reachable, skip;
	uint32_t parent;
	int rc;

	if (graph_node_map_find(&p->map, from) != GRAPH_NONE)
		return HDB_OK;
	rc = p->graph->reach(p->graph->ctx, from, &reachable, &parent, err);
	if (rc < 0 || !reachable)
		return rc;
	if (p->opt.skip) {
		rc = p->opt.skip(p->opt.ctx, from, to, &skip, err);
		if (rc < 0 || skip)
			return rc;
	}
	return visit(p, from, toward, err);
}

static int expand(struct graph_paths *p, uint32_t number, struct hdb_error *err)
{
	const uint32_t node = p->map.node[number];
	const uint32_t *batch;
	size_t count;
	int rc;

	/*
	 * A root is alive without referrers, so the search stops at a root. The referrers of the
	 * target itself are always examined.
	 */
	if (number > 0 && p->graph->is_root(p->graph->ctx, node))
		return HDB_OK;
	TRY(p->graph->begin(p->graph->ctx, GRAPH_REFERRERS, node, err));
	for (;;) {
		rc = p->graph->next(p->graph->ctx, &batch, &count, err);
		if (rc != HDB_OK || count == 0)
			return rc;
		for (size_t i = 0; i < count; i++)
			TRY(meet(p, batch[i], node, number, err));
	}
}

/* Writes the path from the target to root number `root`. */
static int give(struct graph_paths *p, uint32_t root, const uint32_t **path, size_t *count,
		struct hdb_error *err)
{
	const uint32_t *toward = p->toward.data;
	size_t length = 0, i;

	for (uint32_t v = root; v != GRAPH_NONE; v = toward[v])
		length++;
	if (length > p->path_limit) {
		free(p->path);
		p->path_limit = 0;
		TRY(BASE_ALLOC(p->path, 2 * length, "path", err));
		p->path_limit = 2 * length;
	}
	i = length;
	for (uint32_t v = root; v != GRAPH_NONE; v = toward[v])
		p->path[--i] = p->map.node[v];
	*path = p->path;
	*count = length;
	return HDB_OK;
}

int graph_paths_next(struct graph_paths *paths, const uint32_t **path, size_t *count,
		     struct hdb_error *err)
{
	for (;;) {
		while (paths->looked < paths->map.count) {
			const uint32_t number = paths->looked++;
			if (paths->graph->is_root(paths->graph->ctx, paths->map.node[number]))
				return give(paths, number, path, count, err);
		}
		if (paths->expanded == paths->map.count)
			return HDB_END;
		const int rc = expand(paths, paths->expanded, err);
		TRY_ERRORS(rc);
		/*
		 * The budget was exceeded while a node was being expanded. The roots found so far
		 * are returned first. When none are left, the node is expanded again, which returns
		 * GRAPH_BUDGET again.
		 */
		if (rc == GRAPH_BUDGET && paths->looked == paths->map.count)
			return rc;
		if (rc == HDB_OK)
			paths->expanded++;
	}
}
