/* graph/child_rows.c - rows of children, range by range, sorted in memory or by merging runs. */
#include "graph/child_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of ranges. It is so small that the chunks of each bucket have a useful size, and
 * so large that a range fits in the caches.
 */
#define RANGES_MAX 1024u

/*
 * Minimum and maximum number of children that are sorted at once. The minimum applies to the
 * smallest budget, the maximum to an unlimited one.
 */
#define SORT_MIN ((uint64_t)1 << 17)
#define SORT_MAX ((uint64_t)1 << 20)
#define RUN_MAX ((uint64_t)1 << 20)

/*
 * Shares of the budget for the children of a range, for the children of a run, for chunks, and for
 * data that stays in memory. The rest is for sorting.
 */
#define RANGE_SHARE 512u
#define RUN_SHARE 256u
#define CHUNK_SHARE 8u
#define KEPT_SHARE 4u

/* Number of records between two calls of base_step. */
#define STEP_MASK 0xffffu

static uint64_t clamp(uint64_t v, uint64_t least, uint64_t most)
{
	return v < least ? least : v > most ? most : v;
}

int graph_child_rows_init(struct graph_child_rows *rows, uint32_t node_count,
			  struct base_work *work, struct hdb_error *err)
{
	const uint64_t budget = work->memory_bytes;
	const uint64_t chunks =
		node_count / 2u < budget / CHUNK_SHARE ? node_count / 2u : budget / CHUNK_SHARE;

	*rows = (struct graph_child_rows){ .node_count = node_count, .bits = GRAPH_CHILD_BITS };
	if (node_count >= UINT32_MAX - 1)
		return hdb_fail(err, HDB_ELIMIT, "too many nodes for a dominator tree: %" PRIu32,
				node_count);
	while (node_count >> rows->bits > RANGES_MAX)
		rows->bits++;
	TRY(graph_size_order_init(&rows->top, err));
	rows->range_count = (node_count >> rows->bits) + 1;
	rows->range_limit = clamp(budget / RANGE_SHARE, SORT_MIN, SORT_MAX);
	rows->run_limit = clamp(budget / RUN_SHARE, SORT_MIN, RUN_MAX);
	return base_buckets_init(&rows->buckets,
				 &(struct base_buckets_plan){ .bucket_count = rows->range_count + 1,
							      .chunks_bytes = chunks,
							      .kept_bytes = budget / KEPT_SHARE,
							      .what = "dominated objects" },
				 work, err);
}

void graph_child_rows_release(struct graph_child_rows *rows)
{
	base_buckets_release(&rows->buckets);
	graph_size_order_release(&rows->top);
	*rows = (struct graph_child_rows){ 0 };
}

int graph_child_rows_end(struct graph_child_rows *rows, uint32_t top_limit, uint64_t *top_count,
			 struct hdb_error *err)
{
	BASE_SCOPED(base_bucket_end) struct base_bucket_reader reader = { 0 };
	uint64_t v[BASE_BUCKET_FIELDS];
	int rc;

	assert(rows->buckets.bucket);
	*top_count = rows->buckets.bucket[rows->range_count].count;
	if (*top_count > top_limit)
		return HDB_OK;
	*top_count = 0;
	TRY(base_bucket_begin(&rows->buckets, rows->range_count, &reader, err));
	while ((rc = base_bucket_next(&reader, BASE_RECORD(2, 1), v, err)) == HDB_OK) {
		v[0] = rows->node_count;
		TRY(base_buckets_add(&rows->buckets, rows->range_count - 1, BASE_RECORD(2, 1), v,
				     err));
	}
	base_bucket_drop(&rows->buckets, rows->range_count);
	return rc < 0 ? rc : HDB_OK;
}

void graph_child_range_release(struct graph_child_range *range)
{
	free(range->first);
	base_vec_release(&range->keys);
	base_vec_release(&range->spare);
	*range = (struct graph_child_range){ 0 };
}

bool graph_child_range_fits(const struct graph_child_rows *rows, uint32_t no)
{
	assert(no < rows->range_count);
	return rows->buckets.bucket[no].count <= rows->range_limit;
}

void graph_child_range_rows(const struct graph_child_rows *rows, uint32_t no, uint32_t *base,
			    uint32_t *count)
{
	const uint32_t size = (uint32_t)1 << rows->bits, start = no << rows->bits;

	assert(no < rows->range_count);
	*base = start;
	*count = rows->node_count - start < size ? rows->node_count - start + 1 : size;
}

/*
 * Counts the children of row i in first[i + 2], and adds up the counts, so that first[i + 1] is the
 * start of row i.
 */
