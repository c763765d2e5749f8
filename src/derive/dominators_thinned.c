/*
 * derive/dominators_thinned.c - a sample of references, and a pass over those that were left out.
 */
#include "derive/dominators_thinned.h"

#include "base/thread.h"
#include "derive/blocks.h"
#include "derive/references.h"

#include <assert.h>
#include <stdlib.h>

/* Edges to classes with fewer objects all stay. */
#define THIN_OBJECTS_MIN 16384u

/*
 * A graph is dense from DENSE_EDGES / DENSE_PART edges a node on that do not lead to popular nodes:
 * heaps of services have 1.1 to 1.2, those of compilers 2.0 to 2.3. If one edge of FAR_PART is
 * far, contraction with settling is faster.
 */
#define DENSE_EDGES 8u
#define DENSE_PART 5u
#define FAR_PART 2u

/* ---- the sample ---- */

struct sampler {
	const struct derive_thinned *x;
	struct graph_thinning_sample sample;
	struct heap_block *objects; /* classes of those of the block whose groups come */
	uint64_t far_count;         /* of the sample's edges */
};

/* Adds the edges of an object to what may be popular. */
static int add_edges(struct sampler *s, struct graph_source from, const uint32_t *target,
		     uint64_t count, struct hdb_error *err)
{
	const struct graph_contract *c = s->x->c;
	int r;

	for (uint64_t i = 0; i < count; i++) {
		const struct base_sort_key edge = { .key = graph_thin_key(from.class_no,
									  target[i]) };

		if (graph_contract_is_soft(c, target[i]) ||
		    c->root_bits[target[i] / 64] >> (target[i] % 64) & 1)
			continue;
		if ((r = base_vec_push(&s->sample.edges, &edge, sizeof(edge), err)) != HDB_OK)
			return r;
		s->far_count += target[i] - from.v + GRAPH_FAR > 2 * GRAPH_FAR;
	}
	return HDB_OK;
}

static int take_sampled(void *ctx, const struct derive_sampled *sampled, struct hdb_error *err)
{
	struct sampler *s = ctx;
	struct heap *heap = s->x->derive->heap;
	const uint32_t block_no = sampled->block_no;
	const uint32_t *entry = sampled->entries;
	int r;

	/* A block's first group. */
	if (!sampled->first && (r = heap_read_classes(heap, block_no, s->objects, err)) != HDB_OK)
		return r;
	for (uint32_t i = 0; i < sampled->count; i++) {
		const uint32_t at = sampled->first + i;
		const struct graph_source from = { block_no * STORE_BLOCK_OBJECTS + at,
						   s->objects->class_no[at] };

		r = add_edges(s, from, entry, sampled->length[i], err);
		if (r != HDB_OK)
			return r;
		entry += sampled->length[i];
	}
	s->sample.node_count += sampled->count;
	return HDB_OK;
}

/* Classes with many objects, edges to which are pushed. */
static int add_classes(struct sampler *s, struct hdb_error *err)
{
	const struct heap *heap = s->x->derive->heap;
	int r;

	s->sample.class_count = heap->class_count;
	for (uint32_t no = 0; no < heap->class_count; no++) {
		const struct graph_thin_class class = { no, heap_class(heap, no)->ix,
							s->x->objects[no] };

		if (class.count < THIN_OBJECTS_MIN || class.node >= heap->object_count ||
		    !graph_contract_is_soft(s->x->c, class.node))
			continue;
		if ((r = base_vec_push(&s->sample.classes, &class, sizeof(class), err)) != HDB_OK)
			return r;
	}
	return HDB_OK;
}

/* Looks at some objects, and decides which edges to leave out. */
static int thin(struct sampler *s, struct graph_thinning *thinning, struct hdb_error *err)
{
	const struct derive_thinned *x = s->x;
	int r;

	s->objects = malloc(sizeof(*s->objects));
	if (!s->objects)
		return hdb_fail_memory(err, "a block of objects", sizeof(*s->objects));
	/* The passes that follow need all blocks: here they are opened on all threads. */
	if ((r = heap_prepare_blocks(x->derive->heap, x->derive->work->threads, err)) != HDB_OK)
		return r;
	r = derive_sample_references(x->derive, x->blocks, take_sampled, s, err);
	if (r != HDB_OK)
		return r;
	if ((r = add_classes(s, err)) != HDB_OK)
		return r;
	return graph_thinning_init(thinning, &s->sample,
				   (struct graph_thin_nodes){ x->c->node_count, x->c->root_bits },
				   x->derive->work, err);
}

static void release_sampler(struct sampler *s)
{
	base_vec_release(&s->sample.edges);
	base_vec_release(&s->sample.classes);
	free(s->objects);
}

