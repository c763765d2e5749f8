/* query/info_rows.h - answers that are lists of keys and values: info, sizes and app. */
#ifndef QUERY_INFO_ROWS_H
#define QUERY_INFO_ROWS_H

#include "query/query.h"

/*
 * The rows built so far: the state of these queries, or its first member. The query `app` has no
 * sections, so it lacks the section column, and its numbers have no formatted value.
 */
struct info_rows {
	const char *section;  /* section of the next rows; static */
	struct base_vec rows; /* struct row (info_rows.c) */
};

/* The `row` and `close` functions for queries that use these rows. */
int info_row(struct query *q, size_t no, struct hdb_error *err);
void info_close(struct query *q);

/* Starts a section, whose name must be static. Call info_end after the last row. */
void info_section(struct query *q, const char *section);
void info_end(struct query *q);
/*
 * Appends a row. `help` must be static. Key and value are copied and converted to valid UTF-8; a
 * NULL value leaves the cell empty. The query keeps the first failure, as with cells.
 */
void info_text(struct query *q, const char *key, const char *help, const char *value);
/* Appends a row whose value is a number, formatted with thousands separators. */
void info_number(struct query *q, const char *key, const char *help, uint64_t value);

/* A row with a number from the database's meta values (store/FORMAT.md). */
struct info_meta {
	const char *key, *meta, *help;
};

/* Appends these rows. A missing meta value counts as 0. */
void info_meta(struct query *q, const struct info_meta *rows, size_t count);

/*
 * Appends the section "sizes": the size model, the widths, and the evidence for them (q_sizes.c).
 */
int info_sizes(struct query *q, struct hdb_error *err);

#endif
