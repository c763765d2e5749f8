/*
 * derive/totals_tree.c - computes counts, sizes and retained sizes of groups of classes from the
 * dominator tree.
 *
 * The retained size of a group is the sum over its topmost members, which are the members that no
 * other member dominates. They are easy to recognise in preorder: a member is topmost if it comes
 * after the end of the last topmost member's subtree. One walk in preorder is therefore enough for
 * all groups of all kinds, with one number per group.
 *
 * The tree is too large to be traversed by following links. Its inner nodes get preorder numbers
 * (graph/preorder.h). Each object is put into the bucket of its number or, if it is a leaf, of its
 * dominator's number. Sorting the buckets on all threads, range by range, yields the tree in
 * preorder. Leaves of the top level have no number and are always topmost, so the pass over the
 * objects adds them up directly.
 *
 * Ranges are also walked on all threads. At the first number of a range, the walk must know the
 * members above it, which are nodes whose subtrees began in earlier ranges and end later ("spans").
 * Unless the tree is very deep, there are few spans. If there are too many, the calling thread
 * walks all ranges in order.
 *
 * Buckets identify an object by its member number. The member number is the class number, except
 * for a class object or a class loader. Their group by loader differs from that of their class, so
 * they have numbers above all class numbers (member_of).
 */
#include "derive/blocks.h"
#include "derive/dominators/inner_order.h"
#include "derive/totals.h"

#include "base/pipeline.h"
#include "base/search.h"
#include "base/thread.h"
#include "graph/child_rows.h"
#include "graph/preorder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Number of ranges per thread that are processed at the same time. Each range takes a few MB. */
#define SLOTS_PER_THREAD 2u

/* How many objects ahead to prefetch links. */
#define AHEAD 16u

/* Totals of the objects of one class. Each slot has its own totals, so threads never share them. */
struct class_sum {
	uint64_t count, bytes, unreachable_count, unreachable_bytes;
	/* number of bytes retained by members that are leaves of the top level */
	uint64_t topmost_bytes;
};

/* An inner node, indexed by preorder number. */
struct inner_row {
	uint64_t units;  /* retained size in units of the alignment */
	uint32_t member; /* member number, or HEAP_NONE if the node belongs to no group */
	uint32_t count;  /* number of inner nodes in its subtree, including itself */
};

/* The class of an object above the current object. The class is closed at this preorder number. */
struct opened {
	uint32_t end, class_no;
};

/* A range of preorder numbers, which any thread may prepare. */
struct range_slot {
	struct graph_child_range leaves;
	struct inner_row *inner;
	bool is_filled; /* whether the leaves of the range fit in memory and have been read */
	BASE_NO_SHARING;
};

/* A walk over ranges, in ascending order. */
struct totals_walk {
	const struct totals_tree *w;
	const struct range_slot *slot; /* the current range */
	/* first number of the range, next number to enter, and end of the range */
	uint32_t base, row, end;
	/* indexed by group: end of the last topmost member's subtree */
	uint32_t *until[TOTALS_KINDS];
	uint64_t *retained[TOTALS_KINDS]; /* indexed by group: number of bytes, modulo 2^64 */
	struct class_tree supers;         /* the classes above the current object */
	struct opened *opened;            /* the same classes, innermost last */
	uint32_t opened_count;
	BASE_NO_SHARING;
};

/* Maximum number of spans, because each range examines all of them. */
#define SPANS_MAX (1u << 17)

struct totals_tree {
	struct totals *t;
	struct class_sum *sums;   /* indexed by slot, then class */
	uint64_t *loader_topmost; /* like topmost_bytes, by slot and then by class loader */
	struct graph_preorder order;
	/* keys are the numbers of dominators, and nodes are member numbers */
	struct graph_child_rows leaves;
	/*
	 * one bucket per range of numbers; the fields of a record are number, member, units and
	 * count
	 */
	struct base_buckets inner;
	/*
	 * Consecutive leaves with the same dominator and member number that have not been added to
	 * `leaves` yet. Merging them makes the buckets of large arrays and collections much
	 * smaller.
	 */
	uint32_t leaf_row, leaf_member;
	uint64_t leaf_units;
	/*
	 * Inner nodes whose subtrees begin in one range and end in a later one. The key is number
	 * << 32 | end of the subtree, and the node is the member number.
	 */
	struct base_vec spans; /* struct base_sort_key */
	/* whether there are too many spans, so that the calling thread walks all ranges */
	bool is_deep;
	struct range_slot *slots;
	struct totals_walk *walks; /* indexed by slot */
	unsigned slot_count;
};

