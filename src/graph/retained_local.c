/*
 * graph/retained_local.c - computes the retained set by removing nodes from a subtree of the reach
 * tree. See retained_local.h.
 */
#include "graph/retained_local.h"

#include "graph/node_map.h"
#include "base/scope.h"
#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>

struct local {
	const struct graph_access *graph;
	struct graph_retained_options limits;
	struct graph_node_map map; /* the subtree; its members come first */
	uint32_t members;          /* number of members */
	bool *removed;             /* by number in the map */
	uint32_t *pending;         /* removed nodes whose references have not been followed yet */
	uint32_t pending_count;
	uint32_t removed_count;
	uint64_t edges;
};

/*
 * Reads and counts the next batch of neighbours. Returns HDB_OK, HDB_END after the last batch,
 * GRAPH_BUDGET, or a failure.
 */
static int next_batch(struct local *l, const uint32_t **batch, size_t *count, struct hdb_error *err)
{
	TRY_ERRORS(l->graph->next(l->graph->ctx, batch, count, err));
	if (*count == 0)
		return HDB_END;
	l->edges += *count;
	return l->limits.max_edges && l->edges > l->limits.max_edges ? GRAPH_BUDGET : HDB_OK;
}

static int add_node(struct local *l, uint32_t node, struct hdb_error *err)
{
	uint32_t number;

	TRY_ERRORS(graph_node_map_add(&l->map, node, &number, err));
	return l->limits.max_nodes && l->map.count > l->limits.max_nodes ? GRAPH_BUDGET : HDB_OK;
}

static int add_members(struct local *l, const uint32_t *members, size_t count,
		       struct hdb_error *err)
{
	for (size_t i = 0; i < count; i++) {
		bool reachable;
		uint32_t parent;
		if (members[i] >= l->graph->node_count)
			return hdb_fail(err, HDB_EUSAGE,
					"node %" PRIu32 " is out of range (%" PRIu32 " nodes)",
					members[i], l->graph->node_count);
		TRY(l->graph->reach(l->graph->ctx, members[i], &reachable, &parent, err));
		if (reachable)
			TRY(add_node(l, members[i], err));
	}
	l->members = l->map.count;
	return HDB_OK;
}

/* Adds the children of `node` in the reach tree. */
static int add_children(struct local *l, uint32_t node, struct hdb_error *err)
{
	const uint32_t *batch;
	size_t count;
	int rc;

	TRY_ERRORS(l->graph->begin(l->graph->ctx, GRAPH_REFERENCES, node, err));
	while ((rc = next_batch(l, &batch, &count, err)) == HDB_OK) {
		for (size_t i = 0; i < count; i++) {
			bool reachable;
			uint32_t parent;

			TRY(l->graph->reach(l->graph->ctx, batch[i], &reachable, &parent, err));
			if (reachable && parent == node)
				TRY(add_node(l, batch[i], err));
		}
	}
	return rc == HDB_END ? HDB_OK : rc;
}

static void take_away(struct local *l, uint32_t number)
{
	if (number < l->members || l->removed[number])
		return;
	assert(number < l->map.count);
	assert(l->pending_count < l->map.count);
	l->removed[number] = true;
	l->pending[l->pending_count++] = number;
	l->removed_count++;
}

/* Removes the nodes to which removed nodes refer, until no more nodes are removed. */
static int spread(struct local *l, struct hdb_error *err)
{
	while (l->pending_count > 0) {
		const uint32_t node = l->map.node[l->pending[--l->pending_count]];
		const uint32_t *batch;
		size_t count;
		int rc;

		TRY_ERRORS(l->graph->begin(l->graph->ctx, GRAPH_REFERENCES, node, err));
		while ((rc = next_batch(l, &batch, &count, err)) == HDB_OK) {
			for (size_t i = 0; i < count; i++) {
				const uint32_t number = graph_node_map_find(&l->map, batch[i]);
				if (number != GRAPH_NONE)
					take_away(l, number);
			}
		}
		if (rc != HDB_END)
			return rc;
	}
	return HDB_OK;
}

/*
 * Sets *found to whether `node` is a root or has a referrer outside the subtree. Referrers that
 * were removed need not be checked, because spread() has followed their references.
 */
static int held_from_outside(struct local *l, uint32_t node, bool *found, struct hdb_error *err)
{
	const uint32_t *batch;
	size_t count;
	int rc;

	*found = l->graph->is_root(l->graph->ctx, node);
	if (*found)
		return HDB_OK;
	TRY_ERRORS(l->graph->begin(l->graph->ctx, GRAPH_REFERRERS, node, err));
	while ((rc = next_batch(l, &batch, &count, err)) == HDB_OK) {
		for (size_t i = 0; i < count; i++) {
			uint32_t parent;
			if (graph_node_map_find(&l->map, batch[i]) != GRAPH_NONE)
				continue;
			rc = l->graph->reach(l->graph->ctx, batch[i], found, &parent, err);
			if (rc < 0 || *found)
				return rc;
		}
	}
	return rc == HDB_END ? HDB_OK : rc;
}

/*
 * Removes all nodes that are not retained. spread() runs after each removal, so the nodes that it
 * removes are not examined here.
 */
static int remove_all(struct local *l, struct hdb_error *err)
{
	for (uint32_t i = l->members; i < l->map.count; i++) {
		bool found;
		if (l->removed[i])
			continue;
		TRY(held_from_outside(l, l->map.node[i], &found, err));
		if (found) {
			take_away(l, i);
			TRY(spread(l, err));
		}
	}
	return HDB_OK;
}

/*
 * Returns the nodes of the map that have not been removed, sorted. Uses `pending` as scratch space.
 */
static void give(struct local *l, struct graph_retained_set *out)
{
	uint32_t count = 0;

	assert(l->pending_count == 0);
	for (uint32_t i = 0; i < l->map.count; i++) {
		if (!l->removed[i])
			l->map.node[count++] = l->map.node[i];
	}
	base_sort_nodes(l->map.node, l->pending, count);
	out->nodes = l->map.node;
	out->count = count;
	l->map.node = NULL;
}

static int run(struct local *l, const uint32_t *members, size_t count,
	       struct graph_retained_set *out, struct hdb_error *err)
{
	TRY(add_members(l, members, count, err));
	for (uint32_t i = 0; i < l->map.count; i++)
		TRY(add_children(l, l->map.node[i], err));
	TRY(BASE_ALLOC(l->removed, l->map.count, "retained set", err));
	TRY(BASE_ALLOC(l->pending, l->map.count, "retained set", err));
	TRY(remove_all(l, err));
	give(l, out);
	return HDB_OK;
}

int graph_retained_local(const struct graph_access *graph, struct graph_members members,
			 const struct graph_retained_options *opt, struct graph_retained_set *out,
			 struct hdb_error *err)
{
	struct local l = { .graph = graph };
	int rc;

	*out = (struct graph_retained_set){ 0 };
	if (opt)
		l.limits = *opt;
	rc = run(&l, members.node, members.count, out, err);
	out->subtree_nodes = l.map.count;
	out->removed_nodes = l.removed_count;
	out->edges = l.edges;
	free(l.removed);
	free(l.pending);
	graph_node_map_release(&l.map);
	return rc;
}

void graph_retained_set_release(struct graph_retained_set *set)
{
	free(set->nodes);
	*set = (struct graph_retained_set){ 0 };
}