static int count_rows(const struct graph_child_rows *rows, uint32_t no,
		      struct graph_child_range *range, struct hdb_error *err)
{
	BASE_SCOPED(base_bucket_end) struct base_bucket_reader reader = { 0 };
	uint64_t v[BASE_BUCKET_FIELDS];
	int rc;

	TRY(base_bucket_begin(&rows->buckets, no, &reader, err));
	memset(range->first, 0, ((size_t)range->count + 2) * sizeof *range->first);
	while ((rc = base_bucket_next(&reader, BASE_RECORD(2, 1), v, err)) == HDB_OK)
		range->first[v[0] - range->base + 2]++;
	TRY_ERRORS(rc);
	for (size_t i = 2; i < (size_t)range->count + 2; i++)
		range->first[i] += range->first[i - 1];
	return HDB_OK;
}

/* Moves the children into their rows. first[i + 1] becomes the end of row i. */
static int fill_rows(const struct graph_child_rows *rows, uint32_t no,
		     struct graph_child_range *range, struct hdb_error *err)
{
	struct base_sort_key *keys = range->keys.data;
	BASE_SCOPED(base_bucket_end) struct base_bucket_reader reader = { 0 };
	uint64_t v[BASE_BUCKET_FIELDS];
	int rc;

	TRY(base_bucket_begin(&rows->buckets, no, &reader, err));
	while ((rc = base_bucket_next(&reader, BASE_RECORD(2, 1), v, err)) == HDB_OK)
		keys[range->first[v[0] - range->base + 1]++] = (struct base_sort_key){
			.key = ~v[2],
			.node = (uint32_t)v[1],
		};
	return rc < 0 ? rc : HDB_OK;
}

static int sort_rows(struct graph_child_range *range, struct hdb_error *err)
{
	struct base_sort_key *keys = range->keys.data;
	uint32_t *node = range->keys.data;
	const uint64_t total = range->first[range->count];
	uint64_t longest = 0;

	for (uint32_t i = 0; i < range->count; i++)
		if (range->first[i + 1] - range->first[i] > longest)
			longest = range->first[i + 1] - range->first[i];
	TRY(base_vec_reserve(&range->spare, (size_t)longest, sizeof *keys, err));
	for (uint32_t i = 0; i < range->count; i++)
		if (range->first[i + 1] - range->first[i] > 1)
			base_sort_keys(keys + range->first[i], range->spare.data,
				       (size_t)(range->first[i + 1] - range->first[i]));
	/* Nodes overwrite keys that have already been read. */
	for (uint64_t i = 0; i < total; i++)
		memcpy(&node[i], &keys[i].node, sizeof *node);
	range->node = node;
	return HDB_OK;
}

int graph_child_range_fill(const struct graph_child_rows *rows, uint32_t no,
			   struct graph_child_range *range, struct hdb_error *err)
{
	assert(no < rows->range_count);
	if (!range->first)
		TRY(BASE_ALLOC(range->first, ((size_t)1 << rows->bits) + 3, "dominated objects",
			       err));
	graph_child_range_rows(rows, no, &range->base, &range->count);
	range->keys.count = range->spare.count = 0;
	TRY(count_rows(rows, no, range, err));
	TRY(base_vec_reserve(&range->keys, (size_t)rows->buckets.bucket[no].count,
			     sizeof(struct base_sort_key), err));
	TRY(fill_rows(rows, no, range, err));
	range->key = range->keys.data;
	return HDB_OK;
}

int graph_child_range_sort(const struct graph_child_rows *rows, uint32_t no,
			   struct graph_child_range *range, struct hdb_error *err)
{
	TRY(graph_child_range_fill(rows, no, range, err));
	return sort_rows(range, err);
}

/* ---- ranges that do not fit in memory: sorted runs are merged ---- */

/* The next record of a run. */
struct run_head {
	uint32_t row;
	uint32_t run;
	uint64_t key;
	uint64_t node;
};

struct merge {
	struct graph_child_rows *rows;
	uint64_t count; /* number of records in the range */
	struct base_buckets runs;
	struct base_bucket_reader *readers;
	struct run_head *heap; /* binary heap with the smallest record first */
	uint32_t run_count, heap_count;
	/* struct base_sort_key: keys of a run by size and by row, and scratch space */
	struct base_big keys;
	/* uint32_t: first the nodes of a run by index, later the rows of the run */
	struct base_big places;
};

static int add_run(struct merge *m, struct base_sort_key *keys, uint64_t count, bool has_rows,
		   struct hdb_error *err)
{
	struct base_sort_key *spare = keys + m->rows->run_limit;
	const uint32_t *node = m->places.data, *row = node + m->rows->run_limit;

