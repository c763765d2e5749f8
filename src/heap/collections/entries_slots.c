/*
 * heap/collections/entries_slots.c - elements stored in arrays and fields, without entry objects.
 */
#include "heap/collections/entries_private.h"

#include <assert.h>
#include <string.h>

/* Maximum size of a name in a list of field names. */
#define NAME_MAX_BYTES 64

/* ---- arrays ---- */

void heap_chunk_open(struct heap_chunk *chunk, uint32_t array_ix)
{
	chunk->array_ix = array_ix;
	chunk->first = chunk->from = chunk->count = 0;
	chunk->is_whole = false;
}

/*
 * Reads element `at`. Returns HDB_NOTFOUND beyond the end, or if the dump does not contain the
 * element.
 */
int heap_chunk_get(struct heap *heap, struct heap_chunk *chunk, uint64_t at, struct heap_value *out,
		   struct hdb_error *err)
{
	assert(chunk->count <= HEAP_ENTRIES_CHUNK);
	if (chunk->array_ix == HEAP_NONE)
		return HDB_NOTFOUND;
	if (at < chunk->from || at - chunk->from >= chunk->count) {
		struct heap_slice slice = { .bits = chunk->bits, .room = HEAP_ENTRIES_CHUNK };
		int r;

		if (chunk->is_whole || at > UINT64_MAX - chunk->first)
			return HDB_NOTFOUND;
		r = heap_elements(heap, chunk->array_ix, chunk->first + at, &slice, err);
		chunk->type = slice.type;
		chunk->count = slice.done;
		chunk->from = at;
		if (r < 0 || !chunk->count)
			return r < 0 ? r : HDB_NOTFOUND;
	}
	*out = (struct heap_value){ .type = chunk->type, .bits = chunk->bits[at - chunk->from] };
	return HDB_OK;
}

/* ---- elements ---- */

/*
 * Reads the next element of an array. If the stored size exceeds the array, the elements end with
 * the array.
 */
int heap_next_in_array(struct heap_entries *e, struct hdb_error *err)
{
	const uint64_t at = e->slots ? (e->slot_start + e->at) % e->slots : 0;
	int r;

	assert(e->rule->shape == HEAP_ARRAY);
	e->has_key = false;
	if (!e->left || !e->slots)
		return HDB_END;
	e->left--;
	e->at++;
	r = heap_chunk_get(e->heap, &e->store, at, &e->value, err);
	return r == HDB_NOTFOUND ? HDB_END : r;
}

/* Returns HDB_OK if the slot that was read is an element, and HDB_NOTFOUND if it is free. */
static int check_slot(const struct heap_entries *e, bool is_last)
{
	const bool is_by_key = e->has_key && !(e->rule->flags & HEAP_BY_VALUE);
	const struct heap_value *deciding = is_by_key ? &e->key : &e->value;
	bool is_used = deciding->bits || e->rule->flags & HEAP_DENSE;
	int64_t number;

	if (e->rule->free)
		is_used = !heap_value_number(deciding, &number) || number != e->free_number;
	else if (e->rule->extra && is_last)
		is_used = e->has_extra;
	return is_used ? HDB_OK : HDB_NOTFOUND;
}

/* Reads the next slot of an open table, and the key if a separate array has the keys. */
int heap_next_in_slots(struct heap_entries *e, struct hdb_error *err)
{
	const bool is_last = e->at + 1 == e->slots;
	int r;

	assert(e->rule->shape == HEAP_SLOTS);
	/* A flag is set if the value that marks free slots is itself an element. */
	if (e->at == e->slots && e->rule->free && e->has_extra) {
		e->has_extra = e->has_key = false;
		e->value = (struct heap_value){ .type = e->store.type,
						.bits = (uint64_t)e->free_number };
		return HDB_OK;
	}
	if (!e->left || e->at >= e->slots)
		return HDB_END;
	e->left--;
	e->has_key = e->rule->key != NULL;
	r = heap_chunk_get(e->heap, &e->store, e->at, &e->value, err);
	if (r == HDB_OK && e->has_key)
		r = heap_chunk_get(e->heap, &e->keys, e->at, &e->key, err);
	e->at++;
	if (r != HDB_OK)
		return r < 0 ? r : HDB_END;
	return check_slot(e, is_last);
}

