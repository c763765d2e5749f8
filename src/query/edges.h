/*
 * query/edges.h - every entry of a table of lists, once.
 */
#ifndef QUERY_EDGES_H
#define QUERY_EDGES_H

#include "query/query.h"

/* Takes entries of the list of ix; big lists come in parts. */
typedef int (*query_take_edges)(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
				struct hdb_error *err);

/*
 * Reads the lists 0 to list_count - 1 in order. `lists` is a fresh reader of the table. Looks at
 * the cancel flag.
 */
int query_each_edge(struct query *q, const struct store_lists *lists, uint64_t list_count,
		    query_take_edges take, void *ctx, struct hdb_error *err);

#endif
