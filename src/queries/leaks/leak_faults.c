/*
 * queries/leaks/leak_faults.c - leaks that rules find, whatever they retain: connections that
 * are not returned, buffers and timers that are not released, class loaders of what was stopped.
 */
#include "queries/leaks/leak_faults.h"

#include "analysis/describe.h"
#include "queries/leaks/leak_blame.h"

#include <stdio.h>
#include <string.h>

int query_leak_add_keeper(struct query *q, struct explain_answer *a, struct hdb_error *err)
{
	static const char finalizer[] = "java.lang.ref.Finalizer.unfinalized (static)";
	struct query_leak_path path;
	char keeper[EXPLAIN_SENTENCE_MAX] = "", text[EXPLAIN_SENTENCE_MAX] = " Kept by ";
	const size_t used = strlen(a->says), prefix = strlen(text);
	enum leak_blame best = BLAME_ARRAY;
	size_t step = 0;

	if (a->rule->verdict != EXPLAIN_LEAK)
		return HDB_OK;
	TRY(query_leak_path_find(q, a->kept_ix, &path, err));
	path.is_end_kept = true;
	if (path.count > 1)
		TRY(query_leak_culprit(q, &path, HEAP_NONE, BASE_TEXT(keeper), err));
	if (strcmp(keeper, finalizer) == 0)
		return HDB_NOTFOUND;
	if (path.count > 1)
		TRY(leak_choose_step(q, &path, &step, &best, err));
	/* Which thread says more than by which field. */
	if (best == BLAME_THREAD && strncmp(keeper, "java.lang.Thread.", 17) == 0) {
		(void)snprintf(text + prefix, sizeof(text) - prefix, "thread ");
		analysis_describe(&q->session, path.nodes[step], text + strlen(text),
				  sizeof(text) - strlen(text));
	} else {
		query_leak_add_short(BASE_TEXT(text), keeper);
	}
	if (keeper[0])
		(void)snprintf(a->says + used, sizeof(a->says) - used, "%s.", text);
	return HDB_OK;
}

/* Keeps the largest fault that each rule finds, and counts the others that it says. */
static int keep(struct base_vec *faults, const struct explain_answer *answer, struct hdb_error *err)
{
	struct query_leak_fault new = { .answer = *answer };

	for (size_t i = 0; i < faults->count; i++) {
		struct query_leak_fault *old = base_vec_at(faults, struct query_leak_fault, i);

		if (old->answer.rule != answer->rule)
			continue;
		old->more += strcmp(old->answer.says, answer->says) != 0;
		return HDB_OK;
	}
	return base_vec_push(faults, &new, sizeof(new), err);
}

int query_leak_find_faults(struct query *q, const struct explain_rules *rules,
			   struct base_vec *faults, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec candidates = { 0 };
	int r;

	TRY(explain_candidates(&q->session, rules, UINT64_MAX, &candidates, err));
	for (size_t i = 0; i < candidates.count && i < EXPLAIN_CANDIDATES_MAX; i++) {
		struct explain_answer answer;

		TRY_ERRORS(r = explain_object(
				   &q->session, rules,
				   base_vec_at(&candidates, struct explain_candidate, i)->ix,
				   &answer, err));
		if (r != HDB_OK || answer.rule->verdict != EXPLAIN_LEAK)
			continue;
		TRY_ERRORS(r = query_leak_add_keeper(q, &answer, err));
		if (r == HDB_OK)
			TRY(keep(faults, &answer, err));
	}
	return HDB_OK;
}
