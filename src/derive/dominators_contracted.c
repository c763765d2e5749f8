/*
 * derive/dominators_contracted.c - dominators by way of a small graph: which passes are run, again
 * as long as what was left out of the graph turns out to matter, and the tables that come of it.
 */
#include "derive/dominators_contracted.h"

#include "derive/dominator_rows.h"
#include "derive/dominators_contracted_private.h"
#include "derive/dominators_thinned.h"
#include "derive/references.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Edges to classes with fewer objects are hard. Array classes and hidden ones are in no list of a
 * loader, only their objects refer to them; where that is a few below one object, such an edge
 * would have to be made hard later on.
 */
#define SOFT_OBJECTS_MIN 1000u

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

/*
 * The second and third pass: which objects are kept, and what is pushed to them. Right after the
 * first pass the second one is not needed.
 */
static int choose_kept(struct contracted *x, struct hdb_error *err)
{
	int r = x->is_seen ? HDB_OK : derive_contracted_mark(x, err);

	x->is_seen = false;
	if (r != HDB_OK)
		return r;
	if ((r = graph_contract_marked(&x->c, err)) != HDB_OK)
		return r;
	if ((r = derive_contracted_push(x, err)) != HDB_OK)
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
	if ((r = derive_contracted_pack(x, err)) != HDB_OK)
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
	int r = graph_contract_begin(&x->c, err);

	if (r != HDB_OK)
		return r;
	if ((r = derive_contracted_see(x, err)) != HDB_OK)
		return r;
	x->is_seen = true;
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
	if ((r = derive_thin(&thinned, &x->thinning, &x->is_whole, err)) != HDB_OK)
		return r;
	if (!x->is_whole && (r = see_all(x, err)) != HDB_OK)
		return r;
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

/* What is known by class, and room for blocks' work. */
static int make_room(struct contracted *x, struct hdb_error *err)
{
	const size_t classes = (size_t)x->derive->heap->class_count + 1;

	x->objects = calloc(classes, sizeof(*x->objects));
	x->class_ix = calloc(classes, sizeof(*x->class_ix));
	x->is_soft = calloc(classes, sizeof(*x->is_soft));
	x->suspected = calloc(classes, sizeof(*x->suspected));
	x->is_confirmed = calloc(classes, sizeof(*x->is_confirmed));
	if (!x->objects || !x->class_ix || !x->is_soft || !x->suspected || !x->is_confirmed)
		return hdb_fail_memory(err, "dominators", classes * sizeof(*x->objects));
	return derive_contracted_slots(x, err);
}

static void free_room(struct contracted *x)
{
	derive_contracted_free_slots(x);
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
	if ((r = make_room(x, err)) != HDB_OK)
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
	free_room(&x);
	free(x.blocks);
	if (r != HDB_OK)
		goto out;
	r = x.c.whole.work ? derive_put_numbered(derive, writer, &x.c.whole, err) :
			     derive_put_parents(derive, writer, &parents, err);
out:
	release_parents(&x);
	return r;
}
