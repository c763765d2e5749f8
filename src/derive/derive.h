/*
 * derive/derive.h - reads derived tables, which are computed from the base tables when they are
 * first needed, and are then kept in the database.
 *
 * Every reader below builds the tables that it needs (derive_need). If two processes need the same
 * table at the same time, one builds it, and the other waits and then reads it. If a process is
 * killed while it builds a table, the table does not exist, because tables exist only after they
 * have been published. Each table has its own source file, and derive.c contains the registry.
 */
#ifndef DERIVE_DERIVE_H
#define DERIVE_DERIVE_H

#include "graph/access.h"
#include "graph/retained_local.h"
#include "heap/heap.h"
#include "store/column.h"

/*
 * Maximum amount of anonymous memory for the arrays of a heap (base_work_limit_anonymous): bytes
 * per object, but at least DERIVE_ANONYMOUS_MIN. A pass randomly accesses at most 4 bytes per
 * object at a time. Randomly accessed arrays are allocated first, so they get the anonymous memory.
 * Later arrays are accessed in order and may be in files. Small heaps need no files.
 */
#define DERIVE_ANONYMOUS_OBJECT 5u
#define DERIVE_ANONYMOUS_MIN (32u << 20)

/*
 * A view of the graph, in which only references of at least this strength count for reachability,
 * dominators and retained sizes. In DERIVE_PHANTOM, all references count.
 */
enum derive_view {
	DERIVE_PHANTOM,
	DERIVE_STRONG,
	DERIVE_SOFT,
	DERIVE_FINALIZER,
	DERIVE_WEAK,
	DERIVE_VIEWS
};

/* Objects that cannot be reached from any root. */
struct derive_unreached {
	bool is_known;
	uint64_t count, shallow_bytes;
};

struct derive {
	struct heap *heap;      /* borrowed */
	struct base_work *work; /* borrowed */
	/* the view, which determines the references that count in its tables */
	enum derive_view view;
	/* private */
	/* for a view, the main struct from which it was created; borrowed */
	struct derive *main;
	struct derive *views[DERIVE_VIEWS]; /* views created so far; owned */
	struct store_column reach, reach_strong, dominators, retained;
	struct store_column native, retained_native, retained_heaps, depth;
	struct derive_access_state *access; /* owned; see graph_view.c */
	struct derive_near *near;           /* owned; see strangeness.c */
	bool is_near_over;                  /* whether `near` is no longer used */
	/* referrers of a few objects; see referrers.c */
	struct {
		struct base_vec wanted; /* uint32_t: objects to look for in the next pass */
		struct base_vec pairs;  /* uint64_t: object times 2^32, plus referrer; ascending */
		unsigned passes;
	} few;
	/* set if this process has built the dominators; see heap_totals.c */
	struct derive_unreached unreached;
	bool is_ready[STORE_TABLE_END]; /* tables known to exist */
	/*
	 * whether derive_need_roots has found the orphans, and whether it is currently searching
	 * for them
	 */
	bool has_orphans, is_finding_orphans;
};

/*
 * Prepares *derive for an open heap. The caller must call derive_release, which also accepts a
 * zeroed struct.
 */
void derive_init(struct derive *derive, struct heap *heap, struct base_work *work);
void derive_release(struct derive *derive);

/*
 * Returns a view of the same heap, restricted to references at least as strong as `view`. Functions
 * called with the result read separate tables, named "dominators.strong" and so on. Borrowed until
 * derive_release.
 */
int derive_get_view(struct derive *derive, enum derive_view view, struct derive **out,
		    struct hdb_error *err);

/* Returns the table of this view that corresponds to `table` of the main view. */
enum store_table derive_table(const struct derive *derive, enum store_table table);

/* Returns whether references of this strength (enum store_strength) count in the view. */
bool derive_counts(enum derive_view view, uint8_t strength);

/* Returns whether a table exists. Does not build it. */
bool derive_has(struct derive *derive, enum store_table table);

/* Builds a table and the tables on which it depends, unless they exist. */
int derive_need(struct derive *derive, enum store_table table, struct hdb_error *err);

