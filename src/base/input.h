/*
 * base/input.h - a file or a pipe that is read once, in order, and inflated if it is compressed:
 * gzip of one member or many, zstd of one frame or many, told by their first bytes.
 *
 * What comes is pieces, some 1 to 4 MB each. They are taken in order, by one thread at a time, and
 * can be inflated on all threads where the file is made of parts that need nothing of one another:
 * the members that the JDK writes (`jcmd GC.heap_dump -gz=1`), frames of zstd that say how large
 * they are. Damage ends a stream early or leaves out a part; what was whole comes all the same.
 */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include "base/error.h"

#include <stdbool.h>

struct base_input;

enum base_packing { BASE_PLAIN, BASE_GZIP, BASE_ZSTD };

/* The name that stands for the standard input. */
#define BASE_INPUT_STDIN "-"

/*
 * Opens a regular file, a pipe, a socket or a device, or "-", and looks at its first bytes. *out is
 * owned: base_input_close. `path` is lent. Errors say whether it is missing (HDB_EABSENT), not
 * readable (HDB_EIO), a directory or empty (HDB_EFORMAT). Waiting for a pipe ends with HDB_EINTR
 * when *cancel is not 0; NULL: never; lent.
 */
int base_input_open(const char *path, const volatile int *cancel, struct base_input **out,
		    struct hdb_error *err);
void base_input_close(struct base_input *input);

/* What it is called in messages; borrowed until the input is closed. */
const char *base_input_name(const struct base_input *input);
enum base_packing base_input_packing(const struct base_input *input);
/* Whether it can be read again at any offset: a regular file under its name. */
bool base_input_is_file(const struct base_input *input);
/* Bytes of the file, and how many were taken so far; size 0: not known. */
uint64_t base_input_size(const struct base_input *input);
uint64_t base_input_taken(const struct base_input *input);

/* Bytes in order. Zero-initialise; base_piece_release. */
struct base_piece {
	const uint8_t *data; /* inflated; borrowed until the piece is used again */
	uint64_t size;       /* of data */
	/* private */
	uint8_t *buffer;
	uint64_t capacity;
	const uint8_t *packed; /* what base_piece_inflate is to inflate; NULL: nothing */
	uint64_t packed_size, packed_offset;
	size_t damage_before; /* damage that was noted when it was taken */
	uint64_t room;        /* bytes that it may inflate to */
	void *inflater;
	bool is_gzip; /* whose the inflater is */
};

/*
 * Takes the next piece: HDB_OK, or HDB_END behind the last. By one thread at a time. What is
 * damaged is no failure: see base_input_damage. Below 0: the system failed, no memory.
 */
int base_input_take(struct base_input *input, struct base_piece *piece, struct hdb_error *err);

/*
 * Lends the first bytes, inflated, some thousands if there are so many, which base_input_take gives
 * as if they had not been looked at. Once, before anything is taken. *size 0: nothing comes.
 */
int base_input_peek(struct base_input *input, const uint8_t **data, uint64_t *size,
		    struct hdb_error *err);

/*
 * Inflates a piece that was taken; on any thread. HDB_OK with data and size set. HDB_EFORMAT: its
 * parts are damaged, or were wrongly parted: see base_input_again.
 */
int base_piece_inflate(const struct base_input *input, struct base_piece *piece,
		       struct hdb_error *err);

/*
 * Goes back to where the piece that could not be inflated begins: from there on all is inflated by
 * base_input_take, which finds what is damaged. `given` bytes came before it. No other thread may
 * use the input then.
 */
void base_input_again(struct base_input *input, const struct base_piece *piece, uint64_t given);

void base_piece_release(struct base_piece *piece);

/* What was wrong in a compressed stream. */
struct base_damage {
	uint64_t input_offset; /* in the compressed file */
	uint64_t offset;       /* in what was inflated so far */
	char message[160];     /* one line */
};

/* The damage met so far; *count of them. Borrowed until the next piece is taken. */
const struct base_damage *base_input_damage(const struct base_input *input, size_t *count);

#endif
