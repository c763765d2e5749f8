/*
 * graph/dominators/settle_search.c - breadth-first searches, and gates.
 *
 * Wide levels are searched on all threads: each takes a share of the level's rows, and appends what
 * it meets first to the queue. Which parent a node gets depends on who is first; what is settled,
 * and every dominator, does not.
 */
#include "graph/dominators/settle_private.h"

#include "base/prefetch.h"

#include <assert.h>
#include <stdlib.h>

/* Nodes ahead whose groups, rows' lengths and rows are asked for. */
#define START_AHEAD 24u
#define GROUP_AHEAD 16u
#define ROW_AHEAD 8u

/* Deeper graphs have no gates that are looked for: they are lists, on which little is far. */
#define HEAVY_MAX 4096u

/* Rows between two calls of base_step. */
#define STEP_ROWS 0x10000u

/* Rows of a share of a level; levels with fewer than some shares are searched on one thread. */
#define SCAN_ROWS 2048u
#define WIDE_ROWS (4 * SCAN_ROWS)

/* Nodes that wait to be appended to the queue. */
#define MET_NODES 256u

/* What a thread has met. */
struct met_queue {
	uint32_t count;
	bool is_alone; /* no other thread searches */
	uint64_t step_count;
	uint32_t node[MET_NODES], parent_place[MET_NODES];
};

static int compare_heavy(const void *a, const void *b)
{
	const struct heavy *x = a, *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
}

static uint32_t queue_count(const struct settling *s)
{
	return atomic_load_explicit(&s->queue_count, memory_order_relaxed);
}

static uint32_t waiting_count(const struct settling *s)
{
	return atomic_load_explicit(&s->waiting_count, memory_order_relaxed);
}

/* Appends nodes to the queue, on any thread. */
static void enqueue(struct settling *s, const uint32_t *node, const uint32_t *parent_place,
		    uint32_t count)
{
	const uint32_t at = atomic_fetch_add_explicit(&s->queue_count, count, memory_order_relaxed);

	assert(count <= s->rows->node_count - at);
	memcpy(&s->queue[at], node, count * sizeof(*node));
	if (!s->is_second)
		memcpy(&s->parent[at], parent_place, count * sizeof(*parent_place));
}

static void flush(struct settling *s, struct met_queue *met)
{
	enqueue(s, met->node, met->parent_place, met->count);
	atomic_fetch_add_explicit(&s->step_count, met->step_count, memory_order_relaxed);
	met->count = 0;
	met->step_count = 0;
}

/* In the second search: whether a node that is met has to wait. */
static bool has_to_wait(struct settling *s, uint32_t v)
{
	const struct heavy key = { .node = v };
	struct heavy *heavy = NULL;

	s->gate_of[v] = s->gate;
	if (s->heavy.count)
		heavy = bsearch(&key, s->heavy.data, s->heavy.count, sizeof(key), compare_heavy);
	if (!heavy)
		return false;
	heavy->is_waiting = true;
	atomic_fetch_add_explicit(&s->waiting_count, 1, memory_order_relaxed);
	return true;
}

/* A node that an edge leads to: whoever meets it first has it. */
static inline void meet(struct settling *s, struct met_queue *met, uint32_t v,
			uint32_t parent_place)
{
	const uint64_t bit = (uint64_t)1 << (v % 64);

	if (has(s->seen, v))
		return;
	if (met->is_alone)
		atomic_store_explicit(&s->seen[v / 64], word_of(s->seen, v / 64) | bit,
				      memory_order_relaxed);
	else if (atomic_fetch_or_explicit(&s->seen[v / 64], bit, memory_order_relaxed) & bit)
		return;
	if (s->is_second && has_to_wait(s, v))
		return;
	met->node[met->count] = v;
	met->parent_place[met->count++] = parent_place;
	if (met->count == MET_NODES)
		flush(s, met);
}

