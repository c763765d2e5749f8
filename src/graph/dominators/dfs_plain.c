/*
 * graph/dominators/dfs_plain.c - depth-first search with a number for each node: for when there is
 * room for that.
 *
 * The same search as dom_search.c, with edges by numbers at once.
 */
#include "graph/dominators/semi_nca_private.h"

/* Instead of a number: a root that was not met yet. */
#define ROOT UINT32_MAX

/* How many targets ahead a row is asked for. */
#define ROW_AHEAD 4

struct search {
	struct dom_build *b;
	uint32_t *number; /* by node */
	struct dom_stack stack;
	uint64_t steps;
	uint32_t root; /* number of the root that is searched from */
};

/* The edge to what has a number. */
static int add_edge(struct search *s, uint32_t source, uint32_t met, struct hdb_error *err)
{
	struct dom_build *b = s->b;

	if (met == ROOT || met == source || b->top[met / 64] >> (met % 64) & 1)
		return HDB_OK;
	if (met < s->root) {
		b->top[met / 64] |= (uint64_t)1 << (met % 64);
		return HDB_OK;
	}
	return graph_buckets_add(&b->edges, source, met, err);
}

static inline void prefetch(const struct search *s, uint32_t node)
{
	prefetch_write(&s->number[node]);
	graph_rows_prefetch(s->b->rows, node);
}

/* Looks at targets: edges to those that have a number, others wait in their order. */
static inline int scan(struct search *s, const uint32_t *target, unsigned count, uint32_t source,
		       struct hdb_error *err)
{
	uint32_t met[GRAPH_ROW_MAX];
	unsigned met_count = 0;
	int rc = HDB_OK;

	/* A single target is looked at right now. */
	for (unsigned i = 0; count > 1 && i < count; i++)
		prefetch(s, target[i]);
	/* Without branches, since nobody can foretell what was met. */
	for (unsigned i = count; i-- > 0;) {
		const uint32_t number = s->number[target[i]];

		s->stack.entry[s->stack.depth] = (union dom_entry){
			.target = target[i],
			.source = source,
		};
		s->stack.depth += number == 0;
		met[met_count] = number;
		met_count += number != 0;
	}
	for (unsigned i = 0; rc == HDB_OK && i < met_count; i++)
		rc = add_edge(s, source, met[i], err);
	return rc;
}

/* Numbers a node, and looks at its targets. */
static inline int visit(struct search *s, uint32_t node, uint32_t parent, struct hdb_error *err)
{
	struct dom_build *b = s->b;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	unsigned count;
	int rc = dom_give_number(b, parent, err);

	s->number[node] = b->count;
	if (rc == HDB_OK && s->stack.limit - s->stack.depth < DOM_STACK_ROOM)
		rc = dom_stack_grow(&s->stack, b->work, err);
	if (rc < 0)
		return rc;
	count = graph_rows_get(b->rows, node, target, &row);
	if (row.at < row.end) {
		dom_stack_long(&s->stack, &row, b->count);
		return HDB_OK;
	}
	return scan(s, target, count, b->count, err);
}

/* Numbers all that is reached from `root` and has no number yet. */
static int search_from(struct search *s, uint32_t root, struct hdb_error *err)
{
	struct dom_build *b = s->b;
	int rc;

	s->root = b->count + 1;
	rc = visit(s, root, 0, err);
	while (rc == HDB_OK && s->stack.depth > 0) {
		uint32_t source, to;

		if ((++s->steps & DOM_STEP_MASK) == 0) {
			rc = base_step(b->work, b->count, err);
			if (rc < 0)
				return rc;
		}
		dom_stack_pop(&s->stack, b->rows, &source, &to);
		const uint32_t soon = dom_stack_soon(&s->stack, b->rows, ROW_AHEAD);
		if (soon != GRAPH_NONE)
			prefetch(s, soon);
		const uint32_t met = s->number[to];
		rc = met ? add_edge(s, source, met, err) : visit(s, to, source, err);
	}
	return rc;
}

static int search_all(struct search *s, const uint64_t *root_bits, struct hdb_error *err)
{
	const uint32_t n = s->b->node_count;
	int rc = HDB_OK;

	for (uint32_t v = 0; rc == HDB_OK && v < n; v++)
		if (root_bits[v / 64] >> (v % 64) & 1)
			s->number[v] = ROOT;
	for (uint32_t v = 0; rc == HDB_OK && v < n; v++)
		if (root_bits[v / 64] >> (v % 64) & 1)
			rc = search_from(s, v, err);
	return rc == HDB_OK ? dom_put_parents(s->b, err) : rc;
}

int dom_search_plain(struct dom_build *b, const uint64_t *root_bits, uint32_t *number,
		     struct base_runs *numbers, struct hdb_error *err)
{
	struct search s = { .b = b, .number = number };
	int rc;

	base_stage(b->work, "dominators: search", b->node_count, "objects");
	rc = search_all(&s, root_bits, err);
	base_big_free(b->work, &s.stack.big);
	return rc == HDB_OK ? dom_pack_numbers(b, number, numbers, err) : rc;
}
