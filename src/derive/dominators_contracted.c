/*
 * derive/dominators_contracted.c - the heap's edges shown to graph/dominators/contract.h, pass by
 * pass, and the tables that come of it.
 *
 * An object's edges are its references and the one to its class, which is soft where the class has
 * many objects and is no root.
 */
#include "derive/dominators_contracted.h"

#include "derive/blocks.h"
#include "derive/dominator_rows.h"
#include "derive/dominators_thinned.h"
#include "derive/references.h"
#include "graph/dominators/contract.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Edges to classes with fewer objects are hard. Array classes and hidden ones are in no list of a
 * loader, only their objects refer to them; where that is a few below one object, such an edge
 * would have to be made hard later on.
 */
#define SOFT_OBJECTS_MIN 1000u

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
	/* uint32_t: objects of classes that have few, each with its class object */
	struct base_vec few;
	struct graph_pushes pushes;
	struct graph_contract_rows rows;
	uint64_t counted; /* bytes of those, as the budget knows them */
};

struct contracted {
	struct derive *derive;
	struct store_block *blocks; /* of the table references */
	struct store_lists lists;   /* for big ones */
	struct contract_slot *slots;
	unsigned slot_count;
	struct base_vec few;       /* the same, of all blocks */
	uint64_t *objects;         /* by class: how many there are */
	uint32_t *class_ix;        /* by class: its object, or GRAPH_NONE: it is a root, or none */
	bool *is_soft;             /* by class: edges to it are pushed */
	uint32_t *suspected;       /* by class: the dominator of a suspect, or GRAPH_NONE */
	atomic_bool *is_confirmed; /* by class: it stays one */
	bool is_hardened;          /* some are not, which were */
	bool is_whole;             /* all objects are kept */
	struct graph_thinning thinning;
	struct graph_contract c;
	struct graph_rows rows;
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

static int see_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct contracted *x = ctx;
	struct contract_slot *s = &x->slots[block->slot];
	const uint32_t *entry;
	uint64_t left;
	int r;

	s->few.count = 0;
	if ((r = decode(x, block, err)) != HDB_OK)
		return r;
	entry = s->entries.data;
	left = s->entries.count;
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint32_t ix = block->objects->first_ix + i, class_ix = class_of(x, block, i);
		const uint64_t n = block->values[i] & STORE_LIST_IS_BIG ? 0 : block->values[i];

		graph_contract_see(&x->c, ix, entry, n, left);
		entry += n;
		left -= n;
		if (class_ix != GRAPH_NONE && !x->is_soft[block->objects->class_no[i]]) {
			const uint32_t pair[] = { ix, class_ix };

			graph_contract_see(&x->c, ix, &class_ix, 1, 1);
			if ((r = base_vec_push(&s->few, pair, sizeof(pair), err)) != HDB_OK)
				return r;
		}
		if (block->values[i] & STORE_LIST_IS_BIG && (r = note_big(s, ix, 0, err)) != HDB_OK)
			return r;
	}
	return HDB_OK;
}

