/*
 * query/checks.c - checks that tables agree with one another.
 *
 * Each is one or two passes over whole tables; memory is at most some bytes an object, from the
 * budget.
 */
#include "query/checks.h"

#include "query/edges.h"

#include <stdio.h>
#include <stdlib.h>

#define FAIL(ok, detail, ...) \
	(*(ok) = false, (void)snprintf(detail, CHECK_DETAIL_SIZE, __VA_ARGS__))

#define SAY(detail, ...) ((void)snprintf(detail, CHECK_DETAIL_SIZE, __VA_ARGS__))

/* ---- counts ---- */

static int check_counts(struct query *q, bool *ok, char *detail, struct hdb_error *err)
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
	unsigned count = 0;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct store_table_info info;
		const int r = store_table_info(store, want[i].table, &info, err);

		if (r < 0)
			return r;
		if (r == HDB_NOTFOUND && want[i].is_derived)
			continue;
		if (r == HDB_NOTFOUND) {
			FAIL(ok, detail, "table %s is not there", store_table_name(want[i].table));
			return HDB_OK;
		}
		if (info.item_count != want[i].items) {
			FAIL(ok, detail, "table %s has %" PRIu64 " entries, %" PRIu64 " expected",
			     store_table_name(want[i].table), info.item_count, want[i].items);
			return HDB_OK;
		}
		count++;
	}
	SAY(detail, "%u tables have as many entries as they should", count);
	return HDB_OK;
}

/* ---- identifiers ---- */

static int check_ids(struct query *q, bool *ok, char *detail, struct hdb_error *err)
{
	uint64_t *ids = malloc(STORE_BLOCK_OBJECTS * sizeof(*ids));
	uint64_t previous = 0, total = 0;
	int r = ids ? HDB_OK : hdb_fail_memory(err, "identifiers", STORE_BLOCK_OBJECTS * 8);

	for (uint32_t b = 0; b < heap_block_count(q->heap) && r == HDB_OK && *ok; b++) {
		uint32_t count = 0;

		r = heap_read_ids(q->heap, b, ids, &count, err);
		for (uint32_t i = 0; i < count && r == HDB_OK && *ok; i++, total++) {
			uint32_t ix;

			if (total && ids[i] <= previous)
				FAIL(ok, detail, "0x%" PRIx64 " after 0x%" PRIx64, ids[i], previous);
			previous = ids[i];
			/* Looking one up a block shows that the directory leads to it. */
			if (i != count / 2 || !*ok)
				continue;
			r = heap_find(q->heap, ids[i], &ix, err);
			if (r > 0 || (r == HDB_OK && ix != total))
				FAIL(ok, detail, "0x%" PRIx64 " is not found where it is", ids[i]);
			r = r < 0 ? r : HDB_OK;
		}
		if (r == HDB_OK)
			r = base_step(q->work, total, err);
	}
	free(ids);
	if (r == HDB_OK && *ok && total != q->heap->object_count)
		FAIL(ok, detail, "%" PRIu64 " identifiers of %" PRIu32 " objects", total,
		     q->heap->object_count);
	if (r == HDB_OK && *ok)
		SAY(detail, "%" PRIu64 " identifiers, ascending", total);
	return r;
}

/* ---- objects and classes ---- */

/* That each class object stands for a class whose object it is; reading checks all numbers. */
static int check_objects(struct query *q, bool *ok, char *detail, struct hdb_error *err)
{
	struct heap_block *block = malloc(sizeof(*block));
	uint64_t class_objects = 0;
	int r = block ? heap_load_classes(q->heap, err) :
		hdb_fail_memory(err, "a block of objects", sizeof(*block));

	for (uint32_t b = 0; b < heap_block_count(q->heap) && r == HDB_OK && *ok; b++) {
		r = heap_read_block(q->heap, b, block, err);
		for (uint32_t i = 0; r == HDB_OK && i < block->count && *ok; i++) {
			const uint32_t ix = block->first_ix + i;

			if (block->kind[i] != STORE_CLASS)
				continue;
			class_objects++;
			if (heap_class(q->heap, (uint32_t)block->length[i])->ix != ix)
				FAIL(ok, detail, "object %" PRIu32 " stands for class %" PRIu64
				     ", whose object is %" PRIu32, ix, block->length[i],
				     heap_class(q->heap, (uint32_t)block->length[i])->ix);
		}
		if (r == HDB_OK)
			r = base_step(q->work, block->first_ix, err);
	}
	free(block);
	if (r == HDB_OK && *ok && class_objects != q->heap->class_count)
		FAIL(ok, detail, "%" PRIu64 " class objects, %" PRIu32 " classes", class_objects,
		     q->heap->class_count);
	if (r == HDB_OK && *ok)
		SAY(detail, "%" PRIu32 " objects of %" PRIu32 " classes", q->heap->object_count,
		    q->heap->class_count);
	return r;
}

