/*
 * import/distances.h - evidence of sizes from object addresses: per class, the smallest distance to
 * the next object.
 *
 * IDs are addresses, so an object is at most as large as its distance to the next object. Each
 * thread collects distances in a small cache by class. The writing thread merges the entries of a
 * block: those pushed out of the cache and, at the end, those still in it. Minima and their counts
 * do not depend on the order of merging. Flat values, and objects whose ID or whose neighbour's ID
 * is not an address (flat.c), are only counted.
 */
#ifndef IMPORT_DISTANCES_H
#define IMPORT_DISTANCES_H

#include "base/vec.h"
#include "store/objects.h"

struct import;

/*
 * Distances from the objects of a class to the next object in address order. They are upper bounds
 * of the object sizes.
 */
struct import_distance {
	/* smallest distance, minus the elements of an array with 4-byte references */
	int64_t least;
	int64_t next_least; /* smallest value above `least`; INT64_MAX: none */
	int64_t least_wide; /* like `least`, with 8-byte references */
	uint32_t count;     /* number of distances; 0: the other fields are undefined */
	uint32_t at_least;  /* number of objects at the smallest distance */
};

/* Low zero bits of a distance are counted up to this number: the alignment is at most 256 bytes. */
#define IMPORT_LOW_BITS 8

/* Entries of a thread's cache of classes. */
#define IMPORT_DISTANCE_CACHE 512u

/* Distances of one class in one thread's cache. */
struct import_distance_entry {
	struct import_distance distance;
	uint64_t apart; /* instances without a usable distance */
	/*
	 * Class number << 3, enum store_kind << 1, 1; 0: unused. For class objects, the number of
	 * the class they represent.
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
	/* receives the entries pushed out of the cache */
	struct import_seen *seen;
	uint64_t low_bits[IMPORT_LOW_BITS + 1];
	uint64_t wide_overlaps;
};

void import_distances_init(struct import_distances *d);

/* Adds an object whose next neighbour begins `distance` bytes after it. */
int import_distances_add(struct import_distances *d, const struct store_object *o,
			 uint64_t distance, struct hdb_error *err);

/*
 * Counts an instance without a usable distance: a flat value, the neighbour of an ID that is not an
 * address, or the last object.
 */
int import_distances_pass(struct import_distances *d, const struct store_object *o,
			  struct hdb_error *err);

/* Moves everything collected in a block to d->seen. */
int import_distances_flush(struct import_distances *d, struct hdb_error *err);

/* Merges the distances of a block into the classes, and empties `seen`. Not thread-safe. */
void import_distances_merge(struct import *im, struct import_seen *seen);

#endif
