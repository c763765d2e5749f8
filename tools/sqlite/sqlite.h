/*
 * sqlite/sqlite.h - SQL over heap databases, on SQLite: what the command uses of it.
 *
 * A connection has one database, or several under a name each. Statements only read. Result codes
 * and messages are the library's; callers need to know nothing of SQLite.
 */
#ifndef SQLITE_SQLITE_H
#define SQLITE_SQLITE_H

#include "heapdb.h"

#include <stdbool.h>

/* A connection. */
struct heapsql;

struct heapsql_options {
	uint64_t memory_bytes; /* most that SQLite may allocate; 0: a quarter of a GiB */
	const char *tmp_dir;   /* where it sorts what does not fit; NULL: its own choice; lent */
	const volatile int
		*cancel; /* when it becomes nonzero statements end with HDB_EINTR; lent */
};

/* *out is owned: heapsql_close. `opt` may be NULL. */
int heapsql_open(const struct heapsql_options *opt, struct heapsql **out, struct hdb_error *err);
void heapsql_close(struct heapsql *sql);
static inline void heapsql_close_at(struct heapsql **sql)
{
	heapsql_close(*sql);
}

/* A database that is to be asked; all of it is lent until heapsql_close. */
struct heapsql_database {
	struct hdb *db;
	const char *name; /* its schema; NULL: the only one */
	bool all;         /* tables show unreachable objects, too, not reachable ones alone */
	/* Opens one more handle of the same database, for queries that compare two. */
	int (*reopen)(void *ctx, struct hdb **out, struct hdb_error *err);
	void *ctx;
};
/* Adds one; before the first statement. HDB_EUSAGE for a name that is taken or cannot be one. */
int heapsql_add(struct heapsql *sql, const struct heapsql_database *database,
		struct hdb_error *err);

/* A statement that runs, and its rows. */
struct heapsql_rows;
/*
 * Prepares the first statement of `text`. *rest is what follows it. *out is NULL if there is none,
 * else owned: heapsql_rows_close. HDB_EUSAGE if SQLite does not take it.
 */
int heapsql_prepare(struct heapsql *sql, const char *text, const char **rest,
		    struct heapsql_rows **out, struct hdb_error *err);
/*
 * Whether the first statement of `text` names each of its columns: "SELECT id, count(*) ...", not
 * "SELECT *". False if that is not known: of statements with comments or very many words.
 */
bool heapsql_names_columns(const char *text);
size_t heapsql_column_count(const struct heapsql_rows *rows);
/*
 * Borrowed until heapsql_rows_close; the next column lies behind it. Names are the statement's, any
 * text, and differ: of two "class" the second is "class_2". Types of expressions are known after
 * the first heapsql_next.
 */
const struct hdb_column *heapsql_column(const struct heapsql_rows *rows, size_t column);
/* Whether it is a table's column, with a type that its values have; else they can be of any. */
bool heapsql_is_typed(const struct heapsql_rows *rows, size_t column);
/* HDB_OK, HDB_END, or a failure. */
int heapsql_next(struct heapsql_rows *rows, struct hdb_error *err);
/* The values lie one behind the other at one place, and are borrowed until the next call. */
const struct hdb_value *heapsql_value(const struct heapsql_rows *rows, size_t column);
void heapsql_rows_close(struct heapsql_rows *rows);
static inline void heapsql_rows_close_at(struct heapsql_rows **rows)
{
	heapsql_rows_close(*rows);
}

/* The columns of rows. */
struct heapsql_columns {
	const struct hdb_column *const *list;
	size_t count;
};

/*
 * An expression over the columns of an answer (hdb_query) that a connection with a database has
 * asked; functions and tables of that database are understood, too. The connection runs nothing
 * else until it is closed. *out is owned: heapsql_filter_close. HDB_EUSAGE if SQLite does not take
 * it.
 */
struct heapsql_filter;
int heapsql_filter_open(struct heapsql *sql, const char *expression,
			const struct heapsql_columns *columns, struct heapsql_filter **out,
			struct hdb_error *err);
/* Whether it looks at this column. */
bool heapsql_filter_uses(const struct heapsql_filter *filter, size_t column);
/* *holds: whether it is true for these values, one a column. */
int heapsql_filter_test(struct heapsql_filter *filter, const struct hdb_value *const *values,
			bool *holds, struct hdb_error *err);
void heapsql_filter_close(struct heapsql_filter *filter);

/*
 * The rows of the only statement of `text`, which is copied. out->close ends it.
 * HDB_EUSAGE if there is not one statement.
 */
int heapsql_source(const struct heapsql_database *database, const char *text,
		   const struct heapsql_options *opt, struct hdb_row_source *out,
		   struct hdb_error *err);

/* The rows of a statement as columns. */
struct heapsql_arrow_options {
	struct heapsql_options sql;
	size_t batch_rows; /* as hdb_rows_arrow has them */
	bool all;          /* as heapsql_database has it */
};
/*
 * The rows of the only statement of `text` as a stream of Arrow columns (*out, lent), which owns
 * all that it needs but `db`, lent until its release. Where it has more than 4,096 rows, and
 * columns of expressions, it is run once before to see what they hold. HDB_EUSAGE if there is not
 * one statement.
 */
int heapsql_arrow(struct hdb *db, const char *text, const struct heapsql_arrow_options *opt,
		  struct ArrowArrayStream *out, struct hdb_error *err);

/* Whether there is a table or function of this name that is no class. */
bool heapsql_has_table(const char *name);

/* Whether `text` ends with a whole statement, as a shell asks before it runs it. */
bool heapsql_is_complete(const char *text);

/* What a name can be, in this order. */
enum heapsql_kind {
	HEAPSQL_TABLE,
	HEAPSQL_FUNCTION, /* a table with arguments that it needs */
	HEAPSQL_QUERY,
	HEAPSQL_CLASS
};

struct heapsql_table {
	char name[80];     /* as a statement has it without quotes; of a class cut */
	const char *class; /* the whole name of a class; borrowed until heapsql_close */
	const char *help;  /* in a few words; of a class "" */
	enum heapsql_kind kind;
	bool needs_argument;
};
/* For a shell: table `no`, by kinds; false past the last. */
bool heapsql_table(struct heapsql *sql, size_t no, struct heapsql_table *out);
/*
 * The columns of a table: "id, class, ...", or with_types a line each; owned: free(). HDB_NOTFOUND
 * if there is none.
 */
int heapsql_schema(struct heapsql *sql, const char *table, bool with_types, char **out,
		   struct hdb_error *err);
/* Why a statement has no rows, if it asks for a class or kind that nothing has. */
bool heapsql_why_empty(struct heapsql *sql, const char *text, char *why, size_t size);
/* The same by a connection of its own. */
bool heapsql_why_source_empty(const struct heapsql_database *database, const char *text, char *why,
			      size_t size);

#endif
