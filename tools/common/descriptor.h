/*
 * common/descriptor.h - converts the JVM's type descriptors to Java names.
 */
#ifndef COMMON_DESCRIPTOR_H
#define COMMON_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes "int[][]" for "[[I" and "p.A" for "Lp.A;" to `out` (`size` bytes, at least one, including
 * the zero). Other text is copied. This includes "J", which is the name of a class: heap dumps use
 * the characters of primitive types only in the names of arrays. A name that does not fit is
 * truncated. Returns its length in bytes.
 */
size_t descriptor_name(const char *text, char *out, size_t size);

/* Returns whether the text begins with the name of a class in a package of the JDK. */
bool descriptor_is_of_jdk(const char *name, size_t size);

#endif
