/*
 * derive/retained_set.c - computes the exact retained size of a set of objects, by the local method
 * or by one traversal of the heap.
 */
#include "base/bits.h"
#include "derive/build.h"

#include "graph/reach.h"

#include <string.h>

/*
 * One edge takes 1 to 2 microseconds if the tables are not in memory yet, so these limits amount to
 * about 50 ms.
 */
const struct graph_retained_options derive_local_limits = {
	.max_nodes = 100000,
	.max_edges = 1000000,
};

/*
 * Adds up the shallow sizes of a retained set. Objects that are not in the dump (the boot loader's
 * placeholder, invented classes) do not count in totals. However, they count in the retained size
 * of a single object, as in the table of retained sizes and in Eclipse MAT.
 */
static int sum_shallow(struct derive *derive, const struct graph_retained_set *set, bool is_one,
		       struct derive_retained_result *out, struct hdb_error *err)
{
	struct heap *heap = derive->heap;

	TRY(heap_load_classes(heap, err));
	for (uint32_t i = 0; i < set->count; i++) {
		struct heap_object object;

		TRY(heap_object(heap, set->nodes[i], &object, err));
		if (!is_one && !heap_object_is_counted(heap, &object))
			continue;
		out->retained_bytes += object.shallow_bytes;
		out->retained_count++;
	}
	return HDB_OK;
}

/*
 * Tries the local method. Reports the amount of work even if the method gives up, so that callers
 * can show why the slower method was used.
 */
int derive_retained_local(struct derive *derive, struct graph_members members,
			  const struct graph_retained_options *limits,
			  struct derive_retained_result *out, struct hdb_error *err)
{
	const uint64_t start_us = base_now_us();
	BASE_SCOPED(graph_retained_set_release) struct graph_retained_set set = { 0 };
	struct graph_access access;
	int r;

	*out = (struct derive_retained_result){ .used_local = true };
	/*
	 * The lists also contain references that do not count in a view, so the local method works
	 * only for the main view.
	 */
	if (derive->view != DERIVE_PHANTOM)
		return GRAPH_BUDGET;
	TRY(derive_access(derive, false, &access, err));
	r = graph_retained_local(&access, members, limits ? limits : &derive_local_limits, &set,
				 err);
	if (r == HDB_OK)
		r = sum_shallow(derive, &set, members.count == 1, out, err);
	out->subtree_count = set.subtree_nodes;
	out->removed_count = set.removed_nodes;
	out->edge_count = set.edges;
	out->time_us = base_now_us() - start_us;
	return r;
}

struct marked_sum {
	const struct heap *heap;
	const uint64_t *bits;
	struct derive_retained_result *out;
};

static int sum_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct marked_sum *sum = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->count; i++) {
		if (!base_bit_has(sum->bits, block->first_ix + i) ||
		    !heap_is_counted(sum->heap, block, i))
			continue;
		sum->out->retained_bytes += block->shallow[i];
		sum->out->retained_count++;
	}
	return HDB_OK;
}

int derive_sum_marked(struct derive *derive, const uint64_t *bits,
		      struct derive_retained_result *out, struct hdb_error *err)
{
	struct marked_sum sum = { .heap = derive->heap, .bits = bits, .out = out };
	HEAP_FILTER_SCOPE(heap_show_all, derive->heap);

	return heap_each_block(derive->heap, NULL, sum_block, &sum, err);
}

/*
 * Sets a bit in `reached` for each object that is reachable from the roots without passing a
 * member.
 */
static int walk_around(struct derive *derive, struct graph_members members, uint64_t *reached,
		       struct hdb_error *err)
{
	const uint64_t words = (uint64_t)derive->heap->object_count / 64 + 1;
	BASE_SCOPED(base_big_free) struct base_big blocked = { 0 };
	BASE_SCOPED(graph_rows_release) struct graph_rows rows = { 0 };

	TRY(base_big_alloc(derive->work, &blocked, words * 8, "a set of objects", err));
	TRY(derive_graph_load(derive, false, &rows, err));
	for (size_t i = 0; i < members.count; i++)
		base_bit_put(blocked.data, members.node[i]);
	return graph_reach_around(&rows, derive->heap->roots.bits, blocked.data, reached, err);
}

/*
 * Marks the retained objects. At first, `bits` marks the objects that are reachable without passing
 * a member. It is then replaced, block by block, with a mark for every other reachable object.
 */
int derive_retained_marks(struct derive *derive, const uint32_t *members, size_t member_count,
			  uint64_t *bits, struct hdb_error *err)
{
	const uint32_t count = derive->heap->object_count;
	BASE_FREED uint8_t *reachable = NULL;

	memset(bits, 0, ((uint64_t)count / 64 + 1) * 8);
	TRY(BASE_ALLOC(reachable, STORE_BLOCK_OBJECTS, "a block of objects", err));
	TRY(walk_around(derive, (struct graph_members){ members, member_count }, bits, err));
	for (uint32_t b = 0; b < heap_block_count(derive->heap); b++) {
		const uint64_t first = (uint64_t)b * STORE_BLOCK_OBJECTS;

		TRY(derive_reachable_block(derive, b, reachable, err));
		/*
		 * An object is lost (retained by the set) if it is reachable only through the
		 * members.
		 */
		for (uint64_t ix = first; ix < count && ix < first + STORE_BLOCK_OBJECTS; ix++) {
			const bool is_lost = reachable[ix - first] && !base_bit_has(bits, ix);

			base_bit_drop(bits, ix);
			bits[ix / 64] |= (uint64_t)is_lost << (ix % 64);
		}
	}
	return HDB_OK;
}

static int blocked_walk(struct derive *derive, struct graph_members members,
			struct derive_retained_result *out, struct hdb_error *err)
{
	const uint64_t words = (uint64_t)derive->heap->object_count / 64 + 1;
	BASE_SCOPED(base_big_free) struct base_big lost = { 0 };

	TRY(base_big_alloc(derive->work, &lost, words * 8, "a set of objects", err));
	TRY(derive_retained_marks(derive, members.node, members.count, lost.data, err));
	return derive_sum_marked(derive, lost.data, out, err);
}

/*
 * Computes the retained size of a set. The local method is skipped if the set itself exceeds the
 * limit.
 */
int derive_retained_set(struct derive *derive, struct graph_members members,
			const struct graph_retained_options *limits,
			struct derive_retained_result *out, struct hdb_error *err)
{
	const struct graph_retained_options *used = limits ? limits : &derive_local_limits;
	const uint64_t start_us = base_now_us();
	int r = GRAPH_BUDGET;

	*out = (struct derive_retained_result){ 0 };
	if (!used->max_nodes || members.count <= used->max_nodes)
		r = derive_retained_local(derive, members, used, out, err);
	if (r != GRAPH_BUDGET)
		return r;
	out->used_local = false;
	out->retained_bytes = out->retained_count = 0;
	r = blocked_walk(derive, members, out, err);
	out->time_us = base_now_us() - start_us;
	return r;
}
