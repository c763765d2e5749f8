/*
 * queries/triage/triage_loaders.c - measures closed class loaders that are still reachable.
 */
#include "analysis/describe.h"
#include "analysis/groups.h"
#include "base/sort.h"
#include "heap/values/values.h"
#include "queries/explain/rules.h"
#include "queries/leaks/leak_faults.h"
#include "queries/leaks/leak_parts.h"
#include "queries/triage/triage.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 512

/* How to recognise that a class loader was closed: the class of the loader, and an expression. */
static const struct {
	const char *super, *is_closed;
} closed_signs[] = {
	{ "java.net.URLClassLoader", "ucp.closed" },
	{ "org.apache.catalina.loader.WebappClassLoaderBase", "text(state) ~ 'STOPPED,DESTROYED'" },
};
#define SIGNS (sizeof(closed_signs) / sizeof(closed_signs[0]))

/* Writes why a class loader is alive: "kept by a thread-local value: class a.B static c -> ..." */
static int explain(struct query *q, uint32_t ix, char *buf, size_t size, struct hdb_error *err)
{
	struct query_leak_path path;
	char culprit[NAME_MAX_BYTES], roots[NAME_MAX_BYTES] = "";
	const char *text;
	uint64_t id;
	int r = query_leak_path_find(q, ix, &path, err);

	if (r != HDB_OK || !path.count)
		return r;
	TRY(heap_id(q->heap, ix, &id, err));
	TRY(query_leak_loader_hint(q, &path, &text, err));
	query_roots_text(q, path.nodes[0], false, BASE_TEXT(roots));
	path.is_end_kept = true;
	TRY(query_leak_culprit(q, &path, HEAP_NONE, BASE_TEXT(culprit), err));
	(void)snprintf(buf, size, "0x%" PRIx64 " is held by %s (%s), GC root: %s", id,
		       text ? text : "a reference", culprit, roots);
	return HDB_OK;
}

/* ---- the retained size of a class loader ---- */

/*
 * Finds the retained size of a class loader with its classes and their instances, which is a lower
 * bound as in all answers. The first call loads the totals.
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

int triage_take_loaders(struct triage *t, struct hdb_error *err)
{
	BASE_SCOPED(analysis_groups_release) struct analysis_groups groups = { 0 };
	struct triage_figure *f = &t->figures[TRIAGE_CLOSED_LOADER];
	struct heap *heap = t->q->heap;
	BASE_FREED uint32_t *loaders = NULL;
	uint64_t best = 0;
	int r = HDB_OK;

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
		TRY(is_closed(t->q, &object, &closed, err));
		if (closed)
			TRY(loader_bytes(t->q, &groups, loaders[i], &retained, err));
		if (!retained)
			continue;
		f->count++;
		f->bytes += retained;
		if (retained > best) {
			best = retained;
			f->ix = loaders[i];
		}
	}
	if (f->ix != HEAP_NONE)
		r = explain(t->q, f->ix, f->detail, sizeof(f->detail), err);
	return r;
}
