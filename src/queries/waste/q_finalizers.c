/*
 * queries/waste/q_finalizers.c - the finalizers query: objects that have a finalizer. Each object
 * is in use, queued for the finalizer thread, or being finalized.
 *
 * The state is derived from the fields of each reference, so the lists in the heap need not be
 * followed.
 */
#include "analysis/reference_list.h"
#include "derive/native.h"
#include "heap/heap_database.h"
#include "heap/known.h"
#include "heap/values/values.h"
#include "queries/queries.h"
#include "query/grouping.h"

#include <queries/waste/q_finalizers.query.h>

enum state { REGISTERED, QUEUED, RUNNING, FINALIZED, STATES };
static const char *const state_names[STATES] = { "registered", "queued", "running", "finalized" };

/* Classes and fields of the JDK and of Android from which the state is derived. */
static const char enqueued_field[] = "java.lang.ref.ReferenceQueue.ENQUEUED";
static const char reference_class[] = "java.lang.ref.Reference";
static const char jdk_finalizer[] = "java.lang.ref.Finalizer";
static const char android_finalizer[] = "java.lang.ref.FinalizerReference";
static const char *const thread_classes[] = {
	"java.lang.ref.Finalizer$FinalizerThread",
	"java.lang.Daemons$FinalizerDaemon",
};

/* An object with a finalizer. */
struct item {
	uint32_t object; /* HEAP_NONE means cleared */
	uint32_t finalizer;
	uint8_t state;
	bool is_reachable; /* whether the finalizer, and so the object, is reachable */
};

struct group {
	uint64_t count, bytes, native;
	uint32_t class_no; /* HEAP_NONE means unknown */
	uint32_t object;   /* the first object of the group */
	uint8_t state;
};

struct finalizers {
	struct analysis_reference_list list;
	struct base_vec items;      /* struct item */
	struct query_groups groups; /* struct group, by state and class */
	struct base_vec native;     /* struct derive_native, ascending */
	uint64_t enqueued_id;       /* ReferenceQueue.ENQUEUED; 0 if there is no such object */
	bool is_list;
};

/* ---- states ---- */

/* Reads the ID in a reference field. Sets *id to 0 if there is no such field. */
static int field_id(struct query *q, uint32_t ix, struct heap_field_name field, uint64_t *id,
		    struct hdb_error *err)
{
	struct heap_value value = { 0 };
	const int r = heap_field_value(q->heap, ix, field, &value, err);

	*id = r == HDB_OK && value.type == HPROF_OBJECT ? value.bits : 0;
	return r < 0 ? r : HDB_OK;
}

/*
 * Adds an object with its state. Once a Finalizer of the JDK has been taken from the queue, its
 * field `next` refers to itself. Later, the Finalizer is cleared. While it is in the queue, its
 * `queue` is ReferenceQueue.ENQUEUED. Android moves the object from `referent` to `zombie`.
 */
static int add_item(struct query *q, struct finalizers *f, const struct analysis_reference *ref,
		    struct hdb_error *err)
{
	struct item item = {
		.object = ref->referent,
		.finalizer = ref->ix,
		.state = REGISTERED,
		.is_reachable = analysis_reached_of(&f->list, ref->ix) != ANALYSIS_UNREACHABLE,
	};
	uint64_t own_id, queue_id = 0, next_id = 0, zombie_id = 0;
	int r;

	TRY(heap_id(q->heap, ref->ix, &own_id, err));
	TRY(field_id(q, ref->ix, (struct heap_field_name){ reference_class, "queue" }, &queue_id,
		     err));
	TRY(field_id(q, ref->ix, (struct heap_field_name){ jdk_finalizer, "next" }, &next_id, err));
	r = field_id(q, ref->ix, (struct heap_field_name){ android_finalizer, "zombie" },
		     &zombie_id, err);
	TRY_ERRORS(r);
	if (zombie_id) {
		item.state = QUEUED;
		r = heap_find(q->heap, zombie_id, &item.object, err);
		if (r == HDB_NOTFOUND)
			item.object = HEAP_NONE;
	} else if (item.object == HEAP_NONE) {
		item.state = FINALIZED;
	} else if (next_id == own_id) {
		item.state = RUNNING;
	} else if (queue_id && queue_id == f->enqueued_id) {
		item.state = QUEUED;
	}
	TRY_ERRORS(r);
	if (q->heap->filter.is_on) {
		struct heap_object object;

		/*
		 * Use the heap of the object or, if the reference was cleared, the heap of its
		 * finalizer.
		 */
		r = heap_object(q->heap, item.object == HEAP_NONE ? ref->ix : item.object, &object,
				err);
		if (r != HDB_OK || heap_leaves_out(q->heap, object.heap_no))
			return r;
	}
	return base_vec_push(&f->items, &item, sizeof(item), err);
}

