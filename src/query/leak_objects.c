/*
 * query/leak_objects.c - objects that should be gone by the rules on single objects, with the paths that keep them.
 *
 * The steps of a path are told apart as LeakCanary does: up to the last one that is rightly there none is to blame;
 * from the first one after it that should be gone on, all only hang on it; the references between the two are
 * suspect. Objects with the same suspect references are one leak. References that are known to be a library's fault
 * count only if there is no path without them: then the leak is that library's.
 */
#include "query/leak_trace.h"

#include <stdlib.h>
#include <string.h>

/* Leaks that are told with their paths; all are counted. */
#define LEAKS_SHOWN 20u
/* Objects whose paths are looked at; more are only counted. */
#define LEAKING_TRACED 1000u
#define NAME_MAX_BYTES 1024
/* Blocks between two looks at the cancel flag. */
#define STEP_BLOCKS 16u

struct leaking {
	struct query_leak_trace trace;
	uint64_t count, shallow_bytes, retained_bytes; /* of all with this signature */
};

struct finder {
	struct object_judge judge;
	struct query_leak_tracer tracer;
	struct base_vec found;   /* struct object_found */
	struct base_vec list;    /* struct leaking */
	uint64_t count, hanging;
};

struct object_found {
	uint32_t ix;
	const char *reason;
};

/* ---- finding ---- */

static int look(struct finder *f, uint32_t ix, struct hdb_error *err)
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
	return f->found.count < LEAKING_TRACED ? base_vec_push(&f->found, &found, sizeof(found),
							       err) : HDB_OK;
}

static int find_all(struct finder *f, struct hdb_error *err)
{
	struct query *q = f->judge.q;
	struct heap_block *block = malloc(sizeof(*block));
	int r = block ? HDB_OK : hdb_fail_memory(err, "a block of objects", sizeof(*block));

	base_stage(q->work, "looking for objects that should be gone", q->heap->object_count,
		   "objects");
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

static struct leaking *same_leak(struct finder *f, uint64_t signature)
{
	for (size_t i = 0; i < f->list.count; i++) {
		struct leaking *one = base_vec_at(&f->list, struct leaking, i);

		if (one->trace.signature == signature)
			return one;
	}
	return NULL;
}

static int trace_one(struct finder *f, const struct object_found *found, struct hdb_error *err)
{
	struct query *q = f->judge.q;
	struct leaking leaking = { .count = 0 }, *one;
	struct heap_object object;
	uint64_t retained;
	int r = query_leak_trace(&f->tracer, found->ix, found->reason, &leaking.trace, err);

	if (r == HDB_NOTFOUND) {
		f->count--; /* only looked at by what is ignored */
		return HDB_OK;
	}
	if (r == HDB_OK && leaking.trace.is_hanging) {
		f->hanging++;
		return HDB_OK;
	}
	if (r == HDB_OK)
		r = heap_object(q->heap, found->ix, &object, err);
	if (r == HDB_OK)
		r = derive_retained(q->derive, found->ix, &retained, err);
	if (r != HDB_OK)
		return r;
	one = same_leak(f, leaking.trace.signature);
	if (!one) {
		r = base_vec_push(&f->list, &leaking, sizeof(leaking), err);
		one = base_vec_at(&f->list, struct leaking, f->list.count - 1);
	}
	if (r != HDB_OK)
		return r;
	one->count++;
	one->shallow_bytes += object.shallow_bytes;
	one->retained_bytes += retained;
	return HDB_OK;
}

/* ---- telling ---- */

static int add_trace(struct finder *f, struct query_story *story, uint64_t part,
		     const struct query_leak_trace *t, struct hdb_error *err)
{
	const struct query_leak_path *path = &t->path;
	struct query *q = f->judge.q;
	char holds[NAME_MAX_BYTES];
	int r = HDB_OK;

	for (size_t i = 0; i < path->count && r == HDB_OK; i++) {
		struct query_story_row row = query_story_row("trace", part);
		const bool is_suspect = i >= t->first_suspect && i < t->first_gone;
		const char *status = i < t->there_count ? "not leaking" :
				     i >= t->first_gone ? "leaking" : "unknown";

		row.ix = path->nodes[i];
		row.step = i + (i >= path->gap_at ? path->gap : 0);
		r = derive_retained(q->derive, row.ix, &row.retained_bytes, err);
		if (r == HDB_OK)
			r = query_leak_path_holds(q, path, i, holds, sizeof(holds), err);
		if (r == HDB_OK && holds[0])
			r = query_story_text(story, &row.holds, err, "%s", holds);
		if (r == HDB_OK)
			r = query_story_text(story, &row.text, err, "%s%s%s%s", status,
					     t->reasons[i] ? ": " : "",
					     t->reasons[i] ? t->reasons[i] : "",
					     is_suspect ? "; its reference is suspect" : "");
		if (r == HDB_OK)
			r = query_story_add(story, &row, err);
	}
	return r;
}

static int add_leaking(struct finder *f, struct query_story *story, uint64_t part,
		       const struct leaking *leaking, struct hdb_error *err)
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
	return r == HDB_OK ? add_trace(f, story, part, t, err) : r;
}

/* The application's own leaks first, then those of libraries. */
static int tell(struct finder *f, struct query_story *story, uint64_t part,
		struct query_leaking_counts *counts, struct hdb_error *err)
{
	int r = HDB_OK;

	counts->leaks = f->list.count;
	counts->objects = f->count;
	counts->hanging = f->hanging;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < f->list.count && r == HDB_OK; i++) {
			const struct leaking *one = base_vec_at(&f->list, struct leaking, i);

			if ((one->trace.library != NULL) != (pass == 1))
				continue;
			counts->library_leaks += pass;
			if (counts->told < LEAKS_SHOWN)
				r = add_leaking(f, story, part + counts->told++, one, err);
		}
	}
	return r;
}

int query_leaking_objects(struct query *q, struct query_story *story, uint64_t part,
			  struct query_leaking_counts *counts, struct hdb_error *err)
{
	struct finder f = { .count = 0 };
	bool any = false;
	int r = object_judge_init(&f.judge, q, &any, err);

	*counts = (struct query_leaking_counts){ .objects = 0 };
	if (r == HDB_OK && any) {
		r = find_all(&f, err);
		if (r == HDB_OK && f.count)
			r = query_leak_tracer_init(&f.tracer, &f.judge, err);
		for (size_t i = 0; i < f.found.count && r == HDB_OK; i++) {
			r = trace_one(&f, base_vec_at(&f.found, struct object_found, i), err);
			if (r == HDB_OK)
				r = base_step(q->work, i, err);
		}
		if (r == HDB_OK)
			r = tell(&f, story, part, counts, err);
	}
	query_leak_tracer_release(&f.tracer);
	object_judge_release(&f.judge);
	base_vec_release(&f.found);
	base_vec_release(&f.list);
	return r;
}
