/*
 * queries/triage/triage_totals.c - takes measurements from totals by class, roots and the dominator
 * tree.
 */
#include "analysis/groups.h"
#include "analysis/properties.h"
#include "analysis/suspects.h"
#include "base/base_text.h"
#include "base/glob.h"
#include "queries/leaks/thread_locals.h"
#include "queries/triage/triage.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Maximum size of a small object: a header and a few fields. */
#define SMALL_BYTES 64u

static bool is_array(const struct heap *heap, uint32_t no)
{
	return heap_class(heap, no)->flags & STORE_CLASS_ARRAY;
}

/* ---- classes by name ---- */

/* The classes that a measure counts. */
struct set {
	const char *rule;
	enum triage_measure_no measure;
	bool is_largest_only, is_retained;
	const char *patterns, *super, *but;
};

#define RULE_rule(word, text, nth) .rule = text
#define RULE_measure(word, text, nth) .measure = TRIAGE_##word
#define RULE_classes(word, text, nth) .patterns = text
#define RULE_class(word, text, nth) .super = text
#define RULE_but(word, text, nth) .but = text
#define RULE_counts(word, text, nth) .is_##word##_only = true
#define RULE_bytes(word, text, nth) .is_##word = true

static const struct set sets[] = {
#include <queries/triage/classes.rules.h>
};
#define SETS BASE_COUNT(sets)

static bool is_in_set(struct heap *heap, const struct set *set, uint32_t no)
{
	if (is_array(heap, no) || (set->but && heap_has_superclass(heap, no, set->but)))
		return false;
	assert(set->super || set->patterns);
	if (set->super)
		return heap_has_superclass(heap, no, set->super);
	return base_glob_list(set->patterns, heap_class_name(heap, no));
}

/* Adds a class to a measurement, or replaces the measurement with the class. */
static void add_class(struct triage_figure *f, const struct set *set,
		      const struct derive_total *total)
{
	const uint64_t bytes = set->is_retained ? total->retained_bytes : total->shallow_bytes;

	assert(set->measure < TRIAGE_MEASURES);
	if (set->is_largest_only) {
		if (total->count > f->count) {
			f->count = total->count;
			f->bytes = bytes;
			f->class_no = total->no;
		}
		return;
	}
	if (f->class_no == HEAP_NONE || total->count > f->class_count) {
		f->class_no = total->no;
		f->class_count = total->count;
	}
	f->count += total->count;
	f->bytes += bytes;
}

static void add_sets(struct triage *t, const struct analysis_groups *groups)
{
	struct heap *heap = t->q->heap;

	for (size_t i = 0; i < groups->count; i++) {
		const struct derive_total *total = &groups->totals[i];

		for (size_t s = 0; s < SETS; s++) {
			const struct set *set = &sets[s];

			if (is_in_set(heap, set, total->no))
				add_class(&t->figures[set->measure], set, total);
		}
	}
}

/*
 * Finds the class whose small objects take the most memory, and the garbage with which old
 * collectors fill gaps.
 */
static void add_classes(struct triage *t, const struct analysis_groups *groups)
{
	struct triage_figure *many_small = &t->figures[TRIAGE_MANY_SMALL];
	struct triage_figure *fillers = &t->figures[TRIAGE_FILLERS];
	struct triage_figure *garbage = &t->figures[TRIAGE_GARBAGE];

	for (size_t i = 0; i < groups->count; i++) {
		const struct derive_total *total = &groups->totals[i];
		const char *name = heap_class_name(t->q->heap, total->no);
		/* In dumps, the arrays that fill gaps look like any other int[]. */
		const bool is_filler = strcmp(name, "int[]") == 0 ||
				       strncmp(name, "jdk.internal.vm.Filler",
					       strlen("jdk.internal.vm.Filler")) == 0;
		struct triage_figure *f = is_filler ? fillers : garbage;

		f->count += total->unreachable_count;
		f->bytes += total->unreachable_bytes;
		if (!is_array(t->q->heap, total->no) && total->count > many_small->count &&
		    total->shallow_bytes <= total->count * SMALL_BYTES) {
			many_small->count = total->count;
			many_small->bytes = total->shallow_bytes;
			many_small->class_no = total->no;
		}
	}
	if (fillers->count)
		(void)snprintf(garbage->detail, sizeof(garbage->detail),
			       "without %s array%s that may be fillers of the garbage collector",
			       base_number(fillers->count).text, fillers->count == 1 ? "" : "s");
}

static int count_classes(struct triage *t, struct hdb_error *err)
{
	struct heap *heap = t->q->heap;
	bool is_elsewhere = false;

	for (uint32_t no = 0; no < heap->class_count; no++) {
		TRY(heap_passes_over(heap, heap_class(heap, no)->ix, &is_elsewhere, err));
		t->figures[TRIAGE_CLASSES].count += !is_elsewhere;
	}
	return HDB_OK;
}

/* ---- roots ---- */

/*
 * Adds up what JNI global references keep alive: the retained sizes of their objects at the top
 * level.
 */
