/*
 * queries/explain/rule_threads.c - functions of rules that find the threads that use an object:
 * users(), user() and waiters().
 */
#include "queries/explain/rule_private.h"

#include "base/error.h"
#include "heap/threads.h"

#include <stdio.h>
#include <string.h>

/*
 * Maximum number of bytes of a thread name, and of a method, in user(). If a method is longer, only
 * its end is shown: the name and the line. A method is read in full up to USER_FRAME_MAX bytes.
 */
#define USER_PART_MAX (BASE_VALUE_MAX / 2 - 16u)
#define USER_FRAME_MAX 4096

/*
 * Sets *out to whether a root is a local variable that refers to object ix, whose ID is `id`, or to
 * an object with a field that does.
 */
static int is_user(struct rule_scan *s, const struct store_root *root, uint32_t ix, uint64_t id,
		   bool *out)
{
	*out = root->is_local && root->ix == ix;
	if (!root->is_local || *out)
		return HDB_OK;
	return heap_field_refers(s->subject->session->heap, root->ix, id, out, s->err);
}

/*
 * users(): returns the number of local variables that refer to the object, or to an object with a
 * field that does. These local variables belong to methods that use the object. Returns nothing if
 * the dump has no local variables.
 */
int rule_users(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	double users = 0;
	bool has_locals = false;
	uint64_t id;

	TRY(heap_load_roots(heap, s->err));
	TRY(heap_id(heap, ix, &id, s->err));
	for (uint64_t i = 0; i < heap->roots.count && s->subject->steps; i++) {
		const struct store_root *root = &heap->roots.records[i];
		bool found;

		TRY(is_user(s, root, ix, id, &found));
		users += found;
		has_locals |= root->is_local;
		s->subject->steps -= root->is_local;
	}
	/* if the budget of steps is used up, there may be users that were not found */
	if (has_locals && s->subject->steps)
		base_value_set_number(out, users);
	return HDB_OK;
}

/* waiters(): returns the number of threads that wait for a condition of a lock. */
int rule_waiters(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	double count = 0;
	int r;

	TRY_ERRORS(r = heap_path_object(heap, ix, "firstWaiter", &ix, s->err));
	for (; r == HDB_OK && s->subject->steps; s->subject->steps--, count++)
		TRY_ERRORS(r = heap_path_object(heap, ix, "nextWaiter", &ix, s->err));
	/* a list that does not end, as in a damaged dump, has no count */
	if (count > 0 && s->subject->steps)
		base_value_set_number(out, count);
	return HDB_OK;
}

/* Names a thread and its innermost application method, at this frame number or a higher one. */
static int name_thread(struct rule_scan *s, const struct store_thread *thread, uint32_t frame_no,
		       struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	char name[USER_PART_MAX + 1] = "", frame[USER_FRAME_MAX] = "";
	const char *end = frame;
	struct store_trace trace;
	int r;

	TRY_FOUND(heap_thread_name(heap, thread->ix, name, sizeof(name), s->err));
	TRY_ERRORS(r = heap_trace(heap, thread->trace_serial, &trace, s->err));
	if (r == HDB_OK)
		TRY(heap_own_frame(heap, &trace, frame_no, BASE_TEXT(frame), s->err));
	if (strlen(frame) > USER_PART_MAX)
		end += strlen(frame) - USER_PART_MAX;
	while (((unsigned char)*end & 0xc0) == 0x80)
		end++;
	out->kind = BASE_STRING;
	(void)snprintf(out->text, sizeof(out->text), "%s%s%s%s%.*s", name,
		       strlen(name) == USER_PART_MAX ? "..." : "", frame[0] ? " in " : "",
		       end > frame ? "..." : "", (int)USER_PART_MAX, end);
	return HDB_OK;
}

/*
 * user(): names the first thread with a local variable that refers to the object, or to an object
 * with a field that does, and the method: "http-worker-2 in a.Export.write(Export.java:12)". Names
 * a thread itself in the same way.
 */
int rule_user(struct rule_scan *s, uint32_t ix, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	const uint64_t threads = heap_is_thread(heap, ix) ? heap_thread_count(heap) : 0;
	struct store_thread thread;
	uint64_t id;

	for (uint64_t i = 0; i < threads && s->subject->steps; i++, s->subject->steps--) {
		TRY(heap_thread(heap, i, &thread, s->err));
		if (thread.ix == ix)
			return name_thread(s, &thread, 0, out);
	}
	TRY_FOUND(threads ? HDB_NOTFOUND : HDB_OK);
	TRY(heap_load_roots(heap, s->err));
	TRY(heap_id(heap, ix, &id, s->err));
	for (uint64_t i = 0; i < heap->roots.count && s->subject->steps; i++, s->subject->steps--) {
		const struct store_root *root = &heap->roots.records[i];
		bool found;
		int r;

		TRY(is_user(s, root, ix, id, &found));
		if (!found)
			continue;
		TRY_ERRORS(r = heap_thread_by_serial(heap, root->thread_serial, &thread, s->err));
		if (r == HDB_OK && thread.ix != STORE_NONE)
			return name_thread(
				s, &thread,
				root->frame_number == STORE_NONE ? 0 : root->frame_number, out);
	}
	return HDB_OK;
}
