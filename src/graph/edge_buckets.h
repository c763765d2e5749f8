/*
 * graph/edge_buckets.h - a growing pile of edges, handed back grouped by target.
 *
 * A counting sort over all targets would miss the cache at each edge, twice. So edges are
 * thrown into buckets of neighbouring targets as they come (sequential writes, a few hundred
 * streams), and each bucket is sorted within the cache when its turn comes. Memory: 6 bytes an
 * edge and one chunk a bucket. Knows nothing of dominators.
 */
#ifndef GRAPH_EDGE_BUCKETS_H
#define GRAPH_EDGE_BUCKETS_H

#include "graph/slabs.h"

/* Targets of a bucket: its sorting counters (8 bytes each) must fit the second-level cache. */
#define GRAPH_BUCKET_BITS 15
#define GRAPH_BUCKET_SIZE (1u << GRAPH_BUCKET_BITS)

/* Edges of a chunk: it fills 4096 bytes. */
#define GRAPH_CHUNK_EDGES 680

struct graph_edge_chunk {
	struct graph_edge_chunk *before; /* the bucket's chunk that filled up before this one */
	uint64_t count;                  /* edges in it */
	uint32_t source[GRAPH_CHUNK_EDGES];
	uint16_t target[GRAPH_CHUNK_EDGES]; /* within the bucket */
};

struct graph_edge_buckets {
	struct base_work *work;
	struct graph_edge_chunk **last; /* by bucket: its newest chunk or NULL */
	uint64_t bucket_count;
	struct graph_slabs chunks;
	struct base_big sorted;         /* the sources of the bucket sorted last */
	uint64_t *first;                /* GRAPH_BUCKET_SIZE + 2 row starts of that bucket */
};

/* Prepares for targets 0..target_count-1; `work` is lent. Release it in any case. */
int graph_buckets_init(struct graph_edge_buckets *eb, uint64_t target_count, struct base_work *work,
		       struct hdb_error *err);
void graph_buckets_release(struct graph_edge_buckets *eb);

/* Gives a bucket a new chunk. For graph_buckets_add. */
int graph_buckets_grow(struct graph_edge_buckets *eb, uint32_t bucket, struct hdb_error *err);

static inline int graph_buckets_add(struct graph_edge_buckets *eb, uint32_t source, uint32_t target,
				    struct hdb_error *err)
{
	const uint32_t bucket = target >> GRAPH_BUCKET_BITS;
	struct graph_edge_chunk *chunk = eb->last[bucket];

	if (__builtin_expect(!chunk || chunk->count == GRAPH_CHUNK_EDGES, 0)) {
		const int rc = graph_buckets_grow(eb, bucket, err);
		if (rc < 0)
			return rc;
		chunk = eb->last[bucket];
	}
	chunk->source[chunk->count] = source;
	chunk->target[chunk->count] = (uint16_t)(target & (GRAPH_BUCKET_SIZE - 1));
	chunk->count++;
	return HDB_OK;
}

/*
 * Sorts one bucket: the edges into its k-th target come from (*source)[(*first)[k]] up to, not
 * including, (*source)[(*first)[k + 1]]. Borrowed until the next call.
 */
int graph_buckets_sort(struct graph_edge_buckets *eb, uint32_t bucket, const uint64_t **first,
		       const uint32_t **source, struct hdb_error *err);

#endif
