/* query/info_rows.c - builds answers that are lists of keys and values. */
#include "query/info_rows.h"

#include "base/base_text.h"
#include "heap/heap_database.h"
#include "heap/values/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SECTION, KEY, VALUE, NUMBER, HELP };

struct row {
	const char *section, *help;
	char *key, *value; /* owned */
	uint64_t number;
	bool is_number;
};

void info_section(struct query *q, const char *section)
{
	((struct info_rows *)q->state)->section = section;
}

void info_end(struct query *q)
{
	q->total = ((struct info_rows *)q->state)->rows.count;
}

static void add_row(struct query *q, struct row row, const char *key, const char *value)
{
	struct info_rows *info = q->state;
	struct hdb_error why;
	int r;

	assert(key);
	row.section = info->section;
	row.key = heap_clean_copy(key, &(size_t){ strlen(key) });
	row.value = value ? heap_clean_copy(value, &(size_t){ strlen(value) }) : NULL;
	r = row.key && !row.value == !value ? base_vec_push(&info->rows, &row, sizeof(row), &why) :
					      hdb_fail_memory(&why, "a value", strlen(key));
	if (r == HDB_OK)
		return;
	free(row.key);
	free(row.value);
	query_fail(q, r, &why);
}

void info_text(struct query *q, const char *key, const char *help, const char *value)
{
	add_row(q, (struct row){ .help = help }, key, value);
}

void info_number(struct query *q, const char *key, const char *help, uint64_t value)
{
	const struct info_rows *info = q->state;

	add_row(q, (struct row){ .help = help, .number = value, .is_number = true }, key,
		info->section ? base_number(value).text : NULL);
}

void info_meta(struct query *q, const struct info_meta *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		info_number(q, rows[i].key, rows[i].help,
			    heap_meta_number(q->heap, rows[i].meta, 0));
}

int info_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct info_rows *info = q->state;
	const struct row *row = base_vec_at(&info->rows, struct row, no);
	const unsigned shift = row->section ? 0 : KEY;

	(void)err;
	if (row->section)
		query_lend_text(q, SECTION, row->section);
	/* The key and the value are copied, because they come from the dump or the system. */
	query_set_text(q, KEY - shift, row->key);
	if (row->value)
		query_set_text(q, VALUE - shift, row->value);
	if (row->is_number)
		query_set(q, NUMBER - shift, row->number);
	query_lend_text(q, HELP - shift, row->help);
	return HDB_OK;
}

void info_close(struct query *q)
{
	struct info_rows *info = q->state;

	for (size_t i = 0; i < info->rows.count; i++) {
		free(base_vec_at(&info->rows, struct row, i)->key);
		free(base_vec_at(&info->rows, struct row, i)->value);
	}
	base_vec_release(&info->rows);
}
