/*
 * graph/dominators/settle_search.c - breadth-first searches, and gates.
 *
 * Wide levels are searched on all threads, some shares of rows at a time. Each thread takes a
 * share, and lists what its rows lead to, by part of the nodes; then each takes a part, and appends
 * what it meets first to the queue. So a part's bits are written by one thread, in whose caches
 * they are: threads that mark nodes as they come wait for each other at every second one. Which
 * parent a node gets depends on who is first; what is settled, and every dominator, does not.
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

/*
 * Shares whose targets are listed before they are met, at most, and at first: more while there are
 * fewer targets than OFFERS_MOST, fewer while there are more. And the parts of the nodes.
 */
#define OFFER_SHARES 64u
#define OFFER_SHARES_FIRST 8u
#define OFFERS_MOST (1u << 20)
#define OFFER_PARTS 16u

/* Offers ahead whose gates are asked for. */
#define GATE_AHEAD 16u

/* Nodes that wait to be appended to the queue. */
#define MET_NODES 256u

/* A node that an edge leads to. */
struct offer {
	uint32_t node, parent_place;
};

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

/* As graph_rows_get, the row at a place; places before `end` are known. */
static unsigned get_row(const struct settling *s, uint32_t place, uint32_t end, uint32_t *target,
			struct graph_long_row *row)
{
	if (place + START_AHEAD < end)
		graph_rows_prefetch_start(s->rows, s->queue[place + START_AHEAD]);
	if (place + GROUP_AHEAD < end)
		graph_rows_prefetch(s->rows, s->queue[place + GROUP_AHEAD]);
	if (place + ROW_AHEAD < end)
		graph_rows_prefetch_row(s->rows, s->queue[place + ROW_AHEAD]);
	return graph_rows_get(s->rows, s->queue[place], target, row);
}

/* Looks at the row at a place. */
static void scan_row(struct settling *s, struct met_queue *met, uint32_t place, uint32_t end)
{
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = get_row(s, place, end, target, &row);

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

/* ---- wide levels ---- */

/* Rows of a level, [first, end), of which the level's end may be further. */
struct chunk {
	struct settling *s;
	struct level rows;
	uint32_t level_end;
};

/* Lists what a row leads to that nobody has met. What a long one leads to is met at once. */
static int offer_row(const struct chunk *chunk, struct base_vec *offers, struct met_queue *met,
		     uint32_t place, struct hdb_error *err)
{
	struct settling *s = chunk->s;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = get_row(s, place, chunk->level_end, target, &row);
	int rc;

	met->step_count += count + (row.end - row.at) + 1;
	for (unsigned i = 0; i < count; i++) {
		const struct offer offer = { target[i], place };

		if (!has(s->seen, target[i]) &&
		    (rc = base_vec_push(&offers[target[i] >> s->part_bits], &offer, sizeof(offer),
					err)) != HDB_OK)
			return rc;
	}
	for (; row.at < row.end; row.at++)
		meet(s, met, graph_rows_long(s->rows, row.at), place);
	return HDB_OK;
}

static int offer_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	const struct chunk *chunk = ctx;
	const uint64_t first = chunk->rows.first + share * SCAN_ROWS,
		       end = first + SCAN_ROWS < chunk->rows.end ? first + SCAN_ROWS :
								   chunk->rows.end;
	struct met_queue met = { .count = 0 };
	int rc = HDB_OK;

	(void)slot;
	for (uint64_t place = first; place < end && rc == HDB_OK; place++)
		rc = offer_row(chunk, &chunk->s->offers[share * OFFER_PARTS], &met, (uint32_t)place,
			       err);
	flush(chunk->s, &met);
	return rc;
}