static int add_jni(struct triage *t, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_JNI_GLOBALS];
	const struct heap *heap = t->q->heap;
	uint64_t best = 0;

	TRY(heap_load_roots(t->q->heap, err));
	for (uint64_t i = 0; i < heap->roots.count; i++) {
		const struct store_root *root = &heap->roots.records[i];
		uint64_t retained;
		bool is_elsewhere;

		if (root->kind != HPROF_ROOT_JNI_GLOBAL ||
		    (i && root[-1].ix == root->ix && root[-1].kind == root->kind))
			continue;
		TRY(heap_passes_over(t->q->heap, root->ix, &is_elsewhere, err));
		if (is_elsewhere)
			continue;
		TRY(derive_retained(t->q->derive, root->ix, &retained, err));
		f->count++;
		f->bytes += retained;
		if (retained > best) {
			best = retained;
			f->ix = root->ix;
		}
	}
	return HDB_OK;
}

/* ---- suspects ---- */

/*
 * Adds the verdict of the leaks query, which is run unless its answer is known. A suspect that is
 * large by design is not a problem while the heap has room for it.
 */
static int add_suspect(struct triage *t, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_SUSPECT];
	const struct analysis_suspects *left = t->q->session.left;
	struct analysis_verdict *v = &t->verdict;

	if (left) {
		t->is_outside_listed = left->is_outside_listed;
		*v = left->verdict;
	} else {
		TRY(triage_read_leaks(t->q, v, err));
	}
	if (!v->listed)
		return HDB_OK;
	f->count = !v->is_by_design || analysis_limit_percent(&t->limit, t->whole_bytes) >= 70;
	f->bytes = v->bytes;
	if (v->id)
		TRY_ERRORS(heap_find(t->q->heap, v->id, &f->ix, err));
	f->class_no = heap_class_by_name(t->q->heap, v->class_name, 0);
	(void)snprintf(f->detail, sizeof(f->detail), "%s%s%s", v->text, v->why[0] ? " " : "",
		       v->why);
	return HDB_OK;
}

/* Counts leaking objects, and finds the first reference that may be to blame. */
static int add_leaking(struct triage *t, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_SHOULD_BE_GONE];
	BASE_SCOPED(leak_traces_release) struct leak_traces traces = { .found = 0 };
	BASE_SCOPED(leak_steps_release) struct leak_steps steps = { .gap = 0 };
	const struct leak_group *group = NULL;
	char suspect[sizeof(f->detail) - 8];

	TRY(leak_traces_find(&traces, &t->q->session, false, err));
	f->count = traces.found - traces.unreachable.count;
	f->bytes = traces.bytes;
	if (!traces.groups.count)
		return HDB_OK;
	group = traces.groups.data;
	f->ix = base_vec_at(&traces.traces, struct leak_trace, group->first)->ix;
	TRY(leak_steps_get(&traces, group->first, &steps, err));
	leak_steps_suspect(&traces, &steps, suspect, sizeof(suspect));
	(void)snprintf(f->detail, sizeof(f->detail), "kept by %s", suspect);
	return HDB_OK;
}

/* Measures how full the heap is. */
static int add_limit(struct triage *t, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_HEAP];
	const int r = analysis_limit_find(&t->q->session, &t->limit, err);

	if (t->limit.bytes) {
		f->count = 1;
		f->bytes = t->whole_bytes;
		(void)snprintf(f->detail, sizeof(f->detail),
			       "%.2f %% of the maximum heap size, %s bytes",
			       analysis_limit_percent(&t->limit, t->whole_bytes),
			       base_number(t->limit.bytes).text);
	}
	if (!t->limit.is_out_of_memory)
		return r;
	f = &t->figures[TRIAGE_OUT_OF_MEMORY];
	f->count = 1;
	f->has_no_bytes = true;
	f->ix = t->limit.thread_ix;
	if (t->limit.frame[0])
		(void)snprintf(f->detail, sizeof(f->detail), "at %s", t->limit.frame);
	return r;
}

/*
 * Measures sets of classes. Computes retained sizes, which take a pass over the dominator tree,
 * only if a set has so many objects that a rule may fire.
 */
static int measure_sets(struct triage *t, struct hdb_error *err)
{
	struct analysis_groups *groups = &t->classes;
	bool wants_bytes = false;
	HEAP_FILTER_SCOPE(heap_show_chosen, t->q->heap);

	TRY(analysis_count_groups(&t->q->session, DERIVE_CLASS, ANALYSIS_COUNT_REACHED, groups,
				  err));
	add_sets(t, groups);
	for (size_t i = 0; i < SETS && !wants_bytes; i++)
		if (sets[i].is_retained)
			TRY(triage_wants_bytes(t, sets[i].measure, UINT64_MAX, &wants_bytes, err));
	if (!wants_bytes)
		return HDB_OK;
	for (size_t i = 0; i < SETS; i++)
		t->figures[sets[i].measure] =
			(struct triage_figure){ .ix = HEAP_NONE, .class_no = HEAP_NONE };
	analysis_groups_release(groups);
	TRY(analysis_load_groups(&t->q->session, DERIVE_CLASS, groups, err));
	add_sets(t, groups);
	return HDB_OK;
}

int triage_take_totals(struct triage *t, struct hdb_error *err)
{
	struct derive_total whole;

	/* Percentages are of the whole heap, whichever objects are examined. */
	TRY(analysis_heap_total(&t->q->session, &whole, err));
	t->whole_bytes = whole.shallow_bytes;
	t->retained_bytes = whole.retained_bytes;
	t->all_bytes = whole.shallow_bytes + whole.unreachable_bytes;
	TRY(measure_sets(t, err));
	add_classes(t, &t->classes);
	TRY(count_classes(t, err));
	TRY(add_limit(t, err));
	TRY(add_suspect(t, err));
	TRY(add_leaking(t, err));
	return add_jni(t, err);
}
