/* query/merged_cells.h - cells about merged trees, and what a walk through one leaves out. */
#ifndef QUERY_MERGED_CELLS_H
#define QUERY_MERGED_CELLS_H

#include "analysis/merged.h"
#include "query/query.h"

/* Columns that say what a step is. */
struct query_merged_columns {
	size_t level, name, others;
};

/*
 * Sets them for a step: the level and the name of its node, "class a.B" for a class object and "a.B"
 * for others; or of siblings that are not shown, "(12 others)", and their number.
 */
void query_merged_set_step(struct query *q, const struct query_merged_columns *columns,
			   const struct analysis_merged *m, const struct analysis_merged_walk *walk,
			   const struct analysis_merged_step *step);

/*
 * Reports the omitted and the combined nodes of a walk. `small` describes nodes that are too small,
 * such as "nodes below 100 bytes".
 */
void query_merged_cut(struct query *q, const struct analysis_merged *m,
		      const struct analysis_merged_walk *walk, const char *small);

#endif
