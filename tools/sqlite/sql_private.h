/*
 * sqlite/sql_private.h - private to sqlite: a database as seen by SQLite modules, and tables
 * described by definitions.
 *
 * The same files are compiled into the command, linked with SQLite, and into a loadable extension,
 * which calls SQLite through the function table it receives (HEAPSQL_EXTENSION).
 */
#ifndef SQLITE_SQL_PRIVATE_H
#define SQLITE_SQL_PRIVATE_H

#include "base/vec.h"
#include "sqlite/sqlite.h"

#include "base/error.h"
#include "base/flag.h"
#include "base/scope.h"

#ifdef HEAPSQL_EXTENSION
#include <sqlite3ext.h>
extern const struct sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif

#include <assert.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of readers of references that are cached for later uses of refs. Few statements
 * join more tables than this.
 */
#define SQL_READERS 4

/* A database and its schema name. Modules and functions refer to it. */
struct sql_source {
	struct sqlite3 *sqlite;
	struct heapsql *owner; /* connection of the command or the extension */
	struct heapsql_database database;
	char *name;         /* owned; "main" for the only database */
	struct hdb *db;     /* database.db */
	bool owns_db;       /* whether the extension opened the database and therefore owns
			     * database.path */
	bool is_only;       /* whether this is the only database, so that its tables need no
			     * schema */
	size_t *name_sizes; /* indexed by class number: length of its name + 1, or 0 if unknown */
	/* indexed by class number; set by sql_need_counts */
	struct hdb_class_count *counts;
	bool counts_reachable; /* whether `counts` includes reachable objects */
	uint64_t *retained; /* sums of retained sizes by class number; set by sql_need_retained */
	/* names of existing class tables; owned */
	BASE_VEC_AS(made_vec, char *, made, made_count);
	/* unused readers of references; owned */
	struct hdb_references *readers[SQL_READERS];
	size_t reader_count;
	struct hdb_error err; /* last failure */
	const base_flag *cancel;
};

/* ---- tables from a definition ---- */

#define SQL_KEYS_MAX 16

struct sql_cursor;
struct sql_table;

/* How a column is stored in the cursor's state, and converted to an SQL value. */
enum sql_how {
	SQL_BY_COLUMN,  /* computed by the definition's function `column` */
	SQL_INT,        /* int */
	SQL_U32,        /* uint32_t; HDB_NONE: NULL */
	SQL_U64,        /* uint64_t */
	SQL_ID,         /* uint64_t; 0: NULL */
	SQL_STATIC,     /* const char * that is valid while the database is open */
	SQL_TEXT,       /* const char *, copied */
	SQL_CHARS,      /* char[], copied */
	SQL_CLASS,      /* uint32_t class number, shown as the class name; NULL for HDB_NONE */
	SQL_OBJECT,     /* uint32_t object number, shown as an ID; NULL for HDB_NONE */
	SQL_RETAINED,   /* uint32_t object number, shown as its retained size */
	SQL_BASIC,      /* struct hdb_basic */
	SQL_REFERENCE,  /* struct hdb_basic; NULL if it is not a reference */
	SQL_BASIC_TEXT, /* struct hdb_basic; a reference is shown as the object's text */
};
/*
 * Makes a cell from a type and an offset in the cursor's state. A computed column has a small
 * number instead of the offset. This number is passed to `column`.
 */
#define SQL_AT(how, state, member) ((uint32_t)(how) << 16 | (uint32_t)offsetof(state, member))
/*
 * Flags of a cell. SQL_KEY: rows can be looked up by the column without a scan. SQL_OPTION and
 * SQL_ARGUMENT: the column is an argument of a table-valued function, which SQLite treats as a
 * hidden column. Constraints on flagged columns are passed to begin in the order of columns.
 */
