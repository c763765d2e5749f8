/*
 * graph/dominators.c - SEMI-NCA in the numbers of a depth-first preorder.
 *
 * The virtual root has number 0, reached nodes 1..count. When the search looks at an edge both
 * ends have numbers (a tree edge's target gets its own then), so predecessors never need a
 * second pass over the graph:
 * - tree edge: kept as parent[];
 * - edge to a higher number (a forward edge): can only lower the target's semidominator to its
 *   source, which is done on the spot;
 * - edge to a lower number (back or across): put into edge_buckets, for its source must be
 *   evaluated;
 * - edge into a root: dropped, a root's dominator is the virtual root whatever refers to it.
 *
 * Invariants: parent[w] < w; semi[w] < w; idom[w] <= semi[w] is found by walking up from
 * parent[w]. Peak memory beside the graph and idom[]: 20 bytes a node and 6 bytes an edge to a
 * lower number.
 */
#include "graph/dominators.h"

#include "graph/edge_buckets.h"

#include <assert.h>
#include <stdlib.h>

/* In pre[]: not met yet; a root (whose number nobody asks for). */
#define UNMET 0
#define IS_ROOT UINT32_MAX

/* Steps between two calls of base_step. */
#define STEP_MASK 0xffff

/* How many targets, or numbers, ahead memory is asked for. */
#define AHEAD 8

/* A row of the graph whose scan waits until the subtree of one of its targets is done. */
struct frame {
	uint64_t at;   /* next edge */
	uint64_t end;  /* past its last edge */
	uint32_t node; /* number of its source */
};

/*
 * The forest of linked nodes. A compressed path jumps to `up`, and `low` is the least
 * semidominator on what was jumped over, the node itself included. The nodes' names are not
 * needed, unlike in Lengauer-Tarjan.
 */
struct link {
	uint32_t up;
	uint32_t low;
};

struct dominators {
	const struct graph_csr *graph;
	struct base_work *work;
	uint64_t edge_count;
	uint32_t *pre;      /* by node: its number; this is the caller's idom[] */
	uint32_t *node;     /* by number: the node */
	uint32_t *parent;   /* by number: parent in the depth-first tree; later the dominator */
	uint32_t *semi;     /* by number: semidominator */
	struct link *links; /* by number */
	uint32_t count;     /* highest number given */
	struct frame *stack;
	uint64_t depth, depth_limit;
	struct graph_edge_buckets edges;
	struct base_big node_big, parent_big, semi_big, links_big, stack_big;
};

static int grow_stack(struct dominators *d, struct hdb_error *err)
{
	const uint64_t limit = d->depth_limit ? 2 * d->depth_limit : 1024;
	struct base_big big = { 0 };
	struct frame *stack;
	const int rc = base_big_alloc(d->work, &big, limit * sizeof *stack, "search stack", err);

	if (rc < 0)
		return rc;
	stack = big.data;
	for (uint64_t i = 0; i < d->depth; i++)
		stack[i] = d->stack[i];
	base_big_free(d->work, &d->stack_big);
	d->stack_big = big;
	d->stack = stack;
	d->depth_limit = limit;
	return HDB_OK;
}

/* Numbers a node, and makes *row its edges. */
static int enter(struct dominators *d, uint32_t node, uint32_t parent, struct frame *row,
		 struct hdb_error *err)
{
	const uint32_t number = ++d->count;

	d->node[number] = node;
	d->parent[number] = parent;
	d->semi[number] = parent;
	row->node = number;
	row->at = d->graph->first[node];
	row->end = d->graph->first[node + 1];
	if (row->at > row->end || row->end > d->edge_count)
		return hdb_fail(err, HDB_ECORRUPT, "edges of node %" PRIu32 " out of bounds",
				node);
	return HDB_OK;
}

