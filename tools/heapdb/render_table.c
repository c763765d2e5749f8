/*
 * heapdb/render_table.c - answers for people: facts, an aligned table, and how many rows there are.
 *
 * Rows are laid out a batch at a time; a batch may widen the columns of those after it, so that
 * even a table of millions of rows is printed as it comes, in little memory.
 *
 * A line that is wider than the terminal loses the packages of its class names, the widest column
 * first; then texts are cut to CUT_FIRST columns; then columns go, of a comparison those of the
 * older dump, then the last first down to the retained size, and are named below the table; then
 * texts are cut to CUT_MIN, the first one, which names the row, after all others; at last more
 * columns go, the retained size after all others. Numbers are never cut. Of paths and frames the
 * end is kept, too, which is what they differ by, and what is before it is cut.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"
#include "heapdb/render.h"
#include "common/shorten.h"

#include <assert.h>
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

/* Texts are cut to this before columns go, so that they can still be distinguished ... */
#define CUT_FIRST 28
/* ... and never below this, even if the line gets longer than the terminal. */
#define CUT_MIN 12

/* What a table keeps of a column. */
struct column {
	size_t width; /* for padding */
	size_t cut;   /* most columns of the terminal printed, 0: all */
	bool is_text;
	bool is_value;  /* a text of the heap */
	bool is_short;  /* class names lose their packages */
	bool is_hidden; /* there is no room for it */
	bool is_twin;   /* it says a value again, for programs */
	bool stays;     /* it is never hidden */
	bool is_before; /* what it was in the older dump: the growth says it, too */
	/* it, and what stands before it, is hidden only where texts cannot be cut further */
	bool matters;
};

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
	size_t last;            /* the last column that is shown */
	struct column *column;  /* owned */
	struct cell *cells;     /* of the batch; owned */
	size_t rows;            /* in the batch */
	struct bytes text;      /* of the batch */
	struct bytes shortened; /* of the cell that is printed */
	size_t blanks;          /* due before the next text of the line */
	const char *line_end;
	bool has_heading; /* it is printed */
	bool is_cut;      /* a text was: it lacks packages, or its end */
};

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
		return put_number(
			out, buf,
			format_thousands(buf,
					 value->i < 0 ? 0 - (uint64_t)value->i : (uint64_t)value->i,
					 value->i < 0));
	case HDB_TYPE_DOUBLE:
		return put_number(out, buf, format_real(buf, value->d));
	case HDB_TYPE_PERCENT:
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
		size_t width;

		if (value->type == HDB_TYPE_NULL)
			continue;
		text.size = 0;
		width = value_for_people(value, style, &text) + strlen(column_title(fact)) + 2;
		output_string(out, column_title(fact));
		output_string(out, ": ");
		if (value->type == HDB_TYPE_TEXT && style->width > 0 && width > style->width) {
			prose_wrap(out, style,
				   (struct prose_place){ 2, strlen(column_title(fact)) + 2 },
				   value->text, value->text_size);
			continue;
		}
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

/* Whether the end of a text says more than its middle: a path "a > b", a frame "a.b(C.java:12)". */
static bool ends_well(const char *text, size_t size)
{
	for (size_t i = 0; i + 3 <= size; i++)
		if (memcmp(text + i, " > ", 3) == 0)
			return true;
	return size > 0 && text[size - 1] == ')' && memchr(text, '(', size) &&
	       memchr(text, ':', size);
}

/*
 * Prints the beginning of a text and, where that says more, its end; `room` columns are left for
 * both. Returns how many are taken.
 */
static size_t put_cut(struct table *t, const char *text, size_t size, size_t width, size_t room)
{
	const size_t head = ends_well(text, size) ? room / 3 : room;
	size_t taken, skipped = 0, from = size;
	const size_t first = escape_fit(text, size, head, &taken);

	assert(room < width);
	assert(taken <= room);
	assert(first <= size);
	/* The least that must go for the rest to fit. */
	for (size_t gone = width - (room - taken); head < room && gone < width; gone++) {
		from = escape_fit(text, size, gone, &skipped);
		if (width - skipped <= room - taken)
			break;
		from = size;
	}
	put_aligned(t, text, first);
	put_aligned(t, ellipsis(), strlen(ellipsis()));
	put_aligned(t, text + from, size - from);
	return taken + (from < size ? width - skipped : 0);
}

