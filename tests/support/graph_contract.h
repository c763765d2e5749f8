/*
 * tests/support/graph_contract.h - dominators of a graph in memory by way of the small graph, as
 * derive finds those of a heap. Each test program includes it once.
 */
#ifndef GRAPH_CONTRACT_SUPPORT_H
#define GRAPH_CONTRACT_SUPPORT_H

#include "support/graph_oracle.h"

#include "base/pipeline.h"
#include "graph/dominators/contract.h"

/* Nodes that a thread takes at once: small, so that small graphs have several shares. */
#define CONTRACT_SHARE 16u

struct contracting {
	struct graph_contract c;
	struct graph_rows rows;
	const struct oracle_graph *g;
	const bool *is_soft; /* by edge, in the order of rows */
	int pass;
	uint32_t share;
	struct slot {
		struct graph_pushes pushes;
		struct graph_contract_rows rows;
		uint32_t wide[CONTRACT_SHARE]; /* open rows */
		size_t at[CONTRACT_SHARE];
		uint32_t wide_count;
	} * slot;
	enum graph_settling settling; /* GRAPH_SETTLINGS: any */
	unsigned round_count;
	bool is_whole;   /* all nodes are kept */
	bool is_thinned; /* edges to some nodes are left out */
	struct graph_thinning thinning;
	unsigned raised_count, spared_count; /* of what was left out too much */
	bool is_measured;                    /* searched as the budget says; otherwise in any way */
};

/* Nodes are of so many classes. */
#define CONTRACT_CLASSES 3u

static struct graph_source source_of(uint32_t v)
{
	return (struct graph_source){ v, v % CONTRACT_CLASSES };
}

/* Whether a soft edge of v is left out. */
static bool drops_soft(const struct contracting *x, uint32_t v)
{
	return x->c.thinning && graph_thinning_drops_class(x->c.thinning, source_of(v).class_no, v);
}

/* Edges [first, end) of v without soft ones that are left out; to be freed. */
static uint32_t *targets_of(const struct contracting *x, uint32_t v, uint64_t first, uint64_t *end)
{
	const uint32_t *target = x->g->target[GRAPH_REFERENCES];
	uint32_t *out = oracle_alloc(*end - first + 1, sizeof *out);
	uint64_t count = 0;

	for (uint64_t e = first; e < *end; e++)
		if (!x->is_soft[e] || !graph_contract_is_soft(&x->c, target[e]) ||
		    !drops_soft(x, v))
			out[count++] = target[e];
	*end = first + count;
	return out;
}

/* Shows the edges of v that are not soft. */
static void see(struct contracting *x, uint32_t v)
{
	const uint64_t first = x->g->first[GRAPH_REFERENCES][v],
		       end = x->g->first[GRAPH_REFERENCES][v + 1];
	const uint32_t *target = x->g->target[GRAPH_REFERENCES];
	uint32_t *out = oracle_alloc(end - first + 1, sizeof *out);
	uint64_t count = 0;
	bool matters;

	for (uint64_t e = first; e < end; e++)
		if (!x->is_soft[e] || !graph_contract_is_soft(&x->c, target[e]))
			out[count++] = target[e];
	matters = graph_contract_see(&x->c, source_of(v), out, count, count);
	graph_contract_note(&x->c, v / 64, (uint64_t)matters << (v % 64));
	free(out);
}

static int visit(struct contracting *x, struct slot *s, uint32_t v, struct hdb_error *err)
{
	const uint64_t first = x->g->first[GRAPH_REFERENCES][v],
		       end = x->g->first[GRAPH_REFERENCES][v + 1];
	const uint32_t *target = x->g->target[GRAPH_REFERENCES];
	const bool is_kept = graph_contract_is_kept(&x->c, v);
	int rc = HDB_OK;

	if (x->pass == 0)
		see(x, v);
	if (x->pass == 2 && is_kept)
		rc = graph_contract_push_kept(&x->c, &s->pushes, v, err);
	for (uint64_t e = first; e < end && rc == HDB_OK; e++) {
		const bool is_soft = x->is_soft[e] && graph_contract_is_soft(&x->c, target[e]);

		if (x->pass == 1 && !is_kept && !is_soft)
			graph_contract_mark(&x->c, source_of(v), &target[e], 1);
		if (x->pass == 2 && !is_kept && is_soft && !drops_soft(x, v))
			rc = graph_contract_push(&x->c, &s->pushes, v, target[e], err);
	}
	if (x->pass == 3 && is_kept) {
		size_t at = 0;
		const bool is_open = v % 7 == 0 && s->wide_count < CONTRACT_SHARE;
		uint64_t part_end = is_open ? first + (end - first) / 2 : end;
		uint32_t *part = targets_of(x, v, first, &part_end);

		rc = graph_contract_pack(
			&x->c, &s->rows,
			&(struct graph_contract_row){ .from = source_of(v),
						      .class = GRAPH_NONE,
						      .targets = { part, part_end - first },
						      .is_open = is_open },
			&at, err);
		free(part);
		if (is_open) {
			s->at[s->wide_count] = at;
			s->wide[s->wide_count++] = v;
		}
	}
	return rc;
}

