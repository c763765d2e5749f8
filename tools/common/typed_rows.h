/*
 * common/typed_rows.h - rows of statements, whose values have types of their own, as a stream of
 * Arrow columns.
 */
#ifndef COMMON_TYPED_ROWS_H
#define COMMON_TYPED_ROWS_H

#include "heapdb.h"

#include <stdbool.h>

/* The rows of a statement; all functions are there, and take rows.ctx. */
struct typed_source {
	struct hdb_row_source rows;
	/* Whether all values of a column have its type. */
	bool (*is_typed)(void *ctx, size_t column);
	/* Runs the statement anew. */
	int (*restart)(void *ctx, struct hdb_error *err);
};

/*
 * The rows as a stream (*out, lent), as hdb_source_arrow has it; rows.close is called by its
 * release, or after a failure. Where there are more than 4,096 rows, and columns that are not
 * typed, the statement is run once before to see what they hold.
 */
int typed_rows_arrow(const struct typed_source *from, size_t batch_rows,
		     struct ArrowArrayStream *out, struct hdb_error *err);

#endif
