/*
 * queries/triage/q_triage.c - the triage query: lists the rules of a table that apply to the heap.
 */
#include "analysis/groups.h"
#include "analysis/properties.h"
#include "base/base_text.h"
#include "base/error.h"
#include "base/expression.h"
#include "queries/triage/triage.h"
#include "queries/queries.h"
#include "query/advice.h"
#include "query/object_cells.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <queries/triage/q_triage.query.h>

enum severity { CRITICAL, WARNING, INFO };

/* A rule. Of several rules with the same name, only the first that fires is reported. */
struct rule {
	const char *id, *where, *text, *advice, *run, *why, *see;
	int line; /* line in triage.rules */
	enum severity severity;
	enum triage_measure_no measure;
	enum triage_in_leaks in_leaks; /* set in the first rule of a name */
};

#define RULE_rule(word, text_, nth) .line = __LINE__, .id = text_
#define RULE_severity(word, text_, nth) .severity = SEVERITY_##word
#define RULE_measure(word, text_, nth) .measure = TRIAGE_##word
#define RULE_where(word, text_, nth) .where = text_
#define RULE_says(word, text_, nth) .text = text_
#define RULE_do(word, text_, nth) .advice = text_
#define RULE_run(word, text_, nth) .run = text_
#define RULE_why(word, text_, nth) .why = text_
#define RULE_see(word, text_, nth) .see = text_
#define RULE_leaks(word, text_, nth) .in_leaks = IN_LEAKS_##word
#define SEVERITY_critical CRITICAL
#define SEVERITY_warning WARNING
#define SEVERITY_info INFO
#define IN_LEAKS_suspects TRIAGE_IS_SUSPECT
#define IN_LEAKS_leaking TRIAGE_IS_LEAKING
#define IN_LEAKS_outside TRIAGE_IS_OUTSIDE
#define IN_LEAKS_holder TRIAGE_IS_HOLDER
#define IN_LEAKS_loaders TRIAGE_IS_LOADERS

static const struct rule rules[] = {
#include <queries/triage/triage.rules.h>
};
#define RULES BASE_COUNT(rules)

static const struct base_grammar grammar = {
	.first = "count, bytes, percent or full",
	.operand = "a number",
};

struct triage_query {
	struct triage triage;
	struct base_vec nodes; /* struct base_node of conditions */
	uint32_t conditions[RULES];
	size_t rows[RULES]; /* indexes of rules, in the order of rows */
	bool has_fired[RULES];
	size_t count;
	bool is_all;
};

/* A name that conditions may use. */
struct named {
	const char *name;
	double value;
};
#define NAMED 4

static int named_value(void *ctx, const struct base_value *from, const char *path,
		       struct base_value *out, struct hdb_error *err)
{
	const struct named *named = ctx;

	for (unsigned i = 0; i < NAMED && !from; i++) {
		if (strcmp(path, named[i].name) != 0)
			continue;
		base_value_set_number(out, named[i].value);
		return HDB_OK;
	}
	return hdb_fail(err, HDB_EBUG, "triage.rules: unknown name \"%s\" in a measure", path);
}

/*
 * Returns whether a measure counts garbage, which is not part of the reachable heap and may be many
 * times as large as the heap.
 */
static bool is_garbage(enum triage_measure_no measure)
{
	return measure == TRIAGE_GARBAGE || measure == TRIAGE_FILLERS;
}

static double share_of(const struct triage *t, enum triage_measure_no measure, uint64_t bytes)
{
	assert(measure < TRIAGE_MEASURES);
	return analysis_percent(bytes, is_garbage(measure) ? t->all_bytes : t->retained_bytes);
}

/* Sets *out to whether a rule fires if its measure has this many bytes. */
static int fires(const struct triage_query *s, size_t no, uint64_t bytes, bool *out,
		 struct hdb_error *err)
{
	const struct triage *t = &s->triage;
	const struct triage_figure *f = &t->figures[rules[no].measure];
	/* When memory is short, the collector frees objects that are held only weakly or softly. */
	const uint64_t needed_bytes = t->whole_bytes - t->figures[TRIAGE_WEAK_ONLY].bytes;
	struct named named[NAMED] = {
		{ "count", (double)f->count },
		{ "bytes", (double)bytes },
		{ "percent", share_of(t, rules[no].measure, bytes) },
		{ "full", t->limit.is_out_of_memory ?
				  100 :
				  analysis_limit_percent(&t->limit, needed_bytes) },
	};
	const struct base_evaluator evaluator = { &s->nodes, named_value, NULL, named };
	struct base_value value = { .kind = BASE_NOTHING };

