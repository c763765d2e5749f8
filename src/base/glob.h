/*
 * base/glob.h - names matched with patterns, and lists of names in one text.
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/* Whether `pattern` matches all of `text`: * and ? match any characters; [ and ] are themselves. */
bool base_glob(const char *pattern, const char *text);

/* Whether `name` is among `names`, which have | between them: "Google|LGE". */
bool base_is_among(const char *names, const char *name);

/* Whether one of the patterns, with commas and blanks between, matches. */
bool base_glob_list(const char *patterns, const char *text);

#endif
