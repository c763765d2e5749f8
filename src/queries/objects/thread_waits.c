/*
 * queries/objects/thread_waits.c - finds the locks that threads are waiting for; see
 * thread_waits.h.
 *
 * A lock of java.util.concurrent records the thread that owns it: Thread.parkBlocker is the lock,
 * or an inner object of it, whose field exclusiveOwnerThread is the owner. HotSpot's dumps do not
 * describe monitors. However, the innermost frame of a blocked thread refers to the object whose
 * monitor it needs, and so does a frame of the thread that holds the monitor. So the monitor is
 * known if exactly one object in the innermost frame also occurs in the frames of exactly one other
 * thread, not counting threads that are blocked on the same monitor. Old dumps record which
 * monitors are in use. In these dumps, only those objects are candidates.
 */
#include "queries/objects/thread_waits.h"

#include "heap/known.h"
#include "heap/threads.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of deadlocked threads to name. */
#define NAMED_MAX 8u
#define NAME_MAX_BYTES 128
#define LOCK_MAX_BYTES 512
/* Number of threads, and of root objects, between two checks of the cancel flag. */
#define STEP_THREADS 1024u
#define STEP_OBJECTS 65536u

struct monitors {
	struct query_waits *waits;
	struct base_idmap places; /* from a thread's serial number to its index in `list` */
	uint64_t blocked;         /* number of blocked threads */
	/*
	 * indexed like `list`: last object found in the innermost frame of a blocked thread; owned
	 */
	uint32_t *innermost;
	bool has_records; /* whether the dump records which monitors are in use */
};

int query_wait_read(struct heap *heap, uint32_t thread_ix, struct query_wait *out,
		    struct hdb_error *err)
{
	uint32_t lock_ix, owner_ix;
	int r;

	*out = (struct query_wait){ .thread_ix = thread_ix,
				    .lock_ix = HEAP_NONE,
				    .owner_ix = HEAP_NONE,
				    .trace_serial = STORE_NONE };
	TRY_ERRORS(query_thread_state(heap, thread_ix, &out->state, err));
	TRY_FOUND(heap_field_object(heap, thread_ix,
				    (struct heap_field_name){ "java.lang.Thread", "parkBlocker" },
				    &lock_ix, err));
	out->lock_ix = lock_ix;
	r = heap_path_object(heap, lock_ix, "exclusiveOwnerThread", &owner_ix, err);
	/* for a ReentrantReadWriteLock held by readers, the first reader is the owner */
	if (r > 0)
		r = heap_path_object(heap, lock_ix, "firstReader", &owner_ix, err);
	TRY_FOUND(r);
	out->owner_ix = owner_ix;
	return HDB_OK;
}

/* ---- monitors ---- */

static struct query_wait *wait_at(const struct monitors *m, uint32_t place)
{
	return base_vec_at(&m->waits->list, struct query_wait, place);
}

/* Returns the index of the thread that is blocked in the frame of this root, or BASE_IDMAP_NONE. */
static uint32_t blocked_place(const struct monitors *m, const struct store_root *root)
{
	const uint32_t place = root->is_local && root->frame_number == 0 ?
				       base_idmap_get(&m->places, root->thread_serial) :
				       BASE_IDMAP_NONE;

	return place != BASE_IDMAP_NONE && wait_at(m, place)->is_blocked ? place : BASE_IDMAP_NONE;
}

/*
 * Finds the only thread that refers to an object and is not blocked on it, or HEAP_NONE if there is
 * none or several.
 */
static uint32_t only_holder(struct monitors *m, const struct store_root *roots, size_t count)
{
	uint32_t owner_ix = HEAP_NONE;

	for (size_t i = 0; i < count; i++) {
		const uint32_t place = base_idmap_get(&m->places, roots[i].thread_serial);

		if (!roots[i].is_local || place == BASE_IDMAP_NONE ||
		    wait_at(m, place)->thread_ix == owner_ix || m->innermost[place] == roots[i].ix)
			continue;
		if (owner_ix != HEAP_NONE)
			return HEAP_NONE;
		owner_ix = wait_at(m, place)->thread_ix;
	}
	return owner_ix;
}

/*
 * Examines whether an object, given by its root records, is the monitor that blocked threads need.
 */
