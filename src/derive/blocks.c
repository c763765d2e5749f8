/* derive/blocks.c - runs a function on every block of objects, on several threads. */
#include "derive/blocks.h"

#include "base/pipeline.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * State of one call of derive_each_block. The pipeline assigns a slot to each block that is being
 * processed.
 */
struct each {
	struct derive *derive;
	const struct derive_pass *pass;
	struct derive_block *slots;
	unsigned slot_count;
	struct twin *twins; /* one per thread that can have a block, or NULL */
	unsigned twin_count;
};

struct twin {
	struct heap *heap;
	atomic_bool is_used;
};

/* Makes a block with a twin of the heap. At most one block per thread is made at a time. */
static int make_with_twin(struct each *each, struct derive_block *block, struct hdb_error *err)
{
	struct twin *twin = each->twins;
	int r;

	while (atomic_exchange(&twin->is_used, true))
		if (++twin == each->twins + each->twin_count)
			twin = each->twins;
	block->twin = twin->heap;
	r = each->pass->make(each->pass->ctx, block, err);
	atomic_store(&twin->is_used, false);
	return r;
}

static int make_twins(struct each *each, struct hdb_error *err)
{
	const uint32_t blocks = heap_block_count(each->derive->heap);
	const unsigned threads = each->derive->work->threads;

	each->twin_count = blocks < threads ? blocks : threads;
	TRY(BASE_ALLOC(each->twins, each->twin_count, "blocks of objects", err));
	for (unsigned i = 0; i < each->twin_count; i++)
		TRY(heap_twin(each->derive->heap, &each->twins[i].heap, err));
	return HDB_OK;
}

/*
 * Produces a block. May run on any thread. Only one block uses a slot at a time, so the slot's
 * buffers need no locks.
 */
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
	TRY(r);
	return each->twins ? make_with_twin(each, block, err) :
			     each->pass->make(each->pass->ctx, block, err);
}

/*
 * Calls `take` for a block. Runs on the calling thread, in block order, so `take` needs no locks.
 */
static int consume(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct each *each = ctx;
	const int r = base_step(each->derive->work, item * STORE_BLOCK_OBJECTS, err);

	if (r != HDB_OK || !each->pass->take)
		return r;
	return each->pass->take(each->pass->ctx, &each->slots[slot], err);
}

static void free_slots(struct each *each)
{
	for (unsigned i = 0; each->slots && i < each->slot_count; i++) {
		struct derive_block *slot = &each->slots[i];

		if (slot->room && each->pass->release)
			each->pass->release(slot->room);
		free(slot->room);
		free(slot->objects);
		free(slot->values);
		base_vec_release(&slot->bytes[0]);
		base_vec_release(&slot->bytes[1]);
	}
	free(each->slots);
	for (unsigned i = 0; each->twins && i < each->twin_count; i++)
		heap_twin_close(each->twins[i].heap);
	free(each->twins);
	base_heap_trim(each->derive->work);
}

/*
 * Allocates the slots before the threads start, so that the calling thread can report an allocation
 * failure.
 */
static int make_slots(struct each *each, struct hdb_error *err)
{
	static const char what[] = "blocks of objects";

	TRY(BASE_ALLOC(each->slots, each->slot_count, what, err));
	for (unsigned i = 0; i < each->slot_count; i++) {
		struct derive_block *slot = &each->slots[i];

		slot->slot = i;
		/*
		 * The memory is not zeroed. On a small heap, zeroing it would take a seventh of the
		 * time of the first `top` query.
		 */
		slot->objects = malloc(sizeof(*slot->objects));
		slot->values = malloc(STORE_BLOCK_OBJECTS * sizeof(*slot->values));
		if (!slot->objects || !slot->values)
			return hdb_fail_memory(err, what, sizeof(*slot->objects));
		if (each->pass->room_bytes &&
		    !(slot->room = base_alloc(1, each->pass->room_bytes, what, err)))
			return HDB_ENOMEM;
	}
	return HDB_OK;
}

/*
 * Runs a pass. `take` gets the blocks in order, so the result does not depend on the number of
 * threads.
 */