/* ---- references and referrers ---- */

/* A sum over distinct pairs (from, to) that does not depend on their order. */
struct edge_sum {
	uint64_t all;      /* entries */
	uint64_t distinct; /* without those repeated in one list */
	uint64_t hash;
	uint32_t *last;    /* by entry: 1 + the list that had it last; NULL: lists are distinct */
	bool is_turned;    /* the lists are of referrers */
};

/*
 * A pair's share of the sum: a finalizer, so that swapped and shifted pairs differ (Stafford's mix
 * 13).
 */
static uint64_t mix(uint32_t from, uint32_t to)
{
	uint64_t v = ((uint64_t)from << 32 | to) + 0x9e3779b97f4a7c15ull;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return v ^ v >> 31;
}

static int sum_edges(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
		     struct hdb_error *err)
{
	struct edge_sum *sum = ctx;

	(void)err;
	sum->all += count;
	for (size_t i = 0; i < count; i++) {
		if (sum->last && sum->last[entries[i]] == ix + 1)
			continue;
		if (sum->last)
			sum->last[entries[i]] = ix + 1;
		sum->distinct++;
		sum->hash += sum->is_turned ? mix(entries[i], ix) : mix(ix, entries[i]);
	}
	return HDB_OK;
}

static int check_references(struct query *q, bool *ok, char *detail, struct hdb_error *err)
{
	const uint64_t want = store_meta_number(q->heap->store, "references", 0);
	struct edge_sum sum = { 0 };
	struct store_lists lists;
	int r;

	heap_references(q->heap, &lists);
	r = query_each_edge(q, &lists, q->heap->object_count, sum_edges, &sum, err);
	if (r < 0)
		return r;
	if (sum.all != want)
		FAIL(ok, detail, "%" PRIu64 " references, %" PRIu64 " expected", sum.all, want);
	else
		SAY(detail, "%" PRIu64 " references, all to objects that are there", sum.all);
	return HDB_OK;
}

static int check_referrers(struct query *q, bool *ok, char *detail, struct hdb_error *err)
{
	const uint64_t n = q->heap->object_count;
	struct edge_sum there = { 0 }, back = { .is_turned = true };
	struct base_big last = { 0 };
	struct store_lists references, referrers;
	int r = base_big_alloc(q->work, &last, n * 4 + 4, "checking referrers", err);

	if (r < 0)
		return r;
	there.last = last.data;
	heap_references(q->heap, &references);
	r = query_each_edge(q, &references, n, sum_edges, &there, err);
	if (r == HDB_OK)
		r = derive_referrers(q->derive, &referrers, err);
	if (r == HDB_OK)
		r = query_each_edge(q, &referrers, n, sum_edges, &back, err);
	base_big_free(q->work, &last);
	if (r < 0)
		return r;
	if (there.distinct != back.distinct || there.hash != back.hash)
		FAIL(ok, detail, "no mirror image of references: %" PRIu64 " pairs, %" PRIu64
		     " expected", back.distinct, there.distinct);
	else
		SAY(detail, "%" PRIu64 " pairs, the mirror image of references", back.distinct);
	return HDB_OK;
}

/* ---- reach ---- */

struct reach {
	struct query *q;
	uint32_t *parent;    /* by object: itself if unreachable, HEAP_NONE for a root */
	uint8_t *confirmed;  /* the parent refers to it */
	uint32_t missed;     /* a reachable object's reference to an unreachable one; HEAP_NONE */
};

static int confirm(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
		   struct hdb_error *err)
{
	struct reach *reach = ctx;

	(void)err;
	if (reach->parent[ix] == ix)
		return HDB_OK;
	for (size_t i = 0; i < count; i++) {
		const uint32_t to = entries[i];

		if (reach->parent[to] == ix && to != ix)
			reach->confirmed[to] = 1;
		else if (reach->parent[to] == to)
			reach->missed = to;
	}
	return HDB_OK;
}

