/*
 * queries/retained/q_retained.c - the retained query: what would be freed without an object, or
 * without all objects of some classes.
 *
 * For an object, the answer comes from the table if the table exists, and otherwise from a search
 * around the object. If the search exceeds its limit, the table is built. For sets, see members.c
 * and derive_retained_set.
 */
#include "analysis/exclude.h"
#include "analysis/members.h"
#include "derive/native.h"
#include "heap/heap_database.h"
#include "queries/queries.h"

/* All columns except native memory, which only some dumps record. */
#define SHOWN "target,id,class,objects,shallow,bound,retained,retained_objects,exact,reachable"

#include <queries/retained/q_retained.query.h>

/*
 * Maximum number of class objects to examine if several class loaders define a class with the
 * requested name.
 */
#define CLASS_OBJECTS_MAX 100

enum way { WAY_EXCLUDING, WAY_TABLE, WAY_LOCAL, WAY_DOMINATORS, WAY_BLOCKED, WAY_QUICK, WAY_COUNT };

struct answer {
	uint32_t ix;       /* HEAP_NONE for a set */
	uint32_t class_no; /* class of the set, if it has only one; otherwise HEAP_NONE */
	uint64_t objects;
	uint64_t shallow_bytes;
	uint64_t native_bytes; /* native memory of a set */
	uint64_t retained_bytes;
	uint64_t retained_count;
	bool is_counted; /* whether retained_count is valid */
	bool is_exact;
	bool is_reachable;
};

struct retained {
	struct answer *answers; /* one per target */
	struct graph_retained_options limits;
	bool ways[WAY_COUNT];
	bool is_excluding;
	struct analysis_excludes excludes;
	struct derive_filter filter;                   /* filter, if is_excluding */
	struct derive_retained_result cost;            /* added up */
	uint64_t unreachable_count, unreachable_bytes; /* sums over all targets */
	struct base_vec native;                        /* struct derive_native, ascending */
	/* whether facts about a class object have been reported */
	bool has_class_object;
};

static void add_cost(struct retained *s, const struct derive_retained_result *cost)
{
	s->cost.subtree_count += cost->subtree_count;
	s->cost.removed_count += cost->removed_count;
	s->cost.edge_count += cost->edge_count;
}

/* ---- one object ---- */

static int from_table(struct query *q, struct answer *a, struct hdb_error *err)
{
	uint32_t dominator = a->ix;

	TRY(derive_retained(q->derive, a->ix, &a->retained_bytes, err));
	TRY(derive_dominator(q->derive, a->ix, &dominator, err));
	a->is_reachable = dominator != a->ix;
	return HDB_OK;
}

/* Stores an exact result for a set, and how it was found. */
static void take_result(struct retained *s, const struct derive_retained_result *result,
			unsigned way, struct answer *a)
{
	s->ways[way] = true;
	a->retained_bytes = result->retained_bytes;
	a->retained_count = result->retained_count;
	a->is_counted = a->is_exact = true;
}

static int answer_object(struct query *q, struct retained *s, struct answer *a,
			 struct hdb_error *err)
{
	struct derive_retained_result result;
	struct heap_object object;
	uint32_t parent;
	int r;

	TRY(heap_object(q->heap, a->ix, &object, err));
	a->shallow_bytes = object.shallow_bytes;
	a->is_exact = true;
	if (s->is_excluding) {
		TRY(derive_retained_without(q->derive, &s->filter,
					    (struct graph_members){ &a->ix, 1 }, &result, err));
		take_result(s, &result, WAY_EXCLUDING, a);
		return derive_is_reachable(q->derive, a->ix, &a->is_reachable, err);
	}
	if (derive_has(q->derive, STORE_RETAINED)) {
		s->ways[WAY_TABLE] = true;
		return from_table(q, a, err);
	}
	r = derive_retained_local(q->derive, (struct graph_members){ &a->ix, 1 }, &s->limits,
				  &result, err);
	TRY_ERRORS(r);
	add_cost(s, &result);
	if (r == GRAPH_BUDGET) {
		s->ways[WAY_DOMINATORS] = true;
		TRY(derive_need(q->derive, STORE_RETAINED, err));
		return from_table(q, a, err);
	}
	take_result(s, &result, WAY_LOCAL, a);
	TRY(derive_reach(q->derive, false, a->ix, &parent, err));
	a->is_reachable = parent != a->ix;
	return HDB_OK;
}

/* ---- sets ---- */

/* Computes the retained size of a set by the requested method. */
static int answer_members(struct query *q, struct retained *s, struct analysis_members *members,
			  struct answer *a, struct hdb_error *err)
{
	const struct graph_members set = { members->ixs.data, members->count };
	struct derive_retained_result result;

