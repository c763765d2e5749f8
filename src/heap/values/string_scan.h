/*
 * heap/values/string_scan.h - iterates over all java.lang.String objects of a heap, fast enough for
 * millions.
 */
#ifndef HEAP_VALUES_STRING_SCAN_H
#define HEAP_VALUES_STRING_SCAN_H

#include "heap/values/strings.h"

struct heap_string_scan {
	/* the current string */
	uint32_t ix;
	uint64_t shallow_bytes;
	struct heap_string string;
	/* private */
	struct heap *heap;
	struct base_view view;
	struct heap_offsets *groups;
	struct heap_block *objects;
	uint64_t *lengths;       /* lengths of the block's lists */
	struct base_vec entries; /* uint32_t: entries of these lists */
	struct store_lists references;
	uint32_t next_block;
	uint32_t i;     /* next object in the block */
	uint64_t entry; /* its first entry */
};

/* Starts an iteration, and opens the dump. The caller must release *scan even after a failure. */
int heap_string_scan_begin(struct heap_string_scan *scan, struct heap *heap, struct hdb_error *err);
/* Reads the next string in index order. Returns HDB_OK, or HDB_END after the last string. */
int heap_string_scan_next(struct heap_string_scan *scan, struct hdb_error *err);
void heap_string_scan_release(struct heap_string_scan *scan);

/*
 * Finds the characters of string ix, independently of the iteration. Returns HDB_NOTFOUND if ix is
 * not a string or the dump does not contain its characters.
 */
int heap_string_one(struct heap *heap, uint32_t ix, struct heap_string *out, struct hdb_error *err);

/* ---- by blocks, on several threads ---- */

/*
 * Looks up in the store what heap_string_block needs, one entry per block. The caller must free()
 * *out. Sets *threads_max to 1 if only one thread can find the strings of this heap. Opens the
 * dump.
 */
int heap_string_blocks(struct heap *heap, struct store_block **out, unsigned *threads_max,
		       struct hdb_error *err);

/* Called for each string of a block. */
typedef int (*heap_take_string)(void *ctx, uint32_t i, const struct heap_string *string,
				struct hdb_error *err);

/* A block from which strings are read. All pointers are borrowed. */
struct heap_string_block {
	struct heap *heap;
	const struct heap_block *objects;
	/* references of this block, from heap_string_blocks */
	const struct store_block *references;
	struct heap_reader reader;
	uint64_t *lengths;        /* room for STORE_BLOCK_OBJECTS */
	struct base_vec *entries; /* uint32_t; emptied first */
};

/* Calls `take` for each string of a block in order. `i` is the string's index in the block. */
int heap_string_block(const struct heap_string_block *block, heap_take_string take, void *ctx,
		      struct hdb_error *err);

#endif
