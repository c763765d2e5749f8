/*
 * queries/database/q_tables.c - the tables query: the tables of the database, their sizes, and
 * which derived tables exist.
 */
#include "heap/heap_database.h"
#include "queries/queries.h"

#include <queries/database/q_tables.query.h>

static int open_tables(struct query *q, struct hdb_error *err)
{
	(void)err;
	query_fact(q, "database_bytes", heap_file_bytes(q->heap));
	q->total = 0;
	for (unsigned t = STORE_META + 1; t < STORE_TABLE_END; t++)
		q->total += store_table_name(t) != NULL;
	query_fact(q, "objects", q->heap->object_count);
	return HDB_OK;
}

/* Returns the number of the n-th table. */
static unsigned nth_table(uint64_t n)
{
	unsigned t = STORE_META + 1;

	for (; t < STORE_TABLE_END; t++)
		if (store_table_name(t) && n-- == 0)
			break;
	return t;
}

static int table_row(struct query *q, size_t no, struct hdb_error *err)
{
	const unsigned t = nth_table(no);
	const char *name = store_table_name(t);
	struct store_table_info info;
	int r;

	TRY_ERRORS(r = heap_table_info(q->heap, (enum store_table)t, &info, err));
	query_lend_text(q, NAME, name);
	query_lend_text(q, KIND, t >= STORE_REFERRERS ? "derived" : "base");
	query_set(q, PRESENT, r == HDB_OK);
	if (r != HDB_OK)
		return HDB_OK;
	/* The revision of a stored answer differs between versions of the library. */
	if (t < STORE_ANSWERS)
		query_set(q, REVISION, info.revision);
	query_set(q, BLOCKS, info.block_count);
	query_set(q, ITEMS, info.item_count);
	query_set(q, BYTES, info.file_bytes);
	if (q->heap->object_count)
		query_set_double(q, BYTES_PER_OBJECT,
				 (double)info.file_bytes / (double)q->heap->object_count);
	return HDB_OK;
}

QUERY_DEFINE(tables, .open = open_tables, .row = table_row);
