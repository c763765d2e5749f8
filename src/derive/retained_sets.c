/*
 * derive/retained_sets.c - what several sets of objects retain, exactly: small ones locally, the
 * others together, GRAPH_MASK_SETS in one walk over the heap.
 */
#include "derive/build.h"

#include "graph/reach_masks.h"

#include <assert.h>
#include <stdlib.h>

/* Sets of more members are not tried locally. */
#define LOCAL_MEMBERS_MAX 2000u

static const struct graph_retained_options local_limits = {
	.max_nodes = 20000,
	.max_edges = 100000,
};

/* What one walk needs beside the graph. */
struct sets_walk {
	struct derive *derive;
	struct graph_rows rows;
	bool has_rows;
	struct base_big reached, is_member;
	struct graph_member *members; /* owned */
	size_t member_count;
};

static int by_node(const void *a, const void *b)
{
	const struct graph_member *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

/* All members of the sets of a walk, ascending, each once. */
static int collect(struct sets_walk *w, struct derive_set *const *sets, unsigned count,
		   struct hdb_error *err)
{
	uint64_t *bits = w->is_member.data;
	size_t total = 0, n = 0;

	for (unsigned s = 0; s < count; s++)
		total += sets[s]->count;
	free(w->members);
	w->members = malloc((total + 1) * sizeof(*w->members));
	if (!w->members)
		return hdb_fail_memory(err, "sets of objects", total * sizeof(*w->members));
	for (unsigned s = 0; s < count; s++)
		for (size_t i = 0; i < sets[s]->count; i++)
			w->members[n++] = (struct graph_member){ sets[s]->members[i], 1u << s };
	qsort(w->members, n, sizeof(*w->members), by_node);
	w->member_count = 0;
	for (size_t i = 0; i < n; i++) {
		if (w->member_count && w->members[w->member_count - 1].node == w->members[i].node)
			w->members[w->member_count - 1].sets |= w->members[i].sets;
		else
			w->members[w->member_count++] = w->members[i];
		bits[w->members[i].node >> 6] |= (uint64_t)1 << (w->members[i].node & 63);
	}
	return HDB_OK;
}

/* What one walk has found, and the sets that it was for. */
struct lost_sums {
	const struct heap *heap;
	struct derive_set *const *sets;
	const uint32_t *reached; /* by object: sets around which roots reach it, a bit each */
	uint32_t all;            /* the bits of all sets */
};

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

/* Adds each object that some set cuts off to those sets. */
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

	if (w->has_rows)
		return HDB_OK;
	w->has_rows = true;
	TRY(base_big_alloc(w->derive->work, &w->reached, (n + 1) * sizeof(uint32_t),
			   "masks of sets", err));
	TRY(base_big_alloc(w->derive->work, &w->is_member, n / 8 + 8, "a set of objects", err));
	return derive_graph_load(w->derive, false, &w->rows, err);
}

static int walk(struct sets_walk *w, struct derive_set *const *sets, unsigned count,
		struct hdb_error *err)
{
	int r;

	TRY(prepare(w, err));
	TRY(collect(w, sets, count, err));
	r = graph_reach_masks(&w->rows, w->derive->heap->roots.bits,
			      &(struct graph_mask_sets){
				      .members = w->members,
				      .member_count = w->member_count,
				      .is_member = w->is_member.data,
				      .count = count,
			      },
			      w->reached.data, err);
	if (r != HDB_OK)
		return r;
	TRY(sum_lost(w, sets, count, err));
	/* For the next walk. */
	for (size_t i = 0; i < w->member_count; i++)
		((uint64_t *)w->is_member.data)[w->members[i].node >> 6] = 0;
	return HDB_OK;
}

/* One set by itself, if that is little work: HDB_OK, or GRAPH_BUDGET. */
static int alone(struct derive *derive, struct derive_set *set, struct hdb_error *err)
{
	struct derive_retained_result result = { 0 };
	int r;

	set->retained_bytes = set->retained_count = 0;
	if (!set->count)
		return HDB_OK;
	if (set->count > LOCAL_MEMBERS_MAX)
		return GRAPH_BUDGET;
	r = derive_retained_local(derive, (struct graph_members){ set->members, set->count },
				  &local_limits, &result, err);
	if (r != HDB_OK)
		return r;
	set->retained_bytes = result.retained_bytes;
	set->retained_count = result.retained_count;
	return HDB_OK;
}

int derive_retained_sets(struct derive *derive, struct derive_set *sets, size_t set_count,
			 struct hdb_error *err)
{
	struct sets_walk w = { .derive = derive };
	struct derive_set *together[GRAPH_MASK_SETS];
	unsigned count = 0;
	int r = derive_need_roots(derive, err);

	if (r != HDB_OK)
		goto out;
	for (size_t s = 0; s < set_count; s++) {
		if ((r = alone(derive, &sets[s], err)) == HDB_OK)
			continue;
		if (r != GRAPH_BUDGET)
			goto out;
		assert(count < GRAPH_MASK_SETS);
		together[count++] = &sets[s];
		if (count < GRAPH_MASK_SETS)
			continue;
		if ((r = walk(&w, together, count, err)) != HDB_OK)
			goto out;
		count = 0;
	}
	r = count ? walk(&w, together, count, err) : HDB_OK;
out:
	graph_rows_release(&w.rows);
	base_big_free(&w.reached);
	base_big_free(&w.is_member);
	free(w.members);
	return r;
}
