/*
 * serve/serve_bundle.h - the page's files, inside the program. They are made by `make page` from
 * tools/serve/page and kept in tools/serve/bundle.
 */
#ifndef HEAPDB_SERVE_BUNDLE_H
#define HEAPDB_SERVE_BUNDLE_H

#include <stddef.h>

struct serve_file {
	const char *path; /* as in a URL */
	const char *type; /* Content-Type */
	const unsigned char *data, *end;
};

/* The file of that path, or NULL. Static. */
const struct serve_file *serve_bundle_file(const char *path);

#endif
