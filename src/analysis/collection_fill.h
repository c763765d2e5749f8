/*
 * analysis/collection_fill.h - measures how full a collection or an object array is, and how much
 * memory its unused slots take.
 */
#ifndef ANALYSIS_COLLECTION_FILL_H
#define ANALYSIS_COLLECTION_FILL_H

#include "analysis/session.h"
#include "heap/collections/collections.h"

/* Measurements of one collection or array. */
struct analysis_measure {
	uint32_t class_no;
	const char *kind;       /* "list", ..., or "array"; static */
	uint64_t size;          /* number of elements; for arrays, number of non-null elements */
	uint64_t capacity;      /* number of elements that fit without growing */
	uint64_t used;          /* for hash tables, number of slots in use */
	uint64_t shallow_bytes; /* size of the object and of its own backing array */
	/* number of bytes in unused slots; 0 if they belong to a wrapped collection */
	uint64_t wasted_bytes;
	bool has_size, has_capacity;
	/* whether the collection is a non-empty hash table whose slots were counted */
	bool has_used;
	bool has_lied; /* whether the recorded number of elements was impossible */
};

struct analysis_measuring {
	bool is_arrays;  /* whether object arrays are measured instead of collections */
	bool wants_used; /* whether the used slots of hash tables are counted */
	/*
	 * Budgets for counting slots and following links, shared by all measurements. Only
	 * measurements of damaged heaps exceed them.
	 */
	uint64_t slots_left, steps_left;
};

/* Initialises the budgets from the number of slots and links that the dump can contain. */
void analysis_measuring_init(const struct session *session, bool is_arrays, bool wants_used,
			     struct analysis_measuring *out);

/*
 * Measures one object. Returns HDB_NOTFOUND if the object is not a collection (or array), or if it
 * is part of another collection.
 */
int analysis_measure(const struct session *session, struct analysis_measuring *how,
		     const struct heap_object *object, struct analysis_measure *out,
		     struct hdb_error *err);

/*
 * Returns size / capacity, or 1 if both are 0, because nothing is wasted. has_capacity must be set.
 */
double analysis_measure_fill(const struct analysis_measure *m);

/* Returns the fraction of elements that share a slot with another element. has_used must be set. */
double analysis_measure_collisions(const struct analysis_measure *m);

#endif
