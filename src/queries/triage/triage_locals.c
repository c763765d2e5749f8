/*
 * queries/triage/triage_locals.c - finds the ThreadLocal whose values retain the most over all
 * threads, the class of values that retains the most, and what is held by the thread that retains
 * the most.
 */
#include "analysis/dominator_children.h"
#include "base/base_text.h"
#include "queries/leaks/leak_parts.h"
#include "queries/leaks/thread_locals.h"
#include "queries/triage/triage.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define STEP_OBJECTS 4096u
#define NAME_MAX_BYTES 512

int triage_explain_pin(struct triage *t, struct hdb_error *err)
{
	const struct triage_figure *suspect = &t->figures[TRIAGE_SUSPECT];
	struct triage_figure *f = &t->figures[TRIAGE_THREAD_PIN];
	struct query_leak_path path = { .nodes = { f->ix }, .count = 2 };
	char via[NAME_MAX_BYTES], frame[ANALYSIS_FRAME_MAX_BYTES] = "";
	struct analysis_level level = { 0 };
	uint64_t retained;
	int r;

	if (f->ix == HEAP_NONE)
		return HDB_OK;
	if (suspect->count && suspect->ix == f->ix) {
		/* The thread is the largest suspect, which is reported separately. */
		f->count = f->bytes = 0;
		return HDB_OK;
	}
	/* Dominated objects are sorted by retained size. */
	TRY(analysis_level_begin(&t->q->session, f->ix, true, &level, err));
	TRY_FOUND(analysis_level_next(&t->q->session, &level, &path.nodes[1], err));
	TRY(derive_retained(t->q->derive, path.nodes[1], &retained, err));
	if ((r = query_leak_path_holds(t->q, &path, 0, BASE_TEXT(via), err)) != HDB_OK || !via[0])
		return r;
	if (strcmp(via, "<local variable>") != 0) {
		(void)snprintf(f->detail, sizeof(f->detail),
			       "mostly through its field %s, which holds %s", via,
			       base_size(retained).text);
		return HDB_OK;
	}
	r = query_leak_frame(t->q->heap, f->ix, path.nodes[1], BASE_TEXT(frame), err);
	(void)snprintf(f->detail, sizeof(f->detail),
		       "mostly through a local variable%s%s, which holds %s",
		       frame[0] ? " of " : "", frame, base_size(retained).text);
	return r;
}

static int set_run_figure(struct triage *t, const struct query_local_run *run, bool is_by_key,
			  struct hdb_error *err)
{
	const enum triage_measure_no measure =
		is_by_key ? TRIAGE_LOCALS_OF_ONE : TRIAGE_LOCALS_OF_CLASS;
	struct triage_figure *f = &t->figures[measure];
	char key[NAME_MAX_BYTES];
	bool is_wanted;
	int r;

	if (!run->count)
		return HDB_OK;
	assert(run->from && run->largest);
	f->count = run->count;
	f->bytes = run->bytes;
	f->ix = is_by_key ? run->from->key_ix : run->largest->entry_ix;
	/* Finding the name of a ThreadLocal may take a search from the roots. */
	TRY(triage_wants_bytes(t, measure, f->bytes, &is_wanted, err));
	if (!is_wanted)
		return HDB_OK;
	r = query_local_name(t->q, run->largest->key_ix, key, sizeof(key), err);
	if (is_by_key)
		(void)snprintf(f->detail, sizeof(f->detail), "%s, in %s thread%s", key,
			       base_number(run->count).text, run->count == 1 ? "" : "s");
	else
		(void)snprintf(
			f->detail, sizeof(f->detail),
			"values of class %s, of %s ThreadLocal%s; the largest value is of %s",
			heap_class_name(t->q->heap, run->from->value_class),
			base_number(run->keys).text, run->keys == 1 ? "" : "s", key);
	return r;
}

int triage_take_locals(struct triage *t, const struct base_vec *ixs, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec locals = { 0 };
	struct query_local_run run;

	for (size_t i = 0; i < ixs->count; i++) {
		struct query_local local;
		int r;

		TRY_ERRORS(r = query_local_read(t->q, *base_vec_at(ixs, uint32_t, i), &local, err));
		if (r == HDB_OK)
			TRY(base_vec_push(&locals, &local, sizeof(local), err));
		if (i % STEP_OBJECTS == 0)
			TRY(base_step(t->q->work, i, err));
	}
	for (int is_by_key = 0; is_by_key < 2; is_by_key++) {
		run = query_locals_find(&locals, is_by_key);
		TRY_ERRORS(set_run_figure(t, &run, is_by_key, err));
	}
	return HDB_OK;
}
