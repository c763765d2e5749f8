/*
 * derive/blocks.c - work on every block of objects, on all threads.
 */
#include "derive/blocks.h"

#include "base/pipeline.h"

#include <stdlib.h>
#include <string.h>

struct each {
	struct derive *derive;
	struct derive_block *slots;
	bool reads_objects;
	bool is_backward;
	int (*make)(void *ctx, struct derive_block *block, struct hdb_error *err);
	int (*take)(void *ctx, struct derive_block *block, struct hdb_error *err);
	void *ctx;
};

static int produce(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct each *each = ctx;
	struct derive_block *block = &each->slots[slot];
	const uint32_t n = each->derive->heap->object_count;
	const uint32_t no = each->is_backward ?
				    heap_block_count(each->derive->heap) - 1 - (uint32_t)item :
				    (uint32_t)item;
	const uint32_t first_ix = no * STORE_BLOCK_OBJECTS;
	int r = HDB_OK;

	block->block_no = no;
	block->bytes[0].count = block->bytes[1].count = 0;
	block->objects->first_ix = first_ix;
	block->objects->count =
		n - first_ix < STORE_BLOCK_OBJECTS ? n - first_ix : STORE_BLOCK_OBJECTS;
	if (each->reads_objects)
		r = heap_read_block(each->derive->heap, block->block_no, block->objects, err);
	return r == HDB_OK ? each->make(each->ctx, block, err) : r;
}

static int consume(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct each *each = ctx;
	const int r = base_step(each->derive->work, item * STORE_BLOCK_OBJECTS, err);

	return r == HDB_OK && each->take ? each->take(each->ctx, &each->slots[slot], err) : r;
}

static void free_slots(struct each *each, unsigned count)
{
	for (unsigned i = 0; each->slots && i < count; i++) {
		free(each->slots[i].objects);
		free(each->slots[i].values);
		base_vec_release(&each->slots[i].bytes[0]);
		base_vec_release(&each->slots[i].bytes[1]);
	}
	free(each->slots);
	base_heap_trim();
}

static int run(struct each *each, const char *stage, struct hdb_error *err)
{
	struct derive *derive = each->derive;
	const struct base_pipeline pipeline = {
		.item_count = heap_block_count(derive->heap),
		.threads = derive->work->threads,
		.slot_count = DERIVE_SLOTS_PER_THREAD * derive->work->threads,
		.ctx = each,
		.produce = produce,
		.consume = consume,
	};
	int r = HDB_OK;

	base_stage(derive->work, stage, derive->heap->object_count, "objects");
	each->slots = calloc(pipeline.slot_count, sizeof(*each->slots));
	if (!each->slots)
		return hdb_fail_memory(err, "blocks of objects", sizeof(*each->slots));
	for (unsigned i = 0; i < pipeline.slot_count; i++) {
		each->slots[i].slot = i;
		each->slots[i].objects = malloc(sizeof(*each->slots[i].objects));
		each->slots[i].values = malloc(STORE_BLOCK_OBJECTS * sizeof(uint64_t));
		if (!each->slots[i].objects || !each->slots[i].values)
			r = hdb_fail_memory(err, "blocks of objects", sizeof(struct heap_block));
	}
	if (r != HDB_OK)
		goto out;
	for (uint32_t b = 0; each->reads_objects && b < heap_block_count(derive->heap); b++)
		if ((r = heap_prepare_block(derive->heap, b, err)) != HDB_OK)
			goto out;
	r = base_pipeline_run(&pipeline, err);
out:
	free_slots(each, pipeline.slot_count);
	return r;
}

int derive_each_block(struct derive *derive, const char *stage, bool reads_objects,
		      int (*make)(void *ctx, struct derive_block *block, struct hdb_error *err),
		      int (*take)(void *ctx, struct derive_block *block, struct hdb_error *err),
		      void *ctx, struct hdb_error *err)
{
	struct each each = { .derive = derive,
			     .make = make,
			     .take = take,
			     .ctx = ctx,
			     .reads_objects = reads_objects };

	return run(&each, stage, err);
}

int derive_each_block_turned(struct derive *derive, const char *stage, bool is_backward,
			     int (*make)(void *ctx, struct derive_block *block,
					 struct hdb_error *err),
			     int (*take)(void *ctx, struct derive_block *block,
					 struct hdb_error *err),
			     void *ctx, struct hdb_error *err)
{
	struct each each = {
		.derive = derive, .make = make, .take = take, .ctx = ctx, .is_backward = is_backward
	};

	return run(&each, stage, err);
}

struct column {
	struct store_writer *writer;
	enum store_table table;
	uint32_t base; /* of its keys */
	int (*fill)(void *ctx, struct derive_block *block, struct hdb_error *err);
	void *ctx;
};

static int pack(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct column *column = ctx;
	const int r = column->fill(column->ctx, block, err);

	return r == HDB_OK ?
		       pack_encode(&block->bytes[0], block->values, block->objects->count, err) :
		       r;
}

static int put(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct column *column = ctx;

	return store_put(column->writer, column->table, block->objects->first_ix,
			 block->objects->count, block->bytes[0].data, block->bytes[0].count, err);
}

/* Blocks of a column that others follow are whole ones. */
static int pack_whole(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct column *column = ctx;
	const uint32_t count = block->objects->count;
	const int r = column->fill(column->ctx, block, err);

	memset(block->values + count, 0, (STORE_BLOCK_OBJECTS - count) * sizeof(*block->values));
	return r == HDB_OK ?
		       pack_encode(&block->bytes[0], block->values, STORE_BLOCK_OBJECTS, err) :
		       r;
}

static int put_whole(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct column *column = ctx;

	return store_put(column->writer, column->table, column->base + block->objects->first_ix,
			 STORE_BLOCK_OBJECTS, block->bytes[0].data, block->bytes[0].count, err);
}

int derive_put_column(struct derive *derive, struct store_writer *writer, enum store_table table,
		      const char *stage, bool reads_objects,
		      int (*fill)(void *ctx, struct derive_block *block, struct hdb_error *err),
		      void *ctx, struct hdb_error *err)
{
	struct column column = { .writer = writer, .table = table, .fill = fill, .ctx = ctx };

	return derive_each_block(derive, stage, reads_objects, pack, put, &column, err);
}

int derive_put_column_at(struct derive *derive, struct store_writer *writer, uint32_t base,
			 enum store_table table,
			 int (*fill)(void *ctx, struct derive_block *block, struct hdb_error *err),
			 void *ctx, struct hdb_error *err)
{
	struct column column = {
		.writer = writer, .table = table, .base = base, .fill = fill, .ctx = ctx
	};

	return derive_each_block(derive, "writing columns", false, pack_whole, put_whole, &column,
				 err);
}
