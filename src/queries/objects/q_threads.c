/*
 * queries/objects/q_threads.c - the threads query: name, state, stack with frames and local
 * variables, retained size.
 */
#include "base/glob.h"
#include "base/search.h"
#include "heap/threads.h"
#include "queries/objects/thread_state.h"
#include "queries/objects/thread_waits.h"
#include "queries/objects/vthreads.h"
#include "queries/queries.h"

#define NAME_MAX_BYTES 512
#define FRAME_MAX_BYTES 3200
#include <queries/objects/q_threads.query.h>

struct threads_query {
	const char *pattern;
	/* the pattern with an asterisk at both ends, used if no whole name matches */
	char part[NAME_MAX_BYTES];
	uint32_t wanted_ix; /* HEAP_NONE means all threads, or all threads that match the pattern */
	bool no_stack, no_locals;
	uint64_t next_no;
	struct store_thread thread; /* the current thread */
	char name[NAME_MAX_BYTES];
	struct store_trace trace;
	uint32_t depth; /* number of its frames */
	/* next frame; `depth` means the local variables without a frame */
	uint32_t frame;
	bool in_thread, in_locals;
	struct base_vec by_thread;       /* struct local, sorted */
	size_t local, local_end;         /* range of the current thread's local variables */
	struct base_vec unlisted;        /* uint32_t: threads without a record, with --all */
	struct query_waits waits;        /* waits of all threads with a record */
	struct base_idmap carried;       /* index of the carrier -> index of its virtual thread */
	struct analysis_vthread vthread; /* the current thread, if it is virtual */
	uint32_t chunk;                  /* next stack chunk to list, or HEAP_NONE */
	uint32_t chunk_no;
};

/* A local variable of a thread. */
struct local {
	uint32_t thread_serial;
	uint32_t frame; /* STORE_NONE if unknown */
	uint32_t ix;
	uint8_t kind;
};

BASE_ORDER(compare_locals, struct local, BASE_UP(thread_serial), BASE_UP(frame), BASE_UP(ix),
	   BASE_UP(kind))

static int load_locals(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	assert(!s->by_thread.count);
	TRY(heap_load_roots(q->heap, err));
	for (uint64_t i = 0; i < q->heap->roots.count; i++) {
		const struct store_root *root = &q->heap->roots.records[i];
		const struct local local = { root->thread_serial, root->frame_number, root->ix,
					     root->kind };

		if (root->is_local)
			TRY(base_vec_push(&s->by_thread, &local, sizeof(local), err));
	}
	base_vec_sort(&s->by_thread, sizeof(struct local), compare_locals);
	return HDB_OK;
}

static int read_name(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	s->name[0] = '\0';
	if (s->thread.ix != STORE_NONE && heap_is_thread(q->heap, s->thread.ix))
		TRY(heap_thread_name(q->heap, s->thread.ix, s->name, sizeof(s->name), err));
	if (!s->name[0])
		TRY(heap_text(q->heap, s->thread.name_text, s->name, sizeof(s->name), err));
	return HDB_OK;
}

/* Moves to the next requested thread. Returns HDB_OK or HDB_END. */
static int next_thread(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	const uint64_t listed = heap_thread_count(q->heap);

	while (s->next_no < listed + s->unlisted.count) {
		const uint64_t no = s->next_no++;
		bool is_elsewhere = q->is_filtered;
		int r = HDB_OK;

		if (no < listed)
			r = heap_thread(q->heap, no, &s->thread, err);
		else
			s->thread = (struct store_thread){
				.ix = *base_vec_at(&s->unlisted, uint32_t, no - listed),
				.thread_serial = STORE_NONE,
				.trace_serial = STORE_NONE,
				.name_text = STORE_NONE,
				.group_text = STORE_NONE,
			};
		TRY_ERRORS(r);
		TRY(read_name(q, s, err));
		if (s->thread.ix != STORE_NONE)
			TRY(heap_passes_over(q->heap, s->thread.ix, &is_elsewhere, err));
		if (is_elsewhere)
			continue;
		/* A START_THREAD record without an object belongs to another snapshot. */
		if (s->thread.ix == STORE_NONE && !s->name[0])
			continue;
		if (s->wanted_ix != HEAP_NONE && s->thread.ix != s->wanted_ix)
			continue;
		if (s->pattern && !base_glob(s->pattern, s->name))
			continue;
		return HDB_OK;
	}
	return HDB_END;
}

