/*
 * graph/dominators/settle_private.h - what the steps of settling share. Private to settle*.c.
 */
#ifndef GRAPH_DOMINATORS_SETTLE_PRIVATE_H
#define GRAPH_DOMINATORS_SETTLE_PRIVATE_H

#include "graph/dominators/settle.h"

#include "base/pipeline.h"
#include "base/rank_bitset.h"
#include "base/vec.h"

#include <stdatomic.h>

/* Nodes of a share of a pass over all. */
#define SHARE_NODES (1u << 15)

/* A node that has more than half of all below it in the first tree, in order of nodes. */
struct heavy {
	uint32_t node;
	uint32_t depth;  /* among heavy nodes */
	bool is_waiting; /* it was met */
};

/* Places of a search's order, [first, end). */
struct level {
	uint32_t first, end;
};

struct settling {
	const struct graph_rows *rows;
	const uint64_t *root_bits;
	const uint64_t *single;
	struct base_work *work;
	struct graph_settled *out;
	uint32_t *gate_of;       /* by node: whose stage it is of; at last its dominator */
	struct base_ranks known; /* nodes whose dominator that is */
	_Atomic uint64_t *met;   /* bits by node: in the first search */
	_Atomic uint64_t *seen;  /* the same, of the search in work */
	/* Bits: the dominator is neither known, as of the last round, nor the only referrer. */
	_Atomic uint64_t *open;
	uint32_t *order;      /* of the first search: nodes, by place */
	uint32_t *parent;     /* by place: the parent's, GRAPH_NONE: a root */
	uint32_t count;       /* of those */
	struct base_vec wide; /* struct level: of those, ascending; parents are in earlier ones */
	uint64_t first_steps; /* of that search */
	/* By node: the known one above it; the second search's queue before that. */
	uint32_t *label;
	/* Of the search in work: */
	uint32_t *queue;
	_Atomic uint32_t queue_count;
	uint32_t next;
	bool is_second;
	uint32_t gate;         /* the stage is this one's */
	struct base_vec heavy; /* struct heavy */
	_Atomic uint32_t waiting_count;
	uint32_t heavy_left; /* of those, not searched from */
	/* On wide levels: struct offer, by share of rows and part of the nodes. */
	struct base_vec *offers;
	unsigned part_bits;    /* of a node: which part it is of */
	uint32_t offer_shares; /* of the next rows */
	uint64_t offers_bytes; /* as the budget knows them */
	_Atomic uint64_t step_count;
	/* What is left, and what is above it. */
	struct base_ranks rest;
	struct graph_rows rest_rows;
	uint64_t *rest_roots;
	struct base_big met_big, open_big, order_big, parent_big, label_big, rest_roots_big;
};

/* A pass over a level. */
struct wide_pass {
	struct settling *s;
	struct level level;
};

static inline uint64_t word_of(const _Atomic uint64_t *bits, uint64_t w)
{
	return atomic_load_explicit(&bits[w], memory_order_relaxed);
}

static inline bool has(const _Atomic uint64_t *bits, uint32_t v)
{
	return word_of(bits, v / 64) >> (v % 64) & 1;
}

static inline bool is_known(const struct settling *s, uint32_t v)
{
	return base_ranks_has(&s->known, v);
}

/* The shares of `size` in which `count` nodes or places are looked at. */
static inline uint64_t share_count(uint32_t count, uint32_t size)
{
	return ((uint64_t)count + size - 1) / size;
}

/*
 * The first tree: s->order, parent, count and wide; gates, which are known; and whose stage each
 * node is of, in s->gate_of.
 */
int settle_find_stages(struct settling *s, struct hdb_error *err);

#endif
