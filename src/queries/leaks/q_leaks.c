/*
 * queries/leaks/q_leaks.c - the leaks query: lists suspects by size, each with its path, owner,
 * contents and thread, faults found by rules, and leaking objects.
 *
 * Everything is computed when the query opens: leak_findings.c finds suspects and owners, and
 * report_all adds rows. Certain leaks (leaking objects, faults) come first, so that users can work
 * through the rows in order. Objects that are merely large follow, and known library leaks come
 * last.
 */
#include "analysis/properties.h"
#include "base/base_text.h"
#include "base/glob.h"
#include "heap/threads.h"
#include "queries/leaks/leak_findings.h"
#include "queries/leaks/leak_prose.h"
#include "queries/leaks/leak_signature.h"
#include "queries/leaks/leak_sums.h"
#include "queries/queries.h"
#include "query/advice.h"
#include "query/conditions.h"

#define TEXT_MAX_BYTES 4096
/* Number of members of a group to list, largest first. */
#define MEMBERS_SHOWN 5u
/* State of the query. */
struct leaks {
	struct leak_findings found;
	struct analysis_leak_sums sums;
	struct leak_rows rows;
};

/* Appends the headline of a suspect, with its signature. */
static int add_suspect(struct query *q, struct leaks *l, const struct query_leak_suspect *about,
		       struct hdb_error *err)
{
	const struct analysis_suspect *s = about->suspect;
	struct leak_row row = leak_row_of(&l->rows, LEAK_ROW_SUSPECT);

	row.ix = s->ix;
	row.class_no = s->ix == HEAP_NONE ? s->class_no : HEAP_NONE;
	row.cells[LEAK_COUNT] = s->count;
	row.cells[LEAK_SHALLOW] = s->shallow_bytes;
	row.cells[LEAK_RETAINED] = s->retained_bytes;
	TRY(query_leak_sign(q, &l->rows, about, &row, err));
	return leak_rows_add(&l->rows, &row, err);
}

/*
 * If the held objects are of the owner's own class, they are nodes of a tree or list. In this case,
 * the owner is not a field of a node, but the holder of the first node on the path.
 */
static int leave_nodes(struct query *q, const struct query_leak_suspect *about,
		       const struct leak_held *held, struct query_leak_owner *owner,
		       struct hdb_error *err)
{
	struct query_leak_owner outer = { .named = 0 };
	struct query_leak_path path = *about->path;
	const char *name =
		held->class_no == HEAP_NONE ? NULL : heap_class_name(q->heap, held->class_no);
	size_t i = 0;

	if (name && owner->top.kind == LEAK_HOLDER_FIELD &&
	    strcmp(owner->top.class_name, name) == 0)
		owner->top.kind = LEAK_HOLDER_NONE;
	if (!name || owner->named != 1 || owner->list[0].kind != LEAK_HOLDER_FIELD ||
	    strcmp(owner->list[0].class_name, name) != 0)
		return HDB_OK;
	while (i < path.count && strcmp(heap_class_name_of(q->heap, path.nodes[i]), name) != 0)
		i++;
	if (i == 0 || i == path.count || (path.gap && i >= path.gap_at))
		return HDB_OK;
	path.count = i + 1;
	path.gap = 0;
	path.is_end_kept = true;
	TRY(leak_culprit_find(q, &path, HEAP_NONE, &outer, err));
	if (!outer.named || !outer.list[0].kind)
		return HDB_OK;
	owner->list[0] = outer.list[0];
	owner->top.kind = LEAK_HOLDER_NONE;
	return HDB_OK;
}

/* Writes the headline sentence from the other rows, so this function must be called last. */
static int add_sentence(struct query *q, struct leak_rows *rows,
			const struct query_leak_suspect *about, struct query_leak_owner *owner,
			struct hdb_error *err)
{
	struct leak_held held;

	TRY(leak_held_find(q, rows, about, &held, err));
	TRY(leave_nodes(q, about, &held, owner, err));
	TRY(leak_held_action(q, rows, about, &held, err));
	return leak_say_suspect(q, rows, about, &held, err);
}

/* Adds an object and its sizes to a row, and appends the row. */
static int add_object(struct query *q, struct leak_rows *rows, struct leak_row row, uint32_t ix,
		      struct hdb_error *err)
{
	struct heap_object object;

