/*
 * store/lists.c - tables of adjacency lists.
 *
 * A block consists of a u32 offset for each group of 32 lists, relative to the block's start,
 * followed by the lists. A list begins with a varint of 2 x length, plus 1 for a big list, whose
 * entries are in the other table. Each entry follows as a zigzag varint of its difference from the
 * previous entry. The first entry is relative to the list's own object.
 */
#include "store/lists.h"

#include "base/processor.h"
#include "store/lists_put.h"

#include <assert.h>

int store_lists_open(struct store_lists_writer *w, struct base_vec *out, uint32_t first_ix,
		     uint32_t count, struct hdb_error *err)
{
	const size_t groups = ((size_t)count + STORE_LIST_GROUP - 1) / STORE_LIST_GROUP;

	assert(count <= STORE_BLOCK_OBJECTS);
	TRY(base_vec_reserve(out, groups * 4, 1, err));
	*w = (struct store_lists_writer){ .out = out, .start = out->count, .first_ix = first_ix };
	out->count += groups * 4;
	return HDB_OK;
}

int store_lists_begin_group(struct store_lists_writer *w, struct hdb_error *err)
{
	const size_t at = w->out->count - w->start;

	assert(w->start <= w->out->count);
	assert(w->count % STORE_LIST_GROUP == 0);
	if (at > UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT, "a block of lists is larger than 4 GiB");
	store32((uint8_t *)w->out->data + w->start + (size_t)(w->count / STORE_LIST_GROUP) * 4,
		(uint32_t)at);
	return HDB_OK;
}

int store_lists_encode(struct base_vec *out, const struct store_lists_rows *rows,
		       struct hdb_error *err)
{
	const uint64_t *first = rows->first, *lengths = rows->lengths;
	struct store_lists_writer w;

	TRY(store_lists_open(&w, out, rows->first_ix, rows->count, err));
	for (uint32_t i = 0; i < rows->count; i++) {
		const uint64_t n = lengths ? lengths[i] : first[i + 1] - first[i];

		/*
		 * The entries of a big list are stored elsewhere. A block in which all lists are
		 * empty has no entries.
		 */
		TRY(store_lists_add(&w, n && n <= STORE_LIST_BIG ? rows->target + first[i] : NULL,
				    n, err));
	}
	return HDB_OK;
}

/*
 * Returns the key of a part: u32 ix, u32 part. The parts of an object's list have consecutive keys.
 */
static uint64_t part_key(uint32_t ix, uint32_t part)
{
	return (uint64_t)ix << 32 | part;
}

int store_lists_put_part(struct store_writer *writer, const struct store_big_list *list,
			 uint32_t part, struct hdb_error *err)
{
	struct store_block block = { .key = part_key(list->ix, part),
				     .item_count = (uint32_t)list->count };
	BASE_SCOPED(base_vec_release) struct base_vec bytes = { 0 };

	assert(list->count <= STORE_LIST_PART);
	TRY(base_vec_reserve(&bytes, (size_t)list->count * STORE_ENTRY_MAX + STORE_ENTRY_PAD, 1,
			     err));
	block.data = bytes.data;
	block.size = (uint64_t)(store_put_entries(bytes.data, list->ix, list->target, list->count) -
				block.data);
	return store_put(writer, list->table, &block, err);
}

int store_lists_put_big(struct store_writer *writer, const struct store_big_list *list,
			struct hdb_error *err)
{
	struct store_big_list part = *list;
	uint64_t left = list->count;

	assert(list->count > STORE_LIST_BIG);
	for (uint32_t no = 0; left; no++) {
		part.count = left < STORE_LIST_PART ? left : STORE_LIST_PART;
		TRY(store_lists_put_part(writer, &part, no, err));
		part.target += part.count;
		left -= part.count;
	}
	return HDB_OK;
}

/* ---- reading ---- */

static int damaged(struct store_lists *lists, const char *what, struct hdb_error *err)
{
	return store_damaged(lists->store, lists->table, lists->block.key, what, err);
}

/* Returns whether the block is large enough for the offsets of its groups. */
static bool block_is_sound(const struct store_block *block)
{
	return block->item_count <= STORE_BLOCK_OBJECTS &&
	       block->size >=
		       (uint64_t)((block->item_count + STORE_LIST_GROUP - 1) / STORE_LIST_GROUP) *
			       4;
}

