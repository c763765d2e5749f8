/*
 * queries/triage/triage_locals.c - which ThreadLocal's values retain most over all threads, and the
 * values of which class.
 */
#include "base/base_text.h"
#include "queries/leaks/thread_locals.h"
#include "queries/triage/triage.h"

#include <stdio.h>

#define STEP_OBJECTS 4096u
#define NAME_MAX_BYTES 512

static int tell_run(struct triage *t, const struct query_local_run *run, bool is_by_key,
		    struct hdb_error *err)
{
	struct triage_figure *f =
		&t->figures[is_by_key ? TRIAGE_LOCALS_OF_ONE : TRIAGE_LOCALS_OF_CLASS];
	char key[NAME_MAX_BYTES];
	int r;

	if (!run->count)
		return HDB_OK;
	f->count = run->count;
	f->bytes = run->bytes;
	f->ix = is_by_key ? run->from->key_ix : run->largest->entry_ix;
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
	struct base_vec locals = { 0 };
	struct query_local_run run;
	int r = HDB_OK;

	for (size_t i = 0; i < ixs->count; i++) {
		struct query_local local;

		if ((r = query_local_read(t->q, *base_vec_at(ixs, uint32_t, i), &local, err)) < 0)
			goto out;
		if (r == HDB_OK && (r = base_vec_push(&locals, &local, sizeof(local), err)) < 0)
			goto out;
		if (i % STEP_OBJECTS == 0 && (r = base_step(t->q->work, i, err)) < 0)
			goto out;
	}
	for (int is_by_key = 0; is_by_key < 2; is_by_key++) {
		run = query_locals_find(&locals, is_by_key);
		if ((r = tell_run(t, &run, is_by_key, err)) < 0)
			goto out;
	}
out:
	base_vec_release(&locals);
	return r < 0 ? r : HDB_OK;
}
