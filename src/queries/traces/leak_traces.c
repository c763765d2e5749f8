/*
 * queries/traces/leak_traces.c - finds leaking objects and groups them; see leak_traces.h for the
 * terms.
 *
 * The paths of all leaking objects form a tree. Only the nodes of the tree are kept, and each node
 * is read and inspected once, however many leaks are below it.
 */
#include "queries/traces/leak_traces.h"

#include "base/bits.h"
#include "base/search.h"
#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 1024
/* Number of blocks between two checks of the cancel flag. */
#define STEP_BLOCKS 16u
/* Maximum number of steps walked for signatures. Only a heap constructed to be slow exceeds it. */
#define WALK_MAX 400000000u

/* ---- search ---- */

static int look(struct leak_traces *t, uint32_t ix, bool only_watched, struct base_vec *found,
		struct hdb_error *err)
{
	bool is_leaking;
	int r = inspect_is_leaking(&t->inspector, ix, only_watched, &is_leaking, err);

	return r == HDB_OK && is_leaking ? base_vec_push(found, &ix, sizeof(ix), err) : r;
}

/* Examines the instances in a block to which rules apply. */
static int look_in_block(struct leak_traces *t, const struct heap_block *block,
			 struct base_vec *found, struct hdb_error *err)
{
	for (uint32_t i = 0; i < block->count; i++)
		if (block->kind[i] == STORE_INSTANCE &&
		    inspector_wants(&t->inspector, block->class_no[i]))
			TRY(look(t, block->first_ix + i, false, found, err));
	return HDB_OK;
}

static int look_by_rules(struct leak_traces *t, struct base_vec *found, struct hdb_error *err)
{
	struct heap *heap = t->session->heap;
	BASE_FREED struct heap_block *block = malloc(sizeof(*block));
	BASE_FREED uint8_t *is_wanted = malloc((size_t)heap->class_count + 1);

	TRY(block && is_wanted ? HDB_OK :
				 hdb_fail_memory(err, "a block of objects", sizeof(*block)));
	for (uint32_t no = 0; no < heap->class_count; no++)
		is_wanted[no] = inspector_wants(&t->inspector, no);
	base_stage(t->session->work, "looking for leaking objects", heap->object_count, "objects");
	for (uint32_t b = 0; b < heap_block_count(heap); b++) {
		bool has_any;

		TRY(heap_block_has(heap, b, is_wanted, &has_any, err));
		if (has_any)
			TRY(heap_read_block_of(heap, b, is_wanted, block, err));
		if (has_any)
			TRY(look_in_block(t, block, found, err));
		if (b % STEP_BLOCKS == 0)
			TRY(base_step(t->session->work, (uint64_t)b * STORE_BLOCK_OBJECTS, err));
	}
	return HDB_OK;
}

/* Finds leaking objects, in order of index and without duplicates. */
static int find_leaking(struct leak_traces *t, bool only_watched, struct base_vec *found,
			struct hdb_error *err)
{
	const struct base_vec *watched = &t->inspector.watched;
	uint32_t *list;
	size_t n = 0;

	TRY(only_watched ? HDB_OK : look_by_rules(t, found, err));
	for (size_t i = 0; i < watched->count; i++)
		TRY(look(t, base_vec_at(watched, struct inspect_watched, i)->ix, true, found, err));
	list = found->data;
	if (found->count)
		qsort(list, found->count, sizeof(*list), base_compare_u32);
	for (size_t i = 0; i < found->count; i++)
		if (!n || list[n - 1] != list[i])
			list[n++] = list[i];
	found->count = n;
	t->found = n;
	return HDB_OK;
}

/* ---- the tree of their paths ---- */

/* State while building the tree of paths. Bit sets are indexed by object. */
struct tree {
	struct leak_traces *traces;
	uint64_t *leaking; /* bits */
	/* bit set: objects for which held_by_other is known */
	uint64_t *known;
	uint64_t *held_by_other; /* bit set: objects with a leaking object above them */
	struct base_idmap nodes; /* object to its node */
	/* uint32_t: objects on the path, from the leaking object upwards */
	struct base_vec way;
};

