/*
 * derive/references.h - the stored references of every block of objects, decoded on all threads.
 * Private to derive.
 */
#ifndef DERIVE_REFERENCES_H
#define DERIVE_REFERENCES_H

#include "derive/derive.h"

/*
 * Looks up every block of the table references, into *blocks (calloc'ed, to be freed), so that
 * decoding needs no more of the store.
 */
int derive_reference_blocks(struct derive *derive, struct store_block **blocks,
			    struct hdb_error *err);

/* A block's references as store_lists_decode gives them. */
struct derive_references {
	uint32_t first_ix, count;
	const uint64_t *length;  /* by object; STORE_LIST_IS_BIG: read it with heap_references */
	const uint32_t *entries; /* of all lists that are not big, one after the other */
};

/* Decodes all blocks on all threads and calls `take` for each, in order, on the calling thread. */
int derive_each_references(struct derive *derive, const char *stage,
			   int (*take)(void *ctx, const struct derive_references *references,
				       struct hdb_error *err),
			   void *ctx, struct hdb_error *err);

#endif
