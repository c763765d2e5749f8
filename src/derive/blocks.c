/*
 * derive/blocks.c - work on every block of objects, on all threads.
 */
#include "derive/blocks.h"

#include "base/pipeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct each {
	struct derive *derive;
	const struct derive_pass *pass;
	struct derive_block *slots;
};

static int produce(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct each *each = ctx;
	struct derive_block *block = &each->slots[slot];
	const uint32_t n = each->derive->heap->object_count;
	const uint32_t no = each->pass->is_backward ?
				    heap_block_count(each->derive->heap) - 1 - (uint32_t)item :
				    (uint32_t)item;
	const uint32_t first_ix = no * STORE_BLOCK_OBJECTS;
	int r = HDB_OK;

	assert(no < heap_block_count(each->derive->heap));
	assert(first_ix < n);
	block->block_no = no;
	block->bytes[0].count = block->bytes[1].count = 0;
	block->objects->first_ix = first_ix;
	block->objects->count =
		n - first_ix < STORE_BLOCK_OBJECTS ? n - first_ix : STORE_BLOCK_OBJECTS;
	if (each->pass->reads_objects)
		r = heap_read_block(each->derive->heap, block->block_no, block->objects, err);
	else if (each->pass->reads_classes)
		r = heap_read_classes(each->derive->heap, block->block_no, block->objects, err);
	if (r != HDB_OK)
		return r;
	return each->pass->make(each->pass->ctx, block, err);
}

static int consume(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct each *each = ctx;
	const int r = base_step(each->derive->work, item * STORE_BLOCK_OBJECTS, err);

	if (r != HDB_OK || !each->pass->take)
		return r;
	return each->pass->take(each->pass->ctx, &each->slots[slot], err);
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
	base_heap_trim(each->derive->work);
}

int derive_each_block(struct derive *derive, const struct derive_pass *pass, struct hdb_error *err)
{
	struct each each = { .derive = derive, .pass = pass };
	const struct base_pipeline pipeline = {
		.item_count = heap_block_count(derive->heap),
		.threads = derive->work->threads,
		.slot_count = DERIVE_SLOTS_PER_THREAD * derive->work->threads,
		.ctx = &each,
		.produce = produce,
		.consume = consume,
	};
	int r = HDB_OK;

	assert(pass->make);
	assert(!pass->reads_objects || !pass->reads_classes);
	base_stage(derive->work, pass->stage, derive->heap->object_count, "objects");
	each.slots = calloc(pipeline.slot_count, sizeof(*each.slots));
	if (!each.slots)
		return hdb_fail_memory(err, "blocks of objects", sizeof(*each.slots));
	for (unsigned i = 0; i < pipeline.slot_count; i++) {
		each.slots[i].slot = i;
		each.slots[i].objects = malloc(sizeof(*each.slots[i].objects));
		each.slots[i].values = malloc(STORE_BLOCK_OBJECTS * sizeof(uint64_t));
		if (!each.slots[i].objects || !each.slots[i].values) {
			r = hdb_fail_memory(err, "blocks of objects", sizeof(struct heap_block));
			goto out;
		}
	}
	if (pass->reads_objects || pass->reads_classes)
		r = heap_prepare_blocks(derive->heap, derive->work->threads, err);
	if (r != HDB_OK)
		goto out;
	r = base_pipeline_run(&pipeline, err);
out:
	free_slots(&each, pipeline.slot_count);
	return r;
}

struct column {
	struct store_writer *writer;
	enum store_table table;
	uint32_t base; /* of its keys */
	const struct derive_fill *fill;
	struct base_vec zeros; /* a whole block of them, packed; of a fill with `has` */
};

/* Packs a whole block of zeros. */
static int pack_zeros(struct base_vec *out, struct hdb_error *err)
{
	uint64_t *values = calloc(STORE_BLOCK_OBJECTS, sizeof(*values));
	const int r = values ? base_pack_encode(out, values, STORE_BLOCK_OBJECTS, err) :
			       hdb_fail_memory(err, "a block of zeros", STORE_BLOCK_OBJECTS * 8);

	free(values);
	return r;
}

/* Whether a block is one that `zeros` stands for. */
static bool is_zeros(const struct column *column, const struct derive_block *block)
{
	return column->fill->has && block->objects->count == STORE_BLOCK_OBJECTS &&
	       !column->fill->has(column->fill->ctx, block->objects);
}

static int pack(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct column *column = ctx;

	if (is_zeros(column, block))
		return HDB_OK;
	TRY(column->fill->fill(column->fill->ctx, block, err));
	return base_pack_encode(&block->bytes[0], block->values, block->objects->count, err);
}

static int put(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct column *column = ctx;
	const struct base_vec *bytes = block->bytes[0].count ? &block->bytes[0] : &column->zeros;

	return store_put(column->writer, column->table,
			 &(struct store_block){ .key = block->objects->first_ix,
						.item_count = block->objects->count,
						.data = bytes->data,
						.size = bytes->count },
			 err);
}

/* Blocks of a column that others follow are whole ones. */
static int pack_whole(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct column *column = ctx;
	const uint32_t count = block->objects->count;

	TRY(column->fill->fill(column->fill->ctx, block, err));
	assert(count <= STORE_BLOCK_OBJECTS);
	memset(block->values + count, 0, (STORE_BLOCK_OBJECTS - count) * sizeof(*block->values));
	return base_pack_encode(&block->bytes[0], block->values, STORE_BLOCK_OBJECTS, err);
}

static int put_whole(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct column *column = ctx;

	return store_put(column->writer, column->table,
			 &(struct store_block){ .key = column->base + block->objects->first_ix,
						.item_count = STORE_BLOCK_OBJECTS,
						.data = block->bytes[0].data,
						.size = block->bytes[0].count },
			 err);
}

int derive_put_column(struct derive *derive, struct store_writer *writer, enum store_table table,
		      const struct derive_fill *fill, struct hdb_error *err)
{
	struct column column = { .writer = writer, .table = table, .fill = fill };
	const struct derive_pass pass = {
		.stage = fill->stage,
		.reads_objects = fill->reads_objects,
		.make = pack,
		.take = put,
		.ctx = &column,
	};
	int r = fill->has ? pack_zeros(&column.zeros, err) : HDB_OK;

	if (r == HDB_OK)
		r = derive_each_block(derive, &pass, err);
	base_vec_release(&column.zeros);
	return r;
}

int derive_put_column_at(struct derive *derive, struct store_writer *writer,
			 struct derive_column_at at, const struct derive_fill *fill,
			 struct hdb_error *err)
{
	struct column column = {
		.writer = writer, .table = at.table, .base = at.base, .fill = fill
	};
	const struct derive_pass pass = {
		.stage = fill->stage,
		.reads_objects = fill->reads_objects,
		.make = pack_whole,
		.take = put_whole,
		.ctx = &column,
	};

	assert(at.base % STORE_BLOCK_OBJECTS == 0);
	return derive_each_block(derive, &pass, err);
}
