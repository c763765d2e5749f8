/*
 * heapdb/prose_diff.c - prints growth and shrinkage between dumps, one owner per line, before the
 * table by class.
 */
#include "heapdb/prose.h"

/* Number of growing owners shown, and number of shrinking owners shown. */
#define GREW_SHOWN 10
#define SHRANK_SHOWN 5

/* Part of the text: rows that grew, followed by rows that shrank. */
struct part {
	const char *title;
	uint64_t shown, count;
};

static void put_title(struct output *out, const struct render_style *style, const char *title)
{
	prose_bold(out, style, true);
	output_string(out, title);
	prose_bold(out, style, false);
	output_char(out, '\n');
}

static void put_row(struct answer *answer, const struct render_style *style, struct output *out,
		    struct part *part)
{
	const struct hdb_value *text = rows_value(answer->rows, "text");

	if (part->count == 0) {
		output_string(out, answer->row_count > 1 ? "\n" : "");
		put_title(out, style, part->title);
	}
	if (part->count++ >= part->shown || !has_value(text))
		return;
	output_format(out, "%3llu  ", (unsigned long long)part->count);
	prose_wrap(out, style, (struct prose_place){ 5, 5 }, text->text, text->text_size);
}

int prose_growth(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct part parts[] = { { "What grew", GREW_SHOWN, 0 },
				{ "What shrank", SHRANK_SHOWN, 0 } };
	uint64_t more = 0;
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK)
		put_row(answer, style, out,
			&parts[rows_value(answer->rows, "retained_delta")->i < 0]);
	if (rc != HDB_END)
		return rc;
	if (!parts[0].count) {
		output_string(out, parts[1].count ? "\n" : "");
		prose_facts(out, answer, "No owner grew by {min} or more.\n");
	}
	for (size_t i = 0; i < BASE_COUNT(parts); i++)
		more += parts[i].count > parts[i].shown ? parts[i].count - parts[i].shown : 0;
	if (more)
		output_format(out, "%s%llu more (--by owner)%s\n",
			      style->has_colour ? STYLE_DIM : "", (unsigned long long)more,
			      style->has_colour ? STYLE_END : "");
	output_char(out, '\n');
	put_title(out, style, "By class");
	return HDB_OK;
}
