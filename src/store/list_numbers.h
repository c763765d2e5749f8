/*
 * store/list_numbers.h - the numbers that lists are made of, many at once: varints of 32 bits.
 *
 * How long the next varint is nobody can foretell, so nothing here decides a branch by it.
 */
#ifndef STORE_LIST_NUMBERS_H
#define STORE_LIST_NUMBERS_H

#include <stdbool.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes behind the last varint that store_numbers_put may write. */
#define STORE_NUMBERS_PAD 64u

/*
 * Writes the numbers from `numbers` up to, not with, `end` one after the other; returns the end of
 * what counts.
 */
uint8_t *store_numbers_put(uint8_t *p, const uint32_t *numbers, const uint32_t *end);

/* Numbers that store_numbers_get reads at once. */
#define STORE_NUMBERS_AT_ONCE 16u

/* Whether the processor has what store_numbers_get needs. */
bool store_numbers_are_fast(void);

/*
 * Reads varints from *at on, before `end`: as many as out has room for, a multiple of
 * STORE_NUMBERS_AT_ONCE, or fewer: up to one that does not fit 28 bits or end, or near the end.
 * Returns how many; *at is behind the last then. Only where store_numbers_are_fast.
 */
unsigned store_numbers_get(const uint8_t **at, const uint8_t *end, uint32_t *out, unsigned room);

/* Lists that are made of numbers: of each its length, doubled, then the differences of entries. */
struct store_numbers_lists {
	uint64_t *lengths; /* where the next list's length goes */
	uint32_t *out;     /* where the next entry goes */
	uint64_t left;     /* entries that the list before it still lacks */
	uint32_t last;     /* the one before them, or what has the list */
	uint32_t next_ix;  /* what has the next list */
	uint32_t end_ix;   /* what would have the list behind the last one */
	uint32_t ix_count; /* entries must be below this, which is 2^31 at most */
};

/*
 * Takes `count` numbers that store_numbers_get gave, or as many as belong to lists. 64 can be read
 * from each 64th on, and `out` has room for all and STORE_NUMBERS_AT_ONCE. False if an entry does
 * not hold. Only where store_numbers_are_fast.
 */
bool store_numbers_take(struct store_numbers_lists *lists, const uint32_t *numbers, unsigned count);

#endif