	TRY(heap_object(q->heap, ix, &object, err));
	TRY(derive_retained(q->derive, ix, &row.cells[LEAK_RETAINED], err));
	row.ix = ix;
	row.cells[LEAK_SHALLOW] = object.shallow_bytes;
	return leak_rows_add(rows, &row, err);
}

static int add_members(struct query *q, struct leak_rows *rows, const struct analysis_suspect *s,
		       struct hdb_error *err)
{
	struct leak_row row = leak_row_of(rows, LEAK_ROW_MEMBER);

	for (size_t i = 0; i < s->members.count && i < MEMBERS_SHOWN; i++) {
		row.cells[LEAK_STEP] = i;
		TRY(add_object(q, rows, row, *base_vec_at(&s->members, uint32_t, i), err));
	}
	return HDB_OK;
}

/* Appends the advice of a rule and the query that it recommends. */
static int add_advice(struct query *q, struct leaks *l, const struct explain_answer *answer,
		      struct hdb_error *err)
{
	struct leak_row row = leak_row_of(&l->rows, LEAK_ROW_ADVICE);
	struct query_action action;
	char text[TEXT_MAX_BYTES];

	TRY(query_action_find(q->heap, answer->rule->run,
			      (struct query_subject){ answer->ix, HEAP_NONE }, &action, err));
	query_advice_text(answer->advice, answer->rule->run, BASE_TEXT(text));
	TRY(leak_rows_text(&l->rows, &row, LEAK_TEXT, err, "%s", text));
	TRY(leak_rows_text(&l->rows, &row, LEAK_SHORT_TEXT, err, "%s", answer->advice));
	TRY(leak_rows_text(&l->rows, &row, LEAK_ACTION, err, "%s", action.query));
	TRY(leak_rows_text(&l->rows, &row, LEAK_TARGET, err, "%s", action.target));
	TRY(leak_rows_text(&l->rows, &row, LEAK_ACTION_OPTION, err, "%s", action.option));
	return leak_rows_add(&l->rows, &row, err);
}

/*
 * Appends the finding and advice of a rule about the accumulation point or an owner, if one
 * matches.
 */
static int add_explanation(struct query *q, struct leaks *l, struct query_leak_suspect *about,
			   const struct explain_answer *answer, struct hdb_error *err)
{
	const uint64_t bytes = about->suspect->retained_bytes;
	struct leak_row row = leak_row_of(&l->rows, LEAK_ROW_EXPLANATION);

	if (!answer->rule)
		return HDB_OK;
	/*
	 * The rule's description of the held objects is used only if it applies to this suspect. An
	 * owner far above the suspect holds other objects too.
	 */
	if (answer->holds[0] && answer->retained_bytes / 2 < bytes) {
		about->holds = answer->holds;
		about->held = answer->held;
	}
	TRY(leak_say_verdict(&l->rows, &row, answer, 0, err));
	TRY(leak_rows_add(&l->rows, &row, err));
	return add_advice(q, l, answer, err);
}

/*
 * Returns the maximum size of a group's members if larger objects of the class are separate
 * suspects, otherwise 0.
 */
static uint64_t most_of(const struct leaks *l, const struct analysis_suspect *group)
{
	for (size_t i = 0; i < l->found.suspects.count; i++)
		if (l->found.suspects.list[i].ix != HEAP_NONE &&
		    l->found.suspects.list[i].class_no == group->class_no)
			return l->found.suspects.threshold_bytes;
	return 0;
}

/* Appends a fault like a suspect, with the same kinds of rows. */
static int add_fault_rows(struct query *q, struct leaks *l, const struct leak_finding *f,
			  const struct query_leak_suspect *about, struct hdb_error *err)
{
	TRY(add_suspect(q, l, about, err));
	TRY(leak_say_verdict(&l->rows, leak_rows_at(&l->rows, about->first_row), &f->answer,
			     f->more, err));
	TRY(add_advice(q, l, &f->answer, err));
	return query_leak_path_rows(q, &l->rows, about->path, err);
}

static int add_suspect_rows(struct query *q, struct leaks *l, struct leak_finding *f,
			    struct query_leak_suspect *about, struct hdb_error *err)
{
	const struct analysis_suspect *s = about->suspect;
	struct leak_rows *rows = &l->rows;

