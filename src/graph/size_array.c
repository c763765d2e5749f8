/*
 * graph/size_array.c - an array of sizes.
 */
#include "graph/size_array.h"

int graph_sizes_init(struct graph_sizes *sizes, uint64_t count, bool is_wide,
		     struct base_work *work, struct hdb_error *err)
{
	int rc;

	*sizes = (struct graph_sizes){ .work = work };
	rc = base_big_alloc(work, &sizes->big, count * (is_wide ? 8 : 4), "retained sizes", err);
	if (is_wide)
		sizes->wide = sizes->big.data;
	else
		sizes->narrow = sizes->big.data;
	return rc;
}

void graph_sizes_release(struct graph_sizes *sizes)
{
	if (sizes->work)
		base_big_free(sizes->work, &sizes->big);
	*sizes = (struct graph_sizes){ 0 };
}
