/*
 * heapdb/render_table.c - answers for people: facts, an aligned table, and how many rows there are.
 *
 * Rows are laid out a batch at a time; a batch may widen the columns of those after it, so that even
 * a table of millions of rows is printed as it comes, in little memory.
 */
#include "heapdb/cli.h"
#include "heapdb/render.h"

#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A batch ends with so many rows or bytes, whatever is first. */
#define BATCH_ROWS 500
#define BATCH_BYTES (1U << 20)

/* No column is padded further for the sake of one long text. */
#define PAD_MAX 100

/* Texts are not cut below this, even if the line gets longer than the terminal. */
#define CUT_MIN 12

struct cell {
	size_t at;    /* in the batch's bytes */
	size_t size;  /* bytes */
	size_t width; /* columns on a terminal */
};

struct table {
	struct answer *answer;
	const struct render_style *style;
	struct output *out;
	size_t columns;
	size_t *widths;     /* of each column, for padding; owned */
	size_t *cuts;       /* of each column: most columns printed, 0: all; owned */
	struct cell *cells; /* of the batch; owned */
	size_t rows;        /* in the batch */
	struct bytes text;  /* of the batch */
	size_t blanks;      /* due before the next text of the line */
	bool has_heading;   /* it is printed */
};

static bool is_text(const struct table *t, size_t column)
{
	return answer_column(t->answer, column)->type == HDB_TYPE_TEXT;
}

static size_t put_number(struct bytes *out, const char *buf, size_t size)
{
	bytes_add(out, buf, size);
	return size;
}

size_t value_for_people(const struct hdb_value *value, const struct render_style *style,
			struct bytes *out)
{
	char buf[OUTPUT_NUMBER_SIZE];
	int n;

	switch (value->type) {
	case HDB_TYPE_COUNT:
		return put_number(out, buf, format_thousands(buf, value->u, false));
	case HDB_TYPE_BYTES:
		if (style->human)
			return put_number(out, buf, format_human(buf, value->u));
		return put_number(out, buf, format_thousands(buf, value->u, false));
	case HDB_TYPE_ID:
		return put_number(out, buf, format_id(buf, value->u));
	case HDB_TYPE_INT:
		return put_number(out, buf,
				  format_thousands(buf, value->i < 0 ? 0 - (uint64_t)value->i
								     : (uint64_t)value->i,
						   value->i < 0));
	case HDB_TYPE_DOUBLE:
		if (!isfinite(value->d))
			break;
		n = snprintf(buf, sizeof(buf), fabs(value->d) < 1e15 ? "%.2f" : "%g", value->d);
		return put_number(out, buf, n > 0 ? (size_t)n : 0);
	case HDB_TYPE_BOOL:
		return put_number(out, value->u ? "yes" : "no", value->u ? 3 : 2);
	case HDB_TYPE_TEXT:
		return escape_text(out, value->text, value->text_size);
	case HDB_TYPE_NULL:
		break;
	}
	return put_number(out, "-", 1);
}

static void put_facts(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct bytes text = { 0 };

	for (size_t i = 0; i < answer_fact_count(answer); i++) {
		const struct hdb_column *fact = answer_fact_column(answer, i);
		const struct hdb_value *value = answer_fact_value(answer, i);

		if (value->type == HDB_TYPE_NULL)
			continue;
		text.size = 0;
		value_for_people(value, style, &text);
		output_string(out, column_title(fact));
		output_string(out, ": ");
		output_bytes(out, text.data, text.size);
		output_char(out, '\n');
	}
	output_release(out, &text);
}

static const char *ellipsis(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? "\xe2\x80\xa6" : "~";
}

/* Prints text after the blanks that are due; a line never ends in blanks. */
static void put_aligned(struct table *t, const char *text, size_t size)
{
	if (size == 0)
		return;
	output_blanks(t->out, t->blanks);
	t->blanks = 0;
	output_bytes(t->out, text, size);
}

/* The cell, cut to its column's limit, right-aligned for numbers; the last column ends the line. */
static void put_cell(struct table *t, size_t column, const char *text, size_t size, size_t width)
{
	const size_t cut = t->cuts[column], pad = t->widths[column];
	bool is_cut = false;

	if (cut > 0 && width > cut) {
		size = escape_fit(text, size, cut - 1, &width);
		width++;
		is_cut = true;
	}
	if (!is_text(t, column) && width < pad)
		t->blanks += pad - width;
	put_aligned(t, text, size);
	if (is_cut)
		put_aligned(t, ellipsis(), strlen(ellipsis()));
	if (is_text(t, column) && width < pad)
		t->blanks += pad - width;
	t->blanks += 2;
	if (column + 1 == t->columns) {
		output_char(t->out, '\n');
		t->blanks = 0;
	}
}

