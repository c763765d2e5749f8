/*
 * base/suggest.h - finds the known name that is nearest to a mistyped name, and searches word
 * lists.
 */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

struct base_suggest {
	const char *wanted; /* borrowed */
	size_t size;        /* its bytes */
	const char *best;   /* nearest candidate so far; NULL if none is near */
	size_t distance;    /* edit distance of `best` */
};

void base_suggest_init(struct base_suggest *s, const char *wanted, size_t size);

/* Compares the word with a candidate (borrowed). */
void base_suggest_try(struct base_suggest *s, const char *name);

/* Names of classes, which must outlive the suggestion. */
struct base_suggest_names {
	uint32_t count;
	const char *(*name)(void *ctx, uint32_t no);
	void *ctx;
};

/*
 * Suggests a class for an unknown name: a class whose name ends with it ("HashMap"), a class with
 * the same simple name in another package, or the nearest class by edit distance of the whole or
 * the simple name. Returns NULL if no class is near.
 */
const char *base_suggest_class(const char *wanted, const struct base_suggest_names *names);

/* Returns the index of a word in a list "a|b|c", or -1 if it is not in the list. */
int base_word_index(const char *word, const char *words);

#endif
