/*
 * queries/compare/growth_tree.c - builds the tree of paths merged by reference names.
 *
 * The walk proceeds in runs. A run consists of all objects to which references with the same name
 * lead from one node. These objects become one node, and their own references, grouped by name,
 * become the next runs.
 */
#include "queries/compare/growth_tree.h"

#include "base/bits.h"
#include "heap/heap_database.h"
#include "heap/known.h"
#include "queries/traces/trace_search.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512
/* Number of runs between two checks of the cancel flag. */
#define STEP_RUNS 1024u
/* Flag in classes[]: the object is the class object of this class. */
#define CLASS_OBJECT 0x80000000u

/* Pending objects: the targets of all references from one node that have the same name. */
struct run {
	uint32_t parent; /* a node, or ANALYSIS_MERGED_TOP */
	uint32_t name;
	uint64_t first, count; /* range of the queue's `objects` */
};

/* Pending runs in order. */
struct queue {
	struct base_vec runs; /* struct run */
	size_t head;
	uint32_t *objects;
	uint64_t used;
	struct base_big objects_big;
	uint64_t *has; /* bit set of objects that were ever added */
};

/* References with the same name from the objects of a node. */
struct group {
	uint32_t name;
	bool is_late;
	uint64_t count, at;
};

/* An object to which a reference of a group leads. */
struct pair {
	uint32_t group, ix;
};

/* State of growth_tree_add. */
struct walk {
	const struct session *session;
	struct analysis_merged *m;
	struct trace_graph graph;
	uint32_t *place;   /* indexed by object: its node */
	uint32_t *classes; /* indexed by object */
	struct base_big place_big, classes_big;
	struct queue first, last;
	bool is_last;           /* whether only the last queue remains */
	struct base_vec groups; /* struct group of the node being visited */
	struct base_vec pairs;  /* struct pair */
	/*
	 * Indexed by name and is_late: 1 + index of the group. An entry may be left over from an
	 * earlier node, so find_group checks that the group exists and has this name.
	 */
	struct base_vec group_of; /* uint32_t */
	/*
	 * edge numbers by owner and field, for each kind of reference; names by edge and class of
	 * the target
	 */
	struct base_idmap edges[TRACE_ENTRY + 1], names;
	uint32_t edge_count;
};

/* ---- names ---- */

/* Returns the name of a class without its package. */
static const char *simple_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

static int make_name(struct walk *w, const struct trace_reference *reference, uint32_t target,
		     uint32_t *name, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	const char *owner = simple_name(heap_class_name(heap, reference->owner_no));
	const char *class_name = heap_class_name(heap, target & ~CLASS_OBJECT);
	char edge[NAME_MAX_BYTES], text[3 * NAME_MAX_BYTES];

	TRY(trace_reference_generic(&w->graph, reference, edge, sizeof(edge), err));
	(void)snprintf(text, sizeof(text), "%.*s%s%s -> %s%.*s",
		       reference->kind == TRACE_LOCAL ? 0 : NAME_MAX_BYTES, owner,
		       reference->kind == TRACE_ENTRY || reference->kind == TRACE_LOCAL ? "" : ".",
		       reference->kind == TRACE_LOCAL ? "local variable" : edge,
		       target & CLASS_OBJECT ? "class " : "", NAME_MAX_BYTES, class_name);
	return analysis_merged_text(w->m, text, name, err);
}

/* Finds the name of a reference. Names are cached, because building the string is slow. */
static int name_of(struct walk *w, const struct trace_reference *reference, uint32_t *name,
		   struct hdb_error *err)
{
	struct base_idmap *edges = &w->edges[reference->kind];
	const uint32_t text = reference->kind == TRACE_FIELD || reference->kind == TRACE_STATIC ?
				      reference->name_text :
				      0;
	const uint64_t edge_key = (uint64_t)reference->owner_no << 32 | text;
	uint32_t edge = base_idmap_get(edges, edge_key);
	const uint32_t target = w->classes[reference->to];