static struct leak_node *node_at(const struct leak_traces *t, uint32_t no)
{
	assert(no < t->nodes.count);
	return base_vec_at(&t->nodes, struct leak_node, no);
}

/*
 * Determines whether another leaking object is above this object, and stores the result for all
 * objects on the way, so that each object is visited only once.
 */
static int note_holder_above(struct tree *tree, uint32_t ix, struct hdb_error *err)
{
	const uint32_t *parents = tree->traces->search.parents;
	bool is_so = false;
	uint32_t at = ix;

	tree->way.count = 0;
	while (at != GRAPH_NONE && !base_bit_has(tree->known, at)) {
		TRY(base_vec_push(&tree->way, &at, sizeof(at), err));
		at = parents[at];
	}
	if (at != GRAPH_NONE)
		is_so = base_bit_has(tree->held_by_other, at) || base_bit_has(tree->leaking, at);
	for (size_t i = tree->way.count; i-- > 0;) {
		at = *base_vec_at(&tree->way, uint32_t, i);
		base_bit_put(tree->known, at);
		if (is_so)
			base_bit_put(tree->held_by_other, at);
		is_so |= base_bit_has(tree->leaking, at);
	}
	return HDB_OK;
}

/* Adds the missing objects of a path to the tree, parents first. Sets *node to the node of ix. */
static int add_path(struct tree *tree, uint32_t ix, uint32_t *node, struct hdb_error *err)
{
	struct leak_traces *t = tree->traces;
	uint32_t at = ix;

	*node = GRAPH_NONE;
	tree->way.count = 0;
	for (; at != GRAPH_NONE; at = t->search.parents[at]) {
		*node = base_idmap_get(&tree->nodes, at);
		if (*node != BASE_IDMAP_NONE)
			break;
		TRY(base_vec_push(&tree->way, &at, sizeof(at), err));
	}
	for (size_t i = tree->way.count; i-- > 0;) {
		const struct leak_node new = {
			.reference = { .kind = TRACE_ENTRY, .name = TRACE_NAME_NONE },
			.ix = *base_vec_at(&tree->way, uint32_t, i),
			.parent = *node,
		};

		*node = (uint32_t)t->nodes.count;
		TRY(base_idmap_put(&tree->nodes, new.ix, *node, err));
		TRY(base_vec_push(&t->nodes, &new, sizeof(new), err));
	}
	return HDB_OK;
}

/* Counts a leaking object as hidden, unreachable, held by another leaking object, or traced. */
static int add_found(struct tree *tree, uint32_t ix, struct hdb_error *err)
{
	struct leak_traces *t = tree->traces;
	struct leak_trace trace = { .ix = ix };
	bool is_elsewhere;

	TRY(heap_passes_over(t->session->heap, ix, &is_elsewhere, err));
	if (is_elsewhere) {
		assert(t->found > 0);
		t->found--;
		return HDB_OK;
	}
	if (t->search.parents[ix] == ix)
		return base_vec_push(&t->unreachable, &ix, sizeof(ix), err);
	TRY(note_holder_above(tree, ix, err));
	if (base_bit_has(tree->held_by_other, ix)) {
		t->held_by_other++;
		return HDB_OK;
	}
	TRY(add_path(tree, ix, &trace.node, err));
	return base_vec_push(&t->traces, &trace, sizeof(trace), err);
}

static void release_tree(struct tree *tree)
{
	free(tree->leaking);
	base_idmap_release(&tree->nodes);
	base_vec_release(&tree->way);
}

