/*
 * graph/dominators/contract.h - a small graph that has the dominators of a large one: most nodes
 * have one referrer, and need no search.
 *
 * Let a node be single if it is no root and exactly one other node refers to it. Its dominator is
 * that one. Single nodes hang below others in trees; a tree from which no reference leads anywhere
 * but to roots and within dominates nothing else, and is left out. What stays is kept: roots, nodes
 * with several referrers, and single nodes at which a reference to such a node starts, or ways to
 * two of these part. Those between are stepped over: an edge leads from the nearest kept node above
 * to the one below, whose dominator is its referrer all the same. Between kept nodes all is as
 * before: whichever of them dominates another one does so in the small graph, too.
 *
 * An object refers to its class, so that nothing would be left out. Such edges are soft: the one of
 * a node that is left out is pushed up to the nearest kept node above it. Kept nodes dominate what
 * they did, since what lies between is on no other way. Only a node that is left out may dominate
 * the edge's target, and then that target's dominator in the small graph is the very node to which
 * the edge was pushed, without an edge of its own to the target. Such a target is a suspect; edges
 * to it are made hard, and the small graph is made once more. (Proof: let z be the last node above
 * v, left out, below the kept node q. All ways to v pass z. Some leave its tree by pushed edges,
 * else the next kept node below z, which is but one, were on all of them. They lead to nodes that z
 * dominates, too, else there were a way round z. What dominates such a target dominates the edge's
 * source, so that no kept node is between q and the target; and with an edge from q there were a
 * way round z.)
 *
 * Edges to popular nodes may be left out (thinning.h); contract_doubts.c tells whether that was
 * right.
 *
 * Which heaps take it: all that the budget has room for, but those nearly all of whose references
 * lead far (nca_grow.h). On heaps of services 5 to 20 of 100 objects are kept, on random graphs
 * nearly all, to be settled (settle.h). On a compiler's most would be, to be searched: there all
 * nodes are kept without a look at who refers to whom (graph_contract_keep_all), and what is left
 * of contraction is that edges to popular nodes and to classes are left out. Passes that would take
 * a fifth of the nodes out cost more than the search saves.
 *
 * All passes over references run on any threads, and in any order: what is kept does not depend on
 * it. Each step is counted against nodes and edges: paths of nodes left out are halved on the way,
 * like those of union-find. Memory: 4 bytes a node, and five bits; 4 bytes a node that is left
 * out and has nodes below it; 4 bytes a kept node. Before the small graph is made, the 4 bytes a
 * node are packed to 1 or 2.
 */
#ifndef GRAPH_DOMINATORS_CONTRACT_H
#define GRAPH_DOMINATORS_CONTRACT_H

#include "base/vec.h"
#include "graph/dominators/semi_nca.h"
#include "graph/dominators/settle.h"
#include "graph/dominators/edge_buckets.h"
#include "graph/dominators/thinning.h"
#include "base/packed_runs.h"
#include "base/rank_bitset.h"

/* Instead of a referrer: there are several, or the node is a root. GRAPH_NONE: there is none. */
#define GRAPH_SEVERAL (UINT32_MAX - 1)

/* Nodes whose number is larger cannot be told from that. */
#define GRAPH_CONTRACT_NODES_MAX (UINT32_MAX - 1)

/* Pushed edges of which a thread remembers that it has them. */
#define GRAPH_PUSH_MEMORY 1024u

/* Rows of a thread's share of the small graph, in order; zero-initialise. */
struct graph_contract_rows {
	struct base_vec length; /* uint8_t by row; GRAPH_ROW_LONG: the next of longs */
	struct base_vec bytes;  /* of rows that are not long */
	struct base_vec longs;  /* uint32_t: how many targets, then those, for each */
};

struct graph_pushed {
	uint32_t source, target; /* places among kept nodes */
};

/* What a thread pushes; zero-initialise, and start before each share of the nodes. */
struct graph_pushes {
	struct base_vec edges; /* struct graph_pushed */
	struct graph_pushed lately[GRAPH_PUSH_MEMORY];
};

