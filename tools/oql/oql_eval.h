/*
 * oql/oql_eval.h - values, and what the files of the evaluator share.
 *
 * A value is what MAT would have as a Java object: a number with its width, a text, an object of
 * the heap, a list. Whatever a value points to is in the arena that it was made in: that of the row
 * (a frame's), or that of the statement.
 */
#ifndef OQL_OQL_EVAL_H
#define OQL_OQL_EVAL_H

#include "oql/oql_ast.h"
#include "oql/oql_lex.h"

#include <stdlib.h>

enum oql_type {
	OQL_V_NULL,
	OQL_V_BOOL, /* i, as the following */
	OQL_V_CHAR,
	OQL_V_BYTE,
	OQL_V_SHORT,
	OQL_V_INT,
	OQL_V_LONG,
	OQL_V_FLOAT,     /* d */
	OQL_V_DOUBLE,    /* d */
	OQL_V_STRING,    /* text */
	OQL_V_OBJECT,    /* ix */
	OQL_V_REFERENCE, /* i: its ID; text: how it is held */
	OQL_V_LIST,      /* list */
	OQL_V_ROW,       /* list, with names */
	OQL_V_FIELD,    /* text: its name; i: enum hdb_basic_type; list: its value; ix: 1 without */
	OQL_V_ROOT,     /* ix: the object; i: its thread object or -1; text: the kind */
	OQL_V_SNAPSHOT, /* ${snapshot} */
	OQL_V_INFO,     /* its snapshotInfo */
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
	OQL_L_IDS,    /* ixs: objects, of which each is its number in MAT */
	OQL_L_ARRAY   /* elements of an array of the heap, from `first` on; read when needed */
};

struct oql_list {
	enum oql_list_kind kind;
	bool is_addresses; /* elements are IDs of objects as longs */
	size_t count;
	const struct oql_value *values;
	const uint32_t *ixs;
	uint32_t array_ix;
	uint64_t first;
	const struct oql_str *names; /* of a row's columns */
};

/* Fields of a class, read on first need. */
struct oql_class {
	struct hdb_fields *fields[2]; /* of instances; static ones; owned: hdb_fields_free */
	size_t counts[2];
	bool has_fields[2], has_rule;
	uint8_t rule; /* which text its objects have: oql_display.c */
};

/* A thread with a stack. */
struct oql_thread {
	uint32_t ix, serial, trace_serial, frame_count;
};

/* An object that the dump lacks, but MAT has: the boot loader, a class. */
struct oql_stand_in {
	uint32_t ix, class_no;
};

struct oql_pattern;
struct oql_in_set;

struct oql_eval {
	struct hdb *db;
	const char *text; /* the statement: for messages; lent */
	struct hdb_error *err;
	struct hdb_progress progress;
	struct oql_budget budget;
	struct oql_arena keep;     /* as long as the statement */
	struct oql_class *classes; /* by class number; owned */
	uint64_t *reachable;       /* bits by object; owned; NULL: not surveyed yet */
	uint32_t *ranks;           /* reachable objects before each 512; owned */
	uint32_t *class_sizes;     /* reachable instances by class; owned */
	uint64_t reachable_count, reachable_bytes;
	int64_t reference_bytes;           /* in arrays; 0: not known yet */
	struct hdb_list *lists[3];         /* by enum hdb_list_kind; owned */
	struct hdb_references *references; /* owned; NULL: not needed yet */
	struct oql_thread *threads; /* in the order of objects; in `keep`; NULL: not read yet */
	size_t thread_count;
	struct oql_stand_in *stand_ins; /* reachable ones; in `keep`; NULL: not looked for yet */
	size_t stand_in_count;
	struct oql_pattern *patterns;     /* compiled; owned */
	struct oql_in_set *in_sets;       /* what IN looks in; each in `keep`, its keys owned */
	uint64_t steps;                   /* rows looked at, for reports and Ctrl-C */
	unsigned nesting;                 /* of sub-selects that are being evaluated */
	uint64_t empty_cells;             /* that could not be computed */
	char first_empty[HDB_ERROR_SIZE]; /* why the first of them could not */
};

/* The row that an expression is evaluated for. */
struct oql_frame {
	const struct oql_frame *outer; /* of the select around, or NULL */
	struct oql_str alias;
	struct oql_value current;
	const struct oql_value *aggregates; /* by number; NULL while rows are taken in */
	struct oql_arena *arena;            /* for what lives as long as the row */
};

/* ---- expressions: oql_eval.c ---- */

int oql_evaluate(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		 struct oql_value *out);
/* As a condition: null is false; HDB_EUSAGE if it is no boolean. */
int oql_condition(struct oql_eval *ev, const struct oql_expr *e, const struct oql_frame *frame,
		  bool *out);