static int find_items(struct query *q, struct finalizers *f, struct hdb_error *err)
{
	const struct analysis_reference *refs = f->list.refs.data;
	struct heap_value enqueued = { 0 };
	const int r = heap_static_value(q->heap, enqueued_field, &enqueued, err);

	TRY_ERRORS(r);
	f->enqueued_id = r == HDB_OK && enqueued.type == HPROF_OBJECT ? enqueued.bits : 0;
	for (uint64_t i = 0; i < f->list.count; i++) {
		if (refs[i].strength != STORE_FINALIZER)
			continue;
		TRY(add_item(q, f, &refs[i], err));
		if (i % 4096 == 0)
			TRY(base_step(q->work, i, err));
	}
	return HDB_OK;
}

/* ---- facts ---- */

static int set_thread(struct query *q, struct hdb_error *err)
{
	struct heap_object object;

	for (uint64_t i = 0; i < heap_record_count(q->heap, STORE_THREADS); i++) {
		struct store_thread thread;
		const char *name;

		TRY(heap_record(q->heap, STORE_THREADS, i, &thread, err));
		if (thread.ix >= q->heap->object_count)
			continue;
		TRY(heap_object(q->heap, thread.ix, &object, err));
		name = heap_class_name(q->heap, object.class_no);
		if (strcmp(name, thread_classes[0]) != 0 && strcmp(name, thread_classes[1]) != 0)
			continue;
		query_fact_id(q, "thread", thread.ix);
		return HDB_OK;
	}
	return HDB_OK;
}

static int set_kept(struct query *q, const struct finalizers *f, struct hdb_error *err)
{
	uint64_t count = 0, bytes = 0;

	for (uint32_t ix = 0; ix < q->heap->object_count; ix++) {
		struct heap_object object;

		if (analysis_reached_of(&f->list, ix) != ANALYSIS_FINALLY)
			continue;
		TRY(heap_object(q->heap, ix, &object, err));
		if (heap_leaves_out(q->heap, object.heap_no))
			continue;
		count++;
		bytes += object.shallow_bytes;
	}
	query_fact(q, "kept_objects", count);
	query_fact(q, "kept_shallow", bytes);
	return HDB_OK;
}

/* Keeps the items of the population, and reports unreachable items. */
static int keep_counted(struct query *q, struct finalizers *f, struct hdb_error *err)
{
	struct item *items = f->items.data;
	uint64_t others = 0, bytes = 0;
	size_t kept = 0;

	for (size_t i = 0; i < f->items.count; i++) {
		struct heap_object object;

		if (!items[i].is_reachable && items[i].object != HEAP_NONE) {
			TRY(heap_object(q->heap, items[i].object, &object, err));
			others++;
			bytes += object.shallow_bytes;
		}
		if (query_counts(q, items[i].is_reachable))
			items[kept++] = items[i];
	}
	f->items.count = kept;
	query_report_unreachable(q, others, bytes);
	return HDB_OK;
}

static int set_facts(struct query *q, struct finalizers *f, struct hdb_error *err)
{
	uint64_t count[STATES] = { 0 };

	TRY(keep_counted(q, f, err));
	for (size_t i = 0; i < f->items.count; i++)
		count[base_vec_at(&f->items, struct item, i)->state]++;
	for (unsigned state = 0; state < STATES; state++)
		query_fact(q, state_names[state], count[state]);
	TRY(set_kept(q, f, err));
	return set_thread(q, err);
}

