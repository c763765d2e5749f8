/*
 * analysis/hash_counter.c - stores entries in pieces. A hash table with linear probing, at most
 * three quarters full, finds the entries.
 *
 * A slot contains the number of an entry, and 32 bits of the hash that are not used for choosing
 * the slot. Most lookups of new contents therefore touch only one cache line, and the new entry is
 * written next to the last one. When the table grows, the entries are read in order, and only the
 * slots are written.
 */
#include "analysis/hash_counter.h"
#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>

#define FIRST_SLOTS 4096u
#define FIRST_PIECE 4096u
/* Maximum count for which entries are sorted by counting sort. Few entries have larger counts. */
#define SMALL_COUNTS 4096u

struct slot {
	uint32_t number; /* 1 + number of the entry, or 0 if the slot is free */
	uint32_t tag;    /* upper bits of hash.high */
};

static_assert(((1ull << ANALYSIS_COUNTER_PIECES) - 1) * FIRST_PIECE > UINT32_MAX,
	      "room for all objects");

/*
 * Returns the piece of an entry, and sets *at to its index in the piece. Piece k begins with entry
 * (2^k - 1) * FIRST_PIECE.
 */
static unsigned piece_of(uint64_t number, uint64_t *at)
{
	const unsigned k = 63u - (unsigned)__builtin_clzll(number / FIRST_PIECE + 1);

	*at = number - ((1ull << k) - 1) * FIRST_PIECE;
	assert(*at <= number);
	return k;
}

static struct analysis_counter_head *entry_at(const struct analysis_counter *t, uint64_t number)
{
	uint64_t at;
	uint8_t *piece = t->pieces[piece_of(number, &at)].data;

	assert(number < t->used);
	return (struct analysis_counter_head *)(piece + at * t->entry_bytes);
}

static uint32_t tag_of(struct heap_text_hash hash)
{
	return (uint32_t)(hash.high >> 32);
}

/* Returns the slot that contains a hash, or the free slot in which the hash belongs. */
static struct slot *find_slot(const struct analysis_counter *t, struct heap_text_hash hash)
{
	struct slot *slots = t->table.data;
	uint64_t at = hash.low & (t->slots - 1);

	assert(t->slots > t->used);
	assert((t->slots & (t->slots - 1)) == 0);
	for (; slots[at].number; at = (at + 1) & (t->slots - 1)) {
		const struct analysis_counter_head *head;

		if (slots[at].tag != tag_of(hash))
			continue;
		head = entry_at(t, slots[at].number - 1);
		if (head->hash.low == hash.low && head->hash.high == hash.high)
			break;
	}
	return &slots[at];
}

void analysis_counter_prefetch(const struct analysis_counter *t, struct heap_text_hash hash)
{
	if (t->slots)
		prefetch_read((const struct slot *)t->table.data + (hash.low & (t->slots - 1)));
}

void analysis_counter_prefetch_entry(const struct analysis_counter *t, struct heap_text_hash hash)
{
	const struct slot *slots = t->table.data;
	uint64_t at = hash.low & (t->slots - 1);

	if (!t->slots)
		return;
	while (slots[at].number && slots[at].tag != tag_of(hash))
		at = (at + 1) & (t->slots - 1);
	if (slots[at].number)
		prefetch_write(entry_at(t, slots[at].number - 1));
}

/* Adds the slot of an entry whose hash is not in the table. */
static void put_slot(struct analysis_counter *t, struct heap_text_hash hash, uint64_t number)
{
	struct slot *slots = t->table.data;
	uint64_t at = hash.low & (t->slots - 1);

	while (slots[at].number)
		at = (at + 1) & (t->slots - 1);
	slots[at] = (struct slot){ .number = (uint32_t)number + 1, .tag = tag_of(hash) };
}

static int grow(struct analysis_counter *t, struct hdb_error *err)
{
	const uint64_t slots = t->slots ? t->slots * 2 : FIRST_SLOTS;
	struct base_big table = { 0 };

	/*
	 * The old table is freed first. It is not needed, because the entries contain all
	 * information, and the budget may not suffice for both tables.
	 */
	base_big_free(&t->table);
	t->slots = 0;
	TRY(base_big_alloc(t->session->work, &table, slots * sizeof(struct slot), t->what, err));
	t->table = table;
	t->slots = slots;
	for (uint64_t i = 0; i < t->used; i++) {
		const uint64_t ahead = i + ANALYSIS_COUNTER_AHEAD;

		if (ahead < t->used)
			analysis_counter_prefetch(t, entry_at(t, ahead)->hash);
		put_slot(t, entry_at(t, i)->hash, i);
	}
	return HDB_OK;
}

