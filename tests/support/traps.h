/*
 * support/traps.h - dumps of any size that reveal algorithms whose cost grows faster than the dump.
 */
#ifndef SUPPORT_TRAPS_H
#define SUPPORT_TRAPS_H

#include "support/hprof_writer.h"

struct trap {
	const char *name;
	void (*put)(struct hw *w, uint64_t n);
	uint64_t n; /* number of items in the smaller dump, in the short form of a test */
	/*
	 * the same in the long form, in which the bigger dump has a million items; 0: no long form
	 */
	uint64_t million_n;
};

extern const struct trap traps[];
extern const size_t trap_count;

/*
 * The big dump has TRAP_TIMES as many items as the small dump. Quadratic work takes TRAP_TIMES
 * squared as long.
 */
#define TRAP_TIMES 8
/*
 * Maximum ratio of times. It allows for linear work, sorting, caches that no longer suffice, and a
 * busy machine.
 */
#define TRAP_GROWTH_MAX 24

/* Writes a trap with n items to a file. Stops the process if writing fails. */
void trap_write(const struct trap *trap, uint64_t n, const char *path);

#endif
