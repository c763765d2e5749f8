/*
 * serve/serve_specs.c - implements serve_specs.h.
 */
#include "serve/serve_specs.h"

#include "base/table.h"
#include "serve/serve_answer.h"

#include <inttypes.h>

static const char *type_name(enum hdb_type type)
{
	static const char *const names[] = { "null",   "count", "bytes", "id",    "int",
					     "double", "bool",  "text",  "double" };

	return (size_t)type < BASE_COUNT(names) ? names[type] : "null";
}

static void put_key(struct bytes *out, const char *key, const char *value)
{
	bytes_format(out, "\"%s\":", key);
	escape_json(out, value);
	bytes_string(out, ",");
}

/* Type of functions that return a column or fact of a query. */
typedef const struct hdb_column *column_of(const struct hdb_query_spec *query, size_t no);

static void put_columns(struct bytes *out, const char *key, column_of *get,
			const struct hdb_query_spec *query)
{
	const struct hdb_column *column;

	bytes_format(out, "\"%s\":[", key);
	for (size_t i = 0; (column = get(query, i)) != NULL; i++) {
		bytes_string(out, i ? ",{" : "{");
		put_key(out, "name", column->name);
		put_key(out, "title", column->title ? column->title : column->name);
		put_key(out, "help", column->help);
		bytes_format(out, "\"type\":\"%s\"}", type_name(column->type));
	}
	bytes_string(out, "]");
}

static void put_options(struct bytes *out, const struct hdb_query_spec *spec)
{
	const struct hdb_option_spec *o;

	for (size_t n = 0; (o = hdb_query_option(spec, n)) != NULL; n++) {
		bytes_string(out, n == 0 ? "{" : ",{");
		put_key(out, "name", o->name);
		put_key(out, "argument", o->argument);
		put_key(out, "default_value", o->default_value);
		bytes_string(out, "\"help\":");
		escape_json(out, o->help);
		bytes_string(out, "}");
	}
}

static void put_spec(struct bytes *out, const struct hdb_query_spec *spec, bool has_options)
{
	bytes_string(out, "{");
	put_key(out, "name", spec->name);
	put_key(out, "aliases", spec->aliases);
	put_key(out, "group", spec->group);
	put_key(out, "targets", spec->targets);
	put_key(out, "summary", spec->summary);
	put_key(out, "example", spec->example);
	bytes_string(out, "\"options\":[");
	if (has_options)
		put_options(out, spec);
	bytes_string(out, "],");
	put_columns(out, "columns", hdb_query_column, spec);
	bytes_string(out, ",");
	put_columns(out, "facts", hdb_query_fact, spec);
	bytes_string(out, "}");
}

/*
 * Writes the queries for which is_wanted(name) is true, without their options. If is_wanted is
 * NULL, writes all queries with their options.
 */
static void put_specs(struct bytes *out, bool is_wanted(const char *query))
{
	const size_t count = hdb_query_count();
	bool is_first = true;

	bytes_string(out, "[");
	for (size_t i = 0; i < count; i++) {
		const struct hdb_query_spec *spec = hdb_query_at(i);

		if (is_wanted && !is_wanted(spec->name))
			continue;
		bytes_string(out, is_first ? "\n" : ",\n");
		put_spec(out, spec, !is_wanted);
		is_first = false;
	}
	bytes_string(out, "\n]");
}

void serve_specs(struct bytes *out)
{
	bytes_format(out, "{\"schema\":%d,\"specs\":", HDB_SCHEMA);
	put_specs(out, NULL);
	bytes_string(out, "}\n");
}

int serve_columns_json(bool is_wanted(const char *query), char **text, size_t *size)
{
	struct bytes made = { 0 };

	put_specs(&made, is_wanted);
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
	bytes_format(out, "\"sql\":%s,", SERVE_HAS_SQL ? "true" : "false");
	bytes_format(out, "\"notes\":%s,", options->notes ? "true" : "false");
	bytes_string(out, "\"files\":[");
	for (size_t i = 0; i < options->file_count; i++)
		bytes_format(out, "%s\"%s\"", i ? "," : "", options->files[i]);
	bytes_string(out, "],\"databases\":[");
	for (size_t i = 0; i < options->database_count; i++) {
		const struct hdb_health *health = serve_jobs_health(jobs, i);

		bytes_format(out, "%s{\"index\":%zu,", i ? "," : "", i);
		put_key(out, "name", options->databases[i].name);
		put_key(out, "stale", health->stale);
		bytes_format(out, "\"android\":%s,",
			     serve_jobs_is_android(jobs, i) ? "true" : "false");
		bytes_format(out, "\"replaced\":%s,",
			     serve_jobs_is_replaced(jobs, i) ? "true" : "false");
		put_key(out, "incomplete", health->incomplete);
		bytes_format(out, "\"missing_bytes\":%" PRIu64 "}", health->missing_bytes);
	}
	bytes_string(out, "]}\n");
}
