/*
 * import/distances.h - what object addresses tell about sizes: per class, the smallest distance to
 * the next object.
 *
 * IDs are addresses, so an object is no larger than the distance to the next one. Each thread notes
 * the distances of the objects of a block in a small cache by class; what is in it, or is pushed
 * out, is merged by the thread that writes. Minima and counts of minima do not depend on the order
 * of merging. Flat values, and objects whose ID or whose neighbour's is no address (flat.c), tell
 * nothing and are only counted.
 */
#ifndef IMPORT_DISTANCES_H
#define IMPORT_DISTANCES_H

#include "base/vec.h"
#include "store/objects.h"

struct import;

/*
 * Distances from objects of a class to the next object in order of address: what bounds their size.
 */
struct import_distance {
	int64_t least; /* smallest one, less the elements of an array (references of 4 bytes) */
	int64_t next_least; /* smallest of those that are larger than `least`; INT64_MAX: none */
	int64_t least_wide; /* the same as `least` with references of 8 bytes */
	uint32_t count;     /* objects seen; 0: none, and the others mean nothing */
	uint32_t at_least;  /* of those, objects at the smallest distance */
};

/* Low zero bits of a distance that count: objects are aligned to 256 bytes at most. */
#define IMPORT_LOW_BITS 8

/* Classes whose distances one thread remembers at a time. */
#define IMPORT_DISTANCE_CACHE 512u

/* The distances of one class, by one thread. */
struct import_distance_entry {
	struct import_distance distance;
	uint64_t apart; /* instances that tell none */
	/*
	 * Class number << 3, enum store_kind << 1, 1; 0: free. A class object: of the class that it
	 * stands for.
	 */
	uint64_t key;
};

/* Distances that were seen in a block. */
struct import_seen {
	struct base_vec entries; /* struct import_distance_entry */
	uint64_t low_bits[IMPORT_LOW_BITS + 1];
	uint64_t wide_overlaps;
};

/* What one thread needs to note the distances of a block. */
struct import_distances {
	struct import_distance_entry cache[IMPORT_DISTANCE_CACHE];
	/* where they go: those that are pushed out of the cache at once */
	struct import_seen *seen;
	uint64_t low_bits[IMPORT_LOW_BITS + 1];
	uint64_t wide_overlaps;
};

void import_distances_init(struct import_distances *d);

/* Notes that behind so many objects like this the next one begins `distance` bytes later. */
int import_distances_add(struct import_distances *d, const struct store_object *o,
			 uint64_t distance, uint32_t times, struct hdb_error *err);

/*
 * Counts an instance whose distance tells nothing: a flat value, the neighbour of an odd ID, the
 * last object.
 */
int import_distances_pass(struct import_distances *d, const struct store_object *o,
			  struct hdb_error *err);

/* Moves all that was noted of a block to d->seen. */
int import_distances_flush(struct import_distances *d, struct hdb_error *err);

/* Takes what was seen in a block, and empties it; one thread at a time. */
void import_distances_merge(struct import *im, struct import_seen *seen);

/* ---- for whoever notes most objects: read_plain.c ---- */

static inline uint64_t import_distances_key(uint64_t class_no, unsigned kind)
{
	return class_no << 3 | kind << 1 | 1;
}

/* Where the entry of a class would be. */
static inline struct import_distance_entry *import_distances_place(struct import_distances *d,
								   uint64_t class_no)
{
	return &d->cache[class_no % IMPORT_DISTANCE_CACHE];
}

/* Objects at one distance. */
struct import_noted {
	uint64_t distance;
	int64_t least, least_wide; /* less their elements with references of 4 and of 8 bytes */
	uint32_t times;            /* how many */
};

/* Adds them to what is known of their class. */
static inline __attribute__((always_inline)) void import_distances_note(
	struct import_distances *d, struct import_distance *to, const struct import_noted noted)
{
	const int64_t least = noted.least, least_wide = noted.least_wide;

	d->low_bits[(unsigned)__builtin_ctzll(noted.distance | 1u << IMPORT_LOW_BITS)] +=
		noted.times;
	to->count += noted.times;
	if (least == to->least) {
		to->at_least += noted.times;
	} else if (least < to->least) {
		to->next_least = to->least;
		to->least = least;
		to->at_least = noted.times;
		to->least_wide = least_wide < to->least_wide ? least_wide : to->least_wide;
	} else if (least < to->next_least) {
		to->next_least = least;
	}
	/* It is never above `least`, of one object and of all. */
	if (least_wide < least && least_wide < to->least_wide)
		to->least_wide = least_wide;
}

/*
 * Whether references of 8 bytes would make an object array overlap the next object: the shortest
 * header before such is 8 bytes, the length, padding.
 */
static inline bool import_distances_overlap(uint64_t length, int64_t least_wide)
{
	return length && least_wide < 16;
}

#endif
