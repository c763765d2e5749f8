/*
 * queries/explain/q_explain.c - the explain query: explains why large objects are large, whether
 * this is intended, and what to do about it. See rules.h.
 */
#include "queries/leaks/leak_faults.h"
#include "queries/leaks/leak_findings.h"
#include "queries/leaks/leak_prose.h"
#include "queries/queries.h"

#include "analysis/groups.h"
#include "analysis/targets.h"
#include "query/advice.h"
#include "query/coverage.h"
#include "query/object_cells.h"

#include <assert.h>
#include <ctype.h>

#include <xxhash.h>

#include <queries/explain/q_explain.query.h>

/* Sources of rows, in order. Objects that are large by design come last. */
enum phase { FINDINGS, SUSPECTS, OBJECTS, FINDINGS_BY_DESIGN, OBJECTS_BY_DESIGN, PHASES };

/* State of the query. Objects are explained one by one, as rows are read. */
struct explaining {
	/* findings of the leaks query; empty if a target is given */
	struct leak_findings found;
	/* smaller suspects, explained by the objects that they hold */
	struct analysis_suspects suspects;
	/*
	 * struct explain_candidate, in the order of the rows; for a target, the object and its
	 * dominators, nearest first
	 */
	struct base_vec candidates;
	struct base_vec by_design; /* struct explain_candidate: listed last */
	struct base_vec said;      /* uint64_t: hashes of the texts already returned */
	enum phase phase;
	size_t at; /* next entry of the phase's list */
	struct explain_answer answer;
	/* the suspect and the finding being explained, or NULL */
	const struct analysis_suspect *suspect;
	const struct leak_finding *finding;
	uint64_t whole_bytes, least_bytes;
	uint32_t top_class_no; /* class of the target's last dominator */
	bool is_searched;      /* whether the findings were searched for the target */
};

/*
 * Finds the findings of the leaks query, and also suspects that are too small for the leaks query
 * but reach the threshold.
 */
static int find_leaks(struct query *q, struct explaining *s, struct hdb_error *err)
{
	const uint64_t percent = query_number(q, "threshold", 1);

	TRY(leak_findings_open(q,
			       percent > SUSPECTS_PERCENT_DEFAULT ? (unsigned)percent :
								    SUSPECTS_PERCENT_DEFAULT,
			       &s->found, err));
	TRY(leak_findings_find(q, &s->found, err));
	if (percent >= s->found.percent)
		return HDB_OK;
	return analysis_suspects_find(&q->session,
				      percent < SUSPECTS_PERCENT_MIN ? SUSPECTS_PERCENT_MIN :
								       (unsigned)percent,
				      &s->suspects, err);
}

/*
 * Finds the candidates if there is no target: all objects for which rules exist, largest first.
 */
