/*
 * derive/referrers.c - builds the table of referrers: the stored references in reverse.
 *
 * The objects are divided into parts. For each part, one pass over all references collects the
 * references into the part, so memory stays within the budget, regardless of the number of
 * references. Sources arrive in ascending order, so duplicates are adjacent, and each referrer is
 * listed once.
 */
#include "base/bits.h"
#include "base/pipeline.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/thread.h"
#include "derive/blocks.h"
#include "derive/build.h"
#include "derive/references.h"

#include <assert.h>
#include <stdlib.h>

/* How many edges ahead to prefetch counters. */
#define AHEAD 16
/*
 * Maximum number of passes for the referrers of a few objects, and of referrers found by them,
 * before the table is built.
 */
#define PASSES_MAX 3u
#define PAIRS_MAX 65536u
/* Stands for the referrer in the pair that marks the end of an object's pairs. */
#define NO_REFERRER UINT32_MAX

struct turn {
	struct derive *derive;
	struct store_writer *writer;
	struct store_lists big;
	/*
	 * uint32_t, by object: first the number of references to the object, then the position of
	 * its referrers in `sources`
	 */
	struct base_big degree;
	struct base_big sources; /* uint32_t: the referrers of the part's objects */
	uint64_t total;          /* referrers written */
	int (*take)(struct turn *t, uint32_t from, const uint32_t *to, uint64_t count,
		    struct hdb_error *err);
	/* the current part consists of the objects [low, high) */
	uint32_t low, high;
	struct part_slot *slots;
	unsigned slot_count;
};

/* A block of lists that is being packed. */
struct part_slot {
	uint64_t first[STORE_BLOCK_OBJECTS], length[STORE_BLOCK_OBJECTS];
	struct base_vec bytes;
	BASE_NO_SHARING;
};

/*
 * First pass: counts the references to each object. Counters have 32 bits. A counter could overflow
 * only if there were 4 billion references to one object, which is an error.
 */
static int count_into(struct turn *t, uint32_t from, const uint32_t *to, uint64_t count,
		      struct hdb_error *err)
{
	uint32_t *degree = t->degree.data;

	(void)from;
	for (uint64_t e = 0; e < count; e++) {
		if (count - e > AHEAD)
			prefetch_write(&degree[to[e + AHEAD]]);
		if (__builtin_add_overflow(degree[to[e]], 1, &degree[to[e]]))
			return hdb_fail(err, HDB_ELIMIT,
					"an object has too many referrers (limit %" PRIu32 ")",
					UINT32_MAX);
	}
	return HDB_OK;
}

/*
 * Later passes: stores the sources of references to objects in [low, high). The unsigned difference
 * is smaller than the size of the part only for these references.
 */
static int place_into(struct turn *t, uint32_t from, const uint32_t *to, uint64_t count,
		      struct hdb_error *err)
{
	uint32_t *position = t->degree.data;
	uint32_t *sources = t->sources.data;

	(void)err;
	for (uint64_t e = 0; e < count; e++) {
		if (count - e > AHEAD)
			prefetch_write(&position[to[e + AHEAD]]);
		if (to[e] - t->low < t->high - t->low)
			sources[position[to[e]]++] = from;
	}
	return HDB_OK;
}

static int take_big(struct turn *t, uint32_t from, struct hdb_error *err)
{
	const uint32_t *batch;
	size_t count = 0;

	TRY(store_lists_begin(&t->big, from, NULL, err));
	do {
		TRY(store_lists_next(&t->big, &batch, &count, err));
		TRY(t->take(t, from, batch, count, err));
	} while (count);
	return HDB_OK;
}

static int take_block(void *ctx, const struct derive_references *references, struct hdb_error *err)
{
	struct turn *t = ctx;
	const uint32_t *entries = references->entries;

	for (uint32_t i = 0; i < references->count; i++) {
		const uint32_t from = references->first_ix + i;
		const uint64_t n = references->length[i];

		if (n & STORE_LIST_IS_BIG) {
			TRY(take_big(t, from, err));
			continue;
		}
		TRY(t->take(t, from, entries, n, err));
		entries += n;
	}
	return HDB_OK;
}

