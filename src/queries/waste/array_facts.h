/*
 * queries/waste/array_facts.h - what an array holds, as far as waste is concerned: nothing, zeros
 * only, one value, a long tail of zeros.
 */
#ifndef QUERIES_WASTE_ARRAY_FACTS_H
#define QUERIES_WASTE_ARRAY_FACTS_H

#include "heap/heap.h"

struct analysis_array_facts {
	uint64_t value;      /* raw bits of the first element; 0 for an empty array */
	uint64_t tail_count; /* elements at the end that are zero or null; all of them if is_zero */
	uint8_t type;        /* HPROF basic type of the elements; object arrays: HPROF_OBJECT */
	bool is_zero;        /* one element or more, all zero or null */
	bool is_constant;    /* two or more of a primitive type, all the same */
};

/*
 * Reads the array at `offset` of the dump (0: not in it). `view` is the thread's own, the dump
 * open. HDB_NOTFOUND if the dump has no elements (an empty array has none to lack). Arrays that are
 * not constant cost a look at both ends.
 */
int analysis_array_facts(struct heap *heap, struct base_view *view, uint64_t offset,
			 struct analysis_array_facts *out, struct hdb_error *err);

#endif
