/*
 * common/output.h - buffered standard output and number formatting. The first write error is
 * recorded, later output is dropped, and output_close reports the error, so a full disk fails the
 * command. Numbers are formatted by hand because an export writes millions of cells.
 */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include "base/outfile.h"
#include "common/escape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of the write buffer. */
#define OUTPUT_BUFFER_SIZE 65536

/* Buffer size for any formatted number. */
#define OUTPUT_NUMBER_SIZE 48

struct output;

/* Callbacks of programs that draw on the terminal or catch signals. */
struct output_hooks {
	void (*before_write)(struct output *out); /* called before text is written to a terminal */
	bool (*is_cancelled)(void); /* whether an interrupted write should be abandoned */
};

struct output {
	const struct output_hooks *hooks; /* static, or NULL if none */
	int fd;
	struct bytes *
		into; /* buffer that collects the output; NULL if the output goes to the descriptor;
		       * borrowed */
	int error;    /* errno of the first failed write, or 0 if no write failed */
	bool is_terminal;
	bool is_held;       /* whether to write only when the buffer is full, or at the end */
	bool was_shortened; /* whether packages of class names were shortened; see output_fit */
	bool is_exact;      /* whether to print sizes in bytes instead of as 1.2 GiB */
	size_t fit;         /* maximum number of columns in a line; 0 means unlimited */
	uint64_t written;   /* bytes written to the descriptor */
	size_t used;        /* bytes in `buffer` */
	char buffer[OUTPUT_BUFFER_SIZE];
};

/* Initialises the output. `hooks` (may be NULL) must stay valid while the output is used. */
void output_init(struct output *out, int fd, const struct output_hooks *hooks);

/* Collects the text in `into` until output_collect_end. into->failed is set if memory runs out. */
void output_collect(struct output *out, struct bytes *into);
void output_collect_end(struct output *out);

/* Writes buffered output, unless is_held. */
void output_flush(struct output *out);

/*
 * Makes the output shorten class names in paragraphs that have a line beyond `width` columns, and
 * set out->was_shortened. Lines that are still wider are wrapped at blanks, after the path lines at
 * their beginning. 0 disables fitting. Paragraphs end with a blank line; a paragraph that is larger
 * than the buffer is processed in parts.
 */
void output_fit(struct output *out, size_t width);

/* Returns whether the blank at `at` separates a number from its unit, as in "24 B". */
bool output_in_size(const char *text, size_t at, size_t size);

/* Flushes and closes the descriptor. Returns 0 or the errno of this or an earlier error. */
int output_close(struct output *out);

void output_bytes(struct output *out, const char *data, size_t size);

/*
 * Releases text prepared for printing. If memory was exhausted while the text was built, the output
 * fails with ENOMEM.
 */
void output_release(struct output *out, struct bytes *text);

void output_string(struct output *out, const char *string);
void output_char(struct output *out, char c);
/* Writes `count` blanks. */
void output_blanks(struct output *out, size_t count);
/* Writes formatted text like printf, but truncates it to 1,023 bytes. */
void output_format(struct output *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes a quoted JSON string. Invalid UTF-8 becomes U+FFFD. */
void output_json(struct output *out, const char *text, size_t size);
/* Writes escaped text for XML 1.0. Characters that XML does not admit become U+FFFD. */
void output_xml(struct output *out, const char *text, size_t size);

void output_u64(struct output *out, uint64_t value);
void output_i64(struct output *out, int64_t value);
/* Writes an ID as "0x12c4". */
void output_id(struct output *out, uint64_t id);

/*
 * Format a number in a buffer of OUTPUT_NUMBER_SIZE bytes and return the number of bytes written;
 * there is no terminating zero. format_id writes "0x12c4".
 */
size_t format_id(char *buf, uint64_t id);
/*
 * Formats short numbers unchanged, others with four significant digits: "0.5", "0.3333",
 * "123456.789", "1e-09".
 */
size_t format_real(char *buf, double value);

#endif
