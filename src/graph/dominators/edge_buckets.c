/*
 * graph/dominators/edge_buckets.c - stores edges in chunks, in a bucket for each range of targets,
 * and sorts them bucket by bucket.
 */
#include "graph/dominators/edge_buckets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct graph_edge_chunk) == 4096, "a chunk fills a page");

int graph_buckets_init(struct graph_edge_buckets *eb, uint64_t target_count, struct base_work *work,
		       struct hdb_error *err)
{
	const uint64_t buckets = target_count / GRAPH_BUCKET_SIZE + 1;

	*eb = (struct graph_edge_buckets){ .work = work, .bucket_count = buckets };
	base_chunks_init(&eb->chunks, sizeof(struct graph_edge_chunk), work, "edges of the graph");
	TRY(BASE_ALLOC(eb->last, buckets, "edge buckets", err));
	return BASE_ALLOC(eb->first, GRAPH_BUCKET_SIZE + 2, "edge buckets", err);
}

void graph_buckets_release(struct graph_edge_buckets *eb)
{
	if (!eb->work)
		return;
	base_chunks_release(&eb->chunks);
	base_big_free(&eb->sorted);
	free(eb->last);
	free(eb->first);
	*eb = (struct graph_edge_buckets){ 0 };
}

int graph_buckets_grow(struct graph_edge_buckets *eb, uint32_t bucket, struct hdb_error *err)
{
	struct graph_edge_chunk *chunk;
	uint64_t position;
	uint8_t *room;

	assert(bucket < eb->bucket_count);
	TRY(base_chunks_add(&eb->chunks, sizeof *chunk, &position, &room, err));
	chunk = (struct graph_edge_chunk *)room;
	chunk->before = eb->last[bucket];
	chunk->used = chunk->last_source = 0;
	eb->last[bucket] = chunk;
	return HDB_OK;
}

/*
 * Counts the edges of each target in first[target + 2] and adds up the counts, so that first[k + 1]
 * is the start of row k.
 */
static uint64_t count_rows(const struct graph_edge_buckets *eb, uint32_t bucket)
{
	struct graph_edge_reader reader;
	uint64_t *first = eb->first;
	uint32_t source, target;

	memset(first, 0, (GRAPH_BUCKET_SIZE + 2) * sizeof *first);
	graph_buckets_begin(eb, bucket, &reader);
	while (graph_buckets_next(&reader, &source, &target))
		first[target + 2]++;
	for (uint32_t k = 2; k < GRAPH_BUCKET_SIZE + 2; k++)
		first[k] += first[k - 1];
	return first[GRAPH_BUCKET_SIZE + 1];
}

static void fill_rows(const struct graph_edge_buckets *eb, uint32_t bucket, uint32_t *sorted)
{
	struct graph_edge_reader reader;
	uint32_t source, target;

	graph_buckets_begin(eb, bucket, &reader);
	while (graph_buckets_next(&reader, &source, &target))
		sorted[eb->first[target + 1]++] = source;
}

int graph_buckets_sort(struct graph_edge_buckets *eb, uint32_t bucket, const uint64_t **first,
		       const uint32_t **source, struct hdb_error *err)
{
	uint64_t count;

	assert(bucket < eb->bucket_count);
	count = count_rows(eb, bucket);

	if (!eb->sorted.data || count * sizeof(uint32_t) > eb->sorted.size_bytes) {
		const uint64_t bytes = (count + count / 4 + 1) * sizeof(uint32_t);

		base_big_free(&eb->sorted);
		TRY(base_big_alloc_raw(eb->work, &eb->sorted, bytes, "sorted edges", err));
	}
	fill_rows(eb, bucket, eb->sorted.data);
	*first = eb->first;
	*source = eb->sorted.data;
	return HDB_OK;
}
