/*
 * query/query.h - how an analysis is made: a definition (name, options, columns) and three
 * functions.
 *
 * A query is opened once (parse arguments, build what it needs, set facts), then gives rows one by
 * one into the cells of `struct query`. Sorting by a column, limits and counting are done here for
 * all of them (rows.c). To add a query: one file with its struct query_def, one line in the list of
 * queries/queries.h, its test, and `sh tools/heapdb/man_queries.sh --write` for the manual.
 */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "analysis/population.h"
#include "analysis/session.h"
#include "analysis/targets.h"

#include <assert.h>
#include <limits.h>

/* No total known before all rows were read. */
#define QUERY_TOTAL_UNKNOWN UINT64_MAX

struct query;

/* How rows that belong together are sorted. */
enum query_order {
	QUERY_ORDER_FLAT, /* each row for itself */
	/* rows of the column "level" 0; those of other levels stay behind theirs, as they are */
	QUERY_ORDER_HEADS,
	/* rows of one parent among themselves; what is below a row stays below it */
	QUERY_ORDER_TREE
};

/* The texts that a column can have, each once, by number: for those who take columns. */
struct query_names {
	const char **texts; /* owned, NULL: none; the texts are lent until the query is closed */
	uint32_t *sizes;    /* owned */
	uint32_t count;
	uint64_t bytes; /* of all of them */
};

/* One column of many rows. */
struct query_batch_column {
	const uint64_t *values; /* numbers, of double and signed columns their bits */
	const uint32_t *codes;  /* texts: numbers in the column's names */
	const uint8_t *flags;   /* booleans: 0 or 1 */
	const uint8_t *there;   /* 0 where there is no value; NULL: everywhere */
};

/* Many rows; all is borrowed until the next call on the query. */
struct query_batch {
	size_t count;
	/* by number in spec.columns; columns that are not shown are empty */
	struct query_batch_column *columns;
};

/* no_rows of those that need stacks of allocations. */
#define QUERY_NO_STACKS \
	"the dump has no stacks of allocations: dumps of HotSpot have none. JDK 8 and older write " \
	"them with -agentlib:hprof=heap=all,depth=8,format=b, Android while it records " \
	"allocations; on newer JDKs a Flight Recorder recording has them"

/* Ends heap_help. */
#define QUERY_HEAP_NAMES ": app, image, zygote, ... of Android; default: all"

struct query_def {
	struct hdb_query_spec spec;
	/* Bytes of q->state, which is zeros before `open`. */
	size_t state_size;
	enum store_table rows_of; /* a row for each record: `open` finds q->total; 0: no table */
	/*
	 * Prepares: reads options and targets, builds tables, sets facts and q->total, which is
	 * unknown before. On failure close is called too. NULL: there is nothing to prepare.
	 */
	int (*open)(struct query *q, struct hdb_error *err);
	/* Fills the cells of the next row (all are null before): HDB_OK or HDB_END. */
	int (*next)(struct query *q, struct hdb_error *err);
	/*
	 * Instead of `next`, where `open` has set q->total: fills the cells of row number `no` of
	 * these, from 0 in order.
	 */
	int (*row)(struct query *q, size_t no, struct hdb_error *err);
	/*
	 * The rows that follow, column by column, for millions of them: HDB_OK with one row at
	 * least, or HDB_END. All text columns that are shown have names then. NULL: row by row.
	 */
	int (*batch)(struct query *q, struct query_batch *out, struct hdb_error *err);
	size_t batch_columns; /* so many, the first of spec.columns, it fills in */
	/* Frees what q->state has. May be NULL. */
	void (*close)(struct query *q);
	bool takes_before; /* compares with databases of earlier dumps; else none may be given */
	enum analysis_population population; /* unless `open` says another one */
	enum query_order order;
	unsigned uses;         /* enum query_use */
	const char *heap_help; /* what --heap means here; NULL: rows are of its objects */
	const char
		*no_rows; /* why an answer has none, where it has none; NULL: see common_facts.c */
	/* where an answer without arguments is kept (kept_answers.h); 0: nowhere */
	enum store_table keeps;
};

/* In a definition's spec: its columns, its facts; arrays. */
#define QUERY_COLUMNS(array) .columns = (array), .column_count = sizeof(array) / sizeof((array)[0])
#define QUERY_FACTS(array) .facts = (array), .fact_count = sizeof(array) / sizeof((array)[0])
/*
 * Columns and their numbers are one list, COLUMNS(X): X(NUMBER, TYPE, "name", "title", "help") for
 * each. These make the enum of it, and the array.
 */