/* The cell, cut to its column's limit, right-aligned for numbers; the last column ends the line. */
static void put_cell(struct table *t, size_t no, const char *text, size_t size, size_t width)
{
	const struct column *column = &t->column[no];

	assert(no < t->columns);
	if (column->is_hidden)
		return;
	if (!column->is_text && width < column->width)
		t->blanks += column->width - width;
	if (column->cut > 0 && width > column->cut) {
		width = put_cut(t, text, size, width, column->cut - 1) + 1;
		t->is_cut = true;
	} else {
		put_aligned(t, text, size);
	}
	if (column->is_text && width < column->width)
		t->blanks += column->width - width;
	t->blanks += 2;
	if (no == t->last) {
		output_string(t->out, t->line_end);
		t->blanks = 0;
	}
}

/* ---- making a line fit ---- */

/* Width of the column's widest cell in the batch, as it is printed. */
static size_t widest_cell(struct table *t, size_t no)
{
	size_t widest = 0;

	for (size_t row = 0; row < t->rows; row++) {
		const struct cell *cell = &t->cells[row * t->columns + no];
		size_t width = cell->width;

		if (t->column[no].is_short) {
			t->shortened.size = 0;
			width -= shorten_names(&t->shortened, t->text.data + cell->at, cell->size);
		}
		if (width > widest)
			widest = width;
	}
	return widest;
}

static size_t line_width(const struct table *t)
{
	size_t width = 0;

	for (size_t i = 0; i < t->columns; i++)
		width += t->column[i].is_hidden ? 0 : t->column[i].width + 2;
	return width ? width - 2 : 0;
}

/*
 * The widest text from column `from` on that is shown and wider than `least`, of those whose names
 * can still be shortened if asked for.
 */
static struct column *widest_text(struct table *t, size_t from, size_t least, bool is_long)
{
	struct column *widest = NULL;

	for (size_t i = from; i < t->columns; i++) {
		struct column *c = &t->column[i];

		if (c->is_text && !c->is_hidden && c->width > (widest ? widest->width : least) &&
		    !(is_long && (c->is_short || c->is_value)))
			widest = c;
	}
	return widest;
}

static size_t title_width(const struct table *t, size_t no)
{
	return strlen(column_title(answer_column(t->answer, no)));
}

static void shorten_widest(struct table *t)
{
	struct column *c;

	while (line_width(t) > t->style->width && (c = widest_text(t, 0, 0, true)) != NULL) {
		const size_t no = (size_t)(c - t->column), title = title_width(t, no);
		size_t width;

		assert(!c->is_short); /* so there is one less of them each time */
		c->is_short = true;
		width = widest_cell(t, no);
		/* of a later batch: what was printed before keeps its width */
		if (!t->has_heading && width < c->width)
			c->width = width > title ? width : title;
	}
}

/* The column after the first text, which names the row. */
static size_t after_name(const struct table *t)
{
	size_t i = 0;

	while (i < t->columns && (!t->column[i].is_text || t->column[i].is_hidden))
		i++;
	return i + 1;
}

/* Cuts the widest texts from column `from` on, down to `least` columns, until a line fits. */
static void cut_widest(struct table *t, size_t from, size_t least)
{
	size_t line;

	while ((line = line_width(t)) > t->style->width) {
		const size_t over = line - t->style->width;
		struct column *widest = widest_text(t, from, least, false);
		size_t second = least, less;

		if (!widest)
			break;
		for (size_t i = from; i < t->columns; i++) {
			const struct column *c = &t->column[i];

			if (c != widest && c->is_text && !c->is_hidden && c->width > second)
				second = c->width;
		}
		/* down to the second widest, or by one where they are alike */
		less = widest->width > second ? widest->width - second : 1;
		less = less < over ? less : over;
		assert(less > 0);
		assert(less <= widest->width);
		widest->width -= less;
		widest->cut = widest->width;
	}
}

/* Hides columns of the older dump, the last first. */
static void hide_before(struct table *t)
{
	for (size_t i = t->columns; i-- > 0 && !t->has_heading && line_width(t) > t->style->width;)
		t->column[i].is_hidden |= t->column[i].is_before && !t->column[i].stays;
}

/* Which columns go: those behind the last that matters, or that do not matter, or all. */
enum hiding { BEHIND, OTHERS, ALL };

/* Hides columns from the last on; what was printed before cannot be hidden. */
static void hide_last(struct table *t, enum hiding which)
{
	for (size_t i = t->columns;
	     i-- > 0 && !t->has_heading && line_width(t) > t->style->width;) {
		if (t->column[i].matters && which == BEHIND)
			break;
		if (!t->column[i].matters || which == ALL)
			t->column[i].is_hidden |= !t->column[i].stays;
	}
	for (size_t i = 0; i < t->columns; i++) {
		if (!t->column[i].is_hidden)
			t->last = i;
	}
}

