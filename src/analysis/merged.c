/*
 * analysis/merged.c - builds a tree over the objects whose branches are merged by name.
 *
 * There are two ways of assigning nodes to objects: passes over the heap assign nodes to all
 * objects (place_all). If only few objects count, walking up from each of these objects is faster
 * (place_few). Both methods create the same nodes in the same order, so the answer does not depend
 * on the method.
 */
#include "analysis/merged.h"

#include "analysis/groups.h"
#include "base/bits.h"
#include "derive/native.h"
#include "heap/heap_database.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Number of blocks of objects between two checks of the cancel flag. */
#define STEP_BLOCKS 16
/* The nodes may take at most 1/NODES_SHARE of the memory budget. */
#define NODES_SHARE 4
/*
 * Lower bound of the limit on the number of nodes, regardless of the budget. With fewer nodes, the
 * tree would be useless.
 */
#define NODES_MIN 4096u
/* Number of bytes per slot in the map by_place, including its empty half. */
#define SLOT_BYTES 24

/* Maximum number of steps of place_few, which take about 20 ms and 5 MB. */
#define FEW_STEPS (1u << 17)
/* Number of members between two checks of the cancel flag. */
#define STEP_MEMBERS 1024
/* Stands for the step above the last step of a path, and for a member that is not reachable. */
#define NOWHERE UINT32_MAX

/* Values of place[]. If an object is pending, the lower bits are the number of its name. */
#define PLACE_NONE ANALYSIS_PLACE_NONE
#define PLACE_WAITS ANALYSIS_PLACE_WAITS

void analysis_merged_init(struct analysis_merged *m, enum derive_group by, unsigned dump_count)
{
	assert(dump_count > 0);
	*m = (struct analysis_merged){
		.by = by,
		.dump_count = dump_count,
	};
}

void analysis_merged_release(struct analysis_merged *m)
{
	base_names_release(&m->names);
	base_tree_release(&m->tree);
	base_vec_release(&m->sums);
}

/* ---- names ---- */

int analysis_merged_text(struct analysis_merged *m, const char *text, uint32_t *no,
			 struct hdb_error *err)
{
	const struct base_name name = { .text = text, .size = strlen(text) };

	return base_names_add(&m->names, &name, false, no, err);
}

/*
 * Sets names[no] for the instances of class `no`, and names[class_count + no] for its class object.
 */
static int intern_classes(const struct session *session, struct analysis_merged *m, uint32_t *names,
			  struct hdb_error *err)
{
	const uint32_t n = session->heap->class_count;

	for (uint32_t no = 0; no < n; no++) {
		struct base_name name = { 0 };

		name.text = analysis_group_name(
			session, m->by,
			m->by == DERIVE_LOADER ? heap_class(session->heap, no)->loader_ix : no,
			&name.size);
		TRY(base_names_add(&m->names, &name, true, &names[no], err));
		name.kind = m->by == DERIVE_CLASS ? ANALYSIS_NAME_CLASS : 0;
		TRY(base_names_add(&m->names, &name, true, &names[n + no], err));
	}
	return HDB_OK;
}

/* ---- nodes ---- */

static int add_node(struct analysis_merged *m, uint32_t parent, uint32_t name, uint32_t *out,
		    struct hdb_error *err)
{
	const struct analysis_merged_sum sum = { .example_ix = HEAP_NONE };

	assert(name < m->names.list.count);
	TRY(base_tree_add(&m->tree, parent, name, out, err));
	assert(analysis_merged_node(m, *out)->depth < ANALYSIS_MERGED_DEPTH);
	for (unsigned d = 0; d < m->dump_count; d++)
		TRY(base_vec_push(&m->sums, &sum, sizeof(sum), err));
	return HDB_OK;
}

int analysis_merged_child(struct analysis_merged *m, uint32_t parent, uint32_t name, uint32_t *out,
			  struct hdb_error *err)
{
	*out = parent;
	if (parent != ANALYSIS_MERGED_TOP && analysis_merged_node(m, parent)->name == name)
		return HDB_OK;
	*out = base_tree_child(&m->tree, parent, name);
	if (*out != BASE_TREE_TOP)
		return HDB_OK;
	/*
	 * The number of nodes on the top level needs no limit, because each name has at most one of
	 * them.
	 */
	if (parent == ANALYSIS_MERGED_TOP ||
	    (analysis_merged_node(m, parent)->depth + 1 < ANALYSIS_MERGED_DEPTH &&
	     m->tree.nodes.count < m->node_limit))
		return add_node(m, parent, name, out, err);
	m->folded++;
	*out = parent;
	return HDB_OK;
}

