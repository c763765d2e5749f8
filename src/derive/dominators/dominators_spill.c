/*
 * derive/dominators/dominators_spill.c - writes dominators and retained sizes by object if memory
 * is short.
 *
 * Retained sizes are added up along the dominator tree. The random accesses would cause swapping on
 * a machine with too little memory. Instead, each step here reads and writes files sequentially
 * (time-forward processing: Chiang et al., "External-Memory Graph Algorithms", SODA 1995).
 *
 * Sizes are indexed by object, and dominators by number. Objects are distributed to spill buckets
 * by ranges of numbers, and the ranges are processed from the highest down. When an object is
 * processed, its sum is complete, because all objects that it dominates have higher numbers. If its
 * dominator is in a lower range, the sum goes into the bucket of that range. When that range is
 * loaded, the index of the dominator is known, and the object's row goes into a bucket of blocks of
 * objects. The tables are written from those buckets.
 */
#include "derive/dominators/dominators_spill.h"

#include "derive/blocks.h"
#include "base/spill_buckets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Number of bits of a range of numbers. The arrays of a range take 1.3 MB, which just about fits in
 * a second-level cache.
 */
#define RANGE_BITS 16u
#define RANGE_NUMBERS ((uint32_t)1 << RANGE_BITS)

/*
 * Maximum number of row buckets. With more buckets, chunks would be too small to be written
 * efficiently.
 */
#define ROW_BUCKETS_MAX 4096u

/*
 * Shares of the memory budget: 1/16 for the chunks of each kind of bucket, and 1/4 for chunks that
 * remain in memory.
 */
#define CHUNK_SHARE 16u
#define KEPT_SHARE 4u

/*
 * Fields of records, as in base_buckets_add. First, the record of an object, in the bucket of its
 * range:
 */
enum { OBJECT_NUMBER, OBJECT_IX, OBJECT_UNITS };
/*
 * An object's contribution to a dominator in a lower range, with the fields needed for the object's
 * row:
 */
enum { SUM_DOMINATOR, SUM_IX, SUM_BELOW, SUM_UNITS };
/*
 * The row of an object. If the object's dominator is the virtual root, the row contains the object
 * itself as the dominator.
 */
enum { ROW_IX, ROW_DOMINATOR, ROW_BELOW };

struct spilled {
	struct derive *derive;
	const struct graph_dominators *dominators;
	uint32_t blocks_per_bucket;
	struct base_buckets objects, sums; /* one bucket per range of numbers */
	struct base_buckets rows;          /* one bucket per group of blocks of objects */
	/* whether fill_block writes retained sizes rather than dominators */
	bool is_retained;
	/* Arrays of the current range, indexed by node. Sizes are in units of the alignment. */
	uint32_t *ix;
	uint64_t *units;
	uint64_t *below;
};

/*
 * Prepares the buckets. The size of a range is fixed, so the number of ranges depends on the heap,
 * and the chunk size on the heap and the budget.
 */
static int init(struct spilled *p, struct hdb_error *err)
{
	struct base_work *work = p->derive->work;
	const uint32_t ranges = (p->dominators->count >> RANGE_BITS) + 1;
	const uint32_t blocks = heap_block_count(p->derive->heap);
	struct base_buckets_plan plan;

	p->blocks_per_bucket = blocks / ROW_BUCKETS_MAX + 1;
	TRY(BASE_ALLOC(p->ix, RANGE_NUMBERS, "retained sizes", err));
	TRY(BASE_ALLOC(p->units, RANGE_NUMBERS, "retained sizes", err));
	TRY(BASE_ALLOC(p->below, RANGE_NUMBERS, "retained sizes", err));
	plan = (struct base_buckets_plan){ .bucket_count = ranges,
					   .chunks_bytes = work->memory_bytes / CHUNK_SHARE,
					   .kept_bytes = work->memory_bytes / KEPT_SHARE,
					   .what = "retained sizes" };
	TRY(base_buckets_init(&p->objects, &plan, work, err));
	TRY(base_buckets_init(&p->sums, &plan, work, err));
	plan.bucket_count = blocks / p->blocks_per_bucket + 1;
	return base_buckets_init(&p->rows, &plan, work, err);
}

