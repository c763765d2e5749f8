/*
 * graph/meet.c - a spanning tree whose nodes rise until it is the dominator tree.
 *
 * Why any order will do: every link leads to what was above the node in the first tree, and
 * jumps only over what does not dominate it. So what dominates two nodes is on every walk up from
 * both, whichever links are old and whichever new; and the first node that two walks have in common
 * is not above any of it. All accesses are relaxed but for `waits`, which says that a cell
 * was written.
 */
#include "graph/meet.h"

#include <stdlib.h>
#include <string.h>

/* Nodes shown, and steps of walks, a node: more than twice what the largest random graphs need. */
#define SHOWN_MAX 16u
#define STEPS_MAX 32u

/* What is allowed beside that, for small graphs. */
#define SMALL_MAX 1000000u

/* How many edges ahead a target's bit, then its cell is asked for. */
#define BITS_AHEAD 32u
#define CELLS_AHEAD 32u

/* Passes: on random graphs each reaches some nine times as many nodes as the one before. */
#define PASSES_MAX 64u

/* Bytes of edges kept, a node: if there are more, all edges are shown again instead. */
#define KEPT_BYTES_MAX 1u

/* Nodes on a path below the last level that is told from others; more make walks quadratic. */
#define DEEP_MAX 64u

static inline uint32_t load32r(const _Atomic uint32_t *at)
{
	return atomic_load_explicit(at, memory_order_relaxed);
}

static inline uint32_t parent_of(const struct graph_meet *m, uint32_t cell)
{
	return cell & (((uint32_t)1 << m->level_shift) - 1);
}

static inline uint32_t level_of(const struct graph_meet *m, uint32_t cell)
{
	return cell >> m->level_shift;
}

static inline bool has_bit(const _Atomic uint64_t *bits, uint32_t v)
{
	return atomic_load_explicit(&bits[v / 64], memory_order_relaxed) >> (v % 64) & 1;
}

static inline void set_bit(_Atomic uint64_t *bits, uint32_t v)
{
	if (!has_bit(bits, v))
		atomic_fetch_or_explicit(&bits[v / 64], (uint64_t)1 << (v % 64),
					 memory_order_relaxed);
}

static inline void let_wait(struct graph_meet *m, uint32_t v)
{
	atomic_store_explicit(&m->waits[v / GRAPH_MEET_GROUP], 1, memory_order_release);
}

static int make_room(struct graph_meet *m, struct hdb_error *err)
{
	const uint64_t n = m->node_count, words = n / 64 + 1;
	int rc = base_big_alloc(m->work, &m->cell_big, (n + 1) * 4, "dominators", err);

	if (rc == HDB_OK)
		rc = base_big_alloc(m->work, &m->top_big, words * 8, "dominators", err);
	if (rc == HDB_OK)
		rc = base_big_alloc(m->work, &m->shown_big, words * 8, "dominators", err);
	if (rc == HDB_OK)
		rc = base_big_alloc(m->work, &m->waits_big, n / GRAPH_MEET_GROUP + 1, "dominators",
				    err);
	m->cell = m->cell_big.data;
	m->top = m->top_big.data;
	m->shown = m->shown_big.data;
	m->waits = m->waits_big.data;
	return rc;
}

int graph_meet_init(struct graph_meet *meet, uint32_t node_count, const uint64_t *root_bits,
		    struct base_work *work, struct hdb_error *err)
{
	int rc;

	*meet = (struct graph_meet){ .work = work, .node_count = node_count, .keeps_edges = true };
	if (node_count > GRAPH_MEET_NODES_MAX)
		return hdb_fail(err, HDB_ELIMIT, "%u nodes are too many to meet", node_count);
	while (node_count >> meet->level_shift)
		meet->level_shift++;
	meet->level_max = UINT32_MAX >> meet->level_shift;
	rc = make_room(meet, err);
	if (rc < 0)
		return rc;
	for (uint32_t w = 0; w < node_count / 64 + 1; w++) {
		for (uint64_t bits = w * 64 < node_count ? root_bits[w] : 0; bits; bits &= bits - 1) {
			const uint32_t v = w * 64 + (unsigned)__builtin_ctzll(bits);

			if (v >= node_count)
				break;
			meet->cell[v] = (uint32_t)1 << meet->level_shift | node_count;
			set_bit(meet->top, v);
			let_wait(meet, v);
		}
	}
	return HDB_OK;
}

