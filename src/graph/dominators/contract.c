/*
 * graph/dominators/contract.c - which nodes are kept, and what is above the others.
 */
#include "graph/dominators/contract_private.h"

#include "base/pack.h"
#include "base/processor.h"
#include "base/thread.h"

#include <assert.h>
#include <stdlib.h>

/* Targets ahead that are asked for. */
#define SEE_AHEAD 16u

static inline bool is_root(const struct graph_contract *c, uint32_t v)
{
	return c->root_bits[v / 64] >> (v % 64) & 1;
}

/* Nobody refers to anything yet. */
static int begin_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct graph_contract *c = ctx;
	const uint32_t end = share_end(share, c->node_count);

	(void)slot;
	(void)err;
	for (uint32_t v = (uint32_t)share * SHARE_NODES; v < end; v++)
		/* Whoever is said to have several referrers is kept, which is always right. */
		atomic_store_explicit(&c->up[v],
				      graph_contract_is_special(c, v) ||
						      graph_contract_is_soft(c, v) ?
					      GRAPH_SEVERAL :
					      GRAPH_NONE,
				      memory_order_relaxed);
	return HDB_OK;
}

int graph_contract_init(struct graph_contract *c, uint32_t node_count, const uint64_t *root_bits,
			struct base_work *work, struct hdb_error *err)
{
	const uint64_t n = node_count;
	int rc;

	assert(n <= GRAPH_CONTRACT_NODES_MAX);
	*c = (struct graph_contract){
		.work = work, .root_bits = root_bits, .special = root_bits, .node_count = node_count
	};
	rc = base_big_alloc(work, &c->soft_big, n / 8 + 8, "classes", err);
	c->soft = c->soft_big.data;
	return rc;
}

int graph_contract_begin(struct graph_contract *c, struct hdb_error *err)
{
	const uint64_t n = c->node_count;
	int rc = base_big_alloc_raw(c->work, &c->up_big, (n + 1) * sizeof *c->up, "referrers", err);

	if (rc != HDB_OK)
		return rc;
	if ((rc = base_ranks_init(&c->kept, c->node_count, c->work, "kept objects", err)) != HDB_OK)
		return rc;
	rc = base_big_alloc(c->work, &c->touched_big, n / 8 + 8, "referrers", err);
	if (rc != HDB_OK)
		return rc;
	rc = base_big_alloc(c->work, &c->chosen_big, n / 8 + 8, "kept objects", err);
	if (rc != HDB_OK)
		return rc;
	c->up = c->up_big.data;
	c->touched = c->touched_big.data;
	c->chosen = c->chosen_big.data;
	return each_share(c, c->node_count, c, begin_share, err);
}

/* What belongs to one small graph. */
static void release_small(struct graph_contract *c)
{
	base_ranks_release(&c->inner);
	graph_buckets_release(&c->pushes);
	base_big_free(c->work, &c->above_big);
	base_big_free(c->work, &c->node_big);
	base_big_free(c->work, &c->pushed_big);
	base_big_free(c->work, &c->roots_big);
	base_big_free(c->work, &c->single_big);
	base_big_free(c->work, &c->lost_big);
	base_big_free(c->work, &c->gone_big);
	base_big_free(c->work, &c->dominator_big);
	base_big_free(c->work, &c->doubts_big);
	graph_dominators_release(&c->whole);
	base_vec_release(&c->group_bytes);
	base_vec_release(&c->targets);
	c->row_count = 0;
}

void graph_contract_release(struct graph_contract *c)
{
	if (!c->work)
		return;
	release_small(c);
	base_ranks_release(&c->kept);
	base_vec_release(&c->soft_nodes);
	base_vec_release(&c->suspects);
	base_vec_release(&c->doubts);
	base_vec_release(&c->leaves);
	base_runs_release(&c->ups);
	base_big_free(c->work, &c->touched_big);
	base_big_free(c->work, &c->chosen_big);
	base_big_free(c->work, &c->soft_big);
	base_big_free(c->work, &c->up_big);
	*c = (struct graph_contract){ 0 };
}

/* ---- referrers, packed ---- */

static inline uint64_t pack_up(uint32_t v, uint32_t up)
{
	return up >= GRAPH_SEVERAL ? GRAPH_NONE - up : 2 + zigzag((int64_t)v - (int64_t)up);
}

struct pack_slot {
	struct base_vec values; /* uint64_t */
	struct base_vec packed;
	BASE_APART;
};

struct packing {
	struct graph_contract *c;
	struct pack_slot *slots;
};

