/*
 * queries/retained/dominator_cut.h - the largest nodes of a part of the dominator tree: what a
 * picture of it has room for. Costs what the nodes cost, not what they retain.
 */
#ifndef QUERIES_RETAINED_DOMINATOR_CUT_H
#define QUERIES_RETAINED_DOMINATOR_CUT_H

#include "analysis/session.h"

/* Most nodes of a cut, and levels: pictures of more cannot be seen. */
#define ANALYSIS_CUT_NODES_MAX 50000
#define ANALYSIS_CUT_LEVELS_MAX 64

#define ANALYSIS_CUT_NONE UINT32_MAX

struct analysis_cut_node {
	uint32_t ix;    /* the object; HEAP_NONE: node 0 of a cut of the whole heap */
	uint32_t level; /* node 0 has level 0 */
	uint32_t parent, first, last, next; /* nodes that are shown; ANALYSIS_CUT_NONE: none */
	uint64_t retained_bytes;
	uint64_t others;       /* objects that it dominates immediately and that are not shown */
	uint64_t others_bytes; /* what these retain together */
};

/* What is cut: an object and all that it dominates. */
struct analysis_cut_top {
	uint32_t ix; /* HEAP_NONE: the whole heap */
	uint64_t retained_bytes;
};

struct analysis_dominator_cut {
	struct analysis_cut_node *nodes; /* owned; reached from node 0 by first and next */
	uint32_t shown;                  /* nodes that are reached so, without node 0 */
};

/*
 * Cuts below `top`: node 0 is it, and up to `most` below it, those that retain most. Builds the
 * table children. `out` is to be released in any case.
 */
int analysis_dominator_cut(const struct session *session, const struct analysis_cut_top *top,
			   uint32_t most, struct analysis_dominator_cut *out,
			   struct hdb_error *err);
void analysis_dominator_cut_release(struct analysis_dominator_cut *cut);

/* The node that follows, what is below a node first; ANALYSIS_CUT_NONE past the last. */
uint32_t analysis_dominator_cut_next(const struct analysis_dominator_cut *cut, uint32_t node);

#endif
