/*
 * queries/leaks/leak_stuck.c - finds groups of threads that cannot continue; see leak_stuck.h.
 *
 * Threads of healthy programs also wait for locks, but few at a time, and threads of an idle pool
 * wait for a condition, which has no owner. So a group counts only if it is large, or if the owner
 * of the lock is itself waiting for something slow.
 */
#include "queries/leaks/leak_stuck.h"

#include "base/glob.h"
#include "base/sort.h"
#include "heap/collections/collections.h"
#include "heap/known.h"
#include "heap/threads.h"
#include "queries/leaks/leak_prose.h"
#include "queries/objects/thread_waits.h"

#include <stdio.h>
#include <string.h>

/* Maximum number of findings. */
#define STUCK_MAX 3u
/*
 * Minimum number of waiting threads for a finding, in general and if the owner of the lock is in a
 * slow call.
 */
#define CROWD_LEAST 10u
#define CROWD_LEAST_OF_SLOW 3u
/*
 * Maximum number of queued tasks, in all pools, to compare with the tasks that threads are waiting
 * for.
 */
#define TASKS_MAX 100000u
/* Maximum number of completions of a future, and of frames of a stack, to examine. */
#define COMPLETIONS_MAX 16u
#define FRAMES_MAX 24u
/* Maximum number of frames of a stack to compare with that of a thread that waits for a permit. */
#define STACK_MAX 256u
/* Maximum number of threads of a group, evenly spaced, whose names and frames are compared. */
#define PLACES_MAX 1000u
/* Maximum number of roots examined to find consumers of queues, for all findings together. */
#define ROOTS_MAX 1000000u
/* Maximum number of threads that may consume a queue. */
#define CONSUMERS_MAX 1000u
/* Minimum number of threads with an object of their own each. */
#define SINGLES_LEAST 20u
/* Maximum number of references to a semaphore. Most of them belong to waiting threads. */
#define REFERRERS_MAX 10000u
/* Maximum size of the names of methods of threads that wait for permits. */
#define METHODS_MAX_BYTES 8192
/* Number of threads, or of tasks, between two checks for cancellation. */
#define STEP 1024u
/* Value in `futures` until the future is found in the queue of a pool. */
#define AWAITED (HEAP_NONE - 1)

/* A lock with a read lock that many threads can hold at once. */
#define READ_WRITE_LOCK "java.util.concurrent.locks.ReentrantReadWriteLock"

/* Kinds of groups, in the order in which they are reported. */
enum crowd_kind { CROWD_LOCK, CROWD_READ_LOCK, CROWD_PERMITS, CROWD_POOL };

/* A thread of a group. It may also be in the group of its pool. */
struct member {
	/* the owner of the lock, the Sync of the semaphore or read lock, or the pool */
	uint32_t key_ix;
	enum crowd_kind kind;
	const struct query_wait *wait;
};

/*
 * A group of threads that wait for locks of one thread or for permits of one semaphore, or that
 * belong to one pool.
 */
struct crowd {
	const struct member *members;
	enum crowd_kind kind;
	uint64_t count;
	bool has_finalizer; /* whether the finalizer thread waits for the lock */
};

/* The location of one or more threads: their frame, and the call that they are in. */
struct place {
	char name[LEAK_PATTERN_MAX]; /* name of the thread, or pattern of several names */
	char frame[LEAK_FRAME_MAX]; /* innermost application frame; "" if unknown or not the same */
	char call[LEAK_FRAME_MAX];  /* slow call, such as "socket read"; "" if there is none */
	bool is_idle;               /* whether a thread waits for work */
	bool is_pattern;            /* whether the names of all threads have this pattern */
};

struct stuck {
	struct query *q;
	struct leak_findings *l;
	unsigned added; /* number of findings */
	/* number of tasks, and of roots, that may still be examined */
	unsigned tasks_max, roots_max;
	struct query_waits waits;
	struct base_vec members; /* struct member, sorted by group */
	struct base_vec crowds;  /* struct crowd */
	/* future that a thread of a pool waits for -> pool that queues it, or AWAITED */
	struct base_idmap futures;
};

static void release(struct stuck *s)
{
	query_waits_release(&s->waits);
	base_vec_release(&s->members);
	base_vec_release(&s->crowds);
	base_idmap_release(&s->futures);
}

/* ---- what a thread does ---- */

#define CALL(frames, name) \
	{ \
		frames, name \
	}
static const struct {
	const char *frames, *name;
} calls[] = {
#include <queries/leaks/slow_calls.rows.h>
};
#define CALLS BASE_COUNT(calls)
/* The call of a thread that waits for another thread, without and before the name of a method. */
static const char waits[] = "waiting", waits_in[] = "waiting in ";

/*
 * Sets the call to "waiting in java.util.concurrent.SynchronousQueue.take": the platform's method
 * that the application called. Starts from frame `depth`, which is in the platform.
 */
static int add_method(struct heap *heap, const struct store_trace *trace, uint32_t depth,
		      struct place *to, struct hdb_error *err)
{
	char text[LEAK_FRAME_MAX], method[LEAK_FRAME_MAX] = "";
	struct store_frame frame;
	bool is_called = false;

	for (; depth < trace->frame_count && depth < FRAMES_MAX && !is_called; depth++) {
		TRY_FOUND(heap_trace_frame(heap, trace, depth, &frame, err));
		TRY(heap_frame_text(heap, &frame, text, sizeof(text), err));
		is_called = !heap_is_platform_class(text);
		if (!is_called)
			memcpy(method, text, sizeof(method));
	}
	method[strcspn(method, "(")] = '\0';
	if (is_called && method[0])
		(void)snprintf(to->call, sizeof(to->call), "%s%.*s", waits_in,
			       (int)(sizeof(to->call) - sizeof(waits_in)), method);
	return HDB_OK;
}

/* Finds the slow call that a thread is in. */
static int find_call(struct heap *heap, uint32_t trace_serial, struct place *to,
		     struct hdb_error *err)
{
	struct store_trace trace;

