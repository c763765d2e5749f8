/*
 * queries/compare/diff_growth.c - diff by growth: references that lead to more and more objects.
 *
 * A child of a node in the growth tree (growth_tree.h) grows if it exists in all dumps and gains at
 * least --loops objects from each dump to the next, that is, one each time the program repeats its
 * work. A node with such children grows. Such a node is listed unless its parent grows too, because
 * its growth is then part of its parent's growth. LeakCanary's ObjectGrowthDetector, after the
 * paper on BLeak (Vilk and Berger, 2018), finds leaks in this way without knowing which objects
 * should exist.
 *
 * Unlike LeakCanary, heapdb treats the roots as a node too, so a growing number of threads is
 * listed.
 */
#include "analysis/session.h"
#include "base/bits.h"
#include "base/sort.h"
#include "derive/native.h"
#include "queries/compare/diff.h"
#include "queries/compare/growth_tree.h"
#include "queries/traces/trace_search.h"
#include "query/coverage.h"

#include <assert.h>
#include <stdlib.h>

/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 65536u
/* Maximum number of steps of all groups together, as a multiple of the number of objects. */
#define STEPS_FACTOR 64u

/* Sizes of one group. */
struct share {
	/* rounded size, including its share of objects that several groups reach */
	uint64_t bytes;
	uint64_t alone_bytes; /* size of objects that no other group reaches */
};

/* ---- memory that groups of objects hold ---- */

/*
 * Divides the memory that would be freed without the groups among those that reach it. Dominators
 * do not help here: if two growing collections share objects, neither retains them. The search
 * follows the same references as leak traces, and uses the sizes recorded in the dump
 * (traces/trace_search.h).
 */
struct sharing {
	const struct session *session;
	const uint32_t *place;    /* indexed by object: its node, or UINT32_MAX; borrowed */
	const uint32_t *group_of; /* indexed by node: its group, or UINT32_MAX; borrowed */
	uint32_t group_count;
	struct trace_graph graph;
	struct base_vec native; /* struct derive_native */
	uint64_t *kept;         /* bit set of objects that are reachable without the groups */
	uint32_t *stamp;        /* indexed by object: last turn that reached it */
	uint32_t *count;        /* indexed by object: number of groups that reach the object */
	struct base_big stamp_big, count_big;
	struct base_vec stack; /* uint32_t: objects whose references are still to be followed */
	/* current turn: one group in one pass; never 0 */
	uint32_t turn;
	uint64_t steps_left, done;
	/* whether this is the first pass, which only counts; the second adds up sizes */
	bool is_first;
	double bytes;
	struct share *share; /* share of the current group */
};

static uint32_t group_of(const struct sharing *s, uint32_t ix)
{
	const uint32_t node = s->place[ix];
	const uint32_t group = node == UINT32_MAX ? UINT32_MAX : s->group_of[node];

	assert(group == UINT32_MAX || group < s->group_count);
	return group;
}

static int step(struct sharing *s, struct hdb_error *err)
{
	return ++s->done % STEP_OBJECTS == 0 ? base_step(s->session->work, s->done, err) : HDB_OK;
}

/* ---- without the groups ---- */

/* Marks an object that is reachable without the groups. */
static int keep(struct sharing *s, uint32_t ix, struct hdb_error *err)
{
	if (base_bit_has(s->kept, ix) || group_of(s, ix) != UINT32_MAX)
		return HDB_OK;
	base_bit_put(s->kept, ix);
	return base_vec_push(&s->stack, &ix, sizeof(ix), err);
}

static int keep_reference(void *ctx, const struct trace_reference *reference, struct hdb_error *err)
{
	return keep(ctx, reference->to, err);
}

static int mark_kept(struct sharing *s, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec roots = { 0 };

	TRY(trace_roots(&s->graph, &roots, err));
	for (size_t i = 0; i < roots.count; i++)
		TRY(keep(s, base_vec_at(&roots, struct trace_root, i)->ix, err));
	while (s->stack.count) {
		const uint32_t ix = *base_vec_at(&s->stack, uint32_t, --s->stack.count);

		TRY(trace_graph_read(&s->graph, ix, keep_reference, s, err));
		TRY(step(s, err));
	}
	return HDB_OK;
}

