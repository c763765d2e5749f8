/*
 * graph/tree_sums.c - sums up a tree: a node's sum goes to its parent when its children's have come.
 *
 * Parents lie anywhere, so what is looked up for them is asked for some nodes ahead.
 */
#include "graph/tree_sums.h"

#include "base/pipeline.h"

/* Nodes whose parents are looked up together. */
#define BATCH_NODES 64u

/* Places of a range: what is in memory at once fits the second-level cache. */
#define RANGE_BITS 16u

/* Bytes of piles that are being filled, at most; and of them in the budget. */
#define CHUNKS_BYTES ((uint64_t)16 << 20)

/* Nodes between two calls of base_step. */
#define STEP_NODES 0x100000u

int graph_tree_sums_init(struct graph_tree_sums *sums, uint32_t node_count, struct base_work *work,
			 struct hdb_error *err)
{
	*sums = (struct graph_tree_sums){ .work = work };
	return graph_rank_bits_init(&sums->inner, node_count, work, "sums of sizes", err);
}

void graph_tree_sums_release(struct graph_tree_sums *sums)
{
	if (!sums->work)
		return;
	graph_piles_release(&sums->sizes);
	base_big_free(sums->work, &sums->sum_big);
	graph_rank_bits_release(&sums->inner);
	*sums = (struct graph_tree_sums){ 0 };
}

void graph_tree_sums_mark(struct graph_tree_sums *sums, uint32_t first, const uint32_t *parent,
			  uint32_t count)
{
	for (uint32_t start = 0; start < count; start += BATCH_NODES) {
		const uint32_t end = count - start < BATCH_NODES ? count : start + BATCH_NODES;

		for (uint32_t i = start; i < end; i++)
			if (parent[i] != GRAPH_NONE)
				__builtin_prefetch((const void *)&sums->inner.bits[parent[i] / 64], 1);
		for (uint32_t i = start; i < end; i++)
			if (parent[i] != GRAPH_NONE && parent[i] != first + i)
				graph_rank_bits_put(&sums->inner, parent[i]);
	}
}

uint64_t graph_tree_sums_rank(struct graph_tree_sums *sums)
{
	graph_rank_bits_rank(&sums->inner);
	return ((uint64_t)sums->inner.count + 1) * sizeof(*sums->sum);
}

int graph_tree_sums_begin(struct graph_tree_sums *sums, struct hdb_error *err)
{
	int rc = base_big_alloc(sums->work, &sums->sum_big,
				((uint64_t)sums->inner.count + 1) * sizeof(*sums->sum),
				"sums of sizes", err);

	sums->sum = sums->sum_big.data;
	if (rc == HDB_OK)
		rc = graph_piles_init(&sums->sizes, (sums->inner.count >> RANGE_BITS) + 1, CHUNKS_BYTES, 0,
				      sums->work, "sums of sizes", err);
	return rc;
}

/* Of a batch that starts at node `first`: what add does once the bits are in the caches. There is room. */
static void add_batch(struct graph_tree_sums *s, struct base_vec *sizes, uint32_t first,
		      const uint32_t *rank, const uint64_t *size, uint32_t count)
{
	struct graph_tree_size *next = base_vec_at(sizes, struct graph_tree_size, sizes->count);
	uint32_t own = graph_rank_bits_before(&s->inner, first);

	for (uint32_t i = 0; i < count; i++) {
		const bool is_inner = graph_rank_bits_has(&s->inner, first + i);

		*next = (struct graph_tree_size){ rank[i], is_inner, size[i] };
		next += rank[i] != GRAPH_NONE;
		if (is_inner)
			s->sum[own++].up = rank[i];
	}
	sizes->count = (size_t)(next - (struct graph_tree_size *)sizes->data);
}

int graph_tree_sums_add(struct graph_tree_sums *sums, struct base_vec *sizes, uint32_t first,
			const uint32_t *parent, const uint64_t *size, uint32_t count,
			struct hdb_error *err)
{
	/* One more: what is written there does not always count. */
	const int rc = base_vec_reserve(sizes, (size_t)count + 1, sizeof(struct graph_tree_size), err);
	uint32_t rank[BATCH_NODES];

