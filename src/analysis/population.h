/*
 * analysis/population.h - which objects count, and how much is left out of an answer.
 */
#ifndef ANALYSIS_POPULATION_H
#define ANALYSIS_POPULATION_H

#include <stdbool.h>
#include <stdint.h>

/* Which objects the figures of an answer are of. */
enum analysis_population {
	ANALYSIS_OF_NOTHING, /* none: the dump, the database, one object */
	ANALYSIS_OF_REACHABLE,
	ANALYSIS_OF_UNREACHABLE,
	ANALYSIS_OF_ALL
};

/* What is left out of the rows. UINT64_MAX: not known, or not of that kind. */
struct analysis_cut {
	uint64_t rows, objects, bytes;
};

/* In struct analysis_cut: not known, or not of that kind. */
#define ANALYSIS_NOT_COUNTED UINT64_MAX

/* Whether objects that a root reaches, or does not, are among a population. */
static inline bool analysis_population_has(enum analysis_population population, bool is_reachable)
{
	return population == ANALYSIS_OF_ALL ||
	       (population == ANALYSIS_OF_UNREACHABLE) != is_reachable;
}

#endif
