/*
 * analysis/common_path.c - finds the common part of the shortest paths to many objects.
 *
 * The paths are read from the reach tree, from each object up to the first object on an earlier
 * path. Together, the paths form a tree whose nodes are numbered in order of discovery. If the
 * paths are visited from last to first, and the nodes of each path upwards, children come before
 * their parents. One pass therefore computes the number of objects below each node, and the size
 * that they retain.
 */
#include "analysis/session.h"
#include "analysis/suspects.h"
#include "graph/node_map.h"

#include <assert.h>

/* An object is common to the paths if more than this share of the paths contains it (MAT: 0.8). */
#define COMMON_NUMERATOR 8u
#define COMMON_DENOMINATOR 10u
/*
 * The search ends at a node whose best child has less than this share of its retained size (MAT:
 * 0.7).
 */
#define DROP_NUMERATOR 7u
#define DROP_DENOMINATOR 10u
/* Maximum number of nodes on all paths together, which take 50 MB. Further paths are ignored. */
#define NODES_MAX 1000000u
/* Maximum number of common objects listed. */
#define COMMON_MAX 1000u
/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 16384u

struct node {
	uint32_t parent;         /* number; GRAPH_NONE: a root */
	uint32_t count;          /* number of objects below the node, including its own object */
	uint64_t retained_bytes; /* retained size of these objects */
	uint32_t best;           /* the child with the most objects, or GRAPH_NONE for a leaf */
};

struct tree {
	struct graph_node_map map;
	struct base_vec nodes; /* struct node, indexed by number */
	struct base_vec walks; /* uint32_t: first node number of each path */
	struct node top;       /* an artificial node above the roots */
};

static struct node *node_at(struct tree *t, uint32_t number)
{
	assert(number == GRAPH_NONE || number < t->nodes.count);
	return number == GRAPH_NONE ? &t->top : base_vec_at(&t->nodes, struct node, number);
}

/* Adds the path from object ix upwards, unless the object is not reachable. */
static int add_path(const struct session *session, struct tree *t, bool is_strong, uint32_t ix,
		    struct hdb_error *err)
{
	const uint32_t first = t->map.count;
	uint64_t retained;
	uint32_t number, parent, below = GRAPH_NONE;
	int r = derive_retained(session->derive, ix, &retained, err);
	int added = HDB_OK;

	TRY(r);
	for (uint32_t at = ix; at != GRAPH_NONE && added == HDB_OK; at = parent) {
		const struct node node = { .parent = GRAPH_NONE, .best = GRAPH_NONE };

		r = derive_reach(session->derive, is_strong, at, &parent, err);
		if (r < 0 || parent == at)
			return r;
		added = graph_node_map_add(&t->map, at, &number, err);
		if (added < 0)
			return added;
		if (added == HDB_OK)
			TRY(base_vec_push(&t->nodes, &node, sizeof(node), err));
		if (below != GRAPH_NONE)
			node_at(t, below)->parent = number;
		if (at == ix) {
			node_at(t, number)->count++;
			node_at(t, number)->retained_bytes += retained;
		}
		below = number;
		if (t->map.count % STEP_OBJECTS == 0)
			TRY(base_step(session->work, t->map.count, err));
	}
	return base_vec_push(&t->walks, &first, sizeof(first), err);
}

static int add_paths(const struct session *session, struct tree *t, bool is_strong,
		     const struct base_vec *members, struct hdb_error *err)
{
	for (size_t i = 0; i < members->count && t->map.count < NODES_MAX; i++)
		TRY(add_path(session, t, is_strong, *base_vec_at(members, uint32_t, i), err));
	return HDB_OK;
}

/* Adds the figures of a node to its parent, and updates the parent's best child. */
static void add_up(struct tree *t, uint32_t number)
{
	const struct node *node = node_at(t, number);
	struct node *parent = node_at(t, node->parent);

	parent->count += node->count;
	parent->retained_bytes += node->retained_bytes;
	if (parent->best == GRAPH_NONE || node->count > node_at(t, parent->best)->count ||
	    (node->count == node_at(t, parent->best)->count &&
	     t->map.node[number] < t->map.node[parent->best]))
		parent->best = number;
}

static void add_all_up(struct tree *t)
{
	size_t end = t->map.count;

	t->top = (struct node){ .best = GRAPH_NONE };
	for (size_t w = t->walks.count; w-- > 0;) {
		const uint32_t first = *base_vec_at(&t->walks, uint32_t, w);

		for (size_t i = first; i < end; i++)
			add_up(t, (uint32_t)i);
		end = first;
	}
}

static int follow(struct tree *t, uint64_t least, struct base_vec *common, struct hdb_error *err)
{
	uint32_t number = t->top.best;

	while (number != GRAPH_NONE && common->count < COMMON_MAX) {
		const struct node *node = node_at(t, number), *child;

		if (node->count <= least)
			break;
		TRY(base_vec_push(common, &t->map.node[number], sizeof(uint32_t), err));
		child = node->best == GRAPH_NONE ? NULL : node_at(t, node->best);
		if (!child || (double)child->retained_bytes * DROP_DENOMINATOR <
				      (double)node->retained_bytes * DROP_NUMERATOR)
			break;
		number = node->best;
	}
	return HDB_OK;
}

static void release_tree(struct tree *t)
{
	graph_node_map_release(&t->map);
	base_vec_release(&t->nodes);
	base_vec_release(&t->walks);
}

int analysis_common_path(const struct session *session, struct analysis_suspect *group,
			 struct hdb_error *err)
{
	const struct base_vec *members = &group->members;
	BASE_SCOPED(release_tree) struct tree t = { 0 };
	uint64_t least;

	base_stage(session->work, "merging paths", 0, "objects");
	TRY(add_paths(session, &t, true, members, err));
	if (!t.map.count)
		TRY(add_paths(session, &t, false, members, err));
	add_all_up(&t);
	/*
	 * Counts only members whose paths are in the tree. MAT also counts members without a path.
	 */
	least = (t.map.count < NODES_MAX ? members->count : t.walks.count) *
		(uint64_t)COMMON_NUMERATOR / COMMON_DENOMINATOR;
	return follow(&t, least, &group->common, err);
}