/* ---- placing objects ---- */

/* State of analysis_merged_add. */
struct placing {
	const struct session *session;
	struct analysis_merged *m;
	const struct analysis_merged_source *source;
	uint32_t *parent; /* indexed by object; links are reversed while a path is walked */
	uint32_t *place;  /* indexed by object: its node, or PLACE_* */
	uint32_t *names;  /* indexed by class: name of instances, then name of class objects */
};

/* Reads the parents of one block of objects. */
static int load_parents(struct placing *p, uint32_t block_no, struct hdb_error *err)
{
	uint32_t *out = p->parent + (uint64_t)block_no * STORE_BLOCK_OBJECTS;

	switch (p->source->tree) {
	case ANALYSIS_TREE_DOMINATORS:
		return derive_dominator_block(p->session->derive, block_no, out, err);
	case ANALYSIS_TREE_WITHOUT:
		return HDB_OK; /* all parents have already been computed */
	default:
		return derive_reach_block(p->session->derive,
					  p->source->tree == ANALYSIS_TREE_REACH_STRONG, block_no,
					  out, err);
	}
}

/* Returns the table that contains a tree, or 0 if no table does. */
static enum store_table table_of(enum analysis_tree tree)
{
	static const enum store_table tables[] = {
		[ANALYSIS_TREE_REACH] = STORE_REACH,
		[ANALYSIS_TREE_REACH_STRONG] = STORE_REACH_STRONG,
		[ANALYSIS_TREE_DOMINATORS] = STORE_DOMINATORS,
		[ANALYSIS_TREE_WITHOUT] = 0,
	};

	return tables[tree];
}

/*
 * Returns whether paths begin at an object: a class object of a class that is never unloaded, so
 * that it does not matter what refers to it, unless the class object itself is a member.
 */
static bool is_top(const struct placing *p, uint32_t ix)
{
	return p->source->tree != ANALYSIS_TREE_DOMINATORS &&
	       !(p->source->members && base_bit_has(p->source->members, ix)) &&
	       heap_is_permanent_class(p->session->heap, ix);
}

/*
 * Reads the parents, and stores the names of the objects in place[]. A heap filter does not apply
 * here, because paths may contain hidden objects.
 */
static int load(struct placing *p, struct heap_block *block, struct hdb_error *err)
{
	struct heap *heap = p->session->heap;
	HEAP_FILTER_SCOPE(heap_show_all, heap);

	for (uint32_t b = 0; b < heap_block_count(heap); b++) {
		TRY(load_parents(p, b, err));
		TRY(heap_read_block(heap, b, block, err));
		for (uint32_t i = 0; i < block->count; i++) {
			const uint32_t ix = block->first_ix + i;
			const uint32_t name =
				block->kind[i] == STORE_CLASS ?
					heap->class_count + (uint32_t)block->length[i] :
					block->class_no[i];

			p->place[ix] =
				p->parent[ix] == ix ? PLACE_NONE : PLACE_WAITS | p->names[name];
			if (block->kind[i] == STORE_CLASS && p->place[ix] != PLACE_NONE &&
			    is_top(p, ix))
				p->parent[ix] = HEAP_NONE;
		}
		if (b % STEP_BLOCKS == 0)
			TRY(base_step(p->session->work, block->first_ix, err));
	}
	return HDB_OK;
}

/*
 * Reports an impossible parent in a tree. If the tree comes from a table, the table is damaged. If
 * the tree was computed, this is a bug in heapdb.
 */
static int damaged(void *ctx, uint32_t ix, const char *what, struct hdb_error *err)
{
	const struct placing *p = ctx;
	const enum store_table table = table_of(p->source->tree);

	return table ? heap_damaged(p->session->heap, table, ix, what, err) :
		       hdb_fail(err, HDB_EBUG, "paths: %s", what);
}

/*
 * Assigns nodes to a pending object and its pending ancestors. Paths may be millions of objects
 * long, so the function uses neither recursion nor a stack. It reverses the parent links on the way
 * up, and restores them on the way down.
 */
