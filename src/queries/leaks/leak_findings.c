/*
 * queries/leaks/leak_findings.c - finds the suspects, owners, rules and faults that the leaks query
 * reports.
 */
#include "queries/leaks/leak_findings.h"
#include "analysis/properties.h"
#include "queries/explain/suspect_facts.h"
#include "queries/leaks/leak_faults.h"
#include "queries/leaks/leak_loaders.h"
#include "queries/leaks/leak_outside.h"
#include "queries/leaks/leak_prose.h"
#include "queries/leaks/leak_stuck.h"

#include <stdio.h>
#include <string.h>

/*
 * Maximum number of steps from a suspect down to an object that a rule explains, and the fraction
 * of the suspect (divisor) that this object must retain.
 */
#define BELOW_STEPS 16u
#define BELOW_PART 3u
/* Maximum number of dominators above a fault that are compared with the suspects. */
#define ABOVE_STEPS 256u
/*
 * A fault is left out if it retains less than this fraction (divisor) of a suspect that dominates
 * it.
 */
#define SMALL_PART 10u
/* Share of the maximum heap size from which a heap counts as nearly full. */
#define FULL_PERCENT 70

/*
 * Finds the rule that explains a suspect: a rule about the accumulation point, an object above it,
 * or the largest member of a group, or otherwise a rule about the owners. Returns HDB_NOTFOUND if
 * no rule matches.
 */
static int find_explanation(struct query *q, const struct leak_findings *l, struct leak_finding *f,
			    struct hdb_error *err)
{
	const struct analysis_suspect *s = &f->suspect;
	const struct query_leak_path *path = &f->path;
	struct explain_answer *answer = &f->answer;
	int r = HDB_NOTFOUND;

	if (s->ix != HEAP_NONE)
		r = explain_chain(&q->session, &l->rules,
				  s->point_ix == HEAP_NONE ? s->ix : s->point_ix, answer, err);
	else if (s->members.count)
		r = explain_object(&q->session, &l->rules, *base_vec_at(&s->members, uint32_t, 0),
				   answer, err);
	for (size_t i = 0; i < LEAK_OWNERS && r == HDB_NOTFOUND; i++)
		if (f->owner.ix[i] != HEAP_NONE)
			r = explain_object(&q->session, &l->rules, f->owner.ix[i], answer, err);
	if (s->ix != HEAP_NONE)
		return r;
	/* For a group, also try the objects on most of the paths to its members. */
	for (size_t i = path->count; i-- > 0 && r == HDB_NOTFOUND;)
		r = explain_object(&q->session, &l->rules, path->nodes[i], answer, err);
	return r;
}

/*
 * Finds a rule that explains the main part of a suspect, following the largest dominated object
 * down as long as it retains a third of the suspect. Returns HDB_NOTFOUND if no rule matches.
 */
static int explain_below(struct query *q, const struct leak_findings *l, struct leak_finding *f,
			 struct hdb_error *err)
{
	const struct analysis_suspect *s = &f->suspect;
	uint32_t ix = s->point_ix == HEAP_NONE ? s->ix : s->point_ix;
	struct store_lists children;
	int r = HDB_NOTFOUND;

	TRY(derive_children(q->derive, &children, err));
	for (unsigned step = 0; step < BELOW_STEPS && ix != HEAP_NONE && r == HDB_NOTFOUND;
	     step++) {
		const uint32_t *batch;
		uint64_t bytes;
		size_t count;

		TRY(store_lists_begin(&children, ix, NULL, err));
		TRY(store_lists_next(&children, &batch, &count, err));
		if (!count)
			break;
		ix = batch[0];
		TRY(derive_retained(q->derive, ix, &bytes, err));
		if (bytes < s->retained_bytes / BELOW_PART)
			break;
		r = explain_object(&q->session, &l->rules, ix, &f->answer, err);
	}
	/* A rule about a part of the suspect cannot describe all objects that the suspect holds. */
	if (r == HDB_OK && f->answer.retained_bytes < s->retained_bytes / 2)
		f->answer.holds[0] = '\0';
	return r;
}

