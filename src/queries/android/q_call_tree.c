/*
 * queries/android/q_call_tree.c - query call-tree: objects by call stack, as a tree: which calls
 * allocated them, outermost call first, and what was allocated.
 *
 * A node is a frame below the same outer frames, or a class below the frame that allocated it.
 * Parents have lower numbers than their children.
 */
#include "analysis/groups.h"
#include "base/search.h"
#include "base/sort.h"
#include "heap/heap_database.h"
#include "heap/threads.h"
#include "queries/android/object_sites.h"
#include "queries/queries.h"
#include "query/coverage.h"

#include <assert.h>
#include <stdlib.h>

#define TEXT_MAX_BYTES 512
/* Maximum number of frames of one stack that become nodes: the innermost ones. */
#define FRAMES_MAX 1024u
/* In a node's id: it is a class, not a frame. */
#define IS_CLASS 0x80000000u
/* The id of the node for objects without a stack. */
#define NO_STACK 0x7fffffffu
#define NO_NODE UINT32_MAX

static const struct hdb_option_spec options[] = {
	{ "depth", HDB_OPTION_NUMBER, "N", "Deepest level shown; 0 is the outermost calls",
	  .low = 0, .high = FRAMES_MAX, .unit = "levels", .example = "5" },
	QUERY_POPULATION_OPTIONS("objects"),
	{ .name = NULL },
};

#define COLUMNS(X) \
	X(LEVEL, COUNT, "level", "level", QUERY_HELP_LEVEL) \
	X(KIND, TEXT, "kind", "kind", \
	  "Kind of the row: frame (a call) or class (allocated by the call above)") \
	X(NAME, TEXT, "name", "name", "Name of the frame or class") \
	X(COUNT, COUNT, "objects", "objects", "Objects that the frame itself allocated") \
	X(SHALLOW, BYTES, "shallow", "shallow", QUERY_HELP_SHALLOW_SUM) \
	X(BELOW_COUNT, COUNT, "below_objects", "objects below", \
	  "Objects allocated by the frame and the calls below it") \
	X(BELOW_SHALLOW, BYTES, "below_shallow", "shallow below", "Shallow size of these objects") \
	X(PERCENT, PERCENT, "percent", "%", "Share of below_shallow in all counted bytes")
enum { COLUMNS(QUERY_NUMBER) };
static const struct hdb_column columns[] = { COLUMNS(QUERY_COLUMN) };

static const struct hdb_column facts[] = {
	{ "objects", HDB_TYPE_COUNT, "objects", "Objects with a recorded stack" },
	{ "shallow", HDB_TYPE_BYTES, "bytes", "Shallow size of these objects" },
	{ "others", HDB_TYPE_COUNT, "others", "Objects without a stack in the dump" },
	{ "note", HDB_TYPE_TEXT, "note", "Note on how to get stacks, if the dump has none" },
	QUERY_COVERAGE_FACTS,
};

struct node {
	uint32_t parent, id, level;
	uint64_t count, bytes, below_count, below_bytes;
};

struct state {
	struct object_sites counted;
	struct base_vec nodes; /* struct node */
	struct base_idmap map; /* parent and id -> number of the node */
	uint32_t *order;       /* the rows: numbers of nodes; owned */
	uint64_t whole;        /* in bytes */
};

static int find_node(struct state *s, uint32_t parent, uint32_t id, uint32_t *out,
		     struct hdb_error *err)
{
	const uint64_t key = ((uint64_t)(parent + 1) << 32 | id) + 1;
	const struct node node = {
		.parent = parent,
		.id = id,
		.level = parent == NO_NODE ? 0 :
					     base_vec_at(&s->nodes, struct node, parent)->level + 1,
	};

	*out = base_idmap_get(&s->map, key);
	if (*out != BASE_IDMAP_NONE)
		return HDB_OK;
	*out = (uint32_t)s->nodes.count;
	TRY(base_idmap_put(&s->map, key, *out, err));
	return base_vec_push(&s->nodes, &node, sizeof(node), err);
}

