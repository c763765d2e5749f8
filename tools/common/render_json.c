/*
 * common/render_json.c - writes answers as one JSON object, or one object per line, directly to the
 * output buffer, since an export has millions of rows. IDs are strings, because many readers lose
 * digits of numbers above 2^53. Other values are numbers, regardless of their size.
 */
#include "common/answer.h"

#include "base/try.h"

#include <string.h>

void render_json_string(struct output *out, const char *string)
{
	output_json(out, string, strlen(string));
}

void render_json_field(struct output *out, const char *before, const char *text)
{
	output_string(out, before);
	if (text)
		render_json_string(out, text);
	else
		output_string(out, "null");
}

static void put_row(struct answer *answer, size_t columns, struct output *out)
{
	bool is_first = true;

	for (size_t i = 0; i < columns; i++) {
		const struct hdb_value *value = answer_value(answer, i);

		if (answer->is_sparse && value->type == HDB_TYPE_NULL)
			continue;
		render_json_field(out, is_first ? "{" : ",", answer_column(answer, i)->name);
		output_char(out, ':');
		json_value(out, value);
		is_first = false;
	}
	output_string(out, is_first ? "{}" : "}");
}

static bool is_given_before(const struct hdb_option *options, size_t option)
{
	for (size_t i = 0; i < option; i++)
		if (strcmp(options[i].name, options[option].name) == 0)
			return true;
	return false;
}

/* Writes "by":"class","brief":true. An option given several times is a list. */
static void put_options(const struct answer *answer, struct output *out)
{
	const struct hdb_query_args *args = answer->args;
	const size_t count = args ? args->option_count : 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = args->options[i].name;
		size_t times = 0;

		if (is_given_before(args->options, i))
			continue;
		for (size_t k = i; k < count; k++)
			times += strcmp(args->options[k].name, name) == 0;
		render_json_field(out, i ? "," : "", name);
		output_string(out, times > 1 ? ":[" : ":");
		for (size_t k = i, done = 0; k < count; k++) {
			if (strcmp(args->options[k].name, name) != 0)
				continue;
			output_string(out, done++ ? "," : "");
			if (args->options[k].value)
				render_json_string(out, args->options[k].value);
			else
				output_string(out, "true");
		}
		output_string(out, times > 1 ? "]" : "");
	}
}

/*
 * Writes the request: "arguments":{"targets":[...],"options":{...},"sort":...,"limit":...}, and
 * "where" if present.
 */
static void put_arguments(const struct answer *answer, struct output *out)
{
	const struct hdb_query_args *args = answer->args;

	output_string(out, ",\"arguments\":{\"targets\":[");
	for (size_t i = 0; args && i < args->target_count; i++) {
		render_json_field(out, i ? "," : "", args->targets[i]);
	}
	output_string(out, "],\"options\":{");
	put_options(answer, out);
	render_json_field(out, "},\"sort\":", args ? args->sort : NULL);
	output_string(out, ",\"limit\":");
	if (args && args->limit)
		output_u64(out, args->limit);
	else
		output_string(out, "null");
	if (args && args->filter && args->filter->text)
		render_json_field(out, ",\"where\":", args->filter->text);
	output_char(out, '}');
}

/*
 * Lists the columns of a statement that are sizes, because column definitions of queries do not
 * apply to statements.
 */
static void put_byte_columns(const struct answer *answer, size_t columns, struct output *out)
{
	size_t count = 0;

	for (size_t i = 0; i < columns; i++) {
		if (answer_column(answer, i)->type != HDB_TYPE_BYTES)
			continue;
		render_json_field(out, count++ ? "," : "],\"in_bytes\":[",
				  answer_column(answer, i)->name);
	}
}

static void put_head(struct answer *answer, size_t columns, struct output *out)
{
	output_format(out, "{\"schema\":%d,\"query\":", HDB_SCHEMA);
	render_json_string(out, answer->name);
	if (answer->section)
		render_json_field(out, ",\"section\":", answer->section);
	if (answer->rows)
		put_arguments(answer, out);
	output_string(out, ",\"facts\":{");
	for (size_t i = 0; i < answer_fact_count(answer); i++) {
		output_string(out, i ? ",\"" : "\"");
		output_string(out, answer_fact_column(answer, i)->name);
		output_string(out, "\":");
		json_value(out, answer_fact_value(answer, i));
	}
	output_string(out, "},\"columns\":[");
	for (size_t i = 0; i < columns; i++)
		render_json_field(out, i ? "," : "", answer_column(answer, i)->name);
	if (answer->source)
		put_byte_columns(answer, columns, out);
	output_string(out, "],\"rows\":[");
}

/*
 * Rows are written as they arrive, so a failure can leave an object incomplete (is_open). The
 * runner then completes it with the key "error".
 */
int render_json(struct answer *answer, struct output *out)
{
	const size_t columns = answer_column_count(answer);
	uint64_t total = 0;
	int rc;

	put_head(answer, columns, out);
	while ((rc = answer_next(answer, out)) == HDB_OK) {
		output_string(out, answer->row_count > 1 ? ",\n" : "\n");
		put_row(answer, columns, out);
	}
	if (rc == HDB_END)
		rc = answer_total(answer, &total);
	output_string(out, answer->row_count > 0 ? "\n],\"row_count\":" : "],\"row_count\":");
	output_u64(out, answer->row_count);
	output_string(out, ",\"total_rows\":");
	if (rc == HDB_OK)
		output_u64(out, total);
	else
		output_string(out, "null");
	if (answer->put_more)
		answer->put_more(answer, out);
	answer->is_open = rc != HDB_OK;
	TRY(rc);
	output_string(out, "}\n");
	return HDB_OK;
}

int render_jsonl(struct answer *answer, struct output *out)
{
	const size_t columns = answer_column_count(answer);
	int rc;

	while ((rc = answer_next(answer, out)) == HDB_OK) {
		put_row(answer, columns, out);
		output_char(out, '\n');
	}
	return rc == HDB_END ? HDB_OK : rc;
}

void render_json_error(struct output *out, bool is_open, const struct hdb_error *err, int exit_code)
{
	if (is_open)
		output_char(out, ',');
	else
		output_format(out, "{\"schema\":%d,", HDB_SCHEMA);
	render_json_field(out, "\"error\":{\"code\":", hdb_result_name(err->code));
	output_format(out, ",\"exit\":%d,\"message\":", exit_code);
	render_json_string(out, err->message);
	output_string(out, "}}\n");
}
