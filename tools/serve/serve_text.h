/*
 * serve/serve_text.h - a text that grows, and JSON strings in it.
 */
#ifndef HEAPDB_SERVE_TEXT_H
#define HEAPDB_SERVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* All zeros is empty. */
struct serve_text {
	char *data; /* owned, by free(); not zero-terminated */
	size_t size, capacity;
	bool failed; /* there was no memory; `data` misses something */
};

void serve_text_add(struct serve_text *text, const char *data, size_t size);
void serve_text_string(struct serve_text *text, const char *string);
/* printf of less than 1,024 bytes. */
void serve_text_format(struct serve_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A JSON string of pure ASCII, or null. Bytes that are no UTF-8 become U+FFFD. */
void serve_text_json(struct serve_text *text, const char *string);
void serve_text_release(struct serve_text *text);

#endif
