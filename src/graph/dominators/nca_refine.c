/*
 * graph/dominators/nca_refine.c - the nodes that did not end at the top rise until the tree is the
 * dominator tree.
 *
 * Why any order will do: every link leads to what was above the node in the first tree, and
 * jumps only over what does not dominate it. So what dominates two nodes is on every walk up from
 * both, whichever links are old and whichever new; and the first node that two walks have in common
 * is not above any of it. Edges to nodes at the top are left out: with an edge from the virtual
 * root they change nothing. Ranges of targets are worked on one by one, on all threads, so that
 * what is looked up for targets is near. All accesses to cells are relaxed.
 */
#include "graph/dominators/nca_grow.h"

#include "base/pipeline.h"

#include <stdlib.h>

/* Nodes on a path below the last level that is told from others; more make walks quadratic. */
#define DEEP_MAX 64u

/* Nodes on a path up to one whose level is known; each is walked once. */
#define UNKNOWN_MAX 4096u

/*
 * Edges of a range that a round may keep: what is between two rounds is in spill buckets, one range
 * in memory.
 */
#define KEPT_MAX ((size_t)16 << 20)

/* Levels: 0 is not known yet. */
#define ROOT_LEVEL 1u

/* Ranges in work at once, a thread. */
#define SLOTS_PER_THREAD 2u

static void give_up(struct graph_nca *m)
{
	atomic_store_explicit(&m->is_given_up, true, memory_order_relaxed);
}

static bool is_given_up(const struct graph_nca *m)
{
	return atomic_load_explicit(&m->is_given_up, memory_order_relaxed);
}

static inline uint32_t load_cell(const struct graph_nca *m, uint32_t place)
{
	return atomic_load_explicit(&m->cell[place], memory_order_relaxed);
}

static inline uint32_t parent_in(const struct graph_nca *m, uint32_t cell)
{
	return cell & (((uint32_t)1 << m->level_shift) - 1);
}

static inline bool is_low(const struct graph_nca *m, uint32_t v)
{
	return base_ranks_has(&m->low, v);
}

static inline uint32_t place_of(const struct graph_nca *m, uint32_t v)
{
	return base_ranks_before(&m->low, v);
}

/* What the cell of any node, and of the virtual root, says or would say. */
static inline uint32_t cell_of(const struct graph_nca *m, uint32_t v)
{
	if (is_low(m, v))
		return load_cell(m, place_of(m, v));
	return (ROOT_LEVEL + (v != m->node_count)) << m->level_shift | m->node_count;
}

/* ---- levels ---- */

/* Sets a level if nobody has; returns what it is. */
static uint32_t set_level(struct graph_nca *m, uint32_t v, uint32_t level)
{
	_Atomic uint32_t *at = &m->cell[place_of(m, v)];
	uint32_t cell = atomic_load_explicit(at, memory_order_relaxed);

	while (cell >> m->level_shift == 0)
		if (atomic_compare_exchange_weak_explicit(at, &cell, level << m->level_shift | cell,
							  memory_order_relaxed,
							  memory_order_relaxed))
			return level;
	return cell >> m->level_shift;
}

/*
 * Levels of a node and of all above it that have none; a level is below the parent's at all times.
 */
static uint32_t find_level(struct graph_nca *m, uint32_t v)
{
	uint32_t path[UNKNOWN_MAX], length = 0, cell = cell_of(m, v), level;

	for (; cell >> m->level_shift == 0; v = parent_in(m, cell), cell = cell_of(m, v)) {
		if (length == UNKNOWN_MAX) {
			give_up(m);
			return m->level_max;
		}
		path[length++] = v;
	}
	level = cell >> m->level_shift;
	while (length > 0) {
		level += level < m->level_max;
		level = set_level(m, path[--length], level);
	}
	return level;
}

static inline uint32_t level_of(struct graph_nca *m, uint32_t v, uint32_t cell)
{
	const uint32_t level = cell >> m->level_shift;

	return level ? level : find_level(m, v);
}

/* ---- walks ---- */

/* The next node up that is less deep than levels tell; v itself if it is. */
static bool leave_deep(struct graph_nca *m, uint32_t *v, uint32_t *path, uint32_t *length)
{
	for (*length = 0; *length < DEEP_MAX;
	     path[(*length)++] = *v, *v = parent_in(m, cell_of(m, *v)))
		if (level_of(m, *v, cell_of(m, *v)) != m->level_max)
			return true;
	return false;
}

