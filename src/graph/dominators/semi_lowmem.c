/*
 * graph/dominators/semi_lowmem.c - finds semidominators with links only for joins, which are nodes
 * that have incoming edges outside the search tree.
 *
 * This algorithm is for heaps whose links, at 8 bytes per node, do not fit in the budget: hundreds
 * of millions of objects in 2 GB, or tens of millions in 100 MB. The links would be in a file, and
 * random accesses to the file would thrash.
 *
 * The semidominator of a node that is not a join is its parent, so its link need not be stored.
 * Consider evaluating an edge from u to w (u > w), and let p be the deepest ancestor of u whose
 * number is not greater than w. On the path from p down to u, the first node contributes p, or at
 * most p if it is a join. Later nodes that are not joins contribute larger numbers. The result is
 * therefore the minimum of p and the contributions of the joins on the path.
 *
 * A pass over all nodes in order of numbers keeps the path to the current node on a stack. It finds
 * both p and the nearest join there, and replaces each edge with one from p, one from the join, or
 * both ("folding"). The remaining evaluations concern paths that contain only joins. Edges are
 * grouped by source for this pass, and by target afterwards. Only the links of joins are accessed
 * at random.
 */
#include "graph/dominators/semi_nca_private.h"

#include "base/bits.h"
#include "base/rank_bitset.h"

#include <assert.h>

/*
 * If more than one in JOINS_PART nodes is a join, links for all nodes are used instead, in a file
 * if necessary, because folding such a graph takes up to three times as long and saves little
 * memory. Measured with --memory 64M: 5 % of nodes are joins in application heaps, 43 % in a
 * compiler's heap (1.6 s folded, 1.1 s with all links), and 46 % in a random graph (9.0 s and 2.4
 * s).
 */
#define JOINS_PART 4u

/*
 * Number of slots in a cache of recent results, by target. The cache removes most duplicate edges,
 * such as edges to a class with a million instances.
 */
#define RECENT_EDGES (1u << 12)

/* A node on the path to the current node. */
struct path_node {
	uint32_t number;
	uint32_t join; /* nearest join at or above this node, or 0 if there is none */
};

struct recent_edge {
	uint32_t target, below, join;
};

struct fold {
	struct dom_build *b;
	struct graph_edge_buckets by_source;
	struct base_ranks joins; /* numbers */
	struct dom_link *links;  /* by rank, starting at 1 */
	struct path_node *path;
	uint64_t depth, limit;
	struct recent_edge *recent;
	struct base_big links_big, path_big, recent_big;
};

static bool is_join(const struct fold *f, uint32_t w)
{
	return base_ranks_has(&f->joins, w);
}

/* Returns the number of a join among the joins, starting at 1. */
static uint32_t rank_of(const struct fold *f, uint32_t w)
{
	return base_ranks_before(&f->joins, w) + 1;
}

/* Marks and ranks all nodes that have incoming edges outside the search tree. */
static int mark_joins(struct fold *f, struct hdb_error *err)
{
	struct dom_build *b = f->b;
	const uint32_t blocks = (b->count >> GRAPH_BUCKET_BITS) + 1;

	memcpy(f->joins.bits_big.data, b->top,
	       base_bit_words((uint64_t)b->count + 1) * sizeof *b->top);
	for (uint32_t block = 0; block < blocks; block++) {
		struct graph_edge_reader reader;
		uint32_t source, to;

		graph_buckets_begin(&b->edges, block, &reader);
		while (graph_buckets_next(&reader, &source, &to))
			base_ranks_put_alone(&f->joins, (block << GRAPH_BUCKET_BITS) + to);
		TRY(base_step(b->work, (uint64_t)block << GRAPH_BUCKET_BITS, err));
	}
	base_ranks_rank(&f->joins);
	return HDB_OK;
}