/* ---- member numbers ---- */

/* The groups of a member number. */
struct member {
	uint32_t class_no, loader_group;
};

/*
 * Returns a member. Member numbers are consecutive: classes, then class objects by the class that
 * they represent, then class loaders by group.
 */
static struct member member_at(const struct totals_tree *w, uint32_t member)
{
	const struct totals *t = w->t;
	const uint32_t n = t->derive->heap->class_count;
	const uint32_t *group = t->kinds[DERIVE_LOADER].of_class;

	if (member < n)
		return (struct member){ member, group[member] };
	if (member < 2 * n)
		return (struct member){ t->derive->heap->class_class_no, group[member - n] };
	assert(member - 2 * n < t->kinds[DERIVE_LOADER].count);
	return (struct member){ t->loader_class[member - 2 * n], member - 2 * n };
}

/*
 * Finds the group of a class loader by binary search. These groups are in ascending order of class
 * loader index.
 */
static uint32_t find_loader(const struct totals_groups *g, uint32_t ix)
{
	struct base_search search = base_search_in(g->count);

	while (base_search_next(&search))
		base_search_step(&search, g->totals[search.mid].no < ix);
	return search.low < g->count && g->totals[search.low].no == ix ? (uint32_t)search.low :
									 HEAP_NONE;
}

static uint32_t member_of(const struct totals_tree *w, const struct heap_block *objects, uint32_t i)
{
	const struct totals *t = w->t;
	const uint32_t n = t->derive->heap->class_count, class_no = objects->class_no[i];
	uint32_t group;

	if (objects->kind[i] == HEAP_LEFT_OUT)
		return HEAP_NONE;
	if (objects->kind[i] == STORE_CLASS)
		return n + (uint32_t)objects->length[i];
	if (!t->has_loaders[class_no])
		return class_no;
	group = find_loader(&t->kinds[DERIVE_LOADER], objects->first_ix + i);
	return group == HEAP_NONE ? class_no : 2 * n + group;
}

/* ---- counting all objects and distributing them to spill buckets ---- */

static void count_block(struct totals_tree *w, const struct derive_block *block)
{
	const struct heap *heap = w->t->derive->heap;
	const struct heap_block *objects = block->objects;
	const struct derive_tree_block *tree = block->room;
	struct class_sum *sums = w->sums + (size_t)block->slot * heap->class_count;

	for (uint32_t i = 0; i < objects->count; i++) {
		struct class_sum *sum = &sums[objects->class_no[i]];

		if (!heap_is_counted(heap, objects, i))
			continue;
		if (tree->dominator[i] != objects->first_ix + i) {
			sum->count++;
			sum->bytes += objects->shallow[i];
		} else {
			sum->unreachable_count++;
			sum->unreachable_bytes += objects->shallow[i];
		}
	}
}

/*
 * Replaces each object's dominator with the place of an inner node: the object's own place or, for
 * a leaf, the place of its dominator. Objects that are not put into a bucket get GRAPH_NONE. Sets
 * values[i] to 1 for inner nodes. Adds leaves of the top level to the totals.
 */
static void find_places(struct totals_tree *w, struct derive_block *block)
{
	const struct heap_block *objects = block->objects;
	const uint32_t first_ix = objects->first_ix, count = objects->count;
	const uint64_t unit = w->t->derive->heap->layout.align_bytes;
	struct derive_tree_block *tree = block->room;
	struct class_sum *sums = w->sums + (size_t)block->slot * w->t->derive->heap->class_count;
	uint64_t *loaders =
		w->loader_topmost + (size_t)block->slot * w->t->kinds[DERIVE_LOADER].count;
	uint32_t next = graph_preorder_place(&w->order, first_ix);

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t ix = first_ix + i, d = tree->dominator[i];

		if (count - i > AHEAD && tree->dominator[i + AHEAD] != GRAPH_NONE)
			graph_preorder_prefetch(&w->order, tree->dominator[i + AHEAD]);
		tree->dominator[i] = GRAPH_NONE;
		block->values[i] = graph_preorder_is_inner(&w->order, ix);
		if (block->values[i])
			tree->dominator[i] = next++;
		else if (objects->kind[i] == HEAP_LEFT_OUT)
			continue;
		else if (d == GRAPH_NONE && ix != HEAP_BOOT_LOADER) {
			const struct member member = member_at(w, member_of(w, objects, i));

			sums[member.class_no].topmost_bytes += tree->units[i] * unit;
			loaders[member.loader_group] += tree->units[i] * unit;
		} else if (d != GRAPH_NONE && d != ix && tree->units[i])
			tree->dominator[i] = graph_preorder_place(&w->order, d);
		if (ix == HEAP_BOOT_LOADER)
			tree->dominator[i] = GRAPH_NONE;
	}
}

