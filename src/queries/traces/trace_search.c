/*
 * queries/traces/trace_search.c - finds the paths of leak traces.
 *
 * The references of all objects are first read into packed rows, in order of their place in the
 * dump (trace_rows.h). The search runs on these rows, and reads an object again only if it has
 * references to be followed late.
 */
#include "queries/traces/trace_search.h"

#include "base/bits.h"
#include "base/sort.h"
#include "queries/traces/trace_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Objects between two checks of the cancel flag. */
#define STEP_OBJECTS 16384u

/* ---- roots ---- */

/*
 * Root kinds in the order in which they are tried, as in LeakCanary. Other kinds keep nothing
 * alive.
 */
static const uint8_t root_order[] = {
	HPROF_ROOT_THREAD_OBJECT, HPROF_ROOT_THREAD_BLOCK, HPROF_ROOT_STICKY_CLASS,
	HPROF_ROOT_NATIVE_STACK,  HPROF_ROOT_MONITOR_USED, HPROF_ROOT_JNI_MONITOR,
	HPROF_ROOT_JNI_LOCAL,     HPROF_ROOT_JNI_GLOBAL,   HPROF_ROOT_JAVA_FRAME,
};
#define ROOT_KINDS (sizeof(root_order) / sizeof(root_order[0]))

/* Returns the place of a root's kind in that order, or ROOT_KINDS if it does not count. */
static unsigned rank_root(const struct store_root *root)
{
	unsigned i = 0;

	/* Local variables of a known thread are references of that thread. */
	if (root->kind == HPROF_ROOT_JAVA_FRAME && root->is_local)
		return ROOT_KINDS;
	while (i < ROOT_KINDS && root_order[i] != root->kind)
		i++;
	return i;
}

bool trace_root_kind(struct heap *heap, uint32_t ix, uint8_t *kind)
{
	size_t count;
	const struct store_root *roots = heap_roots_of(heap, ix, &count);
	unsigned best = ROOT_KINDS;

	for (size_t i = 0; i < count; i++) {
		const unsigned rank = rank_root(&roots[i]);

		best = rank < best ? rank : best;
	}
	*kind = best < ROOT_KINDS ? root_order[best] : 0;
	return best < ROOT_KINDS;
}

/* A root with its sort keys. */
struct ranked_root {
	const char *class_name;
	uint32_t ix;
	uint8_t rank;
};

static int compare_roots(const void *a, const void *b)
{
	const struct ranked_root *x = a, *y = b;
	int order;

	BASE_ASCENDING(x->rank, y->rank);
	order = strcmp(x->class_name, y->class_name);
	return order ? order : x->ix < y->ix ? -1 : x->ix > y->ix;
}

static int rank_roots(struct heap *heap, struct base_vec *out, struct hdb_error *err)
{
	for (uint64_t i = 0; i < heap->roots.count; i++) {
		const unsigned rank = rank_root(&heap->roots.records[i]);
		struct ranked_root root = { .ix = heap->roots.records[i].ix,
					    .rank = (uint8_t)rank };
		struct heap_object object;

		if (rank == ROOT_KINDS)
			continue;
		TRY(heap_object(heap, root.ix, &object, err));
		root.class_name = heap_class_name(heap, heap_known_class(&object));
		TRY(base_vec_push(out, &root, sizeof(root), err));
	}
	/* In an incomplete dump, objects without referrers count as roots. */
	for (uint32_t ix = 0; heap->state.takes_orphans && ix < heap->object_count; ix++) {
		const struct ranked_root root = { "", ix, ROOT_KINDS };

		if (heap_is_root(heap, ix) && heap_is_orphan(heap, ix))
			TRY(base_vec_push(out, &root, sizeof(root), err));
	}
	if (out->count)
		qsort(out->data, out->count, sizeof(struct ranked_root), compare_roots);
	return HDB_OK;
}

int trace_roots(struct trace_graph *graph, struct base_vec *out, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec ranked = { 0 };

	TRY(rank_roots(graph->session->heap, &ranked, err));
	for (size_t i = 0; i < ranked.count; i++) {
		const struct ranked_root *from = base_vec_at(&ranked, struct ranked_root, i);
		const struct library_rule *rule = NULL;
		struct trace_root root = {
			.ix = from->ix,
			.kind = from->rank < ROOT_KINDS ? root_order[from->rank] : 0,
		};

		/* There can be millions of records for one object. */
		if (i && from[-1].ix == from->ix && from[-1].rank == from->rank)
			continue;
		if (root.kind == HPROF_ROOT_JNI_GLOBAL)
			TRY(trace_root_rule(graph, root.ix, &rule, err));
		root.is_late = rule || root.kind == HPROF_ROOT_JAVA_FRAME;
		if (!(rule && rule->is_ignored))
			TRY(base_vec_push(out, &root, sizeof(root), err));
	}
	return HDB_OK;
}

/* ---- the search ---- */

/* A queue of objects; big enough to need no wrapping. */
struct queue {
	uint32_t *ix;
	uint64_t head, tail;
	struct base_big big;
};

struct walk {
	struct trace_search *search;
	struct queue first, last;
	uint64_t *is_waiting; /* bit set: objects in the last queue that were not moved */
	uint32_t from;        /* object whose references are followed; GRAPH_NONE for roots */
	bool is_last;         /* only the last queue is left */
};

