/*
 * graph/retained_local.h - what a node, or a set of nodes, retains, found by looking at its
 * surroundings only.
 *
 * Every node that a set X dominates lies below a member of X in any spanning tree from the
 * roots, here the reach tree. So: take the members and what is below them; take away what is a
 * root or has a reachable referrer outside, and then whatever is referred to by what was taken
 * away. What stays is retained: exact, and as expensive as the subtree is big. DESIGN.md,
 * section 1, has the proof.
 */
#ifndef GRAPH_RETAINED_LOCAL_H
#define GRAPH_RETAINED_LOCAL_H

#include "graph/access.h"

/* The nodes of a set; lent. */
struct graph_members {
	const uint32_t *node;
	size_t count;
};

struct graph_retained_options {
	uint32_t max_nodes; /* of the subtree; 0: no limit */
	uint64_t max_edges; /* looked at, either side; 0: no limit */
};

struct graph_retained_set {
	uint32_t *nodes; /* retained, ascending; owned */
	uint32_t count;
	/* What it cost; also filled when a budget was exceeded. */
	uint32_t subtree_nodes; /* members and what is below them */
	uint32_t removed_nodes; /* of those, how many turned out not to be retained */
	uint64_t edges;         /* looked at */
};

/*
 * Lists what all of `members` retain, themselves included. A member that no root reaches
 * retains nothing and is ignored; duplicates do no harm. `opt` may be NULL. HDB_OK;
 * GRAPH_BUDGET if a limit was exceeded, then the set is empty; or a failure. Release *out in
 * any case.
 */
int graph_retained_local(const struct graph_access *graph, struct graph_members members,
			 const struct graph_retained_options *opt, struct graph_retained_set *out,
			 struct hdb_error *err);
void graph_retained_set_release(struct graph_retained_set *set);

#endif
