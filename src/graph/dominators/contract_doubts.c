/*
 * graph/dominators/contract_doubts.c - whether edges that were left out (thinning.h) would change a
 * dominator.
 *
 * Who is below a dominator is asked by climbing, and what was learnt on the way is noted at all of
 * it, so that no node is climbed over twice for one popular node. One that dominates nothing that
 * is kept takes the nearest common ancestor for its dominator when an edge comes from elsewhere: no
 * other node's dominator depends on it.
 */
#include "graph/dominators/contract_private.h"

#include "base/prefetch.h"
#include "base/processor.h"

#include <assert.h>
#include <stdlib.h>

/* Sets of places of all doubts, before those of each. */
enum {
	SET_LEAVES, /* doubted, and without edges */
	SET_WAY,    /* what is above a dominator, while another one is looked for */
	SET_COUNT,
};

/* Sets of one doubt. */
enum {
	SET_SETTLED, /* it is known whether those are below the dominator */
	SET_BELOW,   /* and these are */
	DOUBT_SETS,
};

/* Steps of raising dominators, a place that is kept: beyond them all edges are needed. */
#define RAISE_STEPS 8u

static inline bool has(const _Atomic uint64_t *bits, uint32_t place)
{
	return atomic_load_explicit(&bits[place / 64], memory_order_acquire) >> (place % 64) & 1;
}

static inline void put(_Atomic uint64_t *bits, uint32_t place)
{
	atomic_fetch_or_explicit(&bits[place / 64], (uint64_t)1 << (place % 64),
				 memory_order_release);
}

static void clear(const struct graph_contract *c, _Atomic uint64_t *bits)
{
	for (uint64_t w = 0; w <= graph_contract_count(c) / 64; w++)
		atomic_store_explicit(&bits[w], 0, memory_order_relaxed);
}

static inline _Atomic uint64_t *set_of(const struct graph_contract *c, uint64_t no)
{
	return c->doubt_sets + no * ((uint64_t)graph_contract_count(c) / 64 + 1);
}

/* The dominator's place; GRAPH_NONE: the virtual root, GRAPH_SEVERAL: no root reaches it. */
static inline uint32_t dominator_of(const struct graph_contract *c, uint32_t place)
{
	const uint32_t node = c->dominator[place];

	return node < GRAPH_SEVERAL ? graph_contract_place(c, node) : node;
}

static struct graph_doubt *doubt_at(const struct graph_contract *c, size_t i)
{
	return base_vec_at(&c->doubts, struct graph_doubt, i);
}

static int compare_doubts(const void *a, const void *b)
{
	const struct graph_doubt *x = a, *y = b;

	return x->target < y->target ? -1 : x->target > y->target;
}

/* Those that do not rise have one set for each dominator. */
static void number_sets(struct graph_contract *c)
{
	c->set_count = 0;
	for (size_t i = 0; i < c->doubts.count; i++) {
		struct graph_doubt *doubt = doubt_at(c, i);
		size_t same = i;

		while (!doubt->is_leaf && same-- > 0)
			if (!doubt_at(c, same)->is_leaf &&
			    doubt_at(c, same)->dominator == doubt->dominator)
				break;
		doubt->set_no = same < i ? doubt_at(c, same)->set_no : c->set_count++;
	}
}

/* Room for the sets; without it all edges are needed. */
static int make_sets(struct graph_contract *c, struct hdb_error *err)
{
	uint64_t bytes;
	int rc;

	c->is_refuted = c->doubts.count > GRAPH_DOUBTS_MAX ||
			(c->doubts.count && c->thin_rounds > GRAPH_THIN_ROUNDS);
	if (!c->doubts.count || c->is_refuted)
		return HDB_OK;
	number_sets(c);
	bytes = (SET_COUNT + DOUBT_SETS * (uint64_t)c->set_count) *
		((uint64_t)graph_contract_count(c) / 64 + 1) * sizeof *c->doubt_sets;
	c->is_refuted = c->set_count > GRAPH_DOUBT_SETS_MAX || bytes > base_work_room(c->work);
	if (c->is_refuted)
		return HDB_OK;
	base_big_free(c->work, &c->doubts_big);
	rc = base_big_alloc(c->work, &c->doubts_big, bytes, "popular objects", err);
	c->doubt_sets = c->doubts_big.data;
	return rc;
}

/* Adds a node to the doubts, unless it is dominated by the virtual root. */
static int add_doubt(struct graph_contract *c, struct graph_doubt doubt, struct hdb_error *err)
{
	assert(graph_contract_is_kept(c, doubt.target));
	doubt.dominator = dominator_of(c, graph_contract_place(c, doubt.target));
	return doubt.dominator == GRAPH_NONE ? HDB_OK :
					       base_vec_push(&c->doubts, &doubt, sizeof doubt, err);
}

