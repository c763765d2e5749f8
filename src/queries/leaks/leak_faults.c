/*
 * queries/leaks/leak_faults.c - finds faults with rules. Some are leaks of any size: connections
 * that are not returned, buffers and timers that are not released, class loaders of stopped
 * applications. Others are large objects without a limit or with a wrong setting.
 */
#include "queries/leaks/leak_faults.h"

#include "base/glob.h"
#include "heap/platform_classes.h"
#include "heap/threads.h"
#include "queries/leaks/leak_blame.h"
#include "queries/leaks/leak_prose.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* Objects without a limit or with a wrong setting are reported from 1/FAULT_PART of the heap. */
#define FAULT_PART 100u
#define NAME_MAX_BYTES 512

/* ---- references that keep a class loader alive ---- */

struct hint {
	const char *text, *class_pattern, *field;
};

#define RULE_rule(word, text_, nth) .text = text_
#define RULE_class(word, text_, nth) .class_pattern = text_
#define RULE_field(word, text_, nth) .field = text_

static const struct hint hints[] = {
#include <queries/leaks/loader_hints.rules.h>
};

/* Returns HDB_OK if a hint applies to step `i` of a path, and otherwise HDB_NOTFOUND. */
static int matches(struct query *q, const struct query_leak_path *path, size_t i,
		   const struct hint *hint, struct hdb_error *err)
{
	struct heap_object object;
	char field[NAME_MAX_BYTES] = "";

	assert(i < path->count);
	TRY(heap_object(q->heap, path->nodes[i], &object, err));
	if (hint->class_pattern &&
	    !base_glob(hint->class_pattern, heap_class_name(q->heap, heap_known_class(&object))))
		return HDB_NOTFOUND;
	if (!hint->field)
		return HDB_OK;
	TRY(query_leak_path_holds(q, path, i, BASE_TEXT(field), err));
	return strcmp(field, hint->field) == 0 ? HDB_OK : HDB_NOTFOUND;
}

int query_leak_loader_hint(struct query *q, const struct query_leak_path *path, const char **text,
			   struct hdb_error *err)
{
	*text = NULL;
	for (size_t h = 0; h < BASE_COUNT(hints); h++) {
		/* Skip the class loader itself. */
		for (size_t i = 0; i + 1 < path->count; i++) {
			const int r = matches(q, path, i, &hints[h], err);

			if (r == HDB_OK)
				*text = hints[h].text;
			if (r <= HDB_OK)
				return r;
		}
	}
	return HDB_OK;
}

/* ---- faults ---- */

/* Maximum number of referrers of a ThreadLocal to read. Processes have fewer threads. */
#define LOCAL_USERS_MAX 65536

/*
 * Counts the threads that have a value of a ThreadLocal. Reports nothing if only one thread has a
 * value.
 */
static int count_threads(struct query *q, struct leak_holder *keeper, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec ixs = { 0 };
	uint64_t count = 0;

	TRY(derive_referrers_of(q->derive, keeper->key_ix, LOCAL_USERS_MAX, &ixs, err));
	for (size_t i = 0; i < ixs.count; i++) {
		const uint32_t ix = *base_vec_at(&ixs, uint32_t, i);
		bool is_reachable;

		if (strcmp(heap_class_name_of(q->heap, ix),
			   "java.lang.ThreadLocal$ThreadLocalMap$Entry") != 0)
			continue;
		TRY(derive_is_reachable(q->derive, ix, &is_reachable, err));
		count += is_reachable;
	}
	keeper->threads = count > 1 ? count : 0;
	return HDB_OK;
}

int query_leak_add_keeper(struct query *q, struct explain_answer *a, bool is_fault,
			  struct hdb_error *err)
{
	struct query_leak_owner owner = { .named = 0 };
	struct leak_holder *keeper = &owner.list[0];
	struct query_leak_path path;
	enum leak_blame best;
	struct heap_object kept;
	const char *hint = NULL;
	uint32_t element_ix, top_ix;
	size_t step;

	a->rule_length = strlen(a->says);
	/*
	 * If the text is about a queue or pool of the JDK, a sentence about its threads may follow.
	 */
	if (a->rule->verdict != EXPLAIN_LEAK &&
	    (!is_fault || a->rule->verdict == EXPLAIN_STUCK ||
	     heap_is_platform_class(heap_class_name_of(q->heap, a->ix))))
		return HDB_OK;
	TRY(query_leak_path_find(q, a->kept_ix, &path, err));
	path.is_end_kept = true;
	TRY(leak_prefer_field(q, &path, err));
	if (path.count < 2)
		return HDB_OK;
	TRY(leak_collection_owner(q, &path, &owner, &element_ix, err));
	TRY(leak_choose_step(q, &path, &step, &best, err));
	if (!keeper->is_thread_local &&
	    (keeper->kind == LEAK_HOLDER_STATIC || keeper->kind == LEAK_HOLDER_FIELD)) {
		if (strcmp(keeper->class_name, "java.lang.ref.Finalizer") == 0 &&
		    strcmp(keeper->field, "unfinalized") == 0)
			return HDB_NOTFOUND;
		/* Naming the thread explains more than naming a field of java.lang.Thread. */
		if (keeper->kind == LEAK_HOLDER_FIELD &&
		    heap_is_thread(q->heap, path.nodes[step])) {
			*keeper = (struct leak_holder){ .kind = LEAK_HOLDER_THREAD };
			analysis_describe(&q->session, path.nodes[step], keeper->thread,
					  sizeof(keeper->thread));
		}
	}
	/* A thread that only waits for the pool does not keep what was borrowed from it. */
	if (a->lacks_kept && keeper->kind == LEAK_HOLDER_LOCAL)
		return HDB_OK;
	if (keeper->is_thread_local)
		TRY(count_threads(q, keeper, err));
	/*
	 * A thread does not keep an object that it uses for a moment or waits for.
	 */
	if (keeper->kind == LEAK_HOLDER_LOCAL && !keeper->is_thread_local) {
		TRY(derive_dominator(q->derive, path.nodes[1], &top_ix, err));
		if (top_ix != path.nodes[0])
			return HDB_OK;
	}
	TRY(heap_object(q->heap, a->kept_ix, &kept, err));
	if (heap_has_superclass(q->heap, kept.class_no, "java.lang.ClassLoader"))
		TRY(query_leak_loader_hint(q, &path, &hint, err));
	leak_say_keeper(a, &owner, hint);
	return HDB_OK;
}

