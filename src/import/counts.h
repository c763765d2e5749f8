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

/* Counts an array, or an instance with a length. */
int import_counts_add(struct import_counting *c, const struct store_object *o,
		      struct hdb_error *err);

/* Moves all that was counted of a block to c->counted. */
int import_counts_flush(struct import_counting *c, struct hdb_error *err);
/* Takes what was counted in a block, and empties it; one thread at a time. */
int import_counts_merge(struct import *im, struct base_vec *counted, struct hdb_error *err);

/* Writes the table, if the alignment that was chosen divides the modulus. */
int import_write_class_counts(struct import *im, struct hdb_error *err);

void import_counts_release(struct import_counts *counts);

#endif
