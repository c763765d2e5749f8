/* derive/references.c - decodes the stored references of every block, on several threads. */
#include "derive/references.h"

#include "base/pipeline.h"
#include "derive/blocks.h"

#include <stdlib.h>

struct finding {
	const struct heap *heap;
	struct store_block *blocks;
};

static int find_block(void *ctx, unsigned slot, uint64_t block_no, struct hdb_error *err)
{
	const struct finding *finding = ctx;
	const struct heap *heap = finding->heap;
	struct store_block *block = &finding->blocks[block_no];
	const uint32_t first_ix = (uint32_t)block_no * STORE_BLOCK_OBJECTS;
	const uint32_t left = heap->object_count - first_ix;

	(void)slot;
	TRY(store_need_block(heap->store, STORE_REFERENCES, first_ix, block, err));
	if (block->item_count != (left < STORE_BLOCK_OBJECTS ? left : STORE_BLOCK_OBJECTS))
		return store_damaged(heap->store, STORE_REFERENCES, first_ix, "impossible size",
				     err);
	return HDB_OK;
}

int derive_reference_blocks(struct derive *derive, struct store_block **blocks,
			    struct hdb_error *err)
{
	const uint32_t n = heap_block_count(derive->heap);
	struct finding finding = { .heap = derive->heap };

	TRY(BASE_ALLOC(finding.blocks, n, "blocks of references", err));
	*blocks = finding.blocks;
	return base_pipeline_each(n, derive->work->threads, &finding, find_block, err);
}

struct each {
	struct derive *derive;
	struct store_block *blocks;
	int (*take)(void *ctx, const struct derive_references *references, struct hdb_error *err);
	void *ctx;
};

/* Decodes a block. The lengths go to its values, and the entries to bytes[0]. */
static int decode(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct each *each = ctx;
	const struct store_lists_of of = heap_references_of(each->derive->heap);
	struct store_lists_out lists = { .lengths = block->values, .target = &block->bytes[0] };

	return store_lists_decode(&of, &each->blocks[block->block_no], &lists, err);
}

static int hand_over(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct each *each = ctx;
	const struct derive_references references = {
		.first_ix = block->objects->first_ix,
		.count = block->objects->count,
		.length = block->values,
		.entries = block->bytes[0].data,
	};

	return each->take(each->ctx, &references, err);
}

static void release(struct each *each)
{
	free(each->blocks);
}

int derive_each_references(struct derive *derive, const char *stage,
			   int (*take)(void *ctx, const struct derive_references *references,
				       struct hdb_error *err),
			   void *ctx, struct hdb_error *err)
{
	BASE_SCOPED(release) struct each each = { .derive = derive, .take = take, .ctx = ctx };

	TRY(derive_reference_blocks(derive, &each.blocks, err));
	return derive_each_block(
		derive,
		&(struct derive_pass){
			.stage = stage, .make = decode, .take = hand_over, .ctx = &each },
		err);
}