/* Finds the rule that explains the suspect itself. */
static int explain_itself(struct query *q, const struct leak_findings *l, struct leak_finding *f,
			  struct hdb_error *err)
{
	return explain_suspect(&q->session, &l->rules, &f->suspect, &f->answer, err);
}

/*
 * A rule about the class of a cache may explain its size, although the cache also has faulty keys.
 * In this case, the rule about the keys says more.
 */
static int check_keys(struct query *q, const struct leak_findings *l, struct leak_finding *f,
		      struct hdb_error *err)
{
	const struct explain_answer known = f->answer;
	int r;

	if (!known.rule->checks || strcmp(known.rule->checks, "keys") != 0)
		return HDB_OK;
	TRY_ERRORS(r = explain_itself(q, l, f, err));
	if (r != HDB_OK || !strstr(f->answer.rule->name, "-keys") ||
	    f->answer.rule->verdict != EXPLAIN_MISCONFIGURED)
		f->answer = known;
	return HDB_OK;
}

/* Adds a finding: a suspect, its owner, and the rule that explains it. */
static int add_finding(struct query *q, struct leak_findings *l,
		       const struct analysis_suspect *suspect, struct hdb_error *err)
{
	/* the functions in order of precedence; each may return HDB_NOTFOUND */
	static int (*const explain[])(
		struct query *, const struct leak_findings *, struct leak_finding *,
		struct hdb_error *) = { find_explanation, explain_itself, explain_below };
	const struct leak_finding new = { .suspect = *suspect };
	struct leak_finding *f;
	int r = HDB_NOTFOUND;

	TRY(base_vec_push(&l->list, &new, sizeof(new), err));
	f = leak_finding_at(l, l->list.count - 1);
	TRY(query_leak_blame(q, &f->suspect, &f->path, &f->owner, err));
	/* At most one suspect is this large, so the passes of leak_add_user are few. */
	if (f->suspect.retained_bytes > l->suspects.whole_bytes / 2)
		TRY(leak_add_user(q, &f->owner, err));
	for (size_t i = 0; r != HDB_OK && i < BASE_COUNT(explain); i++) {
		TRY_ERRORS(r = explain[i](q, l, f, err));
		if (r == HDB_OK && i == 0)
			TRY(check_keys(q, l, f, err));
		if (r == HDB_OK)
			TRY_ERRORS(r = query_leak_add_keeper(q, &f->answer, false, err));
	}
	if (r != HDB_OK)
		f->answer.rule = NULL;
	return HDB_OK;
}

int leak_findings_add(struct query *q, struct leak_findings *l, const struct explain_answer *answer,
		      struct leak_finding **out, struct hdb_error *err)
{
	struct leak_finding new = { .answer = *answer, .is_fault = true, .owner.count = 1 };
	struct heap_object object;

	TRY(heap_object(q->heap, answer->ix, &object, err));
	new.suspect = (struct analysis_suspect){ .ix = object.ix,
						 .class_no = object.class_no,
						 .count = 1,
						 .shallow_bytes = object.shallow_bytes,
						 .retained_bytes = answer->retained_bytes,
						 .split_ix = HEAP_NONE,
						 .point_ix = answer->kept_ix };
	TRY(query_leak_path_find(q, answer->kept_ix, &new.path, err));
	TRY(base_vec_push(&l->list, &new, sizeof(new), err));
	*out = leak_finding_at(l, l->list.count - 1);
	return HDB_OK;
}

/* A group of objects that may be the same incident as a fault. */
static bool may_be_of_fault(const struct leak_finding *f)
{
	return f->suspect.ix == HEAP_NONE && f->suspect.members.count &&
	       (!f->answer.rule || f->answer.rule->verdict == EXPLAIN_LARGE ||
		f->answer.rule->verdict == EXPLAIN_OBSERVED);
}

