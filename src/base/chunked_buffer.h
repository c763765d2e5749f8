/*
 * base/chunked_buffer.h - an append-only byte buffer whose contents never move and are found by
 * position.
 *
 * It suits structures whose final size is not known in advance. Growing copies nothing, and each
 * slab is placed separately in the memory budget or in a file (base/work.h).
 */
#ifndef BASE_CHUNKED_BUFFER_H
#define BASE_CHUNKED_BUFFER_H

#include "base/work.h"

/*
 * Binary logarithm of the size of a full slab. 4 MB is a small part of any budget, and still keeps
 * the list of slabs short.
 */
#define BASE_CHUNK_BITS 22
#define BASE_CHUNK_BYTES ((uint64_t)1 << BASE_CHUNK_BITS)

/*
 * Number of bytes after each slab that may be read (but not written), because decoders load 8 bytes
 * at a time.
 */
#define BASE_CHUNK_SPARE 8

struct base_chunks {
	struct base_work *work;
	const char *what; /* for error messages */
	struct base_big *slabs;
	uint8_t **data; /* bytes of the slabs */
	size_t count, limit;
	uint64_t size_bytes; /* size of the newest slab */
	uint64_t used_bytes; /* bytes used in the newest slab */
	/* size of the first slab; the size doubles with each slab, up to the full size */
	uint64_t first_bytes;
};

/*
 * Initialises a buffer without allocating. `work` and `what` are borrowed. The buffer must be
 * released even if nothing was added.
 */
void base_chunks_init(struct base_chunks *slabs, uint64_t first_bytes, struct base_work *work,
		      const char *what);
void base_chunks_release(struct base_chunks *slabs);

/* Adds a slab with room for `bytes`, at most BASE_CHUNK_BYTES. For base_chunks_add only. */
int base_chunks_grow(struct base_chunks *slabs, uint64_t bytes, struct hdb_error *err);

/*
 * Allocates `bytes` (at most BASE_CHUNK_BYTES) of contiguous space. Sets *room to the address of
 * the space, and *position to a number that identifies it later. If the first slab has full size,
 * and all pieces have a size that divides it, there are no gaps between positions.
 */
static inline int base_chunks_add(struct base_chunks *slabs, uint64_t bytes, uint64_t *position,
				  uint8_t **room, struct hdb_error *err)
{
	if (__builtin_expect(slabs->size_bytes - slabs->used_bytes < bytes, 0)) {
		const int rc = base_chunks_grow(slabs, bytes, err);
		if (rc < 0)
			return rc;
	}
	*position = ((uint64_t)(slabs->count - 1) << BASE_CHUNK_BITS) + slabs->used_bytes;
	*room = slabs->data[slabs->count - 1] + slabs->used_bytes;
	slabs->used_bytes += bytes;
	return HDB_OK;
}

static inline const uint8_t *base_chunks_at(const struct base_chunks *slabs, uint64_t position)
{
	return slabs->data[position >> BASE_CHUNK_BITS] + (position & (BASE_CHUNK_BYTES - 1));
}

#endif
