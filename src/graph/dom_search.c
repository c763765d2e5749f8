/*
 * graph/dom_search.c - depth-first search: numbers, parents, and all other edges by numbers.
 *
 * When a row is looked at, targets that have a number give an edge at once; the others wait on
 * the stack, and give one if they were met meanwhile when their turn comes. So an edge is decoded
 * once, and what it needs of its target was asked for long before. Edges into roots that were
 * not met yet are dropped: a root's dominator is the virtual root whatever refers to it. An edge
 * to what an earlier root had reached already makes its target one for the virtual root, and
 * neither it nor later edges to that target need be kept.
 */
#include "graph/dom_build.h"

#include <stdlib.h>

/* Entries of the stack from the top whose group, and whose row, are asked for. */
#define GROUP_AHEAD 4
#define ROW_AHEAD 2

/*
 * What waits: a target with its source's number. GRAPH_NONE as a target is a long row, of which
 * the two entries below say what is left.
 */
union entry {
	struct {
		uint32_t target;
		uint32_t source; /* number */
	};
	uint64_t position;
};

struct search {
	struct dom_build *b;
	union entry *stack;
	uint64_t depth, limit;
	uint64_t steps;
	uint32_t root;   /* number of the root that is searched from */
	struct base_big big;
};

static int grow_stack(struct search *s, struct hdb_error *err)
{
	const uint64_t limit = s->limit ? 2 * s->limit : 4096;
	struct base_big big = { 0 };
	const int rc = base_big_alloc_raw(s->b->work, &big, limit * sizeof *s->stack,
					  "search stack", err);

	if (rc < 0)
		return rc;
	if (s->depth)
		memcpy(big.data, s->stack, s->depth * sizeof *s->stack);
	base_big_free(s->b->work, &s->big);
	s->big = big;
	s->stack = big.data;
	s->limit = limit;
	return HDB_OK;
}

/* Writes down the block of parents that is complete, or the last one. */
static int put_parents(struct dom_build *b, struct hdb_error *err)
{
	return graph_runs_put(&b->parents, b->count >> GRAPH_RUN_BITS, b->block,
			      (b->count & (GRAPH_RUN - 1)) + 1, err);
}

/* Gives the node the next number. */
static int give_number(struct dom_build *b, uint32_t node, uint32_t parent, struct hdb_error *err)
{
	uint32_t at;

	if ((b->count & (GRAPH_RUN - 1)) == GRAPH_RUN - 1) {
		const int rc = put_parents(b, err);
		if (rc < 0)
			return rc;
	}
	at = ++b->count;
	b->number[node] = at;
	b->block[at & (GRAPH_RUN - 1)] = at - parent;
	return HDB_OK;
}

static int add_edge(struct search *s, uint32_t source, uint32_t met, struct hdb_error *err)
{
	struct dom_build *b = s->b;
	const uint64_t bit = (uint64_t)1 << (met % 64);

	if (met == DOM_ROOT || met == source || b->top[met / 64] & bit)
		return HDB_OK;
	if (met < s->root) {
		b->top[met / 64] |= bit;
		return HDB_OK;
	}
	return graph_buckets_add(&b->edges, source, met, err);
}

/* Looks at the targets of a row: edges, or entries that wait in the row's order. */
static int scan_row(struct search *s, uint32_t node, uint32_t source, struct hdb_error *err)
{
	struct dom_build *b = s->b;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = graph_rows_get(b->rows, node, target, &row);
	int rc = HDB_OK;

	if (s->limit - s->depth < GRAPH_ROW_MAX + 3)
		rc = grow_stack(s, err);
	if (rc < 0)
		return rc;
	if (row.at < row.end) {
		s->stack[s->depth++].position = row.at;
		s->stack[s->depth++].position = row.end;
		s->stack[s->depth++] = (union entry){ .target = GRAPH_NONE, .source = source };
		return HDB_OK;
	}
	if (count > 1) {
		for (unsigned i = 0; i < count; i++) {
			__builtin_prefetch(&b->number[target[i]], 1);
			graph_rows_prefetch_group(b->rows, target[i]);
		}
	}
	for (unsigned i = count; i-- > 0;) {
		const uint32_t met = b->number[target[i]];
		if (met == 0) {
			s->stack[s->depth++] = (union entry){ .target = target[i],
							      .source = source };
			continue;
		}
		rc = add_edge(s, source, met, err);
		if (rc < 0)
			return rc;
	}
	return HDB_OK;
}