static int grow_tree(struct leak_traces *t, const struct base_vec *found, struct hdb_error *err)
{
	const size_t words = (size_t)t->session->heap->object_count / 64 + 1;
	BASE_SCOPED(release_tree)
	struct tree tree = { .traces = t, .nodes.work = t->session->work };

	TRY(BASE_ALLOC(tree.leaking, 3 * words, "leaking objects", err));
	tree.known = tree.leaking + words;
	tree.held_by_other = tree.leaking + 2 * words;
	for (size_t i = 0; i < found->count; i++)
		base_bit_put(tree.leaking, *base_vec_at(found, uint32_t, i));
	for (size_t i = 0; i < found->count; i++)
		TRY(add_found(&tree, *base_vec_at(found, uint32_t, i), err));
	return HDB_OK;
}

/* ---- how objects on paths hold one another ---- */

/* A node and its parent. */
struct child {
	uint32_t parent, ix, node;
};

BASE_ORDER(compare_children, struct child, BASE_UP(parent), BASE_UP(ix))

/* State of the search for references from one parent to its children in the tree. */
struct naming {
	struct leak_traces *traces;
	const struct child *children; /* sorted by index */
	size_t count;
};

static int take_name(void *ctx, const struct trace_reference *reference, struct hdb_error *err)
{
	const struct naming *n = ctx;
	struct base_search s = base_search_in(n->count);
	struct leak_node *node;

	(void)err;
	while (base_search_next(&s))
		base_search_step(&s, n->children[s.mid].ix < reference->to);
	if (s.low == n->count || n->children[s.low].ix != reference->to)
		return HDB_OK;
	node = node_at(n->traces, n->children[s.low].node);
	/* Prefer a reference that is not followed late. Otherwise, use the first reference. */
	if (!node->is_named || (node->reference.is_late && !reference->is_late))
		node->reference = *reference;
	node->is_named = true;
	return HDB_OK;
}

/* Finds the references between all nodes. Each parent is read once. */
static int name_references(struct leak_traces *t, struct hdb_error *err)
{
	const uint32_t n = (uint32_t)t->nodes.count;
	BASE_FREED struct child *list = NULL;

	/* The search may have used all steps, so begin with the full number. */
	trace_graph_rewind(&t->graph);
	TRY(BASE_ALLOC(list, n + 1ull, "paths", err));
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct child){ node_at(t, i)->parent, node_at(t, i)->ix, i };
	qsort(list, n, sizeof(*list), compare_children);
	for (uint32_t i = 0; i < n && list[i].parent != GRAPH_NONE;) {
		struct naming naming = { t, &list[i], 0 };

		for (; i < n && list[i].parent == naming.children->parent; i++)
			naming.count++;
		TRY(trace_graph_read(&t->graph, node_at(t, naming.children->parent)->ix, take_name,
				     &naming, err));
		TRY(base_step(t->session->work, i, err));
	}
	return HDB_OK;
}

/* Finds the status of each node by the rules on single objects. */
static int inspect_nodes(struct leak_traces *t, struct hdb_error *err)
{
	for (uint32_t i = 0; i < t->nodes.count; i++) {
		struct leak_node *node = node_at(t, i);
		BASE_SCOPED(inspection_release)
		struct inspection inspection = { .wants_text = false };

		TRY(inspect_object(&t->inspector, node->ix, &inspection, err));
		node->is_gone = inspection.is_gone;
		node->is_there = inspection.is_there;
	}
	return HDB_OK;
}

/* Finds the first known library leak on the path to each node. Parents come first. */
static int find_rules(struct leak_traces *t, struct hdb_error *err)
{
	for (uint32_t i = 0; i < t->nodes.count; i++) {
		struct leak_node *node = node_at(t, i);

		if (node->parent == GRAPH_NONE)
			TRY(trace_root_rule(&t->graph, node->ix, &node->first_rule, err));
		else
			node->first_rule = node_at(t, node->parent)->first_rule;
		if (node->parent != GRAPH_NONE && !node->first_rule)
			node->first_rule = node->reference.rule;
	}
	return HDB_OK;
}

/* ---- objects that may leak, and their sizes ---- */

