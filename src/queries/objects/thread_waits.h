/*
 * queries/objects/thread_waits.h - finds the locks that threads are waiting for, the threads that
 * hold them, and deadlocks (cycles of threads that wait for each other).
 */
#ifndef QUERIES_OBJECTS_THREAD_WAITS_H
#define QUERIES_OBJECTS_THREAD_WAITS_H

#include "base/base_text.h"
#include "queries/objects/thread_state.h"

/*
 * A thread, the lock that it is waiting for, and the owner of the lock. HEAP_NONE stands for an
 * unknown lock or owner.
 */
struct query_wait {
	uint32_t thread_ix, lock_ix, owner_ix;
	uint32_t trace_serial; /* its stack, or STORE_NONE */
	struct query_thread_state state;
	bool is_blocked; /* whether the thread is blocked on a monitor */
	bool is_monitor; /* whether lock_ix is the object of that monitor */
};

struct query_waits {
	struct base_vec list;        /* struct query_wait: all threads that have not ended */
	struct base_idmap by_thread; /* from a thread's index to its index in `list` */
	uint64_t platform_threads;   /* number of platform threads with a record */
	uint64_t waiting;            /* number of waiting threads */
};

/* Threads that wait for each other. */
struct query_deadlock {
	uint64_t threads;  /* 0 means no deadlock */
	uint32_t first_ix; /* one of the threads, or HEAP_NONE */
	char text[2048];   /* "left" waits for a ... held by "right", ... */
};

/*
 * Reads the state of a thread, the object on which the thread is parked, and the thread that owns
 * that object. Does not find monitors and stacks.
 */
int query_wait_read(struct heap *heap, uint32_t thread_ix, struct query_wait *out,
		    struct hdb_error *err);

/*
 * Finds the locks that threads with a record are waiting for. The caller must release *out, even
 * after a failure.
 */
int query_waits_find(struct query *q, struct query_waits *out, struct hdb_error *err);

/* Returns NULL if the thread has ended, or has no record. */
const struct query_wait *query_waits_thread(const struct query_waits *waits, uint32_t thread_ix);
/* Also returns NULL if the thread is not waiting, or if the dump does not record the lock. */
const struct query_wait *query_waits_of(const struct query_waits *waits, uint32_t thread_ix);

int query_deadlock_find(struct query *q, const struct query_waits *waits,
			struct query_deadlock *out, struct hdb_error *err);
void query_waits_release(struct query_waits *waits);

#endif
