/*
 * queries/leaks/leak_stuck.h - finds groups of threads that cannot continue: they wait for locks of
 * one thread, or all threads of a pool wait for tasks in the queue of the same pool.
 */
#ifndef QUERIES_LEAKS_LEAK_STUCK_H
#define QUERIES_LEAKS_LEAK_STUCK_H

#include "queries/leaks/leak_findings.h"

/*
 * Adds a finding for each such group, but at most three. If at least half of a suspect's threads,
 * all threads of a pool, or the thread that runs finalizers are stuck, the suspect about these
 * threads, the pool or finalizers states this instead. If the tasks of a pool are a finding, also
 * states what the threads of the pool do, and for a queue what its consumers do. Must be called
 * last.
 */
int leak_stuck_find(struct query *q, struct leak_findings *l, struct hdb_error *err);

#endif