/* ---- rows ---- */

/* Keeps the items in the requested state. */
static void filter(const struct query *q, struct finalizers *f)
{
	const unsigned state = query_choice(q, "state");
	struct item *items = f->items.data;
	size_t kept = 0;

	if (state == QUERY_NO_CHOICE)
		return;
	for (size_t i = 0; i < f->items.count; i++)
		if (items[i].state == state)
			items[kept++] = items[i];
	f->items.count = kept;
}

/* Sorts the groups with the most objects first, then by state and class. */
BASE_ORDER(compare_groups, struct group, BASE_DOWN(count), BASE_UP(state), BASE_UP(class_no))

static int group_items(struct query *q, struct finalizers *f, struct hdb_error *err)
{
	for (size_t i = 0; i < f->items.count; i++) {
		const struct item *item = base_vec_at(&f->items, struct item, i);
		struct heap_object object = { .class_no = HEAP_NONE };
		struct group fresh = { .state = item->state, .object = item->object }, *group;
		void *found;

		if (item->object != HEAP_NONE)
			TRY(heap_object(q->heap, item->object, &object, err));
		fresh.class_no = object.class_no;
		TRY(query_group_of(&f->groups, (uint64_t)item->state << 32 | object.class_no,
				   &fresh, &found, err));
		group = found;
		group->count++;
		group->bytes += object.shallow_bytes;
		if (item->object != HEAP_NONE)
			group->native += derive_native_in(&f->native, item->object);
	}
	base_vec_sort(&f->groups.list, sizeof(struct group), compare_groups);
	return HDB_OK;
}

static int open_finalizers(struct query *q, struct hdb_error *err)
{
	struct finalizers *f = q->state;

	f->is_list = query_option(q, "objects") != NULL;
	f->groups.size = sizeof(struct group);
	query_choose(q, f->is_list ? "state,id,class,label,shallow,retained,reached,finalizer" :
				     "state,class,objects,shallow,id");
	/*
	 * For a group, native memory is the sum over its objects, not the memory that one object
	 * retains.
	 */
	if (!f->is_list) {
		q->extra.retained_native = SIZE_MAX;
		TRY(derive_native_counted(q->derive, &f->native, err));
	}
	TRY(analysis_references_read(&q->session, &f->list, err));
	TRY(analysis_references_levels(&q->session, &f->list, NULL, err));
	TRY(find_items(q, f, err));
	TRY(set_facts(q, f, err));
	filter(q, f);
	if (!f->is_list)
		TRY(group_items(q, f, err));
	q->total = f->is_list ? f->items.count : f->groups.list.count;
	return HDB_OK;
}

static void set_item(struct query *q, const struct finalizers *f, const struct item *item)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SHALLOW, RETAINED };
	query_set_id(q, FINALIZER, item->finalizer);
	if (item->object == HEAP_NONE)
		return;
	query_set_object(q, &cells, item->object);
	query_set_text(q, LEVEL,
		       analysis_reached_name(analysis_reached_of(&f->list, item->object)));
}

static int finalizer_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct finalizers *f = q->state;
	const struct group *group;
	const struct item *item;

	(void)err;
	if (f->is_list) {
		item = base_vec_at(&f->items, struct item, no);
		query_set_text(q, STATE, state_names[item->state]);
		set_item(q, f, item);
		return HDB_OK;
	}
	assert(no < f->groups.list.count);
	group = base_vec_at(&f->groups.list, struct group, no);
	if (group->class_no != HEAP_NONE)
		query_lend_text(q, CLASS, heap_class_name(q->heap, group->class_no));
	query_set(q, COUNT, group->count);
	query_set(q, SHALLOW, group->bytes);
	query_set(q, NATIVE, group->native);
	query_set_text(q, STATE, state_names[group->state]);
	query_set_id(q, ID, group->object);
	return HDB_OK;
}

QUERY_DEFINE(finalizers, QUERY_STATE(struct finalizers, list, items, groups, native),
	     .open = open_finalizers, .row = finalizer_row);
