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

/* Notes that the next object begins `distance` bytes behind this one. */
int import_distances_add(struct import_distances *d, const struct store_object *o,
			 uint64_t distance, struct hdb_error *err);

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

#endif
