/*
 * queries/objects/thread_state.c - state, daemon flag and priority of threads, from the fields that
 * different VMs have.
 */
#include "queries/objects/thread_state.h"

#include "heap/values/values.h"

#include <string.h>

#define NAME_MAX_BYTES 512
/* Bits of threadStatus: JVMTI thread states (JVMTI specification, GetThreadState). */
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
 * Thread.State of a virtual thread, by the names of the constants in java.lang.VirtualThread (JDK
 * 19 to 25). Their numbers differ between releases, but the dump contains the constants. States not
 * listed are transitional: RUNNABLE.
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

static int set_virtual_state(struct query *q, uint32_t ix,
			     const struct query_state_columns *columns, struct hdb_error *err)
{
	static const char class_name[] = "java.lang.VirtualThread";
	const uint32_t no = heap_class_by_name(q->heap, class_name, 0);
	const char *state = "RUNNABLE";
	struct heap_fields statics;
	struct heap_value value;
	char name[NAME_MAX_BYTES];
	int r;

	TRY_FOUND(no == HEAP_NONE ?
			  HDB_NOTFOUND :
			  heap_field_value(q->heap, ix,
					   (struct heap_field_name){ class_name, "state" }, &value,
					   err));
	heap_statics_begin(q->heap, no, &statics);
	while ((r = heap_fields_next(&statics, err)) == HDB_OK) {
		if (statics.value.type != HPROF_INT ||
		    statics.value.bits != (value.bits & ~(uint64_t)VIRTUAL_SUSPENDED))
			continue;
		TRY(heap_text(q->heap, statics.field.name_text, name, sizeof(name), err));
		for (size_t i = 0; i < sizeof(virtual_states) / sizeof(virtual_states[0]); i++)
			if (strcmp(virtual_states[i].constant, name) == 0)
				state = virtual_states[i].state;
	}
	/* As documented in Thread, all virtual threads have these values. */
	query_set(q, columns->daemon, 1);
	query_set_int(q, columns->priority, 5);
	TRY_ERRORS(r);
	query_set_text(q, columns->state, state);
	return HDB_OK;
}

int query_set_thread_state(struct query *q, uint32_t ix, const struct query_state_columns *columns,
			   struct hdb_error *err)
{
	struct heap_value value;
	uint32_t holder;
	int r = heap_field_object(q->heap, ix,
				  (struct heap_field_name){ "java.lang.Thread", "holder" }, &holder,
				  err);

	TRY_ERRORS(r);
	if (r != HDB_OK)
		holder = ix;
	r = heap_field_value(q->heap, holder, (struct heap_field_name){ .name = "threadStatus" },
			     &value, err);
	TRY_ERRORS(r);
	if (r == HDB_OK)
		query_set_text(q, columns->state, state_name(value.bits));
	else if (r == HDB_NOTFOUND)
		TRY(set_virtual_state(q, ix, columns, err));
	r = heap_field_value(q->heap, holder, (struct heap_field_name){ .name = "daemon" }, &value,
			     err);
	TRY_ERRORS(r);
	if (r == HDB_OK)
		query_set(q, columns->daemon, value.bits & 1);
	r = heap_field_value(q->heap, holder, (struct heap_field_name){ .name = "priority" },
			     &value, err);
	TRY_ERRORS(r);
	if (r == HDB_OK)
		query_set_int(q, columns->priority, (int32_t)value.bits);
	return HDB_OK;
}
