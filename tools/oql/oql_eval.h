/*
 * oql/oql_eval.h - values and shared functions of the evaluator.
 *
 * A value corresponds to a Java object in MAT: a number with its width, a string, a heap object, a
 * list. The data to which a value points is stored in the arena in which it was created: the row's
 * (a frame) or the statement's.
 */
#ifndef OQL_OQL_EVAL_H
#define OQL_OQL_EVAL_H

#include "oql/oql_ast.h"
#include "oql/oql_lex.h"

#include "base/rank_bitset.h"

enum oql_type {
	OQL_V_NULL,
	OQL_V_BOOL, /* value in `i`, as for the kinds up to OQL_V_LONG */
	OQL_V_CHAR,
	OQL_V_BYTE,
	OQL_V_SHORT,
	OQL_V_INT,
	OQL_V_LONG,
	OQL_V_FLOAT,     /* value in `d` */
	OQL_V_DOUBLE,    /* value in `d` */
	OQL_V_STRING,    /* value in `text` */
	OQL_V_OBJECT,    /* object number in `ix` */
	OQL_V_REFERENCE, /* i: ID of the object; text: fields that refer to it */
	OQL_V_LIST,      /* elements in `list` */
	OQL_V_ROW,       /* values in `list`, with column names */
	/* text: name; i: enum hdb_basic_type; list: the value; ix: 1 if there is no value */
	OQL_V_FIELD,
	OQL_V_ROOT,       /* ix: the object; i: its thread object or -1; text: kind of the root */
	OQL_V_SNAPSHOT,   /* the snapshot, ${snapshot} */
	OQL_V_INFO,       /* snapshotInfo of the snapshot */
	OQL_V_JAVA_CLASS, /* text: the name */
	OQL_V_STACK,      /* i: trace serial; ix: frames */
	OQL_V_FRAME       /* i: trace serial; ix: depth */
};

struct oql_list;

struct oql_value {
	enum oql_type type;
	uint32_t ix;
	union {
		int64_t i;
		double d;
	};
	struct oql_str text;
	const struct oql_list *list;
};

enum oql_list_kind {
	OQL_L_VALUES, /* values */
	OQL_L_IDS,    /* ixs: objects, whose elements are their MAT numbers */
	OQL_L_ARRAY   /* elements of a heap array from `first` on; read on demand */
};

struct oql_list {
	enum oql_list_kind kind;
	bool is_addresses; /* whether elements are object IDs as longs */
	size_t count;
	const struct oql_value *values;
	const uint32_t *ixs;
	uint32_t array_ix;
	uint64_t first;
	const struct oql_str *names; /* column names of the row */
};

/* Fields of a class, read on demand. */
struct oql_class {
	struct hdb_fields *fields[2]; /* instance and static fields; owned: hdb_fields_free */
	size_t counts[2];
	bool has_fields[2], has_rule;
	uint8_t rule; /* index of the text rule in oql_display.c */
};

/* A thread with a stack. */
struct oql_thread {
	uint32_t ix, serial, trace_serial, frame_count;
};

/* An object that MAT shows although it is not in the dump: the boot loader, or a class. */
struct oql_stand_in {
	uint32_t ix, class_no;
};

struct oql_pattern;
struct oql_in_set;

struct oql_eval {
	struct hdb *db;
	const char *text; /* statement text for messages; borrowed */
	struct hdb_error *err;
	struct hdb_progress progress;
	struct oql_budget budget;
	struct oql_arena keep;       /* lives as long as the statement */
	struct oql_class *classes;   /* indexed by class number; owned */
	struct base_work work;       /* for `reachable` */
	struct base_ranks reachable; /* reachable objects */
	uint32_t *class_sizes;       /* reachable instances by class; in `keep` */
	uint64_t reachable_bytes;
	bool is_surveyed; /* whether reachable, class_sizes and reachable_bytes are known */
	/* bytes per reference in arrays; 0 means not determined yet */
	int64_t reference_bytes;
	struct hdb_list *lists[3];         /* lists indexed by enum hdb_list_kind; owned */
	struct hdb_references *references; /* owned; NULL if not loaded yet */
	struct oql_thread *threads;        /* roots sorted by object; in `keep`; NULL if not loaded
					    * yet */
	size_t thread_count;
	struct oql_stand_in *stand_ins; /* reachable objects; in `keep`; NULL if not loaded yet */
	size_t stand_in_count;
	struct oql_pattern *patterns;     /* compiled patterns; owned */
	struct oql_in_set *in_sets;       /* sets for IN; each set is in `keep` and owns its keys */
	uint64_t steps;                   /* rows processed, for progress and cancellation */
	unsigned nesting;                 /* current nesting of sub-selects */
	uint64_t empty_cells;             /* number of cells that could not be computed */
	char first_empty[HDB_ERROR_SIZE]; /* reason for the first empty cell */
};

