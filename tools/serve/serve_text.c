/*
 * serve/serve_text.c - a text in memory, and JSON strings.
 */
#include "serve/serve_text.h"

#include "common/escape.h"

#include <stdlib.h>
#include <string.h>

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

void serve_put_json(FILE *out, const char *string)
{
	if (!string) {
		fputs("null", out);
		return;
	}
	putc('"', out);
	for (const char *s = string, *end = s + strlen(s); s < end;) {
		uint32_t c;
		const size_t n = utf8_decode(s, (size_t)(end - s), &c);

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
