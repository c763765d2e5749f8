/*
 * graph/child_rows.h - the children of every node of a tree, largest first, from a stream of nodes
 * with their parents.
 *
 * Children come in order of node, are thrown into one bucket (base/spill_buckets.h) for each range
 * of parents, and a range's rows are sorted when its turn comes: ranges that fit in memory on any
 * thread, larger ones by runs that are merged. So is the top level, which often is most of a heap,
 * unless its nodes fit in memory: most are small, and counting their sizes is enough. Memory: 3 to
 * 6 bytes a child while there is room, in a file after that, and for each range that is sorted at
 * once 16 bytes a child and 8 a parent; 56 bytes a child of a run, 4 a small one of the top level.
 */
#ifndef GRAPH_CHILD_ROWS_H
#define GRAPH_CHILD_ROWS_H

#include "graph/access.h"
#include "base/spill_buckets.h"
#include "base/sort.h"
#include "graph/size_order.h"

/* The parents of a range are a multiple of this, which is a block of stored lists. */
#define GRAPH_CHILD_BITS 14

struct graph_child_rows {
	struct base_buckets buckets; /* by range of parents; the last one is the top level's */
	uint32_t node_count;
	unsigned bits; /* a range has 1 << bits parents */
	uint32_t range_count;
	uint64_t range_limit;        /* children that are sorted at once in a range */
	uint64_t run_limit;          /* and of a run */
	struct graph_size_order top; /* of the top level's nodes */
};

/* `work` is lent. Release it in any case. */
int graph_child_rows_init(struct graph_child_rows *rows, uint32_t node_count,
			  struct base_work *work, struct hdb_error *err);
void graph_child_rows_release(struct graph_child_rows *rows);

/*
 * Adds a child, in order of `node`; `parent` is below node_count, or GRAPH_NONE for the top level.
 */
static inline int graph_child_rows_add(struct graph_child_rows *rows, uint32_t parent,
				       uint32_t node, uint64_t size, struct hdb_error *err)
{
	const bool is_top = parent == GRAPH_NONE;
	const uint64_t v[] = { is_top ? 0 : parent, node, size };

	if (is_top)
		TRY(graph_size_order_count(&rows->top, node, size, err));
	return base_buckets_add(&rows->buckets, is_top ? rows->range_count : parent >> rows->bits,
				BASE_RECORD(2, 1), v, err);
}

/*
 * Call it when all are added. Rows are 0 .. node_count, the last one that of the top level, which
 * is in the last range if it has at most `top_limit` children; *top_count is how many it has
 * otherwise, for graph_child_rows_top, else 0.
 */
int graph_child_rows_end(struct graph_child_rows *rows, uint32_t top_limit, uint64_t *top_count,
			 struct hdb_error *err);

/* The children of a range; use it for one range after the other. Zero-initialise. */
struct graph_child_range {
	/* of row base + i: node[first[i]] up to, not including, node[first[i + 1]] */
	uint64_t *first;
	/* sorted by size descending, then by node; after graph_child_range_sort */
	const uint32_t *node;
	/* ~size and node, as they came; after graph_child_range_fill */
	const struct base_sort_key *key;
	uint32_t base, count;        /* rows; there is one more first[] */
	struct base_vec keys, spare; /* struct base_sort_key */
};
void graph_child_range_release(struct graph_child_range *range);

/* Whether a range fits in memory. */
bool graph_child_range_fits(const struct graph_child_rows *rows, uint32_t no);

/* Reads a range that does, and does not sort its rows; on any thread. */
int graph_child_range_fill(const struct graph_child_rows *rows, uint32_t no,
			   struct graph_child_range *range, struct hdb_error *err);

/* The same, and sorts them. */
int graph_child_range_sort(const struct graph_child_rows *rows, uint32_t no,
			   struct graph_child_range *range, struct hdb_error *err);

/* First row of a range, and how many it has: the last one has that of the top level, too. */
void graph_child_range_rows(const struct graph_child_rows *rows, uint32_t no, uint32_t *base,
			    uint32_t *count);

/*
 * Sorts a range of any size on the calling thread; calls `take` for every child in order of row,
 * size descending, and node.
 */
int graph_child_rows_merge(struct graph_child_rows *rows, uint32_t no,
			   int (*take)(void *ctx, uint32_t row, uint32_t node, uint64_t size,
				       struct hdb_error *err),
			   void *ctx, struct hdb_error *err);

/* The same of the top level; calls `take` for some of its nodes at a time, in that order. */
int graph_child_rows_top(struct graph_child_rows *rows,
			 int (*take)(void *ctx, const uint32_t *nodes, uint64_t count,
				     struct hdb_error *err),
			 void *ctx, struct hdb_error *err);

#endif