	TRY_FOUND(heap_trace(heap, trace_serial, &trace, err));
	for (uint32_t depth = 0; depth < trace.frame_count && depth < FRAMES_MAX; depth++) {
		char text[LEAK_FRAME_MAX];
		struct store_frame frame;
		size_t i = 0;

		TRY_FOUND(heap_trace_frame(heap, &trace, depth, &frame, err));
		TRY(heap_frame_text(heap, &frame, text, sizeof(text), err));
		while (i < CALLS && !base_glob_list(calls[i].frames, text))
			i++;
		if (i == CALLS)
			continue;
		to->is_idle = !calls[i].name;
		if (calls[i].name)
			(void)snprintf(to->call, sizeof(to->call), "%s", calls[i].name);
		return strcmp(to->call, waits) == 0 ? add_method(heap, &trace, depth, to, err) :
						      HDB_OK;
	}
	return HDB_OK;
}

/* Finds the location of a thread, without its call. */
static int find_place(struct heap *heap, uint32_t ix, uint32_t trace_serial, struct place *out,
		      struct hdb_error *err)
{
	struct store_trace trace;

	*out = (struct place){ .is_pattern = true };
	TRY(heap_thread_name(heap, ix, out->name, sizeof(out->name), err));
	TRY_FOUND(heap_trace(heap, trace_serial, &trace, err));
	return heap_own_frame(heap, &trace, 0, BASE_TEXT(out->frame), err);
}

/* Appends " in PriceCache.refresh(PriceCache.java:21)" and " (socket read)". */
static void add_place(const struct place *place, struct bytes *to)
{
	if (place->frame[0])
		bytes_format(to, " in %s", place->frame);
	if (place->call[0])
		bytes_format(to, " (%s)", place->call);
}

/* ---- groups ---- */

BASE_ORDER(compare_members, struct member, BASE_UP(key_ix), BASE_UP(wait))
BASE_ORDER(compare_crowds, struct crowd, BASE_UP(kind), BASE_DOWN(count), BASE_UP(members->key_ix))

/* Finds the ThreadPoolExecutor that a thread belongs to. Returns HDB_NOTFOUND if there is none. */
static int pool_of(struct heap *heap, uint32_t thread_ix, uint32_t *out, struct hdb_error *err)
{
	uint32_t ix;

	/* since JDK 19, and before */
	TRY(heap_path_object(heap, thread_ix, "holder.task|target", &ix, err));
	if (!base_glob("*ThreadPoolExecutor$Worker", heap_class_name_of(heap, ix)))
		return HDB_NOTFOUND;
	return heap_path_object(heap, ix, "this$0", out, err);
}

/*
 * Adds a thread to the group that waits for the same owner or semaphore, and to the group of its
 * pool.
 */
static int add_thread(struct stuck *s, const struct query_wait *wait, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	struct member member = { .wait = wait };
	struct heap_object lock;
	bool awaits = false;

	if (wait->owner_ix != HEAP_NONE && wait->owner_ix != wait->thread_ix) {
		member.key_ix = wait->owner_ix;
		TRY(base_vec_push(&s->members, &member, sizeof(member), err));
	} else if (wait->lock_ix != HEAP_NONE) {
		TRY(heap_object(heap, wait->lock_ix, &lock, err));
		awaits = heap_has_superclass(heap, lock.class_no,
					     "java.util.concurrent.FutureTask") ||
			 heap_has_superclass(heap, lock.class_no,
					     "java.util.concurrent.CompletableFuture$Signaller");
		member.key_ix = lock.ix;
		member.kind = CROWD_PERMITS;
		if (heap_has_superclass(heap, lock.class_no, "java.util.concurrent.Semaphore$Sync"))
			TRY(base_vec_push(&s->members, &member, sizeof(member), err));
		member.kind = CROWD_READ_LOCK;
		if (heap_has_superclass(heap, lock.class_no, READ_WRITE_LOCK "$Sync"))
			TRY(base_vec_push(&s->members, &member, sizeof(member), err));
	}
	TRY_FOUND(pool_of(heap, wait->thread_ix, &member.key_ix, err));
	member.kind = CROWD_POOL;
	TRY(base_vec_push(&s->members, &member, sizeof(member), err));
	return awaits ? base_idmap_put(&s->futures, wait->lock_ix, AWAITED, err) : HDB_OK;
}

static int find_crowds(struct stuck *s, struct hdb_error *err)
{
	const struct member *list;

	TRY(query_waits_find(s->q, &s->waits, err));
	for (size_t i = 0; i < s->waits.list.count; i++) {
		TRY(add_thread(s, base_vec_at(&s->waits.list, struct query_wait, i), err));
		if (i % STEP == 0)
			TRY(base_step(s->q->work, i, err));
	}
	base_vec_sort(&s->members, sizeof(struct member), compare_members);
	list = s->members.data;
	for (size_t i = 0, end; i < s->members.count; i = end) {
		struct crowd c = { .members = &list[i], .kind = list[i].kind };

		for (end = i; end < s->members.count && list[end].key_ix == list[i].key_ix; end++)
			c.has_finalizer |= c.kind == CROWD_LOCK &&
					   base_glob("java.lang.ref.Finalizer$*",
						     heap_class_name_of(s->q->heap,
									list[end].wait->thread_ix));
		c.count = end - i;
		TRY(base_vec_push(&s->crowds, &c, sizeof(c), err));
	}
	base_vec_sort(&s->crowds, sizeof(struct crowd), compare_crowds);
	return HDB_OK;
}

/*
 * Returns whether all threads of a pool wait for futures and, unless pool_ix is HEAP_NONE, whether
 * these futures are in the queue of that pool.
 */
static bool all_wait(const struct stuck *s, const struct crowd *c, uint32_t pool_ix)
{
	for (uint64_t i = 0; i < c->count; i++) {
		const uint32_t at = base_idmap_get(&s->futures, c->members[i].wait->lock_ix);

		if (at == BASE_IDMAP_NONE || (pool_ix != HEAP_NONE && at != pool_ix))
			return false;
	}
	return true;
}

/* ---- threads of a pool that wait for its own tasks ---- */

/*
 * Records the pool of a queued task that threads of pools wait for: the task itself or, if it
 * completes a CompletableFuture, the Signallers among the completions of that future.
 */
static int mark_awaited(struct stuck *s, uint32_t task_ix, uint32_t pool_ix, struct hdb_error *err)
{
	uint32_t ix = task_ix;

	if (base_idmap_get(&s->futures, ix) != BASE_IDMAP_NONE)
		return base_idmap_put(&s->futures, ix, pool_ix, err);
	if (!base_glob("java.util.concurrent.CompletableFuture$*",
		       heap_class_name_of(s->q->heap, ix)))
		return HDB_OK;
	TRY_FOUND(heap_path_object(s->q->heap, ix, "dep.stack", &ix, err));
	for (unsigned i = 0; i < COMPLETIONS_MAX; i++) {
		if (base_idmap_get(&s->futures, ix) != BASE_IDMAP_NONE)
			TRY(base_idmap_put(&s->futures, ix, pool_ix, err));
		TRY_FOUND(heap_path_object(s->q->heap, ix, "next", &ix, err));
	}
	return HDB_OK;
}

