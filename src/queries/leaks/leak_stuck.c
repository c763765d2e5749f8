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
#include "queries/leaks/leak_stuck_private.h"

#include <stdio.h>
#include <string.h>

/* Maximum number of findings. */
#define STUCK_MAX 3u
/*
 * Maximum number of queued tasks, in all pools, to compare with the tasks that threads are waiting
 * for.
 */
#define TASKS_MAX 100000u
/* Minimum number of threads for a finding about a pool without a maximum. */
#define POOL_LARGE 100u
/* Maximum number of completions of a future to examine. */
#define COMPLETIONS_MAX 16u
/* Maximum number of frames of a stack to compare with that of a thread that waits for a permit. */
#define STACK_MAX 256u
/* Maximum number of roots examined to find consumers of queues, for all findings together. */
#define ROOTS_MAX 1000000u
/* Maximum number of references to a semaphore. Most of them belong to waiting threads. */
#define REFERRERS_MAX 10000u
/* Maximum total size of the method names of threads that wait for permits. */
#define METHODS_MAX_BYTES 8192
/* Value in `futures` of a future that has not been found in the queue of a pool yet. */
#define AWAITED (HEAP_NONE - 1)

#define FORK_JOIN "java.util.concurrent.ForkJoin"
/* A lock with a read lock that many threads can hold at once. */
#define READ_WRITE_LOCK "java.util.concurrent.locks.ReentrantReadWriteLock"

static void release(struct stuck *s)
{
	query_waits_release(&s->waits);
	base_vec_release(&s->members);
	base_vec_release(&s->crowds);
	base_vec_release(&s->initializers);
	base_idmap_release(&s->futures);
}

/* ---- groups ---- */

BASE_ORDER(compare_members, struct stuck_thread, BASE_UP(key_ix), BASE_UP(kind),
	   BASE_UP(initializer), BASE_UP(wait))
BASE_ORDER(compare_crowds, struct stuck_group, BASE_UP(kind), BASE_DOWN(count),
	   BASE_UP(members->key_ix), BASE_UP(members->initializer))

/*
 * Finds the ThreadPoolExecutor or ForkJoinPool that a thread belongs to. Returns HDB_NOTFOUND if
 * the thread belongs to no such pool. Carriers of virtual threads belong to none.
 */
static int pool_of(struct heap *heap, uint32_t thread_ix, uint32_t *out, struct hdb_error *err)
{
	struct heap_object thread;
	uint32_t ix;

	TRY(heap_object(heap, thread_ix, &thread, err));
	if (heap_has_superclass(heap, thread.class_no, FORK_JOIN "WorkerThread") &&
	    !base_glob("*.CarrierThread", heap_class_name(heap, thread.class_no)))
		return heap_path_object(heap, thread_ix, "pool", out, err);
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
	struct stuck_thread member = { .wait = wait };
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
		member.kind = CROWD_CONDITION;
		if (base_glob("*$ConditionObject", heap_class_name(heap, lock.class_no)))
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
	const struct stuck_thread *list;

	TRY(query_waits_find(s->q, &s->waits, err));
	for (size_t i = 0; i < s->waits.list.count; i++) {
		TRY(add_thread(s, base_vec_at(&s->waits.list, struct query_wait, i), err));
		if (i % STEP == 0)
			TRY(base_step(s->q->work, i, err));
	}
	TRY(leak_find_initializers(s, err));
	base_vec_sort(&s->members, sizeof(struct stuck_thread), compare_members);
	list = s->members.data;
	for (size_t i = 0, end; i < s->members.count; i = end) {
		struct stuck_group c = { .members = &list[i], .kind = list[i].kind };

		for (end = i;
		     end < s->members.count && list[end].key_ix == list[i].key_ix &&
		     list[end].kind == c.kind && list[end].initializer == list[i].initializer;
		     end++)
			c.has_finalizer |= c.kind == CROWD_LOCK &&
					   base_glob("java.lang.ref.Finalizer$*",
						     heap_class_name_of(s->q->heap,
									list[end].wait->thread_ix));
		c.count = end - i;
		TRY(base_vec_push(&s->crowds, &c, sizeof(c), err));
	}
	base_vec_sort(&s->crowds, sizeof(struct stuck_group), compare_crowds);
	return HDB_OK;
}