void graph_meet_release(struct graph_meet *meet)
{
	if (!meet->work)
		return;
	base_big_free(meet->work, &meet->waits_big);
	base_big_free(meet->work, &meet->shown_big);
	base_big_free(meet->work, &meet->top_big);
	base_big_free(meet->work, &meet->cell_big);
	base_vec_release(&meet->edges);
	*meet = (struct graph_meet){ 0 };
}

/* ---- walks ---- */

/*
 * The walk a, b where both are as deep as levels tell: goes on to where they meet, or to the first
 * nodes that are less deep.
 */
static void walk_deep(struct graph_meet *m, struct graph_meet_walk *walk)
{
	uint32_t path[DEEP_MAX], length = 0, steps = 0;
	uint32_t a = walk->a, b = walk->b;

	for (; level_of(m, load32r(&m->cell[a])) == m->level_max; a = parent_of(m, load32r(&m->cell[a]))) {
		if (length == DEEP_MAX)
			goto too_deep;
		path[length++] = a;
	}
	for (; level_of(m, load32r(&m->cell[b])) == m->level_max; b = parent_of(m, load32r(&m->cell[b]))) {
		for (uint32_t i = 0; i < length; i++) {
			if (path[i] == b) {
				walk->a = walk->b = b;
				return;
			}
		}
		if (++steps == DEEP_MAX)
			goto too_deep;
	}
	walk->a = a;
	walk->b = b;
	return;
too_deep:
	atomic_store_explicit(&m->is_too_deep, true, memory_order_relaxed);
	walk->a = walk->b = m->node_count;
}

/* A step up for whichever is deeper. */
static inline void walk_step(struct graph_meet *m, struct graph_meet_walk *walk)
{
	const uint32_t a = load32r(&m->cell[walk->a]), b = load32r(&m->cell[walk->b]);
	const uint32_t a_level = level_of(m, a), b_level = level_of(m, b);

	if (a_level == b_level && a_level == m->level_max) {
		walk_deep(m, walk);
		return;
	}
	walk->a = a_level >= b_level ? parent_of(m, a) : walk->a;
	walk->b = b_level >= a_level ? parent_of(m, b) : walk->b;
}

/*
 * Keeps the edges that the walk has compared: they may let the node rise again when what is above them rises. What a
 * node had as a parent stands for the edges that made it one.
 */
static void keep(struct graph_meet *m, struct graph_meet_batch *batch, const struct graph_meet_walk *walk)
{
	struct graph_meet_edge *edge;
	struct hdb_error err;

	if (walk->a == m->node_count || !atomic_load_explicit(&m->keeps_edges, memory_order_relaxed))
		return;
	if (base_vec_reserve(&batch->edges, 2, sizeof *edge, &err) < 0) {
		atomic_store(&m->keeps_edges, false);
		return;
	}
	edge = base_vec_at(&batch->edges, struct graph_meet_edge, batch->edges.count);
	edge[0] = (struct graph_meet_edge){ walk->source, walk->node };
	edge[1] = (struct graph_meet_edge){ walk->parent, walk->node };
	batch->edges.count += walk->a == walk->parent ? 1 : 2;
}

/*
 * Lets the walk's node rise to where the walk ended; false if its parent is another one meanwhile, and
 * the walk goes on from there.
 */
static bool rise(struct graph_meet *m, struct graph_meet_batch *batch, struct graph_meet_walk *walk)
{
	uint32_t cell = load32r(&m->cell[walk->node]);

	while (parent_of(m, cell) == walk->parent) {
		if (walk->a == walk->parent)
			return true;
		if (atomic_compare_exchange_weak_explicit(&m->cell[walk->node], &cell,
							  level_of(m, cell) << m->level_shift | walk->a,
							  memory_order_relaxed, memory_order_relaxed)) {
			batch->change_count++;
			if (walk->a == m->node_count)
				set_bit(m->top, walk->node);
			return true;
		}
	}
	walk->parent = walk->b = parent_of(m, cell);
	return walk->a == walk->b;
}

/* Lets all walks end, a step each in turn, so that they wait for memory together. */
static void walk_all(struct graph_meet *m, struct graph_meet_batch *batch)
{
	uint32_t active = batch->walk_count;

	batch->walk_count = 0;
	while (active > 0) {
		uint32_t kept = 0;

		batch->step_count += active;
		for (uint32_t i = 0; i < active; i++) {
			struct graph_meet_walk walk = batch->walk[i];

			if (walk.a != walk.b)
				walk_step(m, &walk);
			if (walk.a == walk.b && rise(m, batch, &walk)) {
				keep(m, batch, &walk);
				continue;
			}
			__builtin_prefetch((const void *)&m->cell[walk.a]);
			__builtin_prefetch((const void *)&m->cell[walk.b]);
			batch->walk[kept++] = walk;
		}
		active = kept;
	}
}

