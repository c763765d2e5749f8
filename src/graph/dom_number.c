/*
 * graph/dom_number.c - from the search's order to numbers by node, and from nodes to numbers in edges.
 */
#include "graph/dom_build.h"

#include "base/pack.h"
#include "base/pipeline.h"

#include <stdlib.h>

/* Blocks of numbers in work at once, a thread. */
#define PACK_SLOTS 3u

/* How many nodes of the order ahead memory is asked for. */
#define ORDER_AHEAD 32

/* Numbers by node, 0 for what was not reached; of order[1] to order[count]. */
static int turn_order(struct dom_build *b, uint32_t *number, struct hdb_error *err)
{
	for (uint32_t k = 1; k <= b->count; k++) {
		if (b->count - k >= ORDER_AHEAD)
			__builtin_prefetch(&number[b->order[k + ORDER_AHEAD]], 1);
		number[b->order[k]] = k;
		if ((k & DOM_STEP_MASK) == 0) {
			const int rc = base_step(b->work, k, err);
			if (rc < 0)
				return rc;
		}
	}
	return HDB_OK;
}

/* The edges to one bucket of nodes: not from themselves, nor to what needs none, which is marked. */
static int number_bucket(struct dom_build *b, const uint32_t *number, uint32_t bucket,
			 struct hdb_error *err)
{
	const uint32_t base = bucket << GRAPH_BUCKET_BITS;
	const uint32_t count = b->node_count - base < GRAPH_BUCKET_SIZE ? b->node_count - base :
			       GRAPH_BUCKET_SIZE;
	struct graph_edge_reader reader;
	uint32_t source, to;
	int rc = HDB_OK;

	for (uint32_t v = base; v - base < count; v += DOM_STATES) {
		const uint64_t word = b->states[v / DOM_STATES];

		for (uint64_t top = word & word >> 1 & DOM_LOW_BITS; top; top &= top - 1) {
			const uint32_t w = number[v + (unsigned)__builtin_ctzll(top) / 2];
			b->top[w / 64] |= (uint64_t)1 << (w % 64);
		}
	}
	graph_buckets_begin(&b->crosses, bucket, &reader);
	while (rc == HDB_OK && graph_buckets_next(&reader, &source, &to))
		if (dom_state(b->states, base + to) != DOM_TOP && source != number[base + to])
			rc = graph_buckets_add(&b->edges, source, number[base + to], err);
	return rc;
}

static int number_edges(struct dom_build *b, const uint32_t *number, struct hdb_error *err)
{
	int rc = HDB_OK;

	for (uint32_t base = 0; rc == HDB_OK && base < b->node_count;) {
		rc = number_bucket(b, number, base >> GRAPH_BUCKET_BITS, err);
		if (rc == HDB_OK)
			rc = base_step(b->work, base, err);
		if (b->node_count - base <= GRAPH_BUCKET_SIZE)
			break;
		base += GRAPH_BUCKET_SIZE;
	}
	return rc;
}

/* One block of numbers in work. */
struct pack_slot {
	uint64_t *values;       /* GRAPH_RUN */
	struct base_vec packed;
};

struct packing {
	struct graph_runs *numbers;
	const uint32_t *number;
	uint64_t node_count;
	struct pack_slot *slots;
};

static uint32_t block_size(const struct packing *p, uint64_t block)
{
	const uint64_t left = p->node_count - block * GRAPH_RUN;

	return left < GRAPH_RUN ? (uint32_t)left : GRAPH_RUN;
}

/* Packs a block; on any thread. Neighbours were mostly met one after the other. */
static int pack_block(void *ctx, unsigned slot, uint64_t block, struct hdb_error *err)
{
	const struct packing *p = ctx;
	const uint32_t *number = p->number + block * GRAPH_RUN;
	const uint32_t count = block_size(p, block);
	struct pack_slot *s = &p->slots[slot];
	uint32_t before = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t now = number[i];

		s->values[i] = zigzag((int64_t)now - (i % GRAPH_NUMBERS_STEP ? (int64_t)before : 0));
		before = now;
	}
	s->packed.count = 0;
	return pack_encode(&s->packed, s->values, count, err);
}

static int put_block(void *ctx, unsigned slot, uint64_t block, struct hdb_error *err)
{
	const struct packing *p = ctx;

	return graph_runs_put_packed(p->numbers, block, &p->slots[slot].packed,
				     block_size(p, block), err);
}

int dom_pack_numbers(struct dom_build *b, const uint32_t *number, struct graph_runs *numbers,
		     struct hdb_error *err)
{
	struct packing p = {
		.numbers = numbers, .number = number, .node_count = b->node_count,
	};
	const struct base_pipeline pipeline = {
		.item_count = (p.node_count + GRAPH_RUN - 1) / GRAPH_RUN,
		.threads = b->work->threads, .slot_count = PACK_SLOTS * b->work->threads, .ctx = &p,
		.produce = pack_block, .consume = put_block,
	};
	int rc = graph_runs_init(numbers, p.node_count, b->work, "preorder", err);

	p.slots = calloc(pipeline.slot_count, sizeof *p.slots);
	for (unsigned i = 0; p.slots && i < pipeline.slot_count; i++) {
		p.slots[i].values = malloc(GRAPH_RUN * sizeof *p.slots[i].values);
		if (rc == HDB_OK && !p.slots[i].values)
			rc = hdb_fail_memory(err, "preorder", GRAPH_RUN * sizeof *p.slots[i].values);
	}
	if (rc == HDB_OK)
		rc = p.slots ? base_pipeline_run(&pipeline, err) :
		     hdb_fail_memory(err, "preorder", pipeline.slot_count * sizeof *p.slots);
	for (unsigned i = 0; p.slots && i < pipeline.slot_count; i++) {
		free(p.slots[i].values);
		base_vec_release(&p.slots[i].packed);
	}
	free(p.slots);
	return rc;
}

int dom_number(struct dom_build *b, struct graph_runs *numbers, struct hdb_error *err)
{
	struct base_big number = { 0 };
	int rc;

	/* Where the rows were; what is kept lies elsewhere. */
	base_pool_close(b->work, false);
	rc = base_big_alloc(b->work, &number, ((uint64_t)b->node_count + 1) * 4, "preorder", err);
	base_pool_close(b->work, true);
	base_stage(b->work, "dominators: numbers", b->count, "objects");
	if (rc == HDB_OK)
		rc = turn_order(b, number.data, err);
	base_big_free(b->work, &b->order_big);
	if (rc == HDB_OK)
		rc = number_edges(b, number.data, err);
	graph_buckets_release(&b->crosses);
	base_big_free(b->work, &b->states_big);
	if (rc == HDB_OK)
		rc = dom_pack_numbers(b, number.data, numbers, err);
	base_big_free(b->work, &number);
	return rc;
}
