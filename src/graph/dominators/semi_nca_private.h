/*
 * graph/dominators/semi_nca_private.h - the phases of graph_dominators. Private to semi_*.c and
 * dfs*.c.
 *
 * Memory in bytes per node: 3 to 5 for the order of the search, in spill buckets; 0.25 for states;
 * 0.5 for parents; later about 2 for packed numbers, then 8 for links and 0.5 for semidominators,
 * and finally 4 for dominators. A pending edge takes 8 bytes. Each edge outside the search tree
 * takes 3 to 7 bytes until it is evaluated, and twice that while targets are replaced with numbers.
 */
#ifndef GRAPH_DOMINATORS_SEMI_NCA_PRIVATE_H
#define GRAPH_DOMINATORS_SEMI_NCA_PRIVATE_H

#include "graph/dominators/semi_nca.h"
#include "graph/dominators/edge_buckets.h"
#include "base/spill_buckets.h"
#include "base/packed_runs.h"
#include "base/thread.h"

#include <stdatomic.h>

#if BASE_RUN_BITS != GRAPH_BUCKET_BITS
#error "edges, parents and numbers are worked on in the same blocks"
#endif

/* Number of steps between two calls of base_step. */
#define DOM_STEP_MASK 0xffffu

/* How many targets or numbers ahead to prefetch. */
#define DOM_AHEAD 8

/*
 * The state of a node, shared by all searches, in two bits. An edge to a node that the search from
 * another root has visited proves that the virtual root is its dominator, because the two paths to
 * it have no node in common.
 */
enum dom_state {
	DOM_NEW, /* not visited */
	DOM_MET, /* visited */
	/*
	 * flag: the dominator of the node is the virtual root; set for a root before it is visited
	 */
	DOM_TOP = 2,
};

/* States per word. */
#define DOM_STATES 32u

/* The lower bit of each state in a word. */
#define DOM_LOW_BITS 0x5555555555555555u

/* Maximum number of concurrent searches. More searches would compete for the same nodes. */
#define DOM_PARTS_MAX 16u

/* Minimum number of nodes for more than one search. */
#define DOM_PART_NODES (1u << 16)

/* Maximum number of levels (dfs_levels.c). One thread searches a longer chain of owners. */
#define DOM_LEVELS_MAX 16u

/* Roots that have the same dominator. */
struct dom_level {
	/* the dominator of these roots; for the first level, the virtual root */
	uint32_t owner;
	uint32_t number; /* number of the owner */
	/* uint32_t: roots found by probes; the owner may not refer to them */
	struct base_vec found;
};

/* One thread's part of the graph, with separate numbers. */
struct dom_build {
	struct base_work *work;
	struct graph_rows *rows;
	uint32_t node_count;
	uint32_t count;                /* highest number assigned */
	uint32_t before;               /* first number of this part in the whole graph */
	uint32_t from[DOM_LEVELS_MAX]; /* first number of each level */
	_Atomic uint64_t *states; /* DOM_STATES per word, indexed by node; all parts share them */
	/* bit set indexed by node: visited in the search from the current root */
	uint64_t *mine;
	/* nodes and numbers, one spill bucket per range of nodes (dom_spill_of) */
	struct base_buckets order;
	unsigned order_shift;
	struct base_runs parents; /* indexed by number: distance to the parent */
	/* indexed by number: distance from the parent to the semidominator */
	struct base_runs semis;
	/* edges outside the search tree, from numbers to nodes */
	struct graph_edge_buckets crosses;
	struct graph_edge_buckets edges; /* the same edges, as pairs of numbers */
	uint64_t *top;                   /* bit set indexed by number: DOM_TOP */
	struct base_big mine_big, top_big;
	uint64_t *block; /* BASE_RUN values of the parents or semidominators being processed */
	uint64_t *block2;
	uint64_t step_count; /* number of visited nodes, visited edges, and followed links */
	BASE_NO_SHARING;
};

