/*
 * derive/children.c - builds the `children` table: the objects that each object immediately
 * dominates, largest retained size first. Can also build a table of the top level only, which
 * suffices for many queries.
 */
#include "derive/blocks.h"
#include "derive/build.h"

#include "base/pipeline.h"
#include "base/thread.h"
#include "graph/child_rows.h"

#include <assert.h>
#include <stdlib.h>

static_assert(STORE_BLOCK_OBJECTS == 1u << GRAPH_CHILD_BITS, "ranges are whole blocks of lists");

/*
 * Number of ranges per thread that are processed at the same time. Each range takes a few MB of
 * memory.
 */
#define SLOTS_PER_THREAD 2u

/* The encoded lists of one range. Filled on any thread. */
struct range_slot {
	struct graph_child_range range;
	struct base_vec bytes; /* all blocks of the range, one after another */
	/* uint64_t: end offset of each block in `bytes` */
	struct base_vec ends;
	uint64_t length[STORE_BLOCK_OBJECTS]; /* lengths of the lists in the current block */
	bool is_sorted;
	BASE_NO_SHARING;
};

struct children {
	struct derive *derive;
	struct store_writer *writer;
	struct graph_child_rows rows;
	enum store_table table, big_table;
	/* number of lists, excluding the top-level list, which comes last */
	uint32_t row_count;
	struct range_slot *slots;
	unsigned slot_count;
	/* number of children of the top level if it is a big list, otherwise 0 */
	uint64_t top_count;
	uint64_t total;
	/*
	 * State while a range that does not fit in memory is written: its children arrive one by
	 * one and fill the current block.
	 */
	struct base_vec target; /* uint32_t: entries of the small lists */
	/* uint32_t: entries of the big list that have not been written yet */
	struct base_vec part;
	/* indexed by row of the block: position of the list, and its length */
	uint64_t *first, *length;
	uint32_t row;  /* the row that was begun last */
	uint32_t base; /* first row of the block */
	uint32_t part_no;
};

/* ---- distributing objects to buckets by dominator ---- */

static int read_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct children *c = ctx;

	return derive_tree_read(c->derive, block, block->room, err);
}

static int read_top_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct children *c = ctx;

	return derive_tree_read_top(c->derive, block, block->room, err);
}

/*
 * Adds the objects of a block to the lists of their dominators. Unreachable objects have no
 * dominator and are not in any list. If the table has no rows, collects only the top level.
 */
static int add_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct children *c = ctx;
	const struct derive_tree_block *tree = block->room;
	const uint32_t first_ix = block->objects->first_ix;

	for (uint32_t i = 0; i < block->objects->count; i++) {
		if (tree->dominator[i] != GRAPH_NONE &&
		    (!c->row_count || tree->dominator[i] == first_ix + i))
			continue;
		TRY(graph_child_rows_add(&c->rows, tree->dominator[i], first_ix + i, tree->units[i],
					 err));
		c->total++;
	}
	return HDB_OK;
}

static int add_all(struct children *c, struct hdb_error *err)
{
	TRY(derive_tree_prepare(c->derive, err));
	TRY(graph_child_rows_init(&c->rows, c->row_count, c->derive->work, err));
	TRY(heap_prepare_blocks(c->derive->heap, c->derive->work->threads, err));
	TRY(derive_each_block(c->derive,
			      &(struct derive_pass){
				      .stage = "dominated objects",
				      .reads_objects = c->row_count != 0,
				      .make = c->row_count ? read_block : read_top_block,
				      .take = add_block,
				      .ctx = c,
				      .room_bytes = sizeof(struct derive_tree_block),
			      },
			      err));
	return graph_child_rows_end(&c->rows, STORE_LIST_BIG, &c->top_count, err);
}

/* ---- ranges that fit in memory: sorted and packed on several threads ---- */

static bool has_top(const struct children *c, uint32_t row)
{
	return row == c->row_count && c->top_count;
}

/*
 * Encodes a range. The rows of a range are in order, and each range consists of whole blocks
 * (static_assert above), so blocks can be encoded independently of other ranges.
 */
