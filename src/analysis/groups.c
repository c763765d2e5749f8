/*
 * analysis/groups.c - counts objects by class, superclass, package or class loader.
 *
 * All objects are first counted by class. The counts of classes are then added up by group. One
 * table of totals, or one pass over the objects, therefore suffices for all kinds of groups.
 */
#include "analysis/groups.h"

#include "base/glob.h"
#include "base/sort.h"
#include "derive/blocks.h"
#include "derive/class_tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void analysis_groups_release(struct analysis_groups *groups)
{
	free(groups->totals);
	*groups = (struct analysis_groups){ 0 };
}

static void add(struct derive_total *to, const struct derive_total *from)
{
	to->count += from->count;
	to->shallow_bytes += from->shallow_bytes;
	to->unreachable_count += from->unreachable_count;
	to->unreachable_bytes += from->unreachable_bytes;
	to->retained_bytes += from->retained_bytes;
}

/*
 * Removes groups without objects. A class loader without instances is kept if it retains something.
 */
static void drop_empty(struct analysis_groups *groups)
{
	size_t kept = 0;

	assert(groups->totals || !groups->count);
	for (size_t i = 0; i < groups->count; i++)
		if (groups->totals[i].count || groups->totals[i].unreachable_count ||
		    groups->totals[i].retained_bytes)
			groups->totals[kept++] = groups->totals[i];
	groups->count = kept;
}

int analysis_load_groups(const struct session *session, enum derive_group by,
			 struct analysis_groups *out, struct hdb_error *err)
{
	*out = (struct analysis_groups){ .by = by };
	TRY(heap_load_classes(session->heap, err));
	TRY(derive_totals(session->derive, by, &out->totals, &out->count, err));
	drop_empty(out);
	return HDB_OK;
}

/* ---- counting objects ---- */

/* Destination of counts: totals by class number. */
struct class_sums {
	const struct session *session;
	struct derive_total *by_class;
	/* whether by_class contains the import's counts, with all objects as reachable */
	bool has_counts;
};

/* Counts objects in passes that do not determine whether objects are reachable. */
static int count_alike(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct class_sums *sums = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->count; i++)
		if (heap_is_counted(sums->session->heap, block, i))
			analysis_count_object(&sums->by_class[block->class_no[i]],
					      block->shallow[i], true);
	return HDB_OK;
}

/* Adds the import's counts of one class. */
static int add_counted(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct derive_total *total = (struct derive_total *)ctx + count->class_no;

	(void)err;
	if (count->is_invented)
		return HDB_OK;
	total->count += count->count;
	total->shallow_bytes += count->shallow_bytes;
	return HDB_OK;
}

/* Reads a block if it has objects to count. Otherwise sets objects->count to 0. */
static int read_uncounted(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct class_sums *sums = ctx;
	uint8_t *reachable = block->room;

	TRY(derive_reachable_block(sums->session->derive, block->block_no, reachable, err));
	if (!sums->has_counts || memchr(reachable, 0, block->objects->count))
		return heap_read_block(sums->session->heap, block->block_no, block->objects, err);
	block->objects->count = 0;
	return HDB_OK;
}

/*
 * Moves the unreachable objects of a block to the unreachable counts, or counts all objects of the
 * block.
 */
static int count_reached(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct class_sums *sums = ctx;
	const struct heap_block *objects = block->objects;
	const uint8_t *reachable = block->room;

	(void)err;
	for (uint32_t i = 0; i < objects->count; i++) {
		struct derive_total *total = &sums->by_class[objects->class_no[i]];

		if ((sums->has_counts && reachable[i]) ||
		    !heap_is_counted(sums->session->heap, objects, i))
			continue;
		analysis_count_object(total, objects->shallow[i], reachable[i]);
		total->count -= sums->has_counts;
		total->shallow_bytes -= sums->has_counts ? objects->shallow[i] : 0;
	}
	return HDB_OK;
}

