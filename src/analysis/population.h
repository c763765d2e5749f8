/*
 * analysis/population.h - defines the objects that an answer counts, and counts the objects that it
 * omits.
 */
#ifndef ANALYSIS_POPULATION_H
#define ANALYSIS_POPULATION_H

#include <stdbool.h>
#include <stdint.h>

/* The objects to which the figures of an answer refer. */
enum analysis_population {
	/* no objects: the answer is about the dump, the database or a single object */
	ANALYSIS_OF_NOTHING,
	ANALYSIS_OF_REACHABLE,
	ANALYSIS_OF_UNREACHABLE,
	ANALYSIS_OF_ALL
};

/*
 * The rows and objects omitted from an answer; ANALYSIS_NOT_COUNTED if unknown or not applicable.
 */
struct analysis_cut {
	uint64_t rows, objects, bytes;
};

/* In struct analysis_cut: unknown or not applicable. */
#define ANALYSIS_NOT_COUNTED UINT64_MAX

/*
 * Returns whether a population includes reachable objects, and whether it includes unreachable
 * objects.
 */
static inline bool analysis_population_has(enum analysis_population population, bool is_reachable)
{
	return population == ANALYSIS_OF_ALL ||
	       (population == ANALYSIS_OF_UNREACHABLE) != is_reachable;
}

#endif
