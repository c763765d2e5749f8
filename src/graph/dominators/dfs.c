/*
 * graph/dominators/dfs.c - depth-first search: the order of nodes, parents, and all other edges.
 *
 * The order in which the search accesses memory is not known in advance, so cache misses dominate
 * its cost. It therefore reads only two bits per node, which fit in the caches, and the node's row,
 * which costs one miss. Numbers are only written, and in order. A non-tree edge is recorded with
 * its target's node, because looking up the target's number would be another miss; dfs_order.c
 * later replaces nodes with numbers, bucket by bucket.
 *
 * Each row is decoded once. Targets that were already visited yield an edge immediately. The others
 * are put on the stack and their rows are prefetched. If a target has been visited on another path
 * by the time it is popped, it also yields an edge.
 *
 * Two kinds of edges are dropped: edges into roots, and edges into nodes that are reached from two
 * roots. In both cases, the virtual root dominates the target, regardless of other edges. Such a
 * node is marked DOM_TOP at the first edge that shows it.
 */
#include "graph/dominators/semi_nca_private.h"

#include "base/bits.h"
#include "base/processor.h"

#include <assert.h>

/* How many targets ahead to prefetch rows. */
#define ROW_AHEAD 4

/*
 * After a small search, the set of nodes visited from the current root is cleared node by node.
 * After a search that has visited more than one in SWEEP_PART nodes, the whole set is cleared.
 */
#define SWEEP_PART 256

struct search {
	struct dom_parts *parts;
	struct dom_build *b;
	/* whether there is only one part, so that state updates need not be atomic */
	bool is_alone;
	struct dom_stack stack;
	uint64_t steps;
	struct base_big recent; /* uint32_t: nodes visited from the current root */
	/* maximum number of nodes in `recent`, beyond which the whole set is cleared */
	uint32_t recent_limit;
	uint32_t first;    /* first number of this search */
	uint32_t reported; /* count reported to dom_step */
};

static int grow_stack(struct dom_stack *stack, struct base_work *work, struct hdb_error *err)
{
	const uint64_t limit = stack->limit ? 2 * stack->limit : 4096;
	struct base_big big = { 0 };

	TRY(base_big_alloc_raw(work, &big, limit * sizeof *stack->entry, "search stack", err));
	assert(stack->depth <= stack->limit);
	if (stack->depth)
		memcpy(big.data, stack->entry, stack->depth * sizeof *stack->entry);
	base_big_free(&stack->big);
	stack->big = big;
	stack->entry = big.data;
	stack->limit = limit;
	return HDB_OK;
}

int dom_put_parents(struct dom_build *b, struct hdb_error *err)
{
	return base_runs_put(&b->parents, b->count >> BASE_RUN_BITS, b->block,
			     (b->count & (BASE_RUN - 1)) + 1, err);
}

/* Sets bits of a node's state and returns the former state. */
static inline unsigned add_state(struct search *s, uint32_t node, enum dom_state state)
{
	_Atomic uint64_t *word = &s->b->states[node / DOM_STATES];
	const unsigned shift = 2 * (node % DOM_STATES);
	uint64_t before;

	if (s->is_alone) {
		before = atomic_load_explicit(word, memory_order_relaxed);
		atomic_store_explicit(word, before | (uint64_t)state << shift,
				      memory_order_relaxed);
	} else {
		before = atomic_fetch_or_explicit(word, (uint64_t)state << shift,
						  memory_order_relaxed);
	}
	return before >> shift & 3;
}

/* Records an edge to a visited node, unless the virtual root dominates that node. */
static inline int add_edge(struct search *s, uint32_t source, uint32_t target,
			   struct hdb_error *err)
{
	struct dom_build *b = s->b;

	if (dom_state(b->states, target) & DOM_TOP)
		return HDB_OK;
	if (base_bit_has(b->mine, target))
		return graph_buckets_add(&b->crosses, source, target, err);
	(void)add_state(s, target, DOM_TOP);
	return HDB_OK;
}

/*
 * Decodes a row. Targets that have already been visited yield an edge. The others are pushed onto
 * the stack.
 */
static int scan_row(struct search *s, uint32_t node, uint32_t source, struct hdb_error *err)
{
	struct dom_build *b = s->b;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = graph_rows_get(b->rows, node, target, &row);
	unsigned known_count = 0;

	b->step_count += 1 + count;
	if (s->stack.limit - s->stack.depth < DOM_STACK_ROOM)
		TRY(grow_stack(&s->stack, b->work, err));
	assert(s->stack.limit - s->stack.depth >= DOM_STACK_ROOM);
	if (row.at < row.end) {
		dom_stack_long(&s->stack, &row, source);
		return HDB_OK;
	}
	/*
	 * The loop has no branches, because visits are unpredictable. Visited targets move to the
	 * end.
	 */
	for (unsigned i = count; i-- > 0;) {
		const uint32_t to = target[i];
		const bool is_new = dom_state(b->states, to) == DOM_NEW;

		s->stack.entry[s->stack.depth] =
			(union dom_entry){ .target = to, .source = source };
		s->stack.depth += is_new;
		target[count - 1 - known_count] = to;
		known_count += !is_new;
	}
	for (uint64_t i = s->stack.depth, end = i - (count - known_count); i-- > end;)
		graph_rows_prefetch(b->rows, s->stack.entry[i].target);
	for (unsigned i = count - known_count; i < count; i++)
		TRY(add_edge(s, source, target[i], err));
	return HDB_OK;
}

