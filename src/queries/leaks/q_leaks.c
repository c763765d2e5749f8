/*
 * queries/leaks/q_leaks.c - what leaks: suspects by size, each with the path to it, who holds it,
 * what accumulates, the thread.
 */
#include "analysis/describe.h"
#include "analysis/groups.h"
#include "analysis/leak_sums.h"
#include "analysis/properties.h"
#include "analysis/suspects.h"
#include "base/base_text.h"
#include "heap/threads.h"
#include "queries/explain/rules.h"
#include "queries/leaks/leak_faults.h"
#include "queries/leaks/leak_signature.h"
#include "queries/leaks/leaking.h"
#include "queries/queries.h"
#include "query/coverage.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_MAX_BYTES 1024
#define TEXT_MAX_BYTES 4096
/* Members of a group that are listed, the largest first. */
#define MEMBERS_SHOWN 5u

static const struct hdb_option_spec options[] = {
	{ "threshold", HDB_OPTION_NUMBER, "PERCENT",
	  "suspects retain more than this share of the heap", .low = SUSPECTS_PERCENT_MIN,
	  .high = 100, .unit = "percent", .default_value = "10", .example = "5" },
	{ "brief", HDB_OPTION_FLAG, .help = "a row each, without paths and contents" },
	{ .name = NULL },
};

#define COLUMNS(X) \
	X(SUSPECT, COUNT, "suspect", "suspect", \
	  "its number, from 1: leaking objects, then faults that rules of query explain find " \
	  "and leak suspects, the largest first, then known leaks of libraries; null for what " \
	  "several have in common") \
	X(KIND, TEXT, "kind", "kind", \
	  "suspect: what is large, or what a rule of query explain calls a leak, however small; " \
	  "point: the accumulation point; path, gap: from a root down to there; member: of a " \
	  "group; child: by class, what the point dominates immediately; explanation, advice: " \
	  "what a rule of query explain says of the point or of an owner of it, and what to do; " \
	  "element: by class, what these hold, below entries of collections; content: by class, " \
	  "all that the suspect retains; of each of the three the largest classes, and one row " \
	  "without a class for the others; thread, frame, local: of the thread that holds it; " \
	  "common: the beginning that paths of several suspects share; leaking, trace: a " \
	  "leaking object (destroyed but still reachable, by Android's life cycles), one for " \
	  "all that the same references keep, and its path; library: such a one that only a " \
	  "known fault of Android, its makers or a library keeps; unreachable: one that nothing " \
	  "keeps") \
	X(STEP, COUNT, "step", "step", \
	  "place in the path or the stack, 0 the root or the innermost frame") \
	X(ID, ID, "id", "id", "the object") \
	X(CLASS, TEXT, "class", "class", "its class, or the class of all") \
	X(LABEL, TEXT, "label", "object", "what it is") \
	X(HOLDS, TEXT, "via_field", "via field", \
	  "in a path the field that holds the next object; of a suspect what holds it, of a " \
	  "leaking object the first reference that may be the leak") \
	X(COUNT, COUNT, "objects", "objects", \
	  "how many; in a trace how many objects the step retains") \
	X(SHALLOW, BYTES, "shallow", "shallow", "their own bytes") \
	X(RETAINED, BYTES, "retained", "retained", \
	  "retained size of the objects together; by class the sum; of leaking objects and " \
	  "traces the sizes as the dump records them, as LeakCanary counts (see leak-traces)") \
	X(PERCENT, PERCENT, "percent", "%", \
	  "share of all reachable bytes; of content by shallow bytes") \
	X(TEXT, TEXT, "text", "summary", \
	  "a sentence on the suspect: owner, number, what, size of each, share; a frame; why an " \
	  "object is leaking; of the first step of a path the kinds of GC root; in a trace " \
	  "whether the step is leaking; of an element that is estimated, from how many entries " \
	  "and how well, or of how many nodes of a list it is") \
	X(SIGNATURE, TEXT, "signature", "signature", \
	  "of a suspect: the SHA-1 of signature_text, the same for the same leak in other dumps " \
	  "and builds; of a leaking object LeakCanary's signature") \
	X(SHAPE, TEXT, "signature_shape", "shape", \
	  "of a suspect: the same with the application's classes told by the types of their " \
	  "fields instead of their names: it is still the same when they were renamed") \
	X(SIGNATURE_TEXT, TEXT, "signature_text", "signature of", \
	  "what is signed: the path from the application's first step to the accumulation " \
	  "point, CLASS#FIELD > CLASS ..., containers of the platform without their insides; of " \
	  "a leaking object the suspect references (its signature is of the text without # and " \
	  ">)")
