/*
 * query/query.h - defines queries. A query consists of a .query file (name, options, columns,
 * facts), which tools/query.awk translates to C, and of three functions.
 *
 * When a query is opened, it reads its arguments, builds the tables that it needs, and sets facts.
 * Then it puts one row after another into the cells of struct query. Sorting, limits, filters and
 * counting are implemented here for all queries (rows.c). To add a query: write its .query file, a
 * C file with its functions and QUERY_DEFINE, and a test; add a line to the list in
 * queries/queries.h; and update the manual with `sh tools/heapdb/man_queries.sh --write`.
 */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "analysis/population.h"
#include "analysis/session.h"
#include "analysis/targets.h"

#include <limits.h>

/* Value of a total that is unknown until all rows have been read. */
#define QUERY_TOTAL_UNKNOWN UINT64_MAX

struct query;

/* How rows are sorted if they belong together. */
enum query_order {
	QUERY_ORDER_FLAT, /* rows are independent */
	/*
	 * Only rows with level 0 are sorted. Other rows stay below their row of level 0, in their
	 * original order.
	 */
	QUERY_ORDER_HEADS,
	/* Rows with the same parent are sorted among themselves, below their parent. */
	QUERY_ORDER_TREE
};

/* The distinct strings of a column, for callers that read columns. */
struct query_names {
	/*
	 * owned; NULL if the column has no names; each string is borrowed until the query is closed
	 */
	const char **texts;
	uint32_t *sizes; /* owned */
	uint32_t count;
	uint64_t bytes; /* total size of the strings */
};

/* One column of a batch of rows. */
struct query_batch_column {
	const uint64_t *values; /* numbers, or bit patterns in double and signed columns */
	const uint32_t *codes;  /* text columns: indexes in the names of the column */
	const uint8_t *flags;   /* booleans: 0 or 1 */
	/* indexed by row: 0 if there is no value; NULL means that all rows have a value */
	const uint8_t *there;
};

/* A batch of rows. All pointers are borrowed until the query is used again. */
struct query_batch {
	size_t count;
	/* indexed by column of the spec; columns that are not shown are empty */
	struct query_batch_column *columns;
};

/* A member of q->state to free when the query is closed (owned.h). */
struct query_owned {
	size_t offset, size;
	void (*release)(void *member);
};

/* The definition of a query. */
struct query_def {
	struct hdb_query_spec spec;
	/* size of q->state, which is zeroed before `open` */
	size_t state_size;
	/* table whose records are the rows, so that q->total is known, or 0 if none */
	enum store_table rows_of;
	/*
	 * Prepares the query: reads options and targets, builds tables, and sets facts and q->total
	 * (unknown by default). If this function fails, `close` is still called. NULL if no
	 * preparation is needed.
	 */
	int (*open)(struct query *q, struct hdb_error *err);
	/* Sets the cells of the next row, which are initially null. Returns HDB_OK or HDB_END. */
	int (*next)(struct query *q, struct hdb_error *err);
	/*
	 * Sets the cells of row number `no`. Used in place of `next` if `open` has set q->total.
	 * Called for rows 0, 1, 2 and so on.
	 */
	int (*row)(struct query *q, size_t no, struct hdb_error *err);
	/*
	 * Sets the expensive cells of row number `no`, after `row`. Skipped for rows that are only
	 * counted, or that a test of the other cells drops. May be NULL.
	 */
	int (*rest)(struct query *q, size_t no, struct hdb_error *err);
	/*
	 * Returns the next rows column by column, for answers with millions of rows. The result is
	 * HDB_OK with at least one row, or HDB_END. All shown text columns must have names. NULL if
	 * not supported.
	 */
	int (*batch)(struct query *q, struct query_batch *out, struct hdb_error *err);
	/* number of columns that `batch` sets, from the first of the spec */
	size_t batch_columns;
	/*
	 * members of q->state to free after `close`, ended by a member without a function; or NULL
	 */
	const struct query_owned *owned;
	/* Frees resources that `owned` cannot describe. May be NULL. */
	void (*close)(struct query *q);
	/* whether the query compares with databases of earlier dumps, which other queries reject */
	bool takes_before;
	enum analysis_population population; /* may be changed by `open` */
	enum query_order order;
	unsigned uses; /* enum query_use */
	/* meaning of --heap for this query; NULL means that the rows are objects of that heap */
	const char *heap_help;
	/* reason to show for an answer without rows; NULL means the default in common_facts.c */
	const char *no_rows;
	/*
	 * table for stored answers without arguments (kept_answers.h), or STORE_ANSWER_OPTIONS for
	 * a query that requires arguments; 0 if answers are not stored
	 */
	enum store_table keeps;
};

