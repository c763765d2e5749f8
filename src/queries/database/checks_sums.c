/*
 * queries/database/checks_sums.c - the checks of depths, of totals by group, and of sums over the
 * dominator tree: retained sizes, native memory, heaps of Android.
 */
#include "analysis/groups.h"
#include "derive/native.h"
#include "queries/database/checks.h"

#include <assert.h>
#include <stdlib.h>

/* ---- sums over the dominator tree ---- */

struct sums {
	struct query *q;
	const char *what; /* description of the values, such as "bytes of native memory" */
	uint32_t heap_no;
	/* reads the value of each object in a block, and the stored retained value */
	int (*own)(struct sums *s, const struct heap_block *block, uint64_t *out,
		   struct hdb_error *err);
	int (*held)(struct sums *s, const struct heap_block *block, uint64_t *out,
		    struct hdb_error *err);
	struct query_check_found *found;
	uint64_t *own_values, *held_values; /* values of the objects in a block */
	uint32_t *heaps;                    /* heaps of these objects */
	bool is_comparing;                  /* whether values are compared rather than added up */
	uint32_t *idom;
	uint64_t *below; /* indexed by object: expected retained size */
	/* number of reachable objects in the dump, and the total of their values */
	uint64_t count, all;
	uint64_t reached,
		/* sum over all reachable objects, and recorded retained value of the top level */
		top;
};

static void add_sums(struct sums *s, const struct heap_block *block)
{
	for (uint32_t i = 0; i < block->count; i++) {
		const uint32_t ix = block->first_ix + i, idom = s->idom[ix];

		if (idom == ix)
			continue;
		s->below[ix] += s->own_values[i];
		s->reached += s->own_values[i];
		if (heap_is_counted(s->q->heap, block, i)) {
			s->count++;
			s->all += s->own_values[i];
		}
		*(idom == HEAP_NONE ? &s->top : &s->below[idom]) += s->held_values[i];
	}
}

static void compare_sums(struct sums *s, const struct heap_block *block)
{
	for (uint32_t i = 0; i < block->count && s->found->ok; i++) {
		const uint32_t ix = block->first_ix + i;
		const uint64_t want = s->idom[ix] == ix ? 0 : s->below[ix];

		if (s->held_values[i] != want)
			FAIL(s->found,
			     "object %" PRIu32 " retains %" PRIu64 " %s, but the object and its "
			     "dominated objects have %" PRIu64,
			     ix, s->held_values[i], s->what, want);
	}
}

static int look_at_sums(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct sums *s = ctx;

	assert(block->count <= STORE_BLOCK_OBJECTS);
	TRY(s->held(s, block, s->held_values, err));
	if (s->is_comparing) {
		compare_sums(s, block);
		return s->found->ok ? HDB_OK : HDB_END;
	}
	TRY(s->own(s, block, s->own_values, err));
	add_sums(s, block);
	return HDB_OK;
}

/* Makes two passes over the blocks. The first adds up the values, and the second compares them. */
static int pass_sums(struct sums *s, struct hdb_error *err)
{
	struct query *q = s->q;
	BASE_FREED uint64_t *own = NULL, *held = NULL;
	BASE_FREED uint32_t *heaps = NULL;

	assert(s->own && s->held && !s->is_comparing);
	TRY(BASE_ALLOC(own, STORE_BLOCK_OBJECTS, "a block of objects", err));
	TRY(BASE_ALLOC(held, STORE_BLOCK_OBJECTS, "a block of objects", err));
	TRY(BASE_ALLOC(heaps, STORE_BLOCK_OBJECTS, "a block of objects", err));
	s->own_values = own;
	s->held_values = held;
	s->heaps = heaps;
	TRY(heap_each_block(q->heap, q->work, look_at_sums, s, err));
	s->is_comparing = true;
	TRY_ERRORS(heap_each_block(q->heap, q->work, look_at_sums, s, err));
	return HDB_OK;
}