/* Looks at the row at a place; places before `end` are known. */
static void scan_row(struct settling *s, struct met_queue *met, uint32_t place, uint32_t end)
{
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	unsigned count;

	if (place + START_AHEAD < end)
		graph_rows_prefetch_start(s->rows, s->queue[place + START_AHEAD]);
	if (place + GROUP_AHEAD < end)
		graph_rows_prefetch(s->rows, s->queue[place + GROUP_AHEAD]);
	if (place + ROW_AHEAD < end)
		graph_rows_prefetch_row(s->rows, s->queue[place + ROW_AHEAD]);
	count = graph_rows_get(s->rows, s->queue[place], target, &row);
	met->step_count += count + (row.end - row.at) + 1;
	for (unsigned i = 0; i < count; i++)
		meet(s, met, target[i], place);
	for (; row.at < row.end; row.at++)
		meet(s, met, graph_rows_long(s->rows, row.at), place);
}

/*
 * Whether the second search is of no more use: what it has not met is of the stage in work,
 * because no node is left that could be a gate, or because more than half was met.
 */
static bool is_decided(const struct settling *s)
{
	return s->is_second && (!s->heavy_left || queue_count(s) >= s->count - s->count / 2);
}

static int scan_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	const struct wide_pass *pass = ctx;
	const uint64_t first = pass->level.first + share * SCAN_ROWS,
		       end = first + SCAN_ROWS < pass->level.end ? first + SCAN_ROWS :
								   pass->level.end;
	struct met_queue met = { .count = 0 };

	(void)slot;
	(void)err;
	for (uint64_t place = first; place < end && !is_decided(pass->s); place++)
		scan_row(pass->s, &met, (uint32_t)place, pass->level.end);
	flush(pass->s, &met);
	return HDB_OK;
}

/* A level on all threads: s->next is its end then. */
static int scan_wide(struct settling *s, struct level level, struct hdb_error *err)
{
	struct wide_pass pass = { s, level };
	struct level below = { .first = level.end };
	int rc = base_pipeline_each(share_count(level.end - level.first, SCAN_ROWS),
				    s->work->threads, &pass, scan_share, err);

	if (rc != HDB_OK)
		return rc;
	s->next = level.end;
	below.end = queue_count(s);
	if (s->is_second || below.end - below.first < SHARE_NODES)
		return HDB_OK;
	return base_vec_push(&s->wide, &below, sizeof(below), err);
}

/* All that can be reached without what waits, level by level. */
static int search_on(struct settling *s, struct hdb_error *err)
{
	uint64_t step_at = (uint64_t)s->next + STEP_ROWS;
	struct met_queue met = { .is_alone = true };
	int rc;

	while (s->next < queue_count(s) && !is_decided(s)) {
		const struct level level = { s->next, queue_count(s) };

		if (s->next >= step_at) {
			if ((rc = base_step(s->work, s->next, err)) != HDB_OK)
				return rc;
			step_at = (uint64_t)s->next + STEP_ROWS;
		}
		if (s->work->threads > 1 && level.end - level.first >= WIDE_ROWS) {
			if ((rc = scan_wide(s, level, err)) != HDB_OK)
				return rc;
			continue;
		}
		for (; s->next < level.end && !is_decided(s); s->next++)
			scan_row(s, &met, s->next, level.end);
		flush(s, &met);
	}
	return HDB_OK;
}

/* The heavy node nearest to the roots goes on; a gate if it dominates more than half of all. */
static void release(struct settling *s)
{
	const uint32_t none = GRAPH_NONE;
	struct heavy *heavy = s->heavy.data, *first = NULL;

	for (size_t i = 0; i < s->heavy.count; i++)
		if (heavy[i].is_waiting && (!first || heavy[i].depth < first->depth))
			first = &heavy[i];
	if (waiting_count(s) == 1 && s->count - queue_count(s) > s->count / 2) {
		base_ranks_put_alone(&s->known, first->node);
		s->gate = first->node;
	}
	first->is_waiting = false;
	atomic_fetch_sub_explicit(&s->waiting_count, 1, memory_order_relaxed);
	s->heavy_left--;
	enqueue(s, &first->node, &none, 1);
}

