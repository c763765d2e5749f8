/*
 * serve/serve_text.c - a text that grows. The few small answers that are the server's own are made
 * with it; rows come from the command's writer.
 */
#include "serve/serve_text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any answer of the server's own has. */
#define TEXT_MAX ((size_t)16 << 20)

void serve_text_add(struct serve_text *text, const char *data, size_t size)
{
	if (text->failed || size > TEXT_MAX - text->size) {
		text->failed = true;
		return;
	}
	if (size > text->capacity - text->size) {
		const size_t capacity = 2 * (text->size + size) + 256;
		char *grown = realloc(text->data, capacity);

		if (!grown) {
			text->failed = true;
			return;
		}
		text->data = grown;
		text->capacity = capacity;
	}
	memcpy(text->data + text->size, data, size);
	text->size += size;
}

void serve_text_string(struct serve_text *text, const char *string)
{
	serve_text_add(text, string, strlen(string));
}

void serve_text_format(struct serve_text *text, const char *format, ...)
{
	char line[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n > 0)
		serve_text_add(text, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

/* Bytes of the character at `s`, 0 if it is no well-formed UTF-8; *c is the character. */
static size_t decode(const unsigned char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80     ? 1 :
		   s[0] >> 5 == 6  ? 2 :
		   s[0] >> 4 == 14 ? 3 :
		   s[0] >> 3 == 30 ? 4 :
				     0;

	*c = n == 1 ? s[0] : n == 0 ? 0 : s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		*c = *c << 6 | (s[i] & 63u);
	}
	return n > 1 && (*c < least[n] || *c > 0x10ffff || *c >> 11 == 27) ? 0 : n;
}

void serve_text_json(struct serve_text *text, const char *string)
{
	if (!string) {
		serve_text_string(text, "null");
		return;
	}
	serve_text_add(text, "\"", 1);
	for (const unsigned char *s = (const unsigned char *)string; *s;) {
		uint32_t c;
		size_t n = decode(s, &c);

		if (n == 0)
			c = 0xfffd;
		if (c == '"' || c == '\\')
			serve_text_format(text, "\\%c", (char)c);
		else if (c >= 0x20 && c < 0x7f)
			serve_text_add(text, (const char *)s, 1);
		else if (c < 0x10000)
			serve_text_format(text, "\\u%04x", (unsigned)c);
		else
			serve_text_format(text, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)),
					  (unsigned)(0xdc00 + (c & 1023)));
		s += n ? n : 1;
	}
	serve_text_add(text, "\"", 1);
}

void serve_text_release(struct serve_text *text)
{
	free(text->data);
	*text = (struct serve_text){ 0 };
}
