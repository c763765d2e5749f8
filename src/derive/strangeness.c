/*
 * derive/strangeness.c - computes the tree of paths with the least total strangeness of references
 * (strange.rules).
 */
#include "derive/strangeness.h"

#include "derive/blocks.h"
#include "derive/build.h"
#include "heap/platform_classes.h"
#include "heap/values/values.h"

#include <stdlib.h>
#include <string.h>

/* Cost of a reference that is not strange. */
#define COST_PLAIN 1u
/*
 * Cost of a field of a platform class that is not a collection. It explains less than an
 * application's field.
 */
#define COST_PLATFORM 2u
/*
 * Cost of the references from every object to its class, and from every class to its class loader
 * and superclass. Such references do not show that the target is needed. A class loader's list of
 * classes is a better explanation.
 */
#define COST_CLASS 24u
/* Cost of roots that exist only briefly, or that the VM has created for itself. */
#define COST_ROOT_PASSING 16u
#define COST_ROOT_PLAIN 1u

/*
 * A search for single paths follows at most one reference per NEAR_PART objects. If it fails, the
 * graph is loaded, and the search continues in it until it has found all paths. With the graph, the
 * search takes much less time per reference, but loading the graph takes as long as the search so
 * far. NEAR_MAX limits the length of the rows that are read.
 */
#define NEAR_PART 7u
#define NEAR_MIN 4096u
#define NEAR_MAX (1u << 22)
/*
 * After one reference per KINDS_PART objects, the kinds of all objects are read on all threads,
 * because reading the kind of each remaining target separately would take longer.
 */
#define KINDS_PART 64u
/* Number of targets of a row between two checks for cancellation. */
#define STEP_TARGETS (1u << 16)

/* Maximum number of own fields of a thread or class loader that are read. */
#define OWN_MAX 64u

#define RULE_rule(word, text, nth) .rule = text
#define RULE_class(word, text, nth) .with_subclasses = true, .name = text
#define RULE_only(word, text, nth) .name = text
#define RULE_cost(word, text, nth) .cost = word
#define RULE_why(word, text, nth) .reason = text

/* Classes whose references are strange. */
static const struct derive_strange rows[] = {
#include <derive/strange.rules.h>
};
#define ROWS BASE_COUNT(rows)

/*
 * Maximum number of classes of numbers: 8 array classes and 3 box classes, each possibly in several
 * class loaders.
 */
#define LEAVES 16u

/*
 * Kinds of nodes: objects without a rule, one kind per class of numbers, one kind per rule, and one
 * kind per rule for objects that also have fields declared by an application class.
 */
enum {
	KIND_PLAIN,
	KIND_INSIDE,
	KIND_PLATFORM,
	KIND_CLASS,
	KIND_LEAF,
	KIND_ROW = KIND_LEAF + LEAVES
};
#define KINDS (KIND_ROW + 2 * ROWS)

const struct derive_strange *derive_strange_rows(size_t *count)
{
	*count = ROWS;
	return rows;
}

struct strangeness {
	struct derive *derive;
	uint8_t *kind; /* kind of instances, by class number */
	/* kinds that classes of numbers would have if they were not leaves */
	uint8_t leaf_as[LEAVES];
	unsigned leaves;
	uint8_t cost[KINDS * KINDS];
	uint32_t own[OWN_MAX];
	struct base_big nodes; /* struct graph_cost_node */
};

static bool is_named(const char *name, const char *pattern)
{
	const size_t size = strlen(pattern), length = strlen(name);

	if (pattern[0] == '*')
		return length >= size - 1 && strcmp(name + length - (size - 1), pattern + 1) == 0;
	if (pattern[size - 1] == '*')
		return strncmp(name, pattern, size - 1) == 0;
	return strcmp(name, pattern) == 0;
}

/*
 * Returns whether objects of a class only pass references on. Arrays and objects of java.util are
 * part of a path but do not explain it.
 */
