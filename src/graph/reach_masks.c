/*
 * graph/reach_masks.c - finds the nodes that are reachable without entering each of several sets.
 * The mask of a node has a bit for each set that some path to the node avoids. Masks are propagated
 * to targets until no mask grows.
 */
#include "graph/reach_masks.h"

#include "base/bits.h"

#include <assert.h>
#include <string.h>

/* Number of edges between two calls of base_step. */
#define STEP_EDGES 0x10000
/* How many queue entries ahead to prefetch rows and targets. See reach.c. */
#define START_AHEAD 48
#define GROUP_AHEAD 36
#define ROW_AHEAD 24
#define TARGETS_AHEAD 12

struct walk {
	const struct graph_rows *rows;
	const struct graph_member *members;
	size_t member_count;
	const uint64_t *is_member;
	uint32_t *reached;
	uint64_t *is_queued;
	uint32_t *queue; /* ring buffer of node_count entries that contains a node at most once */
	uint64_t head, tail;
	uint64_t edges_seen, next_step;
};

static uint32_t sets_of(const struct walk *w, uint32_t v)
{
	size_t low = 0, high = w->member_count;

	if (!base_bit_has(w->is_member, v))
		return 0;
	while (high - low > 1) {
		const size_t mid = low + (high - low) / 2;

		if (w->members[mid].node <= v)
			low = mid;
		else
			high = mid;
	}
	return low < high && w->members[low].node == v ? w->members[low].sets : 0;
}

static inline uint32_t queued(const struct walk *w, uint64_t at)
{
	return w->queue[at % w->rows->node_count];
}

/* Adds the sets that a path to `to` avoids to the mask of `to`. */
static inline void meet(struct walk *w, uint32_t to, uint32_t sets)
{
	uint32_t more = sets & ~w->reached[to];

	if (!more)
		return;
	more &= ~sets_of(w, to);
	if (!more)
		return;
	w->reached[to] |= more;
	if (base_bit_has(w->is_queued, to))
		return;
	base_bit_put(w->is_queued, to);
	assert(w->tail - w->head < w->rows->node_count);
	w->queue[w->tail++ % w->rows->node_count] = to;
}

static inline void prefetch(const struct walk *w)
{
	const uint64_t ahead = w->tail - w->head;

	if (ahead > START_AHEAD)
		graph_rows_prefetch_start(w->rows, queued(w, w->head + START_AHEAD));
	if (ahead > GROUP_AHEAD)
		graph_rows_prefetch(w->rows, queued(w, w->head + GROUP_AHEAD));
	if (ahead > ROW_AHEAD)
		graph_rows_prefetch_row(w->rows, queued(w, w->head + ROW_AHEAD));
	if (ahead > TARGETS_AHEAD) {
		uint32_t target[GRAPH_ROW_MAX];
		struct graph_long_row row;
		const unsigned n =
			graph_rows_get(w->rows, queued(w, w->head + TARGETS_AHEAD), target, &row);

		for (unsigned i = 0; i < n; i++)
			__builtin_prefetch(&w->reached[target[i]], 1);
	}
}

static void visit_targets(struct walk *w, uint32_t v)
{
	const uint32_t sets = w->reached[v];
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = graph_rows_get(w->rows, v, target, &row);

	for (unsigned i = 0; i < count; i++)
		meet(w, target[i], sets);
	for (uint64_t i = row.at; i < row.end; i++) {
		if (row.end - i > TARGETS_AHEAD)
			__builtin_prefetch(&w->reached[graph_rows_long(w->rows, i + TARGETS_AHEAD)],
					   1);
		meet(w, graph_rows_long(w->rows, i), sets);
	}
	w->edges_seen += count + (row.end - row.at) + 1;
}

static int walk(struct walk *w, struct hdb_error *err)
{
	while (w->head < w->tail) {
		const uint32_t v = queued(w, w->head);

		prefetch(w);
		w->head++;
		base_bit_drop(w->is_queued, v);
		visit_targets(w, v);
		if (w->edges_seen >= w->next_step) {
			TRY(base_step(w->rows->work, w->head, err));
			w->next_step = w->edges_seen + STEP_EDGES;
		}
	}
	return HDB_OK;
}

int graph_reach_masks(const struct graph_rows *rows, const uint64_t *root_bits,
		      const struct graph_mask_sets *sets, uint32_t *reached, struct hdb_error *err)
{
	const uint32_t all = sets->count >= GRAPH_MASK_SETS ? ~0u : (1u << sets->count) - 1;
	const uint32_t n = rows->node_count;
	BASE_SCOPED(base_big_free) struct base_big queue = { 0 };
	BASE_SCOPED(base_big_free) struct base_big bits = { 0 };
	struct walk w = {
		.rows = rows,
		.members = sets->members,
		.member_count = sets->member_count,
		.is_member = sets->is_member,
		.reached = reached,
	};

	memset(reached, 0, (size_t)n * sizeof(*reached));
	base_stage(rows->work, "reachability without sets", n, "objects");
	TRY(base_big_alloc(rows->work, &queue, ((uint64_t)n + 1) * sizeof(*w.queue), "search queue",
			   err));
	TRY(base_big_alloc(rows->work, &bits, (uint64_t)n / 8 + 8, "a set of objects", err));
	w.queue = queue.data;
	w.is_queued = bits.data;
	for (uint64_t root = 0; base_bit_next(root_bits, n, &root); root++)
		meet(&w, (uint32_t)root, all);
	return walk(&w, err);
}