/* The row for which an expression is evaluated. */
struct oql_frame {
	const struct oql_frame *outer; /* row of the enclosing select, or NULL */
	struct oql_str alias;
	struct oql_value current;
	/* results of the aggregates by index; NULL while rows are accumulated */
	const struct oql_value *aggregates;
	struct oql_arena *arena; /* lives as long as the row */
};

/* ---- expressions: oql_eval.c ---- */

int oql_evaluate(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		 struct oql_value *out);
/* Evaluates a condition: null is false. Returns HDB_EUSAGE if it is not a boolean. */
int oql_condition(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		  bool *out);
/*
 * Returns a field of an object, or null if the object has no such field. `node` (may be NULL)
 * caches the lookup.
 */
int oql_object_field(struct oql_eval *ev, struct oql_expr *node, struct oql_str name,
		     const struct oql_value *of, struct oql_value *out);
/* Fails with HDB_EUSAGE and a message with the position of the expression. */
#define oql_refuse(ev, e, ...) oql_fail_at((ev)->text, (e)->at, (ev)->err, __VA_ARGS__)
/* Reports progress. Fails with HDB_EINTR if the statement was cancelled. */
int oql_tick(struct oql_eval *ev);

/* ---- arithmetic and comparisons: oql_compare.c ---- */

int oql_arithmetic(struct oql_eval *ev, const struct oql_expr *e, const struct oql_value of[2],
		   struct oql_arena *arena, struct oql_value *out);
bool oql_equal(const struct oql_value *a, const struct oql_value *b);
int oql_order(struct oql_eval *ev, const struct oql_expr *e, const struct oql_value *a,
	      const struct oql_value *b, int *order);
/* Compares two values in the total order that ORDER BY, min and max use, in which null is last. */
int oql_rank(const struct oql_value *a, const struct oql_value *b);
bool oql_is_number(const struct oql_value *v);
bool oql_is_whole(const struct oql_value *v);
double oql_double_of(const struct oql_value *v);
/* Appends a key for a value. Equal values have the same key. */
int oql_put_key(struct oql_eval *ev, const struct oql_value *v, struct bytes *out);

/* ---- patterns: oql_pattern.c ---- */

/*
 * Compiles a Java regular expression, which is cached with the statement. With `is_whole`, the
 * expression matches whole strings, with MAT's adjustments; otherwise it matches substrings.
 */
int oql_pattern(struct oql_eval *ev, const struct oql_expr *e, struct oql_str source, bool is_whole,
		struct oql_pattern **out);
/* Bounds of a match: [start, end). */
struct oql_match {
	struct oql_str text;
	size_t start, end;
	bool is_found;
};
int oql_matches(struct oql_eval *ev, struct oql_pattern *pattern, struct oql_match *match);
void oql_patterns_release(struct oql_pattern *patterns);

/* ---- values: oql_values.c ---- */

struct oql_value oql_object(uint32_t ix);
struct oql_value oql_int(int64_t i);
struct oql_value oql_long(int64_t i);
struct oql_value oql_bool(bool is);
struct oql_value oql_static_string(const char *text);
int oql_string(struct oql_eval *ev, struct oql_arena *arena, const struct bytes *text,
	       struct oql_value *out);
/*
 * Finishes building a string: sets the value if the result code `r` is HDB_OK, and releases the
 * text.
 */
int oql_end_string(struct oql_eval *ev, struct oql_arena *arena, int r, struct bytes *text,
		   struct oql_value *out);
