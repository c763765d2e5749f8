/*
 * common/escape.h - text from a dump made fit for a terminal.
 */
#ifndef COMMON_ESCAPE_H
#define COMMON_ESCAPE_H

#include "base/base_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at `text` (`size` bytes, at least one): returns how many bytes it has, 0 if
 * they are not well-formed UTF-8.
 */
size_t utf8_decode(const char *text, size_t size, uint32_t *character);

/* What stands for bytes that are no UTF-8. */
#define UTF8_REPLACEMENT 0xfffd

/*
 * Appends `text` as people may see it: control characters as \n, \t, \x1b, those that turn or hide
 * text as \u{202e}, bytes that are no UTF-8 as \xff. Returns the columns that it takes on a
 * terminal.
 */
size_t escape_text(struct bytes *out, const char *text, size_t size);

/* Room for the escape of one character, with its zero. */
#define ESCAPE_SIZE 16

/*
 * The escape, as above, of the control character at `text` (`size` bytes, at least one) if it is
 * one, but for line end and tab: returns its length and the bytes *taken of the text, or 0.
 */
size_t escape_control(const char *text, size_t size, char buf[ESCAPE_SIZE], size_t *taken);

/* Bytes of already escaped `text` that fit into `width` columns; *columns (may be NULL): taken. */
size_t escape_fit(const char *text, size_t size, size_t width, size_t *columns);

/* A part of a text in JSON: bytes as they are, then an escape. */
struct json_part {
	size_t plain;   /* bytes that are the same in JSON */
	char escape[8]; /* of what follows them */
	size_t size;    /* of the escape; 0: the text ends */
	size_t taken;   /* bytes of the text, with those that are escaped */
};

/* The first part of `text` (at least one byte); bytes that are no UTF-8 become U+FFFD. */
void escape_json_part(const char *text, size_t size, struct json_part *part);

/* Appends a string in quotes as JSON has it; NULL as null. */
void escape_json(struct bytes *out, const char *string);

#endif
