/* analysis/edges.h - reads every list of a table of lists once, in order. */
#ifndef ANALYSIS_EDGES_H
#define ANALYSIS_EDGES_H

#include "analysis/session.h"

/* Receives the entries of the list of ix. A big list is passed in several calls. */
struct analysis_edge_taker {
	int (*take)(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
		    struct hdb_error *err);
	void *ctx;
	uint64_t first; /* first list, a multiple of STORE_BLOCK_OBJECTS */
};

/*
 * Reads the lists taker->first to list_count - 1 in order. `lists` is an unused reader of the
 * table. Checks the cancel flag.
 */
int analysis_each_edge(const struct session *session, const struct store_lists *lists,
		       uint64_t list_count, const struct analysis_edge_taker *taker,
		       struct hdb_error *err);

#endif