int analysis_merged_place(const struct analysis_places *p, uint32_t ix, struct hdb_error *err)
{
	uint32_t v = ix, below = HEAP_NONE, node = ANALYSIS_MERGED_TOP;

	while (v != HEAP_NONE && p->place[v] & PLACE_WAITS) {
		const uint32_t above = p->parent[v];

		if (p->place[v] == PLACE_NONE)
			return p->damaged(p->ctx, v, "an unreachable object is a parent", err);
		if (v == ix && below != HEAP_NONE)
			return p->damaged(p->ctx, ix, "parents form a circle", err);
		p->parent[v] = below;
		below = v;
		v = above;
	}
	if (v != HEAP_NONE)
		node = p->place[v];
	while (below != HEAP_NONE) {
		const uint32_t next = p->parent[below];

		TRY(p->settle(p->ctx, v, below, &node, err));
		p->place[below] = node;
		p->parent[below] = v;
		v = below;
		below = next;
	}
	return HDB_OK;
}

/* Finds the node of an object: the child of its parent's node with the object's name. */
static int settle(void *ctx, uint32_t above, uint32_t ix, uint32_t *node, struct hdb_error *err)
{
	const struct placing *p = ctx;

	(void)above;
	return analysis_merged_child(p->m, *node, p->place[ix] & ~PLACE_WAITS, node, err);
}

/*
 * Counts an object in its node. If two objects retain the same amount, the first one is the
 * example.
 */
static void count_object(struct analysis_merged_sum *sum, uint32_t ix, uint64_t shallow,
			 uint64_t weight)
{
	sum->count++;
	sum->shallow_bytes += shallow;
	if (sum->example_ix == HEAP_NONE || weight > sum->example_bytes) {
		sum->example_ix = ix;
		sum->example_bytes = weight;
	}
}

/*
 * Reads the sizes used to choose the example: retained sizes if the table has been built, and
 * otherwise shallow sizes.
 */
static int weights(const struct session *session, const struct heap_block *block, uint64_t *out,
		   struct hdb_error *err)
{
	assert(block->count <= STORE_BLOCK_OBJECTS);
	if (derive_has(session->derive, STORE_RETAINED))
		return derive_retained_block(session->derive, block, out, err);
	memcpy(out, block->shallow, block->count * sizeof(*out));
	return HDB_OK;
}

/* Returns whether no object of a block counts. STORE_BLOCK_OBJECTS is a multiple of 64. */
static bool is_empty(const uint64_t *members, uint32_t block_no, uint32_t object_count)
{
	const uint64_t first = (uint64_t)block_no * STORE_BLOCK_OBJECTS / 64;
	const uint64_t end = base_bit_words(object_count);
	uint64_t any = 0;

	for (uint64_t w = first; w < first + STORE_BLOCK_OBJECTS / 64 && w < end; w++)
		any |= members[w];
	return !any;
}

/* Assigns nodes to all objects that count, in index order, and counts them. */
static int place_all(struct placing *p, unsigned dump, struct heap_block *block, uint64_t *weight,
		     struct hdb_error *err)
{
	const uint64_t *members = p->source->members;
	const struct analysis_places places = { p->parent, p->place, settle, damaged, p };
	struct heap *heap = p->session->heap;

	assert(dump < p->m->dump_count);
	for (uint32_t b = 0; b < heap_block_count(heap); b++) {
		if (members && is_empty(members, b, heap->object_count))
			continue;
		TRY(heap_read_block(heap, b, block, err));
		TRY(weights(p->session, block, weight, err));
		for (uint32_t i = 0; i < block->count; i++) {
			const uint32_t ix = block->first_ix + i;

			if (p->place[ix] == PLACE_NONE || block->kind[i] == HEAP_LEFT_OUT ||
			    (members && !base_bit_has(members, ix)))
				continue;
			if (p->place[ix] & PLACE_WAITS)
				TRY(analysis_merged_place(&places, ix, err));
			if (heap_is_counted(heap, block, i))
				count_object(analysis_merged_sum(p->m, p->place[ix], dump), ix,
					     block->shallow[i], weight[i]);
		}
		if (b % STEP_BLOCKS == 0)
			TRY(base_step(p->session->work, block->first_ix, err));
	}
	return HDB_OK;
}

/* Adds the native memory of each owner to the owner's node, if the owner counts. */
static int add_native(struct placing *p, unsigned dump, struct hdb_error *err)
{
	const struct base_vec *native = p->source->native;
	const uint64_t *members = p->source->members;
	struct heap *heap = p->session->heap;

	assert(dump < p->m->dump_count);
	for (size_t i = 0; native && i < native->count; i++) {
		const struct derive_native *one = base_vec_at(native, struct derive_native, i);
		struct heap_object object;

		if (p->place[one->ix] == PLACE_NONE || p->place[one->ix] & PLACE_WAITS ||
		    (members && !base_bit_has(members, one->ix)))
			continue;
		TRY(heap_object(heap, one->ix, &object, err));
		if (!heap_leaves_out(heap, object.heap_no))
			analysis_merged_sum(p->m, p->place[one->ix], dump)->native_bytes +=
				one->bytes;
	}
	return HDB_OK;
}

