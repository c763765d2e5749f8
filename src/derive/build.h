/*
 * derive/build.h - what the builders of derived tables share; analyses of the whole graph load it
 * from here, too.
 */
#ifndef DERIVE_BUILD_H
#define DERIVE_BUILD_H

#include "base/bytes.h"
#include "derive/derive.h"
#include "graph/dominators/semi_nca.h"

#include <stdatomic.h>

/*
 * How to build tables: `tables` are published together, `needs` are built before. Builders write
 * with store_put and call store_put_table for each of their tables.
 */
struct derive_builder {
	enum store_table tables[3]; /* ended by 0 */
	enum store_table needs[3];  /* ended by 0 */
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
 * The heap's graph in memory: stored references and class edges, without edges into roots, which
 * matter to no algorithm here. With is_strong, without edges that only a reference object's
 * referent makes. Release *rows in any case.
 */
int derive_graph_load(struct derive *derive, bool is_strong, struct graph_rows *rows,
		      struct hdb_error *err);

/* The same without the edges that the filter leaves out. */
int derive_graph_load_filtered(struct derive *derive, const struct derive_filter *filter,
			       struct graph_rows *rows, struct hdb_error *err);

/* A value of a table of tree parents, and what it says. See FORMAT.md, "trees". */
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
	/* Modulo 2^64: values of a damaged table may be any. */
	return (uint32_t)(ix - (uint64_t)unzigzag(value - 2));
}

struct derive_block;

/* What the tables dominators and retained say of a block's objects. */
struct derive_tree_block {
	uint32_t dominator[STORE_BLOCK_OBJECTS]; /* as derive_dominator says */
	uint64_t units
		[STORE_BLOCK_OBJECTS]; /* retained, in units of the alignment; 0 if unreachable */
};

/*
 * Builds both tables unless they are there, and prepares for the readers below, which work on any
 * thread.
 */
int derive_tree_prepare(struct derive *derive, struct hdb_error *err);
/* Fills in a block whose objects were read; uses the block's values. */
int derive_tree_read(struct derive *derive, struct derive_block *block,
		     struct derive_tree_block *out, struct hdb_error *err);
/* The same where the dominators are there already. */
int derive_tree_units(struct derive *derive, struct derive_block *block,
		      struct derive_tree_block *out, struct hdb_error *err);
/* Only its dominators, for which objects are not looked at. */
int derive_tree_dominators(struct derive *derive, struct derive_block *block, uint32_t *dominator,
			   struct hdb_error *err);

/*
 * Adds the shallow sizes and the number of the objects whose bits are set to those of *out, but for
 * what counts nowhere; of all objects, whatever filter there is. retained_set.c
 */
int derive_sum_marked(struct derive *derive, const uint64_t *bits,
		      struct derive_retained_result *out, struct hdb_error *err);

/*
 * A size in units of the alignment; most often that is 8, and a shift is much faster than a
 * division.
 */
static inline uint64_t derive_units(const struct derive *derive, uint64_t bytes)
{
	const unsigned unit = derive->heap->layout.align_bytes;

	return unit == 8 ? bytes / 8 : bytes / unit;
}

#endif
