/*
 * queries/explain/held_objects.c - counts the instances that a suspect holds, by kind of class:
 * collections, exceptions, futures, tasks, references, views and others.
 */
#include "queries/explain/held_private.h"

#include "base/glob.h"
#include "heap/collections/collections.h"
#include "heap/platform_classes.h"
#include "queries/explain/entry_private.h"

#include <string.h>

/* Minimum number of entries in a collection that is examined. */
#define FACTS_ENTRIES_MIN 1000u
/* Minimum number of entries of a collection if no collection has FACTS_ENTRIES_MIN entries. */
#define FACTS_ENTRIES_SOME 50u
/*
 * Maximum number of entries in a map or set that is reported as small. The table and nodes of such
 * a collection take more memory than its contents.
 */
#define FACTS_SMALL 10u
/* A task that should have run at least this long ago is overdue. */
#define OVERDUE_MS 60000u

/* Remembers a collection if it is the first large collection or retains the most. */
static int choose_largest(struct held_walk *w, const struct held_node *node,
			  const struct heap_collection *collection, struct hdb_error *err)
{
	/* the map inside a set is counted as part of the set */
	const struct held_node *parent = held_parent(w, node);
	struct heap_collection counted = *collection;
	uint64_t bytes, budget = FACTS_ENTRIES_MIN;

	if (w->top_bytes && !(parent && parent->ix == w->most_ix) &&
	    (!collection->has_size || collection->size >= FACTS_ENTRIES_SOME)) {
		TRY(derive_retained(w->session->derive, node->ix, &bytes, err));
		if (bytes >= w->top_bytes / 2)
			w->most_ix = node->ix;
	}
	if (w->largest_ix == HEAP_NONE && !collection->has_size)
		TRY_ERRORS(heap_collection_count(w->session->heap, &counted, &budget, err));
	if (w->largest_ix == HEAP_NONE && (!counted.has_size || counted.size >= FACTS_ENTRIES_MIN))
		w->largest_ix = node->ix;
	if (w->larger_ix == HEAP_NONE && counted.has_size && counted.size >= FACTS_ENTRIES_SOME)
		w->larger_ix = node->ix;
	return HDB_OK;
}

/* Finds the array of a string builder or stream, and how much of the array is used. */
static int look_at_builder(struct held_walk *w, const struct held_node *node, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_object array;
	uint64_t used, coder;
	uint32_t ix;

	TRY_FOUND(heap_path_object(heap, node->ix, "value|buf", &ix, err));
	TRY(heap_object(heap, ix, &array, err));
	TRY(held_field(w, node->ix, "count", &used, err));
	TRY(held_field(w, node->ix, "coder", &coder, err));
	used <<= coder == 1;
	if (!array.length || used > array.length)
		return HDB_OK;
	held_add_room(w, &(struct held_addend){
				 node->class_no, node->weight, (double)array.length, (double)used,
				 (double)array.shallow_bytes *
					 ((double)(array.length - used) / (double)array.length) });
	return HDB_OK;
}

static int look_at_collection(struct held_walk *w, const struct held_node *node,
			      const struct heap_object *object, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_collection collection;
	uint64_t removed;
	bool never;

	TRY_FOUND(heap_collection_open(heap, node->ix, &collection, err));
	if (collection.inner && !(collection.rule->flags & HEAP_PART))
		TRY(choose_largest(w, node, &collection, err));
	w->plumbing += node->weight * (double)object->shallow_bytes;
	if (!collection.has_size || collection.inner_ix != node->ix)
		return HDB_OK;
	TRY(entry_growth(heap, &collection, &never, &removed, err));
	held_add(&w->filled, &(struct held_addend){ .class_no = node->class_no,
						    .weight = node->weight,
						    .used = never,
						    .bytes = 1 });
	if (collection.size && collection.size <= FACTS_SMALL &&
	    (collection.rule->kind == HEAP_MAP || collection.rule->kind == HEAP_SET))
		held_add(&w->small,
			 &(struct held_addend){ .class_no = node->class_no,
						.weight = node->weight,
						.used = (double)collection.size,
						.bytes = (double)object->shallow_bytes });
	if (collection.size)
		return HDB_OK;
	held_add(&w->empties, &(struct held_addend){ node->class_no, node->weight, 0, 0,
						     (double)object->shallow_bytes });
	return HDB_OK;
}

