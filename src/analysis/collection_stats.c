/*
 * analysis/collection_stats.c - sums over measured collections, and a table of them by size.
 */
#include "analysis/collection_stats.h"

#include "base/debug.h"
#include "base/idmap.h"

#include <assert.h>
#include <stdlib.h>

void analysis_sum_add(struct analysis_sum *sum, const struct analysis_measure *m, uint32_t ix)
{
	if (!sum->count || m->size > sum->largest_size) {
		sum->largest_size = m->size;
		sum->largest_ix = ix;
	}
	sum->kind = m->kind;
	sum->count++;
	sum->empty += m->has_size && !m->size;
	sum->elements += m->size;
	sum->wasted_bytes += m->wasted_bytes;
	sum->shallow_bytes += m->shallow_bytes;
	sum->without_size += !m->has_size;
	sum->impossible += m->has_lied;
	if (m->has_capacity && m->has_size) {
		sum->sized += m->size;
		sum->capacity += m->capacity;
	}
	if (m->has_used) {
		sum->hashed += m->size;
		sum->collided += m->size > m->used ? m->size - m->used : 0;
	}
}

static struct analysis_sum *size_slot(struct analysis_sum *sums, uint64_t slots, uint64_t size)
{
	uint64_t at = base_hash(size, base_hash_seed()) & (slots - 1);

	assert(slots > 0);
	assert((slots & (slots - 1)) == 0);
	while (sums[at].count && sums[at].key != size)
		at = (at + 1) & (slots - 1);
	return &sums[at];
}

static int grow_sizes(const struct session *session, struct analysis_sums *s, struct hdb_error *err)
{
	const uint64_t slots = s->slots * 2;
	struct analysis_sum *sums;

	assert(s->count <= s->slots);
	if (slots * sizeof(*sums) > session->work->memory_bytes / 2)
		return hdb_fail(err, HDB_ELIMIT,
				"%" PRIu64 " different sizes do not fit in the memory budget",
				s->count);
	sums = calloc(slots, sizeof(*sums));
	if (!sums)
		return hdb_fail_memory(err, "sizes", slots * sizeof(*sums));
	for (uint64_t i = 0; i < s->slots; i++)
		if (s->sums[i].count)
			*size_slot(sums, slots, s->sums[i].key) = s->sums[i];
	free(s->sums);
	s->sums = sums;
	s->slots = slots;
	BASE_CHECK(analysis_sums_check(s));
	return HDB_OK;
}

int analysis_sums_add_size(const struct session *session, struct analysis_sums *s,
			   const struct analysis_measure *m, uint32_t ix, struct hdb_error *err)
{
	const int r = s->count >= s->slots / 4 * 3 ? grow_sizes(session, s, err) : HDB_OK;
	struct analysis_sum *sum;

	if (r < 0 || !m->has_size)
		return r;
	sum = size_slot(s->sums, s->slots, m->size);
	s->count += !sum->count;
	sum->key = m->size;
	analysis_sum_add(sum, m, ix);
	return HDB_OK;
}

int analysis_sum_by_waste(const void *a, const void *b)
{
	const struct analysis_sum *x = a, *y = b;

	if (x->wasted_bytes != y->wasted_bytes)
		return x->wasted_bytes > y->wasted_bytes ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

int analysis_sum_by_key(const void *a, const void *b)
{
	const struct analysis_sum *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

void analysis_sums_check(const struct analysis_sums *s)
{
	uint64_t used = 0;

	assert((s->slots & (s->slots - 1)) == 0);
	assert(s->count <= s->slots);
	for (uint64_t i = 0; i < s->slots; i++) {
		if (!s->sums[i].count)
			continue;
		assert(size_slot(s->sums, s->slots, s->sums[i].key) == &s->sums[i]);
		used++;
	}
	assert(used == s->count);
}
