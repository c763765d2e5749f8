/*
 * base/frames.h - a byte source over frames: runs of bytes, each compressed by itself, that are
 * inflated when they are needed and kept for a while.
 *
 * Where the frames are, somebody else knows. A window that lies in one frame is lent from what is
 * kept, any other is put together in a buffer of the view's. Any number of threads may have views.
 */
#ifndef BASE_FRAMES_H
#define BASE_FRAMES_H

#include "base/source.h"

#include <zstd.h>

/* Most bytes of a frame, inflated. */
#define BASE_FRAME_BYTES (512u << 10)
/* A frame of up to so many bytes, packed, may be copied instead of lent. */
#define BASE_FRAME_COPY 32768u
/*
 * Longest window: none that a sound dump needs is longer, and one of a damaged length must not
 * take all memory.
 */
#define BASE_FRAMES_WINDOW_MAX (256ull << 20)

/* A frame as it is found. */
struct base_frame {
	uint64_t start;        /* offset of its first byte in the source */
	uint64_t size;         /* bytes of it, inflated; at most BASE_FRAME_BYTES */
	const uint8_t *packed; /* borrowed until the source is closed, or `copy` */
	uint64_t packed_size;  /* bytes */
	uint8_t copy[BASE_FRAME_COPY];
};

/* Bytes that base_frame_pack() needs room for at most. */
#define BASE_FRAME_PACKED_MAX ZSTD_COMPRESSBOUND(BASE_FRAME_BYTES)

/*
 * Packs 1 to BASE_FRAME_BYTES bytes to `out`, which has room for BASE_FRAME_PACKED_MAX: a frame of
 * zstd, level 1 (higher levels take more time and save nothing on heap dumps). *packed_size is what
 * it took. HDB_ENOMEM where there is no memory.
 */
int base_frame_pack(const uint8_t *data, size_t size, uint8_t *out, size_t *packed_size,
		    struct hdb_error *err);

/* Unpacks a frame; HDB_ECORRUPT, with why, if it does not make out->size bytes. */
int base_frame_unpack(const struct base_frame *frame, uint8_t *out, struct hdb_error *err);

/* What a source over frames is made of. */
struct base_frames {
	uint64_t size;        /* bytes of the whole, inflated */
	const char *path;     /* for messages; lent */
	uint64_t cache_bytes; /* how much of it is kept inflated; a few frames at least */
	void *ctx;
	/* Finds the frame that has the byte at `offset`. Never called twice at once. */
	int (*find)(void *ctx, uint64_t offset, struct base_frame *out, struct hdb_error *err);
	/* Ends ctx when the source is closed; NULL: nothing to end. */
	void (*close)(void *ctx);
};

/*
 * Opens a source over frames. *out is owned: base_source_close, which calls from->close; on failure
 * nothing has been called. HDB_ECORRUPT from a window whose frame does not inflate to its size.
 */
int base_frames_open(const struct base_frames *from, struct base_source **out,
		     struct hdb_error *err);

/*
 * Asserts what holds of a source that base_frames_open made, between two calls: buckets, and the
 * list of frames that nobody uses. For tests and debugging.
 */
void base_frames_check(struct base_source *source);

#endif
