/*
 * oql/oql_lex.h - splits statements into tokens.
 */
#ifndef OQL_OQL_LEX_H
#define OQL_OQL_LEX_H

#include "oql/oql_ast.h"

enum oql_token_kind {
	OQL_T_END,
	OQL_T_NAME,
	OQL_T_INT,      /* i; is_wide if it does not fit in 32 bits */
	OQL_T_LONG,     /* i: 10L */
	OQL_T_HEX,      /* i: 0x12c4 */
	OQL_T_FLOAT,    /* d: 0.1, 2.5f */
	OQL_T_DOUBLE,   /* d: 0.1d */
	OQL_T_STRING,   /* text: between the quotes */
	OQL_T_CHAR,     /* i */
	OQL_T_SNAPSHOT, /* ${snapshot} */
	OQL_T_OUTER,    /* text: "h" in ${h}, an alias of an enclosing SELECT */
	OQL_T_NE,       /* != */
	OQL_T_LE,
	OQL_T_GE,
	OQL_T_PUNCTUATION /* any other character; `sign` contains it */
};

struct oql_token {
	enum oql_token_kind kind;
	char sign;
	bool is_wide;
	size_t at;
	struct oql_str text; /* text of the token; for strings and ${h}, the contents */
	uint64_t i;
	double d;
};

/* Returns `*count` tokens in the arena, the last of which is OQL_T_END. */
int oql_lex(struct oql_str text, struct oql_arena *arena, struct oql_token **out, size_t *count,
	    struct hdb_error *err);

/* Fails with HDB_EUSAGE and a message that begins with "line 1, column 16: ". */
int oql_fail_at(const char *text, size_t at, struct hdb_error *err, const char *format, ...)
	HDB_PRINTF(4, 5);

#endif
