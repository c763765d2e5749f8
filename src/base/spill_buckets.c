/*
 * base/spill_buckets.c - piles as chains of chunks in memory and in a scratch file.
 */
#include "base/spill_buckets.h"

#include <assert.h>
#include <stdlib.h>

/* Memory is taken in pieces of this while there is room for all: few enough to keep a list of. */
#define SLAB_BYTES ((uint64_t)4 << 20)

/* And in these for chunks that must be in memory; never in a file (base/work.h: small arrays). */
#define SMALL_SLAB_BYTES ((uint64_t)512 << 10)

/* Chunks of a pile that are asked for before they are read. */
#define CHUNKS_AHEAD 16u

/* Bytes that a record may take. */
#define RECORD_BYTES_MAX (BASE_BUCKET_FIELDS * VARINT_MAX)

static_assert(RECORD_BYTES_MAX < GRAPH_CHUNK_MIN, "a chunk has room for a record");

int base_buckets_init(struct base_buckets *piles, uint32_t pile_count, uint64_t chunks_bytes,
		      uint64_t kept_bytes, struct base_work *work, const char *what,
		      struct hdb_error *err)
{
	*piles = (struct base_buckets){
		.work = work,
		.what = what,
		.pile_count = pile_count,
		.kept_bytes = kept_bytes,
		.chunk_bytes = GRAPH_CHUNK_MAX,
		.free_slot = GRAPH_NO_SLOT,
		.free_place = GRAPH_NO_SLOT,
	};
	while (piles->chunk_bytes > GRAPH_CHUNK_MIN &&
	       (uint64_t)piles->chunk_bytes * pile_count > chunks_bytes)
		piles->chunk_bytes /= 2;
	piles->full = piles->chunk_bytes - RECORD_BYTES_MAX;
	piles->pile = calloc((size_t)pile_count + 1, sizeof *piles->pile);
	if (!piles->pile)
		return hdb_fail_memory(err, what, pile_count * sizeof *piles->pile);
	for (uint32_t i = 0; i < pile_count; i++) {
		piles->pile[i].used = UINT32_MAX;
		piles->pile[i].first = piles->pile[i].last = GRAPH_NO_SLOT;
	}
	return HDB_OK;
}

static struct base_bucket_slot *slot_at(const struct base_buckets *piles, uint32_t slot)
{
	return base_vec_at(&piles->slots, struct base_bucket_slot, slot);
}

static struct base_bucket_slab *slab_at(const struct base_buckets *piles, uint64_t slab)
{
	return base_vec_at(&piles->slabs, struct base_bucket_slab, slab);
}

void base_buckets_release(struct base_buckets *piles)
{
	for (size_t i = 0; i < piles->slabs.count; i++)
		base_big_free(piles->work, &slab_at(piles, i)->big);
	if (piles->has_small_slabs)
		base_heap_trim();
	base_vec_release(&piles->slabs);
	base_vec_release(&piles->slots);
	base_spill_close(&piles->spill);
	free(piles->pile);
	*piles = (struct base_buckets){ 0 };
}

/* More chunks in memory, on the list of free ones. */
static int add_slab(struct base_buckets *piles, uint64_t bytes, struct hdb_error *err)
{
	struct base_bucket_slab slab = { 0 };
	const size_t count = (size_t)(bytes / piles->chunk_bytes);
	int rc = base_vec_reserve(&piles->slots, count, sizeof(struct base_bucket_slot), err);

	if (rc == HDB_OK)
		rc = base_vec_reserve(&piles->slabs, 1, sizeof slab, err);
	if (rc == HDB_OK)
		rc = base_big_alloc_raw(piles->work, &slab.big, bytes, piles->what, err);
	if (rc < 0)
		return rc;
	if (piles->slots.count + count >= GRAPH_NO_SLOT) {
		base_big_free(piles->work, &slab.big);
		return hdb_fail(err, HDB_ELIMIT, "%s: too large", piles->what);
	}
	for (size_t i = count; i-- > 0;) {
		const uint32_t no = (uint32_t)(piles->slots.count + i);

		*slot_at(piles, no) = (struct base_bucket_slot){
			.data = (uint8_t *)slab.big.data + i * piles->chunk_bytes,
			.place = piles->slabs.count,
			.next = piles->free_slot,
		};
		piles->free_slot = no;
	}
	piles->slots.count += count;
	return base_vec_push(&piles->slabs, &slab, sizeof slab, err);
}

