/* query/table_rows.h - for queries with one row for each record of a table, in its order. */
#ifndef QUERY_TABLE_ROWS_H
#define QUERY_TABLE_ROWS_H

#include "query/query.h"

/* Copies record `no` of the definition's table (`rows_of`). */
int query_record(struct query *q, size_t no, void *record, struct hdb_error *err);

/* Sets a text column to a string of the dump; null for STORE_NONE. */
void query_set_dump_text(struct query *q, size_t column, uint32_t text_no);

/*
 * Sets a text column to bytes that may not be UTF-8, replacing invalid ones. Truncated to a few
 * hundred bytes.
 */
void query_set_clean_text(struct query *q, size_t column, const char *text, size_t size);

#endif
