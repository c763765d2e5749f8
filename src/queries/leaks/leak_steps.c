/*
 * queries/leaks/leak_steps.c - finds the steps of a leak trace: the status of each object, the
 * reason for the status, and the reference to the next step.
 *
 * The rules are LeakCanary's. If an object is known not to leak, neither do the objects above it.
 * If an object leaks, so do all objects below it. The references between the last object that is
 * not leaking and the first leaking one are suspect: one of them causes the leak.
 */
#include "queries/traces/leak_traces.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX_BYTES 4096
#define NAME_MAX_BYTES 1024

/* A trace being described. */
struct described_trace {
	struct leak_traces *traces;
	struct leak_steps *out;
	uint32_t *path; /* indexes of nodes, root first; owned */
	/*
	 * indexed by step: status according to the object itself; the last step always leaks; owned
	 */
	enum leak_status *own;
	size_t count;
	/* number of steps up to and including the last step that is known not to leak */
	size_t there_end;
	size_t first_gone; /* index of the first leaking step after there_end */
};

/* Stores a string and its offset in out->texts. */
static int keep_text(struct leak_steps *out, const char *text, size_t *place, struct hdb_error *err)
{
	*place = out->texts.count;
	return base_bytes_append(&out->texts, text, strlen(text) + 1, err);
}

static struct leak_node *node_of(struct described_trace *t, size_t i)
{
	assert(i < t->count);
	return base_vec_at(&t->traces->nodes, struct leak_node, t->path[i]);
}

/* Sets the path and the status of its steps. */
static int find_path(struct described_trace *t, uint32_t last, struct hdb_error *err)
{
	size_t n = 0;

	for (uint32_t at = last; at != GRAPH_NONE;
	     at = base_vec_at(&t->traces->nodes, struct leak_node, at)->parent)
		n++;
	TRY(BASE_ALLOC(t->path, n + 1, "a path", err));
	TRY(BASE_ALLOC(t->own, n + 1, "a path", err));
	t->count = n;
	for (uint32_t at = last; at != GRAPH_NONE;
	     at = base_vec_at(&t->traces->nodes, struct leak_node, at)->parent)
		t->path[--n] = at;
	assert(t->count > 0 && n == 0);
	t->first_gone = t->count - 1;
	for (size_t i = 0; i < t->count; i++) {
		const struct leak_node *node = node_of(t, i);

		t->own[i] = i + 1 == t->count ? LEAK_GONE :
			    node->is_there    ? LEAK_THERE :
			    node->is_gone     ? LEAK_GONE :
						LEAK_UNKNOWN;
		if (t->own[i] == LEAK_THERE) {
			t->there_end = i + 1;
			t->first_gone = t->count - 1;
		} else if (t->own[i] == LEAK_GONE && t->first_gone == t->count - 1) {
			t->first_gone = i;
		}
	}
	return HDB_OK;
}

/*
 * Writes the reasons for an object's own status. If rules disagree, the last step counts as leaking
 * and any other as not leaking, and the text says so.
 */
static void own_reason(const struct inspection *inspection, bool is_last, char *buf, size_t size)
{
	char gone[TEXT_MAX_BYTES], there[TEXT_MAX_BYTES];

	inspection_join(inspection, INSPECT_GONE, " and ", gone, sizeof(gone));
	inspection_join(inspection, INSPECT_THERE, " and ", there, sizeof(there));
	if (is_last && !gone[0])
		(void)snprintf(gone, sizeof(gone), "it is the leaking object");
	if (gone[0] && there[0])
		(void)snprintf(buf, size, "%s. Conflicts with %s", is_last ? gone : there,
			       is_last ? there : gone);
	else
		(void)snprintf(buf, size, "%s%s", gone, there);
}

/* Returns the nearest step in this direction whose own status is `status`. There must be one. */
static size_t nearest(const struct described_trace *t, size_t from, bool is_down,
		      enum leak_status status)
{
	size_t i = from;

	do
		i = is_down ? i + 1 : i - 1;
	while (t->own[i] != status);
	assert(i < t->count && i != from);
	return i;
}

/* Sets the status of step `i`, which other steps may imply, and writes the reason. */
static void judge(struct described_trace *t, size_t i, const char *own, struct leak_step *step,
		  struct base_text to)
{
	struct heap *heap = t->traces->session->heap;
	const bool is_above = i + 1 < t->there_end;
	const bool is_below = i > t->first_gone && i + 1 < t->count;
	const char *name;
	const char *between = " and ";

	step->status = t->own[i];
	(void)snprintf(to.buf, to.size, "%s", own);
	if (!is_above && !is_below)
		return;
	step->status = is_above ? LEAK_THERE : LEAK_GONE;
	name = inspect_simple_name(
		inspect_class_of(heap, node_of(t, nearest(t, i, is_above, step->status))->ix));
	if (is_above && t->own[i] == LEAK_GONE)
		between = ". Conflicts with ";
	(void)snprintf(to.buf, to.size, "%s %s%s%s", name,
		       is_above ? "below is not leaking" : "above is leaking",
		       own[0] ? between : "", own);
}

/*
 * An object that does not leak gets no sizes, because the objects that it retains are not leaked.
 */