/* Room that hidden columns left goes back to the texts that were cut for it. */
static void widen_cut(struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		struct column *c = &t->column[i];
		const size_t line = line_width(t), natural = widest_cell(t, i);

		if (c->cut == 0 || c->is_hidden || t->has_heading || line >= t->style->width)
			continue;
		c->width += t->style->width - line;
		if (c->width >= natural) {
			c->width = natural > title_width(t, i) ? natural : title_width(t, i);
			c->cut = 0;
		} else {
			c->cut = c->width;
		}
	}
}

/* Widens the columns to what the batch needs, then makes a line fit the terminal. */
static void lay_out(struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		struct column *c = &t->column[i];
		const size_t title = title_width(t, i), widest = widest_cell(t, i);

		if (c->width < title)
			c->width = title;
		if (c->width < widest)
			c->width = widest;
		if (c->cut > 0 && c->width > c->cut)
			c->width = c->cut;
		if (t->style->width == 0 && c->width > PAD_MAX)
			c->width = PAD_MAX;
	}
	if (t->style->width == 0 || line_width(t) <= t->style->width)
		return;
	shorten_widest(t);
	cut_widest(t, 0, CUT_FIRST);
	hide_before(t);
	hide_last(t, BEHIND);
	cut_widest(t, after_name(t), CUT_MIN);
	cut_widest(t, 0, CUT_MIN);
	hide_last(t, OTHERS);
	hide_last(t, ALL);
	widen_cut(t);
}

/* Where no column has a heading, there is no line of them. */
static void put_heading(struct table *t)
{
	size_t letters = 0;

	t->has_heading = true;
	for (size_t i = 0; i < t->columns; i++)
		letters += title_width(t, i);
	if (letters == 0)
		return;
	output_string(t->out, t->style->has_colour ? STYLE_BOLD : "");
	t->line_end = t->style->has_colour ? STYLE_END "\n" : "\n";
	for (size_t i = 0; i < t->columns; i++)
		put_cell(t, i, column_title(answer_column(t->answer, i)), title_width(t, i),
			 title_width(t, i));
	t->line_end = "\n";
}

static void put_batch(struct table *t)
{
	assert(t->rows > 0);
	assert(t->rows <= BATCH_ROWS);
	lay_out(t);
	if (!t->has_heading)
		put_heading(t);
	for (size_t i = 0; i < t->rows * t->columns; i++) {
		const struct cell *cell = &t->cells[i];
		const char *text = t->text.data + cell->at;
		size_t less;

		if (!t->column[i % t->columns].is_short) {
			put_cell(t, i % t->columns, text, cell->size, cell->width);
			continue;
		}
		t->shortened.size = 0;
		less = shorten_names(&t->shortened, text, cell->size);
		t->is_cut |= less > 0;
		put_cell(t, i % t->columns, t->shortened.data, t->shortened.size,
			 cell->width - less);
	}
	t->rows = 0;
	t->text.size = 0;
}

static int put_rows(struct table *t)
{
	int rc;

	while ((rc = answer_next(t->answer, t->out)) == HDB_OK) {
		assert(t->rows < BATCH_ROWS);
		for (size_t i = 0; i < t->columns; i++) {
			struct cell *cell = &t->cells[t->rows * t->columns + i];

			cell->at = t->text.size;
			cell->width =
				value_for_people(answer_value(t->answer, i), t->style, &t->text);
			cell->size = t->text.size - cell->at;
		}
		if (t->text.failed || t->shortened.failed)
			return cli_fail(t->answer->err, HDB_ENOMEM, "no memory for a table");
		t->rows++;
		if (t->rows == BATCH_ROWS || t->text.size >= BATCH_BYTES)
			put_batch(t);
	}
	if (t->rows > 0)
		put_batch(t);
	return rc == HDB_END ? HDB_OK : rc;
}

/* Text below the table, which goes to the next line where this one is full. */
static void put_note(struct table *t, const char *text, size_t *at)
{
	const size_t width = strlen(text);

	if (*at > 0 && t->style->width > 0 && *at + width > t->style->width) {
		output_char(t->out, '\n');
		*at = 0;
	}
	text += *at == 0 && *text == ' ';
	output_string(t->out, text);
	*at += strlen(text);
}

static bool is_any_hidden(const struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		if (t->column[i].is_hidden && !t->column[i].is_twin)
			return true;
	}
	return false;
}

