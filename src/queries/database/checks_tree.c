/*
 * queries/database/checks_tree.c - the checks of the dominator tree: retained sizes, who is
 * reachable, lists of children.
 */
#include "analysis/edges.h"
#include "derive/build.h"
#include "heap/heap_database.h"
#include "queries/database/checks.h"

#include <stdlib.h>

/* ---- dominators and retained sizes ---- */

struct tree {
	struct query *q;
	uint32_t *idom;
	uint64_t *below;    /* by object: what it should retain */
	uint64_t top_bytes; /* retained by the top level */
	uint64_t all_bytes; /* shallow, of all reachable objects */
	/* of those, what the dump has */
	uint64_t count, bytes;
	struct query_check_found *found;
	uint64_t *retained; /* of a block's objects */
	bool is_comparing;  /* else they are added up */
};

/* Adds each object's retained size to its dominator's. */
static void add_block(struct tree *t, const struct heap_block *block, const uint64_t *retained,
		      struct query_check_found *found)
{
	const struct heap *heap = t->q->heap;

	for (uint32_t i = 0; i < block->count && found->ok; i++) {
		const uint32_t ix = block->first_ix + i, idom = t->idom[ix];

		if (idom == ix)
			continue;
		t->all_bytes += block->shallow[i];
		if (heap_is_counted(heap, block, i)) {
			t->count++;
			t->bytes += block->shallow[i];
		}
		t->below[ix] += block->shallow[i];
		if (idom == HEAP_NONE)
			t->top_bytes += retained[i];
		else
			t->below[idom] += retained[i];
		if (heap_is_root(heap, ix) && idom != HEAP_NONE)
			FAIL(found, "object %" PRIu32 " is a root, but has dominator %" PRIu32, ix,
			     idom);
		else if (idom != HEAP_NONE && t->idom[idom] == idom)
			FAIL(found, "dominator %" PRIu32 " of object %" PRIu32 " is unreachable",
			     idom, ix);
	}
}

static void compare_block(const struct tree *t, const struct heap_block *block,
			  const uint64_t *retained, struct query_check_found *found)
{
	for (uint32_t i = 0; i < block->count && found->ok; i++) {
		const uint32_t ix = block->first_ix + i;

		if (retained[i] != t->below[ix])
			FAIL(found,
			     "object %" PRIu32 " retains %" PRIu64 " bytes; itself and what "
			     "it dominates have %" PRIu64,
			     ix, retained[i], t->below[ix]);
	}
}

/* Reads what a block's objects retain, and looks at them with that. */
static int look_at_tree(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct tree *t = ctx;

	TRY(derive_retained_block(t->q->derive, block, t->retained, err));
	if (t->is_comparing)
		compare_block(t, block, t->retained, t->found);
	else
		add_block(t, block, t->retained, t->found);
	return t->found->ok ? HDB_OK : HDB_END;
}

/* Two passes over the blocks: adding up, then comparing. */
static int pass_tree(struct tree *t, struct hdb_error *err)
{
	BASE_FREED uint64_t *retained = NULL;

	TRY(BASE_ALLOC(retained, STORE_BLOCK_OBJECTS, "a block of objects", err));
	t->retained = retained;
	TRY_FOUND(heap_each_block(t->q->heap, t->q->work, look_at_tree, t, err));
	t->is_comparing = true;
	TRY_ERRORS(heap_each_block(t->q->heap, t->q->work, look_at_tree, t, err));
	return HDB_OK;
}

int query_check_load_dominators(struct query *q, uint32_t *idom, struct hdb_error *err)
{
	for (uint32_t b = 0; b < heap_block_count(q->heap); b++)
		TRY(derive_dominator_block(q->derive, b, idom + (uint64_t)b * STORE_BLOCK_OBJECTS,
					   err));
	return HDB_OK;
}

int query_check_retained(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	const uint64_t n = q->heap->object_count;
	struct tree t = { .q = q, .found = found };
	BASE_SCOPED(base_big_free) struct base_big idom = { 0 }, below = { 0 };

	TRY(heap_load_roots(q->heap, err));
	TRY(base_big_alloc(q->work, &idom, n * 4 + 4, "checking dominators", err));
	TRY(base_big_alloc(q->work, &below, n * 8 + 8, "checking dominators", err));
	t.idom = idom.data;
	t.below = below.data;
	TRY(query_check_load_dominators(q, t.idom, err));
	TRY(pass_tree(&t, err));
	if (found->ok && t.top_bytes != t.all_bytes)
		FAIL(found, "the top level retains %" PRIu64 " bytes of %" PRIu64 " reachable",
		     t.top_bytes, t.all_bytes);
	if (found->ok)
		SAY(found,
		    "%" PRIu64 " objects; the top level retains all %" PRIu64 " reachable bytes",
		    t.count, t.bytes);
	return HDB_OK;
}

/* That both say the same of who is reachable. */
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

/* Entries of a list whose dominators and sizes memory is asked for ahead. */
#define CHILDREN_AHEAD 16u

struct children {
	struct query *q;
	uint32_t *idom;
	uint64_t *retained;
	uint64_t count;
	uint64_t invented; /* of the expected: what the dump lacks */
	uint32_t wrong;    /* a child whose dominator is another; HEAP_NONE */
	uint32_t unsorted; /* a child that retains more than the one before it; HEAP_NONE */
	uint32_t list;
	uint32_t top_list; /* the number of the top level's */
	uint64_t before;   /* what the child before it retains */
};

static int look_at_children(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
			    struct hdb_error *err)
{
	struct children *c = ctx;
	const uint32_t want = ix == c->top_list ? HEAP_NONE : ix;

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

/* The tables that lists of children are compared with. */
static int load_children(struct children *c, struct hdb_error *err)
{
	TRY(query_check_load_dominators(c->q, c->idom, err));
	return heap_each_block(c->q->heap, c->q->work, load_block, c, err);
}

/* Whether an object is to be in one of the lists. */
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
 * Looks at the lists of a table, of which the last is the top level's: number `top_list`. *expected
 * is how many objects there are to be in them.
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
		FAIL(found, "object %" PRIu32 " is listed below another than its dominator",
		     c->wrong);
	else if (c->unsorted != HEAP_NONE)
		FAIL(found, "object %" PRIu32 " retains more than the one before it", c->unsorted);
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
