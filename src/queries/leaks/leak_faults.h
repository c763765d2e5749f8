/*
 * queries/leaks/leak_faults.h - faults that rules find, however little they retain.
 */
#ifndef QUERIES_LEAKS_LEAK_FAULTS_H
#define QUERIES_LEAKS_LEAK_FAULTS_H

#include "queries/explain/rules.h"
#include "queries/leaks/leak_parts.h"

/* What a rule says of the largest object that is at fault, and of how many others. */
struct query_leak_fault {
	struct explain_answer answer;
	uint64_t more;
};

/* Appends one for each rule that finds a leak, the largest first. */
int query_leak_find_faults(struct query *q, const struct explain_rules *rules,
			   struct base_vec *faults, struct hdb_error *err);

/*
 * Adds to what a rule says of a leak " Kept by Registry.loaders.": who keeps what should not be
 * there. HDB_NOTFOUND: it only waits for its finalizer, and will go.
 */
int query_leak_add_keeper(struct query *q, struct explain_answer *answer, struct hdb_error *err);

#endif
