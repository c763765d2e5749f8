/*
 * queries/traces/trace_search.c - finds the paths of leak traces.
 *
 * The references of all objects are first read into packed rows, in the order of the dump. The
 * search uses the rows, and reads an object again only if some of its references are followed late.
 */
#include "queries/traces/trace_search.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "base/sort.h"
#include "derive/row_pass.h"
#include "graph/adjacency.h"
#include "heap/values/strings.h"
#include "hprof/quick.h"
#include "queries/traces/trace_graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Reads all references that leak traces follow into rows of a graph in memory.
 *
 * Threads read objects in the order of the dump. The calling thread reads collections, classes,
 * threads and long arrays, because that is not thread-safe.
 */

/* Maximum number of targets to collect before writing them to a long row. */
#define TARGETS_MAX 65536u
/* Maximum length of an array that other threads read. The calling thread reads longer arrays. */
#define ELEMENTS_MAX 16384u

/* How objects of a class are read, as bits. */
enum {
	BY_PLAN = 1,     /* instances: the threads read the fields of the plan */
	BY_ELEMENTS = 2, /* arrays: the threads read the elements */
	BY_CALLER = 4,   /* instances: the calling thread reads them */
};

/* State of make_rows. */
struct row_builder {
	struct trace_graph *graph;
	struct heap *heap;
	struct graph_rows *rows;
	uint64_t *late;
	uint8_t *how; /* indexed by class: how its objects are read */
	size_t most;  /* maximum number of targets of an object that threads read */
	/* used only for the object that the calling thread reads: */
	struct base_vec targets; /* uint32_t */
	struct graph_row *row;
	bool is_late;
};

/* ---- on any thread ---- */

/* A block being read by a thread. Its values are offsets. */
struct reading {
	struct row_builder *builder;
	struct derive_block *block;
	struct base_vec *targets; /* uint32_t: of the current object */
	struct base_view view;
};

/* Reads the head of an object's sub-record. Returns false if the tag differs. */
static bool read_head(struct reading *r, uint64_t offset, uint8_t tag, struct hprof_sub *sub)
{
	const unsigned id_size = r->builder->heap->id_size;
	const uint64_t head = 9 + 2 * (uint64_t)id_size;
	const struct hprof_range range = { offset, r->builder->heap->dump.source->size };
	bool is_quick;

	if (!offset || !base_view_at(&r->view, offset, head, NULL))
		return false;
	is_quick = id_size == 8 ? hprof_quick_sub(&r->view, range, 8, sub) :
				  hprof_quick_sub(&r->view, range, 4, sub);
	return is_quick && sub->tag == tag;
}

/* Finds the targets of the fields of a plan. */
static void read_fields(struct reading *r, const uint8_t *body, uint64_t body_size,
			const struct trace_plan *plan, uint32_t ix)
{
	struct row_builder *m = r->builder;
	const unsigned id_size = m->heap->id_size;
	uint32_t *targets = r->targets->data;
	size_t n = 0;

	assert(plan->count <= r->targets->capacity);
	for (size_t i = 0; i < plan->count; i++) {
		const struct trace_field *field = &plan->fields[i];
		uint64_t id;

		if (field->is_ignored || (uint64_t)field->at + id_size > body_size)
			continue;
		id = be_id(body + field->at, id_size);
		if (!id || trace_ids_find(&m->graph->ids, id, &targets[n], NULL) != HDB_OK)
			continue;
		n++;
		/* Blocks never share a word of the bit set, so no other thread writes this word. */
		if (field->rule)
			base_bit_put(m->late, ix);
	}
	r->targets->count = n;
}

static void read_elements(struct reading *r, const uint8_t *body, uint64_t length)
{
	struct row_builder *m = r->builder;
	const unsigned id_size = m->heap->id_size;
	uint32_t *targets = r->targets->data;
	size_t n = 0;

	assert(length <= r->targets->capacity);
	for (uint64_t i = 0; i < length; i++) {
		const uint64_t id = be_id(body + i * id_size, id_size);

		if (id && trace_ids_find(&m->graph->ids, id, &targets[n], NULL) == HDB_OK)
			n++;
	}
	r->targets->count = n;
}

/*
 * Finds the targets of object i of the block. Returns false if the calling thread must read the
 * object.
 */
