/*
 * analysis/merged.h - a tree over the objects (shortest paths from the roots, or dominators) with
 * its branches merged by class, package or loader, for one dump or several at once.
 *
 * An object belongs to the node that the names on its way from the root spell: all entries of all
 * tables of all maps that a class holds are one node. So trees of different dumps have the same
 * nodes, whatever addresses their objects have. An object of the same name as the one above it (a
 * link of a list, a branch of a tree) stays in that one's node.
 */
#ifndef ANALYSIS_MERGED_H
#define ANALYSIS_MERGED_H

#include "analysis/population.h"
#include "analysis/session.h"
#include "base/idmap.h"

/* Levels that are distinguished; what is deeper counts with its ancestor on the last one. */
#define ANALYSIS_MERGED_DEPTH 100u
/* Nodes that are distinguished, if the memory budget does not say fewer: some hundred MB. */
#define ANALYSIS_MERGED_NODES (1u << 21)
/* No node: the parent of the top level. */
#define ANALYSIS_MERGED_TOP UINT32_MAX

enum analysis_tree {
	ANALYSIS_TREE_REACH,        /* shortest paths from the roots */
	ANALYSIS_TREE_REACH_STRONG, /* without referents of weak, soft, phantom, final references */
	ANALYSIS_TREE_DOMINATORS,
	ANALYSIS_TREE_WITHOUT /* shortest paths without what a filter leaves out */
};

/* Which objects are merged along which tree. */
struct analysis_merged_source {
	enum analysis_tree tree;
	const struct derive_filter *filter; /* of ANALYSIS_TREE_WITHOUT; lent */
	const uint64_t *members;            /* those that count, a bit an object; NULL: all; lent */
	/* The same as a list, ascending; NULL: none. Of few only their ways are looked at. Lent. */
	const uint32_t *list;
	uint64_t list_count;
	const struct base_vec *native; /* struct derive_native, ascending; NULL: none; lent */
};

/* What nodes are called; lent by the heap that had the name first. */
struct analysis_merged_name {
	const char *text;
	size_t size;
	bool is_class; /* the class object of that name; only by class */
};

struct analysis_merged_node {
	uint32_t parent; /* a lower number, or ANALYSIS_MERGED_TOP */
	uint32_t name;   /* number of its name */
	uint32_t depth;  /* 0: top level */
	uint32_t hint;   /* the child that was found last */
};

/* What a node has of one dump. */
struct analysis_merged_sum {
	uint64_t count;         /* objects of the node itself */
	uint64_t shallow_bytes; /* of them */
	uint64_t total_count;   /* with all nodes below it */
	uint64_t total_bytes;
	uint64_t native_bytes; /* memory outside of the Java heap that its objects own */
	uint64_t total_native;
	uint32_t example_ix;    /* its object that retains most, HEAP_NONE: none */
	uint64_t example_bytes; /* what that retains; its shallow size without the table retained */
};

struct analysis_merged {
	enum derive_group by; /* class, package or loader */
	unsigned dump_count;
	uint32_t node_limit;
	struct base_vec names; /* struct analysis_merged_name */
	struct base_vec nodes; /* struct analysis_merged_node */
	struct base_vec sums;  /* struct analysis_merged_sum, dump_count a node */
	struct base_idmap by_name, by_place;
	struct base_vec texts; /* char *: names that no heap lends; owned */
	uint32_t hint;         /* of the top level */
	uint64_t folded;       /* objects that count with an ancestor because of a limit */
};

/* Starts an empty tree for so many dumps. Release it in any case. */
void analysis_merged_init(struct analysis_merged *m, enum derive_group by, unsigned dump_count);
void analysis_merged_release(struct analysis_merged *m);

/*
 * Adds the objects of the heap of `q` that the tree reaches as dump number `dump`. Builds the
 * tree's table. Memory: 8 bytes an object meanwhile, within the budget; and the nodes. Objects that
 * the dump lacks do not count.
 */
int analysis_merged_add(const struct session *session, struct analysis_merged *m, unsigned dump,
			const struct analysis_merged_source *source, struct hdb_error *err);

/*
 * ---- another way to fill it: by who finds the objects' nodes himself ----
 *
 * First the limit of nodes, from the budget; then names and nodes as they are met; then all objects
 * of the dump.
 */
void analysis_merged_limit(struct analysis_merged *m, const struct session *session);
/* The number of a name; the text is copied. */
int analysis_merged_text(struct analysis_merged *m, const char *text, uint32_t *no,
			 struct hdb_error *err);
/* In place[]: no path leads to it; or it waits for its node, and the rest is the caller's. */
#define ANALYSIS_PLACE_NONE UINT32_MAX
#define ANALYSIS_PLACE_WAITS 0x80000000u

