/*
 * heapdb/prose_threads.c - threads in the manner of a thread dump, with what each local variable
 * retains.
 */
#include "heapdb/prose.h"

/* ", daemon" and the like: a word where the column is true. */
static void put_word(struct output *out, const struct hdb_rows *rows, const char *column,
		     const char *word)
{
	const struct hdb_value *value = rows_value(rows, column);

	if (has_value(value) && value->u)
		output_format(out, " %s", word);
}

/* " prio=5": where the dump tells. */
static void put_number(struct output *out, const struct hdb_rows *rows, const char *column,
		       const char *name)
{
	const struct hdb_value *value = rows_value(rows, column);

	if (!has_value(value))
		return;
	output_format(out, " %s=", name);
	prose_value(out, value);
}

static void put_thread(struct output *out, const struct render_style *style,
		       const struct hdb_rows *rows)
{
	const struct hdb_value *state = rows_value(rows, "state");
	const struct hdb_value *locals = rows_value(rows, "locals");

	prose_bold(out, style, true);
	output_char(out, '"');
	prose_value(out, rows_value(rows, "thread"));
	output_char(out, '"');
	prose_bold(out, style, false);
	put_number(out, rows, "tid", "tid");
	put_word(out, rows, "virtual", "virtual");
	put_word(out, rows, "daemon", "daemon");
	put_number(out, rows, "priority", "prio");
	put_number(out, rows, "carrier", "carrier");
	put_number(out, rows, "carries", "carries");
	output_char(out, ' ');
	prose_object_name(out, rows_value(rows, "text"), rows_value(rows, "id"));
	output_string(out, "\n  ");
	if (has_value(state)) {
		prose_value(out, state);
		output_string(out, ", ");
	}
	output_string(out, "shallow ");
	prose_value(out, rows_value(rows, "shallow"));
	prose_retained(out, rows_value(rows, "retained"));
	if (has_value(locals) && locals->u) {
		output_string(out, ", local variables: ");
		prose_value(out, locals);
	}
	output_char(out, '\n');
}

static void put_frame(struct output *out, const struct hdb_rows *rows)
{
	output_string(out, "    at ");
	prose_value(out, rows_value(rows, "text"));
	output_char(out, '\n');
}

/* A local variable, or an object that holds frames of a virtual thread. */
static void put_held(struct output *out, const struct hdb_rows *rows)
{
	const struct hdb_value *stack_bytes = rows_value(rows, "stack_bytes");

	output_string(out, rows_is(rows, "kind", "chunk") ? "    - " : "      - ");
	prose_value(out, rows_value(rows, "kind"));
	output_string(out, ": ");
	prose_object_name(out, rows_value(rows, "text"), rows_value(rows, "id"));
	prose_retained(out, rows_value(rows, "retained"));
	if (has_value(stack_bytes)) {
		output_string(out, ", frames ");
		prose_value(out, stack_bytes);
	}
	output_char(out, '\n');
}

int prose_threads(struct answer *answer, const struct render_style *style, struct output *out)
{
	uint64_t threads = 0;
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK) {
		if (rows_is(answer->rows, "kind", "thread")) {
			if (style->parts && threads++ == style->parts) {
				const struct hdb_value *all = answer_fact(answer, "threads");

				prose_parts_footer(style, out, all->u, "threads");
				return HDB_OK;
			}
			output_string(out, answer->row_count > 1 ? "\n" : "");
			put_thread(out, style, answer->rows);
		} else if (rows_is(answer->rows, "kind", "frame")) {
			put_frame(out, answer->rows);
		} else {
			put_held(out, answer->rows);
		}
	}
	if (rc != HDB_END)
		return rc;
	if (answer->row_count == 0)
		output_string(out, "no threads\n");
	return prose_footer(answer, style, out);
}