static uint32_t run_count(const struct graph_contract *c, uint64_t run)
{
	const uint64_t left = c->node_count - run * BASE_RUN;

	return left < BASE_RUN ? (uint32_t)left : BASE_RUN;
}

static int pack_run(void *ctx, unsigned slot, uint64_t run, struct hdb_error *err)
{
	const struct packing *p = ctx;
	struct pack_slot *s = &p->slots[slot];
	const uint32_t first = (uint32_t)run * BASE_RUN, count = run_count(p->c, run);
	uint64_t *values;
	const int rc = base_vec_reserve(&s->values, BASE_RUN, sizeof *values, err);

	if (rc < 0)
		return rc;
	values = s->values.data;
	for (uint32_t i = 0; i < count; i++)
		values[i] = pack_up(first + i, up_of(p->c, first + i));
	s->packed.count = 0;
	return pack_encode(&s->packed, values, count, err);
}

static int put_run(void *ctx, unsigned slot, uint64_t run, struct hdb_error *err)
{
	const struct packing *p = ctx;

	return base_runs_put_packed(&p->c->ups, run, &p->slots[slot].packed, run_count(p->c, run),
				    err);
}

static int pack_ups(struct graph_contract *c, struct hdb_error *err)
{
	struct packing p = { .c = c };
	const struct base_pipeline pipeline = {
		.item_count = ((uint64_t)c->node_count + BASE_RUN - 1) / BASE_RUN,
		.threads = c->work->threads,
		.slot_count = 2 * c->work->threads,
		.ctx = &p,
		.produce = pack_run,
		.consume = put_run,
	};
	int rc;

	p.slots = calloc(pipeline.slot_count, sizeof *p.slots);
	if (!p.slots)
		return hdb_fail_memory(err, "referrers", sizeof *p.slots);
	if ((rc = base_runs_init(&c->ups, c->node_count, c->work, "referrers", err)) != HDB_OK)
		goto out;
	rc = base_pipeline_run(&pipeline, err);
out:
	for (unsigned i = 0; i < pipeline.slot_count; i++) {
		base_vec_release(&p.slots[i].values);
		base_vec_release(&p.slots[i].packed);
	}
	free(p.slots);
	return rc;
}

int graph_contract_pushed(struct graph_contract *c, struct hdb_error *err)
{
	/* They do not change any more: what was packed for the first small graph stays. */
	const int rc = c->ups.position ? HDB_OK : pack_ups(c, err);

	base_big_free(c->work, &c->up_big);
	c->up = NULL;
	return rc;
}

static int unpack_run(void *ctx, unsigned slot, uint64_t run, struct hdb_error *err)
{
	struct graph_contract *c = ctx;
	const uint32_t first = (uint32_t)run * BASE_RUN, count = run_count(c, run);
	uint64_t *values = malloc(BASE_RUN * sizeof *values);
	const int rc = values ? base_runs_get(&c->ups, run, values, err) :
				hdb_fail_memory(err, "referrers", BASE_RUN * sizeof *values);

	(void)slot;
	if (rc != HDB_OK)
		goto out;
	for (uint32_t i = 0; i < count; i++)
		atomic_store_explicit(&c->up[first + i], unpack_up(first + i, values[i]),
				      memory_order_relaxed);
out:
	free(values);
	return rc;
}

int graph_contract_recall(struct graph_contract *c, struct hdb_error *err)
{
	int rc;

	if (c->up || !c->ups.position)
		return HDB_OK;
	rc = base_big_alloc_raw(c->work, &c->up_big, ((uint64_t)c->node_count + 1) * sizeof *c->up,
				"referrers", err);
	if (rc < 0)
		return rc;
	c->up = c->up_big.data;
	return base_pipeline_each(((uint64_t)c->node_count + BASE_RUN - 1) / BASE_RUN,
				  c->work->threads, c, unpack_run, err);
}

/* ---- the first pass: referrers ---- */

/* Sets a bit; whether it was not set. */
static bool set_bit(_Atomic uint64_t *bits, uint32_t v)
{
	const uint64_t bit = (uint64_t)1 << (v % 64);

	if (atomic_load_explicit(&bits[v / 64], memory_order_relaxed) & bit)
		return false;
	return !(atomic_fetch_or_explicit(&bits[v / 64], bit, memory_order_relaxed) & bit);
}

