/*
 * queries/leaks/leak_objects.c - leaking objects by the rules on single objects, with the paths
 * that keep them.
 *
 * The steps of a path are told apart as LeakCanary does: up to the last one that is rightly there
 * none is to blame; from the first one after it that should be gone on, all only hang on it; the
 * references between the two are suspect. Objects with the same suspect references are one leak.
 * References that are known to be a library's fault count only if there is no path without them:
 * then the leak is that library's.
 */
#include "queries/leaks/leak_trace.h"

#include <stdlib.h>
#include <string.h>

/* Leaks that are told with their paths; all are counted. */
#define LEAKS_SHOWN 20u
/*
 * Objects whose paths are looked at one by one, some tenths of a millisecond each; more are only
 * counted.
 */
#define LEAKING_TRACED 20000u
#define NAME_MAX_BYTES 1024
/* Blocks between two looks at the cancel flag. */
#define STEP_BLOCKS 16u

struct leaking {
	struct query_leak_trace trace;
	uint64_t count, shallow_bytes, retained_bytes; /* of all with this signature */
};

struct query_leaking {
	struct object_judge judge;
	struct query_leak_tracer tracer;
	struct base_vec found; /* struct object_found */
	struct base_vec list;  /* struct leaking */
	uint64_t count, hanging, traced;
	/*
	 * The last one whose path ended at an element of an array: so do those of others of its
	 * elements.
	 */
	uint32_t last_array_ix, last_class_no;
	const char *last_reason;
	size_t last_leak; /* in the list; SIZE_MAX: it is hanging */
};

struct object_found {
	uint32_t ix;
	const char *reason;
};

/* ---- finding ---- */

static int look(struct query_leaking *f, uint32_t ix, struct hdb_error *err)
{
	struct object_found found = { .ix = ix };
	enum object_verdict verdict;
	bool is_strong;
	uint32_t parent;
	int r = derive_reach(f->judge.q->derive, true, ix, &is_strong, &parent, err);

	if (r != HDB_OK || !is_strong)
		return r;
	r = object_judge_look(&f->judge, ix, true, &verdict, &found.reason, err);
	if (r != HDB_OK || verdict != OBJECT_GONE)
		return r;
	f->count++;
	return base_vec_push(&f->found, &found, sizeof(found), err);
}

static int find_all(struct query_leaking *f, struct hdb_error *err)
{
	struct query *q = f->judge.q;
	struct heap_block *block = malloc(sizeof(*block));
	int r = block ? HDB_OK : hdb_fail_memory(err, "a block of objects", sizeof(*block));

	base_stage(q->work, "looking for leaking objects", q->heap->object_count, "objects");
	for (uint32_t b = 0; r == HDB_OK && b < heap_block_count(q->heap); b++) {
		r = heap_read_block(q->heap, b, block, err);
		for (uint32_t i = 0; r == HDB_OK && i < block->count; i++)
			if (block->kind[i] == STORE_INSTANCE &&
			    object_judge_wants(&f->judge, block->class_no[i]))
				r = look(f, block->first_ix + i, err);
		if (r == HDB_OK && b % STEP_BLOCKS == 0)
			r = base_step(q->work, block->first_ix, err);
	}
	free(block);
	return r;
}

/* ---- one leak of several objects ---- */

static struct leaking *same_leak(struct query_leaking *f, uint64_t signature)
{
	for (size_t i = 0; i < f->list.count; i++) {
		struct leaking *one = base_vec_at(&f->list, struct leaking, i);

		if (one->trace.signature == signature)
			return one;
	}
	return NULL;
}

static int add_to_leak(struct query_leaking *f, size_t no, const struct object_found *found,
		       struct hdb_error *err)
{
	struct leaking *one = base_vec_at(&f->list, struct leaking, no);
	struct heap_object object;
	uint64_t retained;
	int r = heap_object(f->judge.q->heap, found->ix, &object, err);

	if (r == HDB_OK)
		r = derive_retained(f->judge.q->derive, found->ix, &retained, err);
	if (r != HDB_OK)
		return r;
	one->count++;
	one->shallow_bytes += object.shallow_bytes;
	one->retained_bytes += retained;
	return HDB_OK;
}

/*
 * Whether it is an element of the same array as the last one, of the same class and for the same
 * reason: then all that a trace says of it is the same, and there may be millions. *array_ix is the
 * array that holds it, or HEAP_NONE.
 */
