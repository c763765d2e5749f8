/*
 * queries/leaks/q_reference_leaks.c - the reference-leaks query: finds references that can never be
 * cleared, because strong references lead from the reference object to its own referent. The
 * typical case is a WeakHashMap whose value refers to its key.
 *
 * For each reference whose referent is strongly reachable, a breadth-first search follows strong
 * references from the fields that subclasses add to java.lang.ref.Reference, but not into roots or
 * other reference objects. It ignores the fields of Reference itself, which the VM uses to link all
 * references. The work is limited per reference and in total.
 */
#include "analysis/reference_list.h"
#include "base/bits.h"
#include "derive/build.h"
#include "heap/values/values.h"
#include "queries/queries.h"
#include "query/grouping.h"
#include "query/table_rows.h"

/*
 * Maximum number of objects to visit for one reference, and for all references together (a few
 * seconds).
 */
#define OBJECTS_MAX (1u << 30)
#define ALL_OBJECTS_MAX (100u << 20)
#define PATH_MAX_BYTES 1024
#define NAME_MAX_BYTES 512
/* Number of searches between two checks of the cancel flag. */
#define STEP_SEARCHES 256

#include <queries/leaks/q_reference_leaks.query.h>

/* A reference object that strongly holds its own referent. */
struct leak {
	uint32_t ref; /* index in the list of references */
	uint32_t steps;
};

/* Leaks with equal classes of reference and referent. */
struct group {
	struct leak first;
	uint64_t count, bytes;
};

struct leaks {
	struct analysis_reference_list list;
	struct graph_rows graph;
	uint64_t *is_reference; /* bit set indexed by object; points into `bits` */
	struct base_big bits, marks;
	/* number of the current search, used to mark the objects that it found */
	uint32_t epoch;
	struct base_vec queue; /* uint32_t: found objects, in order */
	/* uint32_t, per found object: queue position of its referrer */
	struct base_vec before;
	uint64_t max_objects, looked;
	struct base_vec found;      /* struct leak */
	struct query_groups groups; /* struct group, by class of reference and class of referent */
	uint64_t searched, given_up, not_searched;
	bool is_list;
};

/* ---- one search ---- */

/* Adds an object to the queue, unless this search already found it. */
static int visit(struct leaks *s, uint32_t from, uint32_t ix, struct hdb_error *err)
{
	uint32_t *marks = s->marks.data;

	if (marks[ix] == s->epoch)
		return HDB_OK;
	marks[ix] = s->epoch;
	TRY(base_vec_push(&s->queue, &ix, sizeof(ix), err));
	return base_vec_push(&s->before, &from, sizeof(from), err);
}

/*
 * Visits the objects that a reference object holds through fields of its subclasses, not of
 * java.lang.ref.Reference.
 */
static int visit_own_fields(struct query *q, struct leaks *s, uint32_t from, uint32_t ix,
			    struct hdb_error *err)
{
	struct heap_fields fields;
	int r;

	TRY_FOUND(heap_fields_begin(q->heap, ix, &fields, err));
	while ((r = heap_fields_next(&fields, err)) == HDB_OK) {
		uint32_t to;

		if (fields.value.type != HPROF_OBJECT || !fields.value.bits ||
		    strcmp(heap_class_name(q->heap, fields.declaring_no),
			   "java.lang.ref.Reference") == 0)
			continue;
		TRY_ERRORS(r = heap_find(q->heap, fields.value.bits, &to, err));
		if (r == HDB_OK && !heap_is_root(q->heap, to) &&
		    (r = visit(s, from, to, err)) != HDB_OK)
			return r;
	}
	return r < 0 ? r : HDB_OK;
}

/*
 * Visits the objects to which object `ix`, which is not a reference object, refers. Stops at the
 * limit, so that a huge array does not fill the queue with objects that are never examined.
 */
static int visit_targets(struct leaks *s, uint32_t from, uint32_t ix, struct hdb_error *err)
{
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = graph_rows_get(&s->graph, ix, target, &row);

	for (unsigned i = 0; i < count && s->queue.count < s->max_objects; i++)
		TRY(visit(s, from, target[i], err));
	for (uint64_t e = row.at; e < row.end && s->queue.count < s->max_objects; e++)
		TRY(visit(s, from, graph_rows_long(&s->graph, e), err));
	return HDB_OK;
}

/*
 * Searches from one reference. Sets *end to the referent's position in the queue, or to 0 if not
 * found.
 */
