/*
 * derive/dominators_passes.c - the heap's edges shown to graph/dominators/contract.h, pass by pass.
 *
 * An object's edges are its references and the one to its class, which is soft where the class has
 * many objects and is no root.
 */
#include "derive/dominators_contracted_private.h"

#include "base/thread.h"
#include "derive/references.h"

#include <assert.h>
#include <stdlib.h>

/*
 * What a slot has once blocks were worked on, in heaps with many references an object. A budget
 * that somebody asked for has room for that before arrays take it.
 */
#define SLOT_BYTES (3u << 19)

/* A list that the calling thread reads: it is big. */
struct big_list {
	uint32_t ix;
	size_t at; /* its row */
};

/* What a block's work has for itself. Lengths of lists are the block's values. */
struct contract_slot {
	struct base_vec entries; /* uint32_t: references as stored */
	struct base_vec big;     /* struct big_list */
	struct base_vec few;     /* those of its blocks, until they are taken */
	struct graph_pushes pushes;
	struct graph_contract_rows rows;
	uint64_t counted; /* bytes of those, as the budget knows them */
	BASE_APART;
};

/* The class object of object i, or GRAPH_NONE where it is a root: nothing depends on that edge. */
static uint32_t class_of(const struct contracted *x, const struct derive_block *block, uint32_t i)
{
	return x->class_ix[block->objects->class_no[i]];
}

static int decode(struct contracted *x, struct derive_block *block, struct hdb_error *err)
{
	struct contract_slot *s = &x->slots[block->slot];
	const struct store_lists_of of = heap_references_of(x->derive->heap);
	struct store_lists_out lists = { .lengths = block->values, .target = &s->entries };

	assert(block->slot < x->slot_count);
	s->entries.count = s->big.count = 0;
	return store_lists_decode(&of, &x->blocks[block->block_no], &lists, err);
}

/* Notes a list that is big. */
static int note_big(struct contract_slot *s, uint32_t ix, size_t at, struct hdb_error *err)
{
	const struct big_list big = { .ix = ix, .at = at };

	return base_vec_push(&s->big, &big, sizeof(big), err);
}

/* Calls `show` for the batches of each big list of a block, the last list first. */
static int each_big(struct contracted *x, struct contract_slot *s,
		    int (*show)(struct contracted *x, struct contract_slot *s,
				const struct big_list *big, struct graph_targets batch,
				struct hdb_error *err),
		    struct hdb_error *err)
{
	int r;

	for (size_t i = s->big.count; i-- > 0;) {
		const struct big_list *big = base_vec_at(&s->big, struct big_list, i);
		const uint32_t *batch;
		size_t count = 0;

		assert(big->ix < x->derive->heap->object_count);
		if ((r = store_lists_begin(&x->lists, big->ix, NULL, err)) != HDB_OK)
			return r;
		do {
			if ((r = store_lists_next(&x->lists, &batch, &count, err)) != HDB_OK)
				return r;
			if (!count)
				break;
			r = show(x, s, big, (struct graph_targets){ batch, count }, err);
			if (r != HDB_OK)
				return r;
		} while (true);
	}
	return HDB_OK;
}

/* References that are asked for before their object's turn. */
#define SOON 32u

/* Asks for what is `SOON` references on; *asked of `count` were. */
static void ask_ahead(const struct contracted *x, const struct base_vec *entries, uint64_t now,
		      uint64_t *asked)
{
	const uint64_t end = now + SOON < entries->count ? now + SOON : entries->count;

	if (*asked < end) {
		graph_contract_soon(&x->c, (const uint32_t *)entries->data + *asked, end - *asked);
		*asked = end;
	}
}

/*
 * Tells the budget what a block's work has, which may be MB where objects have many references.
 * Called as the block is taken, when no other thread has its slot.
 */
static void count_slot(struct contracted *x, struct contract_slot *s)
{
	const uint64_t has =
		s->entries.capacity * sizeof(uint32_t) + s->big.capacity * sizeof(struct big_list) +
		s->few.capacity * 2 * sizeof(uint32_t) +
		s->pushes.edges.capacity * sizeof(struct graph_pushed) + s->rows.length.capacity +
		s->rows.bytes.capacity + s->rows.longs.capacity * sizeof(uint32_t);
	const uint64_t least = x->derive->work->cached_max ? 0 : SLOT_BYTES;

	base_work_count(x->derive->work, &s->counted, has > least ? has : least);
}