/*
 * Loads the heap's roots. For an incomplete dump, they include the orphans, which count as roots
 * because nothing in the dump refers to them. derive_need also calls this function.
 */
int derive_need_roots(struct derive *derive, struct hdb_error *err);

/* ---- readers ---- */

/*
 * Reads the parent of an object in the reach tree, a breadth-first tree from the roots. If
 * is_strong is set, weak, soft, phantom and final references are not followed, and paths have the
 * least strangeness (strangeness.h) instead of the fewest steps. Sets *parent to HEAP_NONE for a
 * root, and to `ix` itself for an unreachable object.
 */
int derive_reach(struct derive *derive, bool is_strong, uint32_t ix, uint32_t *parent,
		 struct hdb_error *err);

/*
 * Searches near the roots for strongly reachable objects. Stops when all searches together have
 * followed references_max references, or earlier if building the table reach.strong is likely to be
 * cheaper. Sets *is_open to false if reach.strong exists or must be used instead.
 */
int derive_strong_near(struct derive *derive, uint64_t references_max, bool *is_open,
		       struct hdb_error *err);
/* Returns whether an open search found the object. May be called on any thread. */
bool derive_is_strong_near(const struct derive *derive, uint32_t ix);

/*
 * Sets *reachable to whether the object is reachable from a root. Reads the `dominators` table if
 * it exists, and otherwise the `reach` table.
 */
int derive_is_reachable(struct derive *derive, uint32_t ix, bool *reachable, struct hdb_error *err);

/*
 * Reads the immediate dominator of an object. The result is HEAP_NONE for objects of the top level,
 * and `ix` itself for unreachable objects.
 */
int derive_dominator(struct derive *derive, uint32_t ix, uint32_t *dominator,
		     struct hdb_error *err);

/*
 * Reads the retained size of an object in bytes, from the dominator tree. It is 0 for unreachable
 * objects.
 */
int derive_retained(struct derive *derive, uint32_t ix, uint64_t *bytes, struct hdb_error *err);

/*
 * Read the dominators or the retained sizes of all objects of a block. Values are as in
 * derive_dominator and derive_retained.
 */
int derive_dominator_block(struct derive *derive, uint32_t block_no, uint32_t *dominator,
			   struct hdb_error *err);
int derive_retained_block(struct derive *derive, const struct heap_block *objects, uint64_t *bytes,
			  struct hdb_error *err);
/* Reads the parents of all objects of a block in a reach tree. Values are as in derive_reach. */
int derive_reach_block(struct derive *derive, bool is_strong, uint32_t block_no, uint32_t *parent,
		       struct hdb_error *err);
/*
 * Sets out[i] to whether object i of a block is reachable (0 or 1). Reads the `dominators` table if
 * it exists, and otherwise the `reach` table.
 */
int derive_reachable_block(struct derive *derive, uint32_t block_no, uint8_t *out,
			   struct hdb_error *err);
/*
 * Builds the table that derive_reachable_block reads, if it is missing. Must be called before a
 * progress stage begins, because building a table itself starts stages.
 */
int derive_need_reachable(struct derive *derive, struct hdb_error *err);
/* Like derive_need_reachable. Afterwards, derive_reachable_block may be called on any thread. */
int derive_prepare_reachable(struct derive *derive, struct hdb_error *err);

/* Like heap_look. reachable[i] is 1 if object i of the block is reachable, and otherwise 0. */
typedef int (*derive_look)(void *ctx, const struct heap_block *block, const uint8_t *reachable,
			   struct hdb_error *err);
/* Like heap_each_block, but also passes the reachability of each block's objects. */
int derive_each_reachable(struct derive *derive, struct base_work *work, derive_look look,
			  void *ctx, struct hdb_error *err);

/*
 * Sets *has to whether any object owns native memory. The first call searches the heap
 * (derive/native.c).
 */
int derive_has_native(struct derive *derive, bool *has, struct hdb_error *err);

/*
 * Read native memory in bytes: the first function for one object, the second for each object of a
 * block, and the third for all objects that an object retains. An object retains its own native
 * memory and that of all objects that it dominates.
 */
