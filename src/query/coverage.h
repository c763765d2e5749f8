/*
 * query/coverage.h - what an answer covers: which objects its figures are of, and what it leaves
 * out.
 *
 * Every query that counts objects has QUERY_COVERAGE_FACTS at the end of its facts, and sets its
 * population in its definition: the reachable objects, unless the user asks for others. It has
 * QUERY_POPULATION_OPTIONS, or says in spec.one_population why it cannot count others; the
 * framework reads the options and sets the fact `counted`. What a minimum, a
 * threshold, a depth or a limit of heapdb keeps out of the rows goes through query_cut, so that it
 * is said in the same facts everywhere; the command says them in every format.
 */
#ifndef QUERY_COVERAGE_H
#define QUERY_COVERAGE_H

#include "query/query.h"

/* Of queries that only dumps of Android programs have answers to. */
#define QUERY_NO_ANDROID_FACT \
	{ \
		"note", HDB_TYPE_TEXT, "note", \
			"given if the dump is not of an Android program: what that means for the rows" \
	}

/* The options of queries that can count others than the reachable ones. */
#define QUERY_POPULATION_OPTIONS(what) \
	{ "unreachable", HDB_OPTION_FLAG, \
	  .help = what " that no root reaches, instead of those that one does" }, \
	{ \
		"all", HDB_OPTION_FLAG, \
			.help = "both: " what " whether a root reaches them or not" \
	}

/* spec.one_population of those that have none. */
#define QUERY_RETAINS_ONLY \
	"it counts reachable objects alone: what is unreachable has no dominator and retains nothing"
#define QUERY_REACHES_ONLY "it counts reachable objects alone: it follows references from GC roots"

/* The facts, for the end of a spec. */
#define QUERY_COVERAGE_FACTS \
	{ "counted", HDB_TYPE_TEXT, "counted", \
	  "which objects count: \"reachable\", \"unreachable\" or " \
	  "\"all objects, reachable or not\"; what the dump lacks counts nowhere" }, \
		{ "unreachable_objects", HDB_TYPE_COUNT, "unreachable objects", \
		  "objects that no root reaches, of " \
		  "the whole heap or of those that were asked for" }, \
		{ "unreachable_shallow", HDB_TYPE_BYTES, "unreachable bytes", "their bytes" }, \
		{ "cut", HDB_TYPE_TEXT, "left out", \
		  "given if the rows leave something out: what, and why" }, \
		{ "cut_rows", HDB_TYPE_COUNT, "rows left out", "how many rows that would be" }, \
		{ "cut_objects", HDB_TYPE_COUNT, "objects left out", \
		  "objects that they would show" }, \
	{ \
		"cut_bytes", HDB_TYPE_BYTES, "bytes left out", "bytes of these" \
	}

/* For queries that count no objects, but cut. */
#define QUERY_CUT_FACTS \
	{ "cut", HDB_TYPE_TEXT, "left out", \
	  "given if the rows leave something out: what, and why" }, \
	{ \
		"cut_rows", HDB_TYPE_COUNT, "rows left out", "how many rows that would be" \
	}

/*
 * Before `open`: reads --unreachable and --all into q->population, where the query has them.
 * HDB_EUSAGE for both. For the framework.
 */
int query_read_population(struct query *q, struct hdb_error *err);

static inline bool query_counts(const struct query *q, bool is_reachable)
{
	return analysis_population_has(q->population, is_reachable);
}

/*
 * Sets the facts of unreachable objects: of the whole heap (builds the table whole), or as they
 * were counted.
 */
void query_tell_heap(struct query *q);
/*
 * The same of the whole heap where the reach tree does, so that no dominators are built: one pass
 * over the objects.
 */
void query_tell_unreached(struct query *q);
void query_tell_unreachable(struct query *q, uint64_t count, uint64_t bytes);

/*
 * Says what is left out of the rows, and why: "texts that are there less than 3 times". Several are
 * added up, their reasons have "; " between them. Nothing is said if all that is counted is 0;
 * NULL: it is said, and not counted. A spec without the facts for objects and bytes has them in no
 * fact.
 */
void query_cut(struct query *q, const struct analysis_cut *cut, const char *format, ...)
	HDB_PRINTF(3, 4);

/* Sets the fact QUERY_NO_ANDROID_FACT, if it holds; `what` says what the rows lack therefore. */
void query_tell_no_android(struct query *q, const char *what);

/* Sets the facts of what was said, once the query is open. For the framework. */
void query_tell_coverage(struct query *q);

#endif