/* ---- the first pass ---- */

/* The edges of object i of a block, some of which may be left out. */
static struct graph_source source_of(const struct contracted *x, const struct derive_block *block,
				     uint32_t i)
{
	const uint32_t ix = block->objects->first_ix + i;

	return (struct graph_source){ ix,
				      x->c.thinning ? block->objects->class_no[i] : GRAPH_NONE };
}

/* Edges that stay. */
static struct graph_source all_of(uint32_t ix)
{
	return (struct graph_source){ ix, GRAPH_NONE };
}

static int see_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct contracted *x = ctx;
	struct contract_slot *s = &x->slots[block->slot];
	const uint32_t count = block->objects->count;
	const uint32_t *entry;
	uint64_t left, bits = 0;
	int r;

	s->few.count = 0;
	if ((r = decode(x, block, err)) != HDB_OK)
		return r;
	entry = s->entries.data;
	left = s->entries.count;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t ix = block->objects->first_ix + i, class_ix = class_of(x, block, i);
		const uint64_t n = block->values[i] & STORE_LIST_IS_BIG ? 0 : block->values[i];
		bool matters = graph_contract_see(&x->c, source_of(x, block, i), entry, n, left);

		entry += n;
		left -= n;
		if (class_ix != GRAPH_NONE && !x->is_soft[block->objects->class_no[i]]) {
			const uint32_t pair[] = { ix, class_ix };

			matters |= graph_contract_see(&x->c, all_of(ix), &class_ix, 1, 1);
			if ((r = base_vec_push(&s->few, pair, sizeof(pair), err)) != HDB_OK)
				return r;
		}
		bits |= (uint64_t)matters << (ix % 64);
		if (ix % 64 == 63 || i + 1 == count) {
			graph_contract_note(&x->c, ix / 64, bits);
			bits = 0;
		}
		if (block->values[i] & STORE_LIST_IS_BIG && (r = note_big(s, ix, 0, err)) != HDB_OK)
			return r;
	}
	return HDB_OK;
}

static int see_batch(struct contracted *x, struct contract_slot *s, const struct big_list *big,
		     struct graph_targets batch, struct hdb_error *err)
{
	const bool matters =
		graph_contract_see(&x->c, all_of(big->ix), batch.target, batch.count, batch.count);

	(void)s;
	(void)err;
	graph_contract_note(&x->c, big->ix / 64, (uint64_t)matters << (big->ix % 64));
	return HDB_OK;
}

static int take_seen(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct contracted *x = ctx;
	struct contract_slot *s = &x->slots[block->slot];
	int r;

	count_slot(x, s);
	r = base_vec_reserve(&x->few, s->few.count, 2 * sizeof(uint32_t), err);
	if (r != HDB_OK)
		return r;
	if (s->few.count)
		memcpy((uint32_t *)x->few.data + 2 * x->few.count, s->few.data,
		       s->few.count * 2 * sizeof(uint32_t));
	x->few.count += s->few.count;
	assert(x->few.count <= x->few.capacity);
	return each_big(x, s, see_batch, err);
}

/* ---- the second pass ---- */

static int mark_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct contracted *x = ctx;
	struct contract_slot *s = &x->slots[block->slot];
	const uint32_t *entry;
	uint64_t asked = 0;
	int r = decode(x, block, err);

	if (r != HDB_OK)
		return r;
	entry = s->entries.data;
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint32_t ix = block->objects->first_ix + i;
		const uint64_t n = block->values[i] & STORE_LIST_IS_BIG ? 0 : block->values[i];

		ask_ahead(x, &s->entries, (uint64_t)(entry - (uint32_t *)s->entries.data) + n,
			  &asked);
		if (!graph_contract_is_kept(&x->c, ix)) {
			graph_contract_mark(&x->c, source_of(x, block, i), entry, n);
			if (x->is_hardened && !x->is_soft[block->objects->class_no[i]]) {
				const uint32_t class_ix = class_of(x, block, i);

				if (class_ix != GRAPH_NONE)
					graph_contract_mark(&x->c, all_of(ix), &class_ix, 1);
			}
			if (block->values[i] & STORE_LIST_IS_BIG &&
			    (r = note_big(s, ix, 0, err)) != HDB_OK)
				return r;
		}
		entry += n;
	}
	return HDB_OK;
}