static int pack_range(void *ctx, unsigned slot, uint64_t no, struct hdb_error *err)
{
	struct children *c = ctx;
	struct range_slot *s = &c->slots[slot];
	struct graph_child_range *range = &s->range;

	s->bytes.count = s->ends.count = 0;
	s->is_sorted = graph_child_range_fits(&c->rows, (uint32_t)no);
	if (!s->is_sorted)
		return HDB_OK;
	TRY(graph_child_range_sort(&c->rows, (uint32_t)no, range, err));
	for (uint32_t at = 0; at < range->count; at += STORE_BLOCK_OBJECTS) {
		const uint32_t count = range->count - at < STORE_BLOCK_OBJECTS ?
					       range->count - at :
					       STORE_BLOCK_OBJECTS;
		uint64_t *length = s->length, end;

		for (uint32_t i = 0; i < count; i++)
			length[i] = has_top(c, range->base + at + i) ?
					    c->top_count :
					    range->first[at + i + 1] - range->first[at + i];
		TRY(store_lists_encode(&s->bytes,
				       &(struct store_lists_rows){ .first_ix = range->base + at,
								   .count = count,
								   .first = range->first + at,
								   .target = range->node,
								   .lengths = length },
				       err));
		end = s->bytes.count;
		TRY(base_vec_push(&s->ends, &end, sizeof(end), err));
	}
	return HDB_OK;
}

/*
 * Writes a range whose lists were sorted in memory. Lists longer than STORE_LIST_BIG go to a
 * separate table, so that a block stays small enough to be decoded for a single list.
 */
static int put_sorted(struct children *c, const struct range_slot *s, struct hdb_error *err)
{
	const struct graph_child_range *range = &s->range;
	uint64_t start = 0;

	for (uint32_t i = 0; i < range->count; i++) {
		const uint64_t first = range->first[i], length = range->first[i + 1] - first;

		if (length > STORE_LIST_BIG)
			TRY(store_lists_put_big(
				c->writer,
				&(struct store_big_list){ .table = c->big_table,
							  .ix = range->base + i,
							  .target = range->node + first,
							  .count = length },
				err));
	}
	for (size_t b = 0; b < s->ends.count; b++) {
		const uint32_t at = (uint32_t)b * STORE_BLOCK_OBJECTS;
		const uint64_t end = *base_vec_at(&s->ends, uint64_t, b);

		assert(at < range->count);
		assert(end >= start);
		assert(end <= s->bytes.count);
		TRY(store_put(c->writer, c->table,
			      &(struct store_block){
				      .key = range->base + at,
				      .item_count = range->count - at < STORE_BLOCK_OBJECTS ?
							    range->count - at :
							    STORE_BLOCK_OBJECTS,
				      .data = (const uint8_t *)s->bytes.data + start,
				      .size = end - start },
			      err));
		start = end;
	}
	return HDB_OK;
}

/* ---- ranges that do not fit in memory: processed child by child ---- */

static int put_part(struct children *c, uint32_t row, struct hdb_error *err)
{
	const uint32_t count = (uint32_t)c->part.count;

	assert(c->part.count <= STORE_LIST_PART);
	if (!count)
		return HDB_OK;
	c->part.count = 0;
	return store_lists_put_part(
		c->writer,
		&(struct store_big_list){
			.table = c->big_table, .ix = row, .target = c->part.data, .count = count },
		c->part_no++, err);
}

static int push_part(struct children *c, uint32_t row, uint32_t node, struct hdb_error *err)
{
	if (c->part.count == STORE_LIST_PART)
		TRY(put_part(c, row, err));
	return base_vec_push(&c->part, &node, sizeof(node), err);
}

static int put_block(struct children *c, uint32_t count, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec bytes = { 0 };

	assert(count > 0);
	assert(count <= STORE_BLOCK_OBJECTS);
	if (has_top(c, c->base + count - 1))
		c->length[count - 1] = c->top_count;
	TRY(base_vec_reserve(&c->target, 1, sizeof(uint32_t), err));
	TRY(store_lists_encode(&bytes,
			       &(struct store_lists_rows){ .first_ix = c->base,
							   .count = count,
							   .first = c->first,
							   .target = c->target.data,
							   .lengths = c->length },
			       err));
	c->target.count = 0;
	return store_put(c->writer, c->table,
			 &(struct store_block){ .key = c->base,
						.item_count = count,
						.data = bytes.data,
						.size = bytes.count },
			 err);
}

