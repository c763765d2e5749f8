/*
 * queries/leaks/leak_sums.c - computes sums by class for all leak suspects; see leak_sums.h for the
 * algorithm.
 */
#include "queries/leaks/leak_sums.h"

#include "base/rank_bitset.h"
#include "derive/blocks.h"
#include "derive/build.h"
#include "heap/heap_database.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Label of objects that belong to no suspect. Numbers of suspects are smaller. */
#define NO_SUSPECT 0xffu
/*
 * If a value of `up` is at least FIRST_LABEL, it stands for the suspect with the number `value -
 * FIRST_LABEL`. A smaller value is the place (number among the inner objects) of the dominator. The
 * number of places is always less than FIRST_LABEL, because not every object dominates others.
 */
#define FIRST_LABEL (UINT32_MAX - NO_SUSPECT)
/* How many objects ahead to prefetch. */
#define AHEAD 16u

static_assert(SUSPECTS_MAX <= NO_SUSPECT, "the number of a suspect must fit in a byte");

struct counting {
	const struct session *session;
	const struct analysis_suspects *suspects;
	struct analysis_leak_sums *out;
	struct derive_tree_block *blocks; /* indexed by slot of the pass */
	struct base_ranks inner;          /* objects that dominate others */
	/* indexed by place of an inner object: place of its dominator, or a label */
	_Atomic uint32_t *up;
	struct base_big up_big;
	/* indexed by class: number of the suspect that is a group of this class, or NO_SUSPECT */
	uint8_t *group_of_class;
	bool has_groups;
	/*
	 * bit i: whether some accumulation point has an index that is i modulo 64; this test
	 * excludes nearly all objects quickly
	 */
	uint64_t point_bits;
	uint64_t split_bits; /* like point_bits, for suspects split from a class object */
};

struct analysis_class_sum *analysis_leak_sums_contents(const struct analysis_leak_sums *sums,
						       size_t suspect)
{
	assert(suspect < SUSPECTS_MAX);
	return (struct analysis_class_sum *)sums->contents_big.data + suspect * sums->class_count;
}

struct analysis_class_sum *analysis_leak_sums_children(const struct analysis_leak_sums *sums,
						       size_t suspect)
{
	assert(suspect < SUSPECTS_MAX);
	return (struct analysis_class_sum *)sums->children_big.data + suspect * sums->class_count;
}

void analysis_leak_sums_release(struct analysis_leak_sums *sums)
{
	if (!sums->work)
		return;
	base_big_free(&sums->contents_big);
	base_big_free(&sums->children_big);
}

/* ---- the suspect to which a suspect or an object of the top level belongs ---- */

/*
 * Returns the suspect of an object without a dominator. class_no is used only if there are groups.
 */
static uint8_t suspect_of_top(const struct counting *c, uint32_t ix, uint32_t class_no)
{
	for (size_t i = 0; i < c->suspects->count; i++)
		if (c->suspects->list[i].ix == ix)
			return (uint8_t)i;
	return c->has_groups ? c->group_of_class[class_no] : NO_SUSPECT;
}

/* Returns which suspect an object with a dominator is, or NO_SUSPECT. */
static uint8_t split_suspect(const struct counting *c, uint32_t ix)
{
	for (size_t i = 0; c->split_bits >> ix % 64 & 1 && i < c->suspects->count; i++)
		if (c->suspects->list[i].ix == ix)
			return (uint8_t)i;
	return NO_SUSPECT;
}

/* Builds the tables for suspect_of_top, split_suspect and add_to_children. */
static int note_suspects(struct counting *c, struct hdb_error *err)
{
	const uint32_t class_count = c->session->heap->class_count;

	assert(c->suspects->count <= SUSPECTS_MAX);
	TRY(BASE_ALLOC(c->group_of_class, (size_t)class_count + 1, "groups of suspects", err));
	memset(c->group_of_class, NO_SUSPECT, (size_t)class_count + 1);
	for (size_t i = 0; i < c->suspects->count; i++) {
		const struct analysis_suspect *s = &c->suspects->list[i];

		if (s->ix == HEAP_NONE) {
			c->group_of_class[s->class_no] = (uint8_t)i;
			c->has_groups = true;
		}
		if (s->point_ix != HEAP_NONE)
			c->point_bits |= 1ull << s->point_ix % 64;
		if (s->split_ix != HEAP_NONE)
			c->split_bits |= 1ull << s->ix % 64;
	}
	return HDB_OK;
}

/* ---- the tree of objects that dominate others ---- */

/* First pass: marks all inner objects. */
static int mark_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct counting *c = ctx;
	uint32_t *dominator = c->blocks[block->slot].dominator;
	const uint32_t first_ix = block->objects->first_ix, count = block->objects->count;

	TRY(derive_tree_dominators(c->session->derive, block, dominator, err));
	for (uint32_t i = 0; i < count; i++) {
		if (count - i > AHEAD && dominator[i + AHEAD] != GRAPH_NONE)
			base_ranks_prefetch(&c->inner, dominator[i + AHEAD]);
		if (dominator[i] != GRAPH_NONE && dominator[i] != first_ix + i)
			base_ranks_put(&c->inner, dominator[i]);
	}
	return HDB_OK;
}

