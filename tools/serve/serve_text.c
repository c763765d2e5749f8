/*
 * serve/serve_text.c - a text in memory, and JSON strings.
 */
#include "serve/serve_text.h"

#include <stdint.h>
#include <stdlib.h>

bool serve_text_begin(struct serve_text *text)
{
	*text = (struct serve_text){ 0 };
	text->out = open_memstream(&text->data, &text->size);
	return text->out != NULL;
}

bool serve_text_end(struct serve_text *text)
{
	const bool is_whole = text->out && !ferror(text->out);
	const bool is_closed = text->out && fclose(text->out) == 0;

	text->out = NULL;
	return is_whole && is_closed;
}

void serve_text_release(struct serve_text *text)
{
	serve_text_end(text);
	free(text->data);
	text->data = NULL;
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

void serve_put_json(FILE *out, const char *string)
{
	if (!string) {
		fputs("null", out);
		return;
	}
	putc('"', out);
	for (const unsigned char *s = (const unsigned char *)string; *s;) {
		uint32_t c;
		size_t n = decode(s, &c);

		if (n == 0)
			c = 0xfffd;
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (char)c);
		else if (c >= 0x20 && c < 0x7f)
			putc((int)c, out);
		else if (c < 0x10000)
			fprintf(out, "\\u%04x", (unsigned)c);
		else
			fprintf(out, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)),
				(unsigned)(0xdc00 + (c & 1023)));
		s += n ? n : 1;
	}
	putc('"', out);
}
