/*
 * common/output.h - buffered standard output, and the small formatters that write into it.
 *
 * A write that fails is remembered, later output is dropped, and output_close says so: a full disk
 * is a failure of the command. Formatting is by hand, for an export writes millions of cells.
 */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include "common/escape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes collected before one write. */
#define OUTPUT_BUFFER_SIZE 65536

/* Room for any number that is formatted here. */
#define OUTPUT_NUMBER_SIZE 48

/* Writes all of it, past signals. False: errno says why not. */
bool write_all(int fd, const void *data, size_t size);

struct output;

/* What a program that draws on its terminal, or catches signals, has to say about writing. */
struct output_hooks {
	void (*before_write)(struct output *out); /* before text goes to a terminal */
	bool (*is_cancelled)(void); /* whether a write that a signal ended is not to go on */
};

struct output {
	const struct output_hooks *hooks; /* static; NULL: none */
	int fd;
	struct bytes *into; /* NULL: the descriptor; else where the text is collected, lent */
	int error;          /* errno of the first write that failed; 0: none */
	bool is_terminal;
	bool is_held;       /* nothing is written until the buffer is full, or at the end */
	bool was_shortened; /* class names lost their packages: see output_fit */
	bool is_exact;      /* texts have sizes in bytes, not as 1.2 GiB */
	size_t fit;         /* columns that lines should not exceed; 0: any */
	uint64_t written;   /* bytes that went to the descriptor */
	size_t used;        /* bytes waiting in `buffer` */
	char buffer[OUTPUT_BUFFER_SIZE];
};

/* `hooks`, which may be NULL, stay. */
void output_init(struct output *out, int fd, const struct output_hooks *hooks);

/*
 * Collects the text in `into`, to be put in its place later: output_collect_end has it whole there.
 * Where memory was short, into->failed says so.
 */
void output_collect(struct output *out, struct bytes *into);
void output_collect_end(struct output *out);

/* Writes what waits, unless output is held back. */
void output_flush(struct output *out);

/*
 * From here on, paragraphs of text with a line beyond `width` columns are printed with the packages
 * of their class names shortened, and out->was_shortened says so; a line that is still wider is
 * broken at blanks, behind the strokes of a path that it begins with. 0 ends it. A paragraph ends
 * with a blank line; one that the buffer has no room for is taken in parts.
 */
void output_fit(struct output *out, size_t width);

/* Whether the blank at `at` stands between a number and its unit, as in "24 B". */
bool output_in_size(const char *text, size_t at, size_t size);

/* Flushes and closes the descriptor, which may report an earlier error: 0 or an errno. */
int output_close(struct output *out);

void output_bytes(struct output *out, const char *data, size_t size);

/*
 * Releases text that was made to be printed. Where memory was short for it, output has failed
 * (ENOMEM).
 */
void output_release(struct output *out, struct bytes *text);

void output_string(struct output *out, const char *string);
void output_char(struct output *out, char c);
/* `count` blanks. */
void output_blanks(struct output *out, size_t count);
/* printf of less than 1,024 bytes; what is longer is cut. */
void output_format(struct output *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A text as JSON has it, in quotes; bytes that are no UTF-8 become U+FFFD. */
void output_json(struct output *out, const char *text, size_t size);

void output_u64(struct output *out, uint64_t value);
void output_i64(struct output *out, int64_t value);
/* "0x12c4". */
void output_id(struct output *out, uint64_t id);

/*
 * Formatters into a buffer of OUTPUT_NUMBER_SIZE bytes; each returns the bytes written, no zero.
 * "0x12c4".
 */
size_t format_id(char *buf, uint64_t id);
/* "1,234,567". */
size_t format_thousands(char *buf, uint64_t value, bool is_negative);
/* "1.2 GiB". */
size_t format_human(char *buf, uint64_t bytes);
/* The shortest decimal that reads back as the same double; "NaN", "Infinity", "-Infinity". */
size_t format_double(char *buf, double value);
/* For people: as it is if it is short, else four digits; "0.5", "0.3333", "123456.789", "1e-09". */
size_t format_real(char *buf, double value);

#endif
