/* graph/size_order.c - implements size_order.h. */
#include "graph/size_order.h"

#include <stdlib.h>

/* Maximum number of large nodes. Real heaps have a few thousand. */
#define LARGE_MAX ((uint64_t)1 << 16)

int graph_size_order_init(struct graph_size_order *order, struct hdb_error *err)
{
	*order = (struct graph_size_order){ 0 };
	return BASE_ALLOC(order->place, GRAPH_SMALL_SIZES, "dominated objects", err);
}

void graph_size_order_release(struct graph_size_order *order)
{
	free(order->place);
	base_vec_release(&order->large);
	*order = (struct graph_size_order){ 0 };
}

bool graph_size_order_is_full(const struct graph_size_order *order)
{
	return order->large_count > LARGE_MAX;
}

int graph_size_order_large(struct graph_size_order *order, uint32_t node, uint64_t size,
			   struct hdb_error *err)
{
	const struct base_sort_key key = { .key = ~size, .node = node };

	order->large_count++;
	if (graph_size_order_is_full(order)) {
		base_vec_release(&order->large);
		return HDB_OK;
	}
	return base_vec_push(&order->large, &key, sizeof key, err);
}

int graph_size_order_start(struct graph_size_order *order, uint32_t *node, uint32_t node_count,
			   struct hdb_error *err)
{
	struct base_vec *large = &order->large;
	struct base_sort_key *keys;
	uint32_t end = node_count;

	for (uint32_t size = 0; size < GRAPH_SMALL_SIZES; size++) {
		end -= order->place[size];
		order->place[size] = end;
	}
	TRY(base_vec_reserve(large, large->count, sizeof *keys, err));
	keys = large->data;
	base_sort_keys(keys, keys + large->count, large->count);
	for (size_t i = 0; i < large->count; i++)
		node[i] = keys[i].node;
	return HDB_OK;
}
