/*
 * derive/dominator_rows.c - the tables dominators and retained, from each object's dominator, where
 * objects are in any order.
 */
#include "derive/dominator_rows.h"

#include "base/chunked_buffer.h"
#include "base/pack.h"
#include "base/thread.h"
#include "derive/top_notes.h"
#include "graph/dominators/subtree_sums.h"

#include <assert.h>
#include <stdlib.h>

/* What a block's work has for itself. */
struct tables_slot {
	uint32_t *parent;      /* STORE_BLOCK_OBJECTS */
	struct base_vec sizes; /* struct graph_tree_size */
	struct derive_unreached unreached;
	BASE_APART;
};

/* A block of dominators as in their table, once it was written: where it is in `packed`. */
struct packed_block {
	uint64_t position, size;
};

struct tables {
	struct derive *derive;
	struct store_writer *writer;
	const struct derive_parents *from;
	struct tables_slot *slots;
	unsigned slot_count;
	struct packed_block *blocks;
	struct base_chunks packed;
	struct graph_subtree_sums sums;
	struct derive_top_notes top;
};

static int pack_parents(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct tables *t = ctx;
	uint32_t *parent = t->slots[block->slot].parent;
	const uint32_t first = block->objects->first_ix, count = block->objects->count;
	const int r = t->from->read(t->from->ctx, block, parent, err);

	if (r != HDB_OK)
		return r;
	graph_subtree_sums_mark(&t->sums, first, parent, count);
	for (uint32_t i = 0; i < count; i++)
		block->values[i] = derive_tree_value(first + i, parent[i]);
	derive_top_mark(&t->top, block);
	return pack_encode(&block->bytes[0], block->values, count, err);
}

static int put_parents(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct tables *t = ctx;
	struct packed_block *packed = &t->blocks[block->block_no];
	const struct base_vec *bytes = &block->bytes[0];
	uint8_t *room;
	const int r = base_chunks_add(&t->packed, bytes->count, &packed->position, &room, err);

	if (r != HDB_OK)
		return r;
	assert(!packed->size);
	packed->size = bytes->count;
	memcpy(room, bytes->data, bytes->count);
	return store_put(t->writer, derive_table(t->derive, STORE_DOMINATORS),
			 &(struct store_block){ .key = block->objects->first_ix,
						.item_count = block->objects->count,
						.data = bytes->data,
						.size = bytes->count },
			 err);
}

static int write_parents(struct tables *t, struct hdb_error *err)
{
	struct derive *derive = t->derive;
	int r;

	base_chunks_init(&t->packed, BASE_CHUNK_BYTES, derive->work, "dominators");
	r = graph_subtree_sums_init(&t->sums, derive->heap->object_count, derive->work, err);
	if (r != HDB_OK)
		return r;
	if ((r = derive_top_begin(&t->top, derive, err)) != HDB_OK)
		return r;
	return derive_each_block(derive,
				 &(struct derive_pass){ .stage = "writing dominators",
							.make = pack_parents,
							.take = put_parents,
							.ctx = t },
				 err);
}

/* Writes the dominators, and gives free where they come from. */
static int write_dominators(struct tables *t, struct hdb_error *err)
{
	int r = write_parents(t, err);

	t->from->release(t->from->ctx);
	if (r != HDB_OK)
		return r;
	graph_subtree_sums_rank(&t->sums);
	if ((r = graph_subtree_sums_begin(&t->sums, err)) != HDB_OK)
		return r;
	return derive_top_marked(&t->top, err);
}

/* The dominators of a block that was written; uses its values. */
static int read_parents(const struct tables *t, struct derive_block *block, uint32_t *parent,
			struct hdb_error *err)
{
	const struct packed_block *packed = &t->blocks[block->block_no];
	const uint32_t first = block->objects->first_ix, count = block->objects->count;
	struct pack_column column;
	const int r = pack_open(&column, base_chunks_at(&t->packed, packed->position), packed->size,
				count, err);

	if (r < 0)
		return r;
	assert(count <= STORE_BLOCK_OBJECTS);
	for (uint32_t g = 0; g * PACK_GROUP < count; g++)
		(void)pack_group(&column, g, block->values + (size_t)g * PACK_GROUP);
	for (uint32_t i = 0; i < count; i++)
		parent[i] = derive_tree_parent(block->values[i], first + i);
	return HDB_OK;
}

static void count_unreached(const struct tables *t, const struct heap_block *objects,
			    struct tables_slot *s)
{
	for (uint32_t i = 0; i < objects->count; i++) {
		if (s->parent[i] != objects->first_ix + i ||
		    !derive_is_counted(t->derive->heap, objects, i))
			continue;
		s->unreached.count++;
		s->unreached.shallow_bytes += objects->shallow[i];
	}
}

