/*
 * queries/objects/q_loaders.c - the loaders query: class loaders as a tree, with the classes that
 * each defines, their instances, and whether anything other than references keeps the loader alive.
 */
#include "analysis/loader_tree.h"
#include "queries/objects/duplicate_names.h"
#include "queries/queries.h"

#define NAME_MAX_BYTES 512

#include <queries/objects/q_loaders.query.h>

static const char *const use_names[] = { "garbage", "held", "parent", "root", "instances" };

struct loaders {
	struct analysis_loader_tree tree;
	size_t at; /* position in the order of the tree */
	struct derive_total *by_class;
	/* indexed by loader: its total or, with --heap, its total within the heap */
	struct derive_total *shown;
	uint32_t *sorted_classes; /* sorted by class loader, then by descending retained size */
	uint64_t class_at; /* next class of the current loader; UINT64_MAX for the loader itself */
	bool with_classes, only_idle;
};

/* ---- classes that loaders define ---- */

struct defined {
	uint32_t loader, no;
	uint64_t retained_bytes;
};

BASE_ORDER(compare_defined, struct defined, BASE_UP(loader), BASE_DOWN(retained_bytes), BASE_UP(no))

static int add_classes(struct query *q, struct loaders *s, struct hdb_error *err)
{
	const uint32_t n = q->heap->class_count;
	BASE_FREED struct defined *defined = malloc(((size_t)n + 1) * sizeof(*defined));

	TRY(defined ? HDB_OK : hdb_fail_memory(err, "classes", n * sizeof(*defined)));
	TRY(BASE_ALLOC(s->sorted_classes, (size_t)n + 1, "classes", err));
	for (uint32_t no = 0; no < n; no++)
		defined[no] = (struct defined){
			analysis_loader_number(&s->tree, heap_class(q->heap, no)->loader_ix),
			no,
			s->by_class[no].retained_bytes,
		};
	if (n)
		qsort(defined, n, sizeof(*defined), compare_defined);
	for (uint32_t i = 0; i < n; i++) {
		const struct store_class *class = heap_class(q->heap, defined[i].no);
		struct analysis_loader *loader;

		s->sorted_classes[i] = defined[i].no;
		if (defined[i].loader == ANALYSIS_NO_LOADER)
			continue;
		loader = analysis_loader_at(&s->tree, defined[i].loader);
		if (!loader->classes++)
			loader->first_class = i;
		if (heap_is_root(q->heap, class->ix) && loader->ix != HEAP_BOOT_LOADER)
			loader->use = USE_ROOT;
	}
	return HDB_OK;
}

/*
 * Adds totals to the loaders: either totals of all objects, which decide whether a class loader is
 * in use, or totals of the objects that are shown.
 */
static int add_loader_totals(struct query *q, struct loaders *s, bool is_shown,
			     struct hdb_error *err)
{
	const bool was_filtered = is_shown ? q->heap->filter.is_on : heap_show_all(q->heap);
	BASE_SCOPED(analysis_groups_release) struct analysis_groups groups = { 0 };
	const int r = analysis_load_groups(&q->session, DERIVE_LOADER, &groups, err);

	q->heap->filter.is_on = was_filtered;
	TRY(r);
	for (size_t i = 0; i < groups.count; i++) {
		const uint32_t no = analysis_loader_number(&s->tree, groups.totals[i].no);

		if (no == ANALYSIS_NO_LOADER)
			continue;
		if (is_shown)
			s->shown[no] = groups.totals[i];
		else
			analysis_loader_at(&s->tree, no)->total = groups.totals[i];
	}
	return HDB_OK;
}

/* Loads the totals of the classes, indexed by class number, and of the class loaders. */
static int add_totals(struct query *q, struct loaders *s, struct hdb_error *err)
{
	TRY(BASE_ALLOC(s->shown, s->tree.all.count + 1, "class loaders", err));
	TRY(analysis_load_class_totals(&q->session, &s->by_class, err));
	TRY(add_loader_totals(q, s, false, err));
	return add_loader_totals(q, s, true, err);
}

static int judge(struct query *q, struct loaders *s, struct hdb_error *err)
{
	for (uint32_t no = 0; no < s->tree.all.count; no++) {
		struct analysis_loader *loader = analysis_loader_at(&s->tree, no);
		bool reachable = true;

		if (no) {
			TRY(derive_is_reachable(q->derive, loader->ix, &reachable, err));
			TRY(derive_retained(q->derive, loader->ix, &loader->own_bytes, err));
		}
		/* A class loader without classes has no group, so it is counted separately. */
		loader->retained_bytes =
			loader->classes ? loader->total.retained_bytes : loader->own_bytes;
		if (!reachable)
			loader->use = USE_GARBAGE;
		else if (loader->total.count)
			loader->use = USE_INSTANCES;
		else if (!no || loader->use == USE_ROOT || heap_is_root(q->heap, loader->ix))
			loader->use = USE_ROOT;
		else
			loader->use = USE_HELD;
	}
	/* A class loader with a child in use is also in use. Parents come first in the order. */
	for (size_t i = s->tree.count; i-- > 0;) {
		const struct analysis_loader *loader =
			analysis_loader_at(&s->tree, s->tree.order[i]);

		if (loader->parent != ANALYSIS_NO_LOADER && loader->use >= USE_PARENT &&
		    analysis_loader_at(&s->tree, loader->parent)->use == USE_HELD)
			analysis_loader_at(&s->tree, loader->parent)->use = USE_PARENT;
	}
	return HDB_OK;
}

static bool is_idle(const struct analysis_loader *loader)
{
	return loader->classes && !loader->total.count;
}

