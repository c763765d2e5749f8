/*
 * derive/children.c - the table children: what each object dominates immediately, largest first.
 */
#include "derive/build.h"

#include "graph/domtree.h"

#include <stdlib.h>

int derive_put_lists(struct store_writer *writer, struct base_work *work, enum store_table table,
		     enum store_table big_table, const uint32_t *first, const uint32_t *target,
		     uint64_t row_count, struct hdb_error *err)
{
	uint64_t *starts = malloc((STORE_BLOCK_OBJECTS + 1) * sizeof(*starts));
	struct base_vec bytes = { 0 };
	int r = starts ? HDB_OK : hdb_fail_memory(err, "a block of lists", STORE_BLOCK_OBJECTS * 8);

	for (uint64_t row = 0; row < row_count && r == HDB_OK; row += STORE_BLOCK_OBJECTS) {
		const uint32_t count = row_count - row < STORE_BLOCK_OBJECTS ?
				       (uint32_t)(row_count - row) : STORE_BLOCK_OBJECTS;

		r = base_step(work, row, err);
		for (uint32_t i = 0; i <= count; i++)
			starts[i] = first[row + i];
		for (uint32_t i = 0; i < count && r == HDB_OK; i++)
			if (starts[i + 1] - starts[i] > STORE_LIST_BIG)
				r = store_lists_put_big(writer, big_table, (uint32_t)row + i,
							target + starts[i],
							starts[i + 1] - starts[i], err);
		bytes.count = 0;
		if (r == HDB_OK)
			r = store_lists_encode(&bytes, (uint32_t)row, count, starts, target, NULL,
					       err);
		if (r == HDB_OK)
			r = store_put(writer, table, row, count, bytes.data, bytes.count, err);
	}
	base_vec_release(&bytes);
	free(starts);
	return r;
}

/* Reads all retained sizes. */
static int load_retained(struct derive *derive, uint64_t *sizes, struct hdb_error *err)
{
	struct heap_block *block = malloc(sizeof(*block));
	int r = block ? HDB_OK : hdb_fail_memory(err, "a block of objects", sizeof(*block));

	for (uint32_t b = 0; b < heap_block_count(derive->heap) && r == HDB_OK; b++) {
		r = heap_read_block(derive->heap, b, block, err);
		if (r == HDB_OK)
			r = derive_retained_block(derive, block, sizes + block->first_ix, err);
	}
	free(block);
	return r;
}

static int build_children(struct derive *derive, struct store_writer *writer,
			  struct hdb_error *err)
{
	const uint32_t n = derive->heap->object_count;
	struct graph_children children = { 0 };
	struct base_big idom = { 0 }, sizes = { 0 };
	int r = base_big_alloc(derive->work, &idom, (uint64_t)n * 4, "dominators", err);

	base_stage(derive->work, "ordering the dominator tree", n, "objects");
	if (r == HDB_OK)
		r = base_big_alloc(derive->work, &sizes, (uint64_t)n * 8, "retained sizes", err);
	if (r == HDB_OK)
		r = derive_load_tree(derive, &derive->dominators, idom.data, err);
	if (r == HDB_OK)
		r = load_retained(derive, sizes.data, err);
	if (r == HDB_OK)
		r = graph_children(idom.data, n, sizes.data, derive->work, &children, err);
	base_big_free(derive->work, &idom);
	base_big_free(derive->work, &sizes);
	/* One more row than objects: the top level. */
	if (r == HDB_OK)
		r = derive_put_lists(writer, derive->work, STORE_CHILDREN, STORE_CHILDREN_BIG,
				     children.first, children.child, (uint64_t)n + 1, err);
	if (r == HDB_OK)
		r = store_put_table(writer, STORE_CHILDREN, children.first[(uint64_t)n + 1], err);
	if (r == HDB_OK)
		r = store_put_table(writer, STORE_CHILDREN_BIG, 0, err);
	graph_children_release(derive->work, &children);
	return r;
}

const struct derive_builder derive_build_children = {
	.tables = { STORE_CHILDREN, STORE_CHILDREN_BIG },
	.needs = { STORE_DOMINATORS, STORE_RETAINED }, .build = build_children,
};

int derive_children(struct derive *derive, struct store_lists *out, struct hdb_error *err)
{
	const int r = derive_need(derive, STORE_CHILDREN, err);

	*out = (struct store_lists){
		.store = derive->heap->store, .table = STORE_CHILDREN,
		.big_table = STORE_CHILDREN_BIG, .ix_count = derive->heap->object_count,
	};
	return r;
}
