/*
 * graph/dominators/settle.c - rounds of settling, and a search of what is left.
 */
#include "graph/dominators/settle_private.h"

#include "base/prefetch.h"

#include <assert.h>
#include <stdlib.h>

/* Nodes ahead whose labels are asked for. */
#define LABEL_AHEAD 16u

/* Edges that wait. */
#define EDGES 64u

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
	return base_pipeline_each(share_count(count, SHARE_NODES), s->work->threads, s, look, err);
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

/* What is known stands for itself, and for what is below it: places [first, end). */
static void label_places(struct settling *s, uint32_t first, uint32_t end)
{
	for (uint32_t p = first; p < end; p++) {
		const uint32_t v = s->order[p];

		if (p + LABEL_AHEAD < s->count)
			prefetch_write(&s->label[s->order[p + LABEL_AHEAD]]);
		s->label[v] = is_known(s, v) ? v : s->label[s->order[s->parent[p]]];
	}
}

static int label_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	const struct wide_pass *pass = ctx;
	const uint64_t first = pass->level.first + share * SHARE_NODES, end = first + SHARE_NODES;

	(void)slot;
	(void)err;
	label_places(pass->s, (uint32_t)first,
		     (uint32_t)(end < pass->level.end ? end : pass->level.end));
	return HDB_OK;
}

/* Of wide levels on all threads, since what is above their nodes is labelled before. */
static int relabel(struct settling *s, struct hdb_error *err)
{
	uint32_t done = 0;

	for (size_t i = 0; i < s->wide.count; i++) {
		struct wide_pass pass = { s, *base_vec_at(&s->wide, struct level, i) };
		int rc;

		label_places(s, done, pass.level.first);
		rc = base_pipeline_each(share_count(pass.level.end - pass.level.first, SHARE_NODES),
					s->work->threads, &pass, label_share, err);
		if (rc != HDB_OK)
			return rc;
		done = pass.level.end;
	}
	label_places(s, done, s->count);
	return HDB_OK;
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
		const uint64_t open =
			word_of(s->met, w) & ~s->single[w] & ~base_ranks_word(&s->known, w);

		atomic_store_explicit(&s->open[w], open, memory_order_relaxed);
		count += count_bits(open);
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
	if ((rc = relabel(s, err)) != HDB_OK)
		return rc;
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
		if (i > 0 && (rc = relabel(s, err)) != HDB_OK)
			return rc;
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
	struct base_ranks_walk walk = base_ranks_walk(&s->rest, 0, s->rows->node_count);
	uint32_t v, place;

	while (base_ranks_next(&walk, &v, &place))
		s->label[place] = v;
	assert(walk.before == s->rest.count);
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
		if (s->single[s->order[p] / 64] >> (s->order[p] % 64) & 1)
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
	if ((rc = settle_find_stages(&s, err)) != HDB_OK)
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
	base_vec_release(&s.wide);
	return rc;
}

void graph_settled_release(struct graph_settled *settled)
{
	if (!settled->work)
		return;
	base_big_free(settled->work, &settled->dominator_big);
	*settled = (struct graph_settled){ 0 };
}