/*
 * Second pass: records the dominator of each inner object, or a label if the object is a suspect or
 * has no dominator. Classes are read only if there are groups.
 *
 * Threads process different blocks and each place belongs to one object, so no two threads write to
 * the same place.
 */
static int link_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct counting *c = ctx;
	uint32_t *dominator = c->blocks[block->slot].dominator;
	const uint32_t first_ix = block->objects->first_ix, count = block->objects->count;
	uint32_t place = base_ranks_before(&c->inner, first_ix);

	TRY(derive_tree_dominators(c->session->derive, block, dominator, err));
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t d = dominator[i];
		uint32_t up;

		if (count - i > AHEAD && dominator[i + AHEAD] != GRAPH_NONE)
			base_ranks_prefetch(&c->inner, dominator[i + AHEAD]);
		if (!base_ranks_has(&c->inner, first_ix + i))
			continue;
		if (d == GRAPH_NONE)
			up = FIRST_LABEL +
			     suspect_of_top(c, first_ix + i,
					    c->has_groups ? block->objects->class_no[i] : 0);
		else if (d == first_ix + i)
			up = FIRST_LABEL + NO_SUSPECT;
		else if ((up = FIRST_LABEL + split_suspect(c, first_ix + i)) ==
			 FIRST_LABEL + NO_SUSPECT)
			up = base_ranks_before(&c->inner, d);
		atomic_store_explicit(&c->up[place++], up, memory_order_relaxed);
	}
	return HDB_OK;
}

static int link_all(struct counting *c, struct hdb_error *err)
{
	const struct session *session = c->session;

	TRY(base_ranks_init(&c->inner, session->heap->object_count, session->work,
			    "dominators of other suspects", err));
	TRY(derive_each_block(session->derive,
			      &(struct derive_pass){ .stage = "objects that dominate others",
						     .make = mark_block,
						     .ctx = c },
			      err));
	base_ranks_rank(&c->inner);
	TRY(base_big_alloc_raw(session->work, &c->up_big, (c->inner.count + 1ull) * sizeof(*c->up),
			       "dominators of other suspects", err));
	c->up = c->up_big.data;
	return derive_each_block(session->derive,
				 &(struct derive_pass){ .stage = "their dominators",
							.reads_objects = c->has_groups,
							.make = link_block,
							.ctx = c },
				 err);
}

/*
 * Finds the label at the end of the chain from a place, and stores it at all places of the chain to
 * shorten later searches. Threads on the same chain store the same label, so relaxed stores
 * suffice. Returns false if the chain is a cycle, which means that the table is damaged.
 */
static bool find_label(struct counting *c, uint32_t place, uint32_t *label)
{
	uint32_t at = place, up;

	assert(place < c->inner.count);
	for (uint64_t steps = 0;; steps++) {
		up = atomic_load_explicit(&c->up[at], memory_order_relaxed);
		if (up >= FIRST_LABEL)
			break;
		if (steps > c->inner.count)
			return false;
		at = up;
	}
	*label = up;
	for (;;) {
		up = atomic_load_explicit(&c->up[place], memory_order_relaxed);
		if (up >= FIRST_LABEL)
			return true;
		atomic_store_explicit(&c->up[place], *label, memory_order_relaxed);
		place = up;
	}
}

/* ---- all objects ---- */

/* A block whose objects are visited in order. */
struct looking {
	struct counting *c;
	const struct heap_block *objects;
	const uint32_t *dominator;
	uint32_t place; /* place of the next inner object */
};

/*
 * Finds the suspect that object i of the block belongs to. Must be called for all objects in order,
 * because it counts places.
 *
 * A suspect with least_bytes is a group of large primitive arrays. Arrays dominate nothing, so they
 * never occur inside chains, and smaller arrays of the class are excluded here.
 */
static int suspect_of(struct looking *l, uint32_t i, uint8_t *out, struct hdb_error *err)
{
	struct counting *c = l->c;
	const uint32_t ix = l->objects->first_ix + i, d = l->dominator[i];
	const bool is_inner = base_ranks_has(&c->inner, ix);
	const uint32_t place = is_inner ? l->place++ : 0;
	uint32_t label;

	*out = NO_SUSPECT;
	if (d == ix)
		return HDB_OK;
	if (d == GRAPH_NONE) {
		*out = suspect_of_top(c, ix, l->objects->class_no[i]);
		if (*out != NO_SUSPECT &&
		    l->objects->shallow[i] < c->suspects->list[*out].least_bytes)
			*out = NO_SUSPECT;
		return HDB_OK;
	}
	/* A suspect that dominates no object has no place. */
	*out = is_inner ? NO_SUSPECT : split_suspect(c, ix);
	if (*out != NO_SUSPECT)
		return HDB_OK;
	if (!find_label(c, is_inner ? place : base_ranks_before(&c->inner, d), &label))
		return heap_damaged(c->session->heap, STORE_DOMINATORS, ix,
				    "what dominates forms a circle", err);
	*out = (uint8_t)(label - FIRST_LABEL);
	return HDB_OK;
}

