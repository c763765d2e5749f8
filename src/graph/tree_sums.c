/*
 * graph/tree_sums.c - sums up a tree: a node's sum goes to its parent when its children's have come.
 */
#include "graph/tree_sums.h"

/* Nodes between two calls of base_step. */
#define STEP_NODES 0x100000u

static void mark_inner(struct graph_tree_sums *s, uint32_t (*parent)(const void *ctx, uint32_t v),
		       const void *ctx)
{
	for (uint32_t v = 0; v < s->node_count; v++) {
		const uint32_t p = parent(ctx, v);

		if (p != v && p != GRAPH_NONE)
			s->inner[p / 64] |= (uint64_t)1 << (p % 64);
	}
}

static void count_ranks(struct graph_tree_sums *s)
{
	for (uint64_t w = 0; w < (uint64_t)s->node_count / 64 + 1; w++) {
		if (w % (GRAPH_RANK_BITS / 64) == 0)
			s->rank[w / (GRAPH_RANK_BITS / 64)] = s->inner_count;
		s->inner_count += (uint32_t)__builtin_popcountll(s->inner[w]);
	}
}

static void link_inner(struct graph_tree_sums *s, uint32_t (*parent)(const void *ctx, uint32_t v),
		       const void *ctx)
{
	uint32_t k = 0;

	for (uint64_t w = 0; w < (uint64_t)s->node_count / 64 + 1; w++) {
		for (uint64_t bits = s->inner[w]; bits; bits &= bits - 1, k++) {
			const uint32_t v = (uint32_t)(w * 64) + (unsigned)__builtin_ctzll(bits);
			const uint32_t p = parent(ctx, v);

			s->up[k] = p == v || p == GRAPH_NONE ? GRAPH_NONE : graph_tree_sums_rank(s, p);
			if (s->up[k] != GRAPH_NONE)
				s->waiting[s->up[k]]++;
		}
	}
}

int graph_tree_sums_init(struct graph_tree_sums *sums, uint32_t node_count,
			 uint32_t (*parent)(const void *ctx, uint32_t v), const void *ctx,
			 struct base_work *work, struct hdb_error *err)
{
	const char *what = "sums of sizes";
	int rc;

	*sums = (struct graph_tree_sums){ .work = work, .node_count = node_count };
	rc = base_big_alloc(work, &sums->inner_big, ((uint64_t)node_count / 64 + 1) * 8, what, err);
	if (rc == HDB_OK)
		rc = base_big_alloc(work, &sums->rank_big,
				    ((uint64_t)node_count / GRAPH_RANK_BITS + 1) * 4, what, err);
	if (rc < 0)
		return rc;
	sums->inner = sums->inner_big.data;
	sums->rank = sums->rank_big.data;
	mark_inner(sums, parent, ctx);
	count_ranks(sums);
	rc = base_big_alloc(work, &sums->sum_big, (uint64_t)sums->inner_count * 8 + 8, what, err);
	if (rc == HDB_OK)
		rc = base_big_alloc(work, &sums->up_big, (uint64_t)sums->inner_count * 4 + 4, what, err);
	if (rc == HDB_OK)
		rc = base_big_alloc(work, &sums->waiting_big, (uint64_t)sums->inner_count * 4 + 4, what,
				    err);
	if (rc < 0)
		return rc;
	sums->sum = sums->sum_big.data;
	sums->up = sums->up_big.data;
	sums->waiting = sums->waiting_big.data;
	link_inner(sums, parent, ctx);
	return HDB_OK;
}

void graph_tree_sums_release(struct graph_tree_sums *sums)
{
	if (!sums->work)
		return;
	base_big_free(sums->work, &sums->waiting_big);
	base_big_free(sums->work, &sums->up_big);
	base_big_free(sums->work, &sums->sum_big);
	base_big_free(sums->work, &sums->rank_big);
	base_big_free(sums->work, &sums->inner_big);
	*sums = (struct graph_tree_sums){ 0 };
}

int graph_tree_sums_up(struct graph_tree_sums *sums, struct hdb_error *err)
{
	uint32_t done = 0;

	base_stage(sums->work, "retained sizes", sums->inner_count, "objects");
	for (uint32_t k = 0; k < sums->inner_count; k++) {
		/* The sum of what waits for nothing, and of all above that waited for it alone. */
		for (uint32_t x = k; x != GRAPH_NONE && sums->waiting[x] == 0;) {
			const uint32_t up = sums->up[x];

			sums->waiting[x] = GRAPH_NONE;
			done++;
			if (up == GRAPH_NONE)
				break;
			atomic_fetch_add_explicit(&sums->sum[up], sums->sum[x], memory_order_relaxed);
			sums->waiting[up]--;
			x = up <= k ? up : GRAPH_NONE;
		}
		if (k % STEP_NODES == 0) {
			const int rc = base_step(sums->work, k, err);
			if (rc < 0)
				return rc;
		}
	}
	return done == sums->inner_count ? HDB_OK :
	       hdb_fail(err, HDB_ECORRUPT, "dominators are no tree");
}
