/*
 * store/lists_put.h - writes a block of adjacency lists, list by list. lists.c describes the
 * format.
 *
 * The functions are inline because the import calls them for every object.
 */
#ifndef STORE_LISTS_PUT_H
#define STORE_LISTS_PUT_H

#include "base/bytes.h"
#include "store/lists.h"

#define STORE_ENTRY_MAX 5 /* size of a 33-bit varint */
#define STORE_ENTRY_PAD 8 /* number of bytes that store_put_entry writes at once */

/*
 * Writes a varint of a number below 2^35, without branches, because the lengths of varints are
 * unpredictable. Writes 8 bytes, and returns the end of the varint.
 */
static inline uint8_t *store_put_entry(uint8_t *p, uint64_t v)
{
	/* Continuation bits, by the number of bytes after the first. */
	static const uint64_t mores[] = { 0, 0x80, 0x8080, 0x808080, 0x80808080 };
	unsigned more;

	/*
	 * Makes room for the high bit of each byte: adding the part above a byte to itself shifts
	 * it up by one bit.
	 */
	v += v & ~(uint64_t)0x7f;
	v += v & ~(uint64_t)0x7fff;
	v += v & ~(uint64_t)0x7fffff;
	v += v & ~(uint64_t)0x7fffffff;
	more = (63 - (unsigned)__builtin_clzll(v | 1)) / 8;
	store64(p, v | mores[more]);
	return p + more + 1;
}

/*
 * Writes the entries of a list, the first entry relative to `previous`. Returns the end of the
 * output.
 */
static inline uint8_t *store_put_entries(uint8_t *p, uint32_t previous, const uint32_t *target,
					 uint64_t count)
{
	for (uint64_t e = 0; e < count; e++) {
		p = store_put_entry(p, zigzag((int64_t)target[e] - (int64_t)previous));
		previous = target[e];
	}
	return p;
}

/* State while a block is written. */
struct store_lists_writer {
	struct base_vec *out; /* borrowed */
	size_t start;         /* start of the block in `out` */
	uint32_t first_ix;
	uint32_t count; /* number of lists written */
};

/*
 * Begins a block of `count` lists at the end of `out`. Until all lists have been written, only this
 * writer may append to `out`.
 */
int store_lists_open(struct store_lists_writer *w, struct base_vec *out, uint32_t first_ix,
		     uint32_t count, struct hdb_error *err);

/* Records that a group of lists begins at the end of `out`. */
int store_lists_begin_group(struct store_lists_writer *w, struct hdb_error *err);

/*
 * Reserves space for `count` lists of a group with the given total number of entries. Sets *p to
 * the start of this space.
 */
static inline int store_lists_reserve(struct store_lists_writer *w, uint32_t lists,
				      uint64_t entries, uint8_t **p, struct hdb_error *err)
{
	struct base_vec *out = w->out;

	TRY(base_vec_reserve(out, lists * VARINT_MAX + entries * STORE_ENTRY_MAX + STORE_ENTRY_PAD,
			     1, err));
	if (w->count % STORE_LIST_GROUP == 0)
		TRY(store_lists_begin_group(w, err));
	*p = (uint8_t *)out->data + out->count;
	return HDB_OK;
}

/* Completes `count` lists that were written after store_lists_reserve and end at p. */
static inline void store_lists_written(struct store_lists_writer *w, uint32_t lists,
				       const uint8_t *p)
{
	w->out->count = (size_t)(p - (const uint8_t *)w->out->data);
	w->count += lists;
}

/* Maximum length of a list whose length is stored in one byte. */
#define STORE_LIST_SHORT 63u

/*
 * Writes the list of object ix: n ascending entries, at most STORE_LIST_SHORT, without duplicates.
 * Adds the number of entries written to *kept, and returns the end. If n is a constant, the
 * compiler unrolls the loop, whose end is otherwise hard to predict.
 */
static inline __attribute__((always_inline)) uint8_t *store_put_short(uint8_t *p, uint32_t ix,
								      const uint32_t *target,
								      const uint32_t n,
								      uint64_t *kept)
{
	uint8_t *const length = p++;
	uint32_t previous = ix, count = 0;

	for (uint32_t e = 0; e < n; e++) {
		uint8_t *const end =
			store_put_entry(p, zigzag((int64_t)target[e] - (int64_t)previous));
		const bool is_new = e == 0 || target[e] != previous;

		p = is_new ? end : p;
		count += is_new;
		previous = target[e];
	}
	*length = (uint8_t)(count << 1);
	*kept += count;
	return p;
}

/* Writes the next list, which has n entries. If the list is big, `target` is not read. */
static inline int store_lists_add(struct store_lists_writer *w, const uint32_t *target, uint64_t n,
				  struct hdb_error *err)
{
	const uint64_t entries = n > STORE_LIST_BIG ? 0 : n;
	struct base_vec *out = w->out;
	uint8_t *p;
	int r = base_vec_reserve(
		out, VARINT_MAX + STORE_ENTRY_PAD + (size_t)entries * STORE_ENTRY_MAX, 1, err);

	if (r < 0)
		return r;
	if (w->count % STORE_LIST_GROUP == 0 && (r = store_lists_begin_group(w, err)) < 0)
		return r;
	p = (uint8_t *)out->data + out->count;
	p = put_varint(p, n << 1 | (n > STORE_LIST_BIG));
	p = store_put_entries(p, w->first_ix + w->count, target, entries);
	out->count = (size_t)(p - (uint8_t *)out->data);
	w->count++;
	return HDB_OK;
}

#endif