/* Checks that roots have no dominator, and that dominators are reachable. */
static void check_dominators(const struct sums *s)
{
	const struct heap *heap = s->q->heap;

	for (uint32_t ix = 0; ix < heap->object_count && s->found->ok; ix++) {
		const uint32_t idom = s->idom[ix];

		if (idom == ix || idom == HEAP_NONE)
			continue;
		if (heap_is_root(heap, ix))
			FAIL(s->found, "object %" PRIu32 " is a root, but has dominator %" PRIu32,
			     ix, idom);
		else if (s->idom[idom] == idom)
			FAIL(s->found, "dominator %" PRIu32 " of object %" PRIu32 " is unreachable",
			     idom, ix);
	}
}

static int check_sums(struct sums *s, struct query_check_found *found, struct hdb_error *err)
{
	struct query *q = s->q;
	const uint64_t n = q->heap->object_count;
	BASE_SCOPED(base_big_free) struct base_big idom = { 0 }, below = { 0 };

	assert(found->ok && !s->found); /* each struct sums is used for one check */
	TRY(heap_load_roots(q->heap, err));
	TRY(base_big_alloc(q->work, &idom, n * 4 + 4, "checking sums", err));
	TRY(base_big_alloc(q->work, &below, n * 8 + 8, "checking sums", err));
	s->idom = idom.data;
	s->below = below.data;
	s->found = found;
	TRY(query_check_load_dominators(q, s->idom, err));
	check_dominators(s);
	return found->ok ? pass_sums(s, err) : HDB_OK;
}

static int own_shallow(struct sums *s, const struct heap_block *block, uint64_t *out,
		       struct hdb_error *err)
{
	(void)s;
	(void)err;
	for (uint32_t i = 0; i < block->count; i++)
		out[i] = block->shallow[i];
	return HDB_OK;
}

static int held_shallow(struct sums *s, const struct heap_block *block, uint64_t *out,
			struct hdb_error *err)
{
	return derive_retained_block(s->q->derive, block, out, err);
}

int query_check_retained(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	struct sums s = { .q = q, .what = "bytes", .own = own_shallow, .held = held_shallow };

	TRY(check_sums(&s, found, err));
	if (found->ok && s.top != s.reached)
		FAIL(found, "the top level retains %" PRIu64 " of %" PRIu64 " reachable bytes",
		     s.top, s.reached);
	if (found->ok)
		SAY(found,
		    "%" PRIu64 " objects; the top level retains all %" PRIu64 " reachable bytes",
		    s.count, s.all);
	return HDB_OK;
}

static int own_native(struct sums *s, const struct heap_block *block, uint64_t *out,
		      struct hdb_error *err)
{
	return derive_native_block(s->q->derive, heap_block_no(block), out, err);
}

static int held_native(struct sums *s, const struct heap_block *block, uint64_t *out,
		       struct hdb_error *err)
{
	for (uint32_t i = 0; i < block->count; i++)
		TRY(derive_retained_native(s->q->derive, block->first_ix + i, &out[i], err));
	return HDB_OK;
}

int query_check_retained_native(struct query *q, struct query_check_found *found,
				struct hdb_error *err)
{
	struct sums s = {
		.q = q, .what = "bytes of native memory", .own = own_native, .held = held_native
	};

	TRY(check_sums(&s, found, err));
	if (found->ok)
		SAY(found, "%" PRIu64 " bytes of native memory of reachable objects", s.all);
	return HDB_OK;
}

static int own_in_heap(struct sums *s, const struct heap_block *block, uint64_t *out,
		       struct hdb_error *err)
{
	TRY(heap_read_heaps(s->q->heap, heap_block_no(block), s->heaps, err));
	for (uint32_t i = 0; i < block->count; i++)
		out[i] = s->heaps[i] == s->heap_no ? block->shallow[i] : 0;
	return HDB_OK;
}

static int held_in_heap(struct sums *s, const struct heap_block *block, uint64_t *out,
			struct hdb_error *err)
{
	for (uint32_t i = 0; i < block->count; i++)
		TRY(derive_retained_in(s->q->derive, block->first_ix + i, s->heap_no, &out[i],
				       err));
	return HDB_OK;
}

int query_check_retained_heaps(struct query *q, struct query_check_found *found,
			       struct hdb_error *err)
{
	const uint32_t heaps = derive_heap_count(q->derive);
	uint64_t all = 0;