/*
 * Fills in by_class. If the import's counts can be used, only the unreachable objects must be
 * found. Most dumps have few of them. Otherwise, counts all objects in one pass.
 */
static int count_classes(const struct session *session, enum analysis_counting counting,
			 struct derive_total *by_class, struct hdb_error *err)
{
	struct class_sums sums = { .session = session, .by_class = by_class };
	const int r = heap_each_count(session->heap, add_counted, by_class, err);

	TRY_ERRORS(r);
	sums.has_counts = r == HDB_OK;
	if (counting == ANALYSIS_COUNT_ALL && sums.has_counts)
		return HDB_OK;
	if (counting == ANALYSIS_COUNT_ALL) {
		base_stage(session->work, "counting objects", session->heap->object_count,
			   "objects");
		return heap_each_block(session->heap, session->work, count_alike, &sums, err);
	}
	TRY(derive_prepare_reachable(session->derive, err));
	TRY(heap_prepare_blocks(session->heap, session->work->threads, err));
	return derive_each_block(session->derive,
				 &(struct derive_pass){ .stage = "counting objects",
							.make = read_uncounted,
							.take = count_reached,
							.ctx = &sums,
							.room_bytes = STORE_BLOCK_OBJECTS },
				 err);
}

/*
 * Adds the objects of each class to the class and all its superclasses. In the order of the tree,
 * parents come first, so a backward pass adds each class to its parent once.
 */
static int fold_supers(const struct heap *heap, const struct derive_total *by_class,
		       struct derive_total *out, struct hdb_error *err)
{
	struct class_tree tree = { 0 };
	const int r = derive_class_tree_init(&tree, heap, err);

	assert(heap->classes.records);
	for (uint32_t i = r == HDB_OK ? tree.count : 0; i-- > 0;) {
		const uint32_t no = tree.order[i], parent = tree.parent[no];

		add(&out[no], &by_class[no]);
		if (parent != STORE_NONE)
			add(&out[parent], &out[no]);
	}
	derive_class_tree_release(&tree);
	return r;
}

/* A class and its sort keys: its package or its class loader. */
struct member {
	const char *name;
	size_t name_size;
	uint32_t loader_ix;
	uint32_t no;
};

BASE_ORDER(compare_members, struct member,
	   BASE_BY(base_compare_text(x->name, x->name_size, y->name, y->name_size)),
	   BASE_UP(loader_ix), BASE_UP(no))

/*
 * Adds up classes by package or class loader. The number of a package is the number of its first
 * class.
 */
static int fold_sorted(struct heap *heap, enum derive_group by, const struct derive_total *by_class,
		       struct analysis_groups *out, struct hdb_error *err)
{
	struct member *members = NULL;
	size_t count = 0;

	assert(by != DERIVE_CLASS);
	TRY(BASE_ALLOC(members, (size_t)heap->class_count + 1, "classes", err));
	for (uint32_t no = 0; no < heap->class_count; no++) {
		struct member *m = &members[no];

		m->no = no;
		m->loader_ix = by == DERIVE_LOADER ? heap_class(heap, no)->loader_ix : 0;
		m->name = "";
		if (by == DERIVE_PACKAGE)
			m->name = heap_package(heap_class_name(heap, no), &m->name_size);
	}
	qsort(members, heap->class_count, sizeof(*members), compare_members);
	for (uint32_t i = 0; i < heap->class_count; i++) {
		const struct member *m = &members[i], *before = i ? m - 1 : m;
		const bool is_new = i == 0 || m->loader_ix != before->loader_ix ||
				    m->name_size != before->name_size ||
				    memcmp(m->name, before->name, m->name_size) != 0;

		if (is_new)
			out->totals[count++] = (struct derive_total){
				.group = by,
				.no = by == DERIVE_LOADER ? m->loader_ix : m->no,
			};
		add(&out->totals[count - 1], &by_class[m->no]);
	}
	out->count = count;
	free(members);
	return HDB_OK;
}

