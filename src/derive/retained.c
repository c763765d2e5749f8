/*
 * derive/retained.c - the tables dominators and retained, built together.
 *
 * A retained size is kept as what it exceeds the shallow size by, in units of the alignment: most objects retain
 * just themselves.
 */
#include "derive/blocks.h"
#include "derive/build.h"
#include "graph/domtree.h"

#include <stdlib.h>

struct sizes {
	struct derive *derive;
	struct store_writer *writer;
	const uint32_t *idom;
	uint64_t *bytes;     /* by object: shallow, then retained */
};

static int load_shallow(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct sizes *s = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint32_t ix = block->objects->first_ix + i;

		s->bytes[ix] = s->idom[ix] == ix ? 0 : block->objects->shallow[i];
	}
	return HDB_OK;
}

/* Packs a block of both tables. */
static int pack_both(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct sizes *s = ctx;
	const uint64_t unit = s->derive->heap->layout.align_bytes;
	const uint32_t first_ix = block->objects->first_ix, count = block->objects->count;
	int r;

	for (uint32_t i = 0; i < count; i++)
		block->values[i] = derive_tree_value(first_ix + i, s->idom[first_ix + i]);
	r = pack_encode(&block->bytes[0], block->values, count, err);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t ix = first_ix + i;

		block->values[i] = s->idom[ix] == ix ? 0 :
				   (s->bytes[ix] - block->objects->shallow[i]) / unit;
	}
	return r == HDB_OK ? pack_encode(&block->bytes[1], block->values, count, err) : r;
}

static int put_both(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct sizes *s = ctx;
	const int r = store_put(s->writer, STORE_DOMINATORS, block->objects->first_ix,
				block->objects->count, block->bytes[0].data, block->bytes[0].count,
				err);

	return r == HDB_OK ? store_put(s->writer, STORE_RETAINED, block->objects->first_ix,
				       block->objects->count, block->bytes[1].data,
				       block->bytes[1].count, err) : r;
}

static int write_both(struct derive *derive, struct store_writer *writer, const uint32_t *idom,
		      struct hdb_error *err)
{
	const uint32_t n = derive->heap->object_count;
	struct sizes s = { .derive = derive, .writer = writer, .idom = idom };
	struct base_big big = { 0 };
	int r = base_big_alloc(derive->work, &big, (uint64_t)n * 8, "retained sizes", err);

	s.bytes = big.data;
	if (r == HDB_OK)
		r = derive_each_block(derive, "shallow sizes", load_shallow, NULL, &s, err);
	base_stage(derive->work, "retained sizes", 0, "");
	if (r == HDB_OK)
		r = graph_retained(idom, n, s.bytes, derive->work, err);
	if (r == HDB_OK)
		r = derive_each_block(derive, "writing dominators", pack_both, put_both, &s, err);
	if (r == HDB_OK)
		r = store_put_table(writer, STORE_DOMINATORS, n, err);
	if (r == HDB_OK)
		r = store_put_table(writer, STORE_RETAINED, n, err);
	base_big_free(derive->work, &big);
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
		r = write_both(derive, writer, idom.data, err);
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