/* "not shown: loader, id (--wide shows all columns)". */
static void put_hidden(struct table *t, size_t *at)
{
	bool is_any = false;

	for (size_t i = 0; i < t->columns; i++) {
		const char *title;
		char name[64];

		if (!t->column[i].is_hidden || t->column[i].is_twin)
			continue;
		if (is_any)
			put_note(t, ",", at);
		else
			put_note(t, *at > 0 ? "; not shown:" : "not shown:", at);
		title = column_title(answer_column(t->answer, i));
		snprintf(name, sizeof(name), " %s", *title ? title : "explanations");
		put_note(t, name, at);
		is_any = true;
	}
	if (is_any)
		put_note(t, " (--wide shows all columns)", at);
	else if (t->is_cut)
		put_note(t, " (--wide shows whole names)", at);
}

/* What the table does not show: rows beyond the limit, columns beyond the terminal. */
static int put_footer(struct table *t)
{
	char have[OUTPUT_NUMBER_SIZE], all[OUTPUT_NUMBER_SIZE];
	const uint64_t count = t->answer->row_count;
	uint64_t total;
	size_t at = 0;
	int rc = answer_total(t->answer, &total);

	if (rc < 0)
		return rc;
	if (count == 0 && total == 0)
		output_string(t->out, "no rows\n");
	if (count < total || is_any_hidden(t) || t->is_cut)
		output_string(t->out, t->style->has_colour ? STYLE_DIM : "");
	if (count < total) {
		const int have_size = (int)format_thousands(have, count, false);
		const int all_size = (int)format_thousands(all, total, false);
		char rows[2 * OUTPUT_NUMBER_SIZE + 16];

		snprintf(rows, sizeof(rows), "%.*s of %.*s rows", have_size, have, all_size, all);
		put_note(t, rows, &at);
	}
	put_hidden(t, &at);
	if (at > 0)
		output_string(t->out, t->style->has_colour ? STYLE_END "\n" : "\n");
	return HDB_OK;
}

/* Whether a column has texts of the heap: what looks like a class in them is part of them. */
static bool is_value(const struct answer *answer, const char *column)
{
	static const struct {
		const char *query, *column;
	} values[] = {
		{ "strings", "text" },         { "duplicates", "text" }, { "substrings", "text" },
		{ "group-by-value", "value" }, { "properties", "name" }, { "properties", "value" },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (strcmp(answer->name, values[i].query) == 0 &&
		    strcmp(column, values[i].column) == 0)
			return true;
	return false;
}

/* The first column and the first text say what a row is; what was asked for by name is shown. */
static void init_columns(struct table *t)
{
	bool has_text = false;

	t->last = t->columns - 1;
	for (size_t i = 0; i < t->columns; i++) {
		const struct hdb_column *column = answer_column(t->answer, i);
		struct column *c = &t->column[i];
		const size_t size = strlen(column->name);

		c->is_text = column->type == HDB_TYPE_TEXT;
		c->is_value = is_value(t->answer, column->name);
		c->stays = i == 0 || t->answer->is_picked || (c->is_text && !has_text) ||
			   (t->answer->sort && strcmp(t->answer->sort, column->name) == 0);
		c->matters = strcmp(column->name, "retained") == 0 ||
			     strcmp(column->name, "wasted") == 0 ||
			     strcmp(column->name, "retained_delta") == 0;
		c->is_twin = t->style->width > 0 && !t->answer->is_picked &&
			     !*column_title(column) && strcmp(column->name, "number") == 0;
		c->is_hidden = c->is_twin;
		c->is_before = size > 7 && strcmp(column->name + size - 7, "_before") == 0;
		has_text |= c->is_text;
	}
}

int render_table(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct table t = {
		.answer = answer,
		.style = style,
		.out = out,
		.line_end = "\n",
		.columns = answer_column_count(answer),
	};
	int rc;

	put_facts(answer, style, out);
	if (t.columns == 0)
		return HDB_OK;
	if (answer_fact_count(answer) > 0)
		output_char(out, '\n');
	t.column = calloc(t.columns, sizeof(t.column[0]));
	t.cells = calloc(t.columns * BATCH_ROWS, sizeof(t.cells[0]));
	if (!t.column || !t.cells) {
		rc = cli_fail(answer->err, HDB_ENOMEM, "no memory for a table");
		goto out;
	}
	init_columns(&t);
	if ((rc = put_rows(&t)) != HDB_OK)
		goto out;
	rc = put_footer(&t);
out:
	free(t.column);
	free(t.cells);
	output_release(out, &t.shortened);
	output_release(out, &t.text);
	return rc;
}
