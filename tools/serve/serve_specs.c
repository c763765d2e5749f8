/*
 * serve/serve_specs.c - what can be asked, and of what.
 */
#include "serve/serve_specs.h"

#include <inttypes.h>

static const char *type_name(enum hdb_type type)
{
	static const char *const names[] = { "null",   "count", "bytes", "id",    "int",
					     "double", "bool",  "text",  "double" };

	return (size_t)type < sizeof(names) / sizeof(names[0]) ? names[type] : "null";
}

static void put_key(struct serve_text *text, const char *key, const char *value)
{
	serve_text_format(text, "\"%s\":", key);
	serve_text_json(text, value);
	serve_text_string(text, ",");
}

static void put_columns(struct serve_text *text, const char *key, const struct hdb_column *columns,
			size_t count)
{
	serve_text_format(text, "\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		serve_text_string(text, i ? ",{" : "{");
		put_key(text, "name", columns[i].name);
		put_key(text, "title", columns[i].title ? columns[i].title : columns[i].name);
		put_key(text, "help", columns[i].help);
		serve_text_format(text, "\"type\":\"%s\"}", type_name(columns[i].type));
	}
	serve_text_string(text, "]");
}

static void put_spec(struct serve_text *text, const struct hdb_query_spec *spec)
{
	serve_text_string(text, "{");
	put_key(text, "name", spec->name);
	put_key(text, "aliases", spec->aliases);
	put_key(text, "group", spec->group);
	put_key(text, "targets", spec->targets);
	put_key(text, "summary", spec->summary);
	put_key(text, "example", spec->example);
	serve_text_string(text, "\"options\":[");
	for (const struct hdb_option_spec *o = spec->options; o->name; o++) {
		serve_text_string(text, o == spec->options ? "{" : ",{");
		put_key(text, "name", o->name);
		put_key(text, "argument", o->argument);
		serve_text_string(text, "\"help\":");
		serve_text_json(text, o->help);
		serve_text_string(text, "}");
	}
	serve_text_string(text, "],");
	put_columns(text, "columns", spec->columns, spec->column_count);
	serve_text_string(text, ",");
	put_columns(text, "facts", spec->facts, spec->fact_count);
	serve_text_string(text, "}");
}

static void put_specs(struct serve_text *text)
{
	size_t count;
	const struct hdb_query_spec *specs = hdb_queries(&count);

	serve_text_string(text, "[");
	for (size_t i = 0; i < count; i++) {
		serve_text_string(text, i ? ",\n" : "\n");
		put_spec(text, &specs[i]);
	}
	serve_text_string(text, "\n]");
}

void serve_specs(struct serve_text *text)
{
	serve_text_format(text, "{\"schema\":%d,\"specs\":", HDB_SCHEMA);
	put_specs(text);
	serve_text_string(text, "}\n");
}

int serve_specs_json(char **text, size_t *size)
{
	struct serve_text out = { 0 };

	put_specs(&out);
	if (out.failed) {
		serve_text_release(&out);
		return HDB_ENOMEM;
	}
	*text = out.data;
	*size = out.size;
	return HDB_OK;
}

void serve_health(struct serve_text *text, const struct serve_options *options,
		  const struct serve_jobs *jobs)
{
	serve_text_format(text, "{\"schema\":%d,", HDB_SCHEMA);
	put_key(text, "version", hdb_version());
	serve_text_string(text, "\"databases\":[");
	for (size_t i = 0; i < options->database_count; i++) {
		struct hdb_health health;

		serve_jobs_health(jobs, i, &health);
		serve_text_format(text, "%s{\"index\":%zu,", i ? "," : "", i);
		put_key(text, "name", options->databases[i].name);
		put_key(text, "stale", health.stale);
		put_key(text, "incomplete", health.incomplete);
		serve_text_format(text, "\"missing_bytes\":%" PRIu64 "}", health.missing_bytes);
	}
	serve_text_string(text, "]}\n");
}
