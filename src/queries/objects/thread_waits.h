/*
 * queries/objects/thread_waits.h - locks for which threads wait, the threads that hold these locks,
 * and cycles of threads that wait for each other (deadlocks).
 */
#ifndef QUERIES_OBJECTS_THREAD_WAITS_H
#define QUERIES_OBJECTS_THREAD_WAITS_H

#include "base/base_text.h"
#include "query/query.h"

/* The lock for which a thread waits, and its owner. HEAP_NONE if the dump does not record them. */
struct query_wait {
	uint32_t thread_ix, lock_ix, owner_ix;
	bool is_monitor; /* whether the thread is blocked at the monitor of lock_ix */
};

struct query_waits {
	struct base_vec list;        /* struct query_wait */
	struct base_idmap by_thread; /* index of the thread to its place in `list` */
	uint64_t platform_threads;   /* number of platform threads with a record */
};

/* Threads that wait for each other. */
struct query_deadlock {
	uint64_t threads;  /* 0 means no deadlock */
	uint32_t first_ix; /* one of the threads, or HEAP_NONE */
	char text[2048];   /* "left" waits for a ... held by "right", ... */
};

/*
 * Reads the object on which a thread is parked, and the thread that owns this object. Sets both to
 * HEAP_NONE if the dump does not record them.
 */
int query_park_find(struct heap *heap, uint32_t thread_ix, uint32_t *lock_ix, uint32_t *owner_ix,
		    struct hdb_error *err);

/*
 * Finds the locks for which the threads with a record wait. The caller must release *out, even
 * after a failure.
 */
int query_waits_find(struct query *q, struct query_waits *out, struct hdb_error *err);

/* Returns NULL if the thread is not waiting, or if the dump does not record the lock. */
const struct query_wait *query_waits_of(const struct query_waits *waits, uint32_t thread_ix);

int query_deadlock_find(struct query *q, const struct query_waits *waits,
			struct query_deadlock *out, struct hdb_error *err);
void query_waits_release(struct query_waits *waits);

#endif
