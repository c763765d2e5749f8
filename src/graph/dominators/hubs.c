/*
 * graph/dominators/hubs.c - a short search with labels.
 */
#include "graph/dominators/hubs.h"

#include "base/prefetch.h"

/* Nodes ahead whose groups and rows are asked for. */
#define GROUP_AHEAD 16u
#define ROW_AHEAD 8u

/* A round is worth while if this part of the edges that it looks at need not be kept. */
#define GAIN_PART 16u

struct hubs {
	const struct graph_rows *rows;
	uint64_t *roots;
	uint64_t *met;   /* bits by node */
	uint64_t *found; /* bits by node: to be roots of the next round */
	uint32_t *label; /* by node that was met: the root that it is below */
	uint32_t *queue;
	uint32_t count, limit; /* of that */
	uint64_t edge_count,
		drop_count; /* edges looked at; of those, to roots and what was found */
	struct base_big met_big, found_big, label_big, queue_big;
};

static inline bool has(const uint64_t *bits, uint32_t v)
{
	return bits[v / 64] >> (v % 64) & 1;
}

static inline void put(uint64_t *bits, uint32_t v)
{
	bits[v / 64] |= (uint64_t)1 << (v % 64);
}

/* An edge from below `label`. */
static inline void look_at(struct hubs *h, uint32_t target, uint32_t label)
{
	if (has(h->roots, target) || has(h->found, target)) {
		h->drop_count++;
		return;
	}
	if (has(h->met, target)) {
		if (h->label[target] != label)
			put(h->found, target);
		return;
	}
	put(h->met, target);
	h->label[target] = label;
	if (h->count < h->limit)
		h->queue[h->count++] = target;
}

static void scan_row(struct hubs *h, uint32_t place)
{
	const uint32_t v = h->queue[place];
	const uint32_t label = has(h->roots, v) ? v : h->label[v];
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	unsigned count;

	if (place + GROUP_AHEAD < h->count)
		graph_rows_prefetch(h->rows, h->queue[place + GROUP_AHEAD]);
	if (place + ROW_AHEAD < h->count)
		graph_rows_prefetch_row(h->rows, h->queue[place + ROW_AHEAD]);
	count = graph_rows_get(h->rows, v, target, &row);
	h->edge_count += count + (row.end - row.at);
	for (unsigned i = 0; i < count; i++)
		look_at(h, target[i], label);
	for (; row.at < row.end; row.at++)
		look_at(h, graph_rows_long(h->rows, row.at), label);
}

/* A search from all roots; what it finds is one from then on. Whether that is worth while. */
static bool search(struct hubs *h, uint32_t part, uint64_t *steps)
{
	const uint32_t n = h->rows->node_count;

	h->limit = n / part;
	h->edge_count = h->drop_count = 0;

	memset(h->met, 0, ((uint64_t)n / 64 + 1) * sizeof(*h->met));
	h->count = 0;
	for (uint64_t w = 0; w <= n / 64; w++)
		for (uint64_t bits = h->roots[w]; bits && h->count < h->limit; bits &= bits - 1)
			h->queue[h->count++] = (uint32_t)w * 64 + (unsigned)__builtin_ctzll(bits);
	for (uint32_t place = 0; place < h->count; place++)
		scan_row(h, place);
	for (uint64_t w = 0; w <= n / 64; w++) {
		h->roots[w] |= h->found[w];
		h->found[w] = 0;
	}
	*steps += h->count + h->edge_count;
	return h->drop_count >= h->edge_count / GAIN_PART;
}

int graph_find_hubs(const struct graph_rows *rows, uint64_t *root_bits, uint64_t *steps,
		    struct hdb_error *err)
{
	const uint64_t n = rows->node_count, bytes = (n + 1) * sizeof(uint32_t);
	struct hubs h = { .rows = rows, .roots = root_bits };
	bool goes_on = true;
	int rc;

	if (base_work_room(rows->work) < bytes + bytes / 8)
		return HDB_OK;
	if ((rc = base_big_alloc_raw(rows->work, &h.met_big, n / 8 + 8, "roots", err)) < 0)
		goto out;
	if ((rc = base_big_alloc(rows->work, &h.found_big, n / 8 + 8, "roots", err)) < 0)
		goto out;
	if ((rc = base_big_alloc_raw(rows->work, &h.label_big, bytes, "roots", err)) < 0)
		goto out;
	rc = base_big_alloc_raw(rows->work, &h.queue_big, (n / GRAPH_HUBS_PART + 1) * 4, "roots",
				err);
	if (rc < 0)
		goto out;
	h.met = h.met_big.data;
	h.found = h.found_big.data;
	h.label = h.label_big.data;
	h.queue = h.queue_big.data;
	for (unsigned i = 0; i < GRAPH_HUBS_ROUNDS && goes_on; i++)
		goes_on = search(&h, i ? GRAPH_HUBS_PART : GRAPH_HUBS_FIRST_PART, steps);
out:
	base_big_free(rows->work, &h.met_big);
	base_big_free(rows->work, &h.found_big);
	base_big_free(rows->work, &h.label_big);
	base_big_free(rows->work, &h.queue_big);
	return rc;
}
