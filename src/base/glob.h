/* base/glob.h - matches names with patterns, and searches lists of names. */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/*
 * Whether `pattern` matches all of `text`. * and ? match any characters; [ and ] match themselves.
 */
bool base_glob(const char *pattern, const char *text);

/* Whether `name` is one of `names`, which are separated by |: "Google|LGE". */
bool base_is_among(const char *names, const char *name);

/* Whether one of the patterns, which are separated by commas or blanks, matches. */
bool base_glob_list(const char *patterns, const char *text);

#endif