	assert(reference->kind <= TRACE_ENTRY);
	if (edge == BASE_IDMAP_NONE) {
		edge = w->edge_count++;
		TRY(base_idmap_put(edges, edge_key, edge, err));
	}
	*name = base_idmap_get(&w->names, (uint64_t)edge << 32 | target);
	if (*name != BASE_IDMAP_NONE)
		return HDB_OK;
	TRY(make_name(w, reference, target, name, err));
	return base_idmap_put(&w->names, (uint64_t)edge << 32 | target, *name, err);
}

/* ---- queues ---- */

static int init_queue(struct walk *w, struct queue *queue, struct hdb_error *err)
{
	const uint64_t n = w->session->heap->object_count;

	/* Each object enters a queue at most once. */
	TRY(base_big_alloc_raw(w->session->work, &queue->objects_big, (n + 1) * sizeof(uint32_t),
			       "paths", err));
	queue->objects = queue->objects_big.data;
	return BASE_ALLOC(queue->has, (size_t)(n / 64 + 1), "paths", err);
}

static void release_queue(struct queue *queue)
{
	base_vec_release(&queue->runs);
	base_big_free(&queue->objects_big);
	free(queue->has);
}

/* Finds or adds the group of a name for the node being visited. */
static int find_group(struct walk *w, uint32_t name, bool is_late, uint32_t *out,
		      struct hdb_error *err)
{
	const size_t place = (size_t)name * 2 + is_late;
	const uint32_t none = 0;
	const struct group group = { .name = name, .is_late = is_late };
	uint32_t *there;

	while (w->group_of.count <= place)
		TRY(base_vec_push(&w->group_of, &none, sizeof(none), err));
	there = base_vec_at(&w->group_of, uint32_t, place);
	if (*there && *there <= w->groups.count) {
		const struct group *g = base_vec_at(&w->groups, struct group, *there - 1);

		*out = *there - 1;
		if (g->name == name && g->is_late == is_late)
			return HDB_OK;
	}
	*out = (uint32_t)w->groups.count;
	*there = *out + 1;
	return base_vec_push(&w->groups, &group, sizeof(group), err);
}

/*
 * Adds a reference to object `ix`. The object becomes pending, unless it is pending already or has
 * a node.
 */
static int add_target(struct walk *w, uint32_t name, uint32_t ix, bool is_late,
		      struct hdb_error *err)
{
	const bool goes_last = is_late || w->is_last;
	struct queue *queue = goes_last ? &w->last : &w->first;
	struct pair pair = { .ix = ix };
	int r = find_group(w, name, is_late, &pair.group, err);

	if (r != HDB_OK || base_bit_has(w->first.has, ix) || base_bit_has(queue->has, ix))
		return r;
	base_bit_put(queue->has, ix);
	base_vec_at(&w->groups, struct group, pair.group)->count++;
	return base_vec_push(&w->pairs, &pair, sizeof(pair), err);
}

/* Moves the groups of the visited node into the queues. */
static int enqueue_groups(struct walk *w, uint32_t parent, struct hdb_error *err)
{
	for (size_t i = 0; i < w->groups.count; i++) {
		struct group *g = base_vec_at(&w->groups, struct group, i);
		struct queue *queue = g->is_late || w->is_last ? &w->last : &w->first;
		const struct run run = { parent, g->name, queue->used, g->count };

		g->at = queue->used;
		queue->used += g->count;
		assert(queue->used <= w->session->heap->object_count); /* each object once */
		if (g->count)
			TRY(base_vec_push(&queue->runs, &run, sizeof(run), err));
	}
	for (size_t i = 0; i < w->pairs.count; i++) {
		const struct pair *pair = base_vec_at(&w->pairs, struct pair, i);
		struct group *g = base_vec_at(&w->groups, struct group, pair->group);
		struct queue *queue = g->is_late || w->is_last ? &w->last : &w->first;

		assert(g->at < queue->used);
		queue->objects[g->at++] = pair->ix;
	}
	w->groups.count = w->pairs.count = 0;
	return HDB_OK;
}

static bool take_run(struct walk *w, struct run *run)
{
	struct queue *queue = &w->first;

	if (w->is_last || queue->head == queue->runs.count) {
		w->is_last = true;
		queue = &w->last;
	}
	if (queue->head == queue->runs.count)
		return false;
	*run = *base_vec_at(&queue->runs, struct run, queue->head++);
	assert(run->count > 0 && run->first + run->count <= queue->used);
	return true;
}

