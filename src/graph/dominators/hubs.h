/*
 * graph/dominators/hubs.h - nodes that nearly all refer to, and that the virtual root dominates:
 * known before a search, they cost it nothing.
 *
 * Half of a compiler's edges lead to some hundred nodes: classes, empty lists, names. Two ways to
 * such a node that have nothing in common are found soon. A breadth-first search from all roots at
 * once gives each node the label of the root that it is below. Where an edge joins two labels, its
 * target has two such ways: the virtual root is its dominator, and it may be taken for a root. That
 * changes nobody's dominator: no node is on all ways to it, so that each way from it to another one
 * could be reached around any node before. The next round begins with those among the roots.
 *
 * A search ends after a part of the nodes: what it misses is found later all the same. The first
 * one is very short, and tells whether there are hubs at all: collections of records have none.
 */
#ifndef GRAPH_DOMINATORS_HUBS_H
#define GRAPH_DOMINATORS_HUBS_H

#include "graph/adjacency.h"

/* Of how many nodes one is looked at in the first round, and in the others; and rounds. */
#define GRAPH_HUBS_FIRST_PART 256u
#define GRAPH_HUBS_PART 16u
#define GRAPH_HUBS_ROUNDS 3u

/*
 * Adds such nodes to root_bits (bits by node), and what was looked at to *steps. Memory: 4.25 bytes
 * a node; where there is no room for that, none are added.
 */
int graph_find_hubs(const struct graph_rows *rows, uint64_t *root_bits, uint64_t *steps,
		    struct hdb_error *err);

#endif