static int look_at_error(struct held_walk *w, const struct held_node *node, struct hdb_error *err)
{
	struct heap_collection collection = { .size = 0 };
	uint64_t bytes;
	uint32_t ix;
	int r;

	TRY(derive_retained(w->session->derive, node->ix, &bytes, err));
	held_add(&w->errors,
		 &(struct held_addend){ node->class_no, node->weight, 0, 0, (double)bytes });
	TRY_ERRORS(
		r = heap_path_object(w->session->heap, node->ix, "suppressedExceptions", &ix, err));
	if (r == HDB_OK)
		TRY_ERRORS(heap_collection_open(w->session->heap, ix, &collection, err));
	if ((double)collection.size > w->suppressed)
		w->suppressed = (double)collection.size;
	return HDB_OK;
}

/*
 * Counts a task that is to run once and has not run: a TimerTask that is overdue, or a task whose
 * time is in the future or, for a FutureTask, unknown.
 */
static void add_scheduled(struct held_walk *w, const struct held_addend *task, bool is_timer,
			  uint64_t time_ms)
{
	const bool is_overdue = is_timer && w->now_ms && time_ms + OVERDUE_MS < w->now_ms;

	held_add(is_overdue ? &w->overdue : &w->scheduled, task);
	if (!is_timer)
		return;
	w->timers += is_overdue ? 0 : task->weight;
	if (!w->due_ms || time_ms < w->due_ms)
		w->due_ms = time_ms;
}

static int look_at_task(struct held_walk *w, const struct held_node *node, bool is_timer,
			struct hdb_error *err)
{
	const struct held_addend task = { .class_no = node->class_no, .weight = node->weight };
	uint64_t state, period, time, runner;

	TRY(held_field(w, node->ix, "state", &state, err));
	TRY(held_field(w, node->ix, "period", &period, err));
	TRY(held_field(w, node->ix, is_timer ? "nextExecutionTime" : "time", &time, err));
	TRY(held_field(w, node->ix, "runner", &runner, err));
	w->periodic += period ? node->weight : 0;
	held_add(&w->tasks, &task);
	/* state NEW of FutureTask, SCHEDULED of TimerTask */
	if (state == (is_timer ? 1 : 0) && time && !period && !runner)
		add_scheduled(w, &task, is_timer, time);
	/* states CANCELLED, INTERRUPTING and INTERRUPTED of FutureTask; CANCELLED of TimerTask */
	if (is_timer ? state == 3 : state >= 4 && state <= 6)
		w->cancelled += node->weight;
	/* states COMPLETING, NORMAL and EXCEPTIONAL of FutureTask; EXECUTED of TimerTask */
	else if (is_timer ? state == 2 : state >= 1 && state <= 3)
		w->done += node->weight;
	/*
	 * state NEW of FutureTask; such a task waits for a thread, unless it has a scheduled time
	 * or a runner, which is the thread that runs it
	 */
	else if (!is_timer && !state && !time && !runner)
		w->queued += node->weight;
	return HDB_OK;
}

static int look_at_future(struct held_walk *w, const struct held_node *node, struct hdb_error *err)
{
	const struct held_node *parent = held_parent(w, node);
	uint64_t result, actions;

	/*
	 * a future returned by thenApply() or a similar method is completed by the future on which
	 * it depends
	 */
	if (parent && heap_has_superclass(w->session->heap, parent->class_no,
					  "java.util.concurrent.CompletableFuture$Completion")) {
		w->dependents += node->weight;
		return HDB_OK;
	}
	TRY(held_field(w, node->ix, "result", &result, err));
	TRY(held_field(w, node->ix, "stack", &actions, err));
	held_add(&w->futures,
		 &(struct held_addend){ .class_no = node->class_no, .weight = node->weight });
	if (!result)
		w->open_futures += node->weight;
	if (!result && actions) {
		uint64_t bytes;

		TRY(derive_retained(w->session->derive, node->ix, &bytes, err));
		w->waited += node->weight;
		w->waited_bytes += node->weight * (double)bytes;
	}
	return HDB_OK;
}

