/*
 * query/query.h - the definition of queries. A query is defined by a .query file (name, options,
 * columns, facts), which tools/query.awk translates to C, and by three functions.
 *
 * When a query is opened, it reads its arguments, builds the tables that it needs, and sets facts.
 * Then it puts one row after another into the cells of struct query. Sorting, limits, filters and
 * counting are implemented here for all queries (rows.c). To add a query, write its .query file, a
 * C file with its functions and QUERY_DEFINE, and a test; add a line to the list in
 * queries/queries.h; and update the manual by running `sh tools/heapdb/man_queries.sh --write`.
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
	QUERY_ORDER_FLAT, /* each row on its own */
	/*
	 * Rows with level 0 are sorted. Rows on other levels stay after their row of level 0, in
	 * their original order.
	 */
	QUERY_ORDER_HEADS,
	/* Rows with the same parent are sorted among themselves and stay below their parent. */
	QUERY_ORDER_TREE
};

/* The distinct strings of a column, for callers that read columns. */
struct query_names {
	/*
	 * owned; NULL if the column has no names; the strings are borrowed until the query is
	 * closed
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
	/* 0 if the row has no value in this column; NULL means that all rows have a value */
	const uint8_t *there;
};

/* A batch of rows. All pointers are borrowed until the query is used again. */
struct query_batch {
	size_t count;
	/* indexed by column of the spec; columns that are not shown are empty */
	struct query_batch_column *columns;
};

/* A member of q->state that is freed when the query is closed (owned.h). */
struct query_owned {
	size_t offset, size;
	void (*release)(void *member);
};

/* The definition of a query. */
struct query_def {
	struct hdb_query_spec spec;
	/* size of q->state, which is zeroed before `open` */
	size_t state_size;
	/*
	 * table whose records are the rows of the query, with q->total set, or 0 if there is none
	 */
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
	 * Sets the cells of row number `no`. Used instead of `next` if `open` has set q->total.
	 * Called for rows 0, 1, 2 and so on, in order.
	 */
	int (*row)(struct query *q, size_t no, struct hdb_error *err);
	/*
	 * Sets the cells of row number `no` that take longer, after `row`: not for rows that are
	 * dropped by a test of the other cells, or only counted. May be NULL.
	 */
	int (*rest)(struct query *q, size_t no, struct hdb_error *err);
	/*
	 * Returns the next rows column by column, for answers with millions of rows. The result is
	 * HDB_OK with at least one row, or HDB_END. All shown text columns must have names. NULL if
	 * not supported.
	 */
	int (*batch)(struct query *q, struct query_batch *out, struct hdb_error *err);
	/* number of columns that `batch` sets, beginning with the first column of the spec */
	size_t batch_columns;
	/* members of q->state to free after `close`; the last has no function; NULL: none */
	const struct query_owned *owned;
	/* Frees what `owned` cannot. May be NULL. */
	void (*close)(struct query *q);
	/*
	 * whether the query compares with databases of earlier dumps; other queries do not accept
	 * them
	 */
	bool takes_before;
	enum analysis_population population; /* may be changed by `open` */
	enum query_order order;
	unsigned uses; /* enum query_use */
	/* meaning of --heap for this query; NULL means that the rows are objects of that heap */
	const char *heap_help;
	/* reason shown if an answer has no rows; NULL means the default in common_facts.c */
	const char *no_rows;
	/*
	 * table in which an answer is stored if no arguments were given (kept_answers.h), or
	 * STORE_ANSWER_OPTIONS for a query that requires arguments; 0 if answers are not stored
	 */
	enum store_table keeps;
};

/*
 * Defines query_ID. Options, columns, facts and other members come from its .query file. The
 * functions are given here.
 */
#define QUERY_DEFINE(id, ...) const struct query_def query_##id = { QUERY_##id, __VA_ARGS__ }
/* Members for arrays of columns and of facts. */
#define QUERY_COLUMNS(array) .columns = (array), .column_count = sizeof(array) / sizeof((array)[0])
#define QUERY_FACTS(array) .facts = (array), .fact_count = sizeof(array) / sizeof((array)[0])

/*
 * Definitions that many queries share (shared.query): help texts QUERY_HELP_..., columns and facts.
 */
#include <query/shared.query.h>

/* The options of a query that has no options of its own. */
extern const struct hdb_option_spec query_no_options[];

