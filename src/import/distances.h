/*
 * import/distances.h - evidence of sizes from object addresses: for each class, the smallest
 * distance to the next object.
 *
 * IDs are addresses, so an object is at most as large as its distance to the next object. Each
 * thread collects distances in a small cache by class. The writing thread merges the entries of a
 * block: first the entries evicted from the cache, and finally the entries still in the cache.
 * Minima and their counts do not depend on the order of merging. Flat values, and objects whose own
 * ID or neighbour's ID is not an address, are only counted (flat.c).
 */
#ifndef IMPORT_DISTANCES_H
#define IMPORT_DISTANCES_H

#include "base/vec.h"
#include "store/objects.h"

#include <stdbool.h>

struct import;

/*
 * Distances from the objects of a class to the next object in address order. A distance is an upper
 * bound of the object's size.
 */
struct import_distance {
	/* smallest distance, minus the size of an array's elements with 4-byte references */
	int64_t least;
	int64_t next_least; /* smallest value above `least`, or INT64_MAX if there is none */
	int64_t least_wide; /* like `least`, but with 8-byte references */
	uint32_t count;     /* number of distances; if 0, the other fields are undefined */
	uint32_t at_least;  /* number of objects with the smallest distance */
};

/*
 * Maximum number of low zero bits of a distance that are counted. The alignment is at most 256
 * bytes.
 */
#define IMPORT_LOW_BITS 8

/* Number of entries in a thread's cache of classes. */
#define IMPORT_DISTANCE_CACHE 512u

/* Distances of one class in one thread's cache. */
struct import_distance_entry {
	struct import_distance distance;
	uint64_t unmeasured; /* instances without a usable distance */
	/*
	 * Class number << 3 | enum store_kind << 1 | 1, or 0 if unused. For class objects, the
	 * number of the class that they represent.
	 */
	uint64_t key;
};

/* Distances found in a block. */
struct import_seen {
	struct base_vec entries; /* struct import_distance_entry */
	uint64_t low_bits[IMPORT_LOW_BITS + 1];
	uint64_t wide_overlaps;
};

/* State of one thread. */
struct import_distances {
	struct import_distance_entry cache[IMPORT_DISTANCE_CACHE];
	/* receives the entries evicted from the cache */
	struct import_seen *seen;
	uint64_t low_bits[IMPORT_LOW_BITS + 1];
	uint64_t wide_overlaps;
};

void import_distances_init(struct import_distances *d);

/* Adds objects of the same kind that are each `distance` bytes before the next object. */
int import_distances_add(struct import_distances *d, const struct store_object *o,
			 uint64_t distance, uint32_t times, struct hdb_error *err);

/*
 * Counts an instance without a usable distance: a flat value, an object next to an ID that is not
 * an address, or the last object.
 */
int import_distances_pass(struct import_distances *d, const struct store_object *o,
			  struct hdb_error *err);

/* Moves all entries collected in a block to d->seen. */
int import_distances_flush(struct import_distances *d, struct hdb_error *err);

/* ---- inline, for the loop over objects ---- */

static inline uint64_t import_distances_key(uint64_t class_no, enum store_kind kind)
{
	return class_no << 3 | (unsigned)kind << 1 | 1;
}

/* Returns the distances of a class's instances or arrays, or NULL if they are not in the cache. */
static inline struct import_distance *import_distances_of(struct import_distances *d,
							  uint64_t class_no, enum store_kind kind)
{
	struct import_distance_entry *e = &d->cache[class_no % IMPORT_DISTANCE_CACHE];

	return e->key == import_distances_key(class_no, kind) ? &e->distance : NULL;
}

/* A distance. */
struct import_noted {
	uint64_t distance;
	uint32_t times; /* number of objects with this distance */
	/*
	 * distance minus the elements of an array or the stack of a stack chunk; `wide` is for
	 * 8-byte references
	 */
	int64_t least, wide;
	bool is_filled_array; /* whether the object is a non-empty array of references */
};

static inline void import_distances_note(struct import_distances *d, struct import_distance *to,
					 const struct import_noted *noted)
{
	d->low_bits[(unsigned)__builtin_ctzll(noted->distance | 1u << IMPORT_LOW_BITS)] +=
		noted->times;
	/*
	 * At least 16 bytes must remain: 8 for the smallest header, and 8 for the length and its
	 * padding. If fewer bytes remain, references cannot have 8 bytes.
	 */
	if (noted->is_filled_array && noted->wide < 16)
		d->wide_overlaps += noted->times;
	to->count += noted->times;
	if (noted->least == to->least) {
		to->at_least += noted->times;
	} else if (noted->least < to->least) {
		to->next_least = to->least;
		to->least = noted->least;
		to->at_least = noted->times;
	} else if (noted->least < to->next_least) {
		to->next_least = noted->least;
	}
	if (noted->wide < to->least_wide)
		to->least_wide = noted->wide;
}

/* Merges the distances of a block into the classes, and empties `seen`. Not thread-safe. */
void import_distances_merge(struct import *im, struct import_seen *seen);

#endif
