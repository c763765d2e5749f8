/*
 * queries/leaks/leak_stuck.h - finds groups of threads that cannot continue, because they wait for
 * locks held by one thread or for a class that this thread is initializing, because all threads of
 * a pool wait for tasks in its own queue, or because what they wait for cannot come.
 */
#ifndef QUERIES_LEAKS_LEAK_STUCK_H
#define QUERIES_LEAKS_LEAK_STUCK_H

#include "queries/leaks/leak_findings.h"

/*
 * Adds a finding for each such group, but at most three. If an existing suspect is about the same
 * pool, about finalizers, or about threads of which at least half are stuck, the explanation is
 * added to this suspect instead. A finding about the tasks of a pool also states what the pool's
 * threads are doing, and a finding about a queue also states what its consumers are doing. Must be
 * called last.
 */
int leak_stuck_find(struct query *q, struct leak_findings *l, struct hdb_error *err);

#endif
