/*
 * graph/edge_buckets.c - edges in chunks by bucket of targets; sorted bucket by bucket.
 */
#include "graph/edge_buckets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct graph_edge_chunk) == 4096, "a chunk fills a page");

int graph_buckets_init(struct graph_edge_buckets *eb, uint64_t target_count, struct base_work *work,
		       struct hdb_error *err)
{
	const uint64_t buckets = target_count / GRAPH_BUCKET_SIZE + 1;

	*eb = (struct graph_edge_buckets){ .work = work, .bucket_count = buckets };
	graph_slabs_init(&eb->chunks, sizeof(struct graph_edge_chunk), work, "edges of the graph");
	eb->last = calloc(buckets, sizeof *eb->last);
	eb->first = calloc(GRAPH_BUCKET_SIZE + 2, sizeof *eb->first);
	if (!eb->last || !eb->first)
		return hdb_fail_memory(err, "edge buckets", buckets * sizeof *eb->last);
	return HDB_OK;
}

void graph_buckets_release(struct graph_edge_buckets *eb)
{
	if (!eb->work)
		return;
	graph_slabs_release(&eb->chunks);
	base_big_free(eb->work, &eb->sorted);
	free(eb->last);
	free(eb->first);
	*eb = (struct graph_edge_buckets){ 0 };
}

int graph_buckets_grow(struct graph_edge_buckets *eb, uint32_t bucket, struct hdb_error *err)
{
	struct graph_edge_chunk *chunk;
	uint64_t position;
	uint8_t *room;
	int rc;

	assert(bucket < eb->bucket_count);
	rc = graph_slabs_add(&eb->chunks, sizeof *chunk, &position, &room, err);
	if (rc < 0)
		return rc;
	chunk = (struct graph_edge_chunk *)room;
	chunk->before = eb->last[bucket];
	chunk->used = chunk->last_source = 0;
	eb->last[bucket] = chunk;
	return HDB_OK;
}

/* The edge at *p, which it moves past; *source is that of the edge before, at first 0. */
static inline uint32_t next_edge(const uint8_t **p, uint32_t *source)
{
	const uint32_t target = load16(*p);
	uint64_t distance = 0;
	unsigned shift = 0;

	for (*p += 2; **p & 0x80; (*p)++, shift += 7)
		distance |= (uint64_t)(**p & 0x7f) << shift;
	distance |= (uint64_t)*(*p)++ << shift;
	*source = (uint32_t)((int64_t)*source + unzigzag(distance));
	return target;
}

/*
 * Counts the edges of each target into first[target + 2] and sums up, so that first[k + 1]
 * starts row k.
 */
static uint64_t count_rows(uint64_t *first, const struct graph_edge_chunk *chunk)
{
	memset(first, 0, (GRAPH_BUCKET_SIZE + 2) * sizeof *first);
	for (; chunk; chunk = chunk->before) {
		const uint8_t *p = chunk->bytes, *end = p + chunk->used;
		uint32_t source = 0;

		while (p < end)
			first[next_edge(&p, &source) + 2]++;
	}
	for (uint32_t k = 2; k < GRAPH_BUCKET_SIZE + 2; k++)
		first[k] += first[k - 1];
	return first[GRAPH_BUCKET_SIZE + 1];
}

static void fill_rows(uint64_t *first, const struct graph_edge_chunk *chunk, uint32_t *sorted)
{
	for (; chunk; chunk = chunk->before) {
		const uint8_t *p = chunk->bytes, *end = p + chunk->used;
		uint32_t source = 0;

		while (p < end) {
			const uint32_t target = next_edge(&p, &source);
			sorted[first[target + 1]++] = source;
		}
	}
}

int graph_buckets_sort(struct graph_edge_buckets *eb, uint32_t bucket, const uint64_t **first,
		       const uint32_t **source, struct hdb_error *err)
{
	const struct graph_edge_chunk *chunk = eb->last[bucket];
	const uint64_t count = count_rows(eb->first, chunk);

	if (!eb->sorted.data || count * sizeof(uint32_t) > eb->sorted.size_bytes) {
		const uint64_t bytes = (count + count / 4 + 1) * sizeof(uint32_t);
		base_big_free(eb->work, &eb->sorted);
		const int rc = base_big_alloc_raw(eb->work, &eb->sorted, bytes, "sorted edges",
						  err);
		if (rc < 0)
			return rc;
	}
	fill_rows(eb->first, chunk, eb->sorted.data);
	*first = eb->first;
	*source = eb->sorted.data;
	return HDB_OK;
}
