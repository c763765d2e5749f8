/*
 * common/shorten.h - names of classes without their packages, for lines that would not fit a
 * terminal.
 */
#ifndef COMMON_SHORTEN_H
#define COMMON_SHORTEN_H

#include "common/escape.h"

/*
 * Appends `text` with each package of a class name as its first letters: "java.util.HashMap$Node"
 * becomes "j.u.HashMap$Node". What stands in quotes is a value and stays as it is; so do names
 * without a class ("java.util"), numbers, file names, and what sets a terminal's colours. Returns
 * the bytes left out, each of which is one column on a terminal.
 */
size_t shorten_names(struct bytes *out, const char *text, size_t size);

/* The same without packages: "HashMap$Node". */
size_t shorten_packages(struct bytes *out, const char *text, size_t size);

#endif
