/*
 * derive/derive.h - derived tables: what can be computed from the base tables, built on first need
 * and kept.
 *
 * A table that is missing is built by the first call that needs it (derive_need, or any reader
 * below, which call it themselves). Two processes that need one at once: one builds, the other
 * waits and reads. Killed while building: it was never there. One file a table; derive.c has the
 * registry.
 */
#ifndef DERIVE_DERIVE_H
#define DERIVE_DERIVE_H

#include "graph/access.h"
#include "graph/retained_local.h"
#include "heap/heap.h"
#include "store/column.h"

/*
 * Anonymous memory of arrays, of a heap with so many objects (base_work_calm): what passes look up
 * at random is 4 bytes an object at most at once, and comes first; what is written and read in
 * order comes after it. Small heaps need no files.
 */
#define DERIVE_CALM_OBJECT 5u
#define DERIVE_CALM_MIN (32u << 20)

/*
 * How strong references must be to count for reachability, dominators and retained sizes: these and
 * all that are stronger. Phantom: all.
 */
enum derive_view {
	DERIVE_PHANTOM,
	DERIVE_STRONG,
	DERIVE_SOFT,
	DERIVE_FINALIZER,
	DERIVE_WEAK,
	DERIVE_VIEWS
};

/* What no root reaches. */
struct derive_unreached {
	bool is_known;
	uint64_t count, shallow_bytes;
};

struct derive {
	struct heap *heap;      /* lent */
	struct base_work *work; /* lent */
	enum derive_view view;  /* which references count in its tables */
	/* private */
	struct derive *main;                /* of a view: whose it is; lent */
	struct derive *views[DERIVE_VIEWS]; /* made so far; owned */
	struct store_column reach, reach_strong, dominators, retained;
	struct store_column native, retained_native, retained_heaps, depth;
	struct derive_access_state *access;   /* graph_view.c */
	struct derive_unreached unreached;    /* if the dominators were built here; heap_totals.c */
	bool is_ready[STORE_TABLE_END];       /* tables known to be there */
	bool has_orphans, is_finding_orphans; /* derive_need_roots: done, at work */
};

/* Prepares for an open heap. derive_release frees; zero-initialised is fine to release. */
void derive_init(struct derive *derive, struct heap *heap, struct base_work *work);
void derive_release(struct derive *derive);

/*
 * The same heap where only references count that are as strong as `view` says: everything that
 * takes the result reads tables of its own, named "dominators.strong" and the like. Lent until
 * derive_release.
 */
int derive_get_view(struct derive *derive, enum derive_view view, struct derive **out,
		    struct hdb_error *err);

/* The table of this view that stands for one of those where all references count. */
enum store_table derive_table(const struct derive *derive, enum store_table table);

/* Whether references of this strength (enum store_strength) count in a view. */
bool derive_counts(enum derive_view view, uint8_t strength);

/* Whether a table is there already. */
bool derive_has(struct derive *derive, enum store_table table);

/* Builds the table, and those it needs, unless it is there. */
int derive_need(struct derive *derive, enum store_table table, struct hdb_error *err);

/*
 * Loads the heap's roots with what counts as roots in an incomplete dump, so that they are whole
 * for whoever follows references from them. derive_need does it, too.
 */
int derive_need_roots(struct derive *derive, struct hdb_error *err);

/* ---- readers ---- */

/*
 * The reach tree: breadth-first from the roots, in order of index. `is_strong`: without the
 * referents of weak, soft, phantom and final references, and with the paths of least strangeness
 * (strangeness.h) instead of the shortest. *parent is HEAP_NONE for a root, `ix`
 * itself if it is not reachable.
 */
int derive_reach(struct derive *derive, bool is_strong, uint32_t ix, uint32_t *parent,
		 struct hdb_error *err);

/*
 * Whether a root reaches the object, from the table of dominators if it is there, else from reach.
 */
int derive_is_reachable(struct derive *derive, uint32_t ix, bool *reachable, struct hdb_error *err);

/* Immediate dominator: HEAP_NONE for the top level, ix itself for an unreachable object. */
int derive_dominator(struct derive *derive, uint32_t ix, uint32_t *dominator,
		     struct hdb_error *err);