/* A target whose dominator may be a node that is left out. */
struct graph_suspect {
	uint32_t dominator; /* node, by the small graph */
	uint32_t target;    /* node */
};

/* Doubts, and sets of those that are below their dominators, at most. */
#define GRAPH_DOUBTS_MAX 1024u
#define GRAPH_DOUBT_SETS_MAX 64u

/* Searches with more and more edges, at most, before all are there. */
#define GRAPH_THIN_ROUNDS 3u

/* A node that the virtual root does not dominate where edges to it are left out. */
struct graph_doubt {
	uint32_t target; /* node */
	/* place; GRAPH_NONE: the virtual root after all, GRAPH_SEVERAL: no root reaches it */
	_Atomic uint32_t dominator;
	bool is_leaf;    /* nothing that is kept depends on it */
	bool is_class;   /* edges of a class's nodes are left out, those alone */
	uint32_t set_no; /* of what is below its dominator */
};

struct graph_contract {
	struct base_work *work;
	const uint64_t *root_bits;
	const struct graph_thinning *thinning; /* NULL: no edge is left out */
	const uint64_t *special;               /* bits by node: roots, or the thinning's */
	uint32_t node_count;
	bool is_whole; /* all nodes are kept: what is by place is by node */
	/* By node: the only referrer, GRAPH_NONE, GRAPH_SEVERAL; NULL while no pass needs it. */
	_Atomic uint32_t *up;
	struct base_runs ups; /* the same, packed; from the first small graph on */
	/* Bits by node: single, and an edge to what is kept starts there or below; to be kept. */
	_Atomic uint64_t *touched, *chosen;
	struct base_ranks kept;
	struct base_ranks inner; /* left out, with nodes below */
	_Atomic uint32_t
		*above; /* by place among those: the nearest kept node above, GRAPH_NONE: none */
	/* By place among kept nodes; not while dominators are searched, nor if all are kept. */
	uint32_t *node;
	uint64_t *soft;   /* bits by node: targets of soft edges that are pushed */
	uint64_t *pushed; /* bits by place: edges were pushed to it */
	uint64_t *roots;  /* bits by place */
	uint64_t *single; /* bits by place: it has one referrer */
	uint64_t *lost;   /* bits by place: no root reaches it */
	/* the same by node, of what is kept, or inner; not if all are kept */
	_Atomic uint64_t *gone;
	/* by place: node, GRAPH_NONE: the virtual root, GRAPH_SEVERAL: not reached */
	uint32_t *dominator;
	/* The same where all nodes are kept, and dominators are not in doubt: work is not NULL. */
	struct graph_dominators whole;
	struct graph_edge_buckets pushes; /* targets and sources change places: by source */
	struct base_vec soft_nodes;       /* uint32_t */
	/* links followed, and what the search in the small graph counts */
	_Atomic uint64_t step_count;
	struct base_vec suspects;     /* struct graph_suspect, by dominator and target */
	struct base_vec doubts;       /* struct graph_doubt, by target */
	bool is_refuted;              /* there are too many */
	struct base_vec leaves;       /* bool by popular node: it has no edges in the small graph */
	_Atomic uint64_t *doubt_sets; /* bits by place, several times */
	uint32_t set_count;           /* of doubts */
	uint64_t raise_steps;
	unsigned thin_rounds;    /* in which edges were left out, or spared */
	struct graph_rows *rows; /* while they are put */
	BASE_APART;              /* what follows is written at each row, what is above read */
	uint32_t row_count;
	const uint64_t *push_first; /* of the bucket in work */
	const uint32_t *push_target;
	uint8_t group_length[GRAPH_GROUP];
	struct base_vec group_bytes, targets;
	struct base_big up_big, above_big, node_big, soft_big, pushed_big, roots_big, single_big,
		lost_big, gone_big, dominator_big, touched_big, chosen_big, doubts_big;
};

/*
 * Bytes that there should be room for with n nodes: half of them for the search in the small graph.
 */