	assert(no < RULES && s->conditions[no] < s->nodes.count);
	TRY(base_expression_evaluate(&evaluator, s->conditions[no], &value, err));
	*out = base_value_is_true(&value);
	return HDB_OK;
}

static int parse_rules(struct triage_query *s, struct hdb_error *err)
{
	struct hdb_error why;

	for (size_t i = 0; i < RULES; i++) {
		const int r = base_expression_parse(&grammar, base_word(rules[i].where), &s->nodes,
						    &s->conditions[i], &why);

		if (r != HDB_OK)
			return hdb_fail(err, r == HDB_ENOMEM ? HDB_ENOMEM : HDB_EBUG,
					"triage.rules, rule on line %d: %s", rules[i].line,
					why.message);
	}
	return HDB_OK;
}

int triage_wants_bytes(struct triage *t, enum triage_measure_no measure, uint64_t bytes_max,
		       bool *out, struct hdb_error *err)
{
	const struct triage_query *s = t->q->state;

	*out = s->is_all;
	for (size_t i = 0; i < RULES && !*out; i++)
		if (rules[i].measure == measure)
			TRY(fires(s, i, bytes_max, out, err));
	return HDB_OK;
}

/* Returns whether one of the first `count` rows has a rule with this name. */
static bool is_chosen(const struct triage_query *s, size_t rule)
{
	for (size_t k = 0; k < s->count; k++)
		if (strcmp(rules[s->rows[k]].id, rules[rule].id) == 0)
			return true;
	return false;
}

/* Returns the first rule with this name. */
static const struct rule *first_of(const struct rule *rule)
{
	const struct rule *first = rules;

	while (strcmp(first->id, rule->id) != 0)
		first++;
	assert(first <= rule);
	return first;
}

enum triage_in_leaks triage_in_leaks(const struct query *row)
{
	size_t i = 0;

	while (!query_cell_is(row, "rule", rules[i].id))
		i++;
	assert(i < RULES);
	return rules[i].in_leaks;
}

static uint64_t count_rules(void)
{
	uint64_t count = 0;

	for (size_t i = 0; i < RULES; i++)
		count += first_of(&rules[i]) == &rules[i];
	return count;
}

/* Chooses the rules that fire, most severe first. With --all, chooses all rules. */
static int choose_rules(struct triage_query *s, struct hdb_error *err)
{
	bool is_firing;

	for (int severity = CRITICAL; severity <= INFO; severity++) {
		for (size_t i = 0; i < RULES; i++) {
			if ((int)rules[i].severity != severity || is_chosen(s, i))
				continue;
			TRY(fires(s, i, s->triage.figures[rules[i].measure].bytes, &is_firing,
				  err));
			if (!is_firing)
				continue;
			s->has_fired[s->count] = true;
			s->rows[s->count++] = i;
		}
	}
	for (size_t i = 0; i < RULES && s->is_all; i++)
		if (!is_chosen(s, i))
			s->rows[s->count++] = i;
	assert(s->count <= RULES);
	return HDB_OK;
}

static void set_facts(struct query *q, const struct triage_query *s)
{
	uint64_t counts[INFO + 1] = { 0 }, all = 0;
	for (size_t i = 0; i < s->count; i++) {
		if (!s->has_fired[i])
			continue;
		counts[rules[s->rows[i]].severity]++;
		all++;
	}
	query_fact(q, "rules", count_rules());
	query_fact(q, "findings", all);
	query_fact(q, "critical", counts[CRITICAL]);
	query_fact(q, "warnings", counts[WARNING]);
	query_fact(q, "suspects", s->triage.verdict.listed);
	if (s->triage.verdict.listed)
		query_fact_text(q, "suspect", s->triage.figures[TRIAGE_SUSPECT].detail);
}

