/*
 * derive/totals.c - builds the `totals` table: objects and bytes by class, superclass, package and
 * class loader.
 *
 * The retained size of a group is a lower bound: the sum over its topmost members in the dominator
 * tree (totals_tree.c). If members share objects, the group retains more. derive_retained_set
 * computes the exact size.
 *
 * For a class loader, the members are the loader object, its class objects and their instances. For
 * this sum, a class object therefore belongs to the loader of the class that it represents, not to
 * the loader of java.lang.Class, and a loader object belongs to its own group. Object counts and
 * shallow sizes by loader include only the instances, as in Eclipse MAT.
 */
#include "derive/totals.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct derive_total) == STORE_TOTAL_BYTES, "stored");

/* ---- groups ---- */

/* Identifies a group as in struct derive_total. */
struct group_key {
	enum derive_group kind;
	uint32_t no;
};

static int add_group(struct totals_groups *g, struct group_key key, uint32_t *at,
		     struct hdb_error *err)
{
	if (g->count % 1024 == 0) {
		struct derive_total *grown =
			realloc(g->totals, ((size_t)g->count + 1024) * sizeof(*grown));

		if (!grown)
			return hdb_fail_memory(err, "groups of classes",
					       ((uint64_t)g->count + 1024) * sizeof(*grown));
		g->totals = grown;
	}
	*at = g->count++;
	g->totals[*at] = (struct derive_total){ .group = key.kind, .no = key.no };
	return HDB_OK;
}

struct named {
	const char *name;
	size_t size;
	uint32_t no;
};

BASE_ORDER(compare_named, struct named,
	   BASE_BY(base_compare_text(x->name, x->size, y->name, y->size)), BASE_UP(no))

/*
 * Puts classes of the same package into the same group. Sorting by name makes these classes
 * adjacent.
 */
static int group_packages(struct heap *heap, struct totals_groups *g, struct hdb_error *err)
{
	const uint32_t n = heap->class_count;
	BASE_FREED struct named *names = NULL;
	uint32_t at = 0;

	TRY(BASE_ALLOC(names, n, "packages", err));
	for (uint32_t no = 0; no < n; no++) {
		names[no].name = heap_package(heap_class_name(heap, no), &names[no].size);
		names[no].no = no;
	}
	qsort(names, n, sizeof(*names), compare_named);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || names[i].size != names[i - 1].size ||
		    memcmp(names[i].name, names[i - 1].name, names[i].size) != 0)
			TRY(add_group(g, (struct group_key){ DERIVE_PACKAGE, names[i].no }, &at,
				      err));
		g->of_class[names[i].no] = at;
	}
	return HDB_OK;
}

/*
 * Sorts by class loader and then by class number, so that groups are in ascending order of class
 * loader index. find_loader relies on this order.
 */
static int group_loaders(struct heap *heap, struct totals_groups *g, struct hdb_error *err)
{
	const uint32_t n = heap->class_count;
	BASE_FREED uint64_t *keys = NULL;
	uint32_t at = 0;

	TRY(BASE_ALLOC(keys, n, "loaders", err));
	for (uint32_t no = 0; no < n; no++)
		keys[no] = (uint64_t)heap_class(heap, no)->loader_ix << 32 | no;
	qsort(keys, n, sizeof(*keys), base_compare_u64);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t loader_ix = (uint32_t)(keys[i] >> 32);

		if (i == 0 || loader_ix != keys[i - 1] >> 32)
			TRY(add_group(g, (struct group_key){ DERIVE_LOADER, loader_ix }, &at, err));
		g->of_class[(uint32_t)keys[i]] = at;
	}
	return HDB_OK;
}

/*
 * Finds the class of each class loader object, because a class loader object is a member of its own
 * group.
 */
static int find_loader_objects(struct totals *t, struct hdb_error *err)
{
	struct heap *heap = t->derive->heap;
	const struct totals_groups *g = &t->kinds[DERIVE_LOADER];

	TRY(BASE_ALLOC(t->loader_class, g->count, "class loaders", err));
	TRY(BASE_ALLOC(t->has_loaders, heap->class_count, "class loaders", err));
	for (uint32_t i = 0; i < g->count; i++) {
		struct heap_object loader;

		TRY(heap_object(heap, g->totals[i].no, &loader, err));
		t->loader_class[i] = loader.class_no;
		t->has_loaders[loader.class_no] = 1;
	}
	return HDB_OK;
}

/* Makes a group for each class. */
static int group_classes(struct heap *heap, struct totals_groups *g, enum derive_group kind,
			 struct hdb_error *err)
{
	for (uint32_t no = 0; no < heap->class_count; no++)
		TRY(add_group(g, (struct group_key){ kind, no }, &g->of_class[no], err));
	return HDB_OK;
}

static int group_by(struct heap *heap, struct totals_groups *g, enum derive_group kind,
		    struct hdb_error *err)
{
	if (kind == DERIVE_PACKAGE)
		return group_packages(heap, g, err);
	if (kind == DERIVE_LOADER)
		return group_loaders(heap, g, err);
	return group_classes(heap, g, kind, err);
}