/* States of a continuation that has not been resumed. All other states are results. */
static const char waiting_states[] =
	"kotlinx.coroutines.Active,kotlinx.coroutines.*OnCancel*,kotlinx.coroutines.CancelHandler*,"
	"kotlinx.coroutines.ChildContinuation,kotlinx.coroutines.*Segment";

/* Determines whether a CancellableContinuationImpl or a SafeContinuation has not been resumed. */
static int is_waiting(struct heap *heap, uint32_t ix, bool *out, struct hdb_error *err)
{
	struct heap_value ordinal = { .bits = 2 };
	const char *name;

	TRY_FOUND(heap_path_object(heap, ix, "_state|_state$volatile|result", &ix, err));
	name = heap_class_name_of(heap, ix);
	*out = base_glob_list(waiting_states, name);
	if (strcmp(name, "kotlin.coroutines.intrinsics.CoroutineSingletons") == 0) {
		/* COROUTINE_SUSPENDED, UNDECIDED, RESUMED */
		TRY_ERRORS(heap_path_value(heap, ix, "ordinal", &ordinal, err));
		*out = ordinal.bits < 2;
	}
	return HDB_OK;
}

/*
 * Counts a suspended coroutine by the class of its innermost function that belongs to the
 * application. Each function's continuation refers to that of its caller.
 */
static int look_at_suspended(struct held_walk *w, const struct held_node *node,
			     struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_object object;
	uint64_t label;
	uint32_t ix;
	bool waits = false;

	TRY(is_waiting(heap, node->ix, &waits, err));
	if (!waits)
		return HDB_OK;
	TRY_FOUND(heap_path_object(heap, node->ix, "delegate", &ix, err));
	TRY_ERRORS(heap_path_object(heap, ix, "continuation", &ix, err));
	for (unsigned i = 0;
	     i < FACTS_CLIMBS && heap_is_platform_class(heap_class_name_of(heap, ix)); i++)
		TRY_FOUND(heap_path_object(heap, ix, "completion", &ix, err));
	TRY(heap_object(heap, ix, &object, err));
	TRY(held_field(w, ix, "label", &label, err));
	held_add(&w->suspended, &(struct held_addend){ .class_no = object.class_no,
						       .weight = node->weight,
						       .places = (double)label,
						       .bytes = 1 });
	return HDB_OK;
}

/*
 * Counts a key of a weak map that its own entry dominates. The entry refers to the key weakly, so
 * only the entry's value keeps it alive.
 */
static int look_at_key(struct held_walk *w, const struct held_node *node, uint64_t referent,
		       struct hdb_error *err)
{
	uint32_t ix, dominator;

	TRY_FOUND(heap_find(w->session->heap, referent, &ix, err));
	for (unsigned i = 0; i < FACTS_CLIMBS; i++) {
		TRY(derive_dominator(w->session->derive, ix, &dominator, err));
		if (dominator == node->ix)
			held_add(&w->self_kept,
				 &(struct held_addend){ node->class_no, node->weight, 0, 0, 1 });
		if (dominator == node->ix || dominator == HEAP_NONE || dominator == ix)
			return HDB_OK;
		ix = dominator;
	}
	return HDB_OK;
}

static int look_at_reference(struct held_walk *w, const struct held_node *node,
			     struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_value queue = { .bits = 0 };
	uint64_t referent, bytes;

	TRY_ERRORS(heap_path_value_as(heap, (struct heap_as){ node->ix, w->reference_no }, "queue",
				      &queue, err));
	TRY(held_field(w, node->ix, "referent", &referent, err));
	TRY(derive_retained(w->session->derive, node->ix, &bytes, err));
	held_add(&w->references, &(struct held_addend){ node->class_no, node->weight, 0, 0, 1 });
	if (queue.bits && queue.bits == w->enqueued_bits)
		w->enqueued += node->weight;
	else if (!referent)
		w->cleared += node->weight;
	if (heap_has_superclass(heap, node->class_no, "java.lang.ref.SoftReference"))
		w->soft_bytes += node->weight * (double)bytes;
	/* The entry of a thread is removed when the thread ends. */
	if (strcmp(heap_class_name(heap, node->class_no),
		   "java.lang.ThreadLocal$ThreadLocalMap$Entry") == 0) {
		w->locals += node->weight * (double)bytes;
		return HDB_OK;
	}
	/* An entry of a map with weak keys refers to its value by another field. */
	if (referent && heap_has_superclass(heap, node->class_no, "java.lang.ref.WeakReference"))
		TRY(look_at_key(w, node, referent, err));
	return HDB_OK;
}

