/*
 * query/rows.h - what row_values.c, row_sort.c and rows.c share. Private to the room: queries use
 * query.h.
 */
#ifndef QUERY_ROWS_H
#define QUERY_ROWS_H

#include "query/query.h"

struct query_fact {
	const struct hdb_column *column; /* in spec.facts */
	struct hdb_value value;
	char *text; /* what value.text points to; owned; NULL: no text */
};

/* common_facts.c: sets q->common, which has room for so many. */
#define QUERY_COMMON_FACTS 9
int query_add_common_facts(struct query *q, struct hdb_error *err);
/* The same facts of one question: which references count, and which heap's objects. */
void query_tell_strength(struct query *q, const char *name);
void query_tell_only_heap(struct query *q, const char *name);
/* After the last row, where there was none: why. */
void query_tell_no_rows(struct query *q);

/* Number of a column in the spec, or SIZE_MAX. */
size_t query_find_column(const struct query *q, const char *name);

/* The HDB_EUSAGE for a column that is not there, with a list of those that are. */
int query_fail_column(const struct query *q, const char *name, size_t name_size,
		      struct hdb_error *err);

/* filter.c: q->filter, with the columns as they are now; after open. */
int query_begin_filter(struct query *q, struct hdb_error *err);
/* What is tested of a whole row; *wanted is true if `next` has tested it. */
int query_test_row(struct query *q, bool *wanted, struct hdb_error *err);
void query_filter_free(struct query_filter *filter);

/* Makes all cells null. */
void query_clear_cells(struct query *q);

/* Points text cells at their bytes, once the row is whole. */
void query_place_texts(struct query *q);

/* Undoes it: more texts may follow. */
void query_unplace_texts(struct query *q);

/* Makes the next row in the query's own order, in the cells: HDB_OK or HDB_END. */
int query_make(struct query *q, struct hdb_error *err);

/*
 * Makes all rows and keeps them by `column`, or the best `limit` of them (0: all). Ties stay in
 * their order. HDB_ELIMIT if they do not fit the budget. q->total is known then.
 */
int query_sort(struct query *q, size_t column, bool descending, uint64_t limit,
	       struct hdb_error *err);

/* While rows are sorted: whether this column is best filled before query_sort_test. */
bool query_sort_looks_at(const struct query *q, size_t column);

/* *wanted: whether the row that is made may be among the best; if not, it has been counted. */
int query_sort_test(struct query *q, bool *wanted, struct hdb_error *err);

/*
 * Builds the table of retained sizes if rows are sorted or tested by that column: without it sizes
 * that are not cheap are null, which would come last or be left out.
 */
int query_need_tested(struct query *q, const char *column, struct hdb_error *err);

/* Puts sorted row `no` into the cells; false past the last. */
bool query_sorted_row(struct query *q, uint64_t no);

/* Frees; NULL is fine. */
void query_sorted_free(struct query_sorted *sorted);

#endif
