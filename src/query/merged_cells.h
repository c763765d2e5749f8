/*
 * query/merged_cells.h - sets cells that describe steps of merged trees, and reports what a walk
 * through such a tree omits.
 */
#ifndef QUERY_MERGED_CELLS_H
#define QUERY_MERGED_CELLS_H

#include "analysis/merged.h"
#include "query/query.h"

/* Columns that describe a step. */
struct query_merged_columns {
	size_t level, name, others;
};

/*
 * Sets these columns for a step. For a node, the level and the name ("class a.B" for a class
 * object, otherwise "a.B"); for combined siblings, "(12 others)" and their number.
 */
void query_merged_set_step(struct query *q, const struct query_merged_columns *columns,
			   const struct analysis_merged *m, const struct analysis_merged_walk *walk,
			   const struct analysis_merged_step *step);

/*
 * Reports the nodes that a walk omitted or combined. `small` describes the nodes that are too
 * small, for example "nodes below 100 bytes".
 */
void query_merged_cut(struct query *q, const struct analysis_merged *m,
		      const struct analysis_merged_walk *walk, const char *small);

#endif