/*
 * Begins `row`. The rows between the previous row and `row` have no children. Writes each block
 * that is now complete.
 */
static int go_to(struct children *c, uint32_t row, struct hdb_error *err)
{
	assert(row >= c->row);
	TRY(put_part(c, c->row, err));
	c->part_no = 0;
	while (c->row != row) {
		c->row++;
		if (c->row - c->base == STORE_BLOCK_OBJECTS) {
			TRY(put_block(c, STORE_BLOCK_OBJECTS, err));
			c->base = c->row;
		}
		c->first[c->row - c->base] = c->target.count;
		c->length[c->row - c->base] = 0;
	}
	return HDB_OK;
}

/*
 * Adds a child to its list. If a list exceeds STORE_LIST_BIG, it moves from the block to the table
 * of big lists.
 */
static int take_child(void *ctx, uint32_t row, uint32_t node, uint64_t size, struct hdb_error *err)
{
	struct children *c = ctx;
	uint64_t *length;

	(void)size;
	if (row != c->row)
		TRY(go_to(c, row, err));
	length = &c->length[c->row - c->base];
	if (*length == STORE_LIST_BIG) {
		const size_t first = (size_t)c->first[row - c->base];

		for (size_t i = first; i < c->target.count; i++)
			TRY(push_part(c, row, *base_vec_at(&c->target, uint32_t, i), err));
		c->target.count = first;
	}
	(*length)++;
	return *length > STORE_LIST_BIG ? push_part(c, row, node, err) :
					  base_vec_push(&c->target, &node, sizeof(node), err);
}

/*
 * Writes a range that does not fit in memory: merges its buckets, so that children arrive one by
 * one and in order.
 */
static int put_merged(struct children *c, uint32_t no, struct hdb_error *err)
{
	uint32_t base, count;

	graph_child_range_rows(&c->rows, no, &base, &count);
	c->base = c->row = base;
	c->first[0] = c->length[0] = 0;
	c->part_no = 0;
	TRY(graph_child_rows_merge(&c->rows, no, take_child, c, err));
	TRY(go_to(c, base + count - 1, err));
	return put_block(c, base + count - c->base, err);
}

/* Full parts of a big list are written directly from the array, without copying them to c->part. */
static int take_top(void *ctx, const uint32_t *nodes, uint64_t count, struct hdb_error *err)
{
	struct children *c = ctx;

	for (; !c->part.count && count >= STORE_LIST_PART; count -= STORE_LIST_PART) {
		TRY(store_lists_put_part(c->writer,
					 &(struct store_big_list){ .table = c->big_table,
								   .ix = c->row_count,
								   .target = nodes,
								   .count = STORE_LIST_PART },
					 c->part_no++, err));
		nodes += STORE_LIST_PART;
	}
	for (uint64_t i = 0; i < count; i++)
		TRY(push_part(c, c->row_count, nodes[i], err));
	return HDB_OK;
}

static int put_top(struct children *c, struct hdb_error *err)
{
	c->part_no = 0;
	TRY(graph_child_rows_top(&c->rows, take_top, c, err));
	return put_part(c, c->row_count, err);
}

/* ---- writing the table ---- */

/*
 * Writes a range. Runs on the calling thread, in the order of ranges. Drops the bucket immediately,
 * to free its memory and its file.
 */
static int put_range(void *ctx, unsigned slot, uint64_t no, struct hdb_error *err)
{
	struct children *c = ctx;

	assert(slot < c->slot_count);
	TRY(base_step(c->derive->work, no << c->rows.bits, err));
	TRY(c->slots[slot].is_sorted ? put_sorted(c, &c->slots[slot], err) :
				       put_merged(c, (uint32_t)no, err));
	base_bucket_drop(&c->rows.buckets, (uint32_t)no);
	return HDB_OK;
}

