/*
 * graph/dominators/semi_nca.c - SEMI-NCA in the numbers of a depth-first preorder, and sums up the
 * tree.
 *
 * Invariants: parent[w] < w; semi[w] <= parent[w]; idom[w] <= semi[w] is found by walking up from
 * parent[w]. Parents and semidominators are used in order of numbers only, so they are packed
 * (runs.h); what is used at random is links, then dominators.
 */
#include "graph/dominators/semi_nca_private.h"

#include <stdlib.h>

/* Edges ahead of which links are asked for, and what is above these. */
#define LINK_AHEAD 32u
#define ABOVE_AHEAD 12u

/* The edges to one block's numbers. */
struct block_edges {
	const uint64_t *first; /* by target, and past the last */
	const uint32_t *source;
};

/*
 * Asks for the links of sources that come soon, and then for what is above them: edges are
 * evaluated from the last to the first, so that what a search waits for everywhere else is known
 * beforehand here.
 */
static inline void ask_for(const struct dom_link *links, uint32_t w, const uint32_t *source,
			   uint64_t i)
{
	if (i >= LINK_AHEAD && source[i - LINK_AHEAD] > w)
		prefetch_write(&links[source[i - LINK_AHEAD]]);
	if (i >= ABOVE_AHEAD && source[i - ABOVE_AHEAD] > w)
		prefetch_write(&links[links[source[i - ABOVE_AHEAD]].up]);
}

/* The least of the parent and what the edges into w say: from below w a number, else evaluated. */
static inline uint32_t semi_of(struct dom_link *links, uint32_t w, uint32_t parent,
			       const struct block_edges *edges, uint64_t *steps)
{
	const uint32_t k = w & (BASE_RUN - 1);
	uint32_t semi = parent;

	for (uint64_t i = edges->first[k + 1]; i-- > edges->first[k];) {
		const uint32_t from = edges->source[i];

		ask_for(links, w, edges->source, i);
		const uint32_t low = from < w ? from : dom_eval(links, from, w, steps);
		if (low < semi)
			semi = low;
	}
	return semi;
}

/* Semidominators of one block's numbers, from the highest to the lowest. */
static int semi_of_block(struct dom_build *b, struct dom_link *links, uint32_t block,
			 struct hdb_error *err)
{
	const uint32_t base = block << BASE_RUN_BITS, count = dom_block_count(b, block);
	struct block_edges edges = { 0 };
	uint64_t steps = 0;
	int rc = graph_buckets_sort(&b->edges, block, &edges.first, &edges.source, err);

	if (rc != HDB_OK)
		return rc;
	if ((rc = base_runs_get(&b->parents, block, b->block, err)) != HDB_OK)
		return rc;
	for (uint32_t k = count; k-- > (block == 0 ? 1 : 0);) {
		const uint32_t w = base + k, parent = w - (uint32_t)b->block[k];
		const uint32_t semi = b->top[w / 64] >> (w % 64) & 1 ?
					      0 :
					      semi_of(links, w, parent, &edges, &steps);

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

static int find_semidominators(struct dom_build *b, struct hdb_error *err)
{
	struct base_big big = { 0 };
	int rc = base_big_alloc_raw(b->work, &big, links_bytes(b), "dominator links", err);

	if (rc != HDB_OK)
		goto out;
	base_stage(b->work, "dominators: semidominators", b->count, "objects");
	for (uint32_t block = (b->count >> BASE_RUN_BITS) + 1; block-- > 0;) {
		if ((rc = semi_of_block(b, big.data, block, err)) != HDB_OK)
			goto out;
		rc = base_step(b->work, b->count - (block << BASE_RUN_BITS), err);
		if (rc != HDB_OK)
			goto out;
	}
out:
	base_big_free(b->work, &big);
	return rc;
}

/*
 * Jump pointers over the dominator tree (Myers, "An Applicative Random-Access Stack", 1983). A run
 * is a path down the tree whose numbers follow one another, as those of a list do; pointers lead
 * from the top of one run to another. So any ancestor is found in O(log runs above) steps. Of a
 * top, `up` is the jump and `low` the number of runs above; of any other, `up` is the top, and
 * `low` is NO_TOP.
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

	if (dominator == w - 1) {
		jumps[w] = (struct dom_link){ .up = top, .low = NO_TOP };
		return;
	}
	a = jumps[top];
	b = jumps[a.up];
	jumps[w].low = a.low + 1;
	jumps[w].up = a.low - b.low == b.low - jumps[b.up].low ? b.up : top;
}

/* The nearest one at or above x, which is above `most`, that is not. */
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
	/* It is in the run. */
	return most;
}

/* Jump pointers for what has its dominator: numbers below `end`. */
static int start_jumping(const struct dom_build *b, const uint32_t *dominator, uint32_t end,
			 struct base_big *big, struct hdb_error *err)
{
	struct dom_link *jumps;
	const int rc = base_big_alloc_raw(b->work, big, ((uint64_t)b->count + 1) * sizeof *jumps,
					  "dominator jumps", err);

