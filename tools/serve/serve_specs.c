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

static void put_key(FILE *out, const char *key, const char *value)
{
	fprintf(out, "\"%s\":", key);
	serve_put_json(out, value);
	fputs(",", out);
}

static void put_columns(FILE *out, const char *key, const struct hdb_column *columns, size_t count)
{
	fprintf(out, "\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ",{" : "{", out);
		put_key(out, "name", columns[i].name);
		put_key(out, "title", columns[i].title ? columns[i].title : columns[i].name);
		put_key(out, "help", columns[i].help);
		fprintf(out, "\"type\":\"%s\"}", type_name(columns[i].type));
	}
	fputs("]", out);
}

static void put_spec(FILE *out, const struct hdb_query_spec *spec)
{
	fputs("{", out);
	put_key(out, "name", spec->name);
	put_key(out, "aliases", spec->aliases);
	put_key(out, "group", spec->group);
	put_key(out, "targets", spec->targets);
	put_key(out, "summary", spec->summary);
	put_key(out, "example", spec->example);
	fputs("\"options\":[", out);
	for (const struct hdb_option_spec *o = spec->options; o->name; o++) {
		fputs(o == spec->options ? "{" : ",{", out);
		put_key(out, "name", o->name);
		put_key(out, "argument", o->argument);
		fputs("\"help\":", out);
		serve_put_json(out, o->help);
		fputs("}", out);
	}
	fputs("],", out);
	put_columns(out, "columns", spec->columns, spec->column_count);
	fputs(",", out);
	put_columns(out, "facts", spec->facts, spec->fact_count);
	fputs("}", out);
}

static void put_specs(FILE *out)
{
	size_t count;
	const struct hdb_query_spec *specs = hdb_queries(&count);

	fputs("[", out);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_spec(out, &specs[i]);
	}
	fputs("\n]", out);
}

void serve_specs(FILE *out)
{
	fprintf(out, "{\"schema\":%d,\"specs\":", HDB_SCHEMA);
	put_specs(out);
	fputs("}\n", out);
}

int serve_specs_json(char **text, size_t *size)
{
	struct serve_text made;

	if (serve_text_begin(&made))
		put_specs(made.out);
	if (!serve_text_end(&made)) {
		serve_text_release(&made);
		return HDB_ENOMEM;
	}
	*text = made.data;
	*size = made.size;
	return HDB_OK;
}

void serve_health(FILE *out, const struct serve_options *options, const struct serve_jobs *jobs)
{
	fprintf(out, "{\"schema\":%d,", HDB_SCHEMA);
	put_key(out, "version", hdb_version());
	fprintf(out, "\"sql\":%s,", options->write_sql ? "true" : "false");
	fprintf(out, "\"notes\":%s,", options->write_note ? "true" : "false");
	fputs("\"databases\":[", out);
	for (size_t i = 0; i < options->database_count; i++) {
		struct hdb_health health;

		serve_jobs_health(jobs, i, &health);
		fprintf(out, "%s{\"index\":%zu,", i ? "," : "", i);
		put_key(out, "name", options->databases[i].name);
		put_key(out, "stale", health.stale);
		fprintf(out, "\"android\":%s,", serve_jobs_is_android(jobs, i) ? "true" : "false");
		put_key(out, "incomplete", health.incomplete);
		fprintf(out, "\"missing_bytes\":%" PRIu64 "}", health.missing_bytes);
	}
	fputs("]}\n", out);
}