static bool read_object(struct reading *r, uint32_t i)
{
	const struct heap_block *objects = r->block->objects;
	const uint32_t no = objects->class_no[i];
	const uint8_t how = r->builder->how[no], kind = objects->kind[i];
	const uint64_t offset = r->block->values[i];
	struct hprof_sub sub;
	const uint8_t *body;

	r->targets->count = 0;
	if (kind == STORE_PRIMITIVE_ARRAY || (kind == STORE_OBJECT_ARRAY && !(how & BY_ELEMENTS)) ||
	    (kind == STORE_INSTANCE && !(how & (BY_PLAN | BY_CALLER))))
		return true;
	if (kind == STORE_CLASS || objects->embedded[i] ||
	    (kind == STORE_INSTANCE && how & BY_CALLER))
		return false;
	if (!read_head(r, offset,
		       kind == STORE_INSTANCE ? HPROF_INSTANCE_DUMP : HPROF_OBJECT_ARRAY_DUMP,
		       &sub))
		return false;
	if (kind == STORE_OBJECT_ARRAY && sub.length > ELEMENTS_MAX)
		return false;
	body = base_view_at(&r->view, sub.body_offset, sub.body_size, NULL);
	if (!body)
		return false;
	if (kind == STORE_INSTANCE)
		read_fields(r, body, sub.body_size, r->builder->graph->plans[no],
			    objects->first_ix + i);
	else
		read_elements(r, body, sub.length);
	return true;
}

static void release_reading(struct reading *reading)
{
	base_view_release(&reading->view);
}

static int make_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct row_builder *m = ctx;
	struct trace_graph *graph = m->graph;
	const struct heap_block *objects = block->objects;
	BASE_SCOPED(release_reading)
	struct reading reading = {
		.builder = m,
		.block = block,
		.targets = &((struct derive_row_room *)block->room)->targets,
		.view = { .src = m->heap->dump.source },
	};
	size_t local = trace_graph_locals(graph, objects->first_ix);
	/* next thread that has local variables; a thread refers to its local variables */
	uint32_t thread = HEAP_NONE;

	heap_prefetch_ahead(m->heap, block->block_no);
	derive_rows_begin(block);
	TRY(base_vec_reserve(reading.targets, m->most, sizeof(uint32_t), err));
	TRY(heap_read_offsets(m->heap, block->block_no, block->values, err));
	for (uint32_t i = 0; i < objects->count; i++) {
		const uint32_t ix = objects->first_ix + i;

		for (; local < graph->locals.count && (thread == HEAP_NONE || thread < ix); local++)
			thread = base_vec_at(&graph->locals, struct store_root, local)
					 ->thread_serial;
		if (ix == thread || !graph->ids.page_count || !read_object(&reading, i))
			TRY(derive_rows_leave(block, i, 0, err));
		else
			TRY(derive_rows_add(m->rows, block, i, (uint32_t)reading.targets->count,
					    err));
	}
	return HDB_OK;
}

/* ---- on the calling thread ---- */

static int take_target(void *ctx, const struct trace_reference *reference, struct hdb_error *err)
{
	struct row_builder *m = ctx;
	int r = base_vec_push(&m->targets, &reference->to, sizeof(reference->to), err);

	m->is_late |= reference->is_late;
	if (r != HDB_OK || m->targets.count < TARGETS_MAX)
		return r;
	m->targets.count = 0;
	return graph_rows_add_long(m->rows, &m->row->longs, m->targets.data, TARGETS_MAX, err);
}

/* Completes a row. A row without targets means that the object is still to be read. */
static int finish_row(void *ctx, const struct derive_block *block,
		      const struct derive_left_row *left, struct graph_row *row,
		      struct hdb_error *err)
{
	struct row_builder *m = ctx;

	(void)block;
	if (left->count)
		return graph_rows_finish(m->rows, row, left->targets, left->count, err);
	m->targets.count = 0;
	m->row = row;
	m->is_late = false;
	TRY(trace_graph_read(m->graph, row->source, take_target, m, err));
	if (m->is_late)
		base_bit_put(m->late, row->source);
	return graph_rows_finish(m->rows, row, m->targets.data, m->targets.count, err);
}

static int take_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	return derive_rows_join(((struct row_builder *)ctx)->rows, block, finish_row, ctx, err);
}

/* ---- before ---- */

