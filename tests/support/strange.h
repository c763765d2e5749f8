/*
 * support/strange.h - a dump in which everything that has a name or a text has a strange one:
 * classes, fields, methods, files, threads, loaders, heaps, strings, keys of maps, system
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

/* An object with fields, a class of strange name and one that it extends, to be asked for. */
#define STRANGE_OBJECT 0x20000u
#define STRANGE_CLASS 0x10c00u

/* Writes the dump with `count` (at least 1) names, used in turn. hw_release frees. */
void strange_dump(struct hw *w, const struct strange_name *names, size_t count);

#endif