struct dom_parts {
	struct base_work *work;
	struct dom_build *part;
	unsigned count;
	const uint64_t *root_bits;
	struct dom_level level[DOM_LEVELS_MAX];
	unsigned level_count;
	struct base_big roots_big;  /* bit set indexed by node: roots of the level being searched */
	uint32_t *dominator;        /* final result, indexed by number of the whole graph */
	_Atomic uint64_t next_word; /* next word of root bits to be searched */
	_Atomic uint64_t done;      /* approximate count of numbers assigned */
	/* whether a part has failed, in which case the other parts stop */
	_Atomic bool is_failed;
	struct base_big states_big;
};

/*
 * Must be called regularly for each part, with the number of numbers that it has processed since
 * the last call, or with a whole block. Returns HDB_END if another part has failed. Only the first
 * part reports progress, but all parts check for cancellation.
 */
int dom_step(struct dom_parts *parts, const struct dom_build *b, uint32_t done,
	     struct hdb_error *err);

/* Maximum number of spill buckets. With more buckets, chunks would be too small. */
#define DOM_SPILLS_MAX 4096u

/* Returns the spill bucket of a bucket of nodes. */
static inline uint32_t dom_spill_of(const struct dom_build *b, uint32_t bucket)
{
	return bucket >> b->order_shift;
}

static inline unsigned dom_state(const _Atomic uint64_t *states, uint32_t v)
{
	return atomic_load_explicit(&states[v / DOM_STATES], memory_order_relaxed) >>
		       (2 * (v % DOM_STATES)) &
	       3;
}

/*
 * A pending entry of the search: a target, and the number of its source. If the target is
 * GRAPH_NONE, the entry represents a long row, and the two entries below it contain the remaining
 * range of targets.
 */
union dom_entry {
	struct {
		uint32_t target;
		uint32_t source; /* number */
	};
	uint64_t position;
};

struct dom_stack {
	union dom_entry *entry;
	uint64_t depth, limit;
	struct base_big big;
};

/* Number of free entries needed for scanning a row. */
#define DOM_STACK_ROOM (GRAPH_ROW_MAX + 3)

/* Pushes a long row. */
static inline void dom_stack_long(struct dom_stack *stack, const struct graph_long_row *row,
				  uint32_t source)
{
	stack->entry[stack->depth++].position = row->at;
	stack->entry[stack->depth++].position = row->end;
	stack->entry[stack->depth++] = (union dom_entry){ .target = GRAPH_NONE, .source = source };
}

/* Pops the topmost target. A long row is removed together with its last target. */
static inline void dom_stack_pop(struct dom_stack *stack, const struct graph_rows *rows,
				 uint32_t *source, uint32_t *target)
{
	union dom_entry *top = &stack->entry[stack->depth - 1];

	*source = top->source;
	*target = top->target;
	if (top->target != GRAPH_NONE) {
		stack->depth--;
		return;
	}
	*target = graph_rows_long(rows, top[-2].position++);
	if (top[-2].position == top[-1].position)
		stack->depth -= 3;
}

/*
 * Returns an upcoming target to prefetch, or GRAPH_NONE. It is the target `ahead` entries further
 * down the stack or, if a long row is on top, further along that row.
 */
static inline uint32_t dom_stack_ahead(const struct dom_stack *stack, const struct graph_rows *rows,
				       uint32_t ahead)
{
	const union dom_entry *end = &stack->entry[stack->depth];

	if (stack->depth < DOM_STACK_ROOM)
		return GRAPH_NONE;
	if (end[-1].target != GRAPH_NONE)
		return end[-(ptrdiff_t)ahead].target < rows->node_count ?
			       end[-(ptrdiff_t)ahead].target :
			       GRAPH_NONE;
	return end[-2].position - end[-3].position > ahead ?
		       graph_rows_long(rows, end[-3].position + ahead) :
		       GRAPH_NONE;
}

/* Stores the current block of parents. Called when the block is full, and at the end. */
int dom_put_parents(struct dom_build *build, struct hdb_error *err);

