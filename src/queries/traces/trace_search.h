/*
 * queries/traces/trace_search.h - the shortest paths of leak traces from the roots, and what
 * objects retain in the graph that they follow.
 *
 * Breadth first, roots and references in the order of trace_graph.h; what is likely no reason
 * (known leaks of libraries, locals of threads) only when nothing else is left. Sizes are those
 * that the dump records: instances as their class says, arrays their elements, strings with their
 * characters, with registered native memory; no headers, no padding.
 */
#ifndef QUERIES_TRACES_TRACE_SEARCH_H
#define QUERIES_TRACES_TRACE_SEARCH_H

#include "base/rank_bitset.h"
#include "base/size_array.h"
#include "graph/dominators/semi_nca.h"
#include "queries/traces/trace_graph.h"

struct trace_search {
	struct trace_graph *graph; /* lent */
	uint32_t *parents; /* by object: GRAPH_NONE of a root, itself if nothing leads to it */
	struct base_big parents_big;
	struct graph_rows rows; /* given up for the sizes */
	uint64_t *roots;        /* bits */
	uint64_t *has_late;     /* bits: some of its references are late */
	/* trace_sizes.c */
	bool has_sizes;
	struct base_ranks below; /* the objects whose paths pass one of those that are asked for */
	struct graph_dominators dominators; /* of these, by rank */
	struct base_sizes bytes, counts;    /* by number: retained */
};

/* Finds the paths. `graph` is lent. Release it in any case. */
int trace_search_paths(struct trace_search *search, struct trace_graph *graph,
		       struct hdb_error *err);
/*
 * Then, if wanted, what `count` objects retain, to which paths lead: costs a pass over the
 * references, and what finding dominators costs for all objects whose paths pass one of them.
 */
int trace_search_sizes(struct trace_search *search, const uint32_t *wanted, size_t count,
		       struct hdb_error *err);
void trace_search_release(struct trace_search *search);

/* What an object retains that is one of `wanted` or below it; 0 for others. */
int trace_search_retained(const struct trace_search *search, uint32_t ix, uint64_t *bytes,
			  uint64_t *objects, struct hdb_error *err);

/* A root where paths may start. */
struct trace_root {
	uint32_t ix;
	uint8_t kind; /* HPROF's; 0: of an incomplete dump, what nothing else holds */
	bool is_late; /* only when nothing else is left */
};

/* All of them, in the order in which they are followed, as struct trace_root; *out is owned. */
int trace_roots(struct trace_graph *graph, struct base_vec *out, struct hdb_error *err);

/*
 * The kind of root that an object is, for a path that starts there: of several the one that tells
 * most. false if it is none.
 */
bool trace_root_kind(struct heap *heap, uint32_t ix, uint8_t *kind);

/* The size of one object as the dump records it. */
int trace_recorded_size(struct heap *heap, const struct heap_object *object, uint64_t *bytes,
			struct hdb_error *err);

#endif
