/*
 * derive/dominator_rows.c - the tables dominators and retained, from each object's dominator, where
 * objects are in any order.
 */
#include "derive/dominator_rows.h"

#include "base/spill.h"
#include "derive/blocks.h"
#include "graph/dominators/subtree_sums.h"

#include <stdlib.h>

/* What a block's work has for itself. */
struct tables_slot {
	uint32_t *parent;      /* STORE_BLOCK_OBJECTS */
	struct base_vec sizes; /* struct graph_tree_size */
};

struct tables {
	struct derive *derive;
	struct store_writer *writer;
	const struct derive_parents *from;
	struct tables_slot *slots;
	unsigned slot_count;
	bool is_parked;           /* the parents are in the file, and were released */
	struct base_spill parked; /* uint32_t by object */
	struct graph_subtree_sums sums;
};

static int read_parents(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct tables *t = ctx;
	uint32_t *parent = t->slots[block->slot].parent;
	const uint32_t first = block->objects->first_ix, count = block->objects->count;

	if (t->is_parked)
		return base_spill_read(&t->parked, (uint64_t)first * sizeof(*parent), parent,
				       count * sizeof(*parent), err);
	return t->from->read(t->from->ctx, first, count, parent, err);
}

static int mark_parents(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct tables *t = ctx;
	const int r = read_parents(t, block, err);

	if (r != HDB_OK)
		return r;
	graph_subtree_sums_mark(&t->sums, block->objects->first_ix, t->slots[block->slot].parent,
				block->objects->count);
	return r;
}

static int write_parents(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct tables *t = ctx;
	const uint32_t *parent = t->slots[block->slot].parent;

	return base_spill_write(&t->parked, t->derive->work,
				(uint64_t)block->objects->first_ix * sizeof(*parent), parent,
				block->objects->count * sizeof(*parent), err);
}

/*
 * Makes room for the sums if there is none: from here on parents are used in order, and a file does
 * as well.
 */
static int begin_sums(struct tables *t, struct hdb_error *err)
{
	struct derive *derive = t->derive;
	int r = graph_subtree_sums_init(&t->sums, derive->heap->object_count, derive->work, err);

	if (r == HDB_OK)
		r = derive_each_block(derive, "marking dominators", false, mark_parents, NULL, t,
				      err);
	if (r == HDB_OK && graph_subtree_sums_rank(&t->sums) > base_work_room(derive->work)) {
		r = derive_each_block(derive, "setting dominators aside", false, read_parents,
				      write_parents, t, err);
		t->is_parked = true;
		t->from->release(t->from->ctx);
	}
	return r == HDB_OK ? graph_subtree_sums_begin(&t->sums, err) : r;
}

static int add_sizes(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct tables *t = ctx;
	struct tables_slot *s = &t->slots[block->slot];
	const int r = read_parents(t, block, err);

	for (uint32_t i = 0; i < block->objects->count; i++)
		block->values[i] = derive_units(t->derive, block->objects->shallow[i]);
	return r < 0 ? r :
		       graph_subtree_sums_add(&t->sums, &s->sizes, block->objects->first_ix,
					      s->parent, block->values, block->objects->count, err);
}

static int join_sizes(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct tables *t = ctx;

	return graph_subtree_sums_join(&t->sums, &t->slots[block->slot].sizes, err);
}

static int fill_retained(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct tables *t = ctx;

	(void)err;
	graph_subtree_sums_below(&t->sums, block->objects->first_ix, block->values,
				 block->objects->count);
	return HDB_OK;
}

static int fill_dominators(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct tables *t = ctx;
	const uint32_t *parent = t->slots[block->slot].parent;
	const uint32_t first = block->objects->first_ix;
	const int r = read_parents(t, block, err);

	if (r != HDB_OK)
		return r;
	for (uint32_t i = 0; i < block->objects->count; i++)
		block->values[i] = derive_tree_value(first + i, parent[i]);
	return r;
}

static int write_tables(struct tables *t, struct hdb_error *err)
{
	struct derive *derive = t->derive;
	const uint32_t n = derive->heap->object_count;
	int r = begin_sums(t, err);

	if (r == HDB_OK)
		r = derive_each_block(derive, "shallow sizes", true, add_sizes, join_sizes, t, err);
	if (r == HDB_OK)
		r = graph_subtree_sums_up(&t->sums, err);
	if (r == HDB_OK)
		r = derive_put_column(derive, t->writer, derive_table(derive, STORE_RETAINED),
				      "writing retained sizes", false, fill_retained, t, err);
	graph_subtree_sums_release(&t->sums);
	if (r != HDB_OK)
		return r;
	r = derive_put_column(derive, t->writer, derive_table(derive, STORE_DOMINATORS),
			      "writing dominators", false, fill_dominators, t, err);
	if (r != HDB_OK)
		return r;
	r = store_put_table(t->writer, derive_table(derive, STORE_DOMINATORS), n, err);
	if (r != HDB_OK)
		return r;
	return store_put_table(t->writer, derive_table(derive, STORE_RETAINED), n, err);
}

static int make_slots(struct tables *t, struct hdb_error *err)
{
	t->slot_count = DERIVE_SLOTS_PER_THREAD * t->derive->work->threads;
	t->slots = calloc(t->slot_count, sizeof(*t->slots));
	for (unsigned i = 0; t->slots && i < t->slot_count; i++) {
		t->slots[i].parent = malloc(STORE_BLOCK_OBJECTS * sizeof(*t->slots[i].parent));
		if (!t->slots[i].parent)
			return hdb_fail_memory(err, "dominators",
					       STORE_BLOCK_OBJECTS * sizeof(*t->slots[i].parent));
	}
	return t->slots ? HDB_OK : hdb_fail_memory(err, "dominators", sizeof(*t->slots));
}

int derive_put_parents(struct derive *derive, struct store_writer *writer,
		       const struct derive_parents *from, struct hdb_error *err)
{
	struct tables t = { .derive = derive, .writer = writer, .from = from };
	int r = make_slots(&t, err);

	if (r == HDB_OK)
		r = write_tables(&t, err);
	graph_subtree_sums_release(&t.sums);
	base_spill_close(&t.parked);
	for (unsigned i = 0; t.slots && i < t.slot_count; i++) {
		free(t.slots[i].parent);
		base_vec_release(&t.slots[i].sizes);
	}
	free(t.slots);
	return r;
}
