/*
 * queries/traces/trace_search.h - finds the shortest paths of leak traces, and retained sizes in
 * the graph that these paths follow.
 *
 * The search is breadth-first, with roots and references in the order of trace_graph.h. References
 * that are unlikely to be the reason (known library leaks, local variables of threads) are followed
 * only when no other references are left. As in LeakCanary, sizes are those recorded in the dump,
 * without headers and padding: the instance size of the class, the elements of arrays, strings with
 * their characters, plus registered native memory.
 */
#ifndef QUERIES_TRACES_TRACE_SEARCH_H
#define QUERIES_TRACES_TRACE_SEARCH_H

#include "base/rank_bitset.h"
#include "base/size_array.h"
#include "graph/dominators/semi_nca.h"
#include "queries/traces/trace_graph.h"

/* Result of the search. Takes 4 bytes per object, and the rows until sizes are computed. */
struct trace_search {
	struct trace_graph *graph; /* borrowed */
	/*
	 * indexed by object: its parent, GRAPH_NONE for a root, or the object itself if unreachable
	 */
	uint32_t *parents;
	struct base_big parents_big;
	struct graph_rows rows; /* released when sizes are computed */
	uint64_t *roots;        /* bit set */
	uint64_t *has_late;     /* bit set: objects with references that are followed late */
	/* trace_sizes.c */
	bool has_sizes;
	/* the wanted objects, and the objects whose paths pass a wanted object */
	struct base_ranks below;
	struct graph_dominators dominators; /* dominators of the objects, by rank */
	/* indexed by number in the dominator tree: retained size, and number of retained objects */
	struct base_sizes bytes, counts;
};

/* Finds the paths. `graph` is borrowed. The caller must release *search, even after a failure. */
int trace_search_paths(struct trace_search *search, struct trace_graph *graph,
		       struct hdb_error *err);
/*
 * Computes the retained sizes of `count` reachable objects, in a pass over all references, using
 * the dominators of all objects whose paths pass one of the `count` objects. May be called only
 * once.
 */
int trace_search_sizes(struct trace_search *search, const uint32_t *wanted, size_t count,
		       struct hdb_error *err);
void trace_search_release(struct trace_search *search);

/*
 * Finds the retained size of an object that is in `wanted` or below an object in `wanted`. For
 * other objects, the sizes are 0.
 */
int trace_search_retained(const struct trace_search *search, uint32_t ix, uint64_t *bytes,
			  uint64_t *objects, struct hdb_error *err);

/* A root at which paths may start. */
struct trace_root {
	uint32_t ix;
	uint8_t kind; /* as in HPROF; 0 for a root only because the dump is incomplete */
	bool is_late; /* whether the root is used after all other roots and references */
};

/*
 * Collects all roots (struct trace_root) in the order in which they are followed. The caller frees
 * *out.
 */
int trace_roots(struct trace_graph *graph, struct base_vec *out, struct hdb_error *err);

/*
 * Finds the root kind of an object or, if it has several, the first kind in the order of the
 * search. Returns false if it is not a root.
 */
bool trace_root_kind(struct heap *heap, uint32_t ix, uint8_t *kind);

/* Finds the size of one object as recorded in the dump. */
int trace_recorded_size(struct heap *heap, const struct heap_object *object, uint64_t *bytes,
			struct hdb_error *err);

#endif
