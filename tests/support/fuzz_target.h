/*
 * support/fuzz_target.h - the functions that a fuzz target defines for the fuzzer, and a mutator
 * for dumps.
 */
#ifndef SUPPORT_FUZZ_TARGET_H
#define SUPPORT_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Processes one input. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Changes an input in place, and returns its new size, which is at most `max_size`. Optional. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* The fuzzer's own mutator. It does not exist when files are replayed. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));

/*
 * Changes a dump according to its structure: removes, adds, duplicates, swaps and retypes records
 * and sub-records, and corrects or breaks their lengths. Sometimes changes bytes at any position.
 * Returns the new size, which is at most `max_size`.
 */
size_t hprof_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/*
 * A mutator for dumps. Three times out of four it follows the grammar of dumps, otherwise it
 * changes bytes.
 */
static inline size_t fuzz_mutate_dump(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return seed % 4 == 0 && LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) :
						   hprof_mutate(data, size, max_size, seed);
}

#endif