#define QUERY_NUMBER(number, type, name, title, help) number,
#define QUERY_COLUMN(number, type, name, title, help) { name, HDB_TYPE_##type, title, help },

/* The options of a query that has none of its own. */
extern const struct hdb_option_spec query_no_options[];

/* Choices and columns that a definition shares with others (object_columns.h), a bit each. */
enum query_use {
	QUERY_USES_STRENGTH = 1, /* --retained */
	QUERY_USES_HEAP = 2,     /* --heap */
	/* QUERY_OBJECT_COLUMNS: the column "id" names the object of the row; --depth */
	QUERY_ROWS_ARE_OBJECTS = 4,
	QUERY_CHOOSES_COLUMNS = 8, /* shows native and heap itself; has no --depth */
	QUERY_HAS_NATIVE = 16,     /* of these columns only native, of the row's object */
	QUERY_OWN_NATIVE = 32,     /* shows the column native itself */
	/* what objects retain is shown only if it is known already: the answer must come soon */
	QUERY_IF_KNOWN = 64,
	/* with --heap it sees all objects, and chooses those of that heap: heap_passes_over */
	QUERY_CHOOSES_HEAP = 128,
	QUERY_USES_ALL = 7
};

/* Where these columns are; SIZE_MAX: nowhere. */
struct query_object_places {
	bool is_used;
	size_t id, native, retained_native, heap, depth, heaps[4];
	unsigned heap_count; /* that have a column */
};

/* A running query; to users it is struct hdb_rows. */
struct query {
	const struct query_def *def;
	struct heap *heap;          /* lent */
	struct derive *derive;      /* lent */
	struct base_work *work;     /* lent */
	struct session session;     /* these three, as analyses take them */
	struct hdb_query_args args; /* what it points to is lent */
	const char **targets; /* of args, objects by number among them; owned, query_read_args */
	size_t target_count;
	char *id_texts;                      /* texts of args.ids */
	const struct session *before;        /* databases of earlier dumps, oldest first; lent */
	size_t before_count;                 /* 0 unless the definition takes them */
	void *state;                         /* the query's own */
	int failure;                         /* of what sets cells and facts; 0: none */
	struct hdb_error why;                /* if `failure` is not 0 */
	uint64_t total;                      /* rows without limit, or QUERY_TOTAL_UNKNOWN */
	enum analysis_population population; /* coverage.h */
	bool is_cut;
	struct analysis_cut cut;     /* what query_cut was told, if is_cut */
	struct base_vec cut_text;    /* why */
	struct query_filter *filter; /* what filter.c makes of args.filter; NULL: none */
	uint64_t wanted_total;       /* with a filter: rows that it wants, or unknown */
	/* what rows.c keeps */
	size_t label, label_kind, label_value; /* columns of the spec; SIZE_MAX: it has none */
	size_t *columns;                       /* the columns shown: numbers in spec.columns */
	size_t column_count;
	struct query_renamed *renamed; /* columns that options name; by number; NULL: none */
	struct query_names *names;     /* by number in spec.columns; NULL: none has any; owned */
	struct query_batch batch;      /* the last one that was given; columns are owned */
	struct hdb_value *cells;       /* the current row, one cell a column of the spec */
	struct base_vec row_text;      /* bytes of the current row's texts */
	struct query_fact *facts;      /* those set, in the order of spec.facts */
	size_t fact_count;
	struct query_fact *common; /* those of all answers, which come first */
	size_t common_count;
	struct query_sorted *sorted; /* when the rows were sorted */
	uint64_t row_count, row_no;  /* rows that def->row gives, and has given */
	uint64_t made;               /* rows that were made so far, and pass */
	uint64_t taken;              /* rows given to the caller so far */
	bool has_ended;
	struct query_object_places extra;
	bool is_filtered;        /* --heap: */
	uint32_t only_heap;      /* as in struct heap_object */
	uint32_t *only_before;   /* the same of each database before; owned */
	struct query_kept *kept; /* kept_answers.h; NULL: not such a question */
	bool is_counting; /* nobody sees the rows that are left: `next` may leave cells null */
};

/* ---- arguments ---- */

/* Targets that stand for sets of objects. */
#define QUERY_TARGET_SET (HDB_TARGET_CLASS | HDB_TARGET_PATTERN | HDB_TARGET_LOADER)

/*
 * Checks all options and the number of targets against the definition, and gathers the targets in
 * q->targets. HDB_EUSAGE with what is wrong. Open functions rely on it: what they read is valid.
 */
int query_read_args(struct query *q, struct hdb_error *err);

