/*
 * derive/graph_load.c - loads the heap's graph into memory, for algorithms that visit all of it.
 *
 * All threads decode blocks and pack their rows. The calling thread joins the packed blocks in
 * order. Because the store is not thread-safe, the calling thread also finishes rows that need the
 * store again (big lists, filtered references) or that are long.
 */
#include "derive/blocks.h"
#include "derive/build.h"
#include "derive/references.h"
#include "heap/values/values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(STORE_BLOCK_OBJECTS % GRAPH_GROUP == 0, "a group of rows is in one block");

/*
 * If a block has this many special rows, its part of the dump is read at once instead of object by
 * object.
 */
#define WANT_SPECIALS 128u

/* A row that the calling thread must finish. */
struct special {
	uint32_t i;     /* index of the object in the block */
	uint32_t count; /* number of its edges in special_edges */
};

/*
 * Additional data of a block being processed. In its derive_block, `values` has the lengths of
 * lists, bytes[0] the packed rows, and bytes[1] (uint32_t) the stored references.
 */
struct load_slot {
	uint8_t length[STORE_BLOCK_OBJECTS]; /* length of each object's packed row */
	struct base_vec edges;               /* uint32_t: the edges of one object */
	struct base_vec specials;            /* struct special */
	struct base_vec special_edges;       /* uint32_t */
};

struct load {
	struct derive *derive;
	struct graph_rows *rows;
	struct store_block *blocks; /* of the table references */
	struct store_lists big;
	struct base_vec strong; /* uint32_t: edges of one object after filtering */
	/* maximum number of edges; a larger number indicates a damaged table */
	uint64_t limit;
	enum derive_view view;              /* which references count */
	bool has_view;                      /* whether the view ignores some references */
	const struct derive_filter *filter; /* NULL: none */
};

/* Whether edges of object i of the block may have to be left out. */
static bool has_filter(const struct load *l, const struct heap_block *block, uint32_t i)
{
	const uint32_t no = block->class_no[i];

	/* Whether the object is an instance is not known here; heap_strength determines it. */
	if (!l->filter)
		return l->has_view && heap_class(l->derive->heap, no)->strength;
	if (block->kind[i] == STORE_CLASS)
		return l->filter->wants_classes;
	return block->kind[i] == STORE_INSTANCE &&
	       ((l->has_view && heap_class(l->derive->heap, no)->strength) ||
		l->filter->from_class[no]);
}

static int add_special(struct load_slot *s, uint32_t i, const uint32_t *edges, uint32_t count,
		       struct hdb_error *err)
{
	const struct special special = { .i = i, .count = count };

	TRY(base_vec_reserve(&s->special_edges, count, sizeof(*edges), err));
	if (count)
		memcpy(base_vec_at(&s->special_edges, uint32_t, s->special_edges.count), edges,
		       count * sizeof(*edges));
	s->special_edges.count += count;
	return base_vec_push(&s->specials, &special, sizeof(special), err);
}

struct row_edges {
	const uint32_t *at;
	uint64_t count;
};

/*
 * Packs the row of object i: its class and its references, except references to roots. A row is
 * special, and left to the calling thread, if its list is big, if the packed row is long, or if
 * some of its references may not count.
 */
static int pack_row(struct load *l, struct derive_block *block, uint32_t i,
		    struct row_edges references, struct hdb_error *err)
{
	const struct heap *heap = l->derive->heap;
	const uint32_t ix = block->objects->first_ix + i;
	const struct store_class *class = heap_class(heap, block->objects->class_no[i]);
	struct load_slot *s = block->room;
	struct base_vec *bytes = &block->bytes[0];
	uint32_t *edges = s->edges.data;
	uint32_t n = 0;

	if (!heap_is_root(heap, class->ix))
		edges[n++] = class->ix;
	for (uint64_t e = 0; e < references.count; e++)
		if (!heap_is_root(heap, references.at[e]))
			edges[n++] = references.at[e];
	if (!(block->values[i] & STORE_LIST_IS_BIG) && !has_filter(l, block->objects, i)) {
		uint8_t *out = base_vec_at(bytes, uint8_t, bytes->count);
		const unsigned length = graph_rows_pack(l->rows, ix, edges, n, out);

		if (length != GRAPH_ROW_LONG) {
			s->length[i] = (uint8_t)length;
			bytes->count += length;
			return HDB_OK;
		}
	}
	return add_special(s, i, edges, n, err);
}

