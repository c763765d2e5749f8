/*
 * tests/support/graph_oracle.h - graphs for the tests of src/graph: small random graphs whose
 * results are computed naively by deleting nodes, and big graphs of several shapes. Include it once
 * per test program.
 */
#ifndef GRAPH_ORACLE_H
#define GRAPH_ORACLE_H

#include "graph/dominators/semi_nca.h"
#include "graph/adjacency.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define ORACLE_NODES_MAX 60
/* Number of freed bytes that malloc keeps for the next graph. */
#define ORACLE_KEPT (1 << 30)
/* Size from which malloc maps memory separately. malloc does not allow a larger value. */
#define ORACLE_MAPPED (1 << 25)
#define UNUSED __attribute__((unused))

static uint64_t oracle_seed;

/*
 * Takes the seed from $SEED or the clock, and prints it. Makes malloc keep freed memory: the tests
 * create and free thousands of small graphs, and would spend two thirds of their time on mapping
 * pages again and again.
 */
static UNUSED void oracle_start(void)
{
	const char *text = getenv("SEED");

#ifdef __GLIBC__
	(void)mallopt(M_TRIM_THRESHOLD, ORACLE_KEPT);
	(void)mallopt(M_MMAP_THRESHOLD, ORACLE_MAPPED);
#endif
	oracle_seed = text ? strtoull(text, NULL, 0) : base_now_us();
	print_message("SEED=%" PRIu64 "\n", oracle_seed);
}

/* The size of a shape: n, or n / 50 if HEAPDB_SMALL is set (`make valgrind`). */
static UNUSED uint32_t oracle_size(uint32_t n)
{
	return getenv("HEAPDB_SMALL") ? n / 50 : n;
}

