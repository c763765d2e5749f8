/*
 * sqlite/sql_private.h - what the files of this folder share: a database as SQLite's modules see
 * it, and tables that are described by a definition. Private to sqlite.
 *
 * The same files make a part of the command, linked with SQLite, and an extension that any program
 * loads, which calls SQLite by way of the table that it is given (HEAPSQL_EXTENSION).
 */
#ifndef SQLITE_SQL_PRIVATE_H
#define SQLITE_SQL_PRIVATE_H

#include "base/vec.h"
#include "sqlite/sqlite.h"

#include "base/error.h"
#include "base/scope.h"

#ifdef HEAPSQL_EXTENSION
#include <sqlite3ext.h>
extern const struct sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif

#include <assert.h>
#include <stdint.h>

/* Readers of references that are kept for the next use of refs: as many as are joined at once. */
#define SQL_READERS 4

/* A database, under the name of its schema. Modules and functions refer to it. */
struct sql_source {
	struct sqlite3 *sqlite;
	struct heapsql *owner; /* the connection: of the command, or of the extension */
	struct heapsql_database database;
	char *name;         /* owned; "main" if it is the only one */
	struct hdb *db;     /* database.db */
	bool owns_db;       /* the extension opened it itself */
	bool is_only;       /* tables need no schema */
	size_t *name_sizes; /* by class number: bytes of its name + 1; 0: not known */
	/* by class number; made when first asked for: sql_need_counts */
	struct hdb_class_count *counts;
	bool counts_reachable; /* they have the reachable objects */
	uint64_t *retained;    /* sums of retained sizes; by class number: sql_need_retained */
	/* names of class tables that are there; owned */
	BASE_VEC_AS(made_vec, char *, made, made_count);
	/* readers of references that no table uses now; owned */
	struct hdb_references *readers[SQL_READERS];
	size_t reader_count;
	struct hdb_error err; /* the last failure */
	const volatile int *cancel;
};

/* ---- tables from a definition ---- */

#define SQL_ARGS_MAX 4
#define SQL_KEYS_MAX 16

struct sql_cursor;
struct sql_table;

/* What is in a cursor's state for a column, and how SQLite gets it. */
enum sql_how {
	SQL_BY_COLUMN,  /* by the function `column` of the definition */
	SQL_INT,        /* int */
	SQL_U32,        /* uint32_t; HDB_NONE: NULL */
	SQL_U64,        /* uint64_t */
	SQL_ID,         /* the same; 0: NULL */
	SQL_STATIC,     /* const char *, as long as the database is open */
	SQL_TEXT,       /* const char *, which is copied */
	SQL_CHARS,      /* char[], which is copied */
	SQL_CLASS,      /* uint32_t, a class: its name; HDB_NONE: NULL */
	SQL_OBJECT,     /* uint32_t, an object: its ID; HDB_NONE: NULL */
	SQL_RETAINED,   /* the same: its retained size */
	SQL_BASIC,      /* struct hdb_basic */
	SQL_REFERENCE,  /* the same; NULL if it is no reference */
	SQL_BASIC_TEXT, /* the same; of a reference the object's text */
};
/* A cell of a column: how, and where in the state. A small number is for `column` to know. */
#define SQL_AT(how, state, member) ((uint32_t)(how) << 16 | (uint32_t)offsetof(state, member))
/*
 * Or'ed to a cell: rows with a value of the column are found without a scan. Instead of one:
 * arguments of a table-valued function, which are hidden columns. Constraints on both are given to
 * begin, in the order of the columns.
 */
#define SQL_KEY ((uint32_t)1 << 24)
#define SQL_OPTION ((uint32_t)1 << 25)
#define SQL_ARGUMENT (SQL_OPTION | (uint32_t)1 << 26) /* one that must be given */

struct sql_column {
	const char *declaration; /* "id ID", as in CREATE TABLE */
	uint32_t cell;
};
#define SQL_COLUMN(declaration, cell) \
	{ \
		declaration, cell \
	}
#define SQL_COLUMNS(array) .columns = (array), .column_count = sizeof(array) / sizeof((array)[0])

