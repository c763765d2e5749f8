/*
 * query/q_threads.c - threads: name, state, stack with frames and their locals, what they retain.
 */
#include "heap/threads.h"
#include "query/describe.h"
#include "query/queries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL, KIND, THREAD, TEXT, SIGNATURE, ID, CLASS, SERIAL, STATE, DAEMON, PRIORITY, DEPTH, LOCALS,
       SHALLOW, RETAINED };

#define NAME_MAX_BYTES 512
#define FRAME_MAX_BYTES 3200
/* threadStatus bits, JVMTI thread states (JVMTI specification, GetThreadState). */
enum { JVMTI_ALIVE = 1, JVMTI_TERMINATED = 2, JVMTI_RUNNABLE = 4, JVMTI_WAITING_FOREVER = 0x10,
       JVMTI_WAITING_TIMED = 0x20, JVMTI_BLOCKED = 0x400 };

static const struct hdb_option_spec options[] = {
	{ "no-stack", NULL, "without frames and locals" },
	{ "no-locals", NULL, "without locals" },
	{ NULL, NULL, NULL },
};

static const struct hdb_column columns[] = {
	{ "level", HDB_TYPE_COUNT, "level", "0 thread, 1 frame, 2 local" },
	{ "kind", HDB_TYPE_TEXT, "kind", "thread, frame or local" },
	{ "thread", HDB_TYPE_TEXT, "thread", "the thread's name" },
	{ "text", HDB_TYPE_TEXT, "what", "the frame, the local; of a thread its class" },
	{ "signature", HDB_TYPE_TEXT, "signature", "the frame's method signature" },
	{ "id", HDB_TYPE_ID, "id", "the thread object or the local" },
	{ "class", HDB_TYPE_TEXT, "class", "its class" },
	{ "serial", HDB_TYPE_COUNT, "serial", "the thread's serial number in the dump" },
	{ "state", HDB_TYPE_TEXT, "state", "as java.lang.Thread.State, where the dump tells" },
	{ "daemon", HDB_TYPE_BOOL, "daemon", "whether it is a daemon thread" },
	{ "priority", HDB_TYPE_INT, "priority", "its priority" },
	{ "depth", HDB_TYPE_COUNT, "frames", "frames of its stack; of a frame its number, 0 the "
	  "innermost" },
	{ "locals", HDB_TYPE_COUNT, "locals", "local variables that it holds" },
	{ "shallow", HDB_TYPE_BYTES, "shallow", "bytes of the thread object or the local" },
	{ "retained", HDB_TYPE_BYTES, "retained", "bytes that go if it goes; null if it would take "
	  "the dominator tree and that is not built" },
};

static const struct hdb_column facts[] = {
	{ "threads", HDB_TYPE_COUNT, "threads", "threads shown" },
};

struct threads_query {
	const char *pattern;
	uint32_t wanted_ix;            /* HEAP_NONE: by pattern, or all */
	bool no_stack, no_locals;
	uint64_t next_no;
	struct store_thread thread;    /* the current one */
	char name[NAME_MAX_BYTES];
	struct store_trace trace;
	uint32_t depth;                /* frames of it */
	uint32_t frame;                /* next frame; depth: locals without a frame are next */
	bool in_thread, in_locals;
	struct base_vec by_thread;     /* struct local, sorted */
	size_t local, local_end;       /* of the current thread */
};

/* A local variable of a thread. */
struct local {
	uint32_t thread_serial;
	uint32_t frame;                /* STORE_NONE: of no frame */
	uint32_t ix;
	uint8_t kind;
};