	base_sort_keys(keys, spare, (size_t)count);
	/* Sorts by row. The sort is stable, so the children of a row remain sorted by size. */
	for (uint64_t i = 0; has_rows && i < count; i++)
		spare[i] = (struct base_sort_key){ .key = row[keys[i].node], .node = (uint32_t)i };
	if (has_rows)
		base_sort_keys(spare, spare + m->rows->run_limit, (size_t)count);
	for (uint64_t i = 0; i < count; i++) {
		const struct base_sort_key *key = &keys[has_rows ? spare[i].node : i];
		const uint64_t v[] = { key->key, node[key->node], row[key->node] };

		TRY(base_buckets_add(&m->runs, m->run_count, BASE_RECORD(2, 1), v, err));
	}
	m->run_count++;
	return HDB_OK;
}

/* Splits a range into sorted runs. */
static int make_runs(struct merge *m, uint32_t no, struct hdb_error *err)
{
	struct base_work *work = m->rows->buckets.work;
	const bool has_rows = no < m->rows->range_count;
	struct base_sort_key *keys = m->keys.data;
	uint32_t *node = m->places.data, *row = node + m->rows->run_limit;
	BASE_SCOPED(base_bucket_end) struct base_bucket_reader reader = { 0 };
	uint64_t v[BASE_BUCKET_FIELDS], count = 0, done = 0;
	int rc;

	TRY(base_bucket_begin(&m->rows->buckets, no, &reader, err));
	while ((rc = base_bucket_next(&reader, BASE_RECORD(2, 1), v, err)) == HDB_OK) {
		keys[count] = (struct base_sort_key){ .key = ~v[2], .node = (uint32_t)count };
		node[count] = (uint32_t)v[1];
		row[count++] = (uint32_t)v[0];
		if (count == m->rows->run_limit) {
			TRY(add_run(m, keys, count, has_rows, err));
			count = 0;
		}
		if ((++done & STEP_MASK) == 0)
			TRY(base_step(work, done / 2, err));
	}
	TRY_ERRORS(rc);
	return count ? add_run(m, keys, count, has_rows, err) : HDB_OK;
}

static bool is_before(const struct run_head *a, const struct run_head *b)
{
	if (a->row != b->row)
		return a->row < b->row;
	return a->key != b->key ? a->key < b->key : a->run < b->run;
}

/* Moves a record down to its place in the binary heap. */
static void sift(struct merge *m, uint32_t at)
{
	const struct run_head head = m->heap[at];

	for (uint32_t below = 2 * at + 1; below < m->heap_count; below = 2 * at + 1) {
		if (below + 1 < m->heap_count && is_before(&m->heap[below + 1], &m->heap[below]))
			below++;
		if (!is_before(&m->heap[below], &head))
			break;
		m->heap[at] = m->heap[below];
		at = below;
	}
	m->heap[at] = head;
}

static int next_head(struct merge *m, uint32_t run, struct run_head *head, struct hdb_error *err)
{
	uint64_t v[BASE_BUCKET_FIELDS];

	TRY(base_bucket_next(&m->readers[run], BASE_RECORD(2, 1), v, err));
	*head = (struct run_head){
		.row = (uint32_t)v[2],
		.run = run,
		.key = v[0],
		.node = v[1],
	};
	return HDB_OK;
}

static int start_merge(struct merge *m, struct hdb_error *err)
{
	TRY(BASE_ALLOC(m->readers, m->run_count, "dominated objects", err));
	TRY(BASE_ALLOC(m->heap, m->run_count, "dominated objects", err));
	for (uint32_t i = 0; i < m->run_count; i++) {
		TRY(base_bucket_begin(&m->runs, i, &m->readers[i], err));
		TRY(next_head(m, i, &m->heap[m->heap_count++], err));
	}
	for (uint32_t i = m->heap_count; i-- > 0;)
		sift(m, i);
	return HDB_OK;
}

static int give_all(struct merge *m, uint32_t no,
		    int (*take)(void *ctx, uint32_t row, uint32_t node, uint64_t size,
				struct hdb_error *err),
		    void *ctx, struct hdb_error *err)
{
	struct base_work *work = m->rows->buckets.work;
	const bool is_top = no == m->rows->range_count;
	uint64_t done = 0;
	int rc;

	while (m->heap_count) {
		struct run_head *top = &m->heap[0];

		TRY(take(ctx, is_top ? m->rows->node_count : top->row, (uint32_t)top->node,
			 ~top->key, err));
		TRY_ERRORS(rc = next_head(m, top->run, top, err));
		if (rc == HDB_END)
			*top = m->heap[--m->heap_count];
		sift(m, 0);
		if ((++done & STEP_MASK) == 0)
			TRY(base_step(work, (m->count + done) / 2, err));
	}
	return HDB_OK;
}

