/*
 * base/input.c - reads an input once: plain bytes, or gzip and zstd data that is inflated piece by
 * piece.
 *
 * A stream is inflated sequentially, which locates damage and skips it. If a file consists of
 * independent members or frames, any thread can inflate them. Their boundaries are guesses: only
 * inflating shows where a gzip member ends, so the next member is found by its first bytes. If the
 * data in between does not inflate completely, the rest of the file is inflated as a stream.
 */
#include "base/input.h"

#include "base/bytes.h"
#include "base/scope.h"
#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* Number of milliseconds between checks of the cancel flag while a pipe is empty. */
#define WAIT_MS 100
/* Number of bytes read from a pipe at a time. */
#define READ_BYTES (1u << 20)
/*
 * Number of bytes at the start of the input that suffice to recognise its format, including a gzip
 * comment.
 */
#define HEAD_BYTES 1024u
/* Number of bytes inflated from a stream at a time. */
#define STREAM_PIECE (1u << 20)
/* Maximum total size of parts inflated together, unless a single part is larger. */
#define PARTS_PIECE (2u << 20)
/* Maximum inflated size of a part. A part that is larger is inflated as a stream. */
#define PART_MAX (8u << 20)
/* Maximum number of damage reports kept. Reading stops when this number is reached. */
#define DAMAGE_MAX 1000u
/*
 * Maximum window of a zstd frame: 128 MiB, like `zstd -d`. Files made with --long=31 are refused.
 */
#define ZSTD_WINDOW_LOG 27
/* Memory taken by a decompressor, for messages. */
#define DECOMPRESSOR_BYTES (96u << 10)
/*
 * gzip: size of the fixed part of a member's header, and number of its bytes that are the same in
 * all members that the JDK writes.
 */
#define GZIP_HEAD 10u
#define GZIP_SAME 8u
#define GZIP_COMMENT 0x10
/* Size of the length field at the end of a member. */
#define GZIP_SIZE 4u

static const uint8_t gzip_magic[] = { 0x1f, 0x8b, 8 };
static const uint8_t gzip_plain[GZIP_SAME] = { 0x1f, 0x8b, 8 };
static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

struct base_input {
	const char *path;        /* borrowed */
	const base_flag *cancel; /* borrowed, or NULL */
	enum base_packing packing;
	bool is_file;
	int fd;
	uint64_t size;   /* size of the file; 0 for a pipe */
	uint64_t offset; /* number of bytes taken from the file */
	/* map of a file */
	struct base_source *map;
	const uint8_t *mapped;
	/* bytes that have been read from a pipe but not consumed yet */
	uint8_t *buffer;
	uint64_t at, filled;
	bool is_at_end;
	/* for compressed data: */
	void *stream;      /* z_stream or ZSTD_DStream */
	bool is_in_stream; /* whether the position is inside a member or frame */
	bool is_over;      /* nothing follows */
	/* whether parts can be inflated independently, which is possible only in files */
	bool has_parts;
	uint64_t part_room;   /* gzip: maximum inflated size of a member */
	uint64_t part_count;  /* number of members or frames started */
	uint64_t part_offset; /* offset of the member or frame that a stream started last */
	uint64_t given;       /* number of decompressed bytes in all pieces so far, if known */
	struct base_damage *damage;
	size_t damage_count, damage_max;
	struct base_piece peeked; /* of size 0 if no data was peeked */
};

/* ---- the bytes of the file ---- */

/* Returns the next byte, after fill(). */
static inline const uint8_t *next_byte(const struct base_input *in)
{
	return in->map ? in->mapped + in->offset : in->buffer + in->at;
}

/* Waits until a pipe has bytes or ends. */
static int wait_for_bytes(const struct base_input *in, struct hdb_error *err)
{
	struct pollfd pipe = { .fd = in->fd, .events = POLLIN };
	int ready = 0;

	while (ready == 0 || (ready < 0 && errno == EINTR)) {
		if (base_flag_is_set(in->cancel))
			return hdb_fail(err, HDB_EINTR, "interrupted");
		ready = poll(&pipe, 1, WAIT_MS);
	}
	return ready > 0 ? HDB_OK :
			   hdb_fail_errno(err, errno, "%s: cannot wait for data", in->path);
}

