/*
 * graph/dom_build.h - the phases of graph_dominators. Private to dominators.c and dom_search.c.
 *
 * Bytes a node: 4 for numbers (packed after it to some 2), half a one for parents, while searching,
 * and 8 for each edge that waits; 3 to 7 for each edge that is not the tree's until it is
 * evaluated; then 8 for links and half a one for semidominators; at last 4 for dominators.
 */
#ifndef GRAPH_DOM_BUILD_H
#define GRAPH_DOM_BUILD_H

#include "graph/dominators.h"
#include "graph/edge_buckets.h"
#include "graph/runs.h"

#if GRAPH_RUN_BITS != GRAPH_BUCKET_BITS
#error "edges and parents are worked on in the same blocks"
#endif

/* In number[]: a root that was not met yet. */
#define DOM_ROOT UINT32_MAX

/* Steps between two calls of base_step. */
#define DOM_STEP_MASK 0xffffu

/* How many targets, or numbers, ahead memory is asked for. */
#define DOM_AHEAD 8

struct dom_build {
	struct base_work *work;
	struct graph_rows *rows;
	uint32_t *number;        /* by node */
	uint32_t count;          /* highest number given */
	struct graph_runs parents; /* by number: how far below it the parent's number is */
	struct graph_runs semis;   /* by number: how far below the parent the semidominator is */
	struct graph_edge_buckets edges; /* all but the search tree's, by numbers */
	uint64_t *top;           /* bits by number: certain to have the virtual root as semidominator */
	struct base_big top_big;
	uint64_t *block;         /* GRAPH_RUN values of parents or semis, while they are worked on */
	uint64_t *block2;
};

/* Numbers everything the roots reach; fills number, count, parents and edges. */
int dom_search(struct dom_build *build, const uint64_t *root_bits, struct hdb_error *err);

#endif
