/*
 * graph/dominators/subtree_sums_private.h - what the files of subtree_sums.h share. Private to
 * subtree_sums*.c.
 */
#ifndef GRAPH_DOMINATORS_SUBTREE_SUMS_PRIVATE_H
#define GRAPH_DOMINATORS_SUBTREE_SUMS_PRIVATE_H

#include "graph/dominators/subtree_sums.h"

/* Places of a range: what is in memory at once fits the second-level cache. */
#define RANGE_BITS 16u
#define RANGE_PLACES (1u << RANGE_BITS)

static inline bool is_in_file(const struct graph_subtree_sums *s)
{
	return s->file.is_file;
}

static inline struct graph_subtree_sum *sum_of(const struct graph_subtree_sums *s, uint32_t rank)
{
	return &s->part[rank >> RANGE_BITS][rank % RANGE_PLACES];
}

/* Adds a size to a place that no other thread looks at; GRAPH_NONE: one waits less. */
static inline void add_alone(struct graph_subtree_sum *sum, uint64_t size, uint32_t inner_count)
{
	sum->below += size;
	sum->waiting += inner_count;
}

/* Before sizes are added, and when all were. */
int subtree_sums_begin_adding(struct graph_subtree_sums *s, struct hdb_error *err);
void subtree_sums_end_adding(struct graph_subtree_sums *s);

#endif