/* The edge to a node that is in the tree may let it rise. */
static inline void begin_walk(struct graph_meet *m, struct graph_meet_batch *batch, uint32_t source,
			      uint32_t node, uint32_t cell)
{
	const uint32_t parent = parent_of(m, cell);

	if (parent == m->node_count || parent == source || node == source)
		return;
	__builtin_prefetch((const void *)&m->cell[parent]);
	batch->walk[batch->walk_count++] = (struct graph_meet_walk){
		.a = source, .b = parent, .node = node, .parent = parent, .source = source,
	};
	if (batch->walk_count == GRAPH_MEET_WALKS)
		walk_all(m, batch);
}

/* The edge to a node that was not in the tree when it was looked at. */
static inline void reach(struct graph_meet *m, struct graph_meet_batch *batch, uint32_t source,
			 uint32_t node)
{
	const uint32_t level = level_of(m, load32r(&m->cell[source]));
	const uint32_t below = level < m->level_max ? level + 1 : level;
	uint32_t cell = 0;

	if (!atomic_compare_exchange_strong_explicit(&m->cell[node], &cell,
						     below << m->level_shift | source,
						     memory_order_relaxed, memory_order_relaxed)) {
		begin_walk(m, batch, source, node, cell);
		return;
	}
	batch->reached_count++;
	let_wait(m, node);
}

/* Drops edges to nodes at the top. Without branches, since nobody can foretell what is there. */
static void drop_final(const struct graph_meet *m, struct graph_meet_batch *batch)
{
	struct graph_meet_edge *edge = batch->edge;
	const uint32_t count = batch->edge_count;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count && i < BITS_AHEAD; i++)
		__builtin_prefetch((const void *)&m->top[edge[i].target / 64]);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t ahead = i + BITS_AHEAD < count ? i + BITS_AHEAD : i;

		__builtin_prefetch((const void *)&m->top[edge[ahead].target / 64]);
		edge[kept] = edge[i];
		kept += !has_bit(m->top, edge[i].target);
	}
	batch->edge_count = kept;
}

void graph_meet_flush(struct graph_meet *meet, struct graph_meet_batch *batch)
{
	drop_final(meet, batch);
	for (uint32_t i = 0; i < batch->edge_count && i < CELLS_AHEAD; i++)
		__builtin_prefetch((const void *)&meet->cell[batch->edge[i].target], 1);
	for (uint32_t i = 0; i < batch->edge_count; i++) {
		if (i + CELLS_AHEAD < batch->edge_count)
			__builtin_prefetch((const void *)&meet->cell[batch->edge[i + CELLS_AHEAD].target], 1);

		const struct graph_meet_edge edge = batch->edge[i];
		const uint32_t cell = load32r(&meet->cell[edge.target]);

		if (cell)
			begin_walk(meet, batch, edge.source, edge.target, cell);
		else
			reach(meet, batch, edge.source, edge.target);
	}
	batch->edge_count = 0;
	walk_all(meet, batch);
}

/* ---- passes ---- */

bool graph_meet_wants(struct graph_meet *meet, struct graph_meet_batch *batch, uint32_t group,
		      uint32_t *mask)
{
	const uint32_t first = group * GRAPH_MEET_GROUP;
	const uint32_t left = meet->node_count - first;
	const uint32_t count = left < GRAPH_MEET_GROUP ? left : GRAPH_MEET_GROUP;
	uint32_t reached = 0;

	if (meet->is_checking) {
		*mask = meet->shown[group];
	} else {
		if (!atomic_load_explicit(&meet->waits[group], memory_order_relaxed))
			return false;
		/* Before the cells are looked at: what is reached later than that waits for the next pass. */
		atomic_exchange_explicit(&meet->waits[group], 0, memory_order_acq_rel);
		for (uint32_t i = 0; i < count; i++)
			reached |= (uint32_t)(load32r(&meet->cell[first + i]) != 0) << i;
		*mask = reached & ~meet->shown[group];
		meet->shown[group] = reached;
	}
	batch->shown_count += GRAPH_MEET_GROUP;
	return *mask != 0;
}

