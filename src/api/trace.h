/*
 * api/trace.h - heaps in other formats than HPROF: graphs in Perfetto traces, portable
 * heap dumps.
 */
#ifndef API_TRACE_H
#define API_TRACE_H

#include "import/import.h"
#include "perfetto/perfetto.h"
#include "phd/phd.h"

/* An open file: one of the two. */
struct api_trace {
	struct perfetto *perfetto;
	struct phd *phd;
};

/*
 * HDB_NOTFOUND if it is neither: nothing of the input was taken then. Owned: api_trace_close, also
 * after a failure.
 */
int api_trace_open(struct api_trace *trace, struct base_input *input, struct phd_files files,
		   struct base_work *work, struct hdb_error *err);
void api_trace_close(struct api_trace *trace);

/* hdb_import of an open input, paths.input, that may be one: HDB_NOTFOUND if it is none. */
int api_import_trace(struct import_paths paths, const struct hdb_import_options *opt,
		     struct hdb_import_result *out, struct hdb_error *err);

/* The work of an import with these options and that much memory. */
void api_import_work(struct base_work *work, const struct hdb_import_options *opt,
		     uint64_t memory_bytes);

/* hdb_convert of an open one. */
int api_convert_trace(const struct api_trace *trace, const char *out_path,
		      const struct hdb_convert_options *opt, struct hdb_output_result *out,
		      struct hdb_error *err);

#endif
