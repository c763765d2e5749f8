/*
 * base/rank_bitset.h - a set of nodes that knows how many of them come before a node: places in a
 * smaller array.
 *
 * Nodes are put in on any thread, then ranked once, then looked up. Memory: a bit a node, and 4
 * bytes for each BASE_RANK_BITS.
 */
#ifndef BASE_RANK_BITSET_H
#define BASE_RANK_BITSET_H

#include "base/bytes.h"
#include "base/prefetch.h"
#include "base/work.h"

#include <stdatomic.h>

/* Bits of which the rank is counted, not kept: a word, since counting more takes a loop. */
#define BASE_RANK_BITS 64u

struct base_ranks {
	struct base_work *work;
	uint32_t node_count;
	uint32_t count;         /* nodes in the set, once ranked */
	_Atomic uint64_t *bits; /* by node */
	uint32_t *before;       /* by BASE_RANK_BITS nodes: those in the set before them */
	struct base_big bits_big, before_big;
};

/*
 * An empty set of nodes up to node_count, that one too. `work` and `what` are lent. Release it in
 * any case.
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

/* On any thread. */
static inline void base_ranks_put(struct base_ranks *set, uint32_t v)
{
	if (!base_ranks_has(set, v))
		atomic_fetch_or_explicit(&set->bits[v / 64], (uint64_t)1 << (v % 64),
					 memory_order_relaxed);
}

/* As base_ranks_put while no other thread puts any in: several times as fast. */
static inline void base_ranks_put_alone(struct base_ranks *set, uint32_t v)
{
	atomic_store_explicit(&set->bits[v / 64],
			      base_ranks_word(set, v / 64) | (uint64_t)1 << (v % 64),
			      memory_order_relaxed);
}

/* Once all are in: sets `count`. */
void base_ranks_rank(struct base_ranks *set);

/*
 * Puts nodes that lie near one another, mostly: on the side, from where they come to the set a word
 * at a time. Of BASE_NEAR_NODES neighbours at most, each of which puts one.
 */
#define BASE_NEAR_NODES 16384u
/* How far before the first neighbour a node is near, and in all. */
#define BASE_NEAR_BEFORE 8192u
#define BASE_NEAR_BITS 32768u
/* Others that wait for memory together. */
#define BASE_FAR_NODES 256u
struct base_ranks_near {
	struct base_ranks *set;
	uint32_t from;
	unsigned far_count;
	uint64_t near[BASE_NEAR_BITS / 64 + 1]; /* one more, of what counts for nothing */
	uint32_t far[BASE_FAR_NODES];
};

static inline void base_near_begin(struct base_ranks_near *near, struct base_ranks *set,
				   uint32_t first)
{
	near->set = set;
	near->from = (first > BASE_NEAR_BEFORE ? first - BASE_NEAR_BEFORE : 0) & ~63u;
	near->far_count = 0;
	memset(near->near, 0, sizeof(near->near));
}

/* Puts those that wait. */
void base_near_put_far(struct base_ranks_near *near);

/* Puts v if is_one. Neither that nor how far it is can be foretold: no branch asks. */
static inline void base_near_put(struct base_ranks_near *near, uint32_t v, bool is_one)
{
	const uint32_t at = v - near->from;
	const bool is_near = at < BASE_NEAR_BITS;

	near->near[is_near && is_one ? at / 64 : BASE_NEAR_BITS / 64] |= (uint64_t)1 << at % 64;
	near->far[near->far_count] = v;
	near->far_count += is_one && !is_near;
	if (near->far_count == BASE_FAR_NODES)
		base_near_put_far(near);
}

/* All that was put is in the set. */
void base_near_end(struct base_ranks_near *near);

/* How many nodes of the set come before v. */
static inline uint32_t base_ranks_before(const struct base_ranks *set, uint32_t v)
{
	const uint64_t below = ((uint64_t)1 << (v % BASE_RANK_BITS)) - 1;

	return set->before[v / BASE_RANK_BITS] +
	       count_bits(base_ranks_word(set, v / BASE_RANK_BITS) & below);
}

/* Nodes of a set that was ranked, in order, each with how many come before it. */
struct base_ranks_walk {
	const struct base_ranks *set;
	uint64_t bits;      /* of the word: nodes to come */
	uint32_t word, end; /* the word, and the one behind the last */
	uint32_t before;    /* of the next node */
};

/* Those from `first`, a multiple of 64, to the end of the word that the node before `end` is in. */
static inline struct base_ranks_walk base_ranks_walk(const struct base_ranks *set, uint32_t first,
						     uint32_t end)
{
	return (struct base_ranks_walk){
		.set = set,
		.bits = first < end ? base_ranks_word(set, first / 64) : 0,
		.word = first / 64,
		.end = (uint32_t)(((uint64_t)end + 63) / 64),
		.before = base_ranks_before(set, first),
	};
}

/* The next node; false: there is none. */
static inline bool base_ranks_next(struct base_ranks_walk *walk, uint32_t *node, uint32_t *before)
{
	while (!walk->bits) {
		if (walk->word + 1 >= walk->end)
			return false;
		walk->bits = base_ranks_word(walk->set, ++walk->word);
	}
	*node = 64 * walk->word + (uint32_t)__builtin_ctzll(walk->bits);
	*before = walk->before++;
	walk->bits &= walk->bits - 1;
	return true;
}

/* Asks for the memory that base_ranks_before needs. */
static inline void base_ranks_prefetch(const struct base_ranks *set, uint32_t v)
{
	prefetch_read((const void *)&set->bits[v / 64]);
	prefetch_read(&set->before[v / BASE_RANK_BITS]);
}

/* Asserts, of a set that was ranked, that ranks are those of its bits. For tests and debugging. */
void base_ranks_check(const struct base_ranks *set);

#endif
