/*
 * support/fuzz_target.h - what a fuzz target defines for the fuzzer, and how dumps are mutated.
 */
#ifndef SUPPORT_FUZZ_TARGET_H
#define SUPPORT_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* One input; the result is 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Changes an input in place and returns its new size, at most `max_size`; a target need not define
 * it.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* The fuzzer's own mutator; there is none when files are replayed. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));

/*
 * Changes a dump as dumps are built: takes, gives, doubles, swaps and retypes records and
 * sub-records and mends or breaks their lengths; at times bytes anywhere. Returns the new size, at
 * most `max_size`.
 */
size_t hprof_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* A mutator of dumps: along the grammar, and one time in four as bytes. */
static inline size_t fuzz_mutate_dump(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return seed % 4 == 0 && LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) :
						   hprof_mutate(data, size, max_size, seed);
}

#endif
