/*
 * queries/android/q_call_tree.c - the call-tree query: a tree of the call stacks that allocated
 * objects, outermost call first, with the classes of these objects.
 *
 * A node represents a frame together with its outer frames, or a class of objects allocated by that
 * frame. Parents have lower numbers than their children.
 */
#include "base/name_tree.h"
#include "heap/heap_database.h"
#include "heap/threads.h"
#include "queries/android/object_sites.h"
#include "queries/queries.h"

#define TEXT_MAX_BYTES 512
/* Maximum number of frames of a stack that become nodes, counted from the innermost frame. */
#define FRAMES_MAX 1024u
/* Maximum number of levels: one per frame, and one for the class. */
#define LEVELS (FRAMES_MAX + 1)
/* Flag in a node's id: the node is a class, not a frame. */
#define IS_CLASS 0x80000000u
/* The id of the node for objects without a stack. */
#define NO_STACK 0x7fffffffu

#include <queries/android/q_call_tree.query.h>

/* The sums of a node. */
struct sums {
	uint64_t count, bytes, below_count, below_bytes;
};

struct state {
	struct object_sites counted;
	struct base_tree tree; /* the names in this tree are node IDs */
	struct base_vec sums;  /* struct sums, by node */
	uint32_t *order;       /* rows as numbers of nodes; owned */
	uint64_t whole;        /* total in bytes */
};

static struct sums *sums_of(const struct state *s, uint32_t node)
{
	assert(node < s->sums.count);
	return base_vec_at(&s->sums, struct sums, node);
}

static uint32_t id_of(const struct state *s, uint32_t node)
{
	return base_tree_node(&s->tree, node)->name;
}

static int find_node(struct state *s, uint32_t parent, uint32_t id, uint32_t *out,
		     struct hdb_error *err)
{
	const struct sums none = { 0 };

	*out = base_tree_child(&s->tree, parent, id);
	if (*out != BASE_TREE_TOP)
		return HDB_OK;
	TRY(base_tree_add(&s->tree, parent, id, out, err));
	return base_vec_push(&s->sums, &none, sizeof(none), err);
}

/* Finds or adds the node of the allocating frame. */
static int find_stack(struct query *q, struct state *s, const struct store_trace *stack,
		      uint32_t *out, struct hdb_error *err)
{
	uint32_t depth = stack->frame_count < FRAMES_MAX ? stack->frame_count : FRAMES_MAX;
	int r = HDB_OK;

	*out = BASE_TREE_TOP;
	while (depth--) {
		uint32_t no = STORE_NONE;

		TRY_ERRORS(r = heap_record(q->heap, STORE_TRACE_FRAMES, stack->first_frame + depth,
					   &no, err));
		/* Skips frames that the dump does not contain. */
		if (r != HDB_OK || no >= NO_STACK)
			continue;
		TRY(find_node(s, *out, no, out, err));
	}
	return *out == BASE_TREE_TOP ? find_node(s, BASE_TREE_TOP, NO_STACK, out, err) : HDB_OK;
}

static void add_site(struct state *s, uint32_t node, const struct object_site *site)
{
	sums_of(s, node)->count += site->count;
	sums_of(s, node)->bytes += site->bytes;
}

static int add_sites(struct query *q, struct state *s, struct hdb_error *err)
{
	uint64_t count = 0, bytes = 0, others = 0;

	for (size_t i = 0; i < s->counted.sites.list.count; i++) {
		const struct object_site *site =
			base_vec_at(&s->counted.sites.list, struct object_site, i);
		uint32_t no, leaf;

		TRY(find_stack(q, s, &site->stack, &no, err));
		TRY(find_node(s, no, site->class_no | IS_CLASS, &leaf, err));
		add_site(s, leaf, site);
		add_site(s, no, site);
		if (id_of(s, no) == NO_STACK) {
			others += site->count;
		} else {
			count += site->count;
			bytes += site->bytes;
		}
		s->whole += site->bytes;
	}
	query_fact(q, "objects", count);
	query_fact(q, "shallow", bytes);
	query_fact(q, "others", others);
	if (!count && !q->is_filtered)
		query_fact_text(q, "note", QUERY_NO_STACKS);
	return HDB_OK;
}