static int compare_locals(const void *a, const void *b)
{
	const struct local *x = a, *y = b;

	if (x->thread_serial != y->thread_serial)
		return x->thread_serial < y->thread_serial ? -1 : 1;
	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	if (x->ix != y->ix)
		return x->ix < y->ix ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int load_locals(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	int r = heap_load_roots(q->heap, err);

	for (uint64_t i = 0; r == HDB_OK && i < q->heap->root_count; i++) {
		const struct store_root *root = &q->heap->roots[i];
		const struct local local = { root->thread_serial, root->frame_number, root->ix,
					     root->kind };

		if (root->is_local)
			r = base_vec_push(&s->by_thread, &local, sizeof(local), err);
	}
	if (r == HDB_OK && s->by_thread.count)
		qsort(s->by_thread.data, s->by_thread.count, sizeof(struct local), compare_locals);
	return r;
}

static int read_name(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	int r = HDB_OK;

	s->name[0] = '\0';
	if (s->thread.ix != STORE_NONE && heap_is_thread(q->heap, s->thread.ix))
		r = heap_thread_name(q->heap, s->thread.ix, s->name, sizeof(s->name), err);
	if (r == HDB_OK && !s->name[0])
		r = heap_text(q->heap, s->thread.name_text, s->name, sizeof(s->name), err);
	return r;
}

/* The next thread that is wanted: HDB_OK or HDB_END. */
static int next_thread(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	while (s->next_no < heap_thread_count(q->heap)) {
		int r = heap_thread(q->heap, s->next_no++, &s->thread, err);

		if (r == HDB_OK)
			r = read_name(q, s, err);
		if (r < 0)
			return r;
		/* START_THREAD without object in this dump is another snapshot's thread. */
		if (s->thread.ix == STORE_NONE && !s->name[0])
			continue;
		if (s->wanted_ix != HEAP_NONE && s->thread.ix != s->wanted_ix)
			continue;
		if (s->pattern && !query_glob(s->pattern, s->name))
			continue;
		return HDB_OK;
	}
	return HDB_END;
}

static int open_threads(struct query *q, struct hdb_error *err)
{
	struct threads_query *s = calloc(1, sizeof(*s));
	uint64_t count = 0;
	int r;

	q->state = s;
	if (!s)
		return hdb_fail_memory(err, "threads", sizeof(*s));
	s->wanted_ix = HEAP_NONE;
	s->no_stack = query_option(q, "no-stack") != NULL;
	s->no_locals = query_option(q, "no-locals") != NULL;
	r = query_targets(q, 0, 1, err);
	if (r == HDB_OK && q->args->target_count) {
		if (query_is_object(q->args->targets[0]))
			r = query_object(q, q->args->targets[0], &s->wanted_ix, err);
		else
			s->pattern = q->args->targets[0];
	}
	if (r == HDB_OK)
		r = load_locals(q, s, err);
	while (r == HDB_OK && (r = next_thread(q, s, err)) == HDB_OK)
		count++;
	if (r < 0 || r == HDB_NOTFOUND)
		return r;
	if (!count && q->args->target_count)
		return hdb_fail(err, HDB_NOTFOUND, "there is no thread %s", q->args->targets[0]);
	s->next_no = 0;
	q->total = s->no_stack ? count : QUERY_TOTAL_UNKNOWN;
	r = query_fact(q, "threads", count, err);
	if (r == HDB_OK && s->no_stack)
		r = query_choose(q, "thread,id,class,serial,state,daemon,priority,depth,locals,shallow,"
				 "retained", err);
	return r;
}

/* ---- a thread's own row ---- */

static const char *state_name(uint64_t bits)
{
	if (bits & JVMTI_RUNNABLE)
		return "RUNNABLE";
	if (bits & JVMTI_BLOCKED)
		return "BLOCKED";
	if (bits & JVMTI_WAITING_FOREVER)
		return "WAITING";
	if (bits & JVMTI_WAITING_TIMED)
		return "TIMED_WAITING";
	if (bits & JVMTI_TERMINATED)
		return "TERMINATED";
	return bits & JVMTI_ALIVE ? "RUNNABLE" : "NEW";
}

/*
 * Thread.State of a virtual thread, by the names that java.lang.VirtualThread has for its states
 * (JDK 19 to 25): their numbers differ between releases, but the constants are in the dump. What
 * is not here is on its way: RUNNABLE.
 */
static const struct {
	const char *constant, *state;
} virtual_states[] = {
	{ "NEW", "NEW" }, { "PARKED", "WAITING" }, { "PINNED", "WAITING" }, { "WAIT", "WAITING" },
	{ "TIMED_PARKED", "TIMED_WAITING" }, { "TIMED_PINNED", "TIMED_WAITING" },
	{ "TIMED_WAIT", "TIMED_WAITING" }, { "BLOCKED", "BLOCKED" }, { "TERMINATED", "TERMINATED" },
};

/* Flag in a virtual thread's state: suspended by a debugger. */
#define VIRTUAL_SUSPENDED 0x100u

static int set_virtual_state(struct query *q, uint32_t ix, struct hdb_error *err)
{
	static const char class_name[] = "java.lang.VirtualThread";
	const uint32_t no = heap_class_by_name(q->heap, class_name, 0);
	const char *state = "RUNNABLE";
	struct heap_fields statics;
	struct heap_value value;
	char name[NAME_MAX_BYTES];
	int r = no == HEAP_NONE ? HDB_NOTFOUND :
		heap_field_value(q->heap, ix, class_name, "state", &value, err);

	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	heap_statics_begin(q->heap, no, &statics);
	while ((r = heap_fields_next(&statics, err)) == HDB_OK) {
		if (statics.value.type != HPROF_INT ||
		    statics.value.bits != (value.bits & ~(uint64_t)VIRTUAL_SUSPENDED))
			continue;
		r = heap_text(q->heap, statics.field.name_text, name, sizeof(name), err);
		if (r < 0)
			return r;
		for (size_t i = 0; i < sizeof(virtual_states) / sizeof(virtual_states[0]); i++)
			if (strcmp(virtual_states[i].constant, name) == 0)
				state = virtual_states[i].state;
	}
	return r < 0 ? r : query_set_text(q, STATE, state, err);
}

/* State, daemon and priority: fields of Thread, since JDK 19 of its FieldHolder. */
static int set_state(struct query *q, uint32_t ix, struct hdb_error *err)
{
	struct heap_value value;
	uint32_t holder;
	int r = heap_field_object(q->heap, ix, "java.lang.Thread", "holder", &holder, err);

	if (r < 0)
		return r;
	if (r != HDB_OK)
		holder = ix;
	r = heap_field_value(q->heap, holder, NULL, "threadStatus", &value, err);
	if (r == HDB_OK)
		r = query_set_text(q, STATE, state_name(value.bits), err);
	else if (r == HDB_NOTFOUND)
		r = set_virtual_state(q, ix, err);
	if (r >= 0)
		r = heap_field_value(q->heap, holder, NULL, "daemon", &value, err);
	if (r == HDB_OK)
		query_set(q, DAEMON, value.bits & 1);
	if (r >= 0)
		r = heap_field_value(q->heap, holder, NULL, "priority", &value, err);
	if (r == HDB_OK)
		query_set_int(q, PRIORITY, (int32_t)value.bits);
	return r < 0 ? r : HDB_OK;
}

static void find_locals(struct threads_query *s)
{
	const struct local *locals = s->by_thread.data;
	size_t low = 0, high = s->by_thread.count;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (locals[mid].thread_serial < s->thread.thread_serial)
			low = mid + 1;
		else
			high = mid;
	}
	s->local = s->local_end = low;
	while (s->local_end < s->by_thread.count &&
	       locals[s->local_end].thread_serial == s->thread.thread_serial)
		s->local_end++;
}

