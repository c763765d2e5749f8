/*
 * queries/android/q_leak_traces.c - the leak-traces query: each leak trace of an application, step
 * by step, with everything that LeakCanary shows. Meant for programs that record or compare leaks.
 */
#include "queries/traces/leak_traces.h"
#include "queries/queries.h"

#define TEXT_MAX_BYTES 1024

#include <queries/android/q_leak_traces.query.h>

struct state {
	struct leak_traces traces;
	struct leak_steps steps;
	size_t group, trace, step; /* the next row */
	size_t unreachable;
};

static int open_traces(struct query *q, struct hdb_error *err)
{
	struct state *s = q->state;

	TRY(leak_traces_find(&s->traces, &q->session, query_option(q, "watched") != NULL, err));
	/* The columns that fit on a terminal line come first. */
	query_choose(q,
		     "leak,trace,step,class,status,name,retained,retained_objects,id,kind,root,"
		     "type,reason,reference_type,owner,generic,suspect,labels,library,signature");
	query_fact(q, "leaking", s->traces.found);
	query_fact(q, "held_by_others", s->traces.held_by_other);
	query_fact(q, "unreachable", s->traces.unreachable.count);
	query_fact(q, "leaks", s->traces.groups.count);
	query_fact(q, "library_leaks", s->traces.library_groups);
	if (!s->traces.found)
		query_report_no_android(q, "the heap has neither a watcher nor a class whose "
					   "objects are known to leak; `leaks` searches any heap");
	if (s->traces.untraced)
		query_fact(q, "untraced", s->traces.untraced);
	return HDB_OK;
}

/* Reads the steps of the next path. Returns HDB_END after the last path. */
static int next_path(struct state *s, struct hdb_error *err)
{
	const struct base_vec *groups = &s->traces.groups;

	leak_steps_release(&s->steps);
	s->step = 0;
	while (s->group < groups->count) {
		const struct leak_group *group = base_vec_at(groups, struct leak_group, s->group);

		if (s->trace < group->count)
			return leak_steps_get(&s->traces, group->first + s->trace++, &s->steps,
					      err);
		s->trace = 0;
		s->group++;
	}
	if (s->unreachable < s->traces.unreachable.count)
		return leak_steps_unreachable(&s->traces, s->unreachable++, &s->steps, err);
	return HDB_END;
}

static void set_reference(struct query *q, const struct leak_steps *steps,
			  const struct leak_step *step)
{
	static const char *const types[] = {
		[TRACE_FIELD] = "field",
		[TRACE_STATIC] = "static",
		[TRACE_LOCAL] = "local",
		[TRACE_ENTRY] = "entry",
	};
	char text[TEXT_MAX_BYTES];

	query_set_text(q, REFERENCE, types[step->reference->kind]);
	query_set_text(q, OWNER, heap_class_name(q->heap, step->reference->owner_no));
	query_set_text(q, NAME, leak_steps_text(steps, step->name));
	query_set_text(q, GENERIC, leak_steps_text(steps, step->generic));
	query_set(q, SUSPECT, step->is_suspect);
	if (!step->reference->rule)
		return;
	library_leaks_text(step->reference->rule, text, sizeof(text));
	query_set_text(q, LIBRARY, text);
}

static int set_object(struct query *q, const struct leak_steps *steps, const struct leak_step *step,
		      struct hdb_error *err)
{
	static const char *const statuses[] = {
		[LEAK_UNKNOWN] = "unknown",
		[LEAK_THERE] = "not leaking",
		[LEAK_GONE] = "leaking",
	};
	struct heap_object object;

	TRY(heap_object(q->heap, step->ix, &object, err));
	query_set_text(q, TYPE,
		       object.kind == STORE_CLASS    ? "class" :
		       object.kind == STORE_INSTANCE ? "instance" :
						       "array");
	query_set_id(q, ID, step->ix);
	query_set_text(q, CLASS, inspect_class_of(q->heap, step->ix));
	query_set_text(q, STATUS, statuses[step->status]);
	if (leak_steps_text(steps, step->reason)[0]) {
		query_set_text(q, REASON, leak_steps_text(steps, step->reason));
	}
	if (leak_steps_text(steps, step->labels)[0])
		query_set_text(q, LABELS, leak_steps_text(steps, step->labels));
	if (step->bytes != LEAK_NO_SIZE) {
		query_set(q, RETAINED, step->bytes);
		query_set(q, OBJECTS, step->objects);
	}
	return HDB_OK;
}

/* Sets the columns that all steps of a path share. */
static void set_leak(struct query *q, const struct state *s, const struct leak_step *step)
{
	const struct base_vec *groups = &s->traces.groups;
	char signature[BASE_SHA1_TEXT];

	query_set(q, STEP, step->place);
	if (s->group == groups->count) {
		query_set_text(q, KIND, "unreachable");
		return;
	}
	const struct leak_group *group = base_vec_at(groups, struct leak_group, s->group);

	query_set(q, LEAK, s->group + 1);
	query_set(q, TRACE, s->trace);
	base_sha1_text(group->signature, signature);
	query_set_text(q, SIGNATURE, signature);
	query_set_text(q, KIND, group->rule ? "library" : "application");
	if (step->place == 0 && s->steps.root_kind)
		query_set_text(q, ROOT, heap_root_name(s->steps.root_kind));
}

static int next_traces(struct query *q, struct hdb_error *err)
{
	struct state *s = q->state;
	const struct leak_step *step;

	while (s->step == s->steps.list.count)
		TRY(next_path(s, err));
	step = base_vec_at(&s->steps.list, struct leak_step, s->step++);
	set_leak(q, s, step);
	TRY(set_object(q, &s->steps, step, err));
	if (step->reference)
		set_reference(q, &s->steps, step);
	return HDB_OK;
}

static void close_traces(struct query *q)
{
	struct state *s = q->state;

	leak_steps_release(&s->steps);
	leak_traces_release(&s->traces);
}

QUERY_DEFINE(leak_traces, .state_size = sizeof(struct state), .open = open_traces,
	     .next = next_traces, .close = close_traces);
