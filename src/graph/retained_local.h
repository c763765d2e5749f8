/*
 * graph/retained_local.h - finds the nodes that a node or a set of nodes retains, examining only a
 * small part of the graph.
 *
 * Every node dominated by a set X is below a member of X in any spanning tree from the roots, such
 * as the reach tree. The search therefore starts with the members and all nodes below them. It
 * removes nodes that are roots or have a reachable referrer outside the subtree, and then all nodes
 * to which removed nodes refer. The remaining nodes are retained. The result is exact, and the cost
 * depends on the size of the subtree.
 */
#ifndef GRAPH_RETAINED_LOCAL_H
#define GRAPH_RETAINED_LOCAL_H

#include "graph/access.h"

/* The nodes of a set. Borrowed. */
struct graph_members {
	const uint32_t *node;
	size_t count;
};

struct graph_retained_options {
	uint32_t max_nodes; /* maximum number of nodes in the subtree, or 0 for no limit */
	/* maximum number of edges examined in either direction, or 0 for no limit */
	uint64_t max_edges;
};

struct graph_retained_set {
	uint32_t *nodes; /* retained, ascending; owned */
	uint32_t count;
	/* cost of the search, set even if a limit was exceeded */
	uint32_t subtree_nodes; /* members and nodes below them */
	uint32_t removed_nodes; /* number of these nodes that are not retained */
	uint64_t edges;         /* examined */
};

/*
 * Lists the nodes that `members` together retain, including the members. An unreachable member
 * retains nothing and is ignored. Duplicates are allowed. `opt` may be NULL. Returns HDB_OK, a
 * failure, or GRAPH_BUDGET with an empty set if a limit was exceeded. The caller must release *out
 * in any case.
 */
int graph_retained_local(const struct graph_access *graph, struct graph_members members,
			 const struct graph_retained_options *opt, struct graph_retained_set *out,
			 struct hdb_error *err);
void graph_retained_set_release(struct graph_retained_set *set);

#endif