/* An option of a definition, its own or one that it shares; NULL: it has none of the name. */
const struct hdb_option_spec *query_find_option(const struct query_def *def, const char *name);

/* What an option has if it is not given; NULL: nothing. */
const char *query_default(const struct query *q, const char *name);

/* Value of an option: NULL if it was not given, "" for a flag. */
const char *query_option(const struct query *q, const char *name);

/* The same, its default if it was not given. */
const char *query_text(const struct query *q, const char *name);

/* Value of a numeric option; if it was not given its default, or `fallback` if it has none. */
uint64_t query_number(const struct query *q, const char *name, uint64_t fallback);

/* An option with choices that was not given and has no default. */
#define QUERY_NO_CHOICE UINT_MAX

/* The place of an option's value, or of its default, among its choices. */
unsigned query_choice(const struct query *q, const char *name);

/* ---- columns ---- */

/*
 * Chooses the columns that are shown, by names with commas between, in that order. For open
 * functions whose options decide which columns make sense; the option "columns", where a spec has
 * it, is applied before open.
 */
void query_choose(struct query *q, const char *names);
/* The same, of a user's names: HDB_EUSAGE at once. */
int query_choose_named(struct query *q, const char *names, struct hdb_error *err);

/* A column whose name and type the options of a question decide; names are copied. */
struct query_renamed {
	struct hdb_column column; /* name NULL: as in the spec */
	char *name;               /* owned */
};
void query_rename(struct query *q, size_t column, const char *name, enum hdb_type type);

/* A column of the spec, as it is called in this answer. */
static inline const struct hdb_column *query_spec_column(const struct query *q, size_t column)
{
	return q->renamed && q->renamed[column].name ? &q->renamed[column].column :
						       &q->def->spec.columns[column];
}

/* Whether a column is shown, so that others need not be computed. */
bool query_is_shown(const struct query *q, size_t column);

/*
 * For open functions: becomes another query, whose open is called. State is lost, and no facts may
 * be set before.
 */
int query_become(struct query *q, const struct query_def *def, struct hdb_error *err);

/* ---- cells and facts ---- */

/*
 * What sets cells and facts returns nothing. If it fails, for memory or for what it reads of the
 * database, the query keeps the first error, and the engine reports it in place of the row, or of
 * the query that is being opened: `open` and `next` need not look.
 */
void query_fail(struct query *q, int code, const struct hdb_error *why);
/* HDB_OK, or the error that was kept. */
int query_failed(const struct query *q, struct hdb_error *err);

/* Makes a cell null, as all are before a row is made. */
void query_null(struct query *q, size_t column);
/* For COUNT, BYTES, ID and BOOL columns: the column says which. */
void query_set(struct query *q, size_t column, uint64_t value);
void query_set_int(struct query *q, size_t column, int64_t value);
void query_set_double(struct query *q, size_t column, double value);
/*
 * Texts are copied; they are valid UTF-8 (heap/values/text.h makes them so), and the U+0000 of a C
 * string becomes a zero.
 */
void query_set_text(struct query *q, size_t column, const char *text);
void query_set_text_n(struct query *q, size_t column, const char *text, size_t size);
/*
 * The text of a string of the heap: whole up to QUERY_STRING_MAX_BYTES, of a longer one the
 * beginning and "... (1234567 characters)". HDB_NOTFOUND: it has no characters, and nothing is set.
 */
int query_set_string(struct query *q, size_t column, uint32_t ix, struct hdb_error *err);
int query_fact_string(struct query *q, const char *name, uint32_t ix, struct hdb_error *err);
/* A text that lives until the query is closed: not copied. */
void query_lend_text(struct query *q, size_t column, const char *text);
void query_lend_text_n(struct query *q, size_t column, const char *text, size_t size);
void query_format(struct query *q, size_t column, const char *format, ...) HDB_PRINTF(3, 4);

/* Facts, by name as in spec.facts (type taken from there). */
void query_fact(struct query *q, const char *name, uint64_t value);
void query_fact_int(struct query *q, const char *name, int64_t value);
void query_fact_text(struct query *q, const char *name, const char *text);
void query_fact_text_n(struct query *q, const char *name, const char *text, size_t size);
/* The ID of an object. */
void query_fact_id(struct query *q, const char *name, uint32_t ix);
/* The facts "id" and "class" of an object. */
void query_fact_object(struct query *q, uint32_t ix);
/* Whether the spec has a fact of this name. */
bool query_has_fact(const struct query *q, const char *name);

/*
 * The fact of all answers that speak of what arrays hold: the VM left their content out
 * (import/zeroed.c). First in spec.facts; query_zeroed gives it if it is so.
 */
