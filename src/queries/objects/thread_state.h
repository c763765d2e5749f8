/* queries/objects/thread_state.h - columns about a thread's state. */
#ifndef QUERIES_OBJECTS_THREAD_STATE_H
#define QUERIES_OBJECTS_THREAD_STATE_H

#include "query/query.h"

/* Columns about a thread's state. */
struct query_state_columns {
	size_t state, daemon, priority;
};

/*
 * Sets them as far as the dump contains them: fields of Thread, since JDK 19 of its FieldHolder;
 * for virtual threads from the state in VirtualThread.
 */
int query_set_thread_state(struct query *q, uint32_t ix, const struct query_state_columns *columns,
			   struct hdb_error *err);

#endif