/* Takes the measures that need passes over objects, only for the objects that rows show. */
static int take_passes(struct query *q, struct triage *t, struct hdb_error *err)
{
	HEAP_FILTER_SCOPE(heap_show_chosen, q->heap);

	TRY(triage_take_scan(t, err));
	return triage_take_strings(t, err);
}

/* Measures of collections, with the facts of the query collections. */
static const struct {
	enum triage_measure_no measure;
	const char *count, *bytes;
} collections[] = { { TRIAGE_SPARSE, "sparse", "sparse_wasted" },
		    { TRIAGE_EMPTY, "empty", "empty_shallow" } };
#define COLLECTIONS BASE_COUNT(collections)

static void take_collection_facts(struct triage *t, const struct query *answer)
{
	for (size_t i = 0; i < COLLECTIONS; i++) {
		struct triage_figure *f = &t->figures[collections[i].measure];

		f->sampled = f->class_count = 0;
		for (size_t k = 0; k < query_fact_count(answer); k++) {
			const char *name = query_fact_column(answer, k)->name;

			if (strcmp(name, collections[i].count) == 0)
				f->count = query_fact_value(answer, k)->u;
			if (strcmp(name, collections[i].bytes) == 0)
				f->bytes = query_fact_value(answer, k)->u;
		}
	}
}

/* Finds the class with the most empty collections. */
static int take_collection_row(struct triage *t, const struct query *row, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_EMPTY];
	const uint64_t empty = triage_number(row, "empty");
	struct heap_object object;
	uint32_t ix;

	if (empty <= f->class_count)
		return HDB_OK;
	TRY_FOUND(heap_find(t->q->heap, triage_number(row, "largest"), &ix, err));
	TRY(heap_object(t->q->heap, ix, &object, err));
	f->class_count = empty;
	f->class_no = object.class_no;
	return HDB_OK;
}

/*
 * Replaces the figures of empty and sparse collections, if rows show them, with the figures of the
 * query collections, which knows more classes, so that both queries show the same figures.
 * Estimates from a sample do not change.
 */
static int take_collections(struct triage *t, struct hdb_error *err)
{
	const struct query_sides sides = { .session = &t->q->session };
	const struct hdb_option heap = { "heap", query_option(t->q, "heap") };
	const struct hdb_query_args args = { .struct_size = sizeof(args),
					     .options = &heap,
					     .option_count = heap.value ? 1 : 0 };
	struct query *answer = NULL;
	bool is_shown = false;
	int r;

	for (size_t i = 0; i < COLLECTIONS; i++) {
		const struct triage_figure *f = &t->figures[collections[i].measure];
		bool is_wanted;

		/* Measuring millions of collections would take longer than all other rules. */
		if (f->sampled)
			return HDB_OK;
		TRY(triage_wants_bytes(t, collections[i].measure, f->bytes, &is_wanted, err));
		is_shown |= is_wanted;
	}
	if (!is_shown)
		return HDB_OK;
	r = query_open(query_find("collections"), &sides, &args, &answer, err);
	if (r == HDB_OK)
		take_collection_facts(t, answer);
	while (r == HDB_OK && (r = query_next(answer, err)) == HDB_OK)
		r = take_collection_row(t, answer, err);
	query_close(answer);
	return r < 0 ? r : HDB_OK;
}

/* Drops the finding about sessions if the finding about the largest suspect explains it. */
static void drop_explained(struct triage *t)
{
	struct triage_figure *f = &t->figures[TRIAGE_SESSIONS];

	if (t->figures[TRIAGE_SUSPECT].count && t->verdict.why[0] && f->class_no != HEAP_NONE &&
	    strcmp(heap_class_name(t->q->heap, f->class_no), t->verdict.held_class) == 0)
		f->count = f->bytes = 0;
}

