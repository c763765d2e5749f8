/*
 * analysis/merged.h - a tree over all objects (shortest paths from the roots, or dominators) with
 * its branches merged by class, package or class loader, for one dump or several at once.
 *
 * The names on the path from the root to an object determine its node. For example, all entries of
 * all tables of all maps that a class holds are one node. Trees of different dumps therefore have
 * the same nodes, regardless of the addresses of their objects. A shortest path begins at the last
 * class object in it whose class is never unloaded (heap_class_is_permanent), unless that class
 * object itself counts. An object with the same name as its parent (a node of a linked list, a
 * branch of a tree) belongs to its parent's node.
 *
 * Call analysis_merged_init, then analysis_merged_add for each dump, then analysis_merged_finish,
 * and finally analysis_merged_walk for the nodes to show.
 */
#ifndef ANALYSIS_MERGED_H
#define ANALYSIS_MERGED_H

#include "analysis/population.h"
#include "analysis/session.h"
#include "base/name_tree.h"

/* Maximum depth of nodes. Deeper objects are counted in their ancestor at this level. */
#define ANALYSIS_MERGED_DEPTH 100u
/* Maximum number of nodes (a few hundred MB), unless the memory budget allows fewer. */
#define ANALYSIS_MERGED_NODES (1u << 21)
/*
 * Number that stands for the parent of the nodes on the top level, although this parent is not a
 * node.
 */
#define ANALYSIS_MERGED_TOP BASE_TREE_TOP

/* The trees that can be merged. */
enum analysis_tree {
	ANALYSIS_TREE_REACH, /* shortest paths from the roots */
	/* shortest paths that ignore weak, soft, phantom and final references */
	ANALYSIS_TREE_REACH_STRONG,
	ANALYSIS_TREE_DOMINATORS,
	ANALYSIS_TREE_WITHOUT /* shortest paths without the references excluded by a filter */
};

/* Specifies which objects are merged along which tree. All pointers are borrowed. */
struct analysis_merged_source {
	enum analysis_tree tree;
	const struct derive_filter *filter; /* filter of ANALYSIS_TREE_WITHOUT */
	/* one bit per object: whether the object counts; NULL means that all objects count */
	const uint64_t *members;
	/*
	 * The same set as an ascending list, or NULL. If the list is short, only the paths of these
	 * objects are read, not the whole heap.
	 */
	const uint32_t *list;
	uint64_t list_count;
	/* struct derive_native, ascending by object, or NULL if native memory is not counted */
	const struct base_vec *native;
};

/* Kind of a name: the class object, not the instances. Used only when merging by class. */
#define ANALYSIS_NAME_CLASS 1

/* The figures of a node in one dump. */
struct analysis_merged_sum {
	uint64_t count;         /* objects of the node itself */
	uint64_t shallow_bytes; /* their shallow size */
	/* totals that include all nodes below; set by analysis_merged_finish */
	uint64_t total_count;
	uint64_t total_bytes;
	uint64_t native_bytes; /* native memory owned by the objects of the node */
	uint64_t total_native;
	/*
	 * the object of the node with the largest retained size, or HEAP_NONE if the node has no
	 * objects
	 */
	uint32_t example_ix;
	/*
	 * retained size of this object, or its shallow size if the `retained` table has not been
	 * built
	 */
	uint64_t example_bytes;
};

/* A merged tree. Private except for reading. */
struct analysis_merged {
	enum derive_group by; /* class, package or class loader */
	unsigned dump_count;
	uint32_t node_limit;
	/* names of classes, packages and class loaders, borrowed from the heap */
	struct base_names names;
	struct base_tree tree;
	struct base_vec sums; /* struct analysis_merged_sum, dump_count per node */
	/* number of objects counted in an ancestor because a limit was reached */
	uint64_t folded;
};

/*
 * Starts an empty tree for dump_count dumps. The caller must release the tree, even after failures.
 */
void analysis_merged_init(struct analysis_merged *m, enum derive_group by, unsigned dump_count);
void analysis_merged_release(struct analysis_merged *m);

/*
 * Adds the objects of the session's heap to the tree, as dump number `dump`. Builds the tree's
 * table if it is missing. Memory: the nodes, and temporarily 8 bytes per object within the budget.
 * Objects that are not in the dump are not counted. The heap must stay open until the tree is
 * released.
 */
int analysis_merged_add(const struct session *session, struct analysis_merged *m, unsigned dump,
			const struct analysis_merged_source *source, struct hdb_error *err);

/*
 * ---- filling the tree by callers that determine the nodes of objects themselves ----
 *
 * Call analysis_merged_limit first, then _text and _child for names and nodes as they are found,
 * and finally analysis_merged_count once per dump.
 */
void analysis_merged_limit(struct analysis_merged *m, const struct session *session);
/* Finds or adds a name. Copies the string. */
int analysis_merged_text(struct analysis_merged *m, const char *text, uint32_t *no,
			 struct hdb_error *err);
/*
 * Values of place[]. ANALYSIS_PLACE_NONE means that no path leads to the object. If the highest bit
 * is set, the node is not known yet, and the lower bits are available to the caller.
 */
#define ANALYSIS_PLACE_NONE UINT32_MAX
#define ANALYSIS_PLACE_WAITS 0x80000000u

