/*
 * queries/triage/triage_threads.c - threads that wait for each other's locks, and threads that were
 * never started.
 *
 * Only locks of java.util.concurrent record their owners. A thread waits for at most one other
 * thread, so each thread is followed once. A chain that returns to itself is a deadlock.
 */
#include "base/base_text.h"
#include "heap/threads.h"
#include "queries/leaks/leak_incident.h"
#include "queries/objects/thread_state.h"
#include "queries/objects/vthreads.h"
#include "queries/triage/triage.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Maximum number of threads named as part of a deadlock. */
#define NAMED_MAX 8u
#define NAME_MAX_BYTES 128
/*
 * If at least this many threads have no record, a pass over them to find the reason is worthwhile.
 */
#define UNLISTED_LEAST 1000u
/* Number of threads between two checks of the cancel flag. */
#define STEP_THREADS 1024u

struct waiting {
	struct triage *t;
	struct base_idmap owners; /* thread to the thread whose lock it waits for */
	struct base_idmap visits; /* thread to the number of the walk that visited it */
	struct base_vec threads;  /* uint32_t: waiting threads */
	uint64_t listed;          /* platform threads with a record */
};

static int read_threads(struct waiting *w, struct hdb_error *err)
{
	struct heap *heap = w->t->q->heap;

	for (uint64_t no = 0; no < heap_thread_count(heap); no++) {
		struct query_thread_state state = { NULL, false };
		struct store_thread thread;
		uint32_t blocker_ix, owner_ix;

		TRY(heap_thread(heap, no, &thread, err));
		if (no % STEP_THREADS == 0)
			TRY(base_step(w->t->q->work, no, err));
		if (thread.ix == STORE_NONE)
			continue;
		TRY_ERRORS(query_thread_state(heap, thread.ix, &state, err));
		w->listed += !state.is_virtual;
		TRY(leak_wait_find(heap, thread.ix, &blocker_ix, &owner_ix, err));
		if (owner_ix == HEAP_NONE)
			continue;
		TRY(base_idmap_put(&w->owners, thread.ix, owner_ix, err));
		TRY(base_vec_push(&w->threads, &thread.ix, sizeof(thread.ix), err));
	}
	return HDB_OK;
}

/* Adds the threads of a cycle to the figure, and names the first of them. */
static int add_circle(struct waiting *w, uint32_t first_ix, struct hdb_error *err)
{
	struct heap *heap = w->t->q->heap;
	struct triage_figure *f = &w->t->figures[TRIAGE_DEADLOCK];
	uint32_t ix = first_ix;

	if (f->ix == HEAP_NONE)
		f->ix = first_ix;
	do {
		const size_t used = strlen(f->detail);
		char name[NAME_MAX_BYTES] = "", lock[NAME_MAX_BYTES];
		uint32_t lock_ix, owner_ix;

		TRY(leak_wait_find(heap, ix, &lock_ix, &owner_ix, err));
		TRY(heap_thread_name(heap, ix, name, sizeof(name), err));
		(void)snprintf(lock, sizeof(lock), "%s", heap_class_name_of(heap, lock_ix));
		if (f->count++ < NAMED_MAX)
			(void)snprintf(f->detail + used, sizeof(f->detail) - used,
				       "%s\"%s\" waits for a %.*s of ", used ? ", " : "", name,
				       (int)strcspn(lock, "$"), lock);
		ix = base_idmap_get(&w->owners, ix);
		assert(ix != BASE_IDMAP_NONE);
		TRY(heap_thread_name(heap, ix, name, sizeof(name), err));
		if (f->count <= NAMED_MAX)
			(void)snprintf(f->detail + strlen(f->detail),
				       sizeof(f->detail) - strlen(f->detail), "\"%s\"", name);
	} while (ix != first_ix);
	return HDB_OK;
}

/*
 * Follows each thread once. A chain that returns to itself is a cycle, and cycles have no thread in
 * common.
 */
static int find_circles(struct waiting *w, struct hdb_error *err)
{
	w->t->figures[TRIAGE_DEADLOCK].has_no_bytes = true;
	for (uint32_t walk = 0; walk < w->threads.count; walk++) {
		uint32_t ix = *base_vec_at(&w->threads, uint32_t, walk);

		while (ix != BASE_IDMAP_NONE && base_idmap_get(&w->visits, ix) == BASE_IDMAP_NONE) {
			TRY(base_idmap_put(&w->visits, ix, walk, err));
			ix = base_idmap_get(&w->owners, ix);
		}
		if (ix != BASE_IDMAP_NONE && base_idmap_get(&w->visits, ix) == walk &&
		    base_idmap_get(&w->owners, ix) != BASE_IDMAP_NONE)
			TRY(add_circle(w, ix, err));
	}
	return HDB_OK;
}

/* Counts the threads that were never started, and subtracts them from the number of threads. */
static int count_new(struct waiting *w, struct hdb_error *err)
{
	struct triage_figure *all = &w->t->figures[TRIAGE_THREADS];
	struct triage_figure *f = &w->t->figures[TRIAGE_NEW_THREADS];
	BASE_SCOPED(base_vec_release) struct base_vec ixs = { 0 };

	if (all->count < w->listed + UNLISTED_LEAST)
		return HDB_OK;
	TRY(analysis_unlisted_threads(&w->t->q->session, &ixs, err));
	for (size_t i = 0; i < ixs.count; i++) {
		const uint32_t ix = *base_vec_at(&ixs, uint32_t, i);
		struct query_thread_state state = { NULL, false };
		bool is_reachable;
		uint64_t bytes;

		TRY_ERRORS(query_thread_state(w->t->q->heap, ix, &state, err));
		TRY(derive_is_reachable(w->t->q->derive, ix, &is_reachable, err));
		if (!is_reachable || !state.name || strcmp(state.name, "NEW") != 0)
			continue;
		TRY(derive_retained(w->t->q->derive, ix, &bytes, err));
		f->ix = f->ix == HEAP_NONE ? ix : f->ix;
		f->count++;
		f->bytes += bytes;
	}
	all->count -= f->count < all->count ? f->count : all->count;
	return HDB_OK;
}

static void release(struct waiting *w)
{
	base_idmap_release(&w->owners);
	base_idmap_release(&w->visits);
	base_vec_release(&w->threads);
}

int triage_take_threads(struct triage *t, struct hdb_error *err)
{
	BASE_SCOPED(release) struct waiting w = { .t = t };
	int r = read_threads(&w, err);

	if (r == HDB_OK)
		r = find_circles(&w, err);
	if (r == HDB_OK)
		r = count_new(&w, err);
	/* If the dump is missing, fields cannot be read. */
	return r == HDB_ECHANGED ? HDB_OK : r;
}