/* Third pass, in parallel: stores the suspect of each object in block->values. */
static int find_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct counting *c = ctx;
	const struct heap_block *objects = block->objects;
	struct derive_tree_block *tree = &c->blocks[block->slot];
	struct looking looking = {
		.c = c,
		.objects = objects,
		.dominator = tree->dominator,
		.place = base_ranks_before(&c->inner, objects->first_ix),
	};

	TRY(derive_tree_read(c->session->derive, block, tree, err));
	for (uint32_t i = 0; i < objects->count; i++) {
		uint8_t suspect = NO_SUSPECT;

		if (objects->count - i > AHEAD && tree->dominator[i + AHEAD] != GRAPH_NONE)
			base_ranks_prefetch(&c->inner, tree->dominator[i + AHEAD]);
		TRY(suspect_of(&looking, i, &suspect, err));
		block->values[i] = suspect;
	}
	return HDB_OK;
}

/* Adds an object to the children of the accumulation point that dominates it. */
static void add_to_children(struct counting *c, const struct derive_block *block, uint32_t i)
{
	const struct derive_tree_block *tree = &c->blocks[block->slot];

	for (size_t s = 0; s < c->suspects->count; s++) {
		struct analysis_class_sum *sum =
			analysis_leak_sums_children(c->out, s) + block->objects->class_no[i];

		if (c->suspects->list[s].point_ix != tree->dominator[i] ||
		    split_suspect(c, block->objects->first_ix + i) != NO_SUSPECT)
			continue;
		sum->count++;
		sum->shallow_bytes += block->objects->shallow[i];
		sum->retained_bytes += tree->units[i] * c->session->heap->layout.align_bytes;
	}
}

/* Third pass, in order and on one thread: adds each object to the sums of its class. */
static int add_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct counting *c = ctx;
	const struct heap_block *objects = block->objects;
	const uint32_t *dominator = c->blocks[block->slot].dominator;

	(void)err;
	for (uint32_t i = 0; i < objects->count; i++) {
		const uint32_t d = dominator[i];
		struct analysis_class_sum *sum;

		if (d != GRAPH_NONE && d != objects->first_ix + i && c->point_bits >> d % 64 & 1 &&
		    heap_is_counted(c->session->heap, objects, i))
			add_to_children(c, block, i);
		if (block->values[i] == NO_SUSPECT ||
		    !heap_is_counted(c->session->heap, objects, i))
			continue;
		sum = analysis_leak_sums_contents(c->out, (size_t)block->values[i]) +
		      objects->class_no[i];
		sum->count++;
		sum->shallow_bytes += objects->shallow[i];
	}
	return HDB_OK;
}

static int make_sums(struct counting *c, struct hdb_error *err)
{
	struct analysis_leak_sums *out = c->out;
	const size_t count = c->suspects->count;
	const uint64_t size = count * out->class_count * sizeof(struct analysis_class_sum);

	TRY(base_big_alloc(out->work, &out->contents_big, size + 1, "contents of suspects", err));
	TRY(base_big_alloc(out->work, &out->children_big, size + 1, "contents of suspects", err));
	for (size_t s = 0; s < count; s++) {
		for (uint32_t no = 0; no < out->class_count; no++)
			analysis_leak_sums_contents(out, s)[no].class_no =
				analysis_leak_sums_children(out, s)[no].class_no = no;
	}
	return HDB_OK;
}

static void release(struct counting *c)
{
	base_big_free(&c->up_big);
	base_ranks_release(&c->inner);
	free(c->group_of_class);
	free(c->blocks);
}

int analysis_leak_sums_count(const struct session *session,
			     const struct analysis_suspects *suspects,
			     struct analysis_leak_sums *out, struct hdb_error *err)
{
	const unsigned slots = DERIVE_SLOTS_PER_THREAD * session->work->threads;
	BASE_SCOPED(release)
	struct counting c = { .session = session, .suspects = suspects, .out = out };

	*out = (struct analysis_leak_sums){ .work = session->work };
	TRY(heap_load_classes(session->heap, err));
	out->class_count = session->heap->class_count;
	TRY(derive_tree_prepare(session->derive, err));
	TRY(make_sums(&c, err));
	TRY(note_suspects(&c, err));
	TRY(BASE_ALLOC(c.blocks, slots, "dominating objects", err));
	if (!suspects->count)
		return HDB_OK;
	TRY(link_all(&c, err));
	return derive_each_block(session->derive,
				 &(struct derive_pass){ .stage = "objects held by suspects",
							.reads_objects = true,
							.make = find_block,
							.take = add_block,
							.ctx = &c },
				 err);
}