#define SQL_KEY ((uint32_t)1 << 24)
#define SQL_OPTION ((uint32_t)1 << 25)
/* a required argument of a table-valued function */
#define SQL_ARGUMENT (SQL_OPTION | (uint32_t)1 << 26)

struct sql_column {
	const char *declaration; /* "id ID", as in CREATE TABLE */
	uint32_t cell;
};
#define SQL_COLUMN(declaration, cell) \
	{ \
		declaration, cell \
	}
#define SQL_COLUMNS(array) .columns = (array), .column_count = BASE_COUNT(array)

/* A table or table-valued function. */
struct sql_table_def {
	const char *name;
	const char *help; /* short description */
	const struct sql_column *columns;
	size_t column_count;
	/*
	 * Declaration of a table whose columns are known only at run time, as in CREATE TABLE. The
	 * function `column` gets the numbers of these columns. The last `option_count` columns are
	 * optional arguments.
	 */
	const char *declaration;
	size_t option_count;
	unsigned narrowing_key; /* bit of a key that only narrows a scan, or 0 */
	double rows;            /* estimated rows without keys */
	size_t state_size;      /* size of sql_cursor.state */
	/* Optional. Sets `declaration` when a statement first uses the table. */
	int (*declare)(struct sql_table_def *def, struct hdb_error *err);
	/*
	 * Optional. xBestIndex of a table that handles constraints itself. Such a table also calls
	 * sql_end, once for many rows.
	 */
	int (*plan)(const struct sql_table *table, struct sqlite3_index_info *info);
	/*
	 * Starts reading, with sql_cursor.key or .argv set. Returns HDB_NOTFOUND if there are no
	 * rows.
	 */
	int (*begin)(struct sql_cursor *c, struct hdb_error *err);
	/* Advances to the next row, or the first: HDB_OK or HDB_END. May set row_no. */
	int (*next)(struct sql_cursor *c, struct hdb_error *err);
	/*
	 * Returns the value of a column to SQLite. The number in the column's cell identifies the
	 * column.
	 */
	int (*column)(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
		      struct hdb_error *err);
	/* Optional. Frees the memory that begin allocated. The caller then clears the state. */
	void (*end)(struct sql_cursor *c);
};

struct sql_table {
	struct sqlite3_vtab base; /* must be first */
	struct sql_source *source;
	const struct sql_table_def *def;
};

struct sql_cursor {
	struct sqlite3_vtab_cursor base; /* must be first */
	struct sql_source *source;
	const struct sql_table_def *def;
	struct hdb *db;
	struct sqlite3_value *key[SQL_KEYS_MAX]; /* NULL means no constraint; borrowed by begin */
	/*
	 * the plan chosen by `plan` (sqlite3_index_info.idxNum), and its values; borrowed by begin
	 */
	int index, argc;
	struct sqlite3_value **argv;
	sqlite3_uint64 used; /* columns read, as in sqlite3_index_info.colUsed */
	int64_t row_no;
	bool is_started; /* whether begin was called, and end was not */
	bool at_end;
	void *state;
};

/* All tables, terminated by NULL. */
extern const struct sql_table_def *const sql_tables[];
extern const struct sql_table_def sql_refs, sql_references, sql_referrers, sql_outbound,
	sql_inbound, sql_dominated, sql_reachable_from, sql_path_to_root, sql_entries, sql_elements,
	sql_fields, sql_classes, sql_class_fields, sql_roots, sql_threads, sql_frames, sql_locals,
	sql_heaps, sql_class_totals, sql_kind_totals;

/* ---- helpers ---- */

/* Reports a failure of a function to SQLite. */
void sql_function_fail(struct sqlite3_context *ctx, struct sql_source *source, int code,
		       struct hdb_error *err);

/*
 * Switches the guard, which restricts SQLite to the actions that users may perform, on or off.
 * Returns the previous state. Defined in heapsql.c.
 */
bool sql_set_guard(struct heapsql *sql, bool is_on);

