/*
 * queries/leaks/leak_incident.c - a group of threads as one incident; leak_incident.h defines the
 * terms.
 */
#include "queries/leaks/leak_incident.h"

#include "analysis/describe.h"
#include "heap/threads.h"
#include "heap/values/values.h"
#include "queries/objects/thread_state.h"
#include "queries/objects/thread_waits.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of incidents kept for a suspect. Threads of further incidents are not counted. */
#define INCIDENTS_MAX 256u
/* Number of threads between two checks of the cancel flag. */
#define STEP_THREADS 256u

/* A thread of the suspect. */
struct member {
	size_t incident; /* INCIDENTS_MAX: none */
	const char *state;
	uint32_t ix, blocker_ix, owner_ix;
	bool is_monitor;
};

struct incidents {
	struct query *q;
	struct base_idmap traces; /* from a thread to the serial number of its stack trace */
	struct leak_incident list[INCIDENTS_MAX];
	size_t count;
	struct base_vec members; /* struct member */
};

/*
 * Reads the innermost frame of an application class. The result is "" if the stack has no such
 * frame.
 */
static int read_frame(struct incidents *n, uint32_t ix, struct base_text to, struct hdb_error *err)
{
	struct heap *heap = n->q->heap;
	const uint32_t serial = base_idmap_get(&n->traces, ix);
	struct store_trace trace;

	to.buf[0] = '\0';
	TRY_FOUND(serial == BASE_IDMAP_NONE ? HDB_NOTFOUND : heap_trace(heap, serial, &trace, err));
	return heap_own_frame(heap, &trace, 0, to, err);
}

/*
 * Finds the incident to which a thread belongs. Returns HDB_NOTFOUND if there are too many
 * incidents.
 */
static int incident_of(struct incidents *n, const struct leak_incident *like, size_t *out)
{
	size_t i = 0;

	while (i < n->count && (n->list[i].is_virtual != like->is_virtual ||
				strcmp(n->list[i].pattern, like->pattern) != 0 ||
				strcmp(n->list[i].frame, like->frame) != 0))
		i++;
	assert(n->count <= INCIDENTS_MAX);
	if (i == INCIDENTS_MAX)
		return HDB_NOTFOUND;
	if (i == n->count)
		n->list[n->count++] = *like;
	*out = i;
	return HDB_OK;
}

static int add_thread(struct incidents *n, uint32_t ix, struct hdb_error *err)
{
	struct heap *heap = n->q->heap;
	struct leak_incident like = { .example_ix = ix,
				      .blocker_ix = HEAP_NONE,
				      .owner_ix = HEAP_NONE };
	struct query_thread_state state = { NULL, false };
	struct member member = { .incident = INCIDENTS_MAX, .ix = ix };
	uint64_t bytes;

	TRY(heap_thread_name(heap, ix, like.pattern, sizeof(like.pattern), err));
	heap_name_pattern(like.pattern);
	TRY(read_frame(n, ix, BASE_TEXT(like.frame), err));
	TRY_ERRORS(query_thread_state(heap, ix, &state, err));
	like.is_virtual = state.is_virtual;
	member.state = state.name;
	TRY(query_park_find(heap, ix, &member.blocker_ix, &member.owner_ix, err));
	TRY(derive_retained(n->q->derive, ix, &bytes, err));
	TRY_FOUND(incident_of(n, &like, &member.incident));
	n->list[member.incident].count++;
	n->list[member.incident].bytes += bytes;
	return base_vec_push(&n->members, &member, sizeof(member), err);
}

/*
 * Sets the state, the blocker and the owner to the values that more than half of the threads of an
 * incident share.
 */
static void find_common(const struct incidents *n, size_t no, struct leak_incident *out)
{
	uint64_t states = 0, blockers = 0;
	struct member common = { .state = NULL, .blocker_ix = HEAP_NONE };

	assert(no < n->count);
	for (unsigned pass = 0; pass < 2; pass++) {
		/*
		 * Uses the majority vote algorithm of Boyer and Moore, and then verifies the
		 * result.
		 */
		const uint64_t less = pass == 0 ? UINT64_MAX : 0;

		states = blockers = 0;
		for (size_t i = 0; i < n->members.count; i++) {
			const struct member *m = base_vec_at(&n->members, struct member, i);

			if (m->incident != no)
				continue;
			if (pass == 0 && !states)
				common.state = m->state;
			if (pass == 0 && !blockers) {
				common.blocker_ix = m->blocker_ix;
				common.owner_ix = m->owner_ix;
				common.is_monitor = m->is_monitor;
			}
			states += m->state == common.state ? 1 : less;
			blockers += m->blocker_ix == common.blocker_ix ? 1 : less;
		}
	}
	if (states > n->list[no].count / 2)
		out->state = common.state;
	if (blockers > n->list[no].count / 2 && common.blocker_ix != HEAP_NONE) {
		out->blocker_ix = common.blocker_ix;
		out->owner_ix = common.owner_ix;
		out->is_monitor = common.is_monitor;
	}
}

