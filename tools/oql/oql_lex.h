/*
 * oql/oql_lex.h - splits statements into tokens.
 */
#ifndef OQL_OQL_LEX_H
#define OQL_OQL_LEX_H

#include "oql/oql_ast.h"

enum oql_token_kind {
	OQL_T_END,
	OQL_T_NAME,
	OQL_T_INT,      /* value in `i`; is_wide if it does not fit in 32 bits */
	OQL_T_LONG,     /* 10L, value in `i` */
	OQL_T_HEX,      /* 0x12c4, value in `i` */
	OQL_T_FLOAT,    /* 0.1 or 2.5f, value in `d` */
	OQL_T_DOUBLE,   /* 0.1d, value in `d` */
	OQL_T_STRING,   /* text: between the quotes */
	OQL_T_CHAR,     /* value in `i` */
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