/*
 * The walk a, b where both are as deep as levels tell: goes on to where they meet, or to the first
 * nodes that are less deep.
 */
static void walk_deep(struct graph_nca *m, struct graph_nca_walk *walk)
{
	uint32_t path[DEEP_MAX], other[DEEP_MAX], length, other_length;

	if (!leave_deep(m, &walk->a, path, &length) ||
	    !leave_deep(m, &walk->b, other, &other_length)) {
		give_up(m);
		walk->a = walk->b = m->node_count;
		return;
	}
	for (uint32_t k = 0; k < other_length; k++) {
		for (uint32_t i = 0; i < length; i++) {
			if (path[i] == other[k]) {
				walk->a = walk->b = other[k];
				return;
			}
		}
	}
}

/* A step up for whichever is deeper. */
static inline void walk_step(struct graph_nca *m, struct graph_nca_walk *walk)
{
	const uint32_t a = cell_of(m, walk->a), b = cell_of(m, walk->b);
	const uint32_t a_level = level_of(m, walk->a, a), b_level = level_of(m, walk->b, b);

	if (a_level == b_level && a_level == m->level_max) {
		walk_deep(m, walk);
		return;
	}
	walk->a = a_level >= b_level ? parent_in(m, a) : walk->a;
	walk->b = b_level >= a_level ? parent_in(m, b) : walk->b;
}

/*
 * Keeps the edges that the walk has compared: they may let the node rise again when what is above
 * them rises. What a node had as a parent stands for the edges that made it one.
 */
static void keep(struct graph_nca *m, struct graph_nca_batch *batch,
		 const struct graph_nca_walk *walk)
{
	struct graph_nca_edge *edge;
	struct hdb_error err;

	if (walk->a == m->node_count)
		return;
	if (base_vec_reserve(&batch->others, 2, sizeof *edge, &err) < 0) {
		batch->is_short = true;
		return;
	}
	edge = base_vec_at(&batch->others, struct graph_nca_edge, batch->others.count);
	edge[0] = (struct graph_nca_edge){ walk->source, walk->node };
	edge[1] = (struct graph_nca_edge){ walk->parent, walk->node };
	batch->others.count += walk->a == walk->parent ? 1 : 2;
}

/*
 * Lets the walk's node rise to where the walk ended; false if its parent is another one meanwhile,
 * and the walk goes on from there.
 */
static bool rise(struct graph_nca *m, struct graph_nca_batch *batch, struct graph_nca_walk *walk)
{
	_Atomic uint32_t *at = &m->cell[place_of(m, walk->node)];
	uint32_t cell = atomic_load_explicit(at, memory_order_relaxed);

	while (parent_in(m, cell) == walk->parent) {
		if (walk->a == walk->parent)
			return true;
		if (atomic_compare_exchange_weak_explicit(
			    at, &cell, (cell >> m->level_shift) << m->level_shift | walk->a,
			    memory_order_relaxed, memory_order_relaxed)) {
			batch->change_count++;
			return true;
		}
	}
	walk->parent = walk->b = parent_in(m, cell);
	return walk->a == walk->b;
}

/* Lets all walks end, a step each in turn, so that they wait for memory together. */
static void walk_all(struct graph_nca *m, struct graph_nca_batch *batch)
{
	uint32_t active = batch->walk_count;

	batch->walk_count = 0;
	while (active > 0) {
		uint32_t kept = 0;

		batch->step_count += active;
		/* Each range by itself may be too much already. */
		if (batch->step_count > graph_nca_steps_max(m))
			give_up(m);
		for (uint32_t i = 0; i < active; i++) {
			struct graph_nca_walk walk = batch->walk[i];

			if (walk.a != walk.b)
				walk_step(m, &walk);
			if (walk.a == walk.b && rise(m, batch, &walk)) {
				keep(m, batch, &walk);
				continue;
			}
			base_ranks_prefetch(&m->low, walk.a);
			base_ranks_prefetch(&m->low, walk.b);
			batch->walk[kept++] = walk;
		}
		active = kept;
	}
}

/* The edge to a node that is in the tree may let it rise. */
static inline void begin_walk(struct graph_nca *m, struct graph_nca_batch *batch, uint32_t source,
			      uint32_t node)
{
	const uint32_t parent = parent_in(m, load_cell(m, place_of(m, node)));

	if (parent == m->node_count || parent == source)
		return;
	base_ranks_prefetch(&m->low, source);
	base_ranks_prefetch(&m->low, parent);
	batch->walk[batch->walk_count++] = (struct graph_nca_walk){
		.a = source,
		.b = parent,
		.node = node,
		.parent = parent,
		.source = source,
	};
	if (batch->walk_count == GRAPH_NCA_WALKS)
		walk_all(m, batch);
}