enum { COLUMNS(QUERY_NUMBER) };
static const struct hdb_column columns[] = { COLUMNS(QUERY_COLUMN) QUERY_LABEL_COLUMNS };

static const struct hdb_column facts[] = {
	{ "heap_shallow", HDB_TYPE_BYTES, "reachable bytes", "of the whole heap: 100 %" },
	{ "threshold", HDB_TYPE_BYTES, "threshold", "suspects retain more" },
	{ "max_heap", HDB_TYPE_BYTES, "maximum heap size", "maximum heap size, if known" },
	{ "out_of_memory", HDB_TYPE_BOOL, "out of memory",
	  "the dump was made on an OutOfMemoryError" },
	{ "suspects", HDB_TYPE_COUNT, "suspects", "how many were found" },
	EXPLAIN_RULES_FACT,
	{ "values", HDB_TYPE_TEXT, "not suspect",
	  "classes of values whose objects hold more than the threshold together, like "
	  "java.lang.Class and java.lang.String: as groups they are no suspects" },
	{ "leaking", HDB_TYPE_COUNT, "leaking objects", "by the rules on single objects" },
	{ "hanging", HDB_TYPE_COUNT, "held by others",
	  "of those, held by another one of them: not listed" },
	{ "leaks", HDB_TYPE_COUNT, "leaks",
	  "the others, those that the same references keep as one; the first 20 are listed" },
	{ "library_leaks", HDB_TYPE_COUNT, "leaks of libraries",
	  "of those, known to be the fault of Android, its makers or a library; shown last" },
	{ "unreachable", HDB_TYPE_COUNT, "unreachable leaks",
	  "leaking objects that nothing keeps, if there are any: not among those above; the first 20 "
	  "are listed" },
	{ "traced", HDB_TYPE_COUNT, "traced",
	  "leaking objects whose paths were searched, if these are "
	  "not all: the others are only counted" },
};

/* Who owns a suspect by size, and what a rule says of it. */
struct known {
	struct query_leak_owner owner;
	struct explain_answer answer; /* rule NULL: none says anything */
	uint64_t part;                /* its number */
};

struct leaks {
	struct analysis_suspects suspects;
	struct analysis_leak_sums sums;
	struct query_leak_path *paths; /* one a suspect, as is: */
	struct known *known;
	struct base_vec faults; /* struct query_leak_fault: suspects of any size */
	struct query_report report;
	struct explain_rules rules;
};

/* The headline: what it is, who owns it. Its sentence follows when all else is told. */
static int add_suspect(struct query *q, struct leaks *l, const struct query_leak_suspect *about,
		       struct hdb_error *err)
{
	const struct analysis_suspect *s = about->suspect;
	struct query_report_row row = query_report_row(&l->report, "suspect");

	row.ix = s->ix;
	row.class_no = s->ix == HEAP_NONE ? s->class_no : HEAP_NONE;
	row.count = s->count;
	row.shallow_bytes = s->shallow_bytes;
	row.retained_bytes = s->retained_bytes;
	if (about->owner->name[0])
		TRY(query_report_text(&l->report, &row.holds, err, "%s", about->owner->name));
	TRY(query_leak_sign(q, &l->report, about, &row, err));
	return query_report_add(&l->report, &row, err);
}

