/*
 * queries/database/checks_tree.c - the checks of the dominator tree, which verify reachability and
 * the lists of children.
 */
#include "analysis/edges.h"
#include "queries/database/checks.h"

#include <assert.h>
#include <stdlib.h>

int query_check_load_dominators(struct query *q, uint32_t *idom, struct hdb_error *err)
{
	for (uint32_t b = 0; b < heap_block_count(q->heap); b++)
		TRY(derive_dominator_block(q->derive, b, idom + (uint64_t)b * STORE_BLOCK_OBJECTS,
					   err));
	return HDB_OK;
}

/* Checks that the `reach` and `dominators` tables agree about which objects are reachable. */
int query_check_agreement(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	BASE_FREED uint32_t *idom = malloc(2 * STORE_BLOCK_OBJECTS * sizeof(*idom));
	uint32_t *parent = idom ? idom + STORE_BLOCK_OBJECTS : NULL;

	TRY(idom ? HDB_OK : hdb_fail_memory(err, "a block of objects", STORE_BLOCK_OBJECTS * 8));
	for (uint32_t b = 0; b < heap_block_count(q->heap) && found->ok; b++) {
		const uint32_t first = b * STORE_BLOCK_OBJECTS;

		TRY(derive_dominator_block(q->derive, b, idom, err));
		TRY(derive_reach_block(q->derive, false, b, parent, err));
		for (uint32_t ix = first;
		     ix - first < STORE_BLOCK_OBJECTS && ix < q->heap->object_count && found->ok;
		     ix++)
			if ((parent[ix - first] != ix) != (idom[ix - first] != ix))
				FAIL(found, "object %" PRIu32 " is reachable in one table only",
				     ix);
	}
	if (found->ok)
		SAY(found, "the same objects are reachable in both");
	return HDB_OK;
}

/* ---- children ---- */

/* How many list entries ahead to prefetch dominators and sizes. */
#define CHILDREN_AHEAD 16u

struct children {
	struct query *q;
	uint32_t *idom;
	uint64_t *retained;
	uint64_t count;
	uint64_t invented; /* number of expected objects that the dump does not contain */
	uint32_t wrong;    /* a child whose dominator is a different object, or HEAP_NONE */
	uint32_t unsorted; /* a child that retains more than the previous child, or HEAP_NONE */
	uint32_t list;
	uint32_t top_list; /* number of the list of the top level */
	uint64_t before;   /* retained size of the previous child */
};

static int look_at_children(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
			    struct hdb_error *err)
{
	struct children *c = ctx;
	const uint32_t want = ix == c->top_list ? HEAP_NONE : ix;

	assert(ix <= c->top_list || !c->top_list);
	(void)err;
	if (ix != c->list)
		c->before = UINT64_MAX;
	c->list = ix;
	for (size_t i = 0; i < count; i++) {
		const uint32_t idom = c->idom[entries[i]];
		const uint64_t retained = c->retained[entries[i]];

		if (count - i > CHILDREN_AHEAD) {
			prefetch_read(&c->idom[entries[i + CHILDREN_AHEAD]]);
			prefetch_read(&c->retained[entries[i + CHILDREN_AHEAD]]);
		}
		if (idom != want || idom == entries[i])
			c->wrong = entries[i];
		if (retained > c->before)
			c->unsorted = entries[i];
		c->before = retained;
		c->count++;
	}
	return HDB_OK;
}

static int load_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct children *c = ctx;

	return derive_retained_block(c->q->derive, block, c->retained + block->first_ix, err);
}

/* Loads the tables with which the lists of children are compared. */
static int load_children(struct children *c, struct hdb_error *err)
{
	TRY(query_check_load_dominators(c->q, c->idom, err));
	return heap_each_block(c->q->heap, c->q->work, load_block, c, err);
}

/* Returns whether one of the lists must contain an object. */
static bool is_expected(const struct children *c, uint32_t ix)
{
	return c->idom[ix] == HEAP_NONE || (c->top_list && c->idom[ix] != ix);
}

static uint64_t count_invented(const struct children *c)
{
	const struct heap *heap = c->q->heap;
	uint64_t count = heap->object_count && is_expected(c, HEAP_BOOT_LOADER);

	for (uint32_t no = 0; no < heap->class_count; no++)
		count += heap_class(heap, no)->flags & STORE_CLASS_INVENTED &&
			 is_expected(c, heap_class(heap, no)->ix);
	return count;
}

/*
 * Checks the lists of a table. List number `top_list` is for the top level. Sets *expected to the
 * number of objects that the lists must contain.
 */
static int look_at_lists(struct children *c, struct store_lists *lists, uint64_t *expected,
			 struct hdb_error *err)
{
	struct query *q = c->q;
	const uint64_t n = q->heap->object_count;
	BASE_SCOPED(base_big_free) struct base_big idom = { 0 }, retained = { 0 };

	TRY(base_big_alloc(q->work, &idom, n * 4 + 4, "checking children", err));
	TRY(base_big_alloc(q->work, &retained, n * 8 + 8, "checking children", err));
	c->idom = idom.data;
	c->retained = retained.data;
	c->wrong = c->unsorted = c->list = HEAP_NONE;
	TRY(load_children(c, err));
	*expected = 0;
	for (uint32_t i = 0; i < n; i++)
		*expected += is_expected(c, i);
	c->invented = count_invented(c);
	return analysis_each_edge(&q->session, lists, (uint64_t)c->top_list + 1,
				  &(struct analysis_edge_taker){ look_at_children, c, 0 }, err);
}

static void say_children(const struct children *c, uint64_t expected,
			 struct query_check_found *found)
{
	if (c->wrong != HEAP_NONE)
		FAIL(found,
		     "object %" PRIu32 " is listed below an object that is not its "
		     "dominator",
		     c->wrong);
	else if (c->unsorted != HEAP_NONE)
		FAIL(found, "object %" PRIu32 " retains more than the previous one", c->unsorted);
	else if (c->count != expected)
		FAIL(found, "%" PRIu64 " children, %" PRIu64 " expected", c->count, expected);
	else
		SAY(found, "%" PRIu64 " children, each below its dominator, largest first",
		    c->count - c->invented);
}

int query_check_children(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	struct children c = { .q = q, .top_list = q->heap->object_count };
	struct store_lists lists;
	uint64_t expected = 0;

	TRY(derive_children(q->derive, &lists, err));
	TRY(look_at_lists(&c, &lists, &expected, err));
	say_children(&c, expected, found);
	return HDB_OK;
}

int query_check_top_level(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	struct children c = { .q = q };
	struct store_lists lists = {
		.store = q->heap->store,
		.table = derive_table(q->derive, STORE_TOP_LEVEL),
		.big_table = derive_table(q->derive, STORE_TOP_LEVEL_BIG),
		.ix_count = q->heap->object_count,
	};
	uint64_t expected = 0;

	TRY(look_at_lists(&c, &lists, &expected, err));
	say_children(&c, expected, found);
	return HDB_OK;
}
