/*
 * query/object_columns.h - columns that every query has whose rows are objects, and the choices
 * which objects and references count.
 *
 * A definition with QUERY_ROWS_ARE_OBJECTS in `uses` has QUERY_OBJECT_COLUMNS at the end of its
 * columns and an ID column "id". Which of them an answer shows is decided here, after `open`:
 * native and retained_native where the dump has any native size, heap and retained_* of each heap
 * where it has several, depth with --depth. They are filled in after `next`, unless it did.
 */
#ifndef QUERY_OBJECT_COLUMNS_H
#define QUERY_OBJECT_COLUMNS_H

#include "query/query.h"

/* Heaps with a column. */
#define QUERY_HEAPS 4u

#define QUERY_NATIVE_COLUMN \
	{ \
		"native", HDB_TYPE_BYTES, "native", \
			"memory outside of the Java heap that it owns, not in the other sizes; only of " \
			"dumps that tell any" \
	}
#define QUERY_HEAP_COLUMN(no) \
	{ \
		"retained_heap" no, HDB_TYPE_BYTES, "retained in heap " no, \
			"what it retains in one of Android's heaps, which is in the column's name: " \
			"retained_app; only of dumps with several" \
	}
#define QUERY_OBJECT_COLUMNS \
	QUERY_NATIVE_COLUMN, QUERY_OTHER_OBJECT_COLUMNS, \
	{ \
		"heap", HDB_TYPE_TEXT, "heap", \
			"Android's heap that it is in; only of dumps with several" \
	}
/* Those but native and heap. */
#define QUERY_RETAINED_NATIVE_COLUMN \
	{ \
		"retained_native", HDB_TYPE_BYTES, "retained native", \
			"native memory of all that it retains, not in retained; only of dumps that " \
			"tell any" \
	}
#define QUERY_OTHER_OBJECT_COLUMNS \
	QUERY_RETAINED_NATIVE_COLUMN, \
		{ "depth", HDB_TYPE_COUNT, "depth", \
		  "steps of the shortest path from a GC root, which has 0; none if unreachable" }, \
		QUERY_HEAP_COLUMN("1"), QUERY_HEAP_COLUMN("2"), QUERY_HEAP_COLUMN("3"), \
		QUERY_HEAP_COLUMN("4")

/* The choices that a definition has beside its own options; a bit each, as `uses`. */
const struct hdb_option_spec *query_shared_option(const struct query_def *def, unsigned no);

/* Before `open`: reads --retained and --heap, and names the columns of heaps. */
int query_begin_shared(struct query *q, struct hdb_error *err);
/* The columns alone, of the definition that a query became. */
int query_begin_columns(struct query *q, struct hdb_error *err);
/* After `open`: which of the columns are shown. */
int query_show_object_columns(struct query *q, struct hdb_error *err);
/* Whether it is one of these columns. */
bool query_is_object_column(const struct query *q, size_t column);
/* After `next`: fills them in. */
int query_fill_object_columns(struct query *q, struct hdb_error *err);
/* Whether the row that was made is of an object of another heap than was asked for. */
int query_is_elsewhere(struct query *q, bool *is_elsewhere, struct hdb_error *err);

#endif
