/*
 * serve/serve_cache.h - cache of answers that took long to compute. Answers stay valid because open
 * databases do not change once their tables have been built. Thread-safe.
 */
#ifndef HEAPDB_SERVE_CACHE_H
#define HEAPDB_SERVE_CACHE_H

#include "serve/serve_jobs.h"

/* Maximum number of bytes of all cached answers together, and of a single answer. */
#define SERVE_CACHE_MAX ((size_t)24 << 20)
#define SERVE_CACHE_ANSWER_MAX ((size_t)4 << 20)

/* Minimum time to compute an answer that is cached. */
#define SERVE_CACHE_LEAST_MS 15

struct serve_cache;

/*
 * Creates a cache, which the caller must free with serve_cache_free. Returns NULL if memory is
 * exhausted.
 */
struct serve_cache *serve_cache_new(void);
void serve_cache_free(struct serve_cache *cache); /* NULL is allowed */

/*
 * Returns a key for a job. The order of options does not affect the key. The caller must free() the
 * key. Returns NULL if memory is exhausted.
 */
char *serve_cache_key(const struct serve_job *job);

/* Stores the first `size` bytes of the file, evicting the least recently used answers. */
void serve_cache_put(struct serve_cache *cache, const char *key, int fd, size_t size);

/* Writes a cached answer to the file. Returns false if the cache does not contain the answer. */
bool serve_cache_get(struct serve_cache *cache, const char *key, int fd);

#endif