static_assert(SQLITE_OK == HDB_OK, "TRY passes on codes of SQLite, too");

/* Clears a message. `= { 0 }` would clear a kilobyte for each cell. */
static inline void sql_no_error(struct hdb_error *err)
{
	err->code = HDB_OK;
	err->message[0] = '\0';
}

/*
 * Returns the result `r` of a function that reads objects, or a failure if a name could not be read
 * and became "?" (hdb_failed).
 */
int sql_end(struct sql_source *source, int r, struct hdb_error *err);

/* Finds the object of a value, which is an integer or "0x12c4". Returns HDB_OK or HDB_NOTFOUND. */
int sql_value_object(struct sql_source *source, struct sqlite3_value *value, uint32_t *ix,
		     struct hdb_error *err);

/*
 * Returns whether some IDs are negative as SQL integers, so that the order of IDs differs from the
 * order of a scan. Returns true even after a failure.
 */
bool sql_has_negative_ids(struct hdb *db);

/* Returns the name of a class to SQLite, or NULL for HDB_NONE. */
void sql_result_class(struct sqlite3_context *ctx, struct sql_source *source, uint32_t class_no);
/* Returns the ID of an object to SQLite, or NULL for HDB_NONE. */
int sql_result_ix(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
		  struct hdb_error *err);
/* Finds the retained size of an object. */
int sql_result_retained(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			struct hdb_error *err);
/*
 * Returns a field to SQLite as an integer or a real. References become IDs, and null becomes NULL.
 */
void sql_result_basic(struct sqlite3_context *ctx, const struct hdb_basic *value);
/* Returns a value of an answer to SQLite. */
void sql_result_value(struct sqlite3_context *ctx, const struct hdb_value *value);
/* Returns the SQL type of a column. */
const char *sql_column_type(enum hdb_type type);
/*
 * Returns the text of an object (hdb_text) to SQLite, or NULL if the object has no text. Fails with
 * HDB_ELIMIT if the text is too long for SQLite.
 */
int sql_result_text_of(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
		       struct hdb_error *err);
/* Returns a string to SQLite, which copies it. */
void sql_result_copy(struct sqlite3_context *ctx, const char *text);
/* Returns "instance", "object array", "primitive array" or "class". */
const char *sql_kind_name(unsigned kind);
const char *sql_type_name(enum hdb_basic_type type);

/*
 * Marks classes by number: classes with this name or, if is_glob is set, classes whose names match
 * it as SQLite's GLOB does. Returns the number of newly marked classes.
 */
uint32_t sql_mark_classes(struct sql_source *source, const char *name, int is_glob, uint8_t *marks);

/*
 * Sets source->counts. If `reachable` is set, the counts include the numbers of reachable objects.
 */
int sql_need_counts(struct sql_source *source, bool reachable, struct hdb_error *err);
/* Sets source->retained in one pass over the objects. */
int sql_need_retained(struct sql_source *source, struct hdb_error *err);

/* Returns hdb_scan_options.population of the objects that tables show (database.all). */
static inline int sql_population(const struct sql_source *source)
{
	return source->database.all ? 0 : 1;
}
/* Sets *shown to whether tables show an object. */
int sql_is_shown(struct sql_source *source, uint32_t ix, bool *shown, struct hdb_error *err);

/*
 * Rewrites a statement to use totals by class or kind, if the new statement gives the same answer.
 * Otherwise, returns NULL. The caller must free the statement with sqlite3_free. The column names
 * of the new statement differ.
 */
char *sql_rewrite(const char *statement);

/* ---- words of a statement: sql_words.c ---- */

/* Kinds of words. The kind of any other character is the character itself. */
enum { SQL_WORD = 'w', SQL_QUOTED = '"', SQL_LITERAL = 's', SQL_COMMENT = '#' };

/* A word, borrowed from the statement, including its quotes. */
struct sql_word {
	const char *at;
	size_t size;
	char kind;
};

