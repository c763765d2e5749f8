/*
 * queries/database/q_problems.c - the problems query: defects of the dump that the import found,
 * and which data is lost because of them.
 */
#include "heap/heap_database.h"
#include "hprof/walk.h"
#include "queries/queries.h"
#include "query/table_rows.h"

#include <queries/database/q_problems.query.h>

/* For each kind of problem: its name, the places where such problems occur, and their effect. */
static const struct {
	uint32_t kind;
	const char *name, *record, *effect;
} kinds[] = {
#define PROBLEM(kind, name, record, effect) \
	{ \
		kind, name, record, effect \
	}
#include <queries/database/problems.rows.h>
};
static_assert(BASE_COUNT(kinds) ==
		      HPROF_PROBLEM_EMPTIED + STORE_PROBLEM_LOST_PACKETS + 1 - STORE_PROBLEM_FIRST,
	      "a row for each kind");

static void set_kind(struct query *q, uint32_t kind)
{
	query_lend_text(q, KIND, kind < STORE_PROBLEM_FIRST ? "unknown" : "other");
	for (size_t i = 0; i < BASE_COUNT(kinds); i++) {
		if (kinds[i].kind != kind)
			continue;
		query_lend_text(q, KIND, kinds[i].name);
		if (!kinds[i].record)
			return;
		query_lend_text(q, RECORD, kinds[i].record);
		query_lend_text(q, EFFECT, kinds[i].effect);
	}
}

static int open_problems(struct query *q, struct hdb_error *err)
{
	struct analysis_cut cut = { .objects = ANALYSIS_NOT_COUNTED,
				    .bytes = ANALYSIS_NOT_COUNTED };
	struct store_problem problem;
	uint64_t lost = 0, count;

	for (uint64_t i = 0; i < q->total; i++) {
		TRY(heap_record(q->heap, STORE_PROBLEMS, i, &problem, err));
		lost += problem.lost_bytes;
	}
	count = heap_meta_number(q->heap, "problems", 0);
	cut.rows = count > q->total ? count - q->total : 0;
	query_cut(q, &cut,
		  "problems that the import did not record (it recorded only the first "
		  "%" PRIu64 ")",
		  q->total);
	query_fact(q, "problems", count);
	query_fact(q, "lost_bytes", lost);
	query_fact(q, "dangling_references", heap_meta_number(q->heap, "references.dangling", 0));
	return HDB_OK;
}

static int problem_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct store_problem problem;

	TRY(query_record(q, no, &problem, err));
	problem.message[sizeof(problem.message) - 1] = '\0';
	set_kind(q, problem.kind);
	query_set(q, OFFSET, problem.offset);
	query_set(q, LOST, problem.lost_bytes);
	if (problem.object_id)
		query_set(q, ID, problem.object_id);
	query_set_clean_text(q, MESSAGE, problem.message, strlen(problem.message));
	return HDB_OK;
}

QUERY_DEFINE(problems, .rows_of = STORE_PROBLEMS, .open = open_problems, .row = problem_row);
