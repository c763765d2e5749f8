/*
 * query/advice.h - advice: a text with "{run}" instead of a command, and the parts of the command's
 * query. Terminals show the command; the page shows a link.
 *
 * Rules write the query as "QUERY [object|class|TARGET] [--NAME VALUE]", where `object` and `class`
 * stand for the object and the class that the rule was applied to.
 */
#ifndef QUERY_ADVICE_H
#define QUERY_ADVICE_H

#include "base/base_text.h"
#include "query/query.h"

/* Columns of a query with advice: the advice as text, then QUERY_ADVICE_COLUMNS (shared.query). */
struct query_advice_columns {
	size_t text, words, action, target, option;
};

/* A query to run. `query` is "" if there is none. */
struct query_action {
	char query[32], target[512], option[64];
};

/* The object or class that a rule was applied to. The other member is HEAP_NONE. */
struct query_subject {
	uint32_t ix, class_no;
};

/* Finds the query that a rule recommends for its subject. `run` may be NULL. */
int query_action_find(struct heap *heap, const char *run, struct query_subject subject,
		      struct query_action *out, struct hdb_error *err);

/*
 * Writes the advice with "{run}" replaced by a command. The command does not name the object or
 * class.
 */
void query_advice_text(const char *words, const char *run, struct base_text to);

/* Fills in all advice cells. */
void query_set_advice(struct query *q, const struct query_advice_columns *columns,
		      const char *words, const struct query_action *action, const char *run);

#endif
