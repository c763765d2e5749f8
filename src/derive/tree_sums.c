/*
 * derive/tree_sums.c - builds sums along the dominator tree other than retained sizes: native
 * memory, and bytes per Android heap. Also builds the depth table, which contains the distances
 * from the roots.
 *
 * The tables contain, for each object, the sum of the objects below it, without the object itself.
 * This sum is 0 for most objects, so it packs well.
 */
#include "derive/blocks.h"
#include "derive/build.h"
#include "derive/dominators/inner_order.h"
#include "derive/native_climb.h"

#include <string.h>

/*
 * In preorder, the nodes below a node have consecutive numbers. Each size is therefore added at the
 * number of the object's dominator. One pass converts these sizes to prefix sums. The sum below a
 * node is then the difference of two prefix sums.
 */
struct tree_sums {
	struct derive *derive;
	struct graph_preorder order; /* preorder numbers of the objects that dominate others */
	struct base_big sum_big;
	/*
	 * Indexed by number, with one extra element: first the size of the objects immediately
	 * below the node, later the sum of all previous elements.
	 */
	_Atomic uint64_t *sum;
	/*
	 * The sizes to be added up: native memory, or the shallow sizes of the objects in one heap.
	 */
	bool is_native;
	uint32_t heap_no;
};

/* Scratch arrays for one block. */
struct sums_room {
	uint32_t heap_no[STORE_BLOCK_OBJECTS];
	uint32_t dominator[STORE_BLOCK_OBJECTS];
};

/* Reads the sizes to be summed into block->values. */
static int read_sizes(const struct tree_sums *t, struct derive_block *block, struct hdb_error *err)
{
	const struct heap_block *objects = block->objects;
	uint32_t *heap_no = ((struct sums_room *)block->room)->heap_no;
	uint32_t count;

	if (t->is_native)
		return store_column_block(&t->derive->native, objects->first_ix, block->values,
					  &count, err);
	TRY(heap_read_heaps(t->derive->heap, block->block_no, heap_no, err));
	for (uint32_t i = 0; i < objects->count; i++)
		block->values[i] = heap_no[i] == t->heap_no ? objects->shallow[i] : 0;
	return HDB_OK;
}

/*
 * Adds the sizes of a block. The addition is atomic because several threads may add to the same
 * dominator. The result does not depend on the order.
 */
static int add_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct tree_sums *t = ctx;
	const uint32_t first_ix = block->objects->first_ix;
	uint32_t *dominator = ((struct sums_room *)block->room)->dominator;

	TRY(derive_tree_dominators(t->derive, block, dominator, err));
	TRY(read_sizes(t, block, err));
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint32_t d = dominator[i];

		if (!block->values[i] || d == GRAPH_NONE || d == first_ix + i)
			continue;
		atomic_fetch_add_explicit(&t->sum[graph_preorder_first(
						  &t->order, graph_preorder_place(&t->order, d))],
					  block->values[i], memory_order_relaxed);
	}
	return HDB_OK;
}

/*
 * Computes the sums of a block. Places are in the order of objects, so counting gives the place of
 * the next inner node.
 */
static int fill_below(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct tree_sums *t = ctx;
	const uint32_t first_ix = block->objects->first_ix;
	uint32_t place = graph_preorder_place(&t->order, first_ix);

	(void)err;
	for (uint32_t i = 0; i < block->objects->count; i++) {
		uint32_t first;

		block->values[i] = 0;
		if (!graph_preorder_is_inner(&t->order, first_ix + i))
			continue;
		first = graph_preorder_first(&t->order, place);
		/* An unreachable object has no number and no sum. */
		if (first != GRAPH_NONE)
			block->values[i] =
				t->sum[graph_preorder_end(&t->order, place)] - t->sum[first];
		place++;
	}
	return HDB_OK;
}

/* Numbers the objects that dominate others, and allocates the sums. */
static int begin(struct tree_sums *t, struct hdb_error *err)
{
	struct derive *derive = t->derive;

	TRY(derive_tree_prepare(derive, err));
	TRY(derive_number_inner(derive, &t->order, err));
	TRY(base_big_alloc(derive->work, &t->sum_big,
			   ((uint64_t)t->order.inner.count + 1) * sizeof(*t->sum), "sums", err));
	t->sum = t->sum_big.data;
	return HDB_OK;
}

/*
 * Converts sums by number to prefix sums: sum[n] becomes the total of all numbers below n, and the
 * total below a node is the difference of two prefix sums.
 */
