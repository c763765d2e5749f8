/*
 * common/suggest.h - names: the nearest to one that was mistyped, and lists of them.
 */
#ifndef COMMON_SUGGEST_H
#define COMMON_SUGGEST_H

#include "heapdb.h"

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

/*
 * The class that may be meant by a name that is none: it ends so ("HashMap"), has that name in
 * another package, or is the nearest. NULL: there is none. Borrowed until hdb_close.
 */
const char *suggest_class(struct hdb *db, const char *wanted);

/* The place of a word in a list "a|b|c", or -1. */
int word_index(const char *word, const char *words);

#endif
