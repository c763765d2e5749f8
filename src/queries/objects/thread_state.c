/*
 * queries/objects/thread_state.c - reads the state, daemon flag and priority of threads of several
 * VMs.
 */
#include "queries/objects/thread_state.h"

#include "heap/known.h"
#include "heap/values/values.h"

#include <string.h>

#define NAME_MAX_BYTES 512
/* Bits of threadStatus, which are the JVMTI thread states (JVMTI specification, GetThreadState). */
enum {
	JVMTI_ALIVE = 1,
	JVMTI_TERMINATED = 2,
	JVMTI_RUNNABLE = 4,
	JVMTI_WAITING_FOREVER = 0x10,
	JVMTI_WAITING_TIMED = 0x20,
	JVMTI_BLOCKED = 0x400
};

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
 * Values of Thread.State for virtual threads, by constants of java.lang.VirtualThread (JDK 19 to
 * 25). Their numbers differ between releases, but the dump contains the constants. Unlisted states
 * are transitional and count as RUNNABLE.
 */
static const struct {
	const char *constant, *state;
} virtual_states[] = {
	{ "NEW", "NEW" },
	{ "PARKED", "WAITING" },
	{ "PINNED", "WAITING" },
	{ "WAIT", "WAITING" },
	{ "TIMED_PARKED", "TIMED_WAITING" },
	{ "TIMED_PINNED", "TIMED_WAITING" },
	{ "TIMED_WAIT", "TIMED_WAITING" },
	{ "BLOCKED", "BLOCKED" },
	{ "TERMINATED", "TERMINATED" },
};

/* Flag in a virtual thread's state: suspended by a debugger. */
#define VIRTUAL_SUSPENDED 0x100u

static int virtual_state(struct heap *heap, uint32_t ix, struct query_thread_state *out,
			 struct hdb_error *err)
{
	static const char class_name[] = "java.lang.VirtualThread";
	const uint32_t no = heap_class_by_name(heap, class_name, 0);
	struct heap_fields statics;
	struct heap_value value;
	char name[NAME_MAX_BYTES];
	size_t i;
	int r;

	TRY(no == HEAP_NONE ?
		    HDB_NOTFOUND :
		    heap_field_value(heap, ix, (struct heap_field_name){ class_name, "state" },
				     &value, err));
	*out = (struct query_thread_state){ "RUNNABLE", true };
	heap_statics_begin(heap, no, &statics);
	while ((r = heap_fields_next(&statics, err)) == HDB_OK) {
		if (statics.value.type != HPROF_INT ||
		    statics.value.bits != (value.bits & ~(uint64_t)VIRTUAL_SUSPENDED))
			continue;
		TRY(heap_text(heap, statics.field.name_text, name, sizeof(name), err));
		i = BASE_INDEX(virtual_states, name);
		if (i < BASE_COUNT(virtual_states))
			out->name = virtual_states[i].state;
	}
	return r < 0 ? r : HDB_OK;
}

/*
 * Reads a field that is in the thread's FieldHolder since JDK 19, and in the thread itself in
 * earlier versions. The field path covers both cases.
 */
static int read_field(struct heap *heap, uint32_t ix, const char *path, struct heap_value *out,
		      struct hdb_error *err)
{
	const struct heap_as thread = { ix, heap_class_by_name(heap, "java.lang.Thread", 0) };

	return heap_path_value_as(heap, thread, path, out, err);
}

int query_thread_state(struct heap *heap, uint32_t ix, struct query_thread_state *out,
		       struct hdb_error *err)
{
	struct heap_value value;
	const int r = read_field(heap, ix, "holder.threadStatus|threadStatus", &value, err);

	if (r == HDB_NOTFOUND)
		return virtual_state(heap, ix, out, err);
	if (r == HDB_OK)
		*out = (struct query_thread_state){ state_name(value.bits), false };
	return r;
}

int query_set_thread_state(struct query *q, uint32_t ix, const struct query_state_columns *columns,
			   struct hdb_error *err)
{
	struct query_thread_state state = { NULL, false };
	struct heap_value value;
	int r;

	TRY_ERRORS(query_thread_state(q->heap, ix, &state, err));
	if (state.name)
		query_set_text(q, columns->state, state.name);
	if (state.is_virtual) {
		/* These are fixed for virtual threads, as Thread documents. */
		query_set(q, columns->daemon, 1);
		query_set_int(q, columns->priority, 5);
	}
	TRY_ERRORS(r = read_field(q->heap, ix, "holder.daemon|daemon", &value, err));
	if (r == HDB_OK)
		query_set(q, columns->daemon, value.bits & 1);
	TRY_ERRORS(r = read_field(q->heap, ix, "holder.priority|priority", &value, err));
	if (r == HDB_OK)
		query_set_int(q, columns->priority, (int32_t)value.bits);
	return HDB_OK;
}