/* ---- the tree without the top ---- */

/* Which nodes are low, and which at the top; colours are not needed any more. */
static int find_low(struct graph_nca *m, struct hdb_error *err)
{
	const uint32_t n = m->node_count;
	int rc = base_ranks_init(&m->low, n, m->work, "dominators", err);

	if (rc < 0)
		return rc;
	base_big_free(m->work, &m->waits_big);
	m->waits = NULL;
	m->top = m->shown_big.data;
	m->shown = NULL;
	for (uint32_t first = 0; first < n; first += 64) {
		uint64_t low = 0, top = 0;

		for (uint32_t i = 0; i < 64 && i < n - first; i++) {
			const uint8_t colour =
				atomic_load_explicit(&m->colour[first + i], memory_order_relaxed);

			top |= (uint64_t)(colour >> 7) << i;
			low |= (uint64_t)(colour != 0 && colour < GRAPH_NCA_TOP) << i;
		}
		m->top[first / 64] = top;
		atomic_store_explicit(&m->low.bits[first / 64], low, memory_order_relaxed);
	}
	base_ranks_rank(&m->low);
	base_big_free(m->work, &m->colour_big);
	m->colour = NULL;
	while (n >> m->level_shift)
		m->level_shift++;
	m->level_max = UINT32_MAX >> m->level_shift;
	rc = base_big_alloc(m->work, &m->cell_big, ((uint64_t)m->low.count + 1) * sizeof *m->cell,
			    "dominators", err);
	if (rc != HDB_OK)
		return rc;
	m->cell = m->cell_big.data;
	return HDB_OK;
}

/* ---- rounds ---- */

struct round {
	struct graph_nca *nca;
	const struct base_buckets *from;
	uint32_t first_bucket; /* of from */
	struct base_buckets kept;
	struct graph_nca_batch **batch; /* by slot */
	unsigned slot_count;
};

/* An edge of the tree: who the target's parent is. */
static void place_edge(struct graph_nca *m, struct graph_nca_batch *batch, uint32_t source,
		       uint32_t target)
{
	(void)batch;
	atomic_store_explicit(&m->cell[place_of(m, target)], source, memory_order_relaxed);
}

static int each_edge(struct round *round, unsigned slot, uint64_t range,
		     void (*take)(struct graph_nca *m, struct graph_nca_batch *batch,
				  uint32_t source, uint32_t target),
		     struct hdb_error *err)
{
	struct graph_nca *m = round->nca;
	struct graph_nca_batch *batch = round->batch[slot];
	struct base_bucket_reader reader;
	uint64_t v[BASE_BUCKET_FIELDS];
	int rc =
		base_bucket_begin(round->from, round->first_bucket + (uint32_t)range, &reader, err);

	if (rc != HDB_OK)
		return rc;
	while (!is_given_up(m) &&
	       (rc = base_bucket_next(&reader, BASE_RECORD(2, 0), v, err)) == HDB_OK) {
		if (is_low(m, (uint32_t)v[1]))
			take(m, batch, (uint32_t)v[0], (uint32_t)v[1]);
		if (batch->others.count > KEPT_MAX)
			give_up(m);
	}
	base_bucket_end(&reader);
	return rc == HDB_END ? HDB_OK : rc;
}

static int place_range(void *ctx, unsigned slot, uint64_t range, struct hdb_error *err)
{
	return each_edge(ctx, slot, range, place_edge, err);
}

static int walk_range(void *ctx, unsigned slot, uint64_t range, struct hdb_error *err)
{
	struct round *round = ctx;
	const int rc = each_edge(round, slot, range, begin_walk, err);

	if (rc != HDB_OK)
		return rc;
	walk_all(round->nca, round->batch[slot]);
	return HDB_OK;
}

static int join_range(void *ctx, unsigned slot, uint64_t range, struct hdb_error *err)
{
	struct round *round = ctx;
	struct graph_nca *m = round->nca;
	struct graph_nca_batch *batch = round->batch[slot];
	const int rc = base_step(m->work, range << GRAPH_NCA_RANGE_BITS, err);

	if (rc != HDB_OK)
		return rc;
	m->change_count += batch->change_count;
	m->step_count += batch->step_count;
	batch->change_count = batch->step_count = 0;
	if (batch->is_short)
		return hdb_fail_memory(err, "dominators", sizeof batch->edge);
	if (graph_nca_is_hopeless(m))
		give_up(m);
	return graph_nca_put(&round->kept, 0, &batch->others, err);
}