static int list_doubts(struct graph_contract *c, struct hdb_error *err)
{
	const struct base_vec *popular = &c->thinning->popular, *classes = &c->thinning->classes;
	int rc = HDB_OK;

	for (size_t i = 0; i < popular->count && rc == HDB_OK; i++)
		rc = add_doubt(c,
			       (struct graph_doubt){ .target = *base_vec_at(popular, uint32_t, i),
						     .is_leaf = *base_vec_at(&c->leaves, bool, i) },
			       err);
	for (size_t i = 0; i < classes->count && rc == HDB_OK; i++) {
		const uint32_t node = base_vec_at(classes, struct graph_thin_class, i)->node;

		/* Edges that are hard all stay. */
		if (graph_contract_is_soft(c, node))
			rc = add_doubt(c, (struct graph_doubt){ .target = node, .is_class = true },
				       err);
	}
	if (c->doubts.count)
		qsort(c->doubts.data, c->doubts.count, sizeof(struct graph_doubt), compare_doubts);
	return rc;
}

/* Whether the virtual root does not dominate a node of a graph that is kept whole. */
static int is_doubted(const struct graph_contract *c, uint32_t target, bool *out,
		      struct hdb_error *err)
{
	const uint32_t first = target - target % GRAPH_NUMBERS_STEP;
	uint64_t numbers[GRAPH_NUMBERS_STEP];
	const uint32_t left = c->node_count - first;
	const int rc = graph_dominators_numbers(
		&c->whole, first, numbers, left < GRAPH_NUMBERS_STEP ? left : GRAPH_NUMBERS_STEP,
		err);

	if (rc == HDB_OK)
		*out = *out || !numbers[target - first] ||
		       c->whole.dominator[numbers[target - first]];
	return rc;
}

/* Makes such dominators ready for what follows, if any of those is doubted. */
static int spread_doubted(struct graph_contract *c, struct hdb_error *err)
{
	const struct base_vec *popular = &c->thinning->popular, *classes = &c->thinning->classes;
	bool is_any = false;
	int rc = HDB_OK;

	for (size_t i = 0; i < popular->count && rc == HDB_OK; i++)
		rc = is_doubted(c, *base_vec_at(popular, uint32_t, i), &is_any, err);
	for (size_t i = 0; i < classes->count && rc == HDB_OK; i++)
		rc = is_doubted(c, base_vec_at(classes, struct graph_thin_class, i)->node, &is_any,
				err);
	return rc == HDB_OK && is_any ? graph_contract_spread(c, err) : rc;
}

int graph_contract_doubts(struct graph_contract *c, struct hdb_error *err)
{
	int rc = HDB_OK;

	c->doubts.count = 0;
	c->raise_steps = 0;
	c->thin_rounds++;
	c->is_refuted = false;
	if (!c->thinning)
		return HDB_OK;
	if (c->whole.work && ((rc = spread_doubted(c, err)) != HDB_OK || c->whole.work))
		return rc;
	if ((rc = list_doubts(c, err)) != HDB_OK)
		return rc;
	if ((rc = make_sets(c, err)) != HDB_OK)
		return rc;
	for (size_t i = 0; i < c->doubts.count && !c->is_refuted; i++)
		if (doubt_at(c, i)->is_leaf)
			put(set_of(c, SET_LEAVES), graph_contract_place(c, doubt_at(c, i)->target));
	return HDB_OK;
}

int graph_contract_leaves(struct graph_contract *c, struct hdb_error *err)
{
	int rc;

	c->leaves.count = 0;
	for (size_t i = 0; c->thinning && i < c->thinning->popular.count; i++) {
		const uint32_t t = *base_vec_at(&c->thinning->popular, uint32_t, i);
		uint32_t target[GRAPH_ROW_MAX];
		struct graph_long_row row;
		const bool is_leaf =
			!graph_rows_get(c->rows, graph_contract_place(c, t), target, &row) &&
			row.at == row.end;

		if ((rc = base_vec_push(&c->leaves, &is_leaf, sizeof is_leaf, err)) != HDB_OK)
			return rc;
	}
	return HDB_OK;
}

static struct graph_doubt *find_doubt(const struct graph_contract *c, uint32_t target)
{
	const struct graph_doubt key = { .target = target };

	return c->doubts.count ?
		       bsearch(&key, c->doubts.data, c->doubts.count, sizeof key, compare_doubts) :
		       NULL;
}

/* Whether a place is the dominator that is doubted, or below it. */
static bool is_below(const struct graph_contract *c, const struct graph_doubt *doubt,
		     uint32_t place)
{
	const uint64_t no = SET_COUNT + DOUBT_SETS * (uint64_t)doubt->set_no;
	_Atomic uint64_t *settled = set_of(c, no + SET_SETTLED), *below = set_of(c, no + SET_BELOW);
	const uint32_t dominator = atomic_load_explicit(&doubt->dominator, memory_order_relaxed);
	uint32_t at = place;
	bool is_so = dominator == GRAPH_NONE;

	if (dominator >= GRAPH_SEVERAL)
		return is_so;
	while (at < GRAPH_SEVERAL && at != dominator && !has(settled, at))
		at = dominator_of(c, at);
	if (at < GRAPH_SEVERAL)
		is_so = at == dominator || has(below, at);
	for (; place != at; place = dominator_of(c, place)) {
		if (is_so)
			put(below, place);
		put(settled, place);
	}
	return is_so;
}

