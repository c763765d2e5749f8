/*
 * derive/dominators/inner_order.c - the inner nodes of the dominator tree in preorder.
 */
#include "derive/dominators/inner_order.h"

#include "derive/blocks.h"
#include "derive/build.h"

#include <stdlib.h>

/* Distance, in objects, of prefetches. */
#define AHEAD 16u

struct numbering {
	struct derive *derive;
	struct graph_preorder *order;
	uint32_t *dominators; /* by slot: those of its block */
};

/* The dominators of a block's objects; NULL after a failure. */
static uint32_t *read_block(const struct numbering *w, struct derive_block *block, int *r,
			    struct hdb_error *err)
{
	uint32_t *dominator = w->dominators + (size_t)block->slot * STORE_BLOCK_OBJECTS;

	*r = derive_tree_dominators(w->derive, block, dominator, err);
	return *r == HDB_OK ? dominator : NULL;
}

static void prefetch(const struct numbering *w, const uint32_t *dominator, uint32_t i,
		     uint32_t count)
{
	if (count - i > AHEAD && dominator[i + AHEAD] != GRAPH_NONE)
		graph_preorder_prefetch(w->order, dominator[i + AHEAD]);
}

static int mark_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct numbering *w = ctx;
	const uint32_t first_ix = block->objects->first_ix, count = block->objects->count;
	int r;
	const uint32_t *dominator = read_block(w, block, &r, err);

	for (uint32_t i = 0; dominator && i < count; i++) {
		prefetch(w, dominator, i, count);
		if (dominator[i] != GRAPH_NONE && dominator[i] != first_ix + i)
			graph_preorder_mark(w->order, dominator[i]);
	}
	return r;
}

static int link_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct numbering *w = ctx;
	const uint32_t first_ix = block->objects->first_ix, count = block->objects->count;
	uint32_t place = graph_preorder_place(w->order, first_ix);
	int r;
	const uint32_t *dominator = read_block(w, block, &r, err);

	for (uint32_t i = 0; dominator && i < count; i++) {
		const uint32_t d = dominator[i];

		prefetch(w, dominator, i, count);
		if (!graph_preorder_is_inner(w->order, first_ix + i))
			continue;
		/* One that is unreachable stays without a number. */
		if (d != first_ix + i)
			graph_preorder_link(w->order, place,
					    d == GRAPH_NONE ? d :
							      graph_preorder_place(w->order, d));
		place++;
	}
	return r;
}

static int pass(struct numbering *w, derive_block_fn make, struct hdb_error *err)
{
	return derive_each_block(
		w->derive,
		&(struct derive_pass){ .stage = "dominating objects", .make = make, .ctx = w },
		err);
}

int derive_number_inner(struct derive *derive, struct graph_preorder *order, struct hdb_error *err)
{
	const size_t room = (size_t)DERIVE_SLOTS_PER_THREAD * derive->work->threads *
			    STORE_BLOCK_OBJECTS * sizeof(uint32_t);
	struct numbering w = { .derive = derive, .order = order, .dominators = malloc(room) };
	int r = graph_preorder_init(order, derive->heap->object_count, derive->work, err);

	if (!w.dominators)
		r = hdb_fail_memory(err, "dominating objects", room);
	if (r != HDB_OK)
		goto out;
	if ((r = pass(&w, mark_block, err)) != HDB_OK)
		goto out;
	if ((r = graph_preorder_count(order, err)) != HDB_OK)
		goto out;
	if ((r = pass(&w, link_block, err)) != HDB_OK)
		goto out;
	r = graph_preorder_number(order, err);
out:
	free(w.dominators);
	return r == HDB_ECORRUPT ?
		       store_damaged(derive->heap->store, derive_table(derive, STORE_DOMINATORS), 0,
				     "no tree", err) :
		       r;
}
