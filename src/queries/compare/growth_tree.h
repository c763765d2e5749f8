/*
 * queries/compare/growth_tree.h - the tree of shortest paths from the GC roots, merged by the names
 * of references: the field, the class that declares it, and the class of the object that it refers
 * to.
 *
 * For example, the elements of all maps in one field form one node, and the elements of the maps in
 * another field form another node. So nodes of different dumps correspond even if the addresses of
 * their objects differ. Paths follow the same references as leak traces (traces/trace_graph.h):
 * collections refer directly to their elements, and referents of weak, soft, phantom and final
 * references are omitted. Nodes are visited in the order of LeakCanary's heap growth detector, and
 * an object belongs to the first node that leads to it. If a reference has the same name as the one
 * before it, as in a linked list, its target belongs to the same node.
 */
#ifndef QUERIES_COMPARE_GROWTH_TREE_H
#define QUERIES_COMPARE_GROWTH_TREE_H

#include "analysis/merged.h"
#include "base/work.h"
#include "queries/traces/library_leaks.h"

/* Options for building the tree. */
struct growth_tree_options {
	enum library_use use;
	/* bit set of the objects to count; NULL means all; borrowed. All objects get a place. */
	const uint64_t *members;
	/*
	 * if not NULL, receives the node of each object, or ANALYSIS_MERGED_TOP for unreachable
	 * ones; the caller must free it with base_big_free and the session's work
	 */
	struct base_big *place;
};

/*
 * Adds a heap to the tree as dump number `dump`. Without `members`, strings include their
 * characters, and arrays of boxes their boxes, unless something else refers to them. Memory:
 * temporarily 16 bytes per object, within the budget.
 */
int growth_tree_add(const struct session *session, struct analysis_merged *m, unsigned dump,
		    const struct growth_tree_options *options, struct hdb_error *err);

#endif