/* Marks the awaited tasks in the queue of a pool, and counts all tasks. */
static int look_at_queue(struct stuck *s, uint32_t pool_ix, uint64_t *tasks, struct hdb_error *err)
{
	BASE_SCOPED(heap_entries_end) struct heap_entries entries = { .heap = NULL };
	struct heap_collection queue;
	uint32_t ix;
	int r;

	*tasks = 0;
	TRY_FOUND(heap_path_object(s->q->heap, pool_ix, "workQueue", &ix, err));
	TRY_FOUND(heap_collection_open(s->q->heap, ix, &queue, err));
	TRY_FOUND(heap_entries_begin(s->q->heap, &queue, &entries, err));
	for (; s->tasks_max; s->tasks_max--, ++*tasks) {
		TRY_FOUND(heap_entries_next(&entries, err));
		TRY_ERRORS(r = heap_find(s->q->heap, entries.value.bits, &ix, err));
		if (r == HDB_OK)
			TRY(mark_awaited(s, ix, pool_ix, err));
		if (*tasks % STEP == 0)
			TRY(base_step(s->q->work, *tasks, err));
	}
	return HDB_OK;
}

/* ---- findings ---- */

/*
 * Finds the common location of all threads of a group and, if has_call is set, the call that they
 * are all in.
 */
static int describe(const struct query *q, const struct crowd *c, bool has_call, struct place *out,
		    struct hdb_error *err)
{
	const uint64_t step = (c->count + PLACES_MAX - 1) / PLACES_MAX;

	*out = (struct place){ .is_pattern = true };
	for (uint64_t i = 0; i < c->count; i += step) {
		const struct query_wait *wait = c->members[i].wait;
		struct place place;

		TRY(base_step(q->work, i, err));
		TRY(find_place(q->heap, wait->thread_ix, wait->trace_serial, &place, err));
		if (has_call)
			TRY(find_call(q->heap, wait->trace_serial, &place, err));
		if (c->count > 1)
			heap_name_pattern(place.name);
		if (i == 0)
			*out = place;
		out->is_idle |= place.is_idle;
		out->is_pattern &= strcmp(out->name, place.name) == 0;
		if (strcmp(out->frame, place.frame) != 0)
			out->frame[0] = '\0';
		if (strcmp(out->call, place.call) != 0)
			out->call[0] = '\0';
	}
	return HDB_OK;
}

/*
 * Finds the location of the thread that holds the locks. If it waits for another thread, this wait
 * is its call.
 */
static int find_owner(struct stuck *s, uint32_t ix, struct place *out, struct hdb_error *err)
{
	const struct query_wait *wait = query_waits_thread(&s->waits, ix);
	char name[LEAK_PATTERN_MAX];

	TRY(find_place(s->q->heap, ix, wait ? wait->trace_serial : STORE_NONE, out, err));
	TRY(find_call(s->q->heap, wait ? wait->trace_serial : STORE_NONE, out, err));
	if (!wait || wait->owner_ix == HEAP_NONE || wait->owner_ix == ix)
		return HDB_OK;
	TRY(heap_thread_name(s->q->heap, wait->owner_ix, name, sizeof(name), err));
	(void)snprintf(out->call, sizeof(out->call), "waiting for thread \"%.40s\"", name);
	return HDB_OK;
}

/* Writes the sentence about threads that wait for locks of another thread. */
static void say_lock(struct heap *heap, const struct crowd *c, const struct place *place,
		     const struct place *owner, struct bytes *to)
{
	const struct query_wait *first = c->members->wait;
	const char *lock =
		first->lock_ix == HEAP_NONE ? "" : heap_class_name_of(heap, first->lock_ix);
	const bool is_monitor = first->is_monitor;

	if (c->count == 1)
		bytes_format(to, "Thread \"%s\" is", place->name);
	else
		bytes_format(to, "%s threads", base_number(c->count).text);
	if (c->count > 1 && place->is_pattern && place->name[0])
		bytes_format(to, " \"%s\"", place->name);
	if (c->count > 1)
		bytes_format(to, "%s are", c->has_finalizer ? ", \"Finalizer\" among them," : "");
	bytes_string(to, is_monitor ? " blocked" : " waiting");
	add_place(place, to);
	bytes_format(to, ": %s for %s%.*s, held by thread \"%s\"",
		     c->count == 1 ? "it waits" : "they wait",
		     !lock[0]   ? "a lock" :
		     is_monitor ? "the monitor of " :
				  "the ",
		     (int)(is_monitor ? strlen(lock) : strcspn(lock, "$")), lock, owner->name);
	add_place(owner, to);
	bytes_string(to, ".");
}

/*
 * Returns the finding about an object or, if ix is HEAP_NONE, about the queue of finalizers, or
 * NULL.
 */
static struct leak_finding *finding_about(const struct leak_findings *l, uint32_t ix)
{
	for (size_t i = 0; i < l->list.count; i++) {
		struct leak_finding *f = leak_finding_at(l, i);

		if (f->answer.rule &&
		    (ix == HEAP_NONE ? strcmp(f->answer.rule->name, "finalizer-backlog") == 0 :
				       f->answer.ix == ix))
			return f;
	}
	return NULL;
}

/*
 * Returns the suspect that is a group of threads, at least half of which are in the crowd, or NULL.
 */
static struct leak_finding *finding_of_threads(const struct leak_findings *l, const struct crowd *c)
{
	for (size_t i = 0; i < l->suspects.count; i++) {
		struct leak_finding *f = leak_finding_at(l, i);

		/* another crowd already explains this group */
		if (f->answer.rule && f->answer.rule->verdict == EXPLAIN_STUCK)
			continue;
		if (f->suspect.ix != HEAP_NONE || c->count < f->suspect.count - c->count)
			continue;
		for (size_t k = 0; k < f->suspect.members.count; k++)
			if (*base_vec_at(&f->suspect.members, uint32_t, k) ==
			    c->members->wait->thread_ix)
				return f;
	}
	return NULL;
}

/*
 * Adds a finding, or replaces the explanation of a suspect about the same object. A fault stays a
 * separate finding, because `leaks` counts it. `threads` are the threads to look at.
 */
