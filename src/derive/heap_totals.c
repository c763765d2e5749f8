/*
 * derive/heap_totals.c - builds the `whole` table: the number and total size of all objects in the
 * heap, reachable and unreachable.
 *
 * The import has counted all objects by class (table class.counts). The reachable objects are all
 * objects minus the unreachable ones, so only the blocks with unreachable objects are read. If this
 * process has built the dominators, it has already counted the unreachable objects, and no blocks
 * are read.
 */
#include "derive/blocks.h"
#include "derive/build.h"

#include <assert.h>
#include <stdlib.h>

static_assert(sizeof(struct derive_heap_totals) == STORE_WHOLE_BYTES, "stored");

struct whole {
	struct derive *derive;
	/* indexed by block: whether the objects of the block must be counted */
	uint8_t *is_looked_at;
	struct derive_heap_totals sum;
	struct derive_heap_totals all; /* totals of all objects, from the import's counts */
	bool has_counts;
};

static void add_whole(struct derive_heap_totals *to, const struct derive_heap_totals *more)
{
	to->count += more->count;
	to->shallow_bytes += more->shallow_bytes;
	to->unreachable_count += more->unreachable_count;
	to->unreachable_bytes += more->unreachable_bytes;
}

/*
 * Finds the blocks with unreachable objects. Without counts from the import, every block is
 * counted.
 */
static int look_at_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct whole *w = ctx;
	uint32_t count, unreached = 0;

	TRY(store_column_block(&w->derive->dominators, block->objects->first_ix, block->values,
			       &count, err));
	for (uint32_t i = 0; i < count; i++)
		unreached += block->values[i] == 0;
	w->is_looked_at[block->block_no] = !w->has_counts || unreached;
	return HDB_OK;
}

/* Counts the objects of a block. In the `dominators` table, the value 0 means unreachable. */
static int count_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct whole *w = ctx;
	struct heap *heap = w->derive->heap;
	struct heap_block *objects = block->objects;
	struct derive_heap_totals *sum = block->room;
	uint32_t count;

	*sum = (struct derive_heap_totals){ 0 };
	if (!w->is_looked_at[block->block_no])
		return HDB_OK;
	TRY(store_column_block(&w->derive->dominators, objects->first_ix, block->values, &count,
			       err));
	TRY(heap_read_block(heap, block->block_no, objects, err));
	for (uint32_t i = 0; i < objects->count; i++) {
		if (!heap_is_counted(heap, objects, i))
			continue;
		if (block->values[i]) {
			sum->count++;
			sum->shallow_bytes += objects->shallow[i];
		} else {
			sum->unreachable_count++;
			sum->unreachable_bytes += objects->shallow[i];
		}
	}
	return HDB_OK;
}

static int add_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct whole *w = ctx;

	(void)err;
	add_whole(&w->sum, block->room);
	return HDB_OK;
}

static int add_counted(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct derive_heap_totals *all = ctx;

	(void)err;
	if (!count->is_invented) {
		all->count += count->count;
		all->shallow_bytes += count->shallow_bytes;
	}
	return HDB_OK;
}

/*
 * Counts all objects. If the import's counts exist and this process has built the dominators, no
 * pass is needed. Otherwise, a first pass finds the blocks with unreachable objects, which are
 * usually few, and a second pass counts these objects.
 */
static int count_all(struct whole *w, struct hdb_error *err)
{
	struct derive *derive = w->derive;
	struct heap *heap = derive->heap;
	const uint32_t blocks = heap_block_count(heap);
	int r;

	TRY(heap_load_classes(heap, err));
	/* Databases of older versions have no counts. */
	TRY_ERRORS(r = heap_each_count(heap, add_counted, &w->all, err));
	w->has_counts = r == HDB_OK;
	if (w->has_counts && derive->unreached.is_known) {
		w->sum.unreachable_count = derive->unreached.count;
		w->sum.unreachable_bytes = derive->unreached.shallow_bytes;
		return HDB_OK;
	}
	TRY(store_column_prepare(&derive->dominators, err));
	TRY(derive_each_block(derive,
			      &(struct derive_pass){ .stage = "counting reachable objects",
						     .make = look_at_block,
						     .ctx = w },
			      err));
	for (uint32_t b = 0; b < blocks; b++)
		if (w->is_looked_at[b])
			TRY(heap_prepare_block(heap, b, err));
	return derive_each_block(derive,
				 &(struct derive_pass){ .stage = "counting unreachable objects",
							.make = count_block,
							.take = add_block,
							.ctx = w,
							.room_bytes = sizeof(w->sum) },
				 err);
}

static void release(struct whole *w)
{
	free(w->is_looked_at);
}

static int build_whole(struct derive *derive, struct store_writer *writer, struct hdb_error *err)
{
	BASE_SCOPED(release) struct whole w = { .derive = derive };

	TRY(BASE_ALLOC(w.is_looked_at, heap_block_count(derive->heap), "the sum of all objects",
		       err));
	TRY(count_all(&w, err));
	if (w.has_counts) {
		w.sum.count = w.all.count - w.sum.unreachable_count;
		w.sum.shallow_bytes = w.all.shallow_bytes - w.sum.unreachable_bytes;
	}
	return store_records_put_all(writer, derive_table(derive, STORE_WHOLE), &w.sum, 1, err);
}

const struct derive_builder derive_build_whole = {
	.tables = { STORE_WHOLE },
	.needs = { STORE_DOMINATORS },
	.build = build_whole,
};

/* Adds up the totals by class, which contain the same numbers. */
static int add_totals(struct derive *derive, struct derive_heap_totals *out, struct hdb_error *err)
{
	BASE_FREED struct derive_total *totals = NULL;
	size_t count = 0;

	*out = (struct derive_heap_totals){ 0 };
	TRY(derive_totals(derive, DERIVE_CLASS, &totals, &count, err));
	for (size_t i = 0; i < count; i++) {
		out->count += totals[i].count;
		out->shallow_bytes += totals[i].shallow_bytes;
		out->unreachable_count += totals[i].unreachable_count;
		out->unreachable_bytes += totals[i].unreachable_bytes;
	}
	return HDB_OK;
}

bool derive_has_whole(struct derive *derive)
{
	return derive_has(derive, STORE_WHOLE) || derive_has(derive, STORE_TOTALS);
}

int derive_heap_totals(struct derive *derive, struct derive_heap_totals *out, struct hdb_error *err)
{
	int r;

	if (!derive_has(derive, STORE_WHOLE) && derive_has(derive, STORE_TOTALS))
		return add_totals(derive, out, err);
	/* The classes must be loaded before the table can be built. */
	TRY(heap_load_classes(derive->heap, err));
	TRY(derive_need(derive, STORE_WHOLE, err));
	r = store_record(derive->heap->store, derive_table(derive, STORE_WHOLE), 0, out, err);
	return r == HDB_NOTFOUND ?
		       store_damaged(derive->heap->store, derive_table(derive, STORE_WHOLE), 0,
				     "record missing", err) :
		       r;
}
