/*
 * query/rows.h - shared by row_values.c, row_sort.c, filter.c and rows.c. Private to this
 * directory; queries use query.h.
 */
#ifndef QUERY_ROWS_H
#define QUERY_ROWS_H

#include "query/query.h"

/* A fact and its value. */
struct query_fact {
	const struct hdb_column *column; /* column in spec.facts */
	struct hdb_value value;
	/* memory behind value.text, owned; NULL if the value is not a string */
	char *text;
};

/* Number of common facts, for which q->common has room; common_facts.c sets them. */
#define QUERY_COMMON_FACTS 9
int query_add_common_facts(struct query *q, struct hdb_error *err);
/* Set facts about the question: the reference strength followed, and the only heap included. */
void query_report_strength(struct query *q, const char *name);
void query_report_only_heap(struct query *q, const char *name);
/* Sets the fact that explains why the answer has no rows. Called after the last row. */
void query_report_no_rows(struct query *q);

/* Returns a column's index in the spec, or SIZE_MAX. */
size_t query_find_column(const struct query *q, const char *name);

/* Fails with HDB_EUSAGE for an unknown column. The message lists the known columns. */
int query_fail_column(const struct query *q, const char *name, size_t name_size,
		      struct hdb_error *err);

/* Creates q->filter for the current columns, after `open`. Defined in filter.c. */
int query_begin_filter(struct query *q, struct hdb_error *err);
/* Tests a complete row, unless `next` has already tested it. */
int query_test_row(struct query *q, bool *wanted, struct hdb_error *err);
void query_filter_free(struct query_filter *filter);

/* Makes all cells null. */
void query_clear_cells(struct query *q);

/* Makes text cells point to their bytes, once the row is complete. */
void query_place_texts(struct query *q);

/* Undoes query_place_texts, so that more text can be appended. */
void query_unplace_texts(struct query *q);

/* Reads the next row in the query's own order. Returns HDB_OK or HDB_END. */
int query_make(struct query *q, struct hdb_error *err);

/*
 * Reads all rows and sorts them by `column`, with ties in the original order. Keeps only the first
 * `limit` rows, or all if `limit` is 0. Fails with HDB_ELIMIT if the rows exceed the budget. Sets
 * q->total.
 */
int query_sort(struct query *q, size_t column, bool descending, uint64_t limit,
	       struct hdb_error *err);

/* Returns whether this column must be set before query_sort_test. Only valid while sorting. */
bool query_sort_looks_at(const struct query *q, size_t column);

/*
 * Sets *wanted to whether the current row can be among the first `limit` rows. Otherwise, the row
 * has already been counted.
 */
int query_sort_test(struct query *q, bool *wanted, struct hdb_error *err);

/*
 * Builds the table of retained sizes if rows are sorted or filtered by retained size. Without the
 * table, sizes that are expensive to compute would be null, and their rows would come last or be
 * dropped. Called before `open`, because some queries add up these sizes there.
 */
int query_need_tested(struct query *q, struct hdb_error *err);

/* Copies sorted row `no` to the cells. Returns false if there is no such row. */
bool query_sorted_row(struct query *q, uint64_t no);

/* Accepts NULL. */
void query_sorted_free(struct query_sorted *sorted);

#endif
