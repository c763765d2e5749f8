/*
 * queries/leaks/leak_outside.h - finds the objects that own most of the memory outside the heap:
 * direct buffers and segments, mapped files, and the state of compression.
 */
#ifndef QUERIES_LEAKS_LEAK_OUTSIDE_H
#define QUERIES_LEAKS_LEAK_OUTSIDE_H

#include "queries/explain/suspect_facts.h"
#include "queries/leaks/leak_parts.h"

enum leak_outside_kind {
	LEAK_OUTSIDE_DIRECT,
	LEAK_OUTSIDE_MAPPED,
	LEAK_OUTSIDE_ZLIB, /* Deflaters and Inflaters; the size is an estimate */
	LEAK_OUTSIDE_KINDS
};

#define LEAK_OUTSIDE_TEXT_MAX 512

/* The object that owns most of the memory of one kind. */
struct leak_outside {
	uint32_t ix;           /* the largest buffer, or HEAP_NONE if there is no owner */
	uint64_t count, bytes; /* number of buffers, and their memory outside the heap */
	const char *at_least;  /* "at least " if some were not examined, or "" */
	const char *about;     /* "about " if `bytes` is an estimate, or "" */
	char owner[LEAK_OUTSIDE_TEXT_MAX];
	bool is_several; /* whether `owner` needs a plural verb */
	/*
	 * If the owner is a collection: the field of its elements that holds the buffers, otherwise
	 * ""; and the number of closed elements.
	 */
	char field[LEAK_OUTSIDE_TEXT_MAX / 2];
	struct explain_flag flag;
};

/*
 * Returns the minimum size of a finding, in bytes, for a heap of heap_bytes. If heap_bytes is 0,
 * returns the minimum for any heap.
 */
uint64_t leak_outside_least(enum leak_outside_kind kind, uint64_t heap_bytes);

/* Finds the owners by examining all buffers. Reads the dump. */
int leak_outside_find(struct query *q, struct leak_outside out[LEAK_OUTSIDE_KINDS],
		      struct hdb_error *err);

/*
 * Like leak_outside_find, but searches for owners only if counters of the JDK and of Netty, which
 * cost no pass over the objects, show at least leak_outside_least bytes.
 */
int leak_outside_find_large(struct query *q, uint64_t heap_bytes,
			    struct leak_outside out[LEAK_OUTSIDE_KINDS], struct hdb_error *err);

#endif