/* Defines query_ID. Everything but the functions comes from its .query file. */
#define QUERY_DEFINE(id, ...) const struct query_def query_##id = { QUERY_##id, __VA_ARGS__ }
/* Members for arrays of columns and of facts. */
#define QUERY_COLUMNS(array) .columns = (array), .column_count = BASE_COUNT(array)
#define QUERY_FACTS(array) .facts = (array), .fact_count = BASE_COUNT(array)

/*
 * Definitions that many queries share (shared.query): help texts QUERY_HELP_..., columns and facts.
 */
#include <query/shared.query.h>

/* The options of a query without options. */
extern const struct hdb_option_spec query_no_options[];

/* Shared options and columns that a query uses (object_columns.h). */
enum query_use {
	QUERY_USES_STRENGTH = 1, /* --retained */
	QUERY_USES_HEAP = 2,     /* --heap */
	/* adds QUERY_OBJECT_COLUMNS and --depth; the column "id" is the object of the row */
	QUERY_ROWS_ARE_OBJECTS = 4,
	QUERY_CHOOSES_COLUMNS = 8, /* the query itself sets native and heap, and has no --depth */
	/* adds only the column `native` of the row's object */
	QUERY_HAS_NATIVE = 16,
	QUERY_OWN_NATIVE = 32, /* shows the `native` column itself */
	/*
	 * shows retained sizes only if they have been computed already, because the answer must be
	 * fast
	 */
	QUERY_IF_KNOWN = 64,
	/* with --heap, the query reads all objects and filters them itself with heap_passes_over */
	QUERY_CHOOSES_HEAP = 128,
	QUERY_USES_ALL = 7
};

/* Indexes of the object columns, or SIZE_MAX if the query has no such column. */
struct query_object_places {
	bool is_used;
	size_t id, native, retained_native, heap, depth, heaps[4];
	unsigned heap_count; /* number of heaps with a column */
};

/* A running query; struct hdb_rows to users of the library. */
struct query {
	const struct query_def *def;
	struct heap *heap;      /* borrowed */
	struct derive *derive;  /* borrowed */
	struct base_work *work; /* borrowed */
	/* the previous three members, in the form that analyses expect */
	struct session session;
	struct hdb_query_args args; /* its arrays and strings are borrowed */
	/*
	 * targets of args, then objects given by number, all as strings; owned; set by
	 * query_read_args
	 */
	const char **targets;
	size_t target_count;
	char *id_texts; /* strings of args.ids; owned */
	/* databases of earlier dumps, oldest first; borrowed */
	const struct session *before;
	size_t before_count;  /* 0 unless the definition accepts earlier dumps */
	void *state;          /* state of the query */
	int failure;          /* first failure of a function that sets cells or facts, or 0 */
	struct hdb_error why; /* message of this failure, if `failure` is not 0 */
	/* number of rows without a limit, or QUERY_TOTAL_UNKNOWN */
	uint64_t total;
	enum analysis_population population; /* coverage.h */
	bool is_cut;
	struct analysis_cut cut;     /* arguments of query_cut, if is_cut */
	struct base_vec cut_text;    /* reasons */
	struct query_filter *filter; /* created by filter.c from args.filter, or NULL */
	/* with a filter: number of rows that it accepts, or QUERY_TOTAL_UNKNOWN */
	uint64_t wanted_total;
	/* the remaining members are private to rows.c and the files next to it */
	/* indexes of these columns in the spec, or SIZE_MAX */
	size_t label, label_kind, label_value;
	size_t *columns; /* the shown columns, as indexes of spec.columns */
	size_t column_count;
	/* indexed by column: columns that options have renamed, or NULL if none */
	struct query_renamed *renamed;
	/* indexed by column of the spec; NULL if no column has names; owned */
	struct query_names *names;
	struct query_batch batch; /* the most recently returned batch; its columns are owned */
	struct hdb_value *cells;  /* the current row: one cell per column of the spec */
	struct base_vec row_text; /* bytes of the strings in the current row */
	struct query_fact *facts; /* facts that have been set, in the order of spec.facts */
	size_t fact_count;
	/* facts that any answer may begin with */
	struct query_fact *common;
	size_t common_count;
	struct query_sorted *sorted; /* set when the rows have been sorted */
	/* number of rows of def->row, and number of rows produced so far */
	uint64_t row_count, row_no;
	uint64_t made;  /* number of rows produced so far that passed the tests */
	uint64_t taken; /* number of rows returned to the caller */
	bool has_ended;
	struct query_object_places extra;
	/* whether --heap was given; only_heap and only_before contain the heap */
	bool is_filtered;
	uint32_t only_heap;    /* as in struct heap_object */
	uint32_t *only_before; /* only_heap for each earlier database; owned */
	/* see kept_answers.h; NULL if the answer is not stored */
	struct query_kept *kept;
	/* whether rows are only counted, so that `next` may leave cells null */
	bool is_counting;
};

