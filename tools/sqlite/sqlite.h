/*
 * sqlite/sqlite.h - SQL over heap databases with SQLite; the interface for the command. A
 * connection has one database, or several with a schema name each. Statements are read-only. Result
 * codes and messages are the library's, so callers do not depend on SQLite.
 */
#ifndef SQLITE_SQLITE_H
#define SQLITE_SQLITE_H

#include "heapdb.h"

#include "base/flag.h"
#include "base/scope.h"
#include "common/own_answer.h"

#include <stdbool.h>

/* A connection. */
struct heapsql;

struct heapsql_options {
	uint64_t memory_bytes;   /* memory limit of SQLite; 0: 256 MiB */
	const char *tmp_dir;     /* directory for large sorts; NULL: SQLite's choice; borrowed */
	const base_flag *cancel; /* nonzero: statements stop with HDB_EINTR; borrowed */
};

/* Opens a connection. The caller must close *out with heapsql_close. `opt` may be NULL. */
int heapsql_open(const struct heapsql_options *opt, struct heapsql **out, struct hdb_error *err);
void heapsql_close(struct heapsql *sql);
BASE_CLOSER(heapsql_close_at, struct heapsql, heapsql_close)

/* A database of a connection; all members are borrowed until heapsql_close. */
struct heapsql_database {
	struct hdb *db;
	const char *name; /* schema name; NULL means the only database */
	bool all;         /* whether tables include unreachable objects */
	/*
	 * The database file. Queries that compare databases open another handle on this file. If it
	 * is NULL, these queries cannot run.
	 */
	const char *path;
	struct hdb_open_options open;
};
/*
 * Adds a database before the first statement. Fails with HDB_EUSAGE if the name is taken or
 * invalid.
 */
int heapsql_add(struct heapsql *sql, const struct heapsql_database *database,
		struct hdb_error *err);

/* A running statement and its rows. */
struct heapsql_rows;
/*
 * Prepares the first statement of `text`. Sets *rest to the remaining text, and *out to NULL if
 * there is no statement. Otherwise the caller must close *out with heapsql_rows_close. Fails with
 * HDB_EUSAGE if SQLite rejects the statement.
 */
int heapsql_prepare(struct heapsql *sql, const char *text, const char **rest,
		    struct heapsql_rows **out, struct hdb_error *err);
/*
 * Returns whether the first statement of `text` names each of its columns, as in "SELECT id,
 * count(*) ...", but not in "SELECT *". Returns false if this is unknown, as for statements with
 * comments or very many words.
 */
bool heapsql_names_columns(const char *text);
size_t heapsql_column_count(const struct heapsql_rows *rows);
/*
 * Returns the columns as an array, borrowed until heapsql_rows_close. Names come from the statement
 * and may be any text; they are made unique: a second "class" becomes "class_2". Types of
 * expressions are known after the first heapsql_next.
 */
const struct hdb_column *heapsql_column(const struct heapsql_rows *rows, size_t column);
/*
 * Returns whether the column belongs to a table and has a declared type. Other columns may hold
 * values of any type.
 */
bool heapsql_is_typed(const struct heapsql_rows *rows, size_t column);
/* Advances to the next row. Returns HDB_OK, HDB_END, or a failure. */
int heapsql_next(struct heapsql_rows *rows, struct hdb_error *err);
/* Returns the values as an array, borrowed until the next call. */
const struct hdb_value *heapsql_value(const struct heapsql_rows *rows, size_t column);
void heapsql_rows_close(struct heapsql_rows *rows);
BASE_CLOSER(heapsql_rows_close_at, struct heapsql_rows, heapsql_rows_close)

/*
 * The rows of a statement as a source for the writers of common/answer.h. The first row is read in
 * advance to determine the types of expression columns.
 */
struct heapsql_answer {
	struct row_source source;  /* refers to this struct */
	struct heapsql_rows *rows; /* borrowed */
	/* maximum number of bytes of text in all rows; more is HDB_ELIMIT; 0 means unlimited */
	uint64_t texts_max;
	uint64_t texts;
	bool is_first;
	int first; /* result of reading the first row */
};

