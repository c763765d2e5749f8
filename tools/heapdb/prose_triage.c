/*
 * heapdb/prose_triage.c - prints the findings of triage, worst first, and the explanations of
 * explain, in a few lines each.
 */
#include "heapdb/prose.h"

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
	static const char bytes[] = "  figures: {bytes}[ ({percent} % of the heap)]\n";
	static const char counts[] =
		"  figures: {count}[ {unit}][, {bytes}][ ({percent} % of the heap)]\n";
	static const char shares[] =
		"  figures: {count} {unit}, {bytes}[ ({percent} % of {share_of})]\n";

	if (has_value(rows_value(rows, "share_of")))
		prose_row(out, rows, shares);
	else if (has_value(rows_value(rows, "count")))
		prose_row(out, rows, counts);
	else if (has_value(rows_value(rows, "bytes")))
		prose_row(out, rows, bytes);
}

static void put_finding(struct output *out, const struct render_style *style,
			const struct hdb_rows *rows)
{
	const char *name = has_value(rows_value(rows, "verdict")) ? "verdict" : "severity";
	const struct hdb_value *title = rows_value(rows, name);

	prose_bold(out, style, true);
	prose_value(out, title);
	output_string(out, ": ");
	prose_bold(out, style, false);
	prose_wrap_value(out, style, (struct prose_place){ 2, title->text_size + 2 },
			 rows_value(rows, "text"));
	put_figures(out, rows);
	if (has_value(rows_value(rows, "id")))
		prose_row(out, rows,
			  "  object:  {label}[ {id}][, retained {retained} ({percent} %)]\n");
	else if (has_value(rows_value(rows, "verdict")))
		prose_row(out, rows, "  objects: {label}, retained {retained} ({percent} %)\n");
	else
		put_line(out, style, "class:   ", rows_value(rows, "class"));
	put_line(out, style, "owner:   ", rows_value(rows, "owner"));
	put_line(out, style, "detail:  ", rows_value(rows, "detail"));
	put_line(out, style, "advice:  ", rows_value(rows, "advice"));
	put_line(out, style, "rule:    ", rows_value(rows, "rule"));
}

/*
 * Prints the number of rules that matched. Most leaks match no rule, so it also prints the result
 * of the leaks query, unless a finding already includes it.
 */
static void put_summary(struct answer *answer, const struct render_style *style, bool is_said,
			struct output *out)
{
	const struct hdb_value *count = answer_fact(answer, "suspects");
	const struct hdb_value *suspect = answer_fact(answer, "suspect");

	prose_facts(out, answer,
		    answer_fact(answer, "findings")->u ?
			    "Found {findings} of {rules} known problems. " :
			    "Found none of {rules} known problems. ");
	if (is_said) {
		prose_facts(out, answer,
			    !has_value(suspect) ? "\n" :
			    count->u == 1       ? "`leaks` has {suspects} suspect.\n" :
						  "`leaks` has {suspects} suspects.\n");
		return;
	}
	prose_facts(out, answer,
		    !has_value(suspect) ? "`leaks` has no suspects.\n" :
		    count->u == 1       ? "`leaks` has {suspects} suspect:\n  " :
					  "`leaks` has {suspects} suspects, the largest:\n  ");
	prose_wrap_value(out, style, (struct prose_place){ 2, 2 }, suspect);
}

int prose_triage(struct answer *answer, const struct render_style *style, struct output *out)
{
	bool is_said = false;
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK) {
		output_string(out, answer->row_count > 1 ? "\n" : "");
		put_finding(out, style, answer->rows);
		is_said |= rows_is(answer->rows, "rule", "leak-suspect") ||
			   rows_is(answer->rows, "rule", "leaking-objects");
	}
	if (rc != HDB_END)
		return rc;
	if (has_value(answer_fact(answer, "findings"))) {
		output_string(out, answer->row_count ? "\n" : "");
		put_summary(answer, style, is_said, out);
	} else if (!answer->row_count) {
		prose_facts(out, answer, "no rows[: {no_rows}]\n");
	}
	return prose_footer(answer, style, out);
}
