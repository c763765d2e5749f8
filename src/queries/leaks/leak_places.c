/*
 * queries/leaks/leak_places.c - finds out what threads are doing: where they are, and which slow
 * call they are in.
 */
#include "base/glob.h"
#include "heap/known.h"
#include "heap/threads.h"
#include "queries/leaks/leak_prose.h"
#include "queries/leaks/leak_stuck_private.h"

#include <stdio.h>
#include <string.h>

/* Maximum number of threads in a group that is checked for a deadlock. */
#define DEADLOCK_MAX 10u

#define CALL(frames, name) \
	{ \
		frames, name \
	}
static const struct {
	const char *frames, *name;
} calls[] = {
#include <queries/leaks/slow_calls.rows.h>
};
#define CALLS BASE_COUNT(calls)
/* Index of the call of a thread that waits for another one, which is the last. */
#define CALL_WAITS (CALLS - 1)
/*
 * Description of the call of a thread that waits for another thread; the name of a method follows.
 */
static const char waits_in[] = "waiting in ";

/*
 * Sets the call to "waiting in java.util.concurrent.SynchronousQueue.take": the platform's method
 * that the application called. Starts from frame `depth`, which is in the platform.
 */
static int add_method(struct heap *heap, const struct store_trace *trace, uint32_t depth,
		      struct stuck_place *to, struct hdb_error *err)
{
	char text[LEAK_FRAME_MAX], method[LEAK_FRAME_MAX] = "";
	struct store_frame frame;
	bool is_called = false;

	for (; depth < trace->frame_count && depth < FRAMES_MAX && !is_called; depth++) {
		TRY_FOUND(heap_trace_frame(heap, trace, depth, &frame, err));
		TRY(heap_frame_text(heap, &frame, text, sizeof(text), err));
		is_called = !heap_is_platform_class(text);
		if (!is_called)
			memcpy(method, text, sizeof(method));
	}
	method[strcspn(method, "(")] = '\0';
	if (is_called && method[0])
		(void)snprintf(to->call, sizeof(to->call), "%s%.*s", waits_in,
			       (int)(sizeof(to->call) - sizeof(waits_in)), method);
	return HDB_OK;
}

int leak_find_call(struct heap *heap, uint32_t trace_serial, struct stuck_place *to,
		   struct hdb_error *err)
{
	struct store_trace trace;
	uint32_t waits_at = 0;

	TRY_FOUND(heap_trace(heap, trace_serial, &trace, err));
	for (uint32_t depth = 0; depth < trace.frame_count && depth < FRAMES_MAX; depth++) {
		char text[LEAK_FRAME_MAX];
		struct store_frame frame;
		size_t i = 0;

		TRY_FOUND(heap_trace_frame(heap, &trace, depth, &frame, err));
		TRY(heap_frame_text(heap, &frame, text, sizeof(text), err));
		/* Process.waitFor() and reads of virtual threads wait for another thread, too. */
		if (to->is_waiting && !heap_is_platform_class(text))
			break;
		while (i < CALLS && !base_glob_list(calls[i].frames, text))
			i++;
		if (i == CALLS || (to->is_waiting && (!calls[i].name || i == CALL_WAITS)))
			continue;
		to->is_idle = !calls[i].name;
		if (calls[i].name)
			(void)snprintf(to->call, sizeof(to->call), "%s", calls[i].name);
		to->is_waiting = i == CALL_WAITS;
		waits_at = depth;
		if (!to->is_waiting)
			return HDB_OK;
	}
	return to->is_waiting ? add_method(heap, &trace, waits_at, to, err) : HDB_OK;
}

int leak_find_place(struct heap *heap, uint32_t ix, uint32_t trace_serial, struct stuck_place *out,
		    struct hdb_error *err)
{
	struct store_trace trace;

