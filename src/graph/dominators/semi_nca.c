/*
 * graph/dominators/semi_nca.c - SEMI-NCA on the numbers of a depth-first preorder, and sums along
 * the tree.
 *
 * Invariants: parent[w] < w; semi[w] <= parent[w]; idom[w] <= semi[w]. To find the dominator of w,
 * the dominator tree is climbed from parent[w] to the first number that is not greater than
 * semi[w].
 *
 * Parents and semidominators are read only in order of numbers, so they are packed
 * (base/packed_runs.h). Only links, and later dominators, are accessed at random and need a plain
 * array.
 */
#include "graph/dominators/semi_nca_private.h"

#include "base/bits.h"
#include "base/pipeline.h"

#include <assert.h>
#include <stdlib.h>

/* How many edges ahead to prefetch links, and then their ancestors. */
#define LINK_AHEAD 32u
#define ANCESTOR_AHEAD 12u

/* The edges into one block. */
struct block_edges {
	const uint64_t *first; /* indexed by target, with one extra entry */
	const uint32_t *source;
};

/*
 * Prefetches the links of upcoming sources, and then the links of their ancestors. Edges are
 * evaluated from last to first, so the upcoming sources are known, unlike in the search.
 */
static inline void prefetch_links(const struct dom_link *links, uint32_t w, const uint32_t *source,
				  uint64_t i)
{
	if (i >= LINK_AHEAD && source[i - LINK_AHEAD] > w)
		prefetch_write(&links[source[i - LINK_AHEAD]]);
	if (i >= ANCESTOR_AHEAD && source[i - ANCESTOR_AHEAD] > w)
		prefetch_write(&links[links[source[i - ANCESTOR_AHEAD]].up]);
}

/*
 * Computes the semidominator of w: the minimum of its parent, of the sources of edges that are less
 * than w, and of the evaluations of the other sources.
 */
static inline uint32_t semi_of(struct dom_link *links, uint32_t w, uint32_t parent,
			       const struct block_edges *edges, uint64_t *steps)
{
	const uint32_t k = w & (BASE_RUN - 1);
	uint32_t semi = parent;

	for (uint64_t i = edges->first[k + 1]; i-- > edges->first[k];) {
		const uint32_t from = edges->source[i];

		prefetch_links(links, w, edges->source, i);
		const uint32_t low = from < w ? from : dom_eval(links, from, w, steps);
		if (low < semi)
			semi = low;
	}
	return semi;
}

/* Computes the semidominators of one block, from the highest number to the lowest. */
static int semi_of_block(struct dom_build *b, struct dom_link *links, uint32_t block,
			 struct hdb_error *err)
{
	const uint32_t base = block << BASE_RUN_BITS, count = dom_block_count(b, block);
	struct block_edges edges = { 0 };
	uint64_t steps = 0;

	TRY(graph_buckets_sort(&b->edges, block, &edges.first, &edges.source, err));
	TRY(base_runs_get(&b->parents, block, b->block, err));
	for (uint32_t k = count; k-- > (block == 0 ? 1 : 0);) {
		const uint32_t w = base + k, parent = w - (uint32_t)b->block[k];
		const uint32_t semi =
			base_bit_has(b->top, w) ? 0 : semi_of(links, w, parent, &edges, &steps);

		assert(semi <= parent && parent < w);
		links[w] = (struct dom_link){ .up = parent, .low = semi };
		b->block[k] = parent - semi;
	}
	b->step_count += steps;
	return base_runs_put(&b->semis, block, b->block, count, err);
}

static uint64_t links_bytes(const struct dom_build *b)
{
	return ((uint64_t)b->count + 1) * sizeof(struct dom_link);
}

static int find_semidominators(struct dom_parts *parts, struct dom_build *b, struct hdb_error *err)
{
	BASE_SCOPED(base_big_free) struct base_big big = { 0 };

	TRY(base_big_alloc_raw(b->work, &big, links_bytes(b), "dominator links", err));
	for (uint32_t block = (b->count >> BASE_RUN_BITS) + 1; block-- > 0;) {
		TRY(semi_of_block(b, big.data, block, err));
		TRY(dom_step(parts, b, BASE_RUN, err));
	}
	return HDB_OK;
}