static void meet_roots(struct settling *s)
{
	const uint32_t n = s->rows->node_count;
	struct met_queue met = { .is_alone = true };

	for (uint32_t w = 0; w <= n / 64; w++) {
		uint64_t bits = s->root_bits[w];

		if (w == n / 64)
			bits &= ((uint64_t)1 << (n % 64)) - 1;
		for (; bits; bits &= bits - 1)
			meet(s, &met, w * 64 + (unsigned)__builtin_ctzll(bits), GRAPH_NONE);
	}
	flush(s, &met);
}

static int search(struct settling *s, uint32_t *queue, struct hdb_error *err)
{
	const uint32_t n = s->rows->node_count;
	int rc;

	s->seen = s->is_second ? s->open : s->met;
	for (uint64_t w = 0; w <= n / 64; w++)
		atomic_store_explicit(&s->seen[w], 0, memory_order_relaxed);
	s->heavy_left = (uint32_t)s->heavy.count;
	s->queue = queue;
	s->queue_count = s->next = 0;
	s->gate = GRAPH_NONE;
	meet_roots(s);
	if ((rc = search_on(s, err)) != HDB_OK)
		return rc;
	while (waiting_count(s) && !is_decided(s)) {
		release(s);
		if ((rc = search_on(s, err)) != HDB_OK)
			return rc;
	}
	return HDB_OK;
}

/*
 * Lists the nodes with more than half of all below them; none if they are too many. `size` has room
 * for each node.
 */
static int find_heavy_nodes(struct settling *s, uint32_t *size, struct hdb_error *err)
{
	int rc;

	for (uint32_t p = 0; p < s->count; p++)
		size[p] = 1;
	for (uint32_t p = s->count; p-- > 0;)
		if (s->parent[p] != GRAPH_NONE)
			size[s->parent[p]] += size[p];
	for (uint32_t p = 0; p < s->count; p++) {
		const struct heavy heavy = {
			.node = s->order[p],
			.depth = (uint32_t)s->heavy.count,
		};

		if (size[p] > s->count / 2 && s->heavy.count <= HEAVY_MAX &&
		    (rc = base_vec_push(&s->heavy, &heavy, sizeof(heavy), err)) != HDB_OK)
			return rc;
	}
	if (s->heavy.count > HEAVY_MAX)
		s->heavy.count = 0;
	if (s->heavy.count)
		qsort(s->heavy.data, s->heavy.count, sizeof(struct heavy), compare_heavy);
	return HDB_OK;
}

/* What the second search has not met is of the last stage. */
static int fill_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct settling *s = ctx;
	const uint64_t n = s->rows->node_count, first = share * SHARE_NODES,
		       end = first + SHARE_NODES < n ? first + SHARE_NODES : n;

	(void)slot;
	(void)err;
	for (uint64_t v = first; v < end; v++) {
		if (!has(s->met, (uint32_t)v))
			s->gate_of[v] = (uint32_t)v;
		else if (!has(s->seen, (uint32_t)v))
			s->gate_of[v] = s->gate;
	}
	return HDB_OK;
}

int settle_find_stages(struct settling *s, struct hdb_error *err)
{
	int rc = search(s, s->order, err);

	if (rc != HDB_OK)
		return rc;
	s->count = queue_count(s);
	s->first_steps = s->step_count;
	if ((rc = find_heavy_nodes(s, s->gate_of, err)) != HDB_OK)
		return rc;
	s->is_second = true;
	if ((rc = search(s, s->label, err)) != HDB_OK)
		return rc;
	s->out->step_count += s->step_count;
	return base_pipeline_each(share_count(s->rows->node_count, SHARE_NODES), s->work->threads,
				  s, fill_share, err);
}
