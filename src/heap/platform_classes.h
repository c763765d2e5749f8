/*
 * heap/platform_classes.h - recognises platform classes, which an application cannot change.
 */
#ifndef HEAP_PLATFORM_CLASSES_H
#define HEAP_PLATFORM_CLASSES_H

#include <stdbool.h>

/*
 * Returns whether a class belongs to the platform (java.*, android.*, primitive arrays and so on),
 * according to a table of prefixes.
 */
bool heap_is_platform_class(const char *class_name);

/*
 * Returns whether a class belongs to a library that many applications use, according to a table of
 * prefixes.
 */
bool heap_is_library_class(const char *class_name);

/*
 * Return whether a class, or the class of a method, belongs to the application rather than to the
 * platform, and was not generated for a lambda. The first function accepts library classes too.
 */
bool heap_is_own_class(const char *class_name);
bool heap_is_application_class(const char *class_name);

/*
 * Returns whether a class is anonymous, such as "a.Cache$1". An anonymous collection class holds
 * the objects that its enclosing class stores in it.
 */
bool heap_is_anonymous_class(const char *class_name);

/* Returns whether the class is an array of numbers, such as "byte[]". */
bool heap_is_number_array(const char *class_name);

/*
 * Returns whether the class is a value or container class of the platform, such as java.lang.Class,
 * java.lang.String, byte[] or Object[]. Such a class as a whole is never a leak suspect, because
 * its objects have nothing to do with each other.
 */
bool heap_is_value_class(const char *class_name);

#endif
