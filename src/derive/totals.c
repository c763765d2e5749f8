/*
 * derive/totals.c - the table totals: objects and bytes by class, super class, package and loader.
 *
 * The retained size of a group is its lower bound: the sum over its topmost members in the dominator tree, found by
 * one walk of that tree that knows for each group how many members are among the ancestors. A group whose members share
 * what they hold retains more; the exact figure is derive_retained_set's.
 */
#include "derive/blocks.h"
#include "derive/build.h"
#include "derive/class_tree.h"

#include "graph/domtree.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_KINDS 4

struct groups {
	uint32_t *of_class;       /* by class: its group's number */
	struct derive_total *totals;
	uint32_t *open;           /* by group: members among the ancestors */
	uint32_t count;
};

/* What one class's objects come to. */
struct class_sum {
	uint64_t count, bytes, unreachable_count, unreachable_bytes;
};

struct totals {
	struct derive *derive;
	struct groups kinds[GROUP_KINDS];
	struct class_tree supers; /* for the totals by super class */
	struct derive_tree tree;
	uint32_t *class_of;       /* by object */
	struct class_sum *sums;   /* by slot and class */
	struct base_big class_big;
};

/* ---- groups ---- */

static int add_group(struct groups *g, enum derive_group kind, uint32_t no, uint32_t *at)
{
	if (g->count % 1024 == 0) {
		struct derive_total *grown =
			realloc(g->totals, ((size_t)g->count + 1024) * sizeof(*grown));

		if (!grown)
			return HDB_ENOMEM;
		g->totals = grown;
	}
	*at = g->count++;
	g->totals[*at] = (struct derive_total){ .group = kind, .no = no };
	return HDB_OK;
}

struct named {
	const char *name;
	size_t size;
	uint32_t no;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const size_t n = x->size < y->size ? x->size : y->size;
	const int c = memcmp(x->name, y->name, n);

	if (c)
		return c;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->no < y->no ? -1 : x->no > y->no;
}

/* Classes with the same package, or the same loader, get the same group. */
static int group_packages(struct heap *heap, struct groups *g, struct hdb_error *err)
{
	const uint32_t n = heap->class_count;
	struct named *names = malloc(((size_t)n + 1) * sizeof(*names));
	uint32_t at = 0;
	int r = names ? HDB_OK : hdb_fail_memory(err, "packages", n * sizeof(*names));

	for (uint32_t no = 0; no < n && r == HDB_OK; no++) {
		names[no].name = heap_class_name(heap, no);
		names[no].size = heap_package_size(names[no].name);
		names[no].no = no;
	}
	if (r == HDB_OK)
		qsort(names, n, sizeof(*names), compare_named);
	for (uint32_t i = 0; i < n && r == HDB_OK; i++) {
		if (i == 0 || names[i].size != names[i - 1].size ||
		    memcmp(names[i].name, names[i - 1].name, names[i].size) != 0)
			r = add_group(g, DERIVE_PACKAGE, names[i].no, &at);
		if (r == HDB_OK)
			g->of_class[names[i].no] = at;
	}
	free(names);
	return r;
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int group_loaders(struct heap *heap, struct groups *g, struct hdb_error *err)
{
	const uint32_t n = heap->class_count;
	uint64_t *keys = malloc(((size_t)n + 1) * sizeof(*keys));
	uint32_t at = 0;
	int r = keys ? HDB_OK : hdb_fail_memory(err, "loaders", n * sizeof(*keys));

	for (uint32_t no = 0; no < n && r == HDB_OK; no++)
		keys[no] = (uint64_t)heap_class(heap, no)->loader_ix << 32 | no;
	if (r == HDB_OK)
		qsort(keys, n, sizeof(*keys), compare_u64);
	for (uint32_t i = 0; i < n && r == HDB_OK; i++) {
		if (i == 0 || keys[i] >> 32 != keys[i - 1] >> 32)
			r = add_group(g, DERIVE_LOADER, (uint32_t)(keys[i] >> 32), &at);
		if (r == HDB_OK)
			g->of_class[(uint32_t)keys[i]] = at;
	}
	free(keys);
	return r;
}

static int make_groups(struct totals *t, struct hdb_error *err)
{
	struct heap *heap = t->derive->heap;
	const uint32_t n = heap->class_count;
	int r = heap_load_classes(heap, err);

	for (unsigned k = 0; k < GROUP_KINDS && r == HDB_OK; k++) {
		struct groups *g = &t->kinds[k];

		g->of_class = malloc(((size_t)n + 1) * sizeof(*g->of_class));
		if (!g->of_class)
			return hdb_fail_memory(err, "groups of classes", n * 4ull);
		for (uint32_t no = 0; no < n && r == HDB_OK && k <= DERIVE_SUPERCLASS; no++)
			r = add_group(g, (enum derive_group)k, no, &g->of_class[no]);
		if (k == DERIVE_PACKAGE)
			r = group_packages(heap, g, err);
		if (k == DERIVE_LOADER)
			r = group_loaders(heap, g, err);
		if (r == HDB_ENOMEM)
			return hdb_fail_memory(err, "groups of classes", n * 48ull);
		g->open = calloc((size_t)g->count + 1, sizeof(*g->open));
		if (!g->open)
			return hdb_fail_memory(err, "groups of classes", n * 4ull);
	}
	return r;
}

/* ---- counting ---- */

/* What the dump lacks counts nowhere. */
static bool is_counted(const struct heap *heap, const struct heap_block *block, uint32_t i)
{
	return block->first_ix + i != HEAP_BOOT_LOADER &&
	       !(block->kind[i] == STORE_CLASS &&
		 heap_class(heap, (uint32_t)block->length[i])->flags & STORE_CLASS_INVENTED);
}

static int count_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct totals *t = ctx;
	const struct heap *heap = t->derive->heap;
	const struct heap_block *objects = block->objects;
	struct class_sum *sums = t->sums + (size_t)block->slot * heap->class_count;
	const int r = derive_tree_block(&t->tree, block, err);

	for (uint32_t i = 0; r == HDB_OK && i < objects->count; i++) {
		const uint32_t ix = objects->first_ix + i;
		struct class_sum *sum = &sums[objects->class_no[i]];

		t->class_of[ix] = objects->class_no[i];
		if (!is_counted(heap, objects, i))
			continue;
		if (t->tree.dominator[ix] != ix) {
			sum->count++;
			sum->bytes += objects->shallow[i];
		} else {
			sum->unreachable_count++;
			sum->unreachable_bytes += objects->shallow[i];
		}
	}
	return r;
}