/* Finds the monitors at which members are blocked, and the threads that hold the monitors. */
static int find_monitors(struct incidents *n, struct hdb_error *err)
{
	BASE_SCOPED(query_waits_release) struct query_waits waits = { .platform_threads = 0 };

	TRY(query_waits_find(n->q, &waits, err));
	for (size_t i = 0; i < n->members.count; i++) {
		struct member *m = base_vec_at(&n->members, struct member, i);
		const struct query_wait *wait = query_waits_of(&waits, m->ix);

		if (!wait || !wait->is_monitor)
			continue;
		m->blocker_ix = wait->lock_ix;
		m->owner_ix = wait->owner_ix;
		m->is_monitor = true;
	}
	return HDB_OK;
}

static int read_traces(struct incidents *n, struct hdb_error *err)
{
	for (uint64_t no = 0; no < heap_thread_count(n->q->heap); no++) {
		struct store_thread thread;

		TRY(heap_thread(n->q->heap, no, &thread, err));
		if (thread.ix != STORE_NONE && thread.trace_serial != STORE_NONE)
			TRY(base_idmap_put(&n->traces, thread.ix, thread.trace_serial, err));
	}
	return HDB_OK;
}

static void release(struct incidents **n)
{
	if (*n) {
		base_idmap_release(&(*n)->traces);
		base_vec_release(&(*n)->members);
	}
	free(*n);
}

int leak_incident_find(struct query *q, const struct analysis_suspect *suspect,
		       struct leak_incident *out, struct hdb_error *err)
{
	BASE_SCOPED(release) struct incidents *n = NULL;
	size_t best = 0;

	if (suspect->ix != HEAP_NONE || !suspect->members.count ||
	    !heap_is_thread(q->heap, *base_vec_at(&suspect->members, uint32_t, 0)))
		return HDB_NOTFOUND;
	TRY(BASE_ALLOC(n, 1, "threads", err));
	n->q = q;
	TRY(read_traces(n, err));
	for (size_t i = 0; i < suspect->members.count; i++) {
		TRY(add_thread(n, *base_vec_at(&suspect->members, uint32_t, i), err));
		if (i % STEP_THREADS == 0)
			TRY(base_step(q->work, i, err));
	}
	for (size_t i = 1; i < n->count; i++)
		if (n->list[i].bytes > n->list[best].bytes)
			best = i;
	*out = n->list[best];
	assert(out->count > 0);
	find_common(n, best, out);
	if (out->state && strcmp(out->state, "BLOCKED") == 0 && out->blocker_ix == HEAP_NONE) {
		TRY(find_monitors(n, err));
		find_common(n, best, out);
	}
	/* `members` contains only an evenly spaced sample of a large group. */
	if (suspect->members.count < suspect->count) {
		out->bytes = out->bytes / out->count;
		out->count = out->count * suspect->count / suspect->members.count;
		out->bytes *= out->count;
	}
	out->is_most = out->bytes > suspect->retained_bytes / 2 && out->count > 1;
	return HDB_OK;
}

int leak_condition_name(struct query *q, uint32_t thread_ix, uint32_t condition_ix,
			struct base_text to, struct hdb_error *err)
{
	struct heap *heap = q->heap;

	to.buf[0] = '\0';
	TRY(heap_load_roots(heap, err));
	for (uint64_t i = 0; i < heap->roots.count && !to.buf[0]; i++) {
		const struct store_root *root = &heap->roots.records[i];
		struct store_thread thread;
		struct analysis_link link;
		int r;

		if (!root->is_local || root->ix == thread_ix)
			continue;
		TRY_ERRORS(r = heap_thread_by_serial(heap, root->thread_serial, &thread, err));
		if (r != HDB_OK || thread.ix != thread_ix)
			continue;
		TRY(analysis_link_find(&q->session, root->ix, condition_ix, &link, err));
		if (link.kind == ANALYSIS_LINK_FIELD)
			(void)snprintf(to.buf, to.size, "%s.%.*s",
				       heap_class_name_of(heap, root->ix),
				       (int)strcspn(link.text, ","), link.text);
	}
	return HDB_OK;
}
