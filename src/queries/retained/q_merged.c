/*
 * queries/retained/q_merged.c - the queries merged-paths and dominator-tree: the paths from the
 * roots to the objects of a set, and the dominator tree, both merged by name.
 */
#include "analysis/exclude.h"
#include "analysis/members.h"
#include "analysis/merged.h"
#include "base/bits.h"
#include "derive/native.h"
#include "queries/compare/growth_tree.h"
#include "queries/queries.h"
#include "query/merged_cells.h"

/* Default of --min for the dominator tree: 1/MIN_PART of all reachable bytes. */
#define MIN_PART 1000

#include <queries/retained/q_merged.query.h>

struct merged_query {
	struct analysis_merged merged;
	struct analysis_merged_walk walk;
	struct analysis_excludes excludes;
	struct analysis_members members;
	struct base_big bits;   /* bit set: members */
	struct base_vec native; /* struct derive_native */
	uint32_t one;           /* the only member, if an object is named */
	bool is_one;
	uint64_t whole; /* number of objects or bytes that is 100 % */
	bool is_paths;
};

static int64_t count_rank(const struct analysis_merged *m, uint32_t node)
{
	return (int64_t)analysis_merged_sum(m, node, 0)->total_count;
}

static int64_t bytes_rank(const struct analysis_merged *m, uint32_t node)
{
	return (int64_t)analysis_merged_sum(m, node, 0)->total_bytes;
}

/* Finds the members as a bit set. An object ID is a set with one member. */
static int find_members(struct query *q, struct merged_query *s, struct hdb_error *err)
{
	const char *target = q->targets[0];
	const uint64_t words = (uint64_t)q->heap->object_count / 64 + 1;
	const uint32_t *ixs;
	uint64_t *bits;
	uint32_t ix;

	TRY(base_big_alloc(q->work, &s->bits, words * 8, "a set of objects", err));
	bits = s->bits.data;
	if (analysis_is_object(target)) {
		struct heap_object object = { 0 };
		bool reachable = false;

		TRY(analysis_object(&q->session, target, &ix, err));
		TRY(heap_object(q->heap, ix, &object, err));
		TRY(derive_is_reachable(q->derive, ix, &reachable, err));
		/* the object is the whole set, if it is in the requested heap */
		if (heap_leaves_out(q->heap, object.heap_no))
			return HDB_OK;
		base_bit_put(bits, ix);
		s->one = ix;
		s->is_one = true;
		s->members.reachable_count = reachable;
		s->members.reachable_bytes = reachable ? object.shallow_bytes : 0;
		s->members.unreachable_count = !reachable;
		s->members.unreachable_bytes = reachable ? 0 : object.shallow_bytes;
		return HDB_OK;
	}
	TRY(analysis_members_find(&q->session, target, query_option(q, "subclasses") != NULL,
				  &s->members, err));
	ixs = s->members.ixs.data;
	for (uint64_t i = 0; i < s->members.count; i++)
		base_bit_put(bits, ixs[i]);
	return HDB_OK;
}

/* Merges the paths of leak traces by field names. Collections refer directly to their elements. */
static int merge_by_field(struct query *q, struct merged_query *s, struct hdb_error *err)
{
	const struct growth_tree_options options = {
		.use = LIBRARY_FOR_NOTHING,
		.members = s->bits.data,
	};

	if (!analysis_excludes_is_weak(&s->excludes))
		return hdb_fail(err, HDB_EUSAGE,
				"--by field follows strong references and cannot be combined with "
				"--exclude");
	TRY(growth_tree_add(&q->session, &s->merged, 0, &options, err));
	analysis_merged_finish(&s->merged);
	return HDB_OK;
}

static int merge_paths(struct query *q, struct merged_query *s, struct hdb_error *err)
{
	struct analysis_merged_source source = {
		.members = s->bits.data,
		.list = s->is_one ? &s->one : s->members.ixs.data,
		.list_count = s->is_one ? 1 : s->members.count,
		.native = &s->native,
	};
	struct derive_filter filter;

	if (analysis_excludes_is_weak(&s->excludes)) {
		source.tree = ANALYSIS_TREE_REACH_STRONG;
	} else if (analysis_excludes_is_none(&s->excludes)) {
		source.tree = ANALYSIS_TREE_REACH;
	} else {
		source.tree = ANALYSIS_TREE_WITHOUT;
		source.filter = &filter;
		TRY(analysis_excludes_filter(&q->session, &s->excludes, &filter, err));
	}
	TRY(analysis_merged_add(&q->session, &s->merged, 0, &source, err));
	analysis_merged_finish(&s->merged);
	return HDB_OK;
}

static void set_path_facts(struct query *q, const struct merged_query *s)
{
	uint64_t found = 0;
	query_fact(q, "objects", s->members.reachable_count);
	for (uint32_t v = 0; v < s->merged.tree.nodes.count; v++)
		found += analysis_merged_sum(&s->merged, v, 0)->count;
	query_fact(q, "shallow", s->members.reachable_bytes);
	query_fact(q, "without_path", s->members.reachable_count - found);
	query_fact_text(q, "exclude", s->excludes.text);
	query_fact(q, "folded", s->merged.folded);
}

