/*
 * graph/dominators/settle.c - breadth-first searches, gates, and rounds of settling.
 */
#include "graph/dominators/settle.h"

#include "base/pipeline.h"
#include "base/prefetch.h"
#include "base/rank_bitset.h"
#include "base/vec.h"

#include <assert.h>
#include <stdlib.h>

/* Nodes ahead whose groups, rows' lengths and rows are asked for. */
#define START_AHEAD 24u
#define GROUP_AHEAD 16u
#define ROW_AHEAD 8u

/* Nodes ahead whose labels are asked for. */
#define LABEL_AHEAD 16u

/* Nodes of a share of a round, and edges that wait. */
#define SHARE_NODES (1u << 15)
#define EDGES 64u

/* Deeper graphs have no gates that are looked for: they are lists, on which little is far. */
#define HEAVY_MAX 4096u

/*
 * Rounds go on while they settle this part of what is left, and more is left than this part of
 * all: a search of so little costs less than a round.
 */
#define GAIN_PART 4u
#define LITTLE_PART 64u

/* One share in so many is looked at first: it settles what has many referrers. */
#define FIRST_SHARES 16u

/* Rows of a sample. */
#define SAMPLE_ROWS 8192u

/* Rows between two calls of base_step. */
#define STEP_ROWS 0x10000u

/* A node that has more than half of all below it in the first tree, in order of nodes. */
struct heavy {
	uint32_t node;
	uint32_t depth;  /* among heavy nodes */
	bool is_waiting; /* it was met */
};

struct settling {
	const struct graph_rows *rows;
	const uint64_t *root_bits;
	const uint64_t *single;
	struct base_work *work;
	struct graph_settled *out;
	uint32_t *gate_of;       /* by node: whose stage it is of; at last its dominator */
	struct base_ranks known; /* nodes whose dominator that is */
	uint64_t *met;           /* bits by node: in the first search */
	uint64_t *seen;          /* the same, of the search in work */
	/* Bits: the dominator is neither known, as of the last round, nor the only referrer. */
	uint64_t *open;
	uint32_t *order;      /* of the first search: nodes, by place */
	uint32_t *parent;     /* by place: the parent's, GRAPH_NONE: a root */
	uint32_t count;       /* of those */
	uint64_t first_steps; /* of that search */
	/* By node: the known one above it; the second search's queue before that. */
	uint32_t *label;
	/* Of the search in work: */
	uint32_t *queue;
	uint32_t queue_count, next;
	bool is_second;
	uint32_t gate;         /* the stage is this one's */
	struct base_vec heavy; /* struct heavy */
	uint32_t waiting_count;
	uint32_t heavy_left; /* of those, not searched from */
	/* What is left, and what is above it. */
	struct base_ranks rest;
	struct graph_rows rest_rows;
	uint64_t *rest_roots;
	struct base_big met_big, open_big, order_big, parent_big, label_big, rest_roots_big;
};

bool graph_is_far(const struct graph_rows *rows)
{
	const uint32_t step = rows->node_count / SAMPLE_ROWS + 1;
	uint64_t edges = 0, far = 0;

	for (uint64_t v = 0; v < rows->node_count; v += step) {
		uint32_t target[GRAPH_ROW_MAX];
		struct graph_long_row row;
		const unsigned count = graph_rows_get(rows, (uint32_t)v, target, &row);

		for (unsigned i = 0; i < count; i++)
			far += target[i] - (uint32_t)v + GRAPH_FAR > 2 * GRAPH_FAR;
		edges += count;
	}
	return rows->node_count >= GRAPH_FAR && far > edges - edges / 4;
}

static uint64_t share_end(uint64_t share, uint32_t count)
{
	const uint64_t end = (share + 1) * SHARE_NODES;

	return end < count ? end : count;
}

/* Runs a pass over `count` nodes or places, on all threads. */
static int each_share(struct settling *s, uint32_t count,
		      int (*look)(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err),
		      struct hdb_error *err)
{
	const struct base_pipeline pipeline = {
		.item_count = ((uint64_t)count + SHARE_NODES - 1) / SHARE_NODES,
		.threads = s->work->threads,
		.slot_count = 4 * s->work->threads,
		.ctx = s,
		.produce = look,
	};

	return base_pipeline_run(&pipeline, err);
}

