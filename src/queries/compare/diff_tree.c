/*
 * queries/compare/diff_tree.c - diff along merged trees: changes by path from the roots or by
 * dominator, and suspect growth.
 *
 * Paths are defined in owner_tree.h. An object whose path changed appears on both paths: as lost on
 * the old path, and as moved on the new path.
 *
 * Suspects are found as in Eclipse MAT's comparison of two dominator trees: from top-level nodes
 * that grew by more than a share of the older heap, the search descends as long as one child has
 * most of its parent's growth. MAT compares single objects. Here nodes merge objects, so the growth
 * per object is compared, and the search stops at a table with thousands of growing entries.
 */
#include "analysis/merged.h"
#include "queries/compare/diff.h"
#include "queries/compare/owner_tree.h"
#include "query/coverage.h"
#include "query/merged_cells.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* Default of --min: 1/MIN_PART of the oldest dump's reachable bytes. */
#define MIN_PART 1000
/*
 * The search descends into a child with at least this share of its parent's growth (MAT's ratio).
 */
#define DROP_RATIO 0.7
/* Maximum size of the path to the point of growth. */
#define PATH_MAX_BYTES 4096

/* The child that grew the most. */
struct largest {
	uint32_t child; /* ANALYSIS_MERGED_TOP if no child grew */
	int64_t growth;
};

/* State of this part of the diff query. */
struct tree {
	struct owner_tree owners; /* the tree, merged by owner or by class along dominators */
	/* indexed by name: number of objects that nodes have lost since the first dump */
	uint64_t *lost;
	struct analysis_merged_walk walk;
	struct diff_figures *by_side; /* figures of the current row */
	struct largest *largest;      /* indexed by node; only for suspects */
};

static int64_t growth_of(const struct analysis_merged *m, uint32_t node)
{
	return (int64_t)(analysis_merged_sum(m, node, m->dump_count - 1)->total_bytes -
			 analysis_merged_sum(m, node, 0)->total_bytes);
}

/* Returns the absolute change of a node; in these trees, losses rank as high as gains. */
static int64_t change_of(const struct analysis_merged *m, uint32_t node)
{
	const int64_t growth = growth_of(m, node);

	return growth < 0 ? -growth : growth;
}

static void release_tree(struct tree *t)
{
	owner_tree_release(&t->owners);
	analysis_merged_walk_release(&t->walk);
	free(t->by_side);
	free(t->largest);
	free(t->lost);
}

/* Counts the objects that have left their nodes, for each name. */
static int count_lost(struct tree *t, struct hdb_error *err)
{
	const struct analysis_merged *m = &t->owners.merged;

	TRY(BASE_ALLOC(t->lost, m->names.list.count + 1, "a comparison", err));
	for (uint32_t v = 0; v < m->tree.nodes.count; v++) {
		const uint64_t before = analysis_merged_sum(m, v, 0)->count;
		const uint64_t now = analysis_merged_sum(m, v, m->dump_count - 1)->count;

		if (before > now)
			t->lost[analysis_merged_node(m, v)->name] += before - now;
	}
	return HDB_OK;
}

/*
 * Returns whether a new node got most of its objects from others, judging by whether other nodes of
 * the same owner or class lost more than half that number.
 */
static bool has_moved(const struct tree *t, uint32_t node)
{
	const struct analysis_merged *m = &t->owners.merged;
	const struct analysis_merged_sum *first = analysis_merged_sum(m, node, 0);

	assert(t->lost && node < m->tree.nodes.count);
	return !first->count && !first->total_bytes &&
	       t->lost[analysis_merged_node(m, node)->name] >
		       analysis_merged_sum(m, node, m->dump_count - 1)->count / 2;
}

/*
 * Builds the tree of all dumps: by owner along paths if is_named, otherwise by class along
 * dominators.
 */
static int make_tree(struct diff *d, bool is_named, struct tree *t, struct hdb_error *err)
{
	const struct analysis_merged_source source = { .tree = ANALYSIS_TREE_DOMINATORS };

	TRY(BASE_ALLOC(t->by_side, d->side_count, "a comparison", err));
	owner_tree_init(&t->owners, (unsigned)d->side_count);
	for (size_t s = 0; s < d->side_count; s++) {
		const int r = is_named ? owner_tree_add(&d->sides[s], &t->owners, (unsigned)s, NULL,
							err) :
					 analysis_merged_add(&d->sides[s], &t->owners.merged,
							     (unsigned)s, &source, err);

		base_work_release(d->sides[s].work);
		TRY(r);
	}
	analysis_merged_finish(&t->owners.merged);
	return count_lost(t, err);
}

