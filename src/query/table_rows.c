/*
 * query/table_rows.c - queries that give one row for each record of a table.
 */
#include "query/table_rows.h"

#include "heap/heap_database.h"
#include "heap/values/text.h"

#include <assert.h>
#include <stdlib.h>

int query_records_open(struct query *q, enum store_table table, uint32_t record_size,
		       struct hdb_error *err)
{
	struct query_records *records = calloc(1, sizeof(*records));

	assert(record_size > 0);
	q->state = records;
	if (!records)
		return hdb_fail_memory(err, "records", sizeof(*records));
	records->table = table;
	records->record_size = record_size;
	q->total = heap_record_count(q->heap, table);
	return HDB_OK;
}

int query_records_next(struct query *q, void *record, struct hdb_error *err)
{
	struct query_records *records = q->state;
	int r;

	assert(records->record_size > 0);
	if (records->at == q->total)
		return HDB_END;
	r = heap_record(q->heap, records->table, records->at, record, err);
	if (r == HDB_NOTFOUND)
		return heap_damaged(q->heap, records->table, records->at, "record missing", err);
	records->at++;
	return r;
}

void query_records_close(struct query *q)
{
	free(q->state);
}

void query_set_dump_text(struct query *q, size_t column, uint32_t text_no)
{
	struct hdb_error why;
	char text[1024];
	int r;

	if (text_no == STORE_NONE)
		return;
	if ((r = heap_text(q->heap, text_no, text, sizeof(text), &why)) < 0)
		query_fail(q, r, &why);
	else
		query_set_text(q, column, text);
}

void query_set_clean_text(struct query *q, size_t column, const char *text, size_t size)
{
	char clean[1024];

	query_set_text_n(q, column, clean, heap_clean_text(text, size, clean, sizeof(clean)));
}
