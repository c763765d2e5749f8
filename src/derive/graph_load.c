/*
 * derive/graph_load.c - the heap's graph as arrays, for the algorithms that look at all of it.
 *
 * Blocks are looked up by the calling thread, decoded on all threads, and joined in order by the calling thread.
 */
#include "base/pipeline.h"
#include "derive/build.h"
#include "heap/values.h"

#include <stdlib.h>
#include <string.h>

/* One block while it is decoded. */
struct load_slot {
	struct heap_block *objects;
	uint64_t *lengths;
	struct base_vec entries; /* uint32_t: its references as stored */
	struct base_vec edges;   /* uint32_t: its edges in the graph */
	uint32_t *edge_count;    /* by object */
};

struct load {
	struct derive *derive;
	struct load_slot *slots;
	unsigned slot_count;
	struct store_block *blocks;     /* of the table references */
	struct store_lists big;
	uint64_t *first;
	uint32_t *target;
	uint64_t count;                 /* edges so far */
	uint64_t limit;                 /* room in target */
	bool is_strong;
};

/* Looks up every block, so that decoding needs no more of the store. */
static int find_blocks(struct load *l, struct hdb_error *err)
{
	struct heap *heap = l->derive->heap;
	const uint32_t n = heap_block_count(heap);

	l->blocks = calloc((size_t)n + 1, sizeof(*l->blocks));
	if (!l->blocks)
		return hdb_fail_memory(err, "the graph", n * sizeof(*l->blocks));
	for (uint32_t b = 0; b < n; b++) {
		const uint32_t first_ix = b * STORE_BLOCK_OBJECTS;
		int r = store_block(heap->store, STORE_REFERENCES, first_ix, &l->blocks[b], err);

		if (r == HDB_NOTFOUND)
			r = store_damaged(heap->store, STORE_REFERENCES, first_ix, "block missing",
					  err);
		/* Opens the block of objects, too: reading it on a thread then is only decoding. */
		if (r == HDB_OK)
			r = heap_prepare_block(heap, b, err);
		if (r < 0)
			return r;
	}
	return HDB_OK;
}

static void put_edge(const struct load *l, struct load_slot *s, uint32_t to)
{
	if (!heap_is_root(l->derive->heap, to))
		*base_vec_at(&s->edges, uint32_t, s->edges.count++) = to;
}

/* Decodes block `item`; the references of reference objects are looked at later if is_strong. */
static int produce(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct load *l = ctx;
	struct load_slot *s = &l->slots[slot_no];
	struct heap *heap = l->derive->heap;
	const uint32_t *entries;
	int r = heap_read_block(heap, (uint32_t)item, s->objects, err);

	s->entries.count = s->edges.count = 0;
	if (r == HDB_OK && l->blocks[item].item_count != s->objects->count)
		r = store_damaged(heap->store, STORE_REFERENCES, s->objects->first_ix,
				  "impossible size", err);
	if (r == HDB_OK)
		r = store_lists_decode(heap->store, STORE_REFERENCES, &l->blocks[item],
				       heap->object_count, s->lengths, &s->entries, err);
	if (r == HDB_OK)
		r = base_vec_reserve(&s->edges, s->entries.count + s->objects->count,
				     sizeof(uint32_t), err);
	if (r < 0)
		return r;
	entries = s->entries.data;
	for (uint32_t i = 0; i < s->objects->count; i++) {
		const size_t start = s->edges.count;
		const uint64_t n = s->lengths[i] & STORE_LIST_IS_BIG ? 0 : s->lengths[i];

		put_edge(l, s, heap_class(heap, s->objects->class_no[i])->ix);
		for (uint64_t e = 0; e < n; e++)
			put_edge(l, s, entries[e]);
		entries += n;
		s->edge_count[i] = (uint32_t)(s->edges.count - start);
	}
	return HDB_OK;
}

static int append(struct load *l, const uint32_t *edges, uint64_t count, struct hdb_error *err)
{
	if (count > l->limit - l->count)
		return hdb_fail(err, HDB_ECORRUPT, "%s: damaged: table references has more entries "
				"than it says; import the dump again",
				store_path(l->derive->heap->store));
	memcpy(l->target + l->count, edges, count * sizeof(*edges));
	l->count += count;
	return HDB_OK;
}

/* The edges of a reference object, without its referent. */
static int append_strong(struct load *l, uint32_t ix, const uint32_t *edges, uint32_t count,
			 struct hdb_error *err)
{
	int r = HDB_OK;

	for (uint32_t e = 0; e < count && r == HDB_OK; e++) {
		uint8_t strength;

		r = heap_strength(l->derive->heap, ix, edges[e], &strength, err);
		if (r == HDB_OK && strength == STORE_STRONG)
			r = append(l, &edges[e], 1, err);
	}
	return r;
}