/* ---- searches ---- */

static inline bool has(const uint64_t *bits, uint32_t v)
{
	return bits[v / 64] >> (v % 64) & 1;
}

static inline bool is_known(const struct settling *s, uint32_t v)
{
	return base_ranks_has(&s->known, v);
}

static int compare_heavy(const void *a, const void *b)
{
	const struct heavy *x = a, *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
}

static void enqueue(struct settling *s, uint32_t v, uint32_t parent_place)
{
	if (!s->is_second)
		s->parent[s->queue_count] = parent_place;
	s->queue[s->queue_count++] = v;
}

/* A node that was not met before. */
static void meet(struct settling *s, uint32_t v, uint32_t parent_place)
{
	const struct heavy key = { .node = v };
	struct heavy *heavy = NULL;

	s->seen[v / 64] |= (uint64_t)1 << (v % 64);
	if (s->is_second) {
		s->gate_of[v] = s->gate;
		if (s->heavy.count)
			heavy = bsearch(&key, s->heavy.data, s->heavy.count, sizeof(key),
					compare_heavy);
	}
	if (!heavy) {
		enqueue(s, v, parent_place);
		return;
	}
	heavy->is_waiting = true;
	s->waiting_count++;
}

static void scan_row(struct settling *s, uint32_t place)
{
	const uint32_t v = s->queue[place];
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	unsigned count;

	if (place + START_AHEAD < s->queue_count)
		graph_rows_prefetch_start(s->rows, s->queue[place + START_AHEAD]);
	if (place + GROUP_AHEAD < s->queue_count)
		graph_rows_prefetch(s->rows, s->queue[place + GROUP_AHEAD]);
	if (place + ROW_AHEAD < s->queue_count)
		graph_rows_prefetch_row(s->rows, s->queue[place + ROW_AHEAD]);
	count = graph_rows_get(s->rows, v, target, &row);
	s->out->step_count += count + (row.end - row.at) + 1;
	for (unsigned i = 0; i < count; i++)
		if (!has(s->seen, target[i]))
			meet(s, target[i], place);
	for (; row.at < row.end; row.at++)
		if (!has(s->seen, graph_rows_long(s->rows, row.at)))
			meet(s, graph_rows_long(s->rows, row.at), place);
}

/*
 * Whether the second search is of no more use: what it has not met is of the stage in work,
 * because no node is left that could be a gate, or because more than half was met.
 */
static bool is_decided(const struct settling *s)
{
	return s->is_second && (!s->heavy_left || s->queue_count >= s->count - s->count / 2);
}

/* All that can be reached without what waits. */
static int search_on(struct settling *s, struct hdb_error *err)
{
	int rc;

	for (; s->next < s->queue_count && !is_decided(s); s->next++) {
		scan_row(s, s->next);
		if (s->next % STEP_ROWS == 0 && (rc = base_step(s->work, s->next, err)) != HDB_OK)
			return rc;
	}
	return HDB_OK;
}

/* The heavy node nearest to the roots goes on; a gate if it dominates more than half of all. */
static void release(struct settling *s)
{
	struct heavy *heavy = s->heavy.data, *first = NULL;

	for (size_t i = 0; i < s->heavy.count; i++)
		if (heavy[i].is_waiting && (!first || heavy[i].depth < first->depth))
			first = &heavy[i];
	if (s->waiting_count == 1 && s->count - s->queue_count > s->count / 2) {
		base_ranks_put_alone(&s->known, first->node);
		s->gate = first->node;
	}
	first->is_waiting = false;
	s->waiting_count--;
	s->heavy_left--;
	enqueue(s, first->node, GRAPH_NONE);
}