static int sum_up(struct tree_sums *t, struct hdb_error *err)
{
	const uint32_t count = t->order.inner.count;
	uint64_t all = 0;

	memset(t->sum_big.data, 0, ((size_t)count + 1) * sizeof(*t->sum));
	TRY(derive_each_block(t->derive,
			      &(struct derive_pass){ .stage = "summing up dominated objects",
						     .reads_objects = !t->is_native,
						     .make = add_block,
						     .ctx = t,
						     .room_bytes = sizeof(struct sums_room) },
			      err));
	for (uint32_t number = 0; number <= count; number++) {
		const uint64_t own = t->sum[number];

		t->sum[number] = all;
		all += own;
	}
	return HDB_OK;
}

static void release(struct tree_sums *t)
{
	graph_preorder_release(&t->order);
	base_big_free(&t->sum_big);
}

/* ---- native memory ---- */

/*
 * Writes native sums with passes over all objects. Used for heaps in which many objects own native
 * memory.
 */
static int put_native_sums(struct derive *derive, struct store_writer *writer,
			   enum store_table table, struct hdb_error *err)
{
	BASE_SCOPED(release)
	struct tree_sums t = { .derive = derive, .is_native = true };

	TRY(begin(&t, err));
	TRY(store_column_prepare(&derive->native, err));
	TRY(sum_up(&t, err));
	return derive_put_column(derive, writer, table,
				 &(struct derive_fill){ .stage = "writing native memory",
							.fill = fill_below,
							.ctx = &t },
				 err);
}

/*
 * Writes native sums. If there are few owners, climbing from the owners is cheaper. If the climb
 * reaches its limit, returns HDB_NOTFOUND.
 */
static int put_native_below(struct derive *derive, struct store_writer *writer,
			    enum store_table table, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec below = { 0 };
	const int r = derive_native_below(derive, derive_climb_limit(derive->heap->object_count),
					  &below, err);

	if (r == HDB_NOTFOUND)
		return put_native_sums(derive, writer, table, err);
	TRY(r);
	return derive_put_native(
		derive, writer,
		&(struct derive_native_column){ table, "writing native memory", &below }, err);
}

static int build_retained_native(struct derive *derive, struct store_writer *writer,
				 struct hdb_error *err)
{
	const enum store_table table = derive_table(derive, STORE_RETAINED_NATIVE);
	bool has;

	TRY(derive_has_native(derive, &has, err));
	if (has)
		TRY(put_native_below(derive, writer, table, err));
	return store_put_table(writer, table, has ? derive->heap->object_count : 0, err);
}

const struct derive_builder derive_build_retained_native = {
	.tables = { STORE_RETAINED_NATIVE },
	.needs = { STORE_NATIVE, STORE_DOMINATORS },
	.build = build_retained_native,
};

int derive_retained_native(struct derive *derive, uint32_t ix, uint64_t *bytes,
			   struct hdb_error *err)
{
	uint64_t below;
	uint32_t dominator;
	bool has;
	int r = derive_has_native(derive, &has, err);

	*bytes = 0;
	if (r < 0 || !has)
		return r;
	r = derive_dominator(derive, ix, &dominator, err);
	if (r < 0 || dominator == ix)
		return r;
	TRY(derive_need(derive, STORE_RETAINED_NATIVE, err));
	TRY(store_column_get(&derive->retained_native, ix, &below, err));
	TRY(store_column_get(&derive->native, ix, bytes, err));
	*bytes += below;
	return HDB_OK;
}

/* ---- by heap ---- */

/*
 * Returns the first key of a heap's column. Each column has room for whole blocks of all objects.
 */
static uint32_t heap_base(const struct heap *heap, uint32_t heap_no)
{
	return heap_block_count(heap) * heap_no * STORE_BLOCK_OBJECTS;
}

/*
 * Returns the number of heaps with a column: heap 0, for objects in no heap, and the named heaps.
 */
uint32_t derive_heap_count(const struct derive *derive)
{
	const uint64_t n = store_record_count(derive->heap->store, STORE_HEAPS);

	return (uint32_t)(n < DERIVE_HEAPS_MAX ? n : DERIVE_HEAPS_MAX) + 1;
}

/*
 * Writes one column per heap, padded to whole blocks, so that the key of an object in a column is
 * the sum of two numbers.
 */
static int build_retained_heaps(struct derive *derive, struct store_writer *writer,
				struct hdb_error *err)
{
	BASE_SCOPED(release) struct tree_sums t = { .derive = derive };
	const enum store_table table = derive_table(derive, STORE_RETAINED_HEAPS);
	const uint32_t heaps = derive_heap_count(derive);
	const uint64_t room = (uint64_t)heap_block_count(derive->heap) * STORE_BLOCK_OBJECTS;

