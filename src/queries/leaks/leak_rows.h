/*
 * queries/leaks/leak_rows.h - the answer of query leaks: rows of several kinds.
 *
 * All rows are made when the query opens, suspect by suspect, and kept in memory; their number is
 * bounded by limits on each kind. Everything a row says is a typed cell; sentences are made from
 * the cells by leak_prose.c and nowhere else.
 */
#ifndef QUERIES_LEAKS_LEAK_ROWS_H
#define QUERIES_LEAKS_LEAK_ROWS_H

#include "query/query.h"

/* Value of an empty cell. */
#define LEAK_NONE UINT64_MAX

/* Number, type, name, title and meaning of each column. */
#define LEAK_COLUMNS(X) \
	X(LEAK_SUSPECT, COUNT, "suspect", "suspect", \
	  "its number, from 1: leaking objects, then faults that rules of query explain find " \
	  "and leak suspects, the largest first, then known leaks of libraries; null for what " \
	  "several have in common") \
	X(LEAK_KIND, TEXT, "kind", "kind", \
	  "suspect: what is large, or what a rule of query explain calls a leak, however small; " \
	  "point: the accumulation point; path, gap: from a root down to there; member: of a " \
	  "group; child: by class, what the point dominates immediately; explanation, advice: " \
	  "what a rule of query explain says of the point or of an owner of it, and what to do; " \
	  "element: by class, what these hold, below entries of collections; content: by class, " \
	  "all that the suspect retains; of each of the three the largest classes, and one row " \
	  "without a class for the others; thread, frame, local: of the thread that holds it; " \
	  "common: the beginning that paths of several suspects share; leaking, trace: a " \
	  "leaking object (destroyed but still reachable, by Android's life cycles), one for " \
	  "all that the same references keep, and its path; library: such a one that only a " \
	  "known fault of Android, its makers or a library keeps; unreachable: one that nothing " \
	  "keeps") \
	X(LEAK_STEP, COUNT, "step", "step", \
	  "place in the path or the stack, 0 the root or the innermost frame") \
	X(LEAK_ID, ID, "id", "id", "the object") \
	X(LEAK_CLASS, TEXT, "class", "class", "its class, or the class of all") \
	X(LEAK_LABEL, TEXT, "label", "object", "what it is") \
	X(LEAK_VIA_FIELD, TEXT, "via_field", "via field", \
	  "in a path the field that holds the next object; of a suspect what holds it, of a " \
	  "leaking object the first reference that may be the leak") \
	X(LEAK_COUNT, COUNT, "objects", "objects", \
	  "how many; in a trace how many objects the step retains") \
	X(LEAK_SHALLOW, BYTES, "shallow", "shallow", "their own bytes") \
	X(LEAK_RETAINED, BYTES, "retained", "retained", \
	  "retained size of the objects together; by class the sum; of leaking objects and " \
	  "traces the sizes as the dump records them, as LeakCanary counts (see leak-traces)") \
	X(LEAK_PERCENT, PERCENT, "percent", "%", \
	  "share of all reachable bytes; of content by shallow bytes") \
	X(LEAK_TEXT, TEXT, "text", "summary", \
	  "a sentence on the suspect: owner, number, what, size of each, share; a frame; why an " \
	  "object is leaking; of the first step of a path the kinds of GC root; in a trace " \
	  "whether the step is leaking; of an element that is estimated, from how many entries " \
	  "and how well, or of how many nodes of a list it is") \
	X(LEAK_SIGNATURE, TEXT, "signature", "signature", \
	  "of a suspect: the SHA-1 of signature_text, the same for the same leak in other dumps " \
	  "and builds; of a leaking object LeakCanary's signature") \
	X(LEAK_SHAPE, TEXT, "signature_shape", "shape", \
	  "of a suspect: the same with the application's classes told by the types of their " \
	  "fields instead of their names: it is still the same when they were renamed") \
	X(LEAK_SIGNATURE_TEXT, TEXT, "signature_text", "signature of", \
	  "what is signed: the path from the application's first step to the accumulation " \
	  "point, CLASS#FIELD > CLASS ..., containers of the platform without their insides; of " \
	  "a leaking object the suspect references (its signature is of the text without # and " \
	  ">)") \
	X(LEAK_SHORT_TEXT, TEXT, "short_text", "short summary", \
	  "the summary without what other columns have: share, verdict, GC root, suspect " \
	  "reference") \
	X(LEAK_OWNER_KIND, TEXT, "owner_kind", "owner kind", \
	  "what the owner in the sentence is, or in a path how the object holds the next one: " \
	  "static field, field, element, local variable, thread-local, thread, class, class " \
	  "loader, superclass, object, GC root, nothing") \
	X(LEAK_OWNER, TEXT, "owner", "owner", \
	  "class that owns the suspect, or the thread's name; of several owners the first") \
	X(LEAK_FIELD, TEXT, "field", "field", \
	  "field by which the owner, or in a path the object, holds it") \
	X(LEAK_OWNER_COUNT, COUNT, "owners", "owners", "number of owners, named or not") \
	X(LEAK_OWNER_RULE, TEXT, "owner_rule", "owner rule", "rule that chose the owner") \
	X(LEAK_OWNER_WHY, TEXT, "owner_why", "reason of the rule", "why that rule chose it") \
	X(LEAK_OWNER_TEXT, TEXT, "owner_text", "owner text", \
	  "the owners as the sentence names them") \
	X(LEAK_HELD, COUNT, "held", "held", "number of objects that the sentence says are held") \
	X(LEAK_HELD_CLASS, TEXT, "held_class", "held class", "their class, if they have one") \
	X(LEAK_HELD_TEXT, TEXT, "held_text", "held text", "their number and name in the sentence") \
	X(LEAK_EACH, BYTES, "each", "each", "average size of each of them") \
	X(LEAK_ROOT, TEXT, "root", "root", "of the first step of a path the kinds of GC root") \
	X(LEAK_STATUS, TEXT, "status", "status", \
	  "of a step of a trace: leaking, not leaking, unknown") \
	X(LEAK_IS_SUSPECT, BOOL, "is_suspect_reference", "suspect reference", \
	  "of a step of a trace: whether its reference to the next one may be the leak") \
	X(LEAK_VERDICT, TEXT, "verdict", "verdict", \
	  "of an explanation, or of a fault that a rule finds: by design, large, unbounded, " \
	  "leak, misconfigured") \
	X(LEAK_ACTION, TEXT, "action", "action", \
	  "query that lists exactly the objects that the sentence counts; of advice the query to " \
	  "ask, which is {run} in the short summary") \
	X(LEAK_TARGET, TEXT, "target", "target", "target of that query; of sql the statement") \
	X(LEAK_ACTION_OPTION, TEXT, "action_option", "action option", "its option, NAME=VALUE")