/*
 * Returns whether all threads of a pool wait for futures and, unless pool_ix is HEAP_NONE, whether
 * these futures are in the queue of that pool.
 */
static bool all_wait(const struct stuck *s, const struct stuck_group *c, uint32_t pool_ix)
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
		if (class_name ? base_glob(class_name, name) : heap_is_own_class(name))
			*out = referrer_ix;
	}
	return HDB_OK;
}

int leak_name_lock(struct stuck *s, uint32_t sync_ix, const char *class_name,
		   struct stuck_owner *out, struct hdb_error *err)
{
	struct analysis_link link;
	struct heap_object object;

	*out = (struct stuck_owner){ .ix = HEAP_NONE };
	TRY(find_referrer(s, sync_ix, class_name, &out->lock_ix, err));
	if (out->lock_ix == HEAP_NONE)
		return HDB_OK;
	TRY(find_referrer(s, out->lock_ix, NULL, &out->ix, err));
	if (out->ix == HEAP_NONE)
		return HDB_OK;
	TRY(heap_object(s->q->heap, out->ix, &object, err));
	TRY(analysis_link_find(&s->q->session, out->ix, out->lock_ix, &link, err));
	if (link.count)
		(void)snprintf(out->name, sizeof(out->name), " %s.%s",
			       heap_class_name(s->q->heap, heap_known_class(&object)),
			       analysis_link_name(&link));
	return HDB_OK;
}

/* Writes the sentence about threads that wait for locks of another thread. */
static void say_lock(struct heap *heap, const struct stuck_group *c,
		     const struct stuck_place *place, const struct stuck_place *owner,
		     struct bytes *to)
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
	leak_add_place(place, to);
	bytes_format(to, ": %s for %s%.*s%s, held by thread \"%s\"",
		     c->count == 1 ? "it waits" : "they wait",
		     !lock[0]   ? "a lock" :
		     is_monitor ? "the monitor of " :
				  "the ",
		     (int)(is_monitor ? strlen(lock) : strcspn(lock, "$")), lock, owner->field,
		     owner->name);
	leak_add_place(owner, to);
	bytes_string(to, c->is_abandoned ? ". It waits for the next task of its pool, so the task "
					   "that took the lock has ended without releasing it." :
					   ".");
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
 * Returns the suspect that is a group of threads of which at least half are in the crowd, or NULL.
 */
static struct leak_finding *finding_of_threads(const struct leak_findings *l,
					       const struct stuck_group *c)
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

/* Returns the suspect whose path contains an object, or NULL. */
static struct leak_finding *finding_below(const struct leak_findings *l, uint32_t ix)
{
	for (size_t i = 0; i < l->suspects.count; i++)
		for (size_t k = 0; k < leak_finding_at(l, i)->path.count; k++)
			if (leak_finding_at(l, i)->path.nodes[k] == ix)
				return leak_finding_at(l, i);
	return NULL;
}

/* Sets the explanation of a finding. `threads` are the threads to look at. */
static void set_finding(struct leak_finding *f, const struct explain_rule *rule, uint32_t ix,
			const char *says, const char *threads)
{
	f->answer.retained_bytes = f->suspect.retained_bytes;
	f->answer.holds[0] = '\0';
	f->answer.ix = ix; /* kept_ix remains the object that a rule explained */
	f->answer.rule = rule;
	f->answer.says[0] = '\0';
	query_leak_add_short(BASE_TEXT(f->answer.says), says);
	(void)snprintf(f->answer.advice, sizeof(f->answer.advice), "%s", rule->advice);
	(void)snprintf(f->threads, sizeof(f->threads), "%s", threads);
}