/* Moves all edges into buckets of their sources. */
static int group_by_source(struct fold *f, struct hdb_error *err)
{
	struct dom_build *b = f->b;
	const uint32_t blocks = (b->count >> GRAPH_BUCKET_BITS) + 1;

	TRY(graph_buckets_init(&f->by_source, (uint64_t)b->count + 1, b->work, err));
	for (uint32_t block = 0; block < blocks; block++) {
		struct graph_edge_reader reader;
		uint32_t source, to;

		graph_buckets_begin(&b->edges, block, &reader);
		while (graph_buckets_next(&reader, &source, &to))
			TRY(graph_buckets_add(&f->by_source, (block << GRAPH_BUCKET_BITS) + to,
					      source, err));
		TRY(base_step(b->work, (uint64_t)block << GRAPH_BUCKET_BITS, err));
	}
	graph_buckets_release(&b->edges);
	return graph_buckets_init(&b->edges, (uint64_t)b->count + 1, b->work, err);
}

/* Appends `number` to the path, which contains its parent. */
static int extend_path(struct fold *f, uint32_t number, uint32_t parent, struct hdb_error *err)
{
	uint32_t join;

	while (f->path[f->depth - 1].number > parent)
		f->depth--;
	assert(f->path[f->depth - 1].number == parent);
	join = f->path[f->depth - 1].join;
	if (f->depth == f->limit) {
		struct base_big big = { 0 };

		TRY(base_big_alloc_raw(f->b->work, &big, 2 * f->limit * sizeof *f->path,
				       "search path", err));
		memcpy(big.data, f->path, f->depth * sizeof *f->path);
		base_big_free(&f->path_big);
		f->path_big = big;
		f->path = big.data;
		f->limit *= 2;
	}
	if (is_join(f, number)) {
		f->links[rank_of(f, number)].up = join ? rank_of(f, join) : 0;
		join = number;
	}
	f->path[f->depth++] = (struct path_node){ .number = number, .join = join };
	return HDB_OK;
}

/* Returns the deepest node on the path whose number is not greater than `w`. */
static uint32_t deepest_below(const struct fold *f, uint32_t w)
{
	uint64_t low = 0, high = f->depth;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;

		if (f->path[middle].number <= w)
			low = middle;
		else
			high = middle;
	}
	return f->path[low].number;
}

/*
 * Replaces the edge from the end of the path to w with an edge from a number below w, an edge from
 * a join above w, or both.
 */
static int fold_edge(struct fold *f, uint32_t w, struct hdb_error *err)
{
	const struct path_node *end = &f->path[f->depth - 1];
	const uint32_t below = end->number < w ? end->number : deepest_below(f, w);
	const uint32_t join = end->number > w && end->join > w ? end->join : 0;
	struct recent_edge *recent = &f->recent[w % RECENT_EDGES];

	if (recent->target == w && recent->below == below && recent->join == join)
		return HDB_OK;
	*recent = (struct recent_edge){ .target = w, .below = below, .join = join };
	if (below < w)
		TRY(graph_buckets_add(&f->b->edges, below, w, err));
	return join ? graph_buckets_add(&f->b->edges, join, w, err) : HDB_OK;
}

/* Folds the edges of one block, in the order of node numbers. */
static int fold_block(struct fold *f, uint32_t block, struct hdb_error *err)
{
	struct dom_build *b = f->b;
	const uint32_t base = block << BASE_RUN_BITS, count = dom_block_count(b, block);
	const uint64_t *first;
	const uint32_t *target;

	TRY(graph_buckets_sort(&f->by_source, block, &first, &target, err));
	TRY(base_runs_get(&b->parents, block, b->block, err));
	for (uint32_t k = block == 0; k < count; k++) {
		TRY(extend_path(f, base + k, base + k - (uint32_t)b->block[k], err));
		for (uint64_t i = first[k]; i < first[k + 1]; i++)
			TRY(fold_edge(f, target[i], err));
	}
	return base_step(b->work, base, err);
}

/*
 * Computes the semidominators of one block, from the highest number to the lowest. *rank is the
 * number of joins up to the current node.
 */