static bool passes_on(const char *name)
{
	const size_t size = strlen(name);

	return strncmp(name, "java.util.", 10) == 0 || (size > 2 && name[size - 1] == ']');
}

/*
 * Returns whether a field declared by this class belongs to the platform rather than to the
 * application.
 */
static bool is_inherited(const char *declaring)
{
	return heap_is_platform_class(declaring) && !passes_on(declaring);
}

/*
 * Returns the kind of a class. A class matches the first row that names the class or, for rows that
 * include subclasses, one of its superclasses. The second half of the row kinds is for classes with
 * application fields.
 */
static uint8_t kind_of_class(struct heap *heap, uint32_t no)
{
	const char *name = heap_class_name(heap, no);
	const bool is_platform = heap_is_platform_class(name);

	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].with_subclasses ? heap_has_superclass(heap, no, rows[i].name) :
					      is_named(name, rows[i].name))
			return (uint8_t)(KIND_ROW + i +
					 (rows[i].with_subclasses &&
							  (!is_platform || passes_on(name)) ?
						  ROWS :
						  0));
	return passes_on(name) ? KIND_INSIDE : is_platform ? KIND_PLATFORM : KIND_PLAIN;
}

/*
 * Sets *out to whether objects of the class refer only to the class object. This applies to arrays
 * of numbers and to the most frequent box classes.
 */
static int is_leaf(struct heap *heap, uint32_t no, bool *out, struct hdb_error *err)
{
	const struct store_class *class = heap_class(heap, no);
	const char *name = heap_class_name(heap, no);
	struct store_field field;

	*out = class->flags & STORE_CLASS_ARRAY && class->element_type >= HPROF_BOOLEAN;
	if (class->field_count != 1 ||
	    (strcmp(name, "java.lang.Integer") != 0 && strcmp(name, "java.lang.Long") != 0 &&
	     strcmp(name, "java.lang.Double") != 0))
		return HDB_OK;
	TRY(heap_field(heap, class->first_field, &field, err));
	/* in a damaged dump, the class may have other fields, or a superclass with fields */
	*out = field.type >= HPROF_BOOLEAN && !field.value &&
	       class->body_size == hprof_type_size(field.type, heap->id_size);
	return HDB_OK;
}

static int find_kinds(struct strangeness *s, struct hdb_error *err)
{
	struct heap *heap = s->derive->heap;
	bool is_it;

	for (uint32_t no = 0; no < heap->class_count; no++) {
		s->kind[no] = kind_of_class(heap, no);
		TRY(is_leaf(heap, no, &is_it, err));
		if (!is_it || s->leaves == LEAVES)
			continue;
		s->leaf_as[s->leaves] = s->kind[no];
		s->kind[no] = (uint8_t)(KIND_LEAF + s->leaves++);
	}
	return HDB_OK;
}

/* Returns the kind that determines the costs. */
static unsigned kind_as(const struct strangeness *s, unsigned kind)
{
	return kind >= KIND_LEAF && kind < KIND_ROW ? s->leaf_as[kind - KIND_LEAF] : kind;
}

/*
 * Returns the cost of a reference, which depends only on the kinds of its source and target and is
 * therefore computed once for each pair of kinds.
 */
static uint8_t cost_of(unsigned from, unsigned to)
{
	const unsigned row = (from - KIND_ROW) % ROWS;
	const uint8_t leave = from >= KIND_ROW      ? rows[row].cost :
			      from == KIND_PLATFORM ? COST_PLATFORM :
						      COST_PLAIN;
	const bool is_loader = to >= KIND_ROW && strcmp(rows[(to - KIND_ROW) % ROWS].name,
							"java.lang.ClassLoader") == 0;

	if ((to == KIND_CLASS && from != KIND_INSIDE) || (from == KIND_CLASS && is_loader))
		return leave > COST_CLASS ? leave : COST_CLASS;
	return leave;
}

