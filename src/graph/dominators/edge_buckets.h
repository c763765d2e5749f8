/*
 * graph/dominators/edge_buckets.h - a growing set of edges, returned grouped by target.
 *
 * A counting sort over all targets would miss the cache twice per edge. Edges are therefore
 * distributed to buckets of adjacent targets as they arrive (sequential writes to a few hundred
 * streams), and each bucket is sorted within the cache when it is processed. A chunk contains the
 * target in two bytes, and the distance between the source and the previous source, which is short
 * if sources arrive nearly in order. Memory: 3 to 7 bytes per edge, and one chunk per bucket. The
 * code does not depend on dominators.
 */
#ifndef GRAPH_DOMINATORS_EDGE_BUCKETS_H
#define GRAPH_DOMINATORS_EDGE_BUCKETS_H

#include "base/bytes.h"
#include "base/chunked_buffer.h"

#include <stdbool.h>

/*
 * Binary logarithm of the number of targets per bucket. The counters for sorting a bucket (8 bytes
 * each) must fit in the second-level cache.
 */
#define GRAPH_BUCKET_BITS 15
#define GRAPH_BUCKET_SIZE (1u << GRAPH_BUCKET_BITS)

/* Number of bytes of edges in a chunk, which has 4096 bytes in total. */
#define GRAPH_CHUNK_BYTES 4080

/* Maximum size of an edge: two bytes, and the longest varint for 33 bits. */
#define GRAPH_EDGE_BYTES_MAX 7

struct graph_edge_chunk {
	struct graph_edge_chunk *before; /* previous chunk of the bucket */
	uint32_t used;                   /* bytes */
	uint32_t last_source;            /* source of the most recently added edge */
	uint8_t bytes[GRAPH_CHUNK_BYTES];
};

struct graph_edge_buckets {
	struct base_work *work;
	struct graph_edge_chunk **last; /* indexed by bucket: its newest chunk, or NULL */
	uint64_t bucket_count;
	struct base_chunks chunks;
	struct base_big sorted; /* sources of the last bucket that was sorted */
	uint64_t *first;        /* GRAPH_BUCKET_SIZE + 2 starts of the rows of this bucket */
};

/*
 * Initialises *eb for targets 0 to target_count - 1. `work` is borrowed. The caller must release
 * *eb even after a failure.
 */
int graph_buckets_init(struct graph_edge_buckets *eb, uint64_t target_count, struct base_work *work,
		       struct hdb_error *err);
void graph_buckets_release(struct graph_edge_buckets *eb);

/* Adds a chunk to a bucket. Only called by graph_buckets_add. */
int graph_buckets_grow(struct graph_edge_buckets *eb, uint32_t bucket, struct hdb_error *err);

static inline int graph_buckets_add(struct graph_edge_buckets *eb, uint32_t source, uint32_t target,
				    struct hdb_error *err)
{
	const uint32_t bucket = target >> GRAPH_BUCKET_BITS;
	struct graph_edge_chunk *chunk = eb->last[bucket];

	uint64_t distance;
	uint8_t *p;

	if (__builtin_expect(!chunk || chunk->used > GRAPH_CHUNK_BYTES - GRAPH_EDGE_BYTES_MAX, 0)) {
		const int rc = graph_buckets_grow(eb, bucket, err);
		if (rc < 0)
			return rc;
		chunk = eb->last[bucket];
	}
	distance = zigzag((int64_t)source - (int64_t)chunk->last_source);
	p = chunk->bytes + chunk->used;
	store16(p, (uint16_t)(target & (GRAPH_BUCKET_SIZE - 1)));
	for (p += 2; distance >= 0x80; distance >>= 7)
		*p++ = (uint8_t)(distance | 0x80);
	*p++ = (uint8_t)distance;
	chunk->last_source = source;
	chunk->used = (uint32_t)(p - chunk->bytes);
	return HDB_OK;
}

/* Iterates over the edges of a bucket, in any order. */
struct graph_edge_reader {
	const struct graph_edge_chunk *chunk;
	const uint8_t *at, *end;
	uint32_t source; /* source of the previous edge */
};

static inline void graph_buckets_begin(const struct graph_edge_buckets *eb, uint32_t bucket,
				       struct graph_edge_reader *reader)
{
	const struct graph_edge_chunk *chunk = eb->last[bucket];

	*reader = (struct graph_edge_reader){ .chunk = chunk };
	if (chunk) {
		reader->at = chunk->bytes;
		reader->end = chunk->bytes + chunk->used;
	}
}

/*
 * Reads the next edge, with the target relative to the bucket's first target. Returns false at the
 * end.
 */
static inline bool graph_buckets_next(struct graph_edge_reader *reader, uint32_t *source,
				      uint32_t *target)
{
	const uint8_t *p = reader->at;
	uint64_t distance = 0;
	unsigned shift = 0;

	if (p == reader->end) {
		if (!reader->chunk || !reader->chunk->before)
			return false;
		reader->chunk = reader->chunk->before;
		reader->source = 0;
		p = reader->chunk->bytes;
		reader->end = p + reader->chunk->used;
	}
	*target = load16(p);
	for (p += 2; *p & 0x80; p++, shift += 7)
		distance |= (uint64_t)(*p & 0x7f) << shift;
	distance |= (uint64_t)*p++ << shift;
	*source = reader->source = (uint32_t)((int64_t)reader->source + unzigzag(distance));
	reader->at = p;
	return true;
}

/*
 * Sorts one bucket. The sources of edges into its k-th target are (*source)[(*first)[k]] to
 * (*source)[(*first)[k + 1] - 1]. Borrowed until the next call. *source is not NULL even if there
 * are no edges.
 */
int graph_buckets_sort(struct graph_edge_buckets *eb, uint32_t bucket, const uint64_t **first,
		       const uint32_t **source, struct hdb_error *err);

#endif