static int add_sentence(struct query *q, struct query_report *report,
			const struct query_leak_suspect *about, struct hdb_error *err)
{
	char text[TEXT_MAX_BYTES];
	size_t place;

	TRY(query_leak_sentence(q, report, about, BASE_TEXT(text), err));
	TRY(query_report_text(report, &place, err, "%s", text));
	base_vec_at(&report->rows, struct query_report_row, about->first_row)->text = place;
	return HDB_OK;
}

/* Fills in an object and its sizes, and appends the row. */
static int add_object(struct query *q, struct query_report *report, struct query_report_row row,
		      uint32_t ix, struct hdb_error *err)
{
	struct heap_object object;

	TRY(heap_object(q->heap, ix, &object, err));
	TRY(derive_retained(q->derive, ix, &row.retained_bytes, err));
	row.ix = ix;
	row.shallow_bytes = object.shallow_bytes;
	return query_report_add(report, &row, err);
}

static int add_members(struct query *q, struct query_report *report,
		       const struct analysis_suspect *s, struct hdb_error *err)
{
	struct query_report_row row = query_report_row(report, "member");

	for (size_t i = 0; i < s->members.count && i < MEMBERS_SHOWN; i++) {
		row.step = i;
		TRY(add_object(q, report, row, *base_vec_at(&s->members, uint32_t, i), err));
	}
	return HDB_OK;
}

/*
 * The rule that explains a suspect, or the largest member of a group, or who owns it: HDB_OK or
 * HDB_NOTFOUND.
 */
static int find_explanation(struct query *q, const struct leaks *l, size_t no,
			    struct explain_answer *answer, struct hdb_error *err)
{
	const struct analysis_suspect *s = &l->suspects.list[no];
	const struct query_leak_path *path = &l->paths[no];
	const struct query_leak_owner *owner = &l->known[no].owner;
	int r = HDB_NOTFOUND;

	if (s->ix != HEAP_NONE)
		r = explain_chain(&q->session, &l->rules,
				  s->point_ix == HEAP_NONE ? s->ix : s->point_ix, answer, err);
	else if (s->members.count)
		r = explain_object(&q->session, &l->rules, *base_vec_at(&s->members, uint32_t, 0),
				   answer, err);
	for (size_t i = 0; i < LEAK_OWNERS && r == HDB_NOTFOUND; i++)
		if (owner->ix[i] != HEAP_NONE)
			r = explain_object(&q->session, &l->rules, owner->ix[i], answer, err);
	if (s->ix != HEAP_NONE)
		return r;
	/* Of a group also what most paths to members pass. */
	for (size_t i = path->count; i-- > 0 && r == HDB_NOTFOUND;)
		r = explain_object(&q->session, &l->rules, path->nodes[i], answer, err);
	return r;
}

/* What the rules know of the accumulation point or one of its owners: two rows, if they do. */
static int explain_suspect(struct leaks *l, struct query_leak_suspect *about, struct hdb_error *err)
{
	const struct explain_answer *answer = &l->known[about->no].answer;
	const uint64_t bytes = about->suspect->retained_bytes;
	struct query_report_row row = query_report_row(&l->report, "explanation");

	if (!answer->rule)
		return HDB_OK;
	/* An owner further up holds other things, too; of a group it is no owner. */
	if (answer->holds[0] && answer->retained_bytes / 2 < bytes) {
		about->holds = answer->holds;
		about->held = answer->held;
	}
	TRY(query_report_text(&l->report, &row.text, err, "%s (%s)", answer->says,
			      explain_verdict_name(answer->rule->verdict)));
	TRY(query_report_add(&l->report, &row, err));
	row = query_report_row(&l->report, "advice");
	TRY(query_report_text(&l->report, &row.text, err, "%s", answer->advice));
	return query_report_add(&l->report, &row, err);
}

