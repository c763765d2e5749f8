/*
 * common/typed_rows.h - converts rows of statements, in which each value has its own type, to a
 * stream of Arrow columns.
 */
#ifndef COMMON_TYPED_ROWS_H
#define COMMON_TYPED_ROWS_H

#include "heapdb.h"

#include <stdbool.h>

/* Row source of a statement. The functions receive rows.ctx. */
struct typed_source {
	struct hdb_row_source rows;
	/*
	 * Returns whether the column's type is declared. A NULL function means that no type is
	 * declared.
	 */
	bool (*is_typed)(void *ctx, size_t column);
	/* Runs the statement again. */
	int (*restart)(void *ctx, struct hdb_error *err);
};

/*
 * Fills *out (borrowed) with a stream of the rows, as hdb_source_arrow does. rows.close is called
 * when the stream is released, or after a failure. If there are more than 4,096 rows and untyped
 * columns, the statement runs twice: first to determine types.
 */
int typed_rows_arrow(const struct typed_source *from, size_t batch_rows,
		     struct ArrowArrayStream *out, struct hdb_error *err);

#endif