int analysis_make_class_totals(const struct session *session, struct derive_total **out,
			       struct hdb_error *err)
{
	const struct heap *heap = session->heap;
	const size_t n = (size_t)heap->class_count + 1;

	*out = NULL;
	TRY(heap_load_classes(session->heap, err));
	TRY(BASE_ALLOC(*out, n, "totals by class", err));
	for (uint32_t no = 0; no < heap->class_count; no++)
		(*out)[no] = (struct derive_total){ .group = DERIVE_CLASS, .no = no };
	return HDB_OK;
}

int analysis_load_class_totals(const struct session *session, struct derive_total **out,
			       struct hdb_error *err)
{
	BASE_SCOPED(analysis_groups_release) struct analysis_groups groups = { 0 };

	TRY(analysis_make_class_totals(session, out, err));
	TRY(analysis_load_groups(session, DERIVE_CLASS, &groups, err));
	for (size_t i = 0; i < groups.count; i++)
		(*out)[groups.totals[i].no] = groups.totals[i];
	return HDB_OK;
}

int analysis_fold_groups(const struct session *session, enum derive_group by,
			 const struct derive_total *by_class, struct analysis_groups *out,
			 struct hdb_error *err)
{
	struct heap *heap = session->heap;
	int r;

	assert(by_class);
	*out = (struct analysis_groups){ .by = by };
	r = analysis_make_class_totals(session, &out->totals, err);
	TRY(r);
	out->count = heap->class_count;
	for (uint32_t no = 0; no < heap->class_count; no++)
		out->totals[no].group = by;
	if (by == DERIVE_CLASS)
		memcpy(out->totals, by_class, heap->class_count * sizeof(*by_class));
	else if (by == DERIVE_SUPERCLASS)
		r = fold_supers(heap, by_class, out->totals, err);
	else
		r = fold_sorted(heap, by, by_class, out, err);
	TRY(r);
	drop_empty(out);
	return r;
}

int analysis_count_groups(const struct session *session, enum derive_group by,
			  enum analysis_counting counting, struct analysis_groups *out,
			  struct hdb_error *err)
{
	BASE_FREED struct derive_total *by_class = NULL;

	*out = (struct analysis_groups){ .by = by };
	TRY(analysis_make_class_totals(session, &by_class, err));
	TRY(count_classes(session, counting, by_class, err));
	return analysis_fold_groups(session, by, by_class, out, err);
}

int analysis_count_classes(const struct session *session, bool with_reachable,
			   struct derive_total **out, struct hdb_error *err)
{
	int r;

	if (with_reachable && !session->heap->filter.is_on &&
	    derive_has(session->derive, STORE_TOTALS))
		return analysis_load_class_totals(session, out, err);
	r = analysis_make_class_totals(session, out, err);
	return r < 0 ? r :
		       count_classes(session,
				     with_reachable ? ANALYSIS_COUNT_REACHED : ANALYSIS_COUNT_ALL,
				     *out, err);
}

/* ---- native memory ---- */

/* The columns of one block. */
struct native_block {
	struct heap_block objects;
	uint64_t native[STORE_BLOCK_OBJECTS];
	uint8_t reachable[STORE_BLOCK_OBJECTS];
};

/*
 * Adds the native memory of one block of objects. Most blocks have no native memory, so they are
 * not decoded.
 */
static int add_native(const struct session *session, uint32_t block_no, struct native_block *block,
		      struct derive_total *by_class, struct hdb_error *err)
{
	const struct heap_block *objects = &block->objects;
	bool any = false;

