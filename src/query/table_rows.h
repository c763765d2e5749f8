/*
 * query/table_rows.h - functions for queries that return one row per record of a table, in the
 * order of the table.
 */
#ifndef QUERY_TABLE_ROWS_H
#define QUERY_TABLE_ROWS_H

#include "query/query.h"

/* Copies record `no` of the definition's table (`rows_of`). */
int query_record(struct query *q, size_t no, void *record, struct hdb_error *err);

/* Sets a text column to a string of the dump, or to null if the number is STORE_NONE. */
void query_set_dump_text(struct query *q, size_t column, uint32_t text_no);

/*
 * Sets a text column to a string that may be invalid UTF-8. Replaces invalid bytes, and truncates
 * the string to a few hundred bytes.
 */
void query_set_clean_text(struct query *q, size_t column, const char *text, size_t size);

#endif