/* Packs the rows of a share at once; soft edges that are left out are not among them. */
static int pack_run(struct contracting *x, struct slot *s, uint32_t first, uint32_t count,
		    struct hdb_error *err)
{
	const uint32_t class_node[CONTRACT_CLASSES] = { GRAPH_NONE, GRAPH_NONE, GRAPH_NONE };
	const uint64_t *row = x->g->first[GRAPH_REFERENCES];
	uint32_t *target = oracle_alloc(row[first + count] - row[first] + 1, sizeof *target);
	uint32_t class_no[CONTRACT_SHARE];
	uint64_t lengths[CONTRACT_SHARE], all = 0;
	struct graph_contract_run run = {
		.first = first,
		.count = count,
		.class_no = class_no,
		.class_node = class_node,
		.lengths = lengths,
		.target = target,
	};
	int rc;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t end = row[first + i + 1];
		uint32_t *some = targets_of(x, first + i, row[first + i], &end);

		class_no[i] = source_of(first + i).class_no;
		lengths[i] = end - row[first + i];
		memcpy(target + all, some, lengths[i] * sizeof *some);
		all += lengths[i];
		free(some);
	}
	run.end = target + all;
	rc = graph_contract_pack_run(&x->c, &s->rows, &run, err);
	free(target);
	return rc;
}

static int visit_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct contracting *x = ctx;
	struct slot *s = &x->slot[slot];
	const uint64_t end = (share + 1) * x->share;
	int rc = HDB_OK;

	graph_pushes_start(&s->pushes);
	graph_contract_rows_empty(&s->rows);
	s->wide_count = 0;
	if (x->pass == 3 && x->is_whole && x->share <= CONTRACT_SHARE && share % 2 &&
	    end <= x->g->node_count)
		return pack_run(x, s, (uint32_t)(share * x->share), x->share, err);
	for (uint64_t v = share * x->share; v < end && v < x->g->node_count && rc == HDB_OK; v++)
		rc = visit(x, s, (uint32_t)v, err);
	return rc;
}

static int take_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	struct contracting *x = ctx;
	struct slot *s = &x->slot[slot];
	int rc = HDB_OK;

	(void)share;
	while (s->wide_count > 0 && rc == HDB_OK) {
		const uint32_t v = s->wide[--s->wide_count];
		const uint64_t first = x->g->first[GRAPH_REFERENCES][v],
			       end = x->g->first[GRAPH_REFERENCES][v + 1];

		for (uint64_t e = first + (end - first) / 2; e < end && rc == HDB_OK; e++)
			rc = graph_contract_widen(
				&x->c, &s->rows, s->at[s->wide_count],
				(struct graph_targets){ &x->g->target[GRAPH_REFERENCES][e], 1 },
				err);
	}
	if (rc == HDB_OK && x->pass == 2)
		rc = graph_contract_join(&x->c, &s->pushes, err);
	return rc == HDB_OK && x->pass == 3 ? graph_contract_put(&x->c, &s->rows, err) : rc;
}

static void pass(struct contracting *x, int no, unsigned threads)
{
	const struct base_pipeline pipeline = {
		.item_count = x->g->node_count / x->share + 1,
		.threads = threads,
		.slot_count = 3 * threads,
		.ctx = x,
		.produce = visit_share,
		.consume = take_share,
	};
	struct hdb_error err;

	x->pass = no;
	x->slot = oracle_alloc(3 * threads, sizeof *x->slot);
	assert_int_equal(base_pipeline_run(&pipeline, &err), HDB_OK);
	for (unsigned i = 0; i < 3 * threads; i++) {
		base_vec_release(&x->slot[i].pushes.edges);
		graph_contract_rows_release(&x->slot[i].rows);
	}
	free(x->slot);
}

/* Takes out the suspects that have an edge of their dominator's own; both are in order. */
static void clear_suspects(struct contracting *x)
{
	struct graph_suspect *suspect = x->c.suspects.data;
	size_t kept = 0;

	for (size_t i = 0; i < x->c.suspects.count; i++) {
		const uint32_t q = suspect[i].dominator;
		bool is_direct = false;

		for (uint64_t e = x->g->first[GRAPH_REFERENCES][q];
		     e < x->g->first[GRAPH_REFERENCES][q + 1]; e++)
			is_direct =
				is_direct || x->g->target[GRAPH_REFERENCES][e] == suspect[i].target;
		if (!is_direct)
			suspect[kept++] = suspect[i];
	}
	x->c.suspects.count = kept;
}