/*
 * Reads the first row. `rows` is borrowed while `out` is in use. Returns HDB_OK even if the
 * statement has no rows.
 */
int heapsql_answer(struct heapsql_answer *out, struct heapsql_rows *rows, struct hdb_error *err);

/* The columns of rows. */
struct heapsql_columns {
	const struct hdb_column *const *list;
	size_t count;
};

/*
 * An expression over the columns of an answer (hdb_query). A connection with one database evaluates
 * the expression, which may use the functions and tables of this database. The connection runs
 * nothing else until the filter is closed. The caller must close *out with heapsql_filter_close.
 * Fails with HDB_EUSAGE if SQLite rejects the expression.
 */
struct heapsql_filter;
int heapsql_filter_open(struct heapsql *sql, const char *expression,
			const struct heapsql_columns *columns, struct heapsql_filter **out,
			struct hdb_error *err);
/* Returns whether the expression uses this column. */
bool heapsql_filter_uses(const struct heapsql_filter *filter, size_t column);
/* Sets *holds to whether the expression is true for these values, one per column. */
int heapsql_filter_test(struct heapsql_filter *filter, const struct hdb_value *const *values,
			bool *holds, struct hdb_error *err);
void heapsql_filter_close(struct heapsql_filter *filter);

/*
 * Returns the rows of the only statement in `text`, which is copied. out->close closes them. Fails
 * with HDB_EUSAGE if there is not exactly one statement.
 */
int heapsql_source(const struct heapsql_database *database, const char *text,
		   const struct heapsql_options *opt, struct hdb_row_source *out,
		   struct hdb_error *err);

/* Options of heapsql_arrow. */
struct heapsql_arrow_options {
	struct heapsql_options sql;
	size_t batch_rows; /* as in hdb_rows_arrow */
	bool all;          /* as in heapsql_database */
};
/*
 * Fills *out (borrowed) with an Arrow stream of the rows of the only statement in `text`. The
 * stream owns everything that it needs except `db`, which is borrowed until the stream is released.
 * If there are more than 4,096 rows and expression columns, the statement runs once in advance to
 * determine types. Fails with HDB_EUSAGE if there is not exactly one statement.
 */
int heapsql_arrow(struct hdb *db, const char *text, const struct heapsql_arrow_options *opt,
		  struct ArrowArrayStream *out, struct hdb_error *err);

/* Returns whether a table or function, but not a class, has this name. */
bool heapsql_has_table(const char *name);

/* Returns whether `text` ends with a complete statement, so that a shell can run it. */
bool heapsql_is_complete(const char *text);

/* Kinds of tables, in listing order. */
enum heapsql_kind {
	HEAPSQL_TABLE,
	HEAPSQL_FUNCTION, /* a table with required arguments */
	HEAPSQL_QUERY,
	HEAPSQL_CLASS
};

struct heapsql_table {
	char name[80]; /* name as in a statement, without quotes; a class name may be truncated */
	const char *class; /* full class name; borrowed until heapsql_close */
	const char *help;  /* short description; "" for a class */
	enum heapsql_kind kind;
	bool needs_argument;
};
/* Lists tables by kind, for a shell. Returns false after the last. */
bool heapsql_table(struct heapsql *sql, size_t no, struct heapsql_table *out);
/*
 * Sets *out to the columns of a table: "id, class, ...", or one line per column if with_types is
 * set. The caller must free() *out. Returns HDB_NOTFOUND if there is no such table.
 */
int heapsql_schema(struct heapsql *sql, const char *table, bool with_types, char **out,
		   struct hdb_error *err);
/* Explains why a statement has no rows, if it refers to a class or kind that does not occur. */
bool heapsql_why_empty(struct heapsql *sql, const char *text, char *why, size_t size);
/* Like heapsql_why_empty, but on a separate connection. */
bool heapsql_why_source_empty(const struct heapsql_database *database, const char *text, char *why,
			      size_t size);

#endif
