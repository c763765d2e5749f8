/*
 * api/trace.h - imports and converts heaps in formats other than HPROF: Perfetto traces and
 * portable heap dumps.
 */
#ifndef API_TRACE_H
#define API_TRACE_H

#include "import/import.h"
#include "perfetto/perfetto.h"
#include "phd/phd.h"

/* An open file. Exactly one of the two members is set. */
struct api_trace {
	struct perfetto *perfetto;
	struct phd *phd;
};

/*
 * Opens an input. Returns HDB_NOTFOUND, and consumes nothing, if it has neither format. The caller
 * must call api_trace_close, even after a failure.
 */
int api_trace_open(struct api_trace *trace, struct base_input *input, struct phd_files files,
		   struct base_work *work, struct hdb_error *err);
void api_trace_close(struct api_trace *trace);

/*
 * Implements hdb_import for an open input, paths.input. Returns HDB_NOTFOUND if the input has
 * neither format.
 */
int api_import_trace(struct import_paths paths, const struct hdb_import_options *opt,
		     struct hdb_import_result *out, struct hdb_error *err);

/* Initialises `work` for an import with these options and this budget. */
void api_import_work(struct base_work *work, const struct hdb_import_options *opt,
		     uint64_t memory_bytes);

/* Implements hdb_convert for an open trace or portable heap dump. */
int api_convert_trace(const struct api_trace *trace, const char *out_path,
		      const struct hdb_convert_options *opt, struct hdb_output_result *out,
		      struct hdb_error *err);

#endif