/*
 * Makes at least `want` bytes (at most READ_BYTES) available at next_byte(), unless the input ends
 * earlier. Sets *left to the number of bytes available.
 */
static int fill(struct base_input *in, uint64_t want, uint64_t *left, struct hdb_error *err)
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
		ssize_t n;

		TRY(wait_for_bytes(in, err));
		n = read(in->fd, in->buffer + in->filled, 2 * READ_BYTES - in->filled);
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

/* Skips bytes that are available. */
static void skip(struct base_input *in, uint64_t size)
{
	in->offset += size;
	in->at += size;
}

/* Gives the piece a buffer of at least `size` bytes. The previous contents are lost. */
static int reserve(struct base_piece *piece, uint64_t size, struct hdb_error *err)
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

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- the kind of input ---- */

static bool is_gzip(const uint8_t *p, uint64_t left)
{
	return left >= sizeof(gzip_magic) && !memcmp(p, gzip_magic, sizeof(gzip_magic)) &&
	       (left < 4 || !(p[3] & 0xe0));
}

static bool is_zstd(const uint8_t *p, uint64_t left)
{
	/* The file may begin with a skippable frame. */
	return left >= 4 && (!memcmp(p, zstd_magic, 4) ||
			     ((p[0] & 0xf0) == 0x50 && !memcmp(p + 1, "\x2a\x4d\x18", 3)));
}

/*
 * Reads the block size from the JDK's comment "HPROF BLOCKSIZE=1048576". Returns 0 if the member
 * has no such comment.
 */
static uint64_t jdk_block_size(const uint8_t *p, uint64_t left)
{
	static const char words[] = "HPROF BLOCKSIZE=";
	const size_t n = sizeof(words) - 1;
	uint64_t size = 0;

	if (left < GZIP_HEAD + n || p[3] != GZIP_COMMENT || memcmp(p + GZIP_HEAD, words, n) != 0)
		return 0;
	for (uint64_t i = GZIP_HEAD + n; i < left && p[i] >= '0' && p[i] <= '9'; i++) {
		size = size * 10 + (unsigned)(p[i] - '0');
		if (size > PART_MAX)
			return 0;
	}
	return size;
}

/*
 * Sets in->packing from the first `left` bytes, and creates the decompressor if they are
 * compressed.
 */
