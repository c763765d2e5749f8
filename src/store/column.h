/*
 * store/column.h - reading tables of one packed number an object: a block is one column of
 * base/pack.h, and is keyed by the index of its first object.
 */
#ifndef STORE_COLUMN_H
#define STORE_COLUMN_H

#include "store/objects.h"

/* A reader; set the first three, zero the rest, store_column_release at the end. */
struct store_column {
	struct store *store;
	enum store_table table;
	uint32_t ix_count;
	struct pack_column *blocks; /* opened so far; data NULL: not yet */
	uint64_t generation;
};

/* Value of object ix (below ix_count). */
int store_column_get(struct store_column *column, uint32_t ix, uint64_t *value,
		     struct hdb_error *err);

/* All values of the block that begins at first_ix; returns their number in *count. */
int store_column_block(struct store_column *column, uint32_t first_ix, uint64_t *values,
		       uint32_t *count, struct hdb_error *err);

/*
 * Whether the block that begins at first_ix may have a value other than 0: for blocks of zeros
 * alone, which most of some tables are, *has is false, and they need not be read.
 */
int store_column_has(struct store_column *column, uint32_t first_ix, bool *has,
		     struct hdb_error *err);

/*
 * Opens every block, so that store_column_get and store_column_block may then be called on any
 * thread, until the store's snapshot is another.
 */
int store_column_prepare(struct store_column *column, struct hdb_error *err);

void store_column_release(struct store_column *column);

#endif
