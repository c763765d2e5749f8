/*
 * graph/child_rows.h - the children of every node of a tree, largest first, from a stream of nodes
 * with their parents.
 *
 * Children arrive in node order and go into one bucket (base/spill_buckets.h) per range of parents.
 * The rows of a range are sorted when it is processed. A range that fits in memory is sorted on any
 * thread. A larger range is sorted by merging runs. The top level, which often makes up most of a
 * heap, is handled in the same way unless its nodes fit in memory. In that case, a counting sort by
 * size suffices, because most nodes are small. Memory: 3 to 6 bytes per child, in a file beyond the
 * budget; for each range being sorted, 16 bytes per child and 8 per parent; 56 bytes per child of a
 * run; and 4 bytes per small child of the top level.
 */
#ifndef GRAPH_CHILD_ROWS_H
#define GRAPH_CHILD_ROWS_H

#include "graph/access.h"
#include "base/spill_buckets.h"
#include "base/sort.h"
#include "graph/size_order.h"

/*
 * The number of parents in a range is a multiple of 2^GRAPH_CHILD_BITS, which is the number of
 * lists in a stored block.
 */
#define GRAPH_CHILD_BITS 14

struct graph_child_rows {
	/* one bucket per range of parents; the last bucket contains the top level */
	struct base_buckets buckets;
	uint32_t node_count;
	unsigned bits; /* a range has 2^bits parents */
	uint32_t range_count;
	/* maximum number of children of a range that is sorted in memory */
	uint64_t range_limit;
	uint64_t run_limit;          /* maximum number of children of a run */
	struct graph_size_order top; /* only for nodes of the top level */
};

/* Prepares empty rows. `work` is borrowed. The caller must release *rows even after a failure. */
int graph_child_rows_init(struct graph_child_rows *rows, uint32_t node_count,
			  struct base_work *work, struct hdb_error *err);
void graph_child_rows_release(struct graph_child_rows *rows);

/* Adds a child, in node order. `parent` is below node_count, or GRAPH_NONE for the top level. */
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
 * Must be called after all children have been added. Rows are numbered from 0 to node_count. The
 * last row is the top level. If the top level has at most top_limit children, it belongs to the
 * last range, and *top_count is set to 0. Otherwise, *top_count is set to the number of these
 * children, and graph_child_rows_top returns them.
 */
int graph_child_rows_end(struct graph_child_rows *rows, uint32_t top_limit, uint64_t *top_count,
			 struct hdb_error *err);

/*
 * The children of a range. The structure must be zero-initialised, and can be reused for other
 * ranges.
 */
struct graph_child_range {
	/* row base + i consists of the children node[first[i]] to node[first[i + 1] - 1] */
	uint64_t *first;
	/* sorted by descending size, then by node; set by graph_child_range_sort */
	const uint32_t *node;
	/* ~size and node, unsorted; set by graph_child_range_fill */
	const struct base_sort_key *key;
	uint32_t base, count;        /* rows of the range; first[] has one more entry */
	struct base_vec keys, spare; /* struct base_sort_key */
};
void graph_child_range_release(struct graph_child_range *range);

/* Returns whether a range fits in memory. */
bool graph_child_range_fits(const struct graph_child_rows *rows, uint32_t no);

/* Reads a range that fits in memory, without sorting its rows. May be called on any thread. */
int graph_child_range_fill(const struct graph_child_rows *rows, uint32_t no,
			   struct graph_child_range *range, struct hdb_error *err);

/* Reads and sorts a range that fits in memory. */
int graph_child_range_sort(const struct graph_child_rows *rows, uint32_t no,
			   struct graph_child_range *range, struct hdb_error *err);

/*
 * Determines the first row of a range, and the number of its rows. The last range also contains the
 * row of the top level.
 */
void graph_child_range_rows(const struct graph_child_rows *rows, uint32_t no, uint32_t *base,
			    uint32_t *count);

/*
 * Sorts a range of any size on the calling thread. Calls `take` for every child, sorted by row,
 * descending size, and node.
 */
int graph_child_rows_merge(struct graph_child_rows *rows, uint32_t no,
			   int (*take)(void *ctx, uint32_t row, uint32_t node, uint64_t size,
				       struct hdb_error *err),
			   void *ctx, struct hdb_error *err);

/* Sorts the top level. Calls `take` for several of its nodes at a time, in the same order. */
int graph_child_rows_top(struct graph_child_rows *rows,
			 int (*take)(void *ctx, const uint32_t *nodes, uint64_t count,
				     struct hdb_error *err),
			 void *ctx, struct hdb_error *err);

#endif
