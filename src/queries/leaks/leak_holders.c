/*
 * queries/leaks/leak_holders.c - who is to blame for a leak suspect, where several hold it.
 *
 * Whatever dominates the suspect is on every path to it. Above the topmost of these, the shortest
 * path is only one of several, and often not the one that explains most: a map that a static field
 * holds is also in a local variable of whoever works with it. So all that refer to this topmost
 * object from outside are looked at, and named, those that last first.
 */
#include "base/sort.h"
#include "heap/collections/collections.h"
#include "heap/threads.h"
#include "heap/values/values.h"
#include "queries/leaks/leak_blame.h"
#include "queries/leaks/thread_locals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 1024
/* References to the topmost object that are looked at. */
#define HOLDERS_LOOKED 4096u
/* Holders of different names that are distinguished, and named. */
#define HOLDERS_MAX 64u
#define HOLDERS_SHOWN LEAK_OWNERS
/* Objects one above the other whose holders are looked at, until one is the application's. */
#define LEVELS_MAX 3u
/* Steps up the dominator tree for all of them: tenths of a second, on lists. */
#define STEPS_MAX 4000000u
/* Members of a group whose owners are looked for, the largest first. */
#define MEMBERS_LOOKED 1000u
/* References to each of them that are looked at. */
#define REFERRERS_LOOKED 16u
/* Members whose referrers are looked at, and objects that then hold them. */
#define MEMBERS_LOOKED_WIDE 100u
#define MEMBER_HOLDERS_MAX 4096u
/* Members between two looks at the cancel flag. */
#define STEP_MEMBERS 64u

/*
 * The best first: a field of the application's, static or below a static, or below a local; others;
 * locals.
 */
enum rank { RANK_OWN, RANK_OWN_OF_LOCAL, RANK_PLATFORM_STATIC, RANK_OTHER, RANK_LOCAL };

struct holder {
	enum rank rank;
	size_t steps; /* from its root */
	uint32_t ix, owner_ix;
	char name[NAME_MAX_BYTES];
};

/* An owner of members of a group: of how many, and how many objects these are. */
struct member_owner {
	char name[NAME_MAX_BYTES];
	uint64_t count, holders;
	uint32_t ix;      /* the first one */
	size_t owns;      /* others between it and a member: the fewest */
	uint32_t last_ix; /* the member that was counted last */
};

/* Who refers to the object at step `at` of a path, above which other paths lead elsewhere. */
struct holders {
	struct query *q;
	const struct query_leak_path *path;
	size_t at;
	struct holder list[HOLDERS_MAX]; /* of different names */
	size_t count;
	bool has_more; /* not all were looked at */
	uint64_t steps;
};

/*
 * The object of the path above which other paths lead elsewhere; path->count if it is in the gap.
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

/* Whether the topmost object dominates an object; also if that takes too long to say. */
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
 * Extends a path to a holder along the old one from the topmost object; count 0 if it already goes
 * there, or there is no room.
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
	out->is_end_kept = old->is_end_kept;
}

/* The path to a holder and on along the old one; count 0 if there is none. */
static int make_path(const struct holders *h, uint32_t holder_ix, struct query_leak_path *out,
		     struct hdb_error *err)
{
	TRY(query_leak_path_find(h->q, holder_ix, out, err));
	extend_path(h, out);
	return HDB_OK;
}

/* How good a holder is that a path leads to, and which object on the path is to blame. */
static int rank_of(struct query *q, const struct query_leak_path *path, struct holder *out,
		   struct hdb_error *err)
{
	enum leak_blame best = BLAME_ARRAY;
	char holds[NAME_MAX_BYTES] = "";
	bool is_local = false;
	size_t chosen;

	TRY(leak_choose_step(q, path, &chosen, &best, err));
	if (heap_is_thread(q->heap, path->nodes[0])) {
		TRY(query_leak_path_holds(q, path, 0, BASE_TEXT(holds), err));
		is_local = strcmp(holds, "<local variable>") == 0;
	}
	out->owner_ix = path->nodes[chosen];
	out->rank = best == BLAME_OWN    ? (is_local ? RANK_OWN_OF_LOCAL : RANK_OWN) :
		    best == BLAME_STATIC ? RANK_PLATFORM_STATIC :
		    is_local             ? RANK_LOCAL :
					   RANK_OTHER;
	return HDB_OK;
}

static int compare(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	BASE_ASCENDING(x->rank, y->rank);
	BASE_ASCENDING(x->steps, y->steps);
	return x->ix < y->ix ? -1 : x->ix > y->ix;
}

