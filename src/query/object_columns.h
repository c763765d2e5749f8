/*
 * query/object_columns.h - columns of every query whose rows are objects, and the options that
 * choose which objects and references count.
 *
 * A definition with QUERY_ROWS_ARE_OBJECTS in `uses` has QUERY_OBJECT_COLUMNS at the end of its
 * columns, and an ID column "id". After `open`, this module decides which of these columns to show:
 * native and retained_native if the dump has native sizes, heap and retained_* for each heap if it
 * has several heaps, depth with --depth. It fills them in after `next`, unless `next` did.
 */
#ifndef QUERY_OBJECT_COLUMNS_H
#define QUERY_OBJECT_COLUMNS_H

#include "query/query.h"

/* Maximum number of heaps with their own column. */
#define QUERY_HEAPS 4u

#define QUERY_NATIVE_COLUMN \
	{ \
		"native", HDB_TYPE_BYTES, "native", \
			"Native memory owned by the object, if recorded" \
	}
#define QUERY_HEAP_COLUMN(no) \
	{ \
		"retained_heap" no, HDB_TYPE_BYTES, "retained in heap " no, \
			"Retained size in the Android heap named by the column, such as " \
			"retained_app" \
	}
#define QUERY_OBJECT_COLUMNS \
	QUERY_NATIVE_COLUMN, QUERY_OTHER_OBJECT_COLUMNS, \
	{ \
		"heap", HDB_TYPE_TEXT, "heap", \
			"Android heap of the object, if the dump has several" \
	}
/* The columns other than native and heap. */
#define QUERY_RETAINED_NATIVE_COLUMN \
	{ \
		"retained_native", HDB_TYPE_BYTES, "retained native", \
			"Native memory of all objects that the object retains, if recorded" \
	}
#define QUERY_OTHER_OBJECT_COLUMNS \
	QUERY_RETAINED_NATIVE_COLUMN, \
		{ "depth", HDB_TYPE_COUNT, "depth", \
		  "Length of the shortest path from a GC root. 0 for a root. Empty if " \
		  "unreachable." }, \
		QUERY_HEAP_COLUMN("1"), QUERY_HEAP_COLUMN("2"), QUERY_HEAP_COLUMN("3"), \
		QUERY_HEAP_COLUMN("4")

/* Returns shared option number `no` of a definition, NULL after the last. */
const struct hdb_option_spec *query_shared_option(const struct query_def *def, unsigned no);

/* Reads --retained and --heap, and names the columns of heaps. Called before `open`. */
int query_begin_shared(struct query *q, struct hdb_error *err);
/* Only the part about columns, for the definition that a query became. */
int query_begin_columns(struct query *q, struct hdb_error *err);
/* Decides which of the columns are shown. Called after `open`. */
int query_show_object_columns(struct query *q, struct hdb_error *err);
/* Whether a column is one of these. */
bool query_is_object_column(const struct query *q, size_t column);
/* Fills in the columns. Called after `next`. */
int query_fill_object_columns(struct query *q, struct hdb_error *err);
/* Sets *is_elsewhere to whether the row's object is in another heap than the requested one. */
int query_is_elsewhere(struct query *q, bool *is_elsewhere, struct hdb_error *err);

#endif
