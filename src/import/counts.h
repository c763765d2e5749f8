/*
 * import/counts.h - how many objects of each class the dump has: the table class.counts.
 *
 * Counted while references are resolved, when the sizes of objects are not known yet: arrays and
 * stack chunks by their lengths modulo a period, so that a reader can tell the sum of their sizes
 * without looking at one of them (see layout_array_period). Instances are counted with their
 * distances (distances.c).
 */
#ifndef IMPORT_COUNTS_H
#define IMPORT_COUNTS_H

#include "base/idmap.h"
#include "base/vec.h"
#include "store/objects.h"

#include <stdbool.h>

/* Classes and lengths that one thread remembers at a time. */
#define IMPORT_COUNT_CACHE 128u
/*
 * Rows of arrays, at most: heaps have a few for each array class. A dump made to have more does
 * without the table, and whoever asks counts objects.
 */
#define IMPORT_COUNTS_MAX (1u << 18)

struct import;

/* Objects of one class, kind and length modulo the period. */
struct import_count {
	uint64_t key;   /* class number << 32, enum store_kind << 30, is_embedded << 29, length */
	uint64_t count; /* 0: free */
	uint64_t elements;
};

/* Of all blocks so far. */
struct import_counts {
	struct base_idmap map;    /* key -> number in rows */
	struct base_vec rows;     /* struct import_count */
	uint32_t modulus;         /* every alignment that may be chosen divides it */
	uint32_t period[16];      /* by bytes of an element; 0: of stack chunks */
	unsigned reference_bytes; /* whose period object arrays have */
	bool is_given_up;
};

/* What one thread needs to count the objects of a block. */
struct import_counting {
	struct import_count cache[IMPORT_COUNT_CACHE];
	/* struct import_count: where they go, when pushed out of the cache */
	struct base_vec *counted;
	const struct import_counts *counts; /* for its periods */
};

/*
 * Prepares for the pass over objects: evidence.counts_by_class, for any alignment that the import
 * may choose.
 */
int import_counts_begin(struct import *im, struct hdb_error *err);

/* What import_counts_add does where the last object of this kind is not in the cache. */
int import_counts_push(struct import_counting *c, struct import_count *entry, uint64_t key,
		       uint64_t length, struct hdb_error *err);

/* Where in the cache an array, or an instance with a length, is counted, and under what key. */
static inline __attribute__((always_inline)) struct import_count *import_counts_place(
	struct import_counting *c, const struct store_object *o, uint64_t *key)
{
	const unsigned width = o->kind == STORE_INSTANCE     ? 0 :
			       o->kind == STORE_OBJECT_ARRAY ? c->counts->reference_bytes :
							       o->body_size & 15;
	const uint32_t period = c->counts->period[width];
	const uint64_t rest = period & (period - 1) ? o->length % period : o->length & (period - 1);

	*key = (uint64_t)o->class_no << 32 | (uint64_t)o->kind << 30 |
	       (uint64_t)(o->is_embedded != 0) << 29 | rest;
	return &c->cache[(o->class_no * 8 + rest) % IMPORT_COUNT_CACHE];
}

/* What it is counted by, or NULL if that is not in the cache. */
static inline __attribute__((always_inline)) struct import_count *import_counts_held(
	struct import_counting *c, const struct store_object *o)
{
	uint64_t key;
	struct import_count *entry = import_counts_place(c, o, &key);

	return entry->key == key && entry->count ? entry : NULL;
}

/* Counts an array, or an instance with a length. */
static inline int import_counts_add(struct import_counting *c, const struct store_object *o,
				    struct hdb_error *err)
{
	uint64_t key;
	struct import_count *entry = import_counts_place(c, o, &key);

	if (entry->key != key || !entry->count)
		return import_counts_push(c, entry, key, o->length, err);
	entry->count++;
	entry->elements += o->length;
	return HDB_OK;
}

/* Moves all that was counted of a block to c->counted. */
int import_counts_flush(struct import_counting *c, struct hdb_error *err);
/* Takes what was counted in a block, and empties it; one thread at a time. */
int import_counts_merge(struct import *im, struct base_vec *counted, struct hdb_error *err);

/* Writes the table, if the alignment that was chosen divides the modulus. */
int import_write_class_counts(struct import *im, struct hdb_error *err);

void import_counts_release(struct import_counts *counts);

#endif