/* Asks for what the scan of the next targets will read. */
static inline void prefetch_targets(const struct dominators *d, const struct frame *row)
{
	const uint32_t *target = d->graph->target;
	const uint64_t n = row->end - row->at < AHEAD ? row->end - row->at : AHEAD;

	for (uint64_t i = row->at; i < row->at + n; i++) {
		if (target[i] < d->graph->node_count) {
			__builtin_prefetch(&d->pre[target[i]], 1);
			__builtin_prefetch(&d->graph->first[target[i]]);
		}
	}
}

/* Asks for the edges of a node that is likely to be next after a short subtree. */
static inline void prefetch_row(const struct dominators *d, uint32_t node)
{
	if (node < d->graph->node_count)
		__builtin_prefetch(&d->graph->target[d->graph->first[node]]);
}

/* Numbers all that is reached from `root` and has no number yet. */
static int search_from(struct dominators *d, uint32_t root, uint64_t *edges_seen,
		       struct hdb_error *err)
{
	const uint32_t *target = d->graph->target;
	const uint32_t node_count = d->graph->node_count;
	struct frame row;
	int rc = enter(d, root, 0, &row, err);

	if (rc < 0)
		return rc;
	prefetch_targets(d, &row);
	for (;;) {
		if (row.at == row.end) {
			if (d->depth == 0)
				return HDB_OK;
			row = d->stack[--d->depth];
			continue;
		}
		if ((++*edges_seen & STEP_MASK) == 0) {
			rc = base_step(d->work, d->count, err);
			if (rc < 0)
				return rc;
		}
		if (row.end - row.at > AHEAD && target[row.at + AHEAD] < node_count)
			__builtin_prefetch(&d->pre[target[row.at + AHEAD]], 1);
		const uint32_t to = target[row.at++];
		if (to >= node_count)
			return hdb_fail(err, HDB_ECORRUPT, "edge to node %" PRIu32 " of %" PRIu32,
					to, node_count);
		const uint32_t met = d->pre[to];
		if (met == UNMET) {
			/* A row without further edges need not be come back to. */
			if (row.at < row.end) {
				if (d->depth == d->depth_limit) {
					rc = grow_stack(d, err);
					if (rc < 0)
						return rc;
				}
				d->stack[d->depth++] = row;
				prefetch_row(d, target[row.at]);
			}
			rc = enter(d, to, row.node, &row, err);
			if (rc < 0)
				return rc;
			d->pre[to] = row.node;
			prefetch_targets(d, &row);
		} else if (met < row.node) {
			rc = graph_buckets_add(&d->edges, row.node, met, err);
			if (rc < 0)
				return rc;
		} else if (met != IS_ROOT) {
			/*
			 * Without a branch, so that nobody waits for the load. A self-loop
			 * changes nothing.
			 */
			const uint32_t semi = d->semi[met];
			d->semi[met] = semi < row.node ? semi : row.node;
		}
	}
}

/*
 * Calls search_from for each root; roots are marked first, so that no search enters another
 * root.
 */
static int search(struct dominators *d, const uint64_t *root_bits, struct hdb_error *err)
{
	const uint32_t n = d->graph->node_count;
	const uint64_t words = ((uint64_t)n + 63) / 64;
	uint64_t edges_seen = 0;

	base_stage(d->work, "dominators: search", n, "objects");
	for (uint32_t v = 0; v < n; v++)
		d->pre[v] = root_bits[v / 64] >> (v % 64) & 1 ? IS_ROOT : UNMET;
	for (uint64_t w = 0; w < words; w++) {
		for (uint64_t bits = root_bits[w]; bits; bits &= bits - 1) {
			const uint64_t root = 64 * w + (unsigned)__builtin_ctzll(bits);
			if (root >= n)
				break;
			const int rc = search_from(d, (uint32_t)root, &edges_seen, err);
			if (rc < 0)
				return rc;
		}
	}
	return HDB_OK;
}