/* Adds an object that the search has just found, unless it is in a queue already. */
static void enqueue(struct walk *w, uint32_t ix, bool is_late)
{
	struct trace_search *s = w->search;
	const bool goes_last = w->is_last || is_late;

	if (s->parents[ix] == ix) {
		struct queue *queue = goes_last ? &w->last : &w->first;

		assert(queue->tail < s->graph->session->heap->object_count);
		queue->ix[queue->tail++] = ix;
		if (goes_last)
			base_bit_put(w->is_waiting, ix);
	} else if (!goes_last && base_bit_has(w->is_waiting, ix)) {
		/* Move it forward. Its entry in the last queue is skipped later. */
		base_bit_drop(w->is_waiting, ix);
		assert(w->first.tail < s->graph->session->heap->object_count);
		w->first.ix[w->first.tail++] = ix;
	} else {
		return;
	}
	s->parents[ix] = w->from;
}

static bool take_next(struct walk *w, uint32_t *ix)
{
	if (!w->is_last && w->first.head < w->first.tail) {
		*ix = w->first.ix[w->first.head++];
		return true;
	}
	w->is_last = true;
	assert(w->first.head == w->first.tail);
	while (w->last.head < w->last.tail) {
		*ix = w->last.ix[w->last.head++];
		if (base_bit_has(w->is_waiting, *ix)) {
			base_bit_drop(w->is_waiting, *ix);
			return true;
		}
	}
	return false;
}

static int take_reference(void *ctx, const struct trace_reference *reference, struct hdb_error *err)
{
	struct walk *w = ctx;

	(void)err;
	/* A reference of an object to itself leads nowhere. */
	if (reference->to != w->from)
		enqueue(w, reference->to, reference->is_late);
	return HDB_OK;
}

static int follow(struct walk *w, uint32_t ix, struct hdb_error *err)
{
	struct trace_search *s = w->search;
	uint32_t targets[GRAPH_ROW_MAX];
	struct graph_long_row row;
	unsigned count;

	w->from = ix;
	if (base_bit_has(s->has_late, ix))
		return trace_graph_read(s->graph, ix, take_reference, w, err);
	count = graph_rows_get(&s->rows, ix, targets, &row);
	for (unsigned i = 0; i < count; i++)
		if (targets[i] != ix)
			enqueue(w, targets[i], false);
	for (uint64_t i = row.at; i < row.end; i++) {
		const uint32_t to = graph_rows_long(&s->rows, i);

		if (to != ix)
			enqueue(w, to, false);
	}
	return HDB_OK;
}

static int enqueue_roots(struct walk *w, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec roots = { 0 };

	w->from = GRAPH_NONE;
	TRY(trace_roots(w->search->graph, &roots, err));
	for (size_t i = 0; i < roots.count; i++) {
		const struct trace_root *root = base_vec_at(&roots, struct trace_root, i);

		base_bit_put(w->search->roots, root->ix);
		enqueue(w, root->ix, root->is_late);
	}
	return HDB_OK;
}

static int init_queue(struct queue *queue, struct base_work *work, uint32_t n,
		      struct hdb_error *err)
{
	/* Each object is added to one queue once, or to both if it is moved. */
	int r = base_big_alloc_raw(work, &queue->big, ((uint64_t)n + 1) * sizeof(uint32_t),
				   "paths of leak traces", err);

	queue->ix = queue->big.data;
	return r;
}

static void release_walk(struct walk *w)
{
	free(w->is_waiting);
	base_big_free(&w->first.big);
	base_big_free(&w->last.big);
}

static int search_all(struct trace_search *s, struct hdb_error *err)
{
	struct base_work *work = s->graph->session->work;
	const uint32_t n = s->graph->session->heap->object_count;
	BASE_SCOPED(release_walk) struct walk w = { .search = s };
	uint64_t done = 0;
	uint32_t ix;

	TRY(init_queue(&w.first, work, n, err));
	TRY(init_queue(&w.last, work, n, err));
	TRY(BASE_ALLOC(w.is_waiting, (size_t)n / 64 + 1, "paths", err));
	base_stage(work, "searching paths of leak traces", n, "objects");
	TRY(enqueue_roots(&w, err));
	while (take_next(&w, &ix)) {
		TRY(follow(&w, ix, err));
		if (++done % (STEP_OBJECTS) == 0)
			TRY(base_step(work, done, err));
	}
	return HDB_OK;
}

int trace_search_paths(struct trace_search *s, struct trace_graph *graph, struct hdb_error *err)
{
	const uint32_t n = graph->session->heap->object_count;

	*s = (struct trace_search){ .graph = graph };
	TRY(BASE_ALLOC(s->roots, (size_t)n / 64 + 1, "paths of leak traces", err));
	TRY(BASE_ALLOC(s->has_late, (size_t)n / 64 + 1, "paths of leak traces", err));
	TRY(base_big_alloc_raw(graph->session->work, &s->parents_big,
			       ((uint64_t)n + 1) * sizeof(uint32_t), "paths of leak traces", err));
	s->parents = s->parents_big.data;
	for (uint32_t ix = 0; ix < n; ix++)
		s->parents[ix] = ix;
	TRY(trace_rows_make(graph, &s->rows, s->has_late, err));
	return search_all(s, err);
}

void trace_search_release(struct trace_search *s)
{
	if (!s->graph)
		return;
	free(s->roots);
	free(s->has_late);
	graph_rows_release(&s->rows);
	base_ranks_release(&s->below);
	graph_dominators_release(&s->dominators);
	base_sizes_release(&s->bytes);
	base_sizes_release(&s->counts);
	base_big_free(&s->parents_big);
	*s = (struct trace_search){ .graph = NULL };
}