/* ---- few objects ---- */

/* A step of a path: an object and its parent. */
struct way_step {
	uint32_t ix;
	uint32_t above; /* the next step towards the root, or NOWHERE */
	uint32_t node;  /* set once the step has a node */
};

/*
 * The path of a member: its own step, and the steps that are not part of earlier paths, lowest
 * first.
 */
struct way {
	uint32_t step;
	uint32_t first, end;
};

/* State of place_few. */
struct few {
	struct placing *placing;
	struct base_vec steps;    /* struct way_step */
	struct base_vec ways;     /* struct way, one per member */
	struct base_idmap number; /* from the index of an object to the number of its step */
};

static struct way_step *step_at(const struct few *f, uint32_t no)
{
	assert(no < f->steps.count);
	return base_vec_at(&f->steps, struct way_step, no);
}

/*
 * Finds the parent of an object. Sets *reachable to false if the tree does not contain the object.
 */
static int parent_of(const struct few *f, uint32_t ix, bool *reachable, uint32_t *parent,
		     struct hdb_error *err)
{
	struct derive *derive = f->placing->session->derive;
	const int r =
		f->placing->source->tree == ANALYSIS_TREE_DOMINATORS ?
			derive_dominator(derive, ix, parent, err) :
			derive_reach(derive, f->placing->source->tree == ANALYSIS_TREE_REACH_STRONG,
				     ix, parent, err);

	*reachable = r == HDB_OK && *parent != ix;
	if (*reachable && is_top(f->placing, ix))
		*parent = HEAP_NONE;
	return r;
}

/*
 * Adds the part of a member's path that is not part of earlier paths, at most FEW_STEPS + 1 steps.
 */
static int add_way(struct few *f, uint32_t member, struct hdb_error *err)
{
	struct way way = { NOWHERE, (uint32_t)f->steps.count, (uint32_t)f->steps.count };
	uint32_t ix = member;

	while (ix != HEAP_NONE && f->steps.count <= FEW_STEPS) {
		const uint32_t known = base_idmap_get(&f->number, ix);
		const uint32_t no = known == BASE_IDMAP_NONE ? way.end : known;
		struct way_step step = { ix, NOWHERE, ANALYSIS_MERGED_TOP };
		uint32_t parent = HEAP_NONE;
		bool reachable = false;

		if (known == BASE_IDMAP_NONE) {
			TRY(parent_of(f, ix, &reachable, &parent, err));
			if (!reachable && ix == member)
				break;
			if (!reachable)
				return damaged(f->placing, ix, "an unreachable object is a parent",
					       err);
		} else if (known >= way.first) {
			return damaged(f->placing, member, "parents form a circle", err);
		}
		if (ix == member)
			way.step = no;
		else
			step_at(f, way.end - 1)->above = no;
		if (known != BASE_IDMAP_NONE)
			break;
		TRY(base_vec_push(&f->steps, &step, sizeof(step), err));
		TRY(base_idmap_put(&f->number, ix, no, err));
		way.end++;
		ix = parent;
	}
	return base_vec_push(&f->ways, &way, sizeof(way), err);
}

static int add_ways(struct few *f, struct hdb_error *err)
{
	const struct analysis_merged_source *source = f->placing->source;

	for (uint64_t i = 0; i < source->list_count && f->steps.count <= FEW_STEPS; i++) {
		TRY(add_way(f, source->list[i], err));
		if (i % STEP_MEMBERS == 0)
			TRY(base_step(f->placing->session->work, i, err));
	}
	return HDB_OK;
}

/* Assigns nodes to the new steps of a path, topmost first. */
static int place_way(const struct few *f, const struct way *way, struct hdb_error *err)
{
	struct heap *heap = f->placing->session->heap;

	assert(way->first <= way->end);
	assert(way->end <= f->steps.count);
	for (uint32_t no = way->end; no-- > way->first;) {
		struct way_step *step = step_at(f, no);
		const uint32_t above = step->above == NOWHERE ? ANALYSIS_MERGED_TOP :
								step_at(f, step->above)->node;
		struct heap_object object;

		TRY(heap_object(heap, step->ix, &object, err));
		TRY(analysis_merged_child(
			f->placing->m, above,
			f->placing->names[object.kind == STORE_CLASS ?
						  heap->class_count + object.length :
						  object.class_no],
			&step->node, err));
	}
	return HDB_OK;
}

