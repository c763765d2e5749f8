/*
 * query/advice.h - advice, as text with "{run}" in place of a command, and the parts of that
 * command's query: terminals show a command, the page shows a link.
 *
 * Rules write the query as "QUERY [object|class|TARGET] [--NAME VALUE]", where `object` and `class`
 * are those to which the rule was applied.
 */
#ifndef QUERY_ADVICE_H
#define QUERY_ADVICE_H

#include "base/base_text.h"
#include "query/query.h"

/* Columns of a query that gives advice: the text, then QUERY_ADVICE_COLUMNS (shared.query). */
struct query_advice_columns {
	size_t text, words, action, target, option;
};

/* A query to run. query is "" if none exists. */
struct query_action {
	char query[32], target[512], option[64]; /* query "": there is none */
};

/* What a rule was applied to: an object, or a class; the other is HEAP_NONE. */
struct query_subject {
	uint32_t ix, class_no;
};

/* Finds the query that a rule recommends for its subject. run may be NULL: none. */
int query_action_find(struct heap *heap, const char *run, struct query_subject subject,
		      struct query_action *out, struct hdb_error *err);

/* Writes the text with the command in place of "{run}", without the object or class. */
void query_advice_text(const char *words, const char *run, struct base_text to);

/* Fills in all cells of advice. */
void query_set_advice(struct query *q, const struct query_advice_columns *columns,
		      const char *words, const struct query_action *action, const char *run);

#endif
