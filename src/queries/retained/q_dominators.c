/*
 * queries/retained/q_dominators.c - the dominators query: the dominator tree, one level at a time,
 * largest first or grouped; or the largest nodes on all levels.
 */
#include "analysis/dominator_children.h"
#include "queries/queries.h"

/*
 * A cut: the largest nodes in a part of the dominator tree, as many as a picture can show. The cost
 * depends on the number of nodes, not on their retained sizes.
 */

/* Maximum number of nodes and levels. A picture cannot show more. */
#define ANALYSIS_CUT_NODES_MAX 50000
#define ANALYSIS_CUT_LEVELS_MAX 64

#define ANALYSIS_CUT_NONE UINT32_MAX

/* A node. */
struct analysis_cut_node {
	uint32_t ix;                        /* the object; HEAP_NONE for the whole heap (node 0) */
	uint32_t level;                     /* 0 for node 0 */
	uint32_t parent, first, last, next; /* shown nodes, or ANALYSIS_CUT_NONE */
	uint64_t retained_bytes;
	/* number of immediately dominated objects that are not shown */
	uint64_t others;
	uint64_t others_bytes; /* total retained size of these objects */
};

/* The part to show: an object and all objects that it dominates. */
struct analysis_cut_top {
	uint32_t ix; /* HEAP_NONE means the whole heap */
	uint64_t retained_bytes;
};

/* The chosen nodes. */
struct analysis_dominator_cut {
	struct analysis_cut_node *nodes; /* owned; visited from node 0 on, by `first` and `next` */
	uint32_t shown;                  /* number of nodes visited in this way, without node 0 */
};

/*
 * Children smaller than this fraction (divisor) of the whole are too small for a picture and are
 * not examined.
 */
#define SMALL_PART 20000

/* Maximum number of pending nodes, at 64 bytes each. */
#define WAITING_MAX 200000

struct cutting {
	const struct session *session;
	struct analysis_dominator_cut *cut;
	uint32_t count; /* number of nodes, shown or not */
	uint64_t least_bytes;
	uint32_t *heap; /* binary heap of the pending nodes, largest first; owned */
	uint32_t heap_count;
};

/* Orders larger nodes first. Nodes of equal size stay in the order in which they were found. */
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

/* Shows a node, after its siblings that are shown already. */
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

/* Adds the children of a node to the queue, except small ones. */
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

/*
 * Chooses up to `most` nodes below `top` that retain the most. Node 0 is `top`. Builds the
 * `children` table if needed. The caller must release *out, even after a failure.
 */
