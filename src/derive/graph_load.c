/*
 * derive/graph_load.c - the heap's graph as arrays, for the algorithms that look at all of it.
 */
#include "derive/build.h"
#include "heap/values.h"

#include <stdlib.h>
#include <string.h>

struct load {
	struct derive *derive;
	struct heap_block *objects;
	uint64_t *lengths;
	struct base_vec entries;     /* uint32_t: a block's references */
	struct store_lists lists;
	struct store_lists big;
	uint64_t *first;
	uint32_t *target;
	uint64_t count;              /* edges so far */
	uint64_t limit;              /* room in target */
	bool is_strong;
};

static bool is_root(const struct load *l, uint32_t ix)
{
	return heap_is_root(l->derive->heap, ix);
}

/* Edges that the graph may have: all stored references, and the class edges that do not lead to roots. */
static int count_edges(struct load *l, uint64_t *out, struct hdb_error *err)
{
	struct heap *heap = l->derive->heap;
	struct store_table_info info;
	int r = store_table_info(heap->store, STORE_REFERENCES, &info, err);

	if (r < 0)
		return r;
	*out = r == HDB_OK ? info.item_count : 0;
	for (uint32_t b = 0; b < heap_block_count(heap); b++) {
		r = heap_read_block(heap, b, l->objects, err);
		if (r < 0)
			return r;
		for (uint32_t i = 0; i < l->objects->count; i++)
			*out += !is_root(l, heap_class(heap, l->objects->class_no[i])->ix);
	}
	return HDB_OK;
}

static int put_edge(struct load *l, uint32_t to, struct hdb_error *err)
{
	if (is_root(l, to))
		return HDB_OK;
	if (l->count >= l->limit)
		return hdb_fail(err, HDB_ECORRUPT, "%s: damaged: table references has more entries "
				"than it says; import the dump again",
				store_path(l->derive->heap->store));
	l->target[l->count++] = to;
	return HDB_OK;
}

/* The references of an object of class Reference, without its referent. */
static int put_strong(struct load *l, uint32_t ix, const uint32_t *to, uint64_t count,
		      struct hdb_error *err)
{
	int r = HDB_OK;

	for (uint64_t e = 0; e < count && r == HDB_OK; e++) {
		uint8_t strength;

		r = heap_strength(l->derive->heap, ix, to[e], &strength, err);
		if (r == HDB_OK && strength == STORE_STRONG)
			r = put_edge(l, to[e], err);
	}
	return r;
}

static int put_big(struct load *l, uint32_t ix, struct hdb_error *err)
{
	const uint32_t *batch;
	size_t count;
	int r = store_lists_begin(&l->big, ix, NULL, err);

	while (r == HDB_OK) {
		r = store_lists_next(&l->big, &batch, &count, err);
		if (r < 0 || !count)
			break;
		for (size_t e = 0; e < count && r == HDB_OK; e++)
			r = put_edge(l, batch[e], err);
	}
	return r;
}

static int put_block(struct load *l, uint32_t block_no, struct hdb_error *err)
{
	struct heap *heap = l->derive->heap;
	const uint32_t first_ix = block_no * STORE_BLOCK_OBJECTS;
	const uint32_t *entries;
	uint64_t at = 0;
	uint32_t count;
	int r = heap_read_block(heap, block_no, l->objects, err);

	l->entries.count = 0;
	if (r == HDB_OK)
		r = store_lists_block(&l->lists, first_ix, l->lengths, &l->entries, &count, err);
	if (r == HDB_OK && count != l->objects->count)
		r = store_damaged(heap->store, STORE_REFERENCES, first_ix, "impossible size", err);
	entries = l->entries.data;
	for (uint32_t i = 0; i < l->objects->count && r == HDB_OK; i++) {
		const struct store_class *class = heap_class(heap, l->objects->class_no[i]);
		const uint64_t n = l->lengths[i];

		l->first[first_ix + i] = l->count;
		r = put_edge(l, class->ix, err);
		if (r < 0)
			return r;
		if (n & STORE_LIST_IS_BIG) {
			r = put_big(l, first_ix + i, err);
			continue;
		}
		if (l->is_strong && class->strength && l->objects->kind[i] == STORE_INSTANCE) {
			r = put_strong(l, first_ix + i, entries + at, n, err);
		} else {
			for (uint64_t e = 0; e < n && r == HDB_OK; e++)
				r = put_edge(l, entries[at + e], err);
		}
		at += n;
	}
	return r;
}

static int load_all(struct load *l, struct hdb_error *err)
{
	struct heap *heap = l->derive->heap;
	int r = HDB_OK;

	base_stage(l->derive->work, "loading the graph", heap->object_count, "objects");
	for (uint32_t b = 0; b < heap_block_count(heap) && r == HDB_OK; b++) {
		r = put_block(l, b, err);
		if (r == HDB_OK)
			r = base_step(l->derive->work, (uint64_t)b * STORE_BLOCK_OBJECTS, err);
	}
	l->first[heap->object_count] = l->count;
	return r;
}

int derive_graph_load(struct derive *derive, bool is_strong, struct derive_graph *out,
		      struct hdb_error *err)
{
	struct heap *heap = derive->heap;
	struct load l = { .derive = derive, .is_strong = is_strong };
	int r = heap_load_roots(heap, err);

	memset(out, 0, sizeof(*out));
	heap_references(heap, &l.lists);
	heap_references(heap, &l.big);
	l.objects = malloc(sizeof(*l.objects));
	l.lengths = malloc(STORE_BLOCK_OBJECTS * sizeof(*l.lengths));
	if (r == HDB_OK && (!l.objects || !l.lengths))
		r = hdb_fail_memory(err, "the graph", sizeof(*l.objects));
	if (r == HDB_OK)
		r = count_edges(&l, &l.limit, err);
	if (r == HDB_OK)
		r = base_big_alloc(derive->work, &out->first,
				   ((uint64_t)heap->object_count + 1) * 8, "the graph", err);
	if (r == HDB_OK)
		r = base_big_alloc(derive->work, &out->target, l.limit * 4, "the graph", err);
	if (r == HDB_OK) {
		l.first = out->first.data;
		l.target = out->target.data;
		r = load_all(&l, err);
	}
	if (r == HDB_OK)
		out->csr = (struct graph_csr){
			.node_count = heap->object_count, .first = l.first, .target = l.target
		};
	else
		derive_graph_release(derive, out);
	free(l.objects);
	free(l.lengths);
	base_vec_release(&l.entries);
	return r;
}

void derive_graph_release(struct derive *derive, struct derive_graph *graph)
{
	base_big_free(derive->work, &graph->first);
	base_big_free(derive->work, &graph->target);
}
