/*
 * derive/dominators_nca.c - dominators and retained sizes of heaps whose references lead far away.
 *
 * Each pass reads the references of those objects that have to be shown, on all threads.
 */
#include "derive/dominators_nca.h"

#include "base/thread.h"
#include "derive/blocks.h"
#include "derive/dominator_rows.h"
#include "derive/references.h"
#include "graph/dominators/contract.h"
#include "graph/dominators/nca_grow.h"

#include <assert.h>
#include <stdlib.h>

static_assert(STORE_LIST_GROUP == GRAPH_NCA_GROUP && STORE_BLOCK_OBJECTS % STORE_LIST_GROUP == 0,
	      "lists are read in the groups that the passes ask for");

/* Of heaps with fewer objects it is not asked how far references lead. */
#define SAMPLE_OBJECTS_MIN 1000000u

/*
 * All references but this part must be far: on heaps of programs arrays and lists are near what has
 * them, and this way would be given up after a while.
 */
#define FAR_PART 10u

/* Edges of a big list that wait to be put away. */
#define JOIN_EDGES 0x10000u

/*
 * Groups of a block that make it worth to read the whole of it: each alone costs a read of some
 * pages.
 */
#define ASK_GROUPS 32u

/* Blocks that are asked for before their turn, a thread. */
#define ASK_AHEAD 2u

/* What a block's work has for itself. */
struct far_slot {
	struct graph_nca_batch *batch;
	struct base_vec entries; /* uint32_t */
	struct base_vec big;     /* uint32_t: objects with big lists that have to be shown */
	BASE_APART;
};

struct far {
	struct derive *derive;
	struct store_writer *writer;
	struct store_block *blocks; /* of the table references */
	struct store_lists lists;   /* for big ones */
	struct far_slot *slots;
	unsigned slot_count;
	bool is_backward;   /* the pass goes from the last block to the first */
	bool wants_classes; /* there are class objects that may rise */
	struct graph_nca nca;
};

/* ---- whether this is the way ---- */

/* References of a sample. */
struct sample {
	uint64_t far_count, edge_count;
};

static int take_sampled(void *ctx, const struct derive_sampled *sampled, struct hdb_error *err)
{
	struct sample *sample = ctx;
	const uint32_t first = sampled->block_no * STORE_BLOCK_OBJECTS + sampled->first;
	const uint32_t *entry = sampled->entries;

	(void)err;
	for (uint32_t i = 0; i < sampled->count; i++) {
		for (uint64_t e = 0; e < sampled->length[i]; e++)
			sample->far_count += entry[e] - (first + i) + GRAPH_FAR > 2 * GRAPH_FAR;
		entry += sampled->length[i];
		sample->edge_count += sampled->length[i];
	}
	return HDB_OK;
}

/*
 * HDB_OK if nearly all references are far, or most where there is no room for another way; else
 * HDB_NOTFOUND.
 */
static int is_far(struct far *far, struct hdb_error *err)
{
	const uint32_t n = far->derive->heap->object_count;
	const bool is_short = graph_contract_bytes(n) > base_work_room(far->derive->work);
	const uint64_t part = is_short ? 2 : FAR_PART;
	struct sample sample = { 0 };
	int r;

	if (n < SAMPLE_OBJECTS_MIN || n > GRAPH_NCA_NODES_MAX)
		return HDB_NOTFOUND;
	r = derive_sample_references(far->derive, far->blocks, take_sampled, &sample, err);
	if (r != HDB_OK)
		return r;
	assert(sample.far_count <= sample.edge_count);
	return sample.far_count > sample.edge_count - sample.edge_count / part ? HDB_OK :
										 HDB_NOTFOUND;
}

/* ---- the passes ---- */

/* The edge of object i of a block to its class. Root classes are at the top anyway. */
static void show_class(struct far *far, struct far_slot *s, const struct derive_block *block,
		       uint32_t i)
{
	const uint32_t class_ix = heap_class(far->derive->heap, block->objects->class_no[i])->ix;

	graph_nca_show(&far->nca, s->batch, block->objects->first_ix + i, &class_ix, 1);
}

