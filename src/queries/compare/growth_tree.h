/*
 * queries/compare/growth_tree.h - the tree of shortest paths from the GC roots, merged by the names
 * of references: a field with the class that declares it and the class of what it refers to.
 *
 * All elements of all maps that one field holds are one node, those of another field another one;
 * so nodes of different dumps are the same whatever addresses their objects have. Paths are those
 * of leak traces (traces/trace_graph.h): collections refer to their elements at once, referents of
 * weak, soft, phantom and final references are left out. Nodes are visited in the order in which
 * LeakCanary's detector of growth visits them, each object by the first one that leads to it. A
 * reference of the same name as the one above it (the next node of a list) stays in that one's
 * node.
 */
#ifndef QUERIES_COMPARE_GROWTH_TREE_H
#define QUERIES_COMPARE_GROWTH_TREE_H

#include "analysis/merged.h"
#include "base/work.h"
#include "queries/traces/library_leaks.h"

/* What is asked of the tree. */
struct growth_tree_options {
	enum library_use use;
	/* those that count, a bit an object, each at its place; NULL: all; lent */
	const uint64_t *members;
	/*
	 * set to the node of each object by index, ANALYSIS_MERGED_TOP where nothing leads to it:
	 * owned, base_big_free with the session's work; NULL: not asked for
	 */
	struct base_big *place;
};

/*
 * Adds a heap to the tree as dump number `dump`. Without `members` strings count with their
 * characters, arrays of boxed numbers with these, where nothing else leads to them. Memory: 16
 * bytes an object meanwhile, within the budget.
 */
int growth_tree_add(const struct session *session, struct analysis_merged *m, unsigned dump,
		    const struct growth_tree_options *options, struct hdb_error *err);

#endif