	TRY(add_suspect(q, l, about, err));
	TRY(add_explanation(q, l, about, &f->answer, err));
	if (s->point_ix != HEAP_NONE)
		TRY(add_object(q, rows, leak_row_of(rows, LEAK_ROW_POINT), s->point_ix, err));
	TRY(query_leak_path_rows(q, rows, about->path, err));
	TRY(add_members(q, rows, s, err));
	TRY(query_leak_children(rows, about, err));
	TRY(query_leak_elements(q, rows, about, err));
	TRY(query_leak_contents(rows, about, err));
	TRY(query_leak_thread(q, rows, about, err));
	return add_sentence(q, rows, about, &f->owner, err);
}

/*
 * Sets the column same_as of a suspect: suspects that are the same are listed in full only once.
 * Suspects that the same rule considers "by design" are the same.
 */
static void find_same(const struct leaks *l, const struct leak_finding *f, struct leak_row *row)
{
	const struct leak_rows *rows = &l->rows;
	const char *text = leak_rows_text_of(rows, row, LEAK_SHORT_TEXT);
	const struct explain_rule *rule = f->answer.rule;

	for (size_t i = 0; rule && rule->verdict == EXPLAIN_BY_DESIGN && i < l->found.list.count;
	     i++) {
		const struct leak_finding *other = leak_finding_at(&l->found, i);

		if (other->answer.rule == rule && other->part && other->part < f->part &&
		    other->part < row->cells[LEAK_SAME_AS])
			row->cells[LEAK_SAME_AS] = other->part;
	}
	if (row->cells[LEAK_SAME_AS] != LEAK_NONE)
		return;
	for (const struct leak_row *r = leak_rows_at(rows, 0); r < row; r++)
		if (r->kind == LEAK_ROW_SUSPECT && r->cells[LEAK_SAME_AS] == LEAK_NONE &&
		    leak_is_same(leak_rows_text_of(rows, r, LEAK_SHORT_TEXT), text)) {
			row->cells[LEAK_SAME_AS] = r->cells[LEAK_SUSPECT];
			return;
		}
}

static int report(struct query *q, struct leaks *l, size_t i, struct hdb_error *err)
{
	struct leak_finding *f = leak_finding_at(&l->found, i);
	struct leak_rows *rows = &l->rows;
	struct leak_incident incident;
	int r = HDB_NOTFOUND;
	struct query_leak_suspect about = { .suspect = &f->suspect,
					    .path = &f->path,
					    .sums = &l->sums,
					    .no = i,
					    .whole_bytes = l->found.suspects.retained_bytes,
					    .first_row = rows->rows.count,
					    .owner = &f->owner,
					    .most_bytes = most_of(l, &f->suspect) };

	f->part = rows->part;
	if (!f->is_fault)
		TRY_ERRORS(r = leak_incident_find(q, &f->suspect, &incident, err));
	about.incident = r == HDB_OK ? &incident : NULL;
	TRY(f->is_fault ? add_fault_rows(q, l, f, &about, err) :
			  add_suspect_rows(q, l, f, &about, err));
	assert(rows->rows.count > about.first_row);
	find_same(l, f, leak_rows_at(rows, about.first_row));
	if (f->threads[0]) {
		struct leak_row *row = leak_rows_at(rows, about.first_row);

		TRY(leak_rows_text(rows, row, LEAK_ACTION, err, "threads"));
		TRY(leak_rows_text(rows, row, LEAK_TARGET, err, "%s", f->threads));
	}
	if (rows->is_brief)
		rows->rows.count = about.first_row + 1;
	rows->part++;
	return HDB_OK;
}

/* ---- steps that suspects share ---- */

/* Returns the number of steps that two paths share from the root on. */
static size_t shared_steps(const struct query_leak_path *a, const struct query_leak_path *b)
{
	const size_t a_end = a->gap ? a->gap_at : a->count, b_end = b->gap ? b->gap_at : b->count;
	size_t n = 0;

	while (n < a_end && n < b_end && a->nodes[n] == b->nodes[n])
		n++;
	return n;
}

/*
 * Checks whether two suspects may have the same cause: an object on both paths that retains at
 * least as much as the larger one. Threads, classes and class loaders do not count, because they
 * hold unrelated objects. Sets *shared to the number of shared steps, or to 0.
 */
static int may_be_one(struct query *q, const struct leaks *l, const size_t pair[2], size_t *shared,
		      struct hdb_error *err)
{
	const size_t a = pair[0], b = pair[1];
	const uint64_t a_bytes = l->found.suspects.list[a].retained_bytes;
	const uint64_t b_bytes = l->found.suspects.list[b].retained_bytes;
	struct heap_object object;
	uint64_t retained;
	uint32_t last;