/* Finds or adds the node of the frame that allocated. */
static int find_stack(struct query *q, struct state *s, const struct store_trace *stack,
		      uint32_t *out, struct hdb_error *err)
{
	uint32_t depth = stack->frame_count < FRAMES_MAX ? stack->frame_count : FRAMES_MAX;
	int r = HDB_OK;

	*out = NO_NODE;
	while (depth--) {
		uint32_t no = STORE_NONE;

		TRY_ERRORS(r = heap_record(q->heap, STORE_TRACE_FRAMES, stack->first_frame + depth,
					   &no, err));
		/* Skip frames that the dump does not contain. */
		if (r != HDB_OK || no >= NO_STACK)
			continue;
		TRY(find_node(s, *out, no, out, err));
	}
	return *out == NO_NODE ? find_node(s, NO_NODE, NO_STACK, out, err) : HDB_OK;
}

static int add_sites(struct query *q, struct state *s, struct hdb_error *err)
{
	uint64_t count = 0, bytes = 0, others = 0;

	for (size_t i = 0; i < s->counted.sites.list.count; i++) {
		const struct object_site *site =
			base_vec_at(&s->counted.sites.list, struct object_site, i);
		struct node *node;
		uint32_t no, leaf;

		TRY(find_stack(q, s, &site->stack, &no, err));
		TRY(find_node(s, no, site->class_no | IS_CLASS, &leaf, err));
		node = base_vec_at(&s->nodes, struct node, leaf);
		node->count += site->count;
		node->bytes += site->bytes;
		node = base_vec_at(&s->nodes, struct node, no);
		node->count += site->count;
		node->bytes += site->bytes;
		if (node->id == NO_STACK)
			others += site->count;
		else
			count += site->count;
		bytes += node->id == NO_STACK ? 0 : site->bytes;
		s->whole += site->bytes;
	}
	query_fact(q, "objects", count);
	query_fact(q, "shallow", bytes);
	query_fact(q, "others", others);
	if (!count && !q->is_filtered)
		query_fact_text(q, "note", QUERY_NO_STACKS);
	return HDB_OK;
}

/* The objects of a class count as those of its frame. */
static void add_up(struct state *s)
{
	for (size_t i = s->nodes.count; i-- > 0;) {
		struct node *node = base_vec_at(&s->nodes, struct node, i);
		struct node *above;

		node->below_count += node->count;
		node->below_bytes += node->bytes;
		if (node->id & IS_CLASS || node->parent == NO_NODE)
			continue;
		above = base_vec_at(&s->nodes, struct node, node->parent);
		above->below_count += node->below_count;
		above->below_bytes += node->below_bytes;
	}
}

/* ---- order: preorder, largest first ---- */

struct child {
	uint32_t parent, no;
	uint64_t bytes;
};

static int compare_children(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	BASE_ASCENDING(x->parent, y->parent);
	BASE_DESCENDING(x->bytes, y->bytes);
	return x->no < y->no ? -1 : x->no > y->no;
}

static size_t first_child(const struct child *list, size_t count, uint32_t parent)
{
	struct base_search s = base_search_in(count);

	while (base_search_next(&s))
		base_search_step(&s, list[s.mid].parent < parent);
	return s.low;
}

/* The children of one node that are still to be visited. */
struct range {
	size_t at, end;
};

static struct range children_of(const struct child *list, size_t count, uint32_t parent)
{
	return (struct range){
		first_child(list, count, parent),
		parent == NO_NODE ? count : first_child(list, count, parent + 1),
	};
}

/* Maximum number of levels: frames, a class, and the top. */
#define LEVELS (FRAMES_MAX + 3)

static size_t walk(struct state *s, const struct child *list, uint64_t max_level,
		   struct range stack[LEVELS])
{
	const size_t n = s->nodes.count;
	size_t depth = 1, made = 0;

