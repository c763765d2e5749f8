/*
 * queries/retained/q_immediate.c - the immediate-dominators query: which objects, by class,
 * immediately dominate the objects of a class and so keep them alive.
 */
#include "analysis/members.h"
#include "base/bits.h"
#include "base/glob.h"
#include "derive/native.h"
#include "heap/heap_database.h"
#include "queries/queries.h"

#include <queries/retained/q_immediate.query.h>

/* Dominators of one class. */
struct group {
	/* class number, plus class_count for class objects; twice class_count means no dominator */
	uint32_t key;
	uint32_t example_ix;
	uint64_t count, shallow_bytes, dominated, dominated_bytes, native;
};

struct immediate {
	struct group *groups;
	size_t count;
	bool has_native;
};

struct finder {
	struct query *q;
	uint32_t *idom;       /* indexed by object */
	uint32_t *key;        /* indexed by object: as in struct group */
	uint64_t *seen;       /* bit set: dominators that were already counted */
	uint8_t *is_skipped;  /* indexed by key */
	struct group *groups; /* indexed by key */
	const uint8_t *is_member_class;
	struct base_vec native; /* struct derive_native, ascending */
};

/* Reads the dominators, and the key of each object. */
static int load_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct finder *f = ctx;
	const uint32_t n = f->q->heap->class_count;

	for (uint32_t i = 0; i < block->count; i++)
		f->key[block->first_ix + i] =
			block->first_ix + i == HEAP_BOOT_LOADER ? 2 * n :
			block->kind[i] == STORE_CLASS           ? n + (uint32_t)block->length[i] :
								  block->class_no[i];
	return derive_dominator_block(f->q->derive, heap_block_no(block), f->idom + block->first_ix,
				      err);
}

/* Finds the dominator of a reachable member, skipping classes that --skip matches. */
static int add_member(const struct finder *f, uint32_t ix, uint64_t shallow, struct hdb_error *err)
{
	const uint32_t n = f->q->heap->object_count, none = 2 * f->q->heap->class_count;
	uint32_t above = f->idom[ix], steps = 0;
	struct group *group;

	while (above != HEAP_NONE && f->is_skipped[f->key[above]]) {
		if (steps++ > n || f->idom[above] == above)
			return heap_damaged(f->q->heap, STORE_DOMINATORS, ix,
					    "dominators form a circle", err);
		above = f->idom[above];
	}
	group = &f->groups[above == HEAP_NONE ? none : f->key[above]];
	group->dominated++;
	group->dominated_bytes += shallow;
	group->native += derive_native_in(&f->native, ix);
	if (group == &f->groups[none] || base_bit_has(f->seen, above))
		return HDB_OK;
	base_bit_put(f->seen, above);
	if (!group->count++)
		group->example_ix = above;
	return HDB_OK;
}

/* Adds the members of one block. */
static int add_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct finder *f = ctx;

	for (uint32_t i = 0; i < block->count; i++) {
		const uint32_t ix = block->first_ix + i;

		if (f->is_member_class[block->class_no[i]] && f->idom[ix] != ix &&
		    heap_is_counted(f->q->heap, block, i))
			TRY(add_member(f, ix, block->shallow[i], err));
	}
	return HDB_OK;
}

/* Adds the sizes of dominators. */
static int size_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct finder *f = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->count; i++) {
		const uint32_t ix = block->first_ix + i;

		if (base_bit_has(f->seen, ix))
			f->groups[f->key[ix]].shallow_bytes += block->shallow[i];
	}
	return HDB_OK;
}

static void mark_skipped(const struct finder *f)
{
	const char *patterns = query_text(f->q, "skip");
	const uint32_t n = f->q->heap->class_count;

	for (uint32_t no = 0; no < n; no++)
		f->is_skipped[no] = f->is_skipped[n + no] =
			base_glob_list(patterns, heap_class_name(f->q->heap, no));
}

BASE_ORDER(compare_groups, struct group, BASE_DOWN(dominated), BASE_UP(key))