bool graph_contract_see(struct graph_contract *c, struct graph_source from, const uint32_t *targets,
			uint64_t count, uint64_t readable)
{
	const uint32_t v = from.v;
	bool is_source = false;

	for (uint64_t i = 0; i < count; i++) {
		const uint32_t t = targets[i];
		uint32_t up;

		if (i + SEE_AHEAD < readable)
			prefetch_write((const void *)&c->up[targets[i + SEE_AHEAD]]);
		up = up_of(c, t);
		if (up == v || t == v)
			continue;
		if (up == GRAPH_NONE &&
		    (atomic_compare_exchange_strong_explicit(
			     &c->up[t], &up, v, memory_order_relaxed, memory_order_relaxed) ||
		     up == v))
			continue;
		if (up != GRAPH_SEVERAL) {
			/* The first referrer's edge matters, too: the target is not special. */
			atomic_store_explicit(&c->up[t], GRAPH_SEVERAL, memory_order_relaxed);
			(void)set_bit(c->chosen, up);
		}
		is_source = is_source || graph_contract_matters(c, from, t);
	}
	return is_source;
}

static int keep_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct graph_contract *c = ctx;
	const uint32_t end = share_end(share, c->node_count);

	(void)slot;
	(void)err;
	for (uint32_t v = (uint32_t)share * SHARE_NODES; v < end; v += 64) {
		uint64_t bits = 0;

		for (uint32_t i = 0; i < 64 && i < end - v; i++)
			bits |= (uint64_t)(up_of(c, v + i) == GRAPH_SEVERAL) << i;
		atomic_store_explicit(&c->kept.bits[v / 64], bits, memory_order_relaxed);
	}
	return HDB_OK;
}

/*
 * Touches a node at which an edge starts that matters, and those above it that are not kept. Where
 * it comes to what was touched from below, or is chosen itself, ways part.
 */
static void touch_above(struct graph_contract *c, uint32_t v)
{
	for (; v != GRAPH_NONE && !graph_contract_is_kept(c, v); v = up_of(c, v)) {
		if (!set_bit(c->touched, v)) {
			(void)set_bit(c->chosen, v);
			return;
		}
	}
}

/* From all such nodes; what is chosen meanwhile was touched. */
static int touch_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct graph_contract *c = ctx;
	const uint32_t end = share_end(share, c->node_count);

	(void)slot;
	(void)err;
	for (uint32_t v = (uint32_t)share * SHARE_NODES; v < end; v += 64) {
		uint64_t bits = atomic_load_explicit(&c->chosen[v / 64], memory_order_relaxed) &
				~base_ranks_word(&c->kept, v / 64);

		for (; bits; bits &= bits - 1)
			touch_above(c, v + (unsigned)__builtin_ctzll(bits));
	}
	return HDB_OK;
}

int graph_contract_seen(struct graph_contract *c, struct hdb_error *err)
{
	const int rc = each_share(c, c->node_count, c, keep_share, err);

	return rc == HDB_OK ? each_share(c, c->node_count, c, touch_share, err) : rc;
}

int graph_contract_soften(struct graph_contract *c, uint32_t v, struct hdb_error *err)
{
	if (is_root(c, v) || graph_contract_is_soft(c, v))
		return HDB_OK;
	c->soft[v / 64] |= (uint64_t)1 << (v % 64);
	return base_vec_push(&c->soft_nodes, &v, sizeof v, err);
}

/* ---- the second pass: what is kept ---- */

int graph_contract_thin(struct graph_contract *c, const struct graph_thinning *thinning,
			struct hdb_error *err)
{
	c->thinning = thinning;
	c->special = thinning ? thinning->special : c->root_bits;
	return graph_contract_recall(c, err);
}

void graph_contract_soon(const struct graph_contract *c, const uint32_t *targets, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (!c->is_whole)
			base_ranks_prefetch(&c->kept, targets[i]);
		prefetch_read(&c->special[targets[i] / 64]);
	}
}

/* What is chosen is kept from the end of the pass on: until then the set of what is kept stays. */
void graph_contract_mark(struct graph_contract *c, struct graph_source from,
			 const uint32_t *targets, uint64_t count)
{
	bool is_source = false;

	for (uint64_t i = 0; i < count && !is_source; i++)
		is_source = graph_contract_needs(c, from, targets[i]);
	if (!is_source)
		return;
	(void)set_bit(c->chosen, from.v);
	touch_above(c, from.v);
}

/* What has nodes below. */
static int inner_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct graph_contract *c = ctx;
	const uint32_t end = share_end(share, c->node_count);
	struct base_ranks_near near;

	(void)slot;
	(void)err;
	for (uint32_t v = (uint32_t)share * SHARE_NODES; v < end;) {
		const uint32_t next = end - v < BASE_NEAR_NODES ? end : v + BASE_NEAR_NODES;

		base_near_begin(&near, &c->inner, v);
		for (; v < next; v++)
			base_near_put(&near, up_of(c, v), up_of(c, v) < GRAPH_SEVERAL);
		base_near_end(&near);
	}
	return HDB_OK;
}