static int search(struct settling *s, uint32_t *queue, struct hdb_error *err)
{
	const uint32_t n = s->rows->node_count;
	int rc;

	s->seen = s->is_second ? s->open : s->met;
	memset(s->seen, 0, ((uint64_t)n / 64 + 1) * sizeof(*s->seen));
	s->heavy_left = (uint32_t)s->heavy.count;
	s->queue = queue;
	s->queue_count = s->next = 0;
	s->gate = GRAPH_NONE;
	for (uint32_t w = 0; w <= n / 64; w++) {
		uint64_t bits = s->root_bits[w];

		if (w == n / 64)
			bits &= ((uint64_t)1 << (n % 64)) - 1;
		for (; bits; bits &= bits - 1)
			meet(s, w * 64 + (unsigned)__builtin_ctzll(bits), GRAPH_NONE);
	}
	if ((rc = search_on(s, err)) != HDB_OK)
		return rc;
	while (s->waiting_count && !is_decided(s)) {
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
static void fill_stages(struct settling *s)
{
	for (uint32_t v = 0; v < s->rows->node_count; v++) {
		if (!has(s->met, v))
			s->gate_of[v] = v;
		else if (!has(s->seen, v))
			s->gate_of[v] = s->gate;
	}
}

/* The first tree; gates, and whose stage each node is of. */
static int find_stages(struct settling *s, struct hdb_error *err)
{
	int rc = search(s, s->order, err);

	if (rc != HDB_OK)
		return rc;
	s->count = s->queue_count;
	s->first_steps = s->out->step_count;
	if ((rc = find_heavy_nodes(s, s->gate_of, err)) != HDB_OK)
		return rc;
	s->is_second = true;
	if ((rc = search(s, s->label, err)) != HDB_OK)
		return rc;
	fill_stages(s);
	return HDB_OK;
}

/* ---- rounds ---- */

/* Known at once: roots, and what the tree leads to from another stage. */
static int begin_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct settling *s = ctx;
	const uint64_t end = share_end(share, s->count);
	const uint32_t *gate = s->gate_of;

	(void)slot;
	(void)err;
	for (uint64_t p = share * SHARE_NODES; p < end; p++) {
		const uint32_t v = s->order[p];

		if (p + LABEL_AHEAD < s->count)
			prefetch_read(&gate[s->order[p + LABEL_AHEAD]]);
		if (s->parent[p] == GRAPH_NONE || gate[v] != gate[s->order[s->parent[p]]])
			base_ranks_put(&s->known, v);
	}
	return HDB_OK;
}

/* What is known stands for itself, and for what is below it. */
static void relabel(struct settling *s)
{
	for (uint32_t p = 0; p < s->count; p++) {
		const uint32_t v = s->order[p];

		if (p + LABEL_AHEAD < s->count)
			prefetch_write(&s->label[s->order[p + LABEL_AHEAD]]);
		s->label[v] = is_known(s, v) ? v : s->label[s->order[s->parent[p]]];
	}
}

/* Edges to nodes that are not known wait until these nodes' labels are in the caches. */
struct label_queue {
	uint32_t count;
	struct {
		uint32_t from, target;
	} edge[EDGES];
};

static void look_at_labels(struct settling *s, struct label_queue *queue)
{
	for (uint32_t i = 0; i < queue->count; i++) {
		const uint32_t target = queue->edge[i].target;

		if (s->label[target] != queue->edge[i].from)
			base_ranks_put(&s->known, target);
	}
	queue->count = 0;
}

static inline void look_at(struct settling *s, struct label_queue *queue, uint32_t from,
			   uint32_t target)
{
	if (!has(s->open, target))
		return;
	prefetch_read(&s->label[target]);
	queue->edge[queue->count].from = from;
	queue->edge[queue->count++].target = target;
	if (queue->count == EDGES)
		look_at_labels(s, queue);
}

static int round_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct settling *s = ctx;
	const uint64_t end = share_end(share, s->rows->node_count);
	struct label_queue queue = { .count = 0 };
	uint32_t target[GRAPH_ROW_MAX];

	(void)slot;
	(void)err;
	for (uint64_t i = share * SHARE_NODES; i < end; i++) {
		const uint32_t v = (uint32_t)i;
		struct graph_long_row row;
		unsigned count;

		if (!has(s->met, v))
			continue;
		count = graph_rows_get(s->rows, v, target, &row);
		for (unsigned k = 0; k < count; k++)
			look_at(s, &queue, s->label[v], target[k]);
		for (; row.at < row.end; row.at++)
			look_at(s, &queue, s->label[v], graph_rows_long(s->rows, row.at));
	}
	look_at_labels(s, &queue);
	return HDB_OK;
}

static int first_share(void *ctx, unsigned slot, uint64_t part, struct hdb_error *err)
{
	return round_share(ctx, slot, part * FIRST_SHARES, err);
}

