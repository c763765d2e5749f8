/*
 * graph/tree_sums.c - sums up a tree: a node's sum goes to its parent when its children's have come.
 *
 * Parents lie anywhere, so what is looked up for them is asked for some nodes ahead.
 */
#include "graph/tree_sums.h"

#include "base/bytes.h"

#define WORDS_OF_RANK (GRAPH_RANK_BITS / 64)

/* Nodes whose parents are looked up together. */
#define BATCH_NODES 64u

/* Nodes between two calls of base_step. */
#define STEP_NODES 0x100000u

static inline uint64_t word_of(const struct graph_tree_sums *s, uint64_t w)
{
	return atomic_load_explicit(&s->inner[w], memory_order_relaxed);
}

static inline bool is_inner(const struct graph_tree_sums *s, uint32_t v)
{
	return word_of(s, v / 64) >> (v % 64) & 1;
}

/* The place of a node with children. */
static inline uint32_t rank_of(const struct graph_tree_sums *s, uint32_t v)
{
	uint32_t rank = s->rank[v / GRAPH_RANK_BITS];

	for (uint32_t w = v / GRAPH_RANK_BITS * WORDS_OF_RANK; w < v / 64; w++)
		rank += count_bits(word_of(s, w));
	return rank + count_bits(word_of(s, v / 64) & (((uint64_t)1 << (v % 64)) - 1));
}

int graph_tree_sums_init(struct graph_tree_sums *sums, uint32_t node_count, struct base_work *work,
			 struct hdb_error *err)
{
	int rc;

	*sums = (struct graph_tree_sums){ .work = work, .node_count = node_count };
	rc = base_big_alloc(work, &sums->inner_big, ((uint64_t)node_count / GRAPH_RANK_BITS + 1) *
			    GRAPH_RANK_BITS / 8, "sums of sizes", err);
	if (rc == HDB_OK)
		rc = base_big_alloc(work, &sums->rank_big,
				    ((uint64_t)node_count / GRAPH_RANK_BITS + 1) * 4,
				    "sums of sizes", err);
	sums->inner = sums->inner_big.data;
	sums->rank = sums->rank_big.data;
	return rc;
}

void graph_tree_sums_release(struct graph_tree_sums *sums)
{
	if (!sums->work)
		return;
	base_big_free(sums->work, &sums->sum_big);
	base_big_free(sums->work, &sums->rank_big);
	base_big_free(sums->work, &sums->inner_big);
	*sums = (struct graph_tree_sums){ 0 };
}

void graph_tree_sums_mark(struct graph_tree_sums *sums, uint32_t first, const uint32_t *parent,
			  uint32_t count)
{
	for (uint32_t start = 0; start < count; start += BATCH_NODES) {
		const uint32_t end = count - start < BATCH_NODES ? count : start + BATCH_NODES;

		for (uint32_t i = start; i < end; i++)
			if (parent[i] != GRAPH_NONE)
				__builtin_prefetch((const void *)&sums->inner[parent[i] / 64], 1);
		for (uint32_t i = start; i < end; i++)
			if (parent[i] != GRAPH_NONE && parent[i] != first + i && !is_inner(sums, parent[i]))
				atomic_fetch_or_explicit(&sums->inner[parent[i] / 64],
							 (uint64_t)1 << (parent[i] % 64),
							 memory_order_relaxed);
	}
}

uint64_t graph_tree_sums_rank(struct graph_tree_sums *sums)
{
	uint32_t rank = 0;

	for (uint64_t w = 0; w < (uint64_t)sums->node_count / 64 + 1; w++) {
		if (w % WORDS_OF_RANK == 0)
			sums->rank[w / WORDS_OF_RANK] = rank;
		rank += count_bits(word_of(sums, w));
	}
	sums->inner_count = rank;
	return ((uint64_t)rank + 1) * sizeof(*sums->sum);
}

int graph_tree_sums_begin(struct graph_tree_sums *sums, struct hdb_error *err)
{
	const int rc = base_big_alloc(sums->work, &sums->sum_big,
				      ((uint64_t)sums->inner_count + 1) * sizeof(*sums->sum),
				      "sums of sizes", err);

	sums->sum = sums->sum_big.data;
	return rc;
}

/* Of a batch that starts at node `first`: what add does once the places are in the caches. */
static void add_batch(struct graph_tree_sums *s, uint32_t first, const uint32_t *rank,
		      const uint64_t *size, uint32_t count)
{
	uint32_t own = rank_of(s, first);

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t up = rank[i];

		if (up != GRAPH_NONE)
			atomic_fetch_add_explicit(&s->sum[up].below, size[i], memory_order_relaxed);
		if (!is_inner(s, first + i))
			continue;
		s->sum[own++].up = up;
		if (up != GRAPH_NONE)
			atomic_fetch_add_explicit(&s->sum[up].waiting, 1, memory_order_relaxed);
	}
}

void graph_tree_sums_add(struct graph_tree_sums *sums, uint32_t first, const uint32_t *parent,
			 const uint64_t *size, uint32_t count)
{
	uint32_t rank[BATCH_NODES];

	for (uint32_t start = 0; start < count; start += BATCH_NODES) {
		const uint32_t n = count - start < BATCH_NODES ? count - start : BATCH_NODES;

		for (uint32_t i = 0; i < n; i++) {
			const uint32_t p = parent[start + i];

			rank[i] = p == first + start + i ? GRAPH_NONE : p;
			if (rank[i] == GRAPH_NONE)
				continue;
			__builtin_prefetch((const void *)&sums->inner[p / GRAPH_RANK_BITS * WORDS_OF_RANK]);
			__builtin_prefetch(&sums->rank[p / GRAPH_RANK_BITS]);
		}
		for (uint32_t i = 0; i < n; i++) {
			if (rank[i] == GRAPH_NONE)
				continue;
			rank[i] = rank_of(sums, rank[i]);
			__builtin_prefetch(&sums->sum[rank[i]], 1);
		}
		add_batch(sums, first + start, rank, size + start, n);
	}
}

int graph_tree_sums_up(struct graph_tree_sums *sums, struct hdb_error *err)
{
	struct graph_tree_sum *sum = sums->sum;
	uint32_t done = 0;

	base_stage(sums->work, "retained sizes", sums->inner_count, "objects");
	for (uint32_t k = 0; k < sums->inner_count; k++) {
		/* The sum of what waits for nothing, and of all above that waited for it alone. */
		for (uint32_t x = k; x != GRAPH_NONE && sum[x].waiting == 0;) {
			const uint32_t up = sum[x].up;

			sum[x].waiting = GRAPH_NONE;
			done++;
			if (up == GRAPH_NONE)
				break;
			atomic_fetch_add_explicit(&sum[up].below, sum[x].below, memory_order_relaxed);
			atomic_fetch_sub_explicit(&sum[up].waiting, 1, memory_order_relaxed);
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

void graph_tree_sums_below(const struct graph_tree_sums *sums, uint32_t first, uint64_t *below,
			   uint32_t count)
{
	uint32_t rank = rank_of(sums, first);

	for (uint32_t i = 0; i < count; i++)
		below[i] = is_inner(sums, first + i) ?
			   atomic_load_explicit(&sums->sum[rank++].below, memory_order_relaxed) : 0;
}