static int add_finding(struct stuck *s, const struct crowd *c, struct bytes *says,
		       const char *threads, struct hdb_error *err)
{
	const uint32_t ix = c->members->key_ix;
	const bool is_pool = c->kind == CROWD_POOL;
	const struct explain_rule *rule = leak_rule(is_pool                    ? "starved-pool" :
						    c->kind == CROWD_PERMITS   ? "no-permits" :
						    c->kind == CROWD_READ_LOCK ? "lock-upgrade" :
						    c->has_finalizer ? "blocked-finalizer" :
								       "blocked-threads");
	struct explain_answer answer = { .ix = ix, .kept_ix = ix };
	struct leak_finding *f = is_pool          ? finding_about(s->l, ix) :
				 c->has_finalizer ? finding_about(s->l, HEAP_NONE) :
						    finding_of_threads(s->l, c);

	/* Whether something is wrong with permits is unknown, so another explanation remains. */
	if (f && f->answer.rule && c->kind == CROWD_PERMITS)
		f = NULL;
	s->added++;
	bytes_add(says, "", 1);
	if (says->failed)
		return hdb_fail_memory(err, "a string", says->size);
	if (!f || f->is_fault) {
		TRY(derive_retained(s->q->derive, ix, &answer.retained_bytes, err));
		TRY(leak_findings_add(s->q, s->l, &answer, &f, err));
	}
	if (!f->answer.rule)
		f->answer.kept_ix = ix;
	f->answer.retained_bytes = f->suspect.retained_bytes;
	f->answer.holds[0] = '\0';
	f->answer.ix = ix; /* kept_ix remains the object that a rule explained */
	f->answer.rule = rule;
	f->answer.says[0] = '\0';
	query_leak_add_short(BASE_TEXT(f->answer.says), says->data);
	(void)snprintf(f->answer.advice, sizeof(f->answer.advice), "%s", rule->advice);
	(void)snprintf(f->threads, sizeof(f->threads), "%s", threads);
	return HDB_OK;
}

static int report_locks(struct stuck *s, const struct crowd *c, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	const struct leak_finding *backlog =
		c->has_finalizer ? finding_about(s->l, HEAP_NONE) : NULL;
	struct place owner, place;

	if (c->count < CROWD_LEAST_OF_SLOW && !c->has_finalizer)
		return HDB_OK;
	TRY(find_owner(s, c->members->key_ix, &owner, err));
	if (owner.is_idle || (c->count < CROWD_LEAST && !owner.call[0] && !c->has_finalizer))
		return HDB_OK;
	TRY(describe(s->q, c, false, &place, err));
	if (backlog && !backlog->is_fault)
		bytes_format(&text, "%.*s. ", (int)strcspn(backlog->answer.says, ":"),
			     backlog->answer.says);
	say_lock(s->q->heap, c, &place, &owner, &text);
	return add_finding(s, c, &text, owner.name, err);
}

/*
 * Returns whether each thread of a group waits for a lock that another thread of the group holds.
 */
static bool is_deadlock(const struct crowd *c)
{
	if (c->count > CROWD_LEAST)
		return false;
	for (uint64_t i = 0; i < c->count; i++) {
		const uint32_t owner_ix = c->members[i].wait->owner_ix;
		uint64_t k = 0;

		while (k < c->count && c->members[k].wait->thread_ix != owner_ix)
			k++;
		if (k == i || k == c->count)
			return false;
	}
	return true;
}

/*
 * Appends a description of what its threads are doing to a finding. `only` is the word for a single
 * thread.
 */
static void add_doing(const struct crowd *c, const struct place *place, const char *only,
		      struct leak_finding *f)
{
	const struct base_text to = BASE_TEXT(f->answer.says);
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	struct place own = *place;

	if (place->is_idle || !place->frame[0] || !place->is_pattern)
		return;
	if (c->count > 1)
		bytes_format(&text, " Its %s threads \"%s\" are", base_number(c->count).text,
			     place->name);
	else
		bytes_format(&text, " Its %s \"%s\" is", only, place->name);
	if (is_deadlock(c))
		(void)snprintf(own.call, sizeof(own.call), "waiting for each other's locks");
	add_place(&own, &text);
	bytes_add(&text, ".", 2);
	if (!text.failed)
		query_leak_add_short(to, text.data);
	(void)snprintf(f->threads, sizeof(f->threads), "%s", place->name);
}

/* Removes a finding that is not a suspect. */
static void remove_finding(struct leak_findings *l, struct leak_finding *f)
{
	const size_t at = (size_t)(f - leak_finding_at(l, 0));

	assert(f->is_fault && at >= l->suspects.count && at < l->list.count);
	l->list.count--;
	memmove(f, f + 1, sizeof(*f) * (l->list.count - at));
}

/*
 * If a third of the threads of a pool wait for the locks of one thread, the finding about these
 * locks and the one about the pool, which is a suspect, are one incident. It has the size of the
 * pool, and all texts. Returns whether there are such locks.
 */
static bool merge_locks(struct leak_findings *l, const struct crowd *c, struct leak_finding *pool)
{
	const struct base_text to = BASE_TEXT(pool->answer.says);
	bool any = false;

	/* Removing a finding moves those after it. */
	for (size_t i = l->list.count; !pool->is_fault && i-- > l->suspects.count;) {
		struct leak_finding *lock = leak_finding_at(l, i);
		const size_t used = strlen(to.buf);
		uint64_t waiting = 0;

		for (uint64_t k = 0; k < c->count; k++)
			waiting += c->members[k].wait->owner_ix == lock->answer.ix;
		if (!lock->is_fault || lock->answer.rule != leak_rule("blocked-threads") ||
		    waiting * 3 < c->count || used + strlen(lock->answer.says) + 2 > to.size)
			continue;
		(void)snprintf(to.buf + used, to.size - used, " %s", lock->answer.says);
		memcpy(pool->answer.advice, lock->answer.advice, sizeof(lock->answer.advice));
		memcpy(pool->threads, lock->threads, sizeof(lock->threads));
		pool->answer.rule = lock->answer.rule;
		pool->answer.ix = lock->answer.ix;
		remove_finding(l, lock);
		any = true;
	}
	return any;
}

/*
 * If the queue of a pool is a suspect and the pool is a separate finding, both are about the same
 * tasks, so the suspect gets the explanation of the pool. Sets *pool to the remaining finding.
 */
