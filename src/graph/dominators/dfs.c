/*
 * graph/dominators/dfs.c - depth-first search: the order of nodes, parents, and all other edges.
 *
 * A search cannot know what comes next, so what it waits for is what it costs. Therefore it looks
 * at two bits a node, which caches hold, and at rows, of which each costs one miss; numbers are
 * only written, in order. An edge to a node met before goes to the node, not to its number; numbers
 * take the nodes' places later, bucket by bucket (dfs_order.c).
 *
 * When a row is looked at, targets met before give an edge at once; the others wait on the stack,
 * and give one if they were met meanwhile when their turn comes. So an edge is decoded once, and
 * what it needs of its target was asked for before. Edges into roots are dropped: a root's
 * dominator is the virtual root whatever refers to it. An edge to what an earlier root had reached
 * already makes its target one for the virtual root, and neither it nor later edges to that target
 * need be kept.
 */
#include "graph/dominators/semi_nca_private.h"

/* How many targets ahead a row is asked for. */
#define ROW_AHEAD 4

/*
 * What is met in a search from a root is made old one by one, or, beyond this part of all nodes, at
 * a sweep.
 */
#define SWEEP_PART 256

struct search {
	struct dom_build *b;
	struct dom_stack stack;
	uint64_t steps;
	struct base_big recent; /* uint32_t: what was met in the search from this root */
	uint32_t recent_limit;  /* a sweep from here on */
	uint32_t first;         /* number of this search */
};