/* Whether most objects would be kept, by the sample. */
static bool is_dense_sample(const struct sampler *s, const struct graph_thinning *thinning)
{
	/* Nearly all that lead to popular nodes are far. */
	const uint64_t popular = thinning->popular_edges;
	const uint64_t edge_count = s->sample.edges.count - popular;
	const uint64_t far_count = s->far_count - (s->far_count < popular ? s->far_count : popular);

	assert(popular <= s->sample.edges.count);
	return edge_count * DENSE_PART >= (uint64_t)s->sample.node_count * DENSE_EDGES &&
	       far_count * FAR_PART < edge_count;
}

int derive_thin(const struct derive_thinned *x, struct graph_thinning *thinning, bool *is_dense,
		struct hdb_error *err)
{
	struct sampler s = { .x = x };
	int r = thin(&s, thinning, err);

	*is_dense = false;
	if (r != HDB_OK)
		goto out;
	*is_dense = is_dense_sample(&s, thinning);
	if (thinning->popular.count || thinning->classes.count)
		r = graph_contract_thin(x->c, thinning, err);
out:
	release_sampler(&s);
	return r;
}

/* ---- the check ---- */

/* More objects are not spared one by one. */
#define SPARED_MAX 65536u

struct check_slot {
	struct base_vec entries;  /* uint32_t */
	struct base_vec edges;    /* struct graph_left_out: to what is doubted */
	struct base_vec doubtful; /* the same: that do not agree */
	BASE_APART;
};

struct checker {
	const struct derive_thinned *x;
	struct graph_thinning *thinning;
	struct check_slot *slots;
	unsigned slot_count;
	uint64_t *doubted;    /* bits by object: not by its class alone */
	uint64_t filter[64];  /* bits by filter_of */
	uint32_t *doubted_ix; /* by class: its object, if that is doubted; GRAPH_NONE */
	bool are_some_popular, are_some_classes; /* of those that are doubted */
	uint64_t spared_count;
};

/* An edge of object i of a block is to be looked at. */
static int add_edge(const struct checker *ch, const struct derive_block *block, uint32_t i,
		    uint32_t target, struct hdb_error *err)
{
	const struct graph_left_out edge = { .v = block->objects->first_ix + i, .target = target };

	return base_vec_push(&ch->slots[block->slot].edges, &edge, sizeof(edge), err);
}

/* Which of 4,096 parts of all objects one is in, mixed well: what is doubted is in few. */
static uint32_t filter_of(uint32_t ix)
{
	return ix * 0x9e3779b1u >> 20;
}

/* Its references to what is doubted, of which there are few. */
static inline int add_references(const struct checker *ch, const struct derive_block *block,
				 uint32_t i, struct graph_targets targets, struct hdb_error *err)
{
	int r = HDB_OK;

	for (uint64_t e = 0; e < targets.count && r == HDB_OK; e++) {
		const uint32_t t = targets.target[e], part = filter_of(t);

		if (ch->filter[part / 64] >> (part % 64) & 1 && ch->doubted[t / 64] >> (t % 64) & 1)
			r = add_edge(ch, block, i, t, err);
	}
	return r;
}

/* All such references. */
static int add_lists(const struct checker *ch, struct derive_block *block, struct hdb_error *err)
{
	struct check_slot *s = &ch->slots[block->slot];
	const struct store_lists_of of = heap_references_of(ch->x->derive->heap);
	const uint32_t count = block->objects->count;
	struct store_lists_out lists = { .target = &s->entries };
	const uint32_t *entry;
	int r = base_vec_reserve(&block->bytes[0], count * sizeof(*lists.lengths), 1, err);

	if (r != HDB_OK)
		return r;
	lists.lengths = block->bytes[0].data;
	s->entries.count = 0;
	r = store_lists_decode(&of, &ch->x->blocks[block->block_no], &lists, err);
	if (r != HDB_OK)
		return r;
	entry = s->entries.data;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t n = lists.lengths[i] & STORE_LIST_IS_BIG ? 0 : lists.lengths[i];

		r = add_references(ch, block, i, (struct graph_targets){ entry, n }, err);
		if (r != HDB_OK)
			return r;
		entry += n;
	}
	return HDB_OK;
}

/* Edges to their classes. */
static int add_class_edges(const struct checker *ch, const struct derive_block *block,
			   struct hdb_error *err)
{
	const struct heap_block *objects = block->objects;
	int r = HDB_OK;

	for (uint32_t i = 0; i < objects->count && r == HDB_OK; i++) {
		const uint32_t target = ch->doubted_ix[objects->class_no[i]];

		if (target != GRAPH_NONE)
			r = add_edge(ch, block, i, target, err);
	}
	return r;
}

