/*
 * graph/slabs.h - bytes that are appended, stay where they are, and are found by position.
 *
 * For structures whose size is known only at their end: nothing is copied when they grow, and
 * each slab is within the memory budget or in a file by itself (base/work.h).
 */
#ifndef GRAPH_SLABS_H
#define GRAPH_SLABS_H

#include "base/work.h"

/* Size of a full slab: 4 MB are a small part of any budget, and few enough to keep a list of. */
#define GRAPH_SLAB_BITS 22
#define GRAPH_SLAB_BYTES ((uint64_t)1 << GRAPH_SLAB_BITS)

/* Bytes after each slab that may be read (not written): decoders load 8 bytes at a time. */
#define GRAPH_SLAB_SPARE 8

struct graph_slabs {
	struct base_work *work;
	const char *what;        /* for error messages */
	struct base_big *slabs;
	uint8_t **data;          /* of the slabs */
	size_t count, limit;
	uint64_t size_bytes;     /* of the newest slab */
	uint64_t used_bytes;     /* in the newest slab */
	uint64_t first_bytes;    /* size of the first slab; the next ones double up to a full one */
};

/* `work` and `what` are lent. Allocates nothing yet. Release it in any case. */
void graph_slabs_init(struct graph_slabs *slabs, uint64_t first_bytes, struct base_work *work,
		      const char *what);
void graph_slabs_release(struct graph_slabs *slabs);

/* A new slab with room for `bytes`, at most GRAPH_SLAB_BYTES. For graph_slabs_add. */
int graph_slabs_grow(struct graph_slabs *slabs, uint64_t bytes, struct hdb_error *err);

/*
 * Room for `bytes` (at most GRAPH_SLAB_BYTES) in one piece: *room to write them to, *position to
 * find them. With a first slab of full size, pieces of one size that divides it lie at
 * positions without gaps.
 */
static inline int graph_slabs_add(struct graph_slabs *slabs, uint64_t bytes, uint64_t *position,
				  uint8_t **room, struct hdb_error *err)
{
	if (__builtin_expect(slabs->size_bytes - slabs->used_bytes < bytes, 0)) {
		const int rc = graph_slabs_grow(slabs, bytes, err);
		if (rc < 0)
			return rc;
	}
	*position = ((uint64_t)(slabs->count - 1) << GRAPH_SLAB_BITS) + slabs->used_bytes;
	*room = slabs->data[slabs->count - 1] + slabs->used_bytes;
	slabs->used_bytes += bytes;
	return HDB_OK;
}

static inline const uint8_t *graph_slabs_at(const struct graph_slabs *slabs, uint64_t position)
{
	return slabs->data[position >> GRAPH_SLAB_BITS] + (position & (GRAPH_SLAB_BYTES - 1));
}

#endif
