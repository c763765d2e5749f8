/*
 * queries/leaks/leak_rows.h - the rows of the leaks query, of several kinds.
 *
 * The rows of all suspects are created when the query opens, one suspect after another, and kept in
 * memory. The number of rows of each kind is limited. A row consists of typed cells; only
 * leak_prose.c builds sentences from them.
 */
#ifndef QUERIES_LEAKS_LEAK_ROWS_H
#define QUERIES_LEAKS_LEAK_ROWS_H

#include "queries/explain/rules.h"
#include "query/query.h"

#include <assert.h>

/* Stands for an empty cell. */
#define LEAK_NONE UINT64_MAX

/* defines the columns (LEAK_SUSPECT, ...), LEAK_COLUMN_COUNT, and the query itself */
#include <queries/leaks/q_leaks.query.h>

/* Kinds of rows. leak_rows.c contains their names, which are the values of the column "kind". */
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

/*
 * A row. Its cells for object, class and label are derived from ix and class_no later, when the row
 * is read.
 */
struct leak_row {
	enum leak_kind kind;
	uint32_t ix; /* the object, or HEAP_NONE */
	/* the class, or HEAP_NONE if it is the class of object ix */
	uint32_t class_no;
	/* indexed by column: a number, the offset of a string in leak_rows.texts, or LEAK_NONE */
	uint64_t cells[LEAK_COLUMN_COUNT];
};

struct leak_rows {
	struct base_vec rows;  /* struct leak_row */
	struct base_vec texts; /* terminated strings, one after another */
	uint64_t part;         /* the suspect or leak to which new rows belong */
	bool is_brief;         /* whether only the first row of each part is needed */
	/* number of instances by class, reachable or not; owned, NULL until needed */
	uint64_t *instances;
};

/* Returns a row of this kind for the current part, with empty cells. */
struct leak_row leak_row_of(const struct leak_rows *rows, enum leak_kind kind);

/* Appends a copy of the row. */
int leak_rows_add(struct leak_rows *rows, const struct leak_row *row, struct hdb_error *err);

/* Returns row `no`. Borrowed until the next row is added. */
static inline struct leak_row *leak_rows_at(const struct leak_rows *rows, size_t no)
{
	assert(no < rows->rows.count);
	return base_vec_at(&rows->rows, struct leak_row, no);
}

/*
 * Sets a text cell from a format. "" leaves the cell empty. Text that is too long is truncated at a
 * character boundary.
 */
int leak_rows_text(struct leak_rows *rows, struct leak_row *row, unsigned column,
		   struct hdb_error *err, const char *format, ...) HDB_PRINTF(5, 6);

/* Returns the text of a cell, or "" if the cell is empty. Borrowed until the next text is set. */
const char *leak_rows_text_of(const struct leak_rows *rows, const struct leak_row *row,
			      unsigned column);

/* Copies the cells of row `no` to the query. `whole` is 100 % in the `percent` column. */
void leak_rows_set(struct query *q, const struct leak_rows *rows, size_t no, uint64_t whole);

/* Frees the rows and zeroes the structure, which may be zeroed already. */
void leak_rows_release(struct leak_rows *rows);

#endif