/* The parents, and the edges from objects to their classes, which are in no list. */
static int load_reach(struct reach *reach, struct hdb_error *err)
{
	struct query *q = reach->q;
	struct heap_block *block = malloc(sizeof(*block));
	int r = block ? HDB_OK : hdb_fail_memory(err, "a block of objects", sizeof(*block));

	for (uint32_t b = 0; b < heap_block_count(q->heap) && r == HDB_OK; b++)
		r = derive_reach_block(q->derive, false, b,
				       reach->parent + (uint64_t)b * STORE_BLOCK_OBJECTS, err);
	for (uint32_t b = 0; b < heap_block_count(q->heap) && r == HDB_OK; b++) {
		r = base_step(q->work, (uint64_t)b * STORE_BLOCK_OBJECTS, err);
		if (r == HDB_OK)
			r = heap_read_block(q->heap, b, block, err);
		for (uint32_t i = 0; r == HDB_OK && i < block->count; i++) {
			const uint32_t class_ix = heap_class(q->heap, block->class_no[i])->ix;

			r = confirm(reach, block->first_ix + i, &class_ix, 1, err);
		}
	}
	free(block);
	return r;
}

static void judge_reach(const struct reach *reach, bool *ok, char *detail)
{
	const struct heap *heap = reach->q->heap;
	uint64_t count = 0;

	for (uint32_t ix = 0; ix < heap->object_count && *ok; ix++) {
		const uint32_t parent = reach->parent[ix];

		count += parent != ix;
		if (heap_is_root(heap, ix) != (parent == HEAP_NONE))
			FAIL(ok, detail, "object %" PRIu32 " is %s root", ix,
			     parent == HEAP_NONE ? "no" : "a");
		else if (parent != ix && parent != HEAP_NONE && !reach->confirmed[ix])
			FAIL(ok, detail, "object %" PRIu32 " is not referred to by its parent %"
			     PRIu32, ix, parent);
	}
	if (*ok && reach->missed != HEAP_NONE)
		FAIL(ok, detail, "object %" PRIu32 " is unreachable, but a reachable one refers to it",
		     reach->missed);
	if (*ok)
		SAY(detail, "%" PRIu64 " reachable objects, each referred to by its parent", count);
}

static int check_reach(struct query *q, bool *ok, char *detail, struct hdb_error *err)
{
	const uint64_t n = q->heap->object_count;
	struct reach reach = { .q = q, .missed = HEAP_NONE };
	struct base_big parent = { 0 }, confirmed = { 0 };
	struct store_lists lists;
	int r = heap_load_roots(q->heap, err);

	if (r == HDB_OK)
		r = base_big_alloc(q->work, &parent, n * 4 + 4, "checking reachability", err);
	if (r == HDB_OK)
		r = base_big_alloc(q->work, &confirmed, n + 1, "checking reachability", err);
	reach.parent = parent.data;
	reach.confirmed = confirmed.data;
	if (r == HDB_OK)
		r = load_reach(&reach, err);
	heap_references(q->heap, &lists);
	if (r == HDB_OK)
		r = query_each_edge(q, &lists, n, confirm, &reach, err);
	if (r == HDB_OK)
		judge_reach(&reach, ok, detail);
	base_big_free(q->work, &parent);
	base_big_free(q->work, &confirmed);
	return r;
}

/* ---- dominators and retained sizes ---- */

struct tree {
	struct query *q;
	uint32_t *idom;
	uint64_t *below;     /* by object: what it should retain */
	uint64_t top_bytes;  /* retained by the top level */
	uint64_t all_bytes;  /* shallow, of all reachable objects */
	uint64_t count;
};

/* Adds each object's retained size to its dominator's. */
static int add_block(struct tree *t, const struct heap_block *block, const uint64_t *retained,
		     bool *ok, char *detail)
{
	const struct heap *heap = t->q->heap;

	for (uint32_t i = 0; i < block->count && *ok; i++) {
		const uint32_t ix = block->first_ix + i, idom = t->idom[ix];

		if (idom == ix)
			continue;
		t->count++;
		t->all_bytes += block->shallow[i];
		t->below[ix] += block->shallow[i];
		if (idom == HEAP_NONE)
			t->top_bytes += retained[i];
		else
			t->below[idom] += retained[i];
		if (heap_is_root(heap, ix) && idom != HEAP_NONE)
			FAIL(ok, detail, "object %" PRIu32 " is a root, but has dominator %" PRIu32, ix,
			     idom);
		else if (idom != HEAP_NONE && t->idom[idom] == idom)
			FAIL(ok, detail, "dominator %" PRIu32 " of object %" PRIu32 " is unreachable",
			     idom, ix);
	}
	return HDB_OK;
}