/* Makes a list with room for `count` values, which the caller stores in *values. */
int oql_make_list(struct oql_eval *ev, struct oql_arena *arena, size_t count,
		  struct oql_value **values, struct oql_value *out);
int oql_make_ids(struct oql_eval *ev, struct oql_arena *arena, const uint32_t *ixs, size_t count,
		 struct oql_value *out);
int oql_element(struct oql_eval *ev, const struct oql_list *list, size_t no, struct oql_value *out);
/* The elements [from, from + count) of a list. */
struct oql_range {
	size_t from, count;
};
/* Returns a range of a list, which must contain the range. */
int oql_slice(struct oql_eval *ev, struct oql_arena *arena, const struct oql_list *list,
	      struct oql_range range, struct oql_value *out);
/* Converts a field or element to a value. If `is_static` is set, does not resolve references. */
int oql_basic(struct oql_eval *ev, const struct hdb_basic *basic, bool is_static,
	      struct oql_value *out);
/* Copies v, and the data to which v points, into the arena. */
int oql_copy(struct oql_eval *ev, struct oql_arena *arena, const struct oql_value *v,
	     struct oql_value *out);
/*
 * Formats a value as a cell. `is_inner` means that the value is inside a list, where strings are
 * quoted.
 */
int oql_put_value(struct oql_eval *ev, const struct oql_value *v, bool is_inner, struct bytes *out);
/* Formats a value like Java's toString(), for "+" and LIKE. */
int oql_put_plain(struct oql_eval *ev, const struct oql_value *v, struct bytes *out);
/* Returns the type of a field, such as "int" or "ref". */
const char *oql_field_type(const struct oql_value *field);
/*
 * Returns the type of a value for messages, such as "an int" or "a java.util.HashMap"; borrowed
 * until hdb_close.
 */
const char *oql_type_name(struct oql_eval *ev, const struct oql_value *v);

/* ---- the heap: oql_heap.c ---- */

/*
 * Numbers and counts reachable objects in one pass over the heap. Later calls return immediately.
 */
int oql_survey(struct oql_eval *ev);
/* Returns whether the object is reachable. Call oql_survey first. */
bool oql_is_reachable(const struct oql_eval *ev, uint32_t ix);
/*
 * Convert to and from MAT's object numbers. The results are -1 and HDB_NONE if there is no such
 * object.
 */
int oql_number_of(struct oql_eval *ev, uint32_t ix, int64_t *number);
int oql_object_of(struct oql_eval *ev, int64_t number, uint32_t *ix);
/* Returns the instance or static fields of a class. */
int oql_class_fields(struct oql_eval *ev, uint32_t class_no, bool is_static,
		     const struct hdb_fields **fields, size_t *count);
/* A growing list of objects, within the memory budget. */
struct oql_numbers {
	BASE_VEC_AS(vec, uint32_t, ixs, count);
};
int oql_add_number(struct oql_eval *ev, struct oql_numbers *numbers, uint32_t ix);
static inline void oql_numbers_release(struct oql_numbers *numbers)
{
	base_vec_release(&numbers->vec);
}
/*
 * Lists objects related to an object: referents (its class first, then by address), referrers, or
 * dominated objects.
 */
int oql_relatives(struct oql_eval *ev, enum hdb_list_kind kind, uint32_t ix,
		  struct oql_arena *arena, struct oql_value *out);
/* Lists the instances of a class as IDs. */
int oql_instances(struct oql_eval *ev, uint32_t class_no, struct oql_arena *arena,
		  struct oql_value *out);
/* Loads ev->stand_ins. */
int oql_find_stand_ins(struct oql_eval *ev);
/* Appends "java.util.HashMap @ 0x12c4". */
int oql_put_technical(struct oql_eval *ev, uint32_t ix, struct bytes *out);
/* Appends an object with its display text, if any: "java.lang.String @ 0x12c4  text". */
int oql_put_label(struct oql_eval *ev, uint32_t ix, struct bytes *out);
bool oql_is_a(struct oql_eval *ev, uint32_t class_no, const char *name);

/* ---- strings of objects: oql_display.c ---- */