/*
 * Finds the group of objects that is the same incident as a fault: most objects of the group are
 * threads with a faulty object each, or are below an object to which the fault's rule applies. Sets
 * *out to NULL if there is no such group, as for rules made in code, which apply to no object.
 */
static int find_incident(struct query *q, struct leak_findings *l,
			 const struct query_leak_fault *fault, struct leak_finding **out,
			 struct hdb_error *err)
{
	struct query_leak_path path;
	struct explain_answer answer;
	struct heap_object object, at;

	*out = NULL;
	TRY(heap_object(q->heap, fault->answer.ix, &object, err));
	for (size_t no = 0; no < l->suspects.count; no++) {
		struct leak_finding *f = leak_finding_at(l, no);
		const struct base_vec *members = &f->suspect.members;
		const bool is_each = (fault->equal + fault->more) * 2 > f->suspect.count;
		bool is_same = false;
		int r;

		if (!may_be_of_fault(f))
			continue;
		path.count = 0;
		if (is_each)
			TRY(query_leak_path_find(q, object.ix, &path, err));
		for (size_t i = 0; i < members->count && path.count && !is_same; i++)
			is_same = *base_vec_at(members, uint32_t, i) == path.nodes[0];
		TRY(query_leak_path_find(q, *base_vec_at(members, uint32_t, 0), &path, err));
		for (size_t i = 0; i < path.count && !is_same; i++) {
			TRY(heap_object(q->heap, path.nodes[i], &at, err));
			if (at.kind != STORE_INSTANCE || at.class_no != object.class_no)
				continue;
			TRY_ERRORS(r = explain_object(&q->session, &l->rules, at.ix, &answer, err));
			is_same = r == HDB_OK && answer.rule == fault->answer.rule;
		}
		if (is_same) {
			*out = f;
			return HDB_OK;
		}
	}
	return HDB_OK;
}

/* Explains a suspect with the fault that reports the same incident. */
static void merge_fault(struct leak_finding *f, const struct query_leak_fault *fault)
{
	f->answer = fault->answer;
	f->answer.retained_bytes = f->suspect.retained_bytes;
	f->more = fault->more;
	/* the sentence names the owner of all faulty objects */
	f->answer.says[f->answer.rule_length] = '\0';
}

/*
 * Sets *out to whether a fault without a limit is a small part of a suspect that is itself
 * explained by a missing limit.
 */
static int is_part(struct query *q, const struct leak_findings *l,
		   const struct query_leak_fault *fault, bool *out, struct hdb_error *err)
{
	uint32_t ix = fault->answer.ix, above;

	*out = false;
	for (unsigned step = 0; step < ABOVE_STEPS && !*out; step++, ix = above) {
		for (size_t i = 0; i < l->suspects.count && !*out; i++) {
			const struct explain_rule *rule = leak_finding_at(l, i)->answer.rule;

			*out = l->suspects.list[i].ix == ix && rule &&
			       rule->verdict == EXPLAIN_UNBOUNDED &&
			       fault->answer.rule->verdict == EXPLAIN_UNBOUNDED &&
			       fault->answer.retained_bytes <
				       l->suspects.list[i].retained_bytes / SMALL_PART;
		}
		TRY(derive_dominator(q->derive, ix, &above, err));
		if (above == HEAP_NONE || above == ix)
			return HDB_OK;
	}
	return HDB_OK;
}

/* Adds a fault unless a suspect with the same rule already reports it. */
static int add_fault(struct query *q, struct leak_findings *l, const struct query_leak_fault *fault,
		     struct hdb_error *err)
{
	const bool is_backlog = strcmp(fault->answer.rule->name, "finalizer-backlog") == 0;
	struct leak_finding *new, *same = NULL;
	struct heap_object object;
	size_t said = 0;
	bool may_merge, is_below;

