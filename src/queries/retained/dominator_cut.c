/*
 * queries/retained/dominator_cut.c - chooses the largest nodes by a queue of nodes to open, largest
 * first.
 */
#include "queries/retained/dominator_cut.h"

#include "analysis/dominator_children.h"

#include <assert.h>
#include <stdlib.h>

/* Children smaller than this part of the whole are not examined: no picture shows them. */
#define SMALL_PART 20000

/* Maximum number of nodes waiting to be shown, 64 bytes each. */
#define WAITING_MAX 200000

struct cutting {
	const struct session *session;
	struct analysis_dominator_cut *cut;
	uint32_t count; /* number of nodes, shown or not */
	uint64_t least_bytes;
	uint32_t *heap; /* a binary heap of the nodes that wait, largest first; owned */
	uint32_t heap_count;
};

/* Larger nodes first; of the same size, the one found first. */
static bool is_before(const struct cutting *c, uint32_t a, uint32_t b)
{
	const struct analysis_cut_node *x = &c->cut->nodes[a], *y = &c->cut->nodes[b];

	assert(a < c->count);
	assert(b < c->count);
	return x->retained_bytes != y->retained_bytes ? x->retained_bytes > y->retained_bytes :
							a < b;
}

static void heap_put(struct cutting *c, uint32_t node)
{
	uint32_t at = c->heap_count++;

	for (; at > 0 && is_before(c, node, c->heap[(at - 1) / 2]); at = (at - 1) / 2)
		c->heap[at] = c->heap[(at - 1) / 2];
	c->heap[at] = node;
}

static uint32_t heap_take(struct cutting *c)
{
	const uint32_t first = c->heap[0];
	uint32_t at = 0, below, moved;

	assert(c->heap_count > 0);
	moved = c->heap[--c->heap_count];
	while ((below = 2 * at + 1) < c->heap_count) {
		if (below + 1 < c->heap_count && is_before(c, c->heap[below + 1], c->heap[below]))
			below++;
		if (!is_before(c, c->heap[below], moved))
			break;
		c->heap[at] = c->heap[below];
		at = below;
	}
	c->heap[at] = moved;
	return first;
}

static void add_node(struct cutting *c, uint32_t parent, uint32_t ix, uint64_t retained)
{
	const uint32_t node = c->count++;

	assert(parent == ANALYSIS_CUT_NONE || parent < node);
	c->cut->nodes[node] = (struct analysis_cut_node){
		.ix = ix,
		.level = parent == ANALYSIS_CUT_NONE ? 0 : c->cut->nodes[parent].level + 1,
		.parent = parent,
		.first = ANALYSIS_CUT_NONE,
		.last = ANALYSIS_CUT_NONE,
		.next = ANALYSIS_CUT_NONE,
		.retained_bytes = retained,
	};
	heap_put(c, node);
}

/* Shows a node, as the last of its parent's children shown so far. */
static void show(struct cutting *c, uint32_t node)
{
	struct analysis_cut_node *nodes = c->cut->nodes, *n = &nodes[node], *above;

	assert(node < c->count);
	assert(n->parent == ANALYSIS_CUT_NONE || n->parent < node);
	if (n->parent == ANALYSIS_CUT_NONE)
		return;
	above = &nodes[n->parent];
	if (above->last == ANALYSIS_CUT_NONE)
		above->first = node;
	else
		nodes[above->last].next = node;
	above->last = node;
	above->others--;
	above->others_bytes -=
		n->retained_bytes < above->others_bytes ? n->retained_bytes : above->others_bytes;
	c->cut->shown++;
}

/* Adds the children of a node to the queue, unless they are too small. */
static int open_node(struct cutting *c, uint32_t node, struct hdb_error *err)
{
	struct analysis_cut_node *n = &c->cut->nodes[node];
	struct heap_object object = { 0 };
	struct analysis_level level;
	uint32_t child;
	int r = analysis_level_begin(c->session, n->ix, false, &level, err);

	assert(node < c->count);
	TRY(r);
	if (n->ix != HEAP_NONE)
		TRY(heap_object(c->session->heap, n->ix, &object, err));
	n->others = level.length;
	if (n->others && n->retained_bytes > object.shallow_bytes)
		n->others_bytes = n->retained_bytes - object.shallow_bytes;
	while (n->level < ANALYSIS_CUT_LEVELS_MAX && c->count < WAITING_MAX &&
	       (r = analysis_level_next(c->session, &level, &child, err)) == HDB_OK) {
		uint64_t retained = 0;

		r = derive_retained(c->session->derive, child, &retained, err);
		if (r < 0 || retained < c->least_bytes)
			break;
		add_node(c, node, child, retained);
	}
	return r < 0 ? r : HDB_OK;
}

int analysis_dominator_cut(const struct session *session, const struct analysis_cut_top *top,
			   uint32_t most, struct analysis_dominator_cut *out, struct hdb_error *err)
{
	BASE_FREED uint32_t *heap = NULL;
	struct cutting c = {
		.session = session,
		.cut = out,
		.least_bytes = top->retained_bytes / SMALL_PART + 1,
	};

	*out = (struct analysis_dominator_cut){ 0 };
	TRY(BASE_ALLOC(out->nodes, WAITING_MAX, "a cut of the dominator tree", err));
	TRY(BASE_ALLOC(heap, WAITING_MAX, "a cut of the dominator tree", err));
	c.heap = heap;
	if (most > ANALYSIS_CUT_NODES_MAX)
		most = ANALYSIS_CUT_NODES_MAX;
	add_node(&c, ANALYSIS_CUT_NONE, top->ix, top->retained_bytes);
	base_stage(session->work, "cutting the dominator tree", most, "objects");
	while (c.heap_count > 0 && out->shown < most) {
		const uint32_t node = heap_take(&c);

		show(&c, node);
		TRY(open_node(&c, node, err));
		if (out->shown % 256 == 0)
			TRY(base_step(session->work, out->shown, err));
	}
	return HDB_OK;
}

void analysis_dominator_cut_release(struct analysis_dominator_cut *cut)
{
	assert(cut->nodes || !cut->shown);
	free(cut->nodes);
	*cut = (struct analysis_dominator_cut){ 0 };
}

uint32_t analysis_dominator_cut_next(const struct analysis_dominator_cut *cut, uint32_t node)
{
	const struct analysis_cut_node *nodes = cut->nodes;

	if (nodes[node].first != ANALYSIS_CUT_NONE)
		return nodes[node].first;
	while (node != ANALYSIS_CUT_NONE && nodes[node].next == ANALYSIS_CUT_NONE)
		node = nodes[node].parent;
	return node == ANALYSIS_CUT_NONE ? ANALYSIS_CUT_NONE : nodes[node].next;
}