static void compare_block(const struct tree *t, const struct heap_block *block,
			  const uint64_t *retained, bool *ok, char *detail)
{
	for (uint32_t i = 0; i < block->count && *ok; i++) {
		const uint32_t ix = block->first_ix + i;

		if (retained[i] != t->below[ix])
			FAIL(ok, detail, "object %" PRIu32 " retains %" PRIu64 " bytes; itself and what "
			     "it dominates have %" PRIu64, ix, retained[i], t->below[ix]);
	}
}

/* Two passes over the blocks: adding up, then comparing. */
static int pass_tree(struct tree *t, bool *ok, char *detail, struct hdb_error *err)
{
	struct query *q = t->q;
	const uint32_t blocks = heap_block_count(q->heap);
	struct heap_block *block = malloc(sizeof(*block));
	uint64_t *retained = malloc(STORE_BLOCK_OBJECTS * sizeof(*retained));
	int r = block && retained ? HDB_OK :
		hdb_fail_memory(err, "a block of objects", sizeof(*block));

	for (uint64_t b = 0; b < 2 * (uint64_t)blocks && r == HDB_OK && *ok; b++) {
		r = heap_read_block(q->heap, (uint32_t)(b < blocks ? b : b - blocks), block, err);
		if (r == HDB_OK)
			r = derive_retained_block(q->derive, block, retained, err);
		if (r == HDB_OK && b < blocks)
			r = add_block(t, block, retained, ok, detail);
		else if (r == HDB_OK)
			compare_block(t, block, retained, ok, detail);
		if (r == HDB_OK)
			r = base_step(q->work, block->first_ix, err);
	}
	free(block);
	free(retained);
	return r;
}

static int check_retained(struct query *q, bool *ok, char *detail, struct hdb_error *err)
{
	const uint64_t n = q->heap->object_count;
	struct tree t = { .q = q };
	struct base_big idom = { 0 }, below = { 0 };
	int r = heap_load_roots(q->heap, err);

	if (r == HDB_OK)
		r = base_big_alloc(q->work, &idom, n * 4 + 4, "checking dominators", err);
	if (r == HDB_OK)
		r = base_big_alloc(q->work, &below, n * 8 + 8, "checking dominators", err);
	t.idom = idom.data;
	t.below = below.data;
	for (uint32_t b = 0; b < heap_block_count(q->heap) && r == HDB_OK; b++)
		r = derive_dominator_block(q->derive, b, t.idom + (uint64_t)b * STORE_BLOCK_OBJECTS,
					   err);
	if (r == HDB_OK)
		r = pass_tree(&t, ok, detail, err);
	base_big_free(q->work, &idom);
	base_big_free(q->work, &below);
	if (r == HDB_OK && *ok && t.top_bytes != t.all_bytes)
		FAIL(ok, detail, "the top level retains %" PRIu64 " bytes of %" PRIu64 " reachable",
		     t.top_bytes, t.all_bytes);
	if (r == HDB_OK && *ok)
		SAY(detail, "%" PRIu64 " objects; the top level retains all %" PRIu64
		    " reachable bytes", t.count, t.all_bytes);
	return r;
}

/* That both say the same of who is reachable. */
static int check_agreement(struct query *q, bool *ok, char *detail, struct hdb_error *err)
{
	uint32_t *idom = malloc(2 * STORE_BLOCK_OBJECTS * sizeof(*idom));
	uint32_t *parent = idom + STORE_BLOCK_OBJECTS;
	int r = idom ? HDB_OK : hdb_fail_memory(err, "a block of objects", STORE_BLOCK_OBJECTS * 8);

	for (uint32_t b = 0; b < heap_block_count(q->heap) && r == HDB_OK && *ok; b++) {
		const uint32_t first = b * STORE_BLOCK_OBJECTS;

		r = derive_dominator_block(q->derive, b, idom, err);
		if (r == HDB_OK)
			r = derive_reach_block(q->derive, false, b, parent, err);
		for (uint32_t ix = first; ix - first < STORE_BLOCK_OBJECTS &&
		     ix < q->heap->object_count && r == HDB_OK && *ok; ix++)
			if ((parent[ix - first] != ix) != (idom[ix - first] != ix))
				FAIL(ok, detail, "object %" PRIu32 " is reachable in one table only", ix);
	}
	free(idom);
	if (r == HDB_OK && *ok)
		SAY(detail, "the same objects are reachable in both");
	return r;
}

/* ---- children ---- */

/* Entries of a list whose dominators and sizes memory is asked for ahead. */
#define CHILDREN_AHEAD 16u

