/*
 * queries/queries.h - the list of all queries, and how one is found.
 */
#ifndef QUERIES_QUERIES_H
#define QUERIES_QUERIES_H

#include "query/query.h"

/* The table of queries. */
const struct query_def *const *query_registry(size_t *count);
/* By name or alias; NULL: there is none. */
const struct query_def *query_find(const char *name);
/* What users see of it, for any thread; static. */
const struct hdb_query_spec *query_specs(size_t *count);
const struct hdb_query_spec *query_spec_named(const char *name);
/*
 * The field of a spec that every query has and this one has not ("options"), or NULL. Builds with
 * asserts end with its name before the first look at the table.
 */
const char *query_missing_field(const struct hdb_query_spec *spec);
/* HDB_EUSAGE for a name that no query has, with those that there are. */
int query_fail_unknown(const char *name, struct hdb_error *err);

/*
 * All queries in the order of the manual; those of a group follow each other. X(name) is query_name
 * of a file q_*.c.
 */
#define QUERIES(X) \
	/* leaks */ \
	X(overview) \
	X(leaks) \
	X(leak_traces) \
	X(triage) \
	X(explain) \
	X(path) \
	X(paths) \
	X(immediate_dominators) \
	X(reference_leaks) \
	/* sizes */ \
	X(retained) \
	X(histogram) \
	X(top) \
	X(consumers) \
	X(dominators) \
	X(dominator_tree) \
	X(drops) \
	/* objects */ \
	X(object) \
	X(instances) \
	X(references) \
	X(referrers) \
	X(roots) \
	X(entries) \
	X(direct_buffers) \
	X(strings) \
	X(group) \
	/* waste */ \
	X(duplicates) \
	X(substrings) \
	X(arrays) \
	X(collections) \
	X(reference_stats) \
	X(finalizers) \
	X(native) \
	X(bitmaps) \
	X(unreachable) \
	/* threads */ \
	X(threads) \
	/* classes */ \
	X(class) \
	X(layout) \
	X(loaders) \
	X(duplicate_classes) \
	/* compare */ \
	X(diff) \
	/* database */ \
	X(info) \
	X(app) \
	X(check) \
	X(objects) \
	X(sizes) \
	X(properties) \
	X(problems) \
	X(dangling) \
	X(records) \
	X(tables) \
	X(alloc_sites) \
	X(object_sites) \
	X(call_tree) \
	X(cpu_samples) \
	X(heap_summaries)

#define X(name) extern const struct query_def query_##name;
QUERIES(X)
#undef X

#endif
