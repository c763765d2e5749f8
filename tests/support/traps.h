/*
 * support/traps.h - dumps of any size that are traps for work that grows faster than they do.
 */
#ifndef SUPPORT_TRAPS_H
#define SUPPORT_TRAPS_H

#include "support/hprof_writer.h"

struct trap {
	const char *name;
	void (*put)(struct hw *w, uint64_t n);
	uint64_t n; /* things in the smaller dump, in the short form of a test */
	/* in the long form, so that the bigger dump has a million things; 0: none */
	uint64_t million_n;
};

extern const struct trap traps[];
extern const size_t trap_count;

/*
 * The big dump has so many times the things of the small one; quadratic work takes TRAP_TIMES
 * squared the time.
 */
#define TRAP_TIMES 8
/*
 * Most that it may take: linear work, sorting, caches that no longer suffice, and a busy machine.
 */
#define TRAP_GROWTH_MAX 24

/* Writes a trap of n things to a file; stops the process if that fails. */
void trap_write(const struct trap *trap, uint64_t n, const char *path);

#endif
