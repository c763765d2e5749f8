/*
 * query/info_rows.c - lists of keys and values.
 */
#include "query/info_rows.h"

#include "base/base_text.h"
#include "heap/heap_database.h"
#include "heap/values/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SECTION, KEY, VALUE, NUMBER, HELP };

const struct hdb_column info_columns[INFO_COLUMNS] = {
	{ "section", HDB_TYPE_TEXT, "",
	  "dump, vm, database, sizes, classes, objects, roots or tables" },
	{ "key", HDB_TYPE_TEXT, "", "what it is about" },
	{ "value", HDB_TYPE_TEXT, "", "for people" },
	{ "number", HDB_TYPE_COUNT, "", "the same as a number, if it is one" },
	{ "help", HDB_TYPE_TEXT, "", "what it means" },
};

struct row {
	const char *section, *help;
	char *key, *value; /* owned */
	uint64_t number;
	bool is_number;
};

static int add_row(struct info_rows *info, const struct row *row, const char *key,
		   const char *value, struct hdb_error *err)
{
	struct row copy = *row;
	int r;

	assert(key);
	copy.key = heap_clean_copy(key, &(size_t){ strlen(key) });
	copy.value = heap_clean_copy(value, &(size_t){ strlen(value) });
	r = copy.key && copy.value ? base_vec_push(&info->rows, &copy, sizeof(copy), err) :
				     hdb_fail_memory(err, "a value", strlen(key) + strlen(value));
	if (r < 0) {
		free(copy.key);
		free(copy.value);
	}
	return r;
}

int info_text(struct info_rows *info, const char *key, const char *help, const char *value,
	      struct hdb_error *err)
{
	const struct row row = { .section = info->section, .help = help };

	assert(key && value);
	return add_row(info, &row, key, value, err);
}

int info_number(struct info_rows *info, const char *key, const char *help, uint64_t value,
		struct hdb_error *err)
{
	const struct row row = {
		.section = info->section,
		.help = help,
		.number = value,
		.is_number = true,
	};

	return add_row(info, &row, key, base_number(value).text, err);
}

int info_meta(struct query *q, struct info_rows *info, const struct info_meta *rows, size_t count,
	      struct hdb_error *err)
{
	for (size_t i = 0; i < count; i++)
		TRY(info_number(info, rows[i].key, rows[i].help,
				heap_meta_number(q->heap, rows[i].meta, 0), err));
	return HDB_OK;
}

int info_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct info_rows *info = q->state;
	const struct row *row = base_vec_at(&info->rows, struct row, no);

	(void)err;
	query_lend_text(q, SECTION, row->section);
	/* These are the dump's and the system's words. */
	query_set_text(q, KEY, row->key);
	query_set_text(q, VALUE, row->value);
	if (row->is_number)
		query_set(q, NUMBER, row->number);
	query_lend_text(q, HELP, row->help);
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