/* Each name once, at its best. */
static void keep(struct holders *h, const struct holder *holder)
{
	for (size_t i = 0; i < h->count; i++) {
		if (strcmp(h->list[i].name, holder->name) != 0)
			continue;
		if (compare(holder, &h->list[i]) < 0)
			h->list[i] = *holder;
		return;
	}
	if (h->count < HOLDERS_MAX)
		h->list[h->count++] = *holder;
	else
		h->has_more = true;
}

/* One that refers to the topmost object of the path. */
static int look_at(struct holders *h, uint32_t ix, struct hdb_error *err)
{
	struct query *q = h->q;
	const size_t rest = h->path->count - h->at;
	struct holder holder = { .ix = ix };
	struct query_leak_path to;
	uint32_t parent;
	uint8_t strength;
	char holds[NAME_MAX_BYTES];
	bool is_inside = false;
	int r = derive_reach(q->derive, true, ix, &parent, err);

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
	/* Classes, their objects and threads hold class loaders without meaning to. */
	r = query_leak_path_holds(q, &to, to.count - rest - 1, BASE_TEXT(holds), err);
	if (r != HDB_OK || strcmp(holds, "<class loader>") == 0 ||
	    strcmp(holds, "contextClassLoader") == 0)
		return r;
	/* The name is that of the way to the topmost object. */
	to.count -= rest - 1;
	to.is_end_kept = true;
	holder.steps = to.count;
	TRY(rank_of(q, &to, &holder, err));
	TRY(query_leak_culprit(q, &to, HEAP_NONE, BASE_TEXT(holder.name), err));
	keep(h, &holder);
	return HDB_OK;
}

static int find_holders(struct holders *h, struct hdb_error *err)
{
	struct store_lists referrers;
	const uint32_t *batch;
	size_t count = 1;
	uint64_t done = 0;

	TRY(derive_referrers(h->q->derive, &referrers, err));
	TRY(store_lists_begin(&referrers, h->path->nodes[h->at], NULL, err));
	while (count && done < HOLDERS_LOOKED) {
		TRY(store_lists_next(&referrers, &batch, &count, err));
		for (size_t i = 0; i < count; i++, done++)
			TRY(look_at(h, batch[i], err));
		TRY(base_step(h->q->work, done, err));
	}
	h->has_more |= done >= HOLDERS_LOOKED;
	if (h->count > 1)
		qsort(h->list, h->count, sizeof(h->list[0]), compare);
	return HDB_OK;
}

static void name_all(const struct holders *h, char *buf, size_t size)
{
	const size_t more = h->count > HOLDERS_SHOWN ? h->count - HOLDERS_SHOWN : 0;
	size_t used = 0;

	for (size_t i = 0; i < h->count - more && used < size; i++) {
		const char *before = i == 0                            ? "" :
				     i + 1 == h->count && !h->has_more ? " and " :
									 ", ";

		used += (size_t)snprintf(buf + used, size - used, "%s%s", before, h->list[i].name);
	}
	if (used < size && h->has_more)
		(void)snprintf(buf + used, size - used, " and others");
	else if (used < size && more)
		(void)snprintf(buf + used, size - used, " and %zu more", more);
}

/*
 * If no field of an application's is among the holders, the topmost object's own field says more
 * than who holds it: "java.util.concurrent.ThreadPoolExecutor.workQueue, in ". Collections only
 * pass on.
 */
static int name_topmost(const struct holders *h, struct base_text to, struct hdb_error *err)
{
	struct heap *heap = h->q->heap;
	char holds[NAME_MAX_BYTES] = "";
	struct heap_object object;
	int r = heap_object(heap, h->path->nodes[h->at], &object, err);

	to.buf[0] = '\0';
	if (r != HDB_OK || object.kind != STORE_INSTANCE || h->list[0].rank <= RANK_OWN_OF_LOCAL ||
	    heap_collection_rule(heap, object.class_no))
		return r;
	TRY(query_leak_path_holds(h->q, h->path, h->at, BASE_TEXT(holds), err));
	if (holds[0] && holds[0] != '<')
		(void)snprintf(to.buf, to.size, "%s.%s, in ",
			       heap_class_name(heap, object.class_no), holds);
	return HDB_OK;
}

/*
 * Whether other holders than the path's would be named: not if what is to blame is below where
 * paths part.
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
	 * Classes are held by their loaders and by all their objects, which explains nothing. A
	 * static field below a class loader explains more than who holds the loader, be it the
	 * platform's.
	 */
	*any = object.kind != STORE_CLASS &&
	       !((best == BLAME_OWN || best == BLAME_STATIC) && chosen >= *at);
	return HDB_OK;
}

/* The object that a suspect's path leads to; HEAP_NONE: paths to a group have nothing in common. */
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

