/*
 * oql/oql_parser.h - private to oql: tokens and functions of the grammar. A function consumes its
 * tokens, returns HDB_OK or a failure with its position in the statement, and allocates nodes in
 * the parser's arena.
 */
#ifndef OQL_OQL_PARSER_H
#define OQL_OQL_PARSER_H

#include "oql/oql.h"
#include "oql/oql_lex.h"

#include <assert.h>

struct parser {
	const char *text;
	struct oql_token *tokens;
	size_t count, at; /* tokens, and index of the next one */
	unsigned depth;
	struct oql_arena *arena;
	struct hdb_error *err;
	struct oql_select *select; /* SELECT that owns aggregates; NULL if none are allowed */
};

/* ---- tokens ---- */

static inline const struct oql_token *ahead(const struct parser *p, size_t n)
{
	assert(p->at < p->count); /* the last token ends the statement and is never consumed */
	return &p->tokens[n < p->count - p->at ? p->at + n : p->count - 1];
}

static inline bool is_sign(const struct parser *p, size_t n, char sign)
{
	const struct oql_token *t = ahead(p, n);

	return t->kind == OQL_T_PUNCTUATION && t->sign == sign;
}

static inline bool is_word(const struct parser *p, size_t n, const char *word)
{
	const struct oql_token *t = ahead(p, n);

	return t->kind == OQL_T_NAME && oql_is_word(t->text, word);
}

static inline bool take_sign(struct parser *p, char sign)
{
	const bool is_it = is_sign(p, 0, sign);

	assert(sign);
	p->at += is_it;
	return is_it;
}

static inline bool take_word(struct parser *p, const char *word)
{
	const bool is_it = is_word(p, 0, word);

	p->at += is_it;
	return is_it;
}

/* A growing list of expressions. Replaced arrays stay in the arena. */
struct list {
	struct oql_expr **items;
	size_t count, room;
};

int oql_list_add(struct parser *p, struct list *list, struct oql_expr *e);

/* Maximum number of characters of a token in a message. */
#define SHOWN_MAX 40

/* Error functions. */
int oql_expected(struct parser *p, const char *what);
int oql_too_deep(struct parser *p, size_t at);
int oql_too_many(struct parser *p, const char *what);
/* Consumes a sign, or fails. */
int oql_expect_sign(struct parser *p, char sign, const char *what);
/* Enters a nesting level. The caller decrements p->depth afterwards. */
int oql_enter(struct parser *p);

/* ---- oql_expressions.c ---- */

/* Parses a condition: OR and everything of higher precedence. */
int oql_parse_condition(struct parser *p, struct oql_expr **out);
/* Parses sums and everything of higher precedence. */
int oql_parse_additive(struct parser *p, struct oql_expr **out);
/* Parses a primary with members, calls and indexes. */
int oql_parse_steps(struct parser *p, struct oql_expr **out);
/* Parses "java.lang.String[]". */
int oql_parse_class_name(struct parser *p, struct oql_str *name);

/* ---- oql_parse.c ---- */

/* Parses a SELECT with its unions, as it appears in parentheses. */
int oql_parse_select(struct parser *p, struct oql_select **out);

#endif