/* Retained size in bytes from the dominator tree; 0 for an unreachable object. */
int derive_retained(struct derive *derive, uint32_t ix, uint64_t *bytes, struct hdb_error *err);

/* Dominators and retained sizes of a block of objects; either may be NULL. dominator as above. */
int derive_dominator_block(struct derive *derive, uint32_t block_no, uint32_t *dominator,
			   struct hdb_error *err);
int derive_retained_block(struct derive *derive, const struct heap_block *objects, uint64_t *bytes,
			  struct hdb_error *err);
/* Parents of a block of objects in a reach tree: HEAP_NONE for a root, ix itself if unreachable. */
int derive_reach_block(struct derive *derive, bool is_strong, uint32_t block_no, uint32_t *parent,
		       struct hdb_error *err);
/*
 * Whether the objects of a block are reachable: out[i] is 0 or 1. Works from dominators if they are
 * there, else from reach.
 */
int derive_reachable_block(struct derive *derive, uint32_t block_no, uint8_t *out,
			   struct hdb_error *err);
/* Builds what that works from, unless it is there: before a stage of progress begins. */
int derive_need_reachable(struct derive *derive, struct hdb_error *err);

/* As heap_look; reachable[i]: whether object i of the block is. */
typedef int (*derive_look)(void *ctx, const struct heap_block *block, const uint8_t *reachable,
			   struct hdb_error *err);
/* heap_each_block with derive_reachable_block of each block. */
int derive_each_reachable(struct derive *derive, struct base_work *work, derive_look look,
			  void *ctx, struct hdb_error *err);

/* Whether any object is known to own native memory; finds them all once (derive/native.c). */
int derive_has_native(struct derive *derive, bool *has, struct hdb_error *err);

/* Native memory that an object owns, in bytes, and that it retains with what it dominates. */
int derive_native_of(struct derive *derive, uint32_t ix, uint64_t *bytes, struct hdb_error *err);
/* The same of a block of objects. */
int derive_native_block(struct derive *derive, uint32_t block_no, uint64_t *bytes,
			struct hdb_error *err);
int derive_retained_native(struct derive *derive, uint32_t ix, uint64_t *bytes,
			   struct hdb_error *err);

/* Heaps that retained sizes are given by, at most; those after it are left out. */
#define DERIVE_HEAPS_MAX 8u

/* How many heaps objects are counted by: number 0, of objects in none, and the others. */
uint32_t derive_heap_count(const struct derive *derive);

/* Bytes of a heap (heap_no as in struct heap_object) that an object retains; 0 if unreachable. */
int derive_retained_in(struct derive *derive, uint32_t ix, uint32_t heap_no, uint64_t *bytes,
		       struct hdb_error *err);

/* Steps of the shortest path from a root to the object; a root has 0. */
int derive_depth(struct derive *derive, uint32_t ix, bool *reachable, uint32_t *depth,
		 struct hdb_error *err);

/*
 * A reader of referrers. Those of a class object are only the ones by fields: its instances are not
 * listed.
 */
int derive_referrers(struct derive *derive, struct store_lists *out, struct hdb_error *err);

/*
 * A reader of the objects that an object dominates immediately, largest retained size first. List
 * number object_count is the top level of the dominator tree.
 */
int derive_children(struct derive *derive, struct store_lists *out, struct hdb_error *err);

/*
 * The same for the top level alone, which is list number *list of *out. It is taken from the table
 * children where that is there, and else from a table of its own, which takes far less to build.
 */
int derive_top_level(struct derive *derive, struct store_lists *out, uint32_t *list,
		     struct hdb_error *err);

/*
 * The graph as an access structure, class edges and instances of classes included; needs referrers
 * and reach, which are built. Uses this derive's buffers: one list at a time. `is_strong`: the
 * reach tree is reach.strong.
 */
int derive_access(struct derive *derive, bool is_strong, struct graph_access *out,
		  struct hdb_error *err);

/* Which references do not count. */
struct derive_filter {
	const uint8_t *from_class; /* by class number: nonzero if instances may have such; lent */
	bool wants_classes;        /* class objects may have such, too */
	/* Takes out of edges[*count] what does not count; asked only for those. */
	int (*keep)(void *ctx, uint32_t from, uint32_t *edges, uint32_t *count,
		    struct hdb_error *err);
	void *ctx;
};

