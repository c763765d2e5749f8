/*
 * import/idset_bits.h - bit operations on a chunk of IDs. Private to idset.c.
 *
 * A unit is an ID without its low zero bits. The low bits of a unit select the word and the bit.
 */
#ifndef IMPORT_IDSET_BITS_H
#define IMPORT_IDSET_BITS_H

#include "base/bytes.h"
#include "import/idset.h"

/* Returns the 64 bits of a word. */
static inline uint64_t bits_of(const struct idset_word *word)
{
	return load64(word->bits);
}

/* Returns the word that contains a unit's bit. */
static inline struct idset_word *word_of(struct idset_chunk *chunk, uint64_t unit)
{
	return &chunk->words[(unit >> 6) & (IDSET_CHUNK_WORDS - 1)];
}

static inline bool has_bit(const struct idset_chunk *chunk, uint64_t unit)
{
	return bits_of(&chunk->words[(unit >> 6) & (IDSET_CHUNK_WORDS - 1)]) >> (unit & 63) & 1;
}

/* Sets a bit. Returns whether it was set before. */
static inline bool set_bit(struct idset_word *word, uint64_t unit)
{
	const uint64_t bits = bits_of(word), bit = (uint64_t)1 << (unit & 63);

	store64(word->bits, bits | bit);
	return (bits & bit) != 0;
}

static inline void clear_bit(struct idset_word *word, uint64_t unit)
{
	store64(word->bits, bits_of(word) & ~((uint64_t)1 << (unit & 63)));
}

#endif