static int merge_queue(struct stuck *s, struct leak_finding **pool, struct hdb_error *err)
{
	struct leak_finding *queue;
	uint32_t ix;

	TRY_FOUND(heap_path_object(s->q->heap, (*pool)->answer.ix, "workQueue", &ix, err));
	queue = finding_about(s->l, ix);
	if (!queue || queue->is_fault || !(*pool)->is_fault || (*pool)->more)
		return HDB_OK;
	queue->answer = (*pool)->answer;
	memcpy(queue->threads, (*pool)->threads, sizeof(queue->threads));
	remove_finding(s->l, *pool);
	*pool = queue;
	return HDB_OK;
}

static int report_pool(struct stuck *s, const struct crowd *c, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	struct leak_finding *f = finding_about(s->l, c->members->key_ix);
	const bool may_starve = all_wait(s, c, HEAP_NONE);
	uint64_t tasks = 0;
	struct place place;

	if (!f && (!may_starve || s->added >= STUCK_MAX))
		return HDB_OK;
	if (may_starve)
		TRY(look_at_queue(s, c->members->key_ix, &tasks, err));
	TRY(describe(s->q, c, f != NULL, &place, err));
	if (!all_wait(s, c, c->members->key_ix)) {
		if (!f)
			return HDB_OK;
		TRY(merge_queue(s, &f, err));
		if (!merge_locks(s->l, c, f))
			add_doing(c, &place, "only thread", f);
		return HDB_OK;
	}
	place.call[0] = '\0';
	if (!place.is_pattern)
		place.name[0] = '\0';
	if (c->count > 1)
		bytes_format(&text, "All %s threads", base_number(c->count).text);
	else
		bytes_string(&text, "The only thread");
	if (place.name[0])
		bytes_format(&text, " \"%s\"", place.name);
	bytes_string(&text, c->count > 1 ? " of a pool wait" : " of a pool waits");
	add_place(&place, &text);
	bytes_format(&text,
		     " for tasks in the queue of the same pool: no thread is left to run them. The "
		     "queue has %s%s task%s.",
		     s->tasks_max ? "" : "at least ", base_number(tasks).text,
		     tasks == 1 ? "" : "s");
	return add_finding(s, c, &text, place.name, err);
}

/* ---- semaphores without permits ---- */

/* Names of methods and classes, each followed by "|". */
struct methods {
	struct base_text names;
	bool is_complete; /* whether threads are compared with them, or add theirs */
};

static void add_name(const char *name, struct base_text names)
{
	const size_t used = strlen(names.buf);

	(void)snprintf(names.buf + used, names.size - used, "%s|", name);
}

/*
 * Visits the methods of a thread. If the names are complete, sets *out to whether they contain one
 * of the methods or its class. Otherwise, adds the application's methods, and the class of the
 * innermost: "a.Limiter|a.Limiter.call|a.Job.run|", and sets *out if this is impossible.
 */
static int visit_methods(struct heap *heap, uint32_t trace_serial, const struct methods *methods,
			 bool *out, struct hdb_error *err)
{
	const struct base_text names = methods->names;
	const bool has_names = methods->is_complete;
	struct store_trace trace;
	bool is_first = true;

	*out = false;
	TRY_FOUND(heap_trace(heap, trace_serial, &trace, err));
	for (uint32_t depth = 0; depth < trace.frame_count && depth < STACK_MAX && !*out; depth++) {
		char text[LEAK_FRAME_MAX], class_name[LEAK_FRAME_MAX];
		struct store_frame frame;
		const char *dot;

		TRY_FOUND(heap_trace_frame(heap, &trace, depth, &frame, err));
		TRY(heap_frame_text(heap, &frame, text, sizeof(text), err));
		text[strcspn(text, "(")] = '\0';
		dot = strrchr(text, '.');
		(void)snprintf(class_name, sizeof(class_name), "%.*s", dot ? (int)(dot - text) : 0,
			       text);
		if (has_names)
			*out = base_is_among(names.buf, text) ||
			       base_is_among(names.buf, class_name);
		if (has_names || heap_is_platform_class(text) || heap_is_library_class(text))
			continue;
		if (is_first && !base_is_among(names.buf, class_name))
			add_name(class_name, names);
		if (!base_is_among(names.buf, text))
			add_name(text, names);
		is_first = false;
		/* names that cannot be separated, or are too long */
		*out = !dot || strchr(text, '|') || strlen(names.buf) + 1 == names.size;
	}
	return HDB_OK;
}

/*
 * Sets *out to whether no thread holds a permit of the semaphore that a group waits for, as far as
 * stacks show. Threads without a stack, such as virtual ones, may hold one.
 */
static int are_lost(struct stuck *s, const struct crowd *c, bool *out, struct hdb_error *err)
{
	char names[METHODS_MAX_BYTES] = "";
	struct methods methods = { .names = BASE_TEXT(names) };
	bool is_other = false;

	*out = false;
	for (uint64_t i = 0; i < c->count && !is_other; i++) {
		TRY(base_step(s->q->work, i, err));
		TRY(visit_methods(s->q->heap, c->members[i].wait->trace_serial, &methods, &is_other,
				  err));
	}
	if (!names[0])
		return HDB_OK;
	methods.is_complete = true;
	for (size_t i = 0; i < s->waits.list.count && !is_other; i++) {
		const struct query_wait *wait = base_vec_at(&s->waits.list, struct query_wait, i);

		TRY(base_step(s->q->work, i, err));
		if (wait->state.is_virtual)
			return HDB_OK;
		if (wait->lock_ix != c->members->key_ix)
			TRY(visit_methods(s->q->heap, wait->trace_serial, &methods, &is_other,
					  err));
	}
	*out = !is_other;
	return HDB_OK;
}

/*
 * Finds the first object or class that refers to an object and is of a class or, if class_name is
 * NULL, belongs to the application. Sets *out to HEAP_NONE if there is none.
 */
static int find_referrer(struct stuck *s, uint32_t ix, const char *class_name, uint32_t *out,
			 struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec referrers = { 0 };
	struct heap *heap = s->q->heap;

	*out = HEAP_NONE;
	TRY(derive_referrers_of(s->q->derive, ix, REFERRERS_MAX, &referrers, err));
	for (size_t i = 0; i < referrers.count && *out == HEAP_NONE; i++) {
		const uint32_t referrer_ix = *base_vec_at(&referrers, uint32_t, i);
		struct heap_object object;
		const char *name;

		TRY(heap_object(heap, referrer_ix, &object, err));
		name = heap_class_name(heap, heap_known_class(&object));
		if (class_name ? strcmp(name, class_name) == 0 :
				 !heap_is_platform_class(name) && !strstr(name, "$$Lambda"))
			*out = referrer_ix;
	}
	return HDB_OK;
}

