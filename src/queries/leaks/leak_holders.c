/*
 * queries/leaks/leak_holders.c - chooses the owner of a leak suspect if several objects hold it.
 *
 * Every object that dominates the suspect is on every path to it. Above the topmost of these
 * objects there are several paths, and the shortest is often not the most informative: a map in a
 * static field may also be in a local variable of the method that is using it. So the rules below
 * rank all strong referrers of the topmost object, except referrers that it dominates, and the best
 * referrers are named.
 *
 * If only the platform refers to the topmost object (worker threads refer to their pool), the
 * search is repeated for the best of these referrers, up to LEVELS_MAX levels up. An application
 * field found there is the owner.
 *
 * No single object dominates all members of a group. There, the path to each member contributes one
 * owner, and the owner of the most members is chosen.
 *
 * An object can have millions of referrers, so all searches are bounded. The limits below affect
 * only such objects.
 */
#include "base/glob.h"
#include "base/sort.h"
#include "heap/collections/collections.h"
#include "heap/platform_classes.h"
#include "heap/threads.h"
#include "heap/values/values.h"
#include "queries/leaks/leak_blame.h"
#include "queries/leaks/thread_locals.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of references to the topmost object to examine. */
#define HOLDERS_LOOKED 4096u
/* Maximum number of distinct holders to keep. */
#define HOLDERS_MAX 64u
/* Maximum number of levels to search above the topmost object for an application class. */
#define LEVELS_MAX 3u
/*
 * Maximum number of steps up the dominator tree, for all holders together: a few tenths of a second
 * in linked lists.
 */
#define STEPS_MAX 4000000u
/* Maximum number of members of a group whose paths are examined, largest members first. */
#define MEMBERS_LOOKED 1000u
/* Number of referrers to examine per member. */
#define REFERRERS_LOOKED 16u
/*
 * Number of members whose referrers are examined, and maximum number of distinct holders to record.
 */
#define MEMBERS_LOOKED_WIDE 100u
#define MEMBER_HOLDERS_MAX 4096u
/*
 * Number of objects examined below a class loader or thread, and minimum number of these objects
 * that must have the same class.
 */
#define CHILDREN_MAX 10000u
#define CHILDREN_LEAST 100u
/* Number of members between two checks of the cancel flag. */
#define STEP_MEMBERS 64u

/* ---- the rules ---- */

/* Rules in order of preference. For rules that rank holders, the value is the rank. */
enum holder_rule {
	RULE_FIELD,
	RULE_FIELD_OF_LOCAL,
	RULE_STATIC,
	RULE_OTHER,
	RULE_LOCAL,
	RULE_ABOVE,
	RULE_PATH,
	RULE_MEMBERS,
	RULE_SHARED,
	RULE_THREAD_LOCAL,
	RULE_REFERENCE,
	RULE_COUNT
};

/* Whether the path to a holder begins at a local variable of a thread. */
enum way { WAY_ANY, WAY_LOCAL, WAY_NOT_LOCAL };
#define BLAMES_OWN (1u << BLAME_OWN)
#define BLAMES_STATIC (1u << BLAME_STATIC)
#define BLAMES_ANY \
	(1u << BLAME_ARRAY | 1u << BLAME_PLATFORM | 1u << BLAME_THREAD | 1u << BLAME_STATIC | \
	 1u << BLAME_OWN)

/*
 * The rank of a referrer is the first rule that matches the best step (blames) and the kind (way)
 * of the path to it. Of several holders with the same rank, the one nearest to a root is chosen.
 * Rules with blames == 0 do not rank holders, but record how the owner of the whole suspect was
 * found.
 */
#define RULE_rule(word, text, nth) .name = text
#define RULE_blames(word, text, nth) .blames = BLAMES_##word
#define RULE_way(word, text, nth) .way = WAY_##word
#define RULE_why(word, text, nth) .why = text
static const struct rule {
	const char *name;
	/*
	 * bits of enum leak_blame: the best steps that the rule matches; 0 if it does not rank
	 * holders
	 */
	unsigned blames;
	enum way way;
	const char *why;
} rules[] = {
#include <queries/leaks/leak_holders.rules.h>
};
static_assert(BASE_COUNT(rules) == RULE_COUNT, "a rule for each number");

static void set_rule(struct query_leak_owner *owner, enum holder_rule rule)
{
	assert(rule < BASE_COUNT(rules));
	owner->rule = rules[rule].name;
	owner->why = rules[rule].why;
}

/* One holder of the topmost object. */
struct holder {
	enum holder_rule rank;
	size_t steps; /* length of the path from a root to the holder */
	/* the referrer, and the object to blame on the path to it */
	uint32_t ix, owner_ix;
	struct leak_holder who;
};

/*
 * An owner of group members: number of these members, and number of objects with the owner's name.
 */
struct member_owner {
	struct leak_holder who;
	uint64_t count, holders;
	uint32_t ix;      /* the first of these objects */
	size_t owns;      /* smallest number of other owners between this owner and a member */
	uint32_t last_ix; /* the member counted last, so that no member is counted twice */
};