static int see_batch(struct contracted *x, struct contract_slot *s, const struct big_list *big,
		     struct graph_targets batch, struct hdb_error *err)
{
	(void)s;
	(void)err;
	graph_contract_see(&x->c, big->ix, batch.target, batch.count, batch.count);
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

/* ---- rounds ---- */

static int count_objects(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct contracted *x = ctx;

	(void)err;
	x->objects[count->class_no] += count->count;
	return HDB_OK;
}

/* Which classes edges are pushed to. Without counts: all. */
static int soften_classes(struct contracted *x, struct hdb_error *err)
{
	struct heap *heap = x->derive->heap;
	const int found = heap_each_count(heap, count_objects, x, err);
	int r;

	if (found < 0)
		return found;
	for (uint32_t no = 0; no < heap->class_count; no++) {
		const uint32_t ix = heap_class(heap, no)->ix;

		if (ix >= heap->object_count ||
		    (found != HDB_NOTFOUND && x->objects[no] < SOFT_OBJECTS_MIN))
			continue;
		if ((r = graph_contract_soften(&x->c, ix, err)) != HDB_OK)
			return r;
	}
	return HDB_OK;
}

/* What the passes ask of classes. */
static void note_classes(struct contracted *x)
{
	const struct heap *heap = x->derive->heap;

	for (uint32_t no = 0; no < heap->class_count; no++) {
		const uint32_t ix = heap_class(heap, no)->ix;

		x->class_ix[no] =
			ix < heap->object_count && !heap_is_root(heap, ix) ? ix : GRAPH_NONE;
		x->is_soft[no] = ix < heap->object_count && graph_contract_is_soft(&x->c, ix);
	}
}

static int compare_suspects(const void *a, const void *b)
{
	const struct graph_suspect *x = a, *y = b;

	if (x->dominator != y->dominator)
		return x->dominator < y->dominator ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

/* Which of an object's suspects, [first, end) in order of targets, are among its own edges. */
static int find_direct(struct contracted *x, const struct graph_suspect *first,
		       const struct graph_suspect *end, bool *is_direct, struct hdb_error *err)
{
	const uint32_t ix = first->dominator;
	struct heap_object object;
	const uint32_t *batch;
	uint32_t class_ix[1];
	size_t count = 1;
	int r;

	assert(first < end);
	assert(ix < x->derive->heap->object_count);
	if ((r = heap_object(x->derive->heap, ix, &object, err)) != HDB_OK)
		return r;
	if ((r = store_lists_begin(&x->lists, ix, NULL, err)) != HDB_OK)
		return r;
	class_ix[0] = heap_class(x->derive->heap, object.class_no)->ix;
	for (batch = class_ix; count;) {
		for (size_t i = 0; i < count; i++) {
			const struct graph_suspect key = { .dominator = ix, .target = batch[i] };
			const struct graph_suspect *found = bsearch(
				&key, first, (size_t)(end - first), sizeof(key), compare_suspects);
			if (found)
				is_direct[found - first] = true;
		}
		if ((r = store_lists_next(&x->lists, &batch, &count, err)) != HDB_OK)
			return r;
	}
	return HDB_OK;
}

/* Takes those out of the suspects. */
static int clear_suspects(struct contracted *x, struct hdb_error *err)
{
	struct graph_suspect *suspect = x->c.suspects.data;
	const size_t count = x->c.suspects.count;
	bool *is_direct = calloc(count + 1, sizeof(*is_direct));
	size_t kept = 0;
	int r = is_direct ? HDB_OK : hdb_fail_memory(err, "classes", count);

	if (r != HDB_OK)
		goto out;
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && suspect[end].dominator == suspect[i].dominator;)
			end++;
		if ((r = find_direct(x, suspect + i, suspect + end, is_direct + i, err)) != HDB_OK)
			goto out;
	}
	for (size_t i = 0; i < count; i++)
		if (!is_direct[i])
			suspect[kept++] = suspect[i];
out:
	x->c.suspects.count = kept;
	free(is_direct);
	return r;
}

/* Notes suspects of which an edge was pushed to the dominator. */
static int confirm_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct contracted *x = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->objects->count; i++) {
		const uint32_t ix = block->objects->first_ix + i, no = block->objects->class_no[i];

		if (x->suspected[no] != GRAPH_NONE && !graph_contract_is_kept(&x->c, ix) &&
		    graph_contract_above(&x->c, ix) == x->suspected[no])
			atomic_store_explicit(&x->is_confirmed[no], true, memory_order_relaxed);
	}
	return HDB_OK;
}

/* Takes out the suspects to which that does not apply. */
static int confirm_suspects(struct contracted *x, struct hdb_error *err)
{
	const struct heap *heap = x->derive->heap;
	struct graph_suspect *suspect = x->c.suspects.data;
	size_t kept = 0;
	int r;

	for (uint32_t no = 0; no < heap->class_count; no++) {
		atomic_store_explicit(&x->is_confirmed[no], false, memory_order_relaxed);
		x->suspected[no] = GRAPH_NONE;
		for (size_t i = 0; i < x->c.suspects.count; i++)
			if (suspect[i].target == heap_class(heap, no)->ix)
				x->suspected[no] = suspect[i].dominator;
	}
	r = derive_each_block(x->derive,
			      &(struct derive_pass){ .stage = "dominators: classes",
						     .reads_classes = true,
						     .make = confirm_block,
						     .ctx = x },
			      err);
	if (r != HDB_OK)
		return r;
	for (size_t i = 0; i < x->c.suspects.count; i++) {
		bool is_one = false;

		for (uint32_t no = 0; no < heap->class_count; no++)
			is_one = is_one ||
				 (heap_class(heap, no)->ix == suspect[i].target &&
				  atomic_load_explicit(&x->is_confirmed[no], memory_order_relaxed));
		if (is_one)
			suspect[kept++] = suspect[i];
	}
	assert(kept <= x->c.suspects.count);
	x->c.suspects.count = kept;
	return HDB_OK;
}

