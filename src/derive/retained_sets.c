/*
 * derive/retained_sets.c - computes the exact retained sizes of several sets of objects. Small sets
 * use the local method. The other sets share traversals of the heap, GRAPH_MASK_SETS sets per
 * traversal.
 */
#include "base/bits.h"
#include "base/sort.h"
#include "derive/build.h"

#include "graph/reach_masks.h"

#include <assert.h>
#include <stdlib.h>

/* Maximum number of members of a set for which the local method is tried. */
#define LOCAL_MEMBERS_MAX 2000u

/*
 * These limits are lower than derive_local_limits, because up to GRAPH_MASK_SETS sets share the
 * traversal that follows.
 */
static const struct graph_retained_options local_limits = {
	.max_nodes = 20000,
	.max_edges = 100000,
};

/* State that is reused by all walks. */
struct sets_walk {
	struct derive *derive;
	struct graph_rows rows;
	struct base_big reached, is_member;
	struct graph_member *members; /* members of the current sets; owned */
	size_t member_count;
};

/*
 * Collects the members of all sets of a traversal in ascending order, without duplicates. Each
 * member gets the mask of the sets that contain it.
 */
static int collect(struct sets_walk *w, struct derive_set *const *sets, unsigned count,
		   struct hdb_error *err)
{
	uint64_t *bits = w->is_member.data;
	size_t total = 0, n = 0;

	for (unsigned s = 0; s < count; s++)
		total += sets[s]->count;
	free(w->members);
	TRY(BASE_ALLOC(w->members, total + 1, "sets of objects", err));
	for (unsigned s = 0; s < count; s++)
		for (size_t i = 0; i < sets[s]->count; i++)
			w->members[n++] = (struct graph_member){ sets[s]->members[i], 1u << s };
	qsort(w->members, n, sizeof(*w->members), base_compare_u32);
	w->member_count = 0;
	for (size_t i = 0; i < n; i++) {
		if (w->member_count && w->members[w->member_count - 1].node == w->members[i].node)
			w->members[w->member_count - 1].sets |= w->members[i].sets;
		else
			w->members[w->member_count++] = w->members[i];
		base_bit_put(bits, w->members[i].node);
	}
	return HDB_OK;
}

/* The result of one walk, and the sets that share the walk. */
struct lost_sums {
	const struct heap *heap;
	struct derive_set *const *sets;
	/*
	 * by object: bit s is set if the object is reachable from the roots without passing set s
	 */
	const uint32_t *reached;
	uint32_t all; /* mask with the bits of all sets */
};

/*
 * Adds the objects that the sets retain. Nearly all objects are retained by no set, and a single
 * comparison skips them.
 */
static int add_lost(void *ctx, const struct heap_block *block, const uint8_t *reachable,
		    struct hdb_error *err)
{
	const struct lost_sums *s = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->count; i++) {
		uint32_t lost = s->all & ~s->reached[block->first_ix + i];

		if (!lost || !reachable[i] || !heap_is_counted(s->heap, block, i))
			continue;
		for (; lost; lost &= lost - 1) {
			struct derive_set *set = s->sets[__builtin_ctz(lost)];

			set->retained_bytes += block->shallow[i];
			set->retained_count++;
		}
	}
	return HDB_OK;
}

/* Adds each object to the sets that separate it from the roots. */
static int sum_lost(struct sets_walk *w, struct derive_set *const *sets, unsigned count,
		    struct hdb_error *err)
{
	struct lost_sums s = {
		.heap = w->derive->heap,
		.sets = sets,
		.reached = w->reached.data,
		.all = count >= GRAPH_MASK_SETS ? ~0u : (1u << count) - 1,
	};

	return derive_each_reachable(w->derive, NULL, add_lost, &s, err);
}

static int prepare(struct sets_walk *w, struct hdb_error *err)
{
	const uint64_t n = w->derive->heap->object_count;

	if (w->rows.work)
		return HDB_OK;
	TRY(base_big_alloc(w->derive->work, &w->reached, (n + 1) * sizeof(uint32_t),
			   "masks of sets", err));
	TRY(base_big_alloc(w->derive->work, &w->is_member, n / 8 + 8, "a set of objects", err));
	return derive_graph_load(w->derive, false, &w->rows, err);
}

/*
 * Traverses the heap for several sets. The first traversal allocates the graph and the masks, and
 * later traversals reuse them.
 */
static int walk(struct sets_walk *w, struct derive_set *const *sets, unsigned count,
		struct hdb_error *err)
{
	TRY(prepare(w, err));
	TRY(collect(w, sets, count, err));
	TRY(graph_reach_masks(&w->rows, w->derive->heap->roots.bits,
			      &(struct graph_mask_sets){
				      .members = w->members,
				      .member_count = w->member_count,
				      .is_member = w->is_member.data,
				      .count = count,
			      },
			      w->reached.data, err));
	TRY(sum_lost(w, sets, count, err));
	/* Clears is_member for the next traversal, without a pass over all objects. */
	for (size_t i = 0; i < w->member_count; i++)
		((uint64_t *)w->is_member.data)[w->members[i].node >> 6] = 0;
	return HDB_OK;
}

static void release(struct sets_walk *w)
{
	graph_rows_release(&w->rows);
	base_big_free(&w->reached);
	base_big_free(&w->is_member);
	free(w->members);
}

/*
 * Tries one set with the local method. Returns HDB_OK, or GRAPH_BUDGET if this would be too much
 * work.
 */
static int alone(struct derive *derive, struct derive_set *set, struct hdb_error *err)
{
	struct derive_retained_result result = { 0 };

	set->retained_bytes = set->retained_count = 0;
	if (!set->count)
		return HDB_OK;
	if (set->count > LOCAL_MEMBERS_MAX)
		return GRAPH_BUDGET;
	TRY(derive_retained_local(derive, (struct graph_members){ set->members, set->count },
				  &local_limits, &result, err));
	set->retained_bytes = result.retained_bytes;
	set->retained_count = result.retained_count;
	return HDB_OK;
}

int derive_retained_sets(struct derive *derive, struct derive_set *sets, size_t set_count,
			 struct hdb_error *err)
{
	BASE_SCOPED(release) struct sets_walk w = { .derive = derive };
	struct derive_set *together[GRAPH_MASK_SETS];
	unsigned count = 0;

	TRY(derive_need_roots(derive, err));
	for (size_t s = 0; s < set_count; s++) {
		const int r = alone(derive, &sets[s], err);

		if (r == HDB_OK)
			continue;
		if (r != GRAPH_BUDGET)
			return r;
		assert(count < GRAPH_MASK_SETS);
		together[count++] = &sets[s];
		if (count < GRAPH_MASK_SETS)
			continue;
		TRY(walk(&w, together, count, err));
		count = 0;
	}
	return count ? walk(&w, together, count, err) : HDB_OK;
}
