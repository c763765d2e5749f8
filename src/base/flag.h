/*
 * base/flag.h - a flag that another thread or a signal handler may set, such as `cancel`.
 *
 * The type is the one in heapdb.h, which other languages such as C++ must be able to declare. It
 * cannot be _Atomic, so the functions use the compiler's builtins. A flag does not order accesses
 * to other memory.
 */
#ifndef BASE_FLAG_H
#define BASE_FLAG_H

#include <stdbool.h>
#include <stddef.h>

typedef volatile int base_flag;

static inline int base_flag_value(const base_flag *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static inline void base_flag_set(base_flag *flag, int value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELAXED);
}

/* Returns whether the flag is nonzero. NULL is a flag that is never set. */
static inline bool base_flag_is_set(const base_flag *flag)
{
	return flag && base_flag_value(flag) != 0;
}

#endif
