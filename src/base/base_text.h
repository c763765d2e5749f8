/*
 * base/base_text.h - where a text goes, numbers and characters in texts, and bytes that grow.
 */
#ifndef BASE_BASE_TEXT_H
#define BASE_BASE_TEXT_H

#include "heapdb.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Room for a text and the zero byte that ends it: `size` bytes, 1 at least, lent by who asks for
 * the text. What does not fit is cut.
 */
struct base_text {
	char *buf;
	size_t size;
};

/* The room that an array of char is. */
#define BASE_TEXT(array) ((struct base_text){ (array), sizeof(array) })

/* A number as people read it, "1,234,567"; UINT64_MAX takes 26 characters. */
struct base_number {
	char text[28];
};

/*
 * The number with thousands separators, in every locale the same. For arguments of a format:
 * `base_number(n).text` lives to the end of the call that it is written in.
 */
struct base_number base_number(uint64_t value);

/* A size as people read it, "1.6 KiB", "512 B"; to be used likewise. */
struct base_number base_size(uint64_t bytes);

/* Writes a character in UTF-8 and returns its size; U+FFFD stands for what is no character. */
size_t base_utf8(char buf[4], uint32_t character);

/*
 * Bytes that grow. Initialise with zeros, and with `most` if there is a limit. The first failure
 * is kept in `failed` and nothing is added after it, so that one check at the end is enough; where
 * each step reports its failure, append to a struct base_vec instead.
 */
struct bytes {
	char *data; /* owned, not zero-terminated */
	size_t size;
	size_t capacity;
	uint64_t most; /* limit of the capacity in bytes; 0: none */
	bool failed;   /* memory or `most` ran out: `data` is incomplete */
};

/* Room for `more` bytes at the end, or NULL. They count when `size` is raised. */
void *bytes_room(struct bytes *b, size_t more);
void bytes_add(struct bytes *b, const void *data, size_t size);
void bytes_string(struct bytes *b, const char *string);
void bytes_format(struct bytes *b, const char *format, ...) HDB_PRINTF(2, 3);
/* Adds a character in UTF-8, as base_utf8 writes it. */
void bytes_utf8(struct bytes *b, uint32_t character);
/* Frees the bytes; `most` stays. */
void bytes_release(struct bytes *b);

#endif