/* What is left out but has such. */
static void drop_kept(struct graph_contract *c)
{
	for (uint64_t w = 0; w <= c->node_count / 64; w++)
		atomic_store_explicit(&c->inner.bits[w],
				      base_ranks_word(&c->inner, w) & ~base_ranks_word(&c->kept, w),
				      memory_order_relaxed);
}

/* Nodes of the small graph. */
static int list_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct graph_contract *c = ctx;
	struct base_ranks_walk walk = walk_share(c, &c->kept, share);
	uint32_t v, place;

	(void)slot;
	(void)err;
	while (base_ranks_next(&walk, &v, &place))
		c->node[place] = v;
	return HDB_OK;
}

int graph_contract_list(struct graph_contract *c, struct hdb_error *err)
{
	int rc;

	if (c->is_whole)
		return HDB_OK;
	rc = base_big_alloc_raw(c->work, &c->node_big,
				((uint64_t)c->kept.count + 1) * sizeof *c->node, "kept objects",
				err);
	if (rc != HDB_OK)
		return rc;
	c->node = c->node_big.data;
	return each_share(c, c->node_count, c, list_share, err);
}

/* Which of those are roots, and which single. */
static int sort_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct graph_contract *c = ctx;
	const uint32_t end = share_end(share, c->kept.count);

	(void)slot;
	(void)err;
	for (uint32_t place = (uint32_t)share * SHARE_NODES; place < end; place++) {
		const uint32_t v = c->node[place];

		c->roots[place / 64] |= (uint64_t)is_root(c, v) << (place % 64);
		c->single[place / 64] |= (uint64_t)(up_of(c, v) < GRAPH_SEVERAL) << (place % 64);
	}
	return HDB_OK;
}

/* What is directly above inner nodes. */
static int begin_above(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct graph_contract *c = ctx;
	struct base_ranks_walk walk = walk_share(c, &c->inner, share);
	uint32_t v, place;

	(void)slot;
	(void)err;
	while (base_ranks_next(&walk, &v, &place))
		atomic_store_explicit(&c->above[place], up_of(c, v), memory_order_relaxed);
	return HDB_OK;
}

static inline bool is_end(const struct graph_contract *c, uint32_t v)
{
	return v == GRAPH_NONE || graph_contract_is_kept(c, v);
}

/*
 * The nearest kept node above an inner one, halving the path on the way: links only ever go further
 * up. A ring of single nodes, which no root reaches, shrinks to a node above itself.
 */
static uint32_t find_above(struct graph_contract *c, uint32_t place, uint64_t *steps)
{
	for (;; ++*steps) {
		uint32_t up = atomic_load_explicit(&c->above[place], memory_order_relaxed), further;
		uint32_t up_place;

		if (is_end(c, up))
			return up;
		up_place = base_ranks_before(&c->inner, up);
		further = atomic_load_explicit(&c->above[up_place], memory_order_relaxed);
		if (is_end(c, further))
			return further;
		if (further == up)
			return GRAPH_NONE;
		atomic_compare_exchange_strong_explicit(&c->above[place], &up, further,
							memory_order_relaxed, memory_order_relaxed);
		place = base_ranks_before(&c->inner, further);
	}
}

static int find_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct graph_contract *c = ctx;
	const uint32_t end = share_end(share, c->inner.count);
	uint64_t steps = 0;

	(void)slot;
	(void)err;
	for (uint32_t place = (uint32_t)share * SHARE_NODES; place < end; place++)
		atomic_store_explicit(&c->above[place], find_above(c, place, &steps),
				      memory_order_relaxed);
	atomic_fetch_add_explicit(&c->step_count, steps, memory_order_relaxed);
	return HDB_OK;
}

