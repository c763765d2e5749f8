/* graph/size_order.c - see size_order.h. */
#include "graph/size_order.h"

#include <assert.h>
#include <stdlib.h>

/* Large nodes that are kept: of heaps there are some thousand. */
#define LARGE_MAX ((uint64_t)1 << 16)

int graph_size_order_init(struct graph_size_order *order, struct hdb_error *err)
{
	*order = (struct graph_size_order){ 0 };
	order->place = calloc(GRAPH_SMALL_SIZES, sizeof *order->place);
	if (!order->place)
		return hdb_fail_memory(err, "dominated objects",
				       GRAPH_SMALL_SIZES * sizeof *order->place);
	return HDB_OK;
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

/* Gathers the large nodes of all orders in the first one, and puts them at the start, sorted. */
static int place_large(struct graph_size_order *orders, unsigned count, uint32_t *node,
		       struct hdb_error *err)
{
	struct base_vec *all = &orders[0].large;
	struct base_sort_key *keys;

	for (unsigned no = 1; no < count; no++) {
		const struct base_sort_key *more = orders[no].large.data;

		for (size_t i = 0; i < orders[no].large.count; i++)
			TRY_ERRORS(base_vec_push(all, &more[i], sizeof *more, err));
	}
	TRY_ERRORS(base_vec_reserve(all, all->count, sizeof *keys, err));
	keys = all->data;
	if (all->count)
		base_sort_keys(keys, keys + all->count, all->count);
	for (size_t i = 0; i < all->count; i++)
		node[i] = keys[i].node;
	return HDB_OK;
}

int graph_size_orders_start(struct graph_size_order *orders, unsigned count, uint32_t *node,
			    uint32_t node_count, struct hdb_error *err)
{
	uint32_t end = node_count;

	for (uint32_t size = 0; size < GRAPH_SMALL_SIZES; size++) {
		for (unsigned no = count; no-- > 0;) {
			end -= orders[no].place[size];
			orders[no].place[size] = end;
		}
	}
	assert(count > 0);
	return place_large(orders, count, node, err);
}
