/*
 * derive/filtered_reach.c - reach trees and retained sets of the heap without some of its
 * references.
 */
#include "base/bits.h"
#include "derive/build.h"

#include "graph/reach.h"

int derive_reach_without(struct derive *derive, const struct derive_filter *filter,
			 uint32_t *parent, struct hdb_error *err)
{
	struct graph_rows rows = { 0 };
	int r = derive_graph_load_filtered(derive, filter, &rows, err);

	if (r != HDB_OK)
		goto out;
	r = graph_reach_tree(&rows, derive->heap->roots.bits, derive->work, parent, err);
out:
	graph_rows_release(&rows);
	return r;
}

/* Members that a root reaches, as bits. */
static int mark_members(struct derive *derive, struct graph_members members, uint64_t *bits,
			struct hdb_error *err)
{
	for (size_t i = 0; i < members.count; i++) {
		bool reachable;
		const int r = derive_is_reachable(derive, members.node[i], &reachable, err);

		if (r < 0)
			return r;
		if (reachable)
			base_bit_put(bits, members.node[i]);
	}
	return HDB_OK;
}

/* What roots reach around a set, in the heap without some of its references. */
static int reach_around(struct derive *derive, const struct derive_filter *filter, uint64_t *set,
			uint64_t *around, struct hdb_error *err)
{
	struct graph_rows rows = { 0 };
	int r = derive_graph_load_filtered(derive, filter, &rows, err);

	if (r != HDB_OK)
		goto out;
	r = graph_reach_around(&rows, derive->heap->roots.bits, set, around, err);
out:
	graph_rows_release(&rows);
	return r;
}

/* What a set reaches of the rest, in the whole heap. */
static int reach_from(struct derive *derive, uint64_t *set, uint64_t *around, uint64_t *found,
		      struct hdb_error *err)
{
	struct graph_rows rows = { 0 };
	int r = derive_graph_load(derive, false, &rows, err);

	if (r != HDB_OK)
		goto out;
	r = graph_reach_around(&rows, set, around, found, err);
out:
	graph_rows_release(&rows);
	return r;
}

int derive_retained_without(struct derive *derive, const struct derive_filter *filter,
			    struct graph_members members, struct derive_retained_result *out,
			    struct hdb_error *err)
{
	const uint64_t words = (uint64_t)derive->heap->object_count / 64 + 1;
	const uint64_t start_us = base_now_us();
	struct base_big set = { 0 }, around = { 0 }, found = { 0 };
	int r = base_big_alloc(derive->work, &set, words * 8, "a set of objects", err);

	*out = (struct derive_retained_result){ 0 };
	if (r != HDB_OK)
		goto out;
	r = base_big_alloc(derive->work, &around, words * 8, "a set of objects", err);
	if (r != HDB_OK)
		goto out;
	r = base_big_alloc(derive->work, &found, words * 8, "a set of objects", err);
	if (r != HDB_OK)
		goto out;
	if ((r = mark_members(derive, members, set.data, err)) != HDB_OK)
		goto out;
	if ((r = reach_around(derive, filter, set.data, around.data, err)) != HDB_OK)
		goto out;
	/* Whatever the roots do not reach so, the set does or nothing that counts. */
	if ((r = reach_from(derive, set.data, around.data, found.data, err)) != HDB_OK)
		goto out;
	r = derive_sum_marked(derive, found.data, out, err);
out:
	base_big_free(&set);
	base_big_free(&around);
	base_big_free(&found);
	out->time_us = base_now_us() - start_us;
	return r;
}