/* ---- the groups ---- */

/*
 * Adds an object to the current group: its whole size if no other group reaches it, otherwise the
 * group's share.
 */
static int add_size(struct sharing *s, uint32_t ix, struct hdb_error *err)
{
	const double part = s->count[ix] ? 1.0 / (double)s->count[ix] : 1;
	struct heap_object object;
	uint64_t bytes = 0;

	/* Shares are known only after all groups have been counted. */
	assert(!s->is_first && !base_bit_has(s->kept, ix));
	TRY(heap_object(s->session->heap, ix, &object, err));
	TRY(trace_recorded_size(s->session->heap, &object, &bytes, err));
	bytes += derive_native_in(&s->native, ix);
	s->bytes += (double)bytes * part;
	if (s->count[ix] <= 1)
		s->share->alone_bytes += bytes;
	return HDB_OK;
}

/* Visits an object from the current group, at most once per turn. */
static int reach(struct sharing *s, uint32_t ix, struct hdb_error *err)
{
	assert(s->turn); /* 0 is the stamp of unreached objects */
	if (s->stamp[ix] == s->turn || base_bit_has(s->kept, ix) || !s->steps_left)
		return HDB_OK;
	s->steps_left--;
	s->stamp[ix] = s->turn;
	if (s->is_first)
		s->count[ix]++;
	else
		TRY(add_size(s, ix, err));
	return base_vec_push(&s->stack, &ix, sizeof(ix), err);
}

static int reach_reference(void *ctx, const struct trace_reference *reference,
			   struct hdb_error *err)
{
	return reach(ctx, reference->to, err);
}

/* Follows one group, whose members are ix[0] to ix[count - 1]. */
static int follow_group(struct sharing *s, const uint32_t *ix, uint64_t count,
			struct hdb_error *err)
{
	assert(!s->stack.count);
	s->turn++;
	s->bytes = 0;
	for (uint64_t i = 0; i < count; i++)
		TRY(reach(s, ix[i], err));
	while (s->stack.count) {
		const uint32_t at = *base_vec_at(&s->stack, uint32_t, --s->stack.count);

		TRY(trace_graph_read(&s->graph, at, reach_reference, s, err));
		TRY(step(s, err));
	}
	return HDB_OK;
}

/*
 * Sorts members by group: the members of group g are (*list)[(*first)[g]] to (*list)[(*first)[g +
 * 1] - 1]. The caller must free both arrays, even after a failure.
 */
static int list_members(const struct sharing *s, uint64_t **first, uint32_t **list,
			struct hdb_error *err)
{
	const uint32_t n = s->session->heap->object_count, groups = s->group_count;
	uint64_t all = 0;

	TRY(BASE_ALLOC(*first, (size_t)groups + 2, "growing objects", err));
	for (uint32_t ix = 0; ix < n; ix++)
		if (group_of(s, ix) != UINT32_MAX)
			(*first)[group_of(s, ix) + 2]++;
	for (uint32_t g = 0; g < groups; g++)
		(*first)[g + 2] += (*first)[g + 1];
	all = (*first)[groups + 1];
	TRY(BASE_ALLOC(*list, all + 1, "growing objects", err));
	for (uint32_t ix = 0; ix < n; ix++)
		if (group_of(s, ix) != UINT32_MAX)
			(*list)[(*first)[group_of(s, ix) + 1]++] = ix;
	return HDB_OK;
}

static int follow_groups(struct sharing *s, struct share *shares, bool *is_cut,
			 struct hdb_error *err)
{
	BASE_FREED uint64_t *first = NULL;
	BASE_FREED uint32_t *list = NULL;