int derive_each_block(struct derive *derive, const struct derive_pass *pass, struct hdb_error *err)
{
	BASE_SCOPED(free_slots)
	struct each each = {
		.derive = derive,
		.pass = pass,
		.slot_count = DERIVE_SLOTS_PER_THREAD * derive->work->threads,
	};
	const struct base_pipeline pipeline = {
		.item_count = heap_block_count(derive->heap),
		.threads = derive->work->threads,
		.slot_count = each.slot_count,
		.ctx = &each,
		.produce = produce,
		.consume = consume,
	};

	assert(pass->make);
	assert(!pass->reads_objects || !pass->reads_classes);
	base_stage(derive->work, pass->stage, derive->heap->object_count, "objects");
	TRY(make_slots(&each, err));
	if (pass->has_twins)
		TRY(make_twins(&each, err));
	if (pass->reads_objects || pass->reads_classes)
		TRY(heap_prepare_blocks(derive->heap, derive->work->threads, err));
	return base_pipeline_run(&pipeline, err);
}

struct column {
	struct store_writer *writer;
	enum store_table table;
	const struct derive_fill *fill;
	struct base_vec zeros; /* packed block of zeros, used only if the column sets `has` */
};

/*
 * Packs a block of zeros. This is done only once, because every block without values stores the
 * same bytes.
 */
static int pack_zeros(struct base_vec *out, struct hdb_error *err)
{
	BASE_FREED uint64_t *values = NULL;

	TRY(BASE_ALLOC(values, STORE_BLOCK_OBJECTS, "a block of zeros", err));
	return base_pack_encode(out, values, STORE_BLOCK_OBJECTS, err);
}

/* Returns whether a full block contains no values. In this case, `zeros` is stored instead. */
static bool is_zeros(const struct column *column, const struct derive_block *block)
{
	return column->fill->has && block->objects->count == STORE_BLOCK_OBJECTS &&
	       !column->fill->has(column->fill->ctx, block->objects);
}

/*
 * Returns the number of values stored for a block. If is_whole is set, the last block is padded
 * with zeros.
 */
static uint32_t value_count(const struct column *column, const struct derive_block *block)
{
	return column->fill->is_whole ? STORE_BLOCK_OBJECTS : block->objects->count;
}

/* Fills and encodes a block. If is_whole is set, the values after the last object are zeros. */
static int pack(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct column *column = ctx;
	const uint32_t count = block->objects->count, values = value_count(column, block);

	if (is_zeros(column, block))
		return HDB_OK;
	TRY(column->fill->fill(column->fill->ctx, block, err));
	assert(count <= values);
	memset(block->values + count, 0, (values - count) * sizeof(*block->values));
	return base_pack_encode(&block->bytes[0], block->values, values, err);
}

/* Writes blocks in order, as the store requires. */
static int put(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct column *column = ctx;
	/* `pack` leaves bytes[0] empty only for a block for which is_zeros has returned true. */
	const struct base_vec *bytes = block->bytes[0].count ? &block->bytes[0] : &column->zeros;

	return store_put(
		column->writer, column->table,
		&(struct store_block){ .key = column->fill->base + block->objects->first_ix,
				       .item_count = value_count(column, block),
				       .data = bytes->data,
				       .size = bytes->count },
		err);
}

static void release_column(struct column *column)
{
	base_vec_release(&column->zeros);
}

int derive_put_column(struct derive *derive, struct store_writer *writer, enum store_table table,
		      const struct derive_fill *fill, struct hdb_error *err)
{
	BASE_SCOPED(release_column)
	struct column column = { .writer = writer, .table = table, .fill = fill };

	assert(fill->base % STORE_BLOCK_OBJECTS == 0);
	if (fill->has)
		TRY(pack_zeros(&column.zeros, err));
	return derive_each_block(derive,
				 &(struct derive_pass){ .stage = fill->stage,
							.reads_objects = fill->reads_objects,
							.make = pack,
							.take = put,
							.ctx = &column },
				 err);
}

void derive_reader_release(struct derive_reader *reader)
{
	base_view_release(&reader->view);
	free(reader->groups);
}

int derive_block_strings(struct derive_reader *reader, struct derive_block *block,
			 heap_take_string take, void *ctx, struct hdb_error *err)
{
	const struct heap_string_block strings = {
		.heap = reader->heap,
		.objects = block->objects,
		.references = &reader->references[block->block_no],
		.reader = { .view = &reader->view, .groups = &reader->groups },
		.lengths = block->values,
		.entries = &block->bytes[1],
	};

	return heap_string_block(&strings, take, ctx, err);
}
