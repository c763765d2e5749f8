/*
 * common/descriptor.h - names of classes as the JVM writes them, made names that people write.
 */
#ifndef COMMON_DESCRIPTOR_H
#define COMMON_DESCRIPTOR_H

#include <stddef.h>

/*
 * Writes "int[][]" for "[[I" and "p.A" for "Lp.A;" into `out`, `size` bytes, at least one, with its
 * zero; what is none of both is copied. A name that does not fit is cut. Returns its bytes.
 */
size_t descriptor_name(const char *text, char *out, size_t size);

#endif