static int open_state(struct query *q, bool is_paths, struct merged_query **out,
		      struct hdb_error *err)
{
	struct merged_query *s = q->state;

	*out = s;
	s->is_paths = is_paths;
	analysis_merged_init(&s->merged, query_by(q), 1);
	return derive_native_counted(q->derive, &s->native, err);
}

/* Shows the columns others and native only if some row has a value in them. */
static void choose_columns(struct query *q, const struct merged_query *s)
{
	bool has_native = false;
	char names[256];

	for (uint32_t v = 0; v < s->merged.tree.nodes.count && !has_native; v++)
		has_native = analysis_merged_sum(&s->merged, v, 0)->native_bytes > 0;
	(void)snprintf(names, sizeof(names), "level,name,objects,shallow,%s,percent,id%s%s",
		       s->is_paths ? "below_objects,below_shallow" : "retained_objects,retained",
		       s->walk.rests.count ? ",others" : "",
		       !has_native ? "" :
		       s->is_paths ? ",native,below_native" :
				     ",native,retained_native");
	query_choose(q, names);
}

static int open_walk(struct query *q, struct merged_query *s, uint64_t low, struct hdb_error *err)
{
	const uint64_t depth = query_number(q, "depth", ANALYSIS_MERGED_DEPTH);
	char small[128];

	(void)snprintf(small, sizeof(small),
		       s->is_paths ? "nodes with fewer than %" PRIu64 " objects of the set" :
				     "nodes that retain fewer than %" PRIu64 " bytes",
		       low ? low : 1);
	TRY(analysis_merged_walk(
		&s->merged,
		&(struct analysis_merged_worth){ s->is_paths ? count_rank : bytes_rank,
						 low ? (int64_t)low : 1, (uint32_t)depth },
		&s->walk, err));
	q->total = s->walk.count;
	query_merged_cut(q, &s->merged, &s->walk, small);
	choose_columns(q, s);
	return HDB_OK;
}

static int open_paths(struct query *q, struct hdb_error *err)
{
	struct merged_query *s;
	uint64_t low;

	low = query_number(q, "min", 0);
	TRY(open_state(q, true, &s, err));
	TRY(query_read_excludes(q, &s->excludes, err));
	TRY(find_members(q, s, err));
	TRY(strcmp(query_text(q, "by"), "field") == 0 ? merge_by_field(q, s, err) :
							merge_paths(q, s, err));
	s->whole = s->members.reachable_count;
	set_path_facts(q, s);
	query_fact(q, "min", low);
	query_report_unreachable(q, s->members.unreachable_count, s->members.unreachable_bytes);
	return open_walk(q, s, low, err);
}

static int open_tree(struct query *q, struct hdb_error *err)
{
	struct analysis_merged_source source = { .tree = ANALYSIS_TREE_DOMINATORS };
	struct merged_query *s;
	struct derive_total whole = { 0 };
	uint64_t low = 0;

	TRY(open_state(q, false, &s, err));
	TRY(analysis_heap_total(&q->session, &whole, err));
	low = query_number(q, "min", whole.shallow_bytes / MIN_PART);
	source.native = &s->native;
	TRY(analysis_merged_add(&q->session, &s->merged, 0, &source, err));
	analysis_merged_finish(&s->merged);
	s->whole = whole.shallow_bytes;
	query_fact(q, "heap_shallow", s->whole);
	query_fact(q, "min", low);
	query_fact(q, "folded", s->merged.folded);
	query_report_heap(q);
	return open_walk(q, s, low, err);
}

static int node_row(struct query *q, size_t no, struct hdb_error *err)
{
	static const struct query_merged_columns names = { LEVEL, NAME, OTHERS };
	struct merged_query *s = q->state;
	const struct analysis_merged_step *step = &s->walk.order[no];
	const struct analysis_merged_sum *sum =
		analysis_merged_step_sum(&s->merged, &s->walk, step, 0);

	(void)err;
	assert(no < s->walk.count);
	query_merged_set_step(q, &names, &s->merged, &s->walk, step);
	if (!step->others) {
		query_set(q, COUNT, sum->count);
		query_set(q, SHALLOW, sum->shallow_bytes);
		query_set(q, NATIVE, sum->native_bytes);
	}
	query_set(q, TOTAL_COUNT, sum->total_count);
	query_set(q, TOTAL, sum->total_bytes);
	query_set(q, TOTAL_NATIVE, sum->total_native);
	query_set_double(
		q, PERCENT,
		analysis_percent(s->is_paths ? sum->total_count : sum->total_bytes, s->whole));
	query_set_id(q, ID, sum->example_ix);
	return HDB_OK;
}

#define MERGED_STATE QUERY_STATE(struct merged_query, merged, walk, excludes, members, bits, native)

QUERY_DEFINE(paths, MERGED_STATE, .open = open_paths, .row = node_row);

QUERY_DEFINE(dominator_tree, MERGED_STATE, .open = open_tree, .row = node_row);