/* ---- suspects ---- */

static int find_largest(struct tree *t, struct hdb_error *err)
{
	const size_t n = t->owners.merged.tree.nodes.count;

	TRY(BASE_ALLOC(t->largest, n + 1, "a comparison", err));
	for (size_t i = 0; i < n; i++)
		t->largest[i] = (struct largest){ ANALYSIS_MERGED_TOP, 0 };
	for (uint32_t v = 0; v < n; v++) {
		const uint32_t parent = analysis_merged_node(&t->owners.merged, v)->parent;
		const int64_t growth = growth_of(&t->owners.merged, v);

		assert(parent == ANALYSIS_MERGED_TOP || parent < v);
		if (parent != ANALYSIS_MERGED_TOP && growth > t->largest[parent].growth)
			t->largest[parent] = (struct largest){ v, growth };
	}
	return HDB_OK;
}

/* Returns whether one child accounts for most of its parent's growth. */
static bool child_has_it(const struct tree *t, uint32_t node)
{
	return t->largest[node].child != ANALYSIS_MERGED_TOP &&
	       (double)t->largest[node].growth >=
		       DROP_RATIO * (double)growth_of(&t->owners.merged, node);
}

/* Returns the growth of a node per object in the newest dump. */
static double growth_each(const struct tree *t, uint32_t node)
{
	const uint64_t count =
		analysis_merged_sum(&t->owners.merged, node, t->owners.merged.dump_count - 1)
			->count;

	return (double)growth_of(&t->owners.merged, node) / (double)(count ? count : 1);
}

/*
 * Finds the node at which the growth of a node accumulates. Terminates because children have higher
 * numbers than their parents.
 */
static uint32_t find_point(const struct tree *t, uint32_t node)
{
	assert(t->largest);
	while (child_has_it(t, node) &&
	       growth_each(t, t->largest[node].child) >= DROP_RATIO * growth_each(t, node))
		node = t->largest[node].child;
	return node;
}

static uint64_t read_threshold(const struct query *q, const struct diff *d)
{
	const uint64_t percent = query_number(q, "threshold", 0);

	return d->whole_bytes[0] / 100 * percent + d->whole_bytes[0] % 100 * percent / 100;
}

int diff_count_suspects(struct query *q, uint64_t *count, struct hdb_error *err)
{
	struct diff *d = q->state;
	BASE_SCOPED(analysis_merged_walk_release) struct analysis_merged_walk walk = { 0 };
	BASE_SCOPED(release_tree) struct tree own = { .lost = NULL };
	const struct tree *t = d->part;
	const uint64_t threshold = read_threshold(q, d);
	const struct analysis_merged_worth worth = { growth_of, (int64_t)threshold + 1, 0 };

	*count = 0;
	if (d->by != DIFF_BY_DOMINATOR && d->by != DIFF_BY_SUSPECT) {
		TRY(make_tree(d, false, &own, err));
		t = &own;
	}
	TRY(analysis_merged_walk(&t->owners.merged, &worth, &walk, err));
	for (size_t i = 0; i < walk.count; i++)
		*count += !walk.order[i].others && !has_moved(t, walk.order[i].node);
	return HDB_OK;
}

/* ---- opening ---- */

/*
 * For suspects: counts the other top-level nodes that grew, and removes the rows that combine
 * several nodes.
 */
static int leave_others(struct query *q, struct tree *t, uint64_t threshold, struct hdb_error *err)
{
	BASE_SCOPED(analysis_merged_walk_release) struct analysis_merged_walk grown = { 0 };
	struct analysis_cut cut = { .objects = ANALYSIS_NOT_COUNTED };
	size_t kept = 0;
	const struct analysis_merged_worth worth = { .rank = growth_of, .low = 1 };

	TRY(analysis_merged_walk(&t->owners.merged, &worth, &grown, err));
	for (size_t i = 0; i < grown.count; i++) {
		const struct analysis_merged_step *step = &grown.order[i];

		if (step->others || growth_of(&t->owners.merged, step->node) > (int64_t)threshold)
			continue;
		cut.rows++;
		cut.bytes += (uint64_t)growth_of(&t->owners.merged, step->node);
	}
	for (size_t i = 0; i < t->walk.count; i++)
		if (!t->walk.order[i].others)
			t->walk.order[kept++] = t->walk.order[i];
	q->total = t->walk.count = kept;
	query_cut(q, &cut, "nodes that grew by at most %" PRIu64 " bytes (--threshold)", threshold);
	return HDB_OK;
}

