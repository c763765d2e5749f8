/*
 * query/triage_locals.c - thread-local values, added up over all threads.
 *
 * A pool spreads a leak: little in each thread, much in all of them. What an entry of a thread's map retains counts
 * for its ThreadLocal, and for the class of its value, as a ThreadLocal may be made anew for each use.
 */
#include "query/leak_parts.h"
#include "query/triage.h"

#include "heap/threads.h"
#include "heap/values.h"

#include <stdio.h>
#include <stdlib.h>

/* Steps up the dominator tree from an entry to the thread: entry, table, map, thread; virtual threads have more. */
#define THREAD_STEPS 32u
#define STEP_OBJECTS 4096u
#define NAME_MAX_BYTES 512

/* What one thread keeps by one ThreadLocal. */
struct local {
	uint32_t key_ix;      /* the ThreadLocal, HEAP_NONE if it is gone */
	uint32_t value_class; /* HEAP_NONE: null */
	uint32_t entry_ix;
	uint64_t bytes;       /* that the entry retains */
};

/* HDB_OK if a thread has the entry for itself; HDB_NOTFOUND if none has, or another entry retains that thread. */
static int check_thread(struct triage *t, const struct heap_object *entry, struct hdb_error *err)
{
	struct heap_object object;
	uint32_t at = entry->ix;
	int found = HDB_NOTFOUND;

	for (unsigned steps = 0; steps < THREAD_STEPS; steps++) {
		int r = derive_dominator(t->q->derive, at, &at, err);

		if (r < 0 || at == HEAP_NONE)
			return r < 0 ? r : found;
		r = heap_object(t->q->heap, at, &object, err);
		if (r < 0 || object.class_no == entry->class_no)
			return r < 0 ? r : HDB_NOTFOUND;
		if (heap_is_thread(t->q->heap, at))
			found = HDB_OK;
	}
	return found;
}

static int read_local(struct triage *t, uint32_t ix, struct local *out, struct hdb_error *err)
{
	struct heap *heap = t->q->heap;
	struct heap_object entry, object;
	uint32_t value;
	int r = heap_object(heap, ix, &entry, err);

	*out = (struct local){ .key_ix = HEAP_NONE, .value_class = HEAP_NONE, .entry_ix = ix };
	if (r == HDB_OK)
		r = check_thread(t, &entry, err);
	if (r != HDB_OK)
		return r;
	r = heap_field_object(heap, ix, NULL, "referent", &out->key_ix, err);
	if (r == HDB_NOTFOUND)
		out->key_ix = HEAP_NONE;
	if (r >= 0)
		r = heap_field_object(heap, ix, NULL, "value", &value, err);
	if (r == HDB_OK)
		r = heap_object(heap, value, &object, err);
	if (r == HDB_OK)
		out->value_class = object.class_no;
	return r < 0 ? r : derive_retained(t->q->derive, ix, &out->bytes, err);
}

static int compare_keys(const void *a, const void *b)
{
	const struct local *x = a, *y = b;

	if (x->key_ix != y->key_ix)
		return x->key_ix < y->key_ix ? -1 : 1;
	return x->entry_ix < y->entry_ix ? -1 : x->entry_ix > y->entry_ix;
}

static int compare_classes(const void *a, const void *b)
{
	const struct local *x = a, *y = b;

	if (x->value_class != y->value_class)
		return x->value_class < y->value_class ? -1 : 1;
	return compare_keys(a, b);
}

static bool is_same(const struct local *a, const struct local *b, bool is_by_key)
{
	return is_by_key ? a->key_ix == b->key_ix : a->value_class == b->value_class;
}

/* The run of locals of one ThreadLocal or one class of values that retains most. */
struct local_run {
	const struct local *from, *largest;
	uint64_t count, keys, bytes;
};

static struct local_run find_run(const struct local *locals, size_t count, bool is_by_key)
{
	struct local_run best = { .count = 0 };

	for (size_t i = 0, to; i < count; i = to) {
		struct local_run run = { .from = locals + i, .largest = locals + i };

		for (to = i; to < count && is_same(locals + i, locals + to, is_by_key); to++) {
			run.count++;
			run.bytes += locals[to].bytes;
			run.keys += to == i || locals[to].key_ix != locals[to - 1].key_ix;
			if (locals[to].bytes > run.largest->bytes)
				run.largest = locals + to;
		}
		/* Keys that are gone are no ThreadLocal, values that are null no class. */
		if ((is_by_key ? run.from->key_ix : run.from->value_class) != HEAP_NONE &&
		    run.bytes > best.bytes)
			best = run;
	}
	return best;
}

/* Who has a ThreadLocal: "com.acme.Context.CURRENT (static)". */
static int name_key(struct triage *t, uint32_t key_ix, char *buf, size_t size,
		    struct hdb_error *err)
{
	struct query_leak_path path;
	int r = key_ix == HEAP_NONE ? HDB_NOTFOUND :
		query_leak_path_find(t->q, key_ix, &path, err);

	(void)snprintf(buf, size, key_ix == HEAP_NONE ? "a ThreadLocal that is gone" :
		       "a ThreadLocal that only its entries refer to");
	if (r != HDB_OK || !path.is_strong)
		return r < 0 ? r : HDB_OK;
	path.is_end_kept = true;
	return query_leak_culprit(t->q, &path, HEAP_NONE, buf, size, err);
}

static int tell_run(struct triage *t, const struct local_run *run, bool is_by_key,
		    struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[is_by_key ? TRIAGE_LOCALS_OF_ONE :
					      TRIAGE_LOCALS_OF_CLASS];
	char key[NAME_MAX_BYTES];
	int r;

	if (!run->count)
		return HDB_OK;
	f->count = run->count;
	f->bytes = run->bytes;
	f->ix = is_by_key ? run->from->key_ix : run->largest->entry_ix;
	r = name_key(t, run->largest->key_ix, key, sizeof(key), err);
	if (is_by_key)
		(void)snprintf(f->detail, sizeof(f->detail), "%s, in %" PRIu64 " thread%s", key,
			       run->count, run->count == 1 ? "" : "s");
	else
		(void)snprintf(f->detail, sizeof(f->detail), "values of class %s, of %" PRIu64
			       " ThreadLocal%s; the largest value is of %s",
			       heap_class_name(t->q->heap, run->from->value_class), run->keys,
			       run->keys == 1 ? "" : "s", key);
	return r;
}

int triage_take_locals(struct triage *t, const struct base_vec *ixs, struct hdb_error *err)
{
	struct base_vec locals = { 0 };
	struct local_run run;
	int r = HDB_OK;

	for (size_t i = 0; i < ixs->count && r >= 0; i++) {
		struct local local;

		r = read_local(t, *base_vec_at(ixs, uint32_t, i), &local, err);
		if (r == HDB_OK)
			r = base_vec_push(&locals, &local, sizeof(local), err);
		if (r >= 0 && i % STEP_OBJECTS == 0)
			r = base_step(t->q->work, i, err);
	}
	for (int is_by_key = 0; is_by_key < 2 && r >= 0; is_by_key++) {
		if (locals.count)
			qsort(locals.data, locals.count, sizeof(struct local),
			      is_by_key ? compare_keys : compare_classes);
		run = find_run(locals.data, locals.count, is_by_key);
		r = tell_run(t, &run, is_by_key, err);
	}
	base_vec_release(&locals);
	return r < 0 ? r : HDB_OK;
}
