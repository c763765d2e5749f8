/*
 * heap/values/chars.h - the characters of a string in the dump: converts them to UTF-8, computes a
 * hash.
 *
 * Does not know objects: strings.h finds the characters. Each thread uses its own view.
 */
#ifndef HEAP_VALUES_CHARS_H
#define HEAP_VALUES_CHARS_H

#include "base/source.h"

#include <stdbool.h>

/* Position of a string's characters in the dump. */
struct heap_chars {
	uint64_t offset;    /* offset of the first unit */
	uint64_t count;     /* number of UTF-16 units, or of Latin-1 bytes */
	uint8_t unit_bytes; /* 2 for UTF-16, 1 for Latin-1 */
	bool is_little;     /* two bytes per unit, low byte first */
	bool is_char_array; /* stored in a char[], not in a byte[] */
};

/* Output buffer for UTF-8. */
struct heap_utf8 {
	char *buf;   /* provided by the caller; terminated, cut at a character boundary */
	size_t size; /* size in bytes, at least 1 */
	/* set by the caller: U+0000 becomes HEAP_C_ZERO, so that the text has no zero bytes */
	bool is_c_text;
	size_t used;    /* result: bytes written, without the terminator */
	uint64_t units; /* result: total number of UTF-16 units or Latin-1 bytes */
	bool is_whole;  /* result: everything fitted */
};

/* Converts the characters to UTF-8 in out->buf. Lone surrogates become U+FFFD. */
int heap_chars_utf8(struct base_view *view, const struct heap_chars *chars, struct heap_utf8 *out,
		    struct hdb_error *err);

/* Whether all units are Latin-1, so that one byte per unit would be enough. */
int heap_chars_are_latin1(struct base_view *view, const struct heap_chars *chars, bool *out,
			  struct hdb_error *err);

/*
 * A 128-bit XXH3 hash of the text, equal for equal texts however they are stored. Valid in this
 * process only: the seed is base_hash_seed, so that nobody can construct a dump whose texts
 * collide. Output must not depend on it.
 */
struct heap_text_hash {
	uint64_t low, high;
};
int heap_chars_hash(struct base_view *view, const struct heap_chars *chars,
		    struct heap_text_hash *out, struct hdb_error *err);

#endif
