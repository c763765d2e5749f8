/* base/spill_buckets.c - buckets as chains of chunks, in memory and in a scratch file. */
#include "base/spill_buckets.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Size of the slabs in which memory is allocated while the budget allows it. It is large enough
 * that few slabs are needed.
 */
#define SLAB_BYTES ((uint64_t)4 << 20)

/*
 * Size of slabs for chunks that must be in memory. Arrays of this size never go to a file
 * (base/work.h).
 */
#define SMALL_SLAB_BYTES ((uint64_t)512 << 10)

/* Number of chunks of a bucket that are prefetched before they are read. */
#define CHUNKS_AHEAD 16u

/* Maximum size of a record in bytes. */
#define RECORD_BYTES_MAX (BASE_BUCKET_FIELDS * VARINT_MAX)

static_assert(RECORD_BYTES_MAX < GRAPH_CHUNK_MIN, "a chunk has room for a record");

int base_buckets_init(struct base_buckets *buckets, const struct base_buckets_plan *plan,
		      struct base_work *work, struct hdb_error *err)
{
	*buckets = (struct base_buckets){
		.work = work,
		.what = plan->what,
		.bucket_count = plan->bucket_count,
		.kept_bytes = plan->kept_bytes,
		.spill.work = work,
		.chunk_bytes = GRAPH_CHUNK_MAX,
		.free_slot = GRAPH_NO_SLOT,
		.free_place = GRAPH_NO_SLOT,
	};
	while (buckets->chunk_bytes > GRAPH_CHUNK_MIN &&
	       (uint64_t)buckets->chunk_bytes * plan->bucket_count > plan->chunks_bytes)
		buckets->chunk_bytes /= 2;
	buckets->full = buckets->chunk_bytes - RECORD_BYTES_MAX;
	TRY(BASE_ALLOC(buckets->bucket, plan->bucket_count, plan->what, err));
	for (uint32_t i = 0; i < plan->bucket_count; i++) {
		buckets->bucket[i].used = UINT32_MAX;
		buckets->bucket[i].first = buckets->bucket[i].last = GRAPH_NO_SLOT;
	}
	return HDB_OK;
}

static struct base_bucket_slot *slot_at(const struct base_buckets *buckets, uint32_t slot)
{
	return base_vec_at(&buckets->slots, struct base_bucket_slot, slot);
}

static struct base_bucket_slab *slab_at(const struct base_buckets *buckets, uint64_t slab)
{
	return base_vec_at(&buckets->slabs, struct base_bucket_slab, slab);
}

void base_buckets_release(struct base_buckets *buckets)
{
	for (size_t i = 0; i < buckets->slabs.count; i++)
		base_big_free(&slab_at(buckets, i)->big);
	if (buckets->has_small_slabs)
		base_heap_trim(buckets->work);
	base_vec_release(&buckets->slabs);
	base_vec_release(&buckets->slots);
	base_spill_close(&buckets->spill);
	free(buckets->bucket);
	*buckets = (struct base_buckets){ 0 };
}

/* Adds a slab and puts its chunks on the free list. */
static int add_slab(struct base_buckets *buckets, uint64_t bytes, struct hdb_error *err)
{
	struct base_bucket_slab slab = { 0 };
	const size_t count = (size_t)(bytes / buckets->chunk_bytes);

	TRY(base_vec_reserve(&buckets->slots, count, sizeof(struct base_bucket_slot), err));
	TRY(base_vec_reserve(&buckets->slabs, 1, sizeof slab, err));
	TRY(base_big_alloc_raw(buckets->work, &slab.big, bytes, buckets->what, err));

	if (buckets->slots.count + count >= GRAPH_NO_SLOT) {
		base_big_free(&slab.big);
		return hdb_fail(err, HDB_ELIMIT, "too many blocks of memory for %s (limit %u)",
				buckets->what, GRAPH_NO_SLOT);
	}
	for (size_t i = count; i-- > 0;) {
		const uint32_t no = (uint32_t)(buckets->slots.count + i);

		*slot_at(buckets, no) = (struct base_bucket_slot){
			.data = (uint8_t *)slab.big.data + i * buckets->chunk_bytes,
			.place = buckets->slabs.count,
			.next = buckets->free_slot,
		};
		buckets->free_slot = no;
	}
	buckets->slots.count += count;
	return base_vec_push(&buckets->slabs, &slab, sizeof slab, err);
}