/* The second and third pass: which objects are kept, and what is pushed to them. */
static int choose_kept(struct contracted *x, struct hdb_error *err)
{
	struct derive *derive = x->derive;
	int r = derive_each_block(
		derive,
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
	if ((r = graph_contract_marked(&x->c, err)) != HDB_OK)
		return r;
	r = derive_each_block(derive,
			      &(struct derive_pass){ .stage = "dominators: classes",
						     .reads_classes = true,
						     .make = push_block,
						     .take = take_pushed,
						     .ctx = x },
			      err);
	if (r != HDB_OK)
		return r;
	return graph_contract_pushed(&x->c, err);
}

/* Makes the small graph and takes its dominators. */
static int search(struct contracted *x, struct hdb_error *err)
{
	int r = x->is_whole ? graph_contract_keep_all(&x->c, err) : choose_kept(x, err);

	if (r != HDB_OK)
		goto out;
	if ((r = graph_contract_start_rows(&x->c, &x->rows, err)) != HDB_OK)
		goto out;
	r = derive_each_block(x->derive,
			      &(struct derive_pass){ .stage = x->is_whole ?
								      "dominators: graph" :
								      "dominators: small graph",
						     .reads_classes = true,
						     .make = pack_block,
						     .take = take_packed,
						     .ctx = x },
			      err);
	if (r != HDB_OK)
		goto out;
	if ((r = graph_contract_end_rows(&x->c, err)) != HDB_OK)
		goto out;
	r = graph_contract_solve(&x->c, GRAPH_SETTLE_FAR, GRAPH_SEARCH_ANY, err);
out:
	graph_rows_release(&x->rows);
	return r;
}

/* All edges to classes with many objects are soft. */
static int prepare(struct contracted *x, struct hdb_error *err)
{
	const struct heap *heap = x->derive->heap;
	int r = graph_contract_init(&x->c, heap->object_count, heap->root_bits, x->derive->work,
				    err);

	if (r != HDB_OK)
		return r;
	if ((r = soften_classes(x, err)) != HDB_OK)
		return r;
	note_classes(x);
	return HDB_OK;
}

/* The first pass, over all objects. */
static int see_all(struct contracted *x, struct hdb_error *err)
{
	struct derive *derive = x->derive;
	int r = graph_contract_begin(&x->c, err);

	if (r != HDB_OK)
		return r;
	r = derive_each_block(derive,
			      &(struct derive_pass){ .stage = "dominators: referrers",
						     .reads_classes = true,
						     .make = see_block,
						     .take = take_seen,
						     .ctx = x },
			      err);
	if (r != HDB_OK)
		return r;
	return graph_contract_seen(&x->c, err);
}

/* Searches; *is_done unless there are edges that matter after all. */
static int search_once(struct contracted *x, bool *is_done, struct hdb_error *err)
{
	const struct derive_thinned thinned = { x->derive, x->blocks, &x->c, x->objects };
	int r = search(x, err);

	*is_done = false;
	if (r != HDB_OK)
		return r;
	if ((r = graph_contract_suspect(&x->c, err)) != HDB_OK)
		return r;
	if ((r = clear_suspects(x, err)) != HDB_OK)
		return r;
	if (x->c.suspects.count && (r = graph_contract_recall(&x->c, err)) != HDB_OK)
		return r;
	if (x->c.suspects.count && (r = confirm_suspects(x, err)) != HDB_OK)
		return r;
	graph_contract_harden(&x->c);
	note_classes(x);
	x->is_hardened = true;
	if (x->c.suspects.count)
		return HDB_OK;
	return derive_check_thinned(&thinned, &x->thinning, is_done, err);
}

/* Searches again as long as there are edges to classes that have to be hard after all. */
static int find_dominators(struct contracted *x, struct hdb_error *err)
{
	const struct derive_thinned thinned = { x->derive, x->blocks, &x->c, x->objects };
	bool is_done = false;
	int r = prepare(x, err);

	if (r != HDB_OK)
		return r;
	if ((r = derive_thin_whole(&thinned, &x->thinning, &x->is_whole, err)) != HDB_OK)
		return r;
	if (!x->is_whole) {
		graph_thinning_release(&x->thinning);
		if ((r = see_all(x, err)) != HDB_OK)
			return r;
		if ((r = derive_thin(&thinned, &x->thinning, err)) != HDB_OK)
			return r;
	}
	while (!is_done)
		if ((r = search_once(x, &is_done, err)) != HDB_OK)
			return r;
	return HDB_OK;
}

/* ---- the tables ---- */

static int read_parents(void *ctx, struct derive_block *block, uint32_t *parent,
			struct hdb_error *err)
{
	const struct contracted *x = ctx;

	return graph_contract_dominators(
		&x->c,
		&(struct graph_dominator_range){ .first = block->objects->first_ix,
						 .count = block->objects->count,
						 .values = block->values,
						 .dominator = parent },
		err);
}

static void release_parents(void *ctx)
{
	struct contracted *x = ctx;

	graph_contract_release(&x->c);
	graph_thinning_release(&x->thinning);
}

static int make_slots(struct contracted *x, struct hdb_error *err)
{
	x->slot_count = DERIVE_SLOTS_PER_THREAD * x->derive->work->threads;
	x->slots = calloc(x->slot_count, sizeof(*x->slots));
	x->objects = calloc((size_t)x->derive->heap->class_count + 1, sizeof(*x->objects));
	x->class_ix = calloc((size_t)x->derive->heap->class_count + 1, sizeof(*x->class_ix));
	x->is_soft = calloc((size_t)x->derive->heap->class_count + 1, sizeof(*x->is_soft));
	x->suspected = calloc((size_t)x->derive->heap->class_count + 1, sizeof(*x->suspected));
	x->is_confirmed =
		calloc((size_t)x->derive->heap->class_count + 1, sizeof(*x->is_confirmed));
	if (!x->slots || !x->objects || !x->class_ix || !x->is_soft || !x->suspected ||
	    !x->is_confirmed)
		return hdb_fail_memory(err, "dominators", sizeof(*x->slots));
	for (unsigned i = 0; i < x->slot_count; i++)
		count_slot(x, &x->slots[i]);
	return HDB_OK;
}

static void free_slots(struct contracted *x)
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
	free(x->objects);
	free(x->class_ix);
	free(x->is_soft);
	free(x->suspected);
	free(x->is_confirmed);
}