static inline uint64_t graph_contract_bytes(uint32_t n)
{
	return (uint64_t)n * 8;
}

/* `root_bits` (node_count bits) and `work` are lent. Release it in any case. */
int graph_contract_init(struct graph_contract *c, uint32_t node_count, const uint64_t *root_bits,
			struct base_work *work, struct hdb_error *err);
void graph_contract_release(struct graph_contract *c);

/*
 * Then: v is the target of soft edges, to be pushed. It is kept whatever refers to it.
 */
int graph_contract_soften(struct graph_contract *c, uint32_t v, struct hdb_error *err);

/* Before the first pass. */
int graph_contract_begin(struct graph_contract *c, struct hdb_error *err);

/*
 * Instead of that and of the first three passes: all nodes are kept, for where most would be. No
 * edge is pushed; edges may be left out. Called again before dominators are searched again.
 */
int graph_contract_keep_all(struct graph_contract *c, struct hdb_error *err);

/* Where edges start. */
struct graph_source {
	uint32_t v;
	uint32_t class_no; /* nodes of one are alike; GRAPH_NONE: all edges stay */
};

/*
 * First pass: edges of v, on any thread; soft ones may be left out. `readable` targets can be read,
 * of which the first `count` are v's. Whether one of them matters, to a node with several
 * referrers: the caller tells that by graph_contract_note.
 */
bool graph_contract_see(struct graph_contract *c, struct graph_source from, const uint32_t *targets,
			uint64_t count, uint64_t readable);

/* Notes the nodes of a word, 64 each, of which an edge matters. On any thread. */
static inline void graph_contract_note(struct graph_contract *c, uint32_t word, uint64_t bits)
{
	if (bits)
		atomic_fetch_or_explicit(&c->chosen[word], bits, memory_order_relaxed);
}

/* Ends it: also what the second pass would do is done. */
int graph_contract_seen(struct graph_contract *c, struct hdb_error *err);

static inline bool graph_contract_is_kept(const struct graph_contract *c, uint32_t v)
{
	return c->is_whole || base_ranks_has(&c->kept, v);
}

/* Nodes of the small graph, once they are known. */
static inline uint32_t graph_contract_count(const struct graph_contract *c)
{
	return c->is_whole ? c->node_count : c->kept.count;
}

/* The place of a node that is kept, once all of them are known. */
static inline uint32_t graph_contract_place(const struct graph_contract *c, uint32_t v)
{
	return c->is_whole ? v : base_ranks_before(&c->kept, v);
}

/* The node of a place, while c->node is there. */
static inline uint32_t graph_contract_node(const struct graph_contract *c, uint32_t place)
{
	return c->is_whole ? place : c->node[place];
}

/* Whether soft edges to v are pushed. */
static inline bool graph_contract_is_soft(const struct graph_contract *c, uint32_t v)
{
	return c->soft[v / 64] >> (v % 64) & 1;
}

/*
 * Before all passes: which edges are left out, lent; NULL: none. Popular nodes are kept, and not
 * soft; classes are soft, and the caller leaves out the soft edges to them. May be called again
 * when dominators are known: then all comes from the second pass on.
 */
int graph_contract_thin(struct graph_contract *c, const struct graph_thinning *thinning,
			struct hdb_error *err);

/* Whether edges to v may be left out: a root, or popular. */
static inline bool graph_contract_is_special(const struct graph_contract *c, uint32_t v)
{
	return c->special[v / 64] >> (v % 64) & 1;
}

/* Whether an edge to t, another kept node, matters: t is no root, and the edge is not left out. */
static inline bool graph_contract_matters(const struct graph_contract *c, struct graph_source from,
					  uint32_t t)
{
	if (!graph_contract_is_special(c, t))
		return true;
	return !(c->root_bits[t / 64] >> (t % 64) & 1) &&
	       !(c->thinning && graph_thinning_drops(c->thinning, from.class_no, from.v, t));
}