/* Holders of the topmost object, which is step `at` of a path. Several paths lead to it. */
struct holders {
	struct query *q;
	const struct query_leak_path *path;
	size_t at;
	struct holder list[HOLDERS_MAX]; /* each name once */
	size_t count;
	bool has_more;  /* whether some referrers were not examined */
	uint64_t steps; /* number of steps taken up the dominator tree so far */
};

/* Returns whether two holders would have the same name in a sentence. */
static bool is_same(const struct leak_holder *a, const struct leak_holder *b)
{
	const char *a_class = a->class_name ? a->class_name : "";
	const char *b_class = b->class_name ? b->class_name : "";

	return a->kind == b->kind && a->is_thread_local == b->is_thread_local &&
	       strcmp(a->field, b->field) == 0 && strcmp(a->thread, b->thread) == 0 &&
	       strcmp(a_class, b_class) == 0;
}

/*
 * Finds the topmost object that dominates the end of the path. Sets *out to its step, or to
 * path->count if this step is among the omitted steps.
 */
static int find_topmost(struct query *q, const struct query_leak_path *path, size_t *out,
			struct hdb_error *err)
{
	uint32_t at = path->nodes[path->count - 1], up = at;
	uint64_t steps = 0;

	do {
		at = up;
		TRY(derive_dominator(q->derive, at, &up, err));
	} while (up != GRAPH_NONE && up != at && steps++ < q->heap->object_count);
	for (*out = 0; *out < path->count && path->nodes[*out] != at; (*out)++)
		;
	return HDB_OK;
}

/*
 * Sets *out to whether the topmost object dominates ix, and to true once the limit on steps is
 * reached.
 */
static int is_below(struct holders *h, uint32_t ix, bool *out, struct hdb_error *err)
{
	const uint32_t top = h->path->nodes[h->at];
	uint32_t up = ix;

	do {
		ix = up;
		*out = ix == top || h->steps >= STEPS_MAX;
		if (!*out)
			TRY(derive_dominator(h->q->derive, ix, &up, err));
	} while (!*out && up != GRAPH_NONE && up != ix && h->steps++ < STEPS_MAX);
	h->has_more |= h->steps >= STEPS_MAX;
	return HDB_OK;
}

/*
 * Completes a path to a holder of the topmost object with the rest of the old path, from the
 * topmost object on. Sets count to 0 if the new path already passes the topmost object, would have
 * two gaps, or is too long.
 */
static void extend_path(const struct holders *h, struct query_leak_path *out)
{
	const struct query_leak_path *old = h->path;
	const size_t at = h->at;
	const size_t rest = old->count - at;
	const bool has_gap = old->gap && old->gap_at > at;

	for (size_t i = 0; i < out->count; i++)
		if (out->nodes[i] == old->nodes[at])
			out->count = 0;
	if (!out->is_strong || out->count + rest > 2 * LEAK_PATH_ENDS || (out->gap && has_gap))
		out->count = 0;
	if (!out->count)
		return;
	if (!out->gap)
		out->gap_at = has_gap ? out->count + old->gap_at - at : out->count + rest;
	out->gap += has_gap ? old->gap : 0;
	memcpy(out->nodes + out->count, old->nodes + at, rest * sizeof(old->nodes[0]));
	out->count += rest;
	assert(out->count <= 2 * LEAK_PATH_ENDS);
	out->is_end_kept = old->is_end_kept;
}

/*
 * Builds the path from a root to a holder, and from there to the end of the old path. Sets count to
 * 0 if there is no such path.
 */
static int make_path(const struct holders *h, uint32_t holder_ix, struct query_leak_path *out,
		     struct hdb_error *err)
{
	TRY(query_leak_path_find(h->q, holder_ix, out, err));
	extend_path(h, out);
	return HDB_OK;
}

/* Sets *out to whether a path begins at a local variable of a thread. */
static int begins_at_local(struct query *q, const struct query_leak_path *path, bool *out,
			   struct hdb_error *err)
{
	struct analysis_link link;

	*out = false;
	if (!heap_is_thread(q->heap, path->nodes[0]))
		return HDB_OK;
	TRY(query_leak_link(q, path, 0, &link, err));
	*out = link.kind == ANALYSIS_LINK_LOCAL;
	return HDB_OK;
}

/*
 * Ranks the holder at the end of a path by the first matching rule. A rule always matches, because
 * RULE_LOCAL accepts every path.
 */
static int rank_of(struct query *q, const struct query_leak_path *path, struct holder *out,
		   struct hdb_error *err)
{
	enum leak_blame best = BLAME_ARRAY;
	unsigned rank = 0;
	bool is_local;
	size_t chosen;

	TRY(leak_choose_step(q, path, &chosen, &best, err));
	TRY(begins_at_local(q, path, &is_local, err));
	out->owner_ix = path->nodes[chosen];
	while (!(rules[rank].blames & 1u << best) ||
	       rules[rank].way == (is_local ? WAY_NOT_LOCAL : WAY_LOCAL))
		rank++;
	assert(rank <= RULE_LOCAL);
	out->rank = (enum holder_rule)rank;
	return HDB_OK;
}

/* Sorts by rank, then by distance from a root. The index makes the order unique. */
BASE_ORDER(compare, struct holder, BASE_UP(rank), BASE_UP(steps), BASE_UP(ix))