static int put_all(struct children *c, struct hdb_error *err)
{
	const struct base_pipeline pipeline = {
		.item_count = c->rows.range_count,
		.threads = c->derive->work->threads,
		.slot_count = SLOTS_PER_THREAD * c->derive->work->threads,
		.ctx = c,
		.produce = pack_range,
		.consume = put_range,
	};

	base_stage(c->derive->work, "sorting dominated objects", c->derive->heap->object_count,
		   "objects");
	c->slot_count = pipeline.slot_count;
	TRY(BASE_ALLOC(c->slots, c->slot_count, "blocks of lists", err));
	TRY(BASE_ALLOC(c->first, STORE_BLOCK_OBJECTS, "blocks of lists", err));
	TRY(BASE_ALLOC(c->length, STORE_BLOCK_OBJECTS, "blocks of lists", err));
	TRY(base_pipeline_run(&pipeline, err));
	return c->top_count ? put_top(c, err) : HDB_OK;
}

static void release(struct children *c)
{
	for (unsigned i = 0; c->slots && i < c->slot_count; i++) {
		graph_child_range_release(&c->slots[i].range);
		base_vec_release(&c->slots[i].bytes);
		base_vec_release(&c->slots[i].ends);
	}
	base_vec_release(&c->target);
	base_vec_release(&c->part);
	graph_child_rows_release(&c->rows);
	free(c->slots);
	free(c->first);
	free(c->length);
}

/*
 * Writes either only the list of the top level, or the lists of all objects and of the top level.
 */
static int build_lists(struct derive *derive, struct store_writer *writer, bool is_top,
		       struct hdb_error *err)
{
	BASE_SCOPED(release)
	struct children c = {
		.derive = derive,
		.writer = writer,
		.table = derive_table(derive, is_top ? STORE_TOP_LEVEL : STORE_CHILDREN),
		.big_table =
			derive_table(derive, is_top ? STORE_TOP_LEVEL_BIG : STORE_CHILDREN_BIG),
		.row_count = is_top ? 0 : derive->heap->object_count,
	};

	TRY(add_all(&c, err));
	TRY(put_all(&c, err));
	TRY(store_put_table(writer, c.table, c.total, err));
	return store_put_table(writer, c.big_table, 0, err);
}

static int build_children(struct derive *derive, struct store_writer *writer, struct hdb_error *err)
{
	return build_lists(derive, writer, false, err);
}

static int build_top_level(struct derive *derive, struct store_writer *writer,
			   struct hdb_error *err)
{
	return build_lists(derive, writer, true, err);
}

const struct derive_builder derive_build_children = {
	.tables = { STORE_CHILDREN, STORE_CHILDREN_BIG },
	.needs = { STORE_DOMINATORS, STORE_RETAINED },
	.build = build_children,
};

static struct store_lists lists_of(const struct derive *derive, enum store_table table,
				   enum store_table big_table)
{
	return (struct store_lists){
		.store = derive->heap->store,
		.table = derive_table(derive, table),
		.big_table = derive_table(derive, big_table),
		.ix_count = derive->heap->object_count,
	};
}

int derive_children(struct derive *derive, struct store_lists *out, struct hdb_error *err)
{
	*out = lists_of(derive, STORE_CHILDREN, STORE_CHILDREN_BIG);
	return derive_need(derive, STORE_CHILDREN, err);
}

const struct derive_builder derive_build_top_level = {
	.tables = { STORE_TOP_LEVEL, STORE_TOP_LEVEL_BIG },
	.needs = { STORE_DOMINATORS, STORE_RETAINED },
	.build = build_top_level,
};

/*
 * Opens the list of the top level, which is the last list of the `children` table. If that table
 * does not exist, builds the small table instead.
 */
int derive_top_level(struct derive *derive, struct store_lists *out, uint32_t *list,
		     struct hdb_error *err)
{
	*list = derive->heap->object_count;
	if (derive_has(derive, STORE_CHILDREN))
		return derive_children(derive, out, err);
	*list = 0;
	*out = lists_of(derive, STORE_TOP_LEVEL, STORE_TOP_LEVEL_BIG);
	return derive_need(derive, STORE_TOP_LEVEL, err);
}