/* Numbers a node that this part has just claimed, and scans its row. */
static int visit(struct search *s, uint32_t node, uint32_t parent, struct hdb_error *err)
{
	struct dom_build *b = s->b;

	TRY(dom_order_add(b, node, parent, err));
	if (b->count - s->first < s->recent_limit)
		((uint32_t *)s->recent.data)[b->count - s->first] = node;
	assert(b->count <= b->node_count);
	base_bit_put(b->mine, node);
	return scan_row(s, node, b->count, err);
}

/* Clears the set of nodes visited from this root. */
static void clear_visited(struct search *s)
{
	struct dom_build *b = s->b;
	const uint32_t *recent = s->recent.data;

	assert(b->count >= s->first);
	if (b->count - s->first >= s->recent_limit) {
		memset(b->mine, 0, ((uint64_t)b->node_count / 64 + 1) * sizeof *b->mine);
		return;
	}
	for (uint32_t k = 0; k <= b->count - s->first; k++)
		b->mine[recent[k] / 64] = 0;
}

/*
 * Numbers all nodes that are reachable from `root` and have no number yet. Returns HDB_END if
 * another part has failed.
 */
static int search_from(struct search *s, uint32_t root, struct hdb_error *err)
{
	struct dom_build *b = s->b;
	int rc;

	assert(s->stack.depth == 0);
	s->first = b->count + 1;
	(void)add_state(s, root, DOM_MET);
	TRY(visit(s, root, 0, err));
	while (s->stack.depth > 0) {
		uint32_t source, to;

		if ((++s->steps & DOM_STEP_MASK) == 0) {
			TRY(dom_step(s->parts, b, b->count - s->reported, err));
			s->reported = b->count;
		}
		dom_stack_pop(&s->stack, b->rows, &source, &to);
		const uint32_t upcoming = dom_stack_ahead(&s->stack, b->rows, ROW_AHEAD);
		if (upcoming != GRAPH_NONE) {
			prefetch_write((const void *)&b->states[upcoming / DOM_STATES]);
			graph_rows_prefetch(b->rows, upcoming);
		}
		if (dom_state(b->states, to) == DOM_NEW && add_state(s, to, DOM_MET) == DOM_NEW)
			rc = visit(s, to, source, err);
		else
			rc = add_edge(s, source, to, err);
		TRY(rc);
	}
	clear_visited(s);
	return HDB_OK;
}

int dom_step(struct dom_parts *parts, const struct dom_build *b, uint32_t done,
	     struct hdb_error *err)
{
	const uint64_t all =
		atomic_fetch_add_explicit(&parts->done, done, memory_order_relaxed) + done;
	const uint64_t total = parts->work->stage.total;

	if (atomic_load_explicit(&parts->is_failed, memory_order_relaxed))
		return HDB_END;
	if (b == parts->part)
		return base_step(parts->work, all < total ? all : total, err);
	return base_check_cancelled(parts->work, err);
}

static void end_search(struct search *s)
{
	s->b->step_count += s->steps;
	atomic_fetch_add(&s->parts->done, s->b->count - s->reported);
	base_big_free(&s->stack.big);
	base_big_free(&s->recent);
}

static inline int search(struct dom_parts *parts, struct dom_build *b, struct hdb_error *err)
{
	const uint32_t n = b->node_count;
	const uint64_t words = ((uint64_t)n + 63) / 64;
	const uint64_t *roots = parts->roots_big.data;
	BASE_SCOPED(end_search)
	struct search s = { .parts = parts,
			    .b = b,
			    .is_alone = parts->count == 1,
			    .reported = b->count,
			    .recent_limit = n / SWEEP_PART };
	uint64_t w;

	TRY(base_big_alloc_raw(b->work, &s.recent,
			       ((uint64_t)s.recent_limit + 1) * sizeof(uint32_t), "preorder", err));
	while ((w = atomic_fetch_add(&parts->next_word, 1)) < words) {
		for (uint64_t bits = roots[w]; bits; bits &= bits - 1) {
			const uint64_t root = 64 * w + (unsigned)__builtin_ctzll(bits);

			if (root < n)
				TRY(search_from(&s, (uint32_t)root, err));
		}
	}
	return HDB_OK;
}

PROCESSOR_BITS static int search_bits(struct dom_parts *parts, struct dom_build *b,
				      struct hdb_error *err)
{
	return search(parts, b, err);
}

int dom_search(struct dom_parts *parts, struct dom_build *b, struct hdb_error *err)
{
	return processor_has_bits() ? search_bits(parts, b, err) : search(parts, b, err);
}
