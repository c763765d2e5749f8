/*
 * analysis/members.c - finds the objects selected by a class name, a pattern or a class loader.
 *
 * A set is represented by marks on classes. Its objects are then found block by block. Most classes
 * occur in few blocks, and the other blocks are skipped without decoding them.
 */
#include "analysis/members.h"

#include "analysis/loader_tree.h"
#include "analysis/targets.h"
#include "base/bits.h"
#include "base/glob.h"
#include "base/sort.h"
#include "heap/heap_database.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* "loader app", as printed in sentences, is also accepted */
static const char loader_prefix[] = "loader:";

/* Maximum number of bytes of a class loader's name that are compared. Longer names never match. */
#define LOADER_NAME_BYTES 256

void analysis_members_release(struct analysis_members *members)
{
	base_big_free(&members->ixs);
	base_vec_release(&members->loaders);
	free(members->is_member_class);
	free(members->is_read_class);
	members->is_member_class = members->is_read_class = NULL;
}

/* ---- classes ---- */

static int mark_classes(const struct session *session, const char *pattern, bool with_sub,
			struct analysis_members *m, struct hdb_error *err)
{
	struct analysis_class_list classes;

	TRY(analysis_classes(session, pattern, with_sub, &classes, err));
	for (size_t i = 0; i < classes.count; i++)
		m->is_member_class[classes.numbers[i]] = 1;
	m->class_no = classes.count == 1 ? classes.numbers[0] : HEAP_NONE;
	free(classes.numbers);
	return HDB_OK;
}

/* Marks the classes of a class loader that is given as an object. */
static int mark_loader_object(const struct session *session, const char *target,
			      struct analysis_members *m, struct hdb_error *err)
{
	struct heap *heap = session->heap;
	uint32_t loader_ix;
	bool any = false;

	TRY(analysis_object(session, target, &loader_ix, err));
	for (uint32_t no = 0; no < heap->class_count; no++) {
		m->is_member_class[no] = heap_class(heap, no)->loader_ix == loader_ix;
		any = any || m->is_member_class[no];
	}
	return any ? HDB_OK :
		     hdb_fail(err, HDB_NOTFOUND,
			      "no class has the class loader %s; omit \"loader:\" to select the "
			      "object itself",
			      target);
}

/*
 * Marks the classes of all class loaders that are instances of a given class or have a given name.
 */
static int mark_loader(const struct session *session, const char *name, struct analysis_members *m,
		       struct hdb_error *err)
{
	struct heap *heap = session->heap;
	uint32_t last_ix = HEAP_NONE;
	char label[LOADER_NAME_BYTES] = "";
	bool any = false;

	if (analysis_is_object(name))
		return mark_loader_object(session, name, m, err);
	for (uint32_t no = 0; no < heap->class_count; no++) {
		const struct store_class *class = heap_class(heap, no);

		m->is_member_class[no] = base_glob(name, heap_loader_name(heap, class));
		/*
		 * The name of a class loader is read from the dump. Consecutive classes usually
		 * have the same class loader, so its name is cached.
		 */
		if (!m->is_member_class[no] && class->loader_ix != last_ix) {
			TRY_ERRORS(analysis_loader_name(heap, class->loader_ix, label,
							sizeof(label), err));
			last_ix = class->loader_ix;
		}
		if (!m->is_member_class[no])
			m->is_member_class[no] = label[0] && base_glob(name, label);
		any = any || m->is_member_class[no];
	}
	return any ? HDB_OK :
		     hdb_fail(err, HDB_NOTFOUND, "no class has a class loader named %s", name);
}

/*
 * Extends a set, which contains the instances of a class loader's classes, to all objects that
 * belong to the class loader.
 */
static int add_loaders(const struct session *session, struct analysis_members *m,
		       struct hdb_error *err)
{
	struct heap *heap = session->heap;
	size_t kept = 0;

	TRY(BASE_ALLOC(m->is_read_class, (size_t)heap->class_count + 1, "classes", err));
	memcpy(m->is_read_class, m->is_member_class, (size_t)heap->class_count + 1);
	if (heap->class_class_no < heap->class_count)
		m->is_read_class[heap->class_class_no] = 1;
	for (uint32_t no = 0; no < heap->class_count; no++) {
		const struct analysis_member_loader one = { heap_class(heap, no)->loader_ix,
							    m->is_member_class[no] };

		/* Consecutive classes usually have the same class loader. */
		if (m->loaders.count &&
		    base_vec_at(&m->loaders, struct analysis_member_loader, m->loaders.count - 1)
				    ->ix == one.ix)
			continue;
		TRY(base_vec_push(&m->loaders, &one, sizeof(one), err));
	}
	base_vec_sort(&m->loaders, sizeof(struct analysis_member_loader), base_compare_u32);
	for (size_t i = 0; i < m->loaders.count; i++) {
		struct analysis_member_loader *all = m->loaders.data;
		struct heap_object loader;

		if (i && all[i].ix == all[kept - 1].ix)
			continue;
		all[kept++] = all[i];
		TRY(heap_object(heap, all[kept - 1].ix, &loader, err));
		m->is_read_class[loader.class_no] = 1;
	}
	m->loaders.count = kept;
	return HDB_OK;
}

