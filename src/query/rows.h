/*
 * query/rows.h - declarations shared by row_values.c, row_sort.c, filter.c and rows.c. Private to
 * this room; queries use query.h.
 */
#ifndef QUERY_ROWS_H
#define QUERY_ROWS_H

#include "query/query.h"

/* A fact that was set. */
struct query_fact {
	const struct hdb_column *column; /* in spec.facts */
	struct hdb_value value;
	/* the memory to which value.text points; owned; NULL if the value is not text */
	char *text;
};

/*
 * Number of common facts, for which q->common has room; and the function that sets them
 * (common_facts.c).
 */
#define QUERY_COMMON_FACTS 9
int query_add_common_facts(struct query *q, struct hdb_error *err);
/* Set facts about the question: which references count, and which heap's objects. */
void query_report_strength(struct query *q, const char *name);
void query_report_only_heap(struct query *q, const char *name);
/* Sets the fact that explains why there are no rows. Called after the end. */
void query_report_no_rows(struct query *q);

/* Returns the index of a column in the spec, or SIZE_MAX. */
size_t query_find_column(const struct query *q, const char *name);

/* Fails with HDB_EUSAGE for an unknown column, with a list of the known ones. */
int query_fail_column(const struct query *q, const char *name, size_t name_size,
		      struct hdb_error *err);

/* Creates q->filter for the current columns; called after open (filter.c). */
int query_begin_filter(struct query *q, struct hdb_error *err);
/* Tests a complete row, unless `next` has tested it. */
int query_test_row(struct query *q, bool *wanted, struct hdb_error *err);
void query_filter_free(struct query_filter *filter);

/* Makes all cells null. */
void query_clear_cells(struct query *q);

/* Points text cells to their bytes, once the row is complete. */
void query_place_texts(struct query *q);

/* Reverts this, so that more text can be appended. */
void query_unplace_texts(struct query *q);

/* Makes the next row in the query's own order: HDB_OK or HDB_END. */
int query_make(struct query *q, struct hdb_error *err);

/*
 * Makes all rows and keeps them sorted by `column`, or only the first `limit` of them (0: all).
 * Rows with equal values keep their order. HDB_ELIMIT if they do not fit the budget. Sets q->total.
 */
int query_sort(struct query *q, size_t column, bool descending, uint64_t limit,
	       struct hdb_error *err);

/* While rows are sorted: whether to fill in this column before query_sort_test. */
bool query_sort_looks_at(const struct query *q, size_t column);

/*
 * Sets *wanted to whether the current row can be among the first `limit`. If not, it has been
 * counted.
 */
int query_sort_test(struct query *q, bool *wanted, struct hdb_error *err);

/*
 * Builds the table of retained sizes if rows are sorted or tested by that column. Without it, sizes
 * that are expensive to find are null, and their rows would come last or be left out.
 */
int query_need_tested(struct query *q, const char *column, struct hdb_error *err);

/* Copies sorted row `no` to the cells. Returns false after the last. */
bool query_sorted_row(struct query *q, uint64_t no);

/* Accepts NULL. */
void query_sorted_free(struct query_sorted *sorted);

#endif