static int find_all(struct query *q, struct explaining *s, struct hdb_error *err)
{
	s->least_bytes = s->whole_bytes / 100 * query_number(q, "threshold", 1);
	TRY(find_leaks(q, s, err));
	TRY(explain_candidates(&q->session, &s->found.rules,
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
	struct heap_object top;

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
	if (!s->candidates.count)
		return HDB_OK;
	ix = base_vec_at(&s->candidates, struct explain_candidate, s->candidates.count - 1)->ix;
	TRY(heap_object(q->heap, ix, &top, err));
	s->top_class_no = top.class_no;
	return HDB_OK;
}

static int open_explain(struct query *q, struct hdb_error *err)
{
	struct explaining *s = q->state;
	struct derive_total whole;

	TRY(heap_open_dump(q->heap, err));
	TRY(derive_need(q->derive, STORE_RETAINED, err));
	TRY(analysis_heap_total(&q->session, &whole, err));
	s->whole_bytes = whole.retained_bytes;
	query_fact(q, "heap_shallow", whole.shallow_bytes);
	if (q->target_count) {
		s->phase = OBJECTS;
		TRY(explain_rules_open(&q->session, q->heap->rules_path, &s->found.rules, err));
		s->found.rules.whole_bytes = s->whole_bytes;
		TRY(find_owners(q, s, err));
	} else {
		TRY(find_all(q, s, err));
	}
	query_fact(q, "rules_tried", s->found.rules.tried);
	return HDB_OK;
}

/*
 * Sets *out to whether the same text was already returned for another object, apart from numbers in
 * quotes, which are parts of thread names.
 */
static int was_said(struct explaining *s, bool *out, struct hdb_error *err)
{
	char text[EXPLAIN_SENTENCE_MAX];
	bool is_quoted = false;
	uint64_t hash;
	size_t size = 0;

	for (const char *at = s->answer.says; *at; at++) {
		is_quoted ^= *at == '"';
		if (!is_quoted || !isdigit((unsigned char)*at))
			text[size++] = *at;
	}
	hash = XXH3_64bits(text, size);
	*out = false;
	for (size_t i = 0; i < s->said.count && !*out; i++)
		*out = *base_vec_at(&s->said, uint64_t, i) == hash;
	return *out ? HDB_OK : base_vec_push(&s->said, &hash, sizeof(hash), err);
}

/* Returns whether the leaks query reports the suspect, individually or as part of a group. */
static bool is_found(const struct explaining *s, const struct analysis_suspect *suspect)
{
	for (size_t i = 0; i < s->found.suspects.count; i++) {
		const struct analysis_suspect *other = &s->found.suspects.list[i];

		if (other->ix == HEAP_NONE ?
			    other->class_no == suspect->class_no :
			    other->ix == suspect->ix || other->ix == suspect->split_ix)
			return true;
	}
	return false;
}

/* Returns whether a finding about threads replaces what rules say about an object. */
static bool is_replaced(const struct explaining *s, uint32_t ix)
{
	for (size_t i = 0; i < s->found.list.count; i++) {
		const struct explain_answer *a = &leak_finding_at(&s->found, i)->answer;

		if (a->rule && a->rule->verdict == EXPLAIN_STUCK && a->kept_ix == ix)
			return true;
	}
	return false;
}

/*
 * Returns whether a suspect contains the target, that is, whether it is the target, one of the
 * target's dominators, or the group of the last dominator.
 */
static bool contains_target(const struct explaining *s, const struct analysis_suspect *suspect)
{
	const struct explain_candidate *c = s->candidates.data;
	const size_t count = s->candidates.count;

	assert(count);
	if (suspect->ix == HEAP_NONE)
		return suspect->class_no == s->top_class_no &&
		       c[count - 1].retained_bytes >= suspect->least_bytes;
	if (suspect->split_ix == c[0].ix)
		return true;
	for (size_t i = 0; i < count; i++)
		if (c[i].ix == suspect->ix)
			return true;
	return false;
}

static bool is_about_target(const struct explaining *s, const struct leak_finding *f)
{
	const uint32_t ix = base_vec_at(&s->candidates, struct explain_candidate, 0)->ix;

	if (f->is_fault)
		return f->answer.ix == ix || f->answer.kept_ix == ix;
	return contains_target(s, &f->suspect);
}

static int take_finding(struct query *q, struct explaining *s, size_t no)
{
	const struct leak_finding *f = leak_finding_at(&s->found, no);
	const bool is_last = leak_place_of(&s->found, f) == LEAK_PLACE_BY_DESIGN;

	if (!f->answer.rule)
		return HDB_NOTFOUND;
	if (q->target_count ? !is_about_target(s, f) : is_last != (s->phase == FINDINGS_BY_DESIGN))
		return HDB_NOTFOUND;
	s->answer = f->answer;
	s->finding = f;
	s->suspect = f->is_fault ? NULL : &f->suspect;
	return HDB_OK;
}

static int explain_one(struct query *q, const struct analysis_suspect *suspect,
		       struct hdb_error *err)
{
	struct explaining *s = q->state;
	int r = HDB_NOTFOUND;

	if (is_found(s, suspect) || suspect->split_bytes ||
	    (q->target_count && !contains_target(s, suspect)))
		return HDB_NOTFOUND;
	if (suspect->ix != HEAP_NONE)
		TRY_ERRORS(r = explain_chain(&q->session, &s->found.rules,
					     suspect->point_ix == HEAP_NONE ? suspect->ix :
									      suspect->point_ix,
					     &s->answer, err));
	if (r != HDB_NOTFOUND)
		return HDB_NOTFOUND; /* the object has its own row */
	s->suspect = suspect;
	return explain_suspect(&q->session, &s->found.rules, suspect, &s->answer, err);
}

/* Explains the next finding, suspect or object. Returns HDB_NOTFOUND if no rule applies to it. */
static int explain_next(struct query *q, struct hdb_error *err)
{
	struct explaining *s = q->state;
	const struct base_vec *objects = s->phase == OBJECTS ? &s->candidates : &s->by_design;
	const size_t no = s->at++;
	const struct explain_candidate *c;
	int r;

	s->suspect = NULL;
	s->finding = NULL;
	if (s->phase == FINDINGS || s->phase == FINDINGS_BY_DESIGN) {
		if (no < s->found.list.count)
			return take_finding(q, s, no);
	} else if (s->phase == SUSPECTS) {
		if (no < s->suspects.count)
			return explain_one(q, &s->suspects.list[no], err);
	} else if (no < objects->count) {
		c = base_vec_at(objects, struct explain_candidate, no);
		if (is_replaced(s, c->ix))
			return HDB_NOTFOUND;
		r = explain_object(&q->session, &s->found.rules, c->ix, &s->answer, err);
		if (r != HDB_OK || s->phase != OBJECTS || q->target_count ||
		    s->answer.rule->verdict != EXPLAIN_BY_DESIGN)
			return r;
		TRY(base_vec_push(&s->by_design, c, sizeof(*c), err));
		return HDB_NOTFOUND;
	}
	s->at = 0;
	s->phase++;
	if (!q->target_count || s->phase == SUSPECTS)
		return HDB_NOTFOUND;
	/* Findings take longer, so they are searched only if no rule explains the target. */
	s->phase = PHASES;
	if (!s->said.count && !s->is_searched && s->candidates.count) {
		s->phase = FINDINGS;
		s->is_searched = true;
		explain_rules_release(&s->found.rules);
		TRY(find_leaks(q, s, err));
	}
	return HDB_NOTFOUND;
}

/* Explains the next object that is large enough and whose text has not been returned yet. */
static int find_next(struct query *q, struct hdb_error *err)
{
	struct explaining *s = q->state;
	int r = HDB_NOTFOUND;

	while (r == HDB_NOTFOUND) {
		bool is_known;

		if (s->phase == PHASES)
			return HDB_END;
		r = explain_next(q, err);
		if (r == HDB_OK && !s->finding) {
			if (s->answer.retained_bytes < s->least_bytes &&
			    !explain_is_fault(s->answer.rule))
				r = HDB_NOTFOUND;
			else
				r = query_leak_add_keeper(q, &s->answer, false, err);
		}
		if (r != HDB_OK)
			continue;
		TRY(was_said(s, &is_known, err));
		/*
		 * If the suspect was split from a class, the same text may describe another static
		 * field of the class.
		 */
		if (s->suspect && s->suspect->split_ix != HEAP_NONE)
			is_known = false;
		r = is_known ? HDB_NOTFOUND : HDB_OK;
	}
	return r;
}

/*
 * Sets the object of the row and its sizes. For a suspect, the sizes are those of the suspect, not
 * of its accumulation point. A group has no object.
 */
static int set_subject(struct query *q, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SIZE_MAX, RETAINED };
	const struct explaining *s = q->state;
	const struct analysis_suspect *suspect = s->suspect;
	struct heap_object object;
	uint64_t bytes;

	TRY(heap_object(q->heap, s->answer.ix, &object, err));
	TRY(derive_retained(q->derive, s->answer.ix, &bytes, err));
	if (suspect && suspect->ix == HEAP_NONE) {
		const char *name = heap_class_name(q->heap, suspect->class_no);

		query_lend_text(q, CLASS, name);
		query_format(q, LABEL, "%s %s", base_number(suspect->count).text, name);
		bytes = suspect->retained_bytes;
		query_set(q, RETAINED, bytes);
	} else if (suspect && suspect->ix != HEAP_NONE && bytes != s->answer.retained_bytes) {
		bytes = suspect->retained_bytes;
		query_set_object(q, &cells, suspect->ix);
	} else {
		query_set_object(q, &cells, s->answer.ix);
	}
	query_set_double(q, PERCENT, analysis_percent(bytes, s->whole_bytes));
	return HDB_OK;
}

static int next_explain(struct query *q, struct hdb_error *err)
{
	static const struct query_advice_columns advice = { ADVICE, ADVICE_WORDS, ACTION, TARGET,
							    ACTION_OPTION };
	const struct explaining *s = q->state;
	const struct explain_answer *a = &s->answer;
	struct query_action action;
	char owner[LEAK_TEXT_MAX_BYTES] = "";
	struct base_number number;
	const int r = find_next(q, err);

	if (r != HDB_OK)
		return r;
	assert(a->rule && a->says[0]);
	TRY(query_action_find(q->heap, a->rule->run, (struct query_subject){ a->ix, HEAP_NONE },
			      &action, err));
	TRY(set_subject(q, err));
	query_set_text(q, VERDICT, explain_verdict_name(a->rule->verdict));
	query_set_text(q, TEXT, a->says);
	query_set_advice(q, &advice, a->advice, &action, a->rule->run);
	query_set_text(q, RULE, a->rule->name);
	if (a->rule->since)
		query_set_text(q, SINCE, a->rule->since);
	query_set_text(q, SOURCE, a->rule->source);
	if (s->suspect && s->finding)
		leak_owner_text(&s->finding->owner, BASE_TEXT(owner));
	number = base_number((uint64_t)a->members);
	if (owner[0] && a->members > 1 && !a->holds[0] && !strstr(a->says, number.text))
		query_format(q, OWNER, "%s, %s %s", owner, number.text,
			     s->suspect->ix == HEAP_NONE ? "objects" : "entries");
	else if (owner[0])
		query_set_text(q, OWNER, owner);
	return HDB_OK;
}

static void close_explain(struct query *q)
{
	struct explaining *s = q->state;

	leak_findings_release(q, &s->found);
	analysis_suspects_release(&s->suspects);
	base_vec_release(&s->candidates);
	base_vec_release(&s->by_design);
	base_vec_release(&s->said);
}

QUERY_DEFINE(explain, .state_size = sizeof(struct explaining), .open = open_explain,
	     .next = next_explain, .close = close_explain);
