/*
 * queries/database/checks_edges.c - the checks that follow all references. They verify the number
 * of references, the table of referrers, and reachability.
 */
#include "analysis/edges.h"
#include "heap/heap_database.h"
#include "queries/database/checks.h"

/* ---- references and referrers ---- */

/* A sum over distinct pairs (from, to) that does not depend on the order of the pairs. */
struct edge_sum {
	uint64_t all;      /* number of entries */
	uint64_t distinct; /* number of edges, not counting repetitions within a list */
	uint64_t hash;
	/*
	 * indexed by entry: 1 + the last list that contained the entry; NULL if lists have no
	 * repetitions
	 */
	uint32_t *last;
	bool is_turned; /* whether the lists contain referrers */
};

/*
 * Returns the number that a pair adds to the sum. Because of the mixing (Stafford's variant 13),
 * swapped and shifted pairs give different results.
 */
static uint64_t mix(uint32_t from, uint32_t to)
{
	uint64_t v = ((uint64_t)from << 32 | to) + 0x9e3779b97f4a7c15ull;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return v ^ v >> 31;
}

static int sum_edges(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
		     struct hdb_error *err)
{
	struct edge_sum *sum = ctx;

	(void)err;
	sum->all += count;
	for (size_t i = 0; i < count; i++) {
		if (sum->last && sum->last[entries[i]] == ix + 1)
			continue;
		if (sum->last)
			sum->last[entries[i]] = ix + 1;
		sum->distinct++;
		sum->hash += sum->is_turned ? mix(entries[i], ix) : mix(ix, entries[i]);
	}
	return HDB_OK;
}

int query_check_references(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	const uint64_t want = heap_meta_number(q->heap, "references", 0);
	struct edge_sum sum = { 0 };
	struct store_lists lists;

	heap_references(q->heap, &lists);
	TRY_ERRORS(analysis_each_edge(&q->session, &lists, q->heap->object_count,
				      &(struct analysis_edge_taker){ sum_edges, &sum, 0 }, err));
	if (sum.all != want)
		FAIL(found, "%" PRIu64 " references, %" PRIu64 " expected", sum.all, want);
	else
		SAY(found, "%" PRIu64 " references, all to existing objects", sum.all);
	return HDB_OK;
}

int query_check_referrers(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	const uint64_t n = q->heap->object_count;
	struct edge_sum there = { 0 }, back = { .is_turned = true };
	BASE_SCOPED(base_big_free) struct base_big last = { 0 };
	struct store_lists references, referrers;

	TRY(base_big_alloc(q->work, &last, n * 4 + 4, "checking referrers", err));
	there.last = last.data;
	heap_references(q->heap, &references);
	TRY(analysis_each_edge(&q->session, &references, n,
			       &(struct analysis_edge_taker){ sum_edges, &there, 0 }, err));
	TRY(derive_referrers(q->derive, &referrers, err));
	TRY(analysis_each_edge(&q->session, &referrers, n,
			       &(struct analysis_edge_taker){ sum_edges, &back, 0 }, err));
	if (there.distinct != back.distinct || there.hash != back.hash)
		FAIL(found,
		     "not the inverse of the references: %" PRIu64 " pairs, %" PRIu64 " expected",
		     back.distinct, there.distinct);
	else
		SAY(found, "%" PRIu64 " pairs, the inverse of the references", back.distinct);
	return HDB_OK;
}

/* ---- reach ---- */

struct reach {
	struct query *q;
	/*
	 * indexed by object: its parent; the object itself if it is unreachable; HEAP_NONE for a
	 * root
	 */
	uint32_t *parent;
	uint8_t *confirmed; /* bit set of objects to which their recorded parent refers */
	/* an unreachable object to which a reachable object refers, or HEAP_NONE */
	uint32_t missed;
};

static int confirm(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
		   struct hdb_error *err)
{
	struct reach *reach = ctx;

	(void)err;
	if (reach->parent[ix] == ix)
		return HDB_OK;
	for (size_t i = 0; i < count; i++) {
		const uint32_t to = entries[i];

		if (reach->parent[to] == ix && to != ix)
			reach->confirmed[to] = 1;
		else if (reach->parent[to] == to)
			reach->missed = to;
	}
	return HDB_OK;
}

/* Visits the references from objects to their classes, which no list contains. */
static int confirm_classes(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct reach *reach = ctx;

	for (uint32_t i = 0; i < block->count; i++) {
		const uint32_t class_ix = heap_class(reach->q->heap, block->class_no[i])->ix;

		TRY(confirm(ctx, block->first_ix + i, &class_ix, 1, err));
	}
	return HDB_OK;
}

/* Loads the parents, and confirms the parents that are classes. */
static int load_reach(struct reach *reach, struct hdb_error *err)
{
	struct query *q = reach->q;

	for (uint32_t b = 0; b < heap_block_count(q->heap); b++)
		TRY(derive_reach_block(q->derive, false, b,
				       reach->parent + (uint64_t)b * STORE_BLOCK_OBJECTS, err));
	return heap_each_block(q->heap, q->work, confirm_classes, reach, err);
}

static void judge_reach(const struct reach *reach, struct query_check_found *found)
{
	const struct heap *heap = reach->q->heap;
	uint64_t count = 0;

	for (uint32_t ix = 0; ix < heap->object_count && found->ok; ix++) {
		const uint32_t parent = reach->parent[ix];

		count += parent != ix;
		if (heap_is_root(heap, ix) != (parent == HEAP_NONE))
			FAIL(found, "object %" PRIu32 " is %s root", ix,
			     parent == HEAP_NONE ? "no" : "a");
		else if (parent != ix && parent != HEAP_NONE && !reach->confirmed[ix])
			FAIL(found, "object %" PRIu32 " is not referenced by its parent %" PRIu32,
			     ix, parent);
	}
	if (found->ok && reach->missed != HEAP_NONE)
		FAIL(found,
		     "object %" PRIu32 " is unreachable, but a reachable object references "
		     "it",
		     reach->missed);
	if (found->ok)
		SAY(found, "%" PRIu64 " reachable objects, each referenced by its parent", count);
}

int query_check_reach(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	const uint64_t n = q->heap->object_count;
	struct reach reach = { .q = q, .missed = HEAP_NONE };
	BASE_SCOPED(base_big_free) struct base_big parent = { 0 }, confirmed = { 0 };
	struct store_lists lists;

	TRY(heap_load_roots(q->heap, err));
	TRY(base_big_alloc(q->work, &parent, n * 4 + 4, "checking reachability", err));
	TRY(base_big_alloc(q->work, &confirmed, n + 1, "checking reachability", err));
	reach.parent = parent.data;
	reach.confirmed = confirmed.data;
	TRY(load_reach(&reach, err));
	heap_references(q->heap, &lists);
	TRY(analysis_each_edge(&q->session, &lists, n,
			       &(struct analysis_edge_taker){ confirm, &reach, 0 }, err));
	judge_reach(&reach, found);
	return HDB_OK;
}