	TRY(is_part(q, l, fault, &is_below, err));
	if (is_below)
		return HDB_OK;
	TRY(heap_object(q->heap, fault->answer.ix, &object, err));
	may_merge = fault->answer.rule->verdict == EXPLAIN_LEAK &&
		    !heap_has_superclass(q->heap, object.class_no, "java.lang.ClassLoader");
	/*
	 * If a rule explains the contents of a suspect below a class loader, the leak of the loader
	 * itself is nevertheless a separate finding.
	 */
	if (heap_has_superclass(q->heap, object.class_no, "java.lang.ClassLoader"))
		said = l->suspects.count;
	for (; said < l->suspects.count; said++)
		if (leak_finding_at(l, said)->answer.rule == fault->answer.rule)
			return HDB_OK;
	/* The suspect held by static fields of Finalizer consists of the waiting objects. */
	for (size_t i = 0; is_backlog && i < l->suspects.count; i++) {
		struct leak_finding *f = leak_finding_at(l, i);

		if (f->owner.named && f->owner.list[0].kind == LEAK_HOLDER_STATIC &&
		    strcmp(f->owner.list[0].class_name, "java.lang.ref.Finalizer") == 0) {
			f->answer = fault->answer;
			return HDB_OK;
		}
	}
	if (may_merge)
		TRY(find_incident(q, l, fault, &same, err));
	if (same) {
		merge_fault(same, fault);
		return HDB_OK;
	}
	TRY(leak_findings_add(q, l, &fault->answer, &new, err));
	new->more = fault->more;
	new->outside_bytes = fault->outside_bytes;
	return HDB_OK;
}

#define RULE_rule(word, text, nth) .name = text
#define RULE_verdict(word, text, nth) .verdict = EXPLAIN_##word
#define RULE_advice(word, text, nth) .advice = text
#define RULE_run(word, text, nth) .run = text
#define RULE_source(word, text, nth) .source = text
static const struct explain_rule rules[] = {
#include <queries/leaks/leak_findings.rules.h>
};

const struct explain_rule *leak_rule(const char *name)
{
	const size_t no = BASE_INDEX(rules, name);

	assert(no < BASE_COUNT(rules));
	return &rules[no];
}

/*
 * Adds the owner of memory outside the heap, which the sizes of objects do not include, if this
 * memory is large enough for a suspect. Adds nothing if a suspect's rule already reports the
 * memory.
 */
static int add_outside(struct query *q, struct leak_findings *l, enum leak_outside_kind kind,
		       const struct leak_outside *owner, struct hdb_error *err)
{
	const uint64_t percent = l->percent;
	const bool is_direct = kind == LEAK_OUTSIDE_DIRECT;
	const struct explain_flag *flag = &owner->flag;
	/* a single element that is just being closed is not a leak */
	const bool are_closed = flag->closed > 1 && flag->closed * 2 > flag->objects;
	const bool is_zlib = kind == LEAK_OUTSIDE_ZLIB;
	const struct explain_rule *by = leak_rule(are_closed ? "closed-memory-owners" :
						  is_direct  ? "direct-memory-owner" :
						  is_zlib    ? "zlib-owner" :
							       "mapped-memory-owner");
	struct query_leak_fault fault = {
		.answer = { .rule = by, .ix = owner->ix, .kept_ix = owner->ix },
		.outside_bytes = owner->bytes
	};
	const size_t before = l->list.count;
	char text[LEAK_OUTSIDE_TEXT_MAX] = "", field[LEAK_OUTSIDE_TEXT_MAX] = "";
	size_t used;

	if (owner->ix == HEAP_NONE ||
	    owner->bytes < leak_outside_least(kind, l->suspects.whole_bytes) ||
	    owner->bytes / 100 * (100 - percent) < l->suspects.retained_bytes / 100 * percent)
		return HDB_OK;
	for (size_t i = 0; i < l->suspects.count; i++) {
		const struct explain_rule *rule = leak_finding_at(l, i)->answer.rule;

		if (rule && strcmp(rule->name, "direct-memory") == 0)
			return HDB_OK;
	}
	query_leak_add_short(BASE_TEXT(text), owner->owner);
	query_leak_add_short(BASE_TEXT(field), owner->field);
	used = (size_t)snprintf(
		fault.answer.says, sizeof(fault.answer.says),
		"%s hold%s %s%s%s outside the heap, in %s%s %s%s%s%s%s.", text,
		owner->is_several ? "" : "s", owner->at_least, owner->about,
		base_size(owner->bytes).text, owner->at_least, base_number(owner->count).text,
		is_direct ? "direct buffer" :
		is_zlib   ? "Deflaters and Inflater" :
			    "mapped file",
		owner->count == 1 ? "" : "s", field[0] ? " (" : "", field, field[0] ? ")" : "");
	if (are_closed && used < sizeof(fault.answer.says))
		(void)snprintf(fault.answer.says + used, sizeof(fault.answer.says) - used,
			       " In %s%s%s elements, %s is %s: they are no longer in use but have "
			       "not been removed.",
			       flag->closed == flag->objects ? "all " :
							       base_number(flag->closed).text,
			       flag->closed == flag->objects ? "" : " of ",
			       base_number(flag->objects).text, flag->name,
			       flag->is_inverse ? "false" : "true");
	(void)snprintf(fault.answer.advice, sizeof(fault.answer.advice), "%s", by->advice);
	TRY(derive_retained(q->derive, owner->ix, &fault.answer.retained_bytes, err));
	TRY(add_fault(q, l, &fault, err));
	if (l->list.count > before)
		leak_finding_at(l, before)->is_of_library = heap_is_library_class(owner->owner);
	l->suspects.is_outside_listed |= is_direct;
	return HDB_OK;
}

