/*
 * base/search.h - binary search in any sorted data. The caller compares elements.
 *
 * struct base_search s = base_search_in(count);
 *
 * while (base_search_next(&s))
 *         base_search_step(&s, rows[s.mid].key < key);
 * return s.low; // the first row whose key is not less than `key`, or count
 *
 * Takes at most 64 steps, even if the data is not sorted.
 */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct base_search {
	uint64_t low;  /* elements before this index are less than the target */
	uint64_t high; /* elements from this index on are not less than the target */
	uint64_t mid;  /* index to compare next */
};

/* Begins a search among the indexes 0 to count - 1. */
static inline struct base_search base_search_in(uint64_t count)
{
	return (struct base_search){ .high = count };
}

/* Sets `mid`. Returns false when the search is finished; `low` is then the result. */
static inline bool base_search_next(struct base_search *s)
{
	s->mid = s->low + (s->high - s->low) / 2;
	return s->low < s->high;
}

/* Records whether the element at `mid` is before the target. */
static inline void base_search_step(struct base_search *s, bool is_before)
{
	if (is_before)
		s->low = s->mid + 1;
	else
		s->high = s->mid;
}

#endif
