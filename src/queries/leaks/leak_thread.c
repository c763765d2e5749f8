/*
 * queries/leaks/leak_thread.c - describes the thread that holds a leak suspect: its stack and the
 * relevant local variables.
 */
#include "analysis/suspects.h"
#include "base/sort.h"
#include "heap/threads.h"
#include "heap/values/values.h"
#include "queries/leaks/leak_blame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_MAX_BYTES 3200
/*
 * Number of innermost frames that are always shown. Outer frames are shown only if they have a
 * relevant local variable.
 */
#define FRAMES_SHOWN 12u
/* Maximum number of local variables shown. */
#define LOCALS_MAX 16u
/* A relevant local variable retains more than 1/LOCAL_PART of the suspect, as in MAT (0.10). */
#define LOCAL_PART 10u

int query_leak_frame(struct heap *heap, uint32_t thread_ix, uint32_t ix, struct base_text to,
		     struct hdb_error *err)
{
	uint32_t outermost = 0;

	*to.buf = '\0';
	TRY(heap_load_roots(heap, err));
	for (uint64_t i = 0; i < heap->roots.count; i++) {
		const struct store_root *root = &heap->roots.records[i];
		struct store_thread thread;
		struct store_trace trace;
		struct store_frame frame;
		int r;

		if (root->ix != ix || !root->is_local || root->frame_number == STORE_NONE ||
		    (*to.buf && root->frame_number <= outermost))
			continue;
		TRY_ERRORS(r = heap_thread_by_serial(heap, root->thread_serial, &thread, err));
		if (r != HDB_OK || thread.ix != thread_ix)
			continue;
		r = heap_trace(heap, thread.trace_serial, &trace, err);
		if (r == HDB_OK)
			r = heap_trace_frame(heap, &trace, root->frame_number, &frame, err);
		if (r == HDB_OK)
			r = heap_frame_text(heap, &frame, to.buf, to.size, err);
		TRY_ERRORS(r);
		outermost = root->frame_number;
	}
	return HDB_OK;
}

struct local {
	/* depth of the frame, or STORE_NONE if the dump does not record it */
	uint32_t frame;
	uint32_t ix;
	uint64_t retained_bytes;
	bool is_on_path;
};

struct locals {
	const struct query_leak_suspect *about;
	uint32_t thread_ix;
	struct local list[LOCALS_MAX];
	size_t count;
};

BASE_ORDER(compare_frames, struct local, BASE_UP(frame), BASE_UP(ix))

/* Keeps the largest local variables, each object once per frame. */
static void keep(struct locals *locals, const struct local *local)
{
	size_t least = 0;

	for (size_t i = 0; i < locals->count; i++) {
		const struct local *other = &locals->list[i];

		if (other->ix == local->ix && other->frame == local->frame)
			return;
		if (other->retained_bytes < locals->list[least].retained_bytes)
			least = i;
	}
	assert(locals->count <= LOCALS_MAX);
	if (locals->count < LOCALS_MAX)
		locals->list[locals->count++] = *local;
	else if (locals->list[least].retained_bytes < local->retained_bytes)
		locals->list[least] = *local;
}

/* Keeps a local variable of the thread, given by its root record, if it is relevant. */
static int look_at(struct query *q, const struct store_root *root, struct locals *locals,
		   struct hdb_error *err)
{
	const struct analysis_suspect *suspect = locals->about->suspect;
	const struct query_leak_path *path = locals->about->path;
	struct local local = { .frame = root->frame_number, .ix = root->ix };
	uint32_t dominator;

	TRY(derive_retained(q->derive, root->ix, &local.retained_bytes, err));
	TRY(derive_dominator(q->derive, root->ix, &dominator, err));
	local.is_on_path = path->count > 1 && path->nodes[1] == root->ix;
	if (local.is_on_path || (dominator == locals->thread_ix &&
				 local.retained_bytes > suspect->retained_bytes / LOCAL_PART))
		keep(locals, &local);
	return HDB_OK;
}

/*
 * If the path begins at a local variable, removes all other variables. Sorts the variables by
 * frame.
 */
