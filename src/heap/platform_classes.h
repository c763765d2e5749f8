/*
 * heap/platform_classes.h - classes of the platform, which an application cannot change.
 */
#ifndef HEAP_PLATFORM_CLASSES_H
#define HEAP_PLATFORM_CLASSES_H

#include <stdbool.h>

/*
 * Whether a class is the platform's (java.*, android.*, primitive arrays, ...): a table of
 * prefixes.
 */
bool heap_is_platform_class(const char *class_name);

/* Whether it is an array of numbers, "byte[]". */
bool heap_is_number_array(const char *class_name);

/*
 * Whether its objects are only values or containers of the platform, like java.lang.Class,
 * java.lang.String, byte[] and Object[]: all of them together are never a suspect, for each is
 * there for a reason of its own.
 */
bool heap_is_value_class(const char *class_name);

#endif
