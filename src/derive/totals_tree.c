/*
 * derive/totals_tree.c - counts, sizes and retained sizes of groups of classes, from the dominator
 * tree.
 *
 * The retained size of a group is the sum over its topmost members: those that no other member
 * dominates. In preorder these are easy to recognise: a member is topmost if it comes after the end
 * of the subtree of the last topmost member. So one walk in preorder serves all groups of all
 * kinds, with one number per group.
 *
 * The tree is too large to be walked by pointers. Its inner nodes get preorder numbers
 * (graph/preorder.h), and each object goes into the bucket of its number or, for a leaf, of its
 * dominator's number. Sorting the buckets on all threads, range by range, gives the tree in
 * preorder. Leaves of the top level have no number and are always topmost: the pass over the
 * objects adds them up directly.
 *
 * Buckets identify an object by its member number: its class number, or, for a class object or a
 * class loader, whose group by loader is not that of its class, a number above all class numbers
 * (member_of).
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

/* Ranges in flight per thread. Each takes a few MB. */
#define SLOTS_PER_THREAD 2u

/* Distance, in objects, at which links are prefetched. */
#define AHEAD 16u

/* Sums over objects of one class, one per slot so that threads never share them. */
struct class_sum {
	uint64_t count, bytes, unreachable_count, unreachable_bytes;
	uint64_t topmost_bytes; /* retained by members that are leaves of the top level */
};

/* An inner node, indexed by preorder number. */
struct inner_row {
	uint64_t units;  /* retained, in units of the alignment */
	uint32_t member; /* HEAP_NONE: belongs to no group */
	uint32_t count;  /* number of inner nodes in its subtree, itself included */
};

/* A range of preorder numbers. Any thread prepares it; the calling thread walks it. */
struct range_slot {
	struct graph_child_range leaves;
	struct inner_row *inner;
	bool is_filled; /* leaves fit in memory and have been read */
	BASE_NO_SHARING;
};

/* A class of an object above the current one, until this preorder number. */
struct opened {
	uint32_t end, class_no;
};

struct totals_tree {
	struct totals *t;
	struct class_sum *sums;   /* by slot, then class */
	uint64_t *loader_topmost; /* by slot, then group by loader: as topmost_bytes */
	struct graph_preorder order;
	struct graph_child_rows leaves; /* by dominator's number; nodes are member numbers */
	/* by range of numbers; fields: number, member, units, count */
	struct base_buckets inner;
	/*
	 * Consecutive leaves with the same dominator and member number, not added to `leaves` yet.
	 * Merging them makes the buckets of large arrays and collections much smaller.
	 */
	uint32_t leaf_row, leaf_member;
	uint64_t leaf_units;
	/* the walk */
	struct range_slot *slots;
	const struct range_slot *slot; /* the range being walked */
	unsigned slot_count;
	uint32_t base, row,
		end; /* first number of the range, next number to enter, end of the range */
	uint32_t *until[TOTALS_KINDS]; /* by group: end of the subtree of its last topmost member */
	struct opened *opened;         /* classes open in the class tree, innermost last */
	uint32_t opened_count;
};

/* ---- member numbers ---- */

/* The groups that a member number stands for. */
struct member {
	uint32_t class_no, loader_group;
};

/*
 * Member numbers are consecutive: classes, then class objects by the class they represent, then
 * loaders by group.
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

/* Groups by loader are in ascending order of loader index: binary search. */
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

/* ---- all objects: counted, then distributed to spill buckets ---- */

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
 * Replaces each object's dominator by the place of an inner node: its own place, or that of a
 * leaf's dominator. GRAPH_NONE for objects that go into no bucket. values[i] becomes 1 for inner
 * nodes. Leaves of the top level are added to the sums here.
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

/* Runs on any thread; sums go into the slot's own arrays. */
static int make_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct totals_tree *w = ctx;
	struct derive_tree_block *tree = block->room;
	const uint32_t count = block->objects->count;

	TRY(derive_tree_read(w->t->derive, block, tree, err));
	count_block(w, block);
	find_places(w, block);
	/*
	 * Turns places into preorder numbers, and values[] into the size of a subtree (0 for
	 * leaves).
	 */
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

static int put_leaf(struct totals_tree *w, struct hdb_error *err)
{
	return w->leaf_units ? graph_child_rows_add(&w->leaves, w->leaf_row, w->leaf_member,
						    w->leaf_units, err) :
			       HDB_OK;
}

/*
 * Leaves with the same dominator and member are merged into one record before they are spilled: a
 * large array has millions of them.
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

/* One pass over all objects: sums by class, and the rest of the tree into buckets. */
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
 * Adds an object's retained size to its class and its superclasses, except those that already have
 * an instance among the object's dominators: their total includes it. Sums are stored as
 * differences, so only the two ends of the chain of superclasses change.
 */
static void add_supers(struct totals_tree *w, uint32_t class_no, uint64_t bytes, uint32_t end)
{
	struct derive_total *totals = w->t->kinds[DERIVE_SUPERCLASS].totals;
	struct class_tree *supers = &w->t->supers;
	const uint32_t covered = derive_class_tree_covered(supers, class_no);

	assert(class_no < w->t->derive->heap->class_count);
	totals[class_no].retained_bytes += bytes;
	if (covered != STORE_NONE)
		totals[covered].retained_bytes -= bytes;
	if (end && !supers->open[class_no]) {
		assert(w->opened_count < w->t->derive->heap->class_count);
		derive_class_tree_open(supers, class_no);
		w->opened[w->opened_count++] = (struct opened){ end, class_no };
	}
}

