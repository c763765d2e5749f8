/*
 * heapdb/prose_triage.c - the findings of triage, worst first, each as a few lines.
 */
#include "heapdb/prose.h"

#include <string.h>

static void put_line(struct output *out, const struct render_style *style, const char *title,
		     const struct hdb_value *text)
{
	if (!has_value(text) || text->type != HDB_TYPE_TEXT || text->text_size == 0)
		return;
	output_format(out, "  %s", title);
	prose_wrap(out, style, (struct prose_place){ 2 + strlen(title), 2 + strlen(title) },
		   text->text, text->text_size);
}

static void put_figures(struct output *out, const struct hdb_rows *rows)
{
	const struct hdb_value *count = rows_value(rows, "count");
	const struct hdb_value *bytes = rows_value(rows, "bytes");
	const struct hdb_value *percent = rows_value(rows, "percent");
	const struct hdb_value *unit = rows_value(rows, "unit");

	if (!has_value(count) && !has_value(bytes))
		return;
	output_string(out, "  figures: ");
	prose_value(out, count);
	if (has_value(count) && has_value(unit)) {
		output_char(out, ' ');
		prose_value(out, unit);
	}
	if (has_value(bytes)) {
		output_string(out, has_value(count) ? ", " : "");
		prose_value(out, bytes);
	}
	if (has_value(percent))
		output_format(out, " (%.2f %% of the heap)", percent->d);
	output_char(out, '\n');
}

static void put_finding(struct output *out, const struct render_style *style,
			const struct hdb_rows *rows)
{
	const struct hdb_value *severity = rows_value(rows, "severity");
	const struct hdb_value *text = rows_value(rows, "text");
	const struct hdb_value *rule = rows_value(rows, "rule");
	const struct hdb_value *id = rows_value(rows, "id");

	prose_bold(out, style, true);
	prose_value(out, severity);
	output_string(out, ": ");
	prose_bold(out, style, false);
	prose_wrap(out, style, (struct prose_place){ 2, severity->text_size + 2 }, text->text,
		   text->text_size);
	put_figures(out, rows);
	if (has_value(id)) {
		output_string(out, "  object:  ");
		prose_object_name(out, rows_value(rows, "label"), id);
		output_char(out, '\n');
	} else {
		put_line(out, style, "class:   ", rows_value(rows, "class"));
	}
	put_line(out, style, "detail:  ", rows_value(rows, "detail"));
	put_line(out, style, "advice:  ", rows_value(rows, "advice"));
	put_line(out, style, "rule:    ", rule);
}

/* What the rules do not know: most leaks are no known problem. */
static void put_suspects(struct answer *answer, const struct render_style *style,
			 struct output *out)
{
	const struct hdb_value *count = answer_fact(answer, "suspects");
	const struct hdb_value *suspect = answer_fact(answer, "suspect");

	if (!has_value(suspect)) {
		output_string(out, "`query leaks` has no suspects.\n");
		return;
	}
	output_string(out, "`query leaks` has ");
	prose_value(out, count);
	output_string(out, count->u == 1 ? " suspect:\n  " : " suspects, the largest:\n  ");
	prose_wrap(out, style, (struct prose_place){ 2, 2 }, suspect->text, suspect->text_size);
}

int prose_triage(struct answer *answer, const struct render_style *style, struct output *out)
{
	const struct hdb_value *rules = answer_fact(answer, "rules");
	const struct hdb_value *findings = answer_fact(answer, "findings");
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK) {
		output_string(out, answer->row_count > 1 ? "\n" : "");
		put_finding(out, style, answer->rows);
	}
	if (rc != HDB_END)
		return rc;
	output_string(out, answer->row_count ? "\n" : "");
	if (findings->u) {
		prose_value(out, findings);
		output_string(out, " of ");
		prose_value(out, rules);
		output_string(out, " known problems found. ");
	} else {
		output_string(out, "No known problem among ");
		prose_value(out, rules);
		output_string(out, ". ");
	}
	put_suspects(answer, style, out);
	return prose_footer(answer, style, out);
}
