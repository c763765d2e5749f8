/*
 * serve/serve_request.h - converts the arguments of a request to a job. Works on plain text.
 */
#ifndef HEAPDB_SERVE_REQUEST_H
#define HEAPDB_SERVE_REQUEST_H

#include "serve/serve_jobs.h"

/*
 * Parses the number of a database, which must be below `count`. Returns false if the number is
 * invalid.
 */
bool serve_request_database(const char *text, size_t count, size_t *number);

/*
 * Adds one URL argument to the job. All jobs accept "db" and "job". A query accepts also its
 * options, "before", "target", "sort", and "limit" or "format"; a statement accepts "q", "all", and
 * "limit" or "format"; a value, "id", "from" and "count"; a bitmap, "id", "width", "height" and
 * "pixel". `value` may be NULL. Fails with HDB_EUSAGE for other arguments and invalid values.
 */
int serve_request_argument(struct serve_job *job, size_t database_count, const char *key,
			   const char *value, struct hdb_error *err);

/* Call after the last argument. Returns HDB_EUSAGE if a required argument is missing. */
int serve_request_check(const struct serve_job *job, struct hdb_error *err);

#endif
