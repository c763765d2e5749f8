/*
 * analysis/merged_few.c - a merged tree of few objects: their ways up are walked, each step once,
 * instead of passes over the whole heap.
 */
#include "analysis/merged_private.h"

#include "derive/native.h"

#include <assert.h>

/* Members between two looks at the cancel flag. */
#define STEP_MEMBERS 1024

/* No step: of a way's last one, and of a member that is not reachable. */
#define NOWHERE UINT32_MAX

/* An object on the way of a member. */
struct way_step {
	uint32_t ix;
	uint32_t above; /* number of the next step up, or NOWHERE */
	uint32_t node;  /* once it is placed */
};

/* A member's way: its own step, and those that no member before it had, the lowest first. */
struct way {
	uint32_t step;
	uint32_t first, end;
};

struct few {
	const struct session *session;
	enum analysis_tree tree;
	struct base_vec steps;         /* struct way_step */
	struct base_vec ways;          /* struct way, one a member */
	struct base_idmap number;      /* of steps, by index of the object */
	const struct base_vec *native; /* struct derive_native, ascending; NULL: none */
};

static struct way_step *step_at(const struct few *f, uint32_t no)
{
	assert(no < f->steps.count);
	return base_vec_at(&f->steps, struct way_step, no);
}

static int parent_of(const struct few *f, uint32_t ix, bool *reachable, uint32_t *parent,
		     struct hdb_error *err)
{
	struct derive *derive = f->session->derive;
	const int r = f->tree == ANALYSIS_TREE_DOMINATORS ?
			      derive_dominator(derive, ix, parent, err) :
			      derive_reach(derive, f->tree == ANALYSIS_TREE_REACH_STRONG, ix,
					   parent, err);

	*reachable = r == HDB_OK && *parent != ix;
	return r;
}

/* Adds the part of a member's way that is not there yet, ANALYSIS_FEW_STEPS and one at most. */
static int add_way(struct few *f, uint32_t member, struct hdb_error *err)
{
	struct way way = { NOWHERE, (uint32_t)f->steps.count, (uint32_t)f->steps.count };
	uint32_t ix = member;

	while (ix != HEAP_NONE && f->steps.count <= ANALYSIS_FEW_STEPS) {
		const uint32_t known = base_idmap_get(&f->number, ix);
		const uint32_t no = known == BASE_IDMAP_NONE ? way.end : known;
		struct way_step step = { ix, NOWHERE, ANALYSIS_MERGED_TOP };
		uint32_t parent = HEAP_NONE;
		bool reachable = false;

		if (known == BASE_IDMAP_NONE) {
			TRY(parent_of(f, ix, &reachable, &parent, err));
			if (!reachable && ix == member)
				break;
			if (!reachable)
				return analysis_merged_damaged(f->session, f->tree, ix,
							       "an unreachable object is a parent",
							       err);
		} else if (known >= way.first) {
			return analysis_merged_damaged(f->session, f->tree, member,
						       "parents form a circle", err);
		}
		if (ix == member)
			way.step = no;
		else
			step_at(f, way.end - 1)->above = no;
		if (known != BASE_IDMAP_NONE)
			break;
		TRY(base_vec_push(&f->steps, &step, sizeof(step), err));
		TRY(base_idmap_put(&f->number, ix, no, err));
		way.end++;
		ix = parent;
	}
	return base_vec_push(&f->ways, &way, sizeof(way), err);
}

static int add_ways(struct few *f, const struct analysis_merged_source *source,
		    struct hdb_error *err)
{
	for (uint64_t i = 0; i < source->list_count && f->steps.count <= ANALYSIS_FEW_STEPS; i++) {
		TRY(add_way(f, source->list[i], err));
		if (i % STEP_MEMBERS == 0)
			TRY(base_step(f->session->work, i, err));
	}
	return HDB_OK;
}

/* Gives nodes to a way's own steps, from the top down. */
static int place_way(const struct few *f, struct analysis_merged *m, const struct way *way,
		     const uint32_t *names, struct hdb_error *err)
{
	struct heap *heap = f->session->heap;

	assert(way->first <= way->end);
	assert(way->end <= f->steps.count);
	for (uint32_t no = way->end; no-- > way->first;) {
		struct way_step *step = step_at(f, no);
		const uint32_t above = step->above == NOWHERE ? ANALYSIS_MERGED_TOP :
								step_at(f, step->above)->node;
		struct heap_object object;

		TRY(heap_object(heap, step->ix, &object, err));
		TRY(analysis_merged_child(
			m, above,
			names[object.kind == STORE_CLASS ? heap->class_count + object.length :
							   object.class_no],
			&step->node, err));
	}
	return HDB_OK;
}

/* Counts a member with its node; what it retains tells examples apart, if that is to be had. */
static int count_member(const struct few *f, uint32_t ix, struct analysis_merged_sum *sum,
			struct hdb_error *err)
{
	struct heap_object object;
	uint64_t weight;
	bool is_real;
	int r;

	TRY(heap_object(f->session->heap, ix, &object, err));
	weight = object.shallow_bytes;
	if ((r = heap_is_real(f->session->heap, ix, &is_real, err)) != HDB_OK || !is_real)
		return r;
	if (derive_has(f->session->derive, STORE_RETAINED) &&
	    (r = derive_retained(f->session->derive, ix, &weight, err)) != HDB_OK)
		return r;
	analysis_merged_count_one(sum, ix, object.shallow_bytes, weight);
	if (f->native)
		sum->native_bytes += derive_native_in(f->native, ix);
	return r;
}

int analysis_merged_few(const struct analysis_merged_job *job, bool *is_done, struct hdb_error *err)
{
	struct few f = {
		.session = job->session,
		.tree = job->source->tree,
		.native = job->source->native,
	};
	int r = add_ways(&f, job->source, err);

	*is_done = r == HDB_OK && f.steps.count <= ANALYSIS_FEW_STEPS;
	for (size_t i = 0; *is_done && i < f.ways.count; i++) {
		const struct way *way = base_vec_at(&f.ways, struct way, i);

		if (way->step == NOWHERE)
			continue;
		if ((r = place_way(&f, job->m, way, job->names, err)) != HDB_OK)
			goto out;
		if ((r = count_member(
			     &f, job->source->list[i],
			     analysis_merged_sum(job->m, step_at(&f, way->step)->node, job->dump),
			     err)) != HDB_OK)
			goto out;
	}
out:
	base_vec_release(&f.steps);
	base_vec_release(&f.ways);
	base_idmap_release(&f.number);
	return r;
}
