/*
 * derive/retained.c - the tables dominators and retained, built together.
 *
 * A retained size is kept as what it exceeds the shallow size by, in units of the alignment: most objects retain
 * just themselves.
 */
#include "derive/build.h"

#include "graph/domtree.h"

#include <stdlib.h>

static int load_shallow(struct derive *derive, const uint32_t *idom, struct heap_block *block,
			uint64_t *sizes, struct hdb_error *err)
{
	for (uint32_t b = 0; b < heap_block_count(derive->heap); b++) {
		const int r = heap_read_block(derive->heap, b, block, err);

		if (r < 0)
			return r;
		for (uint32_t i = 0; i < block->count; i++) {
			const uint32_t ix = block->first_ix + i;

			sizes[ix] = idom[ix] == ix ? 0 : block->shallow[i];
		}
	}
	return HDB_OK;
}

static int put_retained(struct derive *derive, struct store_writer *writer, const uint32_t *idom,
			const uint64_t *sizes, struct heap_block *block, struct hdb_error *err)
{
	const uint64_t unit = derive->heap->layout.align_bytes;
	uint64_t *values = malloc(STORE_BLOCK_OBJECTS * sizeof(*values));
	struct base_vec scratch = { 0 };
	int r = HDB_OK;

	if (!values)
		return hdb_fail_memory(err, "a table's block", STORE_BLOCK_OBJECTS * 8);
	for (uint32_t b = 0; b < heap_block_count(derive->heap) && r == HDB_OK; b++) {
		r = heap_read_block(derive->heap, b, block, err);
		for (uint32_t i = 0; r == HDB_OK && i < block->count; i++) {
			const uint32_t ix = block->first_ix + i;

			values[i] = idom[ix] == ix ? 0 : (sizes[ix] - block->shallow[i]) / unit;
		}
		if (r == HDB_OK)
			r = store_column_put(writer, STORE_RETAINED, block->first_ix, values,
					     block->count, &scratch, err);
	}
	base_vec_release(&scratch);
	free(values);
	return r;
}

static int put_both(struct derive *derive, struct store_writer *writer, const uint32_t *idom,
		    struct hdb_error *err)
{
	const uint32_t n = derive->heap->object_count;
	struct heap_block *block = malloc(sizeof(*block));
	struct base_big sizes = { 0 };
	int r = block ? base_big_alloc(derive->work, &sizes, (uint64_t)n * 8, "retained sizes", err) :
		hdb_fail_memory(err, "a block of objects", sizeof(*block));

	base_stage(derive->work, "writing dominators", 0, "");
	if (r == HDB_OK)
		r = derive_put_tree(derive, writer, STORE_DOMINATORS, idom, err);
	if (r == HDB_OK)
		r = store_put_table(writer, STORE_DOMINATORS, n, err);
	base_stage(derive->work, "retained sizes", 0, "");
	if (r == HDB_OK)
		r = load_shallow(derive, idom, block, sizes.data, err);
	if (r == HDB_OK)
		r = graph_retained(idom, n, sizes.data, derive->work, err);
	if (r == HDB_OK)
		r = put_retained(derive, writer, idom, sizes.data, block, err);
	if (r == HDB_OK)
		r = store_put_table(writer, STORE_RETAINED, n, err);
	base_big_free(derive->work, &sizes);
	free(block);
	return r;
}

static int build_dominators(struct derive *derive, struct store_writer *writer,
			    struct hdb_error *err)
{
	struct derive_graph graph;
	struct base_big idom = { 0 };
	int r = derive_graph_load(derive, false, &graph, err);

	if (r < 0)
		return r;
	r = base_big_alloc(derive->work, &idom, (uint64_t)graph.csr.node_count * 4, "dominators",
			   err);
	if (r == HDB_OK)
		r = graph_dominators(&graph.csr, derive->heap->root_bits, derive->work, idom.data,
				     err);
	derive_graph_release(derive, &graph);
	if (r == HDB_OK)
		r = put_both(derive, writer, idom.data, err);
	base_big_free(derive->work, &idom);
	return r;
}

const struct derive_builder derive_build_dominators = {
	.tables = { STORE_DOMINATORS, STORE_RETAINED }, .build = build_dominators,
};

/* ---- readers ---- */

int derive_retained(struct derive *derive, uint32_t ix, uint64_t *bytes, struct hdb_error *err)
{
	struct heap_object object;
	uint32_t dominator;
	uint64_t value;
	int r = derive_dominator(derive, ix, &dominator, err);

	*bytes = 0;
	if (r < 0 || dominator == ix)
		return r;
	r = derive_need(derive, STORE_RETAINED, err);
	if (r == HDB_OK)
		r = heap_object(derive->heap, ix, &object, err);
	if (r == HDB_OK)
		r = store_column_get(&derive->retained, ix, &value, err);
	if (r == HDB_OK)
		*bytes = object.shallow_bytes + value * derive->heap->layout.align_bytes;
	return r;
}

int derive_retained_block(struct derive *derive, const struct heap_block *objects,
			  uint64_t *bytes, struct hdb_error *err)
{
	uint8_t *reachable = malloc(STORE_BLOCK_OBJECTS);
	uint32_t count = 0;
	int r = reachable ? derive_need(derive, STORE_RETAINED, err) :
		hdb_fail_memory(err, "a table's block", STORE_BLOCK_OBJECTS);

	if (r == HDB_OK)
		r = derive_reachable_block(derive, objects->first_ix / STORE_BLOCK_OBJECTS,
					   reachable, err);
	if (r == HDB_OK)
		r = store_column_block(&derive->retained, objects->first_ix, bytes, &count, err);
	for (uint32_t i = 0; r == HDB_OK && i < count; i++)
		bytes[i] = reachable[i] ? objects->shallow[i] +
			   bytes[i] * derive->heap->layout.align_bytes : 0;
	free(reachable);
	return r;
}
