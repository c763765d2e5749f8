/*
 * derive/blocks.h - work on every block of objects, on all threads. Analyses may use it, too.
 */
#ifndef DERIVE_BLOCKS_H
#define DERIVE_BLOCKS_H

#include "derive/derive.h"

/* Blocks in work at once: what a thread works on, and what waits to be taken. */
#define DERIVE_SLOTS_PER_THREAD 3u

/* What one block's work has for itself. */
struct derive_block {
	struct heap_block *objects; /* first_ix and count; the rest if objects are read */
	uint64_t *values;           /* STORE_BLOCK_OBJECTS, to use at will */
	struct base_vec bytes[2];   /* emptied before `make` is called */
	uint32_t block_no;
	unsigned slot; /* below DERIVE_SLOTS_PER_THREAD x threads; in use by one block at a time */
};

/*
 * Calls `make` for every block on any thread, and `take` (NULL: nothing to take) in order on the
 * calling thread. `make` must touch nothing of the store: the block's objects are there if
 * reads_objects; columns must have been opened with store_column_prepare.
 */
int derive_each_block(struct derive *derive, const char *stage, bool reads_objects,
		      int (*make)(void *ctx, struct derive_block *block, struct hdb_error *err),
		      int (*take)(void *ctx, struct derive_block *block, struct hdb_error *err),
		      void *ctx, struct hdb_error *err);

/*
 * The same without objects, and from the last block to the first if is_backward: what was read last
 * is likely to be in memory still.
 */
int derive_each_block_turned(struct derive *derive, const char *stage, bool is_backward,
			     int (*make)(void *ctx, struct derive_block *block,
					 struct hdb_error *err),
			     int (*take)(void *ctx, struct derive_block *block,
					 struct hdb_error *err),
			     void *ctx, struct hdb_error *err);

/*
 * Writes a packed column: `fill` sets the values of each block, on any thread; the blocks are put
 * in order. Without store_put_table.
 */
int derive_put_column(struct derive *derive, struct store_writer *writer, enum store_table table,
		      const char *stage, bool reads_objects,
		      int (*fill)(void *ctx, struct derive_block *block, struct hdb_error *err),
		      void *ctx, struct hdb_error *err);

/* The same behind another column of the table: keys begin at `base`. */
int derive_put_column_at(struct derive *derive, struct store_writer *writer, uint32_t base,
			 enum store_table table,
			 int (*fill)(void *ctx, struct derive_block *block, struct hdb_error *err),
			 void *ctx, struct hdb_error *err);

#endif
