/*
 * heapdb/markdown.c - prints values, tables and text as Markdown.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"
#include "heapdb/report.h"

/* Width of a code block, which is indented by four columns. */
#define BLOCK_WIDTH 96
#define BLOCK_INDENT 4

void markdown_code(struct output *out, const char *text, size_t size)
{
	struct bytes shown = { 0 };

	escape_text(&shown, text, size);
	output_char(out, '`');
	for (size_t i = 0; i < shown.size; i++) {
		if (shown.data[i] == '|')
			output_string(out, "\\|");
		else
			output_char(out, shown.data[i] == '`' ? '\'' : shown.data[i]);
	}
	output_char(out, '`');
	output_release(out, &shown);
}

void markdown_text(struct output *out, const char *text, size_t size)
{
	struct bytes shown = { 0 };

	escape_text(&shown, text, size);
	for (size_t i = 0; i < shown.size; i++) {
		if (strchr("\\`*_<>[]|#", shown.data[i]))
			output_char(out, '\\');
		output_char(out, shown.data[i]);
	}
	output_release(out, &shown);
}

void markdown_value(struct output *out, const struct hdb_value *value)
{
	const struct render_style style = { .format = FORMAT_TABLE, .human = true };
	struct bytes text = { 0 };

	if (value->type == HDB_TYPE_TEXT) {
		markdown_code(out, value->text, value->text_size);
		return;
	}
	value_for_people(value, &style, &text);
	output_bytes(out, text.data ? text.data : "", text.size);
	output_release(out, &text);
}

const struct hdb_value *rows_value(const struct hdb_rows *rows, const char *name)
{
	const size_t column = hdb_rows_find_column(rows, name);

	return column == SIZE_MAX ? NULL : hdb_rows_value(rows, column);
}

bool rows_is(const struct hdb_rows *rows, const char *name, const char *text)
{
	const struct hdb_value *value = rows_value(rows, name);

	return value && value->type == HDB_TYPE_TEXT && value->text_size == strlen(text) &&
	       memcmp(value->text, text, value->text_size) == 0;
}

static bool is_text(const struct hdb_column *column)
{
	return column->type == HDB_TYPE_TEXT || column->type == HDB_TYPE_ID;
}

static void put_heading(struct answer *answer, struct output *out)
{
	const size_t columns = answer_column_count(answer);

	for (size_t i = 0; i < columns; i++) {
		const char *title = column_title(answer_column(answer, i));

		output_string(out, "| ");
		markdown_text(out, title, strlen(title));
		output_char(out, ' ');
	}
	output_string(out, "|\n");
	for (size_t i = 0; i < columns; i++)
		output_string(out, is_text(answer_column(answer, i)) ? "|---" : "|---:");
	output_string(out, "|\n");
}

/* Returns whether the current row is in one of the requested sections. */
static bool is_wanted(const struct answer *answer, const struct markdown_rows *which)
{
	const struct hdb_value *section = rows_value(answer->rows, "section");
	const struct hdb_value *percent = rows_value(answer->rows, "percent");
	char name[32];

	if (which->is_largest && has_value(percent) && percent->d < 0.005)
		return false;
	if (!which->among || !has_value(section))
		return true;
	snprintf(name, sizeof(name), "%.*s", (int)section->text_size, section->text);
	return is_among(name, which->among);
}

int markdown_table(struct answer *answer, const struct markdown_rows *which, struct output *out)
{
	bool has_heading = false;
	int rc;

	TRY(answer_pick(answer, which->columns));
	while ((rc = answer_next(answer, out)) == HDB_OK) {
		if (!is_wanted(answer, which))
			continue;
		if (!has_heading)
			put_heading(answer, out);
		has_heading = true;
		for (size_t i = 0; i < answer_column_count(answer); i++) {
			output_string(out, "| ");
			markdown_value(out, answer_value(answer, i));
			output_char(out, ' ');
		}
		output_string(out, "|\n");
	}
	if (rc != HDB_END)
		return rc;
	if (!has_heading)
		output_string(out, "None.\n");
	return HDB_OK;
}

/* Prints each line indented, which Markdown treats as code regardless of its contents. */
static void put_block(struct output *out, const char *text, size_t size)
{
	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		const size_t line = end ? (size_t)(end - text) + 1 : size;

		output_blanks(out, line > 1 ? BLOCK_INDENT : 0);
		output_bytes(out, text, line);
		text += line;
		size -= line;
	}
}

int markdown_leaks(struct answer *answer, struct output *out)
{
	const struct render_style style = { .human = true, .as_text = true, .width = BLOCK_WIDTH };
	BASE_FREED struct output *block = NULL;
	struct bytes text = { 0 };
	int rc;

	TRY(BASE_ALLOC(block, 1, "the leaks", answer->err));
	output_collect(block, &text);
	output_fit(block, BLOCK_WIDTH);
	rc = prose_leaks(answer, &style, block);
	output_collect_end(block);
	put_block(out, text.data ? text.data : "", text.size);
	output_release(out, &text);
	return rc;
}
