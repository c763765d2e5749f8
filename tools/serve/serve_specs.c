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

static void put_key(struct bytes *out, const char *key, const char *value)
{
	bytes_format(out, "\"%s\":", key);
	escape_json(out, value);
	bytes_string(out, ",");
}

static void put_columns(struct bytes *out, const char *key, const struct hdb_column *columns,
			size_t count)
{
	bytes_format(out, "\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		bytes_string(out, i ? ",{" : "{");
		put_key(out, "name", columns[i].name);
		put_key(out, "title", columns[i].title ? columns[i].title : columns[i].name);
		put_key(out, "help", columns[i].help);
		bytes_format(out, "\"type\":\"%s\"}", type_name(columns[i].type));
	}
	bytes_string(out, "]");
}

static void put_spec(struct bytes *out, const struct hdb_query_spec *spec)
{
	bytes_string(out, "{");
	put_key(out, "name", spec->name);
	put_key(out, "aliases", spec->aliases);
	put_key(out, "group", spec->group);
	put_key(out, "targets", spec->targets);
	put_key(out, "summary", spec->summary);
	put_key(out, "example", spec->example);
	bytes_string(out, "\"options\":[");
	for (const struct hdb_option_spec *o = spec->options; o->name; o++) {
		bytes_string(out, o == spec->options ? "{" : ",{");
		put_key(out, "name", o->name);
		put_key(out, "argument", o->argument);
		bytes_string(out, "\"help\":");
		escape_json(out, o->help);
		bytes_string(out, "}");
	}
	bytes_string(out, "],");
	put_columns(out, "columns", spec->columns, spec->column_count);
	bytes_string(out, ",");
	put_columns(out, "facts", spec->facts, spec->fact_count);
	bytes_string(out, "}");
}

static void put_specs(struct bytes *out)
{
	size_t count;
	const struct hdb_query_spec *specs = hdb_queries(&count);

	bytes_string(out, "[");
	for (size_t i = 0; i < count; i++) {
		bytes_string(out, i ? ",\n" : "\n");
		put_spec(out, &specs[i]);
	}
	bytes_string(out, "\n]");
}

void serve_specs(struct bytes *out)
{
	bytes_format(out, "{\"schema\":%d,\"specs\":", HDB_SCHEMA);
	put_specs(out);
	bytes_string(out, "}\n");
}

int serve_specs_json(char **text, size_t *size)
{
	struct bytes made = { 0 };

	put_specs(&made);
	if (made.failed) {
		bytes_release(&made);
		return HDB_ENOMEM;
	}
	*text = made.data;
	*size = made.size;
	return HDB_OK;
}

void serve_health(struct bytes *out, const struct serve_options *options,
		  const struct serve_jobs *jobs)
{
	bytes_format(out, "{\"schema\":%d,", HDB_SCHEMA);
	put_key(out, "version", hdb_version());
	bytes_format(out, "\"sql\":%s,", options->write_sql ? "true" : "false");
	bytes_format(out, "\"notes\":%s,", options->notes ? "true" : "false");
	bytes_string(out, "\"databases\":[");
	for (size_t i = 0; i < options->database_count; i++) {
		struct hdb_health health;

		serve_jobs_health(jobs, i, &health);
		bytes_format(out, "%s{\"index\":%zu,", i ? "," : "", i);
		put_key(out, "name", options->databases[i].name);
		put_key(out, "stale", health.stale);
		bytes_format(out, "\"android\":%s,",
			     serve_jobs_is_android(jobs, i) ? "true" : "false");
		put_key(out, "incomplete", health.incomplete);
		bytes_format(out, "\"missing_bytes\":%" PRIu64 "}", health.missing_bytes);
	}
	bytes_string(out, "]}\n");
}
