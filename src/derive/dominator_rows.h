/*
 * derive/dominator_rows.h - the tables dominators and retained, from each object's dominator.
 * Private to derive.
 */
#ifndef DERIVE_DOMINATOR_ROWS_H
#define DERIVE_DOMINATOR_ROWS_H

#include "derive/build.h"

/* Where dominators come from. */
struct derive_parents {
	/*
	 * Those of objects [first, first + count), GRAPH_NONE: the virtual root, itself:
	 * unreachable. On any thread.
	 */
	int (*read)(void *ctx, uint32_t first, uint32_t count, uint32_t *parent,
		    struct hdb_error *err);
	/* They are in a file from now on: `read` is not called any more. */
	void (*release)(void *ctx);
	void *ctx;
};

/* Writes both tables. */
int derive_put_parents(struct derive *derive, struct store_writer *writer,
		       const struct derive_parents *from, struct hdb_error *err);

#endif