/* Decodes the references of a block and packs its rows. */
static int pack_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct load *l = ctx;
	struct load_slot *s = block->room;
	struct heap *heap = l->derive->heap;
	const uint32_t *entries;
	const struct store_lists_of of = heap_references_of(heap);
	struct base_vec *stored = &block->bytes[1];
	struct store_lists_out lists = { .lengths = block->values, .target = stored };

	s->specials.count = s->special_edges.count = 0;
	TRY(store_lists_decode(&of, &l->blocks[block->block_no], &lists, err));
	TRY(base_vec_reserve(&s->edges, stored->count + 1, sizeof(uint32_t), err));
	TRY(base_vec_reserve(&block->bytes[0],
			     (stored->count + block->objects->count) * 5 + GRAPH_ROW_MAX + 8, 1,
			     err));
	memset(s->length, 0, STORE_BLOCK_OBJECTS);
	entries = stored->data;
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint64_t n = block->values[i] & STORE_LIST_IS_BIG ? 0 : block->values[i];

		TRY(pack_row(l, block, i, (struct row_edges){ entries, n }, err));
		entries += n;
	}
	/*
	 * Which references are left out depends on field values, which the calling thread reads
	 * from the dump later.
	 */
	if (l->filter && s->specials.count > WANT_SPECIALS)
		heap_prefetch_block(heap, block->block_no);
	return HDB_OK;
}

/*
 * Copies the edges that count in the view to l->strong. *count is the number of edges before and
 * after the call.
 */
static int keep_counted(struct load *l, uint32_t ix, const uint32_t *edges, uint32_t *count,
			struct hdb_error *err)
{
	uint32_t *to = l->strong.data;
	uint32_t kept = 0;
	struct heap_weak weak;

	TRY(heap_weak_target(l->derive->heap, ix, &weak, err));
	for (uint32_t e = 0; e < *count; e++)
		if (edges[e] != weak.to || derive_counts(l->view, weak.strength))
			to[kept++] = edges[e];
	assert(kept <= *count);
	*count = kept;
	return HDB_OK;
}

/*
 * Replaces *edges and *count with the edges that count: without those excluded by the view, or
 * those excluded by the filter.
 */
static int keep_strong(struct load *l, uint32_t ix, const uint32_t **edges, uint32_t *count,
		       struct hdb_error *err)
{
	TRY(base_vec_reserve(&l->strong, *count, sizeof(**edges), err));
	assert(l->filter || l->has_view);
	if (l->has_view) {
		TRY(keep_counted(l, ix, *edges, count, err));
	} else if (*count) {
		memcpy(l->strong.data, *edges, *count * sizeof(**edges));
	}
	*edges = l->strong.data;
	if (!l->filter)
		return HDB_OK;
	return l->filter->keep(l->filter->ctx, ix, l->strong.data, count, err);
}

/*
 * The limit is derived from the table's own entry count, so a damaged table cannot make the graph
 * grow without bound.
 */
static int append(struct load *l, struct graph_long_row *row, const uint32_t *edges, uint64_t count,
		  struct hdb_error *err)
{
	if (count > l->limit - l->rows->long_count)
		return hdb_fail(err, HDB_ECORRUPT,
				"%s: damaged: table references has more entries than recorded; "
				"import the dump again",
				store_path(l->derive->heap->store));
	return graph_rows_add_long(l->rows, row, edges, count, err);
}

/* Big lists are read on the calling thread because the store is not thread-safe. */
static int append_big(struct load *l, uint32_t ix, struct graph_long_row *row,
		      struct hdb_error *err)
{
	const uint32_t *batch;
	size_t count = 0;

	TRY(store_lists_begin(&l->big, ix, NULL, err));
	do {
		TRY(store_lists_next(&l->big, &batch, &count, err));
		for (size_t e = 0; e < count; e++)
			if (!heap_is_root(l->derive->heap, batch[e]))
				TRY(append(l, row, &batch[e], 1, err));
	} while (count);
	return HDB_OK;
}

/* The edges of a special row, and the destination of its packed form. */
struct special_row {
	const uint32_t *edges;
	uint8_t *length, *out;
};

/* Packs a row that was left to the calling thread. */
static int finish_special(struct load *l, const struct derive_block *block,
			  const struct special *special, const struct special_row *to,
			  struct hdb_error *err)
{
	const uint32_t *edges = to->edges;
	const uint32_t ix = block->objects->first_ix + special->i;
	const bool is_big = block->values[special->i] & STORE_LIST_IS_BIG;
	struct graph_long_row row = { 0, 0 };
	uint32_t count = special->count;
	unsigned packed;

