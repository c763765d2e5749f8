/*
 * queries/leaks/leak_incident.h - describes a group of threads as one incident: threads with
 * similar names in the same place, what they are doing, and what they are waiting for.
 */
#ifndef QUERIES_LEAKS_LEAK_INCIDENT_H
#define QUERIES_LEAKS_LEAK_INCIDENT_H

#include "analysis/suspects.h"
#include "base/base_text.h"
#include "query/query.h"

#define LEAK_PATTERN_MAX 256
#define LEAK_FRAME_MAX 1024

/* Threads with the same name pattern, the same kind, and the same innermost application frame. */
struct leak_incident {
	uint64_t count, bytes; /* number of threads, and total size that they retain */
	bool is_virtual;
	/*
	 * whether these threads retain at least half of the memory that all threads of the suspect
	 * retain
	 */
	bool is_most;
	/*
	 * pattern of the names, with "*" for each number, or "" if the names have nothing in common
	 */
	char pattern[LEAK_PATTERN_MAX];
	char frame[LEAK_FRAME_MAX]; /* "a.Job.run(Job.java:7)", "" if unknown */
	/* slow call that threads in the state RUNNABLE are in, such as "socket read", or "" */
	char call[LEAK_FRAME_MAX];
	/* most frequent state, as in java.lang.Thread.State, or NULL if unknown */
	const char *state;
	uint32_t example_ix; /* one of the threads */
	/*
	 * the object for which more than half of the threads are waiting, and the owner of that
	 * object; HEAP_NONE if unknown
	 */
	uint32_t blocker_ix, owner_ix;
	uint64_t blocked; /* number of threads that are waiting for the object; 0 if unknown */
	/*
	 * whether the threads are blocked on the monitor of blocker_ix, and the owner holds this
	 * monitor
	 */
	bool is_monitor;
};

/*
 * Finds the incident that retains the most in a group of threads, from the names, states and stacks
 * of at most 10,000 threads. Returns HDB_NOTFOUND if the suspect is not a group of threads.
 */
int leak_incident_find(struct query *q, const struct analysis_suspect *suspect,
		       struct leak_incident *out, struct hdb_error *err);

/*
 * Names the Condition that a thread awaits, such as "a.Warehouse.notFull". The name is that of the
 * field that refers to the Condition, in an object to which a local variable refers. Writes "" if
 * there is no such field.
 */
int leak_condition_name(struct query *q, uint32_t thread_ix, uint32_t condition_ix,
			struct base_text to, struct hdb_error *err);

#endif
