/*
 * serve/serve_cache.h - a cache of answers that took long to compute.
 * Databases do not change while they are open, once their tables are built. Any thread may call.
 */
#ifndef HEAPDB_SERVE_CACHE_H
#define HEAPDB_SERVE_CACHE_H

#include "serve/serve_jobs.h"

/* Bytes of all answers that are kept, and of one. */
#define SERVE_CACHE_MAX ((size_t)24 << 20)
#define SERVE_CACHE_ANSWER_MAX ((size_t)4 << 20)

/* An answer that was made faster is made again. */
#define SERVE_CACHE_LEAST_MS 15

struct serve_cache;

/* NULL: no memory. Owned: serve_cache_free. */
struct serve_cache *serve_cache_new(void);
void serve_cache_free(struct serve_cache *cache); /* NULL is fine */

/* What a job asks, whatever the order of its options. Owned: free(). NULL: no memory. */
char *serve_cache_key(const struct serve_job *job);

/* Keeps the first `size` bytes of the file; the answers asked for longest ago make room. */
void serve_cache_put(struct serve_cache *cache, const char *key, int fd, size_t size);

/* Writes a kept answer to the file; false if there is none. */
bool serve_cache_get(struct serve_cache *cache, const char *key, int fd);

#endif
