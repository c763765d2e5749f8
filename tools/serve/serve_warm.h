/*
 * serve/serve_warm.h - the questions that the page's first views ask, made ready before anybody
 * does.
 */
#ifndef HEAPDB_SERVE_WARM_H
#define HEAPDB_SERVE_WARM_H

#include "serve/serve_jobs.h"

/*
 * The question of that number, 0 and up, over all databases; they come in the order in which views
 * are likely to be opened. Owned: serve_job_free. NULL past the last, or if there is no memory.
 */
struct serve_job *serve_warm_job(size_t number, size_t database_count);

#endif
