/*
 * graph/rank_bits.h - a set of nodes that knows how many of them come before a node: places in a smaller array.
 *
 * Nodes are put in on any thread, then ranked once, then looked up. Memory: a bit a node, and 4 bytes for each
 * GRAPH_RANK_BITS.
 */
#ifndef GRAPH_RANK_BITS_H
#define GRAPH_RANK_BITS_H

#include "base/bytes.h"
#include "base/work.h"

#include <stdatomic.h>

/* Bits of which the rank is counted, not kept: those of a cache line. */
#define GRAPH_RANK_BITS 512u

struct graph_rank_bits {
	struct base_work *work;
	uint32_t node_count;
	uint32_t count;          /* nodes in the set, once ranked */
	_Atomic uint64_t *bits;  /* by node */
	uint32_t *before;        /* by GRAPH_RANK_BITS nodes: those in the set before them */
	struct base_big bits_big, before_big;
};

/* An empty set of nodes up to node_count, that one too. `work` and `what` are lent. Release it in any case. */
int graph_rank_bits_init(struct graph_rank_bits *set, uint32_t node_count, struct base_work *work,
			 const char *what, struct hdb_error *err);
void graph_rank_bits_release(struct graph_rank_bits *set);

static inline uint64_t graph_rank_bits_word(const struct graph_rank_bits *set, uint64_t w)
{
	return atomic_load_explicit(&set->bits[w], memory_order_relaxed);
}

static inline bool graph_rank_bits_has(const struct graph_rank_bits *set, uint32_t v)
{
	return graph_rank_bits_word(set, v / 64) >> (v % 64) & 1;
}

/* On any thread. */
static inline void graph_rank_bits_put(struct graph_rank_bits *set, uint32_t v)
{
	if (!graph_rank_bits_has(set, v))
		atomic_fetch_or_explicit(&set->bits[v / 64], (uint64_t)1 << (v % 64),
					 memory_order_relaxed);
}

/* The same while no other thread puts any in: several times as fast. */
static inline void graph_rank_bits_put_alone(struct graph_rank_bits *set, uint32_t v)
{
	atomic_store_explicit(&set->bits[v / 64], graph_rank_bits_word(set, v / 64) | (uint64_t)1 << (v % 64),
			      memory_order_relaxed);
}

/* Once all are in: sets `count`. */
void graph_rank_bits_rank(struct graph_rank_bits *set);

/* How many nodes of the set come before v. */
static inline uint32_t graph_rank_bits_before(const struct graph_rank_bits *set, uint32_t v)
{
	uint32_t rank = set->before[v / GRAPH_RANK_BITS];

	for (uint32_t w = v / GRAPH_RANK_BITS * (GRAPH_RANK_BITS / 64); w < v / 64; w++)
		rank += count_bits(graph_rank_bits_word(set, w));
	return rank + count_bits(graph_rank_bits_word(set, v / 64) & (((uint64_t)1 << (v % 64)) - 1));
}

/* Asks for the memory that graph_rank_bits_before needs. */
static inline void graph_rank_bits_prefetch(const struct graph_rank_bits *set, uint32_t v)
{
	__builtin_prefetch((const void *)&set->bits[v / 64]);
	__builtin_prefetch(&set->before[v / GRAPH_RANK_BITS]);
}

#endif
