/*
 * queries/retained/dominator_cut.h - the largest nodes of a part of the dominator tree: as many as
 * a picture has room for. The cost depends on the number of nodes, not on what they retain.
 */
#ifndef QUERIES_RETAINED_DOMINATOR_CUT_H
#define QUERIES_RETAINED_DOMINATOR_CUT_H

#include "analysis/session.h"

/* Maximum number of nodes and levels: more could not be seen in a picture. */
#define ANALYSIS_CUT_NODES_MAX 50000
#define ANALYSIS_CUT_LEVELS_MAX 64

#define ANALYSIS_CUT_NONE UINT32_MAX

/* A node. */
struct analysis_cut_node {
	uint32_t ix;                        /* the object; HEAP_NONE: node 0 of the whole heap */
	uint32_t level;                     /* 0 for node 0 */
	uint32_t parent, first, last, next; /* shown nodes, or ANALYSIS_CUT_NONE */
	uint64_t retained_bytes;
	uint64_t others;       /* objects it dominates immediately that are not shown */
	uint64_t others_bytes; /* their total retained size */
};

/* Where to start: an object and everything it dominates. */
struct analysis_cut_top {
	uint32_t ix; /* HEAP_NONE: the whole heap */
	uint64_t retained_bytes;
};

/* The chosen nodes. */
struct analysis_dominator_cut {
	struct analysis_cut_node *nodes; /* owned; visited from node 0 by `first` and `next` */
	uint32_t shown;                  /* number of nodes visited in this way, without node 0 */
};

/*
 * Chooses up to `most` nodes below `top`, those that retain most; node 0 is `top`. Builds the table
 * children if needed. The caller releases *out, also after a failure.
 */
int analysis_dominator_cut(const struct session *session, const struct analysis_cut_top *top,
			   uint32_t most, struct analysis_dominator_cut *out,
			   struct hdb_error *err);
void analysis_dominator_cut_release(struct analysis_dominator_cut *cut);

/* Returns the next node in preorder; ANALYSIS_CUT_NONE after the last. */
uint32_t analysis_dominator_cut_next(const struct analysis_dominator_cut *cut, uint32_t node);

#endif