	for (uint32_t start = 0; rc == HDB_OK && start < count; start += BATCH_NODES) {
		const uint32_t n = count - start < BATCH_NODES ? count - start : BATCH_NODES;

		for (uint32_t i = 0; i < n; i++) {
			const uint32_t p = parent[start + i];

			rank[i] = p == first + start + i ? GRAPH_NONE : p;
			if (rank[i] != GRAPH_NONE)
				graph_rank_bits_prefetch(&sums->inner, p);
		}
		for (uint32_t i = 0; i < n; i++)
			if (rank[i] != GRAPH_NONE)
				rank[i] = graph_rank_bits_before(&sums->inner, rank[i]);
		add_batch(sums, sizes, first + start, rank, size + start, n);
	}
	return rc;
}

int graph_tree_sums_join(struct graph_tree_sums *sums, struct base_vec *sizes, struct hdb_error *err)
{
	const struct graph_tree_size *size = sizes->data;
	int rc = HDB_OK;

	for (size_t i = 0; i < sizes->count && rc == HDB_OK; i++) {
		const uint64_t record[] = { size[i].rank, size[i].size, size[i].is_inner };

		rc = graph_piles_add(&sums->sizes, size[i].rank >> RANGE_BITS, 1, 2, record, err);
	}
	sizes->count = 0;
	return rc;
}

/* Adds up the sizes of one range of places. */
static int add_range(void *ctx, unsigned slot, uint64_t range, struct hdb_error *err)
{
	struct graph_tree_sums *s = ctx;
	struct graph_pile_reader reader;
	uint64_t v[GRAPH_PILE_FIELDS];
	int rc = graph_pile_begin(&s->sizes, (uint32_t)range, &reader, err);

	(void)slot;
	while (rc == HDB_OK && (rc = graph_pile_next(&reader, 1, 2, v, err)) == HDB_OK) {
		s->sum[v[0]].below += v[1];
		s->sum[v[0]].waiting += (uint32_t)v[2];
	}
	graph_pile_end(&reader);
	return rc == HDB_END ? HDB_OK : rc;
}

static int add_up(struct graph_tree_sums *s, struct hdb_error *err)
{
	const struct base_pipeline pipeline = {
		.item_count = s->sizes.pile_count, .threads = s->work->threads,
		.slot_count = 4 * s->work->threads, .ctx = s, .produce = add_range,
	};
	const int rc = base_pipeline_run(&pipeline, err);

	graph_piles_release(&s->sizes);
	return rc;
}

int graph_tree_sums_up(struct graph_tree_sums *sums, struct hdb_error *err)
{
	struct graph_tree_sum *sum = sums->sum;
	const uint32_t count = sums->inner.count;
	uint32_t done = 0;
	int rc;

	base_stage(sums->work, "retained sizes", count, "objects");
	rc = add_up(sums, err);
	for (uint32_t k = 0; k < count && rc == HDB_OK; k++) {
		/* The sum of what waits for nothing, and of all above that waited for it alone. */
		for (uint32_t x = k; x != GRAPH_NONE && sum[x].waiting == 0;) {
			const uint32_t up = sum[x].up;

			sum[x].waiting = GRAPH_NONE;
			done++;
			if (up == GRAPH_NONE)
				break;
			sum[up].below += sum[x].below;
			sum[up].waiting--;
			x = up <= k ? up : GRAPH_NONE;
		}
		if (k % STEP_NODES == 0)
			rc = base_step(sums->work, k, err);
	}
	if (rc == HDB_OK && done != count)
		rc = hdb_fail(err, HDB_ECORRUPT, "dominators are no tree");
	return rc;
}

void graph_tree_sums_below(const struct graph_tree_sums *sums, uint32_t first, uint64_t *below,
			   uint32_t count)
{
	uint32_t rank = graph_rank_bits_before(&sums->inner, first);

	for (uint32_t i = 0; i < count; i++)
		below[i] = graph_rank_bits_has(&sums->inner, first + i) ? sums->sum[rank++].below : 0;
}
