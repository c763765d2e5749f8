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
	prose_wrap_value(out, style, (struct prose_place){ 2 + strlen(title), 2 + strlen(title) },
			 text);
}

static void put_figures(struct output *out, const struct hdb_rows *rows)
{
	const struct hdb_value *count = rows_value(rows, "count");
	const struct hdb_value *bytes = rows_value(rows, "bytes");
	const struct hdb_value *percent = rows_value(rows, "percent");

	if (!has_value(count) && !has_value(bytes))
		return;
	prose_row(out, rows,
		  has_value(count) ? "  figures: {count}[ {unit}][, {bytes}]" :
				     "  figures: {bytes}");
	if (has_value(percent))
		output_format(out, " (%.2f %% of the heap)", percent->d);
	output_char(out, '\n');
}

static void put_finding(struct output *out, const struct render_style *style,
			const struct hdb_rows *rows)
{
	const struct hdb_value *severity = rows_value(rows, "severity");

	prose_bold(out, style, true);
	prose_row(out, rows, "{severity}: ");
	prose_bold(out, style, false);
	prose_wrap_value(out, style, (struct prose_place){ 2, severity->text_size + 2 },
			 rows_value(rows, "text"));
	put_figures(out, rows);
	if (has_value(rows_value(rows, "id")))
		prose_row(out, rows, "  object:  {label}[ {id}]\n");
	else
		put_line(out, style, "class:   ", rows_value(rows, "class"));
	put_line(out, style, "detail:  ", rows_value(rows, "detail"));
	put_line(out, style, "advice:  ", rows_value(rows, "advice"));
	put_line(out, style, "rule:    ", rows_value(rows, "rule"));
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
	prose_facts(out, answer,
		    count->u == 1 ? "`query leaks` has {suspects} suspect:\n  " :
				    "`query leaks` has {suspects} suspects, the largest:\n  ");
	prose_wrap_value(out, style, (struct prose_place){ 2, 2 }, suspect);
}

int prose_triage(struct answer *answer, const struct render_style *style, struct output *out)
{
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK) {
		output_string(out, answer->row_count > 1 ? "\n" : "");
		put_finding(out, style, answer->rows);
	}
	if (rc != HDB_END)
		return rc;
	output_string(out, answer->row_count ? "\n" : "");
	prose_facts(out, answer,
		    answer_fact(answer, "findings")->u ?
			    "{findings} of {rules} known problems found. " :
			    "No known problem among {rules}. ");
	put_suspects(answer, style, out);
	return prose_footer(answer, style, out);
}
