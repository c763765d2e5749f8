/*
 * queries/leaks/leak_faults.h - faults found by rules of query explain, however little memory they
 * retain.
 *
 * A rule with the verdict "leak" is certain (a closed connection pool that a static field still
 * holds), so query leaks reports its finding as a suspect even below the threshold.
 */
#ifndef QUERIES_LEAKS_LEAK_FAULTS_H
#define QUERIES_LEAKS_LEAK_FAULTS_H

#include "queries/explain/rules.h"
#include "queries/leaks/leak_parts.h"

/* What a rule says about the largest faulty object, and how many others it found. */
struct query_leak_fault {
	struct explain_answer answer;
	uint64_t more;
};

/*
 * Appends a struct query_leak_fault for each rule that found a leak, or something without a limit
 * or with a wrong setting that retains 1 % of the heap, the largest first.
 */
int query_leak_find_faults(struct query *q, const struct explain_rules *rules,
			   struct base_vec *faults, struct hdb_error *err);

/*
 * Appends to what a rule says who keeps the faulty object: " Kept by Registry.loaders." Does
 * nothing for rules with other verdicts. Returns HDB_NOTFOUND if the object only waits for its
 * finalizer: then it will be freed and is no leak.
 */
int query_leak_add_keeper(struct query *q, struct explain_answer *answer, struct hdb_error *err);

#endif