/* Marks what is open, and counts it. */
static uint32_t list_open(struct settling *s)
{
	uint32_t count = 0;

	for (uint64_t w = 0; w <= s->rows->node_count / 64; w++) {
		s->open[w] = s->met[w] & ~s->single[w] & ~base_ranks_word(&s->known, w);
		count += count_bits(s->open[w]);
	}
	return count;
}

/* What is known at once, and what some of the rows settle. */
static int first_round(struct settling *s, struct hdb_error *err)
{
	int rc = each_share(s, s->count, begin_share, err);

	if (rc != HDB_OK)
		return rc;
	(void)list_open(s);
	relabel(s);
	rc = each_share(s, s->rows->node_count / FIRST_SHARES, first_share, err);
	if (rc != HDB_OK)
		return rc;
	s->out->step_count += s->first_steps / FIRST_SHARES;
	s->out->left_count = list_open(s);
	return HDB_OK;
}

static int rounds(struct settling *s, struct hdb_error *err)
{
	uint32_t *left = &s->out->left_count, gain = s->count;
	int rc = first_round(s, err);

	if (rc != HDB_OK)
		return rc;
	for (unsigned i = 0;
	     i<GRAPH_SETTLE_ROUNDS && * left> s->count / LITTLE_PART && gain >= *left / GAIN_PART;
	     i++) {
		const uint32_t before = *left;

		/* Labels of the first round do for the next. */
		if (i > 0)
			relabel(s);
		if ((rc = each_share(s, s->rows->node_count, round_share, err)) != HDB_OK)
			return rc;
		s->out->step_count += s->first_steps;
		*left = list_open(s);
		gain = before - *left;
	}
	return HDB_OK;
}

/* ---- what is left ---- */

/* Puts nodes that are left, and those with edges to such, into the rest. */
static int rest_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct settling *s = ctx;
	const uint64_t end = share_end(share, s->rows->node_count);
	uint32_t target[GRAPH_ROW_MAX];

	(void)slot;
	(void)err;
	for (uint64_t i = share * SHARE_NODES; i < end; i++) {
		const uint32_t v = (uint32_t)i;
		struct graph_long_row row;
		bool is_in = has(s->open, v);
		unsigned count;

		if (!has(s->met, v))
			continue;
		count = graph_rows_get(s->rows, v, target, &row);
		for (unsigned k = 0; k < count; k++)
			is_in |= has(s->open, target[k]);
		for (; row.at < row.end; row.at++)
			is_in |= has(s->open, graph_rows_long(s->rows, row.at));
		if (is_in)
			base_ranks_put(&s->rest, v);
	}
	return HDB_OK;
}

/* The nodes of the rest by place, where the labels were. */
static void list_rest(struct settling *s)
{
	uint32_t place = 0;

	for (uint64_t w = 0; w <= s->rows->node_count / 64; w++)
		for (uint64_t bits = base_ranks_word(&s->rest, w); bits; bits &= bits - 1)
			s->label[place++] = (uint32_t)w * 64 + (unsigned)__builtin_ctzll(bits);
	assert(place == s->rest.count);
}

/* And single nodes between those and what is above them. */
static int mark_rest(struct settling *s, struct hdb_error *err)
{
	int rc = base_ranks_init(&s->rest, s->rows->node_count, s->work, "dominators", err);

	if (rc != HDB_OK)
		return rc;
	if ((rc = each_share(s, s->rows->node_count, rest_share, err)) != HDB_OK)
		return rc;
	/* From below: what is above a node has a lower place. */
	for (uint32_t p = s->count; p-- > 0;) {
		const uint32_t v = s->order[p];

		if (base_ranks_has(&s->rest, v) && !has(s->open, v) && !is_known(s, v))
			base_ranks_put_alone(&s->rest, s->order[s->parent[p]]);
	}
	base_ranks_rank(&s->rest);
	list_rest(s);
	return HDB_OK;
}

/* Adds the places in the rest of those targets whose dominators are looked for. */
static int add_rest(struct settling *s, struct base_vec *targets, const uint32_t *target,
		    unsigned count, struct hdb_error *err)
{
	const int rc = base_vec_reserve(targets, count, sizeof(*target), err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < count; i++)
		if (base_ranks_has(&s->rest, target[i]) && !is_known(s, target[i]))
			*base_vec_at(targets, uint32_t, targets->count++) =
				base_ranks_before(&s->rest, target[i]);
	return HDB_OK;
}

