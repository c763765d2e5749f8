/* serve/serve_warm.h - the requests of the page's first views, which are answered in advance. */
#ifndef HEAPDB_SERVE_WARM_H
#define HEAPDB_SERVE_WARM_H

#include "serve/serve_jobs.h"

/*
 * Returns request `number`, from 0, over all databases, in the order in which views are likely to
 * be opened. The caller must release it with serve_job_free. Returns NULL after the last request,
 * or if memory is exhausted.
 */
struct serve_job *serve_warm_job(size_t number, size_t database_count);

#endif