/* Visits an object in preorder. `end` is the end of its subtree, 0 for a leaf. */
static void add_object(struct totals_tree *w, uint32_t row, uint32_t member_no, uint64_t units,
		       uint32_t end)
{
	const uint64_t bytes = units * w->t->derive->heap->layout.align_bytes;
	const struct member member = member_at(w, member_no);

	for (unsigned k = 0; k < TOTALS_KINDS; k++) {
		const struct totals_groups *g = &w->t->kinds[k];
		const uint32_t group =
			k == DERIVE_LOADER ? member.loader_group : g->of_class[member.class_no];

		assert(group < g->count);
		if (k == DERIVE_SUPERCLASS || row < w->until[k][group])
			continue;
		g->totals[group].retained_bytes += bytes;
		if (end)
			w->until[k][group] = end;
	}
	add_supers(w, member.class_no, bytes, end);
}

/* Enters the inner nodes up to `row`, closing the classes whose subtrees end on the way. */
static void go_to(struct totals_tree *w, uint32_t row)
{
	assert(row < w->end);
	for (; w->row <= row; w->row++) {
		const struct inner_row *inner = &w->slot->inner[w->row - w->base];

		while (w->opened_count && w->opened[w->opened_count - 1].end <= w->row)
			derive_class_tree_close(&w->t->supers,
						w->opened[--w->opened_count].class_no);
		if (inner->member != HEAP_NONE)
			add_object(w, w->row, inner->member, inner->units, w->row + inner->count);
	}
}

static int take_leaf(void *ctx, uint32_t row, uint32_t member, uint64_t units,
		     struct hdb_error *err)
{
	struct totals_tree *w = ctx;

	(void)err;
	if (w->row <= row)
		go_to(w, row);
	add_object(w, row, member, units, 0);
	return HDB_OK;
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

static int make_range(void *ctx, unsigned slot_no, uint64_t no, struct hdb_error *err)
{
	struct totals_tree *w = ctx;
	struct range_slot *slot = &w->slots[slot_no];

	TRY(read_inner(w, slot, (uint32_t)no, err));
	slot->is_filled = graph_child_range_fits(&w->leaves, (uint32_t)no);
	if (!slot->is_filled)
		return HDB_OK;
	return graph_child_range_fill(&w->leaves, (uint32_t)no, &slot->leaves, err);
}

/*
 * Visits inner nodes and leaves in preorder. Leaves come right after their dominator, which does
 * not change the result: they dominate nothing.
 */
static int walk_range(void *ctx, unsigned slot_no, uint64_t no, struct hdb_error *err)
{
	struct totals_tree *w = ctx;
	const struct range_slot *slot = w->slot = &w->slots[slot_no];
	const struct graph_child_range *leaves = &slot->leaves;

	TRY(base_step(w->t->derive->work, no << w->leaves.bits, err));
	w->row = w->base = (uint32_t)no << w->leaves.bits;
	w->end = w->order.inner.count - w->base < (uint32_t)1 << w->leaves.bits ?
			 w->order.inner.count :
			 w->base + ((uint32_t)1 << w->leaves.bits);
	for (uint32_t row = w->base; slot->is_filled && row < w->end; row++) {
		const uint64_t *first = &leaves->first[row - w->base];

		go_to(w, row);
		for (uint64_t i = first[0]; i < first[1]; i++)
			add_object(w, row, leaves->key[i].node, ~leaves->key[i].key, 0);
	}
	if (!slot->is_filled)
		TRY(graph_child_rows_merge(&w->leaves, (uint32_t)no, take_leaf, w, err));
	if (w->row < w->end)
		go_to(w, w->end - 1);
	base_bucket_drop(&w->leaves.buckets, (uint32_t)no);
	base_bucket_drop(&w->inner, (uint32_t)no);
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
		.consume = walk_range,
	};

	base_stage(derive->work, "totals by class", w->order.inner.count, "objects");
	w->slot_count = pipeline.slot_count;
	TRY(BASE_ALLOC(w->slots, w->slot_count, "totals", err));
	TRY(BASE_ALLOC(w->opened, derive->heap->class_count, "totals", err));
	for (unsigned k = 0; k < TOTALS_KINDS; k++)
		TRY(BASE_ALLOC(w->until[k], w->t->kinds[k].count, "totals", err));
	return base_pipeline_run(&pipeline, err);
}

static void release(struct totals_tree *w)
{
	for (unsigned i = 0; w->slots && i < w->slot_count; i++) {
		graph_child_range_release(&w->slots[i].leaves);
		free(w->slots[i].inner);
	}
	for (unsigned k = 0; k < TOTALS_KINDS; k++)
		free(w->until[k]);
	graph_child_rows_release(&w->leaves);
	base_buckets_release(&w->inner);
	graph_preorder_release(&w->order);
	free(w->slots);
	free(w->opened);
	free(w->sums);
	free(w->loader_topmost);
}

int derive_totals_add_objects(struct totals *t, struct hdb_error *err)
{
	BASE_SCOPED(release) struct totals_tree w = { .t = t };

	TRY(derive_tree_prepare(t->derive, err));
	/*
	 * Member numbers are assigned to classes, to class objects and to loaders, all in 32 bits.
	 */
	if (t->derive->heap->class_count > HEAP_NONE / 3)
		return hdb_fail(err, HDB_ELIMIT,
				"too many classes for totals: %" PRIu32 " (limit %" PRIu32 ")",
				t->derive->heap->class_count, HEAP_NONE / 3);
	TRY(derive_number_inner(t->derive, &w.order, err));
	TRY(put_objects(&w, err));
	/* The walk needs only the buckets, so the links are freed first. */
	base_big_free(&w.order.link_big);
	return walk_all(&w, err);
}
