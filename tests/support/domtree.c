/*
 * support/domtree.c - children lists and the walk of a dominator tree.
 */
#include "support/domtree.h"

#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>

/* Number of nodes between two calls of base_step. */
#define STEP_MASK 0xffff

/* Number of nodes by which prefetching is ahead. */
#define AHEAD 16

static int bad_dominator(uint32_t node, uint32_t dominator, struct hdb_error *err)
{
	return hdb_fail(err, HDB_ECORRUPT,
			"dominator of node %" PRIu32 " is %" PRIu32 ", past the last node", node,
			dominator);
}

/* Returns the row of a reachable node in the tree. */
static inline uint32_t row_of(uint32_t dominator, uint32_t node_count)
{
	return dominator == GRAPH_NONE ? node_count : dominator;
}

/*
 * Counts the entries of each row r in first[r + 2] and sums the counts, so that first[r + 1] is the
 * start of row r. Adding the entries then moves first[r + 1] to the end of row r, which is its
 * final value.
 */
static int count_rows(const uint32_t *idom, uint32_t node_count, uint32_t *first,
		      struct base_work *work, struct hdb_error *err)
{
	for (uint32_t v = 0; v < node_count; v++) {
		const uint32_t p = idom[v];
		if (node_count - v > AHEAD && idom[v + AHEAD] < node_count)
			__builtin_prefetch(&first[(size_t)idom[v + AHEAD] + 2], 1);
		if (p != GRAPH_NONE && p >= node_count)
			return bad_dominator(v, p, err);
		if (p != v)
			first[(size_t)row_of(p, node_count) + 2]++;
		if ((v & STEP_MASK) == 0) {
			const int rc = base_step(work, v / 2, err);
			if (rc < 0)
				return rc;
		}
	}
	for (size_t r = 2; r < (size_t)node_count + 3; r++)
		first[r] += first[r - 1];
	return HDB_OK;
}

static int fill_rows(const uint32_t *idom, const struct graph_children *out, struct base_work *work,
		     struct hdb_error *err)
{
	const uint32_t node_count = out->node_count;
	uint32_t *first = out->first_big.data, *child = out->child_big.data;

	for (uint32_t v = 0; v < node_count; v++) {
		const uint32_t p = idom[v];
		if (node_count - v > 2 * AHEAD) {
			const uint32_t far = idom[v + 2 * AHEAD], near = idom[v + AHEAD];
			__builtin_prefetch(&first[(size_t)row_of(far, node_count) + 1], 1);
			__builtin_prefetch(&child[first[(size_t)row_of(near, node_count) + 1]], 1);
		}
		if (p != v)
			child[first[(size_t)row_of(p, node_count) + 1]++] = v;
		if ((v & STEP_MASK) == 0) {
			const int rc = base_step(work, node_count / 2 + v / 2, err);
			if (rc < 0)
				return rc;
		}
	}
	return HDB_OK;
}

/* Sorts a row of two children. Most rows with more than one child have two. */
static inline void sort_pair(uint32_t *row, const struct base_sizes *retained)
{
	const uint32_t a = row[0], b = row[1];

	if (base_sizes_get(retained, b) > base_sizes_get(retained, a)) {
		row[0] = b;
		row[1] = a;
	}
}

static void sort_row(uint32_t *row, uint32_t count, const struct base_sizes *retained,
		     struct base_sort_key *keys)
{
	for (uint32_t i = 0; i < count; i++) {
		if (count - i > AHEAD)
			base_sizes_prefetch(retained, row[i + AHEAD]);
		keys[i] = (struct base_sort_key){
			.key = ~base_sizes_get(retained, row[i]),
			.node = row[i],
		};
	}
	base_sort_keys(keys, keys + count, count);
	for (uint32_t i = 0; i < count; i++)
		row[i] = keys[i].node;
}

static int sort_rows(const struct graph_children *out, const struct base_sizes *retained,
		     struct base_work *work, struct hdb_error *err)
{
	const uint32_t row_count = out->node_count + 1;
	const uint32_t *first = out->first;
	uint32_t *child = out->child_big.data;
	struct base_big big = { 0 };
	uint32_t longest = 0;
	int rc = HDB_OK;

	for (uint32_t r = 0; r < row_count; r++) {
		if (first[r + 1] - first[r] > longest)
			longest = first[r + 1] - first[r];
	}
	if (longest < 2)
		return HDB_OK;
	rc = base_big_alloc(work, &big, 2 * (uint64_t)longest * sizeof(struct base_sort_key),
			    "sorting of dominated objects", err);
	for (uint32_t r = 0; rc == HDB_OK && r < row_count; r++) {
		const uint32_t count = first[r + 1] - first[r];
		if (count == 2)
			sort_pair(child + first[r], retained);
		else if (count > 2)
			sort_row(child + first[r], count, retained, big.data);
		if ((r & STEP_MASK) == 0)
			rc = base_step(work, r, err);
	}
	base_big_free(&big);
	return rc;
}