int derive_native_of(struct derive *derive, uint32_t ix, uint64_t *bytes, struct hdb_error *err);
int derive_native_block(struct derive *derive, uint32_t block_no, uint64_t *bytes,
			struct hdb_error *err);
int derive_retained_native(struct derive *derive, uint32_t ix, uint64_t *bytes,
			   struct hdb_error *err);

/* Maximum number of named heaps with separate retained sizes. Further heaps are ignored. */
#define DERIVE_HEAPS_MAX 8u

/*
 * Returns the number of heaps with separate retained sizes. Heap number 0 contains the objects that
 * are not in a named heap.
 */
uint32_t derive_heap_count(const struct derive *derive);

/*
 * Reads how many bytes in the given heap (heap_no as in struct heap_object) an object retains. The
 * result is 0 for unreachable objects.
 */
int derive_retained_in(struct derive *derive, uint32_t ix, uint32_t heap_no, uint64_t *bytes,
		       struct hdb_error *err);

/*
 * Reads the number of references on the shortest path from a root to an object. It is 0 for a root.
 */
int derive_depth(struct derive *derive, uint32_t ix, bool *reachable, uint32_t *depth,
		 struct hdb_error *err);

/*
 * Initialises a reader of referrers. For a class object, this reader lists only objects that refer
 * to it through fields. The instances of the class are not included. derive_access adds them.
 */
int derive_referrers(struct derive *derive, struct store_lists *out, struct hdb_error *err);

/*
 * Replaces *out with the first referrers of an object, at most `max` (uint32_t, ascending), as the
 * table of referrers lists them. If the table is missing, finds them by a pass over all references,
 * which takes a third of the time needed to build the table. The pass also finds the referrers of
 * all objects named by derive_expect_referrers, for later calls. After several passes, or if the
 * objects have very many referrers, the table is built.
 */
int derive_referrers_of(struct derive *derive, uint32_t ix, size_t max, struct base_vec *out,
			struct hdb_error *err);
int derive_expect_referrers(struct derive *derive, const uint32_t *ixs, size_t count,
			    struct hdb_error *err);

/*
 * Initialises a reader of the objects that each object immediately dominates, largest retained size
 * first. List number object_count is the top level of the dominator tree.
 */
int derive_children(struct derive *derive, struct store_lists *out, struct hdb_error *err);

/*
 * Initialises a reader of the top level only, which is list number *list of *out. Uses the
 * `children` table if it exists. Otherwise builds a separate table, which takes much less time than
 * building `children`.
 */
int derive_top_level(struct derive *derive, struct store_lists *out, uint32_t *list,
		     struct hdb_error *err);

/*
 * Opens the graph for access node by node. The graph includes the edges from each object to its
 * class, and from a class to its instances. Builds the `referrers` and `reach` tables, or
 * `reach.strong` if is_strong is set. The lists share buffers of this derive, so only one list can
 * be read at a time.
 */
int derive_access(struct derive *derive, bool is_strong, struct graph_access *out,
		  struct hdb_error *err);

/*
 * References to be ignored. A check of the class comes first, so that `keep` is called for few
 * objects.
 */
struct derive_filter {
	/* indexed by class number: nonzero if instances may have ignored references; borrowed */
	const uint8_t *from_class;
	bool wants_classes; /* whether class objects may have ignored references */
	/*
	 * Removes the ignored entries from edges[*count]. Called only for the objects selected by
	 * the members above.
	 */
	int (*keep)(void *ctx, uint32_t from, uint32_t *edges, uint32_t *count,
		    struct hdb_error *err);
	void *ctx;
};

/*
 * Computes the reach tree without the excluded references: parent[object_count], with values as in
 * derive_reach_block. Traverses the heap once.
 */
int derive_reach_without(struct derive *derive, const struct derive_filter *filter,
			 uint32_t *parent, struct hdb_error *err);

/*
 * The totals of a group of objects: the objects of a class, of a class and its subclasses, of a
 * package, or of a class loader.
 */