static int open_block(struct store_lists *lists, uint32_t first_ix, struct hdb_error *err)
{
	const uint64_t generation = store_generation(lists->store);

	assert(first_ix % STORE_BLOCK_OBJECTS == 0);
	if (lists->has_block && lists->block.key == first_ix && lists->generation == generation)
		return HDB_OK;
	lists->has_block = false;
	lists->block.key = first_ix;
	TRY(store_need_block(lists->store, lists->table, first_ix, &lists->block, err));
	if (!block_is_sound(&lists->block))
		return damaged(lists, "impossible size", err);
	lists->has_block = true;
	lists->generation = generation;
	return HDB_OK;
}

/*
 * Returns the start of a group of lists. Returns NULL if the start is outside the block, which is
 * possible in a damaged block.
 */
static const uint8_t *group_start(const struct store_block *block, uint32_t group)
{
	const uint32_t at = load32(block->data + (uint64_t)group * 4);

	assert(group * STORE_LIST_GROUP < block->item_count);
	return at <= block->size ? block->data + at : NULL;
}

/* Returns the high bits of the bytes below 0x80 among eight bytes. Each such byte ends a varint. */
static inline uint64_t varint_ends(uint64_t bytes)
{
	return ~bytes & 0x8080808080808080ull;
}

/* Skips n entries, eight bytes at a time. */
static const uint8_t *skip_entries(const uint8_t *p, const uint8_t *end, uint64_t n)
{
	while (n && end - p >= 8) {
		uint64_t ends = varint_ends(load64(p));
		const uint64_t count = (ends >> 7) * 0x0101010101010101ull >> 56;

		if (count >= n) {
			while (--n)
				ends &= ends - 1;
			return p + __builtin_ctzll(ends) / 8 + 1;
		}
		n -= count;
		p += 8;
	}
	while (n && p < end)
		n -= *p++ < 0x80;
	return n ? NULL : p;
}

/*
 * Reads a number like get_varint, but without branches for numbers below 2^35, because the lengths
 * of varints are unpredictable.
 */
static inline const uint8_t *get_number(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t bytes, ends;

	if (end - p < 8)
		return get_varint(p, end, v);
	bytes = load64(p);
	ends = varint_ends(bytes);
	if (!(ends & 0x8080808080))
		return get_varint(p, end, v);
	bytes &= ends ^ (ends - 1);
	*v = (bytes & 0x7f) | (bytes >> 1 & 0x3f80) | (bytes >> 2 & 0x1fc000) |
	     (bytes >> 3 & 0xfe00000) | (bytes >> 4 & 0x7f0000000);
	return p + __builtin_ctzll(ends) / 8 + 1;
}

int store_lists_begin(struct store_lists *lists, uint32_t ix, uint64_t *length,
		      struct hdb_error *err)
{
	const uint32_t i = ix % STORE_BLOCK_OBJECTS;
	uint32_t k = i / STORE_LIST_GROUP * STORE_LIST_GROUP;
	const uint8_t *p, *end;
	uint64_t head = 0;

	TRY(open_block(lists, ix - i, err));
	if (i >= lists->block.item_count)
		return damaged(lists, "list missing", err);
	p = group_start(&lists->block, i / STORE_LIST_GROUP);
	end = lists->block.data + lists->block.size;
	/*
	 * After a list has been read to its end, the position is at the next list of the group, so
	 * reading lists in order takes linear time.
	 */
	if (k < i && ix == lists->ix + 1 && !lists->left && !lists->is_big && lists->end == end) {
		k = i;
		p = lists->at;
	}
	for (; p && k <= i; k++) {
		p = get_varint(p, end, &head);
		if (p && k < i && !(head & 1))
			p = skip_entries(p, end, head >> 1);
	}
	if (!p)
		return damaged(lists, "list runs past its block", err);
	lists->ix = ix;
	lists->at = p;
	lists->end = end;
	lists->left = head >> 1;
	lists->is_big = head & 1;
	lists->part = 0;
	lists->previous = ix;
	if (lists->is_big)
		lists->at = lists->end;
	if (length)
		*length = lists->left;
	return HDB_OK;
}

static int next_part(struct store_lists *lists, struct hdb_error *err)
{
	struct store_block block;

	TRY(store_need_block(lists->store, lists->big_table, part_key(lists->ix, lists->part),
			     &block, err));
	lists->part++;
	lists->at = block.data;
	lists->end = block.data + block.size;
	lists->previous = lists->ix;
	return HDB_OK;
}

