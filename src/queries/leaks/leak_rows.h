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

#include <assert.h>

/* Value of an empty cell. */
#define LEAK_NONE UINT64_MAX

/* Number, type, name, title and meaning of each column. */
#define LEAK_COLUMNS(X) \
	X(LEAK_SUSPECT, COUNT, "suspect", "suspect", \
	  "Rank of the suspect, starting at 1. Empty for rows shared by several suspects.") \
	X(LEAK_KIND, TEXT, "kind", "kind", \
	  "Kind of the row, such as suspect, path or leaking: see heapdb-queries(1)") \
	X(LEAK_STEP, COUNT, "step", "step", \
	  "Position in the path or stack. 0 is the GC root or the innermost frame.") \
	X(LEAK_ID, ID, "id", "id", QUERY_HELP_ID) \
	X(LEAK_CLASS, TEXT, "class", "class", "Class of the object, or of all objects of the row") \
	X(LEAK_LABEL, TEXT, "label", "object", QUERY_HELP_LABEL) \
	X(LEAK_VIA_FIELD, TEXT, "via_field", "via field", \
	  "Field that holds the next object or the suspect. For a leaking object, the first " \
	  "suspect reference.") \
	X(LEAK_COUNT, COUNT, "objects", "objects", \
	  "Number of objects. In a leak trace, number of objects retained by this step.") \
	X(LEAK_SHALLOW, BYTES, "shallow", "shallow", "Shallow size of the objects") \
	X(LEAK_RETAINED, BYTES, "retained", "retained", \
	  "Retained size of the objects. Rows by class show the sum; leaks and traces are as in " \
	  "leak-traces.") \
	X(LEAK_PERCENT, PERCENT, "percent", "%", \
	  "Share of the reachable heap. For content rows, share of the heap's shallow size.") \
	X(LEAK_TEXT, TEXT, "text", "summary", "Sentence about the row: see heapdb-queries(1)") \
	X(LEAK_SIGNATURE, TEXT, "signature", "signature", \
	  "Leak fingerprint: SHA-1 of signature_text, or LeakCanary's signature. Same in other " \
	  "builds.") \
	X(LEAK_SHAPE, TEXT, "signature_shape", "shape", \
	  "Leak fingerprint that survives renaming: types of fields instead of " \
	  "application class names") \
	X(LEAK_SIGNATURE_TEXT, TEXT, "signature_text", "signature of", \
	  "Text that signature is computed from: path to the accumulation point, or suspect " \
	  "references") \
	X(LEAK_SHORT_TEXT, TEXT, "short_text", "short summary", \
	  "Summary without share, verdict, GC root and suspect reference, which have their own " \
	  "columns") \
	X(LEAK_OWNER_KIND, TEXT, "owner_kind", "owner kind", \
	  "Kind of the owner, or of the reference to the next step: see heapdb-queries(1)") \
	X(LEAK_OWNER, TEXT, "owner", "owner", \
	  "Class or thread that owns the suspect, or the first owner of several") \
	X(LEAK_FIELD, TEXT, "field", "field", \
	  "Field by which the owner holds the suspect, or by which a step holds the next object") \
	X(LEAK_OWNER_COUNT, COUNT, "owners", "owners", \
	  "Number of owners, including owners not named in text") \
	X(LEAK_OWNER_RULE, TEXT, "owner_rule", "owner rule", \
	  "Name of the rule that chose the owner") \
	X(LEAK_OWNER_WHY, TEXT, "owner_why", "reason of the rule", \
	  "Reason why the rule in owner_rule chose the owner") \
	X(LEAK_OWNER_TEXT, TEXT, "owner_text", "owner text", "Owners, as named in text") \
	X(LEAK_HELD, COUNT, "held", "held", "Number of held objects, as in text") \
	X(LEAK_HELD_CLASS, TEXT, "held_class", "held class", \
	  "Class of the held objects, if all have the same class") \
	X(LEAK_HELD_TEXT, TEXT, "held_text", "held text", \
	  "Description of the held objects, as in text") \
	X(LEAK_EACH, BYTES, "each", "each", "Average size of the held objects") \
	X(LEAK_ROOT, TEXT, "root", "root", "Kinds of GC root of the first step of a path") \
	X(LEAK_STATUS, TEXT, "status", "status", \
	  "Status of a step of a leak trace: leaking, not leaking or unknown") \
	X(LEAK_IS_SUSPECT, BOOL, "is_suspect_reference", "suspect reference", \
	  "Whether the reference to the next step of a leak trace may be the leak") \
	X(LEAK_VERDICT, TEXT, "verdict", "verdict", \
	  "Verdict of the explanation or of a rule: by design, large, unbounded, leak or " \
	  "misconfigured") \
	X(LEAK_ACTION, TEXT, "action", "action", \
	  "Query that lists the objects named in text. For advice, the query that {run} in " \
	  "short_text means.") \
	X(LEAK_TARGET, TEXT, "target", "target", \
	  "Target of the query in action. For sql, the " \
	  "SQL statement.") \
	X(LEAK_ACTION_OPTION, TEXT, "action_option", "action option", \
	  "Option of the query to run, NAME=VALUE")
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
	assert(no < rows->rows.count);
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
