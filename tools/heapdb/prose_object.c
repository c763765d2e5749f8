/*
 * heapdb/prose_object.c - prints one object: class, sizes, and fields or elements.
 */
#include "heapdb/prose.h"

static void put_head(struct answer *answer, const struct render_style *style, struct output *out)
{
	const struct hdb_value *reachable = answer_fact(answer, "reachable");

	prose_bold(out, style, true);
	prose_facts(out, answer, "{class}");
	prose_bold(out, style, false);
	prose_facts(out, answer,
		    " {id}[ = {value}]\n"
		    "[  kind            {kind}\n]"
		    "[  length          {length}\n]"
		    "[  shallow size    {shallow}\n]"
		    "[  retained size   {retained}\n]"
		    "[  heap            {heap}\n]"
		    "[  class loader    {loader}\n]"
		    "[  GC root         {roots}\n]"
		    "[  allocated at    {allocated_at}\n]");
	if (has_value(reachable) && !reachable->u)
		output_string(out, "  unreachable: no path from a GC root\n");
}

/* Returns whether the column's text equals `last`; stores it in `last`. */
static bool is_same(const struct hdb_rows *rows, const char *column, struct bytes *last)
{
	const struct hdb_value *value = rows_value(rows, column);
	const size_t size = has_value(value) ? value->text_size : 0;
	const bool same =
		last->size == size && (size == 0 || memcmp(last->data, value->text, size) == 0);

	if (!same) {
		last->size = 0;
		bytes_add(last, value->text ? value->text : "", size);
	}
	return same;
}

static void put_field(struct output *out, const struct hdb_rows *rows)
{
	const struct hdb_value *level = rows_value(rows, "level");

	output_blanks(out, 4 + 2 * (has_value(level) ? level->u : 0));
	if (rows_is(rows, "name", "..."))
		prose_row(out, rows, "{name}\n");
	else if (has_value(rows_value(rows, "ref")))
		prose_row(out, rows, "{name} = {label}[ {ref}][, retained {retained}]\n");
	else if (has_value(rows_value(rows, "value")))
		prose_row(out, rows, "{name} = {value}\n");
	else
		prose_row(out, rows, "{name} = null\n");
}

int prose_object(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct bytes class = { 0 };
	int rc;

	put_head(answer, style, out);
	while ((rc = answer_next(answer, out)) == HDB_OK) {
		const struct hdb_value *level = rows_value(answer->rows, "level");

		if (has_value(level) && level->u) {
			put_field(out, answer->rows);
			continue;
		}
		if (!is_same(answer->rows, "class", &class)) {
			prose_row(out, answer->rows, "\n  fields of {class}\n");
		} else if (answer->row_count == 1) {
			output_string(out, "\n  elements\n");
		}
		put_field(out, answer->rows);
	}
	output_release(out, &class);
	return rc == HDB_END ? prose_footer(answer, style, out) : rc;
}
