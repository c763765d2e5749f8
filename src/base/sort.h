/*
 * base/sort.h - linear-time sorting of node lists, and comparisons of numbers for qsort.
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A node and what it is sorted by. */
struct base_sort_key {
	uint64_t key;
	uint32_t node;
};

/* Sorts `keys` by key ascending, stable. `spare` has room for as many and is overwritten. */
void base_sort_keys(struct base_sort_key *keys, struct base_sort_key *spare, size_t count);

/* Sorts nodes ascending; `spare` has room for as many and is overwritten. */
void base_sort_nodes(uint32_t *nodes, uint32_t *spare, size_t count);

/*
 * Of a comparison by several values: returns from it if these differ. The first value decides; the
 * smaller one comes first, or the larger one.
 */
#define BASE_ASCENDING(a, b) \
	do { \
		if ((a) != (b)) \
			return (a) < (b) ? -1 : 1; \
	} while (0)
#define BASE_DESCENDING(a, b) BASE_ASCENDING(b, a)

/* For qsort and bsearch: of numbers, and of structs by their first member, in ascending order. */
int base_compare_u32(const void *a, const void *b);
int base_compare_u64(const void *a, const void *b);

#endif
