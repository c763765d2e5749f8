/*
 * derive/blocks.h - work on every block of objects, on all threads. Analyses may use it, too.
 */
#ifndef DERIVE_BLOCKS_H
#define DERIVE_BLOCKS_H

#include "derive/derive.h"

#include "base/thread.h"

/* Blocks in flight: those that threads work on, and finished ones that are taken in order. */
#define DERIVE_SLOTS_PER_THREAD 3u

/* What one block's work has for itself. */
struct derive_block {
	/* first_ix and count; class_no if classes are read; the rest if objects are */
	struct heap_block *objects;
	uint64_t *values;         /* STORE_BLOCK_OBJECTS, to use at will */
	struct base_vec bytes[2]; /* emptied before `make` is called */
	void *room;               /* the pass's room_bytes; zeros at first, then as it was left */
	uint32_t block_no;
	unsigned slot; /* below DERIVE_SLOTS_PER_THREAD x threads; in use by one block at a time */
	BASE_APART;
};

/* Work on one block; ctx is that of the pass. */
typedef int (*derive_block_fn)(void *ctx, struct derive_block *block, struct hdb_error *err);

/* Work on all blocks. */
struct derive_pass {
	const char *stage;  /* for base_stage */
	bool reads_objects; /* the block's objects are there for `make` */
	bool reads_classes; /* or their class numbers alone, which takes a third of the time */
	bool is_backward;   /* from the last block to the first: what was read last is in memory */
	derive_block_fn make; /* on any thread; must touch nothing of the store */
	derive_block_fn take; /* in order, on the calling thread; NULL: nothing to take */
	void *ctx;
	size_t room_bytes;           /* of each slot for `make` and `take` */
	void (*release)(void *room); /* what a room owns; NULL: nothing */
};

/*
 * Makes every block and takes it. Columns that `make` reads must have been opened with
 * store_column_prepare.
 */
int derive_each_block(struct derive *derive, const struct derive_pass *pass, struct hdb_error *err);

/* How a packed column is filled. */
struct derive_fill {
	const char *stage;    /* for base_stage */
	bool reads_objects;   /* they are there for `fill` */
	derive_block_fn fill; /* sets the values of a block; on any thread */
	/* whether a block has values other than 0, else it is not filled; NULL: all may */
	bool (*has)(void *ctx, const struct heap_block *objects);
	void *ctx;
	/* of a column behind others of its table: where its keys begin, and whole blocks */
	uint32_t base;
	bool is_whole;
};

/* Writes a packed column; the blocks are put in order. Without store_put_table. */
int derive_put_column(struct derive *derive, struct store_writer *writer, enum store_table table,
		      const struct derive_fill *fill, struct hdb_error *err);

#endif
