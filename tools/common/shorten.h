/*
 * common/shorten.h - shortens class names in lines too wide for a terminal.
 */
#ifndef COMMON_SHORTEN_H
#define COMMON_SHORTEN_H

#include "common/escape.h"

/*
 * Appends `text` with packages of class names reduced to their initials: "java.util.HashMap$Node"
 * becomes "j.u.HashMap$Node". Quoted values, package names without a class ("java.util"), numbers,
 * file names and colour escapes stay unchanged. Returns the number of removed bytes, each of which
 * takes one column.
 */
size_t shorten_names(struct bytes *out, const char *text, size_t size);

/* Like shorten_names, but removes packages: "HashMap$Node". */
size_t shorten_packages(struct bytes *out, const char *text, size_t size);

#endif
