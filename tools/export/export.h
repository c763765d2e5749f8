/*
 * export/export.h - rows as Parquet and Arrow files, out of a stream of columns. The one header of
 * the room that the command sees.
 *
 * Files have the same bytes for the same rows. What is kept of them in memory is one row group as
 * it is written, compressed, and one batch of rows: the heap's size does not matter.
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

/* zstd's level if nothing is said. */
#define EXPORT_LEVEL 3

struct export_options {
	enum export_format format;
	int is_plain;  /* nonzero: nothing is compressed */
	int level;     /* zstd's; 0: EXPORT_LEVEL */
	uint64_t rows; /* of a row group; 0: 1,048,576 */
	/* Pairs of key and value that the file carries, ended by NULL; NULL: none. Lent. */
	const char *const *notes;
};

/* Takes bytes, in order: HDB_OK, or a failure, which ends the writing. */
struct export_sink {
	int (*write)(void *ctx, const void *data, size_t size, struct hdb_error *err);
	void *ctx;
};

struct export_result {
	uint64_t rows, bytes; /* written */
	uint64_t raw_bytes;   /* of the columns as they came */
};

/*
 * Writes all that the stream gives, whose columns are those of hdb_rows_arrow; releasing it stays
 * the caller's. `out` may be NULL. HDB_EUSAGE for columns of other types.
 */
int export_stream(struct ArrowArrayStream *stream, const struct export_options *options,
		  const struct export_sink *sink, struct export_result *out, struct hdb_error *err);

/* Writes into a file, which is lent. */
struct export_sink export_file_sink(struct base_outfile *file);

#endif
