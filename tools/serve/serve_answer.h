/*
 * serve/serve_answer.h - runs a query or a statement and writes its rows: JSON for the page within
 * SERVE_ANSWER_MAX, or a file with all rows.
 */
#ifndef HEAPDB_SERVE_ANSWER_H
#define HEAPDB_SERVE_ANSWER_H

#include "base/flag.h"
#include "serve/serve_jobs.h"

#ifdef HAVE_SQLITE
#define SERVE_HAS_SQL true
#else
#define SERVE_HAS_SQL false
#endif

/* Data and settings that a worker provides for a job. All members are borrowed. */
struct serve_means {
	const struct serve_options *options;
	struct hdb *const *databases; /* handles of the worker; indexed by database */
	const base_flag *cancel;      /* nonzero: stop with HDB_EINTR */
};

/*
 * Write the rows of job->spec or of job->statement to job->fd. Returns HDB_OK even if an answer for
 * the page ends with an error in its JSON. The worker must close job->opened.
 */
int serve_query(const struct serve_means *means, struct serve_job *job);
int serve_sql(const struct serve_means *means, struct serve_job *job);

#endif