/*
 * An object with the text of a fault: the index of the fault, and a hash of the owner named in its
 * text.
 */
struct kept {
	size_t fault_no;
	uint64_t keeper;
};

static uint64_t hash_keeper(const struct explain_answer *answer)
{
	const char *keeper = answer->says + answer->rule_length;

	return XXH3_64bits(keeper, strlen(keeper));
}

/*
 * Keeps the largest fault of each rule and counts the others, except faults with the same text,
 * which would look like duplicates.
 */
static int keep(struct base_vec *faults, struct base_vec *all, const struct explain_answer *answer,
		struct hdb_error *err)
{
	const struct query_leak_fault new = { .answer = *answer };
	struct explain_answer *known;
	struct query_leak_fault *f;
	struct kept kept = { 0, hash_keeper(answer) };

	while (kept.fault_no < faults->count &&
	       base_vec_at(faults, struct query_leak_fault, kept.fault_no)->answer.rule !=
		       answer->rule)
		kept.fault_no++;
	if (kept.fault_no == faults->count)
		TRY(base_vec_push(faults, &new, sizeof(new), err));
	f = base_vec_at(faults, struct query_leak_fault, kept.fault_no);
	known = &f->answer;
	if (known->rule_length != answer->rule_length ||
	    memcmp(known->says, answer->says, answer->rule_length) != 0) {
		f->more++;
		return HDB_OK;
	}
	/* The majority vote of Boyer and Moore; name_keepers verifies the candidate. */
	if (f->votes == 0)
		(void)snprintf(known->says + known->rule_length,
			       sizeof(known->says) - known->rule_length, "%s",
			       answer->says + answer->rule_length);
	f->votes += f->votes == 0 || hash_keeper(known) == kept.keeper ? 1 : UINT64_MAX;
	f->equal++;
	return base_vec_push(all, &kept, sizeof(kept), err);
}

/* Leaves the owner in the text of a fault only if it owns most of the objects with this text. */
static void name_keepers(struct base_vec *faults, const struct base_vec *all)
{
	for (size_t i = 0; i < faults->count; i++) {
		struct query_leak_fault *f = base_vec_at(faults, struct query_leak_fault, i);
		const uint64_t keeper = hash_keeper(&f->answer);
		uint64_t same = 0;

		for (size_t k = 0; k < all->count; k++) {
			const struct kept *kept = base_vec_at(all, struct kept, k);

			same += kept->fault_no == i && kept->keeper == keeper;
		}
		if (same * 2 <= f->equal)
			f->answer.says[f->answer.rule_length] = '\0';
	}
}

/*
 * Returns whether an answer is reported as a fault: a leak of any size, or a large object without a
 * limit or with a wrong setting.
 */
static bool is_fault(const struct explain_answer *answer, uint64_t least_bytes)
{
	const enum explain_verdict verdict = answer->rule->verdict;

	return verdict == EXPLAIN_LEAK || verdict == EXPLAIN_STUCK ||
	       ((verdict == EXPLAIN_UNBOUNDED || verdict == EXPLAIN_MISCONFIGURED) &&
		answer->retained_bytes >= least_bytes);
}

int query_leak_find_faults(struct query *q, const struct explain_rules *rules,
			   struct base_vec *faults, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec candidates = { 0 }, all = { 0 };
	const uint64_t least_bytes = rules->whole_bytes / FAULT_PART + 1;
	int r;

	TRY(explain_candidates(&q->session, rules, (struct explain_choice){ least_bytes, true },
			       &candidates, err));
	for (size_t i = 0; i < candidates.count && i < EXPLAIN_CANDIDATES_MAX; i++) {
		struct explain_answer answer;

		TRY_ERRORS(r = explain_object(
				   &q->session, rules,
				   base_vec_at(&candidates, struct explain_candidate, i)->ix,
				   &answer, err));
		if (r != HDB_OK || !is_fault(&answer, least_bytes))
			continue;
		TRY_ERRORS(r = query_leak_add_keeper(q, &answer, true, err));
		if (r == HDB_OK)
			TRY(keep(faults, &all, &answer, err));
	}
	name_keepers(faults, &all);
	return HDB_OK;
}
