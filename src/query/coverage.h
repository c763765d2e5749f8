/*
 * query/coverage.h - the coverage of an answer: which objects its figures include, and which it
 * omits.
 *
 * A query that counts objects has QUERY_COVERAGE_FACTS as its last facts, and counts reachable
 * objects by default. It either has QUERY_POPULATION_OPTIONS, or explains in spec.one_population
 * why it cannot count other objects. The framework reads the options and sets the fact `counted`.
 *
 * If a minimum, threshold, depth or limit removes rows, query_cut must report them, so that all
 * queries use the same facts. The command shows these facts in every format.
 */
#ifndef QUERY_COVERAGE_H
#define QUERY_COVERAGE_H

#include "query/query.h"

/* Options for queries that can count unreachable objects. */
#define QUERY_POPULATION_OPTIONS(what) \
	{ "unreachable", HDB_OPTION_FLAG, .help = "Show only unreachable " what }, \
	{ \
		"all", HDB_OPTION_FLAG, .help = "Show both reachable and unreachable " what \
	}

/*
 * For the framework: reads --unreachable and --all, if the query has them, into q->population
 * before `open`. Returns HDB_EUSAGE if both are given.
 */
int query_read_population(struct query *q, struct hdb_error *err);

/* Returns whether objects of this kind belong to the answer's population. */
static inline bool query_counts(const struct query *q, bool is_reachable)
{
	return analysis_population_has(q->population, is_reachable);
}

/*
 * Set the facts about unreachable objects: either for the whole heap, from the `whole` table, which
 * is built if needed, or from the given numbers.
 */
void query_report_heap(struct query *q);
/*
 * Reports the unreachable objects of the whole heap from the reach tree and one pass over the
 * objects, without building dominators.
 */
void query_report_unreached(struct query *q);
void query_report_unreachable(struct query *q, uint64_t count, uint64_t bytes);

/*
 * Reports what the rows omit and why, such as "strings that occur fewer than 3 times". Several
 * reports are added up, and their reasons joined with "; ". Reports nothing if all numbers in *cut
 * are 0. If *cut is NULL, the omitted rows were not counted. Numbers for which the spec has no fact
 * are dropped.
 */
void query_cut(struct query *q, const struct analysis_cut *cut, const char *format, ...)
	HDB_PRINTF(3, 4);

/* Sets QUERY_NO_ANDROID_FACT if the dump is not from Android. `what` names the missing data. */
void query_report_no_android(struct query *q, const char *what);

/* For the framework: sets the facts about coverage once the query is open. */
void query_report_coverage(struct query *q);

#endif