/* The nodes of a tree of objects that each have one parent. */
struct analysis_places {
	uint32_t *parent; /* by object, HEAP_NONE for a root; changed and restored meanwhile */
	uint32_t *place;  /* by object: its node, or ANALYSIS_PLACE_* */
	/* Of object ix, whose parent `above` (HEAP_NONE: none) has node *node: sets *node. */
	int (*settle)(void *ctx, uint32_t above, uint32_t ix, uint32_t *node,
		      struct hdb_error *err);
	/* Reports what is wrong with the parent of an object, and returns the error. */
	int (*damaged)(void *ctx, uint32_t ix, const char *what, struct hdb_error *err);
	void *ctx;
};
/* Sets the node of an object that waits, and of those above it that do. */
int analysis_merged_place(const struct analysis_places *p, uint32_t ix, struct hdb_error *err);
/* The child of that name; `parent` itself where it has the name, or where a limit was met. */
int analysis_merged_child(struct analysis_merged *m, uint32_t parent, uint32_t name, uint32_t *out,
			  struct hdb_error *err);

/* Where the objects of a dump are, by index; lent. */
struct analysis_merged_places {
	const uint32_t *node;  /* ANALYSIS_MERGED_TOP: in none */
	const uint64_t *added; /* a bit each: its bytes count, the object does not; NULL: all do */
	const uint64_t *members; /* those that count, a bit each; NULL: all */
};

int analysis_merged_count(const struct session *session, struct analysis_merged *m, unsigned dump,
			  const struct analysis_merged_places *places, struct hdb_error *err);

/* Adds up the totals, once all dumps are there. */
void analysis_merged_finish(struct analysis_merged *m);

static inline const struct analysis_merged_node *analysis_merged_node(
	const struct analysis_merged *m, uint32_t node)
{
	return base_vec_at(&m->nodes, struct analysis_merged_node, node);
}

static inline struct analysis_merged_sum *analysis_merged_sum(const struct analysis_merged *m,
							      uint32_t node, unsigned dump)
{
	return base_vec_at(&m->sums, struct analysis_merged_sum,
			   (size_t)node * m->dump_count + dump);
}

/*
 * Writes "a.B > c.D > e.F" from below `above` (ANALYSIS_MERGED_TOP: from the top) to the node; cut
 * at the left if it does not fit.
 */
void analysis_merged_path(const struct analysis_merged *m, uint32_t node, uint32_t above, char *buf,
			  size_t size);

/* ---- going through it ---- */

/* A row: a node, or the others of a level, which are too small to be shown each. */
struct analysis_merged_step {
	uint32_t node;   /* of others: the node that they are below, or ANALYSIS_MERGED_TOP */
	uint32_t others; /* 0: the node itself; else 1 + their number in the walk's rests */
};

/*
 * Siblings that are not shown, with all that is below them. In a tree that is cut by rank alone,
 * what the children shown and the others have is what their parent has below itself.
 */
struct analysis_merged_rest {
	uint32_t nodes; /* siblings */
	uint32_t depth; /* their level */
};

/*
 * The nodes worth showing: parents before children, the highest rank first, the others of a level
 * last.
 */
struct analysis_merged_walk {
	struct analysis_merged_step *order; /* owned */
	size_t count;
	uint32_t max_depth;    /* the deepest level shown */
	struct base_vec rests; /* struct analysis_merged_rest */
	struct base_vec sums; /* struct analysis_merged_sum: totals of the rests, dump_count each */
	/* nodes that are not shown, and what is theirs of the newest dump, by why */
	struct analysis_cut small, deep;
};

/* What is worth showing. */
struct analysis_merged_worth {
	int64_t (*rank)(const struct analysis_merged *m, uint32_t node);
	int64_t low;        /* the least rank; nodes above such are shown, too */
	uint32_t max_depth; /* the deepest level */
};

/*
 * Orders the nodes that are worth showing. Siblings of such nodes that are too small are one step,
 * `others`, on all levels but those that are too deep. Release *out in any case.
 */
int analysis_merged_walk(const struct analysis_merged *m, const struct analysis_merged_worth *worth,
			 struct analysis_merged_walk *out, struct hdb_error *err);
void analysis_merged_walk_release(struct analysis_merged_walk *walk);

/* A step's others, and their totals. */
static inline const struct analysis_merged_rest *analysis_merged_rest(
	const struct analysis_merged_walk *walk, const struct analysis_merged_step *step)
{
	return base_vec_at(&walk->rests, struct analysis_merged_rest, step->others - 1);
}
const struct analysis_merged_sum *analysis_merged_others(const struct analysis_merged *m,
							 const struct analysis_merged_walk *walk,
							 const struct analysis_merged_step *step,
							 unsigned dump);

#endif
