/*
 * graph/dominators/nca_grow.c - passes: the tree grows, and colours tell who ends at the top.
 *
 * Roots have colours, and a node that is reached has that of the node that reached it. An edge
 * between nodes of two colours is one between two subtrees below the virtual root: nothing but that
 * is above both, so that the edge's target ends there. Roots may share colours; then less is known.
 * All accesses are relaxed but for `waits`, which says that a colour was written.
 */
#include "graph/dominators/nca_grow.h"

#include <string.h>

/*
 * Nodes looked at, a node: more than twice what the largest random graphs need; and steps of walks:
 * twelve times what they need with several roots. Under one object all nodes have one colour and
 * rise by walks, hundreds of steps a node.
 */
#define SHOWN_MAX 16u
#define STEPS_MAX 1u

/* What is allowed beside that, for small graphs. */
#define SMALL_MAX 1000000u

/* How many edges ahead a target's colour is asked for. */
#define EDGES_AHEAD 32u

/* Passes: on random graphs each reaches some nine times as many nodes as the one before. */
#define PASSES_MAX 64u

/*
 * When a part of all nodes is reached, it is judged by colours: passes so far have cost little,
 * since most nodes are reached in the last ones.
 */
#define JUDGED_PART 32u

#define COLOUR_COUNT (GRAPH_NCA_TOP - 1)

static inline uint8_t colour_of(const struct graph_nca *m, uint32_t v)
{
	return atomic_load_explicit(&m->colour[v], memory_order_relaxed);
}

static inline void let_wait(struct graph_nca *m, uint32_t v)
{
	atomic_store_explicit(&m->waits[v / GRAPH_NCA_GROUP], 1, memory_order_release);
}

static int make_room(struct graph_nca *m, struct hdb_error *err)
{
	const uint64_t n = m->node_count, groups = n / GRAPH_NCA_GROUP + 1;
	/* For what comes after the passes, beside the edges. */
	const uint64_t kept = n / 8 + n / 64 + 1;
	int rc = base_big_alloc_raw(m->work, &m->colour_big, n + 1, "dominators", err);

	if (rc != HDB_OK)
		return rc;
	rc = base_big_alloc(m->work, &m->shown_big, (n / 64 + 1) * 8, "dominators", err);
	if (rc != HDB_OK)
		return rc;
	if ((rc = base_big_alloc(m->work, &m->waits_big, groups, "dominators", err)) != HDB_OK)
		return rc;
	m->bucket_count = (uint32_t)(n >> GRAPH_NCA_RANGE_BITS) + 1;
	rc = base_buckets_init(
		&m->edges,
		&(struct base_buckets_plan){ .bucket_count = 2 * m->bucket_count,
					     .chunks_bytes = base_work_room(m->work) / 4,
					     .kept_bytes = kept,
					     .what = "dominators" },
		m->work, err);
	if (rc != HDB_OK)
		return rc;
	m->colour = m->colour_big.data;
	m->shown = m->shown_big.data;
	m->waits = m->waits_big.data;
	/*
	 * Not left to the kernel: pages that are read before they are written cost ten times as
	 * much.
	 */
	memset(m->colour_big.data, 0, n + 1);
	return HDB_OK;
}

int graph_nca_init(struct graph_nca *nca, uint32_t node_count, const uint64_t *root_bits,
		   struct base_work *work, struct hdb_error *err)
{
	uint32_t root_count = 0;
	int rc;

	*nca = (struct graph_nca){ .work = work, .node_count = node_count };
	if (node_count > GRAPH_NCA_NODES_MAX)
		return hdb_fail(err, HDB_ELIMIT, "%u nodes are too many", node_count);
	rc = make_room(nca, err);
	if (rc < 0)
		return rc;
	for (uint32_t w = 0; w < node_count / 64 + 1; w++) {
		for (uint64_t bits = w * 64 < node_count ? root_bits[w] : 0; bits;
		     bits &= bits - 1) {
			const uint32_t v = w * 64 + (unsigned)__builtin_ctzll(bits);

			if (v >= node_count)
				break;
			nca->colour[v] =
				(uint8_t)(GRAPH_NCA_TOP | (root_count++ % COLOUR_COUNT + 1));
			let_wait(nca, v);
		}
	}
	return HDB_OK;
}

