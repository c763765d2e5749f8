/*
 * queries/objects/thread_state.h - cells of a thread's state.
 */
#ifndef QUERIES_OBJECTS_THREAD_STATE_H
#define QUERIES_OBJECTS_THREAD_STATE_H

#include "query/query.h"

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

#endif
