/*
 * common/unique_names.h - makes the column names of a statement unique.
 */
#ifndef COMMON_UNIQUE_NAMES_H
#define COMMON_UNIQUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes names unique: a second "class" becomes "class_2", or the next free number. Names are
 * allocated with malloc, and replaced if they are renamed. Returns false if memory is exhausted.
 */
bool unique_names(char **names, size_t count);

#endif