	if (room * heaps > UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many objects to compute totals by heap");
	TRY(begin(&t, err));
	TRY(heap_prepare_blocks(derive->heap, derive->work->threads, err));
	for (; t.heap_no < heaps; t.heap_no++) {
		TRY(sum_up(&t, err));
		TRY(derive_put_column(
			derive, writer, table,
			&(struct derive_fill){ .stage = "writing columns",
					       .fill = fill_below,
					       .ctx = &t,
					       .base = heap_base(derive->heap, t.heap_no),
					       .is_whole = true },
			err));
	}
	return store_put_table(writer, table, room * heaps, err);
}

const struct derive_builder derive_build_retained_heaps = {
	.tables = { STORE_RETAINED_HEAPS },
	.needs = { STORE_DOMINATORS, STORE_RETAINED },
	.build = build_retained_heaps,
};

int derive_retained_in(struct derive *derive, uint32_t ix, uint32_t heap_no, uint64_t *bytes,
		       struct hdb_error *err)
{
	const uint64_t room = (uint64_t)heap_block_count(derive->heap) * STORE_BLOCK_OBJECTS;
	struct heap_object object;
	uint32_t dominator;
	int r = derive_dominator(derive, ix, &dominator, err);

	*bytes = 0;
	if (r < 0 || dominator == ix || heap_no >= derive_heap_count(derive))
		return r;
	TRY(derive_need(derive, STORE_RETAINED_HEAPS, err));
	TRY(heap_object(derive->heap, ix, &object, err));
	derive->retained_heaps.ix_count = (uint32_t)(room * derive_heap_count(derive));
	TRY(store_column_get(&derive->retained_heaps, heap_base(derive->heap, heap_no) + ix, bytes,
			     err));
	if (object.heap_no == heap_no)
		*bytes += object.shallow_bytes;
	return HDB_OK;
}

/* ---- depth ---- */

struct depths {
	/* indexed by object; depth is 1 for roots, and 0 if not known yet */
	uint32_t *parent, *depth;
};

/*
 * Climbs to the first object with a known depth, and assigns depths on the way back. Each object is
 * visited once, without recursion.
 */
static int find_depth(struct depths *d, struct base_vec *path, uint32_t ix, struct hdb_error *err)
{
	uint32_t at = ix, depth = 0;

	path->count = 0;
	while (at != GRAPH_NONE && !d->depth[at]) {
		TRY(base_vec_push(path, &at, sizeof(at), err));
		/*
		 * Marks the object, so that the climb ends at a cycle. Cycles exist only in a
		 * damaged table.
		 */
		d->depth[at] = 1;
		at = d->parent[at];
	}
	if (at != GRAPH_NONE)
		depth = d->depth[at];
	for (size_t i = path->count; i-- > 0;)
		d->depth[*base_vec_at(path, uint32_t, i)] = ++depth;
	return HDB_OK;
}

static int fill_depth(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct depths *d = ctx;
	const uint32_t first = block->objects->first_ix;

	(void)err;
	for (uint32_t i = 0; i < block->objects->count; i++)
		block->values[i] = d->depth[first + i];
	return HDB_OK;
}

/*
 * Builds the table of depths. Randomly accesses the parents in the reach tree and the depths found
 * so far, which take 4 bytes per object each.
 */
static int build_depth(struct derive *derive, struct store_writer *writer, struct hdb_error *err)
{
	const uint32_t n = derive->heap->object_count;
	const enum store_table table = derive_table(derive, STORE_DEPTH);
	BASE_SCOPED(base_big_free) struct base_big parent = { 0 };
	BASE_SCOPED(base_big_free) struct base_big depth = { 0 };
	BASE_SCOPED(base_vec_release) struct base_vec path = { 0 };
	struct depths d;

	TRY(base_big_alloc(derive->work, &parent, (uint64_t)n * 4, "depths", err));
	TRY(base_big_alloc(derive->work, &depth, (uint64_t)n * 4, "depths", err));
	d = (struct depths){ .parent = parent.data, .depth = depth.data };
	for (uint32_t b = 0; b < heap_block_count(derive->heap); b++)
		TRY(derive_reach_block(derive, false, b, d.parent + (size_t)b * STORE_BLOCK_OBJECTS,
				       err));
	for (uint32_t ix = 0; ix < n; ix++)
		if (d.parent[ix] != ix)
			TRY(find_depth(&d, &path, ix, err));
	TRY(derive_put_column(
		derive, writer, table,
		&(struct derive_fill){ .stage = "writing depths", .fill = fill_depth, .ctx = &d },
		err));
	return store_put_table(writer, table, n, err);
}

const struct derive_builder derive_build_depth = {
	.tables = { STORE_DEPTH },
	.needs = { STORE_REACH },
	.build = build_depth,
};

int derive_depth(struct derive *derive, uint32_t ix, bool *reachable, uint32_t *depth,
		 struct hdb_error *err)
{
	uint64_t value;
	int r = derive_need(derive, STORE_DEPTH, err);

	*reachable = false;
	*depth = 0;
	TRY(r);
	TRY(store_column_get(&derive->depth, ix, &value, err));
	*reachable = value != 0;
	*depth = value ? (uint32_t)value - 1 : 0;
	return HDB_OK;
}
