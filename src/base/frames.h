/*
 * base/frames.h - a byte source over frames: separately compressed ranges that are inflated on
 * demand and cached.
 *
 * The caller provides a function that finds frames. A window inside one frame points into the
 * cache. Any other window is assembled in a buffer of the view. Any number of threads may use
 * views.
 */
#ifndef BASE_FRAMES_H
#define BASE_FRAMES_H

#include "base/source.h"

#include <zstd.h>

/* Maximum size of an inflated frame. */
#define BASE_FRAME_BYTES (512u << 10)
/* Maximum packed size of a frame that may be copied instead of borrowed. */
#define BASE_FRAME_COPY 32768u
/*
 * Maximum length of a window. No intact dump needs a longer window, and a corrupt length must not
 * exhaust memory.
 */
#define BASE_FRAMES_WINDOW_MAX (256ull << 20)

/* A frame's location. */
struct base_frame {
	uint64_t start;        /* offset of the frame's first byte in the source */
	uint64_t size;         /* inflated size in bytes, at most BASE_FRAME_BYTES */
	const uint8_t *packed; /* borrowed until the source is closed, or `copy` */
	uint64_t packed_size;  /* bytes */
	uint8_t copy[BASE_FRAME_COPY];
};

/* Maximum output size of base_frame_pack(). */
#define BASE_FRAME_PACKED_MAX ZSTD_COMPRESSBOUND(BASE_FRAME_BYTES)

/*
 * Packs 1 to BASE_FRAME_BYTES bytes into `out`, which must have room for BASE_FRAME_PACKED_MAX
 * bytes, as a zstd frame of level 1. Higher levels take longer and gain nothing on heap dumps. Sets
 * *packed_size. Fails with HDB_ENOMEM.
 */
int base_frame_pack(const uint8_t *data, size_t size, uint8_t *out, size_t *packed_size,
		    struct hdb_error *err);

/*
 * Unpacks a frame. Fails with HDB_ECORRUPT and the reason unless the result has exactly out->size
 * bytes.
 */
int base_frame_unpack(const struct base_frame *frame, uint8_t *out, struct hdb_error *err);

/* The parameters of a source over frames. */
struct base_frames {
	uint64_t size;    /* total inflated size in bytes */
	const char *path; /* for messages; borrowed */
	/* size of the cache of inflated frames; the cache always keeps a few frames */
	uint64_t cache_bytes;
	void *ctx;
	/* Finds the frame that contains the byte at `offset`. Never called concurrently. */
	int (*find)(void *ctx, uint64_t offset, struct base_frame *out, struct hdb_error *err);
	/* Releases ctx when the source is closed. May be NULL. */
	void (*close)(void *ctx);
};

/*
 * Opens a source over frames. The caller must close *out with base_source_close, which calls
 * from->close. If opening fails, from->close is not called. A window fails with HDB_ECORRUPT if one
 * of its frames does not inflate to the recorded size.
 */
int base_frames_open(const struct base_frames *from, struct base_source **out,
		     struct hdb_error *err);

/*
 * Asserts the invariants of a source opened by base_frames_open: its buckets and its list of unused
 * frames. No other call on the source may run at the same time. For tests and debugging.
 */
void base_frames_check(struct base_source *source);

#endif
