/*
 * queries/android/q_leak_traces.c - query leak-traces: every leak trace of an application, step by
 * step, with everything that LeakCanary shows: for programs that keep a history of leaks or compare
 * them.
 */
#include "queries/traces/leak_traces.h"
#include "queries/queries.h"

#define TEXT_MAX_BYTES 1024

static const struct hdb_option_spec options[] = {
	{ "watched", HDB_OPTION_FLAG,
	  .help = "Only objects that the program's ObjectWatcher still watches" },
	{ .name = NULL },
};

#define COLUMNS(X) \
	X(LEAK, COUNT, "leak", "leak", \
	  "Number of the leak: application leaks first, by size. Empty for unreachable objects.") \
	X(TRACE, COUNT, "trace", "trace", \
	  "Number of the leaking object within the leak, " \
	  "starting at 1") \
	X(STEP, COUNT, "step", "step", "Position in the path. 0 is the GC root.") \
	X(KIND, TEXT, "kind", "kind", \
	  "Kind of the leak: application, library (known leaks of Android, vendors, " \
	  "libraries) or unreachable") \
	X(ROOT, TEXT, "root", "root", "Kind of GC root. Only for the first step.") \
	X(ID, ID, "id", "id", QUERY_HELP_ID) \
	X(TYPE, TEXT, "type", "type", "Type of the object: instance, array or class") \
	X(CLASS, TEXT, "class", "class", \
	  "Class of the object. For a class object, the class it represents.") \
	X(STATUS, TEXT, "status", "status", \
	  "Status of the object: leaking, not leaking or unknown") \
	X(REASON, TEXT, "reason", "reason", "Reason for the status") \
	X(RETAINED, BYTES, "retained", "retained", \
	  "Retained size as in LeakCanary: recorded sizes, without weak, soft and phantom " \
	  "references") \
	X(OBJECTS, COUNT, "retained_objects", "objects", \
	  "Number of retained objects, counted as in LeakCanary") \
	X(REFERENCE, TEXT, "reference_type", "reference", \
	  "Kind of the reference to the next step: field, static, local, or entry (of an " \
	  "array or collection)") \
	X(OWNER, TEXT, "owner", "owner", \
	  "Class that declares the field, or class of the array or collection") \
	X(NAME, TEXT, "name", "name", "Name of the reference") \
	X(GENERIC, TEXT, "generic", "generic", "Name of the reference in the signature") \
	X(SUSPECT, BOOL, "suspect", "suspect", "Whether this reference may be the leak") \
	X(LABELS, TEXT, "labels", "labels", "Labels of the object, as in LeakCanary") \
	X(LIBRARY, TEXT, "library", "library", "Known library leak caused by this reference") \
	X(SIGNATURE, TEXT, "signature", "signature", \
	  "SHA-1 of the suspect references, equal to LeakCanary's signature")
enum { COLUMNS(QUERY_NUMBER) };
static const struct hdb_column columns[] = { COLUMNS(QUERY_COLUMN) QUERY_NATIVE_COLUMN };

static const struct hdb_column facts[] = {
	{ "leaking", HDB_TYPE_COUNT, "leaking objects", "Number of leaking objects found" },
	{ "held_by_others", HDB_TYPE_COUNT, "held by others",
	  "Number of leaking objects held by another leaking object. Not listed." },
	{ "unreachable", HDB_TYPE_COUNT, "unreachable", "Number of unreachable leaking objects" },
	{ "leaks", HDB_TYPE_COUNT, "leaks",
	  "Number of leaks. Leaking objects held by the same references are one leak." },
	{ "library_leaks", HDB_TYPE_COUNT, "library leaks",
	  "Number of leaks known to be caused by Android, a device vendor or a library. Listed "
	  "last." },
	{ "untraced", HDB_TYPE_COUNT, "not traced",
	  "Number of leaking objects left out because all paths together are too long" },
	QUERY_NO_ANDROID_FACT,
};

struct state {
	struct leak_traces traces;
	struct leak_steps steps;
	size_t group, trace, step; /* the next row */
	size_t unreachable;
};

static int open_traces(struct query *q, struct hdb_error *err)
{
	struct state *s = q->state;
	uint64_t libraries = 0;

	TRY(leak_traces_find(&s->traces, &q->session, query_option(q, "watched") != NULL, err));
	/* The columns that fit a terminal line come first. */
	query_choose(q,
		     "leak,trace,step,class,status,name,retained,retained_objects,id,kind,root,"
		     "type,reason,reference_type,owner,generic,suspect,labels,library,signature");
	for (size_t i = 0; i < s->traces.groups.count; i++)
		libraries += base_vec_at(&s->traces.groups, struct leak_group, i)->rule != NULL;
	query_fact(q, "leaking", s->traces.found);
	query_fact(q, "held_by_others", s->traces.held_by_other);
	query_fact(q, "unreachable", s->traces.unreachable.count);
	query_fact(q, "leaks", s->traces.groups.count);
	query_fact(q, "library_leaks", libraries);
	if (!s->traces.found)
		query_report_no_android(q, "the heap has neither a watcher nor a class whose "
					   "objects are known to leak; `leaks` searches any heap");
	if (s->traces.untraced)
		query_fact(q, "untraced", s->traces.untraced);
	return HDB_OK;
}

/* Reads the steps of the next path: HDB_END after the last. */
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

const struct query_def query_leak_traces = {
	.spec = {
		.name = "leak-traces", .aliases = "leakcanary|shark",
		.group = "leaks", .example = "--watched",
		.targets = "",
		.summary = "Leaking objects of Android applications with every path step, "
			"LeakCanary's verdicts and signatures",
		.options = options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
		.one_population = QUERY_REACHES_ONLY,
	},
	.uses = QUERY_HAS_NATIVE | QUERY_USES_HEAP | QUERY_CHOOSES_HEAP,
	.heap_help = "Only leaking objects of this Android heap. Paths lead through all heaps.",
	.state_size = sizeof(struct state),
	.open = open_traces, .next = next_traces, .close = close_traces,
};