void graph_nca_release(struct graph_nca *nca)
{
	if (!nca->work)
		return;
	base_big_free(nca->work, &nca->cell_big);
	base_ranks_release(&nca->low);
	base_buckets_release(&nca->edges);
	base_big_free(nca->work, &nca->waits_big);
	base_big_free(nca->work, &nca->shown_big);
	base_big_free(nca->work, &nca->colour_big);
	*nca = (struct graph_nca){ 0 };
}

void graph_nca_batch_release(struct graph_nca_batch *batch)
{
	base_vec_release(&batch->tree);
	base_vec_release(&batch->others);
}

bool graph_nca_wants(struct graph_nca *nca, struct graph_nca_batch *batch, uint32_t group,
		     uint32_t *mask)
{
	const uint32_t first = group * GRAPH_NCA_GROUP;
	const uint32_t left = nca->node_count - first;
	const uint32_t count = left < GRAPH_NCA_GROUP ? left : GRAPH_NCA_GROUP;
	uint32_t reached = 0;

	if (!atomic_load_explicit(&nca->waits[group], memory_order_relaxed))
		return false;
	/*
	 * Before the colours are looked at: what is reached later than that waits for the next
	 * pass.
	 */
	atomic_exchange_explicit(&nca->waits[group], 0, memory_order_acq_rel);
	for (uint32_t i = 0; i < count; i++)
		reached |= (uint32_t)(colour_of(nca, first + i) != 0) << i;
	*mask = reached & ~nca->shown[group];
	nca->shown[group] = reached;
	batch->shown_count += GRAPH_NCA_GROUP;
	return *mask != 0;
}

uint32_t graph_nca_waiting(const struct graph_nca *nca, uint32_t first, uint32_t count)
{
	uint32_t waiting = 0;

	for (uint32_t g = first; g < first + count; g++)
		waiting += atomic_load_explicit(&nca->waits[g], memory_order_relaxed);
	return waiting;
}

void graph_nca_show(struct graph_nca *nca, struct graph_nca_batch *batch, uint32_t v,
		    const uint32_t *targets, uint64_t count)
{
	while (count) {
		const uint64_t room = GRAPH_NCA_EDGES - batch->edge_count;
		const uint64_t n = count < room ? count : room;
		struct graph_nca_edge *edge = batch->edge + batch->edge_count;

		for (uint64_t i = 0; i < n; i++)
			edge[i] = (struct graph_nca_edge){ v, targets[i] };
		batch->edge_count += (uint32_t)n;
		targets += n;
		count -= n;
		if (batch->edge_count == GRAPH_NCA_EDGES)
			graph_nca_flush(nca, batch);
	}
}

static inline void keep(struct base_vec *edges, struct graph_nca_edge edge)
{
	*base_vec_at(edges, struct graph_nca_edge, edges->count) = edge;
	edges->count++;
}

/* What an edge says of its target. There is room to keep it. */
static inline void look_at(struct graph_nca *m, struct graph_nca_batch *batch,
			   struct graph_nca_edge edge)
{
	const uint8_t own = colour_of(m, edge.source) & (uint8_t)~GRAPH_NCA_TOP;
	_Atomic uint8_t *at = &m->colour[edge.target];
	uint8_t colour = atomic_load_explicit(at, memory_order_relaxed);

	if (colour == 0 && atomic_compare_exchange_strong_explicit(
				   at, &colour, own, memory_order_relaxed, memory_order_relaxed)) {
		batch->reached_count++;
		let_wait(m, edge.target);
		keep(&batch->tree, edge);
		return;
	}
	if (colour & GRAPH_NCA_TOP)
		return;
	if (colour != own)
		atomic_fetch_or_explicit(at, GRAPH_NCA_TOP, memory_order_relaxed);
	else if (edge.source != edge.target)
		keep(&batch->others, edge);
}