static int set_retained(struct query *q, uint32_t ix, struct hdb_error *err)
{
	const char *from;
	uint64_t bytes;
	bool found;
	const int r = query_cheap_retained(q, ix, &found, &bytes, &from, err);

	if (r == HDB_OK && found)
		query_set(q, RETAINED, bytes);
	return r;
}

static int thread_row(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, SIZE_MAX, SHALLOW, SIZE_MAX };
	int r = heap_trace(q->heap, s->thread.trace_serial, &s->trace, err);

	if (r < 0)
		return r;
	s->depth = r == HDB_OK ? s->trace.frame_count : 0;
	s->frame = 0;
	s->in_thread = !s->no_stack;
	s->in_locals = false;
	find_locals(s);
	query_set(q, LEVEL, 0);
	query_set(q, SERIAL, s->thread.thread_serial);
	query_set(q, DEPTH, s->depth);
	query_set(q, LOCALS, s->local_end - s->local);
	r = query_set_text(q, KIND, "thread", err);
	if (r == HDB_OK)
		r = query_set_text(q, THREAD, s->name, err);
	if (r < 0 || s->thread.ix == STORE_NONE)
		return r;
	r = query_set_object(q, &cells, s->thread.ix, err);
	if (r == HDB_OK)
		r = query_set_class_of(q, TEXT, s->thread.ix, err);
	if (r == HDB_OK)
		r = set_retained(q, s->thread.ix, err);
	if (r == HDB_OK && heap_is_thread(q->heap, s->thread.ix))
		r = set_state(q, s->thread.ix, err);
	return r;
}

