/*
 * queries/triage/triage_threads.c - measures threads that wait for each other's locks, and threads
 * that were never started.
 */
#include "queries/objects/thread_state.h"
#include "queries/objects/thread_waits.h"
#include "queries/objects/vthreads.h"
#include "queries/triage/triage.h"

#include <stdio.h>
#include <string.h>

/* Minimum number of threads without a record for which a pass to find the reason is worthwhile. */
#define UNLISTED_LEAST 1000u
/* Counts the threads that were never started, and subtracts them from the number of threads. */
static int count_new(struct triage *t, uint64_t listed, struct hdb_error *err)
{
	struct triage_figure *all = &t->figures[TRIAGE_THREADS];
	struct triage_figure *f = &t->figures[TRIAGE_NEW_THREADS];
	BASE_SCOPED(base_vec_release) struct base_vec ixs = { 0 };

	if (all->count < listed + UNLISTED_LEAST)
		return HDB_OK;
	TRY(analysis_unlisted_threads(&t->q->session, &ixs, err));
	for (size_t i = 0; i < ixs.count; i++) {
		const uint32_t ix = *base_vec_at(&ixs, uint32_t, i);
		struct query_thread_state state = { NULL, false };
		bool is_reachable;
		uint64_t bytes;

		TRY_ERRORS(query_thread_state(t->q->heap, ix, &state, err));
		TRY(derive_is_reachable(t->q->derive, ix, &is_reachable, err));
		if (!is_reachable || !state.name || strcmp(state.name, "NEW") != 0)
			continue;
		TRY(derive_retained(t->q->derive, ix, &bytes, err));
		f->ix = f->ix == HEAP_NONE ? ix : f->ix;
		f->count++;
		f->bytes += bytes;
	}
	all->count -= f->count < all->count ? f->count : all->count;
	return HDB_OK;
}

static int find_deadlocks(struct triage *t, const struct query_waits *waits, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_DEADLOCK];
	struct query_deadlock deadlock;

	TRY(query_deadlock_find(t->q, waits, &deadlock, err));
	f->has_no_bytes = true;
	f->count = deadlock.threads;
	f->ix = deadlock.first_ix;
	(void)snprintf(f->detail, sizeof(f->detail), "%s", deadlock.text);
	return HDB_OK;
}

int triage_take_threads(struct triage *t, struct hdb_error *err)
{
	BASE_SCOPED(query_waits_release) struct query_waits waits = { .platform_threads = 0 };
	int r = query_waits_find(t->q, &waits, err);

	if (r == HDB_OK)
		r = find_deadlocks(t, &waits, err);
	if (r == HDB_OK)
		r = count_new(t, waits.platform_threads, err);
	t->figures[TRIAGE_STUCK].has_no_bytes = true;
	t->figures[TRIAGE_STUCK].count = t->verdict.stuck[0] != '\0';
	(void)snprintf(t->figures[TRIAGE_STUCK].detail, sizeof(t->figures[TRIAGE_STUCK].detail),
		       "%s", t->verdict.stuck);
	/* Without the dump, fields cannot be read. */
	return r == HDB_ECHANGED ? HDB_OK : r;
}
