/* queries/objects/thread_state.h - columns about a thread's state. */
#ifndef QUERIES_OBJECTS_THREAD_STATE_H
#define QUERIES_OBJECTS_THREAD_STATE_H

#include "query/query.h"

/* Indexes of the columns that describe a thread's state. */
struct query_state_columns {
	size_t state, daemon, priority;
};

/* State of a thread: the name of a java.lang.Thread.State constant (static). */
struct query_thread_state {
	const char *name;
	bool is_virtual;
};

/* Reads the state of a thread. Returns HDB_NOTFOUND if the dump does not record it. */
int query_thread_state(struct heap *heap, uint32_t ix, struct query_thread_state *out,
		       struct hdb_error *err);

/*
 * Sets the columns for which the dump has values: fields of Thread or, since JDK 19, of its
 * FieldHolder. The state of a virtual thread comes from VirtualThread.
 */
int query_set_thread_state(struct query *q, uint32_t ix, const struct query_state_columns *columns,
			   struct hdb_error *err);

#endif