/* ---- arguments ---- */

/* Kinds of targets that name sets of objects. */
#define QUERY_TARGET_SET (HDB_TARGET_CLASS | HDB_TARGET_PATTERN | HDB_TARGET_LOADER)

/*
 * Checks options and the number of targets against the definition, and collects the targets in
 * q->targets, so that `open` functions can rely on valid values. Returns HDB_EUSAGE with a
 * description of the error.
 */
int query_read_args(struct query *q, struct hdb_error *err);

/* Returns an option of a definition, its own or a shared one, or NULL. */
const struct hdb_option_spec *query_find_option(const struct query_def *def, const char *name);

/* Returns the default value of an option, or NULL if there is no default. */
const char *query_default(const struct query *q, const char *name);

/* Returns the value of an option: NULL if it was not given, and "" for a flag. */
const char *query_option(const struct query *q, const char *name);

/* Returns the value of an option, or its default if it was not given. */
const char *query_text(const struct query *q, const char *name);

/*
 * Returns the value of a numeric option. If it was not given, returns its default, or `fallback` if
 * there is no default.
 */
uint64_t query_number(const struct query *q, const char *name, uint64_t fallback);

/* Returned for an option with choices that was not given and has no default. */
#define QUERY_NO_CHOICE UINT_MAX

/* Returns the index of the option's value, or of its default, among the option's choices. */
unsigned query_choice(const struct query *q, const char *name);

/* ---- columns ---- */

/*
 * Selects the columns to show, and their order, by a list of names separated by commas. For `open`
 * functions whose options determine the useful columns. The option "columns", if the spec has it,
 * is applied before `open`.
 */
void query_choose(struct query *q, const char *names);
/* Selects columns by names from the user. Fails immediately with HDB_EUSAGE if one is unknown. */
int query_choose_named(struct query *q, const char *names, struct hdb_error *err);

/* A column with a name and type that depend on options. Names are copied. */
struct query_renamed {
	struct hdb_column column; /* its name is NULL if the column is as in the spec */
	char *name;               /* owned */
};
void query_rename(struct query *q, size_t column, const char *name, enum hdb_type type);

/* Returns a column of the spec, with the name that it has in this answer. */
static inline const struct hdb_column *query_spec_column(const struct query *q, size_t column)
{
	return q->renamed && q->renamed[column].name ? &q->renamed[column].column :
						       &q->def->spec.columns[column];
}

/* Returns whether a column is shown. Hidden columns need not be computed. */
bool query_is_shown(const struct query *q, size_t column);

/*
 * For `open` functions: replaces the query with another query and calls the `open` function of that
 * query. The state is discarded, and no facts may have been set.
 */
int query_become(struct query *q, const struct query_def *def, struct hdb_error *err);

/* ---- cells and facts ---- */

/*
 * Functions that set cells and facts return nothing. If one fails (because memory is exhausted or
 * the database cannot be read), the query keeps the first error, and the framework reports it
 * instead of the row or the opened query. `open` and `next` therefore need not check.
 */
void query_fail(struct query *q, int code, const struct hdb_error *why);
/* Returns HDB_OK, or the first error. */
int query_failed(const struct query *q, struct hdb_error *err);

/* Makes a cell null. All cells are initially null. */
void query_null(struct query *q, size_t column);
/* Sets a cell in a column of type COUNT, BYTES, ID or BOOL. */
void query_set(struct query *q, size_t column, uint64_t value);
void query_set_int(struct query *q, size_t column, int64_t value);
void query_set_double(struct query *q, size_t column, double value);
/*
 * Sets a text cell to a copy of a string, which must be valid UTF-8 (see heap/values/text.h).
 * The bytes C0 80, which stand for U+0000, become a zero byte.
 */
void query_set_text(struct query *q, size_t column, const char *text);
void query_set_text_n(struct query *q, size_t column, const char *text, size_t size);
/*
 * Sets a column to the text of a string in the heap, up to QUERY_STRING_MAX_BYTES; a longer one is
 * truncated and followed by "... (1234567 characters)". Returns HDB_NOTFOUND, and sets nothing, if
 * the dump does not contain the characters.
 */
int query_set_string(struct query *q, size_t column, uint32_t ix, struct hdb_error *err);
int query_fact_string(struct query *q, const char *name, uint32_t ix, struct hdb_error *err);
/* Sets a text cell to a string that stays valid until the query is closed, without copying. */
void query_lend_text(struct query *q, size_t column, const char *text);
void query_lend_text_n(struct query *q, size_t column, const char *text, size_t size);
void query_format(struct query *q, size_t column, const char *format, ...) HDB_PRINTF(3, 4);

