/*
 * queries/triage/q_triage.c - first aid: which of a table of rules the heap breaks.
 */
#include "analysis/describe.h"
#include "analysis/groups.h"
#include "analysis/properties.h"
#include "base/base_text.h"
#include "queries/triage/triage.h"
#include "queries/queries.h"
#include "query/object_cells.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hdb_option_spec options[] = {
	{ "all", HDB_OPTION_FLAG,
	  .help = "all rules with their figures, whether they fire or not" },
	{ .name = NULL },
};

#define COLUMNS(X) \
	X(SEVERITY, TEXT, "severity", "severity", \
	  "critical, warning or info; with --all also ok: not found") \
	X(RULE, TEXT, "rule", "rule", "name of the rule") \
	X(COUNT, COUNT, "count", "count", "how many things were found; `unit` says of what") \
	X(BYTES, BYTES, "bytes", "bytes", \
	  "what these take or retain; of direct-buffers and mapped-files bytes outside the heap") \
	X(PERCENT, PERCENT, "percent", "%", \
	  "share of all reachable bytes; null for bytes outside") \
	X(ID, ID, "id", "id", "an object to look at") \
	X(CLASS, TEXT, "class", "class", "its class, or the class that the finding is about") \
	X(LABEL, TEXT, "label", "object", "what it is") \
	X(TEXT, TEXT, "text", "finding", "what the rule says") \
	X(DETAIL, TEXT, "detail", "detail", "what is special here; how figures were estimated") \
	X(ADVICE, TEXT, "advice", "advice", "what to look at, or to do") \
	X(UNIT, TEXT, "unit", "unit", "what was counted, as \"sessions\"")
enum { COLUMNS(QUERY_NUMBER) };
static const struct hdb_column columns[] = { COLUMNS(QUERY_COLUMN) QUERY_LABEL_COLUMNS };

static const struct hdb_column facts[] = {
	{ "rules", HDB_TYPE_COUNT, "rules", "how many were tried: as many rows as --all gives" },
	{ "findings", HDB_TYPE_COUNT, "findings", "how many fired" },
	{ "critical", HDB_TYPE_COUNT, "critical", "critical ones of them" },
	{ "warnings", HDB_TYPE_COUNT, "warnings", "warnings of them" },
	{ "suspects", HDB_TYPE_COUNT, "leak suspects", "that `query leaks` has, known or not" },
	{ "suspect", HDB_TYPE_TEXT, "largest suspect", "what it is and its share of the heap" },
};

#define NAME_MAX_BYTES 1024

struct triage_query {
	struct triage triage;
	size_t *rows; /* numbers of rules, in the order in which they are given */
	bool *has_fired;
	size_t count;
	bool is_all;
};

static bool fires(const struct triage *t, const struct triage_rule *rule)
{
	const struct triage_figure *f = &t->figures[rule->measure];

	const bool is_full = !rule->least_full || t->limit.is_out_of_memory ||
			     analysis_limit_percent(&t->limit, t->whole_bytes) >= rule->least_full;

	return is_full && f->count >= rule->least_count && f->bytes >= rule->least_bytes &&
	       (double)f->bytes >= (double)t->whole_bytes * rule->least_percent / 100;
}

/* Whether a row has a rule of this name; those in `rows` before `count`. */
static bool is_told(const struct triage_query *s, size_t rule)
{
	for (size_t k = 0; k < s->count; k++)
		if (strcmp(triage_rules[s->rows[k]].id, triage_rules[rule].id) == 0)
			return true;
	return false;
}

/* Lines of one name are one rule. */
static uint64_t count_rules(void)
{
	uint64_t count = 0;

	for (size_t i = 0; i < triage_rule_count; i++) {
		size_t k = 0;

		while (strcmp(triage_rules[k].id, triage_rules[i].id) != 0)
			k++;
		count += k == i;
	}
	return count;
}

/* The rules that fire, worst first; or with --all one row for each. */
static void choose_rules(struct triage_query *s)
{
	for (int severity = TRIAGE_CRITICAL; severity <= TRIAGE_INFO; severity++) {
		for (size_t i = 0; i < triage_rule_count; i++) {
			if ((int)triage_rules[i].severity != severity ||
			    !fires(&s->triage, &triage_rules[i]) || is_told(s, i))
				continue;
			s->has_fired[s->count] = true;
			s->rows[s->count++] = i;
		}
	}
	for (size_t i = 0; i < triage_rule_count && s->is_all; i++)
		if (!is_told(s, i))
			s->rows[s->count++] = i;
}

