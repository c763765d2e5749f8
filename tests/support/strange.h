/*
 * support/strange.h - a dump in which every name and every text is strange: names of classes,
 * fields, methods, files, threads, class loaders and heaps, strings, keys of maps, and system
 * properties.
 */
#ifndef SUPPORT_STRANGE_H
#define SUPPORT_STRANGE_H

#include "support/hprof_writer.h"

/* A name: any bytes. */
struct strange_name {
	const uint8_t *data;
	size_t size;
};

/* Targets for queries: an object with fields, a class with a strange name, and its superclass. */
#define STRANGE_OBJECT 0x20000u
#define STRANGE_CLASS 0x10c00u

/*
 * Writes the dump. Its names are taken in turn from `count` (at least 1) names. Release it with
 * hw_release.
 */
void strange_dump(struct hw *w, const struct strange_name *names, size_t count);

#endif