static int plan_counted(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct row_builder *m = ctx;
	const uint32_t no = count->class_no;

	if (count->kind != STORE_INSTANCE || no >= m->heap->class_count)
		return HDB_OK;
	TRY(trace_graph_plan(m->graph, no, err));
	m->how[no] &= (uint8_t)~BY_CALLER;
	/* Strings include their characters and have no references. */
	if (m->graph->shapes[no])
		m->how[no] |= BY_CALLER;
	else if (m->graph->plans[no]->count && !heap_string_layout(m->heap, no))
		m->how[no] |= BY_PLAN;
	return HDB_OK;
}

/* Finds how the objects of each class are read. */
static int plan_classes(struct row_builder *m, struct hdb_error *err)
{
	int r;

	TRY(BASE_ALLOC(m->how, (size_t)m->heap->class_count + 1, "classes", err));
	for (uint32_t no = 0; no < m->heap->class_count; no++)
		m->how[no] = heap_class(m->heap, no)->element_bytes || trace_is_boxes(m->heap, no) ?
				     BY_CALLER :
				     BY_CALLER | BY_ELEMENTS;
	/*
	 * Without the import's counts, the calling thread builds each plan when it first needs it.
	 */
	r = heap_each_count(m->heap, plan_counted, m, err);
	m->most = ELEMENTS_MAX;
	for (uint32_t no = 0; no < m->heap->class_count; no++)
		if (m->graph->plans[no] && m->graph->plans[no]->count > m->most)
			m->most = m->graph->plans[no]->count;
	return r > 0 ? HDB_OK : r;
}

static void release_builder(struct row_builder *m)
{
	free(m->how);
	base_vec_release(&m->targets);
}

/*
 * Fills in *rows, and sets the bit in late[] of each object with references that are followed late.
 * The caller must release the rows, even after a failure.
 */
static int make_rows(struct trace_graph *graph, struct graph_rows *rows, uint64_t *late,
		     struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;
	BASE_SCOPED(release_builder)
	struct row_builder m = { .graph = graph, .heap = heap, .rows = rows, .late = late };
	HEAP_FILTER_SCOPE(heap_show_all, heap);

	TRY(graph_rows_init(rows, heap->object_count, graph->session->work, err));
	TRY(heap_load_strings(heap, err));
	TRY(plan_classes(&m, err));
	return derive_each_block(
		graph->session->derive,
		&(struct derive_pass){ .stage = "reading references for leak traces",
				       .reads_objects = true,
				       .make = make_block,
				       .take = take_block,
				       .ctx = &m,
				       .room_bytes = sizeof(struct derive_row_room),
				       .release = derive_rows_release },
		err);
}

/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 16384u

/* ---- roots ---- */

/*
 * Root kinds in the order in which they are tried, as in LeakCanary. Other kinds do not keep
 * objects alive.
 */
static const uint8_t root_order[] = {
	HPROF_ROOT_THREAD_OBJECT, HPROF_ROOT_THREAD_BLOCK, HPROF_ROOT_STICKY_CLASS,
	HPROF_ROOT_NATIVE_STACK,  HPROF_ROOT_MONITOR_USED, HPROF_ROOT_JNI_MONITOR,
	HPROF_ROOT_JNI_LOCAL,     HPROF_ROOT_JNI_GLOBAL,   HPROF_ROOT_JAVA_FRAME,
};
#define ROOT_KINDS BASE_COUNT(root_order)

/* Returns the position of a root's kind in this order, or ROOT_KINDS. */
static unsigned rank_root(const struct store_root *root)
{
	unsigned i = 0;

	/* A local variable of a known thread is a reference from that thread. */
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

BASE_ORDER(compare_roots, struct ranked_root, BASE_UP(rank), BASE_BY_TEXT(class_name), BASE_UP(ix))

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

		/* One object can have millions of root records. */
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

/* A queue of objects that never wraps. */
struct queue {
	uint32_t *ix;
	uint64_t head, tail;
	struct base_big big;
};

struct walk {
	struct trace_search *search;
	struct queue first, last;
	uint64_t *is_waiting; /* bit set: objects that are still in the last queue */
	uint32_t from;        /* the object whose references are followed; GRAPH_NONE for roots */
	bool is_last;         /* whether only the last queue is left */
};

/* Adds an object that the search just found, unless a queue contains it. */
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
		/*
		 * Move the object to the first queue. Its entry in the last queue is skipped later.
		 */
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
	/* A reference from an object to itself leads nowhere. */
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
	/* Each object enters a queue once, or both queues if it is moved. */
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
	TRY(make_rows(graph, &s->rows, s->has_late, err));
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
