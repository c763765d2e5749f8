/*
 * query/table_rows.h - queries that give one row for each record of a table, in its order.
 */
#ifndef QUERY_TABLE_ROWS_H
#define QUERY_TABLE_ROWS_H

#include "query/query.h"

/* Where a stream of records is. */
struct query_records {
	enum store_table table;
	uint32_t record_size;
	uint64_t at;
};

/* Opens: no targets; q->state and q->total are set. */
int query_records_open(struct query *q, enum store_table table, uint32_t record_size,
		       struct hdb_error *err);
/* Copies the next record: HDB_OK or HDB_END. */
int query_records_next(struct query *q, void *record, struct hdb_error *err);
void query_records_close(struct query *q);

/* Sets a text column to a text of the dump; null for STORE_NONE. */
void query_set_dump_text(struct query *q, size_t column, uint32_t text_no);

/* Sets a text column to bytes that may not be UTF-8, made so; cut to some hundred bytes. */
void query_set_clean_text(struct query *q, size_t column, const char *text, size_t size);

#endif