/* Prepares a block. May run on any thread, because totals are added to the slot's own arrays. */
static int make_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct totals_tree *w = ctx;
	struct derive_tree_block *tree = block->room;
	const uint32_t count = block->objects->count;

	TRY(derive_tree_read(w->t->derive, block, tree, err));
	count_block(w, block);
	find_places(w, block);
	/* Replaces places with preorder numbers, and values[] with subtree sizes (0 for leaves). */
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t place = tree->dominator[i];

		if (count - i > AHEAD && tree->dominator[i + AHEAD] != GRAPH_NONE)
			prefetch_read(&w->order.link[tree->dominator[i + AHEAD]]);
		if (place == GRAPH_NONE)
			continue;
		tree->dominator[i] = graph_preorder_first(&w->order, place);
		if (block->values[i])
			block->values[i] =
				graph_preorder_end(&w->order, place) - tree->dominator[i];
	}
	return HDB_OK;
}

static int add_span(struct totals_tree *w, const uint64_t v[], struct hdb_error *err)
{
	const struct base_sort_key span = { v[0] << 32 | (v[0] + v[3]), (uint32_t)v[1] };

	w->is_deep |= w->spans.count == SPANS_MAX;
	if (w->is_deep)
		w->spans.count = 0;
	if (w->is_deep || span.node == HEAP_NONE)
		return HDB_OK;
	return base_vec_push(&w->spans, &span, sizeof(span), err);
}

static int put_leaf(struct totals_tree *w, struct hdb_error *err)
{
	return w->leaf_units ? graph_child_rows_add(&w->leaves, w->leaf_row, w->leaf_member,
						    w->leaf_units, err) :
			       HDB_OK;
}

/*
 * Spills a block. Leaves with the same dominator and member are first merged into one record,
 * because a large array has millions of them.
 */
static int put_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct totals_tree *w = ctx;
	const struct derive_tree_block *tree = block->room;
	const struct heap_block *objects = block->objects;

	for (uint32_t i = 0; i < objects->count; i++) {
		const uint64_t v[] = { tree->dominator[i], member_of(w, objects, i), tree->units[i],
				       block->values[i] };

		if (v[0] == GRAPH_NONE)
			continue;
		if (block->values[i]) {
			TRY(base_buckets_add(&w->inner, (uint32_t)v[0] >> w->leaves.bits,
					     BASE_RECORD(2, 2), v, err));
			if ((v[0] ^ (v[0] + v[3] - 1)) >> w->leaves.bits)
				TRY(add_span(w, v, err));
		} else if (w->leaf_units && v[0] == w->leaf_row && v[1] == w->leaf_member) {
			w->leaf_units += v[2];
		} else {
			TRY(put_leaf(w, err));
			w->leaf_row = (uint32_t)v[0];
			w->leaf_member = (uint32_t)v[1];
			w->leaf_units = v[2];
		}
	}
	return HDB_OK;
}

static void add_sum(struct derive_total *total, const struct class_sum *sum)
{
	total->count += sum->count;
	total->shallow_bytes += sum->bytes;
	total->unreachable_count += sum->unreachable_count;
	total->unreachable_bytes += sum->unreachable_bytes;
}

/* Adds the sums of all slots to the groups. */
static void add_sums(struct totals_tree *w)
{
	const size_t class_count = w->t->derive->heap->class_count;
	const size_t slots = DERIVE_SLOTS_PER_THREAD * w->t->derive->work->threads;
	const struct totals_groups *loaders = &w->t->kinds[DERIVE_LOADER];

	for (size_t i = 0; i < slots * class_count; i++) {
		for (unsigned k = 0; k < TOTALS_KINDS; k++) {
			const struct totals_groups *g = &w->t->kinds[k];
			struct derive_total *total = &g->totals[g->of_class[i % class_count]];

			add_sum(total, &w->sums[i]);
			if (k != DERIVE_LOADER)
				total->retained_bytes += w->sums[i].topmost_bytes;
		}
	}
	for (size_t i = 0; i < slots * loaders->count; i++)
		loaders->totals[i % loaders->count].retained_bytes += w->loader_topmost[i];
}