	TRY(list_members(s, &first, &list, err));
	for (int pass = 0; pass < 2; pass++) {
		s->is_first = pass == 0;
		trace_graph_rewind(&s->graph);
		s->steps_left =
			(uint64_t)s->session->heap->object_count * STEPS_FACTOR + STEP_OBJECTS;
		for (uint32_t g = 0; g < s->group_count; g++) {
			s->share = &shares[g];
			TRY(follow_group(s, list + first[g], first[g + 1] - first[g], err));
			s->share->bytes = (uint64_t)(s->bytes + 0.5);
		}
		*is_cut |= !s->steps_left;
	}
	return HDB_OK;
}

static void release(struct sharing *s)
{
	base_big_free(&s->stamp_big);
	base_big_free(&s->count_big);
	base_vec_release(&s->stack);
	base_vec_release(&s->native);
	trace_graph_release(&s->graph);
	free(s->kept);
}

/*
 * Computes the shares of all groups of one dump. *given contains the members (borrowed). The caller
 * must free *shares. Sets *is_cut if the groups reach so many objects of one another that the
 * shares are only lower bounds. Memory: temporarily 13 bytes per object, within the budget.
 */
static int find_shares(const struct sharing *given, struct share **shares, bool *is_cut,
		       struct hdb_error *err)
{
	const struct session *session = given->session;
	const uint64_t n = session->heap->object_count;
	BASE_SCOPED(release) struct sharing s = *given;
	HEAP_FILTER_SCOPE(heap_show_all, session->heap);

	TRY(trace_graph_init(&s.graph, session, LIBRARY_FOR_GROWTH, err));
	TRY(BASE_ALLOC(*shares, (size_t)s.group_count + 1, "growing objects", err));
	TRY(BASE_ALLOC(s.kept, (size_t)base_bit_words(n) + 1, "growing objects", err));
	TRY(base_big_alloc(session->work, &s.stamp_big, (n + 1) * sizeof(uint32_t),
			   "growing objects", err));
	TRY(base_big_alloc(session->work, &s.count_big, (n + 1) * sizeof(uint32_t),
			   "growing objects", err));
	s.stamp = s.stamp_big.data;
	s.count = s.count_big.data;
	if (!s.group_count)
		return HDB_OK;
	base_stage(session->work, "sizes of growing objects", n, "objects");
	TRY(derive_native_sizes(session->derive, DERIVE_NATIVE_REGISTERED, &s.native, err));
	TRY(mark_kept(&s, err));
	return follow_groups(&s, *shares, is_cut, err);
}

/* ---- the rows ---- */

/* Maximum size of a path. */
#define PATH_MAX_BYTES 8192

/* A row: a growing node, or one of its children that grow. */
struct row {
	uint32_t node;  /* ANALYSIS_MERGED_TOP for the roots */
	uint32_t group; /* the group of the growing node, or of the parent if the row is a child */
	bool is_child;
	/* retained size of a growing node, or number of objects that a child gained */
	uint64_t rank;
	uint64_t group_rank;
};

/* State of this part of the diff query. */
struct growth {
	struct analysis_merged merged;
	struct base_big *places; /* indexed by dump: the node of each object */
	/* indexed by node: whether it gained objects from each dump to the next */
	uint8_t *grows;
	struct base_vec rows;  /* struct row */
	struct share **shares; /* indexed by dump, by group */
	bool is_cut;           /* whether some shares are lower bounds */
	uint32_t group_count;
	struct diff_figures *by_side;
};

static bool has_grown(const struct analysis_merged *m, uint32_t node, uint64_t loops)
{
	for (unsigned d = 1; d < m->dump_count; d++) {
		const uint64_t before = analysis_merged_sum(m, node, d - 1)->count;
		const uint64_t now = analysis_merged_sum(m, node, d)->count;

		if (!before || now < before || now - before < loops)
			return false;
	}
	return true;
}

/* Marks nodes that have growing children. has[nodes.count] stands for the roots. */
static uint8_t *find_parents(const struct growth *g)
{
	const size_t n = g->merged.tree.nodes.count;
	uint8_t *has = calloc(n + 1, 1);

	for (uint32_t v = 0; has && v < n; v++) {
		const uint32_t parent = analysis_merged_node(&g->merged, v)->parent;

		if (g->grows[v])
			has[parent == ANALYSIS_MERGED_TOP ? n : parent] = 1;
	}
	return has;
}

