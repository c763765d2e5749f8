/*
 * derive/graph_load.c - loads the heap's graph into memory, for algorithms that visit every node.
 *
 * All threads decode blocks and pack their rows. The calling thread joins the packed blocks in
 * order. It also finishes long rows and rows that need the store again (big lists, filtered
 * references).
 */
#include "derive/build.h"
#include "derive/references.h"
#include "derive/row_pass.h"
#include "heap/values/values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * If at least this many of a block's rows are left to the calling thread, it reads the block's part
 * of the dump at once rather than object by object.
 */
#define WANT_LEFT 128u

/*
 * State of the load. In each of its blocks, `values` contains the lengths of lists, and bytes[1]
 * (uint32_t) their entries.
 */
struct load {
	struct derive *derive;
	struct graph_rows *rows;
	struct store_block *blocks; /* blocks of the `references` table */
	struct store_lists big;
	struct base_vec strong; /* uint32_t: edges of one object after filtering */
	/* maximum number of edges; a larger number indicates a damaged table */
	uint64_t limit;
	enum derive_view view;              /* which references count */
	bool has_view;                      /* whether the view ignores some references */
	const struct derive_filter *filter; /* NULL means none */
};

/* Returns whether edges of object i of the block may have to be omitted. */
static bool has_filter(const struct load *l, const struct heap_block *block, uint32_t i)
{
	const uint32_t no = block->class_no[i];

	/*
	 * The kind of the object is not known here. heap_strength checks whether it is an instance.
	 */
	if (!l->filter)
		return l->has_view && heap_class(l->derive->heap, no)->strength;
	if (block->kind[i] == STORE_CLASS)
		return l->filter->wants_classes;
	return block->kind[i] == STORE_INSTANCE &&
	       ((l->has_view && heap_class(l->derive->heap, no)->strength) ||
		l->filter->from_class[no]);
}

/*
 * Removes the edges to the target of a weak reference, unless they count in the view. *count is the
 * number of edges before and after the call.
 */
static void keep_counted(enum derive_view view, struct heap_weak weak, uint32_t *edges,
			 uint32_t *count)
{
	uint32_t kept = 0;

	for (uint32_t e = 0; e < *count; e++)
		if (edges[e] != weak.to || derive_counts(view, weak.strength))
			edges[kept++] = edges[e];
	assert(kept <= *count);
	*count = kept;
}

struct row_edges {
	const uint32_t *at;
	uint64_t count;
};

/*
 * Packs the row of object i: its class and its references, except references to roots. Leaves the
 * row to the calling thread if the list is big, if the packed row is long, or if the filter may
 * omit references.
 */
static int pack_row(struct load *l, struct derive_block *block, uint32_t i,
		    struct row_edges references, struct hdb_error *err)
{
	const struct heap *heap = l->derive->heap;
	const struct store_class *class = heap_class(heap, block->objects->class_no[i]);
	uint32_t *edges = ((struct derive_row_room *)block->room)->targets.data;
	struct heap_weak weak;
	uint32_t n = 0;

	if (!heap_is_root(heap, class->ix))
		edges[n++] = class->ix;
	for (uint64_t e = 0; e < references.count; e++)
		if (!heap_is_root(heap, references.at[e]))
			edges[n++] = references.at[e];
	if (block->values[i] & STORE_LIST_IS_BIG || (l->filter && has_filter(l, block->objects, i)))
		return derive_rows_leave(block, i, n, err);
	if (l->has_view && class->strength) {
		TRY(heap_weak_target(block->twin, block->objects->first_ix + i, &weak, err));
		keep_counted(l->view, weak, edges, &n);
	}
	return derive_rows_add(l->rows, block, i, n, err);
}

/* Decodes the references of a block and packs its rows. */
static int pack_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct load *l = ctx;
	struct derive_row_room *room = block->room;
	struct heap *heap = l->derive->heap;
	const uint32_t *entries;
	const struct store_lists_of of = heap_references_of(heap);
	struct base_vec *stored = &block->bytes[1];
	struct store_lists_out lists = { .lengths = block->values, .target = stored };

	derive_rows_begin(block);
	TRY(store_lists_decode(&of, &l->blocks[block->block_no], &lists, err));
	TRY(base_vec_reserve(&room->targets, stored->count + 1, sizeof(uint32_t), err));
	entries = stored->data;
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint64_t n = block->values[i] & STORE_LIST_IS_BIG ? 0 : block->values[i];

		TRY(pack_row(l, block, i, (struct row_edges){ entries, n }, err));
		entries += n;
	}
	/*
	 * The field values determine which references are omitted. The calling thread reads them
	 * from the dump later.
	 */
	if (l->filter && room->left.count > WANT_LEFT)
		heap_prefetch_block(heap, block->block_no);
	return HDB_OK;
}

/*
 * Replaces *edges and *count with the edges that are excluded neither by the view nor by the
 * filter.
 */
static int keep_strong(struct load *l, uint32_t ix, const uint32_t **edges, uint32_t *count,
		       struct hdb_error *err)
{
	struct heap_weak weak;