/* Removes chunks of released slabs from the free list. */
static void skip_freed(struct base_buckets *buckets)
{
	while (buckets->free_slot != GRAPH_NO_SLOT &&
	       !slab_at(buckets, slot_at(buckets, buckets->free_slot)->place)->big.data)
		buckets->free_slot = slot_at(buckets, buckets->free_slot)->next;
}

/*
 * Sets *has to whether one more chunk may stay in memory. If so, the free list has a chunk. Once
 * the budget is exhausted, free chunks are reserved for buckets without a chunk. A slab allocated
 * for such a bucket provides many free chunks.
 */
static int has_chunk(struct base_buckets *buckets, bool has_none, bool *has, struct hdb_error *err)
{
	const uint64_t room =
		buckets->work->scratch_dir ? base_work_room(buckets->work) : UINT64_MAX;

	skip_freed(buckets);
	*has = buckets->free_slot != GRAPH_NO_SLOT && (has_none || room > buckets->kept_bytes);
	if (*has || room < SLAB_BYTES + buckets->kept_bytes)
		return HDB_OK;
	*has = true;
	return add_slab(buckets, SLAB_BYTES, err);
}

static int take_chunk(struct base_buckets *buckets, struct base_bucket *bucket,
		      struct hdb_error *err)
{
	struct base_bucket_slot *slot;
	bool has;

	TRY(has_chunk(buckets, true, &has, err));
	if (!has) {
		buckets->has_small_slabs = true;
		TRY(add_slab(buckets, SMALL_SLAB_BYTES, err));
	}

	slot = slot_at(buckets, buckets->free_slot);
	bucket->slot = buckets->free_slot;
	buckets->free_slot = slot->next;
	bucket->chunk = slot->data;
	bucket->used = 0;
	slab_at(buckets, slot->place)->live++;
	return HDB_OK;
}

/* Appends a full chunk to its bucket's list. */
static void append_slot(struct base_buckets *buckets, struct base_bucket *bucket, uint32_t no)
{
	slot_at(buckets, no)->next = GRAPH_NO_SLOT;
	slot_at(buckets, no)->used = bucket->used;
	if (bucket->last == GRAPH_NO_SLOT)
		bucket->first = no;
	else
		slot_at(buckets, bucket->last)->next = no;
	bucket->last = no;
}

/* Writes the chunk of a bucket to the file. */
static int spill_chunk(struct base_buckets *buckets, struct base_bucket *bucket,
		       struct hdb_error *err)
{
	uint32_t no = buckets->free_place;

	if (no != GRAPH_NO_SLOT) {
		buckets->free_place = slot_at(buckets, no)->next;
	} else {
		const struct base_bucket_slot slot = { .place = buckets->place_count++ };

		no = (uint32_t)buckets->slots.count;
		if (no == GRAPH_NO_SLOT)
			return hdb_fail(err, HDB_ELIMIT, "too many chunks for %s", buckets->what);
		TRY(base_vec_push(&buckets->slots, &slot, sizeof slot, err));
	}
	TRY(base_spill_write(&buckets->spill, slot_at(buckets, no)->place * buckets->chunk_bytes,
			     bucket->chunk, bucket->used, err));
	append_slot(buckets, bucket, no);
	bucket->used = 0;
	return HDB_OK;
}

int base_buckets_turn(struct base_buckets *buckets, struct base_bucket *bucket,
		      struct hdb_error *err)
{
	bool has;