/*
 * Lists growing nodes without a growing parent, each followed by its children, and sets
 * group_of[node] for them.
 */
static int list_rows(struct growth *g, uint32_t *group_of, struct hdb_error *err)
{
	const struct analysis_merged *m = &g->merged;
	const size_t n = m->tree.nodes.count;
	BASE_FREED uint8_t *has = find_parents(g);
	struct row row = { .node = ANALYSIS_MERGED_TOP };

	assert(!g->rows.count && !g->group_count);
	TRY(has ? HDB_OK : hdb_fail_memory(err, "growing nodes", n));
	for (uint32_t v = 0; v < n; v++) {
		const uint32_t parent = analysis_merged_node(m, v)->parent;

		group_of[v] = ANALYSIS_MERGED_TOP;
		if (!has[v] || has[parent == ANALYSIS_MERGED_TOP ? n : parent])
			continue;
		group_of[v] = row.group = g->group_count++;
		row.node = v;
		TRY(base_vec_push(&g->rows, &row, sizeof(row), err));
	}
	if (has[n]) {
		row = (struct row){ .node = ANALYSIS_MERGED_TOP, .group = g->group_count };
		TRY(base_vec_push(&g->rows, &row, sizeof(row), err));
	}
	for (uint32_t v = 0; v < n; v++) {
		const uint32_t parent = analysis_merged_node(m, v)->parent;
		const unsigned last = m->dump_count - 1;

		if (!g->grows[v] ||
		    (parent != ANALYSIS_MERGED_TOP && group_of[parent] == ANALYSIS_MERGED_TOP))
			continue;
		row = (struct row){
			.node = v,
			.group = parent == ANALYSIS_MERGED_TOP ? g->group_count : group_of[parent],
			.is_child = true,
			.rank = analysis_merged_sum(m, v, last)->count -
				analysis_merged_sum(m, v, 0)->count,
		};
		TRY(base_vec_push(&g->rows, &row, sizeof(row), err));
	}
	return HDB_OK;
}

/*
 * Sorts growing nodes by retained size, largest first, each followed by its children, sorted by
 * growth.
 */
BASE_ORDER(compare_rows, struct row, BASE_DOWN(group_rank), BASE_UP(group), BASE_UP(is_child),
	   BASE_DOWN(rank), BASE_UP(node))

static void sort_rows(const struct diff *d, struct growth *g)
{
	for (size_t i = 0; i < g->rows.count; i++) {
		struct row *row = base_vec_at(&g->rows, struct row, i);

		if (row->group < g->group_count)
			row->group_rank = g->shares[d->side_count - 1][row->group].bytes;
	}
	base_vec_sort(&g->rows, sizeof(struct row), compare_rows);
}

static int add_sides(struct diff *d, struct growth *g, struct hdb_error *err)
{
	analysis_merged_init(&g->merged, DERIVE_CLASS, (unsigned)d->side_count);
	TRY(BASE_ALLOC(g->places, d->side_count, "a comparison", err));
	TRY(BASE_ALLOC(g->shares, d->side_count, "a comparison", err));
	TRY(BASE_ALLOC(g->by_side, d->side_count, "a comparison", err));
	for (size_t s = 0; s < d->side_count; s++) {
		const struct growth_tree_options options = {
			.use = LIBRARY_FOR_GROWTH,
			.place = &g->places[s],
		};

		TRY(growth_tree_add(&d->sides[s], &g->merged, (unsigned)s, &options, err));
	}
	analysis_merged_finish(&g->merged);
	return HDB_OK;
}

