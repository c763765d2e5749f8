/*
 * common/suggest.h - finds the known name nearest to a mistyped one; searches word lists.
 */
#ifndef COMMON_SUGGEST_H
#define COMMON_SUGGEST_H

#include "heapdb.h"

#include <stddef.h>

struct suggest {
	const char *wanted; /* lent */
	size_t size;        /* its bytes */
	const char *best;   /* nearest name tried; NULL: none is near */
	size_t distance;    /* edit distance of `best` */
};

void suggest_init(struct suggest *s, const char *wanted, size_t size);

/* Compares with a candidate (lent). */
void suggest_try(struct suggest *s, const char *name);

/*
 * Suggests a class for an unknown name: one that ends with it ("HashMap"), has the same simple name
 * in another package, or the nearest by edit distance. Returns NULL if there is none. Borrowed
 * until hdb_close.
 */
const char *suggest_class(struct hdb *db, const char *wanted);

/* Index of a word in a list "a|b|c", or -1. */
int word_index(const char *word, const char *words);

#endif