static int set_facts(struct query *q, const struct loaders *s, struct hdb_error *err)
{
	uint64_t defining = 0, idle = 0, garbage = 0, duplicates = 0;
	int r = query_count_duplicates(q, &duplicates, err);

	for (uint32_t no = 0; no < s->tree.all.count; no++) {
		defining += analysis_loader_at(&s->tree, no)->classes != 0;
		idle += is_idle(analysis_loader_at(&s->tree, no));
		garbage += analysis_loader_at(&s->tree, no)->use == USE_GARBAGE;
	}
	TRY(r);
	query_fact(q, "loaders", s->tree.all.count);
	query_fact(q, "defining", defining);
	query_fact(q, "idle", idle);
	query_fact(q, "unreachable", garbage);
	query_fact(q, "duplicates", duplicates);
	return HDB_OK;
}

static int open_loaders(struct query *q, struct hdb_error *err)
{
	struct loaders *s = q->state;

	s->with_classes = query_option(q, "classes") != NULL;
	s->only_idle = query_option(q, "idle") != NULL;
	s->class_at = UINT64_MAX;
	TRY(heap_load_classes(q->heap, err));
	TRY(heap_load_roots(q->heap, err));
	TRY(analysis_loaders_find(&q->session, &s->tree, err));
	if (s->tree.has_no_parents) {
		query_cut(q, NULL,
			  "parents and names of class loaders, because the dump file is not "
			  "available");
	}
	TRY(add_totals(q, s, err));
	TRY(add_classes(q, s, err));
	/*
	 * judge() expects parents before children, but sorting requires sizes that judge()
	 * computes. So judge(), which is cheap, runs both before and after sorting.
	 */
	TRY(judge(q, s, err));
	TRY(analysis_loaders_order(&s->tree, err));
	TRY(judge(q, s, err));
	q->total = s->with_classes || s->only_idle ? QUERY_TOTAL_UNKNOWN : s->tree.count;
	TRY(set_facts(q, s, err));
	query_report_heap(q);
	if (!s->with_classes)
		query_choose(q, "level,id,name,label,parent,classes,objects,shallow,retained,"
				"loader_retained,unreachable_objects,use");
	return HDB_OK;
}

/* ---- rows ---- */

static int set_name(struct query *q, uint32_t ix, struct hdb_error *err)
{
	char text[NAME_MAX_BYTES];

	TRY_FOUND(analysis_loader_name(q->heap, ix, text, sizeof(text), err));
	query_set_text(q, LABEL, text);
	return HDB_OK;
}

static int loader_row(struct query *q, const struct loaders *s,
		      const struct analysis_loader *loader, struct hdb_error *err)
{
	struct derive_total total = s->shown[s->tree.order[s->at]];
	size_t size;
	const char *name = analysis_group_name(&q->session, DERIVE_LOADER, loader->ix, &size);

	query_set_id(q, ID, loader->ix);
	analysis_choose_counts(&total, q->population);
	query_lend_text(q, KIND, "loader");
	query_lend_text_n(q, NAME, name, size);
	query_set(q, LEVEL, loader->level);
	query_set(q, CLASSES, loader->classes);
	query_set(q, INSTANCES, total.count);
	query_set(q, SHALLOW, total.shallow_bytes);
	query_set(q, RETAINED, loader->retained_bytes);
	query_set(q, OWN, loader->own_bytes);
	query_set(q, UNREACHABLE, total.unreachable_count);
	query_lend_text(q, USE, use_names[loader->use]);
	if (loader->parent != ANALYSIS_NO_LOADER) {
		query_set_id(q, PARENT, analysis_loader_at(&s->tree, loader->parent)->ix);
	}
	return loader->ix != HEAP_BOOT_LOADER ? set_name(q, loader->ix, err) : HDB_OK;
}

static void class_row(struct query *q, const struct loaders *s,
		      const struct analysis_loader *loader)
{
	const uint32_t no = s->sorted_classes[loader->first_class + s->class_at];
	struct derive_total total = s->by_class[no];

	assert(s->class_at < loader->classes);
	assert(no < q->heap->class_count);
	analysis_choose_counts(&total, q->population);
	query_set(q, LEVEL, loader->level + 1);
	query_lend_text(q, KIND, "class");
	query_set(q, ID, heap_class(q->heap, no)->class_id);
	query_lend_text(q, NAME, heap_class_name(q->heap, no));
	query_set(q, INSTANCES, total.count);
	query_set(q, SHALLOW, total.shallow_bytes);
	query_set(q, RETAINED, total.retained_bytes);
	query_set(q, UNREACHABLE, total.unreachable_count);
}

static int next_loader(struct query *q, struct hdb_error *err)
{
	struct loaders *s = q->state;

	while (s->at < s->tree.count) {
		const struct analysis_loader *loader =
			analysis_loader_at(&s->tree, s->tree.order[s->at]);
		int r;

		if (s->only_idle && !is_idle(loader)) {
			s->at++;
			continue;
		}
		if (s->class_at == UINT64_MAX) {
			r = loader_row(q, s, loader, err);
			s->at += !s->with_classes;
			s->class_at = s->with_classes ? 0 : UINT64_MAX;
			return r;
		}
		if (s->class_at < loader->classes) {
			class_row(q, s, loader);
			s->class_at++;
			return HDB_OK;
		}
		s->class_at = UINT64_MAX;
		s->at++;
	}
	return HDB_END;
}

QUERY_DEFINE(loaders, QUERY_STATE(struct loaders, tree, by_class, shown, sorted_classes),
	     .open = open_loaders, .next = next_loader);
