/*
 * query/q_problems.c - what the import found wrong with the dump, and what was lost by it.
 */
#include "query/queries.h"
#include "query/table_rows.h"

#include "hprof/walk.h"

#include <string.h>

enum { KIND, OFFSET, LOST, ID, MESSAGE };

static const struct hdb_option_spec options[] = {
	{ NULL, NULL, NULL },
};

static const struct hdb_column columns[] = {
	{ "kind", HDB_TYPE_TEXT, "kind", "what kind of damage" },
	{ "offset", HDB_TYPE_COUNT, "offset", "where in the dump, bytes" },
	{ "lost_bytes", HDB_TYPE_BYTES, "lost", "bytes of the dump that were skipped" },
	{ "id", HDB_TYPE_ID, "object", "the object that it is about, if any" },
	{ "message", HDB_TYPE_TEXT, "message", "one line" },
};

static const struct hdb_column facts[] = {
	{ "problems", HDB_TYPE_COUNT, "problems", "met by the import; the first 10,000 are kept" },
	{ "lost_bytes", HDB_TYPE_BYTES, "lost", "bytes of the dump that were skipped by those kept" },
};

static const char *kind_name(uint32_t kind)
{
	const char *name = kind < STORE_PROBLEM_FIRST ? hprof_problem_name((int)kind) :
			   store_problem_name(kind);

	return name ? name : "other";
}

static int open_problems(struct query *q, struct hdb_error *err)
{
	struct store_problem problem;
	uint64_t lost = 0;
	int r = query_records_open(q, STORE_PROBLEMS, sizeof(problem), err);

	for (uint64_t i = 0; i < q->total && r == HDB_OK; i++) {
		r = store_record(q->heap->store, STORE_PROBLEMS, sizeof(problem), i, &problem, err);
		lost += r == HDB_OK ? problem.lost_bytes : 0;
	}
	if (r == HDB_OK)
		r = query_fact(q, "problems", store_meta_number(q->heap->store, "problems", 0), err);
	return r == HDB_OK ? query_fact(q, "lost_bytes", lost, err) : r;
}

static int next_problem(struct query *q, struct hdb_error *err)
{
	struct store_problem problem;
	const char *name;
	const int r = query_records_next(q, &problem, err);

	if (r != HDB_OK)
		return r;
	problem.message[sizeof(problem.message) - 1] = '\0';
	name = kind_name(problem.kind);
	query_lend_text(q, KIND, name, strlen(name));
	query_set(q, OFFSET, problem.offset);
	query_set(q, LOST, problem.lost_bytes);
	if (problem.object_id)
		query_set(q, ID, problem.object_id);
	return query_set_clean_text(q, MESSAGE, problem.message, strlen(problem.message), err);
}

const struct query_def query_problems = {
	.spec = {
		.name = "problems", .targets = "",
		.summary = "what is wrong with the dump and what was lost by it",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.facts = facts, .fact_count = sizeof(facts) / sizeof(facts[0]), .is_query = 1,
	},
	.open = open_problems, .next = next_problem, .close = query_records_close,
};
