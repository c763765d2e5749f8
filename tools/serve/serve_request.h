/*
 * serve/serve_request.h - a request's arguments made a question. Works on plain texts.
 */
#ifndef HEAPDB_SERVE_REQUEST_H
#define HEAPDB_SERVE_REQUEST_H

#include "serve/serve_jobs.h"

/* Reads the number of a database, which is below `count`; false: it is none. */
bool serve_request_database(const char *text, size_t count, size_t *number);

/*
 * One argument of the URL for the job. Every kind knows "db" and "job"; a query "before", "target",
 * "sort", "limit" or "format", and its options; a statement "q", "limit" or "format", and "all";
 * a value "id", "from" and "count"; a bitmap "id", "width", "height" and "pixel".
 * `value` may be NULL. HDB_EUSAGE with a message in `err`.
 */
int serve_request_argument(struct serve_job *job, size_t database_count, const char *key,
			   const char *value, struct hdb_error *err);

/* Whether what a job of its kind must have is there; after the last argument. HDB_EUSAGE. */
int serve_request_check(const struct serve_job *job, struct hdb_error *err);

#endif
