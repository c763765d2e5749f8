/* derive/dominators/inner_order.c - numbers the inner nodes of the dominator tree in preorder. */
#include "derive/dominators/inner_order.h"

#include "derive/blocks.h"
#include "derive/build.h"

/* How many objects ahead to prefetch links. */
#define AHEAD 16u

struct numbering {
	struct derive *derive;
	struct graph_preorder *order;
};

static void prefetch(const struct numbering *w, const uint32_t *dominator, uint32_t i,
		     uint32_t count)
{
	if (count - i > AHEAD && dominator[i + AHEAD] != GRAPH_NONE)
		graph_preorder_prefetch(w->order, dominator[i + AHEAD]);
}

/* First pass: marks the objects that dominate others. */
static int mark_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct numbering *w = ctx;
	const uint32_t first_ix = block->objects->first_ix, count = block->objects->count;
	uint32_t *dominator = block->room;

	TRY(derive_tree_dominators(w->derive, block, dominator, err));
	for (uint32_t i = 0; i < count; i++) {
		prefetch(w, dominator, i, count);
		if (dominator[i] != GRAPH_NONE && dominator[i] != first_ix + i)
			graph_preorder_mark(w->order, dominator[i]);
	}
	return HDB_OK;
}

/*
 * Second pass: links each inner node to its dominator. Places are in the order of objects, so
 * counting gives the place of a node without a lookup.
 */
static int link_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct numbering *w = ctx;
	const uint32_t first_ix = block->objects->first_ix, count = block->objects->count;
	uint32_t place = graph_preorder_place(w->order, first_ix);
	uint32_t *dominator = block->room;

	TRY(derive_tree_dominators(w->derive, block, dominator, err));
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t d = dominator[i];

		prefetch(w, dominator, i, count);
		if (!graph_preorder_is_inner(w->order, first_ix + i))
			continue;
		/* An unreachable object has no number. */
		if (d != first_ix + i)
			graph_preorder_link(w->order, place,
					    d == GRAPH_NONE ? d :
							      graph_preorder_place(w->order, d));
		place++;
	}
	return HDB_OK;
}

static int pass(struct numbering *w, derive_block_fn make, struct hdb_error *err)
{
	return derive_each_block(
		w->derive,
		&(struct derive_pass){ .stage = "dominating objects",
				       .make = make,
				       .ctx = w,
				       .room_bytes = STORE_BLOCK_OBJECTS * sizeof(uint32_t) },
		err);
}

/*
 * Numbers the inner nodes. Cycles among dominators, which exist only in a damaged table, are
 * detected at this point.
 */
int derive_number_inner(struct derive *derive, struct graph_preorder *order, struct hdb_error *err)
{
	struct numbering w = { .derive = derive, .order = order };
	int r;

	TRY(graph_preorder_init(order, derive->heap->object_count, derive->work, err));
	TRY(pass(&w, mark_block, err));
	TRY(graph_preorder_count(order, err));
	TRY(pass(&w, link_block, err));
	r = graph_preorder_number(order, err);
	return r == HDB_ECORRUPT ?
		       store_damaged(derive->heap->store, derive_table(derive, STORE_DOMINATORS), 0,
				     "no tree", err) :
		       r;
}