static int is_like_last(struct query_leaking *f, const struct object_found *found,
			uint32_t *array_ix, uint32_t *class_no, bool *out, struct hdb_error *err)
{
	struct query *q = f->judge.q;
	struct heap_object object, parent = { .kind = STORE_INSTANCE };
	bool is_strong;
	int r = heap_object(q->heap, found->ix, &object, err);

	*out = false;
	if (r == HDB_OK)
		r = derive_reach(q->derive, true, found->ix, &is_strong, array_ix, err);
	if (r == HDB_OK && *array_ix != GRAPH_NONE)
		r = heap_object(q->heap, *array_ix, &parent, err);
	if (parent.kind != STORE_OBJECT_ARRAY)
		*array_ix = HEAP_NONE;
	*class_no = object.class_no;
	*out = r == HDB_OK && *array_ix != HEAP_NONE && *array_ix == f->last_array_ix &&
	       *class_no == f->last_class_no && found->reason == f->last_reason;
	return r;
}

static int trace_one(struct query_leaking *f, const struct object_found *found,
		     struct hdb_error *err)
{
	struct leaking leaking = { .count = 0 };
	const struct leaking *one;
	uint32_t array_ix, class_no;
	size_t no = SIZE_MAX;
	bool is_same;
	int r = is_like_last(f, found, &array_ix, &class_no, &is_same, err);

	if (r == HDB_OK && is_same) {
		f->hanging += f->last_leak == SIZE_MAX;
		return f->last_leak == SIZE_MAX ? HDB_OK : add_to_leak(f, f->last_leak, found, err);
	}
	if (r == HDB_OK && f->traced == LEAKING_TRACED)
		return HDB_OK;
	if (r == HDB_OK)
		r = query_leak_trace(&f->tracer, found->ix, found->reason, &leaking.trace, err);
	if (r == HDB_NOTFOUND) {
		f->count--; /* only looked at by what is ignored */
		return HDB_OK;
	}
	if (r != HDB_OK)
		return r;
	f->traced++;
	if (leaking.trace.is_hanging) {
		f->hanging++;
	} else {
		one = same_leak(f, leaking.trace.signature);
		no = one ? (size_t)(one - (const struct leaking *)f->list.data) : f->list.count;
		if (!one)
			r = base_vec_push(&f->list, &leaking, sizeof(leaking), err);
		if (r == HDB_OK)
			r = add_to_leak(f, no, found, err);
	}
	/* Where a path was chosen around what is known, another element may have another one. */
	f->last_array_ix = leaking.trace.is_other_path ? HEAP_NONE : array_ix;
	f->last_class_no = class_no;
	f->last_reason = found->reason;
	f->last_leak = no;
	return r;
}

/* What retains most first. */
static int compare_leaking(const void *a, const void *b)
{
	const struct leaking *x = a, *y = b;
	const uint32_t x_ix = x->trace.path.nodes[x->trace.path.count - 1];
	const uint32_t y_ix = y->trace.path.nodes[y->trace.path.count - 1];

	if (x->retained_bytes != y->retained_bytes)
		return x->retained_bytes > y->retained_bytes ? -1 : 1;
	return x_ix < y_ix ? -1 : x_ix > y_ix;
}

/* ---- telling ---- */

static int add_trace(struct query_leaking *f, struct query_story *story, uint64_t part,
		     const struct query_leak_trace *t, struct hdb_error *err)
{
	const struct query_leak_path *path = &t->path;
	struct query *q = f->judge.q;
	char holds[NAME_MAX_BYTES], roots[NAME_MAX_BYTES];
	int r = HDB_OK;

	query_leak_roots(q, path->nodes[0], roots, sizeof(roots));
	for (size_t i = 0; i < path->count && r == HDB_OK; i++) {
		struct query_story_row row = query_story_row("trace", part);
		const bool is_suspect = i >= t->first_suspect && i < t->first_gone;
		const char *status = i < t->there_count ? "not leaking" :
				     i >= t->first_gone ? "leaking" :
							  "unknown";

		row.ix = path->nodes[i];
		row.step = i + (i >= path->gap_at ? path->gap : 0);
		r = derive_retained(q->derive, row.ix, &row.retained_bytes, err);
		if (r == HDB_OK)
			r = query_leak_path_holds(q, path, i, holds, sizeof(holds), err);
		if (r == HDB_OK && holds[0])
			r = query_story_text(story, &row.holds, err, "%s", holds);
		if (r == HDB_OK)
			r = query_story_text(story, &row.text, err, "%s%s%s%s%s%s%s",
					     i == 0 && roots[0] ? "GC root: " : "",
					     i == 0 ? roots : "", i == 0 && roots[0] ? "; " : "",
					     status, t->reasons[i] ? ": " : "",
					     t->reasons[i] ? t->reasons[i] : "",
					     is_suspect ? "; its reference is suspect" : "");
		if (r == HDB_OK)
			r = query_story_add(story, &row, err);
	}
	return r;
}