/*
 * Reads the next pair. With HEAP_DENSE, a pair with a null key is an element, as in
 * android.util.ArrayMap. Otherwise, a null key marks a free slot.
 */
int heap_next_pair(struct heap_entries *e, struct hdb_error *err)
{
	const uint64_t at = e->at * 2;
	int64_t number;
	int r;

	assert(e->rule->shape == HEAP_PAIRS);
	if (!e->left)
		return HDB_END;
	e->left--;
	e->at++;
	e->has_key = true;
	if ((r = heap_chunk_get(e->heap, &e->store, at, &e->key, err)) != HDB_OK)
		return r < 0 ? r : HDB_END;
	if ((r = heap_chunk_get(e->heap, &e->store, at + 1, &e->value, err)) != HDB_OK)
		return r < 0 ? r : HDB_END;
	if (e->rule->free)
		return heap_value_number(&e->value, &number) && number == e->free_number ?
			       HDB_NOTFOUND :
			       HDB_OK;
	return e->key.bits || e->rule->flags & HEAP_DENSE ? HDB_OK : HDB_NOTFOUND;
}

/* Finds name number `no` in a comma-separated list. Returns false past the end. */
static bool list_name(const char *names, uint64_t no, char out[NAME_MAX_BYTES])
{
	size_t size;

	for (; no; no--) {
		names = strchr(names, ',');
		if (!names)
			return false;
		names++;
	}
	size = strcspn(names, ",");
	if (size >= NAME_MAX_BYTES)
		return false;
	memcpy(out, names, size);
	out[size] = '\0';
	return true;
}

/*
 * Reads the next field. The names come from the table. A field that does not exist in this version
 * of the class is skipped.
 */
int heap_next_field(struct heap_entries *e, struct hdb_error *err)
{
	const uint64_t no = e->at++;
	char name[NAME_MAX_BYTES];
	uint32_t ix = HEAP_NONE;
	int r;

	assert(e->rule->shape == HEAP_FIELDS);
	if (!list_name(e->rule->value, no, name))
		return HDB_END;
	r = heap_path_value_as(e->heap, heap_as_inner(&e->from), name, &e->value, err);
	e->has_key = r == HDB_OK && e->rule->key && list_name(e->rule->key, no, name);
	if (e->has_key)
		r = heap_path_value_as(e->heap, heap_as_inner(&e->from), name, &e->key, err);
	TRY(r);
	if (e->rule->flags & HEAP_SKIPS_NULL && !e->value.bits)
		return HDB_NOTFOUND;
	if (e->absent_ix == HEAP_NONE)
		return HDB_OK;
	TRY_ERRORS(heap_find(e->heap, e->value.bits, &ix, err));
	return ix == e->absent_ix ? HDB_NOTFOUND : HDB_OK;
}

/*
 * Finds the next set bit. The element is the number of the bit, or the enum constant with this
 * number in the universe.
 */
int heap_next_bit(struct heap_entries *e, struct hdb_error *err)
{
	const uint64_t bit = e->at;
	struct heap_value word = heap_null_value();
	int r;

	assert(e->rule->shape == HEAP_WORDS);
	if (!e->left)
		return HDB_END;
	if (e->store.array_ix != HEAP_NONE)
		r = heap_chunk_get(e->heap, &e->store, bit / 64, &word, err);
	else
		r = heap_path_value_as(e->heap, heap_as_inner(&e->from), e->rule->store, &word,
				       err);
	if (r != HDB_OK || word.type != HPROF_LONG)
		return r < 0 ? r : HDB_END;
	/* Moves to the next set bit of the word, or beyond the word. */
	word.bits &= ~0ull << (bit % 64);
	e->at = word.bits ? (bit & ~63ull) + (unsigned)__builtin_ctzll(word.bits) + 1 :
			    (bit | 63) + 1;
	e->left -= e->at - bit;
	if (!word.bits)
		return HDB_NOTFOUND;
	e->has_key = false;
	e->value = (struct heap_value){ .type = HPROF_INT, .bits = (uint32_t)(e->at - 1) };
	if (e->keys.array_ix == HEAP_NONE)
		return HDB_OK;
	r = heap_chunk_get(e->heap, &e->keys, e->at - 1, &e->value, err);
	return heap_soft(r);
}