/* Adds a holder. Of several holders with the same name, keeps only the best. */
static void keep(struct holders *h, const struct holder *holder)
{
	for (size_t i = 0; i < h->count; i++) {
		if (!is_same(&h->list[i].who, &holder->who))
			continue;
		if (compare(holder, &h->list[i]) < 0)
			h->list[i] = *holder;
		return;
	}
	assert(h->count <= HOLDERS_MAX);
	if (h->count < HOLDERS_MAX)
		h->list[h->count++] = *holder;
	else
		h->has_more = true;
}

/*
 * Examines one referrer of the topmost object. It is not a holder if it is not strongly reachable,
 * if its reference is weak, or if the topmost object dominates it.
 */
static int look_at(struct holders *h, uint32_t ix, struct hdb_error *err)
{
	struct query *q = h->q;
	const size_t rest = h->path->count - h->at;
	struct holder holder = { .ix = ix };
	struct query_leak_path to;
	uint32_t parent;
	uint8_t strength;
	struct query_leak_owner owner = { .named = 0 };
	struct analysis_link link;
	bool is_inside = false;
	int r = derive_reach(q->derive, true, ix, &parent, err);

	/* An unreachable object is recorded as its own parent. */
	if (r != HDB_OK || parent == ix)
		return r;
	r = heap_strength(q->heap, ix, h->path->nodes[h->at], &strength, err);
	if (r != HDB_OK || strength != STORE_STRONG)
		return r;
	r = is_below(h, ix, &is_inside, err);
	if (r != HDB_OK || is_inside)
		return r;
	r = make_path(h, ix, &to, err);
	if (r != HDB_OK || !to.count)
		return r;
	/*
	 * Classes hold their loader, and threads hold it in contextClassLoader, which is never the
	 * reason why a class loader is not unloaded.
	 */
	r = query_leak_link(q, &to, to.count - rest - 1, &link, err);
	if (r != HDB_OK || (link.kind == ANALYSIS_LINK_LOADER && link.count == 1) ||
	    strcmp(link.text, "contextClassLoader") == 0)
		return r;
	/*
	 * The path down to the topmost object gives the holder its name. The topmost object itself
	 * is not to blame.
	 */
	to.count -= rest - 1;
	to.is_end_kept = true;
	holder.steps = to.count;
	TRY(rank_of(q, &to, &holder, err));
	TRY(leak_culprit_find(q, &to, HEAP_NONE, &owner, err));
	holder.who = owner.list[0];
	keep(h, &holder);
	return HDB_OK;
}

/* Examines the referrers of the topmost object and sorts the holders, best first. */
static int find_holders(struct holders *h, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec referrers = { 0 };

	TRY(derive_referrers_of(h->q->derive, h->path->nodes[h->at], HOLDERS_LOOKED, &referrers,
				err));
	for (size_t i = 0; i < referrers.count; i++) {
		TRY(look_at(h, *base_vec_at(&referrers, uint32_t, i), err));
		TRY(base_step(h->q->work, i, err));
	}
	h->has_more |= referrers.count == HOLDERS_LOOKED;
	if (h->count > 1)
		qsort(h->list, h->count, sizeof(h->list[0]), compare);
	return HDB_OK;
}

/*
 * Returns whether a holder is the task of a thread, that is, a pool's worker, which holds the pool.
 */
static bool is_task(const struct leak_holder *who)
{
	return who->kind == LEAK_HOLDER_FIELD && base_is_among("target|task", who->field) &&
	       base_is_among("java.lang.Thread|java.lang.Thread$FieldHolder", who->class_name);
}

/*
 * Sets *out to whether a holder is a local variable of a thread that runs the topmost object, or
 * whose pool the topmost object is. Such a thread works for the pool, and does not own its queue.
 */
static int is_of_own_thread(const struct holders *h, const struct leak_holder *who, bool *out,
			    struct hdb_error *err)
{
	struct heap *heap = h->q->heap;
	uint32_t ix;

	*out = false;
	if (who->kind != LEAK_HOLDER_LOCAL)
		return HDB_OK;
	/* since JDK 19, and before */
	TRY_FOUND(heap_path_object(heap, who->ix, "holder.task|target", &ix, err));
	*out = ix == h->path->nodes[h->at];
	TRY_FOUND(heap_path_object(heap, ix, "this$0", &ix, err));
	*out |= ix == h->path->nodes[h->at];
	return HDB_OK;
}

/*
 * Returns whether a holder is a local variable of a thread whose name has the same pattern as that
 * of an owner, and then adds it to that owner.
 */
static bool is_of_same_threads(struct query_leak_owner *owner, const struct leak_holder *who)
{
	char pattern[LEAK_NAME_MAX_BYTES], other[LEAK_NAME_MAX_BYTES];

	if (who->kind != LEAK_HOLDER_LOCAL || who->is_thread_local)
		return false;
	memcpy(pattern, who->thread, sizeof(pattern));
	heap_name_pattern(pattern);
	for (size_t i = 0; i < owner->named; i++) {
		struct leak_holder *at = &owner->list[i];

		memcpy(other, at->thread, sizeof(other));
		heap_name_pattern(other);
		if (at->kind != LEAK_HOLDER_LOCAL || at->is_thread_local ||
		    strcmp(other, pattern) != 0)
			continue;
		at->threads += at->threads ? 1 : 2;
		memcpy(at->thread, pattern, sizeof(pattern));
		return true;
	}
	return false;
}