/*
 * Counts a member in its node. If retained sizes are known, the example of the node is the member
 * with the largest retained size.
 */
static int count_member(const struct few *f, uint32_t ix, struct analysis_merged_sum *sum,
			struct hdb_error *err)
{
	const struct session *session = f->placing->session;
	struct heap_object object;
	uint64_t weight;

	TRY(heap_object(session->heap, ix, &object, err));
	if (!heap_object_is_counted(session->heap, &object))
		return HDB_OK;
	weight = object.shallow_bytes;
	if (derive_has(session->derive, STORE_RETAINED))
		TRY(derive_retained(session->derive, ix, &weight, err));
	count_object(sum, ix, object.shallow_bytes, weight);
	if (f->placing->source->native)
		sum->native_bytes += derive_native_in(f->placing->source->native, ix);
	return HDB_OK;
}

/*
 * Like place_all, but only for the objects in the source's list, and by walking up from each of
 * them. If the paths have more than FEW_STEPS steps, sets *is_done to false and adds nothing. The
 * tree's table must have been built.
 */
static int place_few(struct placing *p, unsigned dump, bool *is_done, struct hdb_error *err)
{
	struct few f = { .placing = p };
	int r = add_ways(&f, err);

	*is_done = r == HDB_OK && f.steps.count <= FEW_STEPS;
	for (size_t i = 0; *is_done && r == HDB_OK && i < f.ways.count; i++) {
		const struct way *way = base_vec_at(&f.ways, struct way, i);

		if (way->step == NOWHERE)
			continue;
		if ((r = place_way(&f, way, err)) == HDB_OK)
			r = count_member(
				&f, p->source->list[i],
				analysis_merged_sum(p->m, step_at(&f, way->step)->node, dump), err);
	}
	base_vec_release(&f.steps);
	base_vec_release(&f.ways);
	base_idmap_release(&f.number);
	return r;
}

/* ---- objects whose nodes the caller determines ---- */

/* State of analysis_merged_count. */
struct counting {
	const struct session *session;
	struct analysis_merged *m;
	unsigned dump;
	const struct analysis_merged_places *places;
	uint64_t weight[STORE_BLOCK_OBJECTS];
};

static int count_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct counting *c = ctx;
	const struct analysis_merged_places *places = c->places;

	TRY(weights(c->session, block, c->weight, err));
	for (uint32_t i = 0; i < block->count; i++) {
		const uint32_t ix = block->first_ix + i;
		struct analysis_merged_sum *sum;

		if (places->node[ix] == ANALYSIS_MERGED_TOP ||
		    (places->members && !base_bit_has(places->members, ix)) ||
		    !heap_is_counted(c->session->heap, block, i))
			continue;
		sum = analysis_merged_sum(c->m, places->node[ix], c->dump);
		if (places->added && base_bit_has(places->added, ix))
			sum->shallow_bytes += block->shallow[i];
		else
			count_object(sum, ix, block->shallow[i], c->weight[i]);
	}
	return HDB_OK;
}

int analysis_merged_count(const struct session *session, struct analysis_merged *m, unsigned dump,
			  const struct analysis_merged_places *places, struct hdb_error *err)
{
	struct counting *c = NULL;
	int r;

	assert(dump < m->dump_count);
	TRY(BASE_ALLOC(c, 1, "a merged tree", err));
	c->session = session;
	c->m = m;
	c->dump = dump;
	c->places = places;
	r = heap_each_block(session->heap, session->work, count_block, c, err);
	free(c);
	return r;
}

void analysis_merged_limit(struct analysis_merged *m, const struct session *session)
{
	const uint64_t node_bytes = sizeof(struct base_tree_node) + SLOT_BYTES +
				    m->dump_count * sizeof(struct analysis_merged_sum);
	const uint64_t limit = session->work->memory_bytes / NODES_SHARE / node_bytes;

	m->node_limit = limit > ANALYSIS_MERGED_NODES ? ANALYSIS_MERGED_NODES :
			limit < NODES_MIN             ? NODES_MIN :
							(uint32_t)limit;
}

