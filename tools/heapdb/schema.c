/*
 * heapdb/schema.c - `heapdb help --schema`: prints a JSON Schema of all --json output, generated
 * from the library's list of queries, so the schema always matches the output.
 */
#include "common/embed.h"
#include "heapdb/cli.h"
#include "heapdb/render.h"

#include <limits.h>

/* Writes "name":{...}, preceded by a comma unless it is the first member. */
static void put_key(struct output *out, const char *name, bool is_first)
{
	render_json_field(out, is_first ? "" : ",", name);
	output_char(out, ':');
}

static const char *type_of(enum hdb_type type)
{
	switch (type) {
	case HDB_TYPE_COUNT:
	case HDB_TYPE_BYTES:
		return "\"type\":[\"integer\",\"null\"],\"minimum\":0";
	case HDB_TYPE_INT:
		return "\"type\":[\"integer\",\"null\"]";
	case HDB_TYPE_DOUBLE:
		return "\"anyOf\":[{\"type\":[\"number\",\"null\"]},"
		       "{\"enum\":[\"NaN\",\"Infinity\",\"-Infinity\"]}]";
	case HDB_TYPE_PERCENT:
		return "\"type\":[\"number\",\"null\"]";
	case HDB_TYPE_BOOL:
		return "\"type\":[\"boolean\",\"null\"]";
	case HDB_TYPE_ID:
		return "\"type\":[\"string\",\"null\"],\"pattern\":\"^0x[0-9a-f]+$\"";
	case HDB_TYPE_TEXT:
	case HDB_TYPE_NULL:
		break;
	}
	return "\"type\":[\"string\",\"null\"]";
}

/* Type of functions that return a column or fact of a query. */
typedef const struct hdb_column *column_of(const struct hdb_query_spec *query, size_t no);

static void put_values(struct output *out, column_of *get, const struct hdb_query_spec *query,
		       bool is_first)
{
	const struct hdb_column *column;

	for (size_t i = 0; (column = get(query, i)) != NULL; i++) {
		put_key(out, column->name, is_first && i == 0);
		output_format(out, "{%s,\"description\":", type_of(column->type));
		render_json_string(out, column->help);
		output_char(out, '}');
	}
}

/* ---- arguments ---- */

static void put_choices(struct output *out, const char *words)
{
	output_string(out, "\"enum\":[");
	for (const char *w = words; *w;) {
		const size_t size = strcspn(w, "|");

		output_format(out, "%s\"%.*s\"", w == words ? "" : ",", (int)size, w);
		w += size + (w[size] == '|');
	}
	output_char(out, ']');
}

static void put_option_value(struct output *out, const struct hdb_option_spec *o)
{
	switch (o->type) {
	case HDB_OPTION_FLAG:
		output_string(out, "\"const\":true");
		break;
	case HDB_OPTION_CHOICE:
		put_choices(out, o->argument);
		break;
	case HDB_OPTION_NUMBER:
		output_string(out,
			      "\"type\":\"string\",\"pattern\":\"^[0-9]+([KMGTkmgt](i?B)?)?$\"");
		break;
	case HDB_OPTION_OBJECT:
	case HDB_OPTION_CLASSES:
	case HDB_OPTION_TEXT:
		output_string(out, "\"type\":\"string\"");
		break;
	}
}

static void put_option(struct output *out, const struct hdb_option_spec *o, bool is_first)
{
	put_key(out, o->name, is_first);
	render_json_field(out, "{\"description\":", o->help);
	if (o->default_value)
		render_json_field(out, ",\"default\":", o->default_value);
	if (o->is_repeated) {
		output_string(out, ",\"anyOf\":[{");
		put_option_value(out, o);
		output_string(out, "},{\"type\":\"array\",\"items\":{");
		put_option_value(out, o);
		output_string(out, "}}]}");
		return;
	}
	output_char(out, ',');
	put_option_value(out, o);
	output_char(out, '}');
}

static void put_arguments(struct output *out, const struct hdb_query_spec *spec)
{
	const struct hdb_option_spec *o;

	output_string(out, "\"arguments\":{\"type\":\"object\","
			   "\"required\":[\"targets\",\"options\",\"sort\",\"limit\"],"
			   "\"additionalProperties\":false,\"properties\":{"
			   "\"targets\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},");
	output_format(out, "\"minItems\":%u", spec->target_min);
	if (spec->target_max != UINT_MAX)
		output_format(out, ",\"maxItems\":%u", spec->target_max);
	output_string(out, "},\"options\":{\"type\":\"object\",\"additionalProperties\":false,"
			   "\"properties\":{");
	for (size_t n = 0; (o = hdb_query_option(spec, n)) != NULL; n++)
		put_option(out, o, n == 0);
	output_string(out, "}},\"sort\":{\"type\":[\"string\",\"null\"]},"
			   "\"limit\":{\"type\":[\"integer\",\"null\"],\"minimum\":1},"
			   "\"where\":{\"type\":\"string\"}}}");
}

/* ---- answers ---- */