/* ---- frames and locals ---- */

static int frame_row(struct query *q, struct threads_query *s, struct hdb_error *err)
{
	struct store_frame frame;
	char text[FRAME_MAX_BYTES] = "(a frame that the dump lacks)", signature[NAME_MAX_BYTES] = "";
	int r = heap_trace_frame(q->heap, &s->trace, s->frame, &frame, err);

	if (r == HDB_OK)
		r = heap_frame_text(q->heap, &frame, text, sizeof(text), err);
	if (r == HDB_OK)
		r = heap_text(q->heap, frame.signature_text, signature, sizeof(signature), err);
	if (r < 0)
		return r;
	query_set(q, LEVEL, 1);
	query_set(q, DEPTH, s->frame);
	s->frame++;
	s->in_locals = !s->no_locals;
	r = query_set_text(q, KIND, "frame", err);
	if (r == HDB_OK)
		r = query_set_text(q, THREAD, s->name, err);
	if (r == HDB_OK)
		r = query_set_text(q, TEXT, text, err);
	return r == HDB_OK ? query_set_text(q, SIGNATURE, signature, err) : r;
}

static int local_row(struct query *q, struct threads_query *s, const struct local *local,
		     struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, TEXT, SHALLOW, RETAINED };
	int r = query_set_object(q, &cells, local->ix, err);

	query_set(q, LEVEL, 2);
	if (local->frame != STORE_NONE)
		query_set(q, DEPTH, local->frame);
	if (r == HDB_OK)
		r = query_set_text(q, KIND, local->kind == HPROF_ROOT_JNI_LOCAL ? "JNI local" :
				   "local", err);
	return r == HDB_OK ? query_set_text(q, THREAD, s->name, err) : r;
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
		local = s->local < s->local_end ? base_vec_at(&s->by_thread, struct local, s->local) :
			NULL;
		/* Locals of a frame come after it; those of no frame, or of one beyond the trace, last. */
		if (local && !s->no_locals &&
		    ((s->in_locals && local->frame < s->frame) || s->frame == s->depth)) {
			s->local++;
			return local_row(q, s, local, err);
		}
		s->in_locals = false;
		if (s->frame < s->depth)
			return frame_row(q, s, err);
		s->in_thread = false;
	}
}

static void close_threads(struct query *q)
{
	struct threads_query *s = q->state;

	if (s)
		base_vec_release(&s->by_thread);
	free(s);
}

const struct query_def query_threads = {
	.spec = {
		.name = "threads", .targets = "[NAME-PATTERN|OBJECT]",
		.summary = "threads: state, stack with frames and locals, retained sizes",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.facts = facts, .fact_count = sizeof(facts) / sizeof(facts[0]), .is_query = 1,
	},
	.open = open_threads, .next = next_threads, .close = close_threads,
};