static void add_candidate(struct monitors *m, const struct store_root *roots, size_t count)
{
	uint32_t owner_ix;
	bool is_wanted = false, is_recorded = !m->has_records;

	for (size_t i = 0; i < count; i++) {
		const uint32_t place = blocked_place(m, &roots[i]);

		is_recorded |= roots[i].kind == HPROF_ROOT_MONITOR_USED;
		if (place == BASE_IDMAP_NONE)
			continue;
		m->innermost[place] = roots[i].ix;
		is_wanted = true;
	}
	owner_ix = is_wanted && is_recorded ? only_holder(m, roots, count) : HEAP_NONE;
	for (size_t i = 0; i < count && owner_ix != HEAP_NONE; i++) {
		const uint32_t place = blocked_place(m, &roots[i]);
		struct query_wait *wait;

		if (place == BASE_IDMAP_NONE)
			continue;
		wait = wait_at(m, place);
		if (wait->lock_ix == roots[i].ix || wait->thread_ix == roots[i].ix)
			continue;
		/*
		 * If several objects qualify, the monitor is unknown. If their owners also differ,
		 * the owner is unknown, too.
		 */
		wait->is_monitor = wait->owner_ix == HEAP_NONE || wait->owner_ix == owner_ix;
		wait->lock_ix = wait->owner_ix == HEAP_NONE ? roots[i].ix : HEAP_NONE;
		wait->owner_ix = wait->is_monitor ? owner_ix : wait->thread_ix;
	}
}

static int find_monitors(struct query *q, struct monitors *m, struct hdb_error *err)
{
	struct heap *heap = q->heap;
	const struct store_root *roots;
	uint64_t end, objects = 0;

	if (!m->blocked)
		return HDB_OK;
	TRY(heap_load_roots(heap, err));
	TRY(BASE_ALLOC(m->innermost, m->waits->list.count, "threads", err));
	memset(m->innermost, 0xff, m->waits->list.count * sizeof(*m->innermost));
	roots = heap->roots.records;
	for (uint64_t i = 0; i < heap->roots.count && !m->has_records; i++)
		m->has_records = roots[i].kind == HPROF_ROOT_MONITOR_USED;
	for (uint64_t i = 0; i < heap->roots.count; i = end) {
		for (end = i + 1; end < heap->roots.count && roots[end].ix == roots[i].ix;)
			end++;
		add_candidate(m, roots + i, (size_t)(end - i));
		if (++objects % STEP_OBJECTS == 0)
			TRY(base_step(q->work, end, err));
	}
	return HDB_OK;
}

/* ---- all threads ---- */

static int add_thread(struct query *q, struct monitors *m, const struct store_thread *thread,
		      struct hdb_error *err)
{
	struct query_waits *waits = m->waits;
	const uint32_t place = (uint32_t)waits->list.count;
	struct query_wait wait;

	if (thread->ix == STORE_NONE || !heap_is_thread(q->heap, thread->ix) || thread->has_ended)
		return HDB_OK;
	TRY(query_wait_read(q->heap, thread->ix, &wait, err));
	wait.trace_serial = thread->trace_serial;
	wait.is_blocked = wait.lock_ix == HEAP_NONE && wait.state.name &&
			  strcmp(wait.state.name, "BLOCKED") == 0;
	m->blocked += wait.is_blocked;
	waits->waiting += wait.is_blocked || wait.lock_ix != HEAP_NONE;
	waits->platform_threads += !wait.state.is_virtual;
	TRY(base_idmap_put(&m->places, thread->thread_serial, place, err));
	TRY(base_idmap_put(&waits->by_thread, thread->ix, place, err));
	return base_vec_push(&waits->list, &wait, sizeof(wait), err);
}

static void release(struct monitors *m)
{
	base_idmap_release(&m->places);
	free(m->innermost);
}

int query_waits_find(struct query *q, struct query_waits *out, struct hdb_error *err)
{
	BASE_SCOPED(release) struct monitors m = { .waits = out };
	struct store_thread thread;

	*out = (struct query_waits){ .platform_threads = 0 };
	for (uint64_t no = 0; no < heap_thread_count(q->heap); no++) {
		TRY(heap_thread(q->heap, no, &thread, err));
		TRY(add_thread(q, &m, &thread, err));
		if (no % STEP_THREADS == 0)
			TRY(base_step(q->work, no, err));
	}
	return find_monitors(q, &m, err);
}