int leak_add_stuck(struct stuck *s, const struct stuck_group *c, struct bytes *says,
		   const char *threads, struct hdb_error *err)
{
	const uint32_t ix = c->members->key_ix;
	const bool is_pool = c->kind == CROWD_POOL;
	const struct explain_rule *rule =
		leak_rule(c->rule                    ? c->rule :
			  is_pool                    ? "starved-pool" :
			  c->kind == CROWD_PERMITS   ? "no-permits" :
			  c->kind == CROWD_READ_LOCK ? "lock-upgrade" :
			  c->kind == CROWD_CLASS     ? "class-initialization" :
			  c->has_finalizer           ? "blocked-finalizer" :
			  c->is_abandoned            ? "lock-not-released" :
						       "blocked-threads");
	struct explain_answer answer = { .ix = ix, .kept_ix = ix };
	struct leak_finding *f = is_pool          ? finding_about(s->l, ix) :
				 c->has_finalizer ? finding_about(s->l, HEAP_NONE) :
						    finding_of_threads(s->l, c);

	if (!f && is_pool)
		f = finding_below(s->l, ix);

	/*
	 * A problem with the permits is only likely, so an existing explanation stays.
	 */
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
	set_finding(f, rule, ix, says->data, threads);
	return HDB_OK;
}

/*
 * Determines whether the owner of a lock waits for the next task of its pool. In this case, its
 * stack contains no method of the application or a library, so the task that took the lock has
 * ended. Then also sets owner->field.
 */
static int find_abandoned(struct stuck *s, struct stuck_group *c, struct stuck_place *owner,
			  struct hdb_error *err)
{
	const struct query_wait *first = c->members->wait;
	struct stuck_owner field;
	char lock[LEAK_NAME_MAX_BYTES];
	uint32_t pool_ix;

	TRY_FOUND(!owner->frame[0] && strcmp(owner->call, "waiting") == 0 && !first->is_monitor &&
				  first->lock_ix != HEAP_NONE ?
			  pool_of(s->q->heap, c->members->key_ix, &pool_ix, err) :
			  HDB_NOTFOUND);
	c->is_abandoned = true;
	owner->call[0] = '\0';
	(void)snprintf(lock, sizeof(lock), "%s", heap_class_name_of(s->q->heap, first->lock_ix));
	lock[strcspn(lock, "$")] = '\0';
	TRY(leak_name_lock(s, first->lock_ix, lock, &field, err));
	memcpy(owner->field, field.name, sizeof(owner->field));
	return HDB_OK;
}