static void add_sum(struct derive_total *total, const struct class_sum *sum)
{
	total->count += sum->count;
	total->shallow_bytes += sum->bytes;
	total->unreachable_count += sum->unreachable_count;
	total->unreachable_bytes += sum->unreachable_bytes;
}

/* A class's objects are in its own group of each kind; fold_supers adds them to its super classes'. */
static void add_class(struct totals *t, uint32_t class_no, const struct class_sum *sum)
{
	for (unsigned k = 0; k < GROUP_KINDS; k++)
		add_sum(&t->kinds[k].totals[t->kinds[k].of_class[class_no]], sum);
}

/*
 * Until here a class's total by super class has what begins at the class itself, and less what ends there (modulo
 * 2^64); each sub class's is added to its super class's.
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

/* One pass over the objects; `is_wide` as in derive_tree_init. */
static int count_with(struct totals *t, bool is_wide, struct hdb_error *err)
{
	struct derive *derive = t->derive;
	const size_t slots = (size_t)DERIVE_SLOTS_PER_THREAD * derive->work->threads;
	const size_t class_count = derive->heap->class_count;
	int r = derive_tree_init(derive, is_wide, &t->tree, err);

	t->sums = calloc(slots * class_count + 1, sizeof(*t->sums));
	if (!t->sums)
		return hdb_fail_memory(err, "sums by class", slots * class_count);
	if (r == HDB_OK)
		r = derive_each_block(derive, "totals by class", true, count_block, NULL, t, err);
	for (size_t i = 0; i < slots * class_count && r == HDB_OK; i++)
		if (!atomic_load(&t->tree.is_too_big))
			add_class(t, (uint32_t)(i % class_count), &t->sums[i]);
	free(t->sums);
	return r;
}

static int count_all(struct totals *t, struct hdb_error *err)
{
	int r = count_with(t, false, err);

	if (r == HDB_OK && atomic_load(&t->tree.is_too_big)) {
		derive_tree_release(&t->tree);
		r = count_with(t, true, err);
	}
	return r;
}

/* ---- retained by group ---- */

/* Adds what an object retains to its group, if no member of it is above. */
static void step_group(struct groups *g, uint32_t no, uint64_t retained, int step)
{
	if (step >= 0 && g->open[no] == 0)
		g->totals[no].retained_bytes += retained;
	g->open[no] += (uint32_t)step;
}

/* For its class and those super classes that no dominator counts for. */
static void step_supers(struct totals *t, uint32_t class_no, uint64_t retained, int step)
{
	struct derive_total *totals = t->kinds[DERIVE_SUPERCLASS].totals;
	uint32_t covered;

	if (step < 0) {
		class_tree_close(&t->supers, class_no);
		return;
	}
	covered = class_tree_covered(&t->supers, class_no);
	totals[class_no].retained_bytes += retained;
	if (covered != STORE_NONE)
		totals[covered].retained_bytes -= retained;
	if (step > 0)
		class_tree_open(&t->supers, class_no);
}