	stack[0] = children_of(list, n, NO_NODE);
	while (depth) {
		struct range *top = &stack[depth - 1];

		if (top->at == top->end) {
			depth--;
			continue;
		}
		s->order[made] = list[top->at++].no;
		if (depth <= max_level && depth < LEVELS)
			stack[depth++] = children_of(list, n, s->order[made]);
		made++;
	}
	return made;
}

static int put_in_order(struct query *q, struct state *s, struct hdb_error *err)
{
	const size_t n = s->nodes.count;
	BASE_FREED struct child *list = calloc(n + 1, sizeof(*list));
	BASE_FREED struct range *stack = calloc(LEVELS, sizeof(*stack));

	s->order = calloc(n + 1, sizeof(*s->order));
	if (!list || !stack || !s->order)
		return hdb_fail_memory(err, "call stacks", n * sizeof(*list));
	for (size_t i = 0; i < n; i++) {
		const struct node *node = base_vec_at(&s->nodes, struct node, i);

		list[i] = (struct child){ node->parent, (uint32_t)i, node->below_bytes };
	}
	if (n)
		qsort(list, n, sizeof(*list), compare_children);
	q->total = walk(s, list, query_number(q, "depth", LEVELS), stack);
	return HDB_OK;
}

/* Reports what --depth leaves out. */
static void report_cut(struct query *q, const struct state *s)
{
	const struct analysis_cut cut = {
		.rows = s->nodes.count - q->total,
		.objects = ANALYSIS_NOT_COUNTED,
		.bytes = ANALYSIS_NOT_COUNTED,
	};

	if (cut.rows)
		query_cut(q, &cut, "levels below the deepest one shown");
}

static int open_tree(struct query *q, struct hdb_error *err)
{
	struct state *s = q->state;

	s->counted.is_by_class = true;
	TRY_ERRORS(object_sites_count(q, &s->counted, err));
	TRY(add_sites(q, s, err));
	add_up(s);
	TRY(put_in_order(q, s, err));
	report_cut(q, s);
	return HDB_OK;
}

/* ---- rows ---- */

static int set_name(struct query *q, const struct node *node, struct hdb_error *err)
{
	struct store_frame frame;
	char text[TEXT_MAX_BYTES];

	if (node->id & IS_CLASS) {
		query_set_text(q, NAME, heap_class_name(q->heap, node->id & ~IS_CLASS));
		return HDB_OK;
	}
	if (node->id == NO_STACK) {
		query_set_text(q, NAME, "<no stack>");
		return HDB_OK;
	}
	TRY_FOUND(heap_record(q->heap, STORE_FRAMES, node->id, &frame, err));
	TRY_FOUND(heap_frame_text(q->heap, &frame, text, sizeof(text), err));
	query_set_text(q, NAME, text);
	return HDB_OK;
}

static int node_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct state *s = q->state;
	const struct node *node = base_vec_at(&s->nodes, struct node, s->order[no]);

	query_set(q, LEVEL, node->level);
	query_lend_text(q, KIND, node->id & IS_CLASS ? "class" : "frame");
	query_set(q, COUNT, node->count);
	query_set(q, SHALLOW, node->bytes);
	query_set(q, BELOW_COUNT, node->below_count);
	query_set(q, BELOW_SHALLOW, node->below_bytes);
	query_set_double(q, PERCENT, analysis_percent(node->below_bytes, s->whole));
	return set_name(q, node, err);
}

static void close_tree(struct query *q)
{
	struct state *s = q->state;

	object_sites_release(&s->counted);
	base_vec_release(&s->nodes);
	base_idmap_release(&s->map);
	free(s->order);
}

const struct query_def query_call_tree = {
	.spec = {
		.name = "call-tree", .aliases = "allocation-tree",
		.group = "database", .example = "--depth 2",
		.targets = "",
		.summary = "Reachable objects by the call stack that allocated them, as a tree",
		.options = options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
	},
	.population = ANALYSIS_OF_REACHABLE,
	.order = QUERY_ORDER_TREE,
	.uses = QUERY_USES_STRENGTH | QUERY_USES_HEAP,
	.state_size = sizeof(struct state),
	.open = open_tree, .row = node_row, .close = close_tree,
};