	if (rc < 0)
		return rc;
	jumps = big->data;
	jumps[0] = (struct dom_link){ 0, 0 };
	for (uint32_t w = 1; w < end; w++)
		add_jump(jumps, w, dominator[w]);
	return HDB_OK;
}

/* Parents and semidominators of a block. */
static int read_blocks(struct dom_build *b, uint32_t block, struct hdb_error *err)
{
	int rc = base_runs_get(&b->parents, block, b->block, err);

	if (rc < 0)
		return rc;
	if ((rc = base_runs_get(&b->semis, block, b->block2, err)) < 0)
		return rc;
	return base_step(b->work, (uint64_t)block << BASE_RUN_BITS, err);
}

/* A compiler's heap has walks of 3 steps. */
#define WALK_STEPS 4u

/*
 * The dominator of w: the nearest one above its parent in the dominator tree that is not above
 * its semidominator. Walking step by step is best on heaps, and quadratic on a long chain with
 * a wide tail; so when steps add up, jump pointers take over: at WALK_STEPS for each of the numbers
 * so far, and some for the first ones.
 */
static int find_dominators(struct dom_build *b, uint32_t *dominator, struct hdb_error *err)
{
	const uint64_t first_steps = 1024 + b->count / WALK_STEPS;
	struct base_big big = { 0 };
	struct dom_link *jumps = NULL;
	uint64_t steps = 0;
	int rc = HDB_OK;

	base_stage(b->work, "dominators: tree", b->count, "objects");
	dominator[0] = 0;
	for (uint32_t w = 1; w <= b->count; w++) {
		const uint32_t k = w & (BASE_RUN - 1);
		if ((w == 1 || k == 0) && (rc = read_blocks(b, w >> BASE_RUN_BITS, err)) != HDB_OK)
			goto out;
		if (steps >= first_steps + WALK_STEPS * (uint64_t)w && !jumps) {
			if ((rc = start_jumping(b, dominator, w, &big, err)) != HDB_OK)
				goto out;
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
		dominator[w] = x;
	}
	b->step_count += steps;
out:
	base_big_free(b->work, &big);
	return rc;
}

int graph_dominators_numbers(const struct graph_dominators *dominators, uint32_t first,
			     uint64_t *numbers, uint32_t count, struct hdb_error *err)
{
	const int rc = base_runs_range(&dominators->numbers, first, numbers, count, err);

	if (rc != HDB_OK)
		return rc;
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = (uint64_t)unzigzag(numbers[i]) +
			     (i % GRAPH_NUMBERS_STEP ? numbers[i - 1] : 0);
	return HDB_OK;
}

static int start(struct dom_build *b, struct hdb_error *err)
{
	const uint64_t n = b->node_count;
	int rc;

	b->block = calloc(BASE_RUN, sizeof *b->block);
	b->block2 = calloc(BASE_RUN, sizeof *b->block2);
	if (!b->block || !b->block2)
		return hdb_fail_memory(err, "dominators", BASE_RUN * sizeof *b->block);
	if ((rc = base_big_alloc(b->work, &b->top_big, n / 8 + 16, "preorder", err)) < 0 ||
	    (rc = base_runs_init(&b->parents, n + 1, b->work, "search tree", err)) < 0 ||
	    (rc = base_runs_init(&b->semis, n + 1, b->work, "semidominators", err)) < 0)
		return rc;
	b->top = b->top_big.data;
	return graph_buckets_init(&b->edges, n + 1, b->work, err);
}

/*
 * The search. What it sets aside is not to lie between what the links will take the place of: the
 * pool is closed to it.
 */
static int search(struct dom_build *b, const uint64_t *root_bits, struct base_runs *numbers,
		  struct hdb_error *err)
{
	const uint64_t n = b->node_count;
	int rc;

	/* What the search looks at all the time has a claim to memory. */
	base_work_keep(b->work, 0);
	base_pool_close(b->work, true);
	if ((rc = start(b, err)) != HDB_OK)
		goto out;
	if ((rc = dom_order_init(b, err)) != HDB_OK)
		goto out;
	rc = base_big_alloc(b->work, &b->states_big, n / 4 + 8, "preorder", err);
	if (rc != HDB_OK)
		goto out;
	b->states = b->states_big.data;
	if ((rc = graph_buckets_init(&b->crosses, n, b->work, err)) != HDB_OK)
		goto out;
	if ((rc = dom_search(b, root_bits, err)) != HDB_OK)
		goto out;
	graph_rows_release(b->rows);
	rc = dom_number(b, numbers, err);
out:
	base_pool_close(b->work, false);
	return rc;
}

static int run(struct dom_build *b, const uint64_t *root_bits, enum graph_search how,
	       struct graph_dominators *out, struct hdb_error *err)
{
	bool is_folded;
	int rc = search(b, root_bits, &out->numbers, err);

	if (rc != HDB_OK)
		return rc;
	is_folded = how == GRAPH_SEARCH_FOLDED ||
		    (how == GRAPH_SEARCH_ANY && links_bytes(b) > base_work_room(b->work));
	rc = is_folded ? dom_semis_folded(b, err) : find_semidominators(b, err);
	if (rc != HDB_OK)
		return rc;
	graph_buckets_release(&b->edges);
	base_big_free(b->work, &b->top_big);
	rc = base_big_alloc_raw(b->work, &out->dominator_big, ((uint64_t)b->count + 1) * 4,
				"dominators", err);
	if (rc != HDB_OK)
		return rc;
	if ((rc = find_dominators(b, out->dominator_big.data, err)) != HDB_OK)
		return rc;
	out->dominator = out->dominator_big.data;
	out->count = b->count;
	out->step_count = b->step_count;
	return HDB_OK;
}

int graph_dominators(struct graph_rows *rows, const uint64_t *root_bits, enum graph_search how,
		     struct graph_dominators *out, struct hdb_error *err)
{
	struct base_work *work = rows->work;
	struct dom_build b = { .work = work, .rows = rows, .node_count = rows->node_count };
	int rc;

	*out = (struct graph_dominators){ .work = work, .node_count = rows->node_count };
	rc = rows->node_count == UINT32_MAX ?
		     hdb_fail(err, HDB_ELIMIT, "%" PRIu32 " nodes: one too many", UINT32_MAX) :
		     run(&b, root_bits, how, out, err);
	graph_rows_release(rows);
	graph_buckets_release(&b.crosses);
	graph_buckets_release(&b.edges);
	base_big_free(work, &b.states_big);
	if (b.order.work)
		base_buckets_release(&b.order);
	base_big_free(work, &b.top_big);
	base_runs_release(&b.parents);
	base_runs_release(&b.semis);
	free(b.block);
	free(b.block2);
	return rc;
}

void graph_dominators_release(struct graph_dominators *dominators)
{
	if (!dominators->work)
		return;
	base_runs_release(&dominators->numbers);
	base_big_free(dominators->work, &dominators->dominator_big);
	*dominators = (struct graph_dominators){ 0 };
}

int graph_dominators_nodes(const struct graph_dominators *dominators, struct base_big *big,
			   struct hdb_error *err)
{
	const uint32_t n = dominators->node_count;
	uint64_t *number = malloc(BASE_RUN * sizeof *number);
	uint32_t *node;
	int rc = number ? base_big_alloc_raw(dominators->work, big,
					     ((uint64_t)dominators->count + 1) * 4,
					     "objects by number", err) :
			  hdb_fail_memory(err, "objects by number", BASE_RUN * sizeof *number);

	if (rc != HDB_OK)
		goto out;
	node = big->data;
	for (uint64_t first = 0; first < n; first += BASE_RUN) {
		const uint32_t count = n - first < BASE_RUN ? (uint32_t)(n - first) : BASE_RUN;

		rc = graph_dominators_numbers(dominators, (uint32_t)first, number, count, err);
		if (rc != HDB_OK)
			goto out;
		for (uint32_t i = 0; i < count; i++) {
			if (count - i > 2 * DOM_AHEAD)
				prefetch_write(&node[number[i + 2 * DOM_AHEAD]]);
			node[number[i]] = (uint32_t)first + i;
		}
	}
	/* What is not reached has number 0, too. */
	node[0] = GRAPH_NONE;
out:
	free(number);
	return rc;
}

int graph_retained(const struct graph_dominators *dominators, struct base_sizes *sizes,
		   struct hdb_error *err)
{
	const uint32_t *dominator = dominators->dominator;

	base_stage(dominators->work, "retained sizes", dominators->count, "objects");
	for (uint32_t w = dominators->count; w > 0; w--) {
		const uint32_t to = dominator[w];
		const uint64_t sum = base_sizes_get(sizes, to) + base_sizes_get(sizes, w);
		if (!base_sizes_set(sizes, to, sum))
			return hdb_fail(err, HDB_ELIMIT, "retained sizes do not fit 32 bits");
		if ((w & DOM_STEP_MASK) == 0) {
			const int rc = base_step(dominators->work, dominators->count - w, err);
			if (rc < 0)
				return rc;
		}
	}
	return HDB_OK;
}