/*
 * Jump pointers over the dominator tree (Myers, "An Applicative Random-Access Stack", 1983). A run
 * is a path down the tree with consecutive numbers, such as the nodes of a list. Pointers lead from
 * the top of one run to the top of another. The number of steps to any ancestor is therefore
 * logarithmic in the number of runs above. For a top, `up` is the jump, and `low` is the number of
 * runs above it. For other nodes, `up` is the top and `low` is NO_TOP.
 */
#define NO_TOP UINT32_MAX

static inline uint32_t top_of(const struct dom_link *jumps, uint32_t w)
{
	return jumps[w].low == NO_TOP ? jumps[w].up : w;
}

static void add_jump(struct dom_link *jumps, uint32_t w, uint32_t dominator)
{
	const uint32_t top = top_of(jumps, dominator);
	struct dom_link a, b;

	assert(dominator < w);
	if (dominator == w - 1) {
		jumps[w] = (struct dom_link){ .up = top, .low = NO_TOP };
		return;
	}
	a = jumps[top];
	b = jumps[a.up];
	jumps[w].low = a.low + 1;
	jumps[w].up = a.low - b.low == b.low - jumps[b.up].low ? b.up : top;
}

/*
 * Returns the nearest ancestor of x, or x itself, whose number is not greater than `most`. Requires
 * x > most.
 */
static inline uint32_t jump_up(const struct dom_link *jumps, const uint32_t *dominator, uint32_t x,
			       uint32_t most, uint64_t *steps)
{
	for (x = top_of(jumps, x); x > most; ++*steps) {
		if (jumps[x].up > most) {
			x = jumps[x].up;
			continue;
		}
		x = dominator[x];
		if (x <= most)
			return x;
		x = top_of(jumps, x);
	}
	/* The run that contains x includes all numbers from its top to x, and therefore `most`. */
	return most;
}

/* Creates jump pointers for all numbers below `end`. Their dominators are known. */
static int start_jumping(const struct dom_build *b, const uint32_t *dominator, uint32_t end,
			 struct base_big *big, struct hdb_error *err)
{
	struct dom_link *jumps;

	TRY(base_big_alloc_raw(b->work, big, ((uint64_t)b->count + 1) * sizeof *jumps,
			       "dominator jumps", err));
	jumps = big->data;
	jumps[0] = (struct dom_link){ 0, 0 };
	for (uint32_t w = 1; w < end; w++)
		add_jump(jumps, w, dominator[w]);
	return HDB_OK;
}

/* Reads parents and semidominators of a block. */
static int read_blocks(struct dom_parts *parts, struct dom_build *b, uint32_t block,
		       struct hdb_error *err)
{
	TRY(base_runs_get(&b->parents, block, b->block, err));
	TRY(base_runs_get(&b->semis, block, b->block2, err));
	return dom_step(parts, b, BASE_RUN, err);
}

/*
 * Average number of steps per walk above which jump pointers are used. On the heap of a compiler,
 * the average is 3.
 */
#define WALK_STEPS 8u

/*
 * Finds all dominators of a part. Climbing step by step is fastest on heaps, but takes quadratic
 * time on a long chain with a wide tail. If walks have taken more than WALK_STEPS steps per number,
 * jump pointers are used from then on, which limit each walk to a logarithmic number of steps.
 *
 * dominator[0] belongs to the previous part and is not accessed.
 */
static int find_dominators(struct dom_parts *parts, struct dom_build *b, uint32_t *dominator,
			   struct hdb_error *err)
{
	const uint64_t first_steps = 1024 + b->count / WALK_STEPS;
	BASE_SCOPED(base_big_free) struct base_big big = { 0 };
	struct dom_link *jumps = NULL;
	uint64_t steps = 0;