	assert(a < b && b < l->found.suspects.count);
	*shared = shared_steps(&leak_finding_at(&l->found, a)->path,
			       &leak_finding_at(&l->found, b)->path);
	if (!*shared)
		return HDB_OK;
	last = leak_finding_at(&l->found, a)->path.nodes[*shared - 1];
	TRY(heap_object(q->heap, last, &object, err));
	TRY(derive_retained(q->derive, last, &retained, err));
	if (retained < (a_bytes > b_bytes ? a_bytes : b_bytes) || heap_is_thread(q->heap, last) ||
	    object.kind == STORE_CLASS ||
	    heap_has_superclass(q->heap, object.class_no, "java.lang.ClassLoader"))
		*shared = 0;
	return HDB_OK;
}

/*
 * Finds the suspects after `first` whose paths begin with the same steps as that of `first`, and
 * appends a sentence and the shared steps. is_reported marks suspects that have already been
 * listed, because each suspect is listed in only one such group.
 */
static int report_common(struct query *q, struct leaks *l, size_t first, bool *is_reported,
			 struct hdb_error *err)
{
	struct leak_row row = leak_row_of(&l->rows, LEAK_ROW_COMMON);
	BASE_FREED uint64_t *parts = NULL;
	size_t shared = SIZE_MAX, count = 1;

	TRY(BASE_ALLOC(parts, l->found.suspects.count, "suspects", err));
	parts[0] = leak_finding_at(&l->found, first)->part;
	for (size_t i = first + 1; i < l->found.suspects.count; i++) {
		const size_t pair[] = { first, i };
		size_t n;

		TRY(may_be_one(q, l, pair, &n, err));
		if (!n || is_reported[i])
			continue;
		is_reported[i] = true;
		shared = n < shared ? n : shared;
		parts[count++] = leak_finding_at(&l->found, i)->part;
	}
	assert(count <= l->found.suspects.count);
	if (count == 1)
		return HDB_OK;
	row.cells[LEAK_SUSPECT] = LEAK_NONE;
	TRY(leak_say_common(&l->rows, &row, parts, count, err));
	TRY(leak_rows_add(&l->rows, &row, err));
	row.cells[LEAK_TEXT] = LEAK_NONE;
	for (size_t i = 0; i < shared; i++) {
		row.cells[LEAK_STEP] = i;
		TRY(add_object(q, &l->rows, row, leak_finding_at(&l->found, first)->path.nodes[i],
			       err));
	}
	return HDB_OK;
}

static void add_leaking_facts(struct query *q, const struct leak_traces *t)
{
	const uint64_t objects = t->found - t->unreachable.count;

	query_fact(q, "leaking", objects);
	if (objects) {
		query_fact(q, "held_by_others", t->held_by_other);
		query_fact(q, "leaks", t->groups.count);
		query_fact(q, "library_leaks", t->library_groups);
	}
	if (t->unreachable.count)
		query_fact(q, "unreachable", t->unreachable.count);
	if (t->untraced)
		query_fact(q, "traced", objects - t->untraced);
}

/* Writes "java.lang.Class 31.9 %, java.lang.String 12.0 %". */
static void add_values_fact(struct query *q, const struct leaks *l)
{
	char text[TEXT_MAX_BYTES] = "";
	size_t used = 0;

	for (size_t i = 0; i < l->found.suspects.values.count && used < sizeof(text); i++) {
		const struct analysis_suspect *s =
			base_vec_at(&l->found.suspects.values, struct analysis_suspect, i);

		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s %.2f %%", i ? ", " : "",
			heap_class_name(q->heap, s->class_no),
			analysis_percent(s->retained_bytes, l->found.suspects.retained_bytes));
	}
	if (text[0])
		query_fact_text(q, "values", text);
}

static int add_facts(struct query *q, const struct leaks *l, const struct leak_traces *leaking,
		     struct hdb_error *err)
{
	struct analysis_limit limit = { 0 };

	query_fact(q, "heap_shallow", l->found.suspects.whole_bytes);
	query_fact(q, "threshold", l->found.suspects.threshold_bytes);
	TRY(analysis_limit_find(&q->session, &limit, err));
	if (limit.bytes)
		query_fact(q, "max_heap", limit.bytes);
	query_fact(q, "out_of_memory", limit.is_out_of_memory);
	query_fact(q, "suspects", l->found.list.count);
	if (q->heap->rules_path)
		query_fact(q, "rules_tried", l->found.rules.tried);
	add_values_fact(q, l);
	add_leaking_facts(q, leaking);
	return HDB_OK;
}

