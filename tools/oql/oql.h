/*
 * oql/oql.h - Eclipse MAT's object query language over an open heap database, by way of heapdb.h.
 *
 * A statement is parsed, then answers row by row; nothing is kept but what DISTINCT, GROUP BY,
 * ORDER BY and sub-selects need, within a budget. Statements are hostile input: every limit has a
 * name here, and passing one is a failure with a message.
 */
#ifndef OQL_OQL_H
#define OQL_OQL_H

#include "heapdb.h"

#include <stdbool.h>

/* Longest statement, in bytes. */
#define OQL_TEXT_MAX (1U << 20)

/* How deep expressions and sub-selects may nest: parser and evaluator recurse as deep. */
#define OQL_DEPTH_MAX 200

/* Longest chain such as a + b + c: the evaluator recurses that deep. AND and OR have no limit. */
#define OQL_CHAIN_MAX 1000

/* Columns of a SELECT; arguments of a call; keys of GROUP BY and ORDER BY. */
#define OQL_ITEMS_MAX 1000

/* Default limit of the memory that a statement keeps. */
#define OQL_MEMORY_DEFAULT (1ULL << 30)

/* A statement, or a piece of one; need not be terminated. Lent, or borrowed as long as that is. */
struct oql_str {
	const char *data;
	size_t size;
};

struct oql_options {
	uint64_t memory_bytes;        /* budget of what is kept; 0: OQL_MEMORY_DEFAULT */
	uint64_t limit;               /* most rows; 0: all */
	const char *sort;             /* column to sort by, "-column" the other way; NULL: none */
	size_t batch_rows;            /* of oql_arrow, as of hdb_rows_arrow */
	bool with_labels;             /* objects as "java.util.HashMap @ 0x12c4", not as their IDs
					 and strings as their text */
	struct hdb_progress progress; /* reports and cancels; what it points to is lent */
};

struct oql;

/*
 * Only parses. HDB_EUSAGE with line, column and what was expected, HDB_ELIMIT where a limit of this
 * header was passed.
 */
int oql_check(struct oql_str text, struct hdb_error *err);

/*
 * SQL for tools/sqlite (*sql, owned: free()) that answers a statement in VisualVM's language of the
 * same name, which is JavaScript. HDB_NOTFOUND: it is not in that. HDB_EUSAGE, with the SQL to
 * write, for what is not translated.
 */
int oql_to_sql(struct oql_str text, char **sql, struct hdb_error *err);

/*
 * Parses a statement and finds its first row. *out is owned: oql_close, before hdb_close. `opt` may
 * be NULL.
 */
int oql_open(struct hdb *db, struct oql_str text, const struct oql_options *opt, struct oql **out,
	     struct hdb_error *err);

/* Columns; names are as MAT's, made unique. Borrowed until oql_close. */
size_t oql_column_count(const struct oql *oql);
const struct hdb_column *oql_column(const struct oql *oql, size_t column);

/* The next row: HDB_OK, HDB_END, or a failure. */
int oql_next(struct oql *oql, struct hdb_error *err);

/* A value of the row; borrowed until the next call of oql_next or oql_close. */
const struct hdb_value *oql_value(const struct oql *oql, size_t column);

/* Rows without `limit`; reads on to the end. To be called after the last oql_next. */
int oql_total(struct oql *oql, uint64_t *total, struct hdb_error *err);

/*
 * Cells that could not be computed and are empty therefore; *first is why the first of them,
 * borrowed until oql_close. Only cells of the first row fail the query.
 */
uint64_t oql_empty_cells(const struct oql *oql, const char **first);

/* NULL is fine. */
void oql_close(struct oql *oql);

/* The rows of a statement as a source; out->close ends it. `text` is copied. */
int oql_source(struct hdb *db, struct oql_str text, const struct oql_options *opt,
	       struct hdb_row_source *out, struct hdb_error *err);

/* The same as a stream of Arrow columns (*out, lent); `db` is lent until its release. */
int oql_arrow(struct hdb *db, struct oql_str text, const struct oql_options *opt,
	      struct ArrowArrayStream *out, struct hdb_error *err);

#endif