/* Removes adjacent duplicates from sources[from, to). Returns the new end. */
static uint32_t distinct(uint32_t *sources, uint32_t from, uint32_t to)
{
	uint32_t kept = from;

	for (uint32_t i = from; i < to; i++)
		if (kept == from || sources[i] != sources[kept - 1])
			sources[kept++] = sources[i];
	return kept;
}

/* Returns the number of lists in a block of the part. Parts begin at block boundaries. */
static uint32_t part_count(const struct turn *t, uint64_t item, uint32_t *first_ix)
{
	*first_ix = t->low + (uint32_t)item * STORE_BLOCK_OBJECTS;
	return t->high - *first_ix < STORE_BLOCK_OBJECTS ? t->high - *first_ix :
							   STORE_BLOCK_OBJECTS;
}

/* Packs a block. After place_into, position[v] is the end of the sources of v. */
static int pack_block(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	const struct turn *t = ctx;
	const uint32_t *position = t->degree.data;
	struct part_slot *s = &t->slots[slot];
	uint32_t *sources = t->sources.data;
	uint32_t ix;
	const uint32_t count = part_count(t, item, &ix);
	uint32_t start = ix == t->low ? 0 : position[ix - 1];

	for (uint32_t i = 0; i < count; i++) {
		s->first[i] = start;
		s->length[i] = distinct(sources, start, position[ix + i]) - start;
		start = position[ix + i];
	}
	s->bytes.count = 0;
	return store_lists_encode(&s->bytes,
				  &(struct store_lists_rows){ .first_ix = ix,
							      .count = count,
							      .first = s->first,
							      .target = sources,
							      .lengths = s->length },
				  err);
}

static int put_block(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	struct turn *t = ctx;
	const struct part_slot *s = &t->slots[slot];
	const uint32_t *sources = t->sources.data;
	uint32_t ix;
	const uint32_t count = part_count(t, item, &ix);

	TRY(base_step(t->derive->work, ix, err));
	for (uint32_t i = 0; i < count; i++) {
		const struct store_big_list big = { .table = STORE_REFERRERS_BIG,
						    .ix = ix + i,
						    .target = sources + s->first[i],
						    .count = s->length[i] };

		t->total += big.count;
		if (big.count > STORE_LIST_BIG)
			TRY(store_lists_put_big(t->writer, &big, err));
	}
	return store_put(t->writer, STORE_REFERRERS,
			 &(struct store_block){ .key = ix,
						.item_count = count,
						.data = s->bytes.data,
						.size = s->bytes.count },
			 err);
}

/* Writes the lists of a part. All threads pack lists. */
static int write_part(struct turn *t, struct hdb_error *err)
{
	const struct base_pipeline pipeline = {
		.item_count = ((uint64_t)t->high - t->low + STORE_BLOCK_OBJECTS - 1) /
			      STORE_BLOCK_OBJECTS,
		.threads = t->derive->work->threads,
		.slot_count = t->slot_count,
		.ctx = t,
		.produce = pack_block,
		.consume = put_block,
	};

	base_stage(t->derive->work, "writing referrers", t->derive->heap->object_count, "objects");
	TRY(BASE_ALLOC(t->slots, t->slot_count, "blocks of lists", err));
	return base_pipeline_run(&pipeline, err);
}

/* Frees the memory of one part. */
static void end_part(struct turn *t)
{
	for (unsigned i = 0; t->slots && i < t->slot_count; i++)
		base_vec_release(&t->slots[i].bytes);
	free(t->slots);
	t->slots = NULL;
	base_big_free(&t->sources);
}

/*
 * Chooses the part that begins at `low`: the largest number of whole blocks whose objects have at
 * most `room` referrers in total, but at least one block. Converts the counters of the part to
 * positions. Returns the number of references.
 */
