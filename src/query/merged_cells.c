/* query/merged_cells.c - cells about merged trees. */
#include "query/merged_cells.h"

#include "query/coverage.h"

#include <assert.h>
#include <inttypes.h>

void query_merged_set_name(struct query *q, size_t column, const struct analysis_merged *m,
			   uint32_t node)
{
	const struct analysis_merged_name *name = base_vec_at(
		&m->names, struct analysis_merged_name, analysis_merged_node(m, node)->name);

	assert(node < m->nodes.count);
	if (name->is_class) {
		query_format(q, column, "class %.*s", (int)name->size, name->text);
		return;
	}
	query_lend_text_n(q, column, name->text, name->size);
}

void query_merged_cut(struct query *q, const struct analysis_merged *m,
		      const struct analysis_merged_walk *walk, const char *small)
{
	query_cut(q, &walk->small, "%s: a row \"(others)\" on each level has their sum", small);
	query_cut(q, &walk->deep, "what is below level %" PRIu32, walk->max_depth);
	if (m->folded)
		query_cut(q, NULL,
			  "%" PRIu64 " objects of branches that are deeper than %u levels or "
			  "beyond %" PRIu32 " nodes count with what is above them",
			  m->folded, ANALYSIS_MERGED_DEPTH, m->node_limit);
}

void query_merged_set_others(struct query *q, size_t column,
			     const struct analysis_merged_rest *rest)
{
	query_format(q, column, "(%" PRIu32 " other%s)", rest->nodes, rest->nodes == 1 ? "" : "s");
}