/* A table or table-valued function. */
struct sql_table_def {
	const char *name;
	const char *help; /* what it has, in a few words */
	const struct sql_column *columns;
	size_t column_count;
	/*
	 * Of tables that are made at run time, whose columns are numbers for `column`: all of them
	 * as in CREATE TABLE, the last `option_count` are arguments that may be left out.
	 */
	const char *declaration;
	size_t option_count;
	unsigned narrowing_key; /* the bit of a key that only narrows a scan; 0: none */
	double rows;            /* a guess without keys */
	size_t state_size;      /* of sql_cursor.state */
	/* May be NULL. Makes `declaration`, which is NULL until a statement uses the table. */
	int (*declare)(struct sql_table_def *def, struct hdb_error *err);
	/*
	 * May be NULL. xBestIndex of a table without keys, which takes constraints in its own way.
	 * What it reads is many rows: it calls sql_end itself, where it has read.
	 */
	int (*plan)(const struct sql_table *table, struct sqlite3_index_info *info);
	/* Starts, with sql_cursor.key or .argv set; HDB_NOTFOUND: there are no rows. */
	int (*begin)(struct sql_cursor *c, struct hdb_error *err);
	/* Steps to a row, the first one too: HDB_OK or HDB_END. It may set row_no. */
	int (*next)(struct sql_cursor *c, struct hdb_error *err);
	/* Gives SQLite the value of a column, by the number in its cell. */
	int (*column)(struct sql_cursor *c, struct sqlite3_context *ctx, int column,
		      struct hdb_error *err);
	/* Frees what begin made; the state is cleared. May be NULL. */
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
	struct sqlite3_value *key[SQL_KEYS_MAX]; /* NULL: not given; lent to begin */
	/* what `plan` chose: sqlite3_index_info.idxNum, and values; lent to begin */
	int index, argc;
	struct sqlite3_value **argv;
	sqlite3_uint64 used; /* columns that are read, as sqlite3_index_info.colUsed */
	int64_t row_no;
	bool is_started; /* begin was called, end was not */
	bool at_end;
	void *state;
};

/* All of them, ended by NULL. */
extern const struct sql_table_def *const sql_tables[];
extern const struct sql_table_def sql_refs, sql_references, sql_referrers, sql_outbound,
	sql_inbound, sql_dominated, sql_reachable_from, sql_path_to_root, sql_entries, sql_elements,
	sql_fields, sql_classes, sql_class_fields, sql_roots, sql_threads, sql_frames, sql_locals,
	sql_heaps, sql_class_totals, sql_kind_totals;

/* ---- helpers ---- */

/* Gives SQLite a failure of a function. */
void sql_function_fail(struct sqlite3_context *ctx, struct sql_source *source, int code,
		       struct hdb_error *err);

/* Restricts SQLite to what users may ask for (on), or not; heapsql.c. Returns the state before. */
bool sql_set_guard(struct heapsql *sql, bool is_on);

/* Writes a message and returns `code`. */

static_assert(SQLITE_OK == HDB_OK, "TRY passes on codes of SQLite, too");

/* Clears a message; not `= { 0 }`, which is a kilobyte for each cell. */
static inline void sql_no_error(struct hdb_error *err)
{
	err->code = HDB_OK;
	err->message[0] = '\0';
}

/*
 * The end of what reads objects: its result, unless a name was "?" because it cannot be read
 * (hdb_failed).
 */
int sql_end(struct sql_source *source, int r, struct hdb_error *err);

/* The object that a value names, an integer or "0x12c4": HDB_OK, or HDB_NOTFOUND. */
int sql_value_object(struct sql_source *source, struct sqlite3_value *value, uint32_t *ix,
		     struct hdb_error *err);

/*
 * Whether some identifiers are negative in SQL, whose numbers have a sign: then their order is
 * another than that of a scan. True also after a failure.
 */
bool sql_has_negative_ids(struct hdb *db);

/* Results. */
void sql_result_class(struct sqlite3_context *ctx, struct sql_source *source, uint32_t class_no);
/* The ID of an object, NULL for HDB_NONE. */
int sql_result_ix(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
		  struct hdb_error *err);
/* The retained size of an object. */
int sql_result_retained(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			struct hdb_error *err);
/* A field's value: integer or real, reference as ID, null as NULL. */
void sql_result_basic(struct sqlite3_context *ctx, const struct hdb_basic *value);
/* A value of an answer. */
void sql_result_value(struct sqlite3_context *ctx, const struct hdb_value *value);
/* How a column of this type is declared. */
const char *sql_column_type(enum hdb_type type);
/* The text of an object (hdb_text), NULL if it has none; HDB_ELIMIT: SQLite takes none so long. */
int sql_result_text_of(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
		       struct hdb_error *err);
