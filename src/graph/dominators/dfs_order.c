/*
 * graph/dominators/dfs_order.c - creates the array of preorder numbers by node, and renumbers
 * edges.
 *
 * The search writes the number of each node, and edges whose sources are numbers and whose targets
 * are nodes. Both are grouped in buckets of adjacent nodes. This step processes one bucket after
 * another, so that lookups stay within the cache. It fills the array, and replaces the targets of
 * edges with their numbers.
 */
#include "graph/dominators/semi_nca_private.h"

#include "base/bits.h"
#include "base/pack.h"
#include "base/pipeline.h"
#include "base/thread.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Number of blocks of numbers per thread that are processed at the same time. */
#define PACK_SLOTS 3u

/* Shares of the budget: chunks take 1/CHUNK_SHARE, and 1/KEPT_SHARE is left for other purposes. */
#define CHUNK_SHARE 16u
#define KEPT_SHARE 2u

int dom_order_init(struct dom_build *b, unsigned part_count, struct hdb_error *err)
{
	const uint32_t buckets = (b->node_count >> GRAPH_BUCKET_BITS) + 1;
	const uint64_t share = b->work->memory_bytes / CHUNK_SHARE / part_count;

	while (buckets >> b->order_shift > DOM_SPILLS_MAX)
		b->order_shift++;
	return base_buckets_init(
		&b->order,
		&(struct base_buckets_plan){ .bucket_count = dom_spill_of(b, buckets) + 1,
					     .chunks_bytes = share,
					     .kept_bytes = b->work->memory_bytes / KEPT_SHARE,
					     .what = "preorder" },
		b->work, err);
}

/* Returns the part to which a number of the whole graph belongs. */
static struct dom_build *part_of(const struct dom_parts *parts, uint32_t number)
{
	unsigned no = parts->count - 1;

	assert(number > 0);
	while (number <= parts->part[no].before)
		no--;
	assert(number - parts->part[no].before <= parts->part[no].count);
	return &parts->part[no];
}

/* Marks the numbers of nodes that the virtual root dominates. */
static void mark_tops(const struct dom_parts *parts, const uint32_t *number, uint32_t base,
		      uint32_t count)
{
	for (uint32_t v = base; v - base < count; v += DOM_STATES) {
		const uint64_t word = atomic_load_explicit(&parts->part->states[v / DOM_STATES],
							   memory_order_relaxed);

		for (uint64_t top = word & word >> 1 & DOM_LOW_BITS; top; top &= top - 1) {
			const uint32_t w = number[v - base + (unsigned)__builtin_ctzll(top) / 2];
			struct dom_build *b = part_of(parts, w);
			const uint32_t own = w - b->before;

			base_bit_put(b->top, own);
		}
	}
}

/*
 * Renumbers a part's edges into one bucket of nodes. Omits self-loops, and edges into nodes that
 * were found to be dominated by the virtual root after the edge had been recorded.
 */
static int number_edges(struct dom_build *b, const uint32_t *number, uint32_t bucket,
			struct hdb_error *err)
{
	const uint32_t base = bucket << GRAPH_BUCKET_BITS;
	struct graph_edge_reader reader;
	uint32_t source, to;

	graph_buckets_begin(&b->crosses, bucket, &reader);
	while (graph_buckets_next(&reader, &source, &to)) {
		const uint32_t own = number[to] - b->before;

		if (!(dom_state(b->states, base + to) & DOM_TOP) && source != own)
			TRY(graph_buckets_add(&b->edges, source, own, err));
	}
	return HDB_OK;
}

/*
 * Packs a block as differences. These are small because adjacent nodes usually have adjacent
 * numbers. `values` is scratch space. May run on any thread.
 */
static int pack_numbers(const uint32_t *number, uint32_t count, uint64_t *values,
			struct base_vec *packed, struct hdb_error *err)
{
	uint32_t before = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t now = number[i];

		values[i] = zigzag((int64_t)now - (i % GRAPH_NUMBERS_STEP ? (int64_t)before : 0));
		before = now;
	}
	packed->count = 0;
	return base_pack_encode(packed, values, count, err);
}

