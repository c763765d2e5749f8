/*
 * python/python_door.c - functions for the Python package in addition to the library: SQL, OQL, and
 * files of columns. These functions and the library form the only shared library of the wheel. Only
 * its embedded SQLite is used.
 */
#include "python_door.h"

#include "base/plain_locale.h"
#include "common/feed.h"
#include "export/export.h"
#include "memory/memory.h"
#include "oql/oql.h"
#include "watch/watch.h"

#include <stdlib.h>
#include <string.h>

int hdbpy_import(const char *dump_path, const char *db_path, struct hdb_import_options *options,
		 struct hdb_error *err)
{
	struct feed *feed;
	int r = feed_open(dump_path, NULL, &options->progress, &feed, err);

	if (r < 0)
		return r;
	if (feed)
		options->dump_name = dump_path;
	return feed_close(feed, hdb_import(feed_path(feed, dump_path), db_path, options, NULL, err),
			  db_path, err);
}

int hdbpy_default_path(const char *dump_path, char *out, size_t size, struct hdb_error *err)
{
	return feed_default_path(dump_path, out, size, err);
}

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"

int hdbpy_sql(struct hdb *db, const char *statement, const struct hdbpy_options *opt,
	      struct ArrowArrayStream *out, struct hdb_error *err)
{
	const struct heapsql_arrow_options options = {
		.sql = { .cancel = opt->cancel },
		.batch_rows = opt->batch_rows,
		.all = opt->all != 0,
	};

	return heapsql_arrow(db, statement, &options, out, err);
}

int hdbpy_why_empty(struct hdb *db, const char *statement, int all, char *why, size_t size)
{
	const struct heapsql_database database = { .db = db, .all = all != 0 };

	return heapsql_why_source_empty(&database, statement, why, size);
}
#endif

int hdbpy_oql(struct hdb *db, const char *statement, const struct hdbpy_options *opt,
	      struct ArrowArrayStream *out, struct hdb_error *err)
{
	BASE_PLAIN_LOCALE;
	const struct oql_options options = {
		.batch_rows = opt->batch_rows,
		.progress = { .cancel = opt->cancel },
	};
	const struct oql_str text = { statement, strlen(statement) };
#ifdef HAVE_SQLITE
	char *sql = NULL;
	int r = oql_to_sql(text, &sql, err); /* a statement in VisualVM's dialect */

	if (r == HDB_OK)
		r = hdbpy_sql(db, sql, opt, out, err);
	free(sql);
	if (r != HDB_NOTFOUND)
		return r;
#endif
	return oql_arrow(db, text, &options, out, err);
}

int hdbpy_growth(const char *const *paths, size_t count, char **text, struct hdb_error *err)
{
	BASE_PLAIN_LOCALE;

	return growth_json(paths, count, false, text, err);
}

int hdbpy_memory(int pid, const char *const *files, size_t count, struct hdb *db,
		 const base_flag *cancel, char **text, struct hdb_error *err)
{
	BASE_PLAIN_LOCALE;
	const struct memory_sources sources = { pid, files, count, db, cancel };

	return memory_json(&sources, false, text, err);
}

void hdbpy_free(char *text)
{
	free(text);
}

int hdbpy_write(struct ArrowArrayStream *stream, const char *path, int format, int force,
		struct hdb_error *err)
{
	const struct export_options options = { .format = (enum export_format)format };
	const struct base_outfile_options opening = { .force = force != 0 };
	struct base_outfile *file = NULL;
	struct export_sink sink;
	int r = HDB_OK;

	if (format < EXPORT_PARQUET || format > EXPORT_ARROW_STREAM)
		r = HDB_EUSAGE;
	if (r >= 0)
		r = base_outfile_create(path, &opening, &file, err);
	if (r >= 0) {
		sink = export_file_sink(file);
		r = export_stream(stream, &options, &sink, NULL, err);
	}
	if (r >= 0)
		r = base_outfile_finish(file, NULL, err);
	else
		base_outfile_abort(file);
	stream->release(stream);
	return r;
}