/* Finds the first word from `at` on. Returns false at the end of the statement. */
bool sql_next_word(const char *at, struct sql_word *out);
/* Returns whether the word is this name, ignoring case, or this character. */
bool sql_is(const struct sql_word *word, const char *text);
/* Copies the text inside the word's quotes, at most size - 1 bytes. */
void sql_word_text(const struct sql_word *word, char *out, size_t size);

/* ---- registration ---- */

/*
 * Registers all tables of a source. If the connection has only this source, the tables are
 * eponymous.
 */
int sql_register(struct sql_source *source, struct hdb_error *err);
int sql_register_tables(struct sql_source *source);
int sql_register_objects(struct sql_source *source);
int sql_register_queries(struct sql_source *source);
/*
 * Registers a table in the source's schema, or as an eponymous table. `release` (may be NULL) frees
 * the definition with the table, even after a failure.
 */
int sql_add_table(struct sql_source *source, const char *name, const struct sql_table_def *def,
		  void (*release)(void *def));
int sql_register_functions(struct sql_source *source);
/* Returns whether a function in this directory has this name, ignoring case. */
bool sql_is_function(const char *name);
/*
 * Registers hex() and regexp(), which replace SQLite's own. This is not possible while a statement
 * runs. `cancel` (borrowed, or NULL if none) stops a match.
 */
int sql_register_plain(struct sqlite3 *sqlite, const base_flag *cancel);
/* Registers bounded versions of SQLite functions that could run for minutes. */
int sql_register_bounded(struct sqlite3 *sqlite, const base_flag *cancel);

/* Creates class tables for names in a statement that are classes of a source. */
int sql_define_classes(struct sql_source *source, const char *statement, struct hdb_error *err);
/* Creates a class table by name. Returns HDB_NOTFOUND if there is no such class. */
int sql_define_class(struct sql_source *source, const char *name, struct hdb_error *err);
/* Registers a class table whose columns are determined when a statement uses it. */
int sql_announce_class(struct sql_source *source, const char *name, struct hdb_error *err);

/* Returns whether a table or query, but not a class, has this name. */
bool sql_has_table(const char *name);
/*
 * Fills *out with table number `no`, not counting classes. After the last table, returns false and
 * sets *left to the rest of `no`.
 */
bool sql_table_at(size_t no, struct heapsql_table *out, size_t *left);

/*
 * Reports a failure: the library's message if a table or function failed, otherwise SQLite's.
 * Returns the error code. Defined in heapsql.c.
 */
int sql_fail_of(struct heapsql *sql, int rc, struct hdb_error *err);
/*
 * Returns a suggestion for a failed statement, to be appended to SQLite's message: "; did you mean
 * class?", or "".
 */
void sql_hint(const struct sql_source *source, const char *text, const char *message, char *hint,
	      size_t size);
/* Explains why a statement has no rows, if it refers to a class or kind that does not occur. */
bool sql_why_empty(const struct sql_source *source, const char *text, char *why, size_t size);
/* Adds the tables of a connection's only database to its catalogue, sqlite_master. */
int sql_list_tables(struct sql_source *source, struct hdb_error *err);
/* Returns the first database of a connection, or NULL. Defined in heapsql.c. */
struct sql_source *sql_first_source(struct heapsql *sql);
/* Returns the database with this schema name. Defined in heapsql.c. */
struct sql_source *sql_source_named(struct heapsql *sql, const char *name);
/*
 * Computes the retained size of a set of objects. The sizes for the groups of a statement are
 * computed all at once.
 */
int sql_retained_of(struct sql_source *source, const uint32_t *ixs, size_t count, uint64_t *bytes,
		    struct hdb_error *err);

int sql_source_open(struct sqlite3 *sqlite, const struct heapsql_database *database,
		    struct sql_source **out, struct hdb_error *err);
void sql_source_close(struct sql_source *source);

#endif