static uint64_t choose_part(struct turn *t, uint32_t low, uint64_t room)
{
	const uint32_t n = t->derive->heap->object_count;
	uint32_t *degree = t->degree.data;
	uint64_t sum = 0, block_sum = 0;
	uint32_t position = 0;

	t->low = low;
	t->high = low;
	for (uint32_t ix = low; ix < n; ix++) {
		block_sum += degree[ix];
		if ((ix + 1) % STORE_BLOCK_OBJECTS && ix + 1 < n)
			continue;
		if (sum && sum + block_sum > room)
			break;
		sum += block_sum;
		block_sum = 0;
		t->high = ix + 1;
	}
	for (uint32_t ix = t->low; ix < t->high; ix++) {
		const uint32_t d = degree[ix];

		degree[ix] = position;
		position += d;
	}
	return sum;
}

/* Processes the part that begins at `low`: reads the references and writes the lists. */
static int turn_part(struct turn *t, uint32_t low, uint64_t room, struct hdb_error *err)
{
	const uint64_t sum = choose_part(t, low, room);

	assert(t->high > low);
	if (sum > UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT,
				"too many references to sort: %" PRIu64 " references to %u "
				"objects (limit %" PRIu32 ")",
				sum, STORE_BLOCK_OBJECTS, UINT32_MAX);
	TRY(base_big_alloc_raw(t->derive->work, &t->sources, sum * 4, "referrers", err));
	TRY(derive_each_references(t->derive, "sorting referrers", take_block, t, err));
	TRY(write_part(t, err));
	end_part(t);
	return HDB_OK;
}

/*
 * Processes all parts. Each part takes a pass over all references, so the parts are as large as the
 * budget allows.
 */
static int turn_all(struct turn *t, struct hdb_error *err)
{
	const uint32_t n = t->derive->heap->object_count;
	/*
	 * Maximum size of a part: a fifth of the budget, but at least 16 MB, and no more than
	 * 32-bit positions allow.
	 */
	uint64_t room = t->derive->work->memory_bytes / 5 / 4;

	if (room < (4u << 20))
		room = 4u << 20;
	if (room > UINT32_MAX / 2)
		room = UINT32_MAX / 2;
	t->take = count_into;
	TRY(derive_each_references(t->derive, "counting referrers", take_block, t, err));
	t->take = place_into;
	t->high = 0;
	while (t->high < n)
		TRY(turn_part(t, t->high, room, err));
	return HDB_OK;
}

static void release(struct turn *t)
{
	end_part(t);
	base_big_free(&t->degree);
}

static int build_referrers(struct derive *derive, struct store_writer *writer,
			   struct hdb_error *err)
{
	BASE_SCOPED(release)
	struct turn t = {
		.derive = derive,
		.writer = writer,
		.slot_count = DERIVE_SLOTS_PER_THREAD * derive->work->threads,
	};

	heap_references(derive->heap, &t.big);
	TRY(base_big_alloc(derive->work, &t.degree, (uint64_t)derive->heap->object_count * 4,
			   "referrers", err));
	TRY(turn_all(&t, err));
	TRY(store_put_table(writer, STORE_REFERRERS, t.total, err));
	return store_put_table(writer, STORE_REFERRERS_BIG, 0, err);
}

const struct derive_builder derive_build_referrers = {
	.tables = { STORE_REFERRERS, STORE_REFERRERS_BIG },
	.build = build_referrers,
};

int derive_referrers(struct derive *derive, struct store_lists *out, struct hdb_error *err)
{
	const int r = derive_need(derive, STORE_REFERRERS, err);

	*out = (struct store_lists){
		.store = derive->heap->store,
		.table = STORE_REFERRERS,
		.big_table = STORE_REFERRERS_BIG,
		.ix_count = derive->heap->object_count,
	};
	return r;
}

/* ---- the referrers of a few objects ---- */

/* Collects references to the objects whose bits are set in `degree`. */
static int collect_few(struct turn *t, uint32_t from, const uint32_t *to, uint64_t count,
		       struct hdb_error *err)
{
	struct base_vec *pairs = &t->derive->few.pairs;

	for (uint64_t e = 0; e < count && pairs->count <= PAIRS_MAX; e++) {
		const uint64_t pair = (uint64_t)to[e] << 32 | from;

		if (base_bit_has(t->degree.data, to[e]))
			TRY(base_vec_push(pairs, &pair, sizeof(pair), err));
	}
	return HDB_OK;
}

/*
 * Finds the referrers of the wanted objects. The pairs of each object end with a mark, so that an
 * object without referrers has a pair too.
 */