static uint64_t oracle_random(void)
{
	uint64_t z = oracle_seed += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint32_t oracle_below(uint64_t n)
{
	return (uint32_t)(oracle_random() % n);
}

/* A graph with references, referrers and roots. Owned: oracle_free. */
struct oracle_graph {
	uint32_t node_count;
	uint64_t edge_count, edge_limit;
	uint32_t *from, *to; /* edges in the order in which they were added */
	uint64_t *first[2];  /* indexed by enum graph_side */
	uint32_t *target[2];
	uint64_t *roots;        /* bits */
	struct graph_rows rows; /* the references, packed */
};

static UNUSED bool oracle_bit(const uint64_t *bits, uint32_t v)
{
	return bits[v / 64] >> (v % 64) & 1;
}

static UNUSED void oracle_set(uint64_t *bits, uint32_t v)
{
	bits[v / 64] |= (uint64_t)1 << (v % 64);
}

static UNUSED void *oracle_alloc(uint64_t count, size_t size)
{
	void *p = calloc(count + 1, size);

	assert_non_null(p);
	return p;
}

static UNUSED void oracle_init(struct oracle_graph *g, uint32_t node_count, uint64_t edge_limit)
{
	*g = (struct oracle_graph){ .node_count = node_count, .edge_limit = edge_limit };
	g->from = oracle_alloc(edge_limit, sizeof *g->from);
	g->to = oracle_alloc(edge_limit, sizeof *g->to);
	g->roots = oracle_alloc((uint64_t)node_count / 64 + 1, sizeof *g->roots);
}

static UNUSED void oracle_free(struct oracle_graph *g)
{
	graph_rows_release(&g->rows);
	for (int side = 0; side < 2; side++) {
		free(g->first[side]);
		free(g->target[side]);
	}
	free(g->from);
	free(g->to);
	free(g->roots);
}

static UNUSED void oracle_edge(struct oracle_graph *g, uint32_t from, uint32_t to)
{
	assert_true(g->edge_count < g->edge_limit);
	g->from[g->edge_count] = from;
	g->to[g->edge_count++] = to;
}

static void oracle_side(struct oracle_graph *g, int side, const uint32_t *from, const uint32_t *to)
{
	uint64_t *first = oracle_alloc((uint64_t)g->node_count + 1, sizeof *first);
	uint32_t *target = oracle_alloc(g->edge_count, sizeof *target);

	for (uint64_t e = 0; e < g->edge_count; e++)
		first[from[e] + 1]++;
	for (uint32_t v = 0; v < g->node_count; v++)
		first[v + 1] += first[v];
	for (uint64_t e = g->edge_count; e-- > 0;)
		target[--first[from[e] + 1]] = to[e];
	/* At this point, first[v + 1] is the start of row v. */
	memmove(first, first + 1, g->node_count * sizeof *first);
	first[g->node_count] = g->edge_count;
	g->first[side] = first;
	g->target[side] = target;
}

/* Packs row v into the bytes of its group at *at. */
static void oracle_row(struct oracle_graph *g, uint32_t v, uint8_t *length, uint8_t *bytes,
		       size_t *at)
{
	const uint64_t first = g->first[GRAPH_REFERENCES][v];
	const uint64_t count = g->first[GRAPH_REFERENCES][v + 1] - first;
	const uint32_t *targets = g->target[GRAPH_REFERENCES] + first;
	struct graph_long_row row = { 0, 0 };
	struct hdb_error err;
	unsigned packed = graph_rows_pack(&g->rows, v, targets, count, bytes + *at);

	if (packed == GRAPH_ROW_LONG) {
		/* The row is added in two pieces, as if it came from a list in batches. */
		assert_int_equal(graph_rows_add_long(&g->rows, &row, targets, count / 3, &err),
				 HDB_OK);
		assert_int_equal(graph_rows_add_long(&g->rows, &row, targets + count / 3,
						     count - count / 3, &err),
				 HDB_OK);
		memcpy(bytes + *at, &row, sizeof row);
		packed = GRAPH_ROW_LONG | sizeof row;
	}
	*length = (uint8_t)packed;
	*at += packed & GRAPH_ROW_MAX;
}

/*
 * Packs the references into rows and returns the rows. They are packed on each call, because an
 * algorithm consumes them. The rows are borrowed, and freed with the graph unless the algorithm has
 * freed them.
 */
static UNUSED struct graph_rows *oracle_rows(struct oracle_graph *g, struct base_work *work)
{
	struct hdb_error err;

	graph_rows_release(&g->rows);
	assert_int_equal(graph_rows_init(&g->rows, g->node_count, work, &err), HDB_OK);
	for (uint32_t v = 0; v < g->node_count; v += GRAPH_GROUP) {
		uint8_t bytes[GRAPH_GROUP * GRAPH_ROW_MAX + 8] = { 0 }, length[GRAPH_GROUP] = { 0 };
		size_t at = 0;
		for (uint32_t i = v; i < v + GRAPH_GROUP && i < g->node_count; i++)
			oracle_row(g, i, &length[i - v], bytes, &at);
		assert_int_equal(graph_rows_put(&g->rows, v / GRAPH_GROUP, length, bytes, &err),
				 HDB_OK);
	}
	return &g->rows;
}

/* Builds the references, and the referrers too if `both`. */
static UNUSED void oracle_build(struct oracle_graph *g, bool both)
{
	oracle_side(g, GRAPH_REFERENCES, g->from, g->to);
	if (both)
		oracle_side(g, GRAPH_REFERRERS, g->to, g->from);
}

/*
 * A random graph of 1 to 60 nodes: sparse or dense, with self-loops and duplicate edges, and with
 * few or many roots. In some graphs, every node refers to one of a few nodes, like objects refer to
 * their classes.
 */
static UNUSED void oracle_random_graph(struct oracle_graph *g)
{
	const uint32_t n = 1 + oracle_below(ORACLE_NODES_MAX);
	const uint64_t edges = oracle_below((uint64_t)n * (1 + oracle_below(5)) + 1);
	const uint32_t near = 1 + oracle_below(n);
	const uint32_t roots = oracle_below(4) == 0 ? oracle_below(n + 1) : 1 + oracle_below(3);
	const bool local = oracle_below(2) == 0;
	const uint32_t classes = oracle_below(3) == 0 ? 1 + oracle_below(4) : 0;

	oracle_init(g, n, edges + n);
	for (uint32_t v = 0; v < n && classes; v++)
		oracle_edge(g, v, oracle_below(classes) * 7 % n);
	for (uint64_t e = 0; e < edges; e++) {
		const uint32_t from = oracle_below(n);
		const uint32_t to =
			local ? (from + oracle_below(near) + n - near / 3) % n : oracle_below(n);
		oracle_edge(g, from, to);
	}
	for (uint32_t i = 0; i < roots; i++)
		oracle_set(g->roots, oracle_below(n));
}

/*
 * Marks the nodes that the roots reach without passing a node in `blocked` (NULL: no node). For
 * small graphs.
 */
static UNUSED void oracle_reach(const struct oracle_graph *g, const bool *blocked, bool *reached)
{
	bool changed = true;

	for (uint32_t v = 0; v < g->node_count; v++)
		reached[v] = oracle_bit(g->roots, v) && !(blocked && blocked[v]);
	while (changed) {
		changed = false;
		for (uint64_t e = 0; e < g->edge_count; e++) {
			const uint32_t to = g->to[e];
			if (reached[g->from[e]] && !reached[to] && !(blocked && blocked[to])) {
				reached[to] = true;
				changed = true;
			}
		}
	}
}

/*
 * A struct graph_access over a graph. Batches are short, and the next call overwrites them with
 * garbage.
 */
struct oracle_access {
	const struct oracle_graph *graph;
	const uint32_t *parent; /* as in graph_reach_tree */
	enum graph_side side;
	uint64_t at, end;
	uint32_t batch[3];
	int fail_in; /* number of calls until one fails; 0: no call fails */
};

static int oracle_may_fail(struct oracle_access *a, struct hdb_error *err)
{
	return a->fail_in > 0 && --a->fail_in == 0 ? hdb_fail(err, HDB_EIO, "no luck") : HDB_OK;
}

static int oracle_begin(void *ctx, enum graph_side side, uint32_t node, struct hdb_error *err)
{
	struct oracle_access *a = ctx;

	assert_true(node < a->graph->node_count);
	a->side = side;
	a->at = a->graph->first[side][node];
	a->end = a->graph->first[side][node + 1];
	memset(a->batch, 0xee, sizeof a->batch);
	return oracle_may_fail(a, err);
}

static int oracle_next(void *ctx, const uint32_t **batch, size_t *count, struct hdb_error *err)
{
	struct oracle_access *a = ctx;
	const uint64_t left = a->end - a->at;

	memset(a->batch, 0xee, sizeof a->batch);
	*count = left < 3 ? (size_t)left : 1 + oracle_below(3);
	for (size_t i = 0; i < *count; i++)
		a->batch[i] = a->graph->target[a->side][a->at++];
	*batch = a->batch;
	return oracle_may_fail(a, err);
}

static int oracle_reach_of(void *ctx, uint32_t node, bool *reachable, uint32_t *parent,
			   struct hdb_error *err)
{
	struct oracle_access *a = ctx;

	assert_true(node < a->graph->node_count);
	*reachable = a->parent[node] != node;
	*parent = a->parent[node];
	return oracle_may_fail(a, err);
}

static bool oracle_is_root(void *ctx, uint32_t node)
{
	const struct oracle_access *a = ctx;

	return oracle_bit(a->graph->roots, node);
}

static UNUSED struct graph_access oracle_graph_access(struct oracle_access *a)
{
	return (struct graph_access){
		.ctx = a,
		.node_count = a->graph->node_count,
		.begin = oracle_begin,
		.next = oracle_next,
		.reach = oracle_reach_of,
		.is_root = oracle_is_root,
	};
}

#endif
