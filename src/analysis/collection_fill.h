/*
 * analysis/collection_fill.h - how full a collection or an object array is, and what that costs.
 */
#ifndef ANALYSIS_COLLECTION_FILL_H
#define ANALYSIS_COLLECTION_FILL_H

#include "analysis/session.h"
#include "heap/collections/collections.h"

struct analysis_measure {
	uint32_t class_no;
	const char *kind;       /* "list", ..., "array"; static */
	uint64_t size;          /* elements; of arrays: that are not null */
	uint64_t capacity;      /* elements that it has room for */
	uint64_t used;          /* slots that begin chains */
	uint64_t shallow_bytes; /* the object, and the array that it has for itself */
	uint64_t wasted_bytes;  /* of room that is not used; 0 where a wrapped collection has it */
	bool has_size, has_capacity;
	bool has_used; /* hashed, not empty, and looked at */
	bool has_lied; /* its own count was impossible */
};

struct analysis_measuring {
	bool is_arrays;  /* object arrays, not collections */
	bool wants_used; /* looks at the slots of hashed ones */
	/* what may still be looked at beside sizes; a heap that does not lie needs no more */
	uint64_t slots_left, steps_left;
};

/* Sets the budgets: as many slots and links as the dump could hold. */
void analysis_measuring_init(const struct session *session, bool is_arrays, bool wants_used,
			     struct analysis_measuring *out);

/* Measures one: HDB_OK, or HDB_NOTFOUND if it is none of them, or a mere part of another one. */
int analysis_measure(const struct session *session, struct analysis_measuring *how,
		     const struct heap_object *object, struct analysis_measure *out,
		     struct hdb_error *err);

/* size / capacity; 1 for none of none, as nothing is wasted then. has_capacity must be set. */
double analysis_measure_fill(const struct analysis_measure *m);

/* The share of elements that share a slot with another; has_used must be set. */
double analysis_measure_collisions(const struct analysis_measure *m);

#endif
