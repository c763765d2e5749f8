/*
 * base/prefetch.h - prefetches memory that will be used soon.
 *
 * GCC considers a function that only prefetches to have no effect, and removes calls of it. The
 * empty assembler statement prevents this.
 */
#ifndef BASE_PREFETCH_H
#define BASE_PREFETCH_H

#include <stdint.h>

/* Prefetches memory for reading. Any address is allowed. */
static inline void prefetch_read(const volatile void *p)
{
	__builtin_prefetch((const void *)(uintptr_t)p);
	__asm__ volatile("");
}

/* Prefetches memory for writing. */
static inline void prefetch_write(const volatile void *p)
{
	__builtin_prefetch((const void *)(uintptr_t)p, 1);
	__asm__ volatile("");
}

#endif
