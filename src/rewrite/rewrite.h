/*
 * rewrite/rewrite.h - the implementation of hdb_convert, hdb_strip and hdb_redact; see heapdb.h.
 * `work` contains budget, threads and progress. Options must not be NULL, but `out` may be NULL.
 */
#ifndef REWRITE_REWRITE_H
#define REWRITE_REWRITE_H

#include "base/input.h"
#include "base/work.h"

/* The dump to read, and the dump to write. */
struct rewrite_paths {
	const char *in;
	const char *out;
	struct base_input *input; /* the open file `in`, or NULL; borrowed */
};

/*
 * Returns how the output is compressed. For HDB_PACKING_AUTO, the name of the file determines this.
 */
enum base_packing rewrite_packing(const struct hdb_output_options *options, const char *path);

int rewrite_convert(struct rewrite_paths paths, const struct hdb_convert_options *opt,
		    struct base_work *work, struct hdb_output_result *out, struct hdb_error *err);
int rewrite_strip(struct rewrite_paths paths, const struct hdb_strip_options *opt,
		  struct base_work *work, struct hdb_output_result *out, struct hdb_error *err);
int rewrite_redact(struct rewrite_paths paths, const struct hdb_redact_options *opt,
		   struct base_work *work, struct hdb_output_result *out, struct hdb_error *err);

#endif
