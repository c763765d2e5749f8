/*
 * queries/compare/growth_tree.h - the tree of shortest paths from the GC roots, merged by the names
 * of their references. The name of a reference consists of the field, the class that declares the
 * field, and the class of the object that the field refers to.
 *
 * For example, all elements of all maps in one field form one node, and the elements of the maps in
 * another field form another node. Nodes of different dumps therefore correspond even if the
 * addresses of their objects differ. Paths follow the same references as leak traces
 * (traces/trace_graph.h): collections refer directly to their elements, and referents of weak,
 * soft, phantom and final references are omitted. Nodes are visited in the order of LeakCanary's
 * heap growth detector, and an object belongs to the first node that leads to it. If a reference
 * has the same name as the reference before it in the path, as in a linked list, its target belongs
 * to the same node.
 */
#ifndef QUERIES_COMPARE_GROWTH_TREE_H
#define QUERIES_COMPARE_GROWTH_TREE_H

#include "analysis/merged.h"
#include "base/work.h"
#include "queries/traces/library_leaks.h"

/* Options for building the tree. */
struct growth_tree_options {
	enum library_use use;
	/*
	 * Bit set of the objects that are counted. All objects get a place. NULL means that all
	 * objects are counted. Borrowed.
	 */
	const uint64_t *members;
	/*
	 * Receives the node of each object, or ANALYSIS_MERGED_TOP for unreachable objects. The
	 * caller must free it with base_big_free and the session's work. NULL if not needed.
	 */
	struct base_big *place;
};

/*
 * Adds a heap to the tree as dump number `dump`. Without `members`, strings include their
 * characters, and box arrays include their boxes, if nothing else refers to them. Memory:
 * temporarily 16 bytes per object, within the budget.
 */
int growth_tree_add(const struct session *session, struct analysis_merged *m, unsigned dump,
		    const struct growth_tree_options *options, struct hdb_error *err);

#endif
