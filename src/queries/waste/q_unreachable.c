/*
 * queries/waste/q_unreachable.c - the unreachable query: the garbage in the dump (objects that are
 * not reachable from a root), by class or by the objects that hold them.
 */
#include "analysis/edges.h"
#include "base/glob.h"
#include "derive/native.h"
#include "queries/queries.h"

/*
 * The unreachable objects that no other unreachable object holds, and the objects that each of them
 * holds.
 *
 * Each unreachable object is held by one "top": an object that no unreachable object refers to, or
 * one object of a ring that nothing refers to. Objects held by several tops are assigned to the top
 * with the lowest ID.
 */

/* An unreachable object that no other unreachable object holds. */
struct garbage_top {
	uint64_t bytes; /* total shallow size of the object and of all objects that it holds */
	uint64_t native_bytes; /* native memory owned by these objects */
	uint32_t count;        /* number of these objects */
	uint32_t ix;
};

/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 65536

/* State of an object during the search. */
enum { FRESH, HELD, LEFT, AGAIN, COUNTED };

/* Size of an object hidden by a filter, which holds other objects but does not count. */
#define ELSEWHERE UINT64_MAX

struct garbage {
	const struct session *session;
	/*
	 * uint32_t per object: 1 + its number among the unreachable objects; 0 if it is reachable
	 */
	struct base_big numbers;
	struct base_big ixs;   /* uint32_t per unreachable object: its index */
	struct base_big bytes; /* uint64_t per unreachable object: shallow size, or ELSEWHERE */
	/* uint64_t per unreachable object, and one more: start of its edges in `target` */
	struct base_big first;
	struct base_big target; /* uint32_t */
	struct base_big state;  /* uint8_t each */
	struct base_vec native; /* struct derive_native, ascending */
	struct base_big stack;  /* uint32_t each */
	struct base_vec starts; /* uint32_t */
	uint64_t count;
	bool is_filling; /* whether edges are being written rather than counted */
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
	/* While edges are written, first[n + 1] is the position of the next edge of n. */
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

/* Visits all edges once, including edges to classes, and counts or writes them. */
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
	/* heaps of the objects in the block, read only if was_filtered is set */
	uint32_t heap_no[STORE_BLOCK_OBJECTS];
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

/*
 * Numbers the unreachable objects of all heaps, and also lists them once there is memory for the
 * list.
 */
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

static int load_garbage(struct garbage *g, struct hdb_error *err)
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
	 * Replaces the number of n's edges in first[n + 1] with their start. Writing the edges
	 * advances it to their end.
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

/* The state before and after of the objects that a search reaches. */
struct turn {
	uint8_t old, new;
};

/*
 * Changes the state of all objects that `from` reaches through objects in the old state. Adds the
 * objects to `top`, unless `top` is NULL.
 */
static int search(struct garbage *g, uint32_t from, struct turn turn, struct garbage_top *top,
		  struct hdb_error *err)
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

/* Marks the tops in `is_top`. */
static int find_tops(struct garbage *g, uint8_t *is_top, struct hdb_error *err)
{
	const uint64_t *first = g->first.data;
	const uint32_t *target = g->target.data;
	const uint8_t *state = g->state.data;

	/* Marks all objects first, and then unmarks the objects to which other objects refer. */
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
		struct garbage_top top = { .ix = ixs[n] };

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

/*
 * Finds all tops in order of ix. The caller must release *tops (struct garbage_top). Memory: 4
 * bytes per object, 26 per unreachable object, and 4 per reference of an unreachable object.
 */
static int garbage_tops(const struct session *session, struct base_vec *tops, struct hdb_error *err)
{
	BASE_SCOPED(release) struct garbage g = { .session = session };
	BASE_SCOPED(base_big_free) struct base_big is_top = { 0 };

	TRY(heap_load_classes(session->heap, err));
	TRY(derive_native_counted(session->derive, &g.native, err));
	TRY(load_garbage(&g, err));
	TRY(base_big_alloc(session->work, &is_top, g.count + 1, "unreachable objects", err));
	base_stage(session->work, "sorting garbage", g.count, "objects");
	TRY(find_tops(&g, is_top.data, err));
	return count_tops(&g, is_top.data, tops, err);
}

#include <queries/waste/q_unreachable.query.h>

/* The tops of one class. */
struct holder_group {
	uint64_t holders, count, bytes, native_bytes;
	uint32_t class_no;
	uint32_t biggest; /* index in `tops` of the object that retains the most */
};

struct unreachable {
	struct analysis_groups groups;
	struct analysis_groups native; /* the groups of all objects; not used with --by holder */
	uint64_t bytes;                /* size of all unreachable objects */
	bool by_holder, is_list, has_native;
	struct base_vec tops;     /* struct garbage_top; by holder */
	struct base_vec by_class; /* struct holder_group; by holder, unless is_list */
};

/* ---- by holder ---- */

/* Sorts by size, largest first, then by ID. */
BASE_ORDER(compare_tops, struct garbage_top, BASE_DOWN(bytes), BASE_UP(ix))

/* Sorts by size, largest first, then by class. */
BASE_ORDER(compare_groups, struct holder_group, BASE_DOWN(bytes), BASE_UP(class_no))

/* Adds up the holders by class. With PATTERN, keeps only holders whose class matches. */
static int group_tops(struct query *q, struct unreachable *u, struct hdb_error *err)
{
	struct garbage_top *tops = u->tops.data;
	const char *pattern = q->target_count ? q->targets[0] : NULL;
	BASE_FREED struct holder_group *groups = NULL;
	size_t kept = 0;

	TRY(BASE_ALLOC(groups, (size_t)q->heap->class_count + 1, "classes", err));
	for (size_t i = 0; i < u->tops.count; i++) {
		struct heap_object object;
		struct holder_group *g;

		TRY(heap_object(q->heap, tops[i].ix, &object, err));
		if (pattern && !base_glob(pattern, heap_class_name(q->heap, object.class_no)))
			continue;
		g = &groups[object.class_no];
		if (!g->holders)
			*g = (struct holder_group){
				.class_no = object.class_no,
				.biggest = (uint32_t)kept,
			};
		tops[kept++] = tops[i];
		g->holders++;
		g->count += tops[i].count;
		g->bytes += tops[i].bytes;
		g->native_bytes += tops[i].native_bytes;
	}
	u->tops.count = kept;
	for (uint32_t no = 0; no < q->heap->class_count; no++)
		if (groups[no].holders)
			TRY(base_vec_push(&u->by_class, &groups[no], sizeof(*groups), err));
	base_vec_sort(&u->by_class, sizeof(*groups), compare_groups);
	if (pattern && !kept)
		return hdb_fail(err, HDB_NOTFOUND, "no holder is an instance of %s", pattern);
	return HDB_OK;
}

static int open_holders(struct query *q, struct unreachable *u, struct hdb_error *err)
{
	TRY(garbage_tops(&q->session, &u->tops, err));
	query_fact(q, "holders", u->tops.count);
	/* The tops are sorted, so the first of each class is its largest. */
	base_vec_sort(&u->tops, sizeof(struct garbage_top), compare_tops);
	TRY(group_tops(q, u, err));
	q->total = u->is_list ? u->tops.count : u->by_class.count;
	return HDB_OK;
}

static void set_holder(struct query *q, const struct unreachable *u, const struct garbage_top *top)
{
	query_set(q, COUNT, top->count);
	query_set(q, SHALLOW, top->bytes);
	query_set(q, NATIVE, top->native_bytes);
	query_set_double(q, PERCENT, analysis_percent(top->bytes, u->bytes));
	query_set_label(q, LABEL, top->ix);
}

static void holder_row(struct query *q, const struct unreachable *u, size_t no)
{
	const struct garbage_top *tops = u->tops.data, *top;

	if (u->is_list) {
		top = &tops[no];
		set_holder(q, u, top);
	} else {
		const struct holder_group *g = base_vec_at(&u->by_class, struct holder_group, no);

		top = &tops[g->biggest];
		query_set(q, HOLDERS, g->holders);
		query_set(q, COUNT, g->count);
		query_set(q, SHALLOW, g->bytes);
		query_set(q, NATIVE, g->native_bytes);
		query_set_double(q, PERCENT, analysis_percent(g->bytes, u->bytes));
	}
	query_set_class_of(q, NAME, top->ix);
	query_set_id(q, ID, top->ix);
}

/* ---- by class and so on ---- */

static int load(struct query *q, enum derive_group by, struct analysis_groups *out,
		struct hdb_error *err)
{
	/* Totals require the dominator tree, but reachability does not. */
	return derive_has(q->derive, STORE_TOTALS) ?
		       analysis_load_groups(&q->session, by, out, err) :
		       analysis_count_groups(&q->session, by, ANALYSIS_COUNT_REACHED, out, err);
}

static int set_facts(struct query *q, struct unreachable *u, struct hdb_error *err)
{
	struct analysis_groups classes = { 0 };
	struct derive_total sum = { 0 };
	int r = HDB_OK;

	if (u->groups.by == DERIVE_SUPERCLASS)
		r = load(q, DERIVE_CLASS, &classes, err);
	analysis_add_groups(classes.totals ? &classes : &u->groups, &sum);
	analysis_groups_release(&classes);
	u->bytes = sum.unreachable_bytes;
	TRY(r);
	query_report_unreachable(q, sum.unreachable_count, sum.unreachable_bytes);
	query_fact(q, "objects", sum.count);
	query_fact(q, "shallow", sum.shallow_bytes);
	return HDB_OK;
}

static int read_options(struct query *q, struct unreachable *u, enum derive_group *by,
			struct hdb_error *err)
{
	const char *name = query_option(q, "by");

	TRY(derive_has_native(q->derive, &u->has_native, err));
	u->is_list = query_option(q, "holders") != NULL;
	u->by_holder = u->is_list || (name && strcmp(name, "holder") == 0);
	if (!u->by_holder) {
		*by = query_by(q);
		TRY(analysis_native_groups(&q->session, *by, &u->native, &u->has_native, err));
		query_choose(q, u->has_native ? "name,objects,shallow,percent,native" :
						"name,objects,shallow,percent");
		return HDB_OK;
	}
	if (name && strcmp(name, "holder") != 0)
		return hdb_fail(err, HDB_EUSAGE, "--holders cannot be combined with --by");
	if (u->is_list) {
		query_choose(q, u->has_native ? "id,name,label,objects,shallow,percent,native" :
						"id,name,label,objects,shallow,percent");
		return HDB_OK;
	}
	query_choose(q, u->has_native ? "name,holders,objects,shallow,percent,native,id" :
					"name,holders,objects,shallow,percent,id");
	return HDB_OK;
}

static int open_unreachable(struct query *q, struct hdb_error *err)
{
	struct unreachable *u = q->state;
	enum derive_group by = DERIVE_CLASS;
	size_t kept = 0;

	TRY(read_options(q, u, &by, err));
	TRY(load(q, by, &u->groups, err));
	TRY(set_facts(q, u, err));
	if (u->by_holder)
		return open_holders(q, u, err);
	for (size_t i = 0; i < u->groups.count; i++)
		if (u->groups.totals[i].unreachable_count)
			u->groups.totals[kept++] = u->groups.totals[i];
	u->groups.count = kept;
	if (q->target_count)
		TRY(analysis_filter_groups(&q->session, &u->groups, q->targets[0], err));
	analysis_sort_groups(&u->groups, ANALYSIS_BY_UNREACHABLE);
	q->total = u->groups.count;
	return HDB_OK;
}

static int unreachable_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct unreachable *u = q->state;
	const struct derive_total *total = &u->groups.totals[no];

	(void)err;
	if (u->by_holder) {
		holder_row(q, u, no);
		return HDB_OK;
	}
	query_set_group(q, NAME, &u->groups, total);
	query_set(q, COUNT, total->unreachable_count);
	query_set(q, SHALLOW, total->unreachable_bytes);
	query_set(q, NATIVE, analysis_group_lost_native(&u->native, total->no));
	query_set_double(q, PERCENT, analysis_percent(total->unreachable_bytes, u->bytes));
	return HDB_OK;
}

QUERY_DEFINE(unreachable, QUERY_STATE(struct unreachable, groups, native, tops, by_class),
	     .open = open_unreachable, .row = unreachable_row);