/* The row of a node of the rest; `bytes` has room, `length` is set. */
struct rest_row {
	uint32_t v, place;
	uint8_t *bytes, *length;
};

static int pack_rest(struct settling *s, const struct rest_row *rest, struct base_vec *targets,
		     struct hdb_error *err)
{
	const uint32_t v = rest->v;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row, out = { 0, 0 };
	unsigned count = graph_rows_get(s->rows, v, target, &row), packed;
	int rc;

	targets->count = 0;
	if ((rc = add_rest(s, targets, target, count, err)) != HDB_OK)
		return rc;
	while (row.at < row.end) {
		for (count = 0; row.at < row.end && count < GRAPH_ROW_MAX; row.at++)
			target[count++] = graph_rows_long(s->rows, row.at);
		if ((rc = add_rest(s, targets, target, count, err)) != HDB_OK)
			return rc;
	}
	packed = graph_rows_pack(&s->rest_rows, rest->place, targets->data, targets->count,
				 rest->bytes);
	*rest->length = (uint8_t)packed;
	if (packed != GRAPH_ROW_LONG)
		return HDB_OK;
	rc = graph_rows_add_long(&s->rest_rows, &out, targets->data, targets->count, err);
	if (rc != HDB_OK)
		return rc;
	memcpy(rest->bytes, &out, sizeof(out));
	*rest->length = GRAPH_ROW_LONG | sizeof(out);
	return HDB_OK;
}

static int make_rest_rows(struct settling *s, struct base_vec *targets, struct hdb_error *err)
{
	uint8_t bytes[GRAPH_GROUP * GRAPH_ROW_MAX + GRAPH_ROW_MAX + 8], length[GRAPH_GROUP] = { 0 };
	uint32_t used = 0;
	int rc = graph_rows_init(&s->rest_rows, s->rest.count, s->work, err);

	if (rc != HDB_OK)
		return rc;
	rc = base_big_alloc(s->work, &s->rest_roots_big, s->rest.count / 8 + 8, "roots", err);
	if (rc != HDB_OK)
		return rc;
	s->rest_roots = s->rest_roots_big.data;
	for (uint32_t place = 0; place < s->rest.count; place++) {
		const uint32_t k = place % GRAPH_GROUP, v = s->label[place];

		if (is_known(s, v))
			s->rest_roots[place / 64] |= (uint64_t)1 << (place % 64);
		rc = pack_rest(s, &(struct rest_row){ v, place, bytes + used, &length[k] }, targets,
			       err);
		if (rc != HDB_OK)
			return rc;
		used += length[k] & GRAPH_ROW_MAX;
		if (k + 1 < GRAPH_GROUP && place + 1 < s->rest.count)
			continue;
		rc = graph_rows_put(&s->rest_rows, place / GRAPH_GROUP, length, bytes, err);
		if (rc != HDB_OK)
			return rc;
		memset(length, 0, sizeof(length));
		used = 0;
	}
	return HDB_OK;
}

/* Dominators of the rest become those of nodes; below the virtual root it is the gate. */
static int take_rest(struct settling *s, const struct graph_dominators *d, struct hdb_error *err)
{
	const uint32_t *node = s->label;
	const uint32_t *place_of;
	uint64_t number[GRAPH_NUMBERS_STEP] = { 0 };
	struct base_big places = { 0 };
	int rc = graph_dominators_nodes(d, &places, err);

	if (rc != HDB_OK)
		goto out;
	place_of = places.data;
	for (uint32_t place = 0; place < s->rest.count; place++) {
		const uint32_t k = place % GRAPH_NUMBERS_STEP, left = s->rest.count - place;
		uint32_t dominator;

		if (k == 0) {
			rc = graph_dominators_numbers(
				d, place, number,
				left < GRAPH_NUMBERS_STEP ? left : GRAPH_NUMBERS_STEP, err);
			if (rc != HDB_OK)
				goto out;
		}
		dominator = place_of[d->dominator[number[k]]];
		if (dominator != GRAPH_NONE)
			s->gate_of[node[place]] = node[dominator];
	}
out:
	base_big_free(s->work, &places);
	return rc;
}