	for (uint32_t w = 1; w <= b->count; w++) {
		const uint32_t k = w & (BASE_RUN - 1);

		if (w == 1 || k == 0)
			TRY(read_blocks(parts, b, w >> BASE_RUN_BITS, err));
		if (steps >= first_steps + WALK_STEPS * (uint64_t)w && !jumps) {
			TRY(start_jumping(b, dominator, w, &big, err));
			jumps = big.data;
		}
		uint32_t x = w - (uint32_t)b->block[k];
		const uint32_t semi = x - (uint32_t)b->block2[k];
		if (jumps) {
			if (x > semi)
				x = jump_up(jumps, dominator, x, semi, &steps);
			add_jump(jumps, w, x);
		} else {
			for (; x > semi; steps++)
				x = dominator[x];
		}
		assert(x <= semi && semi < w);
		dominator[w] = x;
	}
	b->step_count += steps;
	return HDB_OK;
}

/* ---- parts ---- */

static int start_part(struct dom_build *b, unsigned part_count, struct hdb_error *err)
{
	const uint64_t n = b->node_count;

	TRY(BASE_ALLOC(b->block, BASE_RUN, "dominators", err));
	TRY(BASE_ALLOC(b->block2, BASE_RUN, "dominators", err));
	TRY(base_runs_init(&b->parents, n + 1, b->work, "search tree", err));
	TRY(base_runs_init(&b->semis, n + 1, b->work, "semidominators", err));
	TRY(dom_order_init(b, part_count, err));
	TRY(base_big_alloc(b->work, &b->mine_big, n / 8 + 8, "preorder", err));
	b->mine = b->mine_big.data;
	return graph_buckets_init(&b->crosses, n, b->work, err);
}

static void release_part(struct dom_build *b)
{
	graph_buckets_release(&b->crosses);
	graph_buckets_release(&b->edges);
	base_big_free(&b->mine_big);
	base_big_free(&b->top_big);
	base_buckets_release(&b->order);
	base_runs_release(&b->parents);
	base_runs_release(&b->semis);
	free(b->block);
	free(b->block2);
}

/* A phase that runs on all parts at the same time. */
struct phase {
	struct dom_parts *parts;
	int (*run)(struct dom_parts *parts, struct dom_build *b, struct hdb_error *err);
};

static int run_part(void *ctx, unsigned no, struct hdb_error *err)
{
	const struct phase *phase = ctx;
	struct dom_parts *parts = phase->parts;
	const int rc = phase->run(parts, &parts->part[no], err);

	if (rc < 0)
		atomic_store(&parts->is_failed, true);
	return rc;
}

static int each_part(struct dom_parts *parts,
		     int (*run)(struct dom_parts *parts, struct dom_build *b,
				struct hdb_error *err),
		     struct hdb_error *err)
{
	struct phase phase = { parts, run };

	return base_pipeline_parts(parts->count, &phase, run_part, err);
}

/* Assigns each part its range of numbers, and prepares its buckets for renumbered edges. */
static int join_parts(struct dom_parts *parts, struct hdb_error *err)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < parts->count; i++) {
		struct dom_build *b = &parts->part[i];

		b->before = count;
		count += b->count;
		assert(count <= b->node_count);
		base_big_free(&b->mine_big);
		TRY(base_big_alloc(b->work, &b->top_big, b->count / 8 + 16, "preorder", err));
		b->top = b->top_big.data;
		TRY(graph_buckets_init(&b->edges, (uint64_t)b->count + 1, b->work, err));
	}
	return HDB_OK;
}

static int search(struct dom_parts *parts, struct graph_rows *rows, struct base_runs *numbers,
		  struct hdb_error *err)
{
	struct base_work *work = parts->work;
	const uint32_t n = rows->node_count;
	int rc;

	/* States are accessed in random order, so they use the memory reserved for the search. */
	base_work_keep(work, 0);
	base_stage(work, "dominators: search", n, "objects");
	TRY(base_big_alloc(work, &parts->states_big, (uint64_t)n / 4 + 8, "preorder", err));
	for (unsigned i = 0; i < parts->count; i++) {
		parts->part[i] = (struct dom_build){ .work = work,
						     .rows = rows,
						     .node_count = n,
						     .states = parts->states_big.data };
		TRY(start_part(&parts->part[i], parts->count, err));
	}
	TRY(dom_levels_plan(parts, err));
	for (unsigned no = 0; no < parts->level_count; no++) {
		TRY_ERRORS(rc = dom_level_begin(parts, no, err));
		if (rc == HDB_OK)
			TRY(each_part(parts, dom_search, err));
	}
	for (unsigned i = 0; i < parts->count; i++)
		TRY(dom_put_parents(&parts->part[i], err));
	graph_rows_release(rows);
	TRY(join_parts(parts, err));
	return dom_number(parts, numbers, err);
}

