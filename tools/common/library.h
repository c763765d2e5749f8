/*
 * common/library.h - libraries that only some commands need, loaded when one does: what they bring
 * would be a third of the time that every command needs before it begins.
 */
#ifndef COMMON_LIBRARY_H
#define COMMON_LIBRARY_H

#include "heapdb.h"

/* The name of a file that the Makefile gives without quotes. */
#define LIBRARY_QUOTED(name) LIBRARY_QUOTED_AS_IT_STANDS(name)
#define LIBRARY_QUOTED_AS_IT_STANDS(name) #name

struct library_function {
	const char *name;
	void *place; /* a pointer to the function, which is set */
};

/* HDB_OK, also if it is already loaded; HDB_EIO: it is not on this machine. */
int library_load(const char *file, const struct library_function *functions, size_t count,
		 struct hdb_error *err);

#endif