/*
 * Computes the sizes of leaking objects and of objects of unknown status on their paths, which are
 * all objects below the last object that does not leak.
 */
static int find_sizes(struct leak_traces *t, struct hdb_error *err)
{
	BASE_FREED bool *is_noted = NULL;
	BASE_SCOPED(base_vec_release) struct base_vec wanted = { 0 }; /* uint32_t */

	TRY(BASE_ALLOC(is_noted, t->nodes.count, "paths", err));
	for (size_t i = 0; i < t->traces.count; i++) {
		const uint32_t last = base_vec_at(&t->traces, struct leak_trace, i)->node;

		for (uint32_t at = last; at != GRAPH_NONE && !is_noted[at];) {
			const struct leak_node *node = node_at(t, at);

			if (at != last && node->is_there)
				break;
			is_noted[at] = true;
			TRY(base_vec_push(&wanted, &node->ix, sizeof(node->ix), err));
			at = node->parent;
		}
	}
	return trace_search_sizes(&t->search, wanted.data, wanted.count, err);
}

/* ---- signatures ---- */

/* State while computing signatures. */
struct signer {
	struct leak_traces *traces;
	/* uint32_t: nodes from the leaking object up to the one with the first suspect reference */
	struct base_vec *way;
	uint64_t walked;
};

/*
 * Raises the trace's sizes to the sizes of this object. The first leaking object retains the most.
 */
static int measure(struct leak_traces *t, const struct leak_node *node, struct leak_trace *trace,
		   struct hdb_error *err)
{
	uint64_t bytes, objects;

	TRY(trace_search_retained(&t->search, node->ix, &bytes, &objects, err));
	if (bytes > trace->bytes)
		trace->bytes = bytes;
	if (objects > trace->objects)
		trace->objects = objects;
	return HDB_OK;
}

/*
 * Walks up from a leaking object to the nearest object that does not leak. Sets *first to the
 * position in `way` of the topmost leaking object; the references above it are suspect.
 */
static int walk_up(struct signer *s, struct leak_trace *trace, size_t *first, struct hdb_error *err)
{
	struct leak_traces *t = s->traces;
	uint32_t at = trace->node;

	s->way->count = 0;
	*first = 0;
	while (at != GRAPH_NONE) {
		const struct leak_node *node = node_at(t, at);

		if (at != trace->node && node->is_there)
			break;
		if (at != trace->node && node->is_gone)
			*first = s->way->count;
		TRY(base_vec_push(s->way, &at, sizeof(at), err));
		at = node->parent;
		s->walked++;
	}
	assert(*first < s->way->count);
	for (size_t i = 0; i <= *first; i++)
		TRY(measure(t, node_at(t, *base_vec_at(s->way, uint32_t, i)), trace, err));
	return HDB_OK;
}

/* Hashes the suspect references from the top down, in the format of LeakCanary's Shark. */
static int sign_suspects(struct signer *s, struct leak_trace *trace, size_t first,
			 struct hdb_error *err)
{
	struct leak_traces *t = s->traces;
	char name[NAME_MAX_BYTES];
	struct base_sha1 sha;

	assert(first < s->way->count);
	base_sha1_init(&sha);
	for (size_t i = s->way->count; i-- > first;) {
		const struct leak_node *node = node_at(t, *base_vec_at(s->way, uint32_t, i));
		const char *class_name;

		if (node->parent == GRAPH_NONE)
			continue;
		class_name = inspect_class_of(t->session->heap, node_at(t, node->parent)->ix);
		base_sha1_add(&sha, class_name, strlen(class_name));
		TRY(trace_reference_generic(&t->graph, &node->reference, name, sizeof(name), err));
		base_sha1_add(&sha, name, strlen(name));
	}
	base_sha1_end(&sha, trace->signature);
	return HDB_OK;
}

static void sign_rule(struct leak_trace *trace)
{
	char text[NAME_MAX_BYTES];

	library_leaks_pattern(trace->rule, text, sizeof(text));
	base_sha1(text, strlen(text), trace->signature);
}