/* Bit flags for options and columns that a definition shares with others (object_columns.h). */
enum query_use {
	QUERY_USES_STRENGTH = 1, /* --retained */
	QUERY_USES_HEAP = 2,     /* --heap */
	/* Adds QUERY_OBJECT_COLUMNS and --depth. The column "id" is the object of the row. */
	QUERY_ROWS_ARE_OBJECTS = 4,
	QUERY_CHOOSES_COLUMNS = 8, /* the query itself sets native and heap, and has no --depth */
	/* Adds only the column `native`, for the object of the row. */
	QUERY_HAS_NATIVE = 16,
	QUERY_OWN_NATIVE = 32, /* shows the `native` column itself */
	/*
	 * Retained sizes are shown only if they are already known, because the answer must be fast.
	 */
	QUERY_IF_KNOWN = 64,
	/*
	 * With --heap, the query reads all objects and filters them itself with heap_passes_over.
	 */
	QUERY_CHOOSES_HEAP = 128,
	QUERY_USES_ALL = 7
};

/* Indexes of the object columns, or SIZE_MAX if the query does not have them. */
struct query_object_places {
	bool is_used;
	size_t id, native, retained_native, heap, depth, heaps[4];
	unsigned heap_count; /* number of heaps that have a column */
};

/* A running query. Users of the library know it as struct hdb_rows. */
struct query {
	const struct query_def *def;
	struct heap *heap;      /* borrowed */
	struct derive *derive;  /* borrowed */
	struct base_work *work; /* borrowed */
	/* heap, derived tables and work, in the form that analyses require */
	struct session session;
	struct hdb_query_args args; /* the arrays and strings to which it points are borrowed */
	/*
	 * the targets of args, followed by the objects given by number, as strings; owned; set by
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
	struct hdb_error why; /* valid if `failure` is not 0 */
	/* number of rows without a limit, or QUERY_TOTAL_UNKNOWN */
	uint64_t total;
	enum analysis_population population; /* coverage.h */
	bool is_cut;
	struct analysis_cut cut;     /* arguments of query_cut, if is_cut */
	struct base_vec cut_text;    /* reasons */
	struct query_filter *filter; /* created by filter.c from args.filter, or NULL */
	/* with a filter: number of rows that it accepts, or QUERY_TOTAL_UNKNOWN */
	uint64_t wanted_total;
	/* The remaining members are managed by rows.c and the files next to it. */
	/* columns of the spec by index; SIZE_MAX if the spec does not have them */
	size_t label, label_kind, label_value;
	size_t *columns; /* the shown columns, as indexes of spec.columns */
	size_t column_count;
	/* indexed by column: names of columns that options have renamed; NULL if there are none */
	struct query_renamed *renamed;
	/* indexed by column of the spec; NULL if no column has names; owned */
	struct query_names *names;
	struct query_batch batch; /* the most recently returned batch; its columns are owned */
	struct hdb_value *cells;  /* the current row: one cell per column of the spec */
	struct base_vec row_text; /* bytes of the strings in the current row */
	struct query_fact *facts; /* facts that have been set, in the order of spec.facts */
	size_t fact_count;
	/* facts that every query can have, which precede its own facts */
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
	/* whether the remaining rows are only counted, so that `next` may leave cells null */
	bool is_counting;
};

/* ---- arguments ---- */

/* Kinds of targets that name sets of objects. */
#define QUERY_TARGET_SET (HDB_TARGET_CLASS | HDB_TARGET_PATTERN | HDB_TARGET_LOADER)

/*
 * Checks all options and the number of targets against the definition, and collects the targets in
 * q->targets. Returns HDB_EUSAGE with a description of the error. `open` functions can therefore
 * rely on valid values.
 */
int query_read_args(struct query *q, struct hdb_error *err);

/*
 * Returns an option of a definition, whether its own or a shared one, or NULL if there is none with
 * this name.
 */
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
 * Selects the columns to show and their order, given their names separated by commas. For `open`
 * functions whose options determine which columns make sense. If the spec has the option "columns",
 * that option is applied before `open`.
 */
void query_choose(struct query *q, const char *names);
/*
 * Chooses columns by names that the user has given. Fails immediately with HDB_EUSAGE if a name is
 * unknown.
 */
int query_choose_named(struct query *q, const char *names, struct hdb_error *err);

/* A column whose name and type depend on options. Names are copied. */
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

/* Returns whether a column is shown. Columns that are not shown need not be computed. */
bool query_is_shown(const struct query *q, size_t column);