/* The owners of a group's members that were looked at. */
struct member_owners {
	struct query *q;
	struct member_owner list[HOLDERS_MAX]; /* of different names */
	size_t count;
	struct member_holder {
		uint32_t owner, ix; /* place in the list, the object */
	} holders[MEMBER_HOLDERS_MAX];
	size_t holder_count;
	uint64_t steps;
};

/* The commonest one, then the one that was met first. */
static const struct member_owner *commonest(const struct member_owners *o)
{
	const struct member_owner *best = NULL;

	for (size_t i = 0; i < o->count; i++)
		if (!best || o->list[i].count > best->count)
			best = &o->list[i];
	return best;
}

/* Whether nearly each member has a holder of its own. */
static bool is_one_each(const struct member_owner *owner)
{
	return owner->holders > 1 && owner->holders > owner->count / 2;
}

/* An owner of the member at the end of a path, by the name of a step; `owns`: others between. */
static void count_owner(struct member_owners *o, const char *name,
			const struct query_leak_path *path, size_t at, size_t owns)
{
	const uint32_t ix = path->nodes[at], member = path->nodes[path->count - 1];
	size_t i = 0, k = 0;

	while (i < o->count && strcmp(o->list[i].name, name) != 0)
		i++;
	while (k < o->holder_count && (o->holders[k].owner != i || o->holders[k].ix != ix))
		k++;
	if (i == HOLDERS_MAX || k == MEMBER_HOLDERS_MAX)
		return;
	if (i == o->count) {
		(void)snprintf(o->list[o->count++].name, sizeof(o->list->name), "%s", name);
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

/* Counts all that hold on a path to a member: fields of an application's, and static ones. */
static int count_steps(struct member_owners *o, const struct query_leak_path *path,
		       struct hdb_error *err)
{
	size_t owns = 0;

	o->steps += path->count + path->gap;
	for (size_t i = path->count - 1; i-- > 0;) {
		char name[NAME_MAX_BYTES];
		enum leak_blame here;

		TRY(leak_blame_step(o->q, path, i, &here, err));
		if (here < BLAME_STATIC)
			continue;
		TRY(leak_holder_text(o->q, path, i, BASE_TEXT(name), err));
		count_owner(o, name, path, i, owns++);
	}
	return HDB_OK;
}

/* Counts who is to blame on a path to a member. */
static int count_path(struct member_owners *o, struct query_leak_path *path, struct hdb_error *err)
{
	char name[NAME_MAX_BYTES] = "";
	enum leak_blame best;
	size_t chosen;

	path->is_end_kept = true;
	o->steps += path->count + path->gap;
	if (path->count < 2)
		return HDB_OK;
	TRY(leak_choose_step(o->q, path, &chosen, &best, err));
	TRY(query_leak_culprit(o->q, path, HEAP_NONE, BASE_TEXT(name), err));
	if (name[0])
		count_owner(o, name, path, chosen, 0);
	return HDB_OK;
}

/* Counts all that hold on the paths by way of all that refer to a member. */
static int count_referrers(struct member_owners *o, struct store_lists *referrers, uint32_t member,
			   struct hdb_error *err)
{
	struct query *q = o->q;
	const uint32_t *batch;
	size_t count;

	TRY(store_lists_begin(referrers, member, NULL, err));
	TRY(store_lists_next(referrers, &batch, &count, err));
	for (size_t i = 0; i < count && i < REFERRERS_LOOKED; i++) {
		struct query_leak_path path;
		uint8_t strength;
		bool is_above = true;

		TRY(heap_strength(q->heap, batch[i], member, &strength, err));
		if (strength != STORE_STRONG)
			continue;
		TRY(query_leak_path_find(q, batch[i], &path, err));
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
 * Leaves the owner that the fewest objects are, on paths by way of all that refer to members: of
 * several the nearest to them. None: count is 0.
 */
static int look_wider(struct member_owners *o, const struct analysis_suspect *s,
		      struct hdb_error *err)
{
	struct store_lists referrers;
	const struct member_owner *best = NULL;
	size_t looked = 0;

	TRY(derive_referrers(o->q->derive, &referrers, err));
	o->count = o->holder_count = 0;
	memset(o->list, 0, sizeof(o->list));
	for (; looked < s->members.count && looked < MEMBERS_LOOKED_WIDE && o->steps < STEPS_MAX;
	     looked++) {
		TRY(count_referrers(o, &referrers, *base_vec_at(&s->members, uint32_t, looked),
				    err));
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
 * The commonest of the nearest owners of a group's members, if it is that of most of them. Where
 * each member has one of its own (a task that will run it), others that refer to the members are
 * looked at, too: one object that has them all owns them.
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
	best = commonest(o);
	if (best)
		nearest = *best;
	if (is_one_each(&nearest)) {
		TRY(look_wider(o, s, err));
		if (o->count) {
			nearest = o->list[0];
			looked = looked < MEMBERS_LOOKED_WIDE ? looked : MEMBERS_LOOKED_WIDE;
		}
	}
	if (nearest.count > looked / 2) {
		(void)snprintf(owner->name, sizeof(owner->name), "%s", nearest.name);
		owner->count = looked == s->count ? nearest.count : 0;
		owner->ix[0] = nearest.holders == 1 ? nearest.ix : HEAP_NONE;
	}
	return HDB_OK;
}

/* Who holds the best holder of `h`, if paths part above that, too; count 0: they do not. */
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
 * Where no field of an application's refers to the topmost object, one may refer to an object above
 * its best holder, as with a pool that a static field and the pool's own threads hold. That one is
 * then the first. *better is the path from the first one.
 */
static int choose_first(struct holders *h, struct query_leak_path *better, struct hdb_error *err)
{
	BASE_FREED struct holders *above = NULL;
	struct query_leak_path paths[LEVELS_MAX], found;
	struct holders *level = h;
	size_t n = 0;

	TRY(make_path(h, h->list[0].ix, better, err));
	TRY(BASE_ALLOC(above, LEVELS_MAX, "holders of a suspect", err));
	for (; level->count && level->list[0].rank > RANK_OWN_OF_LOCAL && n < LEVELS_MAX; n++) {
		TRY(find_above(level, &paths[n], &above[n], err));
		level = &above[n];
	}
	if (!n || !level->count || level->list[0].rank != RANK_OWN)
		return HDB_OK;
	TRY(make_path(level, level->list[0].ix, &found, err));
	while (--n > 0)
		extend_path(&above[n - 1], &found);
	extend_path(h, &found);
	if (!found.count)
		return HDB_OK;
	*better = found;
	level->list[0].ix = h->list[0].ix;
	h->list[0] = level->list[0];
	return HDB_OK;
}

/* Of a single suspect: who holds its topmost object, or who is to blame on the path. */
static int find_owner(struct query *q, const struct analysis_suspect *suspect,
		      struct query_leak_path *path, struct query_leak_owner *owner,
		      struct hdb_error *err)
{
	const struct base_text to = BASE_TEXT(owner->name);
	BASE_FREED struct holders *h = NULL;
	struct query_leak_path better = { .count = 0 };
	size_t at = 0, used;
	bool any = false;
	int r = HDB_OK;

	if (path->count)
		TRY(find_parting(q, path, &at, &any, err));
	if (!any)
		return query_leak_culprit(q, path, suspect->ix, to, err);
	TRY(BASE_ALLOC(h, 1, "holders of a suspect", err));
	h->q = q;
	h->path = path;
	h->at = at;
	TRY(find_holders(h, err));
	if (h->count) {
		TRY(choose_first(h, &better, err));
		TRY(name_topmost(h, to, err));
		if (better.count)
			*path = better;
	}
	used = strlen(to.buf);
	for (size_t i = 0; i < h->count && i < LEAK_OWNERS; i++)
		owner->ix[i] = h->list[i].owner_ix;
	if (h->count > 1 || used)
		name_all(h, to.buf + used, to.size - used);
	else
		r = query_leak_culprit(q, path, suspect->ix, to, err);
	return r;
}

/* Whether the path is a local variable's of a thread that does not dominate its end. */
static int is_passing(struct query *q, const struct analysis_suspect *suspect,
		      const struct query_leak_path *path, bool *out, struct hdb_error *err)
{
	char holds[NAME_MAX_BYTES];
	size_t top = 1;

	*out = false;
	if (path->count < 2 || !heap_is_thread(q->heap, path->nodes[0]))
		return HDB_OK;
	TRY(query_leak_path_holds(q, path, 0, BASE_TEXT(holds), err));
	if (suspect->ix != HEAP_NONE)
		TRY(find_topmost(q, path, &top, err));
	*out = top != 0 && strcmp(holds, "<local variable>") == 0;
	return HDB_OK;
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
	if (suspect->ix != HEAP_NONE)
		TRY(find_owner(q, suspect, path, owner, err));
	else
		TRY(find_group_owner(q, suspect, owner, err));
	if (!owner->name[0]) {
		TRY(query_locals_explain(q, suspect, owner->name, sizeof(owner->name), err));
		owner->is_of_members = owner->name[0] != '\0';
	}
	if (end_ix == HEAP_NONE)
		return HDB_OK;
	return is_passing(q, suspect, path, &path->is_passing, err);
}
