/*
 * queries/objects/q_duplicate_classes.c - the duplicate-classes query, which lists classes defined
 * by several class loaders.
 */
#include "base/glob.h"
#include "base/sort.h"
#include "queries/objects/duplicate_names.h"
#include "queries/queries.h"

#include <queries/objects/q_duplicate_classes.query.h>

/* A class, and the number of classes with its name. */
struct copy {
	const char *name;
	uint32_t no, copies;
};

/* All classes that have the same name as another class. */
struct copies {
	struct copy *list; /* owned: free() */
	size_t count;
	uint64_t names;
};

struct duplicates {
	struct copies copies;
	struct derive_total *by_class;
};

BASE_ORDER(compare_names, struct copy, BASE_BY_TEXT(name), BASE_UP(no))

/* Sorts names by the number of classes that have them, highest first. */
BASE_ORDER(compare_copies, struct copy, BASE_DOWN(copies), BASE_BY_TEXT(name), BASE_UP(no))

static int find_copies(struct query *q, const char *pattern, struct copies *out,
		       struct hdb_error *err)
{
	struct heap *heap = q->heap;
	struct copy *all;
	size_t n = 0;

	*out = (struct copies){ 0 };
	TRY(heap_load_classes(heap, err));
	TRY(BASE_ALLOC(out->list, (size_t)heap->class_count + 1, "classes", err));
	all = out->list;
	for (uint32_t no = 0; no < heap->class_count; no++)
		if (!(heap_class(heap, no)->flags & STORE_CLASS_INVENTED) &&
		    (!pattern || base_glob(pattern, heap_class_name(heap, no))))
			all[n++] = (struct copy){ heap_class_name(heap, no), no, 0 };
	if (n)
		qsort(all, n, sizeof(*all), compare_names);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(all[end].name, all[i].name) == 0; end++)
			continue;
		out->names += end - i > 1;
		for (size_t k = i; end - i > 1 && k < end; k++) {
			all[out->count] = all[k];
			all[out->count++].copies = (uint32_t)(end - i);
		}
	}
	assert(2 * out->names <= out->count);
	return HDB_OK;
}

int query_count_duplicates(struct query *q, uint64_t *names, struct hdb_error *err)
{
	struct copies copies;
	const int r = find_copies(q, NULL, &copies, err);

	*names = copies.names;
	free(copies.list);
	return r;
}

static int open_duplicates(struct query *q, struct hdb_error *err)
{
	struct duplicates *s = q->state;

	TRY(find_copies(q, q->target_count ? q->targets[0] : NULL, &s->copies, err));
	TRY(analysis_load_class_totals(&q->session, &s->by_class, err));
	if (s->copies.count)
		qsort(s->copies.list, s->copies.count, sizeof(*s->copies.list), compare_copies);
	q->total = s->copies.count;
	query_fact(q, "names", s->copies.names);
	query_report_heap(q);
	query_fact(q, "classes", s->copies.count);
	return HDB_OK;
}

static int duplicate_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct duplicates *s = q->state;
	const struct copy *copy = &s->copies.list[no];
	const struct store_class *class = heap_class(q->heap, copy->no);
	struct derive_total total = s->by_class[copy->no];

	(void)err;
	assert(no < s->copies.count && copy->copies > 1);
	analysis_choose_counts(&total, q->population);
	query_lend_text(q, NAME, copy->name);
	query_set(q, COPIES, copy->copies);
	query_set(q, ID, class->class_id);
	query_set(q, INSTANCES, total.count);
	query_set(q, SHALLOW, total.shallow_bytes);
	query_set(q, RETAINED, total.retained_bytes);
	query_set(q, UNREACHABLE, total.unreachable_count);
	query_set_id(q, LOADER_ID, class->loader_ix);
	query_set_text(q, LOADER, heap_loader_name(q->heap, class));
	return HDB_OK;
}

QUERY_DEFINE(duplicate_classes, QUERY_STATE(struct duplicates, copies.list, by_class),
	     .open = open_duplicates, .row = duplicate_row);