/* The field of that name of an object; null: it has none. `node` (may be NULL) remembers where. */
int oql_object_field(struct oql_eval *ev, struct oql_expr *node, struct oql_str name,
		     const struct oql_value *of, struct oql_value *out);
/* HDB_EUSAGE with the place of the expression. */
#define oql_refuse(ev, e, ...) oql_fail_at((ev)->text, (e)->at, (ev)->err, __VA_ARGS__)
/* HDB_EINTR once it was asked for. */
int oql_tick(struct oql_eval *ev);

/* ---- arithmetic and comparisons: oql_compare.c ---- */

int oql_arithmetic(struct oql_eval *ev, const struct oql_expr *e, const struct oql_value of[2],
		   struct oql_arena *arena, struct oql_value *out);
bool oql_equal(const struct oql_value *a, const struct oql_value *b);
int oql_order(struct oql_eval *ev, const struct oql_expr *e, const struct oql_value *a,
	      const struct oql_value *b, int *order);
/* For ORDER BY, min and max: any values; null is last. */
int oql_rank(const struct oql_value *a, const struct oql_value *b);
bool oql_is_number(const struct oql_value *v);
bool oql_is_whole(const struct oql_value *v);
double oql_double_of(const struct oql_value *v);
/* What is equal has the same key. */
int oql_put_key(struct oql_eval *ev, const struct oql_value *v, struct bytes *out);

/* ---- patterns: oql_pattern.c ---- */

/*
 * Java's regular expression, compiled once, kept with the statement. `is_whole`: for whole texts,
 * as MAT repairs it; else for parts of them.
 */
int oql_pattern(struct oql_eval *ev, const struct oql_expr *e, struct oql_str source, bool is_whole,
		struct oql_pattern **out);
/* Searches the text from byte `end` on; what is found begins at `start` and ends before `end`. */
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
/* The end of what made a text with the result `r`: the same unless it failed. Releases the text. */
int oql_end_string(struct oql_eval *ev, struct oql_arena *arena, int r, struct bytes *text,
		   struct oql_value *out);
/* A list of that many values, *values, which the caller fills in. */
int oql_make_list(struct oql_eval *ev, struct oql_arena *arena, size_t count,
		  struct oql_value **values, struct oql_value *out);
int oql_make_ids(struct oql_eval *ev, struct oql_arena *arena, const uint32_t *ixs, size_t count,
		 struct oql_value *out);
int oql_element(struct oql_eval *ev, const struct oql_list *list, size_t no, struct oql_value *out);
/* Elements [from, from + count). */
struct oql_range {
	size_t from, count;
};
/* These as a list; they exist. */
int oql_slice(struct oql_eval *ev, struct oql_arena *arena, const struct oql_list *list,
	      struct oql_range range, struct oql_value *out);
/* What a field or an element holds. `is_static`: references stay references. */
int oql_basic(struct oql_eval *ev, const struct hdb_basic *basic, bool is_static,
	      struct oql_value *out);
/* What v points to, copied into the arena. */
int oql_copy(struct oql_eval *ev, struct oql_arena *arena, const struct oql_value *v,
	     struct oql_value *out);
/* As cells are printed. `is_inner`: within a list, texts are quoted. */
int oql_put_value(struct oql_eval *ev, const struct oql_value *v, bool is_inner, struct bytes *out);
/* As Java's toString() has it, for "+" and LIKE. */
int oql_put_plain(struct oql_eval *ev, const struct oql_value *v, struct bytes *out);
/* "int", "ref": the type of a field. */
const char *oql_field_type(const struct oql_value *field);
/* "an int", "a java.util.HashMap": for messages; borrowed until hdb_close. */
const char *oql_type_name(struct oql_eval *ev, const struct oql_value *v);

/* ---- the heap: oql_heap.c ---- */

/* Numbers and counts of reachable objects; one pass over the heap, the first time. */
int oql_survey(struct oql_eval *ev);
/* MAT's number of an object, and back; -1 and HDB_NONE: none. */
int oql_number_of(struct oql_eval *ev, uint32_t ix, int64_t *number);
int oql_object_of(struct oql_eval *ev, int64_t number, uint32_t *ix);
/* Fields of instances of a class, or static ones. */
int oql_class_fields(struct oql_eval *ev, uint32_t class_no, bool is_static,
		     const struct hdb_fields **fields, size_t *count);
/* Objects in a list that grows within the budget. */
struct oql_numbers {
	BASE_VEC_AS(vec, uint32_t, ixs, count);
};
int oql_add_number(struct oql_eval *ev, struct oql_numbers *numbers, uint32_t ix);
static inline void oql_numbers_release(struct oql_numbers *numbers)
{
	base_vec_release(&numbers->vec);
}
/* Objects that an object has: referents (its class first, then by address), referrers, dominated */
int oql_relatives(struct oql_eval *ev, enum hdb_list_kind kind, uint32_t ix,
		  struct oql_arena *arena, struct oql_value *out);
