/*
 * queries/compare/growth_shares.c - computes what groups of objects hold.
 *
 * First everything is marked that the roots reach without passing a member of a group. Then each
 * group is followed through the rest, twice: the first pass counts how many groups reach each
 * object, the second adds each object's share.
 */
#include "queries/compare/growth_shares.h"

#include "derive/native.h"
#include "base/bits.h"
#include "queries/traces/trace_search.h"

#include <assert.h>
#include <stdlib.h>

/* Objects between two checks of the cancel flag. */
#define STEP_OBJECTS 65536u
/* Maximum number of steps of all groups together, as a multiple of the number of objects. */
#define STEPS_FACTOR 64u

/* State of growth_shares_find. */
struct sharing {
	const struct session *session;
	const struct growth_members *members;
	struct trace_graph graph;
	struct base_vec native; /* struct derive_native */
	uint64_t *kept;         /* bit set: reachable without the groups */
	uint32_t *stamp;        /* by object: the last turn that reached it */
	uint32_t *count;        /* by object: number of groups that reach it */
	struct base_big stamp_big, count_big;
	struct base_vec stack; /* uint32_t: objects whose references are still to be followed */
	uint32_t turn;         /* number of the current group and pass; never 0 */
	uint64_t steps_left, done;
	bool is_first; /* the pass that counts, not the one that adds */
	double bytes, objects;
	struct growth_share *share;
};

static uint32_t group_of(const struct sharing *s, uint32_t ix)
{
	const uint32_t node = s->members->place[ix];
	const uint32_t group = node == UINT32_MAX ? UINT32_MAX : s->members->group_of[node];

	assert(group == UINT32_MAX || group < s->members->group_count);
	return group;
}

static int step(struct sharing *s, struct hdb_error *err)
{
	return ++s->done % STEP_OBJECTS == 0 ? base_step(s->session->work, s->done, err) : HDB_OK;
}

/* ---- without the groups ---- */

/* Marks an object that is reachable without the groups. */
static int keep(struct sharing *s, uint32_t ix, struct hdb_error *err)
{
	if (base_bit_has(s->kept, ix) || group_of(s, ix) != UINT32_MAX)
		return HDB_OK;
	base_bit_put(s->kept, ix);
	return base_vec_push(&s->stack, &ix, sizeof(ix), err);
}

static int keep_reference(void *ctx, const struct trace_reference *reference, struct hdb_error *err)
{
	return keep(ctx, reference->to, err);
}

static int mark_kept(struct sharing *s, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec roots = { 0 };

	TRY(trace_roots(&s->graph, &roots, err));
	for (size_t i = 0; i < roots.count; i++)
		TRY(keep(s, base_vec_at(&roots, struct trace_root, i)->ix, err));
	while (s->stack.count) {
		const uint32_t ix = *base_vec_at(&s->stack, uint32_t, --s->stack.count);

		TRY(trace_graph_read(&s->graph, ix, keep_reference, s, err));
		TRY(step(s, err));
	}
	return HDB_OK;
}

/* ---- the groups ---- */

/* Adds an object to the current group: its share, and all of it if no other group reaches it. */
static int add_size(struct sharing *s, uint32_t ix, struct hdb_error *err)
{
	const double part = s->count[ix] ? 1.0 / (double)s->count[ix] : 1;
	struct heap_object object;
	uint64_t bytes = 0;

	/* Shares need the counts of all groups. */
	assert(!s->is_first && !base_bit_has(s->kept, ix));
	TRY(heap_object(s->session->heap, ix, &object, err));
	TRY(trace_recorded_size(s->session->heap, &object, &bytes, err));
	bytes += derive_native_in(&s->native, ix);
	s->bytes += (double)bytes * part;
	s->objects += part;
	if (s->count[ix] <= 1) {
		s->share->alone_bytes += bytes;
		s->share->alone_objects++;
	}
	return HDB_OK;
}

/* Reaches an object from the current group, once a turn. */
static int reach(struct sharing *s, uint32_t ix, struct hdb_error *err)
{
	assert(s->turn); /* 0 is the stamp of what no group has reached */
	if (s->stamp[ix] == s->turn || base_bit_has(s->kept, ix) || !s->steps_left)
		return HDB_OK;
	s->steps_left--;
	s->stamp[ix] = s->turn;
	if (s->is_first)
		s->count[ix]++;
	else
		TRY(add_size(s, ix, err));
	return base_vec_push(&s->stack, &ix, sizeof(ix), err);
}

static int reach_reference(void *ctx, const struct trace_reference *reference,
			   struct hdb_error *err)
{
	return reach(ctx, reference->to, err);
}

