/*
 * queries/leaks/leak_stuck_private.h - declarations shared by the files that explain threads: the
 * groups of leak_stuck.c, and descriptions of what the threads of a group are doing.
 */
#ifndef QUERIES_LEAKS_LEAK_STUCK_PRIVATE_H
#define QUERIES_LEAKS_LEAK_STUCK_PRIVATE_H

#include "queries/leaks/leak_findings.h"
#include "queries/objects/thread_waits.h"

/* Maximum number of frames of a stack to examine. */
#define FRAMES_MAX 24u
/* Maximum number of threads of a group, evenly spaced, whose names and frames are compared. */
#define PLACES_MAX 1000u
/*
 * Minimum number of waiting threads for a finding, in general and if the owner of the lock is in a
 * slow call.
 */
#define CROWD_LEAST 10u
#define CROWD_LEAST_OF_SLOW 3u
/* Number of threads, tasks or roots between two checks for cancellation. */
#define STEP 1024u

/* Kinds of groups, in the order in which they are reported. */
enum stuck_kind {
	CROWD_LOCK,
	CROWD_CLASS,
	CROWD_READ_LOCK,
	CROWD_PERMITS,
	CROWD_CONDITION,
	CROWD_POOL
};

/* A thread of a group. It may also be in the group of its pool. */
struct stuck_thread {
	/*
	 * the owner of the lock, the thread that initializes the class, the Sync of the semaphore
	 * or read lock, the condition, or the pool
	 */
	uint32_t key_ix;
	uint32_t initializer; /* in `initializers`, for CROWD_CLASS, otherwise 0 */
	enum stuck_kind kind;
	const struct query_wait *wait;
};

/*
 * A group of threads that wait for locks of one thread, for a class that one thread initializes, or
 * for permits of one semaphore, or for one condition, or that belong to one pool.
 */
struct stuck_group {
	const struct stuck_thread *members;
	enum stuck_kind kind;
	uint64_t count;
	const char *rule;   /* in leak_findings.rules, if it does not follow from the kind */
	bool has_finalizer; /* whether the finalizer thread waits for the lock */
	bool is_abandoned;  /* whether the task that took the lock has ended */
};

/* What a semaphore, lock or condition belongs to. */
struct stuck_owner {
	uint32_t lock_ix; /* the semaphore, lock, queue or barrier, or HEAP_NONE */
	uint32_t ix;      /* the object of the application that holds it, or HEAP_NONE */
	/* the field of the application that holds it, after a space; "" if unknown */
	char name[LEAK_NAME_MAX_BYTES];
};

/* The location of one or more threads: their frame, and the call that they are in. */
struct stuck_place {
	char name[LEAK_PATTERN_MAX]; /* name of the thread, or pattern of several names */
	char frame[LEAK_FRAME_MAX];  /* innermost application frame; "" if unknown or different */
	/* field of the application with the lock that was not released, after a space; "" if unknown */
	char field[LEAK_NAME_MAX_BYTES];
	char call[LEAK_FRAME_MAX]; /* slow call, such as "socket read"; "" if there is none */
	bool is_idle;              /* whether a thread waits for work */
	bool is_waiting;           /* whether the call waits for another thread */
	bool is_pattern;           /* whether the names of all threads have this pattern */
};

struct stuck {
	struct query *q;
	struct leak_findings *l;
	unsigned added; /* number of findings */
	/* number of tasks that may still be examined, and number of roots */
	unsigned tasks_max, roots_max;
	struct query_waits waits;
	struct base_vec members;      /* struct stuck_thread, sorted by group */
	struct base_vec crowds;       /* struct stuck_group */
	struct base_vec initializers; /* of leak_initializers.c */
	/*
	 * maps a future for which a thread of a pool waits to the pool that queues the future, or
	 * to AWAITED
	 */
	struct base_idmap futures;
};

/* ---- leak_places.c ---- */

/* Finds the location of a thread, without its call. */
int leak_find_place(struct heap *heap, uint32_t ix, uint32_t trace_serial, struct stuck_place *out,
		    struct hdb_error *err);

/* Finds the slow call that a thread is in. */
int leak_find_call(struct heap *heap, uint32_t trace_serial, struct stuck_place *to,
		   struct hdb_error *err);

/*
 * Finds the common location of all threads of a group and, if has_call is set, the call that they
 * are all in.
 */
int leak_describe(const struct query *q, const struct stuck_group *c, bool has_call,
		  struct stuck_place *out, struct hdb_error *err);

/*
 * Finds the location of the thread that holds the locks. If it waits for another thread, this wait
 * is its call.
 */
int leak_find_owner(struct stuck *s, uint32_t ix, struct stuck_place *out, struct hdb_error *err);

/* Appends " in PriceCache.refresh(PriceCache.java:21)" and " (socket read)". */
void leak_add_place(const struct stuck_place *place, struct bytes *to);

/*
 * Appends a description of what the threads of a finding are doing to the finding. `only` is the
 * word for a single thread.
 */
void leak_add_doing(const struct stuck_group *c, const struct stuck_place *place, const char *only,
		    struct leak_finding *f);

/* ---- other files ---- */

/*
 * Adds a finding, or replaces the explanation of a suspect about the same object. A fault stays a
 * separate finding, because `leaks` counts it. `threads` are the threads to look at.
 */
int leak_add_stuck(struct stuck *s, const struct stuck_group *c, struct bytes *says,
		   const char *threads, struct hdb_error *err);

/*
 * Finds the object of a class (a name or pattern) that refers to a Sync or condition, and the field
 * of the application that holds that object.
 */
int leak_name_lock(struct stuck *s, uint32_t sync_ix, const char *class_name,
		   struct stuck_owner *out, struct hdb_error *err);
/*
 * Sets *out to whether no thread outside the group is in a method that a thread of the group is in,
 * as far as stacks show.
 */
int leak_are_lost(struct stuck *s, const struct stuck_group *c, bool *out, struct hdb_error *err);

/*
 * Reports a pool whose threads all wait for elements of an empty queue that is not their own, while
 * tasks are queued. Sets *out to whether it is one.
 */
int leak_report_borrowers(struct stuck *s, const struct stuck_group *c, bool *out,
			  struct hdb_error *err);
/* Reports a ForkJoinPool with many tasks whose threads are all in the same slow call. */
int leak_report_fork_join(struct stuck *s, const struct stuck_group *c, struct hdb_error *err);
/* Reports threads that wait for the last threads at a CyclicBarrier, which cannot come. */
int leak_report_barrier(struct stuck *s, const struct stuck_group *c, struct hdb_error *err);

/* Adds the threads that wait until a class is initialized to `members`. */
int leak_find_initializers(struct stuck *s, struct hdb_error *err);
int leak_report_class(struct stuck *s, const struct stuck_group *c, struct hdb_error *err);

/*
 * If all consumers of a queue are doing the same thing, appends what they are doing to the finding
 * about the queue.
 */
int leak_report_consumers(struct stuck *s, struct leak_finding *f, struct hdb_error *err);

/*
 * Explains a group of threads in which each thread waits for work from its own object, such as an
 * event loop. The objects have the same class, which belongs to the application, because libraries
 * may have many threads by design. If the objects share a queue or pool, the program chose their
 * number.
 */
int leak_report_singles(struct stuck *s, struct leak_finding *f, struct hdb_error *err);

#endif
