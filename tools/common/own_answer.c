/*
 * common/own_answer.c - see own_answer.h.
 */
#include "common/own_answer.h"

#include "base/error.h"
#include "base/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct hdb_value text_value(const char *text)
{
	const bool has_text = text && *text;

	return (struct hdb_value){
		.type = has_text ? HDB_TYPE_TEXT : HDB_TYPE_NULL,
		.text = text,
		.text_size = has_text ? strlen(text) : 0,
	};
}

struct hdb_value number_value(enum hdb_type type, uint64_t u)
{
	return (struct hdb_value){ .type = type, .u = u };
}

struct hdb_value known_value(enum hdb_type type, uint64_t u)
{
	return number_value(u ? type : HDB_TYPE_NULL, u);
}

struct own_fact text_fact(const char *name, const char *title, const char *text)
{
	return (struct own_fact){ { name, HDB_TYPE_TEXT, title, NULL }, text_value(text) };
}

struct own_fact number_fact(const char *name, const char *title, enum hdb_type type, uint64_t u)
{
	return (struct own_fact){ { name, type, title, NULL }, number_value(type, u) };
}

struct own_fact known_fact(const char *name, const char *title, enum hdb_type type, uint64_t u)
{
	return number_fact(name, title, known_value(type, u).type, u);
}

bool value_for_programs(struct output *out, const struct hdb_value *value)
{
	switch (value->type) {
	case HDB_TYPE_COUNT:
	case HDB_TYPE_BYTES:
		output_u64(out, value->u);
		return true;
	case HDB_TYPE_INT:
		output_i64(out, value->i);
		return true;
	case HDB_TYPE_PERCENT:
		if (isfinite(value->d))
			output_format(out, "%.2f", value->d);
		return isfinite(value->d);
	case HDB_TYPE_BOOL:
		output_string(out, value->u ? "true" : "false");
		return true;
	case HDB_TYPE_ID:
	case HDB_TYPE_DOUBLE:
	case HDB_TYPE_TEXT:
	case HDB_TYPE_NULL:
		break;
	}
	return false;
}

void json_value(struct output *out, const struct hdb_value *value)
{
	if (value_for_programs(out, value))
		return;
	if (value->type == HDB_TYPE_ID) {
		output_char(out, '"');
		output_id(out, value->u);
		output_char(out, '"');
	} else if (value->type == HDB_TYPE_DOUBLE) {
		/* NaN and infinities are not JSON numbers: write text. */
		output_string(out, isfinite(value->d) ? "" : "\"");
		output_string(out, base_real(value->d, false).text);
		output_string(out, isfinite(value->d) ? "" : "\"");
	} else if (value->type == HDB_TYPE_TEXT) {
		output_json(out, value->text, value->text_size);
	} else {
		output_string(out, "null");
	}
}

static void put_name(struct output *out, const char *before, const char *name)
{
	output_string(out, before);
	output_json(out, name, strlen(name));
}

static void put_head(const struct own_answer *answer, struct output *out)
{
	const struct row_source *source = &answer->source;
	bool has_bytes = false;

	output_format(out, "{\"schema\":%d,\"query\":", HDB_SCHEMA);
	put_name(out, "", answer->name);
	output_string(out, ",\"facts\":{");
	for (size_t i = 0; i < answer->fact_count; i++) {
		put_name(out, i ? "," : "", answer->facts[i].column.name);
		output_char(out, ':');
		json_value(out, &answer->facts[i].value);
	}
	output_string(out, "},\"columns\":[");
	for (size_t i = 0; i < source->count; i++)
		put_name(out, i ? "," : "", source->columns[i].name);
	for (size_t i = 0; i < source->count; i++)
		if (source->columns[i].type == HDB_TYPE_BYTES) {
			put_name(out, has_bytes ? "," : "],\"in_bytes\":[",
				 source->columns[i].name);
			has_bytes = true;
		}
	output_string(out, "],\"rows\":[");
}

static void put_row(const struct row_source *source, bool is_sparse, struct output *out)
{
	bool is_first = true;

	for (size_t i = 0; i < source->count; i++) {
		if (is_sparse && source->cells[i].type == HDB_TYPE_NULL)
			continue;
		put_name(out, is_first ? "{" : ",", source->columns[i].name);
		output_char(out, ':');
		json_value(out, &source->cells[i]);
		is_first = false;
	}
	output_string(out, is_first ? "{}" : "}");
}

static int put_answer(const struct own_answer *answer, bool is_sparse, struct output *out,
		      struct hdb_error *err)
{
	uint64_t rows = 0;
	int rc;

	put_head(answer, out);
	for (; (rc = answer->source.next(answer->source.ctx, err)) == HDB_OK; rows++) {
		output_string(out, rows ? ",\n" : "\n");
		put_row(&answer->source, is_sparse, out);
	}
	output_string(out, rows ? "\n],\"row_count\":" : "],\"row_count\":");
	output_u64(out, rows);
	output_string(out, ",\"total_rows\":");
	output_u64(out, rows);
	output_string(out, "}\n");
	return rc == HDB_END ? HDB_OK : rc;
}

int own_answer_json(const struct own_answer *answer, bool is_sparse, char **text,
		    struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes into = { 0 };
	BASE_FREED struct output *out = NULL;

	*text = NULL;
	TRY(BASE_ALLOC(out, 1, "an answer", err));
	output_collect(out, &into);
	TRY(put_answer(answer, is_sparse, out, err));
	output_char(out, '\0');
	output_collect_end(out);
	if (into.failed)
		return hdb_fail_memory(err, "an answer", into.size);
	*text = into.data;
	into = (struct bytes){ 0 };
	return HDB_OK;
}
