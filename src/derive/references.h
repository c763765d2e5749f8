/*
 * derive/references.h - decodes the stored references of every block of objects, on several
 * threads. Private to derive.
 */
#ifndef DERIVE_REFERENCES_H
#define DERIVE_REFERENCES_H

#include "derive/derive.h"

/*
 * Looks up every block of the table references. Afterwards, blocks can be decoded on any thread
 * without the store. The caller must free() *blocks.
 */
int derive_reference_blocks(struct derive *derive, struct store_block **blocks,
			    struct hdb_error *err);

/* The references of a block, as decoded by store_lists_decode. */
struct derive_references {
	uint32_t first_ix, count;
	/*
	 * number of references by object, or STORE_LIST_IS_BIG for references that must be read
	 * with heap_references
	 */
	const uint64_t *length;
	/* entries of all lists that are not big, one list after another */
	const uint32_t *entries;
};

/*
 * Decodes all blocks on several threads, and calls `take` for each block, in block order, on the
 * calling thread.
 */
int derive_each_references(struct derive *derive, const char *stage,
			   int (*take)(void *ctx, const struct derive_references *references,
				       struct hdb_error *err),
			   void *ctx, struct hdb_error *err);

#endif
