/*
 * common/library.h - loads libraries needed by few commands on demand: linking them would take a
 * third of every command's startup time.
 */
#ifndef COMMON_LIBRARY_H
#define COMMON_LIBRARY_H

#include "heapdb.h"

/* Converts a file name that the Makefile defines without quotes to a string. */
#define LIBRARY_QUOTED(name) LIBRARY_QUOTED_AS_IT_STANDS(name)
#define LIBRARY_QUOTED_AS_IT_STANDS(name) #name

struct library_function {
	const char *name;
	void *place; /* pointer to the function pointer to set */
};

/*
 * Loads the library unless it is already loaded. Returns HDB_EIO if the library is not installed.
 */
int library_load(const char *file, const struct library_function *functions, size_t count,
		 struct hdb_error *err);

#endif
