/*
 * queries/leaks/leak_outside.h - who owns most memory outside the heap: direct buffers and
 * segments, and mapped files.
 */
#ifndef QUERIES_LEAKS_LEAK_OUTSIDE_H
#define QUERIES_LEAKS_LEAK_OUTSIDE_H

#include "queries/leaks/leak_parts.h"

enum leak_outside_kind { LEAK_OUTSIDE_DIRECT, LEAK_OUTSIDE_MAPPED, LEAK_OUTSIDE_KINDS };

/*
 * Less memory is not worth a search for its owner. The JDK alone maps its modules, more than
 * 100 MiB.
 */
#define LEAK_DIRECT_LEAST (64ull << 20)
#define LEAK_MAPPED_LEAST (1ull << 30)

#define LEAK_OUTSIDE_TEXT_MAX 512

/* The owner of most memory of a kind. */
struct leak_outside {
	uint32_t ix;           /* the largest of its buffers; HEAP_NONE if there is no owner */
	uint64_t count, bytes; /* its buffers, and their memory outside the heap */
	const char *at_least;  /* "at least " if not all buffers were examined, otherwise "" */
	char owner[LEAK_OUTSIDE_TEXT_MAX];
};

/* Finds the owners from all buffers. Reads the dump. */
int leak_outside_find(struct query *q, struct leak_outside out[LEAK_OUTSIDE_KINDS],
		      struct hdb_error *err);

/*
 * Like leak_outside_find, but finds owners only if the JDK's own counters show that there is much
 * such memory, which can be determined without a pass over the objects.
 */
int leak_outside_find_large(struct query *q, struct leak_outside out[LEAK_OUTSIDE_KINDS],
			    struct hdb_error *err);

#endif