static int add_leaking(struct query_leaking *f, struct query_story *story, uint64_t part,
		       const struct leaking *leaking, bool is_brief, struct hdb_error *err)
{
	const struct query_leak_trace *t = &leaking->trace;
	struct query_story_row row = query_story_row(t->library ? "library" : "leaking", part);
	char library[NAME_MAX_BYTES] = "";
	int r = HDB_OK;

	row.ix = t->path.nodes[t->path.count - 1];
	row.count = leaking->count;
	row.shallow_bytes = leaking->shallow_bytes;
	row.retained_bytes = leaking->retained_bytes;
	if (t->library)
		library_leaks_text(t->library, library, sizeof(library));
	if (t->suspect[0])
		r = query_story_text(story, &row.holds, err, "%s", t->suspect);
	if (r == HDB_OK)
		r = query_story_text(story, &row.text, err, "%s%s%s; signature %016" PRIx64,
				     t->reason, library[0] ? "; " : "", library, t->signature);
	if (r == HDB_OK)
		r = query_story_add(story, &row, err);
	return r == HDB_OK && !is_brief ? add_trace(f, story, part, t, err) : r;
}

int query_leaking_tell(struct query_leaking *f, struct query_story *story, uint64_t part,
		       bool is_library, bool is_brief, struct query_leaking_counts *counts,
		       struct hdb_error *err)
{
	int r = HDB_OK;

	for (size_t i = 0; i < f->list.count && r == HDB_OK; i++) {
		const struct leaking *one = base_vec_at(&f->list, struct leaking, i);

		if ((one->trace.library != NULL) != is_library || counts->told == LEAKS_SHOWN)
			continue;
		r = add_leaking(f, story, part++, one, is_brief, err);
		counts->told++;
	}
	return r;
}

static int trace_all(struct query_leaking *f, struct hdb_error *err)
{
	int r = query_leak_tracer_init(&f->tracer, &f->judge, err);

	f->last_array_ix = HEAP_NONE;
	for (size_t i = 0; i < f->found.count && r == HDB_OK; i++) {
		r = trace_one(f, base_vec_at(&f->found, struct object_found, i), err);
		if (r == HDB_OK)
			r = base_step(f->judge.q->work, i, err);
	}
	if (r == HDB_OK && f->list.count)
		qsort(f->list.data, f->list.count, sizeof(struct leaking), compare_leaking);
	return r;
}

int query_leaking_find(struct query *q, struct query_leaking **out,
		       struct query_leaking_counts *counts, struct hdb_error *err)
{
	struct query_leaking *f = *out = calloc(1, sizeof(*f));
	bool any = false;
	int r = f ? object_judge_init(&f->judge, q, &any, err) :
		    hdb_fail_memory(err, "leaking objects", sizeof(*f));

	*counts = (struct query_leaking_counts){ .objects = 0 };
	if (r == HDB_OK && any)
		r = find_all(f, err);
	if (r == HDB_OK && any && f->count)
		r = trace_all(f, err);
	if (r != HDB_OK)
		return r;
	counts->objects = f->count;
	counts->hanging = f->hanging;
	counts->leaks = f->list.count;
	for (size_t i = 0; i < f->list.count; i++) {
		const struct leaking *one = base_vec_at(&f->list, struct leaking, i);

		counts->library_leaks += one->trace.library != NULL;
		counts->retained_bytes += one->retained_bytes;
		counts->traced += one->count;
	}
	counts->traced += f->hanging;
	return HDB_OK;
}

void query_leaking_release(struct query_leaking *f)
{
	if (!f)
		return;
	query_leak_tracer_release(&f->tracer);
	object_judge_release(&f->judge);
	base_vec_release(&f->found);
	base_vec_release(&f->list);
	free(f);
}