/* Nothing is left out yet. */
static void begin_thinning(struct contracting *x, struct base_work *work)
{
	const uint32_t n = x->g->node_count;
	struct graph_thinning *t = &x->thinning;
	struct hdb_error err;

	*t = (struct graph_thinning){ .work = work, .pair_mask = 16383 };
	t->pairs = oracle_alloc(t->pair_mask + 1, sizeof *t->pairs);
	assert_int_equal(base_big_alloc(work, &t->special_big, n / 8 + 8, "test", &err), HDB_OK);
	t->special = t->special_big.data;
	memcpy(t->special, x->g->roots, (n + 63) / 64 * sizeof *t->special);
}

/* Edges to v may be left out. */
static void add_popular(struct graph_thinning *t, uint32_t v)
{
	struct hdb_error err;

	graph_thinning_spare(t, v);
	assert_int_equal(base_vec_push(&t->popular, &v, sizeof v, &err), HDB_OK);
}

static void add_thin_pair(struct graph_thinning *t, uint32_t kind, uint32_t target,
			  uint32_t keep_below)
{
	t->pairs[graph_thin_place(t, kind, target)] =
		(struct graph_thin_pair){ kind, target, keep_below };
}

/* Leaves out soft edges of some nodes. */
static void thin_soft(struct contracting *x)
{
	struct graph_thinning *t = &x->thinning;
	struct hdb_error err;

	t->class_keep = oracle_alloc(CONTRACT_CLASSES, sizeof *t->class_keep);
	for (uint32_t no = 0; no < CONTRACT_CLASSES; no++)
		t->class_keep[no] = oracle_below(4) ?
					    oracle_below(oracle_below(2) ? UINT32_MAX : 9) :
					    UINT32_MAX;
	for (size_t i = 0; i < x->c.soft_nodes.count; i++) {
		const struct graph_thin_class class = { .node = *base_vec_at(&x->c.soft_nodes,
									     uint32_t, i) };

		assert_int_equal(base_vec_push(&t->classes, &class, sizeof class, &err), HDB_OK);
	}
}

/* Leaves out edges to some nodes, many or few of them. */
static void thin(struct contracting *x, struct base_work *work)
{
	const uint32_t n = x->g->node_count, part = 1 + oracle_below(4);
	struct graph_thinning *t = &x->thinning;

	begin_thinning(x, work);
	for (uint32_t v = 0; v < n && t->popular.count < 500; v++) {
		if (graph_contract_is_soft(&x->c, v) || x->g->roots[v / 64] >> (v % 64) & 1 ||
		    oracle_below(part))
			continue;
		add_popular(t, v);
		for (uint32_t class_no = 0; class_no < CONTRACT_CLASSES; class_no++)
			if (oracle_below(4))
				add_thin_pair(t, class_no, v,
					      1 + oracle_below(oracle_below(2) ? UINT32_MAX : 9));
	}
	thin_soft(x);
}

/* Whether what was left out was not needed; if not, less is from now on. */
static bool check_thinned(struct contracting *x)
{
	const uint32_t n = x->g->node_count;
	uint64_t *value = oracle_alloc((uint64_t)n + GRAPH_NUMBERS_STEP, sizeof *value);
	struct base_vec doubtful = { 0 };
	bool is_right = true;
	struct hdb_error err;

	assert_int_equal(graph_contract_doubts(&x->c, &err), HDB_OK);
	assert_true(!x->c.whole.work || !x->c.doubts.count);
	assert_int_equal(graph_contract_values(&x->c, 0, n, value, &err), HDB_OK);
	for (uint32_t v = 0; v < n && !x->c.is_refuted; v++) {
		for (uint64_t e = x->g->first[GRAPH_REFERENCES][v];
		     e < x->g->first[GRAPH_REFERENCES][v + 1]; e++) {
			struct graph_left_out edge = {
				.v = v,
				.target = x->g->target[GRAPH_REFERENCES][e],
			};

			doubtful.count = 0;
			assert_int_equal(graph_contract_doubtful(
						 &x->c,
						 &(struct graph_left_out_range){ .values = value,
										 .edge = &edge,
										 .count = 1 },
						 &doubtful, &err),
					 HDB_OK);
			if (!doubtful.count)
				continue;
			if (graph_contract_raise(&x->c, &edge)) {
				x->raised_count++;
				continue;
			}
			graph_thinning_spare(&x->thinning, v);
			x->spared_count++;
			is_right = false;
		}
	}
	base_vec_release(&doubtful);
	is_right = is_right && !x->c.is_refuted;
	if (!is_right)
		assert_int_equal(
			graph_contract_thin(&x->c, x->c.is_refuted ? NULL : &x->thinning, &err),
			HDB_OK);
	free(value);
	return is_right;
}

