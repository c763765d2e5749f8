/*
 * mcp/mcp_schema.c - describes queries as JSON schemas, and as documentation that a client reads
 * before calling a query by name. All texts come from the registry.
 */
#include "mcp_private.h"

#include <stdio.h>
#include <string.h>

static json_t *choice_of(const char *argument)
{
	json_t *words = json_array();

	for (const char *a = argument; *a;) {
		const size_t size = strcspn(a, "|");

		json_array_append_new(words, json_stringn(a, size));
		a += size + (a[size] == '|');
	}
	return words;
}

/* Option that tools omit because it concerns exit codes, and its columns. */
#define ABOUT_EXIT "fail-if"

static bool is_hidden(const struct hdb_option_spec *option)
{
	return strcmp(option->name, ABOUT_EXIT) == 0;
}

void mcp_plain(char *text)
{
	char *to = text;

	for (const char *c = text; *c; c++) {
		if (c[0] == '-' && c[1] == '-' && c[2] >= 'a' && c[2] <= 'z' &&
		    (c == text || strchr(" (\"'`", c[-1])))
			c += 2;
		*to++ = *c;
	}
	*to = 0;
}

/* Converts a help text: the option "--arrays" becomes the argument "arrays". */
static json_t *help_of(const char *argument, const char *help)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s%s%s", argument ? argument : "", argument ? ": " : "",
		 help);
	mcp_plain(text);
	return json_string(text);
}

const struct hdb_option_spec *mcp_find_option(const struct hdb_query_spec *spec, const char *name)
{
	const struct hdb_option_spec *o;

	for (size_t n = 0; (o = hdb_query_option(spec, n)) != NULL; n++) {
		if (strcmp(o->name, name) == 0 && !is_hidden(o))
			return o;
	}
	return NULL;
}

/* Makes {"type":..., "description":...}. */
static json_t *option_schema(const struct hdb_option_spec *option)
{
	json_t *schema = json_object();

	if (option->type == HDB_OPTION_FLAG) {
		json_object_set_new(schema, "type", json_string("boolean"));
	} else if (option->type == HDB_OPTION_CHOICE) {
		json_object_set_new(schema, "enum", choice_of(option->argument));
	} else if (option->type == HDB_OPTION_NUMBER) {
		json_object_set_new(schema, "type", json_pack("[s,s]", "number", "string"));
	} else {
		json_object_set_new(schema, "type", json_pack("[s,s]", "string", "array"));
		json_object_set_new(schema, "items", json_pack("{s:s}", "type", "string"));
	}
	json_object_set_new(
		schema, "description",
		help_of(option->type != HDB_OPTION_CHOICE ? option->argument : NULL, option->help));
	if (option->default_value)
		json_object_set_new(schema, "default", json_string(option->default_value));
	return schema;
}

/* Adds a property, unless an option of the query has the same name. */
static void property(json_t *properties, const char *name, json_t *schema)
{
	if (json_object_get(properties, name))
		json_decref(schema);
	else
		json_object_set_new(properties, name, schema);
}

static json_t *typed(const char *type, const char *description)
{
	return json_pack("{s:s, s:s}", "type", type, "description", description);
}

static json_t *texts(const char *description)
{
	return json_pack("{s:[s,s], s:{s:s}, s:s}", "type", "string", "array", "items", "type",
			 "string", "description", description);
}

static void put_budget(json_t *properties)
{
	property(properties, "max_tokens",
		 json_pack("{s:s, s:i, s:i, s:i, s:s}", "type", "integer", "minimum",
			   MCP_TOKENS_MIN, "maximum", MCP_TOKENS_MAX, "default", MCP_TOKENS_DEFAULT,
			   "description",
			   "Maximum size of the answer. A cursor returns further rows."));
}

static void put_limit(json_t *properties)
{
	property(properties, "limit",
		 json_pack("{s:s, s:i, s:s}", "type", "integer", "minimum", 1, "description",
			   "Maximum number of rows in this answer"));
}