static int begin_inflating(struct base_input *in, uint64_t left, struct hdb_error *err)
{
	const uint8_t *p = next_byte(in);

	if (is_gzip(p, left)) {
		z_stream *stream = calloc(1, sizeof(*stream));

		in->packing = BASE_GZIP;
		in->stream = stream;
		in->part_room = jdk_block_size(p, left);
		in->has_parts = in->map && in->part_room;
		if (!stream || inflateInit2(stream, 15 + 16) != Z_OK)
			return hdb_fail_memory(err, "a decompressor", sizeof(*stream));
	} else if (is_zstd(p, left)) {
		in->packing = BASE_ZSTD;
		in->has_parts = in->map;
		in->stream = ZSTD_createDStream();
		if (!in->stream || ZSTD_isError(ZSTD_DCtx_setParameter(
					   in->stream, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
			return hdb_fail_memory(err, "a decompressor", DECOMPRESSOR_BYTES);
	}
	return HDB_OK;
}

static void end_inflating(struct base_input *in)
{
	if (in->packing == BASE_GZIP && in->stream) {
		(void)inflateEnd(in->stream);
		free(in->stream);
	} else if (in->packing == BASE_ZSTD) {
		(void)ZSTD_freeDStream(in->stream);
	}
}

/* ---- damage ---- */

/*
 * Records damage at the current position, which follows everything that the piece contains so far.
 */
static int note_damage(struct base_input *in, const struct base_piece *piece, const char *what,
		       struct hdb_error *err)
{
	struct base_damage *grown;

	if (in->damage_count == DAMAGE_MAX)
		in->is_over = true;
	if (in->is_over)
		return HDB_OK;
	if (in->damage_count == in->damage_max) {
		grown = realloc(in->damage, (in->damage_max * 2 + 4) * sizeof(*grown));
		if (!grown)
			return hdb_fail_memory(err, "damage", sizeof(*grown));
		in->damage = grown;
		in->damage_max = in->damage_max * 2 + 4;
	}
	grown = &in->damage[in->damage_count++];
	*grown = (struct base_damage){
		.input_offset = in->offset,
		.offset = in->given + piece->size,
	};
	(void)snprintf(grown->message, sizeof(grown->message),
		       "the %s data is damaged at byte %" PRIu64 " of the file: %s",
		       in->packing == BASE_GZIP ? "gzip" : "zstd", in->offset, what);
	return HDB_OK;
}

/* Returns whether a member or frame appears to start at p. */
static bool begins_part(const struct base_input *in, const uint8_t *p, uint64_t left)
{
	if (in->packing == BASE_ZSTD)
		return is_zstd(p, left);
	return left >= GZIP_HEAD && !memcmp(p, gzip_plain, GZIP_SAME) && p[8] <= 4;
}

/*
 * Skips to the next part after damage, if there have been several parts. A stream that consists of
 * a single part cannot be continued.
 */
static int find_part(struct base_input *in, struct hdb_error *err)
{
	in->is_in_stream = false;
	if (in->part_count < 2 && !in->part_room) {
		in->is_over = true;
		return HDB_OK;
	}
	for (;;) {
		uint64_t left, i;

		TRY(fill(in, STREAM_PIECE, &left, err));
		/*
		 * Skips the part that was just read. Otherwise the search could find this part
		 * again, because zstd does not report how many of its bytes were read.
		 */
		for (i = left && in->offset == in->part_offset; i + GZIP_HEAD <= left; i++) {
			if (begins_part(in, next_byte(in) + i, left - i)) {
				skip(in, i);
				return HDB_OK;
			}
		}
		skip(in, i);
		if (left <= GZIP_HEAD || (in->map && in->size - in->offset < GZIP_HEAD)) {
			in->is_over = true;
			return HDB_OK;
		}
	}
}

/* ---- sequential inflation ---- */

/*
 * Inflates up to `left` bytes into the piece. Returns HDB_OK, HDB_END at the end of the part, or
 * HDB_EFORMAT with *why if the part is damaged. Sets *used to the number of bytes consumed.
 */
static int inflate_gzip(struct base_input *in, struct base_piece *piece, uint64_t left,
			uint64_t *used, const char **why)
{
	z_stream *z = in->stream;
	int r;

	z->next_in = (Bytef *)(uintptr_t)next_byte(in);
	z->avail_in = (uInt)least(left, 1u << 30);
	*used = z->avail_in;
	z->next_out = piece->buffer + piece->size;
	z->avail_out = (uInt)(STREAM_PIECE - piece->size);
	r = inflate(z, Z_NO_FLUSH);
	*used -= z->avail_in;
	piece->size = STREAM_PIECE - z->avail_out;
	if (r == Z_STREAM_END)
		return HDB_END;
	if (r == Z_OK || r == Z_BUF_ERROR)
		return HDB_OK;
	*why = r == Z_MEM_ERROR ? NULL : z->msg ? z->msg : "not a deflate stream";
	return r == Z_MEM_ERROR ? HDB_ENOMEM : HDB_EFORMAT;
}

static int inflate_zstd(struct base_input *in, struct base_piece *piece, uint64_t left,
			uint64_t *used, const char **why)
{
	ZSTD_inBuffer from = { .src = next_byte(in), .size = left };
	/*
	 * If a call finds damage, everything that it has decompressed is lost, so each call
	 * decompresses only one block.
	 */
	ZSTD_outBuffer to = {
		.dst = piece->buffer,
		.size = least(STREAM_PIECE, piece->size + ZSTD_BLOCKSIZE_MAX),
		.pos = piece->size,
	};
	const size_t r = ZSTD_decompressStream(in->stream, &to, &from);

	*used = from.pos;
	piece->size = to.pos;
	if (!ZSTD_isError(r))
		return r == 0 ? HDB_END : HDB_OK;
	*why = ZSTD_getErrorName(r);
	return ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation ? HDB_ENOMEM : HDB_EFORMAT;
}

static void begin_part(struct base_input *in)
{
	in->part_count++;
	in->part_offset = in->offset;
	in->is_in_stream = true;
	if (in->packing == BASE_GZIP)
		(void)inflateReset(in->stream);
	else
		(void)ZSTD_DCtx_reset(in->stream, ZSTD_reset_session_only);
}

/*
 * Continues after damage. A gzip member with a wrong checksum or length is complete nevertheless,
 * and the start of the next member is known. zlib reports the kind of damage only as a message.
 */
static int pass_damage(struct base_input *in, const char *why, struct hdb_error *err)
{
	uint64_t left;

	in->is_in_stream = false;
	if (in->packing == BASE_GZIP && !strcmp(why, "incorrect length check"))
		return HDB_OK;
	if (in->packing != BASE_GZIP || strcmp(why, "incorrect data check") != 0)
		return find_part(in, err);
	/* zlib has read the checksum but not the length that follows it. */
	TRY(fill(in, GZIP_SIZE, &left, err));
	skip(in, least(GZIP_SIZE, left));
	return HDB_OK;
}

/* Starts the next part. Zeros at the end of the file, as written by tape drives, are not a part. */
static int next_part(struct base_input *in, const struct base_piece *piece, uint64_t left,
		     struct hdb_error *err)
{
	const uint8_t *p = next_byte(in);

	if (!left) {
		in->is_over = true;
		return HDB_OK;
	}
	if (in->packing == BASE_GZIP ? is_gzip(p, left) : is_zstd(p, left)) {
		begin_part(in);
		return HDB_OK;
	}
	if (*p == 0 && in->part_count) {
		uint64_t zeros = 1;

		while (zeros < left && !p[zeros])
			zeros++;
		skip(in, zeros);
		return HDB_OK;
	}
	TRY(note_damage(in, piece, "uncompressed data follows the compressed data", err));
	return find_part(in, err);
}

/* Inflates until the piece is full or the input ends. */
static int take_stream(struct base_input *in, struct base_piece *piece, struct hdb_error *err)
{
	int r;

	TRY(reserve(piece, STREAM_PIECE, err));
	piece->data = piece->buffer;
	while (piece->size < STREAM_PIECE && !in->is_over) {
		const uint64_t before = piece->size;
		const char *why = "unexpected end of data";
		uint64_t left, used = 0;

		TRY(fill(in, GZIP_HEAD + 8, &left, err));
		if (!in->is_in_stream) {
			TRY(next_part(in, piece, left, err));
			continue;
		}
		r = in->packing == BASE_GZIP ? inflate_gzip(in, piece, left, &used, &why) :
					       inflate_zstd(in, piece, left, &used, &why);
		skip(in, used);
		if (r == HDB_END) {
			in->is_in_stream = false;
		} else if (r == HDB_EFORMAT || (r == HDB_OK && !left && piece->size == before)) {
			if ((r = note_damage(in, piece, why, err)) < 0 ||
			    (r = pass_damage(in, why, err)) < 0)
				return r;
		} else if (r == HDB_ENOMEM) {
			return hdb_fail(err, r, "%s: out of memory while decompressing the file",
					in->path);
		} else if (r < 0) {
			return r;
		}
	}
	return piece->size ? HDB_OK : HDB_END;
}

/* ---- inflation in parts ---- */

/*
 * Returns the size of a member written by the JDK at p. The member extends to where the next member
 * appears to start, or otherwise to the end of the available bytes.
 */
static uint64_t member_size(const uint8_t *p, uint64_t left)
{
	uint64_t at = GZIP_HEAD + 8;

	while (at + GZIP_HEAD < left) {
		const uint8_t *found = memchr(p + at, gzip_plain[0], left - at - GZIP_HEAD);

		if (!found)
			return left;
		if (!memcmp(found, gzip_plain, GZIP_SAME) && found[8] <= 4)
			return (uint64_t)(found - p);
		at = (uint64_t)(found - p) + 1;
	}
	return left;
}

/*
 * Determines the packed and inflated sizes of the part at p. Returns false if the part cannot be
 * inflated independently.
 */
static bool measure_part(const struct base_input *in, const uint8_t *p, uint64_t left,
			 uint64_t *packed, uint64_t *room)
{
	unsigned long long size;

	if (in->packing == BASE_GZIP) {
		*packed = member_size(p, left);
		*room = in->part_room;
		return is_gzip(p, left);
	}
	size = ZSTD_getFrameContentSize(p, left);
	if (size > PART_MAX) /* the size may also be unknown or invalid */
		return false;
	*room = size;
	*packed = ZSTD_findFrameCompressedSize(p, left);
	return !ZSTD_isError(*packed);
}

/*
 * Takes parts that can be inflated independently. Returns HDB_NOTFOUND if the next part cannot be
 * inflated independently.
 */
static int take_parts(struct base_input *in, struct base_piece *piece)
{
	const uint64_t first = in->offset;

	piece->room = 0;
	while (in->offset < in->size && piece->room < PARTS_PIECE) {
		uint64_t packed, room;

		if (!measure_part(in, next_byte(in), in->size - in->offset, &packed, &room) ||
		    (piece->room && piece->room + room > PARTS_PIECE))
			break;
		piece->room += room;
		in->part_count++;
		in->offset += packed;
	}
	if (in->offset == first)
		return in->offset < in->size ? HDB_NOTFOUND : HDB_END;
	piece->packed = in->mapped + first;
	piece->packed_offset = first;
	piece->damage_before = in->damage_count;
	piece->packed_size = in->offset - first;
	return HDB_OK;
}

/* Takes the next piece of compressed data. */
static int take_compressed(struct base_input *in, struct base_piece *piece, struct hdb_error *err)
{
	int r;

	if (in->has_parts && !in->is_in_stream) {
		TRY(base_source_failed(in->map, err));
		if ((r = take_parts(in, piece)) != HDB_NOTFOUND)
			return r;
	}
	return take_stream(in, piece, err);
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
		return hdb_fail(err, HDB_EIO, "%s: expected a heap dump, got a terminal", in->path);
	return HDB_OK;
}

static int open_bytes(struct base_input *in, struct hdb_error *err)
{
	const bool is_stdin = strcmp(in->path, BASE_INPUT_STDIN) == 0;
	const char *path = in->path;
	struct base_view view = { 0 };
	struct stat st;
	int r;

	TRY(open_fd(in, &st, err));
	in->is_file = S_ISREG(st.st_mode) && !is_stdin;
	if (!in->is_file)
		return BASE_ALLOC(in->buffer, 2 * READ_BYTES, "data from a pipe", err);
	TRY(base_map_open(path, BASE_SEQUENTIAL, &in->map, err));
	in->size = in->map->size;
	/* The whole file is one window. */
	view.src = in->map;
	r = base_view_fill(&view, 0, in->size, err);
	in->mapped = view.data;
	return r;
}

BASE_CLOSER(close_at, struct base_input, base_input_close)

int base_input_open(const char *path, const base_flag *cancel, struct base_input **out,
		    struct hdb_error *err)
{
	BASE_SCOPED(close_at) struct base_input *in = NULL;
	uint64_t left = 0;

	TRY(BASE_ALLOC(in, 1, "an input", err));
	in->path = path;
	in->cancel = cancel;
	in->fd = -1;
	TRY(open_bytes(in, err));
	TRY(fill(in, HEAD_BYTES, &left, err));
	if (!left)
		return hdb_fail(err, HDB_EFORMAT, "%s: the %s is empty", in->path,
				in->is_file ? "file" : "input");
	TRY(begin_inflating(in, left, err));
	*out = in;
	in = NULL;
	return HDB_OK;
}

void base_input_close(struct base_input *in)
{
	if (!in)
		return;
	end_inflating(in);
	base_piece_release(&in->peeked);
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

/* Takes uncompressed bytes. */
static int take_plain(struct base_input *in, struct base_piece *piece, struct hdb_error *err)
{
	uint64_t left = 0;
	int r = fill(in, READ_BYTES, &left, err);

	if (r < 0 || !left)
		return r < 0 ? r : HDB_END;
	if (left > READ_BYTES)
		left = READ_BYTES;
	piece->size = left;
	if (in->map) {
		piece->data = in->mapped + in->offset;
	} else {
		TRY(reserve(piece, READ_BYTES, err));
		memcpy(piece->buffer, in->buffer + in->at, left);
		piece->data = piece->buffer;
	}
	skip(in, left);
	return HDB_OK;
}

int base_input_take(struct base_input *in, struct base_piece *piece, struct hdb_error *err)
{
	int r;

	if (in->peeked.size) {
		base_piece_release(piece);
		*piece = in->peeked;
		memset(&in->peeked, 0, sizeof(in->peeked));
		return HDB_OK;
	}
	piece->packed = NULL;
	piece->size = 0;
	r = in->packing == BASE_PLAIN ? take_plain(in, piece, err) :
					take_compressed(in, piece, err);
	in->given += piece->size;
	return r;
}

static int parts_of_gzip(struct base_piece *piece)
{
	const uint8_t *p = piece->packed;
	uint64_t left = piece->packed_size;

	while (left) {
		size_t taken, made;

		if (libdeflate_gzip_decompress_ex(
			    piece->inflater, p, left, piece->buffer + piece->size,
			    piece->room - piece->size, &taken, &made) != LIBDEFLATE_SUCCESS)
			return HDB_EFORMAT;
		piece->size += made;
		p += taken;
		left -= taken;
	}
	return HDB_OK;
}

static int parts_of_zstd(struct base_piece *piece)
{
	const size_t n = ZSTD_decompressDCtx(piece->inflater, piece->buffer, piece->room,
					     piece->packed, piece->packed_size);

	piece->size = ZSTD_isError(n) ? 0 : n;
	return n == piece->room ? HDB_OK : HDB_EFORMAT;
}

int base_piece_inflate(const struct base_input *in, struct base_piece *piece, struct hdb_error *err)
{
	if (!piece->packed)
		return HDB_OK;
	TRY(reserve(piece, piece->room ? piece->room : 1, err));
	if (!piece->inflater)
		piece->inflater = in->packing == BASE_GZIP ?
					  (void *)libdeflate_alloc_decompressor() :
					  (void *)ZSTD_createDCtx();
	if (!piece->inflater)
		return hdb_fail_memory(err, "a decompressor", DECOMPRESSOR_BYTES);
	piece->is_gzip = in->packing == BASE_GZIP;
	piece->data = piece->buffer;
	piece->size = 0;
	return piece->is_gzip ? parts_of_gzip(piece) : parts_of_zstd(piece);
}

int base_input_peek(struct base_input *in, const uint8_t **data, uint64_t *size,
		    struct hdb_error *err)
{
	struct base_piece *piece = &in->peeked;
	int r = base_input_take(in, piece, err);

	if (r == HDB_OK && (r = base_piece_inflate(in, piece, err)) == HDB_EFORMAT) {
		base_input_again(in, piece, 0);
		r = base_input_take(in, piece, err);
	}
	piece->packed = NULL; /* the piece has been inflated */
	*data = piece->data;
	*size = r == HDB_OK ? piece->size : 0;
	return r == HDB_END ? HDB_OK : r;
}

void base_input_again(struct base_input *in, const struct base_piece *piece, uint64_t given)
{
	in->given = given;
	in->offset = piece->packed_offset;
	in->has_parts = in->is_in_stream = in->is_over = false;
	/*
	 * Drop damage that other threads recorded after this position, because the stream will find
	 * it again.
	 */
	in->damage_count = piece->damage_before;
	/* Count this part, so that reading continues at the next part after damage. */
	in->part_count++;
}

void base_piece_release(struct base_piece *piece)
{
	if (piece->is_gzip)
		libdeflate_free_decompressor(piece->inflater);
	else
		(void)ZSTD_freeDCtx(piece->inflater);
	free(piece->buffer);
	memset(piece, 0, sizeof(*piece));
}
