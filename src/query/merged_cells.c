/*
 * query/merged_cells.c - cells of merged trees.
 */
#include "query/merged_cells.h"

#include "query/coverage.h"

#include <assert.h>
#include <inttypes.h>

int query_merged_set_name(struct query *q, size_t column, const struct analysis_merged *m,
			  uint32_t node, struct hdb_error *err)
{
	const struct analysis_merged_name *name = base_vec_at(
		&m->names, struct analysis_merged_name, analysis_merged_node(m, node)->name);

	assert(node < m->nodes.count);
	if (name->is_class)
		return query_format(q, column, err, "class %.*s", (int)name->size, name->text);
	query_lend_text(q, column, name->text, name->size);
	return HDB_OK;
}

int query_merged_cut(struct query *q, const struct analysis_merged *m,
		     const struct analysis_merged_walk *walk, const char *small,
		     struct hdb_error *err)
{
	int r = query_cut(q, &walk->small, err,
			  "%s: a row \"(others)\" on each level has their sum", small);

	if (r < 0)
		return r;
	if ((r = query_cut(q, &walk->deep, err, "what is below level %" PRIu32, walk->max_depth)) <
	    0)
		return r;
	return m->folded ? query_cut(q, NULL, err,
				     "%" PRIu64
				     " objects of branches that are deeper than %u levels or "
				     "beyond %" PRIu32 " nodes count with what is above them",
				     m->folded, ANALYSIS_MERGED_DEPTH, m->node_limit) :
			   HDB_OK;
}

int query_merged_set_others(struct query *q, size_t column, const struct analysis_merged_rest *rest,
			    struct hdb_error *err)
{
	return query_format(q, column, err, "(%" PRIu32 " other%s)", rest->nodes,
			    rest->nodes == 1 ? "" : "s");
}
