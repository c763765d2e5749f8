/*
 * common/unique_names.h - names of columns that differ, whatever a statement calls them.
 */
#ifndef COMMON_UNIQUE_NAMES_H
#define COMMON_UNIQUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes names differ: of two "class" the second becomes "class_2", or the next number that no
 * column has. The names are malloc's; renamed ones are replaced. False: no memory.
 */
bool unique_names(char **names, size_t count);

#endif