static int run(struct round *round, const struct base_buckets *from, uint32_t first_bucket,
	       int (*produce)(void *ctx, unsigned slot, uint64_t range, struct hdb_error *err),
	       struct hdb_error *err)
{
	const struct base_pipeline pipeline = {
		.item_count = round->nca->bucket_count,
		.threads = round->nca->work->threads,
		.slot_count = round->slot_count,
		.ctx = round,
		.produce = produce,
		.consume = join_range,
	};
	int rc;

	round->from = from;
	round->first_bucket = first_bucket;
	round->nca->change_count = 0;
	if ((rc = base_pipeline_run(&pipeline, err)) != HDB_OK)
		return rc;
	/* Failures alone end a pipeline. */
	return is_given_up(round->nca) ? GRAPH_BUDGET : HDB_OK;
}

/* Empty buckets for what a round keeps. */
static int init_kept(struct round *round, struct hdb_error *err)
{
	struct graph_nca *m = round->nca;

	return base_buckets_init(
		&round->kept,
		&(struct base_buckets_plan){ .bucket_count = m->bucket_count,
					     .chunks_bytes = base_work_room(m->work) / 4,
					     .kept_bytes = 0,
					     .what = "dominators" },
		m->work, err);
}

/* A round of what the one before has kept. */
static int next_round(struct round *round, struct hdb_error *err)
{
	struct base_buckets from = round->kept;
	int rc;

	round->nca->pass_count++;
	if ((rc = init_kept(round, err)) != HDB_OK)
		goto out;
	rc = run(round, &from, 0, walk_range, err);
out:
	base_buckets_release(&from);
	return rc;
}

/*
 * Rounds until nothing changes: of all edges that may matter, then of those that each round keeps.
 */
static int rounds(struct round *round, struct hdb_error *err)
{
	struct graph_nca *m = round->nca;
	int rc = run(round, &m->edges, 0, place_range, err);

	if (rc != HDB_OK)
		return rc;
	if ((rc = run(round, &m->edges, m->bucket_count, walk_range, err)) != HDB_OK)
		return rc;
	base_buckets_release(&m->edges);
	while (m->change_count)
		if ((rc = next_round(round, err)) != HDB_OK)
			return rc;
	return HDB_OK;
}

static int make_batches(struct round *round, struct hdb_error *err)
{
	round->batch = calloc(round->slot_count, sizeof *round->batch);
	if (!round->batch)
		return hdb_fail_memory(err, "dominators", sizeof *round->batch);
	for (unsigned i = 0; i < round->slot_count; i++) {
		round->batch[i] = calloc(1, sizeof *round->batch[i]);
		if (!round->batch[i])
			return hdb_fail_memory(err, "dominators", sizeof *round->batch[i]);
	}
	return HDB_OK;
}

int graph_nca_rise(struct graph_nca *nca, struct hdb_error *err)
{
	struct round round = {
		.nca = nca,
		.slot_count = SLOTS_PER_THREAD * nca->work->threads,
	};
	int rc = find_low(nca, err);

	if (rc != HDB_OK)
		goto out;
	base_stage(nca->work, "dominators: refining", nca->node_count, "objects");
	if ((rc = make_batches(&round, err)) != HDB_OK)
		goto out;
	if ((rc = init_kept(&round, err)) != HDB_OK)
		goto out;
	rc = rounds(&round, err);
out:
	base_buckets_release(&round.kept);
	for (unsigned i = 0; round.batch && i < round.slot_count; i++) {
		if (round.batch[i])
			graph_nca_batch_release(round.batch[i]);
		free(round.batch[i]);
	}
	free(round.batch);
	return rc;
}

void graph_nca_parents(const struct graph_nca *nca, uint32_t first, uint32_t count,
		       uint32_t *parent)
{
	uint32_t place = place_of(nca, first);

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t v = first + i;

		if (is_low(nca, v))
			parent[i] = parent_in(nca, load_cell(nca, place++));
		else
			parent[i] = nca->top[v / 64] >> (v % 64) & 1 ? nca->node_count : v;
		if (parent[i] == nca->node_count)
			parent[i] = GRAPH_NONE;
	}
}