const struct query_wait *query_waits_thread(const struct query_waits *waits, uint32_t thread_ix)
{
	const uint32_t place = base_idmap_get(&waits->by_thread, thread_ix);

	return place == BASE_IDMAP_NONE ? NULL :
					  base_vec_at(&waits->list, struct query_wait, place);
}

const struct query_wait *query_waits_of(const struct query_waits *waits, uint32_t thread_ix)
{
	const struct query_wait *wait = query_waits_thread(waits, thread_ix);

	return wait && (wait->lock_ix != HEAP_NONE || wait->is_monitor) ? wait : NULL;
}

void query_waits_release(struct query_waits *waits)
{
	base_vec_release(&waits->list);
	base_idmap_release(&waits->by_thread);
}

/* ---- deadlocks ---- */

/* If a thread waits for another thread, returns its wait, otherwise NULL. */
static const struct query_wait *owned_wait(const struct query_waits *waits, uint32_t thread_ix)
{
	const struct query_wait *wait = query_waits_of(waits, thread_ix);

	return wait && wait->owner_ix != HEAP_NONE ? wait : NULL;
}

/* Appends '"left" waits for a java.util.concurrent.locks.ReentrantLock held by "right"'. */
static int add_wait(struct query *q, const struct query_wait *wait, struct base_text to,
		    struct hdb_error *err)
{
	char name[NAME_MAX_BYTES], owner[NAME_MAX_BYTES], lock[LOCK_MAX_BYTES] = "";
	const size_t used = strlen(to.buf);
	const char *class_name =
		wait->lock_ix == HEAP_NONE ? "" : heap_class_name_of(q->heap, wait->lock_ix);
	uint64_t id;

	TRY(heap_thread_name(q->heap, wait->thread_ix, name, sizeof(name), err));
	TRY(heap_thread_name(q->heap, wait->owner_ix, owner, sizeof(owner), err));
	if (wait->is_monitor && wait->lock_ix != HEAP_NONE) {
		TRY(heap_id(q->heap, wait->lock_ix, &id, err));
		(void)snprintf(lock, sizeof(lock), "the monitor of %.450s 0x%" PRIx64, class_name,
			       id);
	} else {
		(void)snprintf(lock, sizeof(lock), "a %.*s",
			       wait->is_monitor ? 7 : (int)strcspn(class_name, "$"),
			       wait->is_monitor ? "monitor" : class_name);
	}
	(void)snprintf(to.buf + used, to.size - used, "%s\"%s\" waits for %s held by \"%s\"",
		       used ? ", " : "", name, lock, owner);
	return HDB_OK;
}

/*
 * A thread waits for at most one other thread, so each thread is followed once. A chain that
 * returns to itself is a cycle. No thread belongs to two cycles.
 */
int query_deadlock_find(struct query *q, const struct query_waits *waits,
			struct query_deadlock *out, struct hdb_error *err)
{
	BASE_SCOPED(base_idmap_release) struct base_idmap visits = { 0 };

	*out = (struct query_deadlock){ .first_ix = HEAP_NONE };
	for (uint32_t walk = 0; walk < waits->list.count; walk++) {
		const struct query_wait *first = base_vec_at(&waits->list, struct query_wait, walk);
		const struct query_wait *wait = owned_wait(waits, first->thread_ix);

		while (wait && base_idmap_get(&visits, wait->thread_ix) == BASE_IDMAP_NONE) {
			TRY(base_idmap_put(&visits, wait->thread_ix, walk, err));
			wait = owned_wait(waits, wait->owner_ix);
		}
		if (!wait || base_idmap_get(&visits, wait->thread_ix) != walk)
			continue;
		first = wait;
		if (out->first_ix == HEAP_NONE)
			out->first_ix = first->thread_ix;
		do {
			if (out->threads++ < NAMED_MAX)
				TRY(add_wait(q, wait, BASE_TEXT(out->text), err));
			wait = owned_wait(waits, wait->owner_ix);
			assert(wait);
		} while (wait != first);
	}
	return HDB_OK;
}