static void put_rows(json_t *properties)
{
	property(properties, "sort",
		 typed("string",
		       "Column to sort by, largest numbers first. -column reverses the order."));
	put_limit(properties);
	property(properties, "columns",
		 json_pack("{s:s, s:{s:s}, s:s}", "type", "array", "items", "type", "string",
			   "description", "Columns to return"));
	property(properties, "cursor",
		 typed("string", "next_cursor of the previous answer to the same question. "
				 "Returns the next rows."));
}

/* Returns whether the query requires a target. Optional targets are in brackets. */
static bool needs_target(const struct hdb_query_spec *spec)
{
	return *spec->targets && *spec->targets != '[';
}

#define RULE_rule(word, text, nth) .name = text
#define RULE_takes(word, text, nth) .takes = MCP_TAKES_##word
#define RULE_type(word, text, nth) .type = text
#define RULE_help(word, text, nth) .help = text
static const struct argument {
	const char *name;
	unsigned takes;   /* enum mcp_takes */
	const char *type; /* NULL means a string or an array of strings */
	const char *help;
} arguments[] = {
#include <mcp/mcp_schema.rules.h>
};

/* Returns whether a call must have this argument. `takes` are all arguments of the tool. */
static bool is_required(const struct argument *a, const struct hdb_query_spec *spec, unsigned takes)
{
	switch (a->takes) {
	case MCP_TAKES_DUMP:
	case MCP_TAKES_STATEMENT:
		return true;
	case MCP_TAKES_NAME:
		return takes & MCP_TAKES_OPTIONS;
	case MCP_TAKES_BEFORE:
		return spec != NULL;
	case MCP_TAKES_FILES:
		return !(takes & MCP_TAKES_PROCESS);
	default:
		return false;
	}
}

/* Adds the options and the target of a query. */
static void put_query(const struct hdb_query_spec *spec, json_t *properties, json_t *required)
{
	const struct hdb_option_spec *o;
	char target[512];

	for (size_t n = 0; (o = hdb_query_option(spec, n)) != NULL; n++) {
		if (!is_hidden(o))
			json_object_set_new(properties, o->name, option_schema(o));
	}
	if (!spec || !*spec->targets)
		return;
	snprintf(target, sizeof(target), "%s%s", spec->targets,
		 strstr(spec->targets, "OBJECT") ? "; an object is an ID such as 0x12c4" : "");
	property(properties, "target", texts(target));
	if (needs_target(spec))
		json_array_append_new(required, json_string("target"));
}

json_t *mcp_schema_of(const struct hdb_query_spec *spec, unsigned takes)
{
	json_t *properties = json_object(), *required = json_array(), *schema;

	put_query(spec, properties, required);
	for (size_t i = 0; i < BASE_COUNT(arguments); i++) {
		const struct argument *a = &arguments[i];

		if (!(takes & a->takes))
			continue;
		property(properties, a->name, a->type ? typed(a->type, a->help) : texts(a->help));
		if (is_required(a, spec, takes))
			json_array_append_new(required, json_string(a->name));
	}
	if (takes & MCP_TAKES_STATEMENT)
		put_limit(properties);
	if (takes & MCP_TAKES_ROWS)
		put_rows(properties);
	if (takes & MCP_TAKES_BUDGET)
		put_budget(properties);
	schema = json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
			   "additionalProperties", 0);
	if (json_array_size(required))
		json_object_set(schema, "required", required);
	json_decref(required);
	return schema;
}

json_t *mcp_schema_output(unsigned takes)
{
	if (!(takes & (MCP_TAKES_ROWS | MCP_TAKES_STATEMENT)))
		return json_pack("{s:s}", "type", "object");
	return json_pack(
		"{s:s, s:{s:{s:s}, s:{s:s, s:{s:s}}, s:{s:s}, s:{s:s}, s:{s:s}}, s:[s, s]}", "type",
		"object", "properties", "facts", "type", "object", "rows", "type", "array", "items",
		"type", "object", "row_count", "type", "integer", "total_rows", "type", "integer",
		"next_cursor", "type", "string", "required", "rows", "row_count");
}