/*
 * The reach tree without some references: parent[object_count] as in derive_reach_block. One walk
 * over the heap.
 */
int derive_reach_without(struct derive *derive, const struct derive_filter *filter,
			 uint32_t *parent, struct hdb_error *err);

/* Totals of a group of objects. */
struct derive_total {
	uint32_t group; /* enum derive_group */
	/*
	 * class: number; superclass: number of the super class; loader: its ix; package: number of
	 * some class in it
	 */
	uint32_t no;
	uint64_t count; /* reachable objects */
	uint64_t shallow_bytes;
	/* lower bound: sum over its topmost members in the dominator tree */
	uint64_t retained_bytes;
	uint64_t unreachable_count;
	uint64_t unreachable_bytes;
};
enum derive_group { DERIVE_CLASS, DERIVE_SUPERCLASS, DERIVE_PACKAGE, DERIVE_LOADER };

/* All totals of a group kind, in order of `no`; *out is owned: free(). */
int derive_totals(struct derive *derive, enum derive_group group, struct derive_total **out,
		  size_t *count, struct hdb_error *err);

/* What all objects of the heap come to; those that the dump lacks count nowhere. */
struct derive_heap_totals {
	uint64_t count; /* reachable objects */
	uint64_t shallow_bytes;
	uint64_t unreachable_count;
	uint64_t unreachable_bytes;
};
/*
 * From a table of its own, which is built in one pass over the objects: far less work than totals.
 */
int derive_heap_totals(struct derive *derive, struct derive_heap_totals *out,
		       struct hdb_error *err);
/* Whether that builds nothing. */
bool derive_has_whole(struct derive *derive);

/*
 * What a set retains, exactly: the bytes and objects that become unreachable if all its reachable
 * members go. First by the local way (DESIGN: reach tree and referrers) within `limits`, else by
 * one walk over the heap that is blocked at the members; the result says which way was taken.
 * Members in ascending order.
 */
struct derive_retained_result {
	uint64_t retained_bytes;
	uint64_t retained_count; /* objects */
	bool used_local;         /* the local way; else a walk over the whole heap */
	uint64_t subtree_count;  /* local: objects in the members' subtrees, also when given up */
	uint64_t removed_count;  /* local: of those, not retained */
	uint64_t edge_count;     /* local: references and referrers looked at */
	uint64_t time_us;
};
/* `limits` NULL: derive_local_limits. */
int derive_retained_set(struct derive *derive, struct graph_members members,
			const struct graph_retained_options *limits,
			struct derive_retained_result *out, struct hdb_error *err);

/* A set of objects in ascending order, each once, and what it retains. */
struct derive_set {
	const uint32_t *members; /* lent */
	size_t count;
	uint64_t retained_bytes, retained_count; /* set by derive_retained_sets */
};
/*
 * What each of several sets retains, exactly: small ones locally, the others together in one walk
 * over the heap for every 32 of them.
 */
int derive_retained_sets(struct derive *derive, struct derive_set *sets, size_t set_count,
			 struct hdb_error *err);

/*
 * Which objects those are: bits by object, of which there is room for object_count and 64 more, are
 * overwritten. One walk over the heap that is blocked at the members.
 */
int derive_retained_marks(struct derive *derive, const uint32_t *members, size_t member_count,
			  uint64_t *bits, struct hdb_error *err);

/*
 * What a set retains, if some references did not count: all that it reaches, by any reference, and
 * that the roots do not reach around the set by the references that count. This is Eclipse MAT's
 * retained set with excluded references: an object that is held from outside only through excluded
 * ones counts as retained. Two walks over the heap.
 */
int derive_retained_without(struct derive *derive, const struct derive_filter *filter,
			    struct graph_members members, struct derive_retained_result *out,
			    struct hdb_error *err);

/*
 * Only the local way: HDB_OK, or GRAPH_BUDGET when the limits do not do (*out then says what was
 * spent). This is how one object's retained size is found while there is no table of dominators.
 */
int derive_retained_local(struct derive *derive, struct graph_members members,
			  const struct graph_retained_options *limits,
			  struct derive_retained_result *out, struct hdb_error *err);

/* Default limits of the local way: some 50 ms of work. */
extern const struct graph_retained_options derive_local_limits;

#endif