/* Widens the columns to what the batch needs, then cuts the widest texts until a line fits. */
static void lay_out(struct table *t)
{
	size_t line = 2 * (t->columns - 1);

	for (size_t i = 0; i < t->columns; i++) {
		const size_t title = strlen(column_title(answer_column(t->answer, i)));

		if (t->widths[i] < title)
			t->widths[i] = title;
		for (size_t row = 0; row < t->rows; row++) {
			const size_t width = t->cells[row * t->columns + i].width;

			if (t->widths[i] < width)
				t->widths[i] = width;
		}
		if (t->style->width == 0 && t->widths[i] > PAD_MAX)
			t->widths[i] = PAD_MAX;
		line += t->widths[i];
	}
	while (t->style->width > 0 && line > t->style->width) {
		const size_t over = line - t->style->width;
		size_t widest = t->columns, second = CUT_MIN, less;

		for (size_t i = 0; i < t->columns; i++) {
			if (is_text(t, i) && (widest == t->columns || t->widths[i] > t->widths[widest]))
				widest = i;
		}
		if (widest == t->columns || t->widths[widest] <= CUT_MIN)
			break;
		for (size_t i = 0; i < t->columns; i++) {
			if (i != widest && is_text(t, i) && t->widths[i] > second)
				second = t->widths[i];
		}
		/* down to the second widest, or by one where they are alike */
		less = t->widths[widest] > second ? t->widths[widest] - second : 1;
		less = less < over ? less : over;
		t->widths[widest] -= less;
		t->cuts[widest] = t->widths[widest];
		line -= less;
	}
}

/* Where no column has a heading, there is no line of them. */
static void put_heading(struct table *t)
{
	size_t letters = 0;

	t->has_heading = true;
	for (size_t i = 0; i < t->columns; i++)
		letters += strlen(column_title(answer_column(t->answer, i)));
	for (size_t i = 0; i < t->columns && letters > 0; i++) {
		const char *title = column_title(answer_column(t->answer, i));

		put_cell(t, i, title, strlen(title), strlen(title));
	}
}

static void put_batch(struct table *t)
{
	lay_out(t);
	if (!t->has_heading)
		put_heading(t);
	for (size_t i = 0; i < t->rows * t->columns; i++) {
		const struct cell *cell = &t->cells[i];

		put_cell(t, i % t->columns, t->text.data + cell->at, cell->size, cell->width);
	}
	t->rows = 0;
	t->text.size = 0;
}

static int put_rows(struct table *t)
{
	int rc;

	while ((rc = answer_next(t->answer, t->out)) == HDB_OK) {
		for (size_t i = 0; i < t->columns; i++) {
			struct cell *cell = &t->cells[t->rows * t->columns + i];

			cell->at = t->text.size;
			cell->width = value_for_people(answer_value(t->answer, i), t->style, &t->text);
			cell->size = t->text.size - cell->at;
		}
		if (t->text.failed)
			return cli_fail(t->answer->err, HDB_ENOMEM, "no memory for a table");
		t->rows++;
		if (t->rows == BATCH_ROWS || t->text.size >= BATCH_BYTES)
			put_batch(t);
	}
	if (t->rows > 0)
		put_batch(t);
	return rc == HDB_END ? HDB_OK : rc;
}

static int put_footer(struct table *t)
{
	char have[OUTPUT_NUMBER_SIZE], all[OUTPUT_NUMBER_SIZE];
	const uint64_t count = t->answer->row_count;
	uint64_t total;
	int have_size, all_size;
	int rc = answer_total(t->answer, &total);

	if (rc < 0)
		return rc;
	if (count == 0 && total == 0)
		output_string(t->out, "no rows\n");
	if (count >= total)
		return HDB_OK;
	have_size = (int)format_thousands(have, count, false);
	all_size = (int)format_thousands(all, total, false);
	output_format(t->out, "%.*s of %.*s rows\n", have_size, have, all_size, all);
	return HDB_OK;
}

int render_table(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct table t = {
		.answer = answer,
		.style = style,
		.out = out,
		.columns = answer_column_count(answer),
	};
	int rc;

	put_facts(answer, style, out);
	if (t.columns == 0)
		return HDB_OK;
	if (answer_fact_count(answer) > 0)
		output_char(out, '\n');
	t.widths = calloc(t.columns, sizeof(t.widths[0]));
	t.cuts = calloc(t.columns, sizeof(t.cuts[0]));
	t.cells = calloc(t.columns * BATCH_ROWS, sizeof(t.cells[0]));
	if (t.widths && t.cuts && t.cells) {
		rc = put_rows(&t);
		if (rc == HDB_OK)
			rc = put_footer(&t);
	} else {
		rc = cli_fail(answer->err, HDB_ENOMEM, "no memory for a table");
	}
	free(t.widths);
	free(t.cuts);
	free(t.cells);
	output_release(out, &t.text);
	return rc;
}
