/*
 * analysis/edges.h - every entry of a table of lists, once.
 */
#ifndef ANALYSIS_EDGES_H
#define ANALYSIS_EDGES_H

#include "analysis/session.h"

/* Who takes the entries of the list of ix; big lists come in parts. */
struct analysis_edge_taker {
	int (*take)(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
		    struct hdb_error *err);
	void *ctx;
	uint64_t first; /* the first list: a multiple of STORE_BLOCK_OBJECTS */
};

/*
 * Reads the lists from taker->first to list_count - 1 in order. `lists` is a fresh reader of the
 * table. Looks at the cancel flag.
 */
int analysis_each_edge(const struct session *session, const struct store_lists *lists,
		       uint64_t list_count, const struct analysis_edge_taker *taker,
		       struct hdb_error *err);

#endif
