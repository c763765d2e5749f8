/*
 * queries/objects/vthreads.h - states of threads; virtual threads (JDK 21 and later): their
 * carriers, and their stacks as objects.
 *
 * A virtual thread that runs is mounted on a carrier, a platform thread. One that waits has its
 * frames in the heap: its Continuation has a chain of StackChunk objects.
 */
#ifndef QUERIES_OBJECTS_VTHREADS_H
#define QUERIES_OBJECTS_VTHREADS_H

#include "analysis/session.h"
#include "base/idmap.h"

/* Stack chunks of a thread that are looked at; there are a few, so more are a circle. */
#define ANALYSIS_CHUNKS_MAX 10000u

struct analysis_vthread {
	uint32_t carrier_ix; /* HEAP_NONE: not mounted */
	uint32_t chunk_ix;   /* the newest stack chunk; HEAP_NONE: none */
	uint32_t chunk_count;
	bool is_cut; /* there are more than ANALYSIS_CHUNKS_MAX chunks, or they form a circle */
	uint64_t stack_bytes; /* in use in all chunks; not part of any shallow size in HPROF */
};

/* Reads a virtual thread from the dump; HDB_NOTFOUND if the object is none. */
int analysis_vthread(const struct session *session, uint32_t ix, struct analysis_vthread *out,
		     struct hdb_error *err);

/* A stack chunk: bytes in use, and the chunk below it (HEAP_NONE: it is the last). */
int analysis_stack_chunk(const struct session *session, uint32_t ix, uint64_t *bytes,
			 uint32_t *below, struct hdb_error *err);

/*
 * Thread objects that the dump has no thread record of (not started, ended, or virtual ones that
 * the VM did not list): appended to *ixs, a vec of uint32_t, in order of index.
 */
int analysis_unlisted_threads(const struct session *session, struct base_vec *ixs,
			      struct hdb_error *err);

#endif