/*
 * Makes the best holders the owners, and counts the others. Tasks of threads, and threads of the
 * pool itself, count only if there is no other holder.
 */
static int take_all(const struct holders *h, struct query_leak_owner *out, struct hdb_error *err)
{
	bool is_own, is_first_own = false;

	assert(h->count > 0);
	out->named = 0;
	out->more = 0;
	out->has_others = h->has_more;
	for (size_t i = 0; i < h->count; i++) {
		TRY(is_of_own_thread(h, &h->list[i].who, &is_own, err));
		is_first_own |= i == 0 && is_own;
		if (i && (is_own || is_task(&h->list[i].who) ||
			  is_of_same_threads(out, &h->list[i].who)))
			continue;
		if (out->named < LEAK_OWNERS)
			out->list[out->named++] = h->list[i].who;
		else
			out->more++;
	}
	/* "ThreadPoolExecutor.workQueue" says more than "..., in Thread.target". */
	if (out->named == 1 && out->top.kind && (is_first_own || is_task(&out->list[0]))) {
		out->list[0] = out->top;
		out->top.kind = LEAK_HOLDER_NONE;
	}
	return HDB_OK;
}

/*
 * Finds the field of the topmost object that leads to the suspect. If no application field holds
 * the object, this field explains more than the holders:
 * "java.util.concurrent.ThreadPoolExecutor.workQueue, in ...". The fields of collections (table,
 * elementData) explain nothing, so collections do not count.
 */
static int find_top(const struct holders *h, struct leak_holder *out, struct hdb_error *err)
{
	struct heap *heap = h->q->heap;
	struct heap_object object;
	int r = heap_object(heap, h->path->nodes[h->at], &object, err);

	if (r != HDB_OK || object.kind != STORE_INSTANCE ||
	    h->list[0].rank <= RULE_FIELD_OF_LOCAL || heap_collection_rule(heap, object.class_no))
		return r;
	TRY(leak_holder_find(h->q, h->path, h->at, out, err));
	if (out->kind != LEAK_HOLDER_FIELD)
		out->kind = LEAK_HOLDER_NONE;
	return HDB_OK;
}

/*
 * Sets *at to the step above which several paths exist, and *any to whether holders on other paths
 * must be examined. This is not necessary if the step to blame is below *at, because all paths
 * share that step.
 */
static int find_parting(struct query *q, const struct query_leak_path *path, size_t *at, bool *any,
			struct hdb_error *err)
{
	enum leak_blame best;
	struct heap_object object;
	size_t chosen;

	*any = false;
	TRY(find_topmost(q, path, at, err));
	if (*at == 0 || *at == path->count || !path->is_strong)
		return HDB_OK;
	TRY(leak_choose_step(q, path, &chosen, &best, err));
	TRY(heap_object(q->heap, path->nodes[*at], &object, err));
	/*
	 * A class is held by its loader and its instances, which explains nothing. If a class
	 * loader is on the path, a static field below it, even one of a platform class, explains
	 * more than the loader's holders.
	 */
	*any = object.kind != STORE_CLASS &&
	       !((best == BLAME_OWN || best == BLAME_STATIC) && chosen >= *at);
	return HDB_OK;
}

/*
 * Returns the end of a suspect's path. For a group, returns the last object common to the paths to
 * all members, or HEAP_NONE.
 */
static uint32_t path_end(const struct analysis_suspect *s)
{
	if (s->point_ix != HEAP_NONE)
		return s->point_ix;
	if (s->ix != HEAP_NONE)
		return s->ix;
	return s->common.count ? *base_vec_at(&s->common, uint32_t, s->common.count - 1) :
				 HEAP_NONE;
}

/* ---- the owner of a group ---- */

/* Owners found so far among the holders of a group's members. */
struct member_owners {
	struct query *q;
	struct member_owner list[HOLDERS_MAX]; /* each name once */
	size_t count;
	/* an object that holds members; counted once per owner */
	struct member_holder {
		uint32_t owner, ix; /* index of the owner in the list, and index of the object */
	} holders[MEMBER_HOLDERS_MAX];
	size_t holder_count;
	uint64_t steps;
};

/*
 * Returns the owner of the most members. If several owners have the same number of members, returns
 * the owner found first.
 */
static const struct member_owner *commonest(const struct member_owners *o)
{
	const struct member_owner *best = NULL;

	for (size_t i = 0; i < o->count; i++)
		if (!best || o->list[i].count > best->count)
			best = &o->list[i];
	return best;
}

/*
 * Returns whether nearly every member has an owner object of its own with this name, such as a task
 * to which only this member refers.
 */
static bool is_one_each(const struct member_owner *owner)
{
	return owner->holders > 1 && owner->holders > owner->count / 2;
}

/*
 * Counts step `at` as an owner of the member at the end of the path. `owns` is the number of owners
 * in between. Ignores the step if the tables are full.
 */