/*
 * Makes one pass over all objects, which computes the totals by class and distributes the rest of
 * the tree to buckets.
 */
static int put_objects(struct totals_tree *w, struct hdb_error *err)
{
	struct derive *derive = w->t->derive;
	const size_t slots = DERIVE_SLOTS_PER_THREAD * derive->work->threads;
	const size_t sum_count = slots * derive->heap->class_count;
	const size_t loader_count = slots * w->t->kinds[DERIVE_LOADER].count;

	TRY(BASE_ALLOC(w->sums, sum_count, "sums by class", err));
	TRY(BASE_ALLOC(w->loader_topmost, loader_count, "sums by class", err));
	TRY(graph_child_rows_init(&w->leaves, w->order.inner.count, derive->work, err));
	TRY(base_buckets_init(&w->inner,
			      &(struct base_buckets_plan){
				      .bucket_count = w->leaves.range_count,
				      .chunks_bytes = (uint64_t)w->leaves.buckets.chunk_bytes *
						      w->leaves.range_count,
				      .kept_bytes = w->leaves.buckets.kept_bytes,
				      .what = "dominating objects" },
			      derive->work, err));
	TRY(derive_each_block(
		derive,
		&(struct derive_pass){ .stage = "totals by class",
				       .reads_objects = true,
				       .make = make_block,
				       .take = put_block,
				       .ctx = w,
				       .room_bytes = sizeof(struct derive_tree_block) },
		err));
	TRY(put_leaf(w, err));
	add_sums(w);
	return HDB_OK;
}

/* ---- the walk ---- */

/*
 * Adds an object's retained size to the totals of its class and superclasses, except those that
 * already have an instance among the object's dominators, because their totals already include the
 * object. Sums are stored as differences, so only the two ends of the chain of superclasses change.
 */
static void add_supers(struct totals_walk *walk, uint32_t class_no, uint64_t bytes, uint32_t end)
{
	uint64_t *retained = walk->retained[DERIVE_SUPERCLASS];
	const uint32_t covered = derive_class_tree_covered(&walk->supers, class_no);

	retained[class_no] += bytes;
	if (covered != STORE_NONE)
		retained[covered] -= bytes;
	if (end && !walk->supers.open[class_no]) {
		assert(walk->opened_count < walk->supers.count);
		derive_class_tree_open(&walk->supers, class_no);
		walk->opened[walk->opened_count++] = (struct opened){ end, class_no };
	}
}

/* Visits an object in preorder. `end` is the end of its subtree, or 0 for a leaf. */
static void add_object(struct totals_walk *walk, uint32_t row, uint32_t member_no, uint64_t units,
		       uint32_t end)
{
	const struct totals *t = walk->w->t;
	const uint64_t bytes = units * t->derive->heap->layout.align_bytes;
	const struct member member = member_at(walk->w, member_no);

	for (unsigned k = 0; k < TOTALS_KINDS; k++) {
		const uint32_t group = k == DERIVE_LOADER ? member.loader_group :
							    t->kinds[k].of_class[member.class_no];

		assert(group < t->kinds[k].count);
		if (k == DERIVE_SUPERCLASS || row < walk->until[k][group])
			continue;
		walk->retained[k][group] += bytes;
		if (end)
			walk->until[k][group] = end;
	}
	add_supers(walk, member.class_no, bytes, end);
}

/* Closes the classes whose subtrees end before `row`. */
static void close_until(struct totals_walk *walk, uint32_t row)
{
	while (walk->opened_count && walk->opened[walk->opened_count - 1].end <= row)
		derive_class_tree_close(&walk->supers, walk->opened[--walk->opened_count].class_no);
}

/* Enters the inner nodes up to `row`. */
static void go_to(struct totals_walk *walk, uint32_t row)
{
	assert(row < walk->end);
	for (; walk->row <= row; walk->row++) {
		const struct inner_row *inner = &walk->slot->inner[walk->row - walk->base];

		close_until(walk, walk->row);
		if (inner->member != HEAP_NONE)
			add_object(walk, walk->row, inner->member, inner->units,
				   walk->row + inner->count);
	}
}

static void finish_range(struct totals_walk *walk)
{
	if (walk->row < walk->end)
		go_to(walk, walk->end - 1);
}

