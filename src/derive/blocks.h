/*
 * derive/blocks.h - work on every block of objects, on all threads. Private to derive.
 */
#ifndef DERIVE_BLOCKS_H
#define DERIVE_BLOCKS_H

#include "derive/derive.h"

/* What one block's work has for itself. */
struct derive_block {
	struct heap_block *objects;  /* first_ix and count; the rest if objects are read */
	uint64_t *values;            /* STORE_BLOCK_OBJECTS, to use at will */
	struct base_vec bytes[2];    /* emptied before `make` is called */
	uint32_t block_no;
};

/*
 * Calls `make` for every block on any thread, and `take` (NULL: nothing to take) in order on the calling thread.
 * `make` must touch nothing of the store: the block's objects are there if reads_objects, tables must have been looked
 * up before.
 */
int derive_each_block(struct derive *derive, const char *stage, bool reads_objects,
		      int (*make)(void *ctx, struct derive_block *block, struct hdb_error *err),
		      int (*take)(void *ctx, struct derive_block *block, struct hdb_error *err),
		      void *ctx, struct hdb_error *err);

#endif