static void count_owner(struct member_owners *o, const struct leak_holder *who,
			const struct query_leak_path *path, size_t at, size_t owns)
{
	const uint32_t ix = path->nodes[at], member = path->nodes[path->count - 1];
	size_t i = 0, k = 0;

	while (i < o->count && !is_same(&o->list[i].who, who))
		i++;
	while (k < o->holder_count && (o->holders[k].owner != i || o->holders[k].ix != ix))
		k++;
	assert(o->count <= HOLDERS_MAX && o->holder_count <= MEMBER_HOLDERS_MAX);
	if (i == HOLDERS_MAX || k == MEMBER_HOLDERS_MAX)
		return;
	if (i == o->count) {
		o->list[o->count++].who = *who;
		o->list[i].owns = owns;
		o->list[i].last_ix = HEAP_NONE;
	}
	o->list[i].count += o->list[i].last_ix != member;
	o->list[i].last_ix = member;
	if (owns < o->list[i].owns)
		o->list[i].owns = owns;
	if (k < o->holder_count)
		return;
	o->holders[o->holder_count++] = (struct member_holder){ (uint32_t)i, ix };
	if (!o->list[i].holders++)
		o->list[i].ix = ix;
}

/*
 * Counts every owning step on a path to a member: static fields and fields of application objects,
 * from the nearest.
 */
static int count_steps(struct member_owners *o, const struct query_leak_path *path,
		       struct hdb_error *err)
{
	size_t owns = 0;

	o->steps += path->count + path->gap;
	for (size_t i = path->count - 1; i-- > 0;) {
		struct leak_holder who;
		enum leak_blame here;

		TRY(leak_blame_step(o->q, path, i, &here, err));
		if (here < BLAME_STATIC)
			continue;
		TRY(leak_holder_find(o->q, path, i, &who, err));
		count_owner(o, &who, path, i, owns++);
	}
	return HDB_OK;
}

/* Counts the step to blame on a path to a member. */
static int count_path(struct member_owners *o, struct query_leak_path *path, struct hdb_error *err)
{
	struct query_leak_owner owner = { .named = 0 };
	enum leak_blame best;
	size_t chosen;

	path->is_end_kept = true;
	o->steps += path->count + path->gap;
	if (path->count < 2)
		return HDB_OK;
	TRY(leak_choose_step(o->q, path, &chosen, &best, err));
	TRY(leak_culprit_find(o->q, path, HEAP_NONE, &owner, err));
	/* Local variables of threads with the same name pattern count as one owner. */
	if (owner.list[0].kind == LEAK_HOLDER_LOCAL)
		heap_name_pattern(owner.list[0].thread);
	count_owner(o, &owner.list[0], path, chosen, 0);
	return HDB_OK;
}

/*
 * Counts the owners on the paths through all referrers of a member, not just on the shortest path.
 */
static int count_referrers(struct member_owners *o, uint32_t member, struct hdb_error *err)
{
	struct query *q = o->q;
	BASE_SCOPED(base_vec_release) struct base_vec referrers = { 0 };

	TRY(derive_referrers_of(q->derive, member, REFERRERS_LOOKED, &referrers, err));
	for (size_t i = 0; i < referrers.count; i++) {
		const uint32_t ix = *base_vec_at(&referrers, uint32_t, i);
		struct query_leak_path path;
		uint8_t strength;
		bool is_above = true;

		TRY(heap_strength(q->heap, ix, member, &strength, err));
		if (strength != STORE_STRONG)
			continue;
		TRY(query_leak_path_find(q, ix, &path, err));
		/*
		 * A path that already passes the member does not lead to it from outside. A full
		 * path has no room for the member.
		 */
		for (size_t k = 0; k < path.count; k++)
			is_above &= path.nodes[k] != member;
		if (!path.count || !path.is_strong || !is_above || path.count == 2 * LEAK_PATH_ENDS)
			continue;
		path.gap_at += !path.gap;
		path.nodes[path.count++] = member;
		TRY(count_steps(o, &path, err));
	}
	return HDB_OK;
}

/*
 * Searches the paths through the members' referrers for one object that holds the members. If
 * several owners have the most members, keeps the owner with the fewest objects, then the owner
 * nearest to the members. Sets count to 0 if no owner is found.
 */
static int look_wider(struct member_owners *o, const struct analysis_suspect *s,
		      struct hdb_error *err)
{
	const struct member_owner *best = NULL;
	size_t looked = 0;

	o->count = o->holder_count = 0;
	memset(o->list, 0, sizeof(o->list));
	for (; looked < s->members.count && looked < MEMBERS_LOOKED_WIDE && o->steps < STEPS_MAX;
	     looked++) {
		TRY(count_referrers(o, *base_vec_at(&s->members, uint32_t, looked), err));
		TRY(base_step(o->q->work, looked, err));
	}
	for (size_t i = 0; i < o->count; i++) {
		const struct member_owner *at = &o->list[i];

		if (at->count > looked / 2 && !is_one_each(at) &&
		    (!best || at->holders < best->holders ||
		     (at->holders == best->holders && at->owns < best->owns)))
			best = at;
	}
	if (best)
		o->list[0] = *best;
	o->count = best != NULL;
	return HDB_OK;
}

/*
 * Finds the owner of a group: the most frequent of the nearest owners of the members, if it owns
 * more than half of them. If each member has its own owner object, such as the task that will run
 * it, searches for a single object that holds all these owner objects.
 */