static int tell_suspect(struct query *q, struct leaks *l, size_t i, struct hdb_error *err)
{
	const struct analysis_suspect *s = &l->suspects.list[i];
	struct query_report *report = &l->report;
	struct query_leak_suspect about = { .suspect = s,
					    .path = &l->paths[i],
					    .sums = &l->sums,
					    .no = i,
					    .whole_bytes = l->suspects.whole_bytes,
					    .first_row = report->rows.count,
					    .owner = &l->known[i].owner };

	report->part = l->known[i].part;
	TRY(add_suspect(q, l, &about, err));
	TRY(explain_suspect(l, &about, err));
	if (s->point_ix != HEAP_NONE)
		TRY(add_object(q, report, query_report_row(report, "point"), s->point_ix, err));
	TRY(query_leak_path_rows(q, report, about.path, err));
	TRY(add_members(q, report, s, err));
	TRY(query_leak_children(report, &about, err));
	TRY(query_leak_elements(q, report, &about, err));
	TRY(query_leak_contents(report, &about, err));
	TRY(query_leak_thread(q, report, &about, err));
	TRY(add_sentence(q, report, &about, err));
	if (report->is_brief)
		report->rows.count = about.first_row + 1;
	return HDB_OK;
}

/* ---- faults that rules find: suspects of any size ---- */

/* Who owns the suspects, what rules say of them, and the faults that these do not say. */
static int find_known(struct query *q, struct leaks *l, struct hdb_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->suspects.count; i++) {
		struct known *known = &l->known[i];
		int r;

		TRY(query_leak_blame(q, &l->suspects.list[i], &l->paths[i], &known->owner, err));
		TRY_ERRORS(r = find_explanation(q, l, i, &known->answer, err));
		if (r == HDB_OK)
			TRY_ERRORS(r = query_leak_add_keeper(q, &known->answer, err));
		if (r != HDB_OK)
			known->answer.rule = NULL;
	}
	TRY(query_leak_find_faults(q, &l->rules, &l->faults, err));
	for (size_t i = 0; i < l->faults.count; i++) {
		const struct query_leak_fault *fault =
			base_vec_at(&l->faults, struct query_leak_fault, i);
		struct heap_object object;
		size_t said = 0;

		TRY(heap_object(q->heap, fault->answer.ix, &object, err));
		/* A suspect below a class loader says what is in it, not that the loader leaks. */
		if (heap_has_superclass(q->heap, object.class_no, "java.lang.ClassLoader"))
			said = l->suspects.count;
		while (said < l->suspects.count && l->known[said].answer.rule != fault->answer.rule)
			said++;
		if (said == l->suspects.count)
			*base_vec_at(&l->faults, struct query_leak_fault, kept++) = *fault;
	}
	l->faults.count = kept;
	return HDB_OK;
}

/* A leak is certain, what is large is not: leaks come first, unless one fills half the heap. */
static bool are_leaks_first(const struct leaks *l)
{
	return !l->suspects.count ||
	       l->suspects.list[0].retained_bytes < l->suspects.whole_bytes / 2;
}

static bool is_leak(const struct leaks *l, size_t i)
{
	const struct explain_rule *rule = l->known[i].answer.rule;

	return rule && rule->verdict == EXPLAIN_LEAK;
}

static int tell_fault(struct query *q, struct leaks *l, struct query_leak_fault *fault,
		      struct hdb_error *err)
{
	struct query_leak_path path = { .count = 0 };
	struct query_leak_owner owner = { .count = 1 };
	struct analysis_suspect s = { .ix = fault->answer.ix,
				      .count = 1,
				      .point_ix = fault->answer.kept_ix };
	const struct query_leak_suspect about = { .suspect = &s, .path = &path, .owner = &owner };
	struct explain_answer *answer = &fault->answer;
	const size_t first_row = l->report.rows.count;
	struct query_report_row advice = query_report_row(&l->report, "advice");
	struct heap_object object;
	char more[NAME_MAX_BYTES] = "";