/* No root reaches it, so that its edges are on no way. */
static bool is_lost(const struct graph_contract *c, uint32_t place)
{
	return place >= GRAPH_SEVERAL || (c->lost[place / 64] >> (place % 64) & 1);
}

/* Whether an edge to `target` from a node whose place that is changes no dominator. */
static inline bool agrees(const struct graph_contract *c, uint32_t place, uint32_t target)
{
	const struct graph_doubt *doubt = find_doubt(c, target);

	/* What is below the target is on no way to it. */
	if (!doubt || is_lost(c, place) || place == graph_contract_place(c, target))
		return true;
	/* Its own dominator may rise. */
	return !has(set_of(c, SET_LEAVES), place) && is_below(c, doubt, place);
}

/* See struct graph_left_out. */
static inline uint32_t place_above(const struct graph_contract *c, uint32_t v, uint64_t value)
{
	const uint32_t at =
		graph_contract_is_kept(c, v) ? v : graph_contract_above_of(c, unpack_up(v, value));

	return at < GRAPH_SEVERAL ? graph_contract_place(c, at) : at;
}

/* Edges ahead for whose places memory is asked. */
#define EDGES_AHEAD 8u

static inline int find_doubtful(const struct graph_contract *c,
				const struct graph_left_out_range *range, struct base_vec *doubtful,
				struct hdb_error *err)
{
	struct graph_left_out *edge = range->edge;
	int rc;

	for (size_t i = 0; i < range->count; i++)
		edge[i].place = place_above(
			c, edge[i].v, c->is_whole ? 0 : range->values[edge[i].v - range->first]);
	for (size_t i = 0; i < range->count; i++) {
		if (i + EDGES_AHEAD < range->count && edge[i + EDGES_AHEAD].place < GRAPH_SEVERAL)
			prefetch_read(&c->dominator[edge[i + EDGES_AHEAD].place]);
		if (agrees(c, edge[i].place, edge[i].target))
			continue;
		if ((rc = base_vec_push(doubtful, &edge[i], sizeof edge[i], err)) != HDB_OK)
			return rc;
	}
	return HDB_OK;
}

PROCESSOR_BITS static int find_doubtful_bits(const struct graph_contract *c,
					     const struct graph_left_out_range *range,
					     struct base_vec *doubtful, struct hdb_error *err)
{
	return find_doubtful(c, range, doubtful, err);
}

int graph_contract_doubtful(const struct graph_contract *c,
			    const struct graph_left_out_range *range, struct base_vec *doubtful,
			    struct hdb_error *err)
{
	return processor_has_bits() ? find_doubtful_bits(c, range, doubtful, err) :
				      find_doubtful(c, range, doubtful, err);
}

/* The lowest place above both, or the virtual root. Steps are counted. */
static uint32_t common_ancestor(struct graph_contract *c, uint32_t a, uint32_t b)
{
	_Atomic uint64_t *way = set_of(c, SET_WAY);

	clear(c, way);
	c->raise_steps += graph_contract_count(c) / 64 + 1;
	for (; a < GRAPH_SEVERAL; a = dominator_of(c, a), c->raise_steps++)
		put(way, a);
	for (; b < GRAPH_SEVERAL && !has(way, b); c->raise_steps++)
		b = dominator_of(c, b);
	return b;
}

bool graph_contract_raise(struct graph_contract *c, const struct graph_left_out *edge)
{
	struct graph_doubt *doubt = find_doubt(c, edge->target);
	uint32_t dominator, above;

	if (!doubt || agrees(c, edge->place, edge->target))
		return true;
	dominator = doubt->dominator;
	if (!doubt->is_leaf || dominator >= GRAPH_SEVERAL ||
	    has(set_of(c, SET_LEAVES), edge->place) ||
	    c->raise_steps > (uint64_t)RAISE_STEPS * graph_contract_count(c))
		return false;
	above = common_ancestor(c, dominator, edge->place);
	/* Their ways may have met below, at what is not kept. */
	if (above == edge->place && !graph_contract_is_kept(c, edge->v))
		return false;
	atomic_store_explicit(&doubt->dominator, above, memory_order_relaxed);
	/* Who was below still is. */
	clear(c, set_of(c, SET_COUNT + DOUBT_SETS * (uint64_t)doubt->set_no + SET_SETTLED));
	c->dominator[graph_contract_place(c, edge->target)] =
		doubt->dominator == GRAPH_NONE ? GRAPH_NONE :
						 graph_contract_node(c, doubt->dominator);
	return true;
}