/* ---- the walk ---- */

static int take_reference(void *ctx, const struct trace_reference *reference, struct hdb_error *err)
{
	struct walk *w = ctx;
	uint32_t name;

	if (w->place[reference->to] != ANALYSIS_MERGED_TOP)
		return HDB_OK;
	TRY(name_of(w, reference, &name, err));
	return add_target(w, name, reference->to, reference->is_late, err);
}

/* Visits a run. All objects of the run that have no node yet become one node. */
static int visit(struct walk *w, const struct run *run, struct hdb_error *err)
{
	const uint32_t *objects = w->is_last ? w->last.objects : w->first.objects;
	uint32_t node = ANALYSIS_MERGED_TOP;

	for (uint64_t i = 0; i < run->count; i++) {
		const uint32_t ix = objects[run->first + i];

		if (w->place[ix] != ANALYSIS_MERGED_TOP)
			continue;
		if (node == ANALYSIS_MERGED_TOP)
			TRY(analysis_merged_child(w->m, run->parent, run->name, &node, err));
		w->place[ix] = node;
		TRY(trace_graph_read(&w->graph, ix, take_reference, w, err));
	}
	return enqueue_groups(w, node, err);
}

static int enqueue_roots(struct walk *w, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec roots = { 0 };

	TRY(trace_roots(&w->graph, &roots, err));
	for (size_t i = 0; i < roots.count; i++) {
		const struct trace_root *root = base_vec_at(&roots, struct trace_root, i);
		char text[64];
		uint32_t name;

		(void)snprintf(text, sizeof(text), "GC root (%s)",
			       root->kind ? heap_root_name(root->kind) : "without a holder");
		TRY(analysis_merged_text(w->m, text, &name, err));
		TRY(add_target(w, name, root->ix, root->is_late, err));
	}
	return enqueue_groups(w, ANALYSIS_MERGED_TOP, err);
}

static int walk_all(struct walk *w, struct hdb_error *err)
{
	struct base_work *work = w->session->work;
	uint64_t turn = 0;
	struct run run;

	base_stage(work, "searching paths by name", w->session->heap->object_count, "objects");
	TRY(enqueue_roots(w, err));
	while (take_run(w, &run)) {
		TRY(visit(w, &run, err));
		if (++turn % STEP_RUNS == 0)
			TRY(base_step(work, w->first.used + w->last.used, err));
	}
	return HDB_OK;
}

static int load_classes(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct walk *w = ctx;
	const struct heap *heap = w->session->heap;

	for (uint32_t i = 0; i < block->count; i++)
		w->classes[block->first_ix + i] =
			block->kind[i] == STORE_CLASS ? CLASS_OBJECT | (uint32_t)block->length[i] :
							block->class_no[i];
	for (uint32_t i = 0; i < block->count; i++)
		if ((w->classes[block->first_ix + i] & ~CLASS_OBJECT) >= heap->class_count)
			return hdb_fail(err, HDB_ECORRUPT,
					"%s: damaged: an object without a class; import the dump "
					"again",
					heap_path(heap));
	return HDB_OK;
}

/* ---- objects that are part of another object ---- */

/* Collects parts of other objects. */
struct adding {
	struct walk *walk;
	uint64_t *added; /* bit set of these parts */
};

static void add_to(struct adding *a, uint32_t ix, uint32_t to)
{
	if (a->walk->place[ix] != ANALYSIS_MERGED_TOP)
		return;
	assert(a->walk->place[to] != ANALYSIS_MERGED_TOP);
	a->walk->place[ix] = a->walk->place[to];
	base_bit_put(a->added, ix);
}

static int add_boxes(struct adding *a, uint32_t ix, struct hdb_error *err)
{
	struct heap *heap = a->walk->session->heap;
	struct heap_walk walk;
	uint64_t id;
	uint32_t to;
	int r;

	heap_walk_begin(&walk, ix, 0, UINT64_MAX);
	while ((r = heap_walk_next(heap, &walk, &id, err)) == HDB_OK)
		if (id && trace_ids_find(&a->walk->graph.ids, id, &to, err) == HDB_OK)
			add_to(a, to, ix);
	return r < 0 ? r : HDB_OK;
}