	TRY(heap_object(q->heap, s.ix, &object, err));
	s.class_no = object.class_no;
	s.shallow_bytes = object.shallow_bytes;
	s.retained_bytes = answer->retained_bytes;
	TRY(query_leak_path_find(q, s.point_ix, &path, err));
	TRY(add_suspect(q, l, &about, err));
	if (fault->more)
		(void)snprintf(more, sizeof(more), "; %" PRIu64 " more like it", fault->more);
	TRY(query_report_text(
		&l->report, &base_vec_at(&l->report.rows, struct query_report_row, first_row)->text,
		err, "%s (%s%s)", answer->says, explain_verdict_name(answer->rule->verdict), more));
	TRY(query_report_text(&l->report, &advice.text, err, "%s", answer->advice));
	TRY(query_report_add(&l->report, &advice, err));
	TRY(query_leak_path_rows(q, &l->report, &path, err));
	if (l->report.is_brief)
		l->report.rows.count = first_row + 1;
	return HDB_OK;
}

static int tell_faults(struct query *q, struct leaks *l, struct hdb_error *err)
{
	for (size_t i = 0; i < l->faults.count; i++, l->report.part++)
		TRY(tell_fault(q, l, base_vec_at(&l->faults, struct query_leak_fault, i), err));
	return HDB_OK;
}

/* ---- what suspects have in common ---- */

/* How many steps two paths share from the root on. */
static size_t shared_steps(const struct query_leak_path *a, const struct query_leak_path *b)
{
	const size_t a_end = a->gap ? a->gap_at : a->count, b_end = b->gap ? b->gap_at : b->count;
	size_t n = 0;

	while (n < a_end && n < b_end && a->nodes[n] == b->nodes[n])
		n++;
	return n;
}

/*
 * Whether two suspects may be one leak: an object that both paths pass holds at least as much as
 * the larger one. A thread or a class loader is no such object, for it holds what has nothing
 * to do with one another; nor is what only lies on both shortest paths and keeps neither.
 */
static int may_be_one(struct query *q, const struct leaks *l, const size_t pair[2], size_t *shared,
		      struct hdb_error *err)
{
	const size_t a = pair[0], b = pair[1];
	const uint64_t a_bytes = l->suspects.list[a].retained_bytes;
	const uint64_t b_bytes = l->suspects.list[b].retained_bytes;
	struct heap_object object;
	uint64_t retained;
	uint32_t last;

	*shared = shared_steps(&l->paths[a], &l->paths[b]);
	if (!*shared)
		return HDB_OK;
	last = l->paths[a].nodes[*shared - 1];
	TRY(heap_object(q->heap, last, &object, err));
	TRY(derive_retained(q->derive, last, &retained, err));
	if (retained < (a_bytes > b_bytes ? a_bytes : b_bytes) || heap_is_thread(q->heap, last) ||
	    heap_has_superclass(q->heap, object.class_no, "java.lang.ClassLoader"))
		*shared = 0;
	return HDB_OK;
}

/*
 * The suspects from `first` on whose paths begin as its own does, once each: a sentence and the
 * shared steps.
 */
static int tell_common(struct query *q, struct leaks *l, size_t first, bool *is_told,
		       struct hdb_error *err)
{
	struct query_report_row row = query_report_row(&l->report, "common");
	size_t shared = SIZE_MAX, used = 0, count = 0;
	char numbers[NAME_MAX_BYTES] = "";