/* Information needed to find the nodes of a tree in which each object has one parent. */
struct analysis_places {
	/*
	 * indexed by object: its parent, or HEAP_NONE for a root; every call restores these links
	 */
	uint32_t *parent;
	uint32_t *place; /* indexed by object: its node, or one of ANALYSIS_PLACE_* */
	/*
	 * Sets *node to the node of object ix. On entry, *node is the node of the object's parent
	 * `above`, which is HEAP_NONE for a root.
	 */
	int (*settle)(void *ctx, uint32_t above, uint32_t ix, uint32_t *node,
		      struct hdb_error *err);
	/* Called if the parent of an object is impossible. Returns the error. */
	int (*damaged)(void *ctx, uint32_t ix, const char *what, struct hdb_error *err);
	void *ctx;
};
/* Assigns nodes to a pending object and to its pending ancestors, ancestors first. */
int analysis_merged_place(const struct analysis_places *p, uint32_t ix, struct hdb_error *err);
/*
 * Finds or adds the child with this name. Returns `parent` itself if `parent` has this name, or if
 * a limit has been reached.
 */
int analysis_merged_child(struct analysis_merged *m, uint32_t parent, uint32_t name, uint32_t *out,
			  struct hdb_error *err);

/* The nodes of all objects of a dump. All pointers are borrowed. */
struct analysis_merged_places {
	/* indexed by object: the node, or ANALYSIS_MERGED_TOP if there is none */
	const uint32_t *node;
	/*
	 * one bit per object: whether to count its size but not the object, because its bytes
	 * belong to another object; NULL if there are no such objects
	 */
	const uint64_t *added;
	/* one bit per object: whether the object counts; NULL means that all objects count */
	const uint64_t *members;
};

/* Adds all objects of a dump to the sums of their nodes, in one pass over the heap. */
int analysis_merged_count(const struct session *session, struct analysis_merged *m, unsigned dump,
			  const struct analysis_merged_places *places, struct hdb_error *err);

/* Computes the totals. Must be called once, after all dumps have been added. */
void analysis_merged_finish(struct analysis_merged *m);

static inline const struct base_tree_node *analysis_merged_node(const struct analysis_merged *m,
								uint32_t node)
{
	return base_tree_node(&m->tree, node);
}

static inline const struct base_name *analysis_merged_name(const struct analysis_merged *m,
							   uint32_t node)
{
	return base_vec_at(&m->names.list, struct base_name, base_tree_node(&m->tree, node)->name);
}

static inline struct analysis_merged_sum *analysis_merged_sum(const struct analysis_merged *m,
							      uint32_t node, unsigned dump)
{
	return base_vec_at(&m->sums, struct analysis_merged_sum,
			   (size_t)node * m->dump_count + dump);
}

/*
 * Writes the names of the nodes from below `above` (from the top if `above` is ANALYSIS_MERGED_TOP)
 * down to the node, as in "a.B > c.D > e.F". If the names do not fit, replaces the beginning with
 * "...". size is at least 5.
 */
void analysis_merged_path(const struct analysis_merged *m, uint32_t node, uint32_t above, char *buf,
			  size_t size);

/* ---- the nodes to show ---- */

/* A row: a node, or all siblings that are too small for separate rows. */
struct analysis_merged_step {
	/* the node or, for `others`, its parent, which may be ANALYSIS_MERGED_TOP */
	uint32_t node;
	/* 0 for the node itself, otherwise 1 + index among the rests of the walk */
	uint32_t others;
};

/*
 * Siblings that are not shown, including all nodes below them. The sums of the shown children and
 * of the rest add up to the sum below their parent.
 */
struct analysis_merged_rest {
	uint32_t nodes; /* number of siblings */
	uint32_t depth; /* their depth */
};

/*
 * The nodes to show. Parents come before their children. Siblings are sorted by rank, highest
 * first, and the rest of the siblings comes last.
 */
struct analysis_merged_walk {
	struct analysis_merged_step *order; /* owned */
	size_t count;
	uint32_t max_depth;    /* deepest level shown */
	struct base_vec rests; /* struct analysis_merged_rest */
	/* struct analysis_merged_sum: totals of the rests, dump_count per rest */
	struct base_vec sums;
	/*
	 * number of nodes omitted as too small or too deep, and the newest dump's number of objects
	 * in them
	 */
	struct analysis_cut small, deep;
};

/* Specifies which nodes to show. */
struct analysis_merged_worth {
	int64_t (*rank)(const struct analysis_merged *m, uint32_t node);
	/* minimum rank to be shown; ancestors of shown nodes are always shown */
	int64_t low;
	uint32_t max_depth; /* deepest level shown */
};

/*
 * Determines the nodes to show and their order. Small siblings of shown nodes become one step,
 * `others`, except on levels below max_depth. The caller must release *out, even after a failure.
 */
int analysis_merged_walk(const struct analysis_merged *m, const struct analysis_merged_worth *worth,
			 struct analysis_merged_walk *out, struct hdb_error *err);
void analysis_merged_walk_release(struct analysis_merged_walk *walk);

/* Returns the combined siblings of a step `others`. */
static inline const struct analysis_merged_rest *analysis_merged_rest(
	const struct analysis_merged_walk *walk, const struct analysis_merged_step *step)
{
	return base_vec_at(&walk->rests, struct analysis_merged_rest, step->others - 1);
}

/* Returns the figures of a step: the sums of its node, or the totals of the combined siblings. */
const struct analysis_merged_sum *analysis_merged_step_sum(const struct analysis_merged *m,
							   const struct analysis_merged_walk *walk,
							   const struct analysis_merged_step *step,
							   unsigned dump);

#endif
