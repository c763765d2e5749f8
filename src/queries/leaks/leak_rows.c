/* queries/leaks/leak_rows.c - stores the rows of the leaks query and sets its cells from them. */
#include "queries/leaks/leak_rows.h"

#include "analysis/groups.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum size of a string. The longest are sentences with several class names. */
#define TEXT_MAX_BYTES 8192

struct leak_row leak_row_of(const struct leak_rows *rows, enum leak_kind kind)
{
	struct leak_row row = { .kind = kind, .ix = HEAP_NONE, .class_no = HEAP_NONE };

	memset(row.cells, 0xff, sizeof(row.cells));
	row.cells[LEAK_SUSPECT] = rows->part;
	return row;
}

int leak_rows_add(struct leak_rows *rows, const struct leak_row *row, struct hdb_error *err)
{
	return base_vec_push(&rows->rows, row, sizeof(*row), err);
}

int leak_rows_text(struct leak_rows *rows, struct leak_row *row, unsigned column,
		   struct hdb_error *err, const char *format, ...)
{
	char buf[TEXT_MAX_BYTES];
	bool is_cut;
	size_t size;
	va_list args;

	assert(column < LEAK_COLUMN_COUNT);
	va_start(args, format);
	is_cut = vsnprintf(buf, sizeof(buf), format, args) >= (int)sizeof(buf);
	va_end(args);
	size = strlen(buf);
	/* Do not truncate within a UTF-8 character. */
	while (is_cut && size && ((uint8_t)buf[size - 1] & 0xc0) == 0x80)
		size--;
	if (is_cut && size && (uint8_t)buf[size - 1] >= 0xc0)
		size--;
	buf[size] = '\0';
	row->cells[column] = size ? rows->texts.count : LEAK_NONE;
	return size ? base_bytes_append(&rows->texts, buf, size + 1, err) : HDB_OK;
}

const char *leak_rows_text_of(const struct leak_rows *rows, const struct leak_row *row,
			      unsigned column)
{
	const uint64_t place = row->cells[column];

	assert(place == LEAK_NONE || place < rows->texts.count);
	return place == LEAK_NONE ? "" : (const char *)rows->texts.data + place;
}

/* Sets the cells about the object or class, unless the row already has a label. */
static void set_object(struct query *q, const struct leak_row *row)
{
	const bool has_label = row->cells[LEAK_LABEL] != LEAK_NONE;

	if (row->ix != HEAP_NONE) {
		query_set_id(q, LEAK_ID, row->ix);
		query_set_class_of(q, LEAK_CLASS, row->ix);
		if (!has_label)
			query_set_label(q, LEAK_LABEL, row->ix);
	}
	if (row->class_no != HEAP_NONE) {
		const char *name = heap_class_name(q->heap, row->class_no);

		query_lend_text(q, LEAK_CLASS, name);
		if (row->ix == HEAP_NONE && !has_label)
			query_lend_text(q, LEAK_LABEL, name);
	}
}

void leak_rows_set(struct query *q, const struct leak_rows *rows, size_t no, uint64_t whole)
{
	static const char *const kinds[] = {
		[LEAK_ROW_SUSPECT] = "suspect",
		[LEAK_ROW_POINT] = "point",
		[LEAK_ROW_PATH] = "path",
		[LEAK_ROW_GAP] = "gap",
		[LEAK_ROW_MEMBER] = "member",
		[LEAK_ROW_CHILD] = "child",
		[LEAK_ROW_EXPLANATION] = "explanation",
		[LEAK_ROW_ADVICE] = "advice",
		[LEAK_ROW_ELEMENT] = "element",
		[LEAK_ROW_CONTENT] = "content",
		[LEAK_ROW_THREAD] = "thread",
		[LEAK_ROW_FRAME] = "frame",
		[LEAK_ROW_LOCAL] = "local",
		[LEAK_ROW_COMMON] = "common",
		[LEAK_ROW_LEAKING] = "leaking",
		[LEAK_ROW_TRACE] = "trace",
		[LEAK_ROW_LIBRARY] = "library",
		[LEAK_ROW_UNREACHABLE] = "unreachable",
	};
	const struct leak_row *row = leak_rows_at(rows, no);
	const uint64_t retained = row->cells[LEAK_RETAINED], shallow = row->cells[LEAK_SHALLOW];

	query_lend_text(q, LEAK_KIND, kinds[row->kind]);
	set_object(q, row);
	for (unsigned i = 0; i < LEAK_COLUMN_COUNT; i++) {
		if (row->cells[i] == LEAK_NONE)
			continue;
		if (query_spec_column(q, i)->type == HDB_TYPE_TEXT)
			query_set_text(q, i, leak_rows_text_of(rows, row, i));
		else
			query_set(q, i, row->cells[i]);
	}
	if (retained != LEAK_NONE || shallow != LEAK_NONE)
		query_set_double(
			q, LEAK_PERCENT,
			analysis_percent(retained != LEAK_NONE ? retained : shallow, whole));
}

void leak_rows_release(struct leak_rows *rows)
{
	base_vec_release(&rows->rows);
	base_vec_release(&rows->texts);
	free(rows->instances);
	*rows = (struct leak_rows){ 0 };
}