int graph_children(struct graph_tree tree, struct base_work *work, struct graph_children *out,
		   struct hdb_error *err)
{
	const uint32_t *idom = tree.idom, node_count = tree.node_count;
	uint32_t *first;
	int rc;

	*out = (struct graph_children){ .node_count = node_count };
	if (node_count >= UINT32_MAX - 1)
		return hdb_fail(err, HDB_ELIMIT, "too many nodes for a dominator tree: %" PRIu32,
				node_count);
	base_stage(work, "dominated objects", node_count, "objects");
	rc = base_big_alloc(work, &out->first_big, ((uint64_t)node_count + 3) * sizeof *first,
			    "dominated objects", err);
	if (rc < 0)
		return rc;
	out->first = first = out->first_big.data;
	rc = count_rows(idom, node_count, first, work, err);
	if (rc < 0)
		return rc;
	/* Allocate one more entry, because prefetching computes its address. */
	rc = base_big_alloc(work, &out->child_big,
			    ((uint64_t)first[(size_t)node_count + 2] + 1) * sizeof *out->child,
			    "dominated objects", err);
	if (rc < 0)
		return rc;
	out->child = out->child_big.data;
	rc = fill_rows(idom, out, work, err);
	if (rc == HDB_OK && tree.retained) {
		base_stage(work, "sorting dominated objects", node_count, "objects");
		rc = sort_rows(out, tree.retained, work, err);
	}
	return rc;
}

void graph_children_release(struct graph_children *children)
{
	base_big_free(&children->first_big);
	base_big_free(&children->child_big);
	*children = (struct graph_children){ 0 };
}

static int add_piece(struct graph_walk *walk, struct hdb_error *err)
{
	if (walk->piece_count == walk->piece_limit) {
		const size_t limit = walk->piece_limit ? 2 * walk->piece_limit : 16;
		struct base_big *pieces = realloc(walk->pieces, limit * sizeof *pieces);

		if (!pieces)
			return hdb_fail_memory(err, "tree walk", limit * sizeof *pieces);
		walk->pieces = pieces;
		walk->piece_limit = limit;
	}
	walk->pieces[walk->piece_count] = (struct base_big){ 0 };
	return base_big_alloc_raw(walk->work, &walk->pieces[walk->piece_count++],
				  GRAPH_WALK_PIECE * sizeof(struct graph_walk_frame), "tree walk",
				  err);
}

static struct graph_walk_frame *frame_at(const struct graph_walk *walk, uint32_t i)
{
	struct graph_walk_frame *piece = walk->pieces[i / GRAPH_WALK_PIECE].data;

	return piece + i % GRAPH_WALK_PIECE;
}

static int push(struct graph_walk *walk, uint32_t node, struct hdb_error *err)
{
	if (walk->depth / GRAPH_WALK_PIECE == walk->piece_count) {
		const int rc = add_piece(walk, err);

		if (rc < 0)
			return rc;
	}
	walk->top = frame_at(walk, walk->depth++);
	*walk->top = (struct graph_walk_frame){ .node = node, .at = walk->children->first[node] };
	return HDB_OK;
}

/*
 * Removes the top frame. Keeps one unused chunk, because trees may grow and shrink repeatedly at
 * the end of a chunk.
 */
static void pop(struct graph_walk *walk)
{
	walk->depth--;
	walk->top = frame_at(walk, walk->depth - 1);
	if (walk->piece_count > walk->depth / GRAPH_WALK_PIECE + 2)
		base_big_free(&walk->pieces[--walk->piece_count]);
}

int graph_walk_init(struct graph_walk *walk, const struct graph_children *children, uint32_t start,
		    struct base_work *work, struct hdb_error *err)
{
	assert(start <= children->node_count);
	*walk = (struct graph_walk){ .children = children, .work = work };
	return push(walk, start, err);
}

void graph_walk_release(struct graph_walk *walk)
{
	while (walk->piece_count)
		base_big_free(&walk->pieces[--walk->piece_count]);
	free(walk->pieces);
	*walk = (struct graph_walk){ 0 };
}

void graph_walk_skip(struct graph_walk *walk)
{
	walk->skip = true;
}

int graph_walk_next(struct graph_walk *walk, uint32_t *node, bool *enter, struct hdb_error *err)
{
	const struct graph_children *c = walk->children;
	struct graph_walk_frame *top = walk->top;

	if (walk->depth == 0)
		return HDB_END;
	if (!walk->skip && top->at < c->first[(size_t)top->node + 1]) {
		*node = c->child[top->at++];
		*enter = true;
		return push(walk, *node, err);
	}
	walk->skip = false;
	if (walk->depth == 1)
		return HDB_END;
	*node = top->node;
	*enter = false;
	pop(walk);
	return HDB_OK;
}
