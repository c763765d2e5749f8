/*
 * query/advice.h - advice as an action and a target: words in which "{run}" stands for a query that
 * is to be asked, which a terminal shows as a command and a page as a link.
 *
 * What is to be run is text of a rule: "QUERY [object|class|TARGET] [--NAME VALUE]"; object and
 * class are those that the rule was about.
 */
#ifndef QUERY_ADVICE_H
#define QUERY_ADVICE_H

#include "base/base_text.h"
#include "query/query.h"

/* The columns of a query that gives advice, after the one that has the text. */
#define QUERY_ADVICE_COLUMNS(X) \
	X(ADVICE_WORDS, TEXT, "advice_words", "advice words", \
	  "the advice with {run} in the place of the command, if there is one") \
	X(ACTION, TEXT, "action", "action", "query to ask") \
	X(TARGET, TEXT, "target", "target", "its target") \
	X(ACTION_OPTION, TEXT, "action_option", "action option", "its option, NAME=VALUE")
struct query_advice_columns {
	size_t text, words, action, target, option;
};

struct query_action {
	char query[32], target[512], option[64]; /* query "": there is none */
};

/* What a rule speaks of: an object, or a class; HEAP_NONE: none. */
struct query_subject {
	uint32_t ix, class_no;
};

/* The query that a rule recommends in `run` for its subject. run NULL: none. */
int query_action_find(struct heap *heap, const char *run, struct query_subject subject,
		      struct query_action *out, struct hdb_error *err);

/* The words with the command in the place of "{run}", without the object or class. */
void query_advice_text(const char *words, const char *run, struct base_text to);

/* Fills all cells. */
void query_set_advice(struct query *q, const struct query_advice_columns *columns,
		      const char *words, const struct query_action *action, const char *run);

#endif
