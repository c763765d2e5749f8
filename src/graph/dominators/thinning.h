/*
 * graph/dominators/thinning.h - edges to popular nodes, most of which need not be looked at.
 *
 * Half of the edges of many heaps lead to some dozen nodes: states, empty lists, descriptions of
 * columns, primitive types. Nearly all of them say the same: there is one more way to a node that
 * has two without a common node anyway. So of the edges that nodes of one kind have to such a
 * target, some dozen are kept, spread over all of the kind, and the others are left out. What is
 * rare is not: all edges of kinds that seldom refer to the target stay.
 *
 * That changes no dominator where the target's is the virtual root without them: a way more to
 * it is a way around nobody. Where it is not, it is to be checked that each source that was left
 * out is below the target's dominator, too: then the tree that was found has an ancestor of the
 * source above the target of each edge of the whole graph, while nodes of one parent do not
 * dominate each other, and there is but one such tree (Georgiadis and Tarjan, "Dominator tree
 * certification and divergent spanning trees", 2015). Sources that are not are spared, and the
 * search is done again.
 *
 * The same holds for the edges of objects to their classes, which need no sample. Those that are
 * soft (contract.h) are left out, too: a suspect is one by the edges that stay.
 *
 * Which edges are left out depends on the sample, the kind and the node, not on threads.
 */
#ifndef GRAPH_DOMINATORS_THINNING_H
#define GRAPH_DOMINATORS_THINNING_H

#include "base/sort.h"
#include "base/vec.h"
#include "base/work.h"

#include <stdbool.h>

/* A node is popular if this part of the sampled nodes refer to it, or more. */
#define GRAPH_POPULAR_PART 128u

/* Edges of a kind to a target are thinned if the sample has so many of them, or more. */
#define GRAPH_THIN_SAMPLED_MIN 16u

/* And so many are to be kept; of those to a class more, since they are known without a sample. */
#define GRAPH_THIN_KEPT 64u
#define GRAPH_THIN_CLASS_KEPT 1024u

/* Edges of nodes of one kind to one target. */
struct graph_thin_pair {
	uint32_t kind, target;
	uint32_t keep_below; /* those are kept whose source's hash is below; 0: no pair */
};

/* The edges of all nodes of a class to one node. */
struct graph_thin_class {
	uint32_t class_no;
	uint32_t node;
	uint64_t count;
};

struct graph_thinning {
	struct base_work *work;
	uint64_t *special; /* bits by node: roots, popular nodes, and those whose edges all stay */
	struct graph_thin_pair *pairs;
	uint32_t pair_mask;      /* of places in that */
	uint64_t popular_edges;  /* of the sample: those of pairs */
	struct base_vec popular; /* uint32_t: nodes, ascending */
	struct base_vec classes; /* struct graph_thin_class: most of those edges are left out */
	/* by class: edges are kept whose source's hash is below, UINT32_MAX: all; or NULL */
	uint32_t *class_keep;
	struct base_big special_big;
};

/* Edges of nodes that are taken at random. */
struct graph_thinning_sample {
	struct base_vec
		edges;       /* struct base_sort_key, by graph_thin_key; sorted by the first call */
	uint32_t node_count; /* nodes that were looked at */
	struct base_vec classes; /* struct graph_thin_class: whose edges may be left out */
	uint32_t class_count;    /* class numbers are below */
};

static inline uint64_t graph_thin_key(uint32_t kind, uint32_t target)
{
	return (uint64_t)target << 32 | kind;
}

/* The nodes of a graph, and bits of which are roots; lent. */
struct graph_thin_nodes {
	uint32_t count;
	const uint64_t *root_bits;
};

/*
 * Which edges are left out; none if popular.count and classes.count are 0. `work` is lent. Release
 * it in any case.
 */
int graph_thinning_init(struct graph_thinning *t, struct graph_thinning_sample *sample,
			struct graph_thin_nodes nodes, struct base_work *work,
			struct hdb_error *err);
void graph_thinning_release(struct graph_thinning *t);

/* As if at random, so that what is kept is spread over all nodes. */
static inline uint32_t graph_thin_hash(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

/* The place of a pair, or of an empty one. */
static inline uint32_t graph_thin_place(const struct graph_thinning *t, uint32_t kind,
					uint32_t target)
{
	uint32_t place = (kind * 0x9e3779b1u ^ target * 0x85ebca6bu) >> 8 & t->pair_mask;

	while (t->pairs[place].keep_below &&
	       (t->pairs[place].kind != kind || t->pairs[place].target != target))
		place = (place + 1) & t->pair_mask;
	return place;
}

/* Whether the edge of v, which is of this kind, to a popular node is left out. */
static inline bool graph_thinning_drops(const struct graph_thinning *t, uint32_t kind, uint32_t v,
					uint32_t target)
{
	const struct graph_thin_pair *pair = &t->pairs[graph_thin_place(t, kind, target)];

	return pair->keep_below && graph_thin_hash(v) >= pair->keep_below &&
	       !(t->special[v / 64] >> (v % 64) & 1);
}

/* Whether the edge of v to its class is left out. */
static inline bool graph_thinning_drops_class(const struct graph_thinning *t, uint32_t class_no,
					      uint32_t v)
{
	return t->class_keep && t->class_keep[class_no] != UINT32_MAX &&
	       graph_thin_hash(v) >= t->class_keep[class_no] &&
	       !(t->special[v / 64] >> (v % 64) & 1);
}

/* From now on no edge of v is left out. One at a time. */
static inline void graph_thinning_spare(struct graph_thinning *t, uint32_t v)
{
	t->special[v / 64] |= (uint64_t)1 << (v % 64);
}

#endif
