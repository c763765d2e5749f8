/*
 * serve/serve_text.h - a text that grows, as a stream in memory, and JSON strings in it. The few
 * small answers that are the server's own are made with it; rows come from the command's writer.
 */
#ifndef HEAPDB_SERVE_TEXT_H
#define HEAPDB_SERVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct serve_text {
	FILE *out;  /* what is written goes here; NULL: there was no memory */
	char *data; /* owned, by free(); there after serve_text_end */
	size_t size;
};

/* False if there is no memory. */
bool serve_text_begin(struct serve_text *text);
/* Whether all of it is in `data`; ends `out`. */
bool serve_text_end(struct serve_text *text);
void serve_text_release(struct serve_text *text);

/* A JSON string of pure ASCII, or null. Bytes that are no UTF-8 become U+FFFD. */
void serve_put_json(FILE *out, const char *string);

#endif