static int search(struct query *q, struct leaks *s, const struct analysis_reference *ref,
		  size_t *end, struct hdb_error *err)
{
	size_t at = 0;

	*end = 0;
	s->epoch++;
	s->queue.count = s->before.count = 0;
	TRY(visit(s, 0, ref->ix, err));
	for (; at < s->queue.count; at++) {
		const uint32_t ix = *base_vec_at(&s->queue, uint32_t, at);

		if (at && ix == ref->referent) {
			*end = at;
			break;
		}
		/*
		 * A path into another reference object would only lead to its neighbours in a list
		 * or hash bucket.
		 */
		if (!base_bit_has(s->is_reference, ix))
			TRY(visit_targets(s, (uint32_t)at, ix, err));
		else if (at == 0)
			TRY(visit_own_fields(q, s, 0, ix, err));
	}
	s->looked += at + 1;
	if (!*end && s->queue.count >= s->max_objects)
		s->given_up++;
	return HDB_OK;
}

static uint32_t count_steps(const struct leaks *s, size_t end)
{
	uint32_t steps = 0;

	for (size_t at = end; at; at = *base_vec_at(&s->before, uint32_t, at))
		steps++;
	return steps;
}

/* ---- the search ---- */

static int search_all(struct query *q, struct leaks *s, struct hdb_error *err)
{
	const struct analysis_reference *refs = s->list.refs.data;

	base_stage(q->work, "following references", s->list.count, "references");
	for (uint64_t i = 0; i < s->list.count; i++) {
		const struct analysis_reference *ref = &refs[i];
		bool is_elsewhere;
		size_t end;

		TRY(heap_passes_over(q->heap, ref->ix, &is_elsewhere, err));
		if (is_elsewhere)
			continue;
		if (ref->strength == STORE_FINALIZER || ref->referent == HEAP_NONE ||
		    analysis_reached_of(&s->list, ref->ix) != ANALYSIS_STRONGLY ||
		    analysis_reached_of(&s->list, ref->referent) != ANALYSIS_STRONGLY)
			continue;
		if (s->looked > ALL_OBJECTS_MAX || s->epoch == UINT32_MAX) {
			s->not_searched++;
			continue;
		}
		s->searched++;
		TRY(search(q, s, ref, &end, err));
		if (end) {
			const struct leak leak = { (uint32_t)i, count_steps(s, end) };

			TRY(base_vec_push(&s->found, &leak, sizeof(leak), err));
		}
		if (s->searched % STEP_SEARCHES == 0)
			TRY(base_step(q->work, i, err));
	}
	return HDB_OK;
}

static int prepare(struct query *q, struct leaks *s, struct hdb_error *err)
{
	const uint64_t n = q->heap->object_count;
	const struct analysis_reference *refs;

	TRY(analysis_references_read(&q->session, &s->list, err));
	TRY(analysis_references_levels(&q->session, &s->list, &s->graph, err));
	TRY(base_big_alloc(q->work, &s->bits, n / 8 + 16, "references", err));
	TRY(base_big_alloc(q->work, &s->marks, n * 4 + 4, "marks", err));
	s->is_reference = s->bits.data;
	refs = s->list.refs.data;
	for (uint64_t i = 0; i < s->list.count; i++)
		base_bit_put(s->is_reference, refs[i].ix);
	return HDB_OK;
}

/* ---- groups ---- */

/* Sorts the largest groups first, then by the ID of the first reference. */
BASE_ORDER(compare_groups, struct group, BASE_DOWN(count), BASE_UP(first.ref))

/* Groups leaks by the classes of reference and referent. */
static int group_leaks(struct query *q, struct leaks *s, struct hdb_error *err)
{
	const struct analysis_reference *refs = s->list.refs.data;

	for (size_t i = 0; i < s->found.count; i++) {
		const struct leak *leak = base_vec_at(&s->found, struct leak, i);
		const struct group fresh = { .first = *leak };
		struct heap_object object;
		struct group *group;
		void *found;

		TRY(heap_object(q->heap, refs[leak->ref].referent, &object, err));
		TRY(query_group_of(&s->groups,
				   (uint64_t)refs[leak->ref].class_no << 32 | object.class_no,
				   &fresh, &found, err));
		group = found;
		group->count++;
		group->bytes += object.shallow_bytes;
	}
	base_vec_sort(&s->groups.list, sizeof(struct group), compare_groups);
	return HDB_OK;
}

