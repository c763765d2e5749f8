/*
 * import/sort_list.h - sorts what one object refers to: up to 32 indices.
 */
#ifndef IMPORT_SORT_LIST_H
#define IMPORT_SORT_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* Most that is sorted; so many entries from the first on must be readable. */
#define IMPORT_SORT_MAX 32u

#ifdef __x86_64__
/*
 * Sorts v[0] to v[n - 1], n from 1 to IMPORT_SORT_MAX; what is behind is read and left as it is.
 * Returns whether two are the same. For processors with AVX2.
 */
bool import_sort_avx2(uint32_t *v, unsigned n);
#endif

#endif