/*
 * The least semidominator on the path from u to the highest linked ancestor; numbers above `last`
 * are linked. Compresses the path: on the way up pointers are turned round, on the way down they
 * are set to the end, so that no stack is needed.
 */
static inline uint32_t eval(struct link *links, uint32_t u, uint32_t last)
{
	uint32_t up = links[u].up, below = u, low;

	if (up <= last)
		return links[u].low;
	for (uint32_t x = up; links[x].up > last;) {
		const uint32_t next = links[x].up;
		links[x].up = below;
		below = x;
		x = next;
		up = x;
	}
	/* `up` is the highest linked one, `below` its child on the path. */
	low = links[up].low;
	up = links[up].up;
	for (;;) {
		const uint32_t next = links[below].up;
		if (low < links[below].low)
			links[below].low = low;
		else
			low = links[below].low;
		links[below].up = up;
		if (below == u)
			return low;
		below = next;
	}
}

/* Semidominators of the numbers of one bucket, from the highest to the lowest. */
static int semi_of_bucket(struct dominators *d, uint32_t bucket, struct hdb_error *err)
{
	const uint32_t base = bucket << GRAPH_BUCKET_BITS;
	const uint32_t above = d->count - base;
	uint32_t k = above < GRAPH_BUCKET_SIZE ? above : GRAPH_BUCKET_SIZE - 1;
	const uint64_t *first;
	const uint32_t *source;
	const int rc = graph_buckets_sort(&d->edges, bucket, &first, &source, err);

	if (rc < 0)
		return rc;
	for (;; k--) {
		const uint32_t w = base + k;
		uint32_t semi = d->semi[w];
		if (w == 0)
			break;
		for (uint64_t i = first[k + 1]; semi > 0 && i > first[k];) {
			if (--i >= AHEAD)
				__builtin_prefetch(&d->links[source[i - AHEAD]], 1);
			const uint32_t low = eval(d->links, source[i], w);
			if (low < semi)
				semi = low;
		}
		d->semi[w] = semi;
		d->links[w] = (struct link){ .up = d->parent[w], .low = semi };
		if (k == 0)
			break;
	}
	return HDB_OK;
}

static int find_semidominators(struct dominators *d, struct hdb_error *err)
{
	base_stage(d->work, "dominators: semidominators", d->count, "objects");
	for (uint32_t bucket = d->count >> GRAPH_BUCKET_BITS;; bucket--) {
		int rc = semi_of_bucket(d, bucket, err);
		if (rc == HDB_OK)
			rc = base_step(d->work, d->count - (bucket << GRAPH_BUCKET_BITS), err);
		if (rc < 0 || bucket == 0)
			return rc;
	}
}

/*
 * Jump pointers over the dominator tree (Myers, "An Applicative Random-Access Stack", 1983),
 * kept in links[]: `up` is the jump, `low` the depth. Any ancestor is then found in O(log
 * depth) steps.
 */
static void add_jump(struct link *jumps, uint32_t w, uint32_t dominator)
{
	const struct link a = jumps[dominator], b = jumps[a.up];

	jumps[w].low = a.low + 1;
	jumps[w].up = a.low - b.low == b.low - jumps[b.up].low ? b.up : dominator;
}

/*
 * parent[w] becomes the dominator: the nearest one above parent[w] in the dominator tree that
 * is not above semi[w]. Walking step by step is best on heaps, and quadratic on a long chain
 * with a wide tail; so when steps add up, jump pointers take over.
 */