int graph_contract_marked(struct graph_contract *c, struct hdb_error *err)
{
	uint64_t places;
	int rc;

	release_small(c);
	for (uint64_t w = 0; w <= c->node_count / 64; w++)
		atomic_store_explicit(
			&c->kept.bits[w],
			base_ranks_word(&c->kept, (uint32_t)w) |
				atomic_load_explicit(&c->chosen[w], memory_order_relaxed),
			memory_order_relaxed);
	base_ranks_rank(&c->kept);
	places = (uint64_t)c->kept.count + 1;
	if ((rc = base_ranks_init(&c->inner, c->node_count, c->work, "objects left out", err)) <
		    0 ||
	    (rc = graph_contract_list(c, err)) < 0 ||
	    (rc = base_big_alloc(c->work, &c->roots_big, places / 8 + 8, "roots", err)) < 0 ||
	    (rc = base_big_alloc(c->work, &c->single_big, places / 8 + 8, "kept objects", err)) <
		    0 ||
	    (rc = base_big_alloc(c->work, &c->pushed_big, places / 8 + 8, "kept objects", err)) <
		    0 ||
	    (rc = graph_buckets_init(&c->pushes, places, c->work, err)) < 0)
		return rc;
	c->roots = c->roots_big.data;
	c->single = c->single_big.data;
	c->pushed = c->pushed_big.data;
	if ((rc = each_share(c, c->node_count, c, inner_share, err)) != HDB_OK)
		return rc;
	if ((rc = each_share(c, c->kept.count, c, sort_share, err)) != HDB_OK)
		return rc;
	drop_kept(c);
	base_ranks_rank(&c->inner);
	rc = base_big_alloc_raw(c->work, &c->above_big,
				((uint64_t)c->inner.count + 1) * sizeof *c->above,
				"objects left out", err);
	if (rc != HDB_OK)
		return rc;
	c->above = c->above_big.data;
	if ((rc = each_share(c, c->node_count, c, begin_above, err)) != HDB_OK)
		return rc;
	return each_share(c, c->inner.count, c, find_share, err);
}

int graph_contract_keep_all(struct graph_contract *c, struct hdb_error *err)
{
	const uint64_t n = c->node_count;
	int rc;

	release_small(c);
	c->is_whole = true;
	rc = base_big_alloc(c->work, &c->roots_big, n / 8 + 8, "roots", err);
	if (rc != HDB_OK)
		return rc;
	rc = base_big_alloc(c->work, &c->single_big, n / 8 + 8, "kept objects", err);
	if (rc != HDB_OK)
		return rc;
	rc = base_big_alloc(c->work, &c->pushed_big, n / 8 + 8, "kept objects", err);
	if (rc != HDB_OK)
		return rc;
	c->roots = c->roots_big.data;
	c->single = c->single_big.data;
	c->pushed = c->pushed_big.data;
	memcpy(c->roots, c->root_bits, (n + 63) / 64 * sizeof *c->roots);
	return HDB_OK;
}

/* ---- the third pass: soft edges ---- */

int graph_contract_push(const struct graph_contract *c, struct graph_pushes *pushes, uint32_t v,
			uint32_t target, struct hdb_error *err)
{
	const uint32_t above = graph_contract_above(c, v);
	struct graph_pushed edge, *lately;

	if (above == GRAPH_NONE)
		return HDB_OK;
	edge.source = base_ranks_before(&c->kept, above);
	edge.target = base_ranks_before(&c->kept, target);
	lately = &pushes->lately[(edge.source * 31 + edge.target) % GRAPH_PUSH_MEMORY];
	if (edge.source == edge.target ||
	    (lately->source == edge.source && lately->target == edge.target))
		return HDB_OK;
	*lately = edge;
	return base_vec_push(&pushes->edges, &edge, sizeof edge, err);
}

int graph_contract_push_kept(const struct graph_contract *c, struct graph_pushes *pushes,
			     uint32_t v, struct hdb_error *err)
{
	const uint32_t up = up_of(c, v);
	struct graph_pushed edge;
	uint32_t above;

	if (up >= GRAPH_SEVERAL || graph_contract_is_kept(c, up))
		return HDB_OK;
	above = graph_contract_above_of(c, up);
	if (above == GRAPH_NONE)
		return HDB_OK;
	edge.source = base_ranks_before(&c->kept, above);
	edge.target = base_ranks_before(&c->kept, v);
	return base_vec_push(&pushes->edges, &edge, sizeof edge, err);
}

int graph_contract_join(struct graph_contract *c, const struct graph_pushes *pushes,
			struct hdb_error *err)
{
	const struct graph_pushed *edge = pushes->edges.data;
	int rc;

	for (size_t i = 0; i < pushes->edges.count; i++) {
		if (graph_contract_is_soft(c, c->node[edge[i].target]))
			c->pushed[edge[i].source / 64] |= (uint64_t)1 << (edge[i].source % 64);
		if ((rc = graph_buckets_add(&c->pushes, edge[i].target, edge[i].source, err)) !=
		    HDB_OK)
			return rc;
	}
	return HDB_OK;
}