	TRY(derive_native_block(session->derive, block_no, block->native, err));
	for (uint32_t i = 0; i < STORE_BLOCK_OBJECTS && !any; i++)
		any = block->native[i] != 0;
	if (!any)
		return HDB_OK;
	TRY(heap_read_block(session->heap, block_no, &block->objects, err));
	TRY(derive_reachable_block(session->derive, block_no, block->reachable, err));
	for (uint32_t i = 0; i < objects->count; i++) {
		struct derive_total *total = &by_class[objects->class_no[i]];

		if (!block->native[i] || !heap_is_counted(session->heap, objects, i))
			continue;
		total->count += block->reachable[i];
		total->shallow_bytes += block->reachable[i] ? block->native[i] : 0;
		total->unreachable_count += !block->reachable[i];
		total->unreachable_bytes += block->reachable[i] ? 0 : block->native[i];
	}
	return HDB_OK;
}

/* Sorts by number, as analysis_groups_find expects. */
BASE_ORDER(compare_no, struct derive_total, BASE_UP(no))

static int count_native(const struct session *session, struct analysis_groups *out,
			struct hdb_error *err)
{
	BASE_FREED struct native_block *block = NULL;
	BASE_FREED struct derive_total *by_class = NULL;

	TRY(BASE_ALLOC(block, 1, "a block of objects", err));
	TRY(analysis_make_class_totals(session, &by_class, err));
	for (uint32_t b = 0; b < heap_block_count(session->heap); b++)
		TRY(add_native(session, b, block, by_class, err));
	TRY(analysis_fold_groups(session, out->by, by_class, out, err));
	if (out->count)
		qsort(out->totals, out->count, sizeof(*out->totals), compare_no);
	return HDB_OK;
}

int analysis_native_groups(const struct session *session, enum derive_group by,
			   struct analysis_groups *out, bool *has, struct hdb_error *err)
{
	*out = (struct analysis_groups){ .by = by };
	TRY(derive_has_native(session->derive, has, err));
	return *has ? count_native(session, out, err) : HDB_OK;
}

const struct derive_total *analysis_groups_find(const struct analysis_groups *groups, uint32_t no)
{
	const struct derive_total wanted = { .no = no };

	return groups->count ?
		       bsearch(&wanted, groups->totals, groups->count, sizeof(wanted), compare_no) :
		       NULL;
}

uint64_t analysis_group_native(const struct analysis_groups *groups, uint32_t no)
{
	const struct derive_total *found = analysis_groups_find(groups, no);

	return found ? found->shallow_bytes : 0;
}

uint64_t analysis_group_lost_native(const struct analysis_groups *groups, uint32_t no)
{
	const struct derive_total *found = analysis_groups_find(groups, no);

	return found ? found->unreachable_bytes : 0;
}

/* ---- order, names, sums ---- */

BASE_ORDER(compare_shallow, struct derive_total, BASE_DOWN(shallow_bytes), BASE_UP(no))
BASE_ORDER(compare_retained, struct derive_total, BASE_DOWN(retained_bytes), BASE_UP(no))
BASE_ORDER(compare_unreachable, struct derive_total, BASE_DOWN(unreachable_bytes), BASE_UP(no))

void analysis_sort_groups(struct analysis_groups *groups, enum analysis_group_key key)
{
	if (groups->count)
		qsort(groups->totals, groups->count, sizeof(*groups->totals),
		      key == ANALYSIS_BY_SHALLOW  ? compare_shallow :
		      key == ANALYSIS_BY_RETAINED ? compare_retained :
						    compare_unreachable);
}

const char *analysis_group_name(const struct session *session, enum derive_group by, uint32_t no,
				size_t *size)
{
	const char *name;

	if (by != DERIVE_LOADER)
		name = heap_class_name(session->heap, no);
	else if (no == HEAP_BOOT_LOADER)
		name = "<boot>";
	else
		name = heap_class_name_of(session->heap, no);
	if (by == DERIVE_PACKAGE)
		return heap_package(name, size);
	*size = strlen(name);
	return name;
}

/*
 * Returns how similar a name is to a pattern that it does not match: 2 if the name ends with the
 * pattern after a package or outer class, 1 if it contains the pattern, and otherwise 0. Ignores
 * case.
 */