/* ---- explain ---- */

static const char *type_name(enum hdb_type type)
{
	static const char *const names[] = {
		[HDB_TYPE_NULL] = "null",     [HDB_TYPE_PERCENT] = "percent",
		[HDB_TYPE_COUNT] = "count",   [HDB_TYPE_BYTES] = "bytes",
		[HDB_TYPE_ID] = "id",         [HDB_TYPE_INT] = "integer",
		[HDB_TYPE_DOUBLE] = "number", [HDB_TYPE_BOOL] = "bool",
		[HDB_TYPE_TEXT] = "text",
	};

	return names[type];
}

/* Makes {"retained": "bytes: what would be freed", ...}. */
static json_t *columns_of(const struct hdb_query_spec *spec,
			  const struct hdb_column *(*get)(const struct hdb_query_spec *query,
							  size_t no))
{
	json_t *object = json_object();
	const struct hdb_column *column;

	for (size_t i = 0; (column = get(spec, i)) != NULL; i++) {
		if (!strstr(column->help, "--" ABOUT_EXIT))
			json_object_set_new(object, column->name,
					    help_of(type_name(column->type), column->help));
	}
	return object;
}

/* Returns the next word of a command line without quotes; "" at the end. */
static json_t *next_word(const char **text)
{
	const char *word = *text + strspn(*text, " ");
	const char *ends = *word == '\'' || *word == '"' ? word : " ";
	const char quote[2] = { *ends, 0 };
	size_t size;

	word += *ends != ' ';
	size = strcspn(word, quote);
	*text = word + size + (word[size] != 0);
	return json_stringn(word, size);
}

/* Converts an example from a command line to arguments of the tool "query". */
static json_t *example_of(const struct hdb_query_spec *spec)
{
	json_t *options = json_object(), *targets = json_array();
	const char *rest = spec->example;

	while (*rest) {
		json_t *word = next_word(&rest);
		const char *text = json_string_value(word);

		if (text && strncmp(text, "--", 2) == 0) {
			const struct hdb_option_spec *option = mcp_find_option(spec, text + 2);
			json_t *value = option && option->argument ? next_word(&rest) : json_true();

			json_object_set_new(options, text + 2, value);
		} else {
			json_array_append(targets, word);
		}
		json_decref(word);
	}
	return json_pack("{s:s, s:o, s:o}", "name", spec->name, "target", targets, "options",
			 options);
}

json_t *mcp_schema_explain(const struct hdb_query_spec *spec)
{
	const struct hdb_option_spec *o;
	json_t *options = json_object();
	json_t *about = json_pack("{s:s, s:s, s:s, s:s}", "query", spec->name, "group", spec->group,
				  "summary", spec->summary, "target", spec->targets);

	for (size_t n = 0; (o = hdb_query_option(spec, n)) != NULL; n++) {
		if (!is_hidden(o))
			json_object_set_new(options, o->name,
					    help_of(o->argument ? o->argument : "switch", o->help));
	}
	json_object_set_new(about, "options", options);
	json_object_set_new(about, "columns", columns_of(spec, hdb_query_column));
	json_object_set_new(about, "facts", columns_of(spec, hdb_query_fact));
	json_object_set_new(about, "example", example_of(spec));
	if (spec->aliases)
		json_object_set_new(about, "aliases", json_string(spec->aliases));
	return about;
}

json_t *mcp_schema_queries(void)
{
	const size_t count = hdb_query_count();
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name",
						      hdb_query_at(i)->name, "group",
						      hdb_query_at(i)->group, "target",
						      hdb_query_at(i)->targets, "summary",
						      hdb_query_at(i)->summary));
	return json_pack("{s:o}", "queries", list);
}