static int search_rest(struct settling *s, enum graph_search how, struct hdb_error *err)
{
	struct graph_dominators d = { 0 };
	struct base_vec targets = { 0 };
	int rc = mark_rest(s, err);

	if (rc != HDB_OK)
		goto out;
	if ((rc = make_rest_rows(s, &targets, err)) != HDB_OK)
		goto out;
	s->out->rest_count = s->rest.count;
	base_vec_release(&targets);
	rc = graph_dominators(&s->rest_rows, s->rest_roots, how, &d, err);
	if (rc != HDB_OK)
		goto out;
	rc = take_rest(s, &d, err);
out:
	base_vec_release(&targets);
	s->out->step_count += s->first_steps + d.step_count;
	graph_dominators_release(&d);
	graph_rows_release(&s->rest_rows);
	base_big_free(s->work, &s->rest_roots_big);
	base_ranks_release(&s->rest);
	return rc;
}

/* A single node's dominator is its parent in any tree. */
static int single_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct settling *s = ctx;
	const uint64_t end = share_end(share, s->count);

	(void)slot;
	(void)err;
	for (uint64_t p = share * SHARE_NODES; p < end; p++) {
		if (p + LABEL_AHEAD < s->count)
			prefetch_write(&s->gate_of[s->order[p + LABEL_AHEAD]]);
		if (has(s->single, s->order[p]))
			s->gate_of[s->order[p]] = s->order[s->parent[p]];
	}
	return HDB_OK;
}

static int make_room(struct settling *s, struct hdb_error *err)
{
	const uint64_t n = s->rows->node_count, bytes = (n + 1) * sizeof(uint32_t);
	int rc;

	if ((rc = base_ranks_init(&s->known, (uint32_t)n, s->work, "dominators", err)) < 0 ||
	    (rc = base_big_alloc_raw(s->work, &s->out->dominator_big, bytes, "dominators", err)) <
		    0 ||
	    (rc = base_big_alloc(s->work, &s->met_big, n / 8 + 8, "search order", err)) < 0 ||
	    (rc = base_big_alloc_raw(s->work, &s->open_big, n / 8 + 8, "dominators", err)) < 0 ||
	    (rc = base_big_alloc_raw(s->work, &s->order_big, bytes, "search order", err)) < 0 ||
	    (rc = base_big_alloc_raw(s->work, &s->parent_big, bytes, "search tree", err)) < 0 ||
	    (rc = base_big_alloc_raw(s->work, &s->label_big, bytes, "search order", err)) < 0)
		return rc;
	s->out->dominator = s->gate_of = s->out->dominator_big.data;
	s->met = s->met_big.data;
	s->open = s->open_big.data;
	s->order = s->order_big.data;
	s->parent = s->parent_big.data;
	s->label = s->label_big.data;
	return HDB_OK;
}

int graph_settle(const struct graph_settle_in *in, enum graph_search how, struct graph_settled *out,
		 struct hdb_error *err)
{
	const struct graph_rows *rows = in->rows;
	struct base_work *work = rows->work;
	struct settling s = { .rows = rows,
			      .root_bits = in->root_bits,
			      .single = in->single,
			      .work = work,
			      .out = out };
	int rc;

	*out = (struct graph_settled){ .work = work };
	base_stage(work, "dominators: settling", rows->node_count, "objects");
	if ((rc = make_room(&s, err)) != HDB_OK)
		goto out;
	if ((rc = find_stages(&s, err)) != HDB_OK)
		goto out;
	if ((rc = rounds(&s, err)) != HDB_OK)
		goto out;
	if (out->left_count && (rc = search_rest(&s, how, err)) != HDB_OK)
		goto out;
	rc = each_share(&s, s.count, single_share, err);
out:
	base_ranks_release(&s.known);
	base_big_free(work, &s.met_big);
	base_big_free(work, &s.open_big);
	base_big_free(work, &s.order_big);
	base_big_free(work, &s.parent_big);
	base_big_free(work, &s.label_big);
	base_vec_release(&s.heavy);
	return rc;
}

void graph_settled_release(struct graph_settled *settled)
{
	if (!settled->work)
		return;
	base_big_free(settled->work, &settled->dominator_big);
	*settled = (struct graph_settled){ 0 };
}
