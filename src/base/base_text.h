/*
 * base/base_text.h - where a text goes, and numbers in texts.
 */
#ifndef BASE_BASE_TEXT_H
#define BASE_BASE_TEXT_H

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

#endif
