/*
 * queries/leaks/thread_locals.c - reads entries of thread-local maps, and finds the holders of
 * ThreadLocals.
 */
#include "queries/leaks/thread_locals.h"

#include "base/sort.h"
#include "heap/known.h"
#include "heap/threads.h"
#include "queries/leaks/leak_prose.h"

#include <stdlib.h>

/*
 * Maximum number of steps up the dominator tree from an entry to its thread: usually entry, table,
 * map and thread, but more for virtual threads.
 */
#define THREAD_STEPS 32u
/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 4096u
/*
 * A ThreadLocal explains a group of threads if its values retain at least this share of the
 * retained size of the threads, as for accumulation points.
 */
#define EXPLAINED 0.7

/*
 * Returns HDB_OK if a thread dominates the entry and no other entry dominates it, and otherwise
 * HDB_NOTFOUND.
 */
static int check_thread(struct query *q, const struct heap_object *entry, struct hdb_error *err)
{
	struct heap_object object;
	uint32_t at = entry->ix;
	int found = HDB_NOTFOUND;

	for (unsigned steps = 0; steps < THREAD_STEPS; steps++) {
		int r = derive_dominator(q->derive, at, &at, err);

		if (r < 0 || at == HEAP_NONE)
			return r < 0 ? r : found;
		r = heap_object(q->heap, at, &object, err);
		if (r < 0 || object.class_no == entry->class_no)
			return r < 0 ? r : HDB_NOTFOUND;
		if (heap_is_thread(q->heap, at))
			found = HDB_OK;
	}
	return found;
}

int query_local_read(struct query *q, uint32_t ix, struct query_local *out, struct hdb_error *err)
{
	struct heap *heap = q->heap;
	struct heap_object entry, object;
	uint32_t value;
	int r;

	*out = (struct query_local){ .key_ix = HEAP_NONE,
				     .value_class = HEAP_NONE,
				     .entry_ix = ix };
	TRY(heap_object(heap, ix, &entry, err));
	if (entry.kind != STORE_INSTANCE)
		return HDB_NOTFOUND;
	TRY(check_thread(q, &entry, err));
	r = heap_field_object(heap, ix, (struct heap_field_name){ .name = "referent" },
			      &out->key_ix, err);
	TRY_ERRORS(r);
	if (r == HDB_NOTFOUND)
		out->key_ix = HEAP_NONE;
	r = heap_field_object(heap, ix, (struct heap_field_name){ .name = "value" }, &value, err);
	TRY_ERRORS(r);
	if (r == HDB_OK) {
		TRY(heap_object(heap, value, &object, err));
		out->value_class = object.class_no;
	}
	return derive_retained(q->derive, ix, &out->bytes, err);
}

/* The index of the entry makes the order unique, and therefore also the answer. */
BASE_ORDER(compare_keys, struct query_local, BASE_UP(key_ix), BASE_UP(entry_ix))

BASE_ORDER(compare_classes, struct query_local, BASE_UP(value_class), BASE_UP(key_ix),
	   BASE_UP(entry_ix))

static bool is_same(const struct query_local *a, const struct query_local *b, bool is_by_key)
{
	return is_by_key ? a->key_ix == b->key_ix : a->value_class == b->value_class;
}

struct query_local_run query_locals_find(struct base_vec *vec, bool is_by_key)
{
	struct query_local_run best = { .count = 0 };
	const struct query_local *locals = vec->data;
	const size_t count = vec->count;

	if (count)
		qsort(vec->data, count, sizeof(*locals),
		      is_by_key ? compare_keys : compare_classes);
	for (size_t i = 0, to; i < count; i = to) {
		struct query_local_run run = { .from = locals + i, .largest = locals + i };

		for (to = i; to < count && is_same(locals + i, locals + to, is_by_key); to++) {
			run.count++;
			run.bytes += locals[to].bytes;
			run.keys += to == i || locals[to].key_ix != locals[to - 1].key_ix;
			if (locals[to].bytes > run.largest->bytes)
				run.largest = locals + to;
		}
		/*
		 * An entry whose key was collected has no ThreadLocal; a null value has no class.
		 */
		if ((is_by_key ? run.from->key_ix : run.from->value_class) != HEAP_NONE &&
		    run.bytes > best.bytes)
			best = run;
	}
	return best;
}