static int open_triage(struct query *q, struct hdb_error *err)
{
	struct triage_query *s = q->state;

	s->triage.q = q;
	s->is_all = query_option(q, "all") != NULL;
	TRY(parse_rules(s, err));
	for (size_t i = 0; i < TRIAGE_MEASURES; i++)
		s->triage.figures[i].ix = s->triage.figures[i].class_no = HEAP_NONE;
	TRY(heap_load_classes(q->heap, err));
	TRY(heap_load_roots(q->heap, err));
	TRY(triage_take_totals(&s->triage, err));
	TRY(take_passes(q, &s->triage, err));
	TRY(take_collections(&s->triage, err));
	TRY(triage_take_loaders(&s->triage, err));
	TRY(triage_take_buffers(&s->triage, err));
	TRY(triage_take_threads(&s->triage, err));
	TRY(triage_explain_pin(&s->triage, err));
	drop_explained(&s->triage);
	TRY(choose_rules(s, err));
	q->total = s->count;
	set_facts(q, s);
	return HDB_OK;
}

static void set_example(struct query *q, const struct triage_figure *f)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SIZE_MAX, SIZE_MAX };
	const char *name;

	if (f->ix != HEAP_NONE) {
		query_set_object(q, &cells, f->ix);
		return;
	}
	if (f->class_no == HEAP_NONE)
		return;
	name = heap_class_name(q->heap, f->class_no);
	query_lend_text(q, CLASS, name);
	query_lend_text(q, LABEL, name);
}

/* The items that a measure counts, in singular and plural. */
static const char *const units[][2] = {
#define MEASURE(name, one, many) \
	{ \
		one, many \
	}
#include <queries/triage/measures.rows.h>
};

static int rule_row(struct query *q, size_t no, struct hdb_error *err)
{
	static const char *const severities[] = { "critical", "warning", "info" };
	static const struct query_advice_columns advice = { ADVICE, ADVICE_WORDS, ACTION, TARGET,
							    ACTION_OPTION };
	struct triage_query *s = q->state;
	const struct rule *rule = &rules[s->rows[no]], *first = first_of(rule);
	const struct triage_figure *f = &s->triage.figures[rule->measure];
	const bool has_fired = s->has_fired[no];
	const char *words = rule->advice, *known = s->triage.verdict.advice;
	char advised[sizeof(s->triage.verdict.advice) + 64];
	struct query_action action;

	assert(no < s->count && first->why);
	if (rule->measure == TRIAGE_SUSPECT && known[0]) {
		(void)snprintf(advised, sizeof(advised), "%s {run} shows what it holds.", known);
		words = advised;
	}
	TRY(query_action_find(q->heap, rule->run, (struct query_subject){ f->ix, f->class_no },
			      &action, err));
	query_lend_text(q, SEVERITY, has_fired ? severities[rule->severity] : "ok");
	query_lend_text(q, RULE, rule->id);
	query_format(q, TEXT, "%s%s", has_fired ? "" : "not found: ", rule->text);
	query_set_advice(q, &advice, words, &action, rule->run);
	query_lend_text(q, UNIT, units[rule->measure][f->count != 1]);
	query_lend_text(q, WHY, first->why);
	if (first->see)
		query_lend_text(q, SEE, first->see);
	query_set(q, COUNT, f->count);
	if (!f->has_no_bytes)
		query_set(q, BYTES, f->bytes);
	if (!f->is_outside && !f->has_no_bytes) {
		query_set_double(q, PERCENT, share_of(&s->triage, rule->measure, f->bytes));
		query_lend_text(q, SHARE_OF,
				is_garbage(rule->measure) ? "the heap, garbage included" :
							    "the heap");
	}
	set_example(q, f);
	if (f->sampled) {
		query_format(q, DETAIL, "%s%sestimated from %s objects", f->detail,
			     f->detail[0] ? "; " : "", base_number(f->sampled).text);
		return HDB_OK;
	}
	if (f->detail[0])
		query_set_text(q, DETAIL, f->detail);
	else if (f->ix == HEAP_NONE && f->class_count && f->class_count < f->count)
		query_format(q, DETAIL, "%s of them %s", base_number(f->class_count).text,
			     heap_class_name(q->heap, f->class_no));
	return HDB_OK;
}

QUERY_DEFINE(triage, QUERY_STATE(struct triage_query, triage.classes, nodes), .open = open_triage,
	     .row = rule_row);