/* Enters an object (step 1), leaves it (-1), or does both (0). */
static void step_object(struct totals *t, uint32_t ix, int step)
{
	const struct heap *heap = t->derive->heap;
	const uint64_t retained = graph_sizes_get(&t->tree.retained, ix) *
				  heap->layout.align_bytes;
	const uint32_t class_no = t->class_of[ix];

	step_group(&t->kinds[DERIVE_CLASS], class_no, retained, step);
	step_group(&t->kinds[DERIVE_PACKAGE], t->kinds[DERIVE_PACKAGE].of_class[class_no], retained,
		   step);
	step_group(&t->kinds[DERIVE_LOADER], t->kinds[DERIVE_LOADER].of_class[class_no], retained,
		   step);
	step_supers(t, class_no, retained, step);
}

static int walk_tree(struct totals *t, struct hdb_error *err)
{
	struct derive *derive = t->derive;
	const uint32_t n = derive->heap->object_count;
	struct graph_children children = { 0 };
	struct graph_walk walk = { 0 };
	uint64_t done = 0;
	bool enter;
	uint32_t ix;
	int r = graph_children(t->tree.dominator, n, NULL, derive->work, &children, err);

	base_stage(derive->work, "totals by class", n, "objects");
	if (r == HDB_OK)
		r = graph_walk_init(&walk, &children, n, derive->work, err);
	while (r == HDB_OK) {
		r = graph_walk_next(&walk, &ix, &enter, err);
		if (r != HDB_OK)
			break;
		/* Most objects dominate nothing. */
		const bool is_leaf = children.first[ix] == children.first[ix + 1];
		if (ix != HEAP_BOOT_LOADER && (enter || !is_leaf))
			step_object(t, ix, is_leaf ? 0 : enter ? 1 : -1);
		if (enter && ++done % 65536 == 0)
			r = base_step(derive->work, done, err);
	}
	graph_walk_release(&walk);
	graph_children_release(derive->work, &children);
	return r < 0 ? r : HDB_OK;
}

/* ---- the table ---- */

static int put_totals(struct totals *t, struct store_writer *writer, struct hdb_error *err)
{
	struct store_records_writer w = {
		.writer = writer, .table = STORE_TOTALS, .record_size = sizeof(struct derive_total)
	};
	int r = HDB_OK;

	for (unsigned k = 0; k < GROUP_KINDS; k++)
		for (uint32_t i = 0; i < t->kinds[k].count && r == HDB_OK; i++)
			r = store_records_put(&w, &t->kinds[k].totals[i], err);
	if (r == HDB_OK)
		r = store_records_end(&w, err);
	store_records_release(&w);
	return r;
}

static int build_totals(struct derive *derive, struct store_writer *writer, struct hdb_error *err)
{
	const uint32_t n = derive->heap->object_count;
	struct totals t = { .derive = derive };
	int r = make_groups(&t, err);

	if (r == HDB_OK)
		r = class_tree_init(&t.supers, derive->heap, err);
	if (r == HDB_OK)
		r = base_big_alloc_raw(derive->work, &t.class_big, (uint64_t)n * 4, "classes", err);
	t.class_of = t.class_big.data;
	if (r == HDB_OK)
		r = count_all(&t, err);
	if (r == HDB_OK)
		r = walk_tree(&t, err);
	if (r == HDB_OK)
		fold_supers(&t);
	if (r == HDB_OK)
		r = put_totals(&t, writer, err);
	derive_tree_release(&t.tree);
	class_tree_release(&t.supers);
	base_big_free(derive->work, &t.class_big);
	for (unsigned k = 0; k < GROUP_KINDS; k++) {
		free(t.kinds[k].of_class);
		free(t.kinds[k].totals);
		free(t.kinds[k].open);
	}
	return r;
}

const struct derive_builder derive_build_totals = {
	.tables = { STORE_TOTALS }, .needs = { STORE_DOMINATORS, STORE_RETAINED },
	.build = build_totals,
};

int derive_totals(struct derive *derive, enum derive_group group, struct derive_total **out,
		  size_t *count, struct hdb_error *err)
{
	struct derive_total *totals = NULL;
	size_t kept = 0;
	uint64_t n;
	int r = derive_need(derive, STORE_TOTALS, err);

	if (r < 0)
		return r;
	r = store_record_room(derive->heap->store, STORE_TOTALS, sizeof(*totals), &n, err);
	if (r < 0)
		return r;
	totals = malloc(((size_t)n + 1) * sizeof(*totals));
	if (!totals)
		return hdb_fail_memory(err, "totals", n * sizeof(*totals));
	for (uint64_t i = 0; i < n && r == HDB_OK; i++) {
		struct derive_total *total = &totals[kept];

		r = store_record(derive->heap->store, STORE_TOTALS, sizeof(*total), i, total, err);
		if (r != HDB_OK || total->group != group)
			continue;
		if (total->no >= (group == DERIVE_LOADER ? derive->heap->object_count :
				  derive->heap->class_count))
			r = store_damaged(derive->heap->store, STORE_TOTALS, i,
					  "group out of range", err);
		kept++;
	}
	if (r != HDB_OK) {
		free(totals);
		return r < 0 ? r : store_damaged(derive->heap->store, STORE_TOTALS, 0,
						 "record missing", err);
	}
	*out = totals;
	*count = kept;
	return HDB_OK;
}
