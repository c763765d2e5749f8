/*
 * base/processor.h - detects instructions that not every x86-64 processor has.
 *
 * Intel processors count, find and move bits in one instruction since 2013, AMD's since 2015. A hot
 * function that does this a lot is compiled twice: its body is `static inline`, and one of its two
 * callers has PROCESSOR_BITS, which makes the compiler inline everything and use these
 * instructions. -DPROCESSOR_PLAIN disables this, for tests.
 */
#ifndef BASE_PROCESSOR_H
#define BASE_PROCESSOR_H

#include <stdbool.h>

#ifdef __x86_64__
#define PROCESSOR_BITS __attribute__((target("popcnt,bmi,bmi2"), flatten))
#else
#define PROCESSOR_BITS
#endif

/* Not every C library has the compiler's own table, so base/platform.c queries the processor. */
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
 * Whether gathering and scattering bits is fast too. On older AMD processors it is slower than
 * doing it by hand.
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

/* Whether it computes with four 64-bit numbers at once. */
static inline bool processor_has_vectors(void)
{
	return PROCESSOR_HAS("avx2") && processor_has_bits();
}

#endif
