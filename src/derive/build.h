/*
 * derive/build.h - declarations shared by the builders of derived tables. Analyses of the whole
 * graph use it to load the graph.
 */
#ifndef DERIVE_BUILD_H
#define DERIVE_BUILD_H

#include "base/bytes.h"
#include "derive/derive.h"
#include "graph/dominators/semi_nca.h"
#include "graph/reach.h"

#include <stdatomic.h>

/*
 * How to build a group of tables. All of `tables` are published in one transaction after all of
 * `needs` have been built. A builder writes blocks with store_put, and calls store_put_table for
 * each of its tables.
 */
struct derive_builder {
	enum store_table tables[3]; /* terminated by 0 */
	enum store_table needs[3];  /* terminated by 0 */
	int (*build)(struct derive *derive, struct store_writer *writer, struct hdb_error *err);
};

extern const struct derive_builder derive_build_referrers;
extern const struct derive_builder derive_build_reach;
extern const struct derive_builder derive_build_reach_strong;
extern const struct derive_builder derive_build_dominators;
extern const struct derive_builder derive_build_children;
extern const struct derive_builder derive_build_top_level;
extern const struct derive_builder derive_build_totals;
extern const struct derive_builder derive_build_whole;
extern const struct derive_builder derive_build_orphans;
extern const struct derive_builder derive_build_native;
extern const struct derive_builder derive_build_retained_native;
extern const struct derive_builder derive_build_retained_heaps;
extern const struct derive_builder derive_build_depth;

/*
 * Loads the heap's graph: stored references and class edges. Edges into roots are omitted, because
 * a root is always reachable and has no dominator, so no algorithm here needs them. If is_strong is
 * set, also omits edges that exist only through the referent of a reference object. The caller must
 * release *rows even after a failure.
 */
int derive_graph_load(struct derive *derive, bool is_strong, struct graph_rows *rows,
		      struct hdb_error *err);

/* Loads the same graph without the edges that the filter excludes. */
int derive_graph_load_filtered(struct derive *derive, const struct derive_filter *filter,
			       struct graph_rows *rows, struct hdb_error *err);

/* Reads single rows of the graph of strong references. */
struct derive_row {
	struct derive *derive;
	struct store_lists references;
	struct graph_rows packed; /* without rows; only used to decide whether a row is long */
	struct base_vec targets;  /* uint32_t */
	uint64_t targets_max;
	struct heap_object object; /* the object whose row was read last */
};
/*
 * Reads the row of an object: the edges that derive_graph_load loads, in the same order. If there
 * may be more than targets_max, sets out->count to SIZE_MAX. Valid until the next call.
 */
int derive_row_strong(struct derive_row *row, uint32_t ix, struct graph_near_row *out,
		      struct hdb_error *err);

/*
 * Encodes a tree parent as a small number: 0 for unreachable, 1 for a root of the tree, and
 * otherwise the distance to the parent. See FORMAT.md, "trees".
 */
static inline uint64_t derive_tree_value(uint32_t ix, uint32_t parent)
{
	if (parent == ix)
		return 0;
	if (parent == GRAPH_NONE)
		return 1;
	return 2 + zigzag((int64_t)ix - (int64_t)parent);
}

static inline uint32_t derive_tree_parent(uint64_t value, uint32_t ix)
{
	if (value == 0)
		return ix;
	if (value == 1)
		return GRAPH_NONE;
	/*
	 * The arithmetic is unsigned, because a damaged table may contain any value, and wrapping
	 * around is harmless. Callers check the range of the result.
	 */
	return (uint32_t)(ix - (uint64_t)unzigzag(value - 2));
}

struct derive_block;

/* The contents of the `dominators` and `retained` tables for one block. */
struct derive_tree_block {
	uint32_t dominator[STORE_BLOCK_OBJECTS]; /* as returned by derive_dominator */
	uint64_t units
		/* retained size in units of the alignment; 0 if unreachable */
		[STORE_BLOCK_OBJECTS];
}; /* retained size in units of the alignment; 0 if unreachable */

/*
 * Builds both tables if they are missing, and prepares the functions below, which may then be
 * called on any thread.
 */
int derive_tree_prepare(struct derive *derive, struct hdb_error *err);
/* Fills *out for a block whose objects have been read. Overwrites block->values. */
int derive_tree_read(struct derive *derive, struct derive_block *block,
		     struct derive_tree_block *out, struct hdb_error *err);
/*
 * Like derive_tree_read, but only for objects of the top level. Most blocks contain no such object;
 * for these, sets only out->dominator. Reads the objects, so heap_prepare_blocks must have been
 * called.
 */
int derive_tree_read_top(struct derive *derive, struct derive_block *block,
			 struct derive_tree_block *out, struct hdb_error *err);
/* Reads only the dominators. The objects need not have been read. */
int derive_tree_dominators(struct derive *derive, struct derive_block *block, uint32_t *dominator,
			   struct hdb_error *err);

/*
 * The first function builds the tree of strong references if it is missing. The second reads the
 * parents of a block's objects, as returned by derive_reach, on any thread. It overwrites
 * block->values.
 */
int derive_strong_prepare(struct derive *derive, struct hdb_error *err);
int derive_tree_strong(struct derive *derive, struct derive_block *block, uint32_t *parent,
		       struct hdb_error *err);

/*
 * Adds the number and total shallow size of the marked objects to *out. Skips objects that do not
 * count in totals (heap_is_counted). Ignores the heap's filter. Defined in retained_set.c.
 */
int derive_sum_marked(struct derive *derive, const uint64_t *bits,
		      struct derive_retained_result *out, struct hdb_error *err);

/*
 * Converts a size to units of the alignment. The alignment is nearly always 8, and a shift is much
 * faster than a division.
 */
static inline uint64_t derive_units(const struct derive *derive, uint64_t bytes)
{
	const unsigned unit = derive->heap->layout.align_bytes;

	return unit == 8 ? bytes / 8 : bytes / unit;
}

#endif
