/* base/glob.h - matches names with patterns, and searches lists of names. */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/*
 * Returns whether `pattern` matches all of `text`. * matches any number of characters and ? matches
 * one; [ and ] match themselves.
 */
bool base_glob(const char *pattern, const char *text);

/* Returns whether `name` is one of `names`, a list separated by |, such as "Google|LGE". */
bool base_is_among(const char *names, const char *name);

/* Returns whether `text` matches any pattern of a list separated by commas or blanks. */
bool base_glob_list(const char *patterns, const char *text);

#endif
