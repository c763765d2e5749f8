/*
 * graph/dominators/contract_solve.c - dominators of all nodes from those of the kept, and edges to
 * classes that were left out and may matter.
 */
#include "graph/dominators/contract_private.h"

#include "base/processor.h"

#include <assert.h>
#include <stdlib.h>

/* Of what found dominators, one is there. */
struct solving {
	struct graph_contract *c;
	const struct graph_settled *settled;
	const struct graph_dominators *d;
	const uint32_t *place_of; /* by number of d */
};

/* Dominators as places; GRAPH_SEVERAL: not reached. */
static int places_of_range(const struct solving *s, uint32_t *dominator, uint32_t first,
			   uint32_t count, struct hdb_error *err)
{
	uint64_t *number;
	int rc;

	if (!s->place_of) {
		for (uint32_t i = 0; i < count; i++)
			dominator[i] = s->settled->dominator[first + i] == first + i ?
					       GRAPH_SEVERAL :
					       s->settled->dominator[first + i];
		return HDB_OK;
	}
	/* Slots are too many to have room each. */
	number = malloc((BASE_RUN + GRAPH_NUMBERS_STEP) * sizeof *number);
	rc = number ? graph_dominators_numbers(s->d, first, number, count, err) :
		      hdb_fail_memory(err, "preorder", BASE_RUN * sizeof *number);
	if (rc != HDB_OK)
		goto out;
	for (uint32_t i = 0; i < count; i++)
		dominator[i] = number[i] ? s->place_of[s->d->dominator[number[i]]] : GRAPH_SEVERAL;
out:
	free(number);
	return rc;
}

static int solve_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	const struct solving *s = ctx;
	struct graph_contract *c = s->c;
	const uint32_t end = share_end(share, graph_contract_count(c));
	int rc;

	(void)slot;
	for (uint32_t v = (uint32_t)share * SHARE_NODES; v < end; v += BASE_RUN) {
		const uint32_t count = end - v < BASE_RUN ? end - v : BASE_RUN;

		/* In steps, so that each one's memory can be asked for all at once. */
		if ((rc = places_of_range(s, c->dominator + v, v, count, err)) < 0)
			return rc;
		for (uint32_t i = v; i < v + count; i++) {
			c->lost[i / 64] |= (uint64_t)(c->dominator[i] == GRAPH_SEVERAL) << (i % 64);
			if (c->dominator[i] < GRAPH_SEVERAL)
				c->dominator[i] = graph_contract_node(c, c->dominator[i]);
		}
	}
	return HDB_OK;
}

/* Whether a node that is kept, or inner, is gone. */
static inline bool is_gone(const struct graph_contract *c, uint32_t v)
{
	return atomic_load_explicit(&c->gone[v / 64], memory_order_relaxed) >> (v % 64) & 1;
}

static inline void put_gone(struct graph_contract *c, uint32_t v)
{
	atomic_fetch_or_explicit(&c->gone[v / 64], (uint64_t)1 << (v % 64), memory_order_relaxed);
}

/* Of a share of nodes the inner ones: gone where nothing kept is above, or what is gone. */
static int gone_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct graph_contract *c = ctx;
	struct base_ranks_walk walk = walk_share(c, &c->inner, share);
	uint32_t v, place;

	(void)slot;
	(void)err;
	while (base_ranks_next(&walk, &v, &place)) {
		const uint32_t above = atomic_load_explicit(&c->above[place], memory_order_relaxed);

		if (above == GRAPH_NONE || is_gone(c, above))
			put_gone(c, v);
	}
	return HDB_OK;
}

/* What no root reaches, by node: what is left out asks for that of its referrer. */
static int find_gone(struct graph_contract *c, struct hdb_error *err)
{
	int rc;

	base_big_free(c->work, &c->gone_big);
	rc = base_big_alloc(c->work, &c->gone_big, (uint64_t)c->node_count / 8 + 8, "dominators",
			    err);
	if (rc != HDB_OK)
		return rc;
	c->gone = c->gone_big.data;
	for (uint32_t w = 0; w <= graph_contract_count(c) / 64; w++) {
		for (uint64_t bits = c->lost[w]; bits; bits &= bits - 1)
			put_gone(c, c->node[64 * w + (unsigned)__builtin_ctzll(bits)]);
	}
	return each_share(c, c->node_count, c, gone_share, err);
}

/* Dominators of all places, as nodes. */
static int take_dominators(struct graph_contract *c, struct solving *s, struct hdb_error *err)
{
	struct base_big places = { 0 };
	int rc = graph_contract_list(c, err);

	if (rc != HDB_OK)
		goto out;
	if (s->d->work && (rc = graph_dominators_nodes(s->d, &places, err)) != HDB_OK)
		goto out;
	rc = base_big_alloc_raw(c->work, &c->dominator_big,
				((uint64_t)graph_contract_count(c) + 1) * sizeof *c->dominator,
				"dominators", err);
	if (rc != HDB_OK)
		goto out;
	rc = base_big_alloc(c->work, &c->lost_big, graph_contract_count(c) / 8 + 8, "dominators",
			    err);
	if (rc != HDB_OK)
		goto out;
	s->place_of = places.data;
	c->dominator = c->dominator_big.data;
	c->lost = c->lost_big.data;
	rc = each_share(c, graph_contract_count(c), s, solve_share, err);
	if (rc == HDB_OK && !c->is_whole)
		rc = find_gone(c, err);
out:
	base_big_free(c->work, &places);
	return rc;
}