	for (uint32_t no = 0; no < heaps && found->ok; no++) {
		struct sums s = {
			.q = q,
			.what = "bytes in one heap",
			.heap_no = no,
			.own = own_in_heap,
			.held = held_in_heap,
		};

		TRY(check_sums(&s, found, err));
		all += s.all;
	}
	if (found->ok)
		SAY(found, "%" PRIu32 " heaps with %" PRIu64 " reachable bytes", heaps, all);
	return HDB_OK;
}

/* ---- native memory ---- */

int query_check_native(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	BASE_FREED uint64_t *bytes = malloc(STORE_BLOCK_OBJECTS * sizeof(*bytes));
	BASE_SCOPED(base_vec_release) struct base_vec sizes = { 0 };
	uint64_t owners = 0;

	TRY(bytes ? derive_native_sizes(q->derive, DERIVE_NATIVE_COUNTED, &sizes, err) :
		    hdb_fail_memory(err, "a block of objects", STORE_BLOCK_OBJECTS * 8));
	for (uint32_t b = 0; b < heap_block_count(q->heap) && found->ok; b++) {
		const uint32_t first = b * STORE_BLOCK_OBJECTS, n = q->heap->object_count;

		TRY(derive_native_block(q->derive, b, bytes, err));
		for (uint32_t i = 0; found->ok && i < STORE_BLOCK_OBJECTS && i < n - first; i++) {
			const uint64_t want = derive_native_in(&sizes, first + i);

			owners += want > 0;
			if (bytes[i] != want)
				FAIL(found,
				     "object %" PRIu32 " is recorded as owner of %" PRIu64
				     " bytes of native memory, but the dump records %" PRIu64,
				     first + i, bytes[i], want);
		}
	}
	if (found->ok)
		SAY(found, "%" PRIu64 " objects own native memory, as the dump records", owners);
	return HDB_OK;
}

/* ---- depths ---- */

static int compare_depth(struct query *q, uint32_t ix, uint32_t parent,
			 struct query_check_found *found, struct hdb_error *err)
{
	uint32_t depth, above = 0;
	bool is_reached, is_above_reached = true;

	TRY(derive_depth(q->derive, ix, &is_reached, &depth, err));
	if (parent != ix && parent != HEAP_NONE)
		TRY(derive_depth(q->derive, parent, &is_above_reached, &above, err));
	if (is_reached != (parent != ix))
		FAIL(found, "object %" PRIu32 " has %s depth, but is %sreachable", ix,
		     is_reached ? "a" : "no", is_reached ? "un" : "");
	else if (is_reached &&
		 (!is_above_reached || depth != (parent == HEAP_NONE ? 0 : above + 1)))
		FAIL(found,
		     "object %" PRIu32 " has depth %" PRIu32 ", but its parent has depth %" PRIu32,
		     ix, depth, above);
	return HDB_OK;
}

int query_check_depth(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	BASE_FREED uint32_t *parent = NULL;
	const uint32_t n = q->heap->object_count;

	TRY(BASE_ALLOC(parent, STORE_BLOCK_OBJECTS, "a block of objects", err));
	for (uint32_t b = 0; b < heap_block_count(q->heap) && found->ok; b++) {
		const uint32_t first = b * STORE_BLOCK_OBJECTS;

		TRY(derive_reach_block(q->derive, false, b, parent, err));
		for (uint32_t i = 0; found->ok && i < STORE_BLOCK_OBJECTS && i < n - first; i++)
			TRY(compare_depth(q, first + i, parent[i], found, err));
		TRY(base_step(q->work, first, err));
	}
	if (found->ok)
		SAY(found, "each object is one step deeper than its parent");
	return HDB_OK;
}

/* ---- totals ---- */

struct class_sums {
	const struct heap *heap;
	/*
	 * indexed by class number: reachable and unreachable objects; the last entry is the total
	 */
	struct derive_total *by_class;
};

static int count_block(void *ctx, const struct heap_block *block, const uint8_t *reachable,
		       struct hdb_error *err)
{
	const struct class_sums *sums = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->count; i++) {
		if (!heap_is_counted(sums->heap, block, i))
			continue;
		analysis_count_object(&sums->by_class[block->class_no[i]], block->shallow[i],
				      reachable[i]);
		analysis_count_object(&sums->by_class[sums->heap->class_count], block->shallow[i],
				      reachable[i]);
	}
	return HDB_OK;
}