/* A bucket of nodes being processed. */
struct bucket_slot {
	uint32_t number[GRAPH_BUCKET_SIZE]; /* 0 for unreachable nodes */
	uint64_t values[GRAPH_BUCKET_SIZE];
	struct base_vec packed;
	BASE_NO_SHARING;
};

struct numbering {
	struct dom_parts *parts;
	struct base_runs *numbers;
	struct bucket_slot *slots;
	unsigned slot_count;
};

static uint32_t bucket_nodes(const struct numbering *n, uint64_t bucket)
{
	const uint64_t left = n->parts->part->node_count - (bucket << GRAPH_BUCKET_BITS);

	return left < GRAPH_BUCKET_SIZE ? (uint32_t)left : GRAPH_BUCKET_SIZE;
}

/* Reads the numbers that a part assigned to nodes of a bucket. */
static int read_part(const struct dom_build *b, uint64_t bucket, uint32_t *number,
		     struct hdb_error *err)
{
	BASE_SCOPED(base_bucket_end) struct base_bucket_reader reader = { 0 };
	uint64_t v[BASE_BUCKET_FIELDS];
	int rc;

	TRY(base_bucket_begin(&b->order, dom_spill_of(b, (uint32_t)bucket), &reader, err));
	while ((rc = base_bucket_next(&reader, BASE_RECORD(2, 0), v, err)) == HDB_OK)
		if (v[0] >> GRAPH_BUCKET_BITS == bucket)
			number[v[0] % GRAPH_BUCKET_SIZE] = b->before + (uint32_t)v[1];
	return rc < 0 ? rc : HDB_OK;
}

/* Reads and packs the numbers of a bucket's nodes. Runs on any thread. */
static int read_bucket(void *ctx, unsigned slot, uint64_t bucket, struct hdb_error *err)
{
	const struct numbering *n = ctx;
	struct bucket_slot *s = &n->slots[slot];

	memset(s->number, 0, sizeof s->number);
	for (unsigned i = 0; i < n->parts->count; i++)
		TRY(read_part(&n->parts->part[i], bucket, s->number, err));
	return pack_numbers(s->number, bucket_nodes(n, bucket), s->values, &s->packed, err);
}

static int take_bucket(void *ctx, unsigned slot, uint64_t bucket, struct hdb_error *err)
{
	const struct numbering *n = ctx;
	const struct bucket_slot *s = &n->slots[slot];
	const uint32_t count = bucket_nodes(n, bucket);

	mark_tops(n->parts, s->number, (uint32_t)bucket << GRAPH_BUCKET_BITS, count);
	for (unsigned i = 0; i < n->parts->count; i++)
		TRY(number_edges(&n->parts->part[i], s->number, (uint32_t)bucket, err));
	TRY(base_runs_put_packed(n->numbers, bucket, &s->packed, count, err));
	return base_step(n->parts->work, bucket << GRAPH_BUCKET_BITS, err);
}

/* Frees the numbering, and the data from which the numbers were computed. */
static void release(struct numbering *n)
{
	for (unsigned i = 0; n->slots && i < n->slot_count; i++)
		base_vec_release(&n->slots[i].packed);
	free(n->slots);
	for (unsigned i = 0; i < n->parts->count; i++) {
		base_buckets_release(&n->parts->part[i].order);
		graph_buckets_release(&n->parts->part[i].crosses);
	}
	base_big_free(&n->parts->states_big);
}

int dom_number(struct dom_parts *parts, struct base_runs *numbers, struct hdb_error *err)
{
	struct base_work *work = parts->work;
	const uint32_t node_count = parts->part->node_count;
	BASE_SCOPED(release)
	struct numbering n = { .parts = parts,
			       .numbers = numbers,
			       .slot_count = PACK_SLOTS * work->threads };
	const struct base_pipeline pipeline = {
		.item_count = ((uint64_t)node_count + GRAPH_BUCKET_SIZE - 1) >> GRAPH_BUCKET_BITS,
		.threads = work->threads,
		.slot_count = n.slot_count,
		.ctx = &n,
		.produce = read_bucket,
		.consume = take_bucket,
	};

	base_stage(work, "dominators: numbers", node_count, "objects");
	TRY(base_runs_init(numbers, node_count, work, "preorder", err));
	TRY(BASE_ALLOC(n.slots, n.slot_count, "preorder", err));
	return base_pipeline_run(&pipeline, err);
}