/* Numbers reported as facts. */
struct thread_counts {
	uint64_t threads, virtual_threads, mounted, stack_bytes, long_stacks;
};

static int count_thread(struct query *q, struct threads_query *s, struct thread_counts *n,
			struct hdb_error *err)
{
	struct analysis_vthread vthread;

	n->threads++;
	if (s->thread.ix == STORE_NONE)
		return HDB_OK;
	TRY_FOUND(analysis_vthread(&q->session, s->thread.ix, &vthread, err));
	n->virtual_threads++;
	n->stack_bytes += vthread.stack_bytes;
	n->long_stacks += vthread.is_cut;
	if (vthread.carrier_ix == HEAP_NONE)
		return HDB_OK;
	n->mounted++;
	return base_idmap_put(&s->carried, vthread.carrier_ix, s->thread.ix, err);
}

static int count_threads(struct query *q, struct threads_query *s, struct thread_counts *n,
			 struct hdb_error *err)
{
	int r;

	*n = (struct thread_counts){ 0 };
	while ((r = next_thread(q, s, err)) == HDB_OK) {
		TRY(r = count_thread(q, s, n, err));
	}
	s->next_no = 0;
	return r == HDB_END ? HDB_OK : r;
}

static void set_facts(struct query *q, const struct thread_counts *n)
{
	assert(n->virtual_threads <= n->threads);
	assert(n->mounted <= n->virtual_threads);
	assert(n->long_stacks <= n->virtual_threads);
	query_fact(q, "threads", n->threads);
	if (!n->virtual_threads)
		return;
	query_fact(q, "virtual_threads", n->virtual_threads);
	query_fact(q, "mounted", n->mounted);
	if (n->long_stacks) {
		query_cut(q, NULL, "chunks after the first %u in each of %" PRIu64 " stacks",
			  ANALYSIS_CHUNKS_MAX, n->long_stacks);
	}
	query_fact(q, "stack_bytes", n->stack_bytes);
}

/* Adds the fact about deadlocks of the whole heap. */
static int find_waits(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	struct query_deadlock deadlock;

	TRY(query_waits_find(q, &s->waits, err));
	TRY(query_deadlock_find(q, &s->waits, &deadlock, err));
	if (deadlock.threads)
		query_fact_text(q, "deadlock", deadlock.text);
	return HDB_OK;
}

static int open_threads(struct query *q, struct hdb_error *err)
{
	struct threads_query *s = q->state;
	struct thread_counts n;
	char names[256];
	int r = HDB_OK;

	s->wanted_ix = HEAP_NONE;
	s->no_stack = query_option(q, "no-stack") != NULL;
	s->no_locals = query_option(q, "no-locals") != NULL;
	if (q->target_count) {
		if (analysis_is_object(q->targets[0]))
			r = analysis_object(&q->session, q->targets[0], &s->wanted_ix, err);
		else
			s->pattern = q->targets[0];
	}
	TRY(r);
	TRY(load_locals(q, s, err));
	if (query_option(q, "all"))
		TRY(analysis_unlisted_threads(&q->session, &s->unlisted, err));
	TRY(count_threads(q, s, &n, err));
	if (!n.threads && s->pattern && !strpbrk(s->pattern, "*?")) {
		/* No whole name matches the pattern, so try parts of names. */
		(void)snprintf(s->part, sizeof(s->part), "*%s*", s->pattern);
		s->pattern = s->part;
		TRY(count_threads(q, s, &n, err));
	}
	if (!n.threads && q->target_count)
		return hdb_fail(err, HDB_NOTFOUND, "no such thread: %s", q->targets[0]);
	q->total = s->no_stack ? n.threads : QUERY_TOTAL_UNKNOWN;
	set_facts(q, &n);
	TRY_ERRORS(r = find_waits(q, s, err));
	(void)snprintf(names, sizeof(names),
		       "%sid,class,serial,state,daemon,priority,depth,locals,shallow,retained,tid,"
		       "virtual,group,parent_group%s%s",
		       s->no_stack ? "thread," : "level,kind,thread,text,signature,",
		       n.virtual_threads ? ",carrier,carries,stack_bytes" : "",
		       s->waits.waiting ? ",waits_for,waits_for_class,lock_owner,lock_owner_id" :
					  "");
	query_choose(q, names);
	return HDB_OK;
}

/* ---- a thread's own row ---- */

