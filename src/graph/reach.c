/*
 * graph/reach.c - breadth-first search with a queue that contains each node once.
 *
 * The queue shows which nodes come next, so their rows, and then the states of their targets, can
 * be prefetched.
 */
#include "graph/reach.h"

#include "base/bits.h"

#include <assert.h>
#include <string.h>

/* Number of edges between two calls of base_step. */
#define STEP_EDGES 0x10000

/* How many queue entries ahead to prefetch rows and target states. */
#define START_AHEAD 48
#define GROUP_AHEAD 36
#define ROW_AHEAD 24
#define TARGETS_AHEAD 12

struct search {
	const struct graph_rows *rows;
	const uint64_t *roots;
	struct base_work *work;
	uint32_t *parent; /* the tree, or NULL if nodes are only marked */
	/* if nodes are only marked: bit set of the nodes that have been entered or are blocked */
	uint64_t *reached;
	uint32_t *queue;
	uint32_t head, tail;
	uint64_t edges_seen, next_step;
};

static inline void prefetch_known(const struct search *s, uint32_t node)
{
	if (s->parent)
		prefetch_write(&s->parent[node]);
	else
		prefetch_write(&s->reached[node / 64]);
}

static inline void prefetch(const struct search *s)
{
	const uint32_t ahead = s->tail - s->head;

	if (ahead > START_AHEAD)
		graph_rows_prefetch_start(s->rows, s->queue[s->head + START_AHEAD]);
	if (ahead > GROUP_AHEAD)
		graph_rows_prefetch(s->rows, s->queue[s->head + GROUP_AHEAD]);
	if (ahead > ROW_AHEAD)
		graph_rows_prefetch_row(s->rows, s->queue[s->head + ROW_AHEAD]);
	if (ahead > TARGETS_AHEAD) {
		uint32_t target[GRAPH_ROW_MAX];
		struct graph_long_row row;
		const unsigned n =
			graph_rows_get(s->rows, s->queue[s->head + TARGETS_AHEAD], target, &row);

		for (unsigned i = 0; i < n; i++)
			prefetch_known(s, target[i]);
	}
}

/* Adds `to` to the queue if it is new. Each node is added once, so the queue cannot overflow. */
static inline void meet(struct search *s, uint32_t from, uint32_t to)
{
	if (s->parent) {
		if (s->parent[to] != to)
			return;
		s->parent[to] = from;
	} else {
		if (base_bit_has(s->reached, to))
			return;
		base_bit_put(s->reached, to);
	}
	assert(s->tail < s->rows->node_count);
	s->queue[s->tail++] = to;
}

static void visit_roots(struct search *s)
{
	for (uint64_t root = 0; base_bit_next(s->roots, s->rows->node_count, &root); root++)
		meet(s, GRAPH_NONE, (uint32_t)root);
}

/* Adds all targets of v. */
static void visit_targets(struct search *s, uint32_t v)
{
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = graph_rows_get(s->rows, v, target, &row);

	for (unsigned i = 0; i < count; i++)
		meet(s, v, target[i]);
	for (uint64_t i = row.at; i < row.end; i++) {
		if (row.end - i > TARGETS_AHEAD)
			prefetch_known(s, graph_rows_long(s->rows, i + TARGETS_AHEAD));
		meet(s, v, graph_rows_long(s->rows, i));
	}
	s->edges_seen += count + (row.end - row.at) + 1;
}

static int search(struct search *s, struct hdb_error *err)
{
	while (s->head < s->tail) {
		prefetch(s);
		visit_targets(s, s->queue[s->head++]);
		if (s->edges_seen >= s->next_step) {
			TRY(base_step(s->work, s->head, err));
			s->next_step = s->edges_seen + STEP_EDGES;
		}
	}
	return HDB_OK;
}