/* Finds a part's dominators, and converts them to numbers of the whole graph. */
static int place_dominators(struct dom_parts *parts, struct dom_build *b, struct hdb_error *err)
{
	uint32_t *dominator = parts->dominator + b->before;

	TRY(find_dominators(parts, b, dominator, err));
	dom_levels_place(parts, b, dominator);
	return HDB_OK;
}

/*
 * Returns the number of parts. There is only one part if memory may not suffice for links, because
 * semi_lowmem.c requires a single part.
 */
static unsigned part_count(const struct graph_rows *rows, enum graph_search how)
{
	const uint64_t n = rows->node_count;
	const unsigned threads = rows->work->threads;

	if (how == GRAPH_SEARCH_LOWMEM)
		return 1;
	if (how != GRAPH_SEARCH_PARTS &&
	    (n < DOM_PART_NODES || n * sizeof(struct dom_link) > base_work_room(rows->work)))
		return 1;
	return threads < DOM_PARTS_MAX ? threads : DOM_PARTS_MAX;
}

/*
 * Finds the semidominators of all parts. Uses links only for joins if memory is short and this
 * saves enough of it.
 */
static int each_semidominator(struct dom_parts *parts, enum graph_search how, uint32_t count,
			      struct hdb_error *err)
{
	struct dom_build *one = parts->part;
	const bool is_forced = how == GRAPH_SEARCH_LOWMEM;
	bool is_done = false;

	if (is_forced || (how == GRAPH_SEARCH_ANY && parts->count == 1 &&
			  links_bytes(one) > base_work_room(parts->work)))
		TRY(dom_semis_lowmem(one, is_forced, &is_done, err));
	if (is_done)
		return HDB_OK;
	base_stage(parts->work, "dominators: semidominators", count, "objects");
	parts->done = 0;
	return each_part(parts, find_semidominators, err);
}

static int run(struct dom_parts *parts, struct graph_rows *rows, enum graph_search how,
	       struct graph_dominators *out, struct hdb_error *err)
{
	struct base_work *work = parts->work;

	TRY(search(parts, rows, &out->numbers, err));
	for (unsigned i = 0; i < parts->count; i++)
		out->count += parts->part[i].count;
	TRY(each_semidominator(parts, how, out->count, err));
	for (unsigned i = 0; i < parts->count; i++) {
		graph_buckets_release(&parts->part[i].edges);
		base_big_free(&parts->part[i].top_big);
	}
	TRY(base_big_alloc_raw(work, &out->dominator_big, ((uint64_t)out->count + 1) * 4,
			       "dominators", err));
	base_stage(work, "dominators: tree", out->count, "objects");
	parts->done = 0;
	parts->dominator = out->dominator_big.data;
	parts->dominator[0] = 0;
	out->dominator = parts->dominator;
	return each_part(parts, place_dominators, err);
}

static void release_parts(struct dom_parts *parts)
{
	for (unsigned i = 0; parts->part && i < parts->count; i++)
		release_part(&parts->part[i]);
	base_big_free(&parts->states_big);
	dom_levels_release(parts);
	free(parts->part);
}

static int solve(struct graph_rows *rows, const uint64_t *root_bits, enum graph_search how,
		 struct graph_dominators *out, struct hdb_error *err)
{
	BASE_SCOPED(release_parts)
	struct dom_parts parts = { .work = rows->work,
				   .count = part_count(rows, how),
				   .root_bits = root_bits };

	TRY(BASE_ALLOC(parts.part, parts.count, "dominators", err));
	TRY(run(&parts, rows, how, out, err));
	for (unsigned i = 0; i < parts.count; i++)
		out->step_count += parts.part[i].step_count;
	return HDB_OK;
}