static int cut_tree(const struct session *session, const struct analysis_cut_top *top,
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

static void cut_release(struct analysis_dominator_cut *cut)
{
	assert(cut->nodes || !cut->shown);
	free(cut->nodes);
	*cut = (struct analysis_dominator_cut){ 0 };
}

/* Returns the next node in preorder, or ANALYSIS_CUT_NONE after the last. */
static uint32_t analysis_dominator_cut_next(const struct analysis_dominator_cut *cut, uint32_t node)
{
	const struct analysis_cut_node *nodes = cut->nodes;

	if (nodes[node].first != ANALYSIS_CUT_NONE)
		return nodes[node].first;
	while (node != ANALYSIS_CUT_NONE && nodes[node].next == ANALYSIS_CUT_NONE)
		node = nodes[node].parent;
	return node == ANALYSIS_CUT_NONE ? ANALYSIS_CUT_NONE : nodes[node].next;
}

#include <queries/retained/q_dominators.query.h>

struct dominators {
	struct analysis_level level;
	struct analysis_groups groups; /* groups for --by */
	bool is_grouped;
	struct analysis_dominator_cut cut; /* cut for --tree */
	bool is_tree;
	uint32_t node;           /* next node of the cut */
	uint32_t rest;           /* node whose other children come next, or ANALYSIS_CUT_NONE */
	uint64_t whole;          /* shallow size of all reachable objects */
	uint64_t retained_whole; /* retained size of all roots (100 %) */
};

static int set_facts(struct query *q, uint32_t ix, const struct dominators *d,
		     struct hdb_error *err)
{
	uint32_t dominator;
	uint64_t retained = 0;

	if (ix != HEAP_NONE) {
		TRY(derive_retained(q->derive, ix, &retained, err));
		TRY(derive_dominator(q->derive, ix, &dominator, err));
		query_fact_object(q, ix);
		query_fact(q, "retained", retained);
		query_fact(q, "reachable", dominator != ix);
	}
	query_fact(q, "children", d->level.length);
	query_report_heap(q);
	query_fact(q, "heap_shallow", d->whole);
	return HDB_OK;
}

/* Adds up the level by group. */
static int group_level(struct query *q, struct dominators *d, enum derive_group by,
		       struct hdb_error *err)
{
	BASE_FREED struct derive_total *by_class = NULL;
	uint32_t ix;
	uint64_t done = 0;
	int r;

	TRY(analysis_make_class_totals(&q->session, &by_class, err));
	base_stage(q->work, "grouping the level", d->level.length, "objects");
	while ((r = analysis_level_next(&q->session, &d->level, &ix, err)) == HDB_OK) {
		struct heap_object object;
		struct derive_total *total;
		uint64_t retained = 0;

		TRY(heap_object(q->heap, ix, &object, err));
		TRY(derive_retained(q->derive, ix, &retained, err));
		total = &by_class[object.class_no];
		total->count++;
		total->shallow_bytes += object.shallow_bytes;
		total->retained_bytes += retained;
		if (++done % 65536 == 0)
			TRY(base_step(q->work, done, err));
	}
	TRY_ERRORS(r);
	TRY(analysis_fold_groups(&q->session, by, by_class, &d->groups, err));
	analysis_sort_groups(&d->groups, ANALYSIS_BY_RETAINED);
	return HDB_OK;
}

/* Chooses the largest nodes below an object. */
static int open_cut(struct query *q, struct dominators *d, uint32_t ix, struct hdb_error *err)
{
	const uint32_t most = (uint32_t)query_number(q, "tree", 1);
	struct analysis_cut_top top = { .ix = ix, .retained_bytes = d->whole };

	d->is_tree = true;
	d->rest = ANALYSIS_CUT_NONE;
	if (ix != HEAP_NONE)
		TRY(derive_retained(q->derive, ix, &top.retained_bytes, err));
	TRY(cut_tree(&q->session, &top, most, &d->cut, err));
	q->total = d->cut.shown;
	for (uint32_t at = 0; at != ANALYSIS_CUT_NONE;
	     at = analysis_dominator_cut_next(&d->cut, at))
		q->total += d->cut.nodes[at].others > 0;
	query_choose(q, "level,id,class,label,shallow,retained,percent,children,others");
	return HDB_OK;
}

/* Sets the row for a node's other children, which follows the shown children. */
static void set_others(struct query *q, struct dominators *d)
{
	const struct analysis_cut_node *n = &d->cut.nodes[d->rest];

	query_set(q, LEVEL, n->level);
	query_set(q, RETAINED, n->others_bytes);
	query_set_double(q, PERCENT, analysis_percent(n->others_bytes, d->retained_whole));
	query_set(q, OTHERS, n->others);
	query_format(q, LABEL, "(%s other%s)", base_number(n->others).text,
		     n->others == 1 ? "" : "s");
}

/*
 * Moves to the next row in preorder. After the last child of a node comes the row for its other
 * children.
 */
static int step_cut(struct dominators *d)
{
	const struct analysis_cut_node *nodes = d->cut.nodes;
	uint32_t at = d->rest != ANALYSIS_CUT_NONE ? d->rest : d->node;
	const bool is_new = d->rest == ANALYSIS_CUT_NONE;

	d->rest = ANALYSIS_CUT_NONE;
	if (is_new && nodes[at].first != ANALYSIS_CUT_NONE) {
		d->node = nodes[at].first;
		return HDB_OK;
	}
	if (is_new && nodes[at].others) {
		d->rest = at;
		return HDB_OK;
	}
	for (; at != 0; at = nodes[at].parent) {
		if (nodes[at].next != ANALYSIS_CUT_NONE) {
			d->node = nodes[at].next;
			return HDB_OK;
		}
		if (nodes[nodes[at].parent].others) {
			d->rest = nodes[at].parent;
			return HDB_OK;
		}
	}
	return HDB_END;
}

static int open_dominators(struct query *q, struct hdb_error *err)
{
	const char *by_text = query_option(q, "by");
	struct dominators *d = q->state;
	struct derive_total whole;
	enum derive_group by = DERIVE_CLASS;
	uint32_t ix = HEAP_NONE;

	by = query_by(q);
	TRY(q->target_count ? analysis_object(&q->session, q->targets[0], &ix, err) : HDB_OK);
	TRY(analysis_heap_total(&q->session, &whole, err));
	TRY(analysis_level_begin(&q->session, ix, false, &d->level, err));
	d->whole = whole.shallow_bytes;
	d->retained_whole = whole.retained_bytes;
	q->total = d->level.length;
	if (by_text && query_option(q, "tree"))
		return hdb_fail(err, HDB_EUSAGE, "--by cannot be combined with --tree");
	TRY(set_facts(q, ix, d, err));
	if (query_option(q, "tree"))
		return open_cut(q, d, ix, err);
	if (!by_text) {
		query_choose(q, "id,class,label,shallow,retained,percent,children");
		return HDB_OK;
	}
	d->is_grouped = true;
	q->extra.is_used = false;
	query_choose(q, "name,objects,shallow,retained,percent");
	TRY(group_level(q, d, by, err));
	q->total = d->groups.count;
	return HDB_OK;
}

static int group_row(struct query *q, const struct dominators *d, const struct derive_total *total)
{
	query_set_group(q, NAME, &d->groups, total);
	query_set(q, COUNT, total->count);
	query_set(q, SHALLOW, total->shallow_bytes);
	query_set(q, RETAINED, total->retained_bytes);
	query_set_double(q, PERCENT, analysis_percent(total->retained_bytes, d->retained_whole));
	return HDB_OK;
}

static int dominator_row(struct query *q, size_t no, struct hdb_error *err)
{
	static const struct query_object_columns cells = { ID, CLASS, LABEL, SHALLOW, RETAINED };
	struct dominators *d = q->state;
	uint64_t dominated;
	uint32_t ix;

	if (d->is_grouped)
		return group_row(q, d, &d->groups.totals[no]);
	TRY(d->is_tree ? step_cut(d) : analysis_level_next(&q->session, &d->level, &ix, err));
	if (d->is_tree && d->rest != ANALYSIS_CUT_NONE) {
		set_others(q, d);
		return HDB_OK;
	}
	if (d->is_tree) {
		ix = d->cut.nodes[d->node].ix;
		query_set(q, LEVEL, d->cut.nodes[d->node].level - 1);
	}
	query_set_object(q, &cells, ix);
	TRY(analysis_level_count(&d->level, ix, &dominated, err));
	query_set_double(q, PERCENT, analysis_percent(q->cells[RETAINED].u, d->retained_whole));
	query_set(q, DOMINATED, dominated);
	return HDB_OK;
}

static void close_dominators(struct query *q)
{
	struct dominators *d = q->state;

	analysis_groups_release(&d->groups);
	cut_release(&d->cut);
}

QUERY_DEFINE(dominators, .state_size = sizeof(struct dominators), .open = open_dominators,
	     .row = dominator_row, .close = close_dominators);
