/*
 * base/prefetch.h - prefetching of memory that is used soon.
 *
 * GCC takes a function that does nothing but prefetch for one without effect, and drops its calls;
 * hence the empty instruction.
 */
#ifndef BASE_PREFETCH_H
#define BASE_PREFETCH_H

#include <stdint.h>

/* To be read; any address will do. */
static inline void prefetch_read(const volatile void *p)
{
	__builtin_prefetch((const void *)(uintptr_t)p);
	__asm__ volatile("");
}

/* To be written. */
static inline void prefetch_write(const volatile void *p)
{
	__builtin_prefetch((const void *)(uintptr_t)p, 1);
	__asm__ volatile("");
}

#endif