/* Appends MAT's display text, complete and unescaped. Sets *has to whether the object has one. */
int oql_display(struct oql_eval *ev, uint32_t ix, struct bytes *out, bool *has);
/*
 * Appends the content of a java.lang.String. Sets *has to whether the object is a string whose
 * content is in the dump.
 */
int oql_put_string(struct oql_eval *ev, uint32_t ix, struct bytes *out, bool *has);

/* ---- attributes and methods ---- */

/* Evaluates v.@name. Returns HDB_NOTFOUND, without a message, if there is no such attribute. */
int oql_attribute(struct oql_eval *ev, const struct oql_frame *frame, const struct oql_value *v,
		  struct oql_str name, struct oql_value *out);

struct oql_args {
	const struct oql_value *values;
	size_t count;
};
/* A call of a method or function with evaluated arguments. */
struct oql_call {
	const struct oql_expr *e;
	const struct oql_frame *frame;
	const struct oql_value *of; /* object of the method */
	struct oql_args args;
};
int oql_method(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out);
/*
 * Calls a method of a string; see oql_strings.c. Returns HDB_NOTFOUND if there is no such method.
 */
int oql_string_method(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out);
int oql_function(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out);

/* Returns the class of the corresponding MAT object, such as "java.lang.String". */
const char *oql_java_class(struct oql_eval *ev, const struct oql_value *v);
/*
 * Returns the class that a class object represents, or HDB_NONE if the value is not a class object.
 */
int oql_class_meant(struct oql_eval *ev, const struct oql_value *v, uint32_t *class_no);
/* Returns the object of a reference, object number or address. HDB_NONE for null. */
int oql_object_meant(struct oql_eval *ev, const struct oql_value *v, uint32_t *ix);
/* Returns the stack of a thread, or null. */
int oql_stack_of(struct oql_eval *ev, uint32_t ix, struct oql_value *out);
/*
 * Lists the class objects of reachable classes. If `marks` is not NULL, lists only the class
 * objects of marked classes.
 */
int oql_class_objects(struct oql_eval *ev, const uint8_t *marks, struct oql_arena *arena,
		      struct oql_value *out);

/* ---- SELECT: oql_select.c, oql_from.c ---- */

/*
 * An iterator over the values of FROM. The caller must close it with oql_source_close, even if
 * opening it failed.
 */
struct oql_source;
int oql_source_open(struct oql_eval *ev, const struct oql_select *select,
		    const struct oql_frame *outer, struct oql_source **out);
/* Returns HDB_OK or HDB_END. The data of the value is borrowed until the next call. */
int oql_source_next(struct oql_source *source, struct oql_value *out);
void oql_source_close(struct oql_source *source);

struct oql_rows;
/*
 * Iterates over the rows of a select and its union. The caller must close *out with oql_rows_close,
 * even after a failure.
 */
int oql_rows_open(struct oql_eval *ev, const struct oql_select *select,
		  const struct oql_frame *outer, struct oql_rows **out);
/*
 * Sorts by this column instead of the statement's ORDER BY: numbers descending and strings
 * ascending, or the reverse if is_turned is set. Must be called before the first row is read.
 */
int oql_rows_sort(struct oql_rows *rows, struct oql_str column, bool is_turned);
/* Reads the next row: HDB_OK or HDB_END. The values are borrowed until the next call. */
int oql_rows_next(struct oql_rows *rows, const struct oql_value **values);
void oql_rows_close(struct oql_rows *rows);

/*
 * Evaluates a sub-select to its objects, values or rows. Without rows, the value is null. If
 * is_free is set, caches the result.
 */
int oql_subselect(struct oql_eval *ev, struct oql_expr *e, const struct oql_frame *frame,
		  struct oql_arena *arena, struct oql_value *out);
/*
 * Sets *is_in to whether a sub-select with is_free contains the value v. Column names do not
 * matter.
 */
int oql_in_select(struct oql_eval *ev, struct oql_expr *e, const struct oql_frame *frame,
		  const struct oql_value *v, bool *is_in);
/* Releases the sets. Must be called before the arena that contains them is released. */
void oql_in_sets_release(struct oql_in_set *sets);

#endif