static int show_group(struct far *far, struct derive_block *block, uint32_t group, uint32_t mask,
		      struct hdb_error *err)
{
	struct far_slot *s = &far->slots[block->slot];
	const uint32_t first = group * STORE_LIST_GROUP;
	uint64_t lengths[STORE_LIST_GROUP] = { 0 };
	const struct store_lists_of of = heap_references_of(far->derive->heap);
	const uint32_t *entry;
	struct store_lists_out lists = { .lengths = lengths, .target = &s->entries };
	int r;

	assert(mask);
	assert(first < STORE_BLOCK_OBJECTS);
	s->entries.count = 0;
	r = store_lists_decode_group(&of, &far->blocks[block->block_no],
				     (struct store_lists_group){ group, mask }, &lists, err);
	if (r != HDB_OK)
		return r;
	entry = s->entries.data;
	for (uint32_t i = 0; i < lists.count; i++) {
		const uint32_t ix = block->objects->first_ix + first + i;
		const uint64_t n = lengths[i] & STORE_LIST_IS_BIG ? 0 : lengths[i];

		if (!(mask >> i & 1))
			continue;
		graph_nca_show(&far->nca, s->batch, ix, entry, n);
		entry += n;
		if (far->wants_classes)
			show_class(far, s, block, first + i);
		if (lengths[i] & STORE_LIST_IS_BIG &&
		    (r = base_vec_push(&s->big, &ix, sizeof(ix), err)) != HDB_OK)
			return r;
	}
	return HDB_OK;
}

static uint32_t group_count(const struct far *far, uint32_t block_no)
{
	const uint32_t first = block_no * STORE_BLOCK_OBJECTS,
		       left = far->derive->heap->object_count - first;

	return ((left < STORE_BLOCK_OBJECTS ? left : STORE_BLOCK_OBJECTS) + STORE_LIST_GROUP - 1) /
	       STORE_LIST_GROUP;
}

/*
 * Has the lists of a block read if many are needed: they may have been driven out of memory since
 * the last pass.
 */
static void ask_for(const struct far *far, uint32_t block_no)
{
	const struct store_block *block = &far->blocks[block_no];

	if (block_no < heap_block_count(far->derive->heap) &&
	    graph_nca_waiting(&far->nca, block_no * (STORE_BLOCK_OBJECTS / STORE_LIST_GROUP),
			      group_count(far, block_no)) >= ASK_GROUPS)
		base_map_soon(block->data, block->size);
}

static int show_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct far *far = ctx;
	struct far_slot *s = &far->slots[block->slot];
	const uint32_t first_group = block->objects->first_ix / STORE_LIST_GROUP;
	const uint32_t groups = group_count(far, block->block_no);
	const uint32_t ahead = ASK_AHEAD * far->derive->work->threads;
	bool has_objects = !far->wants_classes;
	int r = HDB_OK;

	s->big.count = 0;
	ask_for(far, block->block_no);
	ask_for(far, far->is_backward ? block->block_no - ahead : block->block_no + ahead);
	for (uint32_t g = 0; g < groups; g++) {
		uint32_t mask;

		if (!graph_nca_wants(&far->nca, s->batch, first_group + g, &mask))
			continue;
		if (!has_objects) {
			r = heap_read_block(far->derive->heap, block->block_no, block->objects,
					    err);
			if (r != HDB_OK)
				goto out;
			has_objects = true;
		}
		if ((r = show_group(far, block, g, mask, err)) != HDB_OK)
			goto out;
	}
out:
	graph_nca_flush(&far->nca, s->batch);
	return r;
}

/* Shows all references of an object with a big list. */
static int show_big(struct far *far, struct far_slot *s, uint32_t ix, struct hdb_error *err)
{
	const uint32_t *batch;
	size_t count = 0;
	int r = store_lists_begin(&far->lists, ix, NULL, err);

	if (r != HDB_OK)
		return r;
	do {
		if ((r = store_lists_next(&far->lists, &batch, &count, err)) != HDB_OK)
			return r;
		graph_nca_show(&far->nca, s->batch, ix, batch, count);
		if (s->batch->tree.count + s->batch->others.count > JOIN_EDGES &&
		    (r = graph_nca_join(&far->nca, s->batch, err)) != HDB_OK)
			return r;
	} while (count);
	return HDB_OK;
}

/* Shows the big lists of a block, and joins it to the pass. */
static int take_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct far *far = ctx;
	struct far_slot *s = &far->slots[block->slot];
	int r = HDB_OK;

	for (size_t i = 0; i < s->big.count; i++)
		if ((r = show_big(far, s, *base_vec_at(&s->big, uint32_t, i), err)) != HDB_OK)
			break;
	graph_nca_flush(&far->nca, s->batch);
	if (r != HDB_OK)
		return r;
	return graph_nca_join(&far->nca, s->batch, err);
}

