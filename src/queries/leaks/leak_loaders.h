/* queries/leaks/leak_loaders.h - finds closed class loaders that are still reachable. */
#ifndef QUERIES_LEAKS_LEAK_LOADERS_H
#define QUERIES_LEAKS_LEAK_LOADERS_H

#include "queries/leaks/leak_parts.h"

struct leak_loaders {
	/* number of loaders, and their size including classes and instances */
	uint64_t count, bytes;
	uint64_t most_bytes;
	uint32_t ix; /* index of the largest loader, or HEAP_NONE if there is none */
};

/*
 * Finds the closed class loaders. Builds the `totals` table only if there are closed class loaders.
 */
int leak_loaders_find(struct query *q, struct leak_loaders *out, struct hdb_error *err);

#endif