void graph_nca_flush(struct graph_nca *nca, struct graph_nca_batch *batch)
{
	const uint32_t count = batch->edge_count;
	struct hdb_error err;

	batch->edge_count = 0;
	if (base_vec_reserve(&batch->tree, count, sizeof *batch->edge, &err) < 0 ||
	    base_vec_reserve(&batch->others, count, sizeof *batch->edge, &err) < 0) {
		batch->is_short = true;
		return;
	}
	for (uint32_t i = 0; i < count && i < EDGES_AHEAD; i++)
		prefetch_write((const void *)&nca->colour[batch->edge[i].target]);
	for (uint32_t i = 0; i < count; i++) {
		if (i + EDGES_AHEAD < count)
			prefetch_write(
				(const void *)&nca->colour[batch->edge[i + EDGES_AHEAD].target]);
		look_at(nca, batch, batch->edge[i]);
	}
}

int graph_nca_put(struct base_buckets *buckets, uint32_t first_bucket, struct base_vec *edges,
		  struct hdb_error *err)
{
	const struct graph_nca_edge *edge = edges->data;
	int rc;

	for (size_t i = 0; i < edges->count; i++) {
		const uint64_t record[] = { edge[i].source, edge[i].target };

		rc = base_buckets_add(buckets,
				      first_bucket + (edge[i].target >> GRAPH_NCA_RANGE_BITS),
				      BASE_RECORD(2, 0), record, err);
		if (rc != HDB_OK)
			return rc;
	}
	edges->count = 0;
	return HDB_OK;
}

int graph_nca_join(struct graph_nca *nca, struct graph_nca_batch *batch, struct hdb_error *err)
{
	int rc;

	nca->reached_count += batch->reached_count;
	nca->shown_count += batch->shown_count;
	batch->reached_count = batch->shown_count = 0;
	if (batch->is_short)
		return hdb_fail_memory(err, "dominators", sizeof batch->edge);
	if ((rc = graph_nca_put(&nca->edges, 0, &batch->tree, err)) != HDB_OK)
		return rc;
	return graph_nca_put(&nca->edges, nca->bucket_count, &batch->others, err);
}

uint64_t graph_nca_steps_max(const struct graph_nca *nca)
{
	return (uint64_t)STEPS_MAX * nca->node_count + SMALL_MAX;
}

bool graph_nca_is_hopeless(const struct graph_nca *nca)
{
	const uint64_t n = nca->node_count;

	return nca->pass_count > PASSES_MAX || nca->shown_count > SHOWN_MAX * n + SMALL_MAX ||
	       nca->step_count > graph_nca_steps_max(nca) ||
	       atomic_load_explicit(&nca->is_given_up, memory_order_relaxed);
}

/* Whether most nodes that were reached have the same colour. */
static bool is_one_colour(const struct graph_nca *m)
{
	uint64_t count[GRAPH_NCA_TOP] = { 0 }, most = 0, all = 0;

	for (uint32_t v = 0; v < m->node_count; v++)
		count[colour_of(m, v) & ~GRAPH_NCA_TOP]++;
	for (unsigned c = 1; c < GRAPH_NCA_TOP; c++) {
		most = count[c] > most ? count[c] : most;
		all += count[c];
	}
	return most > all - all / 4;
}

int graph_nca_next(struct graph_nca *nca)
{
	const bool is_growing = nca->reached_count > 0;

	nca->pass_count++;
	nca->reached_total += nca->reached_count;
	nca->reached_count = 0;
	if (!nca->is_judged && nca->reached_total > nca->node_count / JUDGED_PART &&
	    nca->node_count >= GRAPH_FAR) {
		nca->is_judged = true;
		if (is_one_colour(nca))
			return GRAPH_BUDGET;
	}
	if (graph_nca_is_hopeless(nca))
		return GRAPH_BUDGET;
	return is_growing ? HDB_OK : HDB_END;
}