void graph_meet_show(struct graph_meet *meet, struct graph_meet_batch *batch, uint32_t v,
		     const uint32_t *targets, uint64_t count)
{
	while (count) {
		const uint64_t room = GRAPH_MEET_EDGES - batch->edge_count;
		const uint64_t n = count < room ? count : room;
		struct graph_meet_edge *edge = batch->edge + batch->edge_count;

		for (uint64_t i = 0; i < n; i++)
			edge[i] = (struct graph_meet_edge){ v, targets[i] };
		batch->edge_count += (uint32_t)n;
		targets += n;
		count -= n;
		if (batch->edge_count == GRAPH_MEET_EDGES)
			graph_meet_flush(meet, batch);
	}
}

static int add_kept(struct graph_meet *m, const struct base_vec *edges, struct hdb_error *err)
{
	const int rc = base_vec_reserve(&m->edges, edges->count, sizeof(struct graph_meet_edge), err);

	if (rc == HDB_OK && edges->count)
		memcpy(base_vec_at(&m->edges, struct graph_meet_edge, m->edges.count), edges->data,
		       edges->count * sizeof(struct graph_meet_edge));
	if (rc == HDB_OK)
		m->edges.count += edges->count;
	return rc;
}

int graph_meet_join(struct graph_meet *meet, struct graph_meet_batch *batch, struct hdb_error *err)
{
	const uint64_t kept_max = (KEPT_BYTES_MAX * (uint64_t)meet->node_count + SMALL_MAX) /
				  sizeof(struct graph_meet_edge);
	int rc = HDB_OK;

	meet->reached_count += batch->reached_count;
	meet->change_count += batch->change_count;
	meet->step_count += batch->step_count;
	meet->shown_count += batch->shown_count;
	batch->reached_count = batch->change_count = batch->step_count = batch->shown_count = 0;
	if (meet->edges.count + batch->edges.count > kept_max)
		atomic_store(&meet->keeps_edges, false);
	if (atomic_load(&meet->keeps_edges))
		rc = add_kept(meet, &batch->edges, err);
	batch->edges.count = 0;
	return rc;
}

static bool is_hopeless(const struct graph_meet *m)
{
	const uint64_t n = m->node_count;

	return m->pass_count > PASSES_MAX || m->shown_count > SHOWN_MAX * n + SMALL_MAX ||
	       m->step_count > STEPS_MAX * n + SMALL_MAX ||
	       atomic_load_explicit(&m->is_too_deep, memory_order_relaxed);
}

/*
 * Goes through the edges that were kept, and those that are kept meanwhile, until none lets anything rise: HDB_END; or
 * until there are too many.
 */
static int check_kept(struct graph_meet *m, struct hdb_error *err)
{
	struct graph_meet_batch *batch = calloc(1, sizeof *batch);
	int rc = batch ? HDB_OK : hdb_fail_memory(err, "dominators", sizeof *batch);

	while (rc == HDB_OK && atomic_load(&m->keeps_edges)) {
		const size_t count = m->edges.count;

		m->change_count = 0;
		for (size_t i = 0; i < count; i++) {
			if (batch->edge_count == GRAPH_MEET_EDGES)
				graph_meet_flush(m, batch);
			batch->edge[batch->edge_count++] = *base_vec_at(&m->edges, struct graph_meet_edge, i);
		}
		graph_meet_flush(m, batch);
		m->edges.count = 0;
		rc = graph_meet_join(m, batch, err);
		if (rc == HDB_OK && is_hopeless(m))
			rc = GRAPH_BUDGET;
		if (rc == HDB_OK)
			rc = base_step(m->work, 0, err);
		if (rc == HDB_OK && m->change_count == 0)
			rc = HDB_END;
	}
	if (batch)
		base_vec_release(&batch->edges);
	free(batch);
	return rc;
}

int graph_meet_next(struct graph_meet *meet, struct hdb_error *err)
{
	const bool is_growing = !meet->is_checking && meet->reached_count > 0;
	const bool is_done = meet->is_checking && meet->change_count == 0;
	int rc = HDB_OK;

	meet->pass_count++;
	if (is_hopeless(meet))
		return GRAPH_BUDGET;
	if (is_done)
		return HDB_END;
	if (!is_growing) {
		rc = check_kept(meet, err);
		meet->is_checking = true;
		meet->edges.count = 0;
		atomic_store(&meet->keeps_edges, true);
	}
	meet->reached_count = meet->change_count = 0;
	return rc;
}