static int append_big(struct load *l, uint32_t ix, struct hdb_error *err)
{
	const uint32_t *batch;
	size_t count = 0;
	int r = store_lists_begin(&l->big, ix, NULL, err);

	do {
		if (r == HDB_OK)
			r = store_lists_next(&l->big, &batch, &count, err);
		for (size_t e = 0; r == HDB_OK && e < count; e++)
			if (!heap_is_root(l->derive->heap, batch[e]))
				r = append(l, &batch[e], 1, err);
	} while (r == HDB_OK && count);
	return r;
}

static int consume(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct load *l = ctx;
	const struct load_slot *s = &l->slots[slot_no];
	struct heap *heap = l->derive->heap;
	const uint32_t *edges = s->edges.data;
	int r = base_step(l->derive->work, item * STORE_BLOCK_OBJECTS, err);

	for (uint32_t i = 0; i < s->objects->count && r == HDB_OK; i++) {
		const uint32_t ix = s->objects->first_ix + i;

		l->first[ix] = l->count;
		if (l->is_strong && s->objects->kind[i] == STORE_INSTANCE &&
		    heap_class(heap, s->objects->class_no[i])->strength)
			r = append_strong(l, ix, edges, s->edge_count[i], err);
		else
			r = append(l, edges, s->edge_count[i], err);
		edges += s->edge_count[i];
		if (r == HDB_OK && s->lengths[i] & STORE_LIST_IS_BIG)
			r = append_big(l, ix, err);
	}
	return r;
}

static void free_load(struct load *l)
{
	for (unsigned i = 0; l->slots && i < l->slot_count; i++) {
		free(l->slots[i].objects);
		free(l->slots[i].lengths);
		free(l->slots[i].edge_count);
		base_vec_release(&l->slots[i].entries);
		base_vec_release(&l->slots[i].edges);
	}
	free(l->slots);
	free(l->blocks);
}

static int make_slots(struct load *l, struct hdb_error *err)
{
	l->slot_count = 3 * l->derive->work->threads;
	l->slots = calloc(l->slot_count, sizeof(*l->slots));
	for (unsigned i = 0; l->slots && i < l->slot_count; i++) {
		struct load_slot *s = &l->slots[i];

		s->objects = malloc(sizeof(*s->objects));
		s->lengths = malloc(STORE_BLOCK_OBJECTS * sizeof(*s->lengths));
		s->edge_count = malloc(STORE_BLOCK_OBJECTS * sizeof(*s->edge_count));
		if (!s->objects || !s->lengths || !s->edge_count)
			return hdb_fail_memory(err, "the graph", sizeof(*s->objects));
	}
	return l->slots ? HDB_OK : hdb_fail_memory(err, "the graph", sizeof(*l->slots));
}

/* Edges that there can be: all stored references, and each object's to its class. */
static int count_edges(struct load *l, struct hdb_error *err)
{
	struct store_table_info info = { 0 };
	const int r = store_table_info(l->derive->heap->store, STORE_REFERENCES, &info, err);

	l->limit = info.item_count + l->derive->heap->object_count;
	return r < 0 ? r : HDB_OK;
}

/* The algorithm is done with the edges. */
static void drop(void *ctx)
{
	struct derive_graph *graph = ctx;

	derive_graph_release(graph->derive, graph);
}

int derive_graph_load(struct derive *derive, bool is_strong, struct derive_graph *out,
		      struct hdb_error *err)
{
	struct heap *heap = derive->heap;
	struct load l = { .derive = derive, .is_strong = is_strong };
	struct base_pipeline pipeline = {
		.item_count = heap_block_count(heap), .threads = derive->work->threads, .ctx = &l,
		.produce = produce, .consume = consume,
	};
	int r = heap_load_roots(heap, err);

	memset(out, 0, sizeof(*out));
	heap_references(heap, &l.big);
	base_stage(derive->work, "loading the graph", heap->object_count, "objects");
	if (r == HDB_OK)
		r = count_edges(&l, err);
	if (r == HDB_OK)
		r = make_slots(&l, err);
	if (r == HDB_OK)
		r = find_blocks(&l, err);
	if (r == HDB_OK)
		r = base_big_alloc(derive->work, &out->first,
				   ((uint64_t)heap->object_count + 1) * 8, "the graph", err);
	if (r == HDB_OK)
		r = base_big_alloc(derive->work, &out->target, l.limit * 4, "the graph", err);
	if (r == HDB_OK) {
		l.first = out->first.data;
		l.target = out->target.data;
		pipeline.slot_count = l.slot_count;
		r = base_pipeline_run(&pipeline, err);
		l.first[heap->object_count] = l.count;
	}
	out->derive = derive;
	if (r == HDB_OK)
		out->csr = (struct graph_csr){
			.node_count = heap->object_count, .first = l.first, .target = l.target,
			.drop = drop, .drop_ctx = out,
		};
	else
		derive_graph_release(derive, out);
	free_load(&l);
	return r;
}

void derive_graph_release(struct derive *derive, struct derive_graph *graph)
{
	base_big_free(derive->work, &graph->first);
	base_big_free(derive->work, &graph->target);
}
