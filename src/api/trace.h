/*
 * api/trace.h - Perfetto traces in the place of dumps.
 */
#ifndef API_TRACE_H
#define API_TRACE_H

#include "import/import.h"
#include "perfetto/perfetto.h"

/* hdb_import of a file that may be a trace: HDB_NOTFOUND if it is none. */
int api_import_trace(const char *dump_path, const char *db_path,
		     const struct hdb_import_options *opt, struct hdb_import_result *out,
		     struct hdb_error *err);

/* The work of an import with these options and that much memory. */
void api_import_work(struct base_work *work, const struct hdb_import_options *opt,
		     uint64_t memory_bytes);

/* hdb_convert of an open trace. */
int api_convert_trace(struct perfetto *trace, const char *out_path,
		      const struct hdb_convert_options *opt, struct hdb_output_result *out,
		      struct hdb_error *err);

#endif
