/*
 * import/counts.h - counts the objects of each class for the class.counts table.
 *
 * Objects are counted while references are resolved, before object sizes are known. Therefore,
 * arrays and stack chunks are counted by their lengths modulo a period. From these counts, a reader
 * can compute the total size without visiting the objects (see layout_array_period). Instances are
 * counted together with their distances (distances.c).
 */
#ifndef IMPORT_COUNTS_H
#define IMPORT_COUNTS_H

#include "base/idmap.h"
#include "base/vec.h"
#include "store/objects.h"

#include <stdbool.h>

/* Number of entries in a thread's cache. */
#define IMPORT_COUNT_CACHE 128u
/*
 * Maximum number of rows. Real heaps have a few rows per array class. If a hostile dump has more,
 * the table is not written, and readers count the objects themselves.
 */
#define IMPORT_COUNTS_MAX (1u << 18)

struct import;

/* Number of objects with the same class, kind and length modulo the period. */
struct import_count {
	/* class number << 32, enum store_kind << 30, is_embedded << 29, length modulo the period */
	uint64_t key;
	uint64_t count; /* 0 means unused entry */
	uint64_t elements;
};

/* The totals of all blocks so far. */
struct import_counts {
	struct base_idmap map; /* key to number in rows */
	struct base_vec rows;  /* struct import_count */
	uint32_t modulus;      /* a multiple of every alignment that can be chosen */
	/* period by element width in bytes; [0] is the period of stack chunks */
	uint32_t period[16];
	unsigned reference_bytes; /* element width whose period is used for object arrays */
	bool is_given_up;
};

/* State of one thread. */
struct import_counting {
	struct import_count cache[IMPORT_COUNT_CACHE];
	/* struct import_count: entries evicted from the cache */
	struct base_vec *counted;
	const struct import_counts *counts; /* provides the periods */
};

/*
 * Prepares evidence.counts_by_class for the pass over objects. The counts must be valid for every
 * alignment that the import may choose.
 */
int import_counts_begin(struct import *im, struct hdb_error *err);

/*
 * Returns the key of an object's row. A row is one class, kind and length modulo the period. Apart
 * from the elements themselves, the size of an object depends on its length only through rounding,
 * so `elements` and `count` for each remainder suffice to compute exact totals.
 */
static inline uint64_t import_counts_key(const struct import_counting *c,
					 const struct store_object *o)
{
	const unsigned width = o->kind == STORE_INSTANCE     ? 0 :
			       o->kind == STORE_OBJECT_ARRAY ? c->counts->reference_bytes :
							       o->body_size & 15;
	const uint32_t period = c->counts->period[width];
	/*
	 * A division would dominate the cost. Most periods are powers of two, so a mask suffices.
	 */
	const uint64_t rest = period & (period - 1) ? o->length % period : o->length & (period - 1);

	return (uint64_t)o->class_no << 32 | (uint64_t)o->kind << 30 |
	       (uint64_t)(o->is_embedded != 0) << 29 | rest;
}

static inline struct import_count *import_counts_place(struct import_counting *c, uint64_t key)
{
	return &c->cache[((key >> 32) * 8 + (key & ((1u << 29) - 1))) % IMPORT_COUNT_CACHE];
}

/* Returns the cache entry for the objects with this key, or NULL if the cache has none. */
static inline struct import_count *import_counts_find(struct import_counting *c,
						      const struct store_object *o)
{
	const uint64_t key = import_counts_key(c, o);
	struct import_count *entry = import_counts_place(c, key);

	return entry->key == key && entry->count ? entry : NULL;
}

/* Counts an array, or an instance with a length. */
int import_counts_add(struct import_counting *c, const struct store_object *o,
		      struct hdb_error *err);

/* Moves the entries of the cache to c->counted. Must be called at the end of a block. */
int import_counts_flush(struct import_counting *c, struct hdb_error *err);
/* Adds the entries of a block to the totals, and empties `counted`. Not thread-safe. */
int import_counts_merge(struct import *im, struct base_vec *counted, struct hdb_error *err);

/* Writes the table, if the chosen alignment divides the modulus. */
int import_write_class_counts(struct import *im, struct hdb_error *err);

void import_counts_release(struct import_counts *counts);

#endif
