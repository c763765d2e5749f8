/*
 * rewrite/rewrite.h - the bodies of hdb_convert, hdb_strip and hdb_redact, see heapdb.h. `work`
 * carries budget, threads and progress; options are not NULL, `out` may be.
 */
#ifndef REWRITE_REWRITE_H
#define REWRITE_REWRITE_H

#include "base/work.h"

int rewrite_convert(const char *in_path, const char *out_path,
		    const struct hdb_convert_options *opt, struct base_work *work,
		    struct hdb_output_result *out, struct hdb_error *err);
int rewrite_strip(const char *in_path, const char *out_path, const struct hdb_strip_options *opt,
		  struct base_work *work, struct hdb_output_result *out, struct hdb_error *err);
int rewrite_redact(const char *in_path, const char *out_path, const struct hdb_redact_options *opt,
		   struct base_work *work, struct hdb_output_result *out, struct hdb_error *err);

#endif