/* State of decoding entries. */
struct entries {
	const uint8_t *at, *end;
	uint32_t previous; /* the last entry or, at first, the list's own object */
	uint32_t ix_count; /* upper bound of all entries */
};

/* Decodes the next n entries to `out`. Returns false if they are invalid. */
typedef bool entries_decoder(struct entries *entries, uint64_t n, uint32_t *out);

/* Decodes one entry, the difference v from `last`. Returns false if it is out of range. */
static inline bool follow(uint32_t ix_count, uint32_t last, uint64_t v, uint32_t *out)
{
	v = (uint64_t)last + (uint64_t)unzigzag(v);
	*out = (uint32_t)v;
	return v < ix_count;
}

static inline bool decode(struct entries *entries, uint64_t n, uint32_t *out)
{
	const uint8_t *p = entries->at;
	uint32_t last = entries->previous;

	for (uint64_t e = 0; e < n; e++) {
		uint64_t v;

		p = get_number(p, entries->end, &v);
		if (!p || !follow(entries->ix_count, last, v, &last))
			return false;
		out[e] = last;
	}
	entries->at = p;
	entries->previous = last;
	return true;
}

#ifdef __x86_64__
/*
 * Decodes two numbers at a time, using the instruction that compacts bits. Finding the position of
 * the next number is the critical path, so finding two at once takes half the time.
 */
__attribute__((target("bmi,bmi2"))) static inline bool decode_bmi2(struct entries *entries,
								   uint64_t n, uint32_t *out)
{
	const uint64_t groups = 0x7f7f7f7f7f7f7f7f;
	const uint8_t *p = entries->at;
	uint32_t last = entries->previous;
	uint64_t e = 0;

	while (n - e >= 2 && entries->end - p >= 8) {
		const uint64_t bytes = load64(p), ends = varint_ends(bytes);
		const uint64_t second_ends = ends & (ends - 1);
		const uint64_t first = ends ^ (ends - 1), both = second_ends ^ (second_ends - 1);

		if (!second_ends)
			break;
		if (!follow(entries->ix_count, last, __builtin_ia32_pext_di(bytes, first & groups),
			    &last))
			return false;
		out[e++] = last;
		if (!follow(entries->ix_count, last,
			    __builtin_ia32_pext_di(bytes, both & ~first & groups), &last))
			return false;
		out[e++] = last;
		p += __builtin_ctzll(second_ends) / 8 + 1;
	}
	/* the last entry, if the count is odd; its length is unpredictable */
	if (n - e == 1 && entries->end - p >= 8) {
		const uint64_t bytes = load64(p), ends = varint_ends(bytes);

		if (ends) {
			if (!follow(entries->ix_count, last,
				    __builtin_ia32_pext_di(bytes, (ends ^ (ends - 1)) & groups),
				    &last))
				return false;
			out[e++] = last;
			p += __builtin_ctzll(ends) / 8 + 1;
		}
	}
	entries->at = p;
	entries->previous = last;
	return decode(entries, n - e, out + e);
}
#endif

static int next_batch(struct store_lists *lists, uint64_t room, size_t *count,
		      struct hdb_error *err);

/*
 * Finds the current position in the new snapshot. Called if the snapshot has changed since the list
 * was begun.
 */
static int go_back(struct store_lists *lists, struct hdb_error *err)
{
	const uint64_t left = lists->left;
	uint64_t length;
	size_t count = 1;

	TRY(store_lists_begin(lists, lists->ix, &length, err));
	if (length < left)
		return damaged(lists, "list has become shorter", err);
	while (lists->left > left && count)
		TRY(next_batch(lists, lists->left - left, &count, err));
	return HDB_OK;
}

int store_lists_next(struct store_lists *lists, const uint32_t **batch, size_t *count,
		     struct hdb_error *err)
{
	*batch = lists->batch;
	*count = 0;
	if (!lists->left)
		return HDB_OK;
	if (lists->generation != store_generation(lists->store))
		TRY(go_back(lists, err));
	return next_batch(lists, UINT64_MAX, count, err);
}

/* Decodes the next n entries of the current list to `out`. Returns false if they are invalid. */
static bool take_entries(struct store_lists *lists, uint64_t n, uint32_t *out)
{
	struct entries entries = { lists->at, lists->end, lists->previous, lists->ix_count };
	const bool is_sound = decode(&entries, n, out);

	lists->at = entries.at;
	lists->previous = entries.previous;
	return is_sound;
}