static int mark_batch(struct contracted *x, struct contract_slot *s, const struct big_list *big,
		      struct graph_targets batch, struct hdb_error *err)
{
	(void)s;
	(void)err;
	graph_contract_mark(&x->c, all_of(big->ix), batch.target, batch.count);
	return HDB_OK;
}

static int take_marked(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct contracted *x = ctx;

	return each_big(x, &x->slots[block->slot], mark_batch, err);
}

/* ---- the third pass ---- */

/* Whether an object's edge to its class, which is soft, is left out. */
static bool drops_class(const struct contracted *x, uint32_t class_no, uint32_t ix)
{
	return x->c.thinning && graph_thinning_drops_class(x->c.thinning, class_no, ix);
}

static int push_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct contracted *x = ctx;
	struct contract_slot *s = &x->slots[block->slot];
	int r = HDB_OK;

	graph_pushes_start(&s->pushes);
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint32_t ix = block->objects->first_ix + i,
			       class_no = block->objects->class_no[i];

		if (graph_contract_is_kept(&x->c, ix))
			r = graph_contract_push_kept(&x->c, &s->pushes, ix, err);
		else if (x->is_soft[class_no] && !drops_class(x, class_no, ix))
			r = graph_contract_push(&x->c, &s->pushes, ix,
						heap_class(x->derive->heap, class_no)->ix, err);
		if (r != HDB_OK)
			return r;
	}
	return HDB_OK;
}

static int take_pushed(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct contracted *x = ctx;

	return graph_contract_join(&x->c, &x->slots[block->slot].pushes, err);
}

/* ---- the fourth pass ---- */

/* Packs the row of a kept object: its class, and its references. */
static int pack_row(struct contracted *x, struct derive_block *block, uint32_t i,
		    struct graph_targets references, struct hdb_error *err)
{
	struct contract_slot *s = &x->slots[block->slot];
	const uint32_t class_no = block->objects->class_no[i];
	const bool is_left_out =
		x->is_soft[class_no] && drops_class(x, class_no, block->objects->first_ix + i);
	const struct graph_contract_row row = {
		.from = source_of(x, block, i),
		.class = is_left_out ? GRAPH_NONE : class_of(x, block, i),
		.targets = references,
		.is_open = block->values[i] & STORE_LIST_IS_BIG,
	};
	size_t at = 0;
	const int r = graph_contract_pack(&x->c, &s->rows, &row, &at, err);

	if (r != HDB_OK || !row.is_open)
		return r;
	return note_big(s, row.from.v, at, err);
}

/* The rows of a block all of whose objects are kept. */
static int pack_all(struct contracted *x, struct derive_block *block, struct hdb_error *err)
{
	struct contract_slot *s = &x->slots[block->slot];
	const uint32_t count = block->objects->count, *entry = s->entries.data;
	int r;

	for (uint32_t i = 0, end; i < count; i = end) {
		struct graph_contract_run run = {
			.first = block->objects->first_ix + i,
			.class_no = block->objects->class_no + i,
			.class_node = x->class_ix,
			.lengths = block->values + i,
			.target = entry,
			.end = (const uint32_t *)s->entries.data + s->entries.count,
		};

		for (end = i; end < count && !(block->values[end] & STORE_LIST_IS_BIG); end++)
			entry += block->values[end];
		run.count = end - i;
		if ((r = graph_contract_pack_run(&x->c, &s->rows, &run, err)) != HDB_OK)
			return r;
		if (end == count)
			break;
		r = pack_row(x, block, end++, (struct graph_targets){ entry, 0 }, err);
		if (r != HDB_OK)
			return r;
	}
	return HDB_OK;
}

