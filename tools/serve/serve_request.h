/*
 * serve/serve_request.h - a request's arguments made a question. Works on plain texts.
 */
#ifndef HEAPDB_SERVE_REQUEST_H
#define HEAPDB_SERVE_REQUEST_H

#include "serve/serve_jobs.h"

/*
 * One argument of the URL for the job: "db", "before", "target", "sort", "limit", "job", or an
 * option of its query. `value` may be NULL. HDB_EUSAGE with a message in `err`.
 */
int serve_request_argument(struct serve_job *job, size_t database_count, const char *key,
			   const char *value, struct hdb_error *err);

#endif
