/*
 * query/tally.c - a hash table with linear probing, at most three quarters full.
 */
#include "query/tally.h"

#include "base/idmap.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 4096u

static struct query_tally_head *slot_at(const struct query_tally *t, void *table, uint64_t at)
{
	return (struct query_tally_head *)((uint8_t *)table + at * t->entry_bytes);
}

static struct query_tally_head *find_slot(const struct query_tally *t, void *table, uint64_t slots,
					  struct heap_text_hash hash)
{
	uint64_t at = base_hash(hash.low, t->seed) & (slots - 1);
	struct query_tally_head *head = slot_at(t, table, at);

	while (head->count && (head->hash.low != hash.low || head->hash.high != hash.high)) {
		at = (at + 1) & (slots - 1);
		head = slot_at(t, table, at);
	}
	return head;
}

static int grow(struct query *q, struct query_tally *t, struct hdb_error *err)
{
	const uint64_t slots = t->slots ? t->slots * 2 : FIRST_SLOTS;
	const uint64_t bytes = slots * t->entry_bytes;
	struct base_big table = { 0 };
	int r;

	/* Both tables are there while one is copied to the other. */
	if (bytes + bytes / 2 > q->work->memory_bytes)
		return hdb_fail(err, HDB_ELIMIT, "%" PRIu64 " distinct %s do not fit in the memory "
				"budget of %" PRIu64 " bytes; --memory gives more%s", t->used, t->what,
				q->work->memory_bytes, t->advice);
	r = base_big_alloc(q->work, &table, bytes, t->what, err);
	if (r < 0)
		return r;
	t->seed = base_hash_seed();
	for (uint64_t i = 0; i < t->slots; i++) {
		const struct query_tally_head *old = slot_at(t, t->table.data, i);

		if (old->count)
			memcpy(find_slot(t, table.data, slots, old->hash), old, t->entry_bytes);
	}
	base_big_free(q->work, &t->table);
	t->table = table;
	t->slots = slots;
	return HDB_OK;
}

int query_tally_add(struct query *q, struct query_tally *tally, struct heap_text_hash hash,
		    uint32_t ix, void **entry, struct hdb_error *err)
{
	struct query_tally_head *head;
	int r = HDB_OK;

	if (tally->used >= tally->slots / 4 * 3)
		r = grow(q, tally, err);
	if (r < 0)
		return r;
	head = find_slot(tally, tally->table.data, tally->slots, hash);
	if (!head->count) {
		head->hash = hash;
		head->first_ix = ix;
		tally->used++;
	}
	head->count++;
	*entry = head;
	return HDB_OK;
}

static int compare_heads(const void *a, const void *b)
{
	const struct query_tally_head *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->first_ix < y->first_ix ? -1 : x->first_ix > y->first_ix;
}

uint64_t query_tally_order(struct query_tally *tally, uint64_t min_count)
{
	void *table = tally->table.data;
	uint64_t kept = 0;

	for (uint64_t i = 0; i < tally->slots; i++) {
		const struct query_tally_head *head = slot_at(tally, table, i);

		if (head->count && head->count >= min_count)
			memmove(slot_at(tally, table, kept++), head, tally->entry_bytes);
	}
	if (kept)
		qsort(table, kept, tally->entry_bytes, compare_heads);
	return kept;
}

void query_tally_release(struct query *q, struct query_tally *tally)
{
	base_big_free(q->work, &tally->table);
}
