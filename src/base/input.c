/*
 * base/input.c - opening an input and taking pieces of it; unzip.c inflates them.
 */
#include "base/input.h"

#include "base/input_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a pipe that are read at a time. */
#define READ_BYTES (1u << 20)

/* ---- the bytes of the file ---- */

int input_fill(struct base_input *in, uint64_t want, uint64_t *left, struct hdb_error *err)
{
	if (in->map) {
		*left = in->size - in->offset;
		return base_source_failed(in->map, err);
	}
	if (want > READ_BYTES)
		want = READ_BYTES;
	if (in->filled - in->at < want && in->at) {
		memmove(in->buffer, in->buffer + in->at, in->filled - in->at);
		in->filled -= in->at;
		in->at = 0;
	}
	while (in->filled - in->at < want && !in->is_at_end) {
		const ssize_t n =
			read(in->fd, in->buffer + in->filled, 2 * READ_BYTES - in->filled);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hdb_fail_errno(err, errno, "%s: cannot read", in->path);
		in->is_at_end = n == 0;
		in->filled += (uint64_t)n;
	}
	*left = in->filled - in->at;
	return HDB_OK;
}

void input_skip(struct base_input *in, uint64_t size)
{
	in->offset += size;
	in->at += size;
}

/* ---- opening ---- */

static int open_fd(struct base_input *in, struct stat *st, struct hdb_error *err)
{
	const bool is_stdin = strcmp(in->path, BASE_INPUT_STDIN) == 0;

	in->fd = is_stdin ? dup(STDIN_FILENO) : open(in->path, O_RDONLY | O_CLOEXEC);
	if (is_stdin)
		in->path = "standard input";
	if (in->fd < 0)
		return hdb_fail_open(err, errno, in->path);
	if (fstat(in->fd, st) < 0)
		return hdb_fail_errno(err, errno, "%s", in->path);
	if (S_ISDIR(st->st_mode))
		return hdb_fail(err, HDB_EFORMAT, "%s: is a directory, not a file", in->path);
	if (isatty(in->fd))
		return hdb_fail(err, HDB_EIO, "%s: is a terminal; a heap dump was expected",
				in->path);
	return HDB_OK;
}

static int open_bytes(struct base_input *in, struct hdb_error *err)
{
	const bool is_stdin = strcmp(in->path, BASE_INPUT_STDIN) == 0;
	const char *path = in->path;
	struct base_view view = { 0 };
	struct stat st;
	int r;

	TRY_ERRORS(open_fd(in, &st, err));
	in->is_file = S_ISREG(st.st_mode) && !is_stdin;
	if (!in->is_file) {
		in->buffer = malloc(2 * READ_BYTES);
		return in->buffer ? HDB_OK : hdb_fail_memory(err, "a pipe's bytes", 2 * READ_BYTES);
	}
	TRY_ERRORS(base_map_open(path, BASE_SEQUENTIAL, &in->map, err));
	in->size = in->map->size;
	/* The whole file is one window. */
	view.src = in->map;
	r = base_view_fill(&view, 0, in->size, err);
	in->mapped = view.data;
	return r;
}

int base_input_open(const char *path, struct base_input **out, struct hdb_error *err)
{
	struct base_input *in = calloc(1, sizeof(*in));
	uint64_t left = 0;
	int r;

	if (!in)
		return hdb_fail_memory(err, "an input", sizeof(*in));
	in->path = path;
	in->fd = -1;
	if ((r = open_bytes(in, err)) != HDB_OK)
		goto out;
	if ((r = input_fill(in, INPUT_HEAD_BYTES, &left, err)) != HDB_OK)
		goto out;
	if (!left) {
		r = hdb_fail(err, HDB_EFORMAT, "%s: the %s is empty", in->path,
			     in->is_file ? "file" : "input");
		goto out;
	}
	if ((r = input_begin(in, left, err)) < 0)
		goto out;
	*out = in;
	in = NULL;
out:
	base_input_close(in);
	return r;
}

void base_input_close(struct base_input *in)
{
	if (!in)
		return;
	input_end(in);
	base_source_close(in->map);
	if (in->fd >= 0)
		(void)close(in->fd);
	free(in->buffer);
	free(in->damage);
	free(in);
}

const char *base_input_name(const struct base_input *in)
{
	return in->path;
}

enum base_packing base_input_packing(const struct base_input *in)
{
	return in->packing;
}

bool base_input_is_file(const struct base_input *in)
{
	return in->is_file;
}

uint64_t base_input_size(const struct base_input *in)
{
	return in->size;
}

uint64_t base_input_taken(const struct base_input *in)
{
	return in->offset;
}

const struct base_damage *base_input_damage(const struct base_input *in, size_t *count)
{
	*count = in->damage_count;
	return in->damage;
}

/* ---- pieces ---- */

int input_reserve(struct base_piece *piece, uint64_t size, struct hdb_error *err)
{
	if (piece->capacity >= size)
		return HDB_OK;
	free(piece->buffer);
	piece->capacity = 0;
	piece->buffer = malloc(size);
	if (!piece->buffer)
		return hdb_fail_memory(err, "a piece of the dump", size);
	piece->capacity = size;
	return HDB_OK;
}

/* Bytes that are not compressed. */
static int take_plain(struct base_input *in, struct base_piece *piece, struct hdb_error *err)
{
	uint64_t left = 0;
	int r = input_fill(in, READ_BYTES, &left, err);

	if (r < 0 || !left)
		return r < 0 ? r : HDB_END;
	if (left > READ_BYTES)
		left = READ_BYTES;
	piece->size = left;
	if (in->map) {
		piece->data = in->mapped + in->offset;
	} else {
		TRY_ERRORS(input_reserve(piece, READ_BYTES, err));
		memcpy(piece->buffer, in->buffer + in->at, left);
		piece->data = piece->buffer;
	}
	input_skip(in, left);
	return HDB_OK;
}

int base_input_take(struct base_input *in, struct base_piece *piece, struct hdb_error *err)
{
	int r;

	piece->packed = NULL;
	piece->size = 0;
	r = in->packing == BASE_PLAIN ? take_plain(in, piece, err) : input_take(in, piece, err);
	in->given += piece->size;
	return r;
}