#define QUERY_ZEROED_FACT \
	{ \
		"zeroed_from", HDB_TYPE_COUNT, "left out from element", \
			"the VM left out what arrays hold from " \
			"this element on, and wrote zeros: longer texts and arrays are cut, and may be " \
			"different where " \
			"they look the same; only if it is so" \
	}
void query_zeroed(struct query *q);

/* ---- rows that pass ---- */

/*
 * Whether rows are tested, by a filter or for their place when they are sorted, and the test looks
 * at this column: one to fill before query_test.
 */
bool query_is_tested(const struct query *q, size_t column);

/*
 * For `next` functions whose rows cost: tests the row as soon as the columns that are tested are
 * filled; with *wanted false the row need not be finished, and the next one can be made after
 * query_reset. Without a filter, unsorted or without a limit, all pass.
 */
int query_test(struct query *q, bool *wanted, struct hdb_error *err);
/* Makes all cells null again. */
void query_reset(struct query *q);

/* ---- common cells ---- */

/*
 * What the text in a column "label" is made of, for programs: at the end of the columns of a query
 * that has one. query_set_label fills them in, query_choose shows them where it shows the label.
 */
#define QUERY_LABEL_COLUMNS \
	{ "label_kind", HDB_TYPE_TEXT, "label kind", \
	  "of the label's object: instance, object array, primitive array or class" }, \
	{ \
		"label_value", HDB_TYPE_TEXT, "label value", \
			"of the label's object, if it has one that can be told: a string's text, a " \
			"boxed value, a thread's name, a class object's class" \
	}

/* Sets an ID column to the ID of object ix (null for HEAP_NONE). */
void query_set_id(struct query *q, size_t column, uint32_t ix);
/* Sets a column to what object ix retains; builds the table. */
void query_set_retained(struct query *q, size_t column, uint32_t ix);
/* Sets a text column to the name of the class of object ix; for a class object: "class NAME". */
void query_set_class_of(struct query *q, size_t column, uint32_t ix);
/*
 * What people call a class object, string, thread, ...: "java.lang.String \"abc\"". See
 * object_cells.c.
 */
void query_set_label(struct query *q, size_t column, uint32_t ix);

/* The texts that a column can have, in any order, also repeated. */
struct query_name_set {
	const char *const *texts; /* lent until the query is closed */
	uint32_t count;
	uint32_t *codes; /* by number in texts: the number among the column's names; filled in */
};

/*
 * For open functions: says what texts a column can have; its names are in order. Where they are too
 * long for columns the column has no names, and the query no batches.
 */
void query_set_names(struct query *q, size_t column, const struct query_name_set *set);

/* ---- running ---- */

/* What a query looks at; all is lent. */
struct query_sides {
	const struct session *session;
	const struct session *before; /* those of args->before; NULL: none */
};

/*
 * Starts a query; `args` is lent. *out: query_close. With what queries/queries.h finds by name, the
 * body of hdb_query.
 */
int query_open(const struct query_def *def, const struct query_sides *sides,
	       const struct hdb_query_args *args, struct query **out, struct hdb_error *err);
int query_next(struct query *q, struct hdb_error *err);
/* Whether rows can be had column by column: then query_next_batch gives those that follow. */
bool query_has_batches(const struct query *q);
/* As query_def.batch; rows beyond the limit are left out. */
int query_next_batch(struct query *q, struct query_batch *out, struct hdb_error *err);
/* The names of chosen column `column`, or NULL. */
const struct query_names *query_names_of(const struct query *q, size_t column);
/* The place of a chosen column in spec.columns, and so in batches. */
size_t query_spec_no(const struct query *q, size_t column);
int query_total(struct query *q, uint64_t *total, struct hdb_error *err);
void query_close(struct query *q);
/* NULL: it has none of this number, also counting those that are not chosen. */
const struct hdb_column *query_column(const struct query *q, size_t column);
size_t query_column_count(const struct query *q);
/*
 * The place of a column among those chosen, by its name. One of the spec that is not chosen has a
 * place after them, and is null. SIZE_MAX: the spec has no such column.
 */
size_t query_find_shown(const struct query *q, const char *name);
/* The cell of the current row in chosen column `column`. */
const struct hdb_value *query_value(const struct query *q, size_t column);
/* Facts that any answer may have, before its own; static. */
const struct hdb_column *query_common_facts(size_t *count);
/* Facts that were set. */
size_t query_fact_count(const struct query *q);
const struct hdb_column *query_fact_column(const struct query *q, size_t fact);
const struct hdb_value *query_fact_value(const struct query *q, size_t fact);

#endif