static int find_group_owner(struct query *q, const struct analysis_suspect *s,
			    struct query_leak_owner *owner, struct hdb_error *err)
{
	BASE_FREED struct member_owners *o = NULL;
	const struct member_owner *best;
	struct member_owner nearest = { .count = 0 };
	size_t looked = 0;

	TRY(BASE_ALLOC(o, 1, "owners", err));
	o->q = q;
	for (; looked < s->members.count && looked < MEMBERS_LOOKED && o->steps < STEPS_MAX;
	     looked++) {
		const uint32_t member = *base_vec_at(&s->members, uint32_t, looked);
		struct query_leak_path path;

		TRY(query_leak_path_find(q, member, &path, err));
		TRY(count_path(o, &path, err));
		if (looked % STEP_MEMBERS == 0)
			TRY(base_step(q->work, looked, err));
	}
	set_rule(owner, RULE_MEMBERS);
	best = commonest(o);
	if (best)
		nearest = *best;
	if (is_one_each(&nearest)) {
		TRY(look_wider(o, s, err));
		if (o->count) {
			nearest = o->list[0];
			set_rule(owner, RULE_SHARED);
			looked = looked < MEMBERS_LOOKED_WIDE ? looked : MEMBERS_LOOKED_WIDE;
		}
	}
	if (nearest.count > looked / 2) {
		owner->list[0] = nearest.who;
		if (nearest.who.kind == LEAK_HOLDER_LOCAL)
			owner->list[0].threads = nearest.holders > 1 && looked < s->count ?
							 LEAK_THREADS_MANY :
							 nearest.holders;
		owner->named = 1;
		owner->count = looked == s->count ? nearest.count : 0;
		owner->ix[0] = nearest.holders == 1 ? nearest.ix : HEAP_NONE;
	}
	return HDB_OK;
}

/*
 * If several static fields or local variables hold the same objects, only a class loader or a
 * thread dominates these objects, which explains nothing. In this case, the objects that the loader
 * or thread immediately dominates are treated as a group: if they are many and retain most of the
 * suspect, the owner of this group becomes the owner.
 */
static int find_owner_of_children(struct query *q, const struct analysis_suspect *s,
				  struct query_leak_owner *owner, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec members = { 0 };
	struct analysis_suspect group = { .ix = HEAP_NONE, .point_ix = HEAP_NONE };
	struct query_leak_owner found = { .count = 0 };
	struct store_lists children;
	struct heap_object object;
	const uint32_t *batch;
	uint32_t *list;
	uint64_t bytes;
	size_t count, seen = 0;

	if (s->point_ix == HEAP_NONE)
		return HDB_OK;
	TRY(derive_children(q->derive, &children, err));
	TRY(store_lists_begin(&children, s->point_ix, NULL, err));
	do {
		TRY(store_lists_next(&children, &batch, &count, err));
		for (size_t i = 0; i < count; i++)
			TRY(base_vec_push(&members, &batch[i], sizeof(batch[i]), err));
		seen += count;
		TRY(base_step(q->work, seen, err));
	} while (count && seen < CHILDREN_MAX);
	if (seen < CHILDREN_LEAST)
		return HDB_OK;
	/*
	 * The children are sorted by size, so a class with many large children is among the first.
	 */
	list = members.data;
	TRY(heap_object(q->heap, list[CHILDREN_LEAST / 2], &object, err));
	group.class_no = object.class_no;
	for (size_t i = 0; i < seen; i++) {
		TRY(heap_object(q->heap, list[i], &object, err));
		if (object.kind == STORE_CLASS || object.class_no != group.class_no)
			continue;
		TRY(derive_retained(q->derive, object.ix, &bytes, err));
		group.retained_bytes += bytes;
		list[group.count++] = object.ix;
	}
	if (group.count < CHILDREN_LEAST || group.retained_bytes < s->retained_bytes / 2)
		return HDB_OK;
	group.members = members;
	group.members.count = group.count;
	TRY(find_group_owner(q, &group, &found, err));
	if (!found.named || found.list[0].is_thread_local ||
	    (found.list[0].kind != LEAK_HOLDER_STATIC && found.list[0].kind != LEAK_HOLDER_FIELD) ||
	    heap_is_platform_class(found.list[0].class_name))
		return HDB_OK;
	found.count = 1;
	for (size_t i = 1; i < LEAK_OWNERS; i++)
		found.ix[i] = HEAP_NONE;
	*owner = found;
	return HDB_OK;
}

/* Returns whether the owner is only the list of classes of a class loader, or a thread. */
static bool is_junction(struct heap *heap, const struct query_leak_owner *owner)
{
	const struct leak_holder *who = &owner->list[0];
	struct heap_object object;
	struct hdb_error ignored;

	if (owner->named != 1 || owner->more || who->is_thread_local)
		return false;
	if (who->kind == LEAK_HOLDER_THREAD)
		return true;
	return who->kind == LEAK_HOLDER_FIELD && strcmp(who->field, "classes") == 0 &&
	       heap_object(heap, who->ix, &object, &ignored) == HDB_OK &&
	       heap_has_superclass(heap, object.class_no, "java.lang.ClassLoader");
}

