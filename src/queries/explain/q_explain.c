/*
 * queries/explain/q_explain.c - the explain query: why large objects are large, whether this is
 * intended, and what to do about it. rules.h describes the rules.
 */
#include "queries/explain/rules.h"
#include "queries/leaks/leak_faults.h"
#include "queries/queries.h"

#include "analysis/groups.h"
#include "analysis/targets.h"
#include "query/advice.h"
#include "query/coverage.h"
#include "query/object_cells.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include <xxhash.h>

#include <queries/explain/q_explain.query.h>

/* State of the query. Objects are explained one by one, as rows are read. */
struct explaining {
	struct explain_rules rules;
	struct base_vec candidates; /* struct explain_candidate, in the order of the rows */
	struct base_vec said;       /* uint64_t: hashes of the strings already returned */
	/*
	 * suspects explained by the objects that they hold, listed before all objects; empty if a
	 * target is given
	 */
	struct analysis_suspects suspects;
	size_t suspect_at;
	struct explain_answer answer;
	uint64_t whole_bytes, least_bytes;
	size_t at;
};

/*
 * Finds the candidates if there is no target: all objects to which rules may apply, largest first.
 */
static int find_all(struct query *q, struct explaining *s, struct hdb_error *err)
{
	const uint64_t percent = query_number(q, "threshold", 1);

	s->least_bytes = s->whole_bytes / 100 * percent;
	TRY(heap_load_roots(q->heap, err));
	TRY(analysis_suspects_find(&q->session,
				   percent < SUSPECTS_PERCENT_MIN ? SUSPECTS_PERCENT_MIN :
								    (unsigned)percent,
				   &s->suspects, err));
	TRY(explain_candidates(&q->session, &s->rules,
			       (struct explain_choice){ .least_bytes = s->least_bytes },
			       &s->candidates, err));
	if (s->candidates.count > EXPLAIN_CANDIDATES_MAX) {
		query_cut(q, NULL, "all but the %u largest objects", EXPLAIN_CANDIDATES_MAX);
		s->candidates.count = EXPLAIN_CANDIDATES_MAX;
	}
	return HDB_OK;
}

/* Finds the candidates for a target: the object and its dominators, nearest first. */
static int find_owners(struct query *q, struct explaining *s, struct hdb_error *err)
{
	uint32_t ix, dominator;

	TRY(analysis_object(&q->session, q->targets[0], &ix, err));
	for (unsigned steps = 0; steps < EXPLAIN_OWNERS_MAX && ix != HEAP_NONE; steps++) {
		struct explain_candidate candidate = { .ix = ix };

		TRY(derive_retained(q->derive, ix, &candidate.retained_bytes, err));
		if (candidate.retained_bytes)
			TRY(base_vec_push(&s->candidates, &candidate, sizeof(candidate), err));
		TRY(derive_dominator(q->derive, ix, &dominator, err));
		if (dominator == ix)
			break;
		ix = dominator;
	}
	return HDB_OK;
}

static int open_explain(struct query *q, struct hdb_error *err)
{
	struct explaining *s = q->state;
	struct derive_total whole;

	TRY(explain_rules_open(&q->session, q->heap->rules_path, &s->rules, err));
	TRY(heap_open_dump(q->heap, err));
	TRY(derive_need(q->derive, STORE_RETAINED, err));
	TRY(analysis_heap_total(&q->session, &whole, err));
	s->rules.whole_bytes = s->whole_bytes = whole.retained_bytes;
	query_fact(q, "heap_shallow", whole.shallow_bytes);
	query_fact(q, "rules_tried", s->rules.rules.count);
	return q->target_count ? find_owners(q, s, err) : find_all(q, s, err);
}

/* Sets *out to whether the same text has already been returned for another object. */
static int was_said(struct explaining *s, bool *out, struct hdb_error *err)
{
	const uint64_t hash = XXH3_64bits(s->answer.says, strlen(s->answer.says));

	*out = false;
	for (size_t i = 0; i < s->said.count && !*out; i++)
		*out = *base_vec_at(&s->said, uint64_t, i) == hash;
	return *out ? HDB_OK : base_vec_push(&s->said, &hash, sizeof(hash), err);
}

/* Explains the next suspect to which no rule for its class applies, or the next object. */
static int explain_next(struct query *q, struct hdb_error *err)
{
	struct explaining *s = q->state;
	const struct analysis_suspect *suspect;
	int r;

	assert(s->suspect_at < s->suspects.count || s->at < s->candidates.count);
	if (s->suspect_at == s->suspects.count)
		return explain_object(
			&q->session, &s->rules,
			base_vec_at(&s->candidates, struct explain_candidate, s->at++)->ix,
			&s->answer, err);
	suspect = &s->suspects.list[s->suspect_at++];
	r = suspect->ix != HEAP_NONE ?
		    explain_chain(&q->session, &s->rules,
				  suspect->point_ix == HEAP_NONE ? suspect->ix : suspect->point_ix,
				  &s->answer, err) :
		    HDB_NOTFOUND;
	if (r != HDB_NOTFOUND)
		return r < 0 ? r : HDB_NOTFOUND;
	return explain_suspect(&q->session, &s->rules, suspect, &s->answer, err);
}

static int next_explain(struct query *q, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SIZE_MAX, RETAINED };
	static const struct query_advice_columns advice = { ADVICE, ADVICE_WORDS, ACTION, TARGET,
							    ACTION_OPTION };
	struct explaining *s = q->state;
	const struct explain_answer *a = &s->answer;
	struct query_action action;
	int r = HDB_NOTFOUND;

	while (r == HDB_NOTFOUND) {
		if (s->suspect_at == s->suspects.count && s->at == s->candidates.count)
			return HDB_END;
		r = explain_next(q, err);
		if (r == HDB_OK && s->answer.retained_bytes < s->least_bytes &&
		    !explain_is_fault(s->answer.rule))
			r = HDB_NOTFOUND;
		if (r == HDB_OK)
			r = query_leak_add_keeper(q, &s->answer, err);
		if (r == HDB_OK) {
			bool is_known;

			TRY(was_said(s, &is_known, err));
			r = is_known ? HDB_NOTFOUND : HDB_OK;
		}
	}
	TRY(r);
	assert(a->rule && a->says[0]);
	TRY(query_action_find(q->heap, a->rule->run, (struct query_subject){ a->ix, HEAP_NONE },
			      &action, err));
	query_set_object(q, &cells, a->ix);
	query_set_double(q, PERCENT, analysis_percent(a->retained_bytes, s->whole_bytes));
	query_set_text(q, VERDICT, explain_verdict_name(a->rule->verdict));
	query_set_text(q, TEXT, a->says);
	query_set_advice(q, &advice, a->advice, &action, a->rule->run);
	query_set_text(q, RULE, a->rule->name);
	if (a->rule->since)
		query_set_text(q, SINCE, a->rule->since);
	query_set_text(q, SOURCE, a->rule->source);
	return HDB_OK;
}

static void close_explain(struct query *q)
{
	struct explaining *s = q->state;

	explain_rules_release(&s->rules);
	analysis_suspects_release(&s->suspects);
	base_vec_release(&s->candidates);
	base_vec_release(&s->said);
}

QUERY_DEFINE(explain, .state_size = sizeof(struct explaining), .open = open_explain,
	     .next = next_explain, .close = close_explain);
