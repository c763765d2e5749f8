/*
 * queries/waste/garbage.c - finds the holders among unreachable objects.
 *
 * Holders of rings are found by searching from each remaining object in order, recording the
 * starts. An object that a later start reaches is no holder, so the starts are visited again, the
 * last first; those that were not reached by then are the holders. If two objects are only
 * reachable from each other, the last start that reaches one of them reaches both.
 */
#include "queries/waste/garbage.h"

#include "analysis/edges.h"
#include "derive/native.h"

#include <assert.h>

/* Objects between two checks of the cancel flag. */
#define STEP_OBJECTS 65536

/* State of an object during the search. */
enum { FRESH, HELD, LEFT, AGAIN, COUNTED };

/* Size of an object that a filter hides: it holds others, but does not count. */
#define ELSEWHERE UINT64_MAX

struct garbage {
	const struct session *session;
	/* uint32_t per object: number among the unreachable objects + 1; 0 if reachable */
	struct base_big numbers;
	struct base_big ixs;    /* uint32_t per unreachable object: its index */
	struct base_big bytes;  /* uint64_t each: shallow size, or ELSEWHERE */
	struct base_big first;  /* uint64_t each, and one more: start of its edges in `target` */
	struct base_big target; /* uint32_t */
	struct base_big state;  /* uint8_t each */
	struct base_vec native; /* struct derive_native, ascending */
	struct base_big stack;  /* uint32_t each */
	struct base_vec starts; /* uint32_t */
	uint64_t count;
	bool is_filling; /* edges are being written, not counted */
	uint64_t seen;
};

/* ---- the graph ---- */

static void put_edge(struct garbage *g, uint32_t from, uint32_t to)
{
	const uint32_t *numbers = g->numbers.data;
	uint64_t *first = g->first.data;
	uint32_t *target = g->target.data;

	assert(from < g->session->heap->object_count);
	if (!numbers[from] || !numbers[to] || from == to)
		return;
	/* While edges are written, first[n + 1] is where the next edge of n goes. */
	if (g->is_filling)
		target[first[numbers[from]]++] = numbers[to] - 1;
	else
		first[numbers[from]]++;
}

static int take_edges(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
		      struct hdb_error *err)
{
	struct garbage *g = ctx;

	(void)err;
	if (((const uint32_t *)g->numbers.data)[ix])
		for (size_t i = 0; i < count; i++)
			put_edge(g, ix, entries[i]);
	return HDB_OK;
}

static int put_classes(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct garbage *g = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->count; i++)
		put_edge(g, block->first_ix + i,
			 heap_class(g->session->heap, block->class_no[i])->ix);
	return HDB_OK;
}

/* Visits all edges once, including those to classes: counts or writes them. */
static int each_edge(struct garbage *g, struct hdb_error *err)
{
	struct heap *heap = g->session->heap;
	struct store_lists lists;

	TRY(heap_each_block(heap, NULL, put_classes, g, err));
	heap_references(heap, &lists);
	return analysis_each_edge(g->session, &lists, heap->object_count,
				  &(struct analysis_edge_taker){ take_edges, g, 0 }, err);
}

struct numbering {
	struct garbage *g;
	bool was_filtered;
	uint32_t heap_no[STORE_BLOCK_OBJECTS]; /* if it was */
};

static int number_block(void *ctx, const struct heap_block *block, const uint8_t *reachable,
			struct hdb_error *err)
{
	struct numbering *n = ctx;
	struct garbage *g = n->g;
	struct heap *heap = g->session->heap;
	uint32_t *numbers = g->numbers.data, *ixs = g->ixs.data;
	uint64_t *bytes = g->bytes.data;

	if (n->was_filtered)
		TRY(heap_read_heaps(heap, heap_block_no(block), n->heap_no, err));
	for (uint32_t i = 0; i < block->count; i++) {
		if (reachable[i] || !heap_is_counted(heap, block, i))
			continue;
		if (ixs) {
			ixs[g->count] = block->first_ix + i;
			bytes[g->count] = n->was_filtered && n->heap_no[i] != heap->filter.heap_no ?
						  ELSEWHERE :
						  block->shallow[i];
		}
		assert(g->count < heap->object_count);
		numbers[block->first_ix + i] = (uint32_t)++g->count;
	}
	return HDB_OK;
}

/* Numbers the unreachable objects of all heaps; lists them too, once there is memory for it. */
static int pass(struct garbage *g, struct hdb_error *err)
{
	struct heap *heap = g->session->heap;
	BASE_FREED struct numbering *n = NULL;

	TRY(BASE_ALLOC(n, 1, "a block of objects", err));
	g->count = 0;
	n->g = g;
	n->was_filtered = heap->filter.is_on;
	HEAP_FILTER_SCOPE(heap_show_all, heap);
	return derive_each_reachable(g->session->derive, NULL, number_block, n, err);
}