	TRY(base_vec_reserve(&l->strong, *count, sizeof(**edges), err));
	assert(l->filter || l->has_view);
	if (*count)
		memmove(l->strong.data, *edges, *count * sizeof(**edges));
	*edges = l->strong.data;
	if (l->has_view) {
		TRY(heap_weak_target(l->derive->heap, ix, &weak, err));
		keep_counted(l->view, weak, l->strong.data, count);
	}
	if (!l->filter)
		return HDB_OK;
	return l->filter->keep(l->filter->ctx, ix, l->strong.data, count, err);
}

/*
 * Checks the number of edges. The limit is derived from the table's own entry count, so a damaged
 * table cannot make the graph grow without bound.
 */
static int check_limit(const struct load *l, uint64_t count, struct hdb_error *err)
{
	return count <= l->limit - l->rows->long_count ?
		       HDB_OK :
		       hdb_fail(err, HDB_ECORRUPT,
				"%s: damaged: table references (more entries than the database "
				"records); import the dump again",
				store_path(l->derive->heap->store));
}

static int append(struct load *l, struct graph_long_row *row, const uint32_t *edges, uint64_t count,
		  struct hdb_error *err)
{
	TRY(check_limit(l, count, err));
	return graph_rows_add_long(l->rows, row, edges, count, err);
}

/* Appends a big list. The calling thread reads it, because the store is not thread-safe. */
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

/* Completes a row that was left to the calling thread. */
static int finish_row(void *ctx, const struct derive_block *block,
		      const struct derive_left_row *left, struct graph_row *row,
		      struct hdb_error *err)
{
	struct load *l = ctx;
	const uint32_t *edges = left->targets;
	uint32_t count = left->count;

	if (has_filter(l, block->objects, left->i))
		TRY(keep_strong(l, row->source, &edges, &count, err));
	if (block->values[left->i] & STORE_LIST_IS_BIG) {
		TRY(append(l, &row->longs, edges, count, err));
		TRY(append_big(l, row->source, &row->longs, err));
		count = 0;
	}
	TRY(check_limit(l, count, err));
	return graph_rows_finish(l->rows, row, edges, count, err);
}

static int take_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	return derive_rows_join(((struct load *)ctx)->rows, block, finish_row, ctx, err);
}

static void release_load(struct load *l)
{
	base_vec_release(&l->strong);
	free(l->blocks);
}

/*
 * Computes an upper bound of the number of edges: all stored references and one class edge per
 * object.
 */
static int count_edges(struct load *l, struct hdb_error *err)
{
	struct store_table_info info = { 0 };
	const int r = store_table_info(l->derive->heap->store, STORE_REFERENCES, &info, err);

	l->limit = info.item_count + l->derive->heap->object_count;
	return r < 0 ? r : HDB_OK;
}

/*
 * Loads the graph. The filter by heap is switched off, because references between heaps also
 * determine which objects are reachable.
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
	return derive_each_block(
		derive,
		&(struct derive_pass){ .stage = "loading the graph",
				       .reads_objects = filter != NULL,
				       .reads_classes = filter == NULL,
				       .has_twins = l.has_view,
				       .make = pack_block,
				       .take = take_block,
				       .ctx = &l,
				       .room_bytes = sizeof(struct derive_row_room),
				       .release = derive_rows_release },
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

/* Appends an edge, unless it leads to a root. */
static int add_edge(struct derive_row *row, uint32_t to, struct hdb_error *err)
{
	return heap_is_root(row->derive->heap, to) ?
		       HDB_OK :
		       base_vec_push(&row->targets, &to, sizeof(to), err);
}

/* Removes the edges that are not strong references. */
static int keep_strong_alone(struct derive_row *row, uint32_t ix, struct hdb_error *err)
{
	uint32_t count = (uint32_t)row->targets.count;
	struct heap_weak weak;

	TRY(heap_weak_target(row->derive->heap, ix, &weak, err));
	keep_counted(DERIVE_STRONG, weak, row->targets.data, &count);
	row->targets.count = count;
	return HDB_OK;
}

int derive_row_strong(struct derive_row *row, uint32_t ix, struct graph_near_row *out,
		      struct hdb_error *err)
{
	uint8_t packed[GRAPH_ROW_MAX + GRAPH_TARGET_ROOM];
	const struct store_class *class;
	const uint32_t *batch;
	uint64_t length;
	size_t count;

	TRY(heap_object(row->derive->heap, ix, &row->object, err));
	class = heap_class(row->derive->heap, row->object.class_no);
	TRY(store_lists_begin(&row->references, ix, &length, err));
	out->count = SIZE_MAX;
	/*
	 * In the graph, a big list of a reference object contains weak references too, so reading
	 * it here would give other edges.
	 */
	if (length >= row->targets_max || (length > STORE_LIST_BIG && class->strength))
		return HDB_OK;
	row->targets.count = 0;
	TRY(add_edge(row, class->ix, err));
	do {
		TRY(store_lists_next(&row->references, &batch, &count, err));
		for (size_t i = 0; i < count; i++)
			TRY(add_edge(row, batch[i], err));
	} while (count);
	if (class->strength)
		TRY(keep_strong_alone(row, ix, err));
	out->targets = row->targets.data;
	out->count = row->targets.count;
	out->is_long = length > STORE_LIST_BIG ||
		       graph_rows_pack(&row->packed, ix, out->targets, out->count, packed) ==
			       GRAPH_ROW_LONG;
	return HDB_OK;
}
