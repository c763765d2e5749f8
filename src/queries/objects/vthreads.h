/*
 * queries/objects/vthreads.h - virtual threads (JDK 21 and later), their carriers, and their stacks
 * as objects.
 *
 * A running virtual thread is mounted on a carrier, which is a platform thread. The frames of a
 * waiting virtual thread are in the heap, where its Continuation has a chain of StackChunk objects.
 */
#ifndef QUERIES_OBJECTS_VTHREADS_H
#define QUERIES_OBJECTS_VTHREADS_H

#include "analysis/session.h"
#include "base/idmap.h"

/*
 * Maximum number of stack chunks to read per thread. A thread has only a few; more indicate a
 * cycle.
 */
#define ANALYSIS_CHUNKS_MAX 10000u

/* What the dump records about a virtual thread. */
struct analysis_vthread {
	uint32_t carrier_ix; /* HEAP_NONE means not mounted */
	uint32_t chunk_ix;   /* the newest stack chunk, or HEAP_NONE */
	uint32_t chunk_count;
	/* whether there are more than ANALYSIS_CHUNKS_MAX chunks, or the chunks form a cycle */
	bool is_cut;
	/*
	 * number of bytes in use in all chunks, which shallow sizes in HPROF files do not include
	 */
	uint64_t stack_bytes;
};

/* Reads a virtual thread. Returns HDB_NOTFOUND if the object is not one. */
int analysis_vthread(const struct session *session, uint32_t ix, struct analysis_vthread *out,
		     struct hdb_error *err);

/* Reads a stack chunk: the number of bytes in use, and the chunk below it, or HEAP_NONE. */
int analysis_stack_chunk(const struct session *session, uint32_t ix, uint64_t *bytes,
			 uint32_t *below, struct hdb_error *err);

/*
 * Appends all thread objects without a thread record to *ixs (uint32_t), in order of index: threads
 * that have not started or have ended, and virtual threads that the VM did not list.
 */
int analysis_unlisted_threads(const struct session *session, struct base_vec *ixs,
			      struct hdb_error *err);

#endif