static int load(struct garbage *g, struct hdb_error *err)
{
	struct base_work *work = g->session->work;
	uint64_t *first, sum = 0;

	TRY(base_big_alloc(work, &g->numbers, (uint64_t)g->session->heap->object_count * 4 + 4,
			   "unreachable objects", err));
	TRY(pass(g, err));
	TRY(base_big_alloc(work, &g->ixs, g->count * 4 + 4, "unreachable objects", err));
	TRY(base_big_alloc(work, &g->bytes, g->count * 8 + 8, "unreachable objects", err));
	TRY(base_big_alloc(work, &g->first, g->count * 8 + 16, "unreachable objects", err));
	TRY(base_big_alloc(work, &g->state, g->count + 1, "unreachable objects", err));
	TRY(base_big_alloc(work, &g->stack, g->count * 4 + 4, "unreachable objects", err));
	TRY(pass(g, err));
	base_stage(work, "reading garbage", g->session->heap->object_count, "objects");
	TRY_ERRORS(each_edge(g, err));
	/*
	 * Turns first[n + 1] from the number of n's edges into their start, which writing them
	 * turns into their end.
	 */
	first = g->first.data;
	for (uint64_t n = 1; n <= g->count; n++) {
		const uint64_t edges = first[n];

		first[n] = sum;
		sum += edges;
	}
	TRY(base_big_alloc(work, &g->target, sum * 4 + 4, "references of garbage", err));
	g->is_filling = true;
	return each_edge(g, err);
}

/* ---- searching ---- */

/* How a search changes the state of the objects it reaches. */
struct turn {
	uint8_t old, new;
};

/*
 * Changes the state of all objects that `from` reaches through objects in the old state. Adds them
 * up if `top` is not NULL.
 */
static int search(struct garbage *g, uint32_t from, struct turn turn,
		  struct analysis_garbage_top *top, struct hdb_error *err)
{
	const uint64_t *first = g->first.data, *bytes = g->bytes.data;
	const uint32_t *target = g->target.data;
	uint32_t *stack = g->stack.data;
	uint8_t *state = g->state.data;
	uint32_t depth = 0;

	assert(from < g->count);
	assert(turn.old != turn.new);
	if (state[from] != turn.old)
		return HDB_OK;
	state[from] = turn.new;
	stack[depth++] = from;
	while (depth) {
		const uint32_t n = stack[--depth];

		if (top && bytes[n] != ELSEWHERE) {
			top->count++;
			top->bytes += bytes[n];
			top->native_bytes +=
				derive_native_in(&g->native, ((const uint32_t *)g->ixs.data)[n]);
		}
		for (uint64_t e = first[n]; e < first[n + 1ull]; e++) {
			if (state[target[e]] != turn.old)
				continue;
			state[target[e]] = turn.new;
			assert(target[e] < g->count && depth < g->count);
			stack[depth++] = target[e];
		}
		if (++g->seen % STEP_OBJECTS == 0)
			TRY(base_step(g->session->work, g->seen / 3, err));
	}
	return HDB_OK;
}

/* Marks the holders in `is_top`. */
static int find_tops(struct garbage *g, uint8_t *is_top, struct hdb_error *err)
{
	const uint64_t *first = g->first.data;
	const uint32_t *target = g->target.data;
	const uint8_t *state = g->state.data;

	/* First mark all objects, then unmark those that something refers to. */
	for (uint32_t n = 0; n < g->count; n++)
		is_top[n] = 1;
	for (uint64_t e = 0; e < first[g->count]; e++)
		is_top[target[e]] = 0;
	for (uint32_t n = 0; n < g->count; n++)
		if (is_top[n])
			TRY(search(g, n, (struct turn){ FRESH, HELD }, NULL, err));
	for (uint32_t n = 0; n < g->count; n++) {
		if (state[n] != FRESH)
			continue;
		TRY(base_vec_push(&g->starts, &n, sizeof(n), err));
		TRY(search(g, n, (struct turn){ FRESH, LEFT }, NULL, err));
	}
	for (size_t i = g->starts.count; i-- > 0;) {
		const uint32_t n = *base_vec_at(&g->starts, uint32_t, i);

		is_top[n] = state[n] == LEFT;
		TRY(search(g, n, (struct turn){ LEFT, AGAIN }, NULL, err));
	}
	return HDB_OK;
}

static int count_tops(struct garbage *g, const uint8_t *is_top, struct base_vec *tops,
		      struct hdb_error *err)
{
	const uint32_t *ixs = g->ixs.data;
	uint8_t *state = g->state.data;

	for (uint64_t n = 0; n < g->count; n++)
		state[n] = FRESH;
	for (uint32_t n = 0; n < g->count; n++) {
		struct analysis_garbage_top top = { .ix = ixs[n] };

		if (!is_top[n])
			continue;
		TRY(search(g, n, (struct turn){ FRESH, COUNTED }, &top, err));
		if (top.count)
			TRY(base_vec_push(tops, &top, sizeof(top), err));
	}
	return HDB_OK;
}

static void release(struct garbage *g)
{
	base_big_free(&g->numbers);
	base_big_free(&g->ixs);
	base_big_free(&g->bytes);
	base_big_free(&g->first);
	base_big_free(&g->target);
	base_big_free(&g->state);
	base_big_free(&g->stack);
	base_vec_release(&g->starts);
	base_vec_release(&g->native);
}

int analysis_garbage_tops(const struct session *session, struct base_vec *tops,
			  struct hdb_error *err)
{
	BASE_SCOPED(release) struct garbage g = { .session = session };
	BASE_SCOPED(base_big_free) struct base_big is_top = { 0 };

	TRY(heap_load_classes(session->heap, err));
	TRY(derive_native_sizes(session->derive, DERIVE_NATIVE_COUNTED, &g.native, err));
	TRY(load(&g, err));
	TRY(base_big_alloc(session->work, &is_top, g.count + 1, "unreachable objects", err));
	base_stage(session->work, "sorting garbage", g.count, "objects");
	TRY(find_tops(&g, is_top.data, err));
	return count_tops(&g, is_top.data, tops, err);
}