struct derive_total {
	uint32_t group; /* enum derive_group */
	/*
	 * for a class or superclass, class number; for a class loader, its index; for a package,
	 * number of any class in the package
	 */
	uint32_t no;
	uint64_t count; /* reachable objects */
	uint64_t shallow_bytes;
	/* lower bound: sum over the group's topmost members in the dominator tree */
	uint64_t retained_bytes;
	uint64_t unreachable_count;
	uint64_t unreachable_bytes;
};
enum derive_group { DERIVE_CLASS, DERIVE_SUPERCLASS, DERIVE_PACKAGE, DERIVE_LOADER };

/*
 * Reads all totals of one kind of group, in ascending order of `no`. *out is owned by the caller,
 * who must free() it.
 */
int derive_totals(struct derive *derive, enum derive_group group, struct derive_total **out,
		  size_t *count, struct hdb_error *err);

/* The totals of the heap. They exclude objects that are not in the dump (heap_is_counted). */
struct derive_heap_totals {
	uint64_t count; /* reachable objects */
	uint64_t shallow_bytes;
	uint64_t unreachable_count;
	uint64_t unreachable_bytes;
};
/*
 * Reads the totals of the heap from a separate table. Building this table takes one pass over the
 * objects, which is much less work than derive_totals.
 */
int derive_heap_totals(struct derive *derive, struct derive_heap_totals *out,
		       struct hdb_error *err);
/* Returns whether the table of derive_heap_totals already exists. */
bool derive_has_whole(struct derive *derive);

/*
 * Exact retained size of a set: the objects that become unreachable if all reachable members are
 * removed. The local method, which uses the reach tree and referrers, is tried first, within
 * `limits`. If it gives up, the heap is traversed without entering the members. The result states
 * which method was used. Members must be in ascending order.
 */
struct derive_retained_result {
	uint64_t retained_bytes;
	uint64_t retained_count; /* objects */
	/* whether the local method, rather than a traversal of the heap, computed the result */
	bool used_local;
	/*
	 * local method: number of objects in the members' subtrees; set even if the method gave up
	 */
	uint64_t subtree_count;
	/* local method: number of objects in the subtrees that are not retained */
	uint64_t removed_count;
	uint64_t edge_count; /* local method: number of references and referrers visited */
	uint64_t time_us;
};
/*
 * Computes the exact retained size of a set. `limits` may be NULL, which means derive_local_limits.
 */
int derive_retained_set(struct derive *derive, struct graph_members members,
			const struct graph_retained_options *limits,
			struct derive_retained_result *out, struct hdb_error *err);

/* A set of objects in ascending order and without duplicates, and its retained size. */
struct derive_set {
	const uint32_t *members; /* borrowed */
	size_t count;
	uint64_t retained_bytes, retained_count; /* set by derive_retained_sets */
};
/*
 * Computes the exact retained size of each of several sets. Small sets use the local method. The
 * other sets share traversals of the heap, up to 32 sets per traversal.
 */
int derive_retained_sets(struct derive *derive, struct derive_set *sets, size_t set_count,
			 struct hdb_error *err);

/*
 * Sets the bits of the objects retained by a set, with one traversal of the heap. `bits` has room
 * for object_count + 64 bits and is overwritten.
 */
int derive_retained_marks(struct derive *derive, const uint32_t *members, size_t member_count,
			  uint64_t *bits, struct hdb_error *err);

/*
 * Computes the retained size of a set when some references are ignored: the objects reachable from
 * the set by any reference, minus the objects reachable from the roots without following excluded
 * references or passing the set. This is Eclipse MAT's retained set with excluded references: an
 * object that can be reached from outside only through excluded references counts as retained.
 * Traverses the heap twice.
 */
int derive_retained_without(struct derive *derive, const struct derive_filter *filter,
			    struct graph_members members, struct derive_retained_result *out,
			    struct hdb_error *err);

/*
 * Uses only the local method. Returns GRAPH_BUDGET if the method would exceed the limits. *out then
 * contains the amount of work done. Used for the retained size of one object if the `dominators`
 * table does not exist.
 */
int derive_retained_local(struct derive *derive, struct graph_members members,
			  const struct graph_retained_options *limits,
			  struct derive_retained_result *out, struct hdb_error *err);

/* Default limits of the local method, which correspond to about 50 ms of work. */
extern const struct graph_retained_options derive_local_limits;

#endif