static unsigned likeness(const char *name, const char *pattern)
{
	const size_t size = strlen(name), part = strlen(pattern);

	if (part < size && strchr(".$", name[size - part - 1]) &&
	    strcasecmp(name + size - part, pattern) == 0)
		return 2;
	return strcasestr(name, pattern) != NULL;
}

int analysis_filter_groups(const struct session *session, struct analysis_groups *groups,
			   const char *pattern, struct hdb_error *err)
{
	char *near = NULL;
	size_t kept = 0;
	int r;

	for (size_t i = 0; i < groups->count; i++) {
		size_t size;
		const char *name =
			analysis_group_name(session, groups->by, groups->totals[i].no, &size);
		char *copy = strndup(name, size);

		if (!copy) {
			free(near);
			return hdb_fail_memory(err, "a name", size);
		}
		if (base_glob(pattern, copy)) {
			groups->totals[kept++] = groups->totals[i];
		} else if (likeness(copy, pattern) > (near ? likeness(near, pattern) : 0)) {
			char *worse = near;

			near = copy;
			copy = worse;
		}
		free(copy);
	}
	groups->count = kept;
	r = kept ? HDB_OK :
	    near ? hdb_fail(err, HDB_NOTFOUND,
			    "no name matches %s; use *%s* to match names that contain this "
			    "text, such as %s",
			    pattern, pattern, near) :
		   hdb_fail(err, HDB_NOTFOUND, "no name matches %s", pattern);
	free(near);
	return r;
}

void analysis_add_groups(const struct analysis_groups *groups, struct derive_total *out)
{
	*out = (struct derive_total){ 0 };
	for (size_t i = 0; i < groups->count; i++)
		add(out, &groups->totals[i]);
}

/* Adds up the heaps selected by a filter. */
static int add_shown(const struct session *session, struct derive_total *out, struct hdb_error *err)
{
	BASE_SCOPED(analysis_groups_release) struct analysis_groups groups = { 0 };

	TRY(analysis_count_groups(session, DERIVE_CLASS, ANALYSIS_COUNT_REACHED, &groups, err));
	analysis_add_groups(&groups, out);
	out->retained_bytes = out->shallow_bytes;
	return HDB_OK;
}

/*
 * Adds reachable objects that are not in the dump, which totals exclude but retained sizes include.
 * Without them, a share could exceed 100 % in a small heap.
 */
static int add_invented(const struct session *session, uint64_t *bytes, struct hdb_error *err)
{
	struct heap *heap = session->heap;
	struct heap_object object;
	bool is_reachable;

	TRY(heap_load_classes(heap, err));
	for (uint32_t no = 0; no <= heap->class_count; no++) {
		const bool is_last = no == heap->class_count;
		const uint32_t ix = is_last ? HEAP_BOOT_LOADER : heap_class(heap, no)->ix;

		if (!is_last && !(heap_class(heap, no)->flags & STORE_CLASS_INVENTED))
			continue;
		TRY(derive_is_reachable(session->derive, ix, &is_reachable, err));
		if (!is_reachable)
			continue;
		TRY(heap_object(heap, ix, &object, err));
		*bytes += object.shallow_bytes;
	}
	return HDB_OK;
}

int analysis_heap_total(const struct session *session, struct derive_total *out,
			struct hdb_error *err)
{
	struct derive_heap_totals whole;

	*out = (struct derive_total){ 0 };
	if (session->heap->filter.is_on)
		return add_shown(session, out, err);
	TRY(derive_heap_totals(session->derive, &whole, err));
	out->count = whole.count;
	out->shallow_bytes = whole.shallow_bytes;
	out->unreachable_count = whole.unreachable_count;
	out->unreachable_bytes = whole.unreachable_bytes;
	out->retained_bytes = whole.shallow_bytes;
	return add_invented(session, &out->retained_bytes, err);
}

double analysis_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}
