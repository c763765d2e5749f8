/*
 * support/temp.h - files in the test's own temporary folder.
 */
#ifndef SUPPORT_TEMP_H
#define SUPPORT_TEMP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Returns a path in $TMPDIR (or /tmp) that only this process uses. The result is in one of four
 * static buffers, which are used in turn.
 */
static inline const char *temp_path(const char *name)
{
	static char paths[4][512];
	static unsigned turn;
	const char *dir = getenv("TMPDIR");
	char *path = paths[turn++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/hdb%d_%s", dir ? dir : "/tmp", (int)getpid(),
		       name);
	return path;
}

/* Removes a database and its lock file. */
static inline void temp_remove_db(const char *path)
{
	char lock[1024];

	(void)unlink(path);
	(void)snprintf(lock, sizeof(lock), "%s-lock", path);
	(void)unlink(lock);
}

/* A repeatable random number generator (xorshift64*, Vigna 2016); seed is never 0. */
static inline uint64_t test_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

#endif
