/* graph/preorder.c - links children into lists, and walks the tree without a stack. */
#include "graph/preorder.h"

#include <assert.h>
#include <string.h>

/* Number of nodes between two calls of base_step. */
#define STEP_MASK 0xffffu

int graph_preorder_init(struct graph_preorder *order, uint32_t node_count, struct base_work *work,
			struct hdb_error *err)
{
	*order = (struct graph_preorder){ .work = work };
	atomic_init(&order->top, GRAPH_NONE);
	return base_ranks_init(&order->inner, node_count, work, "the set of dominators", err);
}

void graph_preorder_release(struct graph_preorder *order)
{
	if (!order->work)
		return;
	base_ranks_release(&order->inner);
	base_big_free(&order->link_big);
	base_big_free(&order->last_big);
	order->work = NULL;
}

int graph_preorder_count(struct graph_preorder *order, struct hdb_error *err)
{
	uint64_t count;

	assert(!order->link);
	base_ranks_rank(&order->inner);
	count = order->inner.count;
	/* The last number marks the end of a subtree, and no number may equal GRAPH_NONE. */
	if (count >= GRAPH_NONE)
		return hdb_fail(err, HDB_ELIMIT, "too many dominators: %" PRIu64, count);
	TRY(base_big_alloc_raw(order->work, &order->link_big, count * sizeof *order->link,
			       "the tree of dominators", err));
	TRY(base_big_alloc(order->work, &order->last_big, (count / 64 + 1) * sizeof(uint64_t),
			   "the tree of dominators", err));
	order->link = order->link_big.data;
	order->is_last = order->last_big.data;
	memset(order->link_big.data, 0xff, count * sizeof *order->link);
	return HDB_OK;
}

void graph_preorder_link(struct graph_preorder *order, uint32_t place, uint32_t parent)
{
	assert(place < order->inner.count);
	assert(parent == GRAPH_NONE || parent < order->inner.count);
	_Atomic uint32_t *list = parent == GRAPH_NONE ? &order->top : &order->link[parent].first;
	uint32_t next = atomic_exchange_explicit(list, place, memory_order_relaxed);

	if (next == GRAPH_NONE) {
		(void)atomic_fetch_or_explicit(&order->is_last[place / 64],
					       (uint64_t)1 << (place & 63), memory_order_relaxed);
		next = parent;
	}
	atomic_store_explicit(&order->link[place].next, next, memory_order_relaxed);
}

static bool is_last(const struct graph_preorder *order, uint32_t place)
{
	return atomic_load_explicit(&order->is_last[place / 64], memory_order_relaxed) >>
		       (place & 63) &
	       1;
}

/*
 * Leaves the node, and also each ancestor whose last child has been left. Returns the next node to
 * enter.
 */
static uint32_t leave(struct graph_preorder *order, uint32_t place, uint32_t number)
{
	bool was_last = true;

	while (was_last && place != GRAPH_NONE) {
		struct graph_preorder_link *link = &order->link[place];

		was_last = is_last(order, place);
		place = atomic_load_explicit(&link->next, memory_order_relaxed);
		atomic_store_explicit(&link->next, number, memory_order_relaxed);
	}
	return place;
}

int graph_preorder_number(struct graph_preorder *order, struct hdb_error *err)
{
	uint32_t place = atomic_load_explicit(&order->top, memory_order_relaxed), number = 0;

	base_stage(order->work, "numbering dominators", order->inner.count, "objects");
	while (place != GRAPH_NONE) {
		struct graph_preorder_link *link = &order->link[place];
		const uint32_t child = atomic_load_explicit(&link->first, memory_order_relaxed);
		const uint32_t next = atomic_load_explicit(&link->next, memory_order_relaxed);

		if (next != GRAPH_NONE)
			prefetch_write(&order->link[next]);
		atomic_store_explicit(&link->first, number++, memory_order_relaxed);
		place = child != GRAPH_NONE ? child : leave(order, place, number);
		if ((number & STEP_MASK) == 0)
			TRY(base_step(order->work, number, err));
	}
	return number == order->inner.count ? HDB_OK : HDB_ECORRUPT;
}