	*out = (struct stuck_place){ .is_pattern = true };
	TRY(heap_thread_name(heap, ix, out->name, sizeof(out->name), err));
	TRY_FOUND(heap_trace(heap, trace_serial, &trace, err));
	return heap_own_frame(heap, &trace, 0, BASE_TEXT(out->frame), err);
}

void leak_add_place(const struct stuck_place *place, struct bytes *to)
{
	if (place->frame[0])
		bytes_format(to, " in %s", place->frame);
	if (place->call[0])
		bytes_format(to, " (%s)", place->call);
}

int leak_describe(const struct query *q, const struct stuck_group *c, bool has_call,
		  struct stuck_place *out, struct hdb_error *err)
{
	const uint64_t step = (c->count + PLACES_MAX - 1) / PLACES_MAX;

	*out = (struct stuck_place){ .is_pattern = true };
	for (uint64_t i = 0; i < c->count; i += step) {
		const struct query_wait *wait = c->members[i].wait;
		struct stuck_place place;

		TRY(base_step(q->work, i, err));
		TRY(leak_find_place(q->heap, wait->thread_ix, wait->trace_serial, &place, err));
		if (has_call)
			TRY(leak_find_call(q->heap, wait->trace_serial, &place, err));
		if (c->count > 1)
			heap_name_pattern(place.name);
		if (i == 0)
			*out = place;
		out->is_idle |= place.is_idle;
		out->is_pattern &= strcmp(out->name, place.name) == 0;
		if (strcmp(out->frame, place.frame) != 0)
			out->frame[0] = '\0';
		if (strcmp(out->call, place.call) != 0)
			out->call[0] = '\0';
	}
	return HDB_OK;
}

int leak_find_owner(struct stuck *s, uint32_t ix, struct stuck_place *out, struct hdb_error *err)
{
	const struct query_wait *wait = query_waits_thread(&s->waits, ix);
	char name[LEAK_PATTERN_MAX];

	TRY(leak_find_place(s->q->heap, ix, wait ? wait->trace_serial : STORE_NONE, out, err));
	TRY(leak_find_call(s->q->heap, wait ? wait->trace_serial : STORE_NONE, out, err));
	if (!wait || wait->owner_ix == HEAP_NONE || wait->owner_ix == ix)
		return HDB_OK;
	TRY(heap_thread_name(s->q->heap, wait->owner_ix, name, sizeof(name), err));
	(void)snprintf(out->call, sizeof(out->call), "waiting for thread \"%.40s\"", name);
	return HDB_OK;
}

/*
 * Returns whether each thread of a group waits for a lock that another thread of the group holds.
 */
static bool is_deadlock(const struct stuck_group *c)
{
	if (c->count > DEADLOCK_MAX)
		return false;
	for (uint64_t i = 0; i < c->count; i++) {
		const uint32_t owner_ix = c->members[i].wait->owner_ix;
		uint64_t k = 0;

		while (k < c->count && c->members[k].wait->thread_ix != owner_ix)
			k++;
		if (k == i || k == c->count)
			return false;
	}
	return true;
}

void leak_add_doing(const struct stuck_group *c, const struct stuck_place *place, const char *only,
		    struct leak_finding *f)
{
	const struct base_text to = BASE_TEXT(f->answer.says);
	BASE_SCOPED(bytes_release) struct bytes text = { 0 };
	struct stuck_place own = *place;

	if (place->is_idle || !place->frame[0] || !place->is_pattern)
		return;
	if (c->count > 1)
		bytes_format(&text, " Its %s threads \"%s\" are", base_number(c->count).text,
			     place->name);
	else
		bytes_format(&text, " Its %s \"%s\" is", only, place->name);
	if (is_deadlock(c))
		(void)snprintf(own.call, sizeof(own.call), "waiting for each other's locks");
	leak_add_place(&own, &text);
	bytes_add(&text, ".", 2);
	if (!text.failed)
		query_leak_add_short(to, (const char *)text.data + (to.buf[0] == '\0'));
	(void)snprintf(f->threads, sizeof(f->threads), "%s", place->name);
}
