/*
 * queries/compare/owner_tree.h - the tree of paths of least strangeness, merged by owner.
 *
 * An object's owner is the field of an application's that holds it, be it by way of collections,
 * arrays and other objects of the platform; a static field of the platform's, a thread's field or
 * local variable, a thread-local, or the kind of GC root where no field is to blame. That is how
 * leaks names owners. A node is an owner with the class of what it holds: "a.Cache.entries ->
 * java.util.HashMap", below it what is in the collection, "a.Cache.entries[] -> a.Session", below
 * that what sessions own. Entries, tables and characters are parts of what has them: their bytes
 * count there, they do not.
 *
 * Names have no address and nothing that differs from one run to the next, so nodes of different
 * dumps are the same. A name occurs once on a path: what holds itself, directly or not, stays in
 * one node, so that all nodes of one name can be added up.
 */
#ifndef QUERIES_COMPARE_OWNER_TREE_H
#define QUERIES_COMPARE_OWNER_TREE_H

#include "analysis/merged.h"
#include "base/work.h"

/* A tree over several dumps; the names of nodes in parts. */
struct owner_tree {
	struct analysis_merged merged;
	struct base_vec parts; /* struct owner_name, by number of a name */
};

/* Of a node's name: who owns. */
struct owner_name {
	uint32_t owner;     /* number of the name that is the owner's alone */
	uint32_t held_from; /* bytes before the class of what is held; 0: the name is an owner's */
};

void owner_tree_init(struct owner_tree *tree, unsigned dump_count);
void owner_tree_release(struct owner_tree *tree);

/*
 * Adds a heap as dump number `dump`. Builds the table of paths of least strangeness. Memory: 14
 * bytes and 2 bits an object meanwhile, within the budget. Two passes over the objects, and one
 * over the fields of those that hold others; linear. *place, unless NULL, is set to the node of
 * each object by index, ANALYSIS_MERGED_TOP where it has none or is a part: base_big_free with the
 * session's work.
 */
int owner_tree_add(const struct session *session, struct owner_tree *tree, unsigned dump,
		   struct base_big *place, struct hdb_error *err);

/* The text of a name's owner, and the class of what is held ("" of an owner's own name); lent. */
const char *owner_tree_owner(const struct owner_tree *tree, uint32_t name);
const char *owner_tree_held(const struct owner_tree *tree, uint32_t name);

static inline const struct owner_name *owner_tree_name(const struct owner_tree *tree, uint32_t name)
{
	return base_vec_at(&tree->parts, struct owner_name, name);
}

#endif
