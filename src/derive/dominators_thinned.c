/*
 * derive/dominators_thinned.c - a sample of references, and a pass over those that were left out.
 */
#include "derive/dominators_thinned.h"

#include "derive/blocks.h"
#include "derive/references.h"

#include <assert.h>
#include <stdlib.h>

/* Blocks that are looked at, spread over the heap, and of how many of their groups one is. */
#define SAMPLE_BLOCKS 64u
#define SAMPLE_GROUPS 16u

/* ---- the sample ---- */

struct sampler {
	const struct derive_thinned *x;
	struct graph_thinning_sample sample;
	struct heap_block *objects;
	struct base_vec entries; /* uint32_t */
};

/* Adds the edges of an object to what may be popular. */
static int add_edges(struct sampler *s, struct graph_source from, const uint32_t *target,
		     uint64_t count, struct hdb_error *err)
{
	const struct graph_contract *c = s->x->c;
	const uint32_t kind = graph_thin_kind(from.class_no, graph_contract_is_kept(c, from.v));
	int r;

	for (uint64_t i = 0; i < count; i++) {
		const struct base_sort_key edge = { .key = graph_thin_key(kind, target[i]) };

		if (!graph_contract_is_kept(c, target[i]) || graph_contract_is_soft(c, target[i]) ||
		    c->root_bits[target[i] / 64] >> (target[i] % 64) & 1)
			continue;
		if ((r = base_vec_push(&s->sample.edges, &edge, sizeof(edge), err)) != HDB_OK)
			return r;
	}
	return HDB_OK;
}

static int sample_group(struct sampler *s, uint32_t block_no, uint32_t group, struct hdb_error *err)
{
	const struct store_lists_of of = heap_references_of(s->x->derive->heap);
	uint64_t lengths[STORE_LIST_GROUP];
	struct store_lists_out lists = { .lengths = lengths, .target = &s->entries };
	const uint32_t *entry;
	int r;

	s->entries.count = 0;
	r = store_lists_decode_group(&of, &s->x->blocks[block_no],
				     (struct store_lists_group){ group, UINT32_MAX }, &lists, err);
	if (r != HDB_OK)
		return r;
	entry = s->entries.data;
	for (uint32_t i = 0; i < lists.count; i++) {
		const uint64_t n = lengths[i] & STORE_LIST_IS_BIG ? 0 : lengths[i];
		const uint32_t at = group * STORE_LIST_GROUP + i;
		const struct graph_source from = { block_no * STORE_BLOCK_OBJECTS + at,
						   s->objects->class_no[at] };

		r = add_edges(s, from, entry, n, err);
		if (r != HDB_OK)
			return r;
		entry += n;
	}
	s->sample.node_count += lists.count;
	return HDB_OK;
}

static int sample_block(struct sampler *s, uint32_t block_no, struct hdb_error *err)
{
	const uint32_t count = s->x->blocks[block_no].item_count;
	int r = heap_prepare_block(s->x->derive->heap, block_no, err);

	if (r != HDB_OK)
		return r;
	if ((r = heap_read_classes(s->x->derive->heap, block_no, s->objects, err)) != HDB_OK)
		return r;
	for (uint32_t g = 0; g * STORE_LIST_GROUP < count; g += SAMPLE_GROUPS)
		if ((r = sample_group(s, block_no, g, err)) != HDB_OK)
			return r;
	return HDB_OK;
}

int derive_thin(const struct derive_thinned *x, struct graph_thinning *thinning,
		struct hdb_error *err)
{
	const uint32_t blocks = heap_block_count(x->derive->heap);
	const uint32_t step = blocks / SAMPLE_BLOCKS + 1;
	struct sampler s = { .x = x, .objects = malloc(sizeof(*s.objects)) };
	int r = s.objects ? HDB_OK : hdb_fail_memory(err, "a block of objects", sizeof(*s.objects));

	for (uint32_t b = 0; b < blocks && r == HDB_OK; b += step)
		r = sample_block(&s, b, err);
	if (r != HDB_OK)
		goto out;
	r = graph_thinning_init(thinning, &s.sample, x->c->root_bits, x->c->node_count,
				x->derive->work, err);
	if (r != HDB_OK)
		goto out;
	if (thinning->popular.count)
		r = graph_contract_thin(x->c, thinning, err);
out:
	base_vec_release(&s.sample.edges);
	base_vec_release(&s.entries);
	free(s.objects);
	return r;
}