/* Whether an edge is one of the small graph. */
static inline bool graph_contract_needs(const struct graph_contract *c, struct graph_source from,
					uint32_t t)
{
	return graph_contract_is_kept(c, t) && t != from.v && graph_contract_matters(c, from, t);
}

/*
 * Second pass, where more edges are hard, or stay, than in the first one: hard edges of each v that
 * is not kept, on any thread.
 */
void graph_contract_mark(struct graph_contract *c, struct graph_source from,
			 const uint32_t *targets, uint64_t count);

/* Asks for what the second and the fourth pass look up for targets that come soon. */
void graph_contract_soon(const struct graph_contract *c, const uint32_t *targets, uint64_t count);

/* Ends it, or follows the first pass: the nodes of the small graph are known. */
int graph_contract_marked(struct graph_contract *c, struct hdb_error *err);

/* Third pass: the soft edge of each v that is not kept to a target that is soft; on any thread. */
static inline void graph_pushes_start(struct graph_pushes *pushes)
{
	pushes->edges.count = 0;
	memset(pushes->lately, 0xff, sizeof pushes->lately);
}
int graph_contract_push(const struct graph_contract *c, struct graph_pushes *pushes, uint32_t v,
			uint32_t target, struct hdb_error *err);

/* And of each v that is kept: the edge to it from the nearest kept node above, not its referrer. */
int graph_contract_push_kept(const struct graph_contract *c, struct graph_pushes *pushes,
			     uint32_t v, struct hdb_error *err);

/*
 * The nearest kept node above one that is left out and has this referrer; GRAPH_NONE: there is
 * none. After the second pass, on any thread.
 */
static inline uint32_t graph_contract_above_of(const struct graph_contract *c, uint32_t up)
{
	if (up == GRAPH_NONE || graph_contract_is_kept(c, up))
		return up;
	return atomic_load_explicit(&c->above[base_ranks_before(&c->inner, up)],
				    memory_order_relaxed);
}

/* The same by node, while c->up is there. */
static inline uint32_t graph_contract_above(const struct graph_contract *c, uint32_t v)
{
	return graph_contract_above_of(c, atomic_load_explicit(&c->up[v], memory_order_relaxed));
}

/* Adds what a thread has pushed; one at a time. */
int graph_contract_join(struct graph_contract *c, const struct graph_pushes *pushes,
			struct hdb_error *err);

/* Ends the third pass: packs c->up. */
int graph_contract_pushed(struct graph_contract *c, struct hdb_error *err);

/* Unpacks it, unless it is there: for graph_contract_above, or to begin anew at the second pass. */
int graph_contract_recall(struct graph_contract *c, struct hdb_error *err);

/* Starts the small graph. Release *rows in any case. */
int graph_contract_start_rows(struct graph_contract *c, struct graph_rows *rows,
			      struct hdb_error *err);

/*
 * Fourth pass: all edges of each kept v, in order of nodes. `pack` on any thread, with rows that
 * are emptied before each share of the nodes; `class` is one more target, or GRAPH_NONE. If
 * is_open, more targets of the row come by graph_contract_widen before it is put: *at says where.
 */
void graph_contract_rows_empty(struct graph_contract_rows *rows);
void graph_contract_rows_release(struct graph_contract_rows *rows);
struct graph_targets {
	const uint32_t *target; /* lent */
	uint64_t count;
};
struct graph_contract_row {
	struct graph_source from;
	uint32_t class;
	struct graph_targets targets;
	bool is_open;
};
int graph_contract_pack(const struct graph_contract *c, struct graph_contract_rows *out,
			const struct graph_contract_row *row, size_t *at, struct hdb_error *err);

/* The same for the rows of nodes that follow one another, all of them kept and none open. */
struct graph_contract_run {
	uint32_t first, count;      /* nodes */
	const uint32_t *class_no;   /* by node */
	const uint32_t *class_node; /* by class: one more target, or GRAPH_NONE */
	const uint64_t *lengths;    /* targets of each node */
	const uint32_t *target;     /* of all, one after the other */
	const uint32_t *end;        /* what can be read ends there */
};
int graph_contract_pack_run(const struct graph_contract *c, struct graph_contract_rows *out,
			    const struct graph_contract_run *run, struct hdb_error *err);

