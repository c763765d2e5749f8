/*
 * derive/dominators/dominator_tables.c - builds the `dominators` and `retained` tables together.
 *
 * The `retained` table stores the retained size minus the shallow size, in units of the alignment.
 * Most objects retain only themselves, so most values are 0 and pack well.
 */
#include "derive/blocks.h"
#include "derive/build.h"
#include "derive/dominators/dominators_spill.h"

#include <assert.h>

/* Number of objects between the prefetch of a size and its use. */
#define SIZES_AHEAD 24u

/* Used instead of a dominator's number for unreachable objects. */
#define UNREACHED UINT64_MAX

struct build {
	struct derive *derive;
	struct store_writer *writer;
	const struct graph_dominators *dominators; /* borrowed */
	/* by number, in units of the alignment: first shallow sizes, later retained sizes */
	struct base_sizes sizes;
	const uint32_t *node;   /* indexed by number */
	atomic_bool is_too_big; /* whether a size does not fit into the narrow representation */
	_Atomic uint64_t unreached_count, unreached_bytes;
};

static int read_numbers(const struct build *b, struct derive_block *block, struct hdb_error *err)
{
	return graph_dominators_numbers(b->dominators, block->objects->first_ix, block->values,
					block->objects->count, err);
}

/*
 * Stores the shallow sizes of a block's objects by number, that is, at random positions. Number 0
 * stands for unreachable objects.
 */
static int load_shallow(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct build *b = ctx;

	TRY(read_numbers(b, block, err));
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint32_t number = (uint32_t)block->values[i];

		assert(number <= b->dominators->count);
		if (number && !base_sizes_set(&b->sizes, number,
					      derive_units(b->derive, block->objects->shallow[i])))
			atomic_store(&b->is_too_big, true);
	}
	return HDB_OK;
}

/*
 * Computes retained sizes. Sizes are narrow at first, which suffices for nearly all heaps and takes
 * less memory. If a size does not fit, fails with HDB_ELIMIT, and the caller starts again with wide
 * sizes.
 */
static int sum_sizes(struct build *b, bool is_wide, struct hdb_error *err)
{
	TRY(base_sizes_init(&b->sizes, (uint64_t)b->dominators->count + 1, is_wide, b->derive->work,
			    err));
	atomic_store(&b->is_too_big, false);
	TRY(derive_each_block(b->derive,
			      &(struct derive_pass){ .stage = "shallow sizes",
						     .reads_objects = true,
						     .make = load_shallow,
						     .ctx = b },
			      err));
	if (atomic_load(&b->is_too_big))
		return HDB_ELIMIT;
	return graph_retained(b->dominators, &b->sizes, err);
}

/*
 * Counts the objects that are not reachable from a root, so that heap_totals.c need not make a pass
 * over the objects.
 */
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

/*
 * Stores the retained size of each object minus the object's own size. The result is 0 for most
 * objects.
 */
static int fill_retained(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct build *b = ctx;

	TRY(read_numbers(b, block, err));
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
	return HDB_OK;
}

static int fill_dominators(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct build *b = ctx;
	const uint32_t first_ix = block->objects->first_ix, count = block->objects->count;

	TRY(read_numbers(b, block, err));
	/* Two loops are used so that the cache misses of each loop overlap. */
	for (uint32_t i = 0; i < count; i++)
		block->values[i] =
			block->values[i] ? b->dominators->dominator[block->values[i]] : UNREACHED;
	for (uint32_t i = 0; i < count; i++)
		block->values[i] = derive_tree_value(
			first_ix + i,
			block->values[i] == UNREACHED ? first_ix + i : b->node[block->values[i]]);
	return HDB_OK;
}

/*
 * Writes the table of retained sizes. Also records the unreachable objects, so that heap_totals.c
 * need not make a pass over the objects.
 */