static int find_dominators(struct dominators *d, struct hdb_error *err)
{
	const uint64_t step_limit = 1024 + 4 * (uint64_t)d->count;
	uint32_t *dominator = d->parent;
	uint64_t steps = 0;
	uint32_t w = 1;

	base_stage(d->work, "dominators: tree", d->count, "objects");
	for (; w <= d->count && steps < step_limit; w++) {
		uint32_t x = dominator[w];
		const uint32_t semi = d->semi[w];
		for (; x > semi; steps++)
			x = dominator[x];
		dominator[w] = x;
		if ((w & STEP_MASK) == 0) {
			const int rc = base_step(d->work, w, err);
			if (rc < 0)
				return rc;
		}
	}
	if (w > d->count)
		return HDB_OK;
	d->links[0] = (struct link){ 0, 0 };
	for (uint32_t v = 1; v < w; v++)
		add_jump(d->links, v, dominator[v]);
	for (; w <= d->count; w++) {
		uint32_t x = dominator[w];
		const uint32_t semi = d->semi[w];
		while (x > semi)
			x = d->links[x].up >= semi ? d->links[x].up : dominator[x];
		dominator[w] = x;
		add_jump(d->links, w, x);
		if ((w & STEP_MASK) == 0) {
			const int rc = base_step(d->work, w, err);
			if (rc < 0)
				return rc;
		}
	}
	return HDB_OK;
}

/* Turns numbers back into nodes. */
static void write_result(struct dominators *d)
{
	uint32_t *idom = d->pre;

	for (uint32_t v = 0; v < d->graph->node_count; v++) {
		if (idom[v] == UNMET)
			idom[v] = v;
	}
	d->node[0] = GRAPH_NONE;
	for (uint32_t w = 1; w <= d->count; w++) {
		if (d->count - w > 2 * AHEAD)
			__builtin_prefetch(&idom[d->node[w + 2 * AHEAD]], 1);
		idom[d->node[w]] = d->node[d->parent[w]];
	}
}

static int alloc_numbers(struct dominators *d, struct base_big *big, uint32_t **array,
			 const char *what, struct hdb_error *err)
{
	const uint64_t bytes = ((uint64_t)d->graph->node_count + 1) * sizeof **array;
	const int rc = base_big_alloc(d->work, big, bytes, what, err);

	*array = big->data;
	return rc;
}

static int run(struct dominators *d, const uint64_t *root_bits, struct hdb_error *err)
{
	int rc;

	if ((rc = alloc_numbers(d, &d->node_big, &d->node, "preorder", err)) < 0 ||
	    (rc = alloc_numbers(d, &d->parent_big, &d->parent, "search tree", err)) < 0 ||
	    (rc = alloc_numbers(d, &d->semi_big, &d->semi, "semidominators", err)) < 0 ||
	    (rc = search(d, root_bits, err)) < 0)
		return rc;
	base_big_free(d->work, &d->stack_big);
	if (d->graph->drop)
		d->graph->drop(d->graph->drop_ctx);
	rc = base_big_alloc(d->work, &d->links_big, ((uint64_t)d->count + 1) * sizeof *d->links,
			    "dominator links", err);
	if (rc < 0)
		return rc;
	d->links = d->links_big.data;
	if ((rc = find_semidominators(d, err)) < 0)
		return rc;
	graph_buckets_release(&d->edges);
	if ((rc = find_dominators(d, err)) < 0)
		return rc;
	write_result(d);
	return HDB_OK;
}

int graph_dominators(const struct graph_csr *graph, const uint64_t *root_bits,
		     struct base_work *work, uint32_t *idom, struct hdb_error *err)
{
	struct dominators d = { .graph = graph, .work = work, .pre = idom };
	int rc;

	if (graph->node_count == UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT, "%" PRIu32 " nodes: one too many", UINT32_MAX);
	d.edge_count = graph->first[graph->node_count];
	rc = graph_buckets_init(&d.edges, (uint64_t)graph->node_count + 1, work, err);
	if (rc == HDB_OK)
		rc = run(&d, root_bits, err);
	graph_buckets_release(&d.edges);
	base_big_free(work, &d.stack_big);
	base_big_free(work, &d.links_big);
	base_big_free(work, &d.semi_big);
	base_big_free(work, &d.parent_big);
	base_big_free(work, &d.node_big);
	return rc;
}
