/*
 * heap/values/text.h - texts of a dump as valid UTF-8.
 *
 * A text may have U+0000 inside. Where it is made of parts as a C string, the two bytes C0 80 of
 * Modified UTF-8, which no other UTF-8 has, stand for it; heap_drop_broken puts the zero back where
 * a text with its size is handed out.
 */
#ifndef HEAP_VALUES_TEXT_H
#define HEAP_VALUES_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies `text` to buf (size bytes, terminated) as valid UTF-8: Modified UTF-8's C0 80 and
 * surrogate pairs are decoded (JVM specification, 4.4.7), bytes that are none become U+FFFD. Cut at
 * a character if it does not fit. Returns the bytes written without the final zero.
 */
size_t heap_clean_text(const char *text, size_t text_size, char *buf, size_t size);

/* The same as a copy, owned, and its *size; NULL when memory is short. */
char *heap_clean_copy(const char *text, size_t *size);

/*
 * Takes out of a text what is no character, in place: the rest of one that was cut where a buffer
 * ended. C0 80 becomes a zero. Returns the bytes that are left; nothing is terminated.
 */
size_t heap_drop_broken(char *text, size_t size);

/* Code point U+0000 in a C string: C0 80. */
#define HEAP_C_ZERO 0x110000u

/*
 * UTF-16 that becomes UTF-8, a unit at a time; halves of pairs become U+FFFD. What comes after the
 * first character that does not fit is dropped.
 */
struct heap_utf16 {
	char *p;         /* where the next character goes */
	const char *end; /* of the room */
	uint32_t high;   /* the first half of a pair, which waits; 0: none */
	bool is_full;    /* something did not fit */
};
void heap_put_unit(struct heap_utf16 *to, uint32_t unit);
static inline void heap_put_utf16(struct heap_utf16 *to, uint32_t unit)
{
	if (unit < 0x80 && !to->high && to->p < to->end && !to->is_full)
		*to->p++ = (char)unit;
	else
		heap_put_unit(to, unit);
}
/* Puts what waits. */
void heap_end_utf16(struct heap_utf16 *to);

/* Appends one code point to [p, end); returns the new p, or NULL if it does not fit. */
char *heap_put_utf8(char *p, const char *end, uint32_t code);

#endif
