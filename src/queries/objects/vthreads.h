/*
 * queries/objects/vthreads.h - virtual threads (JDK 21 and later), their carriers, and their stacks
 * as objects.
 *
 * A running virtual thread is mounted on a carrier, a platform thread. A waiting one has its frames
 * in the heap: its Continuation has a chain of StackChunk objects.
 */
#ifndef QUERIES_OBJECTS_VTHREADS_H
#define QUERIES_OBJECTS_VTHREADS_H

#include "analysis/session.h"
#include "base/idmap.h"

/*
 * Maximum number of stack chunks read per thread. A thread has few, so more indicate a cycle.
 */
#define ANALYSIS_CHUNKS_MAX 10000u

/* What the dump contains about a virtual thread. */
struct analysis_vthread {
	uint32_t carrier_ix; /* HEAP_NONE: not mounted */
	uint32_t chunk_ix;   /* the newest stack chunk, or HEAP_NONE */
	uint32_t chunk_count;
	bool is_cut; /* there are more than ANALYSIS_CHUNKS_MAX chunks, or they form a circle */
	/* bytes in use in all chunks; in HPROF they are part of no shallow size */
	uint64_t stack_bytes;
};

/* Reads a virtual thread. Returns HDB_NOTFOUND if the object is not one. */
int analysis_vthread(const struct session *session, uint32_t ix, struct analysis_vthread *out,
		     struct hdb_error *err);

/* Reads a stack chunk: bytes in use, and the chunk below it (HEAP_NONE for the last). */
int analysis_stack_chunk(const struct session *session, uint32_t ix, uint64_t *bytes,
			 uint32_t *below, struct hdb_error *err);

/*
 * Appends to *ixs (uint32_t) all thread objects for which the dump has no thread record, in order
 * of index: not started, ended, or virtual threads that the VM did not list.
 */
int analysis_unlisted_threads(const struct session *session, struct base_vec *ixs,
			      struct hdb_error *err);

#endif
