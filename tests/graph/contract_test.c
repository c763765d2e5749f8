/*
 * tests/graph/contract_test.c - dominators by way of the small graph against those of the whole
 * graph, on random graphs with hard and soft edges and on big ones, on threads.
 */
#include "support/graph_oracle.h"

#include "base/pipeline.h"
#include "graph/dominators/contract.h"

/* Small graphs, and how many where time does not matter (HEAPDB_HOSTILE=long). */
#define GRAPH_COUNT 3000
#define GRAPH_COUNT_LONG 30000

/* Nodes that a thread takes at once: small, so that small graphs have several shares. */
#define SHARE 16u

static struct base_work work;

static int start(void **state)
{
	(void)state;
	base_work_init(&work, (uint64_t)4 << 30, 2, NULL);
	oracle_start();
	return 0;
}

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
		uint32_t wide[SHARE]; /* open rows */
		size_t at[SHARE];
		uint32_t wide_count;
	} * slot;
	unsigned round_count;
};

static int visit(struct contracting *x, struct slot *s, uint32_t v, struct hdb_error *err)
{
	const uint64_t first = x->g->first[GRAPH_REFERENCES][v],
		       end = x->g->first[GRAPH_REFERENCES][v + 1];
	const uint32_t *target = x->g->target[GRAPH_REFERENCES];
	const bool is_kept = graph_contract_is_kept(&x->c, v);
	int rc = HDB_OK;

	if (x->pass == 0)
		graph_contract_see(&x->c, v, target + first, end - first, x->g->edge_count - first);
	for (uint64_t e = first; e < end && rc == HDB_OK; e++) {
		const bool is_soft = x->is_soft[e] && graph_contract_is_soft(&x->c, target[e]);

		if (x->pass == 1 && !is_kept && !is_soft)
			graph_contract_mark(&x->c, v, &target[e], 1);
		if (x->pass == 2 && !is_kept && is_soft)
			rc = graph_contract_push(&x->c, &s->pushes, v, target[e], err);
	}
	if (x->pass == 3 && is_kept) {
		const bool is_open = v % 7 == 0 && s->wide_count < SHARE;

		rc = graph_contract_pack(&x->c, &s->rows, v, GRAPH_NONE, target + first,
					 is_open ? (end - first) / 2 : end - first, is_open,
					 &s->at[s->wide_count], err);
		if (is_open)
			s->wide[s->wide_count++] = v;
	}
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
			rc = graph_contract_widen(&x->c, &s->rows, s->at[s->wide_count],
						  &x->g->target[GRAPH_REFERENCES][e], 1, err);
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

/* Dominators by node, in x->c.up. */
static void contract(struct contracting *x, unsigned threads)
{
	struct hdb_error err;

	x->round_count = 0;
	assert_int_equal(graph_contract_init(&x->c, x->g->node_count, x->g->roots, &work, &err),
			 HDB_OK);
	for (uint64_t e = 0; e < x->g->edge_count; e++)
		if (x->is_soft[e])
			assert_int_equal(graph_contract_soften(
						 &x->c, x->g->target[GRAPH_REFERENCES][e], &err),
					 HDB_OK);
	pass(x, 0, threads);
	assert_int_equal(graph_contract_seen(&x->c, &err), HDB_OK);
	do {
		pass(x, 1, threads);
		assert_int_equal(graph_contract_marked(&x->c, &err), HDB_OK);
		pass(x, 2, threads);
		assert_int_equal(graph_contract_start_rows(&x->c, &x->rows, &err), HDB_OK);
		pass(x, 3, threads);
		assert_int_equal(graph_contract_end_rows(&x->c, &err), HDB_OK);
		assert_int_equal(x->rows.node_count, x->c.kept.count);
		assert_int_equal(graph_contract_solve(
					 &x->c, (enum graph_settling)oracle_below(GRAPH_SETTLINGS),
					 (enum graph_search)oracle_below(GRAPH_SEARCHES), &err),
				 HDB_OK);
		assert_int_equal(graph_contract_suspect(&x->c, &err), HDB_OK);
		clear_suspects(x);
		graph_contract_harden(&x->c);
		x->round_count++;
	} while (x->c.suspects.count);
	assert_int_equal(graph_contract_finish(&x->c, &err), HDB_OK);
}

/* The same without contraction: owned. */
static uint32_t *search(struct oracle_graph *g)
{
	uint64_t *number =
		oracle_alloc((uint64_t)g->node_count + GRAPH_NUMBERS_STEP, sizeof *number);
	uint32_t *parent = oracle_alloc(g->node_count, sizeof *parent);
	struct base_big nodes = { 0 };
	struct graph_dominators d;
	struct hdb_error err;
	const uint32_t *node;

	assert_int_equal(graph_dominators(oracle_rows(g, &work), g->roots, GRAPH_SEARCH_LINKS,
					  &work, &d, &err),
			 HDB_OK);
	assert_int_equal(graph_dominators_numbers(&d, 0, number, g->node_count, &err), HDB_OK);
	assert_int_equal(graph_dominators_nodes(&d, &nodes, &err), HDB_OK);
	node = nodes.data;
	for (uint32_t v = 0; v < g->node_count; v++)
		parent[v] = number[v] ? node[d.dominator[number[v]]] : v;
	base_big_free(&work, &nodes);
	graph_dominators_release(&d);
	free(number);
	return parent;
}

/* Rounds that it took. */
static unsigned compare(struct oracle_graph *g, const bool *is_soft, uint32_t share,
			unsigned threads)
{
	struct contracting x = { .g = g, .is_soft = is_soft, .share = share };
	uint32_t *parent;

	contract(&x, threads);
	parent = search(g);
	for (uint32_t v = 0; v < g->node_count; v++)
		assert_int_equal(atomic_load(&x.c.up[v]), parent[v]);
	free(parent);
	graph_contract_release(&x.c);
	assert_int_equal(work.memory_used, 0);
	return x.round_count;
}

/* Edges to some nodes are soft, not all of them. */
static bool *soft_edges(const struct oracle_graph *g)
{
	bool *is_soft = oracle_alloc(g->edge_count, sizeof *is_soft);
	const uint32_t part = 1 + oracle_below(4), few = 1 + oracle_below(3);

	for (uint64_t e = 0; e < g->edge_count; e++)
		is_soft[e] =
			g->target[GRAPH_REFERENCES][e] % part == 0 && oracle_below(few + 1) > 0;
	return is_soft;
}

static void random_graphs(void **state)
{
	const uint32_t count =
		oracle_size(getenv("HEAPDB_HOSTILE") ? GRAPH_COUNT_LONG : GRAPH_COUNT);
	unsigned twice = 0;

	(void)state;
	for (uint32_t i = 0; i < count; i++) {
		struct oracle_graph g;
		bool *is_soft;

		oracle_random_graph(&g);
		oracle_build(&g, false);
		is_soft = soft_edges(&g);
		const unsigned rounds = compare(&g, is_soft, SHARE, 1 + (i % 8 == 0));
		assert_true(rounds <= 2);
		twice += rounds == 2;
		free(is_soft);
		oracle_free(&g);
	}
	/* Both ways are there. */
	assert_true(twice > 0 && twice < count / 2);
}

/* Trees of 300,000 nodes, with paths, rings out of reach, and some edges across. */
static void threads(void **state)
{
	const uint32_t n = oracle_size(300000);

	(void)state;
	for (uint32_t kind = 0; kind < 6; kind++) {
		struct oracle_graph g;
		bool *is_soft;

		oracle_init(&g, n, 3 * (uint64_t)n);
		for (uint32_t v = 1; v < n; v++) {
			const uint32_t before = kind % 3 == 0 ? 1 :
						kind % 3 == 1 ? v :
						v < 4         ? v :
								4;
			const uint32_t up = v - 1 - oracle_below(before);

			if (oracle_below(1000))
				oracle_edge(&g, up, v);
			else
				oracle_edge(&g, v + 5 < n ? v + 5 : v, v);
			if (kind >= 3 && oracle_below(50) == 0)
				oracle_edge(&g, oracle_below(n), oracle_below(n));
			oracle_edge(&g, v, oracle_below(20));
		}
		oracle_set(g.roots, 0);
		for (int i = 0; i < 300; i++)
			oracle_set(g.roots, oracle_below(n));
		oracle_build(&g, false);
		is_soft = oracle_alloc(g.edge_count, sizeof *is_soft);
		for (uint64_t e = 0; e < g.edge_count; e++)
			is_soft[e] = g.target[GRAPH_REFERENCES][e] < 20;
		compare(&g, is_soft, 4096, 2);
		free(is_soft);
		oracle_free(&g);
	}
}

/*
 * A path of a million nodes, each with an edge to one of two classes: soft edges are pushed up all
 * of it.
 */
static void long_paths(void **state)
{
	const uint32_t n = oracle_size(1000000);

	(void)state;
	for (int is_down = 0; is_down < 2; is_down++) {
		struct oracle_graph g;
		bool *is_soft;
		const clock_t begin = clock();

		oracle_init(&g, n, 3 * (uint64_t)n);
		for (uint32_t i = 0; i + 3 < n; i++) {
			const uint32_t v = is_down ? n - 1 - i : i + 2,
				       next = is_down ? v - 1 : v + 1;

			oracle_edge(&g, v, next);
			oracle_edge(&g, v, i % 2);
		}
		oracle_set(g.roots, is_down ? n - 1 : 2);
		oracle_build(&g, false);
		is_soft = oracle_alloc(g.edge_count, sizeof *is_soft);
		for (uint64_t e = 0; e < g.edge_count; e++)
			is_soft[e] = g.target[GRAPH_REFERENCES][e] < 2;
		compare(&g, is_soft, 4096, 2);
		assert_true(clock() - begin < 10 * CLOCKS_PER_SEC);
		free(is_soft);
		oracle_free(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(threads),
		cmocka_unit_test(long_paths),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
