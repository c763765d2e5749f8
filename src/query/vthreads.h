/*
 * query/vthreads.h - states of threads; virtual threads (JDK 21 and later): their carriers, and
 * their stacks as objects.
 *
 * A virtual thread that runs is mounted on a carrier, a platform thread. One that waits has its
 * frames in the heap: its Continuation has a chain of StackChunk objects.
 */
#ifndef QUERY_VTHREADS_H
#define QUERY_VTHREADS_H

#include "base/idmap.h"
#include "query/query.h"

/* Stack chunks of a thread that are looked at; there are a few, so more are a circle. */
#define QUERY_CHUNKS_MAX 10000u

struct query_vthread {
	uint32_t carrier_ix; /* HEAP_NONE: not mounted */
	uint32_t chunk_ix;   /* the newest stack chunk; HEAP_NONE: none */
	uint32_t chunk_count;
	bool is_cut; /* there are more than QUERY_CHUNKS_MAX chunks, or they form a circle */
	uint64_t stack_bytes; /* in use in all chunks; not part of any shallow size in HPROF */
};

/* Reads a virtual thread from the dump; HDB_NOTFOUND if the object is none. */
int query_vthread(struct query *q, uint32_t ix, struct query_vthread *out, struct hdb_error *err);

/* A stack chunk: bytes in use, and the chunk below it (HEAP_NONE: it is the last). */
int query_stack_chunk(struct query *q, uint32_t ix, uint64_t *bytes, uint32_t *below,
		      struct hdb_error *err);

/* Columns of a thread's state. */
struct query_state_columns {
	size_t state, daemon, priority;
};

/*
 * Sets them, as far as the dump tells: fields of Thread, since JDK 19 of its FieldHolder; of
 * virtual threads by the state that VirtualThread keeps.
 */
int query_set_thread_state(struct query *q, uint32_t ix, const struct query_state_columns *columns,
			   struct hdb_error *err);

/*
 * Thread objects that the dump has no thread record of (not started, ended, or virtual ones that
 * the VM did not list): appended to *ixs, a vec of uint32_t, in order of index.
 */
int query_unlisted_threads(struct query *q, struct base_vec *ixs, struct hdb_error *err);

#endif
