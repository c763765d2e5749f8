/*
 * base/search.h - binary search over whatever is in order: the caller compares.
 *
 *	struct base_search s = base_search_in(count);
 *
 *	while (base_search_next(&s))
 *		base_search_step(&s, rows[s.mid].key < key);
 *	return s.low; // the first row whose key is not below `key`; count: there is none
 *
 * Ends after 64 steps at most, also where what is searched is not in order.
 */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct base_search {
	uint64_t low;  /* all before it are before what is looked for */
	uint64_t high; /* this one and all after it are not */
	uint64_t mid;  /* to be compared */
};

/* A search among the places 0 to count - 1. */
static inline struct base_search base_search_in(uint64_t count)
{
	return (struct base_search){ .high = count };
}

/* Sets `mid`; false: the search is over, and `low` is the answer. */
static inline bool base_search_next(struct base_search *s)
{
	s->mid = s->low + (s->high - s->low) / 2;
	return s->low < s->high;
}

/* Says whether the place `mid` is before what is looked for. */
static inline void base_search_step(struct base_search *s, bool is_before)
{
	if (is_before)
		s->low = s->mid + 1;
	else
		s->high = s->mid;
}

#endif
