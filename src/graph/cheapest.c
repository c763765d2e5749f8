/*
 * graph/cheapest.c - the cheapest paths from the roots: Dijkstra's search, with waiting nodes in a
 * ring of buckets by cost (Dial 1969).
 *
 * The cost of a waiting node exceeds that of the current node by at most GRAPH_COST_MAX, so six
 * bits suffice for a cost. A node that is found again on a cheaper path is in two buckets. It is
 * settled in the cheaper bucket and skipped in the other.
 *
 * Large buckets are processed on several threads. References cost at least 1, so none of them leads
 * into the current bucket, and the bucket contains each node only once. Any thread may therefore
 * settle nodes of the bucket and read their rows. A thread ignores targets to which an equally
 * cheap path is known, because costs only decrease. The calling thread processes the other targets
 * in the order of the bucket, so the first of several paths of equal cost is the same as on one
 * thread.
 *
 * A quarter to a half of a heap consists of leaves, which refer only to their class. The first
 * settled leaf of a kind gives the cheapest path to the class, so the rows of leaves found later
 * need not be read. These later leaves wait in a separate list, or do not wait if they are found at
 * cost 1, because no path can be cheaper.
 */
#include "graph/reach.h"

#include "base/bits.h"
#include "base/pipeline.h"
#include "base/vec.h"

#include <assert.h>
#include <stdlib.h>

#define RING (GRAPH_COST_MAX + 1)
/* States of a node. While it waits, the state is the number of its bucket plus 1. */
#define UNMET 0u
#define SETTLED 0x80u
/* Maximum capacity at which an empty bucket keeps its memory. */
#define BUCKET_KEPT (1u << 18)
/* Number of nodes between two checks of the cancel flag. */
#define STEP_NODES 16384u
/* How many bucket entries ahead to prefetch groups, rows and target states. */
#define GROUP_AHEAD 36
#define ROW_AHEAD 24
#define TARGETS_AHEAD 12
/* Number of nodes of a bucket that a thread processes at a time. Larger buckets are shared. */
#define RUN_NODES 4096u
#define SHARED_NODES (4 * RUN_NODES)
#define RUNS_PER_THREAD 3u
/*
 * Maximum number of targets of a row that other threads read. The calling thread reads longer rows.
 */
#define RUN_TARGETS_MAX 4096u

/* A reference that may be the last step of the cheapest path to its target. */
struct found {
	uint32_t from;
	uint32_t to; /* `from` itself if all its references must be processed */
	uint8_t cost;
};

struct search {
	const struct graph_rows *rows; /* NULL in a search that reads rows one by one */
	struct base_work *work;
	const struct graph_costs *costs;
	uint32_t *parent;
	struct base_vec ring[RING], leaves[RING];
	uint64_t waiting, done;
	unsigned now; /* the current bucket */
	/*
	 * by kind: whether a node of the kind was settled; whether its nodes are leaves and one was
	 * settled before `now`
	 */
	_Atomic bool is_settled[UINT8_MAX + 1];
	bool is_alike[UINT8_MAX + 1];
	struct base_vec *runs; /* indexed by slot: struct found */
	unsigned slot_count;
};

static unsigned get_at(const struct search *s, uint32_t node)
{
	return atomic_load_explicit(&s->costs->nodes[node].at, memory_order_relaxed);
}

static void set_at(const struct search *s, uint32_t node, unsigned at)
{
	atomic_store_explicit(&s->costs->nodes[node].at, (uint8_t)at, memory_order_relaxed);
}

/*
 * Returns whether the search already knows a path to `to` whose cost is at most `cost`. A result of
 * true never changes back to false.
 */
static bool is_known(const struct search *s, uint32_t to, unsigned cost)
{
	const unsigned at = get_at(s, to);

	return at != UNMET && ((at & SETTLED) || (at - 1 + RING - s->now) % RING <= cost);
}

/* Adds `to` to the bucket of its cost if this is the cheapest path to it so far. */
static int meet(struct search *s, uint32_t from, uint32_t to, unsigned cost, struct hdb_error *err)
{
	const unsigned at = (s->now + cost) % RING;

	if (is_known(s, to, cost))
		return HDB_OK;
	s->parent[to] = from;
	if (!s->is_alike[s->costs->nodes[to].kind]) {
		set_at(s, to, at + 1);
		s->waiting++;
		return base_vec_push(&s->ring[at], &to, sizeof(to), err);
	}
	set_at(s, to, cost == 1 ? SETTLED : at + 1);
	return cost == 1 ? HDB_OK : base_vec_push(&s->leaves[at], &to, sizeof(to), err);
}

