/*
 * queries/database/checks.h - the checks of q_check.c: that tables agree with one another.
 */
#ifndef QUERIES_DATABASE_CHECKS_H
#define QUERIES_DATABASE_CHECKS_H

#include "query/query.h"

#include <stdio.h>

/* Checks that there is room for: those of each strength of references, too. */
#define CHECKS_MAX 96
/* Tables that one check may need. */
#define CHECK_NEEDS_MAX 2
/* Bytes of a check's name, its end included. */
#define CHECK_NAME_SIZE 64
/* Bytes of what a check says, its end included. */
#define CHECK_DETAIL_SIZE HDB_ERROR_SIZE

/* What a check found. */
struct query_check_found {
	bool ok;
	char detail[CHECK_DETAIL_SIZE];
};

struct query_check_step {
	const char *name;                        /* static */
	enum store_table needs[CHECK_NEEDS_MAX]; /* tables that need not be there, ended by 0 */
	/*
	 * Sets found->ok, true before, and says in found->detail what it saw. HDB_ECORRUPT is as
	 * good as not ok; other failures mean that it could not be done.
	 */
	int (*run)(struct query *q, struct query_check_found *found, struct hdb_error *err);
	/* Also of the tables where references count only up to some strength, where they are. */
	bool is_by_strength;
};

/* For `run`: what it found is wrong, or is as it should be. The text is printf's. */
#define FAIL(found, ...) \
	((found)->ok = false, (void)snprintf((found)->detail, CHECK_DETAIL_SIZE, __VA_ARGS__))

#define SAY(found, ...) ((void)snprintf((found)->detail, CHECK_DETAIL_SIZE, __VA_ARGS__))

/* checks_counts.c: the one of the table class.counts, which some databases lack. */
int query_check_class_counts(struct query *q, struct query_check_found *found,
			     struct hdb_error *err);

/* checks_edges.c */
int query_check_references(struct query *q, struct query_check_found *found, struct hdb_error *err);
int query_check_referrers(struct query *q, struct query_check_found *found, struct hdb_error *err);
int query_check_reach(struct query *q, struct query_check_found *found, struct hdb_error *err);

/* checks_tree.c */
/* The dominators of all objects, into idom. */
int query_check_load_dominators(struct query *q, uint32_t *idom, struct hdb_error *err);
/* That the tables of reach and of dominators say the same of who is reachable. */
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

/* All of them, in the order in which they run. Static. */
const struct query_check_step *query_check_steps(size_t *count);

#endif
