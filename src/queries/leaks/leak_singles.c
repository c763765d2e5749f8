/*
 * queries/leaks/leak_singles.c - explains groups of threads in which each thread has an object of
 * its own, so that the program creates such objects again and again.
 */
#include "base/glob.h"
#include "heap/known.h"
#include "heap/threads.h"
#include "queries/explain/suspect_facts.h"
#include "queries/leaks/leak_stuck_private.h"

#include <stdio.h>
#include <string.h>

/* Minimum number of threads in a group in which each has an object of its own. */
#define SINGLES_LEAST 20u

/* Classes of constants, and of other objects that unrelated objects have in common. */
static const char constants[] = "java.lang.*,java.time.*,java.nio.charset.*,java.util.Locale,"
				"*Factory*,*Handler*,*Logger*";

/*
 * Adds the objects in the fields of an object to `parts`. Sets *out to whether another object
 * shares one of them, such as a queue, or the pool in this$0.
 */
static int add_parts(struct heap *heap, uint32_t ix, struct base_idmap *parts, bool *out,
		     struct hdb_error *err)
{
	struct heap_fields fields;
	int r;

	*out = false;
	TRY(heap_fields_begin(heap, ix, &fields, err));
	while ((r = heap_fields_next(&fields, err)) == HDB_OK) {
		struct heap_object part;

		if (fields.value.type != HPROF_OBJECT || !fields.value.bits)
			continue;
		TRY_ERRORS(r = heap_find(heap, fields.value.bits, &part.ix, err));
		if (r != HDB_OK)
			continue;
		TRY(heap_object(heap, part.ix, &part, err));
		if (part.kind != STORE_INSTANCE ||
		    base_glob_list(constants, heap_class_name(heap, part.class_no)) ||
		    heap_has_superclass(heap, part.class_no, "java.lang.Enum"))
			continue;
		*out |= base_idmap_get(parts, part.ix) != BASE_IDMAP_NONE &&
			base_idmap_get(parts, part.ix) != ix;
		TRY(base_idmap_put(parts, part.ix, ix, err));
	}
	return r == HDB_END ? HDB_OK : r;
}

int leak_report_singles(struct stuck *s, struct leak_finding *f, struct hdb_error *err)
{
	const struct explain_rule *rule = leak_rule("threads-of-each");
	const struct base_vec *members = &f->suspect.members;
	const size_t step = members->count / PLACES_MAX + 1;
	struct heap *heap = s->q->heap;
	BASE_SCOPED(base_idmap_release) struct base_idmap owners = { 0 };
	BASE_SCOPED(base_idmap_release) struct base_idmap parts = { 0 };
	uint64_t looked = 0, idle = 0, different = 0, sharing = 0;
	uint32_t class_no = HEAP_NONE;
	const char *name;

	if (f->suspect.ix != HEAP_NONE || members->count < SINGLES_LEAST ||
	    !heap_is_thread(heap, *base_vec_at(members, uint32_t, 0)) ||
	    (f->answer.rule &&
	     (!f->answer.rule->classes || strcmp(f->answer.rule->classes, "suspect") != 0)))
		return HDB_OK;
	for (size_t i = 0; i < members->count; i += step, looked++) {
		const uint32_t thread_ix = *base_vec_at(members, uint32_t, i);
		const struct query_wait *wait = query_waits_thread(&s->waits, thread_ix);
		struct stuck_place place = { .is_idle = false };
		struct heap_object owner;
		bool is_sharing;
		int r;

		TRY(base_step(s->q->work, i, err));
		if (wait)
			TRY(leak_find_call(heap, wait->trace_serial, &place, err));
		/*
		 * A thread whose call is "waiting for a process" counts as idle, because the
		 * process does the work.
		 */
		idle += place.is_idle || place.is_waiting;
		TRY_ERRORS(r = heap_path_object(heap, thread_ix, "holder.task|target", &owner.ix,
						err));
		if (r != HDB_OK)
			continue;
		TRY(heap_object(heap, owner.ix, &owner, err));
		if (class_no == HEAP_NONE)
			class_no = owner.class_no;
		if (owner.class_no != class_no || owner.kind != STORE_INSTANCE ||
		    base_idmap_get(&owners, owner.ix) != BASE_IDMAP_NONE)
			continue;
		different++;
		TRY(add_parts(heap, owner.ix, &parts, &is_sharing, err));
		sharing += is_sharing;
		TRY(base_idmap_put(&owners, owner.ix, thread_ix, err));
	}
	name = class_no == HEAP_NONE ? "" : heap_class_name(heap, class_no);
	if (!heap_is_application_class(name) || sharing * 2 > looked ||
	    different * 10 < looked * 9 || idle * 10 < looked * 9)
		return HDB_OK;
	f->answer = (struct explain_answer){ .rule = rule,
					     .ix = *base_vec_at(members, uint32_t, 0),
					     .retained_bytes = f->suspect.retained_bytes };
	f->answer.kept_ix = f->answer.ix;
	(void)snprintf(f->answer.says, sizeof(f->answer.says),
		       "Each thread has its own %s and waits for work: objects of this class are "
		       "probably created again and again instead of being shared.",
		       explain_short_class(heap, class_no));
	(void)snprintf(f->answer.advice, sizeof(f->answer.advice), "%s", rule->advice);
	return HDB_OK;
}
