/*
 * queries/traces/trace_rows.h - the references that leak traces follow, of all objects, as rows of
 * a graph in memory.
 *
 * The objects are read in order of their place in the dump, on all threads. Collections, classes,
 * threads and long arrays are left to the calling thread, because reading them is not thread-safe.
 */
#ifndef QUERIES_TRACES_TRACE_ROWS_H
#define QUERIES_TRACES_TRACE_ROWS_H

#include "graph/adjacency.h"
#include "queries/traces/trace_graph.h"

/*
 * Fills in *rows. Sets a bit in late[] for each object with references that are followed late; it
 * has room for all objects. The caller releases the rows, also after a failure.
 */
int trace_rows_make(struct trace_graph *graph, struct graph_rows *rows, uint64_t *late,
		    struct hdb_error *err);

#endif