static int find_all(struct query *q, struct immediate *s, struct finder *f,
		    const struct analysis_members *members, struct hdb_error *err)
{
	const size_t keys = (size_t)q->heap->class_count * 2 + 1;
	const bool is_filtered = q->heap->filter.is_on;
	HEAP_FILTER_SCOPE(heap_show_all, q->heap);

	mark_skipped(f);
	base_stage(q->work, "finding dominators", q->heap->object_count, "objects");
	TRY(heap_each_block(q->heap, NULL, load_block, f, err));
	/* The heap filter applies to the dominated objects, not to the dominators. */
	q->heap->filter.is_on = is_filtered;
	f->is_member_class = members->is_member_class;
	TRY(heap_each_block(q->heap, q->work, add_block, f, err));
	(void)heap_show_all(q->heap);
	TRY(heap_each_block(q->heap, q->work, size_block, f, err));
	for (size_t k = 0; k < keys; k++) {
		if (!f->groups[k].dominated)
			continue;
		f->groups[s->count] = f->groups[k];
		f->groups[s->count++].key = (uint32_t)k;
		s->has_native |= f->groups[k].native > 0;
	}
	if (s->count)
		qsort(f->groups, s->count, sizeof(*f->groups), compare_groups);
	return HDB_OK;
}

static int find_dominators(struct query *q, struct immediate *s,
			   const struct analysis_members *members, struct hdb_error *err)
{
	const uint64_t n = (uint64_t)heap_block_count(q->heap) * STORE_BLOCK_OBJECTS;
	const size_t keys = (size_t)q->heap->class_count * 2 + 1;
	BASE_SCOPED(base_big_free) struct base_big idom = { 0 }, key = { 0 }, seen = { 0 };
	BASE_SCOPED(base_vec_release) struct base_vec native = { 0 };
	BASE_FREED uint8_t *is_skipped = NULL;
	struct finder f = { .q = q };

	TRY(derive_need(q->derive, STORE_DOMINATORS, err));
	TRY(derive_native_counted(q->derive, &native, err));
	TRY(BASE_ALLOC(s->groups, keys, "classes of dominators", err));
	TRY(BASE_ALLOC(is_skipped, keys, "classes of dominators", err));
	TRY(base_big_alloc(q->work, &idom, n * 4 + 4, "dominators", err));
	TRY(base_big_alloc(q->work, &key, n * 4 + 4, "classes", err));
	TRY(base_big_alloc(q->work, &seen, n / 8 + 8, "a set of objects", err));
	f.groups = s->groups;
	f.is_skipped = is_skipped;
	f.native = native;
	f.idom = idom.data;
	f.key = key.data;
	f.seen = seen.data;
	return find_all(q, s, &f, members, err);
}

static int open_immediate(struct query *q, struct hdb_error *err)
{
	struct immediate *s = q->state;
	BASE_SCOPED(analysis_members_release) struct analysis_members members = { 0 };

	if (analysis_is_object(q->targets[0]))
		return hdb_fail(err, HDB_EUSAGE,
				"expected a class, a pattern or a class loader; `query object` "
				"shows the dominator of one object");
	TRY(analysis_members_find(&q->session, q->targets[0], query_option(q, "subclasses") != NULL,
				  &members, err));
	TRY(find_dominators(q, s, &members, err));
	query_fact(q, "objects", members.reachable_count);
	query_fact(q, "shallow", members.reachable_bytes);
	query_report_unreachable(q, members.unreachable_count, members.unreachable_bytes);
	if (!s->has_native && !query_option(q, "columns"))
		query_choose(q, "name,loader,objects,shallow,dominated_objects,dominated_shallow,"
				"id");
	q->total = s->count;
	return HDB_OK;
}

static int group_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct immediate *s = q->state;
	const struct group *group = &s->groups[no];
	const uint32_t n = q->heap->class_count;
	const bool is_class = group->key >= n;
	const uint32_t class_no = is_class ? group->key - n : group->key;

	(void)err;
	query_set(q, COUNT, group->count);
	query_set(q, SHALLOW, group->shallow_bytes);
	query_set(q, DOMINATED, group->dominated);
	query_set(q, DOMINATED_SHALLOW, group->dominated_bytes);
	query_set(q, NATIVE, group->native);
	if (group->key == 2 * n) {
		query_lend_text(q, NAME, "<root>");
		return HDB_OK;
	}
	query_format(q, NAME, "%s%s", is_class ? "class " : "", heap_class_name(q->heap, class_no));
	query_set_text(q, LOADER, heap_loader_name(q->heap, heap_class(q->heap, class_no)));
	query_set_id(q, EXAMPLE, group->example_ix);
	return HDB_OK;
}

QUERY_DEFINE(immediate_dominators, QUERY_STATE(struct immediate, groups), .open = open_immediate,
	     .row = group_row);