/* ---- objects ---- */

/* Returns marks for the classes whose objects must be examined. */
static const uint8_t *read_classes(const struct analysis_members *m)
{
	return m->is_read_class ? m->is_read_class : m->is_member_class;
}

/* Returns whether object i of a block is a member. */
static bool is_in(const struct analysis_members *m, const struct heap_block *block, uint32_t i)
{
	const struct analysis_member_loader key = { .ix = block->first_ix + i };
	const struct analysis_member_loader *loader = NULL;

	if (m->is_read_class && block->kind[i] == STORE_CLASS)
		return m->is_member_class[(uint32_t)block->length[i]];
	if (m->loaders.count)
		loader = bsearch(&key, m->loaders.data, m->loaders.count, sizeof(key),
				 base_compare_u32);
	return loader ? loader->is_member : m->is_member_class[block->class_no[i]];
}

/* Sets *is_foreign to whether the block contains no member. */
static int is_foreign(const struct session *session, const struct analysis_members *m,
		      uint32_t block_no, bool *is_foreign, struct hdb_error *err)
{
	bool has = false;
	const int r = heap_block_has(session->heap, block_no, read_classes(m), &has, err);

	*is_foreign = !has;
	return r;
}

static void count_member(struct analysis_members *m, bool is_reachable, uint64_t shallow)
{
	m->count++;
	m->reachable_count += is_reachable;
	m->reachable_bytes += is_reachable ? shallow : 0;
	m->unreachable_count += !is_reachable;
	m->unreachable_bytes += is_reachable ? 0 : shallow;
}

/*
 * Counts the members, and lists them if `ixs` is not NULL. `room` is the size of `ixs`. If there
 * are more members, the counts are damaged.
 */
static int pass(const struct session *session, struct analysis_members *m, uint32_t *ixs,
		uint64_t room, struct hdb_error *err)
{
	BASE_FREED struct heap_block *block = malloc(sizeof(*block));
	BASE_FREED uint8_t *reachable = malloc(STORE_BLOCK_OBJECTS);

	assert(m->is_member_class);
	base_stage(session->work, "finding objects", session->heap->object_count, "objects");
	TRY(block && reachable ? HDB_OK :
				 hdb_fail_memory(err, "a block of objects", sizeof(*block)));
	for (uint32_t b = 0; b < heap_block_count(session->heap); b++) {
		bool skips = true;

		TRY(is_foreign(session, m, b, &skips, err));
		if (skips)
			continue;
		TRY(heap_read_block_of(session->heap, b, read_classes(m), block, err));
		TRY(derive_reachable_block(session->derive, b, reachable, err));
		for (uint32_t i = 0; i < block->count; i++) {
			if (!read_classes(m)[block->class_no[i]] || !is_in(m, block, i) ||
			    !heap_is_counted(session->heap, block, i))
				continue;
			if (ixs && m->count == room)
				return heap_damaged(session->heap, STORE_CLASS_COUNTS,
						    block->class_no[i], "too few objects", err);
			if (ixs)
				ixs[m->count] = block->first_ix + i;
			count_member(m, reachable[i], block->shallow[i]);
		}
		TRY(base_step(session->work, block->first_ix, err));
	}
	return HDB_OK;
}

/* Adds up the import's counts for the members' classes. */
struct room {
	const struct analysis_members *members;
	uint64_t count;
};

static int add_room(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct room *room = ctx;

	(void)err;
	if (room->members->is_member_class[count->class_no] && !count->is_invented)
		room->count += count->count;
	return HDB_OK;
}

/*
 * Returns an upper bound of the number of members, from the import's counts if they exist,
 * otherwise from a pass over the objects.
 */
static int count_room(const struct session *session, const struct analysis_members *m,
		      uint64_t *room, struct hdb_error *err)
{
	struct room sum = { .members = m };
	int r = heap_each_count(session->heap, add_room, &sum, err);

	if (r == HDB_NOTFOUND) {
		struct analysis_members counted = { .is_member_class = m->is_member_class };

		r = pass(session, &counted, NULL, 0, err);
		sum.count = counted.count;
	}
	*room = sum.count;
	if (m->is_read_class)
		*room += session->heap->class_count + m->loaders.count;
	return r;
}

