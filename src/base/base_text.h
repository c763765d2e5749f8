/*
 * base/base_text.h - string buffers, formatting of numbers and characters, and a growing byte
 * buffer.
 */
#ifndef BASE_BASE_TEXT_H
#define BASE_BASE_TEXT_H

#include "heapdb.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A caller's buffer for a string and its terminating zero byte: `size` bytes, at least 1. Longer
 * strings are truncated.
 */
struct base_text {
	char *buf;
	size_t size;
};

/* Makes a base_text of an array of char. */
#define BASE_TEXT(array) ((struct base_text){ (array), sizeof(array) })

/* A formatted number such as "1,234,567"; UINT64_MAX takes 26 characters. */
struct base_number {
	char text[28];
};

/*
 * Formats a number with thousands separators, independent of the locale. As the argument of a
 * format, `base_number(n).text` is valid until the end of the full expression.
 */
struct base_number base_number(uint64_t value);

/*
 * Formats a size in readable units: "1.6 KiB", "512 B". The result is valid as long as a result of
 * base_number.
 */
struct base_number base_size(uint64_t bytes);

/*
 * Reads a decimal number such as "512" or, if `has_unit` is set, "2G" or "64KiB" (with K, M, G or
 * T). Returns false for anything else, and for numbers of more than 64 bits.
 */
bool base_read_number(const char *text, bool has_unit, uint64_t *out);

/* Returns whether a text ends with `end` and has characters before it. */
bool base_ends_with(const char *text, const char *end);

/*
 * Formats a float or double as the shortest decimal that reads back as the same number; "NaN",
 * "Infinity" and "-Infinity" as in Java. The result is valid as long as a result of base_number.
 */
struct base_number base_real(double value, bool is_float);

/*
 * Writes the mark that ends a truncated string, and returns its size: "... (1234567 characters)",
 * or with another unit (`what`). In human-readable output, the number has separators: "1,234,567".
 */
#define BASE_CUT_MARK_BYTES 80u
size_t base_cut_mark(char buf[BASE_CUT_MARK_BYTES], uint64_t count, const char *what,
		     bool is_for_people);

/* Writes a character in UTF-8 and returns its size. Writes U+FFFD for an invalid code point. */
size_t base_utf8(char buf[4], uint32_t character);

/*
 * A growing byte buffer. It must be initialised with zeros; `most` may be set to limit its size.
 * The first failure sets `failed`, and nothing is added afterwards, so a single check at the end
 * suffices. Code that must report each failure immediately uses struct base_vec instead.
 */
struct bytes {
	char *data; /* owned, not zero-terminated */
	size_t size;
	size_t capacity;
	uint64_t most; /* maximum capacity in bytes; 0 means unlimited */
	/* whether memory ran out or `most` was reached, so that `data` is incomplete */
	bool failed;
};

/*
 * Returns space for `more` bytes at the end, or NULL. The caller adds the number of bytes written
 * to `size`.
 */
void *bytes_room(struct bytes *b, size_t more);
void bytes_add(struct bytes *b, const void *data, size_t size);
void bytes_string(struct bytes *b, const char *string);
void bytes_format(struct bytes *b, const char *format, ...) HDB_PRINTF(2, 3);
/* Adds a character in UTF-8, like base_utf8. */
void bytes_utf8(struct bytes *b, uint32_t character);
/* Frees the bytes. `most` keeps its value. */
void bytes_release(struct bytes *b);

#endif