/* Meets what was listed of a part of the nodes. */
static int meet_part(void *ctx, unsigned slot, uint64_t part, struct hdb_error *err)
{
	const struct chunk *chunk = ctx;
	struct settling *s = chunk->s;
	struct met_queue met = { .is_alone = true };

	(void)slot;
	(void)err;
	for (unsigned share = 0; share < OFFER_SHARES; share++) {
		struct base_vec *offers = &s->offers[share * OFFER_PARTS + part];
		const struct offer *offer = offers->data;

		for (size_t i = 0; i < offers->count; i++) {
			if (s->is_second && i + GATE_AHEAD < offers->count)
				prefetch_write(&s->gate_of[offer[i + GATE_AHEAD].node]);
			meet(s, &met, offer[i].node, offer[i].parent_place);
		}
		offers->count = 0;
	}
	flush(s, &met);
	return HDB_OK;
}

/* Lists of offers, once for all levels. */
static int make_offers(struct settling *s, struct hdb_error *err)
{
	if (s->offers)
		return HDB_OK;
	while (s->rows->node_count >> s->part_bits >= OFFER_PARTS)
		s->part_bits++;
	assert(s->part_bits >= 6);
	s->offer_shares = OFFER_SHARES_FIRST;
	s->offers = calloc((size_t)OFFER_SHARES * OFFER_PARTS, sizeof(*s->offers));
	return s->offers ? HDB_OK : hdb_fail_memory(err, "search order", sizeof(*s->offers));
}

static void free_offers(struct settling *s)
{
	for (unsigned i = 0; s->offers && i < OFFER_SHARES * OFFER_PARTS; i++)
		base_vec_release(&s->offers[i]);
	free(s->offers);
	s->offers = NULL;
	base_work_count(s->work, &s->offers_bytes, 0);
}

/* Tells the budget what offers take, and chooses how many rows come next. */
static void count_offers(struct settling *s)
{
	uint64_t count = 0, room = 0;

	for (unsigned i = 0; i < OFFER_SHARES * OFFER_PARTS; i++) {
		count += s->offers[i].count;
		room += s->offers[i].capacity;
	}
	base_work_count(s->work, &s->offers_bytes, room * sizeof(struct offer));
	if (count > OFFERS_MOST && s->offer_shares > 1)
		s->offer_shares /= 2;
	else if (count < OFFERS_MOST / 2 && s->offer_shares < OFFER_SHARES)
		s->offer_shares *= 2;
}

/* A level on all threads: s->next is its end then, unless the search is decided. */
static int scan_wide(struct settling *s, struct level level, struct hdb_error *err)
{
	struct level below = { .first = level.end };
	int rc = make_offers(s, err);

	while (rc == HDB_OK && s->next < level.end && !is_decided(s)) {
		const uint32_t left = level.end - s->next, most = s->offer_shares * SCAN_ROWS;
		struct chunk chunk = { s, { s->next, level.end }, level.end };

		if (left > most)
			chunk.rows.end = s->next + most;
		rc = base_pipeline_each(share_count(chunk.rows.end - chunk.rows.first, SCAN_ROWS),
					s->work->threads, &chunk, offer_share, err);
		if (rc != HDB_OK)
			break;
		s->next = chunk.rows.end;
		count_offers(s);
		rc = base_pipeline_each(OFFER_PARTS, s->work->threads, &chunk, meet_part, err);
		if (rc == HDB_OK)
			rc = base_step(s->work, s->next, err);
	}
	if (rc != HDB_OK)
		return rc;
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

static int search_twice(struct settling *s, struct hdb_error *err)
{
	int rc = search(s, s->order, err);

	if (rc != HDB_OK)
		return rc;
	s->count = queue_count(s);
	s->first_steps = s->step_count;
	if ((rc = find_heavy_nodes(s, s->gate_of, err)) != HDB_OK)
		return rc;
	s->is_second = true;
	return search(s, s->label, err);
}

int settle_find_stages(struct settling *s, struct hdb_error *err)
{
	const int rc = search_twice(s, err);

	free_offers(s);
	if (rc != HDB_OK)
		return rc;
	s->out->step_count += s->step_count;
	return base_pipeline_each(share_count(s->rows->node_count, SHARE_NODES), s->work->threads,
				  s, fill_share, err);
}