int graph_dominators(struct graph_rows *rows, const uint64_t *root_bits, enum graph_search how,
		     struct graph_dominators *out, struct hdb_error *err)
{
	int rc;

	*out = (struct graph_dominators){ .work = rows->work, .node_count = rows->node_count };
	rc = rows->node_count < UINT32_MAX ?
		     solve(rows, root_bits, how, out, err) :
		     hdb_fail(err, HDB_ELIMIT, "too many nodes: %" PRIu32, UINT32_MAX);
	graph_rows_release(rows);
	return rc;
}

int graph_dominators_numbers(const struct graph_dominators *dominators, uint32_t first,
			     uint64_t *numbers, uint32_t count, struct hdb_error *err)
{
	assert(first % GRAPH_NUMBERS_STEP == 0);

	TRY(base_runs_range(&dominators->numbers, first, numbers, count, err));
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = (uint64_t)unzigzag(numbers[i]) +
			     (i % GRAPH_NUMBERS_STEP ? numbers[i - 1] : 0);
	return HDB_OK;
}

void graph_dominators_release(struct graph_dominators *dominators)
{
	if (!dominators->work)
		return;
	base_runs_release(&dominators->numbers);
	base_big_free(&dominators->dominator_big);
	*dominators = (struct graph_dominators){ 0 };
}

/* Number of nodes per work item. */
#define NODES_SHARE (4u * BASE_RUN)

struct listing {
	const struct graph_dominators *dominators;
	uint32_t *node; /* indexed by number */
};

static int list_share(void *ctx, unsigned slot, uint64_t share, struct hdb_error *err)
{
	const struct listing *l = ctx;
	const uint64_t n = l->dominators->node_count, last = (share + 1) * NODES_SHARE;
	const uint64_t end = last < n ? last : n;
	BASE_FREED uint64_t *number = NULL;

	(void)slot;
	TRY(BASE_ALLOC(number, BASE_RUN, "objects by number", err));
	for (uint64_t first = share * NODES_SHARE; first < end; first += BASE_RUN) {
		const uint32_t count = end - first < BASE_RUN ? (uint32_t)(end - first) : BASE_RUN;

		TRY(graph_dominators_numbers(l->dominators, (uint32_t)first, number, count, err));
		for (uint32_t i = 0; i < count; i++) {
			if (count - i > 2 * DOM_AHEAD)
				prefetch_write(&l->node[number[i + 2 * DOM_AHEAD]]);
			if (number[i])
				l->node[number[i]] = (uint32_t)first + i;
		}
	}
	return HDB_OK;
}

int graph_dominators_nodes(const struct graph_dominators *dominators, struct base_big *big,
			   struct hdb_error *err)
{
	struct base_work *work = dominators->work;
	struct listing listing = { .dominators = dominators };

	TRY(base_big_alloc_raw(work, big, ((uint64_t)dominators->count + 1) * 4,
			       "objects by number", err));
	listing.node = big->data;
	listing.node[0] = GRAPH_NONE;
	return base_pipeline_each(((uint64_t)dominators->node_count + NODES_SHARE - 1) /
					  NODES_SHARE,
				  work->threads, &listing, list_share, err);
}

int graph_retained(const struct graph_dominators *dominators, struct base_sizes *sizes,
		   struct hdb_error *err)
{
	const uint32_t *dominator = dominators->dominator;

	base_stage(dominators->work, "retained sizes", dominators->count, "objects");
	for (uint32_t w = dominators->count; w > 0; w--) {
		const uint32_t to = dominator[w];

		assert(to < w);
		const uint64_t sum = base_sizes_get(sizes, to) + base_sizes_get(sizes, w);
		if (!base_sizes_set(sizes, to, sum))
			return hdb_fail(err, HDB_ELIMIT, "retained sizes do not fit in 32 bits");
		if ((w & DOM_STEP_MASK) == 0)
			TRY(base_step(dominators->work, dominators->count - w, err));
	}
	return HDB_OK;
}
