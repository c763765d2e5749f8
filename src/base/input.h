/*
 * base/input.h - a file or pipe that is read once, in order, and inflated if it is compressed. gzip
 * and zstd data, with one or more members or frames, is recognised by its first bytes.
 *
 * The contents are delivered in pieces of 1 to 4 MB. Pieces are taken in order, by one thread at a
 * time. They can be inflated on all threads if the file consists of independent parts: members as
 * written by the JDK (`jcmd GC.heap_dump -gz=1`), or zstd frames that record their size. Damage
 * ends a stream early or removes a part; all intact parts are still delivered.
 */
#ifndef BASE_INPUT_H
#define BASE_INPUT_H

#include "base/error.h"
#include "base/flag.h"

#include <stdbool.h>

struct base_input;

enum base_packing { BASE_PLAIN, BASE_GZIP, BASE_ZSTD };

/* The name of standard input. */
#define BASE_INPUT_STDIN "-"

/*
 * Opens a regular file, pipe, socket or device, or "-", and examines its first bytes. The caller
 * must close *out with base_input_close. `path` is borrowed. Fails with HDB_EABSENT if the file
 * does not exist, HDB_EIO if it cannot be read, and HDB_EFORMAT for a directory or an empty file.
 * `cancel` is borrowed and may be NULL. Waiting for a pipe ends with HDB_EINTR once *cancel is not
 * 0.
 */
int base_input_open(const char *path, const base_flag *cancel, struct base_input **out,
		    struct hdb_error *err);
void base_input_close(struct base_input *input);

/* Returns the name of the input in messages; borrowed until the input is closed. */
const char *base_input_name(const struct base_input *input);
enum base_packing base_input_packing(const struct base_input *input);
/*
 * Returns whether the input can be opened again and read at any offset, that is, whether it is a
 * regular file.
 */
bool base_input_is_file(const struct base_input *input);
/* Return the size of the file (0 if unknown), and the number of bytes consumed so far. */
uint64_t base_input_size(const struct base_input *input);
uint64_t base_input_taken(const struct base_input *input);

/*
 * Consecutive bytes of the input. It must be initialised with zeros, and released with
 * base_piece_release.
 */
struct base_piece {
	const uint8_t *data; /* inflated bytes; borrowed until the piece is used again */
	uint64_t size;       /* size of data */
	/* private */
	uint8_t *buffer;
	uint64_t capacity;
	const uint8_t *packed; /* bytes that base_piece_inflate will inflate, or NULL if none */
	uint64_t packed_size, packed_offset;
	size_t damage_before; /* number of damage reports that existed when the piece was taken */
	uint64_t room;        /* maximum inflated size */
	void *inflater;
	bool is_gzip; /* whether the piece is gzip data rather than zstd data */
};

/*
 * Takes the next piece. Returns HDB_OK, or HDB_END after the last piece. Only one thread at a time
 * may call this function. Damage is not a failure; see base_input_damage. Failures are those of the
 * system, or lack of memory.
 */
int base_input_take(struct base_input *input, struct base_piece *piece, struct hdb_error *err);

/*
 * Returns the first inflated bytes, a few thousand if the input has that many, without consuming
 * them. May be called at most once, before the first base_input_take. Sets *size to 0 for an empty
 * input.
 */
int base_input_peek(struct base_input *input, const uint8_t **data, uint64_t *size,
		    struct hdb_error *err);

/*
 * Inflates a piece that has been taken. May be called on any thread. Returns HDB_OK with data and
 * size set, or HDB_EFORMAT if its parts are damaged or their boundaries were guessed wrong; see
 * base_input_again.
 */
int base_piece_inflate(const struct base_input *input, struct base_piece *piece,
		       struct hdb_error *err);

/*
 * Returns to the start of the piece that could not be inflated. From there on, base_input_take
 * inflates everything as one stream, which locates the damage. `given` is the number of bytes
 * delivered before that piece. No other thread may use the input during the call.
 */
void base_input_again(struct base_input *input, const struct base_piece *piece, uint64_t given);

void base_piece_release(struct base_piece *piece);

/* Damage in a compressed stream. */
struct base_damage {
	uint64_t input_offset; /* offset in the compressed file */
	uint64_t offset;       /* offset in the inflated bytes */
	char message[160];     /* one line */
};

/* Returns the damage reports so far and their number. Borrowed until the next piece is taken. */
const struct base_damage *base_input_damage(const struct base_input *input, size_t *count);

#endif
