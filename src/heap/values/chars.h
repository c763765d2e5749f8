/*
 * heap/values/chars.h - the characters of a string where they lie in the dump: as UTF-8, as a hash.
 *
 * Knows nothing of objects: strings.h finds the characters. A view belongs to one thread, so
 * several threads read with a view each.
 */
#ifndef HEAP_VALUES_CHARS_H
#define HEAP_VALUES_CHARS_H

#include "base/source.h"

#include <stdbool.h>

/* Where the characters of a string lie in the dump. */
struct heap_chars {
	uint64_t offset;    /* of the first */
	uint64_t count;     /* UTF-16 units, or bytes of Latin-1 */
	uint8_t unit_bytes; /* 2, or 1: Latin-1 */
	bool is_little;     /* two bytes a unit, the low one first */
	bool is_char_array; /* kept in a char[], not in a byte[] */
};

/* Characters as UTF-8. */
struct heap_utf8 {
	char *buf;      /* lent by the caller; terminated, cut at a character */
	size_t size;    /* room in bytes, at least 1 */
	bool is_c_text; /* by the caller: U+0000 becomes HEAP_C_ZERO, so that no zero is inside */
	size_t used;    /* result: bytes written, without the zero */
	uint64_t units; /* result: UTF-16 units, or bytes of Latin-1, of all the characters */
	bool is_whole;  /* result: all of them had room */
};

/* Writes the characters to out->buf; lone surrogates become U+FFFD. */
int heap_chars_utf8(struct base_view *view, const struct heap_chars *chars, struct heap_utf8 *out,
		    struct hdb_error *err);

/* Whether all units are Latin-1, so that a byte each would do. */
int heap_chars_are_latin1(struct base_view *view, const struct heap_chars *chars, bool *out,
			  struct hdb_error *err);

/*
 * 128 bits of XXH3 of the text, the same for the same text however it is kept, in this process
 * alone: the seed is base_hash_seed, so that nobody can write a dump whose texts have one hash.
 * What is shown must not depend on it.
 */
struct heap_text_hash {
	uint64_t low, high;
};
int heap_chars_hash(struct base_view *view, const struct heap_chars *chars,
		    struct heap_text_hash *out, struct hdb_error *err);

#endif