/* Adds the objects of each class to the frame that allocated them. */
static void add_up(struct state *s)
{
	for (uint32_t i = (uint32_t)s->sums.count; i-- > 0;) {
		const uint32_t parent = base_tree_node(&s->tree, i)->parent;
		struct sums *sums = sums_of(s, i);

		sums->below_count += sums->count;
		sums->below_bytes += sums->bytes;
		if (id_of(s, i) & IS_CLASS || parent == BASE_TREE_TOP)
			continue;
		sums_of(s, parent)->below_count += sums->below_count;
		sums_of(s, parent)->below_bytes += sums->below_bytes;
	}
}

/* Compares two nodes, with the largest first. */
static int compare_nodes(const void *ctx, uint32_t a, uint32_t b)
{
	BASE_DESCENDING(sums_of(ctx, a)->below_bytes, sums_of(ctx, b)->below_bytes);
	return 0;
}

static int put_in_order(struct query *q, struct state *s, struct hdb_error *err)
{
	const struct base_tree_list list = { compare_nodes, s, NULL,
					     (uint32_t)query_number(q, "depth", LEVELS) };
	size_t count;

	TRY(base_tree_order(&s->tree, &list, &s->order, &count, err));
	q->total = count;
	return HDB_OK;
}

/* Reports the rows that --depth omits. */
static void report_cut(struct query *q, const struct state *s)
{
	const struct analysis_cut cut = {
		.rows = s->sums.count - q->total,
		.objects = ANALYSIS_NOT_COUNTED,
		.bytes = ANALYSIS_NOT_COUNTED,
	};

	if (cut.rows)
		query_cut(q, &cut, "levels deeper than --depth");
}

static int open_tree(struct query *q, struct hdb_error *err)
{
	struct state *s = q->state;

	s->counted.is_by_class = true;
	TRY(object_sites_count(q, &s->counted, err));
	TRY(add_sites(q, s, err));
	add_up(s);
	TRY(put_in_order(q, s, err));
	report_cut(q, s);
	return HDB_OK;
}

/* ---- rows ---- */

static int set_name(struct query *q, uint32_t id, struct hdb_error *err)
{
	struct store_frame frame;
	char text[TEXT_MAX_BYTES];

	if (id & IS_CLASS) {
		query_set_text(q, NAME, heap_class_name(q->heap, id & ~IS_CLASS));
		return HDB_OK;
	}
	if (id == NO_STACK) {
		query_set_text(q, NAME, "<no stack>");
		return HDB_OK;
	}
	TRY_FOUND(heap_record(q->heap, STORE_FRAMES, id, &frame, err));
	TRY_FOUND(heap_frame_text(q->heap, &frame, text, sizeof(text), err));
	query_set_text(q, NAME, text);
	return HDB_OK;
}

static int node_row(struct query *q, size_t no, struct hdb_error *err)
{
	const struct state *s = q->state;
	const struct sums *sums = sums_of(s, s->order[no]);
	const uint32_t id = id_of(s, s->order[no]);

	query_set(q, LEVEL, base_tree_node(&s->tree, s->order[no])->depth);
	query_lend_text(q, KIND, id & IS_CLASS ? "class" : "frame");
	query_set(q, COUNT, sums->count);
	query_set(q, SHALLOW, sums->bytes);
	query_set(q, BELOW_COUNT, sums->below_count);
	query_set(q, BELOW_SHALLOW, sums->below_bytes);
	query_set_double(q, PERCENT, analysis_percent(sums->below_bytes, s->whole));
	return set_name(q, id, err);
}

static void close_tree(struct query *q)
{
	struct state *s = q->state;

	object_sites_release(&s->counted);
	base_tree_release(&s->tree);
	base_vec_release(&s->sums);
	free(s->order);
}

QUERY_DEFINE(call_tree, .state_size = sizeof(struct state), .open = open_tree, .row = node_row,
	     .close = close_tree);
