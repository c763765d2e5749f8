/* query/table_rows.c - functions for queries that return one row per record of a table. */
#include "query/table_rows.h"

#include "heap/heap_database.h"
#include "heap/values/text.h"

#include <assert.h>

int query_record(struct query *q, size_t no, void *record, struct hdb_error *err)
{
	const enum store_table table = q->def->rows_of;
	const int r = heap_record(q->heap, table, no, record, err);

	assert(table);
	return r > 0 ? heap_damaged(q->heap, table, no, "record missing", err) : r;
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
