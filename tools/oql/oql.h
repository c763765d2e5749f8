/*
 * oql/oql.h - Eclipse MAT's object query language over an open heap database, using heapdb.h.
 *
 * A statement is parsed and evaluated row by row. Only DISTINCT, GROUP BY, ORDER BY and sub-selects
 * keep rows, within a memory budget. Statements are not trusted: every limit has a name here, and
 * exceeding it is an error with a message.
 */
#ifndef OQL_OQL_H
#define OQL_OQL_H

#include "heapdb.h"

#include <stdbool.h>

/* Maximum length of a statement in bytes. */
#define OQL_TEXT_MAX (1U << 20)

/*
 * Maximum nesting of expressions and sub-selects, which limits the recursion of parser and
 * evaluator.
 */
#define OQL_DEPTH_MAX 200

/*
 * Maximum length of a chain such as a + b + c. The evaluator processes a chain recursively. Chains
 * of AND and OR have no limit.
 */
#define OQL_CHAIN_MAX 1000

/* Maximum number of columns in a SELECT, arguments of a call, and keys of GROUP BY and ORDER BY. */
#define OQL_ITEMS_MAX 1000

/* Default memory budget of a statement. */
#define OQL_MEMORY_DEFAULT (1ULL << 30)

/*
 * A string that need not be zero-terminated: a statement or part of a statement. Borrowed until the
 * statement is closed.
 */
struct oql_str {
	const char *data;
	size_t size;
};

struct oql_options {
	uint64_t memory_bytes; /* memory budget; 0: OQL_MEMORY_DEFAULT */
	uint64_t limit;        /* maximum rows; 0 means all */
	const char *sort;      /* sort column, "-column" for reverse order, or NULL if none */
	size_t batch_rows;     /* rows per batch of oql_arrow, as in hdb_rows_arrow */
	/*
	 * whether objects are cells such as "java.util.HashMap @ 0x12c4" instead of IDs or strings
	 */
	bool with_labels;
	struct hdb_progress progress; /* progress and cancellation; its pointers are borrowed */
};

struct oql;

/*
 * Parses without running. Fails with HDB_EUSAGE and a message with the line, the column and what
 * was expected, or with HDB_ELIMIT if a limit in this header is exceeded.
 */
int oql_check(struct oql_str text, struct hdb_error *err);

/*
 * Translates a statement in VisualVM's OQL, which is JavaScript, to SQL for tools/sqlite. The
 * caller must free() *sql. Returns HDB_NOTFOUND if the statement is not in that language. Fails
 * with HDB_EUSAGE if the statement cannot be translated; the message then suggests SQL to use
 * instead.
 */
int oql_to_sql(struct oql_str text, char **sql, struct hdb_error *err);

/*
 * Parses a statement and finds its first row. The caller must close *out with oql_close before it
 * calls hdb_close. `opt` may be NULL.
 */
int oql_open(struct hdb *db, struct oql_str text, const struct oql_options *opt, struct oql **out,
	     struct hdb_error *err);

/*
 * oql_column_count returns the number of columns. oql_column returns one column, borrowed until
 * oql_close. Columns are named as in MAT, and the names are made unique.
 */
size_t oql_column_count(const struct oql *oql);
const struct hdb_column *oql_column(const struct oql *oql, size_t column);

/* Returns the next row: HDB_OK, HDB_END, or a failure. */
int oql_next(struct oql *oql, struct hdb_error *err);

/* Returns a value of the row; borrowed until the next oql_next or oql_close. */
const struct hdb_value *oql_value(const struct oql *oql, size_t column);

/* Counts all rows, ignoring `limit`, by reading them. oql_next must not be called afterwards. */
int oql_total(struct oql *oql, uint64_t *total, struct hdb_error *err);

/*
 * Returns the number of cells that are empty because they could not be computed. Sets *first to the
 * reason for the first empty cell, borrowed until oql_close. If such a cell is in the first row,
 * the statement fails.
 */
uint64_t oql_empty_cells(const struct oql *oql, const char **first);

/* NULL is allowed. */
void oql_close(struct oql *oql);

/* Returns the rows as a source, which out->close closes. `text` is copied. */
int oql_source(struct hdb *db, struct oql_str text, const struct oql_options *opt,
	       struct hdb_row_source *out, struct hdb_error *err);

/*
 * Fills *out (borrowed) with a stream of the rows in Arrow's format. `db` is borrowed until the
 * stream is released.
 */
int oql_arrow(struct hdb *db, struct oql_str text, const struct oql_options *opt,
	      struct ArrowArrayStream *out, struct hdb_error *err);

#endif
