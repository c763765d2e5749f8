/*
 * serve/serve_pack.h - what is sent as gzip, to browsers that understand it.
 */
#ifndef HEAPDB_SERVE_PACK_H
#define HEAPDB_SERVE_PACK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether an Accept-Encoding allows gzip. */
bool serve_pack_allowed(const char *accepted);

/*
 * The bytes as gzip, owned, *packed of them; NULL: they are few or very many, do not become fewer,
 * or there is no memory.
 */
void *serve_pack(const void *data, size_t size, size_t *packed);

/*
 * Replaces the file by one without a name that has its bytes as gzip; false: it stays as it is, for
 * the reasons above.
 */
bool serve_pack_file(int *fd);

#endif
