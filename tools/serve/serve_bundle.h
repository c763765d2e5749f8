/*
 * serve/serve_bundle.h - the page's files, embedded in the program. `make page` builds them from
 * tools/serve/page into tools/serve/bundle.
 */
#ifndef HEAPDB_SERVE_BUNDLE_H
#define HEAPDB_SERVE_BUNDLE_H

#include <stddef.h>

struct serve_file {
	const char *path; /* path of the file in a URL */
	const char *type; /* Content-Type */
	const unsigned char *data, *end;
};

/* Returns the file with this path, or NULL if there is no such file. The file is static. */
const struct serve_file *serve_bundle_file(const char *path);

#endif
