/*
 * python/python_door.h - what the Python package calls by ctypes, besides heapdb.h.
 */
#ifndef PYTHON_DOOR_H
#define PYTHON_DOOR_H

#include "heapdb.h"

/* hdb_import, and hdb_default_path, also of a dump in an archive: a.zip, a.tar.xz!b/c.hprof. */
HDB_API int hdbpy_import(const char *dump_path, const char *db_path,
			 struct hdb_import_options *options, struct hdb_error *err);
HDB_API int hdbpy_default_path(const char *dump_path, char *out, size_t size,
			       struct hdb_error *err);

/* Of a statement. */
struct hdbpy_options {
	size_t batch_rows;          /* as of hdb_rows_arrow */
	const volatile int *cancel; /* lent until the stream's release; NULL: none */
	int all;                    /* SQL: tables show unreachable objects, too */
};

/*
 * The rows of an SQL statement as a stream of Arrow columns. `db` is lent until the stream's
 * release.
 */
HDB_API int hdbpy_sql(struct hdb *db, const char *statement, const struct hdbpy_options *opt,
		      struct ArrowArrayStream *out, struct hdb_error *err);
/* The same of a statement in MAT's query language. */
HDB_API int hdbpy_oql(struct hdb *db, const char *statement, const struct hdbpy_options *opt,
		      struct ArrowArrayStream *out, struct hdb_error *err);

/*
 * Why an SQL statement has no rows, if it asks for a class or kind that nothing has: 1, and a text
 * in `why`; else 0.
 */
HDB_API int hdbpy_why_empty(struct hdb *db, const char *statement, int all, char *why, size_t size);

/*
 * Writes what the stream gives into a file and releases it, also on failure. `format`: 0 Parquet,
 * 1 an Arrow file, 2 an Arrow stream. HDB_EEXIST if there is one and `force` is 0.
 */
HDB_API int hdbpy_write(struct ArrowArrayStream *stream, const char *path, int format, int force,
			struct hdb_error *err);

#endif
