/*
 * graph/cheapest.c - the cheapest paths from the roots: Dijkstra's search, with waiting nodes in a
 * ring of buckets by cost (Dial 1969).
 *
 * A waiting node costs at most GRAPH_COST_MAX more than the current one, so six bits are enough for
 * a cost. A node found again on a cheaper path is in two buckets. It is settled in the cheaper one
 * and skipped in the other.
 */
#include "graph/reach.h"

#include "base/bits.h"
#include "base/vec.h"

#define RING (GRAPH_COST_MAX + 1)
#define UNMET 0xffu
#define SETTLED 0x80u
/* An empty bucket with a larger capacity than this releases its memory. */
#define BUCKET_KEPT (1u << 18)
/* Nodes between two checks of the cancel flag. */
#define STEP_NODES 16384u
/* Distances, in bucket entries, at which groups, rows, and the states of targets are prefetched. */
#define GROUP_AHEAD 36
#define ROW_AHEAD 24
#define TARGETS_AHEAD 12

struct search {
	const struct graph_rows *rows;
	const struct graph_costs *costs;
	uint32_t *parent;
	struct base_vec ring[RING];
	uint64_t waiting;
	unsigned now; /* the current bucket */
};

/* Puts `to` into the bucket of its cost, if this is the cheapest path to it so far. */
static int meet(struct search *s, uint32_t from, uint32_t to, unsigned cost, struct hdb_error *err)
{
	struct graph_cost_node *node = &s->costs->nodes[to];
	const unsigned at = (s->now + cost) % RING;

	if (node->at != UNMET &&
	    ((node->at & SETTLED) || (node->at + RING - s->now) % RING <= cost))
		return HDB_OK;
	node->at = (uint8_t)at;
	s->parent[to] = from;
	s->waiting++;
	return base_vec_push(&s->ring[at], &to, sizeof(to), err);
}

static bool has(const uint32_t *list, size_t count, uint32_t node)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == node)
			return true;
	return false;
}

static int meet_targets(struct search *s, uint32_t v, struct hdb_error *err)
{
	const struct graph_costs *c = s->costs;
	const unsigned kind = c->nodes[v].kind;
	const uint8_t *cost = c->cost + (size_t)kind * c->kinds;
	uint32_t target[GRAPH_ROW_MAX];
	const uint32_t *own = NULL;
	struct graph_long_row row;
	size_t own_count = 0;
	const unsigned count = graph_rows_get(s->rows, v, target, &row);
	int r = kind >= c->first_mixed ? c->own(c->ctx, v, &own, &own_count, err) : HDB_OK;

	for (unsigned i = 0; i < count && r == HDB_OK; i++)
		r = meet(s, v, target[i],
			 has(own, own_count, target[i]) ? c->own_cost :
							  cost[c->nodes[target[i]].kind],
			 err);
	for (uint64_t i = row.at; i < row.end && r == HDB_OK; i++) {
		const uint32_t to = graph_rows_long(s->rows, i);

		if (row.end - i > TARGETS_AHEAD)
			prefetch_write(&c->nodes[graph_rows_long(s->rows, i + TARGETS_AHEAD)]);
		r = meet(s, v, to, cost[c->nodes[to].kind], err);
	}
	return r;
}

static void prefetch_ahead(const struct search *s, const struct base_vec *bucket, size_t i)
{
	const uint32_t *nodes = bucket->data;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;

	if (i + GROUP_AHEAD < bucket->count)
		graph_rows_prefetch(s->rows, nodes[i + GROUP_AHEAD]);
	if (i + ROW_AHEAD < bucket->count)
		graph_rows_prefetch_row(s->rows, nodes[i + ROW_AHEAD]);
	if (i + TARGETS_AHEAD < bucket->count) {
		const unsigned n = graph_rows_get(s->rows, nodes[i + TARGETS_AHEAD], target, &row);

		for (unsigned t = 0; t < n; t++)
			prefetch_write(&s->costs->nodes[target[t]]);
	}
}

/* Processes all nodes of the current bucket. Costs are at least 1, so none is added meanwhile. */
static int empty_bucket(struct search *s, uint64_t *done, struct hdb_error *err)
{
	struct base_vec *bucket = &s->ring[s->now];
	int r = HDB_OK;

	for (size_t i = 0; i < bucket->count && r == HDB_OK; i++) {
		const uint32_t v = *base_vec_at(bucket, uint32_t, i);

		prefetch_ahead(s, bucket, i);
		s->waiting--;
		if (s->costs->nodes[v].at & SETTLED)
			continue;
		s->costs->nodes[v].at |= SETTLED;
		r = meet_targets(s, v, err);
		if (r == HDB_OK && ++*done % STEP_NODES == 0)
			r = base_step(s->rows->work, *done, err);
	}
	bucket->count = 0;
	if (bucket->capacity > BUCKET_KEPT)
		base_vec_release(bucket);
	return r;
}

static int meet_roots(struct search *s, const uint64_t *root_bits, struct hdb_error *err)
{
	for (uint64_t root = 0; base_bit_next(root_bits, s->rows->node_count, &root); root++)
		TRY(meet(s, GRAPH_NONE, (uint32_t)root,
			 s->costs->root(s->costs->ctx, (uint32_t)root), err));
	return HDB_OK;
}

int graph_cheapest_tree(const struct graph_rows *rows, const uint64_t *root_bits,
			const struct graph_costs *costs, uint32_t *parent, struct hdb_error *err)
{
	struct search s = { .rows = rows, .costs = costs, .parent = parent };
	uint64_t done = 0;
	int r;

	base_stage(rows->work, "paths of least strangeness", rows->node_count, "objects");
	for (unsigned i = 0; i < RING; i++)
		s.ring[i].work = rows->work;
	for (uint32_t v = 0; v < rows->node_count; v++) {
		parent[v] = v;
		costs->nodes[v].at = UNMET;
	}
	r = meet_roots(&s, root_bits, err);
	for (; r == HDB_OK && s.waiting; s.now = (s.now + 1) % RING)
		r = empty_bucket(&s, &done, err);
	for (unsigned i = 0; i < RING; i++)
		base_vec_release(&s.ring[i]);
	return r;
}