	assert(special->i < block->objects->count);
	if (has_filter(l, block->objects, special->i))
		TRY(keep_strong(l, ix, &edges, &count, err));
	packed = graph_rows_pack(l->rows, ix, edges, count, to->out);
	*to->length = (uint8_t)packed;
	if (!is_big && packed != GRAPH_ROW_LONG)
		return HDB_OK;
	TRY(append(l, &row, edges, count, err));
	if (is_big)
		TRY(append_big(l, ix, &row, err));
	memcpy(to->out, &row, sizeof(row));
	*to->length = GRAPH_ROW_LONG | sizeof(row);
	return HDB_OK;
}

/*
 * Appends the rows of a block to the graph, group by group. A group with special rows is copied row
 * by row; other groups are appended unchanged.
 */
static int take_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct load *l = ctx;
	struct load_slot *s = block->room;
	const struct special *special = s->specials.data;
	const struct special *end = special ? special + s->specials.count : NULL;
	const uint32_t *edges = s->special_edges.data;
	const uint8_t *bytes = block->bytes[0].data;

	for (uint32_t i = 0; i < block->objects->count; i += GRAPH_GROUP) {
		/*
		 * GRAPH_GROUP rows, and space for graph_rows_pack to write whole words past the
		 * last one.
		 */
		uint8_t group[GRAPH_GROUP * GRAPH_ROW_MAX + GRAPH_ROW_MAX + 8];
		const uint8_t *from = bytes;
		uint64_t size = 0, at = 0;

		for (uint32_t k = i; k < i + GRAPH_GROUP; k++)
			size += s->length[k];
		if (special < end && special->i < i + GRAPH_GROUP) {
			from = group;
			for (uint32_t k = i; k < i + GRAPH_GROUP; k++) {
				const uint8_t length = s->length[k];

				memcpy(group + at, bytes, length);
				bytes += length;
				if (special < end && special->i == k) {
					TRY(finish_special(l, block, special,
							   &(struct special_row){ edges,
										  &s->length[k],
										  group + at },
							   err));
					edges += special->count;
					special++;
				}
				at += s->length[k] & GRAPH_ROW_MAX;
			}
		} else {
			bytes += size;
		}
		TRY(graph_rows_put(l->rows, (block->objects->first_ix + i) / GRAPH_GROUP,
				   &s->length[i], from, err));
	}
	assert(special == end);
	return HDB_OK;
}

static void release_slot(void *room)
{
	struct load_slot *s = room;

	base_vec_release(&s->edges);
	base_vec_release(&s->specials);
	base_vec_release(&s->special_edges);
}

static void release_load(struct load *l)
{
	base_vec_release(&l->strong);
	free(l->blocks);
}

/* Upper bound of the number of edges: all stored references and one class edge per object. */
static int count_edges(struct load *l, struct hdb_error *err)
{
	struct store_table_info info = { 0 };
	const int r = store_table_info(l->derive->heap->store, STORE_REFERENCES, &info, err);

	l->limit = info.item_count + l->derive->heap->object_count;
	return r < 0 ? r : HDB_OK;
}

/*
 * The filter by heap is switched off, because references between heaps determine what is reachable.
 */
static int load_graph(struct derive *derive, enum derive_view view,
		      const struct derive_filter *filter, struct graph_rows *rows,
		      struct hdb_error *err)
{
	struct heap *heap = derive->heap;
	BASE_SCOPED(release_load)
	struct load l = {
		.derive = derive,
		.rows = rows,
		.view = view,
		.has_view = view != DERIVE_PHANTOM,
		.filter = filter,
	};
	HEAP_FILTER_SCOPE(heap_show_all, heap);

	*rows = (struct graph_rows){ 0 };
	TRY(derive_need_roots(derive, err));
	heap_references(heap, &l.big);
	TRY(count_edges(&l, err));
	TRY(derive_reference_blocks(derive, &l.blocks, err));
	TRY(graph_rows_init(rows, heap->object_count, derive->work, err));
	return derive_each_block(derive,
				 &(struct derive_pass){ .stage = "loading the graph",
							.reads_objects = filter != NULL,
							.reads_classes = filter == NULL,
							.make = pack_block,
							.take = take_block,
							.ctx = &l,
							.room_bytes = sizeof(struct load_slot),
							.release = release_slot },
				 err);
}

int derive_graph_load(struct derive *derive, bool is_strong, struct graph_rows *rows,
		      struct hdb_error *err)
{
	return load_graph(derive, is_strong ? DERIVE_STRONG : derive->view, NULL, rows, err);
}

int derive_graph_load_filtered(struct derive *derive, const struct derive_filter *filter,
			       struct graph_rows *rows, struct hdb_error *err)
{
	return load_graph(derive, derive->view, filter, rows, err);
}