/* The objects of a class, as IDs. */
int oql_instances(struct oql_eval *ev, uint32_t class_no, struct oql_arena *arena,
		  struct oql_value *out);
/* Reads ev->stand_ins. */
int oql_find_stand_ins(struct oql_eval *ev);
/* "java.util.HashMap @ 0x12c4" */
int oql_put_technical(struct oql_eval *ev, uint32_t ix, struct bytes *out);
/* With its display text, where it has one: "java.lang.String @ 0x12c4  text" */
int oql_put_label(struct oql_eval *ev, uint32_t ix, struct bytes *out);
bool oql_is_a(struct oql_eval *ev, uint32_t class_no, const char *name);

/* ---- texts of objects: oql_display.c ---- */

/* MAT's display text, but whole and in its own characters. *has: it has one. */
int oql_display(struct oql_eval *ev, uint32_t ix, struct bytes *out, bool *has);
/* The text of a java.lang.String. *has: it is one, and the dump has its characters. */
int oql_put_string(struct oql_eval *ev, uint32_t ix, struct bytes *out, bool *has);

/* ---- attributes and methods ---- */

/* v.@name; HDB_NOTFOUND: there is none, without a message. */
int oql_attribute(struct oql_eval *ev, const struct oql_frame *frame, const struct oql_value *v,
		  struct oql_str name, struct oql_value *out);

struct oql_args {
	const struct oql_value *values;
	size_t count;
};
/* A call of a method or function whose arguments are known. */
struct oql_call {
	const struct oql_expr *e;
	const struct oql_frame *frame;
	const struct oql_value *of; /* whose method it is */
	struct oql_args args;
};
int oql_method(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out);
/* Methods of texts: oql_strings.c. HDB_NOTFOUND: there is none of the name. */
int oql_string_method(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out);
int oql_function(struct oql_eval *ev, const struct oql_call *call, struct oql_value *out);

/* "java.lang.String" and so on: the class of MAT's own object. */
const char *oql_java_class(struct oql_eval *ev, const struct oql_value *v);
/* The class that a class object stands for; HDB_NONE: it is none. */
int oql_class_meant(struct oql_eval *ev, const struct oql_value *v, uint32_t *class_no);
/* Objects for a list: a reference's, the one with a number, with an address. HDB_NONE: null. */
int oql_object_meant(struct oql_eval *ev, const struct oql_value *v, uint32_t *ix);
/* The stack of a thread, or null. */
int oql_stack_of(struct oql_eval *ev, uint32_t ix, struct oql_value *out);
/* Class objects of reachable classes, marked ones only unless `marks` is NULL. */
int oql_class_objects(struct oql_eval *ev, const uint8_t *marks, struct oql_arena *arena,
		      struct oql_value *out);

/* ---- SELECT: oql_select.c, oql_from.c ---- */

/* Whatever FROM yields, one by one. *out is owned, also after a failure: oql_source_close. */
struct oql_source;
int oql_source_open(struct oql_eval *ev, const struct oql_select *select,
		    const struct oql_frame *outer, struct oql_source **out);
/* HDB_OK or HDB_END; what the value points to is borrowed until the next call. */
int oql_source_next(struct oql_source *source, struct oql_value *out);
void oql_source_close(struct oql_source *source);

struct oql_rows;
/* The rows of a select and of its union. *out is owned, also after a failure: oql_rows_close. */
int oql_rows_open(struct oql_eval *ev, const struct oql_select *select,
		  const struct oql_frame *outer, struct oql_rows **out);
/*
 * Sorts by the column of this name instead of what the statement says: numbers descending, texts
 * ascending, or the other way round. To be called before the first row.
 */
int oql_rows_sort(struct oql_rows *rows, struct oql_str column, bool is_turned);
/* Rows beyond so many need not be kept. */
void oql_rows_limit(struct oql_rows *rows, uint64_t limit);
/* HDB_OK or HDB_END; values are borrowed until the next call. */
int oql_rows_next(struct oql_rows *rows, const struct oql_value **values);
void oql_rows_close(struct oql_rows *rows);

/* A sub-select as a value: its objects, values or rows, null without; kept if it is_free. */
int oql_subselect(struct oql_eval *ev, struct oql_expr *e, const struct oql_frame *frame,
		  struct oql_arena *arena, struct oql_value *out);
/* Whether v is among what a sub-select that is_free yields; its columns' names do not matter. */
int oql_in_select(struct oql_eval *ev, struct oql_expr *e, const struct oql_frame *frame,
		  const struct oql_value *v, bool *is_in);
/* Before the arena that holds them is released. */
void oql_in_sets_release(struct oql_in_set *sets);

#endif
