/*
 * common/escape.c - implements escape.h.
 */
#include "common/escape.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

size_t utf8_decode(const char *text, size_t size, uint32_t *character)
{
	const unsigned char *p = (const unsigned char *)text;
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c;
	size_t n;

	if (p[0] < 0x80) {
		*character = p[0];
		return 1;
	}
	n = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
	if (n == 0 || n > size)
		return 0;
	c = p[0] & (0xffU >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < lowest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*character = c;
	return n;
}

/* Returns whether the character changes the text direction, is invisible, or ends a line. */
static bool is_tricky(uint32_t c)
{
	return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x2069) || c == 0xfeff || c == 0x061c ||
	       (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

static size_t columns_of(uint32_t c)
{
	const int width = c < 0x7f ? 1 : wcwidth((wchar_t)c);

	return width < 0 ? 1 : (size_t)width;
}

/*
 * Writes the escape of an unprintable character. Returns the escape's length, or 0 if the character
 * needs no escape.
 */
static size_t escape_char(char buf[ESCAPE_SIZE], uint32_t c)
{
	int n = 0;

	if (c == '\n' || c == '\t' || c == '\r')
		n = snprintf(buf, ESCAPE_SIZE, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	else if (c < 0x20 || c == 0x7f)
		n = snprintf(buf, ESCAPE_SIZE, "\\x%02x", (unsigned)c);
	else if ((c >= 0x80 && c < 0xa0) || is_tricky(c))
		n = snprintf(buf, ESCAPE_SIZE, "\\u{%x}", (unsigned)c);
	return n > 0 ? (size_t)n : 0;
}

size_t escape_text(struct bytes *out, const char *text, size_t size)
{
	size_t columns = 0;

	for (size_t at = 0; at < size;) {
		char buf[ESCAPE_SIZE + 32];
		uint32_t c = 0;
		size_t n = utf8_decode(text + at, size - at, &c), zeros = 0, escaped;

		while (at + zeros < size && !text[at + zeros])
			zeros++;
		if (zeros > 1) {
			n = zeros;
			escaped = (size_t)snprintf(buf, sizeof(buf), "(%zu zero chars)", zeros);
		} else if (n == 0) {
			escaped = (size_t)snprintf(buf, sizeof(buf), "\\x%02x",
						   (unsigned)(unsigned char)text[at]);
		} else {
			escaped = escape_char(buf, c);
		}
		if (escaped > 0) {
			bytes_add(out, buf, escaped);
			columns += escaped;
		} else {
			bytes_add(out, text + at, n);
			columns += columns_of(c);
		}
		at += n ? n : 1;
	}
	return columns;
}

size_t escape_control(const char *text, size_t size, char buf[ESCAPE_SIZE], size_t *taken)
{
	const unsigned char c = (unsigned char)text[0];
	const unsigned char next = c == 0xc2 && size > 1 ? (unsigned char)text[1] : 0;

	*taken = 1;
	if (c == 0x7f || (c < 0x20 && c != '\n' && c != '\t'))
		return escape_char(buf, c);
	if (next < 0x80 || next >= 0xa0)
		return 0;
	*taken = 2;
	return escape_char(buf, next);
}

size_t escape_fit(const char *text, size_t size, size_t width, size_t *columns)
{
	size_t at = 0, taken = 0;

	while (at < size) {
		uint32_t c = '?';
		size_t n = utf8_decode(text + at, size - at, &c);
		const size_t w = columns_of(c);

		if (taken + w > width)
			break;
		taken += w;
		at += n ? n : 1;
	}
	if (columns)
		*columns = taken;
	return at;
}

static size_t escape_json_char(char buf[8], uint32_t c)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	int n;

	for (const char *p = named; *p; p += 2) {
		if ((uint32_t)*p == c) {
			buf[0] = '\\';
			buf[1] = p[1];
			return 2;
		}
	}
	n = snprintf(buf, 8, "\\u%04x", (unsigned)c);
	return (size_t)n;
}

void escape_json_part(const char *text, size_t size, struct json_part *part)
{
	*part = (struct json_part){ 0 };
	while (part->plain < size) {
		const char *at = text + part->plain;
		const unsigned char byte = (unsigned char)*at;
		uint32_t c;
		size_t n;

		if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\') {
			part->plain++;
			continue;
		}
		n = utf8_decode(at, size - part->plain, &c);
		if (n == 0 || c < 0xa0) {
			part->size = escape_json_char(part->escape, n > 0 ? c : UTF8_REPLACEMENT);
			part->taken = part->plain + (n > 0 ? n : 1);
			return;
		}
		part->plain += n;
	}
	part->taken = size;
}

void escape_json(struct bytes *out, const char *string)
{
	const size_t size = string ? strlen(string) : 0;
	struct json_part part;

	bytes_string(out, string ? "\"" : "null");
	for (size_t at = 0; at < size; at += part.taken) {
		escape_json_part(string + at, size - at, &part);
		bytes_add(out, string + at, part.plain);
		bytes_add(out, part.escape, part.size);
	}
	bytes_string(out, string ? "\"" : "");
}