/* Forgets free chunks of slabs that were given back. */
static void skip_freed(struct base_buckets *piles)
{
	while (piles->free_slot != GRAPH_NO_SLOT &&
	       !slab_at(piles, slot_at(piles, piles->free_slot)->place)->big.data)
		piles->free_slot = slot_at(piles, piles->free_slot)->next;
}

/*
 * Whether one more chunk may stay in memory; there is a free one then. Where the budget is used up,
 * free chunks are for piles that have none: a pile that must have one takes many with it.
 */
static int has_chunk(struct base_buckets *piles, bool has_none, bool *has, struct hdb_error *err)
{
	const uint64_t room = piles->work->scratch_dir ? base_work_room(piles->work) : UINT64_MAX;

	skip_freed(piles);
	*has = piles->free_slot != GRAPH_NO_SLOT && (has_none || room > piles->kept_bytes);
	if (*has || room < SLAB_BYTES + piles->kept_bytes)
		return HDB_OK;
	*has = true;
	return add_slab(piles, SLAB_BYTES, err);
}

static int take_chunk(struct base_buckets *piles, struct base_bucket *pile, struct hdb_error *err)
{
	struct base_bucket_slot *slot;
	bool has;
	int rc = has_chunk(piles, true, &has, err);

	if (rc == HDB_OK && !has) {
		piles->has_small_slabs = true;
		rc = add_slab(piles, SMALL_SLAB_BYTES, err);
	}
	if (rc < 0)
		return rc;
	slot = slot_at(piles, piles->free_slot);
	pile->slot = piles->free_slot;
	piles->free_slot = slot->next;
	pile->chunk = slot->data;
	pile->used = 0;
	slab_at(piles, slot->place)->live++;
	return HDB_OK;
}

/* Puts a full chunk's slot at the end of its pile's list. */
static void append_slot(struct base_buckets *piles, struct base_bucket *pile, uint32_t no)
{
	slot_at(piles, no)->next = GRAPH_NO_SLOT;
	slot_at(piles, no)->used = pile->used;
	if (pile->last == GRAPH_NO_SLOT)
		pile->first = no;
	else
		slot_at(piles, pile->last)->next = no;
	pile->last = no;
}

/* Writes the pile's chunk to the file. */
static int spill_chunk(struct base_buckets *piles, struct base_bucket *pile, struct hdb_error *err)
{
	uint32_t no = piles->free_place;
	int rc = HDB_OK;

	if (no != GRAPH_NO_SLOT) {
		piles->free_place = slot_at(piles, no)->next;
	} else {
		const struct base_bucket_slot slot = { .place = piles->place_count++ };

		no = (uint32_t)piles->slots.count;
		if (no == GRAPH_NO_SLOT)
			return hdb_fail(err, HDB_ELIMIT, "%s: too large", piles->what);
		rc = base_vec_push(&piles->slots, &slot, sizeof slot, err);
	}
	if (rc == HDB_OK)
		rc = base_spill_write(&piles->spill, piles->work,
				      slot_at(piles, no)->place * piles->chunk_bytes, pile->chunk,
				      pile->used, err);
	if (rc == HDB_OK)
		append_slot(piles, pile, no);
	pile->used = 0;
	return rc;
}

int base_buckets_turn(struct base_buckets *piles, struct base_bucket *pile, struct hdb_error *err)
{
	bool has;
	int rc;

	if (!pile->chunk)
		return take_chunk(piles, pile, err);
	rc = has_chunk(piles, false, &has, err);
	if (rc < 0)
		return rc;
	if (!has)
		return spill_chunk(piles, pile, err);
	append_slot(piles, pile, pile->slot);
	return take_chunk(piles, pile, err);
}

/* ---- reading ---- */

int base_bucket_begin(const struct base_buckets *piles, uint32_t pile_no,
		      struct base_bucket_reader *reader, struct hdb_error *err)
{
	assert(pile_no < piles->pile_count);
	*reader = (struct base_bucket_reader){ .piles = piles, .pile = &piles->pile[pile_no] };
	reader->next = reader->ahead = reader->pile->first;
	if (!piles->spill.is_open)
		return HDB_OK;
	reader->buffer = malloc(piles->chunk_bytes);
	return reader->buffer ? HDB_OK : hdb_fail_memory(err, piles->what, piles->chunk_bytes);
}

void base_bucket_end(struct base_bucket_reader *reader)
{
	free(reader->buffer);
	*reader = (struct base_bucket_reader){ 0 };
}