/*
 * Turns the query into another one and calls the `open` function of that query. For `open`
 * functions. The state is lost, and no facts may have been set.
 */
int query_become(struct query *q, const struct query_def *def, struct hdb_error *err);

/* ---- cells and facts ---- */

/*
 * Functions that set cells and facts return nothing. If one of them fails (because memory is
 * exhausted or the database cannot be read), the query keeps the first error, and the framework
 * reports it instead of the row or of a successful opening. `open` and `next` therefore need not
 * check.
 */
void query_fail(struct query *q, int code, const struct hdb_error *why);
/* Returns HDB_OK, or the first error that was kept. */
int query_failed(const struct query *q, struct hdb_error *err);

/* Makes a cell null. All cells are initially null. */
void query_null(struct query *q, size_t column);
/*
 * Sets a cell in a column of type COUNT, BYTES, ID or BOOL. The type of the column determines the
 * meaning of the value.
 */
void query_set(struct query *q, size_t column, uint64_t value);
void query_set_int(struct query *q, size_t column, int64_t value);
void query_set_double(struct query *q, size_t column, double value);
/*
 * Sets a text cell. Strings are copied. They must be valid UTF-8 (heap/values/text.h ensures this).
 * A C string's encoding of U+0000 becomes a zero byte.
 */
void query_set_text(struct query *q, size_t column, const char *text);
void query_set_text_n(struct query *q, size_t column, const char *text, size_t size);
/*
 * Sets a column to the text of a string in the heap: the whole text up to QUERY_STRING_MAX_BYTES,
 * or otherwise its start and "... (1234567 characters)". Returns HDB_NOTFOUND, without setting
 * anything, if the dump does not contain the characters.
 */
int query_set_string(struct query *q, size_t column, uint32_t ix, struct hdb_error *err);
int query_fact_string(struct query *q, const char *name, uint32_t ix, struct hdb_error *err);
/* Sets a text cell to a string that is valid until the query is closed, and is not copied. */
void query_lend_text(struct query *q, size_t column, const char *text);
void query_lend_text_n(struct query *q, size_t column, const char *text, size_t size);
void query_format(struct query *q, size_t column, const char *format, ...) HDB_PRINTF(3, 4);

/* Set a fact, given its name in spec.facts. The spec determines the type. */
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
 * Returns whether rows are tested and the test uses this column. Rows are tested by a filter, or
 * for their rank while sorting. Such a column must be set before query_test.
 */
bool query_is_tested(const struct query *q, size_t column);

/*
 * Tests a row as soon as the tested columns are set. For `next` functions whose rows are expensive.
 * If *wanted is set to false, the caller can skip the remaining columns, call query_reset, and
 * produce the next row. Without a filter or a sort with a limit, all rows pass.
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

/* The strings that a column can have, in any order, possibly with duplicates. */
struct query_name_set {
	const char *const *texts; /* borrowed until the query is closed */
	uint32_t count;
	/* by string, set by query_set_names: index in the sorted names of the column */
	uint32_t *codes;
};

/*
 * Declares which strings a column can have. For `open` functions. The names of the column are
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
 * Starts a query. `args` is borrowed. The caller must close *out with query_close. Together with
 * the look-up by name in queries/queries.h, this implements hdb_query.
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
/*
 * Returns a column, or NULL if there are fewer columns. Numbers after those of the shown columns
 * refer to columns that are not shown.
 */
const struct hdb_column *query_column(const struct query *q, size_t column);
size_t query_column_count(const struct query *q);
/*
 * Finds a column by name and returns its number. Columns of the spec that are not shown have higher
 * numbers than the shown columns, and are null. Returns SIZE_MAX if the spec has no such column.
 */
size_t query_find_shown(const struct query *q, const char *name);
/* Returns the current row's cell in shown column `column`. */
const struct hdb_value *query_value(const struct query *q, size_t column);
/* Returns the current row's cell in the column with this name, which the spec must contain. */
const struct hdb_value *query_cell(const struct query *q, const char *column);
/* Returns whether the current row's cell in this column is the given string. */
bool query_cell_is(const struct query *q, const char *column, const char *text);
/* Returns the static array of common facts, which precede the answer's own facts. */
const struct hdb_column *query_common_facts(size_t *count);
/* Return facts that have been set. */
size_t query_fact_count(const struct query *q);
const struct hdb_column *query_fact_column(const struct query *q, size_t fact);
const struct hdb_value *query_fact_value(const struct query *q, size_t fact);

#endif
