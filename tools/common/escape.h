/*
 * common/escape.h - makes text from a dump safe for a terminal.
 */
#ifndef COMMON_ESCAPE_H
#define COMMON_ESCAPE_H

#include "base/base_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at `text`, of which at least one byte (`size` bytes) is available. Returns
 * its length in bytes, or 0 if it is not valid UTF-8.
 */
size_t utf8_decode(const char *text, size_t size, uint32_t *character);

/* Substitute for invalid UTF-8. */
#define UTF8_REPLACEMENT 0xfffd

/*
 * Appends `text` for display: control characters as \n, \t, \x1b, bidirectional and invisible
 * characters as \u{202e}, invalid bytes as \xff, and consecutive zeros, such as a redacted string,
 * as (12 zero chars). Returns the number of terminal columns.
 */
size_t escape_text(struct bytes *out, const char *text, size_t size);

/* Buffer size for the escape of one character, including the zero. */
#define ESCAPE_SIZE 16

/*
 * If a control character other than line feed and tab begins at `text` (`size` bytes, at least
 * one), writes its escape. Returns the escape's length, or 0 if there is none, and sets *taken to
 * the number of bytes consumed.
 */
size_t escape_control(const char *text, size_t size, char buf[ESCAPE_SIZE], size_t *taken);

/*
 * Returns how many bytes of escaped `text` fit into `width` columns; *columns (may be NULL) is the
 * width used.
 */
size_t escape_fit(const char *text, size_t size, size_t width, size_t *columns);

/* A segment of text in JSON: unchanged bytes, followed by an escape. */
struct json_part {
	size_t plain;   /* number of unchanged bytes */
	char escape[8]; /* the escape after them */
	size_t size;    /* length of the escape; 0 means end of text */
	size_t taken;   /* bytes consumed, including escaped bytes */
};

/* Returns the first segment of `text` (at least one byte). Invalid UTF-8 becomes U+FFFD. */
void escape_json_part(const char *text, size_t size, struct json_part *part);

/* Appends a quoted JSON string, or null for NULL. */
void escape_json(struct bytes *out, const char *string);

#endif
