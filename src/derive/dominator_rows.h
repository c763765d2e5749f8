/*
 * derive/dominator_rows.h - the tables dominators and retained, from each object's dominator.
 * Private to derive.
 */
#ifndef DERIVE_DOMINATOR_ROWS_H
#define DERIVE_DOMINATOR_ROWS_H

#include "derive/blocks.h"
#include "derive/build.h"

/* Where dominators come from. */
struct derive_parents {
	/*
	 * Those of a block's objects, GRAPH_NONE: the virtual root, itself: unreachable. Uses the
	 * block's values. Once for each block, on any thread.
	 */
	int (*read)(void *ctx, struct derive_block *block, uint32_t *parent, struct hdb_error *err);
	/* `read` is not called any more. */
	void (*release)(void *ctx);
	void *ctx;
};

/* Writes both tables, from the numbers of a search. dominator_tables.c */
int derive_put_numbered(struct derive *derive, struct store_writer *writer,
			const struct graph_dominators *dominators, struct hdb_error *err);

/* Writes both tables. */
int derive_put_parents(struct derive *derive, struct store_writer *writer,
		       const struct derive_parents *from, struct hdb_error *err);

#endif
