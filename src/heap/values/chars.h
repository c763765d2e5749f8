/*
 * heap/values/chars.h - converts the characters of a string to UTF-8 and hashes them.
 *
 * These functions do not depend on objects; strings.h finds the characters of a string object. Each
 * thread uses its own view.
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
	bool is_little;     /* whether each unit has two bytes with the low byte first */
	bool is_char_array; /* whether the array is a char[] rather than a byte[] */
};

/* Output buffer for UTF-8. */
struct heap_utf8 {
	/*
	 * the caller's buffer; the result is terminated, and truncated at a character boundary if
	 * needed
	 */
	char *buf;
	size_t size; /* size in bytes, at least 1 */
	/*
	 * set by the caller: whether U+0000 becomes HEAP_C_ZERO, so that the string has no zero
	 * bytes
	 */
	bool is_c_text;
	size_t used;    /* result: number of bytes written, without the terminator */
	uint64_t units; /* result: total number of UTF-16 units or Latin-1 bytes */
	bool is_whole;  /* result: whether everything fitted */
};

/* Converts the characters to UTF-8 in out->buf. Lone surrogates become U+FFFD. */
int heap_chars_utf8(struct base_view *view, const struct heap_chars *chars, struct heap_utf8 *out,
		    struct hdb_error *err);

/* Sets *out to whether all units are Latin-1, so that one byte per unit suffices. */
int heap_chars_are_latin1(struct base_view *view, const struct heap_chars *chars, bool *out,
			  struct hdb_error *err);

/*
 * A 128-bit XXH3 hash of a string's text. Equal texts have equal hashes, however they are stored.
 * The hash is seeded with base_hash_seed, so nobody can construct a dump with colliding texts; it
 * is valid only in this process, and must not affect output.
 */
struct heap_text_hash {
	uint64_t low, high;
};
int heap_chars_hash(struct base_view *view, const struct heap_chars *chars,
		    struct heap_text_hash *out, struct hdb_error *err);

#endif
