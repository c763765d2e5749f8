/*
 * queries/compare/owner_tree.h - the tree of the most plausible paths (see derive/strange.rules),
 * merged by owner.
 *
 * The owner of an object is the application's field that holds it, directly or through collections,
 * arrays and other platform objects. If no such field exists, the owner is a static field of the
 * platform, a field or local variable of a thread, or a thread-local, and otherwise the kind of GC
 * root. The leaks query names owners in the same way. A node consists of an owner and the class of
 * the objects that it holds: "a.Cache.entries -> java.util.HashMap". Below it are the contents of
 * the collection, "a.Cache.entries[] -> a.Session", and below these the objects that sessions own.
 * The bytes of map entries, hash tables and character arrays are added to the object to which they
 * belong; such parts are not counted as objects.
 *
 * Names contain no addresses or other data that changes from run to run, so nodes of different
 * dumps correspond. A name occurs at most once on a path: an owner that holds objects of its own
 * kind shares a node with them. So the sizes of all nodes with the same name can be added.
 */
#ifndef QUERIES_COMPARE_OWNER_TREE_H
#define QUERIES_COMPARE_OWNER_TREE_H

#include "analysis/merged.h"
#include "base/work.h"

/* A tree of several dumps, and the parts of its nodes' names. */
struct owner_tree {
	struct analysis_merged merged;
	struct base_vec parts; /* struct owner_name, indexed by number of the name */
};

/* The parts of the name of a node. */
struct owner_name {
	uint32_t owner; /* index of the name that consists only of the owner */
	/*
	 * length in bytes up to the class of the held objects, or 0 if the name consists only of an
	 * owner
	 */
	uint32_t held_from;
};

void owner_tree_init(struct owner_tree *tree, unsigned dump_count);
void owner_tree_release(struct owner_tree *tree);

/*
 * Adds a heap as dump number `dump`. Builds the table of least strange paths if needed. Memory:
 * temporarily 14 bytes and 2 bits per object, within the budget. Time is linear: two passes over
 * the objects, and one over the fields of objects that hold others.
 *
 * Sets *place, unless NULL, to the node of each object, or to ANALYSIS_MERGED_TOP if the object has
 * no node or is part of another object. The caller frees *place with base_big_free and the
 * session's work.
 */
int owner_tree_add(const struct session *session, struct owner_tree *tree, unsigned dump,
		   struct base_big *place, struct hdb_error *err);

/*
 * The first function returns the owner that is part of a name. The second returns the class of the
 * held objects, or "" if the name consists only of an owner. Borrowed until the tree is released.
 */
const char *owner_tree_owner(const struct owner_tree *tree, uint32_t name);
const char *owner_tree_held(const struct owner_tree *tree, uint32_t name);

static inline const struct owner_name *owner_tree_name(const struct owner_tree *tree, uint32_t name)
{
	return base_vec_at(&tree->parts, struct owner_name, name);
}

#endif
