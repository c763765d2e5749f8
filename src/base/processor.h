/*
 * base/processor.h - detects instructions that not every x86-64 processor has.
 *
 * Intel processors since 2013 and AMD processors since 2015 count, find and move bits in one
 * instruction. A hot function that depends on this is compiled twice: its body is `static inline`,
 * and one of its two callers has the attribute PROCESSOR_BITS, with which the compiler inlines
 * everything and uses these instructions. -DPROCESSOR_PLAIN disables this for tests.
 */
#ifndef BASE_PROCESSOR_H
#define BASE_PROCESSOR_H

#include <stdbool.h>

#ifdef __x86_64__
#define PROCESSOR_BITS __attribute__((target("popcnt,bmi,bmi2"), flatten))
#else
#define PROCESSOR_BITS
#endif

/*
 * Not every C library provides the table that the compiler uses, so base/platform.c queries the
 * processor.
 */
#if defined(PORTABLE) && defined(__x86_64__)
bool portable_cpu_supports(const char *name);
bool portable_cpu_is(const char *name);
#define __builtin_cpu_supports portable_cpu_supports
#define __builtin_cpu_is portable_cpu_is
#endif

#if defined(__x86_64__) && !defined(PROCESSOR_PLAIN)
#define PROCESSOR_HAS(instructions) (__builtin_cpu_supports(instructions) != 0)
#else
#define PROCESSOR_HAS(instructions) false
#endif

static inline bool processor_has_bits(void)
{
	return PROCESSOR_HAS("bmi2") && PROCESSOR_HAS("bmi") && PROCESSOR_HAS("popcnt");
}

/*
 * Returns whether gathering and scattering bits is fast too. On older AMD processors, these
 * instructions are slower than ordinary ones.
 */
static inline bool processor_moves_bits(void)
{
#ifdef __x86_64__
	return processor_has_bits() && !__builtin_cpu_is("amdfam15h") &&
	       !__builtin_cpu_is("amdfam17h");
#else
	return false;
#endif
}

/* Returns whether the processor can operate on four 64-bit numbers at once. */
static inline bool processor_has_vectors(void)
{
	return PROCESSOR_HAS("avx2") && processor_has_bits();
}

#endif