/* Writes the field of the application that holds the semaphore or lock of a Sync, or "". */
static int name_lock(struct stuck *s, uint32_t sync_ix, const char *class_name, struct base_text to,
		     struct hdb_error *err)
{
	struct analysis_link link;
	struct heap_object object;
	uint32_t ix, holder_ix;

	to.buf[0] = '\0';
	TRY(find_referrer(s, sync_ix, class_name, &ix, err));
	if (ix == HEAP_NONE)
		return HDB_OK;
	TRY(find_referrer(s, ix, NULL, &holder_ix, err));
	if (holder_ix == HEAP_NONE)
		return HDB_OK;
	TRY(heap_object(s->q->heap, holder_ix, &object, err));
	TRY(analysis_link_find(&s->q->session, holder_ix, ix, &link, err));
	if (link.count)
		(void)snprintf(to.buf, to.size, " %s.%s",
			       heap_class_name(s->q->heap, heap_known_class(&object)),
			       analysis_link_name(&link));
	return HDB_OK;
}

static int report_permits(struct stuck *s, const struct crowd *c, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	char owner[LEAK_NAME_MAX_BYTES] = "";
	struct heap_value state;
	struct place place;
	bool is_lost;

	if (c->count < CROWD_LEAST)
		return HDB_OK;
	TRY_FOUND(heap_path_value(s->q->heap, c->members->key_ix, "state", &state, err));
	if (state.type != HPROF_INT || state.bits || s->q->heap->state.lacks_values)
		return HDB_OK;
	TRY(are_lost(s, c, &is_lost, err));
	if (!is_lost)
		return HDB_OK;
	TRY(describe(s->q, c, false, &place, err));
	TRY(name_lock(s, c->members->key_ix, "java.util.concurrent.Semaphore", BASE_TEXT(owner),
		      err));
	bytes_format(&text, "The Semaphore%s has no permits: %s threads", owner,
		     base_number(c->count).text);
	if (place.is_pattern && place.name[0])
		bytes_format(&text, " \"%s\"", place.name);
	bytes_string(&text, " wait");
	add_place(&place, &text);
	/* The number of permits that a semaphore began with is unknown. */
	bytes_string(&text, ", and no other thread is in a method that these are in. If the "
			    "semaphore counts items, they are idle. Otherwise, permits were not "
			    "released, or other work holds them.");
	return add_finding(s, c, &text, place.is_pattern ? place.name : "", err);
}

/* ---- threads that wait for a lock of which they hold the read lock ---- */

/*
 * Sets *out to whether a thread is known to hold a read lock. The lock records the first and the
 * last thread that took it; counts of others are in thread-locals.
 */
static int holds_read_lock(struct heap *heap, uint32_t sync_ix, uint32_t thread_ix, bool *out,
			   struct hdb_error *err)
{
	uint32_t first_ix = HEAP_NONE;
	struct heap_value count, owner, own;
	int r;

	TRY_ERRORS(r = heap_path_object(heap, sync_ix, "firstReader", &first_ix, err));
	*out = r == HDB_OK && first_ix == thread_ix;
	if (*out)
		return HDB_OK;
	TRY_FOUND(heap_path_value(heap, sync_ix, "cachedHoldCounter.count", &count, err));
	TRY_FOUND(heap_path_value(heap, sync_ix, "cachedHoldCounter.tid", &owner, err));
	TRY_FOUND(heap_path_value(heap, thread_ix, "tid", &own, err));
	*out = count.type == HPROF_INT && count.bits && owner.type == HPROF_LONG &&
	       own.type == HPROF_LONG && own.bits == owner.bits;
	return HDB_OK;
}

/*
 * Reports a thread that waits for a lock although it holds the read lock. Since a holder can take
 * the read lock again, the thread waits for the write lock, and so for itself.
 */
static int report_read_lock(struct stuck *s, const struct crowd *c, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	char field[LEAK_NAME_MAX_BYTES] = "";
	const uint32_t sync_ix = c->members->key_ix;
	const struct query_wait *wait;
	struct heap_value state;
	struct place place;
	bool is_holder = false;
	uint64_t i = 0;

	TRY_FOUND(heap_path_value(s->q->heap, sync_ix, "state", &state, err));
	/* the upper half counts read locks, the lower half write locks */
	if (state.type != HPROF_INT || state.bits <= UINT16_MAX || state.bits & UINT16_MAX)
		return HDB_OK;
	for (; i < c->count && !is_holder; i++) {
		wait = c->members[i].wait;
		/* A thread that waits for a limited time releases its read lock, or tries again. */
		if (wait->state.name && strcmp(wait->state.name, "TIMED_WAITING") == 0)
			continue;
		TRY(holds_read_lock(s->q->heap, sync_ix, wait->thread_ix, &is_holder, err));
		TRY(base_step(s->q->work, i, err));
	}
	if (!is_holder)
		return HDB_OK;
	TRY(name_lock(s, sync_ix, READ_WRITE_LOCK, BASE_TEXT(field), err));
	TRY(find_place(s->q->heap, wait->thread_ix, wait->trace_serial, &place, err));
	bytes_format(&text, "Thread \"%s\" waits", place.name);
	add_place(&place, &text);
	bytes_format(
		&text,
		" for the write lock of the ReentrantReadWriteLock%s, but holds its read lock: "
		"it waits for itself.",
		field);
	if (c->count > 1)
		bytes_format(&text, " %s more thread%s for this lock.",
			     base_number(c->count - 1).text, c->count == 2 ? " waits" : "s wait");
	return add_finding(s, c, &text, place.name, err);
}

/* ---- threads that consume a queue ---- */

/* Frames of threads that wait at a queue, for an element or for free space. */
static const char at_queue[] = "java.util.concurrent.*Queue.*,java.util.concurrent.*Deque.*";

/* A queue, and the owner and consumers found for it. */
struct queue {
	uint32_t ix;
	uint32_t owner_ix; /* the application object on the path to the queue, or HEAP_NONE */
	uint64_t id;
	const char *consumers;   /* of the rule */
	struct base_vec members; /* struct member: the threads that consume its elements */
};