int dom_stack_grow(struct dom_stack *stack, struct base_work *work, struct hdb_error *err)
{
	const uint64_t limit = stack->limit ? 2 * stack->limit : 4096;
	struct base_big big = { 0 };
	const int rc =
		base_big_alloc_raw(work, &big, limit * sizeof *stack->entry, "search stack", err);

	if (rc < 0)
		return rc;
	if (stack->depth)
		memcpy(big.data, stack->entry, stack->depth * sizeof *stack->entry);
	base_big_free(work, &stack->big);
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

/* The edge to a node that was met before and is in `state`. */
static inline int add_edge(struct search *s, uint32_t source, uint32_t target, unsigned state,
			   struct hdb_error *err)
{
	struct dom_build *b = s->b;

	if (state == DOM_MET)
		return graph_buckets_add(&b->crosses, source, target, err);
	b->states[target / DOM_STATES] |= (uint64_t)DOM_TOP << (2 * (target % DOM_STATES));
	return HDB_OK;
}

/* Looks at the targets of a row: edges, or entries that wait in the row's order. */
static int scan_row(struct search *s, uint32_t node, uint32_t source, struct hdb_error *err)
{
	struct dom_build *b = s->b;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = graph_rows_get(b->rows, node, target, &row);
	unsigned met_count = 0;
	int rc = HDB_OK;

	b->step_count += 1 + count;

	if (s->stack.limit - s->stack.depth < DOM_STACK_ROOM)
		rc = dom_stack_grow(&s->stack, b->work, err);
	if (rc < 0)
		return rc;
	if (row.at < row.end) {
		dom_stack_long(&s->stack, &row, source);
		return HDB_OK;
	}
	/* Without branches, since nobody can foretell what was met; those met move to the end. */
	for (unsigned i = count; i-- > 0;) {
		const uint32_t to = target[i];
		const bool is_new = dom_state(b->states, to) == DOM_NEW;

		s->stack.entry[s->stack.depth] =
			(union dom_entry){ .target = to, .source = source };
		s->stack.depth += is_new;
		target[count - 1 - met_count] = to;
		met_count += !is_new;
	}
	for (uint64_t i = s->stack.depth - (count - met_count); i < s->stack.depth; i++)
		graph_rows_prefetch(b->rows, s->stack.entry[i].target);
	if (rc != HDB_OK)
		return rc;
	for (unsigned i = count - met_count; i < count; i++)
		if ((rc = add_edge(s, source, target[i], dom_state(b->states, target[i]), err)) !=
		    HDB_OK)
			return rc;
	return rc;
}

/* Numbers a node, and looks at its row. */
static int visit(struct search *s, uint32_t node, uint32_t parent, enum dom_state state,
		 struct hdb_error *err)
{
	struct dom_build *b = s->b;
	int rc = dom_give_number(b, parent, err);
	const uint64_t v[] = { node, b->count };

	if (rc != HDB_OK)
		return rc;
	rc = base_buckets_add(&b->order, dom_spill_of(b, node >> GRAPH_BUCKET_BITS),
			      BASE_RECORD(2, 0), v, err);
	if (rc != HDB_OK)
		return rc;
	if (b->count - s->first < s->recent_limit)
		((uint32_t *)s->recent.data)[b->count - s->first] = node;
	b->states[node / DOM_STATES] |= (uint64_t)state << (2 * (node % DOM_STATES));
	return scan_row(s, node, b->count, err);
}

/* What was met in the search that ends is old for the next one. */
static void make_old(struct search *s)
{
	struct dom_build *b = s->b;
	const uint64_t words = ((uint64_t)b->node_count + DOM_STATES - 1) / DOM_STATES;
	const uint32_t *recent = s->recent.data;

	/* Adding DOM_MET to itself makes it DOM_OLD. */
	if (b->count - s->first < s->recent_limit) {
		for (uint32_t k = 0; k <= b->count - s->first; k++) {
			const uint32_t v = recent[k];
			b->states[v / DOM_STATES] += (uint64_t)(dom_state(b->states, v) == DOM_MET)
						     << (2 * (v % DOM_STATES));
		}
		return;
	}
	for (uint64_t w = 0; w < words; w++)
		b->states[w] += b->states[w] & ~(b->states[w] >> 1) & DOM_LOW_BITS;
}

/* Numbers all that is reached from `root` and has no number yet. */
static int search_from(struct search *s, uint32_t root, struct hdb_error *err)
{
	struct dom_build *b = s->b;
	int rc;

	s->first = b->count + 1;
	if ((rc = visit(s, root, 0, DOM_TOP, err)) != HDB_OK)
		return rc;
	while (s->stack.depth > 0) {
		uint32_t source, to;

		if ((++s->steps & DOM_STEP_MASK) == 0 &&
		    (rc = base_step(b->work, b->count, err)) != HDB_OK)
			return rc;
		dom_stack_pop(&s->stack, b->rows, &source, &to);
		const uint32_t soon = dom_stack_soon(&s->stack, b->rows, ROW_AHEAD);
		if (soon != GRAPH_NONE) {
			prefetch_write(&b->states[soon / DOM_STATES]);
			graph_rows_prefetch(b->rows, soon);
		}
		const unsigned state = dom_state(b->states, to);
		rc = state == DOM_NEW ? visit(s, to, source, DOM_MET, err) :
					add_edge(s, source, to, state, err);
		if (rc != HDB_OK)
			return rc;
	}
	make_old(s);
	return HDB_OK;
}

/* A root's state is settled before anything is searched. */
static void mark_roots(struct dom_build *b, const uint64_t *root_bits)
{
	for (uint32_t v = 0; v < b->node_count; v++)
		if (root_bits[v / 64] >> (v % 64) & 1)
			b->states[v / DOM_STATES] |= (uint64_t)DOM_TOP << (2 * (v % DOM_STATES));
}

int dom_search(struct dom_build *b, const uint64_t *root_bits, struct hdb_error *err)
{
	const uint32_t n = b->node_count;
	const uint64_t words = ((uint64_t)n + 63) / 64;
	struct search s = { .b = b, .recent_limit = n / SWEEP_PART };
	int rc = base_big_alloc_raw(b->work, &s.recent,
				    ((uint64_t)s.recent_limit + 1) * sizeof(uint32_t), "preorder",
				    err);

	if (rc != HDB_OK)
		goto out;
	base_stage(b->work, "dominators: search", n, "objects");
	mark_roots(b, root_bits);
	for (uint64_t w = 0; w < words; w++) {
		for (uint64_t bits = root_bits[w]; bits; bits &= bits - 1) {
			const uint64_t root = 64 * w + (unsigned)__builtin_ctzll(bits);
			if (root < n && (rc = search_from(&s, (uint32_t)root, err)) != HDB_OK)
				goto out;
		}
	}
	b->step_count += s.steps;
	rc = dom_put_parents(b, err);
out:
	base_big_free(b->work, &s.stack.big);
	base_big_free(b->work, &s.recent);
	return rc;
}
