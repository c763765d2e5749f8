/*
 * graph/dominators/contract_private.h - what the files of contract.h share. Private to contract*.c.
 */
#ifndef GRAPH_DOMINATORS_CONTRACT_PRIVATE_H
#define GRAPH_DOMINATORS_CONTRACT_PRIVATE_H

#include "graph/dominators/contract.h"

#include "base/bytes.h"
#include "base/pipeline.h"

/* Nodes that a thread takes at once. */
#define SHARE_NODES (1u << 16)

#if SHARE_NODES % GRAPH_NUMBERS_STEP || SHARE_NODES % 64
#error "shares start at words and steps"
#endif

static inline uint32_t share_end(uint64_t share, uint32_t count)
{
	const uint64_t end = (share + 1) * SHARE_NODES;

	return end < count ? (uint32_t)end : count;
}

/* Calls `work_on` for shares of `count` items, on all threads; any slot may get any share. */
static inline int each_share(const struct graph_contract *c, uint32_t count, void *ctx,
			     int (*work_on)(void *ctx, unsigned slot, uint64_t share,
					    struct hdb_error *err),
			     struct hdb_error *err)
{
	return base_pipeline_each(((uint64_t)count + SHARE_NODES - 1) / SHARE_NODES,
				  c->work->threads, ctx, work_on, err);
}

/* A share of the nodes of a set, with their places. */
static inline struct base_ranks_walk walk_share(const struct graph_contract *c,
						const struct base_ranks *set, uint64_t share)
{
	return base_ranks_walk(set, (uint32_t)share * SHARE_NODES, share_end(share, c->node_count));
}

static inline uint32_t up_of(const struct graph_contract *c, uint32_t v)
{
	return atomic_load_explicit(&c->up[v], memory_order_relaxed);
}

/* What is above v, from its packed form. */
static inline uint32_t unpack_up(uint32_t v, uint64_t value)
{
	return value < 2 ? GRAPH_NONE - (uint32_t)value :
			   (uint32_t)((int64_t)v - unzigzag(value - 2));
}

/* Lists the nodes of the small graph, c->node. */
int graph_contract_list(struct graph_contract *c, struct hdb_error *err);

/* From c->whole to c->dominator. */
int graph_contract_spread(struct graph_contract *c, struct hdb_error *err);

#endif