static void prefer_path(struct locals *locals)
{
	size_t kept = 0;

	for (size_t i = 0; i < locals->count; i++)
		if (locals->list[i].is_on_path)
			locals->list[kept++] = locals->list[i];
	if (kept)
		locals->count = kept;
	qsort(locals->list, locals->count, sizeof(locals->list[0]), compare_frames);
}

/* Appends rows for the local variables of one frame. */
static int add_locals(struct query *q, struct leak_rows *rows, const struct locals *locals,
		      uint32_t frame, struct hdb_error *err)
{
	for (size_t i = 0; i < locals->count; i++) {
		struct leak_row row = leak_row_of(rows, LEAK_ROW_LOCAL);
		struct heap_object object;

		if (locals->list[i].frame != frame)
			continue;
		TRY(heap_object(q->heap, locals->list[i].ix, &object, err));
		row.ix = locals->list[i].ix;
		row.cells[LEAK_STEP] = frame == STORE_NONE ? LEAK_NONE : frame;
		row.cells[LEAK_SHALLOW] = object.shallow_bytes;
		row.cells[LEAK_RETAINED] = locals->list[i].retained_bytes;
		TRY(leak_rows_add(rows, &row, err));
	}
	return HDB_OK;
}

static bool has_local(const struct locals *locals, uint32_t frame)
{
	for (size_t i = 0; i < locals->count; i++)
		if (locals->list[i].frame == frame)
			return true;
	return false;
}

/* Appends a row for the frame at this depth: "?" if the dump does not describe it. */
static int add_frame(struct query *q, struct leak_rows *rows, const struct store_trace *trace,
		     uint32_t depth, struct hdb_error *err)
{
	struct leak_row row = leak_row_of(rows, LEAK_ROW_FRAME);
	char text[FRAME_MAX_BYTES] = "?";
	struct store_frame frame;
	int r = heap_trace_frame(q->heap, trace, depth, &frame, err);

	TRY_ERRORS(r);
	if (r == HDB_OK)
		TRY(heap_frame_text(q->heap, &frame, text, sizeof(text), err));
	row.cells[LEAK_STEP] = depth;
	TRY(leak_rows_text(rows, &row, LEAK_TEXT, err, "at %s", text));
	return leak_rows_add(rows, &row, err);
}

/*
 * Appends the stack: innermost frames, outer frames with local variables, then variables of unknown
 * frames.
 */
static int add_stack(struct query *q, struct leak_rows *rows, const struct store_thread *thread,
		     const struct locals *locals, struct hdb_error *err)
{
	struct store_trace trace = { 0 };
	uint32_t next = 0;
	int r = heap_trace(q->heap, thread->trace_serial, &trace, err);

	TRY_ERRORS(r);
	if (r != HDB_OK)
		trace.frame_count = 0;
	for (; next < trace.frame_count && next < FRAMES_SHOWN; next++) {
		TRY(add_frame(q, rows, &trace, next, err));
		TRY(add_locals(q, rows, locals, next, err));
	}
	/* Local variables are sorted by frame, so outer frames follow in order. */
	for (size_t i = 0; i < locals->count; i++) {
		const uint32_t frame = locals->list[i].frame;

		if (frame == STORE_NONE || frame < next)
			continue;
		if (frame < trace.frame_count)
			TRY(add_frame(q, rows, &trace, frame, err));
		TRY(add_locals(q, rows, locals, frame, err));
		next = frame + 1;
	}
	return has_local(locals, STORE_NONE) ? add_locals(q, rows, locals, STORE_NONE, err) :
					       HDB_OK;
}

/* Finds the thread record of a thread object. Returns HDB_NOTFOUND if the dump has none. */
static int find_thread(struct query *q, uint32_t ix, struct store_thread *out,
		       struct hdb_error *err)
{
	for (uint64_t no = 0; no < heap_thread_count(q->heap); no++) {
		const int r = heap_thread(q->heap, no, out, err);

		if (r != HDB_OK || out->ix == ix)
			return r;
	}
	return HDB_NOTFOUND;
}