/* The same from the numbers of a search of all nodes. */
static uint32_t *numbered_range(const struct contracting *x, uint32_t first, uint32_t count)
{
	const struct graph_dominators *d = &x->c.whole;
	uint64_t *number = oracle_alloc((uint64_t)count + GRAPH_NUMBERS_STEP, sizeof *number);
	uint32_t *dominator = oracle_alloc((uint64_t)count + 1, sizeof *dominator);
	struct base_big nodes = { 0 };
	struct hdb_error err;

	assert_int_equal(graph_dominators_nodes(d, &nodes, &err), HDB_OK);
	assert_int_equal(graph_dominators_numbers(d, first, number, count, &err), HDB_OK);
	for (uint32_t i = 0; i < count; i++)
		dominator[i] =
			number[i] ? ((uint32_t *)nodes.data)[d->dominator[number[i]]] : first + i;
	base_big_free(d->work, &nodes);
	free(number);
	return dominator;
}

/* Dominators of `count` nodes from `first` on; to be freed. */
static uint32_t *contracted_range(const struct contracting *x, uint32_t first, uint32_t count)
{
	uint64_t *values = oracle_alloc((uint64_t)count + GRAPH_NUMBERS_STEP, sizeof *values);
	uint32_t *dominator = oracle_alloc((uint64_t)count + 1, sizeof *dominator);
	struct hdb_error err;

	if (x->c.whole.work) {
		free(values);
		free(dominator);
		return numbered_range(x, first, count);
	}
	assert_int_equal(
		graph_contract_dominators(&x->c,
					  &(struct graph_dominator_range){ .first = first,
									   .count = count,
									   .values = values,
									   .dominator = dominator },
					  &err),
		HDB_OK);
	free(values);
	return dominator;
}

/* Dominators by node; to be freed. */
static UNUSED uint32_t *contracted(const struct contracting *x)
{
	const uint32_t n = x->g->node_count, first = GRAPH_NUMBERS_STEP;
	uint32_t *all = contracted_range(x, 0, n);

	/* From the middle on, too. */
	if (n > first) {
		uint32_t *some = contracted_range(x, first, n - first);

		assert_memory_equal(some, all + first, (n - first) * sizeof *some);
		free(some);
	}
	return all;
}

/* Finds dominators; what has them is x->c. */
static UNUSED void contract(struct contracting *x, unsigned threads, struct base_work *work)
{
	struct hdb_error err;

	x->round_count = 0;
	assert_int_equal(graph_contract_init(&x->c, x->g->node_count, x->g->roots, work, &err),
			 HDB_OK);
	for (uint64_t e = 0; e < x->g->edge_count; e++)
		if (x->is_soft[e])
			assert_int_equal(graph_contract_soften(
						 &x->c, x->g->target[GRAPH_REFERENCES][e], &err),
					 HDB_OK);
	if (x->is_thinned && !x->thinning.work)
		thin(x, work);
	if (x->is_thinned)
		assert_int_equal(graph_contract_thin(&x->c, &x->thinning, &err), HDB_OK);
	if (!x->is_whole) {
		assert_int_equal(graph_contract_begin(&x->c, &err), HDB_OK);
		pass(x, 0, threads);
		assert_int_equal(graph_contract_seen(&x->c, &err), HDB_OK);
	}
	do {
		if (x->is_whole) {
			assert_int_equal(graph_contract_keep_all(&x->c, &err), HDB_OK);
		} else {
			if (x->round_count > 0)
				pass(x, 1, threads);
			assert_int_equal(graph_contract_marked(&x->c, &err), HDB_OK);
			pass(x, 2, threads);
			assert_int_equal(graph_contract_pushed(&x->c, &err), HDB_OK);
		}
		assert_int_equal(graph_contract_start_rows(&x->c, &x->rows, &err), HDB_OK);
		pass(x, 3, threads);
		assert_int_equal(graph_contract_end_rows(&x->c, &err), HDB_OK);
		assert_int_equal(x->rows.node_count, graph_contract_count(&x->c));
		assert_int_equal(
			graph_contract_solve(
				&x->c,
				x->settling < GRAPH_SETTLINGS ? x->settling :
								oracle_below(GRAPH_SETTLINGS),
				x->is_measured ? GRAPH_SEARCH_ANY :
						 (enum graph_search)oracle_below(GRAPH_SEARCHES),
				&err),
			HDB_OK);
		assert_int_equal(graph_contract_suspect(&x->c, &err), HDB_OK);
		clear_suspects(x);
		graph_contract_harden(&x->c);
		if (x->c.suspects.count)
			assert_int_equal(graph_contract_recall(&x->c, &err), HDB_OK);
		x->round_count++;
	} while (x->c.suspects.count || (x->is_thinned && !check_thinned(x)));
	graph_thinning_release(&x->thinning);
}

#endif
