/*
 * queries/leaks/leak_standstill.c - groups of threads that wait for what only their own kind could
 * bring: the threads of a pool that wait for elements of an empty queue of another object, those of
 * a ForkJoinPool that are all in the same slow call, and threads at a CyclicBarrier that one of
 * them did not reach.
 *
 * Consumers of a queue also wait for its elements. But tasks that are queued behind them show that
 * the pool has come to a standstill.
 */
#include "base/glob.h"
#include "heap/collections/collections.h"
#include "heap/threads.h"
#include "heap/values/values.h"
#include "queries/leaks/leak_stuck_private.h"

#include <string.h>

/* Minimum number of queued tasks. Fewer may have been submitted just before the dump. */
#define TASKS_LEAST 10u
/* Minimum number of tasks in the queues of a ForkJoinPool, for each of its threads. */
#define TASKS_LEAST_OF_EACH 100
/* Maximum number of fields of the owner of a queue to read. */
#define OWNER_FIELDS 128u

/* Appends "All 8 threads" or "The only thread", and the pattern of their names. */
static void say_all(const struct stuck_group *c, const struct stuck_place *place, struct bytes *to)
{
	if (c->count > 1)
		bytes_format(to, "All %s threads", base_number(c->count).text);
	else
		bytes_string(to, "The only thread");
	if (place->is_pattern && place->name[0])
		bytes_format(to, " \"%s\"", place->name);
}

static int size_of(struct heap *heap, uint32_t ix, uint64_t *size, struct hdb_error *err)
{
	struct heap_collection collection;
	uint64_t budget = HEAP_WALK_CHUNK;

	TRY(heap_collection_open(heap, ix, &collection, err));
	if (!collection.has_size)
		TRY(heap_collection_count(heap, &collection, &budget, err));
	*size = collection.size;
	return HDB_OK;
}

/*
 * Appends the first other collection with elements of the object that owns the queue: it may
 * contain the objects that were taken from the queue.
 */
static int say_lent(struct heap *heap, uint32_t owner_ix, uint32_t queue_ix, struct bytes *to,
		    struct hdb_error *err)
{
	struct heap_fields fields;

	TRY_FOUND(heap_fields_begin(heap, owner_ix, &fields, err));
	for (unsigned i = 0; i < OWNER_FIELDS; i++) {
		char name[LEAK_NAME_MAX_BYTES];
		uint64_t size = 0;
		uint32_t ix;
		int r;

		TRY_FOUND(heap_fields_next(&fields, err));
		if (fields.value.type != HPROF_OBJECT || !fields.value.bits)
			continue;
		TRY_ERRORS(r = heap_find(heap, fields.value.bits, &ix, err));
		if (r != HDB_OK || ix == queue_ix)
			continue;
		TRY_ERRORS(r = size_of(heap, ix, &size, err));
		if (r != HDB_OK || !size)
			continue;
		TRY(heap_text(heap, fields.field.name_text, name, sizeof(name), err));
		bytes_format(to, " The same object's field %s has %s element%s.", name,
			     base_number(size).text, size == 1 ? "" : "s");
		return HDB_OK;
	}
	return HDB_OK;
}

int leak_report_borrowers(struct stuck *s, const struct stuck_group *c, bool *out,
			  struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	static const char queues[] = "java.util.concurrent.*Blocking*";
	struct heap *heap = s->q->heap;
	const uint32_t lock_ix = c->members->wait->lock_ix;
	struct stuck_group copy = *c;
	struct stuck_owner owner;
	struct stuck_place place;
	uint64_t size = 1, tasks = 0;
	uint32_t own_ix;

	*out = false;
	for (uint64_t i = 0; i < c->count; i++)
		if (c->members[i].wait->lock_ix != lock_ix)
			return HDB_OK;
	if (lock_ix == HEAP_NONE ||
	    !base_glob("*$ConditionObject", heap_class_name_of(heap, lock_ix)))
		return HDB_OK;
	TRY_FOUND(heap_path_object(heap, c->members->key_ix, "workQueue", &own_ix, err));
	TRY_FOUND(size_of(heap, own_ix, &tasks, err));
	if (tasks < TASKS_LEAST)
		return HDB_OK;
	TRY(leak_name_lock(s, lock_ix, queues, &owner, err));
	if (!owner.name[0] || owner.lock_ix == own_ix)
		return HDB_OK;
	TRY_FOUND(size_of(heap, owner.lock_ix, &size, err));
	if (size)
		return HDB_OK;
	TRY(leak_describe(s->q, c, false, &place, err));
	say_all(c, &place, &text);
	bytes_string(&text, c->count > 1 ? " of a pool wait" : " of a pool waits");
	leak_add_place(&place, &text);
	bytes_format(&text,
		     " for an element of the queue%s, which is empty. Behind them, %s tasks are "
		     "queued, and none of them runs.",
		     owner.name, base_number(tasks).text);
	TRY(say_lent(heap, owner.ix, owner.lock_ix, &text, err));
	copy.rule = "empty-queue";
	*out = true;
	return leak_add_stuck(s, &copy, &text, place.is_pattern ? place.name : "", err);
}