static int take_leaf(void *ctx, uint32_t row, uint32_t member, uint64_t units,
		     struct hdb_error *err)
{
	struct totals_walk *walk = ctx;

	(void)err;
	if (walk->row <= row)
		go_to(walk, row);
	add_object(walk, row, member, units, 0);
	return HDB_OK;
}

/*
 * Enters the nodes above the first node of a range. A slot processes ranges in ascending order, so
 * nodes that its walk has entered and that have not ended remain valid.
 */
static void begin_range(struct totals_walk *walk, uint32_t no)
{
	const struct totals_tree *w = walk->w;
	const struct base_sort_key *span = w->spans.data;

	walk->row = walk->base = no << w->leaves.bits;
	walk->end = w->order.inner.count - walk->base < (uint32_t)1 << w->leaves.bits ?
			    w->order.inner.count :
			    walk->base + ((uint32_t)1 << w->leaves.bits);
	close_until(walk, walk->base);
	for (size_t i = 0; i < w->spans.count && span[i].key >> 32 < walk->base; i++)
		if ((uint32_t)span[i].key > walk->base)
			add_object(walk, (uint32_t)(span[i].key >> 32), span[i].node, 0,
				   (uint32_t)span[i].key);
}

/*
 * Visits inner nodes and leaves in preorder. Leaves are visited directly after their dominator.
 * This order does not change the result, because leaves dominate nothing.
 */
static void walk_range(struct totals_walk *walk)
{
	const struct graph_child_range *leaves = &walk->slot->leaves;

	for (uint32_t row = walk->base; row < walk->end; row++) {
		const uint64_t *first = &leaves->first[row - walk->base];

		go_to(walk, row);
		for (uint64_t i = first[0]; i < first[1]; i++)
			add_object(walk, row, leaves->key[i].node, ~leaves->key[i].key, 0);
	}
	finish_range(walk);
}

static int read_inner(struct totals_tree *w, struct range_slot *slot, uint32_t no,
		      struct hdb_error *err)
{
	const size_t size = sizeof(*slot->inner) << w->leaves.bits;
	const uint32_t base = no << w->leaves.bits;
	BASE_SCOPED(base_bucket_end) struct base_bucket_reader reader = { 0 };
	uint64_t v[BASE_BUCKET_FIELDS] = { 0 };
	int r;

	if (!slot->inner)
		TRY(BASE_ALLOC(slot->inner, (size_t)1 << w->leaves.bits, "dominating objects",
			       err));
	memset(slot->inner, 0xff, size);
	TRY(base_bucket_begin(&w->inner, no, &reader, err));
	while ((r = base_bucket_next(&reader, BASE_RECORD(2, 2), v, err)) == HDB_OK) {
		assert(v[0] >> w->leaves.bits == no);
		assert(v[3]); /* the subtree contains at least the node itself */
		slot->inner[v[0] - base] = (struct inner_row){
			.member = (uint32_t)v[1],
			.units = v[2],
			.count = (uint32_t)v[3],
		};
	}
	return r < 0 ? r : HDB_OK;
}

/* Sorts the spans so that a node precedes the nodes below it. */
static int sort_spans(struct totals_tree *w, struct hdb_error *err)
{
	BASE_FREED struct base_sort_key *spare = NULL;

	TRY(BASE_ALLOC(spare, w->spans.count, "dominating objects", err));
	base_sort_keys(w->spans.data, spare, w->spans.count);
	return HDB_OK;
}

static struct totals_walk *walk_of(struct totals_tree *w, unsigned slot_no, uint64_t no)
{
	struct totals_walk *walk = &w->walks[w->is_deep ? 0 : slot_no];

	walk->slot = &w->slots[slot_no];
	begin_range(walk, (uint32_t)no);
	return walk;
}

static int make_range(void *ctx, unsigned slot_no, uint64_t no, struct hdb_error *err)
{
	struct totals_tree *w = ctx;
	struct range_slot *slot = &w->slots[slot_no];

	TRY(read_inner(w, slot, (uint32_t)no, err));
	slot->is_filled = graph_child_range_fits(&w->leaves, (uint32_t)no);
	if (!slot->is_filled)
		return HDB_OK;
	TRY(graph_child_range_fill(&w->leaves, (uint32_t)no, &slot->leaves, err));
	if (!w->is_deep)
		walk_range(walk_of(w, slot_no, no));
	return HDB_OK;
}