static int run(struct search *s, const char *stage, struct hdb_error *err)
{
	BASE_SCOPED(base_big_free) struct base_big big = { 0 };

	base_stage(s->work, stage, s->rows->node_count, "objects");
	TRY(base_big_alloc(s->work, &big, (uint64_t)s->rows->node_count * sizeof *s->queue,
			   "search queue", err));
	s->queue = big.data;
	visit_roots(s);
	return search(s, err);
}

int graph_reach_tree(const struct graph_rows *rows, const uint64_t *root_bits,
		     struct base_work *work, uint32_t *parent, struct hdb_error *err)
{
	struct search s = { .rows = rows, .roots = root_bits, .work = work, .parent = parent };

	for (uint32_t v = 0; v < rows->node_count; v++)
		parent[v] = v;
	return run(&s, "reachability", err);
}

int graph_reach_around(const struct graph_rows *rows, const uint64_t *root_bits,
		       const uint64_t *blocked_bits, uint64_t *reached, struct hdb_error *err)
{
	const uint64_t words = base_bit_words(rows->node_count);
	struct search s = {
		.rows = rows, .roots = root_bits, .work = rows->work, .reached = reached
	};
	int rc;

	/* Blocked nodes count as entered, and are removed from the result at the end. */
	if (blocked_bits)
		memcpy(reached, blocked_bits, words * sizeof *reached);
	else
		memset(reached, 0, words * sizeof *reached);
	rc = run(&s, "reachability without a set", err);
	if (blocked_bits) {
		for (uint64_t w = 0; w < words; w++)
			reached[w] &= ~blocked_bits[w];
	}
	return rc;
}

/*
 * Starts a search at each node that has not been reached yet, in ascending order, and marks these
 * starting nodes.
 */
static int cover_upwards(struct search *s, uint64_t *orphans, struct hdb_error *err)
{
	for (uint32_t v = 0; v < s->rows->node_count; v++) {
		if (base_bit_has(s->reached, v))
			continue;
		base_bit_put(orphans, v);
		meet(s, GRAPH_NONE, v);
		TRY(search(s, err));
	}
	return HDB_OK;
}

/*
 * Removes unnecessary starting nodes, from last to first. A search does not reach the starting node
 * of a later search. A starting node is therefore necessary if and only if no later starting node
 * reaches it, which means that only its own cycles lead to it.
 */
static int thin_downwards(struct search *s, uint64_t *orphans, struct hdb_error *err)
{
	for (uint32_t v = s->rows->node_count; v-- > 0;) {
		if (!base_bit_has(orphans, v))
			continue;
		if (base_bit_has(s->reached, v)) {
			base_bit_drop(orphans, v);
			continue;
		}
		meet(s, GRAPH_NONE, v);
		TRY(search(s, err));
	}
	return HDB_OK;
}

int graph_reach_orphans(const struct graph_rows *rows, const uint64_t *root_bits,
			struct base_work *work, uint64_t *orphans, struct hdb_error *err)
{
	const uint64_t bytes = base_bit_words(rows->node_count) * sizeof(uint64_t);
	struct search s = { .rows = rows, .roots = root_bits, .work = work };
	BASE_SCOPED(base_big_free) struct base_big queue = { 0 };
	BASE_SCOPED(base_big_free) struct base_big reached = { 0 };
	BASE_SCOPED(base_big_free) struct base_big by_roots = { 0 };

	memset(orphans, 0, bytes);
	base_stage(work, "unreferenced objects", rows->node_count, "objects");
	TRY(base_big_alloc(work, &queue, (uint64_t)rows->node_count * sizeof *s.queue,
			   "search queue", err));
	TRY(base_big_alloc(work, &reached, bytes, "a set of objects", err));
	TRY(base_big_alloc(work, &by_roots, bytes, "a set of objects", err));
	s.queue = queue.data;
	s.reached = reached.data;
	visit_roots(&s);
	TRY(search(&s, err));
	memcpy(by_roots.data, s.reached, bytes);
	TRY(cover_upwards(&s, orphans, err));
	s.reached = by_roots.data;
	s.head = s.tail = 0;
	return thin_downwards(&s, orphans, err);
}