	for (size_t i = first + 1; i < l->suspects.count; i++) {
		const size_t pair[] = { first, i };
		size_t n;

		TRY(may_be_one(q, l, pair, &n, err));
		if (!n || is_told[i])
			continue;
		is_told[i] = true;
		count++;
		shared = n < shared ? n : shared;
		if (used < sizeof(numbers))
			used += (size_t)snprintf(numbers + used, sizeof(numbers) - used,
						 ", %" PRIu64, l->known[i].part);
	}
	if (!count)
		return HDB_OK;
	row.part = REPORT_NONE;
	TRY(query_report_text(&l->report, &row.text, err,
			      "Suspects %" PRIu64 "%s may be one leak: the paths to them begin "
			      "alike, and what they share holds them.",
			      l->known[first].part, numbers));
	TRY(query_report_add(&l->report, &row, err));
	row.text = 0;
	for (size_t i = 0; i < shared; i++) {
		row.step = i;
		TRY(add_object(q, &l->report, row, l->paths[first].nodes[i], err));
	}
	return HDB_OK;
}

static void add_leaking_facts(struct query *q, const struct query_leaking_counts *counts)
{
	query_fact(q, "leaking", counts->objects);
	if (counts->objects) {
		query_fact(q, "hanging", counts->hanging);
		query_fact(q, "leaks", counts->leaks);
		query_fact(q, "library_leaks", counts->library_leaks);
	}
	if (counts->unreachable)
		query_fact(q, "unreachable", counts->unreachable);
	if (counts->traced < counts->objects)
		query_fact(q, "traced", counts->traced);
}

/* "java.lang.Class 31.9 %, java.lang.String 12.0 %" */
static void add_values_fact(struct query *q, const struct leaks *l)
{
	char text[TEXT_MAX_BYTES] = "";
	size_t used = 0;

	for (size_t i = 0; i < l->suspects.values.count && used < sizeof(text); i++) {
		const struct analysis_suspect *s =
			base_vec_at(&l->suspects.values, struct analysis_suspect, i);

		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s %.2f %%", i ? ", " : "",
			heap_class_name(q->heap, s->class_no),
			analysis_percent(s->retained_bytes, l->suspects.whole_bytes));
	}
	if (text[0])
		query_fact_text(q, "values", text);
}

static int add_facts(struct query *q, const struct leaks *l,
		     const struct query_leaking_counts *leaking, struct hdb_error *err)
{
	struct analysis_limit limit = { 0 };

	query_fact(q, "heap_shallow", l->suspects.whole_bytes);
	query_fact(q, "threshold", l->suspects.threshold_bytes);
	TRY(analysis_limit_find(&q->session, &limit, err));
	if (limit.bytes)
		query_fact(q, "max_heap", limit.bytes);
	query_fact(q, "out_of_memory", limit.is_out_of_memory);
	query_fact(q, "suspects", l->suspects.count + l->faults.count);
	if (q->heap->rules_path)
		query_fact(q, "rules_tried", l->rules.rules.count);
	add_values_fact(q, l);
	add_leaking_facts(q, leaking);
	return HDB_OK;
}

static int find_suspects(struct query *q, struct leaks *l, struct hdb_error *err)
{
	const uint64_t percent = query_number(q, "threshold", SUSPECTS_PERCENT_DEFAULT);

	TRY(heap_load_roots(q->heap, err));
	TRY(analysis_suspects_find(&q->session, (unsigned)percent, &l->suspects, err));
	TRY(BASE_ALLOC(l->paths, l->suspects.count + 1, "paths", err));
	TRY(BASE_ALLOC(l->known, l->suspects.count + 1, "paths", err));
	return analysis_leak_sums_count(&q->session, &l->suspects, &l->sums, err);
}

/* Numbers and tells suspects, and the leaks that none of them is: leaks first, or the largest. */
static int tell_order(struct query *q, struct leaks *l, struct hdb_error *err)
{
	const bool leaks_first = are_leaks_first(l);

	if (leaks_first)
		TRY(tell_faults(q, l, err));
	for (unsigned pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < l->suspects.count; i++) {
			if ((leaks_first && is_leak(l, i)) != (pass == 0))
				continue;
			l->known[i].part = l->report.part;
			TRY(tell_suspect(q, l, i, err));
			l->report.part++;
		}
	}
	return leaks_first ? HDB_OK : tell_faults(q, l, err);
}

