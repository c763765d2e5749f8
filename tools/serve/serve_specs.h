/*
 * serve/serve_specs.h - describes the queries and databases as JSON for the page.
 */
#ifndef HEAPDB_SERVE_SPECS_H
#define HEAPDB_SERVE_SPECS_H

#include "common/escape.h"
#include "serve/serve_jobs.h"

/* Writes all queries: names, options, columns with types, and facts. */
void serve_specs(struct bytes *out);

/* Writes the version, and the name and health of each database. */
void serve_health(struct bytes *out, const struct serve_options *options,
		  const struct serve_jobs *jobs);

#endif
