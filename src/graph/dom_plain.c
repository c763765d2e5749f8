/*
 * graph/dom_plain.c - depth-first search with a number for each node: for when there is room for that.
 *
 * The same search as dom_search.c, with edges by numbers at once. Where references go anywhere, on
 * plain cells of 16 bytes: a node's number and its first targets lie in one line of the caches,
 * found without a look-up, so what to do with a target and what comes after it is known after one
 * miss, where packed rows take three. On heaps, whose references mostly stay near by, packed rows
 * are in the caches anyway and cells are not; there numbers are an array beside the rows. Nodes
 * with more targets than a cell has room for are looked up in their rows.
 */
#include "graph/dom_build.h"

#include "base/pipeline.h"

#include <assert.h>

#define CELL_TARGETS 3u

/* Instead of a cell's first target: no target at all, and more than there is room for. */
#define CELL_EMPTY UINT32_MAX
#define CELL_ROW (UINT32_MAX - 1)

/* Instead of a number: a root that was not met yet. */
#define ROOT UINT32_MAX

/* How many targets ahead a cell, or a row, is asked for. */
#define CELL_AHEAD 24
#define ROW_AHEAD 4

/* Rows that are looked at to learn how far references go: one in so many groups, of so few nodes all groups. */
#define SAMPLE_GROUPS 4096u
#define SAMPLE_NODES_MIN 10000u

struct cell {
	uint32_t number;
	uint32_t target[CELL_TARGETS]; /* unused ones at the end: CELL_EMPTY */
};

static_assert(sizeof(struct cell) == DOM_CELL_BYTES, "four cells fill a line of the caches");

struct search {
	struct dom_build *b;
	struct cell *cells;  /* NULL: packed rows, and */
	uint32_t *number;    /* numbers by node */
	struct dom_stack stack;
	uint64_t steps;
	uint32_t root;   /* number of the root that is searched from */
};

bool dom_prefers_cells(const struct dom_build *b)
{
	const uint32_t groups = b->node_count / GRAPH_GROUP;
	const uint32_t step = groups / SAMPLE_GROUPS + 1;
	const uint64_t bytes = ((uint64_t)b->node_count + 1) * DOM_CELL_BYTES;
	uint64_t far = 0, edges = 0;

	if (b->node_count < SAMPLE_NODES_MIN || b->node_count >= CELL_ROW ||
	    bytes > base_work_room(b->work) / 2)
		return false;
	for (uint32_t g = 0; g < groups; g += step) {
		for (uint32_t v = g * GRAPH_GROUP; v < (g + 1) * GRAPH_GROUP; v++) {
			uint32_t target[GRAPH_ROW_MAX];
			struct graph_long_row row;
			const unsigned count = graph_rows_get(b->rows, v, target, &row);

			edges += count;
			for (unsigned i = 0; i < count; i++)
				far += target[i] - v + DOM_FAR > 2 * DOM_FAR;
		}
	}
	return far > edges / 2;
}

/* Fills the cells of one bucket of nodes; on any thread. */
static int fill_cells(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	const struct search *s = ctx;
	const uint64_t end = (item + 1) * GRAPH_BUCKET_SIZE;

	(void)slot;
	(void)err;
	for (uint64_t v = item * GRAPH_BUCKET_SIZE; v < end && v < s->b->node_count; v++) {
		uint32_t target[GRAPH_ROW_MAX];
		struct graph_long_row row;
		struct cell *cell = &s->cells[v];
		const unsigned count = graph_rows_get(s->b->rows, (uint32_t)v, target, &row);

		*cell = (struct cell){ 0, { CELL_EMPTY, CELL_EMPTY, CELL_EMPTY } };
		if (count > CELL_TARGETS || row.at < row.end)
			cell->target[0] = CELL_ROW;
		else
			memcpy(cell->target, target, count * sizeof *target);
	}
	return HDB_OK;
}

static int make_cells(struct search *s, struct hdb_error *err)
{
	const struct base_pipeline pipeline = {
		.item_count = (uint64_t)s->b->node_count / GRAPH_BUCKET_SIZE + 1,
		.threads = s->b->work->threads, .slot_count = 3 * s->b->work->threads, .ctx = s,
		.produce = fill_cells,
	};

	return base_pipeline_run(&pipeline, err);
}

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

/*
 * What follows is there twice, with cells and without; has_cells is constant in each.
 */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE uint32_t *number_of(const struct search *s, uint32_t node, bool has_cells)
{
	return has_cells ? &s->cells[node].number : &s->number[node];
}

