/*
 * rewrite/rewrite.h - implements hdb_convert, hdb_strip and hdb_redact; see heapdb.h. `work`
 * provides memory budget, threads and progress. `out` may be NULL; options may not.
 */
#ifndef REWRITE_REWRITE_H
#define REWRITE_REWRITE_H

#include "base/input.h"
#include "base/work.h"

/* Paths of the dump to read and the dump to write. */
struct rewrite_paths {
	const char *in;
	const char *out;
	struct base_input *input; /* the open file `in`, or NULL; borrowed */
};

/* Returns the compression of the output. HDB_PACKING_AUTO selects it by the file name. */
enum base_packing rewrite_packing(const struct hdb_output_options *options, const char *path);

int rewrite_convert(struct rewrite_paths paths, const struct hdb_convert_options *opt,
		    struct base_work *work, struct hdb_output_result *out, struct hdb_error *err);
int rewrite_strip(struct rewrite_paths paths, const struct hdb_strip_options *opt,
		  struct base_work *work, struct hdb_output_result *out, struct hdb_error *err);
int rewrite_redact(struct rewrite_paths paths, const struct hdb_redact_options *opt,
		   struct base_work *work, struct hdb_output_result *out, struct hdb_error *err);

#endif
