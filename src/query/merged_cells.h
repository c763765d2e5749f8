/*
 * query/merged_cells.h - cells of merged trees, and what a walk through one leaves out.
 */
#ifndef QUERY_MERGED_CELLS_H
#define QUERY_MERGED_CELLS_H

#include "analysis/merged.h"
#include "query/query.h"

/* Sets a text column to the node's name: "class a.B" for a class object, else "a.B". */
void query_merged_set_name(struct query *q, size_t column, const struct analysis_merged *m,
			   uint32_t node);

/*
 * Says what a walk left out and what is folded: `small` is what is too small, as "nodes below 100
 * bytes".
 */
void query_merged_cut(struct query *q, const struct analysis_merged *m,
		      const struct analysis_merged_walk *walk, const char *small);

/* Sets a text column to what others are called, for people. */
void query_merged_set_others(struct query *q, size_t column,
			     const struct analysis_merged_rest *rest);

#endif
