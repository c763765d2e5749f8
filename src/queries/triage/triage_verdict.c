/*
 * queries/triage/triage_verdict.c - reads the verdict of the leaks query, so that triage and the
 * overview describe the largest suspect as leaks does.
 */
#include "queries/triage/triage.h"
#include "queries/queries.h"

#include <stdio.h>
#include <string.h>

static void copy(char *to, size_t size, const struct query *row, const char *column)
{
	const struct hdb_value *v = query_cell(row, column);

	(void)snprintf(to, size, "%.*s", v->type == HDB_TYPE_TEXT ? (int)v->text_size : 0,
		       v->type == HDB_TYPE_TEXT ? v->text : "");
}

uint64_t triage_number(const struct query *row, const char *column)
{
	const struct hdb_value *v = query_cell(row, column);

	return v->type == HDB_TYPE_NULL ? 0 : v->u;
}

/*
 * Keeps the verdict about the current suspect, which is now complete, if it is better than the
 * previous verdict.
 */
static void keep(struct analysis_verdict *best, struct analysis_verdict *current)
{
	const uint64_t listed = best->listed + 1;

	if (!current->text[0])
		return;
	if (!best->text[0] || current->is_by_design < best->is_by_design ||
	    (current->is_by_design == best->is_by_design && current->bytes > best->bytes)) {
		memcpy(current->stuck, best->stuck, sizeof(current->stuck));
		*best = *current;
	}
	best->listed = listed;
}

void triage_take_verdict(struct analysis_verdict *best, struct analysis_verdict *current,
			 const struct query *row)
{
	if (!row || query_cell_is(row, "kind", "suspect")) {
		keep(best, current);
		*current = (struct analysis_verdict){ 0 };
	}
	if (!row)
		return;
	if (query_cell_is(row, "kind", "suspect")) {
		*current = (struct analysis_verdict){ .id = triage_number(row, "id"),
						      .bytes = triage_number(row, "retained") };
		copy(current->class_name, sizeof(current->class_name), row, "class");
		copy(current->held_class, sizeof(current->held_class), row, "held_class");
		copy(current->text, sizeof(current->text), row, "text");
	} else if (query_cell_is(row, "kind", "explanation")) {
		copy(current->why, sizeof(current->why), row, "text");
	} else if (query_cell_is(row, "kind", "advice")) {
		copy(current->advice, sizeof(current->advice), row, "text");
	} else {
		return;
	}
	if (query_cell_is(row, "verdict", "stuck") && !best->stuck[0])
		copy(best->stuck, sizeof(best->stuck), row, "short_text");
	if (query_cell(row, "verdict")->type == HDB_TYPE_TEXT)
		current->is_by_design = query_cell_is(row, "verdict", "by design");
}

int triage_read_leaks(struct query *q, struct analysis_verdict *out, struct hdb_error *err)
{
	const struct query_sides sides = { .session = &q->session };
	const struct hdb_query_args args = { .struct_size = sizeof(args) };
	struct analysis_verdict current = { 0 };
	struct query *answer = NULL;
	int r = query_open(query_find("leaks"), &sides, &args, &answer, err);

	while (r == HDB_OK && (r = query_next(answer, err)) == HDB_OK)
		triage_take_verdict(out, &current, answer);
	triage_take_verdict(out, &current, NULL);
	query_close(answer);
	return r < 0 ? r : HDB_OK;
}