static int pack_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct contracted *x = ctx;
	struct contract_slot *s = &x->slots[block->slot];
	const uint32_t *entry;
	uint64_t asked = 0;
	int r;

	graph_contract_rows_empty(&s->rows);
	if ((r = decode(x, block, err)) != HDB_OK)
		return r;
	if (x->is_whole)
		return pack_all(x, block, err);
	entry = s->entries.data;
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint64_t n = block->values[i] & STORE_LIST_IS_BIG ? 0 : block->values[i];

		ask_ahead(x, &s->entries, (uint64_t)(entry - (uint32_t *)s->entries.data) + n,
			  &asked);
		if (graph_contract_is_kept(&x->c, block->objects->first_ix + i)) {
			r = pack_row(x, block, i, (struct graph_targets){ entry, n }, err);
			if (r != HDB_OK)
				return r;
		}
		entry += n;
	}
	return HDB_OK;
}

static int widen_row(struct contracted *x, struct contract_slot *s, const struct big_list *big,
		     struct graph_targets batch, struct hdb_error *err)
{
	return graph_contract_widen(&x->c, &s->rows, big->at, batch, err);
}

static int take_packed(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct contracted *x = ctx;
	struct contract_slot *s = &x->slots[block->slot];
	const int r = each_big(x, s, widen_row, err);

	count_slot(x, s);
	if (r != HDB_OK)
		return r;
	return graph_contract_put(&x->c, &s->rows, err);
}

/* ---- the passes ---- */

int derive_contracted_see(struct contracted *x, struct hdb_error *err)
{
	return derive_each_block(x->derive,
				 &(struct derive_pass){ .stage = "dominators: referrers",
							.reads_classes = true,
							.make = see_block,
							.take = take_seen,
							.ctx = x },
				 err);
}

int derive_contracted_mark(struct contracted *x, struct hdb_error *err)
{
	const int r = derive_each_block(
		x->derive,
		&(struct derive_pass){ .stage = "dominators: what is kept",
				       .reads_classes = x->is_hardened || x->c.thinning,
				       .make = mark_block,
				       .take = take_marked,
				       .ctx = x },
		err);

	if (r != HDB_OK)
		return r;
	for (size_t i = 0; i < x->few.count; i++) {
		const uint32_t *pair = (const uint32_t *)x->few.data + 2 * i;

		if (!graph_contract_is_kept(&x->c, pair[0]))
			graph_contract_mark(&x->c, all_of(pair[0]), &pair[1], 1);
	}
	return HDB_OK;
}

int derive_contracted_push(struct contracted *x, struct hdb_error *err)
{
	return derive_each_block(x->derive,
				 &(struct derive_pass){ .stage = "dominators: classes",
							.reads_classes = true,
							.make = push_block,
							.take = take_pushed,
							.ctx = x },
				 err);
}

int derive_contracted_pack(struct contracted *x, struct hdb_error *err)
{
	return derive_each_block(x->derive,
				 &(struct derive_pass){ .stage = x->is_whole ?
									 "dominators: graph" :
									 "dominators: small graph",
							.reads_classes = true,
							.make = pack_block,
							.take = take_packed,
							.ctx = x },
				 err);
}

int derive_contracted_slots(struct contracted *x, struct hdb_error *err)
{
	x->slot_count = DERIVE_SLOTS_PER_THREAD * x->derive->work->threads;
	x->slots = calloc(x->slot_count, sizeof(*x->slots));
	if (!x->slots)
		return hdb_fail_memory(err, "dominators", sizeof(*x->slots));
	for (unsigned i = 0; i < x->slot_count; i++)
		count_slot(x, &x->slots[i]);
	return HDB_OK;
}

void derive_contracted_free_slots(struct contracted *x)
{
	for (unsigned i = 0; x->slots && i < x->slot_count; i++) {
		base_vec_release(&x->slots[i].entries);
		base_vec_release(&x->slots[i].big);
		base_vec_release(&x->slots[i].few);
		base_vec_release(&x->slots[i].pushes.edges);
		graph_contract_rows_release(&x->slots[i].rows);
		base_work_count(x->derive->work, &x->slots[i].counted, 0);
	}
	free(x->slots);
	base_vec_release(&x->few);
}
