/*
 * serve/serve_pack.h - gzip compression of answers for clients that accept it.
 */
#ifndef HEAPDB_SERVE_PACK_H
#define HEAPDB_SERVE_PACK_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether an Accept-Encoding allows gzip. */
bool serve_pack_allowed(const char *accepted);

/*
 * Returns the compressed bytes, which the caller must free(), and sets *packed to the number of
 * these bytes. Returns NULL if the input is too small, too large or not compressible, or if memory
 * is exhausted.
 */
void *serve_pack(const void *data, size_t size, size_t *packed);

/*
 * Replaces the file by an unnamed compressed file. Returns false if the file is not replaced, for
 * the same reasons as serve_pack.
 */
bool serve_pack_file(int *fd);

#endif
