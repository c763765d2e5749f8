/*
 * queries/database/checks.h - the checks of the check query, which verify that tables agree with
 * each other.
 */
#ifndef QUERIES_DATABASE_CHECKS_H
#define QUERIES_DATABASE_CHECKS_H

#include "query/query.h"

#include <stdio.h>

/* Maximum number of checks, including checks for each strength of references. */
#define CHECKS_MAX 96
/* Maximum number of tables that a check needs. */
#define CHECK_NEEDS_MAX 2
/* Maximum number of bytes in a check's name, with the terminator. */
#define CHECK_NAME_SIZE 64
/* Maximum number of bytes in a check's result, with the terminator. */
#define CHECK_DETAIL_SIZE HDB_ERROR_SIZE

/* The result of a check. */
struct query_check_found {
	bool ok;
	char detail[CHECK_DETAIL_SIZE];
};

/* A check. */
struct query_check_step {
	const char *name; /* static */
	/* derived tables that the check requires; ends with 0 */
	enum store_table needs[CHECK_NEEDS_MAX];
	/*
	 * Sets found->ok, which is true initially, and describes the result in found->detail.
	 * HDB_ECORRUPT also means that the check failed. Other failures mean that the check could
	 * not be performed.
	 */
	int (*run)(struct query *q, struct query_check_found *found, struct hdb_error *err);
	/*
	 * whether the check is repeated for the tables of each strength of references, if they
	 * exist
	 */
	bool is_by_strength;
};

/* For use by `run`: record a failure, or an expected result. The text is a printf format. */
#define FAIL(found, ...) \
	((found)->ok = false, (void)snprintf((found)->detail, CHECK_DETAIL_SIZE, __VA_ARGS__))

#define SAY(found, ...) ((void)snprintf((found)->detail, CHECK_DETAIL_SIZE, __VA_ARGS__))

/* Checks the `class.counts` table, which some databases lack (checks_counts.c). */
int query_check_class_counts(struct query *q, struct query_check_found *found,
			     struct hdb_error *err);

/* checks_edges.c */
int query_check_references(struct query *q, struct query_check_found *found, struct hdb_error *err);
int query_check_referrers(struct query *q, struct query_check_found *found, struct hdb_error *err);
int query_check_reach(struct query *q, struct query_check_found *found, struct hdb_error *err);

/* checks_tree.c */
/* Reads the dominators of all objects. */
int query_check_load_dominators(struct query *q, uint32_t *idom, struct hdb_error *err);
/* Checks that reach and dominators agree about which objects are reachable. */
int query_check_agreement(struct query *q, struct query_check_found *found, struct hdb_error *err);
int query_check_children(struct query *q, struct query_check_found *found, struct hdb_error *err);
int query_check_top_level(struct query *q, struct query_check_found *found, struct hdb_error *err);

/* checks_sums.c */
int query_check_retained(struct query *q, struct query_check_found *found, struct hdb_error *err);
int query_check_native(struct query *q, struct query_check_found *found, struct hdb_error *err);
int query_check_retained_native(struct query *q, struct query_check_found *found,
				struct hdb_error *err);
int query_check_retained_heaps(struct query *q, struct query_check_found *found,
			       struct hdb_error *err);
int query_check_depth(struct query *q, struct query_check_found *found, struct hdb_error *err);
int query_check_totals(struct query *q, struct query_check_found *found, struct hdb_error *err);
int query_check_whole(struct query *q, struct query_check_found *found, struct hdb_error *err);

/* Returns a static array of all checks in the order in which they run. */
const struct query_check_step *query_check_steps(size_t *count);

#endif
