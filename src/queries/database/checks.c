/*
 * queries/database/checks.c - the list of checks, and the checks of tables about objects and
 * classes. checks_counts.c, checks_edges.c, checks_tree.c and checks_sums.c contain the other
 * checks.
 *
 * As in the info query, the numbers of objects and bytes in messages exclude objects that the dump
 * does not contain. Each check makes one or two passes over whole tables, and takes at most a few
 * bytes per object from the memory budget.
 */
#include "queries/database/checks.h"

#include <assert.h>
#include <stdlib.h>

/* ---- counts ---- */

/* Counts the derived tables that are not read because another version of the library built them. */
static int count_old(struct store *store, unsigned *count, struct hdb_error *err)
{
	for (unsigned t = STORE_REFERRERS; t < STORE_ANSWERS; t++) {
		struct store_table_info info = { .revision = store_table_revision(t) };

		if (!store_table_name(t))
			continue;
		TRY_ERRORS(store_table_info(store, (enum store_table)t, &info, err));
		*count += info.revision != store_table_revision(t);
	}
	return HDB_OK;
}

static int check_counts(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	struct store *store = q->heap->store;
	const uint64_t objects = q->heap->object_count;
	const struct {
		enum store_table table;
		bool is_derived;
		uint64_t items;
	} want[] = {
		{ STORE_IDS, false, objects },
		{ STORE_OBJECTS, false, objects },
		{ STORE_REFERENCES, false, store_meta_number(store, "references", 0) },
		{ STORE_CLASSES, false, q->heap->class_count },
		{ STORE_REACH, true, objects },
		{ STORE_REACH_STRONG, true, objects },
		{ STORE_DOMINATORS, true, objects },
		{ STORE_RETAINED, true, objects },
	};
	unsigned count = 0, old = 0;

	for (size_t i = 0; i < BASE_COUNT(want); i++) {
		struct store_table_info info;
		const int r = store_table_info(store, want[i].table, &info, err);

		TRY_ERRORS(r);
		if (r == HDB_NOTFOUND && want[i].is_derived)
			continue;
		if (r == HDB_NOTFOUND) {
			FAIL(found, "table %s is missing", store_table_name(want[i].table));
			return HDB_OK;
		}
		if (info.item_count != want[i].items) {
			FAIL(found, "table %s has %" PRIu64 " entries, %" PRIu64 " expected",
			     store_table_name(want[i].table), info.item_count, want[i].items);
			return HDB_OK;
		}
		count++;
	}
	TRY(count_old(store, &old, err));
	if (old)
		SAY(found,
		    "%u tables have the expected number of entries; %u derived tables of another "
		    "version of heapdb are rebuilt when a query needs them",
		    count, old);
	else
		SAY(found, "%u tables have the expected number of entries", count);
	return HDB_OK;
}

/* ---- identifiers ---- */

static int check_ids(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	BASE_FREED uint64_t *ids = malloc(STORE_BLOCK_OBJECTS * sizeof(*ids));
	uint64_t previous = 0, total = 0;
	int r;

	assert(found->ok);
	TRY(ids ? heap_load_classes(q->heap, err) :
		  hdb_fail_memory(err, "identifiers", STORE_BLOCK_OBJECTS * 8));
	for (uint32_t b = 0; b < heap_block_count(q->heap) && found->ok; b++) {
		uint32_t count = 0;

		TRY(heap_read_ids(q->heap, b, ids, &count, err));
		for (uint32_t i = 0; i < count && found->ok; i++, total++) {
			uint32_t ix;

			if (total && ids[i] <= previous)
				FAIL(found, "0x%" PRIx64 " after 0x%" PRIx64, ids[i], previous);
			previous = ids[i];
			/* The directory is verified by looking up one object of each block. */
			if (i != count / 2 || !found->ok)
				continue;
			TRY_ERRORS(r = heap_find(q->heap, ids[i], &ix, err));
			if (r > 0 || ix != total)
				FAIL(found,
				     "a search for ID 0x%" PRIx64 " does not find its "
				     "own position",
				     ids[i]);
		}
		TRY(base_step(q->work, total, err));
	}
	if (found->ok && total != q->heap->object_count)
		FAIL(found, "%" PRIu64 " identifiers of %" PRIu32 " objects", total,
		     q->heap->object_count);
	if (found->ok)
		SAY(found, "%" PRIu64 " identifiers, ascending",
		    total - heap_invented_count(q->heap));
	return HDB_OK;
}

/* ---- objects and classes ---- */

/* State of a pass over the objects. */
struct looking {
	const struct heap *heap;
	struct query_check_found *found;
	uint64_t class_objects;
};

static int look_at_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct looking *l = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->count; i++) {
		const uint32_t ix = block->first_ix + i;
		const struct store_class *class;

		if (block->kind[i] != STORE_CLASS)
			continue;
		l->class_objects++;
		class = heap_class(l->heap, (uint32_t)block->length[i]);
		if (class->ix == ix)
			continue;
		FAIL(l->found,
		     "object %" PRIu32 " is recorded as the class object of class %" PRIu64 ", "
		     "but that class records object %" PRIu32,
		     ix, block->length[i], class->ix);
		return HDB_END;
	}
	return HDB_OK;
}

/*
 * Checks that the class represented by each class object refers back to the object. Reading a block
 * already checks that class numbers are valid.
 */
static int check_objects(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	struct looking l = { .heap = q->heap, .found = found };

	assert(found->ok);
	TRY(heap_load_classes(q->heap, err));
	TRY_FOUND(heap_each_block(q->heap, q->work, look_at_block, &l, err));
	if (l.class_objects != q->heap->class_count)
		FAIL(found, "%" PRIu64 " class objects, %" PRIu32 " classes", l.class_objects,
		     q->heap->class_count);
	else
		SAY(found, "%" PRIu32 " objects of %" PRIu32 " classes",
		    q->heap->object_count - heap_invented_count(q->heap), q->heap->class_count);
	return HDB_OK;
}

static const struct query_check_step steps[] = {
	{ "counts", { 0 }, check_counts, false },
	{ "identifiers", { 0 }, check_ids, false },
	{ "objects", { 0 }, check_objects, false },
	{ "class counts", { STORE_CLASS_COUNTS }, query_check_class_counts, false },
	{ "references", { 0 }, query_check_references, false },
	{ "referrers", { STORE_REFERRERS }, query_check_referrers, false },
	{ "reach", { STORE_REACH }, query_check_reach, false },
	{ "retained", { STORE_DOMINATORS, STORE_RETAINED }, query_check_retained, true },
	{ "reach and dominators", { STORE_REACH, STORE_DOMINATORS }, query_check_agreement, true },
	{ "children", { STORE_CHILDREN, STORE_RETAINED }, query_check_children, true },
	{ "top level", { STORE_TOP_LEVEL, STORE_RETAINED }, query_check_top_level, true },
	{ "depth", { STORE_DEPTH, STORE_REACH }, query_check_depth, true },
	{ "totals", { STORE_TOTALS, STORE_DOMINATORS }, query_check_totals, true },
	{ "whole", { STORE_WHOLE, STORE_DOMINATORS }, query_check_whole, true },
	{ "native", { STORE_NATIVE }, query_check_native, false },
	{ "retained native",
	  { STORE_RETAINED_NATIVE, STORE_DOMINATORS },
	  query_check_retained_native,
	  true },
	{ "retained heaps",
	  { STORE_RETAINED_HEAPS, STORE_DOMINATORS },
	  query_check_retained_heaps,
	  true },
};

const struct query_check_step *query_check_steps(size_t *count)
{
	*count = BASE_COUNT(steps);
	return steps;
}