/* Adds up the tasks in the queues of a ForkJoinPool. */
static int count_tasks(struct stuck *s, uint32_t pool_ix, int64_t *tasks, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	struct heap_walk walk;
	uint32_t ix;

	*tasks = 0;
	TRY_FOUND(heap_path_object(heap, pool_ix, "queues", &ix, err));
	heap_walk_begin(&walk, ix, 0, UINT32_MAX);
	for (;;) {
		int64_t top = 0, base = 0;
		int r;

		TRY_FOUND(heap_walk_target_next(heap, &walk, &ix, err));
		TRY_ERRORS(r = heap_path_number(heap, ix, "top", &top, err));
		TRY_ERRORS(r == HDB_OK ? r = heap_path_number(heap, ix, "base", &base, err) : r);
		/* a damaged dump may contain any numbers */
		if (r == HDB_OK && top >= base && top - base <= INT32_MAX)
			*tasks += top - base;
		TRY(base_step(s->q->work, walk.at, err));
	}
}

int leak_report_fork_join(struct stuck *s, const struct stuck_group *c, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	struct stuck_group copy = *c;
	struct stuck_place place;
	int64_t tasks;

	TRY(count_tasks(s, c->members->key_ix, &tasks, err));
	if (tasks < TASKS_LEAST_OF_EACH || (uint64_t)tasks / TASKS_LEAST_OF_EACH < c->count)
		return HDB_OK;
	TRY(leak_describe(s->q, c, true, &place, err));
	if (place.is_idle || !place.call[0] || !place.frame[0])
		return HDB_OK;
	say_all(c, &place, &text);
	bytes_string(&text, strstr(place.name, "commonPool") ? " of the common pool" :
							       " of a ForkJoinPool");
	bytes_string(&text, c->count > 1 ? " are" : " is");
	leak_add_place(&place, &text);
	bytes_format(&text, ", so none of the %s queued tasks runs.",
		     base_number((uint64_t)tasks).text);
	copy.rule = "blocked-fork-join";
	return leak_add_stuck(s, &copy, &text, place.is_pattern ? place.name : "", err);
}

/*
 * Sets *out to whether a thread outside the group has a local variable that refers to an object, or
 * to an object with a field that does. It may be on its way to a barrier.
 */
static int has_user(struct stuck *s, const struct stuck_group *c, uint32_t ix, bool *out,
		    struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	uint64_t id;

	*out = false;
	TRY(heap_load_roots(heap, err));
	TRY(heap_id(heap, ix, &id, err));
	for (uint64_t i = 0; i < heap->roots.count && !*out; i++) {
		const struct store_root *root = &heap->roots.records[i];
		struct store_thread thread;
		bool refers = root->ix == ix;
		uint64_t k = 0;
		int r;

		if (!root->is_local)
			continue;
		/* threads that were not examined may have such a variable */
		*out = s->roots_max == 0;
		s->roots_max -= s->roots_max > 0;
		TRY(base_step(s->q->work, i, err));
		if (!refers)
			TRY(heap_field_refers(heap, root->ix, id, &refers, err));
		if (!refers)
			continue;
		TRY_ERRORS(r = heap_thread_by_serial(heap, root->thread_serial, &thread, err));
		while (r == HDB_OK && k < c->count && c->members[k].wait->thread_ix != thread.ix)
			k++;
		*out |= k == c->count;
	}
	return HDB_OK;
}

int leak_report_barrier(struct stuck *s, const struct stuck_group *c, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	static const char barrier[] = "java.util.concurrent.CyclicBarrier";
	struct stuck_group copy = *c;
	struct stuck_owner owner;
	struct stuck_place place;
	int64_t parties = 0, missing = 0;
	bool is_lost, is_used = false;

	TRY(leak_name_lock(s, c->members->key_ix, barrier, &owner, err));
	if (owner.lock_ix == HEAP_NONE)
		return HDB_OK;
	TRY_FOUND(heap_path_number(s->q->heap, owner.lock_ix, "parties", &parties, err));
	TRY_FOUND(heap_path_number(s->q->heap, owner.lock_ix, "count", &missing, err));
	/* most have come */
	if (missing <= 0 || missing >= parties || (uint64_t)(parties - missing) != c->count ||
	    (uint64_t)missing > c->count)
		return HDB_OK;
	TRY(leak_are_lost(s, c, &is_lost, err));
	TRY(is_lost ? has_user(s, c, owner.lock_ix, &is_used, err) : HDB_OK);
	if (!is_lost || is_used)
		return HDB_OK;
	TRY(leak_describe(s->q, c, false, &place, err));
	bytes_format(&text, "%s threads", base_number(c->count).text);
	if (place.is_pattern && place.name[0])
		bytes_format(&text, " \"%s\"", place.name);
	bytes_string(&text, " wait");
	leak_add_place(&place, &text);
	bytes_format(&text,
		     " at the CyclicBarrier%s, which needs %s threads. No other thread is on the "
		     "way to it, as far as stacks show: %s probably ended before.",
		     owner.name, base_number((uint64_t)parties).text,
		     missing == 1 ? "the last one has" : "the others have");
	copy.rule = "missing-party";
	return leak_add_stuck(s, &copy, &text, place.is_pattern ? place.name : "", err);
}