/*
 * Finds an object of the application in a local variable of the thread that has a field for the
 * first object in the path. Objects on the path do not count, because they are held too. Nor do
 * fields of a library's objects: an entity in a session refers to the session through its
 * collections. Returns HDB_NOTFOUND if there is no such object.
 */
static int find_user(struct query *q, const struct query_leak_path *path, uint32_t thread_serial,
		     uint32_t *out, struct hdb_error *err)
{
	const struct heap_roots *roots = &q->heap->roots;
	uint64_t bits;

	TRY(heap_id(q->heap, path->nodes[1], &bits, err));
	for (uint64_t i = 0; i < roots->count; i++) {
		const struct store_root *root = &roots->records[i];
		const char *name;
		size_t at = 0;
		bool found;

		TRY(base_step(q->work, i, err));
		if (!root->is_local || root->thread_serial != thread_serial)
			continue;
		while (at < path->count && path->nodes[at] != root->ix)
			at++;
		name = heap_class_name_of(q->heap, root->ix);
		if (at < path->count || !heap_is_application_class(name))
			continue;
		TRY(heap_field_refers(q->heap, root->ix, bits, &found, err));
		*out = root->ix;
		if (found)
			return HDB_OK;
	}
	return HDB_NOTFOUND;
}

int leak_prefer_field(struct query *q, struct query_leak_path *path, struct hdb_error *err)
{
	struct store_thread thread;
	struct analysis_link link;
	enum leak_blame best;
	size_t chosen;
	uint32_t ix = HEAP_NONE;

	if (path->count < 2 || path->count >= 2 * LEAK_PATH_ENDS ||
	    !heap_is_thread(q->heap, path->nodes[0]))
		return HDB_OK;
	TRY(query_leak_link(q, path, 0, &link, err));
	TRY(leak_choose_step(q, path, &chosen, &best, err));
	if (link.kind != ANALYSIS_LINK_LOCAL || best == BLAME_STATIC ||
	    (best == BLAME_OWN &&
	     !heap_is_library_class(heap_class_name_of(q->heap, path->nodes[chosen]))))
		return HDB_OK;
	TRY_FOUND(find_thread(q, path->nodes[0], &thread, err));
	TRY(heap_load_roots(q->heap, err));
	TRY_FOUND(find_user(q, path, thread.thread_serial, &ix, err));
	memmove(path->nodes + 2, path->nodes + 1, (path->count - 1) * sizeof(path->nodes[0]));
	path->nodes[1] = ix;
	path->count++;
	path->gap_at++;
	return HDB_OK;
}

int query_leak_thread(struct query *q, struct leak_rows *rows,
		      const struct query_leak_suspect *about, struct hdb_error *err)
{
	const struct query_leak_path *path = about->path;
	struct leak_row row = leak_row_of(rows, LEAK_ROW_THREAD);
	struct locals locals = { .about = about };
	struct store_thread thread;
	struct heap_object object;

	if (!path->count || path->is_passing || about->suspect->ix == HEAP_NONE ||
	    !heap_is_thread(q->heap, path->nodes[0]))
		return HDB_OK;
	row.ix = locals.thread_ix = path->nodes[0];
	TRY_FOUND(heap_object(q->heap, row.ix, &object, err));
	row.cells[LEAK_SHALLOW] = object.shallow_bytes;
	TRY_FOUND(derive_retained(q->derive, row.ix, &row.cells[LEAK_RETAINED], err));
	/* A thread that retains almost nothing does not hold the suspect. */
	if (row.cells[LEAK_RETAINED] < about->whole_bytes / 100)
		return HDB_OK;
	TRY_FOUND(leak_rows_add(rows, &row, err));
	TRY_FOUND(find_thread(q, row.ix, &thread, err));
	for (uint64_t i = 0; i < q->heap->roots.count; i++) {
		const struct store_root *root = &q->heap->roots.records[i];

		if (root->is_local && root->thread_serial == thread.thread_serial)
			TRY(look_at(q, root, &locals, err));
	}
	prefer_path(&locals);
	return add_stack(q, rows, &thread, &locals, err);
}
