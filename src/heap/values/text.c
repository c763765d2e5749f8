/*
 * heap/values/text.c - converts strings of a dump to valid UTF-8.
 */
#include "heap/values/text.h"

#include "base/base_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

/* Appends a character. ASCII comes first because most text is ASCII. */
char *heap_put_utf8(char *p, const char *end, uint32_t code)
{
	char utf8[4] = "\xc0\x80";
	size_t size;

	assert(p <= end);
	if (code < 0x80 && p < end) {
		*p = (char)code;
		return p + 1;
	}
	size = code == HEAP_C_ZERO ? 2 : base_utf8(utf8, code);
	if (size > (size_t)(end - p))
		return NULL;
	memcpy(p, utf8, size);
	return p + size;
}

static void put_code(struct heap_utf16 *to, uint32_t code)
{
	char *next = to->is_full ? NULL : heap_put_utf8(to->p, to->end, code);

	to->is_full = !next;
	to->p = next ? next : to->p;
}

/*
 * Appends a unit. A high surrogate waits for the next unit. If that is a low surrogate, both form
 * one character; otherwise the high surrogate is replaced, and the unit is handled by itself.
 */
void heap_put_unit(struct heap_utf16 *to, uint32_t unit)
{
	const uint32_t high = to->high;
	const bool is_low = unit >= 0xdc00 && unit < 0xe000;

	to->high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
	if (high)
		put_code(to, is_low ? 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00) :
				      REPLACEMENT);
	if (!to->high && !(high && is_low))
		put_code(to, is_low ? REPLACEMENT : unit);
}

void heap_end_utf16(struct heap_utf16 *to)
{
	if (to->high)
		put_code(to, REPLACEMENT);
	to->high = 0;
}

/*
 * Decodes the sequence at s[0]. Returns its size, or 0 if it is invalid. Surrogates are accepted.
 */
static size_t decode(const uint8_t *s, size_t n, uint32_t *code)
{
	size_t want;

	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	want = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc0 || s[0] > 0xf4 || n < want)
		return 0;
	*code = s[0] & (0x7fu >> want);
	for (size_t i = 1; i < want; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code > 0x10ffff || (want == 3 && *code < 0x800) || (want == 4 && *code < 0x10000))
		return 0;
	/* A two-byte sequence for a value below 0x80 is valid only for U+0000 in Modified UTF-8. */
	return want == 2 && *code < 0x80 && *code != 0 ? 0 : want;
}

/*
 * Converts text to valid UTF-8. Modified UTF-8 encodes a character above U+FFFF as two surrogates
 * of three bytes each, which become one character of four bytes, so decoding never makes valid text
 * longer.
 */
size_t heap_clean_text(const char *text, size_t text_size, char *buf, size_t size)
{
	const uint8_t *s = (const uint8_t *)text;
	const char *end = buf + size - 1;
	char *p = buf;

	assert(size > 0);
	for (size_t i = 0; i < text_size;) {
		uint32_t code, low;
		size_t n = decode(s + i, text_size - i, &code);
		char *next;

		if (!n) {
			code = REPLACEMENT;
			n = 1;
		} else if (code >= 0xd800 && code < 0xdc00 && text_size - i >= 6 &&
			   decode(s + i + 3, text_size - i - 3, &low) == 3 && low >= 0xdc00 &&
			   low < 0xe000) {
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
			n = 6;
		} else if (code >= 0xd800 && code < 0xe000) {
			code = REPLACEMENT;
		}
		next = heap_put_utf8(p, end, code);
		if (!next)
			break;
		p = next;
		i += n;
	}
	*p = '\0';
	return (size_t)(p - buf);
}

char *heap_clean_copy(const char *text, size_t *size)
{
	/* U+FFFD, which replaces an invalid byte, takes three bytes. */
	const size_t room = *size * 3 + 1;
	char *copy = malloc(room);

	if (copy)
		*size = heap_clean_text(text, *size, copy, room);
	return copy;
}

/* Removes incomplete characters. Works in place, because no character becomes longer. */
size_t heap_drop_broken(char *text, size_t size)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t to = 0;

	for (size_t at = 0; at < size;) {
		uint32_t code = s[at];
		size_t n = code < 0x80 ? 1 : decode(s + at, size - at, &code);

		/* Lone surrogates come from the dump and are not valid UTF-8. */
		if (!n || (code >= 0xd800 && code < 0xe000)) {
			at++;
			continue;
		}
		if (n == 2 && !code)
			text[to++] = '\0';
		else if (to != at)
			memmove(text + to, text + at, n);
		to += n == 2 && !code ? 0 : n;
		at += n;
	}
	return to;
}
