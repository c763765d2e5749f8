/*
 * base/rank_bitset.h - a set of nodes with ranks. The rank of a node is the number of nodes in the
 * set that precede it, which serves as an index in a smaller array.
 *
 * Nodes are added on any thread, ranked once, and then looked up. Memory: 1 bit per node, and 4
 * bytes per BASE_RANK_BITS nodes.
 */
#ifndef BASE_RANK_BITSET_H
#define BASE_RANK_BITSET_H

#include "base/bytes.h"
#include "base/prefetch.h"
#include "base/work.h"

#include <stdatomic.h>

/*
 * Number of bits for which one rank is stored. The bits within such a group are counted. A group
 * larger than a word would need a loop.
 */
#define BASE_RANK_BITS 64u

struct base_ranks {
	struct base_work *work;
	uint32_t node_count;
	uint32_t count;         /* number of nodes in the set; valid after ranking */
	_Atomic uint64_t *bits; /* indexed by node */
	/* indexed by group of BASE_RANK_BITS nodes: number of nodes of the set before the group */
	uint32_t *before;
	struct base_big bits_big, before_big;
};

/*
 * Makes an empty set for nodes up to and including node_count. `work` and `what` are borrowed. The
 * caller must release *set, even after a failure.
 */
int base_ranks_init(struct base_ranks *set, uint32_t node_count, struct base_work *work,
		    const char *what, struct hdb_error *err);
void base_ranks_release(struct base_ranks *set);

static inline uint64_t base_ranks_word(const struct base_ranks *set, uint64_t w)
{
	return atomic_load_explicit(&set->bits[w], memory_order_relaxed);
}

static inline bool base_ranks_has(const struct base_ranks *set, uint32_t v)
{
	return base_ranks_word(set, v / 64) >> (v % 64) & 1;
}

/* Adds a node. Thread-safe. */
static inline void base_ranks_put(struct base_ranks *set, uint32_t v)
{
	if (!base_ranks_has(set, v))
		atomic_fetch_or_explicit(&set->bits[v / 64], (uint64_t)1 << (v % 64),
					 memory_order_relaxed);
}

/*
 * Adds a node several times as fast as base_ranks_put. No other thread may add nodes at the same
 * time.
 */
static inline void base_ranks_put_alone(struct base_ranks *set, uint32_t v)
{
	atomic_store_explicit(&set->bits[v / 64],
			      base_ranks_word(set, v / 64) | (uint64_t)1 << (v % 64),
			      memory_order_relaxed);
}

/* Computes the ranks and `count`. Must be called after all nodes have been added. */
void base_ranks_rank(struct base_ranks *set);

/* Returns how many nodes of the set precede v. */
static inline uint32_t base_ranks_before(const struct base_ranks *set, uint32_t v)
{
	const uint64_t below = ((uint64_t)1 << (v % BASE_RANK_BITS)) - 1;

	return set->before[v / BASE_RANK_BITS] +
	       count_bits(base_ranks_word(set, v / BASE_RANK_BITS) & below);
}

/* Prefetches the data that base_ranks_before reads. */
static inline void base_ranks_prefetch(const struct base_ranks *set, uint32_t v)
{
	prefetch_read((const void *)&set->bits[v / 64]);
	prefetch_read(&set->before[v / BASE_RANK_BITS]);
}

#endif