static void release_queue(struct queue *queue)
{
	base_vec_release(&queue->members);
}

/* Describes the queue that a finding is about. */
static int begin_queue(struct heap *heap, const struct leak_finding *f, struct queue *out,
		       struct hdb_error *err)
{
	*out = (struct queue){ .ix = f->answer.ix,
			       .owner_ix = HEAP_NONE,
			       .consumers = f->answer.rule->consumers };
	if (strcmp(out->consumers, "subscriber") == 0 && f->suspect.ix != HEAP_NONE)
		out->ix = f->suspect.ix;
	for (size_t i = 0; i < f->path.count && f->path.nodes[i] != out->ix; i++)
		if (!heap_is_platform_class(heap_class_name_of(heap, f->path.nodes[i])))
			out->owner_ix = f->path.nodes[i];
	return heap_id(heap, out->ix, &out->id, err);
}

/* Sets *out to whether a consumer may run a method of the object. */
static int is_consumers(struct heap *heap, const struct queue *queue, uint32_t ix, bool *out,
			struct hdb_error *err)
{
	const bool by_owner = base_is_among("owner|subscriber", queue->consumers);

	*out = by_owner ? ix == queue->ix || ix == queue->owner_ix :
			  base_glob_list(queue->consumers, heap_class_name_of(heap, ix));
	return by_owner && !*out ? heap_field_refers(heap, ix, queue->id, out, err) : HDB_OK;
}

/*
 * Returns whether the frame with this text is in a method of the class or of a superclass.
 * Truncates the text.
 */
static bool is_method_of(struct heap *heap, char *frame, uint32_t class_no)
{
	char *dot;

	frame[strcspn(frame, "(")] = '\0';
	dot = strrchr(frame, '.');
	if (!dot)
		return false;
	*dot = '\0';
	return !heap_is_platform_class(frame) && heap_has_superclass(heap, class_no, frame);
}

/*
 * Sets *out to whether the object of a local variable is the `this` of its frame, and that frame is
 * not inside a call of a queue.
 */
static int is_consuming(struct heap *heap, const struct store_root *root, uint32_t trace_serial,
			bool *out, struct hdb_error *err)
{
	char text[LEAK_FRAME_MAX] = "";
	struct heap_object object;
	struct store_trace trace;
	struct store_frame frame;

	*out = false;
	TRY(heap_object(heap, root->ix, &object, err));
	TRY_FOUND(heap_trace(heap, trace_serial, &trace, err));
	if (root->frame_number >= trace.frame_count)
		return HDB_OK;
	for (uint32_t depth = 0; depth < root->frame_number && depth < FRAMES_MAX; depth++) {
		TRY_FOUND(heap_trace_frame(heap, &trace, depth, &frame, err));
		TRY(heap_frame_text(heap, &frame, text, sizeof(text), err));
		if (base_glob_list(at_queue, text))
			return HDB_OK;
	}
	TRY_FOUND(heap_trace_frame(heap, &trace, root->frame_number, &frame, err));
	TRY(heap_frame_text(heap, &frame, text, sizeof(text), err));
	*out = is_method_of(heap, text, object.class_no);
	return HDB_OK;
}

/* Adds the thread of a local variable to the consumers of the queue, if it consumes the queue. */
static int add_consumer(struct stuck *s, struct queue *queue, const struct store_root *root,
			struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	struct member member = { .key_ix = queue->ix };
	struct store_thread thread;
	bool found;

	if (!root->is_local || root->frame_number == STORE_NONE)
		return HDB_OK;
	TRY(is_consumers(heap, queue, root->ix, &found, err));
	if (!found)
		return HDB_OK;
	TRY_FOUND(heap_thread_by_serial(heap, root->thread_serial, &thread, err));
	member.wait = query_waits_thread(&s->waits, thread.ix);
	if (!member.wait)
		return HDB_OK;
	for (size_t i = 0; i < queue->members.count; i++)
		if (base_vec_at(&queue->members, struct member, i)->wait == member.wait)
			return HDB_OK;
	TRY(is_consuming(heap, root, member.wait->trace_serial, &found, err));
	return found ? base_vec_push(&queue->members, &member, sizeof(member), err) : HDB_OK;
}

/* If all consumers of a queue are doing the same, appends this to the finding about the queue. */
static int report_consumers(struct stuck *s, struct leak_finding *f, struct hdb_error *err)
{
	const struct heap_roots *roots = &s->q->heap->roots;
	BASE_SCOPED(release_queue) struct queue queue = { 0 };
	struct crowd c = { 0 };
	struct place place;

	TRY(begin_queue(s->q->heap, f, &queue, err));
	for (uint64_t i = 0; i < roots->count && queue.members.count < CONSUMERS_MAX; i++) {
		if (s->roots_max == 0)
			return HDB_OK;
		s->roots_max--;
		TRY(add_consumer(s, &queue, &roots->records[i], err));
		if (i % STEP == 0)
			TRY(base_step(s->q->work, i, err));
	}
	if (!queue.members.count || queue.members.count == CONSUMERS_MAX)
		return HDB_OK;
	c.members = queue.members.data;
	c.count = queue.members.count;
	if (c.count == 1)
		TRY(find_owner(s, c.members->wait->thread_ix, &place, err));
	else
		TRY(describe(s->q, &c, true, &place, err));
	add_doing(&c, &place, "thread", f);
	return HDB_OK;
}

/* ---- threads of objects that are created again and again ---- */

/* Classes of constants, and of other objects that unrelated objects have in common. */
static const char constants[] = "java.lang.*,java.time.*,java.nio.charset.*,java.util.Locale,"
				"*Factory*,*Handler*,*Logger*";

/*
 * Adds the objects in the fields of an object to `parts`. Sets *out to whether another object
 * shares one, such as a queue, or the pool in this$0.
 */
static int add_parts(struct heap *heap, uint32_t ix, struct base_idmap *parts, bool *out,
		     struct hdb_error *err)
{
	struct heap_fields fields;
	int r;

