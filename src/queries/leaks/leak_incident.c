/*
 * queries/leaks/leak_incident.c - describes a group of threads as one incident; see leak_incident.h
 * for the terms.
 */
#include "queries/leaks/leak_incident.h"

#include "analysis/describe.h"
#include "heap/threads.h"
#include "queries/leaks/leak_stuck_private.h"
#include "queries/objects/thread_waits.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of incidents per suspect. Threads of further incidents are not counted. */
#define INCIDENTS_MAX 256u
/* Number of threads between two checks of the cancel flag. */
#define STEP_THREADS 256u

/* A thread of the suspect. */
struct member {
	size_t incident; /* INCIDENTS_MAX means none */
	struct query_wait wait;
};

struct incidents {
	struct query *q;
	struct query_waits waits;
	struct leak_incident list[INCIDENTS_MAX];
	size_t count;
	struct base_vec members; /* struct member */
};

/*
 * Finds or adds the incident that a thread belongs to. Returns HDB_NOTFOUND if there are too many.
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
	const struct query_wait *known = query_waits_thread(&n->waits, ix);
	struct leak_incident like = { .example_ix = ix,
				      .blocker_ix = HEAP_NONE,
				      .owner_ix = HEAP_NONE };
	struct member member = { .incident = INCIDENTS_MAX };
	struct store_trace trace;
	uint64_t bytes;
	int r;

	if (known)
		member.wait = *known;
	else
		TRY(query_wait_read(heap, ix, &member.wait, err));
	TRY(heap_thread_name(heap, ix, like.pattern, sizeof(like.pattern), err));
	heap_name_pattern(like.pattern);
	TRY_ERRORS(r = heap_trace(heap, member.wait.trace_serial, &trace, err));
	if (r == HDB_OK)
		TRY(heap_own_frame(heap, &trace, 0, BASE_TEXT(like.frame), err));
	like.is_virtual = member.wait.state.is_virtual;
	TRY(derive_retained(n->q->derive, ix, &bytes, err));
	TRY_FOUND(incident_of(n, &like, &member.incident));
	n->list[member.incident].count++;
	n->list[member.incident].bytes += bytes;
	return base_vec_push(&n->members, &member, sizeof(member), err);
}

/*
 * Sets state, blocker and owner to the values that more than half of an incident's threads share.
 */
static void find_common(const struct incidents *n, size_t no, struct leak_incident *out)
{
	uint64_t states = 0, blockers = 0;
	const char *state = NULL;
	struct query_wait common = { .lock_ix = HEAP_NONE };

	assert(no < n->count);
	for (unsigned pass = 0; pass < 2; pass++) {
		/*
		 * Finds candidates with the majority vote algorithm of Boyer and Moore, then
		 * verifies them.
		 */
		const uint64_t less = pass == 0 ? UINT64_MAX : 0;

		states = blockers = 0;
		for (size_t i = 0; i < n->members.count; i++) {
			const struct member *m = base_vec_at(&n->members, struct member, i);

			if (m->incident != no)
				continue;
			if (pass == 0 && !states)
				state = m->wait.state.name;
			if (pass == 0 && !blockers)
				common = m->wait;
			states += m->wait.state.name == state ? 1 : less;
			blockers += m->wait.lock_ix == common.lock_ix ? 1 : less;
		}
	}
	if (states > n->list[no].count / 2)
		out->state = state;
	if (blockers > n->list[no].count / 2 && common.lock_ix != HEAP_NONE) {
		out->blocked = blockers;
		out->blocker_ix = common.lock_ix;
		out->owner_ix = common.owner_ix;
		out->is_monitor = common.is_monitor;
	}
}

/* Sets the slow call that threads of the incident are in. A thread in native code is RUNNABLE. */
static int find_call(const struct incidents *n, size_t no, struct leak_incident *out,
		     struct hdb_error *err)
{
	uint64_t looked = 0;

	for (size_t i = 0; i < n->members.count && looked < PLACES_MAX; i++) {
		const struct member *m = base_vec_at(&n->members, struct member, i);
		struct stuck_place place = { .is_idle = false };

		if (m->incident != no || m->wait.state.name != out->state)
			continue;
		TRY(leak_find_call(n->q->heap, m->wait.trace_serial, &place, err));
		if (looked++ == 0)
			memcpy(out->call, place.call, sizeof(out->call));
		else if (strcmp(out->call, place.call) != 0)
			out->call[0] = '\0';
	}
	return HDB_OK;
}

static void release(struct incidents **n)
{
	if (*n) {
		query_waits_release(&(*n)->waits);
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
	TRY(query_waits_find(q, &n->waits, err));
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
	if (out->state && strcmp(out->state, "RUNNABLE") == 0)
		TRY(find_call(n, best, out, err));
	/* `members` is only an evenly spaced sample of a large group. */
	if (suspect->members.count < suspect->count) {
		out->bytes = out->bytes / out->count;
		out->blocked = 0; /* unknown */
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
