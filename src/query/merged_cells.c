/* query/merged_cells.c - sets cells that describe steps of merged trees. */
#include "query/merged_cells.h"

#include "base/base_text.h"
#include "query/coverage.h"

#include <inttypes.h>

void query_merged_set_step(struct query *q, const struct query_merged_columns *columns,
			   const struct analysis_merged *m, const struct analysis_merged_walk *walk,
			   const struct analysis_merged_step *step)
{
	const struct analysis_merged_rest *rest;
	const struct base_name *name;

	if (step->others) {
		rest = analysis_merged_rest(walk, step);
		query_set(q, columns->level, rest->depth);
		query_set(q, columns->others, rest->nodes);
		query_format(q, columns->name, "(%s other%s)", base_number(rest->nodes).text,
			     rest->nodes == 1 ? "" : "s");
		return;
	}
	name = analysis_merged_name(m, step->node);
	query_set(q, columns->level, analysis_merged_node(m, step->node)->depth);
	if (name->kind == ANALYSIS_NAME_CLASS)
		query_format(q, columns->name, "class %.*s", (int)name->size, name->text);
	else
		query_lend_text_n(q, columns->name, name->text, name->size);
}

void query_merged_cut(struct query *q, const struct analysis_merged *m,
		      const struct analysis_merged_walk *walk, const char *small)
{
	query_cut(q, &walk->small, "%s are combined into one \"(N others)\" row per parent", small);
	query_cut(q, &walk->deep, "nodes below level %" PRIu32, walk->max_depth);
	if (m->folded)
		query_cut(q, NULL,
			  "%" PRIu64 " objects in branches deeper than %u levels or beyond %" PRIu32
			  " nodes are counted at their ancestors",
			  m->folded, ANALYSIS_MERGED_DEPTH, m->node_limit);
}
