/*
 * queries/queries.h - the list of all queries, and how to find one. Includes the headers that
 * nearly every query needs.
 */
#ifndef QUERIES_QUERIES_H
#define QUERIES_QUERIES_H

#include "analysis/describe.h"
#include "analysis/groups.h"
#include "base/sort.h"
#include "query/common_options.h"
#include "query/coverage.h"
#include "query/object_cells.h"
#include "query/object_columns.h"
#include "query/owned.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the table of queries. */
const struct query_def *const *query_registry(size_t *count);
/* Finds a query by name or alias, or returns NULL. */
const struct query_def *query_find(const char *name);
/* Returns a static array with the public specs of all queries. Thread-safe. */
const struct hdb_query_spec *query_specs(size_t *count);
const struct hdb_query_spec *query_spec_named(const char *name);
/*
 * Returns the first required field ("spec.options") that the definition lacks, or NULL. Builds with
 * assertions stop with that name when the table is first used.
 */
const char *query_missing_field(const struct query_def *def);
/* Fails with HDB_EUSAGE for an unknown query. The message lists the known queries. */
int query_fail_unknown(const char *name, struct hdb_error *err);

/* All queries in the order of the manual, by group. X(name) is query_name in a file q_*.c. */
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
	X(secrets) \
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
