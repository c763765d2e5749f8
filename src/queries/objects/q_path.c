/*
 * queries/objects/q_path.c - the path query: paths from GC roots to an object, which explain why it
 * is alive.
 *
 * The usual questions (all references, or all except referents of weak, soft, phantom and final
 * references) are answered from a reach tree, whose paths prefer the most informative references
 * (derive/strangeness.h). Other exclusions, several paths, and the shortest path require a backward
 * search along the referrers.
 */
#include "analysis/exclude.h"
#include "graph/paths.h"
#include "heap/heap_database.h"
#include "queries/leaks/leak_parts.h"
#include "queries/objects/collection_path.h"
#include "queries/queries.h"

#define NAME_MAX_BYTES 512
/* Maximum number of objects that a backward search visits, which takes a few seconds. */
#define SEARCH_NODES_MAX 20000000u

/* Maximum number of paths a user can request. */
#define PATHS_MAX 1000000

#include <queries/objects/q_path.query.h>

struct path_query {
	uint32_t target;
	struct analysis_excludes excludes;
	bool is_search;
	uint64_t limit, path_no, step;
	struct graph_access access;
	struct graph_paths paths;
	bool has_paths;
	const uint32_t *nodes; /* the current path, target first */
	size_t node_count;
	struct base_vec tree; /* uint32_t: a path from the reach tree */
	bool is_folded;       /* whether collections count as one step */
	/* struct analysis_fold: the folds of the current path; the next fold is the last element */
	struct base_vec folds;
};

static int skip(void *ctx, uint32_t from, uint32_t to, bool *out, struct hdb_error *err)
{
	struct query *q = ctx;
	const struct path_query *s = q->state;
	const int r = heap_passes_over(q->heap, from, out, err);

	return r < 0 || *out ? r : analysis_is_excluded(&s->excludes, from, to, out, err);
}

/* ---- opening ---- */

static int fail_none(const struct query *q, bool reachable, const char *id, struct hdb_error *err)
{
	if (!reachable)
		return hdb_fail(err, HDB_NOTFOUND, "%s is unreachable from any GC root (garbage)",
				id);
	if (q->is_filtered)
		return hdb_fail(err, HDB_NOTFOUND,
				"%s is held only through objects outside the heap %s or through "
				"excluded references",
				id, query_option(q, "heap"));
	return hdb_fail(err, HDB_NOTFOUND,
			"%s is held only through excluded references; "
			"--exclude none shows its path",
			id);
}

/* Reads the path from a reach tree. */
static int read_tree(struct query *q, struct path_query *s, bool is_strong, bool *found,
		     struct hdb_error *err)
{
	uint32_t ix = s->target, parent;
	bool reachable = true;

	*found = false;
	while (ix != GRAPH_NONE) {
		TRY(derive_reach(q->derive, is_strong, ix, &parent, err));
		reachable = parent != ix;
		if (!reachable)
			break;
		TRY(base_vec_push(&s->tree, &ix, sizeof(ix), err));
		if (s->tree.count > q->heap->object_count)
			return hdb_fail(err, HDB_ECORRUPT,
					"%s: damaged: the reach tree has a cycle; "
					"import the dump again",
					heap_path(q->heap));
		ix = parent;
	}
	*found = reachable;
	s->nodes = s->tree.data;
	/* A class that is never unloaded is a root, so the path begins at the class. */
	for (s->node_count = 1; s->node_count < s->tree.count; s->node_count++)
		if (heap_is_permanent_class(q->heap, s->nodes[s->node_count]))
			break;
	s->node_count += s->node_count < s->tree.count;
	s->path_no = 1;
	return HDB_OK;
}

static int open_search(struct query *q, struct path_query *s, struct hdb_error *err)
{
	const struct graph_paths_options opt = {
		.max_nodes = SEARCH_NODES_MAX,
		.skip = skip,
		.ctx = q,
	};

	s->is_search = true;
	TRY(derive_access(q->derive, false, &s->access, err));
	TRY(graph_paths_init(&s->paths, &s->access, s->target, &opt, err));
	s->has_paths = true;
	return HDB_OK;
}