static int check_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct checker *ch = ctx;
	const struct heap_block *objects = block->objects;
	struct check_slot *s = &ch->slots[block->slot];
	bool is_any = ch->are_some_popular;
	int r;

	s->edges.count = s->doubtful.count = 0;
	for (uint32_t i = 0; ch->are_some_classes && i < objects->count && !is_any; i++)
		is_any = ch->doubted_ix[objects->class_no[i]] != GRAPH_NONE;
	if (!is_any)
		return HDB_OK;
	if (ch->are_some_popular && (r = add_lists(ch, block, err)) != HDB_OK)
		return r;
	if (ch->are_some_classes && (r = add_class_edges(ch, block, err)) != HDB_OK)
		return r;
	if (!s->edges.count)
		return HDB_OK;
	r = graph_contract_values(ch->x->c, objects->first_ix, objects->count, block->values, err);
	if (r != HDB_OK)
		return r;
	return graph_contract_doubtful(ch->x->c,
				       &(struct graph_left_out_range){ .first = objects->first_ix,
								       .values = block->values,
								       .edge = s->edges.data,
								       .count = s->edges.count },
				       &s->doubtful, err);
}

/* Dominators rise, or objects are spared. */
static int take_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct checker *ch = ctx;
	const struct base_vec *doubtful = &ch->slots[block->slot].doubtful;

	(void)err;
	for (size_t i = 0; i < doubtful->count; i++) {
		const struct graph_left_out *edge = base_vec_at(doubtful, struct graph_left_out, i);

		if (graph_contract_raise(ch->x->c, edge))
			continue;
		graph_thinning_spare(ch->thinning, edge->v);
		ch->spared_count++;
	}
	return HDB_OK;
}

/* Which objects and classes are doubted. */
static int list_doubted(struct checker *ch, struct hdb_error *err)
{
	const struct heap *heap = ch->x->derive->heap;
	const struct base_vec *doubts = &ch->x->c->doubts, *classes = &ch->thinning->classes;
	const size_t words = heap->object_count / 64 + 1;
	uint64_t *is_doubted = calloc(words, sizeof(*is_doubted));
	int r = HDB_OK;

	ch->doubted = calloc(words, sizeof(*ch->doubted));
	ch->doubted_ix = malloc(((size_t)heap->class_count + 1) * sizeof(*ch->doubted_ix));
	if (!is_doubted || !ch->doubted || !ch->doubted_ix) {
		r = hdb_fail_memory(err, "popular objects", words);
		goto out;
	}
	for (size_t i = 0; i < doubts->count; i++) {
		const struct graph_doubt *doubt = base_vec_at(doubts, struct graph_doubt, i);
		uint64_t *bits = doubt->is_class ? is_doubted : ch->doubted;

		bits[doubt->target / 64] |= (uint64_t)1 << (doubt->target % 64);
		ch->filter[filter_of(doubt->target) / 64] |= (uint64_t)1
							     << (filter_of(doubt->target) % 64);
		ch->are_some_popular = ch->are_some_popular || !doubt->is_class;
		ch->are_some_classes = ch->are_some_classes || doubt->is_class;
	}
	memset(ch->doubted_ix, 0xff, heap->class_count * sizeof(*ch->doubted_ix));
	for (size_t i = 0; i < classes->count; i++) {
		const struct graph_thin_class *class =
			base_vec_at(classes, struct graph_thin_class, i);

		if (is_doubted[class->node / 64] >> (class->node % 64) & 1)
			ch->doubted_ix[class->class_no] = class->node;
	}
out:
	free(is_doubted);
	return r;
}

/* With doubts: looks at all edges to such objects. */
static int check_doubts(struct checker *ch, struct hdb_error *err)
{
	struct derive *derive = ch->x->derive;
	int r = list_doubted(ch, err);

	if (r != HDB_OK)
		goto out;
	ch->slot_count = DERIVE_SLOTS_PER_THREAD * derive->work->threads;
	ch->slots = calloc(ch->slot_count, sizeof(*ch->slots));
	if (!ch->slots) {
		r = hdb_fail_memory(err, "popular objects", ch->slot_count * sizeof(*ch->slots));
		goto out;
	}
	r = derive_each_block(derive,
			      &(struct derive_pass){ .stage = "dominators: popular objects",
						     .reads_classes = ch->are_some_classes,
						     .make = check_block,
						     .take = take_block,
						     .ctx = ch },
			      err);
out:
	for (unsigned i = 0; ch->slots && i < ch->slot_count; i++) {
		base_vec_release(&ch->slots[i].entries);
		base_vec_release(&ch->slots[i].edges);
		base_vec_release(&ch->slots[i].doubtful);
	}
	free(ch->slots);
	free(ch->doubted);
	free(ch->doubted_ix);
	return r;
}

int derive_check_thinned(const struct derive_thinned *x, struct graph_thinning *thinning,
			 bool *is_right, struct hdb_error *err)
{
	struct checker ch = { .x = x, .thinning = thinning };
	int r = graph_contract_doubts(x->c, err);

	*is_right = false;
	if (r != HDB_OK)
		return r;
	if (!x->c->is_refuted && x->c->doubts.count && (r = check_doubts(&ch, err)) != HDB_OK)
		return r;
	*is_right = !x->c->is_refuted && !ch.spared_count;
	if (*is_right)
		return HDB_OK;
	return graph_contract_thin(
		x->c, x->c->is_refuted || ch.spared_count > SPARED_MAX ? NULL : thinning, err);
}