static void release(struct spilled *p)
{
	base_buckets_release(&p->objects);
	base_buckets_release(&p->sums);
	base_buckets_release(&p->rows);
	free(p->ix);
	free(p->units);
	free(p->below);
}

/* ---- by number ---- */

static int read_numbers(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct spilled *p = ctx;

	return graph_dominators_numbers(p->dominators, block->objects->first_ix, block->values,
					block->objects->count, err);
}

static int spill_objects(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct spilled *p = ctx;

	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint64_t v[] = {
			[OBJECT_NUMBER] = block->values[i],
			[OBJECT_IX] = block->objects->first_ix + i,
			[OBJECT_UNITS] = derive_units(p->derive, block->objects->shallow[i]),
		};

		if (!v[OBJECT_NUMBER])
			continue;
		TRY(base_buckets_add(&p->objects, (uint32_t)(v[OBJECT_NUMBER] >> RANGE_BITS),
				     BASE_RECORD(2, 1), v, err));
	}
	return HDB_OK;
}

static int add_row(struct spilled *p, uint32_t ix, uint32_t dominator_ix, uint64_t below,
		   struct hdb_error *err)
{
	const uint64_t v[] = {
		[ROW_IX] = ix,
		[ROW_DOMINATOR] = dominator_ix,
		[ROW_BELOW] = below,
	};

	return base_buckets_add(&p->rows, ix / STORE_BLOCK_OBJECTS / p->blocks_per_bucket,
				BASE_RECORD(2, 1), v, err);
}

/*
 * Loads the objects of a range into arrays indexed by number. Each number except that of the
 * virtual root belongs to exactly one object.
 */
static int take_objects(struct spilled *p, uint32_t range, struct hdb_error *err)
{
	BASE_SCOPED(base_bucket_end) struct base_bucket_reader reader = { 0 };
	uint64_t v[BASE_BUCKET_FIELDS];
	int r;

	TRY(base_bucket_begin(&p->objects, range, &reader, err));
	while ((r = base_bucket_next(&reader, BASE_RECORD(2, 1), v, err)) == HDB_OK) {
		const uint32_t k = (uint32_t)v[OBJECT_NUMBER] % RANGE_NUMBERS;

		assert(v[OBJECT_NUMBER] >> RANGE_BITS == range);
		p->ix[k] = (uint32_t)v[OBJECT_IX];
		p->units[k] = v[OBJECT_UNITS];
	}
	base_bucket_drop(&p->objects, range);
	return r < 0 ? r : HDB_OK;
}

/*
 * Adds the sums that higher ranges have put into this range's bucket. The indexes of the dominators
 * are now known, so the rows are complete.
 */
static int take_sums(struct spilled *p, uint32_t range, struct hdb_error *err)
{
	BASE_SCOPED(base_bucket_end) struct base_bucket_reader reader = { 0 };
	uint64_t v[BASE_BUCKET_FIELDS] = { 0 };
	int r;

	TRY(base_bucket_begin(&p->sums, range, &reader, err));
	while ((r = base_bucket_next(&reader, BASE_RECORD(2, 2), v, err)) == HDB_OK) {
		const uint32_t k = (uint32_t)v[SUM_DOMINATOR] % RANGE_NUMBERS;

		assert(v[SUM_DOMINATOR] >> RANGE_BITS == range);
		p->below[k] += v[SUM_BELOW] + v[SUM_UNITS];
		TRY(add_row(p, (uint32_t)v[SUM_IX], p->ix[k], v[SUM_BELOW], err));
	}
	base_bucket_drop(&p->sums, range);
	return r < 0 ? r : HDB_OK;
}

/* Adds the complete sum of object k of the range to the sum of its dominator. */
static int add_to_dominator(struct spilled *p, uint32_t base, uint32_t k, struct hdb_error *err)
{
	const uint32_t dominator = p->dominators->dominator[base + k];
	const uint64_t v[] = {
		[SUM_DOMINATOR] = dominator,
		[SUM_IX] = p->ix[k],
		[SUM_BELOW] = p->below[k],
		[SUM_UNITS] = p->units[k],
	};

	/* a dominator has a lower preorder number than the objects it dominates */
	assert(dominator < base + k);
	if (dominator == 0)
		return add_row(p, p->ix[k], p->ix[k], p->below[k], err);
	if (dominator < base)
		return base_buckets_add(&p->sums, dominator >> RANGE_BITS, BASE_RECORD(2, 2), v,
					err);
	p->below[dominator - base] += p->below[k] + p->units[k];
	return add_row(p, p->ix[k], p->ix[dominator - base], p->below[k], err);
}

