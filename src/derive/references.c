/*
 * derive/references.c - the stored references of every block, decoded on all threads.
 */
#include "derive/references.h"

#include "base/pipeline.h"
#include "derive/blocks.h"

#include <stdlib.h>

int derive_reference_blocks(struct derive *derive, struct store_block **blocks,
			    struct hdb_error *err)
{
	struct heap *heap = derive->heap;
	const uint32_t n = heap_block_count(heap);

	*blocks = calloc((size_t)n + 1, sizeof(**blocks));
	if (!*blocks)
		return hdb_fail_memory(err, "blocks of references", n * sizeof(**blocks));
	for (uint32_t b = 0; b < n; b++) {
		const uint32_t first_ix = b * STORE_BLOCK_OBJECTS;
		const uint32_t left = heap->object_count - first_ix;
		int r = store_block(heap->store, STORE_REFERENCES, first_ix, &(*blocks)[b], err);

		if (r == HDB_NOTFOUND)
			r = store_damaged(heap->store, STORE_REFERENCES, first_ix, "block missing",
					  err);
		if (r == HDB_OK && (*blocks)[b].item_count !=
				   (left < STORE_BLOCK_OBJECTS ? left : STORE_BLOCK_OBJECTS))
			r = store_damaged(heap->store, STORE_REFERENCES, first_ix,
					  "impossible size", err);
		if (r < 0)
			return r;
	}
	return HDB_OK;
}

struct each {
	struct derive *derive;
	struct store_block *blocks;
	struct derive_references *slots;
	int (*take)(void *ctx, const struct derive_references *references, struct hdb_error *err);
	void *ctx;
};

static int produce(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	const struct each *each = ctx;
	struct derive_references *s = &each->slots[slot];

	s->first_ix = (uint32_t)item * STORE_BLOCK_OBJECTS;
	s->count = each->blocks[item].item_count;
	s->entries.count = 0;
	return store_lists_decode(each->derive->heap->store, STORE_REFERENCES, &each->blocks[item],
				  each->derive->heap->object_count, s->length, &s->entries, err);
}

static int consume(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	const struct each *each = ctx;
	const int r = base_step(each->derive->work, item * STORE_BLOCK_OBJECTS, err);

	return r == HDB_OK ? each->take(each->ctx, &each->slots[slot], err) : r;
}

int derive_each_references(struct derive *derive, const char *stage,
			   int (*take)(void *ctx, const struct derive_references *references,
				       struct hdb_error *err),
			   void *ctx, struct hdb_error *err)
{
	struct each each = { .derive = derive, .take = take, .ctx = ctx };
	const struct base_pipeline pipeline = {
		.item_count = heap_block_count(derive->heap), .threads = derive->work->threads,
		.slot_count = DERIVE_SLOTS_PER_THREAD * derive->work->threads, .ctx = &each,
		.produce = produce, .consume = consume,
	};
	int r = derive_reference_blocks(derive, &each.blocks, err);

	base_stage(derive->work, stage, derive->heap->object_count, "objects");
	each.slots = calloc(pipeline.slot_count, sizeof(*each.slots));
	if (r == HDB_OK && !each.slots)
		r = hdb_fail_memory(err, "blocks of references", sizeof(*each.slots));
	for (unsigned i = 0; each.slots && i < pipeline.slot_count; i++) {
		each.slots[i].length = malloc(STORE_BLOCK_OBJECTS * sizeof(uint64_t));
		if (!each.slots[i].length)
			r = hdb_fail_memory(err, "blocks of references", STORE_BLOCK_OBJECTS * 8);
	}
	if (r == HDB_OK)
		r = base_pipeline_run(&pipeline, err);
	for (unsigned i = 0; each.slots && i < pipeline.slot_count; i++) {
		free(each.slots[i].length);
		base_vec_release(&each.slots[i].entries);
	}
	free(each.slots);
	free(each.blocks);
	return r;
}
