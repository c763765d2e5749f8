/*
 * query/conditions.h - the --fail-if option: conditions under which heapdb exits with a failure,
 * for builds that monitor heap size.
 *
 * condition  measure OP number
 * measure    count(TARGET) | shallow(TARGET) | retained(TARGET) | suspects() | leaks() | secrets()
 *            growth(count(TARGET)) | growth(shallow(TARGET)) | growth(retained(TARGET))
 * TARGET     class, pattern, loader:CLASS, loader:ID or object ID, as for `query retained`
 * OP         > >= < <= == !=
 * number     a decimal number, optionally followed by K, M, G or T (powers of 1,024; "iB" or
 *            "B" may follow), or by %: relative to the oldest dump for growth, otherwise to
 *            the newest dump's whole heap
 *
 * A condition is an expression (base/expression.h) of exactly this form.
 *
 * Measures refer to the newest dump; growth is the change from the oldest dump to the newest. Only
 * reachable objects count, and retained sizes are exact. A class that a dump does not contain has
 * no objects there. If no dump contains it, the fact "unknown" says so, because the name may be
 * misspelled.
 */
#ifndef QUERY_CONDITIONS_H
#define QUERY_CONDITIONS_H

#include "query/query.h"

/* A measure without a target, provided by a query: "suspects", "leaks" or "secrets". */
struct query_measure {
	const char *name;
	int (*count)(struct query *q, uint64_t *count, struct hdb_error *err);
};

/*
 * Evaluates all --fail-if conditions, and sets the facts "failed", "unknown", "conditions" and, for
 * a single condition, "measured" and "reference". `sides` are the dumps, oldest first. `own` may be
 * NULL. Returns HDB_EUSAGE for an invalid condition before computing anything.
 */
int query_judge(struct query *q, const struct session *sides, size_t side_count,
		const struct query_measure *own, struct hdb_error *err);

/* Checks only the syntax, to report an invalid condition before a long computation. */
int query_check_conditions(const struct query *q, size_t side_count,
			   const struct query_measure *own, struct hdb_error *err);

#endif
