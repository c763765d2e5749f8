/*
 * graph/edge_buckets.c - edges in chunks by bucket of targets; sorted bucket by bucket.
 */
#include "graph/edge_buckets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct graph_edge_chunk) == 4096, "a chunk fills a page");

/* Slabs double from one chunk up to this many (16 MB), so that small graphs stay small. */
#define SLAB_CHUNKS_MAX 4096

int graph_buckets_init(struct graph_edge_buckets *eb, uint64_t target_count, struct base_work *work,
		       struct hdb_error *err)
{
	const uint64_t buckets = target_count / GRAPH_BUCKET_SIZE + 1;

	*eb = (struct graph_edge_buckets){ .work = work, .bucket_count = buckets };
	eb->last = calloc(buckets, sizeof *eb->last);
	eb->first = calloc(GRAPH_BUCKET_SIZE + 2, sizeof *eb->first);
	if (!eb->last || !eb->first)
		return hdb_fail_memory(err, "edge buckets", buckets * sizeof *eb->last);
	return HDB_OK;
}

void graph_buckets_release(struct graph_edge_buckets *eb)
{
	for (size_t i = 0; i < eb->slab_count; i++)
		base_big_free(eb->work, &eb->slabs[i]);
	base_big_free(eb->work, &eb->sorted);
	free(eb->slabs);
	free(eb->last);
	free(eb->first);
	*eb = (struct graph_edge_buckets){ 0 };
}

static int add_slab(struct graph_edge_buckets *eb, struct hdb_error *err)
{
	uint64_t chunks = eb->slab_chunks ? 2 * eb->slab_chunks : 1;
	int rc;

	if (chunks > SLAB_CHUNKS_MAX)
		chunks = SLAB_CHUNKS_MAX;
	if (eb->slab_count == eb->slab_limit) {
		const size_t limit = eb->slab_limit ? 2 * eb->slab_limit : 16;
		struct base_big *slabs = realloc(eb->slabs, limit * sizeof *slabs);
		if (!slabs)
			return hdb_fail_memory(err, "edge buckets", limit * sizeof *slabs);
		eb->slabs = slabs;
		eb->slab_limit = limit;
	}
	eb->slabs[eb->slab_count] = (struct base_big){ 0 };
	rc = base_big_alloc(eb->work, &eb->slabs[eb->slab_count],
			    chunks * sizeof(struct graph_edge_chunk), "edges of the graph", err);
	if (rc < 0)
		return rc;
	eb->slab_count++;
	eb->slab_chunks = chunks;
	eb->slab_used = 0;
	return HDB_OK;
}

int graph_buckets_grow(struct graph_edge_buckets *eb, uint32_t bucket, struct hdb_error *err)
{
	struct graph_edge_chunk *chunk;

	assert(bucket < eb->bucket_count);
	if (eb->slab_used == eb->slab_chunks) {
		const int rc = add_slab(eb, err);
		if (rc < 0)
			return rc;
	}
	chunk = (struct graph_edge_chunk *)eb->slabs[eb->slab_count - 1].data + eb->slab_used++;
	chunk->before = eb->last[bucket];
	chunk->count = 0;
	eb->last[bucket] = chunk;
	return HDB_OK;
}

/*
 * Counts the edges of each target into first[target + 2] and sums up, so that first[k + 1]
 * starts row k.
 */
static uint64_t count_rows(uint64_t *first, const struct graph_edge_chunk *chunk)
{
	memset(first, 0, (GRAPH_BUCKET_SIZE + 2) * sizeof *first);
	for (; chunk; chunk = chunk->before) {
		for (uint64_t i = 0; i < chunk->count; i++)
			first[chunk->target[i] + 2]++;
	}
	for (uint32_t k = 2; k < GRAPH_BUCKET_SIZE + 2; k++)
		first[k] += first[k - 1];
	return first[GRAPH_BUCKET_SIZE + 1];
}

int graph_buckets_sort(struct graph_edge_buckets *eb, uint32_t bucket, const uint64_t **first,
		       const uint32_t **source, struct hdb_error *err)
{
	const struct graph_edge_chunk *chunk = eb->last[bucket];
	const uint64_t count = count_rows(eb->first, chunk);
	uint32_t *sorted;

	if (count * sizeof *sorted > eb->sorted.size_bytes) {
		const uint64_t bytes = (count + count / 4) * sizeof *sorted;
		base_big_free(eb->work, &eb->sorted);
		eb->sorted = (struct base_big){ 0 };
		const int rc = base_big_alloc(eb->work, &eb->sorted, bytes, "sorted edges", err);
		if (rc < 0)
			return rc;
	}
	sorted = eb->sorted.data;
	for (; chunk; chunk = chunk->before) {
		for (uint64_t i = 0; i < chunk->count; i++)
			sorted[eb->first[chunk->target[i] + 1]++] = chunk->source[i];
	}
	*first = eb->first;
	*source = sorted;
	return HDB_OK;
}
