/*
 * query/object_columns.h - columns that all queries with objects as rows share, and the options
 * that select objects and references.
 *
 * A definition with QUERY_ROWS_ARE_OBJECTS in `uses` has QUERY_OBJECT_COLUMNS as its last columns,
 * and an ID column "id". After `open`, this module decides which of these columns to show: native
 * and retained_native if the dump has native sizes, heap and retained_* for each heap if it has
 * several heaps, depth with --depth. It sets the cells of these columns after `next`, unless `next`
 * has set them.
 */
#ifndef QUERY_OBJECT_COLUMNS_H
#define QUERY_OBJECT_COLUMNS_H

#include "query/query.h"

/* Maximum number of heaps with their own columns. */
#define QUERY_HEAPS 4u

/* Returns shared option number `no` of a definition, or NULL after the last option. */
const struct hdb_option_spec *query_shared_option(const struct query_def *def, unsigned no);

/* Reads --retained and --heap, and names the columns of heaps. Called before `open`. */
int query_begin_shared(struct query *q, struct hdb_error *err);
/* Only names the columns of heaps. Used for a query that was turned into another query. */
int query_begin_columns(struct query *q, struct hdb_error *err);
/* Decides which of these columns to show. Called after `open`. */
int query_show_object_columns(struct query *q, struct hdb_error *err);
/* Returns whether a column is one of the object columns. */
bool query_is_object_column(const struct query *q, size_t column);
/* Sets the cells of the object columns. Called after `next`. */
int query_fill_object_columns(struct query *q, struct hdb_error *err);
/* Sets *is_elsewhere to whether the row's object is in a heap other than the requested heap. */
int query_is_elsewhere(struct query *q, bool *is_elsewhere, struct hdb_error *err);

#endif