/* Returns whether an earlier finding is about closed class loaders. */
static int is_about_loaders(struct query *q, const struct leak_finding *f, bool *out,
			    struct hdb_error *err)
{
	const struct explain_rule *rule = f->answer.rule;
	struct heap_object object;

	*out = rule && strcmp(rule->name, "closed-loaders") == 0;
	if (*out || !rule || rule->verdict != EXPLAIN_LEAK)
		return HDB_OK;
	TRY(heap_object(q->heap, f->answer.ix, &object, err));
	*out = heap_has_superclass(q->heap, object.class_no, "java.lang.ClassLoader");
	return HDB_OK;
}

/*
 * Adds closed class loaders as one finding if together, with their classes and instances, they are
 * large enough for a suspect. Each loader may be too small by itself, and a different object may
 * hold each.
 */
static int add_loaders(struct query *q, struct leak_findings *l, struct hdb_error *err)
{
	struct query_leak_fault fault = { .answer = { .rule = leak_rule("closed-class-loaders") } };
	struct leak_loaders found;
	struct heap_object object;
	bool is_known;
	int r;

	TRY(leak_loaders_find(q, &found, err));
	if (found.ix == HEAP_NONE || found.bytes < l->suspects.threshold_bytes)
		return HDB_OK;
	for (size_t i = 0; i < l->list.count; i++) {
		TRY(is_about_loaders(q, leak_finding_at(l, i), &is_known, err));
		if (is_known)
			return HDB_OK;
	}
	TRY(heap_object(q->heap, found.ix, &object, err));
	(void)snprintf(fault.answer.says, sizeof(fault.answer.says),
		       "%s closed class loader%s (%s, at most %s each with classes and "
		       "instances) %s still reachable: %s.",
		       base_number(found.count).text, found.count == 1 ? "" : "s",
		       explain_short_class(q->heap, object.class_no),
		       base_size(found.most_bytes).text, found.count == 1 ? "is" : "are",
		       base_size(found.bytes).text);
	(void)snprintf(fault.answer.advice, sizeof(fault.answer.advice), "%s",
		       fault.answer.rule->advice);
	fault.answer.ix = fault.answer.kept_ix = found.ix;
	fault.answer.retained_bytes = found.bytes;
	TRY_ERRORS(r = query_leak_add_keeper(q, &fault.answer, false, err));
	l->suspects.is_loaders_listed = true;
	return add_fault(q, l, &fault, err);
}