/* Returns the next path of the search: HDB_OK or HDB_END. */
static int search_next(struct path_query *s, struct hdb_error *err)
{
	int r;

	if (s->path_no == s->limit)
		return HDB_END;
	r = graph_paths_next(&s->paths, &s->nodes, &s->node_count, err);
	if (r == GRAPH_BUDGET)
		return hdb_fail(err, HDB_ELIMIT, "found no other path after visiting %u objects",
				SEARCH_NODES_MAX);
	s->path_no += r == HDB_OK;
	s->step = 0;
	return r;
}

/* Finds the collections of a new path. If the dump is missing, the path does not change. */
static int fold_path(struct query *q, struct path_query *s, struct hdb_error *err)
{
	int r;

	s->folds.count = 0;
	if (!s->is_folded)
		return HDB_OK;
	r = analysis_fold_path(&q->session, s->nodes, s->node_count, &s->folds, err);
	if (r == HDB_ECHANGED)
		s->folds.count = 0;
	return r == HDB_ECHANGED ? HDB_OK : r;
}

static int open_path(struct query *q, struct hdb_error *err)
{
	struct path_query *s = q->state;
	bool all, found = false, is_elsewhere = false;
	uint32_t parent = GRAPH_NONE;
	int r;

	s->is_folded = !query_option(q, "internals");
	s->limit = query_number(q, "all", 0);
	TRY(analysis_object(&q->session, q->targets[0], &s->target, err));
	TRY(heap_passes_over(q->heap, s->target, &is_elsewhere, err));
	if (is_elsewhere)
		return hdb_fail(err, HDB_NOTFOUND, "%s is not in the heap %s", q->targets[0],
				query_option(q, "heap"));
	TRY(heap_load_roots(q->heap, err));
	TRY(query_read_excludes(q, &s->excludes, err));
	query_fact_text(q, "exclude", s->excludes.text);
	query_fact_id(q, "id", s->target);
	all = analysis_excludes_is_weak(&s->excludes);
	if (s->limit == 1 && !q->is_filtered && !query_option(q, "shortest") &&
	    (all || analysis_excludes_is_none(&s->excludes))) {
		query_fact_text(q, "way", "reach tree");
		TRY(read_tree(q, s, all, &found, err));
	} else {
		query_fact_text(q, "way", "search backwards");
		TRY_ERRORS(open_search(q, s, err));
		TRY_ERRORS(r = search_next(s, err));
		found = r == HDB_OK;
	}
	if (found)
		return fold_path(q, s, err);
	TRY(derive_reach(q->derive, false, s->target, &parent, err));
	return fail_none(q, parent != s->target, q->targets[0], err);
}

/* ---- rows ---- */

static int next_path(struct query *q, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SHALLOW, RETAINED };
	struct path_query *s = q->state;
	char name[NAME_MAX_BYTES];
	const struct analysis_fold *fold = NULL;
	uint32_t ix;
	int r = HDB_OK;

	if (s->step == s->node_count) {
		TRY(s->is_search ? search_next(s, err) : HDB_END);
		TRY(fold_path(q, s, err));
	}
	if (s->folds.count)
		fold = base_vec_at(&s->folds, struct analysis_fold, s->folds.count - 1);
	if (fold && fold->inner + 1 == s->step) {
		s->step = fold->outer;
		s->folds.count--;
	} else {
		fold = NULL;
	}
	ix = s->nodes[s->step];
	query_set(q, PATH, s->path_no);
	query_set(q, STEP, s->step);
	query_set_object(q, &cells, ix);
	if (fold) {
		analysis_fold_text(&q->session, fold, name, sizeof(name));
		query_set_text(q, NAME, name);
	} else if (s->step) {
		r = analysis_holder(&q->session, ix, s->nodes[s->step - 1], BASE_TEXT(name), err);
		if (r == HDB_OK)
			query_set_text(q, NAME, name);
		else if (r == HDB_ECHANGED)
			/* the field names require the dump, but the path does not */
			r = HDB_OK;
	}
	TRY(r);
	if (s->step + 1 == s->node_count) {
		query_roots_text(q, ix, true, BASE_TEXT(name));
		query_set_text(q, ROOT, name);
	}
	s->step++;
	return HDB_OK;
}

static void close_path(struct query *q)
{
	struct path_query *s = q->state;

	if (s->has_paths)
		graph_paths_release(&s->paths);
	base_vec_release(&s->tree);
	analysis_excludes_release(&s->excludes);
	base_vec_release(&s->folds);
}

QUERY_DEFINE(path, .state_size = sizeof(struct path_query), .open = open_path, .next = next_path,
	     .close = close_path);
