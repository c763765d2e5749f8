/*
 * derive/referrers.c - the table referrers: the stored references turned round.
 *
 * In parts of the objects: for each part one pass over all references puts those that lead into it in order, so
 * that memory is what the budget allows whatever the number of edges. Sources come in ascending order, so equal ones
 * are neighbours and each referrer is listed once.
 */
#include "derive/build.h"

#include <stdlib.h>

struct turn {
	struct derive *derive;
	struct store_writer *writer;
	struct store_lists lists, big;
	uint64_t *lengths;
	struct base_vec entries;
	struct base_big degree;      /* uint32_t by object: references to it, then positions */
	struct base_big sources;     /* uint32_t: the part's referrers */
	uint64_t total;              /* referrers written */
	/* the part */
	uint32_t low, high;
};

typedef int (*take_edges)(struct turn *t, uint32_t from, const uint32_t *to, uint64_t count,
			  struct hdb_error *err);

static int count_into(struct turn *t, uint32_t from, const uint32_t *to, uint64_t count,
		      struct hdb_error *err)
{
	uint32_t *degree = t->degree.data;

	(void)from;
	for (uint64_t e = 0; e < count; e++)
		if (__builtin_add_overflow(degree[to[e]], 1, &degree[to[e]]))
			return hdb_fail(err, HDB_ELIMIT, "an object has more than %" PRIu32
					" references to it", UINT32_MAX);
	return HDB_OK;
}

static int place_into(struct turn *t, uint32_t from, const uint32_t *to, uint64_t count,
		      struct hdb_error *err)
{
	uint32_t *position = t->degree.data;
	uint32_t *sources = t->sources.data;

	(void)err;
	for (uint64_t e = 0; e < count; e++)
		if (to[e] - t->low < t->high - t->low)
			sources[position[to[e]]++] = from;
	return HDB_OK;
}

/* All references, in order of their source. */
static int each_edge(struct turn *t, take_edges take, struct hdb_error *err)
{
	struct heap *heap = t->derive->heap;
	int r = HDB_OK;

	for (uint32_t b = 0; b < heap_block_count(heap) && r == HDB_OK; b++) {
		const uint32_t first_ix = b * STORE_BLOCK_OBJECTS;
		uint64_t at = 0;
		uint32_t count = 0;

		t->entries.count = 0;
		r = store_lists_block(&t->lists, first_ix, t->lengths, &t->entries, &count, err);
		for (uint32_t i = 0; i < count && r == HDB_OK; i++) {
			const uint64_t n = t->lengths[i];
			const uint32_t *batch;
			size_t in_batch = 0;

			if (!(n & STORE_LIST_IS_BIG)) {
				r = take(t, first_ix + i, (uint32_t *)t->entries.data + at, n, err);
				at += n;
				continue;
			}
			r = store_lists_begin(&t->big, first_ix + i, NULL, err);
			do {
				if (r == HDB_OK)
					r = store_lists_next(&t->big, &batch, &in_batch, err);
				if (r == HDB_OK)
					r = take(t, first_ix + i, batch, in_batch, err);
			} while (r == HDB_OK && in_batch);
		}
		if (r == HDB_OK)
			r = base_step(t->derive->work, first_ix, err);
	}
	return r;
}

/* Removes equal neighbours in [from, to) of the sources; returns the new end. */
static uint32_t distinct(uint32_t *sources, uint32_t from, uint32_t to)
{
	uint32_t kept = from;

	for (uint32_t i = from; i < to; i++)
		if (kept == from || sources[i] != sources[kept - 1])
			sources[kept++] = sources[i];
	return kept;
}

