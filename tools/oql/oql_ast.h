/*
 * oql/oql_ast.h - syntax trees of statements, and their parser.
 */
#ifndef OQL_OQL_AST_H
#define OQL_OQL_AST_H

#include "oql/oql_memory.h"

#include <stdbool.h>

enum oql_kind {
	OQL_NULL,
	OQL_BOOL,   /* value in `i` */
	OQL_INT,    /* value in `i`, 32 bits */
	OQL_LONG,   /* value in `i` */
	OQL_FLOAT,  /* value in `d` */
	OQL_DOUBLE, /* value in `d` */
	OQL_CHAR,   /* UTF-16 unit in `i` */
	OQL_STRING, /* text in `name` */
	OQL_NAME,   /* `name` is an alias, or a field of the row's object */
	OQL_SNAPSHOT,
	OQL_SELECT,    /* sub-select in `select` */
	OQL_FIELD,     /* a.name */
	OQL_ATTRIBUTE, /* a.@name, or @name of the row's object if `a` is NULL */
	OQL_METHOD,    /* a.name(args) */
	OQL_CALL,      /* name(args) */
	OQL_AGGREGATE, /* count(*), sum(args[0]), ...; i: index of the aggregate in the select */
	OQL_INDEX,     /* a[b] */
	OQL_SLICE,     /* a[b:c] */
	OQL_NEGATE,    /* -a */
	OQL_ADD,       /* a + b, and so on */
	OQL_SUBTRACT,
	OQL_MULTIPLY,
	OQL_DIVIDE,
	OQL_EQUAL,
	OQL_NOT_EQUAL,
	OQL_LESS,
	OQL_LESS_EQUAL,
	OQL_GREATER,
	OQL_GREATER_EQUAL,
	OQL_LIKE,
	OQL_NOT_LIKE,
	OQL_IN,
	OQL_NOT_IN,
	OQL_IMPLEMENTS, /* a implements name */
	OQL_AND,        /* conjunction of all args */
	OQL_OR
};

/* Aggregates, in the order of their names in the parser. */
enum oql_aggregate { OQL_COUNT, OQL_SUM, OQL_MIN, OQL_MAX, OQL_AVG };

struct oql_select;

struct oql_expr {
	enum oql_kind kind;
	size_t at;    /* offset in the statement */
	size_t depth; /* height of the tree */
	struct oql_expr *a, *b, *c;
	struct oql_expr **args;
	size_t arg_count;
	struct oql_str name;
	int64_t i;
	double d;
	enum oql_aggregate aggregate;
	struct oql_select *select;
	/* set by the evaluator: a pattern, or the values of a sub-select; owned by the evaluator */
	void *cache;
};

struct oql_item {
	struct oql_expr *expr;
	struct oql_str alias; /* data is NULL if there is no alias */
};

struct oql_order {
	struct oql_expr *expr;
	bool is_descending;
};

enum oql_from_kind {
	OQL_FROM_CLASS,     /* class name in `name` */
	OQL_FROM_PATTERN,   /* regular expression in `name` */
	OQL_FROM_ADDRESSES, /* addresses in `numbers` */
	OQL_FROM_IDS,       /* object numbers in `numbers` */
	OQL_FROM_VALUE,     /* expression in `expr` */
	OQL_FROM_SELECT     /* sub-select in `select` */
};

struct oql_from {
	enum oql_from_kind kind;
	bool is_objects, is_instanceof;
	size_t at;
	struct oql_str name;
	uint64_t *numbers;
	size_t number_count;
	struct oql_expr *expr;
	struct oql_select *select;
	struct oql_str alias; /* data is NULL if there is no alias */
};

/* A SELECT. The SELECTs that UNION adds form a linked list. */
struct oql_select {
	size_t at;
	bool is_distinct, is_retained, is_star, is_objects;
	/*
	 * whether the SELECT does not depend on rows of an enclosing SELECT. Such a SELECT is
	 * evaluated only once.
	 */
	bool is_free;
	/* whether the SELECT is the whole statement, not a sub-select or part of a UNION */
	bool is_alone;
	struct oql_item *items;
	size_t item_count;
	struct oql_from from;
	struct oql_expr *where;
	struct oql_expr **groups;
	size_t group_count;
	bool has_groups; /* whether there is a GROUP BY clause or an aggregate */
	size_t aggregate_count;
	struct oql_expr **aggregates;
	/* ORDER BY; the first SELECT of a UNION holds the ORDER BY of the whole union */
	struct oql_order *orders;
	size_t order_count;
	bool has_limit;
	uint64_t limit, offset;
	struct oql_select *next; /* next SELECT of a UNION */
	size_t depth;
};

/*
 * Parses a statement. The tree is allocated in the arena and points into `text`, which must remain
 * valid while the tree is used. Fails with HDB_EUSAGE and a message with the line, the column and
 * what was expected.
 */
int oql_parse(struct oql_str text, struct oql_arena *arena, struct oql_select **out,
	      struct hdb_error *err);

/* Writes the expression as in MAT's column headings: "(p.x + p.y)". */
void oql_unparse(const struct oql_expr *expr, struct bytes *out);
void oql_unparse_select(const struct oql_select *select, struct bytes *out);

/*
 * Writes a double as Java prints it: "1.0", "4.8828125E-4". If `is_float` is set, writes it as a
 * float.
 */
void oql_put_double(struct bytes *out, double value, bool is_float);

/* Returns whether the name equals `word`, ignoring case. */
bool oql_is_word(struct oql_str name, const char *word);
/* Returns whether the name is exactly `word`. */
bool oql_is(struct oql_str name, const char *word);
bool oql_same(struct oql_str a, struct oql_str b);
/* Arguments for "%.*s". */
#define OQL_STR(s) (int)(s).size, (s).data

#endif