static int add_sizes(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct tables *t = ctx;
	struct tables_slot *s = &t->slots[block->slot];
	const int r = read_parents(t, block, s->parent, err);

	if (r != HDB_OK)
		return r;
	count_unreached(t, block->objects, s);
	for (uint32_t i = 0; i < block->objects->count; i++)
		block->values[i] = derive_units(t->derive, block->objects->shallow[i]);
	derive_top_set(&t->top, block->objects, block->values);
	return graph_subtree_sums_add(&t->sums, &s->sizes,
				      &(struct graph_tree_range){ .first = block->objects->first_ix,
								  .count = block->objects->count,
								  .parent = s->parent,
								  .size = block->values },
				      err);
}

static int join_sizes(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct tables *t = ctx;

	return graph_subtree_sums_join(&t->sums, &t->slots[block->slot].sizes, err);
}

static int fill_retained(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct tables *t = ctx;

	(void)err;
	graph_subtree_sums_below(&t->sums, block->objects->first_ix, block->values,
				 block->objects->count);
	derive_top_add(&t->top, block->objects, block->values);
	return HDB_OK;
}

/* For the table whole, for which objects need not be looked at again then. */
static void keep_unreached(const struct tables *t)
{
	struct derive_unreached *sum = &t->derive->unreached;

	*sum = (struct derive_unreached){ .is_known = true };
	for (unsigned i = 0; i < t->slot_count; i++) {
		sum->count += t->slots[i].unreached.count;
		sum->shallow_bytes += t->slots[i].unreached.shallow_bytes;
	}
}

static int write_tables(struct tables *t, struct hdb_error *err)
{
	struct derive *derive = t->derive;
	const uint32_t n = derive->heap->object_count;
	int r = write_dominators(t, err);

	if (r != HDB_OK)
		return r;
	r = derive_each_block(derive,
			      &(struct derive_pass){ .stage = "shallow sizes",
						     .reads_objects = true,
						     .make = add_sizes,
						     .take = join_sizes,
						     .ctx = t },
			      err);
	if (r != HDB_OK)
		return r;
	keep_unreached(t);
	base_chunks_release(&t->packed);
	if ((r = graph_subtree_sums_up(&t->sums, err)) != HDB_OK)
		return r;
	r = derive_put_column(derive, t->writer, derive_table(derive, STORE_RETAINED),
			      &(struct derive_fill){ .stage = "writing retained sizes",
						     .fill = fill_retained,
						     .ctx = t },
			      err);
	if (r != HDB_OK)
		return r;
	graph_subtree_sums_release(&t->sums);
	r = store_put_table(t->writer, derive_table(derive, STORE_DOMINATORS), n, err);
	if (r != HDB_OK)
		return r;
	r = store_put_table(t->writer, derive_table(derive, STORE_RETAINED), n, err);
	if (r != HDB_OK)
		return r;
	return derive_top_keep(&t->top, derive, err);
}

static int make_slots(struct tables *t, struct hdb_error *err)
{
	t->slot_count = DERIVE_SLOTS_PER_THREAD * t->derive->work->threads;
	t->slots = calloc(t->slot_count, sizeof(*t->slots));
	t->blocks = calloc((size_t)heap_block_count(t->derive->heap) + 1, sizeof(*t->blocks));
	for (unsigned i = 0; t->slots && i < t->slot_count; i++) {
		t->slots[i].parent = malloc(STORE_BLOCK_OBJECTS * sizeof(*t->slots[i].parent));
		if (!t->slots[i].parent)
			return hdb_fail_memory(err, "dominators",
					       STORE_BLOCK_OBJECTS * sizeof(*t->slots[i].parent));
	}
	return t->slots && t->blocks ? HDB_OK :
				       hdb_fail_memory(err, "dominators", sizeof(*t->slots));
}

int derive_put_parents(struct derive *derive, struct store_writer *writer,
		       const struct derive_parents *from, struct hdb_error *err)
{
	struct tables t = { .derive = derive, .writer = writer, .from = from };
	int r;

	assert(from->read);
	assert(from->release);
	if ((r = make_slots(&t, err)) != HDB_OK)
		goto out;
	r = write_tables(&t, err);
out:
	graph_subtree_sums_release(&t.sums);
	base_chunks_release(&t.packed);
	derive_top_release(&t.top);
	free(t.blocks);
	for (unsigned i = 0; t.slots && i < t.slot_count; i++) {
		free(t.slots[i].parent);
		base_vec_release(&t.slots[i].sizes);
	}
	free(t.slots);
	return r;
}