/* The largest suspect in a few words: who holds it, or what it is. */
static void set_suspect_fact(struct query *q, const struct triage *t)
{
	const struct triage_figure *f = &t->figures[TRIAGE_SUSPECT];
	char what[NAME_MAX_BYTES], text[NAME_MAX_BYTES + 64];

	if (f->detail[0])
		(void)snprintf(what, sizeof(what), "%s", f->detail);
	else if (f->ix != HEAP_NONE)
		analysis_describe(&q->session, f->ix, what, sizeof(what));
	else
		(void)snprintf(what, sizeof(what), "%s %s", base_number(f->count).text,
			       heap_class_name(q->heap, f->class_no));
	(void)snprintf(text, sizeof(text), "%s, %.2f %% of the heap", what,
		       analysis_percent(f->bytes, t->whole_bytes));
	query_fact_text(q, "suspect", text);
}

static void set_facts(struct query *q, const struct triage_query *s)
{
	uint64_t counts[TRIAGE_INFO + 1] = { 0 }, all = 0;
	for (size_t i = 0; i < s->count; i++) {
		if (!s->has_fired[i])
			continue;
		counts[triage_rules[s->rows[i]].severity]++;
		all++;
	}
	query_fact(q, "rules", count_rules());
	query_fact(q, "findings", all);
	query_fact(q, "critical", counts[TRIAGE_CRITICAL]);
	query_fact(q, "warnings", counts[TRIAGE_WARNING]);
	query_fact(q, "suspects", s->triage.suspect_count);
	if (s->triage.suspect_count)
		set_suspect_fact(q, &s->triage);
}

/* Passes that count objects: only those that rows are of. */
static int take_passes(struct query *q, struct triage *t, struct hdb_error *err)
{
	HEAP_FILTER_SCOPE(heap_show_chosen, q->heap);

	TRY(triage_take_scan(t, err));
	return triage_take_strings(t, err);
}

static int open_triage(struct query *q, struct hdb_error *err)
{
	struct triage_query *s = q->state;

	s->triage.q = q;
	s->is_all = query_option(q, "all") != NULL;
	TRY(BASE_ALLOC(s->rows, triage_rule_count + 1, "rules", err));
	TRY(BASE_ALLOC(s->has_fired, triage_rule_count + 1, "rules", err));
	for (size_t i = 0; i < TRIAGE_MEASURES; i++)
		s->triage.figures[i].ix = s->triage.figures[i].class_no = HEAP_NONE;
	TRY(heap_load_classes(q->heap, err));
	TRY(heap_load_roots(q->heap, err));
	TRY(triage_take_totals(&s->triage, err));
	TRY(take_passes(q, &s->triage, err));
	TRY(triage_take_loaders(&s->triage, err));
	TRY(triage_explain_pin(&s->triage, err));
	choose_rules(s);
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

static int rule_row(struct query *q, size_t no, struct hdb_error *err)
{
	static const char *const severities[] = { "critical", "warning", "info" };
	struct triage_query *s = q->state;
	const struct triage_rule *rule = &triage_rules[s->rows[no]];
	const struct triage_figure *f = &s->triage.figures[rule->measure];
	const bool has_fired = s->has_fired[no];

	(void)err;
	query_lend_text(q, SEVERITY, has_fired ? severities[rule->severity] : "ok");
	query_lend_text(q, RULE, rule->id);
	query_format(q, TEXT, "%s%s", has_fired ? "" : "not found: ", rule->text);
	query_lend_text(q, ADVICE, rule->advice);
	query_lend_text(q, UNIT, triage_unit(rule->measure, f->count));
	query_set(q, COUNT, f->count);
	if (!f->has_no_bytes)
		query_set(q, BYTES, f->bytes);
	if (!f->is_outside && !f->has_no_bytes)
		query_set_double(q, PERCENT, analysis_percent(f->bytes, s->triage.whole_bytes));
	set_example(q, f);
	if (f->sampled) {
		query_format(q, DETAIL, "%s%sestimated from %s objects", f->detail,
			     f->detail[0] ? "; " : "", base_number(f->sampled).text);
		return HDB_OK;
	}
	if (f->detail[0])
		query_set_text(q, DETAIL, f->detail);
	return HDB_OK;
}

static void close_triage(struct query *q)
{
	struct triage_query *s = q->state;

	free(s->rows);
	free(s->has_fired);
}

const struct query_def query_triage = {
	.spec = {
		.name = "triage",
		.group = "leaks", .example = "--all",
		.targets = "",
		.summary = "known memory problems that this heap has, most severe first",
		.options = options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
	},
	.uses = QUERY_USES_HEAP | QUERY_CHOOSES_HEAP,
	.heap_help = "only objects of this heap are counted"
		     QUERY_HEAP_NAMES "; shares are of all heaps",
	.keeps = STORE_ANSWER_TRIAGE,
	.state_size = sizeof(struct triage_query),
	.open = open_triage, .row = rule_row, .close = close_triage,
};
