/*
 * queries/leaks/leak_faults.h - finds faults with the rules of the explain query, regardless of how
 * little memory they retain.
 *
 * A rule with the verdict "leak" is certain (for example, a closed connection pool that a static
 * field still holds), so the leaks query reports its finding as a suspect even below the threshold.
 */
#ifndef QUERIES_LEAKS_LEAK_FAULTS_H
#define QUERIES_LEAKS_LEAK_FAULTS_H

#include "queries/explain/rules.h"
#include "queries/leaks/leak_parts.h"

/* A rule's finding about the largest faulty object, and the number of other faulty objects. */
struct query_leak_fault {
	struct explain_answer answer;
	uint64_t more;
	uint64_t equal;         /* objects with the same text, apart from the owner */
	uint64_t votes;         /* of the majority vote about the owner */
	uint64_t outside_bytes; /* memory outside the heap */
};

/*
 * Appends a struct query_leak_fault for each rule that found a leak, or that found an object
 * without a limit or with a wrong setting which retains at least 1 % of the heap. Sorts the faults
 * by size, largest first.
 */
int query_leak_find_faults(struct query *q, const struct explain_rules *rules,
			   struct base_vec *faults, struct hdb_error *err);

/*
 * Finds what kind of reference on a path keeps a class loader alive, such as "a timer that was not
 * cancelled". Sets *text to NULL if the kind is unknown.
 */
int query_leak_loader_hint(struct query *q, const struct query_leak_path *path, const char **text,
			   struct hdb_error *err);

/*
 * Appends the owner of the faulty object to the rule's text: " Kept by Registry.loaders." Does
 * nothing for verdicts other than leaks, unless the row shows only this text (is_fault). Returns
 * HDB_NOTFOUND if the object is only waiting for its finalizer and will then be freed, so it is not
 * a leak.
 */
int query_leak_add_keeper(struct query *q, struct explain_answer *answer, bool is_fault,
			  struct hdb_error *err);

#endif