/* Assigns the next number, build->count. */
static inline int dom_give_number(struct dom_build *b, uint32_t parent, struct hdb_error *err)
{
	if ((b->count & (BASE_RUN - 1)) == BASE_RUN - 1)
		TRY(dom_put_parents(b, err));
	b->count++;
	b->block[b->count & (BASE_RUN - 1)] = b->count - parent;
	return HDB_OK;
}

/* Numbers a node and records the pair. */
static inline int dom_order_add(struct dom_build *b, uint32_t node, uint32_t parent,
				struct hdb_error *err)
{
	const int rc = dom_give_number(b, parent, err);
	const uint64_t v[] = { node, b->count };

	if (rc != HDB_OK)
		return rc;
	return base_buckets_add(&b->order, dom_spill_of(b, node >> GRAPH_BUCKET_BITS),
				BASE_RECORD(2, 0), v, err);
}

/*
 * Numbers the nodes that this part takes. Sets count, order, parents and crosses. Parts run
 * concurrently.
 */
int dom_search(struct dom_parts *parts, struct dom_build *build, struct hdb_error *err);

/*
 * Determines the levels (dfs_levels.c). All nodes are in their initial state before and after the
 * call.
 */
int dom_levels_plan(struct dom_parts *parts, struct hdb_error *err);
void dom_levels_release(struct dom_parts *parts);

/*
 * Numbers the owner of a level, and marks the roots of the level, after all levels above it have
 * been searched. Returns HDB_END if there is nothing left to search.
 */
int dom_level_begin(struct dom_parts *parts, unsigned no, struct hdb_error *err);

/* Converts a part's dominators to numbers of the whole graph. */
void dom_levels_place(const struct dom_parts *parts, const struct dom_build *b,
		      uint32_t *dominator);

/* Prepares the order of one of part_count parts. The order has room for all nodes. */
int dom_order_init(struct dom_build *build, unsigned part_count, struct hdb_error *err);

/*
 * Inverts the orders into *numbers (packed; the caller must release them even after a failure), and
 * converts crosses to edges and top. Frees states, orders and crosses.
 */
int dom_number(struct dom_parts *parts, struct base_runs *numbers, struct hdb_error *err);

/* Returns the number of nodes in a block of numbers. */
static inline uint32_t dom_block_count(const struct dom_build *b, uint32_t block)
{
	const uint32_t above = b->count - (block << BASE_RUN_BITS);

	return above < BASE_RUN ? above + 1 : BASE_RUN;
}

/*
 * The forest of linked nodes, with compressed paths. `up` is an ancestor, and `low` is the lowest
 * semidominator on the path from the node (inclusive) to `up` (exclusive). Unlike Lengauer-Tarjan,
 * SEMI-NCA needs only this value and not the node that has it.
 */
struct dom_link {
	uint32_t up;
	uint32_t low;
};

/* Compresses the path from x by skipping its ancestor y. */
static inline void jump_over(struct dom_link *x, const struct dom_link *y)
{
	if (y->low < x->low)
		x->low = y->low;
	x->up = y->up;
}

/*
 * Returns the lowest semidominator on the path from u to its highest linked ancestor. Numbers above
 * `last` are linked. Counts steps. Halves the path on the way: every other node on the path jumps
 * over the next node.
 */
static inline uint32_t dom_eval(struct dom_link *links, uint32_t u, uint32_t last, uint64_t *steps)
{
	uint32_t least = UINT32_MAX;

	for (; u > last; ++*steps) {
		struct dom_link *x = &links[u];

		if (x->up > last)
			jump_over(x, &links[x->up]);
		if (x->low < least)
			least = x->low;
		u = x->up;
	}
	return least;
}

/*
 * Computes semidominators like semi_nca.c, but with links only for joins (nodes with several
 * incoming edges). Used if links for all nodes would exceed the budget. If the graph has too many
 * joins for this to be useful and `is_forced` is not set, sets *is_done to false and changes
 * nothing. Otherwise, replaces the edges.
 */
int dom_semis_lowmem(struct dom_build *build, bool is_forced, bool *is_done, struct hdb_error *err);

#endif