static int make_groups(struct totals *t, struct hdb_error *err)
{
	struct heap *heap = t->derive->heap;

	TRY(heap_load_classes(heap, err));
	for (unsigned k = 0; k < TOTALS_KINDS; k++) {
		struct totals_groups *g = &t->kinds[k];

		TRY(BASE_ALLOC(g->of_class, heap->class_count, "groups of classes", err));
		TRY(group_by(heap, g, (enum derive_group)k, err));
	}
	return find_loader_objects(t, err);
}

/* ---- the table ---- */

/*
 * Completes the totals by superclass. So far, the total of each class contains the sizes added at
 * the class minus the sizes subtracted at the class (modulo 2^64). Adding the total of each class
 * to its superclass, subclasses first, yields the complete sums.
 */
static void fold_supers(struct totals *t)
{
	struct derive_total *totals = t->kinds[DERIVE_SUPERCLASS].totals;

	for (uint32_t i = t->supers.count; i-- > 0;) {
		const uint32_t no = t->supers.order[i], parent = t->supers.parent[no];
		const struct derive_total *from = &totals[no];

		if (parent == STORE_NONE)
			continue;
		totals[parent].count += from->count;
		totals[parent].shallow_bytes += from->shallow_bytes;
		totals[parent].retained_bytes += from->retained_bytes;
		totals[parent].unreachable_count += from->unreachable_count;
		totals[parent].unreachable_bytes += from->unreachable_bytes;
	}
}

static int put_totals(struct totals *t, struct store_writer *writer, struct hdb_error *err)
{
	BASE_SCOPED(store_records_release)
	struct store_records_writer w = { .writer = writer,
					  .table = derive_table(t->derive, STORE_TOTALS) };

	for (unsigned k = 0; k < TOTALS_KINDS; k++)
		for (uint32_t i = 0; i < t->kinds[k].count; i++)
			TRY(store_records_put(&w, &t->kinds[k].totals[i], err));
	return store_records_end(&w, err);
}

/* Computes all totals. The caller must release *t even after a failure. */
static int find_totals(struct totals *t, struct hdb_error *err)
{
	TRY(make_groups(t, err));
	TRY(derive_class_tree_init(&t->supers, t->derive->heap, err));
	TRY(derive_totals_add_objects(t, err));
	fold_supers(t);
	return HDB_OK;
}

static void release_totals(struct totals *t)
{
	derive_class_tree_release(&t->supers);
	free(t->loader_class);
	free(t->has_loaders);
	for (unsigned k = 0; k < TOTALS_KINDS; k++) {
		free(t->kinds[k].of_class);
		free(t->kinds[k].totals);
	}
}

static int build_totals(struct derive *derive, struct store_writer *writer, struct hdb_error *err)
{
	BASE_SCOPED(release_totals) struct totals t = { .derive = derive };

	TRY(find_totals(&t, err));
	return put_totals(&t, writer, err);
}

/*
 * Computes the totals of the objects that the heap's filter selects. The table contains only the
 * totals of all objects.
 */
static int filtered_totals(struct derive *derive, enum derive_group group,
			   struct derive_total **out, size_t *count, struct hdb_error *err)
{
	BASE_SCOPED(release_totals) struct totals t = { .derive = derive };

	TRY(find_totals(&t, err));
	*out = t.kinds[group].totals;
	*count = t.kinds[group].count;
	t.kinds[group].totals = NULL;
	return HDB_OK;
}

const struct derive_builder derive_build_totals = {
	.tables = { STORE_TOTALS },
	.needs = { STORE_DOMINATORS, STORE_RETAINED },
	.build = build_totals,
};

int derive_totals(struct derive *derive, enum derive_group group, struct derive_total **out,
		  size_t *count, struct hdb_error *err)
{
	const enum store_table table = derive_table(derive, STORE_TOTALS);
	const uint32_t no_end =
		group == DERIVE_LOADER ? derive->heap->object_count : derive->heap->class_count;
	struct store *store = derive->heap->store;
	BASE_FREED struct derive_total *totals = NULL;
	size_t kept = 0;
	uint64_t n;

	if (derive->heap->filter.is_on)
		return filtered_totals(derive, group, out, count, err);
	TRY(derive_need(derive, STORE_TOTALS, err));
	TRY(store_record_room(store, table, &n, err));
	TRY(BASE_ALLOC(totals, (size_t)n, "totals", err));
	for (uint64_t i = 0; i < n; i++) {
		struct derive_total *total = &totals[kept];

		TRY(store_record(store, table, i, total, err));
		if (total->group != group)
			continue;
		if (total->no >= no_end)
			return store_damaged(store, table, i, "group out of range", err);
		kept++;
	}
	*out = totals;
	*count = kept;
	totals = NULL;
	return HDB_OK;
}
