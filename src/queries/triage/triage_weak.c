/*
 * queries/triage/triage_weak.c - finds out whether objects held only by weak, soft, phantom and
 * final references may be so many that a rule fires.
 *
 * The tree of strong references identifies these objects, but takes long to build, and most heaps
 * have few such objects. So an upper bound is computed first. All paths from a dominator to the
 * objects that it dominates are below the dominator. So if a dominator is strongly reachable, so
 * are the objects below it, unless it is or dominates a reference object. Only objects at or below
 * an object that was not found by strong references, and whose immediate dominator is missing, or
 * is or dominates a reference object, may therefore be held weakly.
 */
#include "base/bits.h"
#include "derive/blocks.h"
#include "derive/build.h"
#include "queries/triage/triage.h"

/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 65536u
/*
 * At most FEW_MIN references, plus one reference per FEW_PART objects, are followed, which suffices
 * for most heaps.
 */
#define FEW_MIN 4096u
#define FEW_PART 128u

struct weak {
	struct triage *t;
	struct base_big above; /* bits of objects that are or dominate reference objects */
	uint64_t units;        /* upper bound of the retained size */
};

/* Collects the objects that may be reference objects. */
static int find_references(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct weak *w = ctx;
	const struct heap_block *b = block->objects;

	for (uint32_t i = 0; i < b->count; i++) {
		const uint32_t ix = b->first_ix + i;

		if (heap_class(w->t->q->heap, b->class_no[i])->strength)
			TRY(base_vec_push(&block->bytes[0], &ix, sizeof(ix), err));
	}
	return HDB_OK;
}

/* Marks reference objects and their dominators, which may be a chain of millions. */
static int mark_above(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct weak *w = ctx;
	uint64_t steps = 0;

	for (size_t k = 0; k < block->bytes[0].count; k++) {
		uint32_t ix = *base_vec_at(&block->bytes[0], uint32_t, k), dominator;

		for (; ix != HEAP_NONE && !base_bit_has(w->above.data, ix); ix = dominator) {
			TRY(derive_dominator(w->t->q->derive, ix, &dominator, err));
			base_bit_put(w->above.data, ix);
			if (++steps % STEP_OBJECTS == 0)
				TRY(base_step(w->t->q->work, block->objects->first_ix, err));
		}
	}
	return HDB_OK;
}

struct room {
	struct derive_tree_block tree;
	uint64_t units;
};

static int add_units(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct weak *w = ctx;
	struct room *room = block->room;

	room->units = 0;
	TRY(derive_tree_read(w->t->q->derive, block, &room->tree, err));
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint32_t ix = block->objects->first_ix + i;
		const uint32_t dominator = room->tree.dominator[i];

		/* An unreachable object is recorded as its own dominator. */
		if (dominator == ix ||
		    (dominator != HEAP_NONE && !base_bit_has(w->above.data, dominator)) ||
		    derive_is_strong_near(w->t->q->derive, ix))
			continue;
		/* The objects below a marked object are examined one by one. */
		room->units += base_bit_has(w->above.data, ix) ?
				       derive_units(w->t->q->derive, block->objects->shallow[i]) :
				       room->tree.units[i];
	}
	return HDB_OK;
}

static int take_units(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	(void)err;
	((struct weak *)ctx)->units += ((const struct room *)block->room)->units;
	return HDB_OK;
}

static int bound(struct weak *w, struct hdb_error *err)
{
	struct derive *derive = w->t->q->derive;

	TRY(base_big_alloc(derive->work, &w->above,
			   base_bit_words(derive->heap->object_count) * sizeof(uint64_t),
			   "dominators of references", err));
	TRY(derive_tree_prepare(derive, err));
	TRY(derive_each_block(derive,
			      &(struct derive_pass){ .stage = "finding references",
						     .reads_classes = true,
						     .make = find_references,
						     .take = mark_above,
						     .ctx = w },
			      err));
	return derive_each_block(derive,
				 &(struct derive_pass){ .stage = "objects held weakly",
							.reads_objects = true,
							.make = add_units,
							.take = take_units,
							.ctx = w,
							.room_bytes = sizeof(struct room) },
				 err);
}

int triage_counts_weak(struct triage *t, bool *out, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_WEAK_ONLY];
	struct weak w = { .t = t };
	bool is_open;
	int r;

	f->count = t->q->heap->object_count;
	r = triage_wants_bytes(t, TRIAGE_WEAK_ONLY, 0, out, err);
	/* With --all, every measure is taken. */
	if (r == HDB_OK && !*out) {
		*out = true;
		r = derive_strong_near(t->q->derive, FEW_MIN + f->count / FEW_PART, &is_open, err);
		if (r == HDB_OK && is_open)
			r = bound(&w, err);
		if (r == HDB_OK && is_open)
			r = triage_wants_bytes(t, TRIAGE_WEAK_ONLY,
					       w.units * t->q->heap->layout.align_bytes, out, err);
	}
	base_big_free(&w.above);
	f->count = 0;
	return r;
}