static int report_locks(struct stuck *s, const struct stuck_group *crowd, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	struct stuck_group copy = *crowd, *c = &copy;
	const struct leak_finding *backlog =
		c->has_finalizer ? finding_about(s->l, HEAP_NONE) : NULL;
	struct stuck_place owner, place;

	if (c->count < CROWD_LEAST_OF_SLOW && !c->has_finalizer)
		return HDB_OK;
	TRY(leak_find_owner(s, c->members->key_ix, &owner, err));
	if (owner.is_idle || (c->count < CROWD_LEAST && !owner.call[0] && !c->has_finalizer))
		return HDB_OK;
	TRY(find_abandoned(s, c, &owner, err));
	TRY(leak_describe(s->q, c, false, &place, err));
	if (backlog && !backlog->is_fault)
		bytes_format(&text, "%.*s. ", (int)strcspn(backlog->answer.says, ":"),
			     backlog->answer.says);
	say_lock(s->q->heap, c, &place, &owner, &text);
	return leak_add_stuck(s, c, &text, owner.name, err);
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
 * Returns whether a finding is about a lock that a thread holds. Locks that the finalizer waits for
 * are left out, because their finding is about the queue of finalizers.
 */
static bool is_about_lock(const struct explain_rule *rule)
{
	return rule == leak_rule("blocked-threads") || rule == leak_rule("lock-not-released");
}

/*
 * If a third of the threads of a pool wait for the locks of one thread, and the pool is a suspect,
 * the finding about the locks and the finding about the pool are one incident. They are joined into
 * one finding with the size of the pool and both texts. Returns whether there are such locks.
 */
static bool merge_locks(struct leak_findings *l, const struct stuck_group *c,
			struct leak_finding *pool)
{
	const struct base_text to = BASE_TEXT(pool->answer.says);
	bool any = false;

	/* Removing a finding moves the findings after it. */
	for (size_t i = l->list.count; !pool->is_fault && i-- > l->suspects.count;) {
		struct leak_finding *lock = leak_finding_at(l, i);
		const size_t used = strlen(to.buf);
		uint64_t waiting = 0;

		for (uint64_t k = 0; k < c->count; k++)
			waiting += c->members[k].wait->owner_ix == lock->answer.ix;
		if (!lock->is_fault || !is_about_lock(lock->answer.rule) ||
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
 * tasks, so the explanation of the pool moves to the suspect. Sets *pool to the remaining finding.
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

/*
 * Explains a group of many threads that belong to a pool without a maximum and with a queue without
 * capacity. Each task that such a pool gets while its threads are busy creates another thread. With
 * another queue, tasks wait in the queue once corePoolSize threads exist.
 */
static int report_unlimited(struct stuck *s, const struct stuck_group *c, struct hdb_error *err)
{
	struct heap *heap = s->q->heap;
	struct leak_finding *f;
	struct stuck_place place;
	int64_t most = 0;
	uint32_t queue_ix;

	TRY_FOUND(heap_path_number(heap, c->members->key_ix, "maximumPoolSize", &most, err));
	TRY_FOUND(heap_path_object(heap, c->members->key_ix, "workQueue", &queue_ix, err));
	if (most != INT32_MAX || c->count < POOL_LARGE ||
	    strcmp(heap_class_name_of(heap, queue_ix), "java.util.concurrent.SynchronousQueue") !=
		    0)
		return HDB_OK;
	f = finding_of_threads(s->l, c);
	/* what is wrong with the contents of the threads is more precise */
	if (!f || (f->answer.rule && f->answer.rule->verdict != EXPLAIN_LARGE &&
		   f->answer.rule->verdict != EXPLAIN_OBSERVED))
		return HDB_OK;
	TRY(leak_describe(s->q, c, false, &place, err));
	if (!place.frame[0])
		return HDB_OK;
	set_finding(
		f, leak_rule("unlimited-pool"), c->members->key_ix,
		"They belong to a thread pool without a maximum (maximumPoolSize "
		"2,147,483,647), which creates a thread for each task while all others are busy.",
		place.is_pattern ? place.name : "");
	return HDB_OK;
}

static int report_pool(struct stuck *s, const struct stuck_group *c, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	struct leak_finding *f = finding_about(s->l, c->members->key_ix);
	const bool may_starve = all_wait(s, c, HEAP_NONE);
	struct heap_object pool;
	uint64_t tasks = 0;
	struct stuck_place place;
	bool is_told = false;

	TRY(heap_object(s->q->heap, c->members->key_ix, &pool, err));
	if (heap_has_superclass(s->q->heap, pool.class_no, FORK_JOIN "Pool"))
		return leak_report_fork_join(s, c, err);
	TRY(leak_report_borrowers(s, c, &is_told, err));
	if (is_told)
		return HDB_OK;
	if (!f && (!may_starve || s->added >= STUCK_MAX))
		return report_unlimited(s, c, err);
	if (may_starve)
		TRY(look_at_queue(s, c->members->key_ix, &tasks, err));
	TRY(leak_describe(s->q, c, f != NULL, &place, err));
	if (!all_wait(s, c, c->members->key_ix)) {
		if (!f)
			return HDB_OK;
		TRY(merge_queue(s, &f, err));
		if (!merge_locks(s->l, c, f))
			leak_add_doing(c, &place, "only thread", f);
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
	leak_add_place(&place, &text);
	bytes_format(&text,
		     " for tasks in the queue of the same pool: no thread is left to run them. The "
		     "queue has %s%s task%s.",
		     s->tasks_max ? "" : "at least ", base_number(tasks).text,
		     tasks == 1 ? "" : "s");
	return leak_add_stuck(s, c, &text, place.name, err);
}

/* ---- semaphores without permits ---- */

/* Names of methods and classes, each followed by "|". */
struct methods {
	struct base_text names;
	/*
	 * whether the names are complete and threads are compared with them; otherwise, threads add
	 * names
	 */
	bool is_complete;
};

static void add_name(const char *name, struct base_text names)
{
	const size_t used = strlen(names.buf);

	(void)snprintf(names.buf + used, names.size - used, "%s|", name);
}

/*
 * Visits the methods of a thread. If the names are complete, sets *out to whether they contain one
 * of the methods or its class. Otherwise, adds the application's methods and the class of the
 * innermost method, as in "a.Limiter|a.Limiter.call|a.Job.run|", and sets *out if this is
 * impossible.
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
		if (has_names || !heap_is_application_class(text))
			continue;
		if (is_first && !base_is_among(names.buf, class_name))
			add_name(class_name, names);
		if (!base_is_among(names.buf, text))
			add_name(text, names);
		is_first = false;
		/* the names cannot be separated, or are too long */
		*out = !dot || strchr(text, '|') || strlen(names.buf) + 1 == names.size;
	}
	return HDB_OK;
}

/* Threads without a stack, such as virtual threads, may be in these methods. */
int leak_are_lost(struct stuck *s, const struct stuck_group *c, bool *out, struct hdb_error *err)
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

static int report_permits(struct stuck *s, const struct stuck_group *c, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	struct stuck_owner owner;
	struct heap_value state;
	struct stuck_place place;
	bool is_lost;

	if (c->count < CROWD_LEAST)
		return HDB_OK;
	TRY_FOUND(heap_path_value(s->q->heap, c->members->key_ix, "state", &state, err));
	if (state.type != HPROF_INT || state.bits || s->q->heap->state.lacks_values)
		return HDB_OK;
	TRY(leak_are_lost(s, c, &is_lost, err));
	if (!is_lost)
		return HDB_OK;
	TRY(leak_describe(s->q, c, false, &place, err));
	TRY(leak_name_lock(s, c->members->key_ix, "java.util.concurrent.Semaphore", &owner, err));
	bytes_format(&text, "The Semaphore%s has no permits: %s threads", owner.name,
		     base_number(c->count).text);
	if (place.is_pattern && place.name[0])
		bytes_format(&text, " \"%s\"", place.name);
	bytes_string(&text, " wait");
	leak_add_place(&place, &text);
	/* The dump does not record how many permits the semaphore had at first. */
	bytes_string(&text, ", and no other thread is in a method that these are in. If the "
			    "semaphore counts items, they are idle. Otherwise, permits were not "
			    "released, or other work holds them.");
	return leak_add_stuck(s, c, &text, place.is_pattern ? place.name : "", err);
}

/* ---- threads that wait for a lock while they hold its read lock ---- */

/*
 * Sets *out to whether a thread is known to hold a read lock. The lock records only the first and
 * the last thread that took it. The counts of other threads are in thread-locals.
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
static int report_read_lock(struct stuck *s, const struct stuck_group *c, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	struct stuck_owner owner;
	const uint32_t sync_ix = c->members->key_ix;
	const struct query_wait *wait = c->members->wait;
	struct heap_value state;
	struct stuck_place place;
	bool is_holder = false;
	uint64_t i = 0;

	TRY_FOUND(heap_path_value(s->q->heap, sync_ix, "state", &state, err));
	/* the upper half counts read locks, the lower half write locks */
	if (state.type != HPROF_INT || state.bits <= UINT16_MAX || state.bits & UINT16_MAX)
		return HDB_OK;
	for (; i < c->count && !is_holder; i++) {
		wait = c->members[i].wait;
		/*
		 * A thread whose wait has a time limit will release its read lock or try again, so
		 * skip it.
		 */
		if (wait->state.name && strcmp(wait->state.name, "TIMED_WAITING") == 0)
			continue;
		TRY(holds_read_lock(s->q->heap, sync_ix, wait->thread_ix, &is_holder, err));
		TRY(base_step(s->q->work, i, err));
	}
	if (!is_holder)
		return HDB_OK;
	TRY(leak_name_lock(s, sync_ix, READ_WRITE_LOCK, &owner, err));
	TRY(leak_find_place(s->q->heap, wait->thread_ix, wait->trace_serial, &place, err));
	bytes_format(&text, "Thread \"%s\" waits", place.name);
	leak_add_place(&place, &text);
	bytes_format(
		&text,
		" for the write lock of the ReentrantReadWriteLock%s, but holds its read lock: "
		"it waits for itself.",
		owner.name);
	if (c->count > 1)
		bytes_format(&text, " %s more thread%s for this lock.",
			     base_number(c->count - 1).text, c->count == 2 ? " waits" : "s wait");
	return leak_add_stuck(s, c, &text, place.name, err);
}

/* Appends what the finalizer thread is doing to the finding about its queue. */
static int report_finalizer(struct stuck *s, struct hdb_error *err)
{
	struct leak_finding *f = finding_about(s->l, HEAP_NONE);
	struct stuck_thread member = { .key_ix = HEAP_NONE };
	const struct stuck_group c = { .members = &member, .count = 1 };
	struct stuck_place place;

	for (size_t i = 0; f && i < s->waits.list.count && !member.wait; i++) {
		const struct query_wait *wait = base_vec_at(&s->waits.list, struct query_wait, i);

		if (base_glob("java.lang.ref.Finalizer$*",
			      heap_class_name_of(s->q->heap, wait->thread_ix)))
			member.wait = wait;
	}
	if (!member.wait)
		return HDB_OK;
	TRY(leak_find_owner(s, member.wait->thread_ix, &place, err));
	leak_add_doing(&c, &place, "thread", f);
	return HDB_OK;
}

/*
 * Appends the slow call that a thread is in to the finding about objects that a local variable of
 * this thread holds. The objects stay until the call returns.
 */
static int report_local(struct stuck *s, struct leak_finding *f, struct hdb_error *err)
{
	const struct leak_holder *owner = &f->owner.list[0];
	struct stuck_thread member = { .key_ix = HEAP_NONE };
	const struct stuck_group c = { .members = &member, .count = 1 };
	struct stuck_place place;

	if ((f->answer.rule && f->answer.rule->verdict == EXPLAIN_STUCK) || f->owner.named != 1 ||
	    owner->kind != LEAK_HOLDER_LOCAL || owner->threads || !f->path.count)
		return HDB_OK;
	member.wait = query_waits_thread(&s->waits, f->path.nodes[0]);
	if (!member.wait)
		return HDB_OK;
	TRY(leak_find_owner(s, member.wait->thread_ix, &place, err));
	if (!place.call[0] || place.is_waiting || strcmp(place.call, "sleeping") == 0 ||
	    place.is_idle || !place.frame[0])
		return HDB_OK;
	/* without another explanation, the call is the explanation */
	if (!f->answer.rule)
		set_finding(f, leak_rule("slow-call"), f->path.nodes[0], "", place.name);
	leak_add_doing(&c, &place, "thread", f);
	return HDB_OK;
}

int leak_stuck_find(struct query *q, struct leak_findings *l, struct hdb_error *err)
{
	static int (*const report[])(struct stuck *, const struct stuck_group *,
				     struct hdb_error *) = {
		[CROWD_LOCK] = report_locks,
		[CROWD_CLASS] = leak_report_class,
		[CROWD_READ_LOCK] = report_read_lock,
		[CROWD_PERMITS] = report_permits,
		[CROWD_CONDITION] = leak_report_barrier,
		[CROWD_POOL] = report_pool,
	};
	BASE_SCOPED(release)
	struct stuck s = { .q = q, .l = l, .tasks_max = TASKS_MAX, .roots_max = ROOTS_MAX };

	TRY(find_crowds(&s, err));
	for (size_t i = 0; i < s.crowds.count; i++) {
		const struct stuck_group *c = base_vec_at(&s.crowds, struct stuck_group, i);

		TRY(base_step(q->work, i, err));
		/*
		 * The limit does not apply to pools, because a pool that is a suspect always gets
		 * its explanation.
		 */
		if (s.added < STUCK_MAX || c->kind == CROWD_POOL)
			TRY(report[c->kind](&s, c, err));
	}
	TRY(report_finalizer(&s, err));
	for (size_t i = 0; i < l->suspects.count; i++) {
		TRY(leak_report_singles(&s, leak_finding_at(l, i), err));
		TRY(report_local(&s, leak_finding_at(l, i), err));
	}
	for (size_t i = 0; i < l->list.count && s.roots_max; i++) {
		struct leak_finding *f = leak_finding_at(l, i);

		if (f->answer.rule && f->answer.rule->consumers && f->path.count)
			TRY(leak_report_consumers(&s, f, err));
	}
	return HDB_OK;
}