/* Counts objects and bytes by class number. */
static int count_classes(struct query *q, struct derive_total *by_class, struct hdb_error *err)
{
	struct class_sums sums = { q->heap, by_class };

	return derive_each_reachable(q->derive, q->work, count_block, &sums, err);
}

static bool is_same(const struct derive_total *a, const struct derive_total *b)
{
	return a->count == b->count && a->shallow_bytes == b->shallow_bytes &&
	       a->unreachable_count == b->unreachable_count &&
	       a->unreachable_bytes == b->unreachable_bytes;
}

static void add_total(struct derive_total *sum, const struct derive_total *more)
{
	sum->count += more->count;
	sum->shallow_bytes += more->shallow_bytes;
	sum->unreachable_count += more->unreachable_count;
	sum->unreachable_bytes += more->unreachable_bytes;
}

/*
 * Checks that the totals of a grouping add up to the total, and that totals by class are correct.
 */
static int compare_totals(struct query *q, enum derive_group group,
			  const struct derive_total *by_class, struct query_check_found *found,
			  struct hdb_error *err)
{
	static const char *const names[] = { "class", "superclass", "package", "class loader" };
	const uint32_t n = q->heap->class_count;
	struct derive_total sum = { 0 };
	BASE_FREED struct derive_total *totals = NULL;
	size_t count = 0;

	TRY(derive_totals(q->derive, group, &totals, &count, err));
	for (size_t i = 0; i < count && found->ok; i++) {
		add_total(&sum, &totals[i]);
		if (group == DERIVE_CLASS &&
		    (totals[i].no >= n || !is_same(&totals[i], &by_class[totals[i].no])))
			FAIL(found, "the totals of class %" PRIu32 " do not match its objects",
			     totals[i].no);
	}
	/* The total of a superclass includes its subclasses. */
	if (found->ok && group != DERIVE_SUPERCLASS && !is_same(&sum, &by_class[n]))
		FAIL(found, "totals by %s add up to %" PRIu64 " objects, %" PRIu64 " expected",
		     names[group], sum.count, by_class[n].count);
	return HDB_OK;
}

int query_check_totals(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	static const enum derive_group groups[] = { DERIVE_CLASS, DERIVE_SUPERCLASS, DERIVE_PACKAGE,
						    DERIVE_LOADER };
	BASE_FREED struct derive_total *by_class = NULL;

	TRY(BASE_ALLOC(by_class, (size_t)q->heap->class_count + 1, "classes", err));
	TRY(count_classes(q, by_class, err));
	for (size_t i = 0; i < BASE_COUNT(groups) && found->ok; i++)
		TRY(compare_totals(q, groups[i], by_class, found, err));
	if (found->ok)
		SAY(found, "%" PRIu64 " reachable objects by class, superclass, package and loader",
		    by_class[q->heap->class_count].count);
	return HDB_OK;
}

int query_check_whole(struct query *q, struct query_check_found *found, struct hdb_error *err)
{
	BASE_FREED struct derive_total *by_class = NULL;
	struct derive_heap_totals whole = { 0 };

	TRY(BASE_ALLOC(by_class, (size_t)q->heap->class_count + 1, "classes", err));
	TRY(count_classes(q, by_class, err));
	TRY(derive_heap_totals(q->derive, &whole, err));

	const struct derive_total *want = &by_class[q->heap->class_count];
	const struct derive_total have = {
		.count = whole.count,
		.shallow_bytes = whole.shallow_bytes,
		.unreachable_count = whole.unreachable_count,
		.unreachable_bytes = whole.unreachable_bytes,
	};

	if (is_same(&have, want))
		SAY(found, "%" PRIu64 " reachable objects, %" PRIu64 " unreachable", whole.count,
		    whole.unreachable_count);
	else
		FAIL(found,
		     "%" PRIu64 " reachable objects of %" PRIu64
		     " bytes are recorded, but there are %" PRIu64 " of %" PRIu64,
		     whole.count, whole.shallow_bytes, want->count, want->shallow_bytes);
	return HDB_OK;
}