/*
 * If several paths also lead to the best holder of `h`, examines the holders of this best holder in
 * the same way. Otherwise, sets above->count to 0.
 */
static int find_above(const struct holders *h, struct query_leak_path *path, struct holders *above,
		      struct hdb_error *err)
{
	bool any = false;

	above->q = h->q;
	above->path = path;
	TRY(query_leak_path_find(h->q, h->list[0].ix, path, err));
	if (path->count)
		TRY(find_parting(h->q, path, &above->at, &any, err));
	return any ? find_holders(above, err) : HDB_OK;
}

/*
 * If no application field refers to the topmost object, searches for an application field that
 * refers to an object above the best holder: for example, a pool is held by its own worker threads
 * and by a static field. If such a field exists, makes it the first holder of `h`, and sets *better
 * to the path that begins at the field.
 *
 * Each level continues from the best holder of the level below. A path found on one level is then
 * extended downwards, level by level.
 */
static int choose_first(struct holders *h, struct query_leak_path *better, bool *is_above,
			struct hdb_error *err)
{
	BASE_FREED struct holders *above = NULL;
	struct query_leak_path paths[LEVELS_MAX], found;
	struct holders *level = h;
	size_t n = 0;

	assert(h->count > 0);
	TRY(make_path(h, h->list[0].ix, better, err));
	TRY(BASE_ALLOC(above, LEVELS_MAX, "holders of a suspect", err));
	for (; level->count && level->list[0].rank > RULE_FIELD_OF_LOCAL && n < LEVELS_MAX; n++) {
		TRY(find_above(level, &paths[n], &above[n], err));
		level = &above[n];
	}
	if (!n || !level->count || level->list[0].rank != RULE_FIELD)
		return HDB_OK;
	TRY(make_path(level, level->list[0].ix, &found, err));
	while (--n > 0)
		extend_path(&above[n - 1], &found);
	extend_path(h, &found);
	if (!found.count)
		return HDB_OK;
	*better = found;
	*is_above = true;
	/* The first holder gets another rank, name and owner, but keeps its referrer. */
	level->list[0].ix = h->list[0].ix;
	h->list[0] = level->list[0];
	return HDB_OK;
}

/*
 * Finds the owner if the path passes the referent of a soft or weak reference: the nearest
 * application object above the reference, or otherwise the nearest object that is not an array or
 * collection. An application field below the reference is named first, in `top`.
 */
static int find_reference_owner(struct query *q, const struct query_leak_path *path,
				struct query_leak_owner *out, struct hdb_error *err)
{
	struct query_leak_path to = *path;
	enum leak_blame best, here = BLAME_ARRAY;
	size_t chosen, at = path->count - 1, above;

	while (at-- > 0 && out->strength == STORE_STRONG)
		if (!path->gap || at + 1 != path->gap_at)
			TRY(heap_strength(q->heap, path->nodes[at], path->nodes[at + 1],
					  &out->strength, err));
	if (out->strength == STORE_STRONG)
		return HDB_OK;
	above = at + 1; /* the step of the reference */
	assert(above + 1 < path->count);
	to.count = above + 1;
	to.is_end_kept = true;
	TRY(leak_choose_step(q, &to, &chosen, &best, err));
	for (at = above; at-- > 0 && best != BLAME_OWN && here == BLAME_ARRAY;)
		TRY(leak_blame_step(q, &to, chosen = at, &here, err));
	TRY(leak_holder_find(q, path, chosen, &out->list[0], err));
	out->ix[0] = path->nodes[chosen];
	out->named = 1;
	set_rule(out, RULE_REFERENCE);
	TRY(leak_choose_step(q, path, &chosen, &best, err));
	return best == BLAME_OWN && chosen > above && chosen + 1 < path->count ?
		       leak_holder_find(q, path, chosen, &out->top, err) :
		       HDB_OK;
}

/*
 * Finds the owners of a single suspect: the holders of its topmost object or, if other holders do
 * not matter, the step to blame on the path.
 */
static int find_owner(struct query *q, const struct analysis_suspect *suspect,
		      struct query_leak_path *path, struct query_leak_owner *owner,
		      struct hdb_error *err)
{
	const uint32_t top_ix = analysis_suspect_top(suspect);
	BASE_FREED struct holders *h = NULL;
	struct query_leak_path better = { .count = 0 };
	bool any = false, is_above = false;
	size_t at = 0;

	set_rule(owner, RULE_PATH);
	if (path->count && !path->is_strong)
		TRY(find_reference_owner(q, path, owner, err));
	if (owner->named)
		return HDB_OK;
	if (path->count)
		TRY(find_parting(q, path, &at, &any, err));
	if (!any) {
		TRY(leak_prefer_field(q, path, err));
		return leak_culprit_find(q, path, top_ix, owner, err);
	}
	TRY(BASE_ALLOC(h, 1, "holders of a suspect", err));
	h->q = q;
	h->path = path;
	h->at = at;
	TRY(find_holders(h, err));
	if (!h->count)
		return leak_culprit_find(q, path, top_ix, owner, err);
	TRY(choose_first(h, &better, &is_above, err));
	TRY(find_top(h, &owner->top, err));
	if (better.count)
		*path = better;
	for (size_t i = 0; i < h->count && i < LEAK_OWNERS; i++)
		owner->ix[i] = h->list[i].owner_ix;
	set_rule(owner, is_above ? RULE_ABOVE : h->list[0].rank);
	if (h->count == 1 && !owner->top.kind)
		return leak_culprit_find(q, path, top_ix, owner, err);
	return take_all(h, owner, err);
}