/* From what is stored to each object's dominator. */
static int contract(struct contracted *x, struct hdb_error *err)
{
	struct derive *derive = x->derive;
	int r = heap_load_classes(derive->heap, err);

	heap_references(derive->heap, &x->lists);
	if (r != HDB_OK)
		return r;
	if ((r = heap_load_roots(derive->heap, err)) != HDB_OK)
		return r;
	if ((r = derive_reference_blocks(derive, &x->blocks, err)) != HDB_OK)
		return r;
	if ((r = make_slots(x, err)) != HDB_OK)
		return r;
	return find_dominators(x, err);
}

int derive_build_contracted(struct derive *derive, struct store_writer *writer,
			    struct hdb_error *err)
{
	struct contracted x = { .derive = derive };
	const struct derive_parents parents = { .read = read_parents,
						.release = release_parents,
						.ctx = &x };
	const uint32_t n = derive->heap->object_count;
	int r;

	if (n > GRAPH_CONTRACT_NODES_MAX || graph_contract_bytes(n) > base_work_room(derive->work))
		return HDB_NOTFOUND;
	r = contract(&x, err);
	free_slots(&x);
	free(x.blocks);
	if (r != HDB_OK)
		goto out;
	r = x.c.whole.work ? derive_put_numbered(derive, writer, &x.c.whole, err) :
			     derive_put_parents(derive, writer, &parents, err);
out:
	release_parents(&x);
	return r;
}
