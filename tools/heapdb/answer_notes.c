/*
 * heapdb/answer_notes.c - prints notes on the objects, classes and leaks of an answer.
 */
#include "heapdb/call_rows.h"
#include "heapdb/prose.h"

#include "notes/notes.h"

static struct note *note_on(const struct notes *notes, const struct hdb_column *column,
			    const struct hdb_value *value)
{
	static const char class_of[] = "class ";
	const size_t skipped = sizeof(class_of) - 1;
	char id[24];

	if (value->type == HDB_TYPE_ID && strcmp(column->name, "id") == 0)
		return notes_find(notes, id,
				  (size_t)snprintf(id, sizeof(id), "0x%" PRIx64, value->u));
	if (value->type != HDB_TYPE_TEXT || !is_among(column->name, "class|name|signature"))
		return NULL;
	if (value->text_size > skipped && memcmp(value->text, class_of, skipped) == 0)
		return notes_find(notes, value->text + skipped, value->text_size - skipped);
	return notes_find(notes, value->text, value->text_size);
}

static void mark_matched(struct note *note)
{
	if (note)
		note->is_matched = true;
}

static void meet_notes(const struct answer *answer)
{
	const size_t count = hdb_rows_column_count(answer->rows);

	for (size_t i = 0; i < count; i++)
		mark_matched(note_on(answer->notes, hdb_rows_column(answer->rows, i),
				     hdb_rows_value(answer->rows, i)));
}

static void match_facts(const struct answer *answer)
{
	for (size_t i = 0; i < hdb_rows_fact_count(answer->rows); i++)
		mark_matched(note_on(answer->notes, hdb_rows_fact_column(answer->rows, i),
				     hdb_rows_fact_value(answer->rows, i)));
}

void notes_of_row(const struct answer *answer, const struct render_style *style, size_t indent,
		  struct output *out)
{
	static const char *const columns[] = { "signature", "id", "class" };
	static const char title[] = "Note: ";

	for (size_t i = 0; answer->notes && i < BASE_COUNT(columns); i++) {
		const size_t at = hdb_rows_find_column(answer->rows, columns[i]);
		struct note *note =
			at == SIZE_MAX ? NULL :
					 note_on(answer->notes, hdb_rows_column(answer->rows, at),
						 hdb_rows_value(answer->rows, at));

		if (!note)
			continue;
		note->is_printed = true;
		output_blanks(out, indent);
		output_string(out, title);
		prose_wrap(out, style, (struct prose_place){ indent, indent + sizeof(title) - 1 },
			   note->text, strlen(note->text));
	}
}

/* Returns the next note that matches the answer, starting at *at, or NULL. */
static const struct note *next_matched(const struct answer *answer, size_t *at)
{
	struct notes *notes = answer->notes;

	if (*at == 0)
		match_facts(answer);
	while (*at < notes->count) {
		struct note *note = &notes->list[(*at)++];
		const bool is_matched = note->is_matched;

		note->is_matched = false;
		if (is_matched)
			return note;
	}
	return NULL;
}

void notes_below(const struct answer *answer, const struct render_style *style, struct output *out)
{
	const struct note *note;
	size_t at = 0, count = 0;

	while (answer->notes && answer->rows && (note = next_matched(answer, &at)) != NULL) {
		struct bytes line = { 0 };
		const bool is_printed = note->is_printed;

		answer->notes->list[at - 1].is_printed = false;
		if (is_printed)
			continue;
		output_string(out, count++ ? "" : "\nNotes:\n");
		bytes_format(&line, "%s: %s", note->target, note->text);
		prose_wrap(out, style, (struct prose_place){ 2, 0 }, line.data, line.size);
		output_release(out, &line);
	}
}

static void put_json(const struct answer *answer, struct output *out)
{
	const struct note *note;
	size_t at = 0, count = 0;

	if (!answer->notes || !answer->rows)
		return;
	while ((note = next_matched(answer, &at)) != NULL) {
		render_json_field(out, count++ ? ",\n{\"target\":" : ",\"notes\":[\n{\"target\":",
				  note->target);
		render_json_field(out, ",\"note\":", note->text);
		output_char(out, '}');
	}
	output_string(out, count ? "]" : "");
}

static void on_row(struct answer *answer)
{
	struct sampled *sampled = answer->sampled;

	if (sampled) {
		sampled_match_row(sampled);
		answer->changed = sampled->value.type != HDB_TYPE_NULL ? &sampled->value : NULL;
		answer->changed_column = sampled->text;
	}
	if (answer->notes && answer->rows)
		meet_notes(answer);
}

void answer_annotate(struct answer *answer)
{
	answer->on_row = on_row;
	answer->put_more = put_json;
}