/* The next target of the long row on top of the stack, which goes when it is used up. */
static uint32_t next_of_long(struct search *s, uint32_t *source)
{
	union entry *top = &s->stack[s->depth - 3];
	const uint64_t at = top[0].position++, end = top[1].position;

	*source = top[2].source;
	if (end - at > DOM_AHEAD) {
		const uint32_t far = graph_rows_long(s->b->rows, at + DOM_AHEAD);
		__builtin_prefetch(&s->b->number[far], 1);
		graph_rows_prefetch_group(s->b->rows, far);
	}
	if (at + 1 == end)
		s->depth -= 3;
	return graph_rows_long(s->b->rows, at);
}

/* Asks for what the entries that come next will read. */
static inline void prefetch_entries(const struct search *s)
{
	if (s->depth < GROUP_AHEAD)
		return;
	const uint32_t far = s->stack[s->depth - GROUP_AHEAD].target;
	const uint32_t near = s->stack[s->depth - ROW_AHEAD].target;
	if (far < s->b->rows->node_count) {
		__builtin_prefetch(&s->b->number[far], 1);
		graph_rows_prefetch_group(s->b->rows, far);
	}
	if (near < s->b->rows->node_count)
		graph_rows_prefetch_row(s->b->rows, near);
}

/* Numbers all that is reached from `root` and has no number yet. */
static int search_from(struct search *s, uint32_t root, struct hdb_error *err)
{
	struct dom_build *b = s->b;
	int rc = give_number(b, root, 0, err);

	s->root = b->count;
	if (rc == HDB_OK)
		rc = scan_row(s, root, b->count, err);
	while (rc == HDB_OK && s->depth > 0) {
		uint32_t source, to;

		if ((++s->steps & DOM_STEP_MASK) == 0) {
			rc = base_step(b->work, b->count, err);
			if (rc < 0)
				return rc;
		}
		if (s->stack[s->depth - 1].target == GRAPH_NONE) {
			to = next_of_long(s, &source);
		} else {
			source = s->stack[--s->depth].source;
			to = s->stack[s->depth].target;
			prefetch_entries(s);
		}
		const uint32_t met = b->number[to];
		if (met) {
			rc = add_edge(s, source, met, err);
			continue;
		}
		rc = give_number(b, to, source, err);
		if (rc == HDB_OK)
			rc = scan_row(s, to, b->count, err);
	}
	return rc;
}

int dom_search(struct dom_build *b, const uint64_t *root_bits, struct hdb_error *err)
{
	const uint32_t n = b->rows->node_count;
	const uint64_t words = ((uint64_t)n + 63) / 64;
	struct search s = { .b = b };
	int rc = HDB_OK;

	base_stage(b->work, "dominators: search", n, "objects");
	for (int is_marked = 0; is_marked < 2; is_marked++) {
		for (uint64_t w = 0; w < words && rc == HDB_OK; w++) {
			for (uint64_t bits = root_bits[w]; bits && rc == HDB_OK; bits &= bits - 1) {
				const uint64_t root = 64 * w + (unsigned)__builtin_ctzll(bits);
				if (root < n && is_marked)
					rc = search_from(&s, (uint32_t)root, err);
				else if (root < n)
					b->number[root] = DOM_ROOT;
			}
		}
	}
	if (rc == HDB_OK)
		rc = put_parents(b, err);
	base_big_free(b->work, &s.big);
	return rc;
}