static int sign_all(struct leak_traces *t, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec way = { 0 };
	struct signer signer = { .traces = t, .way = &way };
	size_t i = 0, first;

	for (; i < t->traces.count && signer.walked < WALK_MAX; i++) {
		struct leak_trace *trace = base_vec_at(&t->traces, struct leak_trace, i);

		trace->rule = node_at(t, trace->node)->first_rule;
		TRY(walk_up(&signer, trace, &first, err));
		if (trace->rule)
			sign_rule(trace);
		else
			TRY(sign_suspects(&signer, trace, first, err));
		if (i % 1024 == 0)
			TRY(base_step(t->session->work, i, err));
	}
	t->untraced = t->traces.count - i;
	t->traces.count = i;
	return HDB_OK;
}

/* ---- groups ---- */

/* Sorts the application's leaks first. Equal signatures become adjacent. */
BASE_ORDER(compare_signatures, struct leak_trace,
	   BASE_FALSE_FIRST(x->rule != NULL, y->rule != NULL),
	   BASE_BY(memcmp(x->signature, y->signature, sizeof(x->signature))), BASE_UP(ix))

BASE_ORDER(compare_groups, struct leak_group, BASE_FALSE_FIRST(x->rule != NULL, y->rule != NULL),
	   BASE_DOWN(bytes), BASE_UP(first))

static int make_groups(struct leak_traces *t, struct hdb_error *err)
{
	struct leak_group *last = NULL;

	base_vec_sort(&t->traces, sizeof(struct leak_trace), compare_signatures);
	for (size_t i = 0; i < t->traces.count; i++) {
		const struct leak_trace *trace = base_vec_at(&t->traces, struct leak_trace, i);

		if (!last || (last->rule != NULL) != (trace->rule != NULL) ||
		    memcmp(last->signature, trace->signature, sizeof(last->signature)) != 0) {
			struct leak_group group = { .rule = trace->rule, .first = i };

			memcpy(group.signature, trace->signature, sizeof(group.signature));
			TRY(base_vec_push(&t->groups, &group, sizeof(group), err));
			t->library_groups += group.rule != NULL;
			last = base_vec_at(&t->groups, struct leak_group, t->groups.count - 1);
		}
		last->count++;
		t->bytes += trace->bytes;
		last->bytes += trace->bytes;
		last->objects += trace->objects;
	}
	base_vec_sort(&t->groups, sizeof(struct leak_group), compare_groups);
	return HDB_OK;
}

/* Names references, finds the status of objects, and groups the traces. */
static int describe_traces(struct leak_traces *t, struct hdb_error *err)
{
	TRY(name_references(t, err));
	TRY(inspect_nodes(t, err));
	TRY(find_rules(t, err));
	TRY(find_sizes(t, err));
	TRY(sign_all(t, err));
	return make_groups(t, err);
}

int leak_traces_find(struct leak_traces *t, const struct session *session, bool only_watched,
		     struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec found = { 0 };

	*t = (struct leak_traces){ .session = session };
	TRY(inspector_init(&t->inspector, session, err));
	if (inspector_has_any(&t->inspector))
		TRY(find_leaking(t, only_watched, &found, err));
	if (!found.count)
		return HDB_OK;
	TRY(trace_graph_init(&t->graph, session, LIBRARY_FOR_LEAKS, err));
	TRY(trace_search_paths(&t->search, &t->graph, err));
	TRY(grow_tree(t, &found, err));
	return t->traces.count ? describe_traces(t, err) : HDB_OK;
}

void leak_traces_release(struct leak_traces *t)
{
	trace_search_release(&t->search);
	trace_graph_release(&t->graph);
	inspector_release(&t->inspector);
	base_vec_release(&t->groups);
	base_vec_release(&t->traces);
	base_vec_release(&t->unreachable);
	base_vec_release(&t->nodes);
	*t = (struct leak_traces){ .session = NULL };
}