static void put_rows(struct output *out, const struct hdb_query_spec *spec)
{
	/* the columns of the query instances are named after fields */
	output_format(out, "{\"type\":\"object\",\"additionalProperties\":%s,\"properties\":{",
		      strcmp(spec->name, "instances") == 0 ? "true" : "false");
	put_values(out, hdb_query_column, spec, true);
	output_string(out, "}}");
}

static void put_facts(struct output *out, const struct hdb_query_spec *spec)
{
	output_string(out, "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
	put_values(out, hdb_query_fact, NULL, true);
	put_values(out, hdb_query_fact, spec, !hdb_query_fact(NULL, 0));
	output_string(out, "}}");
}

/*
 * Writes the schema of a query's answer. Flags that run other queries, as in `info --tables`,
 * select the schemas of these queries.
 */
static void put_forms(struct output *out, const struct hdb_query_spec *spec,
		      void (*put)(struct output *out, const struct hdb_query_spec *spec))
{
	const struct hdb_option_spec *o;

	output_string(out, "{\"anyOf\":[");
	put(out, spec);
	for (size_t n = 0; (o = hdb_query_option(spec, n)) != NULL; n++) {
		const struct hdb_query_spec *other =
			o->type == HDB_OPTION_FLAG ? hdb_query_named(o->name) : NULL;

		if (other && strcmp(other->name, o->name) == 0) {
			output_char(out, ',');
			put(out, other);
		}
	}
	output_string(out, "]}");
}

static void put_answer(struct output *out, const struct hdb_query_spec *spec)
{
	put_key(out, spec->name, false);
	render_json_field(out, "{\"type\":\"object\",\"description\":", spec->summary);
	output_format(out,
		      ",\"required\":[\"schema\",\"query\",\"arguments\",\"facts\",\"columns\","
		      "\"rows\",\"row_count\",\"total_rows\"],\"additionalProperties\":false,"
		      "\"properties\":{\"schema\":{\"const\":%d},\"query\":{\"const\":\"%s\"},"
		      "\"section\":{\"type\":\"string\"},",
		      HDB_SCHEMA, spec->name);
	put_arguments(out, spec);
	output_string(out, ",\"facts\":");
	put_forms(out, spec, put_facts);
	output_string(out, ",\"columns\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
			   "\"uniqueItems\":true},\"rows\":{\"type\":\"array\",\"items\":");
	put_forms(out, spec, put_rows);
	output_string(
		out,
		"},\"row_count\":{\"type\":\"integer\",\"minimum\":0},"
		"\"total_rows\":{\"type\":[\"integer\",\"null\"],\"minimum\":0},"
		"\"notes\":{\"$ref\":\"#/$defs/notes\"},\"error\":{\"$ref\":\"#/$defs/failure\"}}}\n");
}

/* Answers that do not come from a query, and where their schemas are defined. */
static const struct {
	const char *query, *part;
} others[] = {
	{ "import", "import" },     { "capture", "capture" },      { "meminfo", "table" },
	{ "allocations", "table" }, { "export bitmaps", "table" }, { "sql", "table" },
	{ "oql", "table" },         { "notes", "table" },          { "jfr", "table" },
	{ "growth", "table" },      { "memory", "table" },
};
#define OTHER_COUNT BASE_COUNT(others)

static void put_case(struct output *out, const char *query, const char *part, bool is_first)
{
	output_format(out,
		      "%s{\"if\":{\"properties\":{\"query\":{\"const\":\"%s\"}}},"
		      "\"then\":{\"$ref\":\"#/$defs/%s\"}}\n",
		      is_first ? "" : ",", query, part);
}

/*
 * Writes the schema of any answer. The name of the query alone selects the schema, so that
 * validators need not try every alternative.
 */
static void put_any_answer(struct output *out, size_t count)
{
	output_string(out, "\"answer\":{\"required\":[\"query\"],"
			   "\"properties\":{\"query\":{\"enum\":[");
	for (size_t i = 0; i < OTHER_COUNT; i++)
		output_format(out, "%s\"%s\"", i ? "," : "", others[i].query);
	for (size_t i = 0; i < count; i++)
		output_format(out, ",\"%s\"", hdb_query_at(i)->name);
	output_string(out, "]}},\"allOf\":[\n");
	for (size_t i = 0; i < OTHER_COUNT; i++)
		put_case(out, others[i].query, others[i].part, i == 0);
	for (size_t i = 0; i < count; i++)
		put_case(out, hdb_query_at(i)->name, hdb_query_at(i)->name, false);
	output_string(out, "]}\n");
}

/* Schemas of other output. The columns of "table" depend on the statement or file. */
EMBED(schema_head, "tools/heapdb/schema_head.json");
static_assert(HDB_SCHEMA == 2, "schema_head.json says so");

void schema_print(struct output *out)
{
	const size_t count = hdb_query_count();

	output_string(out, (const char *)schema_head);
	put_any_answer(out, count);
	for (size_t i = 0; i < count; i++)
		put_answer(out, hdb_query_at(i));
	output_string(out, "}}\n");
}