static void find_locals(struct threads_query *s)
{
	const struct local *locals = s->by_thread.data;
	struct base_search search = base_search_in(s->by_thread.count);

	while (base_search_next(&search))
		base_search_step(&search,
				 locals[search.mid].thread_serial < s->thread.thread_serial);
	s->local = s->local_end = search.low;
	while (s->local_end < s->by_thread.count &&
	       locals[s->local_end].thread_serial == s->thread.thread_serial)
		s->local_end++;
	assert(s->local <= s->local_end);
}

static int set_retained(struct query *q, uint32_t ix, struct hdb_error *err)
{
	struct analysis_retained retained;

	TRY(analysis_cheap_retained(&q->session, ix, &retained, err));
	if (retained.found)
		query_set(q, RETAINED, retained.bytes);
	return HDB_OK;
}

/* Sets the columns about virtual threads and carriers. */
static int set_virtual(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	/* Names of the field that Thread.threadId() returns, in OpenJDK and Android. */
	static const char *const tid_names[] = { "tid", "id" };
	const uint32_t carried = base_idmap_get(&s->carried, s->thread.ix);
	struct heap_value tid;
	int r = HDB_NOTFOUND;

	for (size_t i = 0; r == HDB_NOTFOUND && i < BASE_COUNT(tid_names); i++)
		r = heap_field_value(q->heap, s->thread.ix,
				     (struct heap_field_name){ "java.lang.Thread", tid_names[i] },
				     &tid, err);
	TRY_ERRORS(r);
	if (r == HDB_OK)
		query_set(q, TID, tid.bits);
	TRY_ERRORS(r = analysis_vthread(&q->session, s->thread.ix, &s->vthread, err));
	query_set(q, VIRTUAL, r == HDB_OK);
	if (carried != BASE_IDMAP_NONE)
		query_set_id(q, CARRIES, carried);
	if (r != HDB_OK)
		return HDB_OK;
	query_set(q, STACK_BYTES, s->vthread.stack_bytes);
	s->chunk = s->no_stack ? HEAP_NONE : s->vthread.chunk_ix;
	query_set_id(q, CARRIER, s->vthread.carrier_ix);
	return HDB_OK;
}

/* Sets the columns about the lock that the thread is waiting for. */
static int set_wait(struct query *q, const struct threads_query *s, struct hdb_error *err)
{
	const struct query_wait *wait = query_waits_of(&s->waits, s->thread.ix);
	char name[NAME_MAX_BYTES];

	if (!wait)
		return HDB_OK;
	query_set_id(q, WAITS_FOR, wait->lock_ix);
	if (wait->lock_ix != HEAP_NONE)
		query_set_class_of(q, WAITS_FOR_CLASS, wait->lock_ix);
	query_set_id(q, LOCK_OWNER_ID, wait->owner_ix);
	if (wait->owner_ix == HEAP_NONE)
		return HDB_OK;
	TRY(heap_thread_name(q->heap, wait->owner_ix, name, sizeof(name), err));
	query_set_text(q, LOCK_OWNER, name);
	return HDB_OK;
}

/*
 * Sets the state of a thread with an END THREAD record, which is more reliable than the fields of
 * an object that may be from an earlier snapshot.
 */
static void set_ended(struct query *q, const struct store_thread *thread)
{
	if (thread->has_ended)
		query_set_text(q, STATE, "TERMINATED");
}

static int set_groups(struct query *q, const struct store_thread *thread, struct hdb_error *err)
{
	struct heap_thread_groups groups;

	if (!query_is_shown(q, GROUP) && !query_is_shown(q, PARENT_GROUP))
		return HDB_OK;
	TRY(heap_thread_groups(q->heap, thread, &groups, err));
	if (groups.group[0])
		query_set_text(q, GROUP, groups.group);
	if (groups.parent[0])
		query_set_text(q, PARENT_GROUP, groups.parent);
	return HDB_OK;
}