	if (s->is_excluding) {
		TRY(derive_retained_without(q->derive, &s->filter, set, &result, err));
		take_result(s, &result, WAY_EXCLUDING, a);
		return HDB_OK;
	}
	if (query_option(q, "lower-bound")) {
		s->ways[WAY_QUICK] = true;
		return analysis_members_bound(&q->session, members, &a->retained_bytes, err);
	}
	TRY_ERRORS(derive_retained_set(q->derive, set, &s->limits, &result, err));
	add_cost(s, &result);
	take_result(s, &result, result.used_local ? WAY_LOCAL : WAY_BLOCKED, a);
	return HDB_OK;
}

/*
 * Adds up the native memory of a set's reachable objects. Iterates over the owners of native
 * memory, of which there may be fewer than members.
 */
static int add_native(struct query *q, const struct retained *s,
		      const struct analysis_members *members, struct answer *a,
		      struct hdb_error *err)
{
	for (size_t i = 0; i < s->native.count && members->count; i++) {
		const struct derive_native *one = base_vec_at(&s->native, struct derive_native, i);
		bool reachable;

		if (!bsearch(&one->ix, members->ixs.data, members->count, sizeof(uint32_t),
			     base_compare_u32))
			continue;
		TRY(derive_is_reachable(q->derive, one->ix, &reachable, err));
		a->native_bytes += reachable ? one->bytes : 0;
	}
	return HDB_OK;
}

/*
 * Adds a note that names the class object to query instead: a class without instances may hold much
 * memory through its static fields.
 */
static int note_class_object(struct query *q, struct retained *s, const char *target,
			     const struct analysis_members *members, struct hdb_error *err)
{
	struct answer best = { .ix = HEAP_NONE };
	char note[512];
	unsigned count = 0;
	uint64_t id;

	for (uint32_t no = 0; no < q->heap->class_count && count < CLASS_OBJECTS_MAX; no++) {
		struct answer one = { .ix = heap_class(q->heap, no)->ix };

		if (!members->is_member_class[no])
			continue;
		count++;
		TRY(answer_object(q, s, &one, err));
		if (one.is_reachable && one.retained_bytes > best.retained_bytes)
			best = one;
	}
	if (best.ix == HEAP_NONE)
		return HDB_OK;
	TRY(heap_id(q->heap, best.ix, &id, err));
	s->has_class_object = true;
	query_fact_id(q, "class_object", best.ix);
	query_fact(q, "class_retained", best.retained_bytes);
	(void)snprintf(note, sizeof(note),
		       "%s has no reachable instances; for the objects held by its static fields, "
		       "see `heapdb retained 0x%" PRIx64 "` and `heapdb references 0x%" PRIx64 "`",
		       target, id, id);
	query_fact_text(q, "note", note);
	return HDB_OK;
}

static int answer_set(struct query *q, struct retained *s, const char *target, struct answer *a,
		      struct hdb_error *err)
{
	BASE_SCOPED(analysis_members_release) struct analysis_members members = { 0 };

	TRY(analysis_members_find_whole(&q->session, target, query_option(q, "subclasses") != NULL,
					&members, err));
	a->class_no = members.class_no;
	a->objects = members.reachable_count;
	a->shallow_bytes = members.reachable_bytes;
	a->is_reachable = members.reachable_count != 0;
	s->unreachable_count += members.unreachable_count;
	s->unreachable_bytes += members.unreachable_bytes;
	TRY(add_native(q, s, &members, a, err));
	if (!members.reachable_count && !members.loaders.count && !s->has_class_object)
		TRY(note_class_object(q, s, target, &members, err));
	return answer_members(q, s, &members, a, err);
}

/* ---- explaining ---- */

/* Whether each table exists, indexed by table number. */
struct tables {
	bool has[STORE_TABLE_END];
};

static struct tables tables_there(struct query *q)
{
	struct store_table_info info;
	struct tables tables = { 0 };

	for (unsigned t = STORE_REFERRERS; t < STORE_TABLE_END; t++)
		tables.has[t] = store_table_name(t) && heap_table_info(q->heap, (enum store_table)t,
								       &info, NULL) == HDB_OK;
	return tables;
}

