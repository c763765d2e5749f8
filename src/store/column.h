/*
 * store/column.h - reads tables with one packed number per object. A block is one column of
 * base/pack.h. Its key is the index of its first object.
 */
#ifndef STORE_COLUMN_H
#define STORE_COLUMN_H

#include "store/objects.h"

/*
 * A reader. The caller must set the first three fields, zero the rest, and release it with
 * store_column_release.
 */
struct store_column {
	struct store *store;
	enum store_table table;
	uint32_t ix_count;
	struct pack_column *blocks; /* blocks opened so far; `data` of other blocks is NULL */
	uint64_t generation;
};

/* Reads the value of object ix, which must be below ix_count. */
int store_column_get(struct store_column *column, uint32_t ix, uint64_t *value,
		     struct hdb_error *err);

/* Reads all values of the block that begins at first_ix, and sets *count to their number. */
int store_column_block(struct store_column *column, uint32_t first_ix, uint64_t *values,
		       uint32_t *count, struct hdb_error *err);

/*
 * Sets *has to whether the block that begins at first_ix may contain a value other than 0. The
 * result is false for blocks of zeros, which callers need not read. In some tables, most blocks
 * contain only zeros.
 */
int store_column_has(struct store_column *column, uint32_t first_ix, bool *has,
		     struct hdb_error *err);

/*
 * Opens every block. Afterwards, store_column_get and store_column_block may be called on any
 * thread until the store's snapshot changes.
 */
int store_column_prepare(struct store_column *column, struct hdb_error *err);

void store_column_release(struct store_column *column);

#endif