ALWAYS_INLINE void prefetch(const struct search *s, uint32_t node, bool has_cells)
{
	__builtin_prefetch(number_of(s, node, has_cells), 1);
	if (!has_cells)
		graph_rows_prefetch(s->b->rows, node);
}

/* Looks at targets: edges to those that have a number, others wait in their order. */
ALWAYS_INLINE int scan(struct search *s, const uint32_t *target, unsigned count, uint32_t source,
		       bool has_cells, struct hdb_error *err)
{
	uint32_t met[GRAPH_ROW_MAX];
	unsigned met_count = 0;
	int rc = HDB_OK;

	/* A single target is looked at right now. */
	for (unsigned i = 0; count > 1 && i < count; i++)
		prefetch(s, target[i], has_cells);
	/* Without branches, since nobody can foretell what was met. */
	for (unsigned i = count; i-- > 0;) {
		const uint32_t number = *number_of(s, target[i], has_cells);

		s->stack.entry[s->stack.depth] = (union dom_entry){
			.target = target[i], .source = source,
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
ALWAYS_INLINE int visit(struct search *s, uint32_t node, uint32_t parent, bool has_cells,
			struct hdb_error *err)
{
	struct dom_build *b = s->b;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	unsigned count = 0;
	int rc = dom_give_number(b, parent, err);

	*number_of(s, node, has_cells) = b->count;
	if (rc == HDB_OK && s->stack.limit - s->stack.depth < DOM_STACK_ROOM)
		rc = dom_stack_grow(&s->stack, b->work, err);
	if (rc < 0)
		return rc;
	if (has_cells && s->cells[node].target[0] != CELL_ROW) {
		const uint32_t *first = s->cells[node].target;

		while (count < CELL_TARGETS && first[count] != CELL_EMPTY)
			count++;
		return scan(s, first, count, b->count, has_cells, err);
	}
	count = graph_rows_get(b->rows, node, target, &row);
	if (row.at < row.end) {
		dom_stack_long(&s->stack, &row, b->count);
		return HDB_OK;
	}
	return scan(s, target, count, b->count, has_cells, err);
}

/* Numbers all that is reached from `root` and has no number yet. */
ALWAYS_INLINE int search_with(struct search *s, uint32_t root, bool has_cells,
			      struct hdb_error *err)
{
	struct dom_build *b = s->b;
	int rc;

	s->root = b->count + 1;
	rc = visit(s, root, 0, has_cells, err);
	while (rc == HDB_OK && s->stack.depth > 0) {
		uint32_t source, to;

		if ((++s->steps & DOM_STEP_MASK) == 0) {
			rc = base_step(b->work, b->count, err);
			if (rc < 0)
				return rc;
		}
		dom_stack_pop(&s->stack, b->rows, &source, &to);
		const uint32_t soon = dom_stack_soon(&s->stack, b->rows,
						     has_cells ? CELL_AHEAD : ROW_AHEAD);
		if (soon != GRAPH_NONE)
			prefetch(s, soon, has_cells);
		const uint32_t met = *number_of(s, to, has_cells);
		rc = met ? add_edge(s, source, met, err) : visit(s, to, source, has_cells, err);
	}
	return rc;
}

static int search_from(struct search *s, uint32_t root, struct hdb_error *err)
{
	return s->cells ? search_with(s, root, true, err) : search_with(s, root, false, err);
}

static int search_all(struct search *s, const uint64_t *root_bits, struct hdb_error *err)
{
	const uint32_t n = s->b->node_count;
	int rc = s->cells ? make_cells(s, err) : HDB_OK;

	for (uint32_t v = 0; rc == HDB_OK && v < n; v++)
		if (root_bits[v / 64] >> (v % 64) & 1)
			*number_of(s, v, s->cells) = ROOT;
	for (uint32_t v = 0; rc == HDB_OK && v < n; v++)
		if (root_bits[v / 64] >> (v % 64) & 1)
			rc = search_from(s, v, err);
	return rc == HDB_OK ? dom_put_parents(s->b, err) : rc;
}

int dom_search_plain(struct dom_build *b, const uint64_t *root_bits, struct base_big *room,
		     struct graph_runs *numbers, struct hdb_error *err)
{
	struct search s = { .b = b };
	const uint32_t *number;
	int rc;

	base_stage(b->work, "dominators: search", b->node_count, "objects");
	if (b->is_far)
		number = &(s.cells = room->data)->number;
	else
		number = s.number = room->data;
	rc = search_all(&s, root_bits, err);
	base_big_free(b->work, &s.stack.big);
	return rc == HDB_OK ? dom_pack_numbers(b, number, b->is_far ? sizeof *s.cells / sizeof *number : 1,
					       numbers, err) : rc;
}
