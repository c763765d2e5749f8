/*
 * query/coverage.h - the coverage of an answer: the objects to which its figures refer, and the
 * objects that it omits.
 *
 * Each query that counts objects has QUERY_COVERAGE_FACTS at the end of its facts, and counts
 * reachable objects unless the user requests others. Either it has QUERY_POPULATION_OPTIONS, or
 * spec.one_population explains why it cannot count other objects. The framework reads the options
 * and sets the fact `counted`.
 *
 * If rows are removed because of a minimum, threshold, depth or limit, query_cut must report them,
 * so that they appear in the same facts everywhere. The command shows these facts in every format.
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
 * Reads --unreachable and --all into q->population before `open`, if the query has these options.
 * Returns HDB_EUSAGE if both are given. For the framework.
 */
int query_read_population(struct query *q, struct hdb_error *err);

/* Returns whether objects of this kind belong to the answer's population. */
static inline bool query_counts(const struct query *q, bool is_reachable)
{
	return analysis_population_has(q->population, is_reachable);
}

/*
 * Set the facts about unreachable objects, either for the whole heap from the `whole` table, which
 * is built if needed, or with the given numbers.
 */
void query_report_heap(struct query *q);
/*
 * Reports the unreachable objects of the whole heap, using the reach tree and one pass over the
 * objects, so that dominators need not be built.
 */
void query_report_unreached(struct query *q);
void query_report_unreachable(struct query *q, uint64_t count, uint64_t bytes);

/*
 * Reports which data is omitted from the rows, and why: "strings that occur fewer than 3 times".
 * Several reports are added up, and their reasons are joined with "; ". Reports nothing if all
 * numbers in *cut are 0. A NULL cut means that rows were omitted but not counted. If the spec has
 * no facts for objects and bytes, these numbers are not reported.
 */
void query_cut(struct query *q, const struct analysis_cut *cut, const char *format, ...)
	HDB_PRINTF(3, 4);

/*
 * Sets QUERY_NO_ANDROID_FACT if the dump is not from Android. `what` names the data that the rows
 * lack.
 */
void query_report_no_android(struct query *q, const char *what);

/* Sets the facts about the coverage reported so far. For the framework, once the query is open. */
void query_report_coverage(struct query *q);

#endif
