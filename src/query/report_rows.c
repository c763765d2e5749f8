/*
 * query/report_rows.c - rows of several kinds, kept and given.
 */
#include "query/report_rows.h"

#include "analysis/groups.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Longest text of a row: a sentence with a few names of classes in it. */
#define TEXT_MAX_BYTES 8192

struct query_report_row query_report_row(const struct query_report *report, const char *kind)
{
	assert(kind);
	return (struct query_report_row){
		.kind = kind,
		.part = report->part,
		.step = REPORT_NONE,
		.ix = HEAP_NONE,
		.class_no = HEAP_NONE,
		.count = REPORT_NONE,
		.shallow_bytes = REPORT_NONE,
		.retained_bytes = REPORT_NONE,
	};
}

int query_report_add(struct query_report *report, const struct query_report_row *row,
		     struct hdb_error *err)
{
	return base_vec_push(&report->rows, row, sizeof(*row), err);
}

int query_report_text(struct query_report *report, size_t *place, struct hdb_error *err,
		      const char *format, ...)
{
	char buf[TEXT_MAX_BYTES];
	bool is_cut;
	size_t size;
	va_list args;

	va_start(args, format);
	is_cut = vsnprintf(buf, sizeof(buf), format, args) >= (int)sizeof(buf);
	va_end(args);
	size = strlen(buf);
	/* Not within a character. */
	while (is_cut && size && ((uint8_t)buf[size - 1] & 0xc0) == 0x80)
		size--;
	if (is_cut && size && (uint8_t)buf[size - 1] >= 0xc0)
		size--;
	buf[size] = '\0';
	*place = report->texts.count + 1;
	TRY_ERRORS(base_bytes_append(&report->texts, buf, size + 1, err));
	return HDB_OK;
}

const char *query_report_text_at(const struct query_report *report, size_t place)
{
	assert(place <= report->texts.count);
	return place ? (const char *)report->texts.data + place - 1 : "";
}

static void set_object(struct query *q, const struct query_report_row *row,
		       const struct query_report_columns *c)
{
	const char *name;

	if (row->ix != HEAP_NONE) {
		query_set_id(q, c->id, row->ix);
		query_set_class_of(q, c->class, row->ix);
		if (!row->label)
			query_set_label(q, c->label, row->ix);
	}
	if (row->class_no != HEAP_NONE) {
		name = heap_class_name(q->heap, row->class_no);
		query_lend_text(q, c->class, name);
		if (row->ix == HEAP_NONE && !row->label)
			query_lend_text(q, c->label, name);
	}
}

static void set_texts(struct query *q, const struct query_report *report,
		      const struct query_report_row *row, const struct query_report_columns *c)
{
	const struct {
		size_t place, column;
	} texts[] = {
		{ row->label, c->label },
		{ row->holds, c->holds },
		{ row->text, c->text },
		{ row->signature, c->signature },
		{ row->signature_shape, c->signature_shape },
		{ row->signature_text, c->signature_text },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].place)
			query_set_text(q, texts[i].column,
				       query_report_text_at(report, texts[i].place));
}

void query_report_set(struct query *q, const struct query_report *report, size_t no,
		      const struct query_report_columns *c, uint64_t whole)
{
	const struct query_report_row *row =
		base_vec_at(&report->rows, struct query_report_row, no);

	query_set_text(q, c->kind, row->kind);
	set_object(q, row, c);
	set_texts(q, report, row, c);
	if (row->part != REPORT_NONE)
		query_set(q, c->part, row->part);
	if (row->step != REPORT_NONE)
		query_set(q, c->step, row->step);
	if (row->count != REPORT_NONE)
		query_set(q, c->count, row->count);
	if (row->shallow_bytes != REPORT_NONE)
		query_set(q, c->shallow, row->shallow_bytes);
	if (row->retained_bytes != REPORT_NONE) {
		query_set(q, c->retained, row->retained_bytes);
		query_set_double(q, c->percent, analysis_percent(row->retained_bytes, whole));
	} else if (row->shallow_bytes != REPORT_NONE) {
		query_set_double(q, c->percent, analysis_percent(row->shallow_bytes, whole));
	}
}

void query_report_release(struct query_report *report)
{
	base_vec_release(&report->rows);
	base_vec_release(&report->texts);
	*report = (struct query_report){ 0 };
}