/*
 * Sets *out to whether the path begins at a local variable of a thread that does not dominate the
 * end. Such a variable only refers to objects that other objects also hold.
 */
static int is_passing(struct query *q, const struct analysis_suspect *suspect,
		      const struct query_leak_path *path, bool *out, struct hdb_error *err)
{
	bool is_local = false;
	size_t top = 1;

	if (path->count >= 2)
		TRY(begins_at_local(q, path, &is_local, err));
	if (is_local && suspect->ix != HEAP_NONE)
		TRY(find_topmost(q, path, &top, err));
	*out = is_local && top != 0;
	return HDB_OK;
}

/*
 * Finds the method that declares a local variable. Methods of the platform explain nothing, so they
 * are not used.
 */
static int add_frame(struct query *q, struct leak_holder *holder, struct hdb_error *err)
{
	if (holder->kind != LEAK_HOLDER_LOCAL || holder->is_thread_local ||
	    holder->local_ix == HEAP_NONE)
		return HDB_OK;
	TRY(query_leak_frame(q->heap, holder->ix, holder->local_ix, BASE_TEXT(holder->frame), err));
	if (heap_is_platform_class(holder->frame))
		holder->frame[0] = '\0';
	return HDB_OK;
}

/*
 * If a group has no owner, or its owner is a field of a library (such as a registry of open
 * connections), names an application field on the path to most members, which explains more.
 */
static int add_application(struct query *q, const struct query_leak_path *path,
			   struct query_leak_owner *owner, struct hdb_error *err)
{
	struct leak_holder *who = &owner->list[0], above;
	enum leak_blame here;

	if (owner->named && (owner->named != 1 || who->kind != LEAK_HOLDER_FIELD ||
			     who->is_thread_local || !heap_is_library_class(who->class_name)))
		return HDB_OK;
	for (size_t i = path->count; i-- > 0;) {
		const uint32_t ix = path->nodes[i];
		struct heap_object object;
		const char *name;

		TRY(heap_object(q->heap, ix, &object, err));
		name = heap_class_name(q->heap, heap_known_class(&object));
		if (owner->named && strcmp(name, who->class_name) == 0) {
			who->ix = ix;
			return leak_add_static(q, path, owner, err);
		}
		TRY(leak_blame_step(q, path, i, &here, err));
		if (here != BLAME_OWN || heap_is_library_class(name))
			continue;
		TRY(leak_holder_find(q, path, i, &above, err));
		if (above.kind != LEAK_HOLDER_STATIC && above.kind != LEAK_HOLDER_FIELD)
			continue;
		*who = above;
		owner->named = 1;
		owner->count = 0;
		set_rule(owner, RULE_ABOVE);
		return HDB_OK;
	}
	return HDB_OK;
}

int query_leak_expect(struct query *q, const struct analysis_suspect *s, struct hdb_error *err)
{
	const size_t count =
		s->members.count < MEMBERS_LOOKED_WIDE ? s->members.count : MEMBERS_LOOKED_WIDE;

	return s->ix != HEAP_NONE ? derive_expect_referrers(q->derive, &s->ix, 1, err) :
				    derive_expect_referrers(q->derive, s->members.data, count, err);
}

int query_leak_blame(struct query *q, const struct analysis_suspect *suspect,
		     struct query_leak_path *path, struct query_leak_owner *owner,
		     struct hdb_error *err)
{
	const uint32_t end_ix = path_end(suspect);

	*owner = (struct query_leak_owner){ .count = suspect->ix == HEAP_NONE ? 0 : 1 };
	for (size_t i = 0; i < LEAK_OWNERS; i++)
		owner->ix[i] = HEAP_NONE;
	if (end_ix != HEAP_NONE)
		TRY(query_leak_path_find(q, end_ix, path, err));
	path->split_bytes = suspect->split_bytes;
	path->rest_bytes = suspect->split_bytes ? suspect->retained_bytes : 0;
	if (suspect->ix != HEAP_NONE)
		TRY(find_owner(q, suspect, path, owner, err));
	else
		TRY(find_group_owner(q, suspect, owner, err));
	if (!owner->named) {
		TRY(query_locals_explain(q, suspect, owner, err));
		set_rule(owner, RULE_THREAD_LOCAL);
	}
	if (suspect->ix != HEAP_NONE && is_junction(q->heap, owner))
		TRY(find_owner_of_children(q, suspect, owner, err));
	else if (suspect->ix != HEAP_NONE)
		TRY(leak_add_static(q, path, owner, err));
	else
		TRY(add_application(q, path, owner, err));
	if (owner->named == 1 && !owner->more)
		TRY(add_frame(q, &owner->list[0], err));
	if (end_ix == HEAP_NONE)
		return HDB_OK;
	return is_passing(q, suspect, path, &path->is_passing, err);
}
