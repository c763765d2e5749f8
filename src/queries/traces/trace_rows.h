/*
 * queries/traces/trace_rows.h - the references that leak traces follow, of all objects, as rows of
 * a graph in memory.
 *
 * Read in order of their place in the dump, on all threads. What plain fields and elements do not
 * tell (collections, classes, threads, long arrays) the calling thread reads in between.
 */
#ifndef QUERIES_TRACES_TRACE_ROWS_H
#define QUERIES_TRACES_TRACE_ROWS_H

#include "graph/adjacency.h"
#include "queries/traces/trace_graph.h"

/*
 * Fills *rows; late[] gets a bit for each object that has references that are late, and has room
 * for all objects. Release the rows in any case.
 */
int trace_rows_make(struct trace_graph *graph, struct graph_rows *rows, uint64_t *late,
		    struct hdb_error *err);

#endif
