/*
 * graph/dominators/subtree_sums_add.c - sizes of all nodes, each to the place of its parent.
 *
 * Added by atomic operations wherever they belong, they take twice as long as sorting them does.
 */
#include "graph/dominators/subtree_sums_private.h"

#include "base/processor.h"

#include <stdlib.h>

/* Nodes whose parents are looked up together. */
#define BATCH_NODES 64u

/* Places that have a lock, and locks, at most: so few that a range can be sorted by them. */
#define LOCK_BITS 12u
#define LOCKS_MAX 1024u

int subtree_sums_begin_adding(struct graph_subtree_sums *s, struct hdb_error *err)
{
	uint32_t count;

	s->lock_bits = LOCK_BITS;
	while (s->inner.count >> s->lock_bits >= LOCKS_MAX)
		s->lock_bits++;
	if (is_in_file(s))
		return HDB_OK;
	count = (s->inner.count >> s->lock_bits) + 1;
	s->lock = malloc(count * sizeof(*s->lock));
	if (!s->lock)
		return hdb_fail_memory(err, "sums of sizes", count * sizeof(*s->lock));
	for (; s->lock_count < count; s->lock_count++)
		(void)pthread_mutex_init(&s->lock[s->lock_count], NULL);
	return HDB_OK;
}

void subtree_sums_end_adding(struct graph_subtree_sums *s)
{
	for (uint32_t i = 0; i < s->lock_count; i++)
		(void)pthread_mutex_destroy(&s->lock[i]);
	free(s->lock);
	s->lock = NULL;
	s->lock_count = 0;
}

/*
 * What add does once the bits are in the caches; ranks of the parents. There is room. Counts the
 * sizes by stretch. What is inner, and where one parent ends, is hard to foretell: no branch asks.
 */
static void add_batch(struct graph_subtree_sums *s, struct base_vec *sizes,
		      const struct graph_tree_range *nodes, const uint32_t *rank, uint32_t *stretch)
{
	struct graph_tree_size *out = base_vec_at(sizes, struct graph_tree_size, sizes->count);
	struct graph_tree_size one = { .rank = GRAPH_NONE };
	const uint32_t own = base_ranks_before(&s->inner, nodes->first);
	uint32_t up[BATCH_NODES], up_count = 0;

	for (uint32_t i = 0; i < nodes->count; i++) {
		const bool is_inner = base_ranks_has(&s->inner, nodes->first + i);
		const bool is_new = rank[i] != one.rank;

		up[up_count] = rank[i];
		up_count += is_inner;
		if (rank[i] == GRAPH_NONE)
			continue;
		one.rank = rank[i];
		one.inner_count = (is_new ? 0 : one.inner_count) + is_inner;
		one.size = (is_new ? 0 : one.size) + nodes->size[i];
		stretch[rank[i] >> s->lock_bits] += is_new;
		out += is_new;
		out[-1] = one;
	}
	for (uint32_t i = 0; i < up_count; i++)
		sum_of(s, own + i)->up = up[i];
	sizes->count = (size_t)(out - base_vec_at(sizes, struct graph_tree_size, 0));
}

/* Adds sizes of one stretch of places, which are those of a lock. */
static void add_stretch(struct graph_subtree_sums *s, const struct graph_tree_size *size,
			uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		add_alone(sum_of(s, size[i].rank), size[i].size, size[i].inner_count);
}

/*
 * Adds what add_batch found to where it belongs, stretch by stretch, of which it has counted them;
 * those that another thread is at come last. The vec has room for as many again.
 */
static void add_sorted(struct graph_subtree_sums *s, struct base_vec *sizes, uint32_t *end)
{
	const struct graph_tree_size *size = sizes->data;
	struct graph_tree_size *sorted = base_vec_at(sizes, struct graph_tree_size, sizes->count);
	bool is_left[LOCKS_MAX], any_left = false;
	uint32_t at = 0;

	for (uint32_t k = 0; k < s->lock_count; k++) {
		const uint32_t count = end[k];

		is_left[k] = count != 0;
		end[k] = at;
		at += count;
	}
	for (size_t i = 0; i < sizes->count; i++) {
		sorted[end[size[i].rank >> s->lock_bits]++] = size[i];
		prefetch_write(sum_of(s, size[i].rank));
	}
	for (unsigned round = 0; round == 0 || any_left; round++) {
		any_left = false;
		for (uint32_t k = 0; k < s->lock_count; k++) {
			const uint32_t first = k ? end[k - 1] : 0;

			if (!is_left[k])
				continue;
			if (round == 0 && pthread_mutex_trylock(&s->lock[k])) {
				any_left = true;
				continue;
			}
			if (round)
				(void)pthread_mutex_lock(&s->lock[k]);
			add_stretch(s, sorted + first, end[k] - first);
			(void)pthread_mutex_unlock(&s->lock[k]);
			is_left[k] = false;
		}
	}
	sizes->count = 0;
}

/* What graph_subtree_sums_add does. There is room. */
static inline void add_range_sizes(struct graph_subtree_sums *sums, struct base_vec *sizes,
				   const struct graph_tree_range *nodes)
{
	const uint32_t count = nodes->count;
	uint32_t rank[BATCH_NODES], stretch[LOCKS_MAX] = { 0 };

	for (uint32_t start = 0; start < count; start += BATCH_NODES) {
		const uint32_t n = count - start < BATCH_NODES ? count - start : BATCH_NODES;

		for (uint32_t i = 0; i < n; i++) {
			const uint32_t p = nodes->parent[start + i];

			rank[i] = p == nodes->first + start + i ? GRAPH_NONE : p;
			if (rank[i] != GRAPH_NONE)
				base_ranks_prefetch(&sums->inner, p);
		}
		for (uint32_t i = 0; i < n; i++)
			if (rank[i] != GRAPH_NONE)
				rank[i] = base_ranks_before(&sums->inner, rank[i]);
		add_batch(sums, sizes,
			  &(struct graph_tree_range){ .first = nodes->first + start,
						      .count = n,
						      .size = nodes->size + start },
			  rank, stretch);
	}
	if (!is_in_file(sums))
		add_sorted(sums, sizes, stretch);
}

PROCESSOR_BITS static void add_range_sizes_bits(struct graph_subtree_sums *sums,
						struct base_vec *sizes,
						const struct graph_tree_range *nodes)
{
	add_range_sizes(sums, sizes, nodes);
}

int graph_subtree_sums_add(struct graph_subtree_sums *sums, struct base_vec *sizes,
			   const struct graph_tree_range *nodes, struct hdb_error *err)
{
	const int rc = base_vec_reserve(sizes, 2 * (size_t)nodes->count,
					sizeof(struct graph_tree_size), err);

	if (rc != HDB_OK)
		return rc;
	if (processor_has_bits())
		add_range_sizes_bits(sums, sizes, nodes);
	else
		add_range_sizes(sums, sizes, nodes);
	return HDB_OK;
}

int graph_subtree_sums_join(struct graph_subtree_sums *sums, struct base_vec *sizes,
			    struct hdb_error *err)
{
	const struct graph_tree_size *size = sizes->data;
	int rc;

	for (size_t i = 0; i < sizes->count; i++) {
		const uint64_t record[] = { size[i].rank, size[i].size, size[i].inner_count };

		rc = base_buckets_add(&sums->sizes, size[i].rank >> RANGE_BITS, BASE_RECORD(1, 2),
				      record, err);
		if (rc != HDB_OK)
			return rc;
	}
	sizes->count = 0;
	return HDB_OK;
}
