/*
 * analysis/collection_stats.h - measured collections (collection_fill.h) summed up by class, fill
 * ratio or size.
 */
#ifndef ANALYSIS_COLLECTION_STATS_H
#define ANALYSIS_COLLECTION_STATS_H

#include "analysis/collection_fill.h"
#include "analysis/session.h"

struct analysis_sum {
	uint64_t key; /* class number, size, segment */
	uint64_t count, empty, elements, wasted_bytes, shallow_bytes, without_size, impossible;
	uint64_t sized, capacity;  /* elements and room of those that have a capacity */
	uint64_t hashed, collided; /* elements of hashed ones, and how many share a slot */
	uint64_t largest_size;
	uint32_t largest_ix;
	const char *kind;
};

/* Sums in their order, or by size in an open hash table with a power of two of slots. */
struct analysis_sums {
	struct analysis_sum *sums; /* owned by who made it */
	uint64_t count;            /* by size: slots in use */
	uint64_t slots;
};

/* Adds a collection; of several largest ones the first is kept. */
void analysis_sum_add(struct analysis_sum *sum, const struct analysis_measure *m, uint32_t ix);

/* Adds it to those of its size; HDB_ELIMIT if there are too many sizes for the memory budget. */
int analysis_sums_add_size(const struct session *session, struct analysis_sums *s,
			   const struct analysis_measure *m, uint32_t ix, struct hdb_error *err);

/* For qsort: most wasted bytes first; ascending keys. */
int analysis_sum_by_waste(const void *a, const void *b);
int analysis_sum_by_key(const void *a, const void *b);

/* Asserts what holds of sums by size while they are added up. For tests and debugging. */
void analysis_sums_check(const struct analysis_sums *s);

#endif