/* Returns the cost of a root. If an object has several root records, the lowest cost counts. */
static uint8_t root_cost(void *ctx, uint32_t node)
{
	const struct strangeness *s = ctx;
	size_t count;
	const struct store_root *roots = heap_roots_of(s->derive->heap, node, &count);

	for (size_t i = 0; i < count; i++)
		switch (roots[i].kind) {
		case HPROF_ROOT_JNI_GLOBAL:
		case HPROF_ROOT_STICKY_CLASS:
		case HPROF_ROOT_THREAD_OBJECT:
		case HPROF_ROOT_INTERNED_STRING:
			return COST_ROOT_PLAIN;
		default:
			break;
		}
	return count ? COST_ROOT_PASSING : COST_ROOT_PLAIN;
}

/*
 * Finds the targets of fields that an application class or a java.util class declares, for an
 * object whose kind has a rule (thread, class loader, reference and so on). These fields are not
 * strange. For example, the value of a WeakHashMap entry belongs to the entry, unlike the link
 * `discovered` of Reference.
 */
static int own_targets(void *ctx, uint32_t node, const uint32_t **targets, size_t *count,
		       struct hdb_error *err)
{
	struct strangeness *s = ctx;
	struct heap *heap = s->derive->heap;
	struct heap_fields fields;
	int r = heap_fields_begin(heap, node, &fields, err);

	*targets = s->own;
	*count = 0;
	while (r == HDB_OK && *count < OWN_MAX) {
		uint32_t ix;

		if ((r = heap_fields_next(&fields, err)) != HDB_OK)
			break;
		if (fields.value.type != HPROF_OBJECT || !fields.value.bits ||
		    is_inherited(heap_class_name(heap, fields.declaring_no)))
			continue;
		r = heap_find(heap, fields.value.bits, &ix, err);
		if (r == HDB_OK)
			s->own[(*count)++] = ix;
		r = r == HDB_NOTFOUND ? HDB_OK : r;
	}
	/*
	 * If the dump is missing or has changed, field values are unknown, and all references
	 * remain strange.
	 */
	return r == HDB_END || r == HDB_ECHANGED ? HDB_OK : r;
}

/* In a damaged dump, an object array may claim the class of an array of numbers. */
static uint8_t kind_of(const struct strangeness *s, uint32_t class_no, uint8_t kind)
{
	return kind == STORE_CLASS        ? KIND_CLASS :
	       kind == STORE_OBJECT_ARRAY ? (uint8_t)kind_as(s, s->kind[class_no]) :
					    s->kind[class_no];
}

static int make_kinds(void *ctx, struct derive_block *made, struct hdb_error *err)
{
	struct strangeness *s = ctx;
	struct graph_cost_node *nodes = s->nodes.data;
	const struct heap_block *block = made->objects;

	(void)err;
	for (uint32_t i = 0; i < block->count; i++)
		nodes[block->first_ix + i].kind = kind_of(s, block->class_no[i], block->kind[i]);
	return HDB_OK;
}

static int prepare(struct strangeness *s, struct hdb_error *err)
{
	struct heap *heap = s->derive->heap;

	TRY(heap_load_classes(heap, err));
	TRY(BASE_ALLOC(s->kind, heap->class_count, "kinds of classes", err));
	TRY(find_kinds(s, err));
	for (unsigned from = 0; from < KINDS; from++)
		for (unsigned to = 0; to < KINDS; to++)
			s->cost[from * KINDS + to] = cost_of(kind_as(s, from), kind_as(s, to));
	return HDB_OK;
}

static int open_nodes(struct strangeness *s, struct hdb_error *err)
{
	return base_big_alloc(s->derive->work, &s->nodes,
			      (uint64_t)s->derive->heap->object_count *
				      sizeof(struct graph_cost_node),
			      "kinds of objects", err);
}

static int make_all_kinds(struct strangeness *s, struct hdb_error *err)
{
	HEAP_FILTER_SCOPE(heap_show_all, s->derive->heap);

	return derive_each_block(s->derive,
				 &(struct derive_pass){ .stage = "paths of least strangeness",
							.reads_objects = true,
							.make = make_kinds,
							.ctx = s },
				 err);
}

