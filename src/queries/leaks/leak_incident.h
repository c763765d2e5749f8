/*
 * queries/leaks/leak_incident.h - a group of threads as one event: what threads of one name pattern
 * do in one place, and what they wait for.
 */
#ifndef QUERIES_LEAKS_LEAK_INCIDENT_H
#define QUERIES_LEAKS_LEAK_INCIDENT_H

#include "analysis/suspects.h"
#include "query/query.h"

#define LEAK_PATTERN_MAX 256
#define LEAK_FRAME_MAX 1024

/* Threads with the same name pattern, kind and innermost frame of the application. */
struct leak_incident {
	uint64_t count, bytes; /* number of threads, and what they retain */
	bool is_virtual;
	bool is_most; /* they retain at least half of all threads of the suspect */
	char pattern[LEAK_PATTERN_MAX]; /* names, each number as "*"; "" if they have none */
	char frame[LEAK_FRAME_MAX];     /* "a.Job.run(Job.java:7)", "" if unknown */
	const char *state;              /* state of most, as in java.lang.Thread.State; or NULL */
	uint32_t example_ix;            /* one of them */
	/* the object that more than half of them wait for, its owner; HEAP_NONE if unknown */
	uint32_t blocker_ix, owner_ix;
};

/*
 * Finds the threads that retain most in a group of threads. HDB_NOTFOUND if the suspect is no such
 * group. Reads names, states and stacks of at most 10,000 threads.
 */
int leak_incident_find(struct query *q, const struct analysis_suspect *suspect,
		       struct leak_incident *out, struct hdb_error *err);

/*
 * Reads what a thread waits for, and the thread that owns it; HEAP_NONE where the dump does not
 * say.
 */
int leak_wait_find(struct heap *heap, uint32_t thread_ix, uint32_t *blocker_ix, uint32_t *owner_ix,
		   struct hdb_error *err);

#endif