static int thread_row(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, SIZE_MAX, SHALLOW, SIZE_MAX };
	static const struct query_state_columns state_cells = { STATE, DAEMON, PRIORITY };
	int r = heap_trace(q->heap, s->thread.trace_serial, &s->trace, err);

	TRY_ERRORS(r);
	s->depth = r == HDB_OK ? s->trace.frame_count : 0;
	s->frame = 0;
	s->in_thread = !s->no_stack;
	s->in_locals = false;
	s->chunk = HEAP_NONE;
	s->chunk_no = 0;
	find_locals(s);
	query_set(q, LEVEL, 0);
	query_set(q, VIRTUAL, false);
	if (s->thread.thread_serial != STORE_NONE)
		query_set(q, SERIAL, s->thread.thread_serial);
	query_set(q, DEPTH, s->depth);
	query_set(q, LOCALS, s->local_end - s->local);
	query_set_text(q, KIND, "thread");
	query_set_text(q, THREAD, s->name);
	TRY(set_groups(q, &s->thread, err));
	if (s->thread.ix == STORE_NONE) {
		set_ended(q, &s->thread);
		return HDB_OK;
	}
	query_set_object(q, &cells, s->thread.ix);
	query_set_class_of(q, TEXT, s->thread.ix);
	TRY(set_retained(q, s->thread.ix, err));
	if (heap_is_thread(q->heap, s->thread.ix)) {
		TRY(query_set_thread_state(q, s->thread.ix, &state_cells, err));
		TRY(set_virtual(q, s, err));
		TRY(set_wait(q, s, err));
	}
	set_ended(q, &s->thread);
	return HDB_OK;
}

/* ---- frames, stack chunks and locals ---- */

static int chunk_row(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, TEXT, SHALLOW, RETAINED };
	uint64_t bytes;

	assert(s->chunk != HEAP_NONE && s->chunk_no < ANALYSIS_CHUNKS_MAX);
	query_set_object(q, &cells, s->chunk);
	query_set(q, LEVEL, 1);
	query_set_text(q, KIND, "chunk");
	query_set_text(q, THREAD, s->name);
	TRY(analysis_stack_chunk(&q->session, s->chunk, &bytes, &s->chunk, err));
	query_set(q, STACK_BYTES, bytes);
	if (++s->chunk_no >= ANALYSIS_CHUNKS_MAX)
		s->chunk = HEAP_NONE;
	return HDB_OK;
}

static int frame_row(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	struct store_frame frame;
	char text[FRAME_MAX_BYTES] = "(frame missing from the dump)",
	     signature[NAME_MAX_BYTES] = "";
	int r = heap_trace_frame(q->heap, &s->trace, s->frame, &frame, err);

	assert(s->frame < s->depth);
	TRY_ERRORS(r);
	if (r == HDB_OK) {
		TRY(heap_frame_text(q->heap, &frame, text, sizeof(text), err));
		TRY(heap_text(q->heap, frame.signature_text, signature, sizeof(signature), err));
	}
	query_set(q, LEVEL, 1);
	query_set(q, DEPTH, s->frame);
	s->frame++;
	s->in_locals = !s->no_locals;
	query_set_text(q, KIND, "frame");
	query_set_text(q, THREAD, s->name);
	query_set_text(q, TEXT, text);
	query_set_text(q, SIGNATURE, signature);
	return HDB_OK;
}

static void local_row(struct query *q, struct threads_query *s, const struct local *local)
{
	static const struct query_object_columns cells = { ID, CLASS, TEXT, SHALLOW, RETAINED };
	query_set_object(q, &cells, local->ix);
	query_set(q, LEVEL, 2);
	if (local->frame != STORE_NONE)
		query_set(q, DEPTH, local->frame);
	query_set_text(q, KIND, local->kind == HPROF_ROOT_JNI_LOCAL ? "JNI local" : "local");
	query_set_text(q, THREAD, s->name);
}

static int next_threads(struct query *q, struct hdb_error *err)
{
	struct threads_query *s = q->state;
	const struct local *local;
	int r;

	for (;;) {
		if (!s->in_thread) {
			r = next_thread(q, s, err);
			return r == HDB_OK ? thread_row(q, s, err) : r;
		}
		local = s->local < s->local_end ?
				base_vec_at(&s->by_thread, struct local, s->local) :
				NULL;
		/*
		 * Local variables follow their frame. Local variables without a frame, or with a
		 * frame that is not in the trace, come last.
		 */
		if (local && !s->no_locals &&
		    ((s->in_locals && local->frame < s->frame) || s->frame == s->depth)) {
			s->local++;
			local_row(q, s, local);
			return HDB_OK;
		}
		s->in_locals = false;
		if (s->frame < s->depth)
			return frame_row(q, s, err);
		if (s->chunk != HEAP_NONE)
			return chunk_row(q, s, err);
		s->in_thread = false;
	}
}

static void close_threads(struct query *q)
{
	struct threads_query *s = q->state;

	base_vec_release(&s->by_thread);
	base_vec_release(&s->unlisted);
	base_idmap_release(&s->carried);
	query_waits_release(&s->waits);
}

QUERY_DEFINE(threads, .state_size = sizeof(struct threads_query), .open = open_threads,
	     .next = next_threads, .close = close_threads);
