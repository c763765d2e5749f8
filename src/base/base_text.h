/*
 * base/base_text.h - where a text goes.
 */
#ifndef BASE_BASE_TEXT_H
#define BASE_BASE_TEXT_H

#include <stddef.h>

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

#endif
