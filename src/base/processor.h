/*
 * base/processor.h - which instructions beyond those of every x86-64 the processor has.
 *
 * Intel's count, find and move bits in one since 2013, AMD's since 2015. A hot function that does
 * much of it is there twice: what it does is `static inline`, and one of two functions that call it
 * has PROCESSOR_BITS: compilers put all into it that it calls and that they have seen, with those
 * instructions. -DPROCESSOR_PLAIN does without, for tests.
 */
#ifndef BASE_PROCESSOR_H
#define BASE_PROCESSOR_H

#include <stdbool.h>

#ifdef __x86_64__
#define PROCESSOR_BITS __attribute__((target("popcnt,bmi,bmi2"), flatten))
#else
#define PROCESSOR_BITS
#endif

/* The compiler's own table is not in every C library: base/platform.c asks the processor. */
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

/* Whether it gathers and scatters bits fast, too: AMD's older ones take longer than without. */
static inline bool processor_moves_bits(void)
{
#ifdef __x86_64__
	return processor_has_bits() && !__builtin_cpu_is("amdfam15h") &&
	       !__builtin_cpu_is("amdfam17h");
#else
	return false;
#endif
}

/* Whether it computes with four numbers at once. */
static inline bool processor_has_vectors(void)
{
	return PROCESSOR_HAS("avx2") && processor_has_bits();
}

#endif