static int find_all_few(struct derive *derive, struct hdb_error *err)
{
	BASE_SCOPED(release) struct turn t = { .derive = derive, .take = collect_few };
	struct base_vec *wanted = &derive->few.wanted, *pairs = &derive->few.pairs;
	const size_t before = pairs->count;
	int r;

	heap_references(derive->heap, &t.big);
	TRY(base_big_alloc(derive->work, &t.degree,
			   base_bit_words(derive->heap->object_count) * sizeof(uint64_t),
			   "referrers", err));
	for (size_t i = 0; i < wanted->count; i++)
		base_bit_put(t.degree.data, *base_vec_at(wanted, uint32_t, i));
	r = derive_each_references(derive, "finding referrers", take_block, &t, err);
	if (r == HDB_OK && pairs->count > PAIRS_MAX) {
		wanted->count = pairs->count = 0;
		derive->few.passes = PASSES_MAX;
		return HDB_OK;
	}
	for (size_t i = 0; r == HDB_OK && i < wanted->count; i++) {
		const uint64_t mark =
			(uint64_t)*base_vec_at(wanted, uint32_t, i) << 32 | NO_REFERRER;

		r = base_vec_push(pairs, &mark, sizeof(mark), err);
	}
	/* remove the pairs of a failed pass, because they would look complete */
	if (r < 0)
		pairs->count = before;
	TRY(r);
	base_vec_sort(pairs, sizeof(uint64_t), base_compare_u64);
	derive->few.passes++;
	wanted->count = 0;
	return HDB_OK;
}

int derive_expect_referrers(struct derive *derive, const uint32_t *ixs, size_t count,
			    struct hdb_error *err)
{
	for (size_t i = 0; i < count; i++)
		TRY(base_vec_push(&derive->few.wanted, &ixs[i], sizeof(ixs[i]), err));
	return HDB_OK;
}

/* Returns the index of the first pair of an object, or SIZE_MAX if no pass has included it. */
static size_t find_few(const struct derive *derive, uint32_t ix)
{
	const uint64_t *pairs = derive->few.pairs.data;
	struct base_search search = base_search_in(derive->few.pairs.count);

	while (base_search_next(&search))
		base_search_step(&search, pairs[search.mid] < (uint64_t)ix << 32);
	return search.low < derive->few.pairs.count && pairs[search.low] >> 32 == ix ? search.low :
										       SIZE_MAX;
}

/*
 * Copies the referrers of an object, each once. The mark of the object comes after its referrers.
 */
static int copy_few(const struct derive *derive, size_t first, size_t max, struct base_vec *out,
		    struct hdb_error *err)
{
	const uint64_t *pairs = derive->few.pairs.data;

	for (size_t i = first; (uint32_t)pairs[i] != NO_REFERRER && out->count < max; i++) {
		const uint32_t from = (uint32_t)pairs[i];

		if (i == first || pairs[i] != pairs[i - 1])
			TRY(base_vec_push(out, &from, sizeof(from), err));
	}
	return HDB_OK;
}

int derive_referrers_of(struct derive *derive, uint32_t ix, size_t max, struct base_vec *out,
			struct hdb_error *err)
{
	struct store_lists lists;
	const uint32_t *batch;
	size_t count = 1, first = find_few(derive, ix);

	out->count = 0;
	if (first == SIZE_MAX && derive->few.passes < PASSES_MAX &&
	    !derive_has(derive, STORE_REFERRERS)) {
		TRY(derive_expect_referrers(derive, &ix, 1, err));
		TRY(find_all_few(derive, err));
		first = find_few(derive, ix);
	}
	if (first != SIZE_MAX)
		return copy_few(derive, first, max, out, err);
	TRY(derive_referrers(derive, &lists, err));
	TRY(store_lists_begin(&lists, ix, NULL, err));
	while (count && out->count < max) {
		TRY(store_lists_next(&lists, &batch, &count, err));
		for (size_t i = 0; i < count && out->count < max; i++)
			TRY(base_vec_push(out, &batch[i], sizeof(batch[i]), err));
	}
	return HDB_OK;
}
