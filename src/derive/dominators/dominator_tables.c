/*
 * derive/dominators/dominator_tables.c - the tables dominators and retained, built together.
 *
 * A retained size is kept as what it exceeds the shallow size by, in units of the alignment: most
 * objects retain just themselves.
 */
#include "derive/blocks.h"
#include "derive/build.h"
#include "derive/dominators/dominators_spill.h"

#include <assert.h>
#include <stdlib.h>

/* Distance, in objects, at which sizes are prefetched. */
#define SIZES_AHEAD 24u

/* Instead of a dominator's number. */
#define UNREACHED UINT64_MAX

struct build {
	struct derive *derive;
	struct store_writer *writer;
	const struct graph_dominators *dominators; /* lent */
	struct base_sizes sizes; /* by number, in units of the alignment: shallow, then retained */
	const uint32_t *node;    /* by number */
	atomic_bool is_too_big;  /* a size that narrow sizes do not hold */
	_Atomic uint64_t unreached_count, unreached_bytes;
};

static int read_numbers(const struct build *b, struct derive_block *block, struct hdb_error *err)
{
	return graph_dominators_numbers(b->dominators, block->objects->first_ix, block->values,
					block->objects->count, err);
}

static int load_shallow(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct build *b = ctx;
	const int r = read_numbers(b, block, err);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint32_t number = (uint32_t)block->values[i];

		assert(number <= b->dominators->count);
		if (number && !base_sizes_set(&b->sizes, number,
					      derive_units(b->derive, block->objects->shallow[i])))
			atomic_store(&b->is_too_big, true);
	}
	return r;
}

static int sum_sizes(struct build *b, bool is_wide, struct hdb_error *err)
{
	int r;

	TRY(base_sizes_init(&b->sizes, (uint64_t)b->dominators->count + 1, is_wide, b->derive->work,
			    err));
	atomic_store(&b->is_too_big, false);
	r = derive_each_block(b->derive,
			      &(struct derive_pass){ .stage = "shallow sizes",
						     .reads_objects = true,
						     .make = load_shallow,
						     .ctx = b },
			      err);
	if (r != HDB_OK)
		return r;
	if (atomic_load(&b->is_too_big))
		return HDB_ELIMIT;
	return graph_retained(b->dominators, &b->sizes, err);
}

/* Counts objects that no root reaches, which spares heap_totals.c a pass over the objects. */
static void count_unreached(struct build *b, const struct derive_block *block)
{
	struct derive_unreached sum = { 0 };

	for (uint32_t i = 0; i < block->objects->count; i++) {
		if (block->values[i] || !heap_is_counted(b->derive->heap, block->objects, i))
			continue;
		sum.count++;
		sum.shallow_bytes += block->objects->shallow[i];
	}
	atomic_fetch_add_explicit(&b->unreached_count, sum.count, memory_order_relaxed);
	atomic_fetch_add_explicit(&b->unreached_bytes, sum.shallow_bytes, memory_order_relaxed);
}

static int fill_retained(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct build *b = ctx;
	const int r = read_numbers(b, block, err);

	if (r < 0)
		return r;
	count_unreached(b, block);
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint32_t number = (uint32_t)block->values[i];

		if (i + SIZES_AHEAD < block->objects->count)
			base_sizes_prefetch(&b->sizes, (uint32_t)block->values[i + SIZES_AHEAD]);
		block->values[i] =
			number ? base_sizes_get(&b->sizes, number) -
					 derive_units(b->derive, block->objects->shallow[i]) :
				 0;
	}
	return r;
}

static int fill_dominators(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct build *b = ctx;
	const uint32_t first_ix = block->objects->first_ix, count = block->objects->count;
	const int r = read_numbers(b, block, err);

	if (r < 0)
		return r;
	/* In two steps, so that the cache misses of each overlap. */
	for (uint32_t i = 0; i < count; i++)
		block->values[i] =
			block->values[i] ? b->dominators->dominator[block->values[i]] : UNREACHED;
	for (uint32_t i = 0; i < count; i++)
		block->values[i] = derive_tree_value(
			first_ix + i,
			block->values[i] == UNREACHED ? first_ix + i : b->node[block->values[i]]);
	return r;
}