static int report_suspects(struct query *q, struct leaks *l, struct hdb_error *err)
{
	BASE_FREED bool *is_reported = NULL;

	for (enum leak_place place = LEAK_PLACE_FAULTS; place < LEAK_PLACES; place++)
		for (size_t i = 0; i < l->found.list.count; i++)
			if (leak_place_of(&l->found, leak_finding_at(&l->found, i)) == place)
				TRY(report(q, l, i, err));
	TRY(BASE_ALLOC(is_reported, l->found.suspects.count + 1, "suspects", err));
	for (size_t i = 0; i < l->found.suspects.count && !l->rows.is_brief; i++)
		if (!is_reported[i])
			TRY(report_common(q, l, i, is_reported, err));
	return HDB_OK;
}

/* Appends all findings: certain leaks, then large suspects, then library leaks. */
static int report_all(struct query *q, struct leaks *l, struct leak_traces *leaking,
		      struct hdb_error *err)
{
	TRY(leak_traces_find(leaking, &q->session, false, err));
	l->rows.part = 1;
	TRY(query_leaking_rows(leaking, &l->rows, false, err));
	TRY(leak_findings_find(q, &l->found, err));
	TRY(report_suspects(q, l, err));
	return query_leaking_rows(leaking, &l->rows, true, err);
}

/*
 * Counts leaks in the same way as the check "leaks: none" of gate: leaking objects, and suspects
 * whose verdict is not "by design". Owners of memory outside the heap ("large") and stuck threads
 * ("stuck") do not count.
 */
static int count_leaks(struct query *q, uint64_t *count, struct hdb_error *err)
{
	const struct leak_rows *rows = &((const struct leaks *)q->state)->rows;
	bool counts = false;

	(void)err;
	*count = 0;
	for (size_t i = 0; i < rows->rows.count; i++) {
		const struct leak_row *row = leak_rows_at(rows, i);
		const char *verdict = leak_rows_text_of(rows, row, LEAK_VERDICT);

		if (row->kind == LEAK_ROW_LEAKING || row->kind == LEAK_ROW_SUSPECT) {
			counts = row->kind == LEAK_ROW_LEAKING ||
				 !base_is_among("large|stuck", verdict);
			*count += counts;
		}
		if (counts && strcmp(verdict, "by design") == 0) {
			counts = false;
			--*count;
		}
	}
	return HDB_OK;
}

static const struct query_measure leaks_measure = { "leaks", count_leaks };

static int open_leaks(struct query *q, struct hdb_error *err)
{
	struct leaks *l = q->state;
	BASE_SCOPED(leak_traces_release) struct leak_traces leaking = { .found = 0 };

	TRY(query_check_conditions(q, 1, &leaks_measure, err));
	l->rows.is_brief = query_option(q, "brief") != NULL;
	TRY(leak_findings_open(q, (unsigned)query_number(q, "threshold", SUSPECTS_PERCENT_DEFAULT),
			       &l->found, err));
	TRY(analysis_leak_sums_count(&q->session, &l->found.suspects, &l->sums, err));
	TRY(report_all(q, l, &leaking, err));
	q->total = l->rows.rows.count;
	TRY(add_facts(q, l, &leaking, err));
	if (l->rows.is_brief)
		query_choose(q,
			     "suspect,kind,id,class,label,via_field,objects,shallow,retained,"
			     "percent,text,signature,signature_shape,signature_text,short_text,"
			     "owner_kind,owner,field,owners,owner_rule,owner_why,owner_text,held,"
			     "held_class,held_text,each,root,verdict,action,target,same_as");
	return query_judge(q, &q->session, 1, &leaks_measure, err);
}

static int leak_row_at(struct query *q, size_t no, struct hdb_error *err)
{
	struct leaks *l = q->state;

	(void)err;
	leak_rows_set(q, &l->rows, no, l->found.suspects.retained_bytes);
	return HDB_OK;
}

static void close_leaks(struct query *q)
{
	struct leaks *l = q->state;

	leak_findings_release(q, &l->found);
	analysis_leak_sums_release(&l->sums);
	leak_rows_release(&l->rows);
}

QUERY_DEFINE(leaks, .state_size = sizeof(struct leaks), .open = open_leaks, .row = leak_row_at,
	     .close = close_leaks);