/* Makes each growing node a group, and computes the retained size of each group in each dump. */
static int find_growing(struct diff *d, struct growth *g, uint64_t loops, struct hdb_error *err)
{
	const size_t n = g->merged.tree.nodes.count;
	BASE_FREED uint32_t *group_of = NULL;

	TRY(BASE_ALLOC(group_of, n + 1, "growing nodes", err));
	TRY(BASE_ALLOC(g->grows, n + 1, "growing nodes", err));
	for (uint32_t v = 0; v < n; v++)
		g->grows[v] = has_grown(&g->merged, v, loops);
	TRY(list_rows(g, group_of, err));
	for (size_t s = 0; s < d->side_count; s++) {
		const struct sharing sharing = { .session = &d->sides[s],
						 .place = g->places[s].data,
						 .group_of = group_of,
						 .group_count = g->group_count };

		TRY(find_shares(&sharing, &g->shares[s], &g->is_cut, err));
		base_big_free(&g->places[s]);
		base_work_release(d->sides[s].work);
	}
	return HDB_OK;
}

static int open_growth(struct query *q, struct diff *d, struct hdb_error *err)
{
	struct growth *g = d->part;

	TRY(add_sides(d, g, err));
	TRY(find_growing(d, g, query_number(q, "loops", 1), err));
	sort_rows(d, g);
	q->total = g->rows.count;
	query_fact(q, "growing", g->group_count);
	query_fact(q, "folded", g->merged.folded);
	if (g->is_cut)
		query_cut(q, NULL,
			  "references of growing objects are followed up to a limit, so retained "
			  "sizes are lower bounds");
	return HDB_OK;
}

/* ---- rows ---- */

static void set_name(struct query *q, const struct growth *g, const struct row *row)
{
	char path[PATH_MAX_BYTES];
	uint32_t above = ANALYSIS_MERGED_TOP;

	if (row->node == ANALYSIS_MERGED_TOP) {
		query_set_text(q, DIFF_NAME, "the GC roots");
		return;
	}
	if (row->is_child)
		above = analysis_merged_node(&g->merged, row->node)->parent;
	analysis_merged_path(&g->merged, row->node, above, path, sizeof(path));
	query_set_text(q, DIFF_NAME, path);
}

static int growth_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err)
{
	struct growth *g = d->part;
	const unsigned last = (unsigned)d->side_count - 1;
	const struct row *row = base_vec_at(&g->rows, struct row, no);

	assert(no < g->rows.count);
	for (unsigned s = 0; s < d->side_count; s++) {
		struct diff_figures *figures = &g->by_side[s];

		*figures = (struct diff_figures){ 0 };
		if (row->node != ANALYSIS_MERGED_TOP)
			figures->count = analysis_merged_sum(&g->merged, row->node, s)->count;
		if (!row->is_child && row->group < g->group_count)
			figures->retained_bytes = g->shares[s][row->group].bytes;
	}
	query_set(q, DIFF_LEVEL, row->is_child);
	set_name(q, g, row);
	if (row->node == ANALYSIS_MERGED_TOP)
		return HDB_OK;
	if (!row->is_child) {
		TRY(diff_set_figures(q, d, g->by_side, err));
		query_set(q, DIFF_ALONE, g->shares[last][row->group].alone_bytes);
	} else {
		query_set(q, DIFF_COUNT_BEFORE, g->by_side[0].count);
		query_set(q, DIFF_COUNT, g->by_side[last].count);
		query_set_int(q, DIFF_COUNT_DELTA,
			      (int64_t)(g->by_side[last].count - g->by_side[0].count));
	}
	TRY(diff_set_steps(q, d, g->by_side, DIFF_COUNTS, err));
	query_set_id(q, DIFF_ID, analysis_merged_sum(&g->merged, row->node, last)->example_ix);
	return HDB_OK;
}

static void close_growth(struct diff *d)
{
	struct growth *g = d->part;

	for (size_t s = 0; s < d->side_count; s++) {
		if (g->places)
			base_big_free(&g->places[s]);
		if (g->shares)
			free(g->shares[s]);
	}
	analysis_merged_release(&g->merged);
	base_vec_release(&g->rows);
	free(g->places);
	free(g->shares);
	free(g->by_side);
	free(g->grows);
}

const struct diff_part diff_growth = { sizeof(struct growth), open_growth, growth_row,
				       close_growth };