static void release(struct strangeness *s)
{
	free(s->kind);
	base_big_free(&s->nodes);
}

static struct graph_costs costs_of(struct strangeness *s)
{
	return (struct graph_costs){ .nodes = s->nodes.data,
				     .kinds = KINDS,
				     .cost = s->cost,
				     .first_leaf = KIND_LEAF,
				     .end_leaf = KIND_ROW,
				     .root = root_cost,
				     .first_mixed = KIND_ROW + ROWS,
				     .own_cost = COST_PLAIN,
				     .own = own_targets,
				     .ctx = s };
}

/* ---- paths to a few objects ---- */

struct derive_near {
	struct strangeness s; /* must be the first member, because it is the ctx of the costs */
	struct derive_row row;
	struct base_big parent;
	struct graph_near *search;
	uint64_t looked; /* number of targets whose kinds were looked up */
	bool has_kinds;  /* whether the kinds of all objects are known */
};

static void set_kind(struct strangeness *s, const struct heap_object *object)
{
	struct graph_cost_node *nodes = s->nodes.data;

	nodes[object->ix].kind = kind_of(s, object->class_no, (uint8_t)object->kind);
}

/* Reads the kinds of all objects once enough objects have been looked up one by one. */
static int need_kinds(struct derive_near *near, struct hdb_error *err)
{
	struct derive *derive = near->s.derive;
	const struct base_stage stage = derive->work->stage;

	if (near->has_kinds || near->looked < derive->heap->object_count / KINDS_PART)
		return HDB_OK;
	near->has_kinds = true;
	TRY(make_all_kinds(&near->s, err));
	base_stage(derive->work, stage.name, stage.total, stage.unit);
	return HDB_OK;
}

/*
 * Reads the row of a node, and sets the kinds of its targets. The search has already set the kind
 * of a target that it has found, except of a root. No edge leads to a root.
 */
static int near_row(void *ctx, uint32_t node, struct graph_near_row *out, struct hdb_error *err)
{
	struct derive_near *near = ctx;
	struct heap_object target;

	TRY(need_kinds(near, err));
	TRY(derive_row_strong(&near->row, node, out, err));
	if (out->count > near->row.targets_max || near->has_kinds)
		return HDB_OK;
	near->looked += out->count;
	set_kind(&near->s, &near->row.object);
	for (size_t i = 0; i < out->count; i++) {
		if (!graph_near_has(near->search, out->targets[i])) {
			TRY(heap_object(near->s.derive->heap, out->targets[i], &target, err));
			set_kind(&near->s, &target);
		}
		if (i % STEP_TARGETS == STEP_TARGETS - 1)
			TRY(base_check_cancelled(near->s.derive->work, err));
	}
	return HDB_OK;
}

static int open_near(struct derive *derive, uint64_t references_max, struct derive_near *near,
		     struct hdb_error *err)
{
	struct heap *heap = derive->heap;

	near->s.derive = near->row.derive = derive;
	near->row.targets_max = references_max;
	heap_references(heap, &near->row.references);
	TRY(graph_rows_init(&near->row.packed, heap->object_count, derive->work, err));
	TRY(prepare(&near->s, err));
	TRY(open_nodes(&near->s, err));
	TRY(base_big_alloc_raw(derive->work, &near->parent, (uint64_t)heap->object_count * 4,
			       "paths", err));
	return graph_near_open(&(struct graph_near_options){ .costs = costs_of(&near->s),
							     .root_bits = heap->roots.bits,
							     .work = derive->work,
							     .node_count = heap->object_count,
							     .references_max = references_max,
							     .parent = near->parent.data,
							     .row = near_row },
			       &near->search, err);
}

static void release_row(struct derive_row *row)
{
	base_vec_release(&row->targets);
	graph_rows_release(&row->packed);
}

