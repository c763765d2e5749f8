/*
 * python/python_door.h - functions that the Python package calls through ctypes, besides heapdb.h.
 */
#ifndef PYTHON_DOOR_H
#define PYTHON_DOOR_H

#include "heapdb.h"

#include "base/flag.h"

/*
 * Like hdb_import and hdb_default_path, but also accept dumps in archives: a.zip,
 * a.tar.xz!b/c.hprof.
 */
HDB_API int hdbpy_import(const char *dump_path, const char *db_path,
			 struct hdb_import_options *options, struct hdb_error *err);
HDB_API int hdbpy_default_path(const char *dump_path, char *out, size_t size,
			       struct hdb_error *err);

/* Options of a statement. */
struct hdbpy_options {
	size_t batch_rows;       /* as in hdb_rows_arrow */
	const base_flag *cancel; /* borrowed until the stream's release, or NULL if none */
	int all;                 /* SQL: whether tables include unreachable objects */
};

/*
 * Runs an SQL statement and fills *out (borrowed) with an Arrow stream of its rows. `db` is
 * borrowed until the stream's release.
 */
HDB_API int hdbpy_sql(struct hdb *db, const char *statement, const struct hdbpy_options *opt,
		      struct ArrowArrayStream *out, struct hdb_error *err);
/* Like hdbpy_sql, for a statement in MAT's OQL. */
HDB_API int hdbpy_oql(struct hdb *db, const char *statement, const struct hdbpy_options *opt,
		      struct ArrowArrayStream *out, struct hdb_error *err);

/*
 * Explains why an SQL statement has no rows, if it refers to a class or kind that does not occur:
 * returns 1 and a string in `why`. Otherwise returns 0.
 */
HDB_API int hdbpy_why_empty(struct hdb *db, const char *statement, int all, char *why, size_t size);

/*
 * Return the output of `heapdb growth --json` and `heapdb memory --json`. The caller must free
 * *text with hdbpy_free. 0 as `pid` means no process, and NULL as `db` no database.
 */
HDB_API int hdbpy_growth(const char *const *paths, size_t count, char **text,
			 struct hdb_error *err);
HDB_API int hdbpy_memory(int pid, const char *const *files, size_t count, struct hdb *db,
			 const base_flag *cancel, char **text, struct hdb_error *err);
HDB_API void hdbpy_free(char *text);

/*
 * Writes a stream to a file and releases the stream, even after a failure. `format` is 0 for
 * Parquet, 1 for an Arrow file, and 2 for an Arrow stream. Fails with HDB_EEXIST if the file exists
 * and `force` is 0.
 */
HDB_API int hdbpy_write(struct ArrowArrayStream *stream, const char *path, int format, int force,
			struct hdb_error *err);

#endif
