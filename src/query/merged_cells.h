/* query/merged_cells.h - cells about merged trees, and what a walk through one leaves out. */
#ifndef QUERY_MERGED_CELLS_H
#define QUERY_MERGED_CELLS_H

#include "analysis/merged.h"
#include "query/query.h"

/* Sets a text column to the name of a node: "class a.B" for a class object, otherwise "a.B". */
void query_merged_set_name(struct query *q, size_t column, const struct analysis_merged *m,
			   uint32_t node);

/*
 * Reports what a walk left out and what was folded. `small` describes nodes that are too small,
 * such as "nodes below 100 bytes".
 */
void query_merged_cut(struct query *q, const struct analysis_merged *m,
		      const struct analysis_merged_walk *walk, const char *small);

/* Sets a text column to a description of the others of a step. */
void query_merged_set_others(struct query *q, size_t column,
			     const struct analysis_merged_rest *rest);

#endif
