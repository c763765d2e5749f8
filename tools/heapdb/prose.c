/*
 * heapdb/prose.c - which queries are a text on a terminal, and what their texts share.
 */
#include "heapdb/prose.h"

#include <langinfo.h>
#include <string.h>

static const struct {
	const char *query;
	prose_fn *text;
	bool is_whole; /* see prose_is_whole */
} texts[] = {
	{ "object", prose_object, false },
	{ "path", prose_path, true },
	{ "threads", prose_threads, true },
};

prose_fn *prose_of(const char *query)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(texts[i].query, query) == 0)
			return texts[i].text;
	}
	return NULL;
}

bool prose_is_whole(const char *query)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(texts[i].query, query) == 0)
			return texts[i].is_whole;
	}
	return false;
}

const struct hdb_value *answer_fact(const struct answer *answer, const char *name)
{
	for (size_t i = 0; i < answer_fact_count(answer); i++) {
		if (strcmp(answer_fact_column(answer, i)->name, name) == 0)
			return answer_fact_value(answer, i);
	}
	return NULL;
}

bool has_value(const struct hdb_value *value)
{
	return value && value->type != HDB_TYPE_NULL;
}

void prose_value(struct output *out, const struct hdb_value *value)
{
	const struct render_style style = { .format = FORMAT_TABLE, .human = true };
	struct bytes text = { 0 };

	if (!has_value(value))
		return;
	value_for_people(value, &style, &text);
	output_bytes(out, text.data ? text.data : "", text.size);
	output_release(out, &text);
}

void prose_object_name(struct output *out, const struct hdb_value *label, const struct hdb_value *id)
{
	prose_value(out, label);
	if (has_value(label) && has_value(id))
		output_char(out, ' ');
	prose_value(out, id);
}

void prose_retained(struct output *out, const struct hdb_value *retained)
{
	if (!has_value(retained))
		return;
	output_string(out, ", retained ");
	prose_value(out, retained);
}

int prose_footer(struct answer *answer, const struct render_style *style, struct output *out)
{
	char have[OUTPUT_NUMBER_SIZE], all[OUTPUT_NUMBER_SIZE];
	uint64_t total;
	int rc = answer_total(answer, &total);

	if (rc < 0 || answer->row_count >= total)
		return rc < 0 ? rc : HDB_OK;
	output_string(out, style->has_colour ? STYLE_DIM : "");
	output_format(out, "%.*s of %.*s rows (--limit all shows all)",
		      (int)format_thousands(have, answer->row_count, false), have,
		      (int)format_thousands(all, total, false), all);
	output_string(out, style->has_colour ? STYLE_END "\n" : "\n");
	return HDB_OK;
}

void prose_bold(struct output *out, const struct render_style *style, bool is_on)
{
	if (style->has_colour)
		output_string(out, is_on ? STYLE_BOLD : STYLE_END);
}

bool prose_has_boxes(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
