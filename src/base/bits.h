/*
 * base/bits.h - sets of small numbers, stored as bits in 64-bit words, for one thread.
 * base/rank_bitset.h has sets that support ranks and can be filled by several threads.
 */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of 64-bit words for a set of numbers below `count`. */
static inline uint64_t base_bit_words(uint64_t count)
{
	return count / 64 + (count % 64 != 0);
}

static inline bool base_bit_has(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static inline void base_bit_put(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void base_bit_drop(uint64_t *bits, uint64_t i)
{
	bits[i / 64] &= ~((uint64_t)1 << (i % 64));
}

/*
 * Sets *i to the smallest number in the set that is at least *i. Returns false if no such number
 * below `count` exists. To iterate: for (uint64_t i = 0; base_bit_next(bits, count, &i); i++)
 */
static inline bool base_bit_next(const uint64_t *bits, uint64_t count, uint64_t *i)
{
	while (*i < count) {
		const uint64_t left = bits[*i / 64] >> (*i % 64);

		if (left) {
			*i += (unsigned)__builtin_ctzll(left);
			return *i < count;
		}
		*i = (*i / 64 + 1) * 64;
	}
	return false;
}

#endif