static bool names_loader(const char *target)
{
	const size_t prefix = sizeof(loader_prefix) - 1;

	return strncmp(target, loader_prefix, prefix - 1) == 0 &&
	       strchr(": ", target[prefix - 1]) && target[prefix - 1];
}

static int find_classes(const struct session *session, const char *target, bool with_sub,
			struct analysis_members *out, struct hdb_error *err)
{
	*out = (struct analysis_members){ .class_no = HEAP_NONE };
	TRY(heap_load_classes(session->heap, err));
	TRY(BASE_ALLOC(out->is_member_class, (size_t)session->heap->class_count + 1, "classes",
		       err));
	return names_loader(target) ?
		       mark_loader(session, target + sizeof(loader_prefix) - 1, out, err) :
		       mark_classes(session, target, with_sub, out, err);
}

/* Lists the members. Their classes must have been marked. */
static int list_members(const struct session *session, struct analysis_members *out,
			struct hdb_error *err)
{
	uint64_t room = 0;

	TRY(count_room(session, out, &room, err));
	TRY(base_big_alloc(session->work, &out->ixs, (room + 1) * sizeof(uint32_t),
			   "a set of objects", err));
	return pass(session, out, out->ixs.data, room, err);
}

int analysis_members_find(const struct session *session, const char *target, bool with_sub,
			  struct analysis_members *out, struct hdb_error *err)
{
	const int r = find_classes(session, target, with_sub, out, err);

	return r == HDB_OK ? list_members(session, out, err) : r;
}

int analysis_members_find_whole(const struct session *session, const char *target, bool with_sub,
				struct analysis_members *out, struct hdb_error *err)
{
	int r = find_classes(session, target, with_sub, out, err);

	if (r == HDB_OK && names_loader(target))
		r = add_loaders(session, out, err);
	return r == HDB_OK ? list_members(session, out, err) : r;
}

/* ---- one by one ---- */

/* Counts the members from the totals by class. */
static int count_by_totals(const struct session *session, struct analysis_members *m,
			   struct hdb_error *err)
{
	BASE_FREED struct derive_total *totals = NULL;
	size_t count = 0;

	TRY(derive_totals(session->derive, DERIVE_CLASS, &totals, &count, err));
	for (size_t i = 0; i < count; i++) {
		const struct derive_total *t = &totals[i];

		if (t->no >= session->heap->class_count || !m->is_member_class[t->no])
			continue;
		m->count += t->count + t->unreachable_count;
		m->reachable_count += t->count;
		m->reachable_bytes += t->shallow_bytes;
		m->unreachable_count += t->unreachable_count;
		m->unreachable_bytes += t->unreachable_bytes;
	}
	return HDB_OK;
}

int analysis_members_count(const struct session *session, const char *target, bool with_sub,
			   struct analysis_members *out, struct hdb_error *err)
{

	TRY(find_classes(session, target, with_sub, out, err));
	if (!session->heap->filter.is_on && derive_has(session->derive, STORE_TOTALS))
		return count_by_totals(session, out, err);
	return pass(session, out, NULL, 0, err);
}

void analysis_member_list_release(struct analysis_member_list *list)
{
	free(list->block);
	*list = (struct analysis_member_list){ 0 };
}

int analysis_member_list_next(const struct session *session, const struct analysis_members *members,
			      struct analysis_member_list *list, uint32_t *ix,
			      struct hdb_error *err)
{
	assert(list->at <= STORE_BLOCK_OBJECTS);
	if (!list->block)
		TRY(BASE_ALLOC(list->block, 1, "a block of objects", err));
	for (;;) {
		bool skips = true;

		while (list->at < list->block->count) {
			const uint32_t i = list->at++;

			*ix = list->block->first_ix + i;
			if (members->is_member_class[list->block->class_no[i]] &&
			    heap_is_counted(session->heap, list->block, i))
				return HDB_OK;
		}
		if (list->block_no == heap_block_count(session->heap))
			return HDB_END;
		TRY(is_foreign(session, members, list->block_no, &skips, err));
		list->at = list->block->count = 0;
		if (!skips)
			TRY(heap_read_block_of(session->heap, list->block_no,
					       members->is_member_class, list->block, err));
		TRY(base_step(session->work, (uint64_t)list->block_no * STORE_BLOCK_OBJECTS, err));
		list->block_no++;
	}
}

/* ---- the lower bound ---- */

/* State of an object in the search for the topmost members. 0 means unknown. */
enum { CLEAR = 1, COVERED = 2 };

struct bound {
	const struct session *session;
	const uint32_t *idom;
	uint8_t *state;         /* COVERED: the object or one of its dominators is a member */
	const uint64_t *member; /* a bit per object */
};

static bool is_member(const struct bound *b, uint32_t ix)
{
	assert(ix < b->session->heap->object_count);
	return base_bit_has(b->member, ix);
}

