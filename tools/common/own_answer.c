/*
 * common/own_answer.c - implements own_answer.h.
 */
#include "common/answer.h"

#include "base/error.h"
#include "base/scope.h"

#include <math.h>
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
		/* NaN and infinities are not JSON numbers, so they are written as strings. */
		output_string(out, isfinite(value->d) ? "" : "\"");
		output_string(out, base_real(value->d, false).text);
		output_string(out, isfinite(value->d) ? "" : "\"");
	} else if (value->type == HDB_TYPE_TEXT) {
		output_json(out, value->text, value->text_size);
	} else {
		output_string(out, "null");
	}
}

int own_answer_json(const struct own_answer *own, bool is_sparse, char **text,
		    struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes into = { 0 };
	BASE_FREED struct output *out = NULL;
	struct answer answer = {
		.name = own->name,
		.source = &own->source,
		.facts = own->facts,
		.fact_count = own->fact_count,
		.is_sparse = is_sparse,
		.err = err,
	};
	int rc;

	*text = NULL;
	TRY(BASE_ALLOC(out, 1, "an answer", err));
	output_collect(out, &into);
	rc = render_json(&answer, out);
	output_char(out, '\0');
	output_collect_end(out);
	if (into.failed)
		return hdb_fail_memory(err, "an answer", into.size);
	TRY(rc);
	*text = into.data;
	into = (struct bytes){ 0 };
	return HDB_OK;
}