/*
 * Computes the sums of a range. Numbers are visited in descending order, so all objects that an
 * object dominates have been added to its sum before it is visited.
 */
static int sum_range(struct spilled *p, uint32_t range, struct hdb_error *err)
{
	const uint32_t base = range << RANGE_BITS, left = p->dominators->count - base;
	uint32_t k = left < RANGE_NUMBERS ? left + 1 : RANGE_NUMBERS;

	assert(base <= p->dominators->count);
	/* Starts reading the records of the next range from the file. */
	if (range)
		base_big_prefetch(&p->dominators->dominator_big,
				  (uint64_t)(base - RANGE_NUMBERS) *
					  sizeof(*p->dominators->dominator),
				  RANGE_NUMBERS * sizeof(*p->dominators->dominator));
	memset(p->below, 0, RANGE_NUMBERS * sizeof(*p->below));
	TRY(take_objects(p, range, err));
	TRY(take_sums(p, range, err));
	/* Number 0 of the first range is the virtual root. */
	while (k > (range == 0))
		TRY(add_to_dominator(p, base, --k, err));
	return base_step(p->derive->work, p->dominators->count - base, err);
}

static int sum_up(struct spilled *p, struct hdb_error *err)
{
	base_stage(p->derive->work, "retained sizes", p->dominators->count, "objects");
	for (uint32_t range = (p->dominators->count >> RANGE_BITS) + 1; range-- > 0;)
		TRY(sum_range(p, range, err));
	return HDB_OK;
}

/* ---- by object ---- */

/*
 * Fills a block from its bucket. A bucket contains the rows of several blocks, so it is read once
 * for each block, and rows of other blocks are skipped.
 */
static int fill_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct spilled *p = ctx;
	const uint32_t first = block->objects->first_ix;
	BASE_SCOPED(base_bucket_end) struct base_bucket_reader reader = { 0 };
	uint64_t v[BASE_BUCKET_FIELDS];
	int r;

	TRY(base_bucket_begin(&p->rows, block->block_no / p->blocks_per_bucket, &reader, err));
	/* Unreachable objects have no row and keep the value 0. */
	memset(block->values, 0, block->objects->count * sizeof(*block->values));
	while ((r = base_bucket_next(&reader, BASE_RECORD(2, 1), v, err)) == HDB_OK) {
		const uint32_t ix = (uint32_t)v[ROW_IX];
		const uint32_t dominator =
			v[ROW_DOMINATOR] == ix ? GRAPH_NONE : (uint32_t)v[ROW_DOMINATOR];

		if (ix - first < block->objects->count)
			block->values[ix - first] =
				p->is_retained ? v[ROW_BELOW] : derive_tree_value(ix, dominator);
	}
	return r < 0 ? r : HDB_OK;
}

int derive_put_spilled(struct derive *derive, struct store_writer *writer,
		       const struct graph_dominators *dominators, struct hdb_error *err)
{
	BASE_SCOPED(release) struct spilled p = { .derive = derive, .dominators = dominators };

	TRY(init(&p, err));
	TRY(derive_each_block(derive,
			      &(struct derive_pass){ .stage = "shallow sizes",
						     .reads_objects = true,
						     .make = read_numbers,
						     .take = spill_objects,
						     .ctx = &p },
			      err));
	TRY(sum_up(&p, err));
	TRY(derive_put_column(derive, writer, derive_table(derive, STORE_DOMINATORS),
			      &(struct derive_fill){ .stage = "writing dominators",
						     .fill = fill_block,
						     .ctx = &p },
			      err));
	p.is_retained = true;
	return derive_put_column(derive, writer, derive_table(derive, STORE_RETAINED),
				 &(struct derive_fill){ .stage = "writing retained sizes",
							.fill = fill_block,
							.ctx = &p },
				 err);
}
