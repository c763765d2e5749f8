/* base/sort.h - sorts lists of nodes in linear time, and provides comparisons for qsort. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A node and its sort key. */
struct base_sort_key {
	uint64_t key;
	uint32_t node;
};

/*
 * Sorts `keys` by key, in ascending order. The sort is stable. `spare` has the same size and is
 * overwritten.
 */
void base_sort_keys(struct base_sort_key *keys, struct base_sort_key *spare, size_t count);

/* Sorts nodes in ascending order. `spare` has the same size and is overwritten. */
void base_sort_nodes(uint32_t *nodes, uint32_t *spare, size_t count);

/*
 * For comparison functions with several criteria. If the two values differ, these macros return
 * from the function, so that the smaller (ASCENDING) or larger (DESCENDING) value comes first.
 */
#define BASE_ASCENDING(a, b) \
	do { \
		if ((a) != (b)) \
			return (a) < (b) ? -1 : 1; \
	} while (0)
#define BASE_DESCENDING(a, b) BASE_ASCENDING(b, a)
/* Like the macro above, for a comparison that returns a number below, equal to or above 0. */
#define BASE_COMPARED(comparison) \
	do { \
		const int compared_ = (comparison); \
		if (compared_) \
			return compared_; \
	} while (0)

/*
 * Defines a comparison function for structures that compares up to five members, the most important
 * first: BASE_ORDER(compare, struct item, BASE_DOWN(bytes), BASE_UP(ix)). BASE_BY_TEXT compares
 * C strings. In BASE_BY (a comparison) and BASE_FALSE_FIRST (a condition for each of them), the
 * structures are x and y.
 */
#define BASE_ORDER(name, type, ...) BASE_ORDER_OF(name, type, __VA_ARGS__, , , , , )
#define BASE_ORDER_OF(name, type, first, second, third, fourth, fifth, ...) \
	static int name(const void *left, const void *right) \
	{ \
		const type *x = left, *y = right; \
		first second third fourth fifth return 0; \
	}
#define BASE_UP(member) BASE_ASCENDING(x->member, y->member);
#define BASE_DOWN(member) BASE_DESCENDING(x->member, y->member);
#define BASE_BY(comparison) BASE_COMPARED(comparison);
#define BASE_BY_TEXT(member) BASE_BY(strcmp(x->member, y->member))
#define BASE_FALSE_FIRST(of_x, of_y) BASE_ASCENDING(of_x, of_y);

/*
 * For qsort and bsearch: compare numbers, or structures by their first member, in ascending order.
 */
int base_compare_u32(const void *a, const void *b);
int base_compare_u64(const void *a, const void *b);

/* Compares strings that are not terminated, byte by byte. An empty string may be NULL. */
static inline int base_compare_text(const char *a, size_t a_size, const char *b, size_t b_size)
{
	const size_t least = a_size < b_size ? a_size : b_size;
	const int order = least ? memcmp(a, b, least) : 0;

	return order ? order : (a_size > b_size) - (a_size < b_size);
}

#endif