enum { LEAK_COLUMNS(QUERY_NUMBER) LEAK_COLUMN_COUNT };

/* Kinds of rows. leak_rows.c has their names, the values of column "kind". */
enum leak_kind {
	LEAK_ROW_SUSPECT,
	LEAK_ROW_POINT,
	LEAK_ROW_PATH,
	LEAK_ROW_GAP,
	LEAK_ROW_MEMBER,
	LEAK_ROW_CHILD,
	LEAK_ROW_EXPLANATION,
	LEAK_ROW_ADVICE,
	LEAK_ROW_ELEMENT,
	LEAK_ROW_CONTENT,
	LEAK_ROW_THREAD,
	LEAK_ROW_FRAME,
	LEAK_ROW_LOCAL,
	LEAK_ROW_COMMON,
	LEAK_ROW_LEAKING,
	LEAK_ROW_TRACE,
	LEAK_ROW_LIBRARY,
	LEAK_ROW_UNREACHABLE
};

/* One row. Cells of object, class and label are filled in from ix and class_no when it is read. */
struct leak_row {
	enum leak_kind kind;
	uint32_t ix;       /* the object, or HEAP_NONE */
	uint32_t class_no; /* the class if it is not that of the object, or HEAP_NONE */
	/* By column: a number, the offset of a text in leak_rows.texts, or LEAK_NONE. */
	uint64_t cells[LEAK_COLUMN_COUNT];
};

struct leak_rows {
	struct base_vec rows;  /* struct leak_row */
	struct base_vec texts; /* terminated texts, one after another */
	uint64_t part;         /* number of the suspect or leak that new rows belong to */
	bool is_brief;         /* whether only the first row of each part is needed */
	/* number of instances by class number, reachable or not; owned, NULL until needed */
	uint64_t *instances;
};

/* Returns a row of that kind for the current part, with all other cells empty. */
struct leak_row leak_row_of(const struct leak_rows *rows, enum leak_kind kind);

/* Appends a copy of the row. */
int leak_rows_add(struct leak_rows *rows, const struct leak_row *row, struct hdb_error *err);

/* Borrowed until the next row is added. */
static inline struct leak_row *leak_rows_at(const struct leak_rows *rows, size_t no)
{
	return base_vec_at(&rows->rows, struct leak_row, no);
}

/*
 * Sets a text cell from a format. An empty text leaves the cell empty; a very long one is cut
 * between characters.
 */
int leak_rows_text(struct leak_rows *rows, struct leak_row *row, unsigned column,
		   struct hdb_error *err, const char *format, ...) HDB_PRINTF(5, 6);

/* Returns the text of a cell, "" if it is empty. Borrowed until the next text is set. */
const char *leak_rows_text_of(const struct leak_rows *rows, const struct leak_row *row,
			      unsigned column);

/*
 * Fills in the cells of row `no` for the engine. `whole` is the number of bytes that column percent
 * takes as 100 %.
 */
void leak_rows_set(struct query *q, const struct leak_rows *rows, size_t no, uint64_t whole);

/* Accepts a zeroed structure, and leaves one. */
void leak_rows_release(struct leak_rows *rows);

#endif
