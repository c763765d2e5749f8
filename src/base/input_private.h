/*
 * base/input_private.h - what input.c and unzip.c share.
 */
#ifndef BASE_INPUT_PRIVATE_H
#define BASE_INPUT_PRIVATE_H

#include "base/input.h"
#include "base/source.h"

/* Bytes at the beginning that tell what it is, with a comment of gzip's. */
#define INPUT_HEAD_BYTES 1024u

struct base_input {
	const char *path; /* lent */
	enum base_packing packing;
	bool is_file;
	int fd;
	uint64_t size;   /* of the file; 0: a pipe */
	uint64_t offset; /* bytes that were taken */
	/* a file: its map */
	struct base_source *map;
	const uint8_t *mapped;
	/* a pipe: bytes that were read and not taken yet */
	uint8_t *buffer;
	uint64_t at, filled;
	bool is_at_end;
	/* unzip.c */
	void *stream;         /* z_stream or ZSTD_DStream */
	bool is_in_stream;    /* inside a member or frame */
	bool is_over;         /* nothing more comes */
	bool has_parts;       /* parts may be inflated by themselves: a file's only */
	uint64_t part_room;   /* gzip: bytes that a member inflates to at most */
	uint64_t part_count;  /* members or frames that have begun */
	uint64_t part_offset; /* where the last one of a stream did */
	uint64_t given;       /* bytes that pieces have had, as far as known */
	struct base_damage *damage;
	size_t damage_count, damage_max;
};

/* Where the next byte is, after input_fill. */
static inline const uint8_t *input_next(const struct base_input *in)
{
	return in->map ? in->mapped + in->offset : in->buffer + in->at;
}

/*
 * Has at least `want` bytes (at most 1 MiB) ready at input_next unless the input ends before; *left
 * is how many there are.
 */
int input_fill(struct base_input *in, uint64_t want, uint64_t *left, struct hdb_error *err);
/* Steps over bytes that are ready. */
void input_skip(struct base_input *in, uint64_t size);
/* Gives the piece a buffer of at least `size` bytes; what was there is lost. */
int input_reserve(struct base_piece *piece, uint64_t size, struct hdb_error *err);

/* unzip.c: tells from the first `left` bytes what it is. */
int input_begin(struct base_input *in, uint64_t left, struct hdb_error *err);
void input_end(struct base_input *in);
/* The next piece of what is compressed. */
int input_take(struct base_input *in, struct base_piece *piece, struct hdb_error *err);

#endif
