/*
 * heapdb/suggest.h - the name nearest to one that was mistyped.
 */
#ifndef HEAPDB_SUGGEST_H
#define HEAPDB_SUGGEST_H

#include <stddef.h>

struct suggest {
	const char *wanted; /* lent */
	size_t size;        /* its bytes */
	const char *best;   /* the nearest name tried; NULL: none is near */
	size_t distance;    /* of `best`, in letters to change */
};

void suggest_init(struct suggest *s, const char *wanted, size_t size);

/* Compares with one name (lent). */
void suggest_try(struct suggest *s, const char *name);

#endif