/* Decodes at most `room` further entries into the batch. Sets *count to 0 at the end. */
static int next_batch(struct store_lists *lists, uint64_t room, size_t *count,
		      struct hdb_error *err)
{
	uint64_t n = 0;

	assert(room > 0);
	assert(lists->left > 0);
	if (room > BASE_COUNT(lists->batch))
		room = BASE_COUNT(lists->batch);
	*count = 0;
	if (!lists->left)
		return HDB_OK;
	if (lists->is_big) {
		/*
		 * The number of entries in a part is not stored with the list, so entries are
		 * decoded one by one to the end of the part.
		 */
		if (lists->at == lists->end) {
			TRY(next_part(lists, err));
		}
		while (n < room && n < lists->left && lists->at < lists->end) {
			if (!take_entries(lists, 1, lists->batch + n))
				return damaged(lists, "big list does not decode", err);
			n++;
		}
		if (!n)
			return damaged(lists, "big list is short", err);
	} else {
		n = lists->left < room ? lists->left : room;
		if (!take_entries(lists, n, lists->batch))
			return damaged(lists, "list does not decode", err);
	}
	lists->left -= n;
	*count = (size_t)n;
	return HDB_OK;
}

/* The lists [first, end) of a block. */
struct lists_range {
	const struct store_lists_of *of;
	const struct store_block *block;
	const uint8_t *at; /* start of the first list, or NULL if it is outside the block */
	uint32_t first, end;
};

static inline int decode_lists_by(const struct lists_range *range, struct store_lists_out *out,
				  entries_decoder *decode_entries, struct hdb_error *err)
{
	const struct store_lists_of *of = range->of;
	const struct store_block *block = range->block;
	struct entries entries = { range->at, block->data + block->size, 0, of->ix_count };
	struct base_vec *target = out->target;
	uint64_t *lengths = out->lengths;

	assert(range->first <= range->end);
	TRY(base_vec_reserve(target, 0, sizeof(uint32_t), err));
	if (!entries.at)
		goto damaged;
	for (uint32_t i = range->first; i < range->end; i++, lengths++) {
		uint64_t head;

		entries.at = get_varint(entries.at, entries.end, &head);
		if (!entries.at)
			goto damaged;
		*lengths = head >> 1;
		if (head & 1) {
			*lengths |= STORE_LIST_IS_BIG;
			continue;
		}
		if (!*lengths)
			continue;
		if (*lengths > (uint64_t)(entries.end - entries.at))
			goto damaged;
		TRY(base_vec_reserve(target, (size_t)*lengths, sizeof(uint32_t), err));
		entries.previous = (uint32_t)block->key + i;
		if (!decode_entries(&entries, *lengths, (uint32_t *)target->data + target->count))
			goto damaged;
		target->count += (size_t)*lengths;
	}
	out->count = range->end - range->first;
	return HDB_OK;
damaged:
	return store_damaged(of->store, of->table, block->key, "list does not decode", err);
}

#ifdef __x86_64__
PROCESSOR_BITS static int decode_lists_bmi2(const struct lists_range *range,
					    struct store_lists_out *out, struct hdb_error *err)
{
	return decode_lists_by(range, out, decode_bmi2, err);
}
#endif

static int decode_lists(const struct lists_range *range, struct store_lists_out *out,
			struct hdb_error *err)
{
#ifdef __x86_64__
	if (processor_moves_bits())
		return decode_lists_bmi2(range, out, err);
#endif
	return decode_lists_by(range, out, decode, err);
}

int store_lists_decode(const struct store_lists_of *of, const struct store_block *block,
		       struct store_lists_out *out, struct hdb_error *err)
{
	struct lists_range range = { .of = of, .block = block, .end = block->item_count };

	if (!block_is_sound(block))
		return store_damaged(of->store, of->table, block->key, "impossible size", err);
	/* The pages may have been evicted since the block was looked up. */
	base_map_prefetch(block->data, block->size);
	range.at = block->item_count ? group_start(block, 0) : block->data + block->size;
	return decode_lists(&range, out, err);
}

int store_lists_block(struct store_lists *lists, uint32_t first_ix, struct store_lists_out *out,
		      struct hdb_error *err)
{
	const struct store_lists_of of = { lists->store, lists->table, lists->ix_count };

	TRY(open_block(lists, first_ix, err));
	return store_lists_decode(&of, &lists->block, out, err);
}