/* Writes the part's lists: position[v] is now the end of v's sources. */
static int write_part(struct turn *t, struct hdb_error *err)
{
	const uint32_t *position = t->degree.data;
	uint32_t *sources = t->sources.data;
	uint64_t *first = malloc((STORE_BLOCK_OBJECTS + 1) * sizeof(*first));
	struct base_vec bytes = { 0 };
	uint32_t start = 0;
	int r = first ? HDB_OK : hdb_fail_memory(err, "a block of lists", STORE_BLOCK_OBJECTS * 8);

	for (uint32_t ix = t->low; ix < t->high && r == HDB_OK; ix += STORE_BLOCK_OBJECTS) {
		const uint32_t count = t->high - ix < STORE_BLOCK_OBJECTS ? t->high - ix :
				       STORE_BLOCK_OBJECTS;

		for (uint32_t i = 0; i < count; i++) {
			const uint32_t end = position[ix + i];

			first[i] = start;
			t->lengths[i] = distinct(sources, start, end) - start;
			t->total += t->lengths[i];
			if (t->lengths[i] > STORE_LIST_BIG && r == HDB_OK)
				r = store_lists_put_big(t->writer, STORE_REFERRERS_BIG, ix + i,
							sources + start, t->lengths[i], err);
			start = end;
		}
		bytes.count = 0;
		if (r == HDB_OK)
			r = store_lists_encode(&bytes, ix, count, first, sources, t->lengths, err);
		if (r == HDB_OK)
			r = store_put(t->writer, STORE_REFERRERS, ix, count, bytes.data,
				      bytes.count, err);
		if (ix > UINT32_MAX - STORE_BLOCK_OBJECTS)
			break;
	}
	base_vec_release(&bytes);
	free(first);
	return r;
}

/* Chooses the part that begins at low: whole blocks with at most `room` references into them, at least one. */
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

static int turn_all(struct turn *t, struct hdb_error *err)
{
	const uint32_t n = t->derive->heap->object_count;
	/* A fifth of the budget a part, at least 16 MB; positions have 32 bits. */
	uint64_t room = t->derive->work->memory_bytes / 5 / 4;
	int r;

	if (room < (4u << 20))
		room = 4u << 20;
	if (room > UINT32_MAX / 2)
		room = UINT32_MAX / 2;
	base_stage(t->derive->work, "counting referrers", n, "objects");
	r = each_edge(t, count_into, err);
	t->high = 0;
	while (r == HDB_OK && t->high < n) {
		const uint64_t sum = choose_part(t, t->high, room);

		if (sum > UINT32_MAX)
			return hdb_fail(err, HDB_ELIMIT, "%" PRIu64 " references to %u objects; at "
					"most %" PRIu32 " can be sorted", sum, STORE_BLOCK_OBJECTS,
					UINT32_MAX);
		base_stage(t->derive->work, "sorting referrers", n, "objects");
		r = base_big_alloc(t->derive->work, &t->sources, sum * 4, "referrers", err);
		if (r == HDB_OK)
			r = each_edge(t, place_into, err);
		if (r == HDB_OK)
			r = write_part(t, err);
		base_big_free(t->derive->work, &t->sources);
	}
	return r;
}

static int build_referrers(struct derive *derive, struct store_writer *writer,
			   struct hdb_error *err)
{
	struct turn t = { .derive = derive, .writer = writer };
	int r;

	heap_references(derive->heap, &t.lists);
	heap_references(derive->heap, &t.big);
	t.lengths = malloc(STORE_BLOCK_OBJECTS * sizeof(*t.lengths));
	r = t.lengths ? base_big_alloc(derive->work, &t.degree,
				       (uint64_t)derive->heap->object_count * 4, "referrers", err) :
	    hdb_fail_memory(err, "a block of lists", STORE_BLOCK_OBJECTS * 8);
	if (r == HDB_OK)
		r = turn_all(&t, err);
	if (r == HDB_OK)
		r = store_put_table(writer, STORE_REFERRERS, t.total, err);
	if (r == HDB_OK)
		r = store_put_table(writer, STORE_REFERRERS_BIG, 0, err);
	base_big_free(derive->work, &t.degree);
	base_vec_release(&t.entries);
	free(t.lengths);
	return r;
}

const struct derive_builder derive_build_referrers = {
	.tables = { STORE_REFERRERS, STORE_REFERRERS_BIG }, .build = build_referrers,
};

int derive_referrers(struct derive *derive, struct store_lists *out, struct hdb_error *err)
{
	const int r = derive_need(derive, STORE_REFERRERS, err);

	*out = (struct store_lists){
		.store = derive->heap->store, .table = STORE_REFERRERS,
		.big_table = STORE_REFERRERS_BIG, .ix_count = derive->heap->object_count,
	};
	return r;
}
