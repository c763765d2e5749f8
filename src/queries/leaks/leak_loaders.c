/*
 * queries/leaks/leak_loaders.c - finds closed class loaders that are still reachable.
 */
#include "queries/leaks/leak_loaders.h"

#include "analysis/groups.h"
#include "base/sort.h"
#include "queries/explain/rules.h"

#include <stdlib.h>

/* Evidence that a class loader was closed: its class, and an expression. */
static const struct {
	const char *super, *is_closed;
} closed_signs[] = {
	{ "java.net.URLClassLoader", "ucp.closed" },
	{ "org.apache.catalina.loader.WebappClassLoaderBase", "text(state) ~ 'STOPPED,DESTROYED'" },
};
#define SIGNS BASE_COUNT(closed_signs)

/* ---- the retained size of a class loader ---- */

/*
 * Finds the retained size of a class loader with its classes and their instances; the size is a
 * lower bound, as in all answers. The first call loads the totals.
 */
static int loader_bytes(struct query *q, struct analysis_groups *loaders, uint32_t loader_ix,
			uint64_t *bytes, struct hdb_error *err)
{
	const struct derive_total *total;

	if (!loaders->totals)
		TRY(analysis_load_groups(&q->session, DERIVE_LOADER, loaders, err));
	total = analysis_groups_find(loaders, loader_ix);
	*bytes = total ? total->retained_bytes : 0;
	return HDB_OK;
}

/* ---- closed class loaders ---- */

static int is_closed(struct query *q, const struct heap_object *loader, bool *out,
		     struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec nodes = { 0 };
	struct explain_subject subject = {
		.session = &q->session, .nodes = &nodes, .ix = loader->ix, .start_no = HEAP_NONE
	};
	struct base_value value = { .kind = BASE_NOTHING };
	uint32_t sign;

	for (size_t i = 0; i < SIGNS && !base_value_is_true(&value); i++) {
		if (!heap_has_superclass(q->heap, loader->class_no, closed_signs[i].super))
			continue;
		TRY(base_expression_parse(&explain_grammar, base_word(closed_signs[i].is_closed),
					  &nodes, &sign, err));
		TRY(explain_evaluate(&subject, sign, &value, err));
	}
	*out = base_value_is_true(&value);
	return HDB_OK;
}

int leak_loaders_find(struct query *q, struct leak_loaders *out, struct hdb_error *err)
{
	BASE_SCOPED(analysis_groups_release) struct analysis_groups groups = { 0 };
	struct heap *heap = q->heap;
	BASE_FREED uint32_t *loaders = NULL;

	*out = (struct leak_loaders){ .ix = HEAP_NONE };
	TRY(BASE_ALLOC(loaders, (size_t)heap->class_count + 1, "class loaders", err));
	for (uint32_t no = 0; no < heap->class_count; no++)
		loaders[no] = heap_class(heap, no)->loader_ix;
	qsort(loaders, heap->class_count, sizeof(*loaders), base_compare_u32);
	for (uint32_t i = 0; i < heap->class_count; i++) {
		struct heap_object object;
		uint64_t retained = 0;
		bool closed, is_elsewhere;

		if (loaders[i] == HEAP_BOOT_LOADER || (i && loaders[i] == loaders[i - 1]))
			continue;
		TRY(heap_passes_over(heap, loaders[i], &is_elsewhere, err));
		if (is_elsewhere)
			continue;
		TRY(heap_object(heap, loaders[i], &object, err));
		TRY(is_closed(q, &object, &closed, err));
		if (closed)
			TRY(loader_bytes(q, &groups, loaders[i], &retained, err));
		if (!retained)
			continue;
		out->count++;
		out->bytes += retained;
		if (retained > out->most_bytes) {
			out->most_bytes = retained;
			out->ix = loaders[i];
		}
	}
	return HDB_OK;
}