int analysis_merged_add(const struct session *session, struct analysis_merged *m, unsigned dump,
			const struct analysis_merged_source *source, struct hdb_error *err)
{
	assert(dump < m->dump_count);
	/* Whole blocks are read, so the sizes of the arrays are rounded up to whole blocks. */
	const uint64_t n = (uint64_t)heap_block_count(session->heap) * STORE_BLOCK_OBJECTS;
	struct placing p = { .session = session, .m = m, .source = source };
	BASE_SCOPED(base_big_free) struct base_big parent = { 0 }, places = { 0 };
	BASE_FREED struct heap_block *block = NULL;
	BASE_FREED uint64_t *weight = NULL;
	BASE_FREED uint32_t *names = NULL;
	bool is_done = false;

	TRY(heap_load_classes(session->heap, err));
	analysis_merged_limit(m, session);
	TRY(BASE_ALLOC(block, 1, "a merged tree", err));
	TRY(BASE_ALLOC(weight, STORE_BLOCK_OBJECTS, "a merged tree", err));
	TRY(BASE_ALLOC(names, ((size_t)session->heap->class_count + 1) * 2, "a merged tree", err));
	p.names = names;
	/*
	 * Building a table also requires memory, so the table is built before the arrays are
	 * allocated.
	 */
	if (table_of(source->tree))
		TRY(derive_need(session->derive, table_of(source->tree), err));
	TRY(intern_classes(session, m, names, err));
	if (source->list && table_of(source->tree))
		TRY(place_few(&p, dump, &is_done, err));
	if (is_done)
		return HDB_OK;
	TRY(base_big_alloc(session->work, &parent, n * 4 + 4, "a merged tree", err));
	TRY(base_big_alloc(session->work, &places, n * 4 + 4, "a merged tree", err));
	p.parent = parent.data;
	p.place = places.data;
	if (source->tree == ANALYSIS_TREE_WITHOUT)
		TRY(derive_reach_without(session->derive, source->filter, p.parent, err));
	base_stage(session->work, "merging paths", session->heap->object_count, "objects");
	TRY(load(&p, block, err));
	TRY(place_all(&p, dump, block, weight, err));
	return add_native(&p, dump, err);
}

/*
 * Computes the totals. Children have higher numbers than their parents, so one backward pass
 * suffices.
 */
void analysis_merged_finish(struct analysis_merged *m)
{
	for (size_t i = 0; i < m->sums.count; i++) {
		struct analysis_merged_sum *sum =
			base_vec_at(&m->sums, struct analysis_merged_sum, i);

		sum->total_count = sum->count;
		sum->total_bytes = sum->shallow_bytes;
		sum->total_native = sum->native_bytes;
	}
	for (size_t i = m->tree.nodes.count; i-- > 0;) {
		const uint32_t parent = analysis_merged_node(m, (uint32_t)i)->parent;

		for (unsigned d = 0; d < m->dump_count && parent != ANALYSIS_MERGED_TOP; d++) {
			const struct analysis_merged_sum *from =
				analysis_merged_sum(m, (uint32_t)i, d);
			struct analysis_merged_sum *to = analysis_merged_sum(m, parent, d);

			to->total_count += from->total_count;
			to->total_bytes += from->total_bytes;
			to->total_native += from->total_native;
		}
	}
}

/* ---- output ---- */

void analysis_merged_path(const struct analysis_merged *m, uint32_t node, uint32_t above, char *buf,
			  size_t size)
{
	static const char arrow[] = " > ";
	/* the names are written from the node upwards, starting at the end of the buffer */
	size_t at = size - 1;

	assert(size > 4);
	buf[at] = '\0';
	for (uint32_t v = node; v != above; v = analysis_merged_node(m, v)->parent) {
		const struct base_name *name = analysis_merged_name(m, v);
		const char *prefix = name->kind == ANALYSIS_NAME_CLASS ? "class " : "";
		const size_t need = strlen(prefix) + name->size + (v == node ? 0 : strlen(arrow));

		/* Leave room for "..." before this name. */
		if (need + 3 > at) {
			at -= 3;
			memcpy(buf + at, "...", 3);
			break;
		}
		if (v != node) {
			at -= strlen(arrow);
			memcpy(buf + at, arrow, strlen(arrow));
		}
		at -= name->size;
		memcpy(buf + at, name->text, name->size);
		at -= strlen(prefix);
		memcpy(buf + at, prefix, strlen(prefix));
	}
	memmove(buf, buf + at, size - at);
}