static int put_retained(struct build *b, struct hdb_error *err)
{
	int r = sum_sizes(b, false, err);

	if (r == HDB_ELIMIT) {
		base_sizes_release(&b->sizes);
		r = sum_sizes(b, true, err);
	}
	if (r != HDB_OK)
		goto out;
	r = derive_put_column(b->derive, b->writer, derive_table(b->derive, STORE_RETAINED),
			      &(struct derive_fill){ .stage = "writing retained sizes",
						     .reads_objects = true,
						     .fill = fill_retained,
						     .ctx = b },
			      err);
	b->derive->unreached = (struct derive_unreached){
		.is_known = r == HDB_OK,
		.count = b->unreached_count,
		.shallow_bytes = b->unreached_bytes,
	};
out:
	base_sizes_release(&b->sizes);
	return r;
}

static int put_dominators(struct build *b, struct hdb_error *err)
{
	struct base_big nodes = { 0 };
	int r = graph_dominators_nodes(b->dominators, &nodes, err);

	if (r != HDB_OK)
		goto out;
	b->node = nodes.data;
	assert(b->node);
	r = derive_put_column(b->derive, b->writer, derive_table(b->derive, STORE_DOMINATORS),
			      &(struct derive_fill){ .stage = "writing dominators",
						     .fill = fill_dominators,
						     .ctx = b },
			      err);
out:
	base_big_free(&nodes);
	b->node = NULL;
	return r;
}

/* In memory, one table after the other: sizes and nodes are not needed at the same time. */
static int put_both(struct build *b, struct hdb_error *err)
{
	TRY(put_dominators(b, err));
	return put_retained(b, err);
}

static int write_both(struct build *b, struct hdb_error *err)
{
	const uint32_t n = b->derive->heap->object_count;
	const bool is_short =
		b->dominators->dominator_big.is_file ||
		base_work_room(b->derive->work) < ((uint64_t)n + 1) * sizeof(uint32_t);

	TRY(is_short ? derive_put_spilled(b->derive, b->writer, b->dominators, err) :
		       put_both(b, err));
	TRY(store_put_table(b->writer, derive_table(b->derive, STORE_DOMINATORS), n, err));
	return store_put_table(b->writer, derive_table(b->derive, STORE_RETAINED), n, err);
}

/* Loads the graph, and numbers what roots reach. */
static int find_dominators(struct derive *derive, struct graph_dominators *dominators,
			   struct hdb_error *err)
{
	struct graph_rows rows;
	int r;

	/* The memory serves the graph and the numbers first, then the links. */
	base_pool_reserve(derive->work,
			  GRAPH_DOMINATORS_BYTES * (derive->heap->object_count + 1ull));
	base_work_keep(derive->work,
		       graph_dominators_kept(derive->work, derive->heap->object_count));
	if ((r = derive_graph_load(derive, false, &rows, err)) != HDB_OK)
		goto out;
	r = graph_dominators(&rows, derive->heap->roots.bits, GRAPH_SEARCH_ANY, dominators, err);
out:
	base_work_keep(derive->work, 0);
	return r;
}

static int build_dominators(struct derive *derive, struct store_writer *writer,
			    struct hdb_error *err)
{
	struct graph_dominators dominators = { 0 };
	struct build b = { .derive = derive, .writer = writer, .dominators = &dominators };
	int r = find_dominators(derive, &dominators, err);

	if (r == HDB_OK)
		r = write_both(&b, err);
	graph_dominators_release(&dominators);
	return r;
}

const struct derive_builder derive_build_dominators = {
	.tables = { STORE_DOMINATORS, STORE_RETAINED },
	.build = build_dominators,
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
	TRY(derive_need(derive, STORE_RETAINED, err));
	TRY(heap_object(derive->heap, ix, &object, err));
	TRY(store_column_get(&derive->retained, ix, &value, err));
	*bytes = object.shallow_bytes + value * derive->heap->layout.align_bytes;
	return HDB_OK;
}

int derive_retained_block(struct derive *derive, const struct heap_block *objects, uint64_t *bytes,
			  struct hdb_error *err)
{
	uint8_t *reachable = malloc(STORE_BLOCK_OBJECTS);
	uint32_t count = 0;
	int r = reachable ? derive_need(derive, STORE_RETAINED, err) :
			    hdb_fail_memory(err, "a table's block", STORE_BLOCK_OBJECTS);

	if (r != HDB_OK)
		goto out;
	r = derive_reachable_block(derive, objects->first_ix / STORE_BLOCK_OBJECTS, reachable, err);
	if (r != HDB_OK)
		goto out;
	r = store_column_block(&derive->retained, objects->first_ix, bytes, &count, err);
	if (r != HDB_OK)
		goto out;
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = reachable[i] ? objects->shallow[i] +
						  bytes[i] * derive->heap->layout.align_bytes :
					  0;
out:
	free(reachable);
	return r;
}