static int tell_suspects(struct query *q, struct leaks *l, struct hdb_error *err)
{
	BASE_FREED bool *is_told = NULL;

	TRY(BASE_ALLOC(is_told, l->suspects.count + 1, "suspects", err));
	TRY(tell_order(q, l, err));
	for (size_t i = 0; i < l->suspects.count && !l->report.is_brief; i++)
		if (!is_told[i])
			TRY(tell_common(q, l, i, is_told, err));
	return HDB_OK;
}

/*
 * What certainly leaks comes first, then what holds much, then what is a library's fault: the first
 * row is what to look at first.
 */
static int tell_all(struct query *q, struct leaks *l, struct query_leaking_counts *counts,
		    struct hdb_error *err)
{
	BASE_SCOPED(query_leaking_release) struct query_leaking *leaking = NULL;
	uint64_t part;

	TRY(query_leaking_find(q, &leaking, counts, err));
	l->report.part = 1;
	TRY(query_leaking_tell(leaking, &l->report, false, counts, err));
	TRY(find_known(q, l, err));
	part = l->report.part;
	TRY(tell_suspects(q, l, err));
	l->report.part = part + l->suspects.count + l->faults.count;
	return query_leaking_tell(leaking, &l->report, true, counts, err);
}

static int open_leaks(struct query *q, struct hdb_error *err)
{
	struct leaks *l = q->state;
	struct query_leaking_counts leaking = { .objects = 0 };

	l->report.is_brief = query_option(q, "brief") != NULL;
	TRY(explain_rules_open(&q->session, q->heap->rules_path, &l->rules, err));
	TRY(find_suspects(q, l, err));
	l->rules.whole_bytes = l->suspects.whole_bytes;
	TRY(tell_all(q, l, &leaking, err));
	q->total = l->report.rows.count;
	TRY(add_facts(q, l, &leaking, err));
	if (l->report.is_brief)
		query_choose(q, "suspect,kind,id,class,label,via_field,objects,shallow,retained,"
				"percent,text,signature,signature_shape,signature_text");
	return HDB_OK;
}

static int report_row(struct query *q, size_t no, struct hdb_error *err)
{
	static const struct query_report_columns cells = {
		SUSPECT, KIND,     STEP,    ID,   CLASS,     LABEL, HOLDS,          COUNT,
		SHALLOW, RETAINED, PERCENT, TEXT, SIGNATURE, SHAPE, SIGNATURE_TEXT,
	};
	struct leaks *l = q->state;

	(void)err;
	query_report_set(q, &l->report, no, &cells, l->suspects.whole_bytes);
	return HDB_OK;
}

static void close_leaks(struct query *q)
{
	struct leaks *l = q->state;

	analysis_suspects_release(&l->suspects);
	analysis_leak_sums_release(&l->sums);
	query_report_release(&l->report);
	explain_rules_release(&l->rules);
	base_vec_release(&l->faults);
	free(l->known);
	free(l->paths);
}

const struct query_def query_leaks = {
	.spec = {
		.name = "leaks", .aliases = "leak-suspects|leakhunter",
		.group = "leaks", .example = "--threshold 5",
		.targets = "",
		.summary = "leak suspects and leaking objects: what holds them, what accumulates, the "
			   "path from a GC root",
		.options = options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
		.one_population = QUERY_RETAINS_ONLY,
	},
	.uses = QUERY_USES_HEAP | QUERY_CHOOSES_HEAP,
	.heap_help = "only suspects and leaking objects of this heap"
		     QUERY_HEAP_NAMES "; shares are of all heaps",
	.keeps = STORE_ANSWER_LEAKS,
	.state_size = sizeof(struct leaks),
	.open = open_leaks, .row = report_row, .close = close_leaks,
};