/* Asks for one more chunk of those that follow `no`; returns the slot after it. */
static uint32_t ask(const struct base_buckets *piles, uint32_t no)
{
	const struct base_bucket_slot *slot = slot_at(piles, no);

	if (!slot->data)
		base_spill_soon(&piles->spill, slot->place * piles->chunk_bytes, slot->used);
	return slot->next;
}

/* Keeps some chunks on their way. */
static void look_ahead(struct base_bucket_reader *reader)
{
	while (reader->ahead_count < CHUNKS_AHEAD && reader->ahead != GRAPH_NO_SLOT) {
		reader->ahead = ask(reader->piles, reader->ahead);
		reader->ahead_count++;
	}
	reader->ahead_count--;
}

int base_bucket_more(struct base_bucket_reader *reader, struct hdb_error *err)
{
	const struct base_buckets *piles = reader->piles;
	const struct base_bucket *pile = reader->pile;
	const struct base_bucket_slot *slot;

	if (reader->next == GRAPH_NO_SLOT) {
		if (reader->is_at_last || !pile->chunk || !pile->used)
			return HDB_END;
		reader->is_at_last = true;
		reader->at = pile->chunk;
		reader->end = pile->chunk + pile->used;
		return HDB_OK;
	}
	if (reader->buffer)
		look_ahead(reader);
	slot = slot_at(piles, reader->next);
	reader->next = slot->next;
	reader->at = slot->data;
	if (!slot->data) {
		const int rc = base_spill_read(&piles->spill, slot->place * piles->chunk_bytes,
					       reader->buffer, slot->used, err);
		if (rc < 0)
			return rc;
		reader->at = reader->buffer;
	}
	reader->end = reader->at + slot->used;
	return HDB_OK;
}

void base_bucket_soon(const struct base_buckets *piles, uint32_t pile_no)
{
	uint32_t no = piles->pile[pile_no].first;

	for (unsigned i = 0; i < CHUNKS_AHEAD && no != GRAPH_NO_SLOT; i++)
		no = ask(piles, no);
}

static void free_slot(struct base_buckets *piles, uint32_t no)
{
	struct base_bucket_slot *slot = slot_at(piles, no);
	uint32_t *list = slot->data ? &piles->free_slot : &piles->free_place;

	slot->next = *list;
	*list = no;
	assert(!slot->data || slab_at(piles, slot->place)->live > 0);
	if (slot->data && --slab_at(piles, slot->place)->live == 0)
		base_big_free(piles->work, &slab_at(piles, slot->place)->big);
}

void base_bucket_drop(struct base_buckets *piles, uint32_t pile_no)
{
	struct base_bucket *pile = &piles->pile[pile_no];

	assert(pile_no < piles->pile_count);
	for (uint32_t no = pile->first, next; no != GRAPH_NO_SLOT; no = next) {
		next = slot_at(piles, no)->next;
		free_slot(piles, no);
	}
	if (pile->chunk)
		free_slot(piles, pile->slot);
	*pile = (struct base_bucket){
		.used = UINT32_MAX,
		.first = GRAPH_NO_SLOT,
		.last = GRAPH_NO_SLOT,
	};
}

/* Follows a list of slots to its end, and adds its length to *seen. */
static void check_list(const struct base_buckets *piles, uint32_t first, uint64_t *seen)
{
	for (uint32_t no = first; no != GRAPH_NO_SLOT; no = slot_at(piles, no)->next) {
		assert(no < piles->slots.count);
		++*seen;
		assert(*seen <= piles->slots.count);
	}
}

void base_buckets_check(const struct base_buckets *piles)
{
	uint64_t seen = 0, being_filled = 0;

	assert(piles->chunk_bytes >= GRAPH_CHUNK_MIN && piles->chunk_bytes <= GRAPH_CHUNK_MAX);
	assert(piles->full + RECORD_BYTES_MAX == piles->chunk_bytes);
	base_vec_check(&piles->slots);
	base_vec_check(&piles->slabs);
	for (uint32_t i = 0; i < piles->pile_count; i++) {
		const struct base_bucket *pile = &piles->pile[i];

		assert((pile->first == GRAPH_NO_SLOT) == (pile->last == GRAPH_NO_SLOT));
		assert(!pile->chunk || pile->used <= piles->chunk_bytes);
		assert(pile->chunk || pile->used == UINT32_MAX);
		being_filled += pile->chunk != NULL;
		check_list(piles, pile->first, &seen);
	}
	check_list(piles, piles->free_place, &seen);
	assert(seen + being_filled <= piles->slots.count);
}