/*
 * Finds the holder of a ThreadLocal. Sets kind to LEAK_HOLDER_GONE if key_ix is HEAP_NONE, and to
 * LEAK_HOLDER_ENTRIES if no strong path leads to the ThreadLocal.
 */
static int find_holder(struct query *q, uint32_t key_ix, struct leak_holder *out,
		       struct hdb_error *err)
{
	struct query_leak_owner owner = { .named = 0 };
	struct query_leak_path path;
	int r = key_ix == HEAP_NONE ? HDB_NOTFOUND : query_leak_path_find(q, key_ix, &path, err);

	*out = (struct leak_holder){ .kind = key_ix == HEAP_NONE ? LEAK_HOLDER_GONE :
								   LEAK_HOLDER_ENTRIES,
				     .ix = HEAP_NONE };
	if (r != HDB_OK || !path.is_strong)
		return r < 0 ? r : HDB_OK;
	path.is_end_kept = true;
	TRY(leak_culprit_find(q, &path, HEAP_NONE, &owner, err));
	*out = owner.named ? owner.list[0] : (struct leak_holder){ .ix = HEAP_NONE };
	return HDB_OK;
}

int query_local_name(struct query *q, uint32_t key_ix, char *buf, size_t size,
		     struct hdb_error *err)
{
	struct leak_holder holder;

	TRY(find_holder(q, key_ix, &holder, err));
	buf[0] = '\0';
	leak_holder_text(&holder, (struct base_text){ buf, size });
	return HDB_OK;
}

/* ---- a group of threads ---- */

/* Adds all entries in the table of a thread's map. */
static int add_table(struct query *q, struct base_vec *locals, uint32_t table_ix,
		     struct hdb_error *err)
{
	struct query_local local;
	struct heap_object table;
	struct heap_walk walk;
	uint32_t ix;
	int r = heap_object(q->heap, table_ix, &table, err);

	if (r != HDB_OK || table.kind != STORE_OBJECT_ARRAY)
		return r;
	heap_walk_begin(&walk, table_ix, 0, table.length);
	while ((r = heap_walk_target_next(q->heap, &walk, &ix, err)) == HDB_OK) {
		TRY_ERRORS(r = query_local_read(q, ix, &local, err));
		if (r == HDB_OK)
			TRY(base_vec_push(locals, &local, sizeof(local), err));
	}
	return r < 0 ? r : HDB_OK;
}

static int explain_locals(struct query *q, const struct analysis_suspect *suspect,
			  struct query_leak_owner *owner, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec locals = { 0 };
	struct query_local_run run;
	uint32_t table;
	int r;

	/*
	 * For large groups, `members` is only a sample, which proves nothing about the other
	 * members.
	 */
	if (suspect->ix != HEAP_NONE || suspect->members.count != suspect->count ||
	    !heap_has_superclass(q->heap, suspect->class_no, "java.lang.Thread"))
		return HDB_OK;
	for (size_t i = 0; i < suspect->members.count; i++) {
		TRY_ERRORS(r = heap_path_object(q->heap,
						*base_vec_at(&suspect->members, uint32_t, i),
						"threadLocals.table", &table, err));
		if (r == HDB_OK)
			TRY_ERRORS(add_table(q, &locals, table, err));
		if (i % STEP_OBJECTS == 0)
			TRY(base_step(q->work, i, err));
	}
	run = query_locals_find(&locals, true);
	if (run.count && (double)run.bytes >= (double)suspect->retained_bytes * EXPLAINED) {
		TRY(find_holder(q, run.from->key_ix, &owner->list[0], err));
		owner->list[0].is_thread_local = owner->is_of_members = true;
		owner->list[0].threads = run.count;
		owner->named = 1;
	}
	return HDB_OK;
}

int query_locals_explain(struct query *q, const struct analysis_suspect *suspect,
			 struct query_leak_owner *owner, struct hdb_error *err)
{
	const int r = explain_locals(q, suspect, owner, err);

	return r < 0 && r != HDB_ECHANGED ? r : HDB_OK;
}
