/*
 * api/trace.h - Perfetto traces in the place of dumps.
 */
#ifndef API_TRACE_H
#define API_TRACE_H

#include "import/import.h"
#include "perfetto/perfetto.h"

/* hdb_import and hdb_convert of an open trace; paths.dump is what it is called. */
int api_import_trace(struct perfetto *trace, struct import_paths paths,
		     const struct hdb_import_options *opt, struct hdb_import_result *out,
		     struct hdb_error *err);
int api_convert_trace(struct perfetto *trace, const char *out_path,
		      const struct hdb_convert_options *opt, struct hdb_output_result *out,
		      struct hdb_error *err);

#endif