/* A text that is copied. */
void sql_result_copy(struct sqlite3_context *ctx, const char *text);
/* "instance", "object array", "primitive array", "class". */
const char *sql_kind_name(unsigned kind);
const char *sql_type_name(enum hdb_basic_type type);

/*
 * Marks classes by number: of this name, or (is_glob) of names that SQLite's GLOB takes. How many
 * were not marked before.
 */
uint32_t sql_mark_classes(struct sql_source *source, const char *name, int is_glob, uint8_t *marks);

/* source->counts; `reachable`: of the reachable objects, too. */
int sql_need_counts(struct sql_source *source, bool reachable, struct hdb_error *err);
/* source->retained, by one pass over the objects. */
int sql_need_retained(struct sql_source *source, struct hdb_error *err);

/* What tables show (database.all): as the population of a scan. */
static inline int sql_population(const struct sql_source *source)
{
	return source->database.all ? 0 : 1;
}
/* Whether tables show an object: *shown. */
int sql_is_shown(struct sql_source *source, uint32_t ix, bool *shown, struct hdb_error *err);

/*
 * The same question of totals by class or kind, if that is all that a statement needs; NULL: it is
 * not. sqlite3_free. Columns have other names.
 */
char *sql_rewrite(const char *statement);

/* ---- registration ---- */

/* Makes all tables of a source known to its connection: eponymous if it is the only one. */
int sql_register(struct sql_source *source, struct hdb_error *err);
int sql_register_tables(struct sql_source *source);
int sql_register_objects(struct sql_source *source);
int sql_register_queries(struct sql_source *source);
/*
 * Makes a table of a definition, in the source's schema or as an eponymous one. `release` frees the
 * definition with the table, also after a failure, unless it is NULL.
 */
int sql_add_table(struct sql_source *source, const char *name, const struct sql_table_def *def,
		  void (*release)(void *def));
int sql_register_functions(struct sql_source *source);
/* Whether it is one of those, in upper or lower case. */
bool sql_is_function(const char *name);
/*
 * hex() and regexp(), which take the place of SQLite's own: not while a statement runs. `cancel`
 * ends a match; lent; NULL: nothing does.
 */
int sql_register_plain(struct sqlite3 *sqlite, const volatile int *cancel);
/* Functions of SQLite that a single call could keep busy for minutes, with bounds. */
int sql_register_bounded(struct sqlite3 *sqlite, const volatile int *cancel);

/* Makes class tables for the names in a statement that are classes of a source. */
int sql_define_classes(struct sql_source *source, const char *statement, struct hdb_error *err);
/* Makes one, by name as in a statement; HDB_NOTFOUND if there is no such class. */
int sql_define_class(struct sql_source *source, const char *name, struct hdb_error *err);
/* Makes one that is only looked at when a statement uses it. */
int sql_announce_class(struct sql_source *source, const char *name, struct hdb_error *err);

/* Whether a table that is no class, a query's too, has the name. */
bool sql_has_table(const char *name);
/* Table `no`, that is no class; false past the last, and *left is what is left of no. */
bool sql_table_at(size_t no, struct heapsql_table *out, size_t *left);

/*
 * Reports a failure: the library's own message if a table or function failed, else SQLite's.
 * Returns its code; heapsql.c.
 */
int sql_fail_of(struct heapsql *sql, int rc, struct hdb_error *err);
/*
 * What may have been meant by a statement that failed with SQLite's message, as more of that
 * message: "; did you mean class?", or "".
 */
void sql_hint(const struct sql_source *source, const char *text, const char *message, char *hint,
	      size_t size);
/* Why a statement has no rows, if it asks for a class or kind that nothing has. */
bool sql_why_empty(const struct sql_source *source, const char *text, char *why, size_t size);
/* Puts the tables of the only database of a connection into its catalogue, sqlite_master. */
int sql_list_tables(struct sql_source *source, struct hdb_error *err);
/* The first database of a connection, or NULL; heapsql.c. */
struct sql_source *sql_first_source(struct heapsql *sql);
/* The database of that name; heapsql.c. */
struct sql_source *sql_source_named(struct heapsql *sql, const char *name);
/* What a set of objects retains; of several groups of a statement at once. */
int sql_retained_of(struct sql_source *source, const uint32_t *ixs, size_t count, uint64_t *bytes,
		    struct hdb_error *err);

int sql_source_open(struct sqlite3 *sqlite, const struct heapsql_database *database,
		    struct sql_source **out, struct hdb_error *err);
void sql_source_close(struct sql_source *source);

#endif