/* ---- the query ---- */

static void set_facts(struct query *q, const struct leaks *s)
{
	query_fact(q, "leaks", s->found.count);
	query_fact(q, "searched", s->searched);
	query_fact(q, "given_up", s->given_up);
	if (s->given_up) {
		query_cut(q, NULL,
			  "results of %" PRIu64 " searches that stopped after %" PRIu64 " "
			  "objects (--max-objects)",
			  s->given_up, s->max_objects);
	}
	if (s->not_searched) {
		query_cut(q, NULL,
			  "%" PRIu64 " references not searched because the total search limit "
			  "was reached",
			  s->not_searched);
	}
	query_fact(q, "not_searched", s->not_searched);
}

static int open_leaks(struct query *q, struct hdb_error *err)
{
	struct leaks *s = q->state;

	s->is_list = query_option(q, "objects") != NULL;
	s->groups.size = sizeof(struct group);
	s->max_objects = query_number(q, "max-objects", 0);
	query_choose(q, s->is_list ? "strength,class,referent_class,label,shallow,retained,"
				     "steps,path,id,referent" :
				     "strength,class,referent_class,objects,"
				     "shallow,steps,path,id,referent");
	TRY(prepare(q, s, err));
	TRY(search_all(q, s, err));
	if (!s->is_list)
		TRY(group_leaks(q, s, err));
	q->total = s->is_list ? s->found.count : s->groups.list.count;
	set_facts(q, s);
	return HDB_OK;
}

/*
 * Writes the path. The search is repeated, because each search overwrites the links that form the
 * path.
 */
static int set_path(struct query *q, struct leaks *s, const struct analysis_reference *ref,
		    struct hdb_error *err)
{
	char path[PATH_MAX_BYTES], name[NAME_MAX_BYTES];
	BASE_SCOPED(base_vec_release) struct base_vec nodes = { 0 };
	size_t end, used = 0;

	TRY(search(q, s, ref, &end, err));
	for (size_t at = end; at; at = *base_vec_at(&s->before, uint32_t, at))
		TRY(base_vec_push(&nodes, base_vec_at(&s->queue, uint32_t, at), sizeof(uint32_t),
				  err));
	path[0] = '\0';
	for (size_t i = nodes.count; i-- > 0 && used < sizeof(path);) {
		const uint32_t to = *base_vec_at(&nodes, uint32_t, i);
		const uint32_t from =
			i + 1 < nodes.count ? *base_vec_at(&nodes, uint32_t, i + 1) : ref->ix;
		struct heap_object object;

		TRY(analysis_holder(&q->session, from, to, BASE_TEXT(name), err));
		TRY(heap_object(q->heap, to, &object, err));
		used += (size_t)snprintf(path + used, sizeof(path) - used, "%s%s (%s)",
					 used ? " > " : "", name,
					 heap_class_name(q->heap, object.class_no));
	}

	/* The text may be truncated within a character, which query_set_clean_text removes. */
	if (used >= sizeof(path)) {
		used = sizeof(path) - 1;
		memcpy(path + used - 3, "...", 3);
	}
	query_set_clean_text(q, PATH, path, used);
	return HDB_OK;
}

static int leak_row(struct query *q, size_t no, struct hdb_error *err)
{
	static const struct query_object_columns cells = {
		REFERENT, REFERENT_CLASS, LABEL, SHALLOW, RETAINED,
	};
	struct leaks *s = q->state;
	const struct analysis_reference *ref;
	const struct group *group =
		s->is_list ? NULL : base_vec_at(&s->groups.list, struct group, no);
	const struct leak *leak = group ? &group->first : base_vec_at(&s->found, struct leak, no);

	ref = (const struct analysis_reference *)s->list.refs.data + leak->ref;
	query_set_object(q, &cells, ref->referent);
	if (group) {
		query_set(q, COUNT, group->count);
		query_set(q, SHALLOW, group->bytes);
	}
	query_set(q, STEPS, leak->steps);
	query_set_class_of(q, CLASS, ref->ix);
	query_set_text(q, STRENGTH, analysis_strength_name((uint8_t)ref->strength));
	query_set_id(q, ID, ref->ix);
	return set_path(q, s, ref, err);
}

QUERY_DEFINE(reference_leaks,
	     QUERY_STATE(struct leaks, list, graph, bits, marks, queue, before, found, groups),
	     .open = open_leaks, .row = leak_row);
