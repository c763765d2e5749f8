/*
 * query/checks.h - the checks of q_check.c: that tables agree with one another.
 */
#ifndef QUERY_CHECKS_H
#define QUERY_CHECKS_H

#include "query/query.h"

#define CHECKS_MAX 16
#define CHECK_NEEDS_MAX 2
#define CHECK_DETAIL_SIZE HDB_ERROR_SIZE

struct query_check_step {
	const char *name;
	enum store_table needs[CHECK_NEEDS_MAX]; /* tables that need not be there, ended by 0 */
	/*
	 * Sets *ok and writes what was found to `detail`, CHECK_DETAIL_SIZE bytes. HDB_ECORRUPT is
	 * as good as not ok; other failures mean that it could not be done.
	 */
	int (*run)(struct query *q, bool *ok, char *detail, struct hdb_error *err);
};

/* checks_counts.c: the one of the table class.counts, which older databases lack. */
int query_check_class_counts(struct query *q, bool *ok, char *detail, struct hdb_error *err);

/* All of them, in the order in which they run. Static. */
const struct query_check_step *query_check_steps(size_t *count);

#endif