/* More targets of an open row; of the last open row first. */
int graph_contract_widen(const struct graph_contract *c, struct graph_contract_rows *rows,
			 size_t at, struct graph_targets more, struct hdb_error *err);

/* Puts rows, one at a time, in order. */
int graph_contract_put(struct graph_contract *c, const struct graph_contract_rows *rows,
		       struct hdb_error *err);

/* Ends it: all rows are put. The small graph's roots are c->roots. */
int graph_contract_end_rows(struct graph_contract *c, struct hdb_error *err);

/* Before the search: which popular nodes have no edges. For graph_contract_solve. */
int graph_contract_leaves(struct graph_contract *c, struct hdb_error *err);

/* Whether most dominators are to be settled first: where the small graph is far; for tests. */
enum graph_settling { GRAPH_SETTLE_FAR, GRAPH_SETTLE_ALWAYS, GRAPH_SETTLE_NEVER, GRAPH_SETTLINGS };

/*
 * Finds the small graph's dominators; the rows are given up as by graph_dominators. Of a graph that
 * is kept whole they are in c->whole, until there are doubts.
 */
int graph_contract_solve(struct graph_contract *c, enum graph_settling settling,
			 enum graph_search how, struct hdb_error *err);

/*
 * Then: the suspects, in c->suspects. The caller takes out those whose dominator has an edge of its
 * own to the target, and may take out those of which no edge was pushed to the dominator.
 */
int graph_contract_suspect(struct graph_contract *c, struct hdb_error *err);

/*
 * With no suspects: the nodes whose dominators are in doubt, in c->doubts. If c->is_refuted
 * then, all edges are needed: c->doubts lacks some.
 */
int graph_contract_doubts(struct graph_contract *c, struct hdb_error *err);

/*
 * What the next function needs to know of nodes [first, first + count). `first` as for
 * graph_contract_dominators. On any thread.
 */
int graph_contract_values(const struct graph_contract *c, uint32_t first, uint32_t count,
			  uint64_t *values, struct hdb_error *err);

/* An edge that was left out. */
struct graph_left_out {
	uint32_t v;      /* node where it starts */
	uint32_t target; /* node */
	/* of the nearest kept node above v, which it may be itself; from GRAPH_SEVERAL on: none */
	uint32_t place;
};

struct graph_left_out_range {
	uint32_t first;
	const uint64_t *values; /* of graph_contract_values, from `first` on */
	struct graph_left_out *edge;
	size_t count;
};

/*
 * Which of those edges would change a dominator: appended to `doubtful` (struct graph_left_out).
 * Fills in places. On any thread.
 */
int graph_contract_doubtful(const struct graph_contract *c,
			    const struct graph_left_out_range *range, struct base_vec *doubtful,
			    struct hdb_error *err);

/*
 * Whether one of them would change the dominator of its target alone, or none: it does so at once.
 * On one thread only, while others may ask graph_contract_doubtful.
 */
bool graph_contract_raise(struct graph_contract *c, const struct graph_left_out *edge);

/* Makes edges to all suspects hard. If there are any, all comes again from the second pass on. */
void graph_contract_harden(struct graph_contract *c);

/*
 * With no suspects, unless they are in c->whole: the dominators of nodes [first, first + count),
 * GRAPH_NONE for the virtual root, the node itself if no root reaches it. `first` is a multiple of
 * GRAPH_NUMBERS_STEP, and `values` has room for `count` numbers, rounded up to such a multiple. On
 * any thread.
 */
struct graph_dominator_range {
	uint32_t first, count;
	uint64_t *values;    /* to use at will */
	uint32_t *dominator; /* filled */
};
int graph_contract_dominators(const struct graph_contract *c,
			      const struct graph_dominator_range *range, struct hdb_error *err);

#endif