static bool has(const uint32_t *list, size_t count, uint32_t node)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == node)
			return true;
	return false;
}

/* Visits the targets of a row. References of a long row never have the cost own_cost. */
static int visit_row(struct search *s, uint32_t v, const struct graph_near_row *row,
		     struct hdb_error *err)
{
	const struct graph_costs *c = s->costs;
	const unsigned kind = c->nodes[v].kind;
	const uint8_t *cost = c->cost + (size_t)kind * c->kinds;
	const uint32_t *own = NULL;
	size_t own_count = 0;
	int r = kind >= c->first_mixed && !row->is_long ? c->own(c->ctx, v, &own, &own_count, err) :
							  HDB_OK;

	for (size_t i = 0; i < row->count && r == HDB_OK; i++)
		r = meet(s, v, row->targets[i],
			 has(own, own_count, row->targets[i]) ?
				 c->own_cost :
				 cost[c->nodes[row->targets[i]].kind],
			 err);
	return r;
}

static int visit_targets(struct search *s, uint32_t v, struct hdb_error *err)
{
	const struct graph_costs *c = s->costs;
	const uint8_t *cost = c->cost + (size_t)c->nodes[v].kind * c->kinds;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = graph_rows_get(s->rows, v, target, &row);
	const struct graph_near_row short_row = { target, count, row.at < row.end };
	int r = visit_row(s, v, &short_row, err);

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

static void settle_node(struct search *s, uint32_t v)
{
	const uint8_t kind = s->costs->nodes[v].kind;

	set_at(s, v, SETTLED);
	if (!atomic_load_explicit(&s->is_settled[kind], memory_order_relaxed))
		atomic_store_explicit(&s->is_settled[kind], true, memory_order_relaxed);
}

/*
 * Settles node number i of the current bucket. Returns false if the node has already been settled
 * in a cheaper bucket.
 */
static bool settle(struct search *s, const struct base_vec *bucket, size_t i, uint32_t *v)
{
	prefetch_ahead(s, bucket, i);
	*v = *base_vec_at(bucket, uint32_t, i);
	if (get_at(s, *v) == SETTLED)
		return false;
	settle_node(s, *v);
	return true;
}

static int count_done(struct search *s, uint64_t count, struct hdb_error *err)
{
	const uint64_t before = s->done;

	s->done += count;
	return before / STEP_NODES == s->done / STEP_NODES ? HDB_OK :
							     base_step(s->work, s->done, err);
}

static int empty_alone(struct search *s, struct hdb_error *err)
{
	const struct base_vec *bucket = &s->ring[s->now];

	for (size_t i = 0; i < bucket->count; i++) {
		uint32_t v;

		if (!settle(s, bucket, i, &v))
			continue;
		TRY(visit_targets(s, v, err));
		TRY(count_done(s, 1, err));
	}
	return HDB_OK;
}

/* ---- processing a bucket on several threads ---- */

static size_t run_end(const struct base_vec *bucket, uint64_t no)
{
	return bucket->count - no * RUN_NODES < RUN_NODES ? bucket->count : (no + 1) * RUN_NODES;
}

static int add_found(const struct search *s, struct base_vec *run, uint32_t v,
		     struct hdb_error *err)
{
	const struct graph_costs *c = s->costs;
	const uint8_t *cost = c->cost + (size_t)c->nodes[v].kind * c->kinds;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = graph_rows_get(s->rows, v, target, &row);
	struct found *out;

	if (c->nodes[v].kind >= c->first_mixed || row.end - row.at > RUN_TARGETS_MAX) {
		const struct found all = { .from = v, .to = v };

		return base_vec_push(run, &all, sizeof(all), err);
	}
	TRY(base_vec_reserve(run, count + (row.end - row.at), sizeof(*out), err));
	out = base_vec_at(run, struct found, run->count);
	for (unsigned i = 0; i < count; i++) {
		*out = (struct found){ v, target[i], cost[c->nodes[target[i]].kind] };
		out += !is_known(s, out->to, out->cost);
	}
	for (uint64_t i = row.at; i < row.end; i++) {
		const uint32_t to = graph_rows_long(s->rows, i);

		if (row.end - i > TARGETS_AHEAD)
			prefetch_write(&c->nodes[graph_rows_long(s->rows, i + TARGETS_AHEAD)]);
		*out = (struct found){ v, to, cost[c->nodes[to].kind] };
		out += !is_known(s, out->to, out->cost);
	}
	run->count = (size_t)(out - (struct found *)run->data);
	return HDB_OK;
}

static int make_run(void *ctx, unsigned slot, uint64_t no, struct hdb_error *err)
{
	struct search *s = ctx;
	const struct base_vec *bucket = &s->ring[s->now];
	struct base_vec *run = &s->runs[slot];

	run->count = 0;
	for (size_t i = no * RUN_NODES; i < run_end(bucket, no); i++) {
		uint32_t v;

		if (settle(s, bucket, i, &v))
			TRY(add_found(s, run, v, err));
	}
	return HDB_OK;
}

static int take_run(void *ctx, unsigned slot, uint64_t no, struct hdb_error *err)
{
	struct search *s = ctx;
	const struct base_vec *run = &s->runs[slot];
	const struct found *found = run->data;

	for (size_t i = 0; i < run->count; i++) {
		if (run->count - i > TARGETS_AHEAD) {
			prefetch_write(&s->costs->nodes[found[i + TARGETS_AHEAD].to]);
			prefetch_write(&s->parent[found[i + TARGETS_AHEAD].to]);
		}
		TRY(found[i].from == found[i].to ?
			    visit_targets(s, found[i].from, err) :
			    meet(s, found[i].from, found[i].to, found[i].cost, err));
	}
	return count_done(s, run_end(&s->ring[s->now], no) - no * RUN_NODES, err);
}

static int empty_shared(struct search *s, const struct base_vec *bucket, struct hdb_error *err)
{
	return base_pipeline_run(
		&(struct base_pipeline){
			.item_count = (bucket->count + RUN_NODES - 1) / RUN_NODES,
			.threads = s->rows->work->threads,
			.slot_count = s->slot_count,
			.ctx = s,
			.produce = make_run,
			.consume = take_run,
		},
		err);
}

static void clear(struct base_vec *bucket)
{
	bucket->count = 0;
	if (bucket->capacity > BUCKET_KEPT)
		base_vec_release(bucket);
}

static void settle_leaves(struct search *s)
{
	const struct base_vec *leaves = &s->leaves[s->now];
	const uint32_t *nodes = leaves->data;

	for (size_t i = 0; i < leaves->count; i++) {
		if (leaves->count - i > GROUP_AHEAD)
			prefetch_write(&s->costs->nodes[nodes[i + GROUP_AHEAD]]);
		set_at(s, nodes[i], SETTLED);
	}
	clear(&s->leaves[s->now]);
}

/* Goes to the next bucket. */
static void end_bucket(struct search *s)
{
	struct base_vec *bucket = &s->ring[s->now];

	s->waiting -= bucket->count;
	for (unsigned i = s->costs->first_leaf; i < s->costs->end_leaf; i++)
		s->is_alike[i] = atomic_load_explicit(&s->is_settled[i], memory_order_relaxed);
	clear(bucket);
	s->now = (s->now + 1) % RING;
	settle_leaves(s);
}

/*
 * Processes all nodes of the current bucket. References cost at least 1, so no node is added to
 * this bucket in the meantime.
 */
static int empty_bucket(struct search *s, struct hdb_error *err)
{
	const struct base_vec *bucket = &s->ring[s->now];

	TRY(s->slot_count > RUNS_PER_THREAD && bucket->count >= SHARED_NODES ?
		    empty_shared(s, bucket, err) :
		    empty_alone(s, err));
	end_bucket(s);
	return HDB_OK;
}

static int visit_roots(struct search *s, const uint64_t *root_bits, uint32_t node_count,
		       struct hdb_error *err)
{
	for (unsigned i = 0; i < RING; i++)
		s->ring[i].work = s->leaves[i].work = s->work;
	for (uint64_t root = 0; base_bit_next(root_bits, node_count, &root); root++)
		TRY(meet(s, GRAPH_NONE, (uint32_t)root,
			 s->costs->root(s->costs->ctx, (uint32_t)root), err));
	return HDB_OK;
}

static void release(struct search *s)
{
	for (unsigned i = 0; i < RING; i++) {
		base_vec_release(&s->ring[i]);
		base_vec_release(&s->leaves[i]);
	}
	for (unsigned i = 0; s->runs && i < s->slot_count; i++)
		base_vec_release(&s->runs[i]);
	free(s->runs);
}

/* ---- a search that ends early ---- */

struct graph_near {
	struct search s;
	struct graph_near_options options;
	size_t next; /* index of the next node in the current bucket */
	bool is_over;
};

int graph_near_open(const struct graph_near_options *options, struct graph_near **out,
		    struct hdb_error *err)
{
	struct graph_near *n;

	TRY(BASE_ALLOC(*out, 1, "a search for paths", err));
	n = *out;
	n->options = *options;
	n->s = (struct search){ .work = options->work,
				.costs = &n->options.costs,
				.parent = options->parent };
	return visit_roots(&n->s, options->root_bits, options->node_count, err);
}

void graph_near_close(struct graph_near *n)
{
	if (n)
		release(&n->s);
	free(n);
}

bool graph_near_has(const struct graph_near *n, uint32_t node)
{
	assert(node < n->options.node_count);
	return get_at(&n->s, node) != UNMET;
}

/*
 * Returns whether the path to the node is known. No cheaper path is found to a node of the current
 * bucket. If only leaves are waiting, the paths to them are known as well.
 */
static bool is_final(const struct search *s, uint32_t node)
{
	const unsigned at = node == GRAPH_NONE ? UNMET : get_at(s, node);

	return !s->waiting || at == SETTLED || at == s->now + 1;
}

/* Visits the next node of the current bucket or, at its end, goes to the next bucket. */
static int step(struct graph_near *n, struct hdb_error *err)
{
	struct search *s = &n->s;
	const struct base_vec *bucket = &s->ring[s->now];
	struct graph_near_row row = { .count = 0 };
	uint32_t v;

	if (n->next == bucket->count) {
		end_bucket(s);
		n->next = 0;
		return HDB_OK;
	}
	v = *base_vec_at(bucket, uint32_t, n->next++);
	if (get_at(s, v) == SETTLED)
		return HDB_OK;
	TRY(n->options.row(s->costs->ctx, v, &row, err));
	n->is_over = row.count >= n->options.references_max - s->done;
	if (n->is_over) {
		n->next--;
		return HDB_OK;
	}
	settle_node(s, v);
	TRY(visit_row(s, v, &row, err));
	return count_done(s, row.count + 1, err);
}

int graph_near_find(struct graph_near *n, uint32_t node, uint64_t references_max, bool *is_known,
		    struct hdb_error *err)
{
	assert(node < n->options.node_count || node == GRAPH_NONE);
	if (!n->is_over && !is_final(&n->s, node))
		base_stage(n->s.work, "paths near roots", n->options.references_max, "references");
	while (!n->is_over && !is_final(&n->s, node) && n->s.done < references_max)
		TRY(step(n, err));
	*is_known = is_final(&n->s, node);
	return HDB_OK;
}

/* ---- the whole tree ---- */

int graph_near_finish(struct graph_near *n, const struct graph_rows *rows, struct hdb_error *err)
{
	struct search *s = &n->s;

	s->rows = rows;
	s->slot_count = RUNS_PER_THREAD * rows->work->threads;
	s->done = 0;
	base_stage(rows->work, "cheapest paths", rows->node_count, "objects");
	TRY(BASE_ALLOC(s->runs, s->slot_count, "cheapest paths", err));
	for (uint32_t v = 0; v < rows->node_count; v++)
		if (get_at(s, v) == UNMET)
			s->parent[v] = v;
	/* The nodes of the bucket that have been settled are skipped. */
	while (s->waiting)
		TRY(empty_bucket(s, err));
	return HDB_OK;
}

int graph_cheapest_tree(const struct graph_rows *rows, const uint64_t *root_bits,
			const struct graph_costs *costs, uint32_t *parent, struct hdb_error *err)
{
	struct graph_near *n = NULL;
	int r;

	for (uint32_t v = 0; v < rows->node_count; v++)
		atomic_store_explicit(&costs->nodes[v].at, UNMET, memory_order_relaxed);
	r = graph_near_open(&(struct graph_near_options){ .costs = *costs,
							  .root_bits = root_bits,
							  .work = rows->work,
							  .node_count = rows->node_count,
							  .parent = parent },
			    &n, err);
	if (r == HDB_OK)
		r = graph_near_finish(n, rows, err);
	graph_near_close(n);
	return r;
}