static int semi_of_block(struct fold *f, uint32_t block, uint32_t *rank, struct hdb_error *err)
{
	struct dom_build *b = f->b;
	const uint32_t base = block << BASE_RUN_BITS, count = dom_block_count(b, block);
	const uint64_t *first;
	const uint32_t *source;

	TRY(graph_buckets_sort(&b->edges, block, &first, &source, err));
	TRY(base_runs_get(&b->parents, block, b->block, err));
	for (uint32_t k = count; k-- > 0;) {
		const uint32_t w = base + k, parent = w - (uint32_t)b->block[k];
		uint32_t semi = parent;

		b->block[k] = 0;
		if (w == 0 || !is_join(f, w))
			continue;
		if (base_bit_has(b->top, w))
			semi = 0;
		for (uint64_t i = first[k]; i < first[k + 1]; i++) {
			const uint32_t low = source[i] < w ?
						     source[i] :
						     dom_eval(f->links, rank_of(f, source[i]),
							      *rank, &b->step_count);
			if (low < semi)
				semi = low;
		}
		assert(*rank > 0 && semi <= parent);
		f->links[(*rank)--].low = semi;
		b->block[k] = parent - semi;
	}
	return base_runs_put(&b->semis, block, b->block, count, err);
}

static int start(struct fold *f, struct hdb_error *err)
{
	struct dom_build *b = f->b;

	f->limit = 4096;
	TRY(base_ranks_init(&f->joins, b->count, b->work, "joins", err));
	TRY(base_big_alloc(b->work, &f->recent_big, RECENT_EDGES * sizeof *f->recent, "joins",
			   err));
	TRY(base_big_alloc_raw(b->work, &f->path_big, f->limit * sizeof *f->path, "search path",
			       err));
	f->recent = f->recent_big.data;
	f->path = f->path_big.data;
	/* Every path starts at the virtual root, so the stack is never empty. */
	f->path[f->depth++] = (struct path_node){ 0, 0 };
	return HDB_OK;
}

/* Upward pass, which keeps only the edges needed to join subtrees. */
static int fold_all(struct fold *f, struct hdb_error *err)
{
	struct dom_build *b = f->b;
	const uint32_t blocks = (b->count >> BASE_RUN_BITS) + 1;

	TRY(group_by_source(f, err));
	TRY(base_big_alloc_raw(b->work, &f->links_big,
			       ((uint64_t)f->joins.count + 1) * sizeof *f->links, "dominator links",
			       err));
	f->links = f->links_big.data;
	for (uint32_t block = 0; block < blocks; block++)
		TRY(fold_block(f, block, err));
	graph_buckets_release(&f->by_source);
	base_big_free(&f->path_big);
	return HDB_OK;
}

/* Downward pass, which evaluates the remaining edges. */
static int find_semis(struct fold *f, struct hdb_error *err)
{
	struct dom_build *b = f->b;
	uint32_t rank = rank_of(f, b->count) - !is_join(f, b->count);

	base_stage(b->work, "dominators: semidominators", b->count, "objects");
	for (uint32_t block = (b->count >> BASE_RUN_BITS) + 1; block-- > 0;) {
		TRY(semi_of_block(f, block, &rank, err));
		TRY(base_step(b->work, b->count - (block << BASE_RUN_BITS), err));
	}
	assert(rank == 0);
	return HDB_OK;
}

static void release(struct fold *f)
{
	graph_buckets_release(&f->by_source);
	base_big_free(&f->path_big);
	base_big_free(&f->recent_big);
	base_big_free(&f->links_big);
	base_ranks_release(&f->joins);
}

int dom_semis_lowmem(struct dom_build *b, bool is_forced, bool *is_done, struct hdb_error *err)
{
	BASE_SCOPED(release) struct fold f = { .b = b };

	*is_done = false;
	base_stage(b->work, "dominators: folding", b->count, "objects");
	TRY(start(&f, err));
	TRY(mark_joins(&f, err));
	if (!is_forced && f.joins.count > b->count / JOINS_PART)
		return HDB_OK;
	TRY(fold_all(&f, err));
	TRY(find_semis(&f, err));
	*is_done = true;
	return HDB_OK;
}