/*
 * Adds the characters of strings, and the elements of arrays of boxes, to the objects that contain
 * them, unless another reference leads to them.
 */
static int add_parts(struct walk *w, uint64_t *added, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct adding a = { w, added };
	BASE_FREED uint8_t *is_boxes = NULL;
	uint32_t to;

	TRY(BASE_ALLOC(is_boxes, (size_t)heap->class_count + 1, "classes", err));
	for (uint32_t no = 0; no < heap->class_count; no++)
		is_boxes[no] = trace_is_boxes(heap, no);
	for (uint32_t ix = 0; ix < heap->object_count; ix++) {
		if (w->place[ix] == ANALYSIS_MERGED_TOP || w->classes[ix] & CLASS_OBJECT ||
		    base_bit_has(added, ix))
			continue;
		if (is_boxes[w->classes[ix]]) {
			TRY(add_boxes(&a, ix, err));
		} else if (heap_is_string(heap, ix)) {
			const int r = heap_path_object(heap, ix, "value", &to, err);

			TRY_ERRORS(r);
			if (r == HDB_OK)
				add_to(&a, to, ix);
		}
	}
	return HDB_OK;
}

/* ---- the whole tree ---- */

static int prepare(struct walk *w, enum library_use use, struct hdb_error *err)
{
	struct base_work *work = w->session->work;
	const uint64_t n = w->session->heap->object_count;

	analysis_merged_limit(w->m, w->session);
	TRY(trace_graph_init(&w->graph, w->session, use, err));
	TRY(base_big_alloc_raw(work, &w->place_big, (n + 1) * sizeof(uint32_t), "paths", err));
	TRY(base_big_alloc_raw(work, &w->classes_big, (n + 1) * sizeof(uint32_t), "paths", err));
	TRY(init_queue(w, &w->first, err));
	TRY(init_queue(w, &w->last, err));
	w->place = w->place_big.data;
	w->classes = w->classes_big.data;
	memset(w->place, 0xff, (n + 1) * sizeof(uint32_t));
	return heap_each_block(w->session->heap, NULL, load_classes, w, err);
}

static void release(struct walk *w)
{
	for (size_t i = 0; i <= TRACE_ENTRY; i++)
		base_idmap_release(&w->edges[i]);
	base_idmap_release(&w->names);
	base_vec_release(&w->groups);
	base_vec_release(&w->pairs);
	base_vec_release(&w->group_of);
	release_queue(&w->first);
	release_queue(&w->last);
	base_big_free(&w->classes_big);
	base_big_free(&w->place_big);
	trace_graph_release(&w->graph);
}

int growth_tree_add(const struct session *session, struct analysis_merged *m, unsigned dump,
		    const struct growth_tree_options *options, struct hdb_error *err)
{
	struct analysis_merged_places places = { .members = options->members };
	BASE_SCOPED(release) struct walk w = { .session = session, .m = m };
	BASE_FREED uint64_t *added = NULL;
	const bool is_filtered = session->heap->filter.is_on;
	/* Paths pass through all objects, but only objects that match the filter are counted. */
	HEAP_FILTER_SCOPE(heap_show_all, session->heap);

	TRY(BASE_ALLOC(added, (size_t)session->heap->object_count / 64 + 1, "paths", err));
	TRY(prepare(&w, options->use, err));
	TRY(walk_all(&w, err));
	TRY(add_parts(&w, added, err));
	places.node = w.place;
	places.added = options->members ? NULL : added;
	session->heap->filter.is_on = is_filtered;
	TRY(analysis_merged_count(session, m, dump, &places, err));
	if (!options->place)
		return HDB_OK;
	/* Parts of other objects have no nodes. */
	for (uint32_t ix = 0; ix < session->heap->object_count; ix++)
		if (base_bit_has(added, ix))
			w.place[ix] = ANALYSIS_MERGED_TOP;
	*options->place = w.place_big;
	w.place_big = (struct base_big){ 0 };
	return HDB_OK;
}