int graph_contract_solve(struct graph_contract *c, enum graph_settling settling,
			 enum graph_search how, struct hdb_error *err)
{
	struct graph_settled settled = { 0 };
	struct graph_dominators d = { 0 };
	struct solving s = { .c = c, .settled = &settled, .d = &d };
	int rc = graph_contract_leaves(c, err);

	if (rc != HDB_OK)
		return rc;
	/* They are listed again when they are needed. */
	base_big_free(c->work, &c->node_big);
	if (settling == GRAPH_SETTLE_ALWAYS ||
	    (settling == GRAPH_SETTLE_FAR && !c->is_whole && graph_is_far(c->rows)))
		rc = graph_settle(&(struct graph_settle_in){ c->rows, c->roots, c->single }, how,
				  &settled, err);
	else
		rc = graph_dominators(c->rows, c->roots, how, &d, err);
	c->step_count += settled.step_count + d.step_count;
	graph_rows_release(c->rows);
	if (rc != HDB_OK)
		goto out;
	if (c->is_whole && d.work) {
		c->whole = d;
		return HDB_OK;
	}
	rc = take_dominators(c, &s, err);
out:
	graph_dominators_release(&d);
	graph_settled_release(&settled);
	return rc;
}

int graph_contract_spread(struct graph_contract *c, struct hdb_error *err)
{
	struct solving s = { .c = c, .d = &c->whole };
	const int rc = take_dominators(c, &s, err);

	graph_dominators_release(&c->whole);
	return rc;
}

static int compare_suspects(const void *a, const void *b)
{
	const struct graph_suspect *x = a, *y = b;

	if (x->dominator != y->dominator)
		return x->dominator < y->dominator ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

int graph_contract_suspect(struct graph_contract *c, struct hdb_error *err)
{
	int rc;

	c->suspects.count = 0;
	for (size_t i = 0; i < c->soft_nodes.count && !c->is_whole; i++) {
		const uint32_t t = *base_vec_at(&c->soft_nodes, uint32_t, i);
		const uint32_t q = c->dominator[graph_contract_place(c, t)];
		const struct graph_suspect suspect = { .dominator = q, .target = t };
		uint32_t place;

		if (!graph_contract_is_soft(c, t) || q >= GRAPH_SEVERAL)
			continue;
		place = graph_contract_place(c, q);
		if (!(c->pushed[place / 64] >> (place % 64) & 1))
			continue;
		rc = base_vec_push(&c->suspects, &suspect, sizeof suspect, err);
		if (rc != HDB_OK)
			return rc;
	}
	if (c->suspects.count)
		qsort(c->suspects.data, c->suspects.count, sizeof(struct graph_suspect),
		      compare_suspects);
	return HDB_OK;
}

void graph_contract_harden(struct graph_contract *c)
{
	for (size_t i = 0; i < c->suspects.count; i++) {
		const uint32_t t = base_vec_at(&c->suspects, struct graph_suspect, i)->target;

		c->soft[t / 64] &= ~((uint64_t)1 << (t % 64));
	}
}

int graph_contract_values(const struct graph_contract *c, uint32_t first, uint32_t count,
			  uint64_t *values, struct hdb_error *err)
{
	return c->is_whole ? HDB_OK : base_runs_range(&c->ups, first, values, count, err);
}

/* What graph_contract_dominators does once referrers are unpacked. */
static inline void fill_dominators(const struct graph_contract *c,
				   const struct graph_dominator_range *range)
{
	uint32_t place = base_ranks_before(&c->kept, range->first);
	uint32_t *dominator = range->dominator;

	for (uint32_t i = 0; i < range->count; i++) {
		const uint32_t v = range->first + i, up = unpack_up(v, range->values[i]);

		if (!graph_contract_is_kept(c, v))
			dominator[i] = up == GRAPH_NONE || is_gone(c, up) ? GRAPH_SEVERAL : up;
		else if ((dominator[i] = c->dominator[place++]) != GRAPH_SEVERAL &&
			 up < GRAPH_SEVERAL)
			dominator[i] = up;
		if (dominator[i] == GRAPH_SEVERAL)
			dominator[i] = v;
	}
}

PROCESSOR_BITS static void fill_dominators_bits(const struct graph_contract *c,
						const struct graph_dominator_range *range)
{
	fill_dominators(c, range);
}

/* The same where all are kept. */
static void copy_dominators(const struct graph_contract *c,
			    const struct graph_dominator_range *range)
{
	for (uint32_t i = 0; i < range->count; i++) {
		const uint32_t dominator = c->dominator[range->first + i];

		range->dominator[i] = dominator == GRAPH_SEVERAL ? range->first + i : dominator;
	}
}

int graph_contract_dominators(const struct graph_contract *c,
			      const struct graph_dominator_range *range, struct hdb_error *err)
{
	int rc;

	if (c->is_whole) {
		copy_dominators(c, range);
		return HDB_OK;
	}
	rc = base_runs_range(&c->ups, range->first, range->values, range->count, err);
	if (rc != HDB_OK)
		return rc;
	if (processor_has_bits())
		fill_dominators_bits(c, range);
	else
		fill_dominators(c, range);
	return HDB_OK;
}
