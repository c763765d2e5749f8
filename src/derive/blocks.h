/*
 * derive/blocks.h - runs a function on every block of objects, on several threads. Analyses may use
 * it too.
 */
#ifndef DERIVE_BLOCKS_H
#define DERIVE_BLOCKS_H

#include "derive/derive.h"

#include "base/thread.h"
#include "heap/values/string_scan.h"

/* Maximum number of blocks per thread that are being processed or are waiting for `take`. */
#define DERIVE_SLOTS_PER_THREAD 3u

/* Working memory for one block. A slot is reused for many blocks. */
struct derive_block {
	/*
	 * first_ix and count are always set; class_no is set if classes are read; all fields are
	 * set if objects are read
	 */
	struct heap_block *objects;
	uint64_t *values;         /* scratch space for STORE_BLOCK_OBJECTS values */
	struct base_vec bytes[2]; /* emptied before each call of `make` */
	/*
	 * memory of room_bytes; zero at first, and later unchanged since the slot's previous block
	 */
	void *room;
	struct heap *twin; /* for `make`, if the pass has twins; borrowed */
	uint32_t block_no;
	/* a number below DERIVE_SLOTS_PER_THREAD x threads; only one block uses a slot at a time */
	unsigned slot;
	BASE_NO_SHARING;
};

/* Processes one block. `ctx` is the ctx of the pass. */
typedef int (*derive_block_fn)(void *ctx, struct derive_block *block, struct hdb_error *err);

/* Functions that derive_each_block calls for every block. */
struct derive_pass {
	const char *stage;  /* for base_stage */
	bool reads_objects; /* whether `make` needs the objects */
	/* whether `make` needs only class numbers, which takes a third of the time */
	bool reads_classes;
	/*
	 * whether the last block is processed first, because the last blocks of the previous pass
	 * are still in memory
	 */
	bool is_backward;
	/* whether `make` reads objects or values through block->twin */
	bool has_twins;
	derive_block_fn make; /* may run on any thread and must not use the store */
	derive_block_fn take; /* runs in block order on the calling thread; NULL if not needed */
	void *ctx;
	size_t room_bytes; /* size of each slot's `room` */
	/* frees memory owned by a `room`; NULL if a room owns no memory */
	void (*release)(void *room);
};

/*
 * Calls `make` and then `take` for every block. Columns that `make` reads must first be opened with
 * store_column_prepare, because looking up blocks is not safe on other threads.
 */
int derive_each_block(struct derive *derive, const struct derive_pass *pass, struct hdb_error *err);

/* What `make` needs to read the dump, and the strings of its block. */
struct derive_reader {
	struct heap *heap;                    /* borrowed */
	const struct store_block *references; /* of all blocks, from heap_string_blocks; borrowed */
	struct base_view view;
	struct heap_offsets *groups; /* owned */
};

static inline struct derive_reader derive_reader(struct heap *heap,
						 const struct store_block *references)
{
	return (struct derive_reader){ heap, references, { .src = heap->dump.source }, NULL };
}
void derive_reader_release(struct derive_reader *reader);

/* Calls `take` for each string of the block in order. Uses the block's values and bytes[1]. */
int derive_block_strings(struct derive_reader *reader, struct derive_block *block,
			 heap_take_string take, void *ctx, struct hdb_error *err);

/* Describes how the values of a packed column are computed. */
struct derive_fill {
	const char *stage;    /* for base_stage */
	bool reads_objects;   /* `fill` needs the objects */
	derive_block_fn fill; /* sets the values of a block; runs on any thread */
	/*
	 * returns false if all values of the block are 0, so that `fill` need not be called; NULL
	 * means call `fill` for every block
	 */
	bool (*has)(void *ctx, const struct heap_block *objects);
	void *ctx;
	/*
	 * First key of this column in a table with several columns. If is_whole is set, the last
	 * block is padded, so that each column has the same number of keys.
	 */
	uint32_t base;
	bool is_whole;
};

/* Writes a packed column in block order. The caller calls store_put_table. */
int derive_put_column(struct derive *derive, struct store_writer *writer, enum store_table table,
		      const struct derive_fill *fill, struct hdb_error *err);

#endif
