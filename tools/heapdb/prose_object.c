/*
 * heapdb/prose_object.c - one object: what it is, how large, and its fields or elements.
 */
#include "heapdb/prose.h"

#include <string.h>

/* "  shallow size    16 B": a fact that is set. */
static void put_fact(struct answer *answer, struct output *out, const char *name, const char *title)
{
	const struct hdb_value *value = answer_fact(answer, name);

	if (!has_value(value))
		return;
	output_format(out, "  %-16s", title);
	prose_value(out, value);
	output_char(out, '\n');
}

static void put_head(struct answer *answer, const struct render_style *style, struct output *out)
{
	const struct hdb_value *value = answer_fact(answer, "value");
	const struct hdb_value *reachable = answer_fact(answer, "reachable");

	prose_bold(out, style, true);
	prose_value(out, answer_fact(answer, "class"));
	prose_bold(out, style, false);
	output_char(out, ' ');
	prose_value(out, answer_fact(answer, "id"));
	if (has_value(value)) {
		output_string(out, " = ");
		prose_value(out, value);
	}
	output_char(out, '\n');
	put_fact(answer, out, "kind", "kind");
	put_fact(answer, out, "length", "length");
	put_fact(answer, out, "shallow", "shallow size");
	put_fact(answer, out, "retained", "retained size");
	put_fact(answer, out, "heap", "heap");
	put_fact(answer, out, "loader", "class loader");
	put_fact(answer, out, "roots", "GC root");
	put_fact(answer, out, "allocated_at", "allocated at");
	if (has_value(reachable) && !reachable->u)
		output_string(out, "  unreachable: no path from a GC root leads here\n");
}

/* Whether the text of the column is what `last` keeps; keeps it then. */
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
	const struct hdb_value *ref = rows_value(rows, "ref");

	const struct hdb_value *level = rows_value(rows, "level");

	output_blanks(out, 4 + 2 * (has_value(level) ? level->u : 0));
	prose_value(out, rows_value(rows, "name"));
	if (rows_is(rows, "name", "...")) {
		output_char(out, '\n');
		return;
	}
	output_string(out, " = ");
	if (has_value(ref)) {
		prose_object_name(out, rows_value(rows, "label"), ref);
		prose_retained(out, rows_value(rows, "retained"));
	} else if (has_value(rows_value(rows, "value"))) {
		prose_value(out, rows_value(rows, "value"));
	} else {
		output_string(out, "null");
	}
	output_char(out, '\n');
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
			output_string(out, "\n  fields of ");
			prose_value(out, rows_value(answer->rows, "class"));
			output_char(out, '\n');
		} else if (answer->row_count == 1) {
			output_string(out, "\n  elements\n");
		}
		put_field(out, answer->rows);
	}
	output_release(out, &class);
	return rc == HDB_END ? prose_footer(answer, style, out) : rc;
}