static int open_walk(struct query *q, struct diff *d, struct hdb_error *err)
{
	struct tree *t = d->part;
	struct analysis_merged_worth worth;
	uint64_t low, depth = 0;
	char small[128];

	if (d->by == DIFF_BY_SUSPECT) {
		low = read_threshold(q, d);
		query_fact(q, "threshold", low);
		TRY(find_largest(t, err));
		low++;
	} else {
		low = query_number(q, "min", d->whole_bytes[0] / MIN_PART);
		depth = query_number(q, "depth", ANALYSIS_MERGED_DEPTH);
		query_fact(q, "min", low);
		query_fact(q, "folded", t->owners.merged.folded);
		/* Unchanged nodes are not listed, even with --min 0. */
		low = low ? low : 1;
	}
	worth = (struct analysis_merged_worth){ d->by == DIFF_BY_PATH ? change_of : growth_of,
						(int64_t)low, (uint32_t)depth };
	TRY(analysis_merged_walk(&t->owners.merged, &worth, &t->walk, err));
	q->total = t->walk.count;
	if (d->by == DIFF_BY_SUSPECT)
		return leave_others(q, t, low - 1, err);
	(void)snprintf(small, sizeof(small),
		       d->by == DIFF_BY_PATH ?
			       "nodes that changed by fewer than %" PRIu64 " bytes" :
			       "nodes that grew by fewer than %" PRIu64 " bytes or not at all",
		       low);
	query_merged_cut(q, &t->owners.merged, &t->walk, small);
	if (t->walk.rests.count)
		query_choose(q, d->side_count > 2 ? DIFF_TREE_COLUMNS ",grows,steps,others" :
						    DIFF_TREE_COLUMNS ",others");
	return HDB_OK;
}

static int open_tree(struct query *q, struct diff *d, struct hdb_error *err)
{
	TRY(make_tree(d, d->by == DIFF_BY_PATH, d->part, err));
	return open_walk(q, d, err);
}

/* ---- rows ---- */

/* Sets a column to the node's object that retains the most in the newest dump, or to null. */
static void set_example(struct query *q, const struct tree *t, size_t column, uint32_t node)
{
	const struct analysis_merged_sum *sum =
		analysis_merged_sum(&t->owners.merged, node, t->owners.merged.dump_count - 1);

	query_set_id(q, column, sum->example_ix);
}

static void set_point(struct query *q, const struct tree *t, uint32_t node)
{
	const uint32_t point = find_point(t, node);
	uint32_t last = point;
	char path[PATH_MAX_BYTES];
	set_example(q, t, DIFF_POINT_ID, point);
	query_set_int(q, DIFF_POINT_DELTA, growth_of(&t->owners.merged, point));
	analysis_merged_path(&t->owners.merged, point, ANALYSIS_MERGED_TOP, path, sizeof(path));
	query_set_text(q, DIFF_POINT, path);
	while (child_has_it(t, last))
		last = t->largest[last].child;
	if (last == point)
		return;
	analysis_merged_path(&t->owners.merged, last, point, path, sizeof(path));
	query_set_text(q, DIFF_POINT_OF, path);
}

static int node_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err)
{
	static const struct query_merged_columns names = { DIFF_LEVEL, DIFF_NAME, DIFF_OTHERS };
	struct tree *t = d->part;
	const struct analysis_merged *m = &t->owners.merged;
	const struct analysis_merged_step *step = &t->walk.order[no];

	assert(no < t->walk.count);
	for (unsigned s = 0; s < d->side_count; s++) {
		const struct analysis_merged_sum *sum =
			analysis_merged_step_sum(m, &t->walk, step, s);

		t->by_side[s] = (struct diff_figures){
			step->others ? sum->total_count : sum->count,
			sum->shallow_bytes,
			sum->total_bytes,
		};
	}
	query_merged_set_step(q, &names, m, &t->walk, step);
	if (step->others)
		return diff_set_figures(q, d, t->by_side, err);
	set_example(q, t, DIFF_ID, step->node);
	if (d->by == DIFF_BY_SUSPECT)
		set_point(q, t, step->node);
	TRY(diff_set_figures(q, d, t->by_side, err));
	if (has_moved(t, step->node))
		query_lend_text(q, DIFF_STATUS, "moved");
	return HDB_OK;
}

static void close_tree(struct diff *d)
{
	release_tree(d->part);
}

const struct diff_part diff_tree = { sizeof(struct tree), open_tree, node_row, close_tree };