/* Follows one group, whose members are ix[0] to ix[count - 1]. */
static int follow_group(struct sharing *s, const uint32_t *ix, uint64_t count,
			struct hdb_error *err)
{
	assert(!s->stack.count);
	s->turn++;
	s->bytes = s->objects = 0;
	for (uint64_t i = 0; i < count; i++)
		TRY(reach(s, ix[i], err));
	while (s->stack.count) {
		const uint32_t at = *base_vec_at(&s->stack, uint32_t, --s->stack.count);

		TRY(trace_graph_read(&s->graph, at, reach_reference, s, err));
		TRY(step(s, err));
	}
	return HDB_OK;
}

/*
 * Sorts members by group: those of group g are (*list)[(*first)[g]] up to (*first)[g + 1]. Both
 * arrays are owned by the caller, also after a failure.
 */
static int list_members(const struct sharing *s, uint64_t **first, uint32_t **list,
			struct hdb_error *err)
{
	const uint32_t n = s->session->heap->object_count, groups = s->members->group_count;
	uint64_t all = 0;

	TRY(BASE_ALLOC(*first, (size_t)groups + 2, "growing objects", err));
	for (uint32_t ix = 0; ix < n; ix++)
		if (group_of(s, ix) != UINT32_MAX)
			(*first)[group_of(s, ix) + 2]++;
	for (uint32_t g = 0; g < groups; g++)
		(*first)[g + 2] += (*first)[g + 1];
	all = (*first)[groups + 1];
	TRY(BASE_ALLOC(*list, all + 1, "growing objects", err));
	for (uint32_t ix = 0; ix < n; ix++)
		if (group_of(s, ix) != UINT32_MAX)
			(*list)[(*first)[group_of(s, ix) + 1]++] = ix;
	return HDB_OK;
}

static int follow_groups(struct sharing *s, struct growth_shares *out, struct hdb_error *err)
{
	BASE_FREED uint64_t *first = NULL;
	BASE_FREED uint32_t *list = NULL;

	TRY(list_members(s, &first, &list, err));
	for (int pass = 0; pass < 2; pass++) {
		s->is_first = pass == 0;
		trace_graph_rewind(&s->graph);
		s->steps_left =
			(uint64_t)s->session->heap->object_count * STEPS_FACTOR + STEP_OBJECTS;
		for (uint32_t g = 0; g < s->members->group_count; g++) {
			s->share = &out->list[g];
			TRY(follow_group(s, list + first[g], first[g + 1] - first[g], err));
			s->share->bytes = (uint64_t)(s->bytes + 0.5);
			s->share->objects = (uint64_t)(s->objects + 0.5);
		}
		out->is_cut |= !s->steps_left;
	}
	return HDB_OK;
}

static void release(struct sharing *s)
{
	base_big_free(&s->stamp_big);
	base_big_free(&s->count_big);
	base_vec_release(&s->stack);
	base_vec_release(&s->native);
	trace_graph_release(&s->graph);
	free(s->kept);
}

int growth_shares_find(const struct session *session, const struct growth_members *members,
		       struct growth_shares *out, struct hdb_error *err)
{
	const uint64_t n = session->heap->object_count;
	BASE_SCOPED(release) struct sharing s = { .session = session, .members = members };
	HEAP_FILTER_SCOPE(heap_show_all, session->heap);

	*out = (struct growth_shares){ .list = NULL };
	TRY(trace_graph_init(&s.graph, session, LIBRARY_FOR_GROWTH, err));
	TRY(BASE_ALLOC(out->list, (size_t)members->group_count + 1, "growing objects", err));
	TRY(BASE_ALLOC(s.kept, (size_t)base_bit_words(n) + 1, "growing objects", err));
	TRY(base_big_alloc(session->work, &s.stamp_big, (n + 1) * sizeof(uint32_t),
			   "growing objects", err));
	TRY(base_big_alloc(session->work, &s.count_big, (n + 1) * sizeof(uint32_t),
			   "growing objects", err));
	s.stamp = s.stamp_big.data;
	s.count = s.count_big.data;
	if (!members->group_count)
		return HDB_OK;
	base_stage(session->work, "sizes of growing objects", n, "objects");
	TRY(derive_native_sizes(session->derive, DERIVE_NATIVE_REGISTERED, &s.native, err));
	TRY(mark_kept(&s, err));
	return follow_groups(&s, out, err);
}

void growth_shares_release(struct growth_shares *shares)
{
	free(shares->list);
	shares->list = NULL;
}