/* Adds an entry. Allocates a new piece if the last one is full. */
static int new_entry(struct analysis_counter *t, struct analysis_counter_head **out,
		     struct hdb_error *err)
{
	uint64_t at;
	const unsigned k = piece_of(t->used, &at);

	if (!at)
		TRY(base_big_alloc(t->session->work, &t->pieces[k],
				   ((uint64_t)FIRST_PIECE << k) * t->entry_bytes, t->what, err));
	*out = entry_at(t, t->used++);
	return HDB_OK;
}

int analysis_counter_add(struct analysis_counter *tally, struct heap_text_hash hash, uint32_t ix,
			 void **entry, struct hdb_error *err)
{
	struct analysis_counter_head *head = NULL;
	struct slot *slot;

	assert(tally->entry_bytes >= sizeof(struct analysis_counter_head));
	if (tally->used >= tally->slots / 4 * 3)
		TRY(grow(tally, err));
	slot = find_slot(tally, hash);
	if (slot->number) {
		head = entry_at(tally, slot->number - 1);
	} else {
		TRY(new_entry(tally, &head, err));
		*slot = (struct slot){ .number = (uint32_t)tally->used, .tag = tag_of(hash) };
		head->hash = hash;
		head->first_ix = ix;
	}
	head->count++;
	*entry = head;
	return HDB_OK;
}

/* ---- order ---- */

struct counted {
	uint64_t count;
	uint32_t number;
};

BASE_ORDER(compare_counted, struct counted, BASE_DOWN(count), BASE_UP(number))

/* Writes the entries with large counts to the beginning of the order, highest count first. */
static int order_large(const struct analysis_counter *t, uint64_t large, uint32_t *order,
		       struct hdb_error *err)
{
	struct counted *counted;
	uint64_t n = 0;

	if (!large)
		return HDB_OK;
	TRY(BASE_ALLOC(counted, large, t->what, err));
	for (uint64_t i = 0; i < t->used && n < large; i++) {
		const struct analysis_counter_head *head = entry_at(t, i);

		if (head->count > SMALL_COUNTS)
			counted[n++] = (struct counted){ head->count, (uint32_t)i };
	}
	if (n)
		qsort(counted, n, sizeof(*counted), compare_counted);
	for (uint64_t i = 0; i < n; i++)
		order[i] = counted[i].number;
	free(counted);
	return HDB_OK;
}

int analysis_counter_order(struct analysis_counter *t, uint64_t min_count, uint64_t *kept,
			   struct hdb_error *err)
{
	uint64_t first[SMALL_COUNTS + 1] = { 0 }, at = 0, large = 0;
	uint32_t *order;
	int r;

	assert(min_count > 0);
	*kept = 0;
	TRY(base_big_alloc_raw(t->session->work, &t->order, (t->used + 1) * sizeof(*order), t->what,
			       err));
	order = t->order.data;
	for (uint64_t i = 0; i < t->used; i++) {
		const uint64_t count = entry_at(t, i)->count;

		if (count > SMALL_COUNTS)
			large++;
		else
			first[count]++;
	}
	r = order_large(t, large, order, err);
	/*
	 * Computes where the entries of each small count begin. Entries are then written in the
	 * order of their first objects, so the sort is stable.
	 */
	at = large;
	for (uint64_t count = SMALL_COUNTS; count; count--) {
		const uint64_t n = first[count];

		first[count] = at;
		at += n;
	}
	TRY(r);
	for (uint64_t i = 0; i < t->used; i++) {
		const uint64_t count = entry_at(t, i)->count;

		if (count <= SMALL_COUNTS)
			order[first[count]++] = (uint32_t)i;
	}
	while (*kept < t->used && entry_at(t, order[*kept])->count >= min_count)
		++*kept;
	return r;
}

const void *analysis_counter_at(const struct analysis_counter *tally, uint64_t i)
{
	assert(i < tally->used);
	return entry_at(tally, ((const uint32_t *)tally->order.data)[i]);
}

void analysis_counter_release(struct analysis_counter *tally)
{
	if (!tally->session)
		return;
	for (unsigned k = 0; k < ANALYSIS_COUNTER_PIECES; k++)
		base_big_free(&tally->pieces[k]);
	base_big_free(&tally->table);
	base_big_free(&tally->order);
}
