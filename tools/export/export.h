/*
 * export/export.h - writes a stream of columns as Parquet or Arrow files. The command includes no
 * other header of this directory.
 *
 * The same rows always give the same bytes. Memory is needed for one encoded row group and one
 * batch, independent of the size of the heap.
 */
#ifndef HEAPDB_EXPORT_H
#define HEAPDB_EXPORT_H

#include "heapdb.h"

#include "base/outfile.h"

enum export_format {
	EXPORT_PARQUET,
	EXPORT_ARROW,       /* Arrow IPC file, also called Feather 2 */
	EXPORT_ARROW_STREAM /* Arrow IPC stream */
};

/* Default zstd level. */
#define EXPORT_LEVEL 3

struct export_options {
	enum export_format format;
	int is_plain;  /* nonzero: no compression */
	int level;     /* zstd level; 0: EXPORT_LEVEL */
	uint64_t rows; /* rows in a row group; 0: 1,048,576 */
	/* Key/value pairs stored in the file, terminated by NULL; borrowed, or NULL if none. */
	const char *const *notes;
};

/* Receives bytes in order. A failure ends the export. */
struct export_sink {
	int (*write)(void *ctx, const void *data, size_t size, struct hdb_error *err);
	void *ctx;
};

struct export_result {
	uint64_t rows, bytes; /* totals written */
	uint64_t raw_bytes;   /* size of all columns before encoding */
};

/*
 * Writes a whole stream. The caller must release the stream afterwards. `out` may be NULL. Returns
 * HDB_EUSAGE if a column has a type that hdb_rows_arrow does not use.
 */
int export_stream(struct ArrowArrayStream *stream, const struct export_options *options,
		  const struct export_sink *sink, struct export_result *out, struct hdb_error *err);

/* Writes into a file, which is borrowed. */
struct export_sink export_file_sink(struct base_outfile *file);

#endif