static int put_retained(struct build *b, struct hdb_error *err)
{
	int r = sum_sizes(b, false, err);

	if (r == HDB_ELIMIT) {
		base_sizes_release(&b->sizes);
		r = sum_sizes(b, true, err);
	}
	TRY(r);
	TRY(derive_put_column(b->derive, b->writer, derive_table(b->derive, STORE_RETAINED),
			      &(struct derive_fill){ .stage = "writing retained sizes",
						     .reads_objects = true,
						     .fill = fill_retained,
						     .ctx = b },
			      err));
	b->derive->unreached = (struct derive_unreached){
		.is_known = true,
		.count = b->unreached_count,
		.shallow_bytes = b->unreached_bytes,
	};
	return HDB_OK;
}

static int put_dominators(struct build *b, struct hdb_error *err)
{
	BASE_SCOPED(base_big_free) struct base_big nodes = { 0 };

	TRY(graph_dominators_nodes(b->dominators, &nodes, err));
	b->node = nodes.data;
	assert(b->node);
	return derive_put_column(b->derive, b->writer, derive_table(b->derive, STORE_DOMINATORS),
				 &(struct derive_fill){ .stage = "writing dominators",
							.fill = fill_dominators,
							.ctx = b },
				 err);
}

/*
 * Writes both tables from arrays in memory. Sizes and nodes are not needed at the same time, so the
 * tables are written one after the other.
 */
static int put_both(struct build *b, struct hdb_error *err)
{
	TRY(put_dominators(b, err));
	return put_retained(b, err);
}

/*
 * Writes both tables. If memory does not suffice for 4 bytes per object, random access would go to
 * a file, so spill buckets are faster.
 */
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

/* Loads the graph and computes the dominators of all reachable objects. */
static int search(struct derive *derive, struct graph_dominators *dominators, struct hdb_error *err)
{
	BASE_SCOPED(graph_rows_release) struct graph_rows rows = { 0 };

	TRY(derive_graph_load(derive, false, &rows, err));
	return graph_dominators(&rows, derive->heap->roots.bits, GRAPH_SEARCH_ANY, dominators, err);
}

static void release(struct build *b)
{
	base_sizes_release(&b->sizes);
}

static int build_dominators(struct derive *derive, struct store_writer *writer,
			    struct hdb_error *err)
{
	const uint32_t n = derive->heap->object_count;
	BASE_SCOPED(graph_dominators_release) struct graph_dominators dominators = { 0 };
	BASE_SCOPED(release)
	struct build b = { .derive = derive, .writer = writer, .dominators = &dominators };
	int r;

	/* The pool's memory is used first for the graph and the numbers, and then for the links. */
	base_pool_reserve(derive->work, GRAPH_DOMINATORS_BYTES * (n + 1ull));
	base_work_keep(derive->work, graph_dominators_kept(derive->work, n));
	r = search(derive, &dominators, err);
	base_work_keep(derive->work, 0);
	TRY(r);
	return write_both(&b, err);
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

	*bytes = 0;
	TRY(derive_dominator(derive, ix, &dominator, err));
	if (dominator == ix)
		return HDB_OK;
	TRY(derive_need(derive, STORE_RETAINED, err));
	TRY(heap_object(derive->heap, ix, &object, err));
	TRY(store_column_get(&derive->retained, ix, &value, err));
	*bytes = object.shallow_bytes + value * derive->heap->layout.align_bytes;
	return HDB_OK;
}

int derive_retained_block(struct derive *derive, const struct heap_block *objects, uint64_t *bytes,
			  struct hdb_error *err)
{
	BASE_FREED uint8_t *reachable = NULL;
	uint32_t count = 0;

	TRY(BASE_ALLOC(reachable, STORE_BLOCK_OBJECTS, "a table's block", err));
	TRY(derive_need(derive, STORE_RETAINED, err));
	TRY(derive_reachable_block(derive, objects->first_ix / STORE_BLOCK_OBJECTS, reachable,
				   err));
	TRY(store_column_block(&derive->retained, objects->first_ix, bytes, &count, err));
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = reachable[i] ? objects->shallow[i] +
						  bytes[i] * derive->heap->layout.align_bytes :
					  0;
	return HDB_OK;
}