struct children {
	struct query *q;
	uint32_t *idom;
	uint64_t *retained;
	uint64_t count;
	uint32_t wrong;   /* a child whose dominator is another; HEAP_NONE */
	uint32_t unsorted;/* a child that retains more than the one before it; HEAP_NONE */
	uint32_t list;
	uint64_t before;  /* what the child before it retains */
};

static int look_at_children(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
			    struct hdb_error *err)
{
	struct children *c = ctx;
	const uint32_t want = ix == c->q->heap->object_count ? HEAP_NONE : ix;

	(void)err;
	if (ix != c->list)
		c->before = UINT64_MAX;
	c->list = ix;
	for (size_t i = 0; i < count; i++) {
		const uint32_t idom = c->idom[entries[i]];
		const uint64_t retained = c->retained[entries[i]];

		if (count - i > CHILDREN_AHEAD) {
			__builtin_prefetch(&c->idom[entries[i + CHILDREN_AHEAD]]);
			__builtin_prefetch(&c->retained[entries[i + CHILDREN_AHEAD]]);
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

/* The tables that lists of children are compared with. */
static int load_children(struct children *c, struct hdb_error *err)
{
	struct heap *heap = c->q->heap;
	struct heap_block *block = malloc(sizeof(*block));
	int r = block ? HDB_OK : hdb_fail_memory(err, "a block of objects", sizeof(*block));

	for (uint32_t b = 0; b < heap_block_count(heap) && r == HDB_OK; b++) {
		const uint64_t first = (uint64_t)b * STORE_BLOCK_OBJECTS;

		r = heap_read_block(heap, b, block, err);
		if (r == HDB_OK)
			r = derive_dominator_block(c->q->derive, b, c->idom + first, err);
		if (r == HDB_OK)
			r = derive_retained_block(c->q->derive, block, c->retained + first, err);
		if (r == HDB_OK)
			r = base_step(c->q->work, first, err);
	}
	free(block);
	return r;
}

static int check_children(struct query *q, bool *ok, char *detail, struct hdb_error *err)
{
	struct children c = {
		.q = q, .wrong = HEAP_NONE, .unsorted = HEAP_NONE, .list = HEAP_NONE,
	};
	const uint64_t n = q->heap->object_count;
	struct base_big idom = { 0 }, retained = { 0 };
	struct store_table_info info;
	struct store_lists lists;
	int r = base_big_alloc(q->work, &idom, n * 4 + 4, "checking children", err);

	if (r == HDB_OK)
		r = base_big_alloc(q->work, &retained, n * 8 + 8, "checking children", err);
	c.idom = idom.data;
	c.retained = retained.data;
	if (r == HDB_OK)
		r = load_children(&c, err);
	if (r == HDB_OK)
		r = derive_children(q->derive, &lists, err);
	if (r == HDB_OK)
		r = query_each_edge(q, &lists, n + 1, look_at_children, &c, err);
	base_big_free(q->work, &idom);
	base_big_free(q->work, &retained);
	if (r == HDB_OK)
		r = store_table_info(q->heap->store, STORE_CHILDREN, &info, err);
	if (r != HDB_OK)
		return r;
	if (c.wrong != HEAP_NONE)
		FAIL(ok, detail, "object %" PRIu32 " is listed below another than its dominator",
		     c.wrong);
	else if (c.unsorted != HEAP_NONE)
		FAIL(ok, detail, "object %" PRIu32 " retains more than the one before it", c.unsorted);
	else if (c.count != info.item_count)
		FAIL(ok, detail, "%" PRIu64 " children, %" PRIu64 " expected", c.count,
		     info.item_count);
	else
		SAY(detail, "%" PRIu64 " children, each below its dominator, largest first", c.count);
	return HDB_OK;
}

static const struct query_check_step steps[] = {
	{ "counts", { 0 }, check_counts },
	{ "identifiers", { 0 }, check_ids },
	{ "objects", { 0 }, check_objects },
	{ "class counts", { STORE_CLASS_COUNTS }, query_check_class_counts },
	{ "references", { 0 }, check_references },
	{ "referrers", { STORE_REFERRERS }, check_referrers },
	{ "reach", { STORE_REACH }, check_reach },
	{ "retained", { STORE_DOMINATORS, STORE_RETAINED }, check_retained },
	{ "reach and dominators", { STORE_REACH, STORE_DOMINATORS }, check_agreement },
	{ "children", { STORE_CHILDREN, STORE_RETAINED }, check_children },
};

const struct query_check_step *query_check_steps(size_t *count)
{
	*count = sizeof(steps) / sizeof(steps[0]);
	return steps;
}