void derive_near_close(struct derive *derive)
{
	struct derive_near *near = derive->near;

	derive->near = NULL;
	if (!near)
		return;
	graph_near_close(near->search);
	base_big_free(&near->parent);
	release_row(&near->row);
	release(&near->s);
	free(near);
}

/* Opens the search if the search may help. */
static int need_near(struct derive *derive, struct hdb_error *err)
{
	const uint64_t part = derive->heap->object_count / NEAR_PART;
	const uint64_t references_max = part < NEAR_MIN ? NEAR_MIN :
					part > NEAR_MAX ? NEAR_MAX :
							  part;

	if (derive->near || derive->is_near_over)
		return HDB_OK;
	TRY(derive_need_roots(derive, err));
	/* An orphan is a root without a root record, and there may be very many orphans. */
	derive->is_near_over = derive->main || derive_has(derive, STORE_REACH_STRONG) ||
			       derive->heap->roots.count > references_max ||
			       derive->heap->state.takes_orphans;
	if (derive->is_near_over)
		return HDB_OK;
	TRY(BASE_ALLOC(derive->near, 1, "a search for paths", err));
	return open_near(derive, references_max, derive->near, err);
}

/*
 * Searches for a path to ix. If ix is HEAP_NONE, searches until references_max references have been
 * followed.
 */
static int find_near(struct derive *derive, uint32_t ix, uint64_t references_max, bool *is_known,
		     struct hdb_error *err)
{
	int r = need_near(derive, err);

	*is_known = false;
	if (r == HDB_OK && !derive->is_near_over)
		r = graph_near_find(derive->near->search, ix, references_max, is_known, err);
	/* A search that failed cannot be continued. */
	if (r != HDB_OK)
		derive_near_close(derive);
	return r;
}

int derive_near_parent(struct derive *derive, uint32_t ix, uint32_t *parent, bool *is_known,
		       struct hdb_error *err)
{
	TRY(find_near(derive, ix, UINT64_MAX, is_known, err));
	if (*is_known) {
		*parent = derive_is_strong_near(derive, ix) ?
				  ((const uint32_t *)derive->near->parent.data)[ix] :
				  ix;
	} else if (!derive->is_near_over) {
		release_row(&derive->near->row);
		derive->is_near_over = true;
	}
	return HDB_OK;
}

int derive_strong_near(struct derive *derive, uint64_t references_max, bool *is_open,
		       struct hdb_error *err)
{
	bool is_known;

	TRY(find_near(derive, HEAP_NONE, references_max, &is_known, err));
	*is_open = !derive->is_near_over;
	return HDB_OK;
}

bool derive_is_strong_near(const struct derive *derive, uint32_t ix)
{
	return graph_near_has(derive->near->search, ix);
}

/* ---- the tree of all paths ---- */

/* Continues the search for paths to a few objects. */
static int finish_near(struct derive *derive, const struct graph_rows *graph,
		       struct base_big *parent, struct hdb_error *err)
{
	struct derive_near *near = derive->near;
	int r = near->has_kinds ? HDB_OK : make_all_kinds(&near->s, err);

	if (r == HDB_OK)
		r = graph_near_finish(near->search, graph, err);
	*parent = near->parent;
	near->parent = (struct base_big){ 0 };
	derive_near_close(derive);
	derive->is_near_over = true;
	return r;
}

int derive_least_strange(struct derive *derive, const struct graph_rows *graph,
			 struct base_big *parent, struct hdb_error *err)
{
	BASE_SCOPED(release) struct strangeness s = { .derive = derive };
	struct graph_costs costs;

	if (derive->near)
		return finish_near(derive, graph, parent, err);
	TRY(base_big_alloc_raw(derive->work, parent, (uint64_t)graph->node_count * 4, "paths",
			       err));
	TRY(prepare(&s, err));
	TRY(open_nodes(&s, err));
	TRY(make_all_kinds(&s, err));
	costs = costs_of(&s);
	return graph_cheapest_tree(graph, derive->heap->roots.bits, &costs, parent->data, err);
}