	if (!bucket->chunk)
		return take_chunk(buckets, bucket, err);
	TRY(has_chunk(buckets, false, &has, err));
	if (!has)
		return spill_chunk(buckets, bucket, err);
	append_slot(buckets, bucket, bucket->slot);
	return take_chunk(buckets, bucket, err);
}

/* ---- reading ---- */

int base_bucket_begin(const struct base_buckets *buckets, uint32_t bucket_no,
		      struct base_bucket_reader *reader, struct hdb_error *err)
{
	assert(bucket_no < buckets->bucket_count);
	*reader = (struct base_bucket_reader){ .buckets = buckets,
					       .bucket = &buckets->bucket[bucket_no] };
	reader->next = reader->ahead = reader->bucket->first;
	if (!buckets->spill.is_open)
		return HDB_OK;
	return BASE_ALLOC(reader->buffer, buckets->chunk_bytes, buckets->what, err);
}

void base_bucket_end(struct base_bucket_reader *reader)
{
	free(reader->buffer);
	*reader = (struct base_bucket_reader){ 0 };
}

/*
 * Prefetches the chunk at `no` if it is in the file. Returns the slot that follows it in the
 * bucket.
 */
static uint32_t prefetch_chunk(const struct base_buckets *buckets, uint32_t no)
{
	const struct base_bucket_slot *slot = slot_at(buckets, no);

	if (!slot->data)
		base_spill_prefetch(&buckets->spill, slot->place * buckets->chunk_bytes,
				    slot->used);
	return slot->next;
}

/* Keeps some chunks prefetched. */
static void look_ahead(struct base_bucket_reader *reader)
{
	while (reader->ahead_count < CHUNKS_AHEAD && reader->ahead != GRAPH_NO_SLOT) {
		reader->ahead = prefetch_chunk(reader->buckets, reader->ahead);
		reader->ahead_count++;
	}
	reader->ahead_count--;
}

int base_bucket_more(struct base_bucket_reader *reader, struct hdb_error *err)
{
	const struct base_buckets *buckets = reader->buckets;
	const struct base_bucket *bucket = reader->bucket;
	const struct base_bucket_slot *slot;

	if (reader->next == GRAPH_NO_SLOT) {
		if (reader->is_at_last || !bucket->chunk || !bucket->used)
			return HDB_END;
		reader->is_at_last = true;
		reader->at = bucket->chunk;
		reader->end = bucket->chunk + bucket->used;
		return HDB_OK;
	}
	if (reader->buffer)
		look_ahead(reader);
	slot = slot_at(buckets, reader->next);
	reader->next = slot->next;
	reader->at = slot->data;
	if (!slot->data) {
		TRY(base_spill_read(&buckets->spill, slot->place * buckets->chunk_bytes,
				    reader->buffer, slot->used, err));
		reader->at = reader->buffer;
	}
	reader->end = reader->at + slot->used;
	return HDB_OK;
}

static void free_slot(struct base_buckets *buckets, uint32_t no)
{
	struct base_bucket_slot *slot = slot_at(buckets, no);
	uint32_t *list = slot->data ? &buckets->free_slot : &buckets->free_place;

	slot->next = *list;
	*list = no;
	assert(!slot->data || slab_at(buckets, slot->place)->live > 0);
	if (slot->data && --slab_at(buckets, slot->place)->live == 0)
		base_big_free(&slab_at(buckets, slot->place)->big);
}

void base_bucket_drop(struct base_buckets *buckets, uint32_t bucket_no)
{
	struct base_bucket *bucket = &buckets->bucket[bucket_no];

	assert(bucket_no < buckets->bucket_count);
	for (uint32_t no = bucket->first, next; no != GRAPH_NO_SLOT; no = next) {
		next = slot_at(buckets, no)->next;
		free_slot(buckets, no);
	}
	if (bucket->chunk)
		free_slot(buckets, bucket->slot);
	*bucket = (struct base_bucket){
		.used = UINT32_MAX,
		.first = GRAPH_NO_SLOT,
		.last = GRAPH_NO_SLOT,
	};
}