int held_count_loader(struct held_walk *w, uint32_t ix, double weight, struct hdb_error *err)
{
	uint64_t closed;

	TRY(held_field(w, ix, "ucp.closed", &closed, err));
	if (!closed)
		return HDB_OK;
	w->loaders += weight;
	w->loader_ix = ix;
	return HDB_OK;
}

/*
 * Counts a view that is the only holder of a larger list or array. The elements that the view does
 * not show are retained unnecessarily.
 */
static int look_at_view(struct held_walk *w, const struct held_node *node, bool is_buffer,
			struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_collection whole = { .size = 0 };
	struct heap_object object;
	uint64_t shown, all, bytes;
	uint32_t ix, dominator;

	TRY_FOUND(heap_path_object(heap, node->ix, is_buffer ? "hb|bytes" : "root|parent|l|list",
				   &ix, err));
	TRY(derive_dominator(w->session->derive, ix, &dominator, err));
	if (dominator != node->ix)
		return HDB_OK;
	TRY(heap_object(heap, ix, &object, err));
	TRY(derive_retained(w->session->derive, ix, &bytes, err));
	TRY(held_field(w, node->ix, is_buffer ? "capacity|bytesLength" : "size", &shown, err));
	all = object.length;
	if (!is_buffer) {
		TRY_FOUND(heap_collection_open(heap, ix, &whole, err));
		all = whole.size;
	}
	if (shown * 2 < all)
		held_add(&w->views,
			 &(struct held_addend){
				 node->class_no, node->weight, (double)all, (double)shown,
				 (double)bytes * ((double)(all - shown) / (double)all) });
	return HDB_OK;
}

/* Counts a direct or mapped buffer that owns its memory outside the heap. */
static int look_at_buffer(struct held_walk *w, const struct held_node *node, struct hdb_error *err)
{
	uint64_t cleaner, capacity;

	TRY(held_field(w, node->ix, "cleaner", &cleaner, err));
	TRY(held_field(w, node->ix, "capacity", &capacity, err));
	if (cleaner)
		held_add(&w->direct, &(struct held_addend){ .class_no = node->class_no,
							    .weight = node->weight,
							    .bytes = (double)capacity });
	return cleaner ? HDB_OK : look_at_view(w, node, true, err);
}

int held_count_instance(struct held_walk *w, const struct held_node *node,
			const struct heap_object *object, struct hdb_error *err)
{
	const enum held_kind kind = held_kind_of(w, object->class_no);

	switch (kind) {
	case HELD_BUILDER:
		return look_at_builder(w, node, err);
	case HELD_COLLECTION:
		return look_at_collection(w, node, object, err);
	case HELD_BOX:
		held_add(&w->boxes, &(struct held_addend){ object->class_no, node->weight, 0, 0,
							   (double)object->shallow_bytes });
		return HDB_OK;
	case HELD_ERROR:
		return look_at_error(w, node, err);
	case HELD_FUTURE:
		return look_at_future(w, node, err);
	case HELD_SUSPENDED:
		return look_at_suspended(w, node, err);
	case HELD_TASK:
	case HELD_TIMER_TASK:
		return look_at_task(w, node, kind == HELD_TIMER_TASK, err);
	case HELD_REFERENCE:
		return look_at_reference(w, node, err);
	case HELD_NODE:
		w->plumbing += node->weight * (double)object->shallow_bytes;
		return HDB_OK;
	case HELD_VIEW:
		return look_at_view(w, node, false, err);
	case HELD_BUFFER:
		return look_at_buffer(w, node, err);
	case HELD_LOADER:
		return held_count_loader(w, node->ix, node->weight, err);
	case HELD_STRING:
		return held_count_string(w, node, object, err);
	case HELD_UNKNOWN:
	case HELD_OTHER:
		break;
	}
	return HDB_OK;
}