static int set_sizes(struct described_trace *t, struct leak_step *step, struct hdb_error *err)
{
	step->bytes = step->objects = LEAK_NO_SIZE;
	return step->status == LEAK_THERE || !t->traces->search.has_sizes ?
		       HDB_OK :
		       trace_search_retained(&t->traces->search, step->ix, &step->bytes,
					     &step->objects, err);
}

/*
 * Describes the reference from step `i` to the next step, which is suspect if it may cause the
 * leak.
 */
static int set_reference(struct described_trace *t, size_t i, struct leak_step *step,
			 struct hdb_error *err)
{
	char text[NAME_MAX_BYTES];

	step->reference = &node_of(t, i + 1)->reference;
	step->is_suspect = i + 1 >= t->there_end && i < t->first_gone;
	TRY(trace_reference_name(&t->traces->graph, step->reference, text, sizeof(text), err));
	TRY(keep_text(t->out, text, &step->name, err));
	TRY(trace_reference_generic(&t->traces->graph, step->reference, text, sizeof(text), err));
	return keep_text(t->out, text, &step->generic, err);
}

static int add_texts(struct described_trace *t, size_t i, struct leak_step *step,
		     struct hdb_error *err)
{
	BASE_SCOPED(inspection_release) struct inspection inspection = { .wants_text = true };
	char own[2 * TEXT_MAX_BYTES + 32], text[3 * TEXT_MAX_BYTES];

	TRY(inspect_object(&t->traces->inspector, step->ix, &inspection, err));
	own_reason(&inspection, i + 1 == t->count, own, sizeof(own));
	judge(t, i, own, step, BASE_TEXT(text));
	TRY(keep_text(t->out, text, &step->reason, err));
	inspection_join(&inspection, INSPECT_LABEL, "; ", text, sizeof(text));
	return keep_text(t->out, text, &step->labels, err);
}

static int add_step(struct described_trace *t, size_t i, bool is_before_gap, struct hdb_error *err)
{
	struct leak_step step = { .place = i, .ix = node_of(t, i)->ix };

	TRY(add_texts(t, i, &step, err));
	TRY(set_sizes(t, &step, err));
	if (i + 1 < t->count && !is_before_gap)
		TRY(set_reference(t, i, &step, err));
	return base_vec_push(&t->out->list, &step, sizeof(step), err);
}

static int begin(struct leak_steps *out, struct hdb_error *err)
{
	*out = (struct leak_steps){ .gap = 0 };
	/* Offset 0 means no text. */
	return base_bytes_append(&out->texts, "", 1, err);
}

static void release(struct described_trace *t)
{
	free(t->path);
	free(t->own);
}

int leak_steps_get(struct leak_traces *traces, size_t no, struct leak_steps *out,
		   struct hdb_error *err)
{
	const struct leak_trace *trace = base_vec_at(&traces->traces, struct leak_trace, no);
	BASE_SCOPED(release) struct described_trace t = { .traces = traces, .out = out };

	TRY(begin(out, err));
	TRY(find_path(&t, trace->node, err));
	(void)trace_root_kind(traces->session->heap, node_of(&t, 0)->ix, &out->root_kind);
	if (t.count > 2 * LEAK_STEPS_ENDS)
		out->gap = t.count - 2 * LEAK_STEPS_ENDS;
	for (size_t i = 0; i < t.count; i++) {
		if (out->gap && i == LEAK_STEPS_ENDS)
			i += out->gap;
		TRY(add_step(&t, i, out->gap && i + 1 == LEAK_STEPS_ENDS, err));
	}
	return HDB_OK;
}

int leak_steps_unreachable(struct leak_traces *traces, size_t no, struct leak_steps *out,
			   struct hdb_error *err)
{
	struct leak_step step = {
		.ix = *base_vec_at(&traces->unreachable, uint32_t, no),
		.status = LEAK_GONE,
		.bytes = LEAK_NO_SIZE,
		.objects = LEAK_NO_SIZE,
	};
	BASE_SCOPED(inspection_release) struct inspection inspection = { .wants_text = true };
	char text[2 * TEXT_MAX_BYTES + 32];

	TRY(begin(out, err));
	TRY(inspect_object(&traces->inspector, step.ix, &inspection, err));
	own_reason(&inspection, true, text, sizeof(text));
	TRY(keep_text(out, text, &step.reason, err));
	inspection_join(&inspection, INSPECT_LABEL, "; ", text, sizeof(text));
	TRY(keep_text(out, text, &step.labels, err));
	return base_vec_push(&out->list, &step, sizeof(step), err);
}

void leak_steps_release(struct leak_steps *steps)
{
	base_vec_release(&steps->list);
	base_vec_release(&steps->texts);
}

void leak_steps_suspect(struct leak_traces *traces, const struct leak_steps *steps, char *buf,
			size_t size)
{
	struct heap *heap = traces->session->heap;

	buf[0] = '\0';
	for (size_t i = 0; i < steps->list.count; i++) {
		const struct leak_step *step = base_vec_at(&steps->list, struct leak_step, i);
		const char *generic = leak_steps_text(steps, step->generic);

		if (!step->is_suspect || !step->reference)
			continue;
		(void)snprintf(buf, size, "%s%s%s%s", inspect_class_of(heap, step->ix),
			       generic[0] == '[' ? "" : ".", generic,
			       step->reference->kind == TRACE_STATIC ? " (static)" : "");
		return;
	}
}