/* Walks a range that could not be walked on another thread. */
static int end_range(void *ctx, unsigned slot_no, uint64_t no, struct hdb_error *err)
{
	struct totals_tree *w = ctx;
	const struct range_slot *slot = &w->slots[slot_no];

	TRY(base_step(w->t->derive->work, no << w->leaves.bits, err));
	if (slot->is_filled && w->is_deep)
		walk_range(walk_of(w, slot_no, no));
	if (!slot->is_filled) {
		struct totals_walk *walk = walk_of(w, slot_no, no);

		TRY(graph_child_rows_merge(&w->leaves, (uint32_t)no, take_leaf, walk, err));
		finish_range(walk);
	}
	base_bucket_drop(&w->leaves.buckets, (uint32_t)no);
	base_bucket_drop(&w->inner, (uint32_t)no);
	return HDB_OK;
}

static int make_walk(struct totals_tree *w, struct totals_walk *walk, struct hdb_error *err)
{
	const struct heap *heap = w->t->derive->heap;

	walk->w = w;
	TRY(derive_class_tree_init(&walk->supers, heap, err));
	TRY(BASE_ALLOC(walk->opened, heap->class_count, "totals", err));
	for (unsigned k = 0; k < TOTALS_KINDS; k++) {
		TRY(BASE_ALLOC(walk->until[k], w->t->kinds[k].count, "totals", err));
		TRY(BASE_ALLOC(walk->retained[k], w->t->kinds[k].count, "totals", err));
	}
	return HDB_OK;
}

static int walk_all(struct totals_tree *w, struct hdb_error *err)
{
	struct derive *derive = w->t->derive;
	const struct base_pipeline pipeline = {
		.item_count = w->leaves.range_count,
		.threads = derive->work->threads,
		.slot_count = SLOTS_PER_THREAD * derive->work->threads,
		.ctx = w,
		.produce = make_range,
		.consume = end_range,
	};

	base_stage(derive->work, "totals by class", w->order.inner.count, "objects");
	w->slot_count = pipeline.slot_count;
	TRY(BASE_ALLOC(w->slots, w->slot_count, "totals", err));
	TRY(BASE_ALLOC(w->walks, w->slot_count, "totals", err));
	for (unsigned i = 0; i < w->slot_count; i++)
		TRY(make_walk(w, &w->walks[i], err));
	TRY(sort_spans(w, err));
	TRY(base_pipeline_run(&pipeline, err));
	for (unsigned i = 0; i < w->slot_count; i++)
		for (unsigned k = 0; k < TOTALS_KINDS; k++)
			for (uint32_t g = 0; g < w->t->kinds[k].count; g++)
				w->t->kinds[k].totals[g].retained_bytes +=
					w->walks[i].retained[k][g];
	return HDB_OK;
}

static void release(struct totals_tree *w)
{
	for (unsigned i = 0; w->slots && i < w->slot_count; i++) {
		graph_child_range_release(&w->slots[i].leaves);
		free(w->slots[i].inner);
	}
	for (unsigned i = 0; w->walks && i < w->slot_count; i++) {
		struct totals_walk *walk = &w->walks[i];

		derive_class_tree_release(&walk->supers);
		free(walk->opened);
		for (unsigned k = 0; k < TOTALS_KINDS; k++) {
			free(walk->until[k]);
			free(walk->retained[k]);
		}
	}
	base_vec_release(&w->spans);
	graph_child_rows_release(&w->leaves);
	base_buckets_release(&w->inner);
	graph_preorder_release(&w->order);
	free(w->slots);
	free(w->walks);
	free(w->sums);
	free(w->loader_topmost);
}

int derive_totals_add_objects(struct totals *t, struct hdb_error *err)
{
	BASE_SCOPED(release) struct totals_tree w = { .t = t };

	TRY(derive_tree_prepare(t->derive, err));
	/* Member numbers of classes, class objects and class loaders must fit in 32 bits. */
	if (t->derive->heap->class_count > HEAP_NONE / 3)
		return hdb_fail(err, HDB_ELIMIT,
				"too many classes for totals: %" PRIu32 " (limit %" PRIu32 ")",
				t->derive->heap->class_count, HEAP_NONE / 3);
	TRY(derive_number_inner(t->derive, &w.order, err));
	TRY(put_objects(&w, err));
	/* The walk needs only the buckets, so the links are freed before it starts. */
	base_big_free(&w.order.link_big);
	return walk_all(&w, err);
}
