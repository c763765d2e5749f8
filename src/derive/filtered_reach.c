/*
 * derive/filtered_reach.c - computes reach trees and retained sets of the heap without some of its
 * references.
 */
#include "base/bits.h"
#include "derive/build.h"

#include "graph/reach.h"

int derive_reach_without(struct derive *derive, const struct derive_filter *filter,
			 uint32_t *parent, struct hdb_error *err)
{
	BASE_SCOPED(graph_rows_release) struct graph_rows rows = { 0 };

	TRY(derive_graph_load_filtered(derive, filter, &rows, err));
	return graph_reach_tree(&rows, derive->heap->roots.bits, derive->work, parent, err);
}

/*
 * Sets the bits of the members that are reachable from a root. Unreachable members retain nothing.
 */
static int mark_members(struct derive *derive, struct graph_members members, uint64_t *bits,
			struct hdb_error *err)
{
	for (size_t i = 0; i < members.count; i++) {
		bool reachable;

		TRY(derive_is_reachable(derive, members.node[i], &reachable, err));
		if (reachable)
			base_bit_put(bits, members.node[i]);
	}
	return HDB_OK;
}

/*
 * Bit sets for one traversal: the objects where it starts, the objects that it does not enter, and
 * the objects that it finds.
 */
struct around {
	const uint64_t *roots, *blocked;
	uint64_t *reached;
};

/*
 * Traverses the graph from some objects without entering others. If `filter` is NULL, all
 * references are followed.
 */
static int reach_around(struct derive *derive, const struct derive_filter *filter,
			struct around around, struct hdb_error *err)
{
	BASE_SCOPED(graph_rows_release) struct graph_rows rows = { 0 };

	TRY(derive_graph_load_filtered(derive, filter, &rows, err));
	return graph_reach_around(&rows, around.roots, around.blocked, around.reached, err);
}

/*
 * Finds the objects that a set retains. At most three bit sets are in memory: the members, the
 * objects reached without passing the members, and the objects that can be reached only from the
 * members.
 */
static int find_retained(struct derive *derive, const struct derive_filter *filter,
			 struct graph_members members, struct derive_retained_result *out,
			 struct hdb_error *err)
{
	const uint64_t bytes = ((uint64_t)derive->heap->object_count / 64 + 1) * 8;
	BASE_SCOPED(base_big_free) struct base_big set = { 0 };
	BASE_SCOPED(base_big_free) struct base_big around = { 0 };
	BASE_SCOPED(base_big_free) struct base_big found = { 0 };

	TRY(base_big_alloc(derive->work, &set, bytes, "a set of objects", err));
	TRY(base_big_alloc(derive->work, &around, bytes, "a set of objects", err));
	TRY(base_big_alloc(derive->work, &found, bytes, "a set of objects", err));
	TRY(mark_members(derive, members, set.data, err));
	TRY(heap_load_roots(derive->heap, err));
	TRY(reach_around(derive, filter,
			 (struct around){ derive->heap->roots.bits, set.data, around.data }, err));
	/*
	 * Objects that the first traversal did not reach are retained if they can be reached from
	 * the set.
	 */
	TRY(reach_around(derive, NULL, (struct around){ set.data, around.data, found.data }, err));
	return derive_sum_marked(derive, found.data, out, err);
}

int derive_retained_without(struct derive *derive, const struct derive_filter *filter,
			    struct graph_members members, struct derive_retained_result *out,
			    struct hdb_error *err)
{
	const uint64_t start_us = base_now_us();
	int r;

	*out = (struct derive_retained_result){ 0 };
	r = find_retained(derive, filter, members, out, err);
	out->time_us = base_now_us() - start_us;
	return r;
}