	*out = false;
	TRY(heap_fields_begin(heap, ix, &fields, err));
	while ((r = heap_fields_next(&fields, err)) == HDB_OK) {
		struct heap_object part;

		if (fields.value.type != HPROF_OBJECT || !fields.value.bits)
			continue;
		TRY_ERRORS(r = heap_find(heap, fields.value.bits, &part.ix, err));
		if (r != HDB_OK)
			continue;
		TRY(heap_object(heap, part.ix, &part, err));
		if (part.kind != STORE_INSTANCE ||
		    base_glob_list(constants, heap_class_name(heap, part.class_no)) ||
		    heap_has_superclass(heap, part.class_no, "java.lang.Enum"))
			continue;
		*out |= base_idmap_get(parts, part.ix) != BASE_IDMAP_NONE &&
			base_idmap_get(parts, part.ix) != ix;
		TRY(base_idmap_put(parts, part.ix, ix, err));
	}
	return r == HDB_END ? HDB_OK : r;
}

/*
 * Explains a group of threads in which each thread waits for work from its own object, such as an
 * event loop. The objects have the same class, which belongs to the application: libraries may have
 * many threads. If the objects share a queue or pool, their number was chosen.
 */
static int report_singles(struct stuck *s, struct leak_finding *f, struct hdb_error *err)
{
	const struct explain_rule *rule = leak_rule("threads-of-each");
	const struct base_vec *members = &f->suspect.members;
	const size_t step = members->count / PLACES_MAX + 1;
	struct heap *heap = s->q->heap;
	BASE_SCOPED(base_idmap_release) struct base_idmap owners = { 0 };
	BASE_SCOPED(base_idmap_release) struct base_idmap parts = { 0 };
	uint64_t looked = 0, idle = 0, different = 0, sharing = 0;
	uint32_t class_no = HEAP_NONE;
	const char *name;

	if (f->suspect.ix != HEAP_NONE || members->count < SINGLES_LEAST ||
	    !heap_is_thread(heap, *base_vec_at(members, uint32_t, 0)) ||
	    (f->answer.rule &&
	     (!f->answer.rule->classes || strcmp(f->answer.rule->classes, "suspect") != 0)))
		return HDB_OK;
	for (size_t i = 0; i < members->count; i += step, looked++) {
		const uint32_t thread_ix = *base_vec_at(members, uint32_t, i);
		const struct query_wait *wait = query_waits_thread(&s->waits, thread_ix);
		struct place place = { .is_idle = false };
		struct heap_object owner;
		bool is_sharing;
		int r;

		TRY(base_step(s->q->work, i, err));
		if (wait)
			TRY(find_call(heap, wait->trace_serial, &place, err));
		/* "waiting for a process" is work. */
		idle += place.is_idle || strcmp(place.call, waits) == 0 ||
			strncmp(place.call, waits_in, sizeof(waits_in) - 1) == 0;
		TRY_ERRORS(r = heap_path_object(heap, thread_ix, "holder.task|target", &owner.ix,
						err));
		if (r != HDB_OK)
			continue;
		TRY(heap_object(heap, owner.ix, &owner, err));
		if (class_no == HEAP_NONE)
			class_no = owner.class_no;
		if (owner.class_no != class_no || owner.kind != STORE_INSTANCE ||
		    base_idmap_get(&owners, owner.ix) != BASE_IDMAP_NONE)
			continue;
		different++;
		TRY(add_parts(heap, owner.ix, &parts, &is_sharing, err));
		sharing += is_sharing;
		TRY(base_idmap_put(&owners, owner.ix, thread_ix, err));
	}
	name = class_no == HEAP_NONE ? "" : heap_class_name(heap, class_no);
	if (heap_is_library_class(name) || heap_is_platform_class(name) || sharing * 2 > looked ||
	    different * 10 < looked * 9 || idle * 10 < looked * 9 || strstr(name, "$$Lambda"))
		return HDB_OK;
	f->answer = (struct explain_answer){ .rule = rule,
					     .ix = *base_vec_at(members, uint32_t, 0),
					     .retained_bytes = f->suspect.retained_bytes };
	f->answer.kept_ix = f->answer.ix;
	(void)snprintf(f->answer.says, sizeof(f->answer.says),
		       "Each thread has its own %s and waits for work: objects of this class are "
		       "probably created again and again instead of being shared.",
		       explain_short_class(heap, class_no));
	(void)snprintf(f->answer.advice, sizeof(f->answer.advice), "%s", rule->advice);
	return HDB_OK;
}

/* Appends what the finalizer thread is doing to the finding about its queue. */
static int report_finalizer(struct stuck *s, struct hdb_error *err)
{
	struct leak_finding *f = finding_about(s->l, HEAP_NONE);
	struct member member = { .key_ix = HEAP_NONE };
	const struct crowd c = { .members = &member, .count = 1 };
	struct place place;

	for (size_t i = 0; f && i < s->waits.list.count && !member.wait; i++) {
		const struct query_wait *wait = base_vec_at(&s->waits.list, struct query_wait, i);

		if (base_glob("java.lang.ref.Finalizer$*",
			      heap_class_name_of(s->q->heap, wait->thread_ix)))
			member.wait = wait;
	}
	if (!member.wait)
		return HDB_OK;
	TRY(find_owner(s, member.wait->thread_ix, &place, err));
	add_doing(&c, &place, "thread", f);
	return HDB_OK;
}

int leak_stuck_find(struct query *q, struct leak_findings *l, struct hdb_error *err)
{
	static int (*const report[])(struct stuck *, const struct crowd *, struct hdb_error *) = {
		[CROWD_LOCK] = report_locks,
		[CROWD_READ_LOCK] = report_read_lock,
		[CROWD_PERMITS] = report_permits,
		[CROWD_POOL] = report_pool,
	};
	BASE_SCOPED(release)
	struct stuck s = { .q = q, .l = l, .tasks_max = TASKS_MAX, .roots_max = ROOTS_MAX };

	TRY(find_crowds(&s, err));
	for (size_t i = 0; i < s.crowds.count; i++) {
		const struct crowd *c = base_vec_at(&s.crowds, struct crowd, i);

		TRY(base_step(q->work, i, err));
		/* Pools that are suspects are completed anyway. */
		if (s.added < STUCK_MAX || c->kind == CROWD_POOL)
			TRY(report[c->kind](&s, c, err));
	}
	TRY(report_finalizer(&s, err));
	for (size_t i = 0; i < l->suspects.count; i++)
		TRY(report_singles(&s, leak_finding_at(l, i), err));
	for (size_t i = 0; i < l->list.count && s.roots_max; i++) {
		struct leak_finding *f = leak_finding_at(l, i);

		if (f->answer.rule && f->answer.rule->consumers && f->path.count)
			TRY(report_consumers(&s, f, err));
	}
	return HDB_OK;
}
