/*
 * rewrite/secret_report.h - searches strings for secrets. The report states where the secrets are
 * without revealing them.
 */
#ifndef REWRITE_SECRET_REPORT_H
#define REWRITE_SECRET_REPORT_H

#include "base/outfile.h"
#include "rewrite/rewriter.h"

struct rewrite_secrets;

/*
 * Begins a report of tab-separated values. The file `path` appears only when the report is
 * complete. The caller must close *out with rewrite_secrets_close.
 */
int rewrite_secrets_open(const char *path, bool force, struct rewrite_secrets **out,
			 struct hdb_error *err);

/* Searches an array of bytes or chars. `is_kept` means that its contents remain in the dump. */
int rewrite_secrets_array(struct rewrite_secrets *secrets, struct rewriter *w,
			  const struct hprof_sub *sub, bool is_kept, struct hdb_error *err);
/* Searches a string record. `is_kept` means that the string remains in the dump. */
int rewrite_secrets_record(struct rewrite_secrets *secrets, struct rewriter *w,
			   const struct hprof_record *rec, bool is_kept, struct hdb_error *err);

/* Completes the report and moves it to its final name. Sets *count to the number of findings. */
int rewrite_secrets_finish(struct rewrite_secrets *secrets, uint64_t *count, struct hdb_error *err);
/* NULL is allowed. */
void rewrite_secrets_close(struct rewrite_secrets *secrets);

#endif
