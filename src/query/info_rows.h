/*
 * query/info_rows.h - answers that are a list of keys and values: info, sizes and app.
 */
#ifndef QUERY_INFO_ROWS_H
#define QUERY_INFO_ROWS_H

#include "query/query.h"

/* Columns of info and sizes: section, key, value, number, help. */
#define INFO_COLUMNS 5
extern const struct hdb_column info_columns[INFO_COLUMNS];

/*
 * The rows made so far: the state of these queries, or its beginning. Without sections (app) their
 * column is not there, and numbers have no value for people.
 */
struct info_rows {
	const char *section; /* of the rows that are appended; static */
	struct base_vec rows;
};

/* Row and close functions of such a query. */
int info_row(struct query *q, size_t no, struct hdb_error *err);
void info_close(struct query *q);

/* Begins a section: static. After the last, info_end. */
void info_section(struct query *q, const char *section);
void info_end(struct query *q);
/*
 * Appends a row to the section. Help is lent and static; key and value are copied, and made valid
 * UTF-8; NULL is no value. As of cells, the first failure is kept by the query.
 */
void info_text(struct query *q, const char *key, const char *help, const char *value);
/* The same with a number, written with thousands separators. */
void info_number(struct query *q, const char *key, const char *help, uint64_t value);

/* A row for a meta value that is a number (store/FORMAT.md). */
struct info_meta {
	const char *key, *meta, *help;
};

/* Appends the rows; the number is 0 where the meta value is not there. */
void info_meta(struct query *q, const struct info_meta *rows, size_t count);

/* q_sizes.c: of the section "sizes": model, widths, and why. */
int info_sizes(struct query *q, struct hdb_error *err);

#endif