/* ---- the check ---- */

/* More objects are not spared one by one. */
#define SPARED_MAX 65536u

struct check_slot {
	struct base_vec entries;  /* uint32_t */
	struct base_vec doubtful; /* struct graph_left_out */
};

struct checker {
	const struct derive_thinned *x;
	struct graph_thinning *thinning;
	struct check_slot *slots;
	unsigned slot_count;
	uint64_t *doubted; /* bits by object */
	uint64_t spared_count;
};

/* Looks at an object's edges to what is doubted. */
static int check_edges(const struct checker *ch, struct check_slot *s,
		       const struct graph_left_out *from, struct graph_targets targets,
		       struct hdb_error *err)
{
	struct graph_left_out edge = *from;
	int r;

	for (uint64_t i = 0; i < targets.count; i++) {
		edge.target = targets.target[i];
		if (ch->doubted[edge.target / 64] >> (edge.target % 64) & 1 &&
		    !graph_contract_agrees(ch->x->c, edge.place, edge.target) &&
		    (r = base_vec_push(&s->doubtful, &edge, sizeof(edge), err)) != HDB_OK)
			return r;
	}
	return HDB_OK;
}

static int check_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct checker *ch = ctx;
	struct check_slot *s = &ch->slots[block->slot];
	const struct store_lists_of of = heap_references_of(ch->x->derive->heap);
	const uint32_t first_ix = block->objects->first_ix, count = block->objects->count;
	struct store_lists_out lists = { .target = &s->entries };
	const uint32_t *entry;
	int r = base_vec_reserve(&block->bytes[0], count * sizeof(*lists.lengths), 1, err);

	if (r != HDB_OK)
		return r;
	/* The block's values are places. */
	lists.lengths = block->bytes[0].data;
	s->entries.count = s->doubtful.count = 0;
	r = store_lists_decode(&of, &ch->x->blocks[block->block_no], &lists, err);
	if (r != HDB_OK)
		return r;
	r = graph_contract_places(ch->x->c, first_ix, count, block->values, err);
	if (r != HDB_OK)
		return r;
	entry = s->entries.data;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t n = lists.lengths[i] & STORE_LIST_IS_BIG ? 0 : lists.lengths[i];
		const struct graph_left_out from = { .v = first_ix + i,
						     .place = (uint32_t)block->values[i] };

		r = check_edges(ch, s, &from, (struct graph_targets){ entry, n }, err);
		if (r != HDB_OK)
			return r;
		entry += n;
	}
	return HDB_OK;
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

/* With doubts: looks at all edges to such objects. */
static int check_doubts(struct checker *ch, struct hdb_error *err)
{
	struct derive *derive = ch->x->derive;
	const struct base_vec *doubts = &ch->x->c->doubts;
	int r = HDB_OK;

	ch->slot_count = DERIVE_SLOTS_PER_THREAD * derive->work->threads;
	ch->slots = calloc(ch->slot_count, sizeof(*ch->slots));
	ch->doubted = calloc(derive->heap->object_count / 64 + 1, sizeof(*ch->doubted));
	if (!ch->slots || !ch->doubted) {
		r = hdb_fail_memory(err, "popular objects", ch->slot_count * sizeof(*ch->slots));
		goto out;
	}
	for (size_t i = 0; i < doubts->count; i++) {
		const uint32_t t = base_vec_at(doubts, struct graph_doubt, i)->target;

		ch->doubted[t / 64] |= (uint64_t)1 << (t % 64);
	}
	r = derive_each_block(derive,
			      &(struct derive_pass){ .stage = "dominators: popular objects",
						     .make = check_block,
						     .take = take_block,
						     .ctx = ch },
			      err);
out:
	for (unsigned i = 0; ch->slots && i < ch->slot_count; i++) {
		base_vec_release(&ch->slots[i].entries);
		base_vec_release(&ch->slots[i].doubtful);
	}
	free(ch->slots);
	free(ch->doubted);
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