int leak_findings_find(struct query *q, struct leak_findings *l, struct hdb_error *err)
{
	struct leak_outside outside[LEAK_OUTSIDE_KINDS];
	BASE_SCOPED(base_vec_release) struct base_vec faults = { 0 };

	for (size_t i = 0; i < l->suspects.count; i++)
		TRY(query_leak_expect(q, &l->suspects.list[i], err));
	for (size_t i = 0; i < l->suspects.count; i++)
		TRY(add_finding(q, l, &l->suspects.list[i], err));
	TRY(query_leak_find_faults(q, &l->rules, &faults, err));
	for (size_t i = 0; i < faults.count; i++)
		TRY(add_fault(q, l, base_vec_at(&faults, struct query_leak_fault, i), err));
	TRY(add_loaders(q, l, err));
	TRY(leak_outside_find_large(q, l->suspects.whole_bytes, outside, err));
	for (enum leak_outside_kind kind = 0; kind < LEAK_OUTSIDE_KINDS; kind++)
		TRY(add_outside(q, l, kind, &outside[kind], err));
	return leak_stuck_find(q, l, err);
}

/* Returns whether a rule accuses the largest suspect. */
static bool is_explained(const struct leak_findings *l)
{
	const struct explain_rule *rule =
		l->suspects.count ? leak_finding_at(l, 0)->answer.rule : NULL;

	return rule && rule->verdict != EXPLAIN_OBSERVED && rule->verdict != EXPLAIN_BY_DESIGN;
}

enum leak_place leak_place_of(const struct leak_findings *l, const struct leak_finding *f)
{
	const bool is_leak = f->answer.rule && f->answer.rule->verdict == EXPLAIN_LEAK;
	const bool leaks_first = !l->suspects.count ||
				 l->suspects.list[0].retained_bytes < l->suspects.whole_bytes / 2;

	if (f->answer.rule && f->answer.rule->verdict == EXPLAIN_BY_DESIGN)
		return LEAK_PLACE_BY_DESIGN;
	/*
	 * Memory outside the heap is ranked by size, together with suspects. The pool of a library
	 * serves other code, however, so an explained suspect precedes the pool.
	 */
	if (f->outside_bytes && !(f->is_of_library && is_explained(l)) &&
	    (!l->suspects.count || f->outside_bytes > l->suspects.list[0].retained_bytes))
		return LEAK_PLACE_FAULTS;
	/* In a nearly full heap, threads wait because garbage collection takes most of the time. */
	if (f->answer.rule && f->answer.rule->verdict == EXPLAIN_STUCK && !l->is_full)
		return LEAK_PLACE_FAULTS;
	if (f->is_fault)
		return !is_leak    ? LEAK_PLACE_SETTINGS :
		       leaks_first ? LEAK_PLACE_FAULTS :
				     LEAK_PLACE_LATE_FAULTS;
	return is_leak && leaks_first ? LEAK_PLACE_LEAKS : LEAK_PLACE_OTHERS;
}

int leak_findings_open(struct query *q, unsigned percent, struct leak_findings *out,
		       struct hdb_error *err)
{
	struct analysis_limit limit = { 0 };

	out->percent = percent;
	TRY(explain_rules_open(&q->session, q->heap->rules_path, &out->rules, err));
	TRY(heap_load_roots(q->heap, err));
	TRY(analysis_suspects_find(&q->session, percent, &out->suspects, err));
	out->rules.whole_bytes = out->suspects.retained_bytes;
	TRY(analysis_limit_find(&q->session, &limit, err));
	out->is_full = limit.is_out_of_memory ||
		       analysis_limit_percent(&limit, out->suspects.whole_bytes) >= FULL_PERCENT;
	return HDB_OK;
}

void leak_findings_release(struct query *q, struct leak_findings *l)
{
	analysis_suspects_leave(&q->session, &l->suspects);
	explain_rules_release(&l->rules);
	base_vec_release(&l->list);
}