/*
 * Sets the state of a member and of all objects that dominate it. The first walk climbs to an
 * object with a known state, and finds the topmost member on the way. The second walk sets the
 * states. Each object gets its state only once, so all walks together take linear time.
 */
static int cover(const struct bound *b, uint32_t ix, struct hdb_error *err)
{
	const uint32_t n = b->session->heap->object_count;
	uint32_t top = HEAP_NONE, steps = 0, v;
	uint8_t state = COVERED;

	for (v = ix; v != HEAP_NONE && !b->state[v]; v = b->idom[v]) {
		if (is_member(b, v))
			top = v;
		if (++steps > n)
			return heap_damaged(b->session->heap, STORE_DOMINATORS, ix,
					    "dominators form a circle", err);
	}
	/*
	 * All objects below a covered object are covered. Otherwise, only the objects at or below
	 * the topmost member are covered.
	 */
	if (v != HEAP_NONE && b->state[v] == COVERED)
		top = HEAP_NONE;
	for (v = ix; v != HEAP_NONE && !b->state[v]; v = b->idom[v]) {
		b->state[v] = state;
		if (v == top)
			state = CLEAR;
	}
	return HDB_OK;
}

/*
 * Calls `take` for each member whose dominator is not covered. The recorded dominator of an
 * unreachable object is the object itself.
 */
static int each_topmost(const struct bound *b, const struct analysis_members *m,
			analysis_take_member take, void *ctx, struct hdb_error *err)
{
	const uint32_t *ixs = m->ixs.data;

	for (uint64_t i = 0; i < m->count; i++) {
		const uint32_t ix = ixs[i], above = b->idom[ix];

		if (above == ix)
			continue;
		TRY(cover(b, ix, err));
		if (above == HEAP_NONE || b->state[above] != COVERED)
			TRY(take(ctx, ix, err));
	}
	return HDB_OK;
}

/* Reads the bound of a single class, which the `totals` table contains. */
static int bound_of_class(const struct session *session, uint32_t class_no, uint64_t *bytes,
			  struct hdb_error *err)
{
	BASE_FREED struct derive_total *totals = NULL;
	size_t count = 0;

	assert(class_no < session->heap->class_count);
	*bytes = 0;
	TRY(derive_totals(session->derive, DERIVE_CLASS, &totals, &count, err));
	for (size_t i = 0; i < count; i++)
		if (totals[i].no == class_no)
			*bytes = totals[i].retained_bytes;
	return HDB_OK;
}

int analysis_members_topmost(const struct session *session, const struct analysis_members *members,
			     analysis_take_member take, void *ctx, struct hdb_error *err)
{
	const uint64_t n = session->heap->object_count;
	BASE_SCOPED(base_big_free) struct base_big idom = { 0 }, state = { 0 }, bits = { 0 };
	const uint32_t *ixs = members->ixs.data;
	struct bound b = { .session = session };
	uint64_t *member;

	assert(take);
	TRY(derive_need(session->derive, STORE_RETAINED, err));
	TRY(base_big_alloc(session->work, &idom, n * 4 + 4, "dominators", err));
	TRY(base_big_alloc(session->work, &state, n + 1, "a set of objects", err));
	TRY(base_big_alloc(session->work, &bits, base_bit_words(n) * 8 + 8, "a set of objects",
			   err));
	for (uint32_t block = 0; block < heap_block_count(session->heap); block++)
		TRY(derive_dominator_block(
			session->derive, block,
			(uint32_t *)idom.data + (uint64_t)block * STORE_BLOCK_OBJECTS, err));
	member = bits.data;
	for (uint64_t i = 0; i < members->count; i++)
		base_bit_put(member, ixs[i]);
	b.idom = idom.data;
	b.state = state.data;
	b.member = member;
	return each_topmost(&b, members, take, ctx, err);
}

struct sum {
	const struct session *session;
	uint64_t bytes;
};

static int add_retained(void *ctx, uint32_t ix, struct hdb_error *err)
{
	struct sum *sum = ctx;
	uint64_t retained = 0;
	const int r = derive_retained(sum->session->derive, ix, &retained, err);

	sum->bytes += retained;
	return r;
}

int analysis_members_bound(const struct session *session, const struct analysis_members *members,
			   uint64_t *bytes, struct hdb_error *err)
{
	struct sum sum = { .session = session };
	int r;

	if (members->class_no != HEAP_NONE && !session->heap->filter.is_on &&
	    derive_has(session->derive, STORE_TOTALS))
		return bound_of_class(session, members->class_no, bytes, err);
	r = analysis_members_topmost(session, members, add_retained, &sum, err);
	*bytes = sum.bytes;
	return r;
}