/* Set a fact by its name in spec.facts, which determines its type. */
void query_fact(struct query *q, const char *name, uint64_t value);
void query_fact_int(struct query *q, const char *name, int64_t value);
void query_fact_text(struct query *q, const char *name, const char *text);
void query_fact_text_n(struct query *q, const char *name, const char *text, size_t size);
/* Sets a fact to the ID of an object. */
void query_fact_id(struct query *q, const char *name, uint32_t ix);
/* Sets the facts "id" and "class" for an object. */
void query_fact_object(struct query *q, uint32_t ix);
/* Returns whether the spec has a fact of this name. */
bool query_has_fact(const struct query *q, const char *name);

/* Sets QUERY_ZEROED_FACT, the first fact of the spec, if the VM omitted contents of arrays. */
void query_zeroed(struct query *q);

/* ---- rows that pass ---- */

/*
 * Returns whether this column must be set before query_test: rows are tested, by a filter or for
 * their rank when sorting, and the test uses this column.
 */
bool query_is_tested(const struct query *q, size_t column);

/*
 * For `next` functions with expensive rows: tests a row as soon as the tested columns are set. If
 * *wanted is false, the caller can skip the other columns, call query_reset, and produce the next
 * row. Without a filter, or a sort with a limit, all rows pass.
 */
int query_test(struct query *q, bool *wanted, struct hdb_error *err);
/* Makes all cells null again. */
void query_reset(struct query *q);

/* ---- common cells ---- */

/* Sets an ID column to the ID of object ix, or to null for HEAP_NONE. */
void query_set_id(struct query *q, size_t column, uint32_t ix);
/* Sets a column to the retained size of object ix. Builds the table of retained sizes if needed. */
void query_set_retained(struct query *q, size_t column, uint32_t ix);
/* Sets a text column to the class name of object ix, or to "class NAME" if it is a class object. */
void query_set_class_of(struct query *q, size_t column, uint32_t ix);
/*
 * Sets a column to the label of an object, such as "java.lang.String \"abc\"". See object_cells.c.
 */
void query_set_label(struct query *q, size_t column, uint32_t ix);

/* All strings that a column may have, in any order, possibly with duplicates. */
struct query_name_set {
	const char *const *texts; /* borrowed until the query is closed */
	uint32_t count;
	/* set by query_set_names: for each string, its index in the sorted names of the column */
	uint32_t *codes;
};

/*
 * For `open` functions: declares all strings that a column may have. The names of the column are
 * sorted. If they are too long in total, the column gets no names, and the query no batches.
 */
void query_set_names(struct query *q, size_t column, const struct query_name_set *set);

/* ---- running ---- */

/* The databases that a query reads. All pointers are borrowed. */
struct query_sides {
	const struct session *session;
	const struct session *before; /* sessions for args->before, or NULL if none */
};

/*
 * Starts a query; with the look-up by name in queries/queries.h, this is hdb_query. `args` is
 * borrowed. The caller must close *out with query_close.
 */
int query_open(const struct query_def *def, const struct query_sides *sides,
	       const struct hdb_query_args *args, struct query **out, struct hdb_error *err);
int query_next(struct query *q, struct hdb_error *err);
/* Returns whether rows can be read column by column with query_next_batch. */
bool query_has_batches(const struct query *q);
/* Returns the next batch, like query_def.batch, but without rows beyond the limit. */
int query_next_batch(struct query *q, struct query_batch *out, struct hdb_error *err);
/* Returns the names of shown column `column`, or NULL. */
const struct query_names *query_names_of(const struct query *q, size_t column);
/* Returns the index of a shown column in spec.columns, which is also its index in batches. */
size_t query_spec_no(const struct query *q, size_t column);
int query_total(struct query *q, uint64_t *total, struct hdb_error *err);
void query_close(struct query *q);
/* Returns a column, or NULL after the last. Hidden columns follow the shown columns. */
const struct hdb_column *query_column(const struct query *q, size_t column);
size_t query_column_count(const struct query *q);
/*
 * Finds a column by name. Hidden columns follow the shown columns, and are null. Returns SIZE_MAX
 * if the spec has no such column.
 */
size_t query_find_shown(const struct query *q, const char *name);
/* Returns the current row's cell in shown column `column`. */
const struct hdb_value *query_value(const struct query *q, size_t column);
/* Returns the current row's cell in the column with this name, which the spec must contain. */
const struct hdb_value *query_cell(const struct query *q, const char *column);
/* Returns whether the current row's cell in this column equals the given string. */
bool query_cell_is(const struct query *q, const char *column, const char *text);
/* Returns the common facts, which precede the answer's own facts; static. */
const struct hdb_column *query_common_facts(size_t *count);
/* Return facts that have been set. */
size_t query_fact_count(const struct query *q);
const struct hdb_column *query_fact_column(const struct query *q, size_t fact);
const struct hdb_value *query_fact_value(const struct query *q, size_t fact);

#endif