static void append(char *list, size_t size, const char *name)
{
	const size_t used = strlen(list);

	(void)snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static void explain(struct query *q, const struct retained *s, uint64_t start_us,
		    const struct tables *before)
{
	static const char *const way_names[WAY_COUNT] = {
		"walk without excluded references",
		"table",
		"local",
		"dominators built",
		"blocked walk",
		"lower bound",
	};
	const struct tables now = tables_there(q);
	char ways[128] = "", tables[256] = "";

	for (unsigned w = 0; w < WAY_COUNT; w++)
		if (s->ways[w])
			append(ways, sizeof(ways), way_names[w]);
	for (unsigned t = STORE_REFERRERS; t < STORE_TABLE_END; t++)
		if (now.has[t] && !before->has[t])
			append(tables, sizeof(tables), store_table_name(t));
	query_fact_text(q, "way", ways);
	query_fact(q, "subtree_count", s->cost.subtree_count);
	query_fact(q, "removed_count", s->cost.removed_count);
	query_fact(q, "edges_looked_at", s->cost.edge_count);
	query_fact(q, "time_us", base_now_us() - start_us);
	query_fact_text(q, "tables_built", *tables ? tables : "none");
}

/* ---- the query ---- */

static int read_excludes(struct query *q, struct retained *s, struct hdb_error *err)
{
	const int r = query_read_excludes(q, &s->excludes, err);

	s->is_excluding = r == HDB_OK && !analysis_excludes_is_none(&s->excludes);
	if (s->is_excluding && query_option(q, "lower-bound"))
		return hdb_fail(err, HDB_EUSAGE, "--lower-bound cannot be combined with --exclude");
	return s->is_excluding ?
		       analysis_excludes_filter(&q->session, &s->excludes, &s->filter, err) :
		       r;
}

static void read_limits(const struct query *q, struct retained *s)
{
	const uint64_t budget = query_number(q, "budget", UINT64_MAX);

	s->limits = derive_local_limits;
	if (budget == UINT64_MAX)
		return;
	s->limits.max_nodes = (uint32_t)budget;
	s->limits.max_edges = budget * 10;
}

static bool has_object(const struct query *q)
{
	for (size_t i = 0; i < q->target_count; i++)
		if (analysis_is_object(q->targets[i]))
			return true;
	return false;
}

static int open_retained(struct query *q, struct hdb_error *err)
{
	const uint64_t start_us = base_now_us();
	const struct tables before = tables_there(q);
	const size_t count = q->target_count;
	struct retained *s = q->state;

	read_limits(q, s);
	query_choose(q, SHOWN);
	TRY(read_excludes(q, s, err));
	/* the table of retained native memory is only for single objects, and for all references */
	if (s->is_excluding || !has_object(q))
		q->extra.retained_native = SIZE_MAX;
	TRY(derive_native_counted(q->derive, &s->native, err));
	TRY(BASE_ALLOC(s->answers, count, "retained sizes", err));
	/* Resolve all names before building tables, so that an invalid name is reported at once. */
	for (size_t i = 0; i < count; i++) {
		s->answers[i].ix = s->answers[i].class_no = HEAP_NONE;
		s->answers[i].objects = 1;
		if (analysis_is_object(q->targets[i]))
			TRY(analysis_object(&q->session, q->targets[i], &s->answers[i].ix, err));
	}
	for (size_t i = 0; i < count; i++)
		TRY(s->answers[i].ix != HEAP_NONE ?
			    answer_object(q, s, &s->answers[i], err) :
			    answer_set(q, s, q->targets[i], &s->answers[i], err));
	for (size_t i = 0; i < count; i++) {
		struct answer *a = &s->answers[i];

		if (a->ix == HEAP_NONE)
			continue;
		a->objects = a->is_reachable;
		s->unreachable_count += !a->is_reachable;
		s->unreachable_bytes += a->is_reachable ? 0 : a->shallow_bytes;
	}
	q->total = count;
	query_report_unreachable(q, s->unreachable_count, s->unreachable_bytes);
	if (query_option(q, "explain"))
		explain(q, s, start_us, &before);
	return HDB_OK;
}

static int answer_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct retained *s = q->state;
	const struct answer *a = &s->answers[no];

	(void)err;
	assert(no < q->target_count);
	query_lend_text(q, TARGET, q->targets[no]);
	if (a->ix != HEAP_NONE) {
		query_set_id(q, ID, a->ix);
		query_set_class_of(q, CLASS, a->ix);
	} else if (a->class_no != HEAP_NONE) {
		query_lend_text(q, CLASS, heap_class_name(q->heap, a->class_no));
	}
	if (a->ix == HEAP_NONE)
		query_set(q, NATIVE, a->native_bytes);
	query_set(q, OBJECTS, a->objects);
	query_set(q, SHALLOW, a->shallow_bytes);
	query_lend_text(q, BOUND, a->is_exact ? "exact" : "lower bound");
	query_set(q, RETAINED, a->retained_bytes);
	if (a->is_counted)
		query_set(q, RETAINED_OBJECTS, a->retained_count);
	query_set(q, EXACT, a->is_exact);
	query_set(q, REACHABLE, a->is_reachable);
	return HDB_OK;
}

QUERY_DEFINE(retained, QUERY_STATE(struct retained, answers, native, excludes),
	     .open = open_retained, .row = answer_row);