/* Whether there are class objects to which edges from instances matter. */
static bool has_low_classes(const struct far *far)
{
	const struct heap *heap = far->derive->heap;

	for (uint32_t c = 0; c < heap->class_count; c++) {
		const uint32_t ix = heap_class(heap, c)->ix;

		if (ix < heap->object_count && !heap_is_root(heap, ix))
			return true;
	}
	return false;
}

static int find_dominators(struct far *far, struct hdb_error *err)
{
	struct heap *heap = far->derive->heap;
	int r = graph_nca_init(&far->nca, heap->object_count, heap->root_bits, far->derive->work,
			       err);

	if (r != HDB_OK)
		goto out;
	far->wants_classes = has_low_classes(far);
	if (far->wants_classes)
		r = heap_prepare_blocks(heap, far->derive->work->threads, err);
	if (r != HDB_OK)
		goto out;
	do {
		r = derive_each_block(
			far->derive,
			&(struct derive_pass){ .stage = "dominators: common ancestors",
					       .is_backward = far->is_backward,
					       .make = show_block,
					       .take = take_block,
					       .ctx = far },
			err);
		if (r != HDB_OK)
			goto out;
		far->is_backward = !far->is_backward;
	} while ((r = graph_nca_next(&far->nca)) == HDB_OK);
	if (r == HDB_END)
		r = graph_nca_rise(&far->nca, err);
out:
	return r == GRAPH_BUDGET ? HDB_NOTFOUND : r;
}

/* ---- the tables ---- */

static int read_parents(void *ctx, struct derive_block *block, uint32_t *parent,
			struct hdb_error *err)
{
	const struct far *far = ctx;

	(void)err;
	graph_nca_parents(&far->nca, block->objects->first_ix, block->objects->count, parent);
	return HDB_OK;
}

static void release_parents(void *ctx)
{
	struct far *far = ctx;

	graph_nca_release(&far->nca);
}

static int write_tables(struct far *far, struct hdb_error *err)
{
	const struct derive_parents parents = {
		.read = read_parents,
		.release = release_parents,
		.ctx = far,
	};

	return derive_put_parents(far->derive, far->writer, &parents, err);
}

static int make_slots(struct far *far, struct hdb_error *err)
{
	far->slot_count = DERIVE_SLOTS_PER_THREAD * far->derive->work->threads;
	far->slots = calloc(far->slot_count, sizeof(*far->slots));
	for (unsigned i = 0; far->slots && i < far->slot_count; i++) {
		far->slots[i].batch = calloc(1, sizeof(*far->slots[i].batch));
		if (!far->slots[i].batch)
			return hdb_fail_memory(err, "dominators", sizeof(*far->slots[i].batch));
	}
	return far->slots ? HDB_OK : hdb_fail_memory(err, "dominators", sizeof(*far->slots));
}

static void free_slots(struct far *far)
{
	for (unsigned i = 0; far->slots && i < far->slot_count; i++) {
		if (far->slots[i].batch)
			graph_nca_batch_release(far->slots[i].batch);
		free(far->slots[i].batch);
		base_vec_release(&far->slots[i].entries);
		base_vec_release(&far->slots[i].big);
	}
	free(far->slots);
}

int derive_build_nca(struct derive *derive, struct store_writer *writer, struct hdb_error *err)
{
	struct far far = { .derive = derive, .writer = writer };
	int r = heap_load_classes(derive->heap, err);

	heap_references(derive->heap, &far.lists);
	if (r != HDB_OK)
		goto out;
	if ((r = heap_load_roots(derive->heap, err)) != HDB_OK)
		goto out;
	if ((r = derive_reference_blocks(derive, &far.blocks, err)) != HDB_OK)
		goto out;
	if ((r = is_far(&far, err)) != HDB_OK)
		goto out;
	if ((r = make_slots(&far, err)) != HDB_OK)
		goto out;
	if ((r = find_dominators(&far, err)) != HDB_OK)
		goto out;
	r = write_tables(&far, err);
out:
	graph_nca_release(&far.nca);
	free_slots(&far);
	free(far.blocks);
	return r;
}