/* Writes the sorted runs of a range, and drops its bucket. */
static int cut_runs(struct merge *m, uint32_t no, struct hdb_error *err)
{
	struct graph_child_rows *rows = m->rows;
	struct base_work *work = rows->buckets.work;

	/* Three arrays are needed: keys by size, keys by row, and scratch space for sorting. */
	TRY(base_big_alloc_raw(work, &m->keys, 3 * rows->run_limit * sizeof(struct base_sort_key),
			       "dominated objects", err));
	TRY(base_big_alloc_raw(work, &m->places, 2 * rows->run_limit * sizeof(uint32_t),
			       "dominated objects", err));
	TRY(base_buckets_init(&m->runs,
			      &(struct base_buckets_plan){
				      .bucket_count = (uint32_t)(m->count / rows->run_limit) + 1,
				      .chunks_bytes = work->memory_bytes / CHUNK_SHARE,
				      .kept_bytes = 0,
				      .what = "dominated objects" },
			      work, err));
	TRY(make_runs(m, no, err));
	base_big_free(&m->keys);
	base_big_free(&m->places);
	base_bucket_drop(&rows->buckets, no);
	return HDB_OK;
}

static void release_merge(struct merge *m)
{
	for (uint32_t i = 0; m->readers && i < m->run_count; i++)
		base_bucket_end(&m->readers[i]);
	base_buckets_release(&m->runs);
	base_big_free(&m->keys);
	base_big_free(&m->places);
	free(m->readers);
	free(m->heap);
}

int graph_child_rows_merge(struct graph_child_rows *rows, uint32_t no,
			   int (*take)(void *ctx, uint32_t row, uint32_t node, uint64_t size,
				       struct hdb_error *err),
			   void *ctx, struct hdb_error *err)
{
	BASE_SCOPED(release_merge)
	struct merge m = { .rows = rows, .count = rows->buckets.bucket[no].count };

	assert(no <= rows->range_count);
	TRY(cut_runs(&m, no, err));
	TRY(start_merge(&m, err));
	return give_all(&m, no, take, ctx, err);
}

/* ---- counting sort of the top level, if its nodes fit in memory ---- */

/* The receiver of the nodes of the top level. */
struct take_top {
	int (*take)(void *ctx, const uint32_t *nodes, uint64_t count, struct hdb_error *err);
	void *ctx;
};

/* Moves the nodes to their places. Nodes of equal size stay in order. */
static int place_top(struct graph_child_rows *rows, uint32_t *node, struct hdb_error *err)
{
	BASE_SCOPED(base_bucket_end) struct base_bucket_reader reader = { 0 };
	uint64_t v[BASE_BUCKET_FIELDS];
	int rc;

	TRY(base_bucket_begin(&rows->buckets, rows->range_count, &reader, err));
	while ((rc = base_bucket_next(&reader, BASE_RECORD(2, 1), v, err)) == HDB_OK)
		graph_size_order_place(&rows->top, node, (uint32_t)v[1], v[2]);
	return rc < 0 ? rc : HDB_OK;
}

static int place_and_give(struct graph_child_rows *rows, const struct take_top *to,
			  struct hdb_error *err)
{
	const uint64_t count = rows->buckets.bucket[rows->range_count].count;
	struct base_work *work = rows->buckets.work;
	BASE_SCOPED(base_big_free) struct base_big big = { 0 };

	TRY(base_big_alloc_raw(work, &big, (count + 1) * sizeof(uint32_t), "dominated objects",
			       err));
	TRY(graph_size_order_start(&rows->top, big.data, (uint32_t)count, err));
	TRY(place_top(rows, big.data, err));
	base_bucket_drop(&rows->buckets, rows->range_count);
	return to->take(to->ctx, big.data, count, err);
}

static int take_one(void *ctx, uint32_t row, uint32_t node, uint64_t size, struct hdb_error *err)
{
	const struct take_top *to = ctx;

	(void)row;
	(void)size;
	return to->take(to->ctx, &node, 1, err);
}

int graph_child_rows_top(struct graph_child_rows *rows,
			 int (*take)(void *ctx, const uint32_t *nodes, uint64_t count,
				     struct hdb_error *err),
			 void *ctx, struct hdb_error *err)
{
	const uint64_t count = rows->buckets.bucket[rows->range_count].count;
	struct take_top to = { take, ctx };

	if (!graph_size_order_is_full(&rows->top) &&
	    count * sizeof(uint32_t) <= base_work_room(rows->buckets.work))
		return place_and_give(rows, &to, err);
	return graph_child_rows_merge(rows, rows->range_count, take_one, &to, err);
}
