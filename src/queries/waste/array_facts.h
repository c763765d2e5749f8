/*
 * queries/waste/array_facts.h - what an array contains, as far as it can be waste: nothing, only
 * zeros, a single value, many zeros at the end.
 */
#ifndef QUERIES_WASTE_ARRAY_FACTS_H
#define QUERIES_WASTE_ARRAY_FACTS_H

#include "heap/heap.h"

/* What an array contains. */
struct analysis_array_facts {
	uint64_t value;      /* bits of the first element; 0 for an empty array */
	uint64_t tail_count; /* zero or null elements at the end; all of them if is_zero */
	uint8_t type;        /* type of the elements as in HPROF; HPROF_OBJECT for object arrays */
	bool is_zero;        /* at least one element, all zero or null */
	bool is_constant;    /* at least two elements of a primitive type, all equal */
};

/*
 * Examines the array at `offset` of the dump (0: not in the dump). `view` belongs to the calling
 * thread, and the dump must be open. HDB_NOTFOUND if the dump lacks its elements; not for empty
 * arrays. Unless an array is constant, only both ends are read.
 */
int analysis_array_facts(struct heap *heap, struct base_view *view, uint64_t offset,
			 struct analysis_array_facts *out, struct hdb_error *err);

#endif
