/*
 * heap/values/text.h - converts strings of a dump to valid UTF-8.
 *
 * A string may contain U+0000. In C strings it is C0 80, as in Modified UTF-8; these bytes never
 * occur in valid UTF-8. heap_drop_broken restores the zero when a string is returned with its size.
 */
#ifndef HEAP_VALUES_TEXT_H
#define HEAP_VALUES_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies `text` to buf (size bytes, terminated) as valid UTF-8. Decodes Modified UTF-8's C0 80 and
 * surrogate pairs (JVM specification, 4.4.7). Invalid bytes become U+FFFD. If the result does not
 * fit, it is truncated at a character boundary. Returns the number of bytes written, without the
 * terminator.
 */
size_t heap_clean_text(const char *text, size_t text_size, char *buf, size_t size);

/*
 * Returns an owned copy of a string as valid UTF-8, and sets *size to its size. Returns NULL if
 * memory is exhausted.
 */
char *heap_clean_copy(const char *text, size_t *size);

/*
 * Removes incomplete characters from a string in place, for example after truncation at the end of
 * a buffer. C0 80 becomes a zero byte. Returns the new size. The string is not terminated.
 */
size_t heap_drop_broken(char *text, size_t size);

/* Code point for U+0000 in a C string, written as C0 80. */
#define HEAP_C_ZERO 0x110000u

/*
 * Converts UTF-16 to UTF-8, one unit at a time. Lone surrogates become U+FFFD. Everything after the
 * first character that does not fit is dropped.
 */
struct heap_utf16 {
	char *p;         /* where to write the next character */
	const char *end; /* end of the buffer */
	uint32_t high;   /* pending first half of a surrogate pair, or 0 if none */
	bool is_full;    /* whether a character did not fit */
};
void heap_put_unit(struct heap_utf16 *to, uint32_t unit);
static inline void heap_put_utf16(struct heap_utf16 *to, uint32_t unit)
{
	if (unit < 0x80 && !to->high && to->p < to->end && !to->is_full)
		*to->p++ = (char)unit;
	else
		heap_put_unit(to, unit);
}
/* Writes a pending surrogate. */
void heap_end_utf16(struct heap_utf16 *to);

/*
 * Appends a code point at p, without writing past `end`. Returns the new p, or NULL if the
 * character does not fit.
 */
char *heap_put_utf8(char *p, const char *end, uint32_t code);

#endif
