/*
 * analysis/suspects.c - finds leak suspects on the top level of the dominator tree.
 *
 * There are two passes over the top level, which is sorted by retained size. The first pass takes
 * single suspects from the start of the list, and adds up the remaining objects by class. The
 * second pass collects the members of large classes. Accumulation points are found last, and class
 * objects and objects of the application are then split into the objects that their fields hold.
 */
#include "analysis/suspects.h"

#include "analysis/groups.h"
#include "base/sort.h"
#include "derive/blocks.h"
#include "derive/build.h"
#include "heap/platform_classes.h"

#include <assert.h>
#include <stdlib.h>

/*
 * The search for an accumulation point ends at an object whose largest child retains less than this
 * share of it (MAT: 0.7).
 */
#define DROP_NUMERATOR 7u
#define DROP_DENOMINATOR 10u
/* Maximum depth of an accumulation point (MAT's MAX_DEPTH). */
#define DEPTH_MAX 1000u
/* Maximum number of members of a group whose paths are examined (MAT's max_paths). */
#define MEMBERS_MAX 10000u
/*
 * Minimum size of primitive arrays that are treated as buffers of the program. Smaller arrays are
 * usually parts of strings and collections.
 */
#define BUFFER_BYTES (64u << 10)

/* Totals of the top-level objects of one class. */
struct by_class {
	uint64_t count;
	uint64_t shallow_bytes;
	uint64_t retained_bytes;
};

void analysis_suspects_release(struct analysis_suspects *suspects)
{
	for (size_t i = 0; i < suspects->count; i++) {
		base_vec_release(&suspects->list[i].members);
		base_vec_release(&suspects->list[i].common);
	}
	free(suspects->list);
	base_vec_release(&suspects->values);
	*suspects = (struct analysis_suspects){ 0 };
}

void analysis_suspects_leave(const struct session *session, struct analysis_suspects *suspects)
{
	if (!session->left) {
		analysis_suspects_release(suspects);
		return;
	}
	analysis_suspects_release(session->left);
	*session->left = *suspects;
	*suspects = (struct analysis_suspects){ 0 };
}

static struct analysis_suspect *add_suspect(struct analysis_suspects *out)
{
	struct analysis_suspect *s = &out->list[out->count++];

	assert(out->count <= SUSPECTS_MAX);
	s->ix = s->split_ix = s->point_ix = HEAP_NONE;
	return s;
}

uint32_t analysis_suspect_top(const struct analysis_suspect *suspect)
{
	return suspect->split_ix == HEAP_NONE ? suspect->ix : suspect->split_ix;
}

/* ---- single objects ---- */

static int set_single(const struct session *session, struct analysis_suspect *s, uint32_t ix,
		      uint64_t retained_bytes, struct hdb_error *err)
{
	struct heap_object object;

	TRY(heap_object(session->heap, ix, &object, err));
	s->ix = ix;
	s->class_no = object.class_no;
	s->count = 1;
	s->shallow_bytes = object.shallow_bytes;
	s->retained_bytes = retained_bytes;
	return HDB_OK;
}

/*
 * Takes objects from the top level, largest retained size first, down to the threshold. The rest of
 * the top level may make up most of the heap, so it is read block by block.
 */
static int find_singles(const struct session *session, struct analysis_suspects *out,
			struct hdb_error *err)
{
	struct store_lists top;
	const uint32_t *batch;
	size_t count = 0, i = 0;

	TRY(derive_children(session->derive, &top, err));
	TRY(store_lists_begin(&top, session->heap->object_count, NULL, err));
	while (out->count < SUSPECTS_MAX) {
		bool is_elsewhere;
		uint64_t retained;
		uint32_t ix;

		if (i == count) {
			TRY(store_lists_next(&top, &batch, &count, err));
			if (!count)
				break;
			i = 0;
		}
		ix = batch[i++];
		TRY(heap_passes_over(session->heap, ix, &is_elsewhere, err));
		if (is_elsewhere)
			continue;
		TRY(derive_retained(session->derive, ix, &retained, err));
		if (retained <= out->threshold_bytes)
			break;
		TRY(set_single(session, add_suspect(out), ix, retained, err));
	}
	return HDB_OK;
}

static bool is_single(const struct analysis_suspects *suspects, uint32_t ix)
{
	for (size_t i = 0; i < suspects->count; i++)
		if (suspects->list[i].ix == ix)
			return true;
	return false;
}

/* ---- the rest of the top level, by class ---- */

struct rest {
	const struct session *session;
	struct analysis_suspects *out;
	struct by_class *classes;
	struct by_class *buffers; /* large primitive arrays by class */
};

static int read_rest(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct rest *rest = ctx;

	return derive_tree_read_top(rest->session->derive, block, block->room, err);
}

static void add(struct by_class *class, uint64_t shallow, uint64_t retained)
{
	class->count++;
	class->shallow_bytes += shallow;
	class->retained_bytes += retained;
}

static int add_rest(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct rest *rest = ctx;
	const struct heap_block *objects = block->objects;
	const struct derive_tree_block *tree = block->room;

	(void)err;
	for (uint32_t i = 0; i < objects->count; i++) {
		const uint64_t retained = tree->units[i] * rest->session->heap->layout.align_bytes;

		if (tree->dominator[i] != GRAPH_NONE || objects->kind[i] == HEAP_LEFT_OUT ||
		    is_single(rest->out, objects->first_ix + i))
			continue;
		add(&rest->classes[objects->class_no[i]], objects->shallow[i], retained);
		if (objects->kind[i] == STORE_PRIMITIVE_ARRAY &&
		    objects->shallow[i] >= BUFFER_BYTES)
			add(&rest->buffers[objects->class_no[i]], objects->shallow[i], retained);
	}
	return HDB_OK;
}

static int sum_rest(struct rest *rest, struct hdb_error *err)
{
	struct derive *derive = rest->session->derive;
	HEAP_FILTER_SCOPE(heap_show_chosen, rest->session->heap);

	TRY(derive_tree_prepare(derive, err));
	TRY(heap_prepare_blocks(rest->session->heap, rest->session->work->threads, err));
	return derive_each_block(
		derive,
		&(struct derive_pass){ .stage = "looking for suspects",
				       .make = read_rest,
				       .take = add_rest,
				       .ctx = rest,
				       .room_bytes = sizeof(struct derive_tree_block) },
		err);
}

/* ---- the members of groups ---- */

struct members {
	const struct session *session;
	struct analysis_suspects *out;
	/* indexed by class: 1 + number of the suspect, or 0 if there is none */
	uint8_t *group_of_class;
	struct base_big groups; /* uint8_t, indexed by object: the mark of its class */
	uint64_t *seen;         /* indexed by suspect: number of members visited so far */
};

static_assert(SUSPECTS_MAX < UINT8_MAX, "a number of a suspect is a byte");

static int note_groups(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct members *m = ctx;
	uint8_t *group = (uint8_t *)m->groups.data + block->objects->first_ix;

	(void)err;
	for (uint32_t i = 0; i < block->objects->count; i++)
		group[i] = m->group_of_class[block->objects->class_no[i]];
	return HDB_OK;
}

/*
 * Takes a member. For a small group, all members are taken. For a large group, MEMBERS_MAX evenly
 * spaced members are taken.
 */
static int take_member(struct members *m, uint32_t ix, uint8_t group, struct hdb_error *err)
{
	struct analysis_suspect *s = &m->out->list[group - 1];
	bool is_elsewhere;
	uint64_t at;

	TRY(heap_passes_over(m->session->heap, ix, &is_elsewhere, err));
	if (is_elsewhere)
		return HDB_OK;
	at = m->seen[group - 1]++;
	/*
	 * The top level is sorted, so the large arrays of a class come first. The small arrays that
	 * follow are not members.
	 */
	if (at >= s->count || (s->count > MEMBERS_MAX &&
			       at * MEMBERS_MAX / s->count == (at + 1) * MEMBERS_MAX / s->count))
		return HDB_OK;
	return base_vec_push(&s->members, &ix, sizeof(ix), err);
}

static int find_members(struct members *m, struct hdb_error *err)
{
	const struct session *session = m->session;
	uint8_t *groups;
	struct store_lists top;
	const uint32_t *batch;
	size_t count = 1;

	TRY(base_big_alloc_raw(session->work, &m->groups, (uint64_t)session->heap->object_count + 1,
			       "groups of suspects", err));
	TRY(derive_each_block(session->derive,
			      &(struct derive_pass){ .stage = "members of suspects",
						     .reads_classes = true,
						     .make = note_groups,
						     .ctx = m },
			      err));
	groups = m->groups.data;
	for (size_t i = 0; i < m->out->count; i++)
		if (m->out->list[i].ix != HEAP_NONE)
			groups[m->out->list[i].ix] = 0;
	TRY(derive_children(session->derive, &top, err));
	TRY(store_lists_begin(&top, session->heap->object_count, NULL, err));
	while (count) {
		TRY(store_lists_next(&top, &batch, &count, err));
		for (size_t i = 0; i < count; i++)
			if (groups[batch[i]])
				TRY(take_member(m, batch[i], groups[batch[i]], err));
		TRY(base_step(session->work, session->heap->object_count, err));
	}
	return HDB_OK;
}

/*
 * Records a value class that retains more than the threshold. Such a class is reported, but is not
 * a suspect.
 */
static int add_values(struct analysis_suspects *out, uint32_t class_no,
		      const struct by_class *class, struct hdb_error *err)
{
	const struct analysis_suspect group = {
		.ix = HEAP_NONE,
		.split_ix = HEAP_NONE,
		.point_ix = HEAP_NONE,
		.class_no = class_no,
		.count = class->count,
		.shallow_bytes = class->shallow_bytes,
		.retained_bytes = class->retained_bytes,
	};

	return base_vec_push(&out->values, &group, sizeof(group), err);
}

/*
 * Splits a value class: its large arrays may form a group, and its other objects are recorded as
 * values. Sets *group to the objects that may become a suspect. For any other class, these are all
 * its objects.
 */
static int set_values_aside(struct rest *rest, uint32_t no, struct by_class *group,
			    struct hdb_error *err)
{
	const uint64_t threshold = rest->out->threshold_bytes;
	struct by_class *values = &rest->classes[no];

	*group = *values;
	if (values->retained_bytes <= threshold ||
	    !heap_is_value_class(heap_class_name(rest->session->heap, no)))
		return HDB_OK;
	*group = rest->buffers[no];
	if (group->retained_bytes > threshold) {
		values->count -= group->count;
		values->shallow_bytes -= group->shallow_bytes;
		values->retained_bytes -= group->retained_bytes;
	}
	return values->retained_bytes > threshold ? add_values(rest->out, no, values, err) : HDB_OK;
}

static void release_members(struct members *m)
{
	base_big_free(&m->groups);
	free(m->group_of_class);
	free(m->seen);
}

/* Adds a suspect for each class that is large enough, and then collects the members. */
static int add_groups(struct rest *rest, struct hdb_error *err)
{
	const struct session *session = rest->session;
	struct analysis_suspects *out = rest->out;
	const size_t singles = out->count;
	BASE_SCOPED(release_members) struct members m = { .session = session, .out = out };

	TRY(BASE_ALLOC(m.group_of_class, (size_t)session->heap->class_count + 1,
		       "groups of suspects", err));
	TRY(BASE_ALLOC(m.seen, SUSPECTS_MAX, "groups of suspects", err));
	for (uint32_t no = 0; no < session->heap->class_count; no++) {
		struct analysis_suspect *s;
		struct by_class group;

		TRY(set_values_aside(rest, no, &group, err));
		if (group.retained_bytes <= out->threshold_bytes || out->count == SUSPECTS_MAX)
			continue;
		s = add_suspect(out);
		m.group_of_class[no] = (uint8_t)out->count;
		s->class_no = no;
		s->count = group.count;
		s->least_bytes =
			heap_is_value_class(heap_class_name(session->heap, no)) ? BUFFER_BYTES : 0;
		s->shallow_bytes = group.shallow_bytes;
		s->retained_bytes = group.retained_bytes;
	}
	return out->count > singles ? find_members(&m, err) : HDB_OK;
}

/* ---- accumulation points ---- */

/* An object on the path down to an accumulation point. */
struct way {
	uint32_t ix, class_no;
	uint64_t bytes;
};

/*
 * Finds the child with the largest retained size. Lists of children are sorted by retained size.
 * Sets out->ix to HEAP_NONE if there are no children.
 */
static int largest_child(const struct session *session, struct store_lists *children, uint32_t of,
			 struct way *out, struct hdb_error *err)
{
	struct heap_object object;
	const uint32_t *batch;
	size_t count = 0;

	out->ix = HEAP_NONE;
	TRY(store_lists_begin(children, of, NULL, err));
	TRY(store_lists_next(children, &batch, &count, err));
	if (!count)
		return HDB_OK;
	out->ix = batch[0];
	TRY(derive_retained(session->derive, out->ix, &out->bytes, err));
	TRY(heap_object(session->heap, out->ix, &object, err));
	out->class_no = object.class_no;
	return HDB_OK;
}

/*
 * Finds the accumulation point of a single object by following the largest child as long as it
 * retains most of its parent. MAT stops after DEPTH_MAX steps. Only linked lists are so deep, and
 * their accumulation point is the first object of the nodes' class.
 */
static int find_point(const struct session *session, struct analysis_suspect *s,
		      struct hdb_error *err)
{
	BASE_FREED struct way *ways = calloc(DEPTH_MAX + 1, sizeof(*ways));
	struct store_lists children;
	uint32_t at = 0;
	int r = ways ? derive_children(session->derive, &children, err) :
		       hdb_fail_memory(err, "the path to an accumulation point",
				       DEPTH_MAX * sizeof(*ways));

	assert(s->ix != HEAP_NONE);
	TRY(r);
	ways[0] = (struct way){ s->ix, s->class_no, s->retained_bytes };
	for (; at < DEPTH_MAX; at++) {
		struct way *next = &ways[at + 1];

		r = largest_child(session, &children, ways[at].ix, next, err);
		if (r != HDB_OK || next->ix == HEAP_NONE ||
		    (double)next->bytes * DROP_DENOMINATOR <
			    (double)ways[at].bytes * DROP_NUMERATOR)
			break;
	}
	TRY(r);
	s->is_list = at == DEPTH_MAX;
	if (s->is_list)
		for (at = 0; ways[at].class_no != ways[DEPTH_MAX].class_no; at++)
			;
	s->point_ix = ways[at].ix;
	return r;
}

/* Sets *out to whether a class has exactly one reachable instance. */
static int has_one_instance(const struct session *session, uint32_t class_no, bool *out,
			    struct hdb_error *err)
{
	BASE_FREED struct derive_total *totals = NULL;
	size_t count, i = 0;

	TRY(derive_totals(session->derive, DERIVE_CLASS, &totals, &count, err));
	while (i < count && totals[i].no != class_no)
		i++;
	*out = i < count && totals[i].count == 1;
	return HDB_OK;
}

/*
 * Sets *out to whether at least two suspects would replace an object: its two largest children, or
 * the largest child and the rest.
 */
static int has_parts(const struct session *session, const struct analysis_suspects *suspects,
		     uint32_t ix, bool *out, struct hdb_error *err)
{
	struct store_lists children;
	struct way first;
	uint64_t bytes;

	*out = false;
	TRY(derive_children(session->derive, &children, err));
	TRY(derive_retained(session->derive, ix, &bytes, err));
	TRY(largest_child(session, &children, ix, &first, err));
	*out = first.ix != HEAP_NONE && first.bytes > suspects->threshold_bytes &&
	       first.bytes < bytes && bytes - first.bytes > suspects->threshold_bytes;
	return HDB_OK;
}

/* Returns whether an object is an instance of a class of the application, but not a thread. */
static bool is_of_application(struct heap *heap, const struct heap_object *object)
{
	return object->kind == STORE_INSTANCE &&
	       heap_is_own_class(heap_class_name(heap, object->class_no)) &&
	       !heap_has_superclass(heap, object->class_no, "java.lang.ClassLoader") &&
	       !heap_has_superclass(heap, object->class_no, "java.lang.Thread");
}

/*
 * Sets *out to the object to split, or HEAP_NONE: the suspect or its accumulation point, if it is a
 * class object, or if it is the only instance of a class of the application. The fields of such an
 * instance, like static fields, are unrelated parts of the program. Objects of which there are more
 * may be nodes of one data structure. Threads and class loaders also hold what is in no field.
 */
static int find_split(const struct session *session, const struct analysis_suspects *suspects,
		      const struct analysis_suspect *s, uint32_t *out, struct hdb_error *err)
{
	struct heap_object object;
	bool is_split = false;

	*out = s->ix;
	TRY(heap_object(session->heap, s->ix, &object, err));
	if (object.kind == STORE_CLASS)
		return HDB_OK;
	*out = s->point_ix;
	TRY(heap_object(session->heap, s->point_ix, &object, err));
	if (object.kind == STORE_CLASS)
		return HDB_OK;
	if (is_of_application(session->heap, &object))
		TRY(has_one_instance(session, object.class_no, &is_split, err));
	if (is_split)
		TRY(has_parts(session, suspects, s->point_ix, &is_split, err));
	if (!is_split)
		*out = HEAP_NONE;
	return HDB_OK;
}

/*
 * Replaces suspect `no`, if it can be split, with the objects that the split object dominates and
 * that are large enough to be suspects. If none is, the suspect remains. If the rest is large
 * enough, such as objects to which several fields lead, it becomes a suspect too.
 */
static int split(const struct session *session, struct analysis_suspects *out, size_t no,
		 bool *is_split, struct hdb_error *err)
{
	struct analysis_suspect rest = out->list[no];
	struct store_lists children;
	struct heap_object object;
	const uint32_t *batch;
	size_t count = 0, i = 0;
	uint32_t from_ix, top_ix;

	TRY(find_split(session, out, &rest, &from_ix, err));
	if (from_ix == HEAP_NONE)
		return HDB_OK;
	TRY(heap_object(session->heap, from_ix, &object, err));
	top_ix = object.kind == STORE_CLASS ? from_ix : analysis_suspect_top(&rest);
	TRY(derive_children(session->derive, &children, err));
	TRY(store_lists_begin(&children, from_ix, NULL, err));
	while (out->count < SUSPECTS_MAX) {
		struct analysis_suspect *s;
		uint64_t bytes;

		if (i == count) {
			TRY(store_lists_next(&children, &batch, &count, err));
			i = 0;
		}
		if (!count)
			break;
		TRY(derive_retained(session->derive, batch[i], &bytes, err));
		/* A child retains as much as its parent only in a damaged table. */
		if (bytes <= out->threshold_bytes || bytes >= rest.retained_bytes)
			break;
		s = *is_split ? add_suspect(out) : &out->list[no];
		TRY(set_single(session, s, batch[i++], bytes, err));
		s->split_ix = top_ix;
		*is_split = true;
		rest.retained_bytes -= bytes;
		rest.split_bytes = bytes;
	}
	if (*is_split && rest.retained_bytes > out->threshold_bytes && out->count < SUSPECTS_MAX) {
		rest.point_ix = from_ix;
		rest.is_list = false;
		out->list[out->count++] = rest;
	}
	return HDB_OK;
}

static int find_points(const struct session *session, struct analysis_suspects *out,
		       struct hdb_error *err)
{
	for (size_t i = 0; i < out->count;) {
		struct analysis_suspect *s = &out->list[i];
		bool is_split = false;

		/*
		 * A chain of objects may split one suspect many times, so the loop is
		 * limited.
		 */
		TRY(base_step(session->work, i, err));
		if (s->split_bytes) {
			/*
			 * this suspect is the rest of an object that was split before; its
			 * accumulation point is that object
			 */
		} else if (s->ix != HEAP_NONE) {
			TRY(find_point(session, s, err));
			TRY(split(session, out, i, &is_split, err));
		} else {
			TRY(analysis_common_path(session, s, err));
		}
		i += !is_split;
	}
	return HDB_OK;
}

/*
 * Sorts by retained size, largest first, then single objects before groups, then by shallow size.
 * Class and index make the order unique.
 */
BASE_ORDER(compare_suspects, struct analysis_suspect, BASE_DOWN(retained_bytes),
	   BASE_FALSE_FIRST(x->ix == HEAP_NONE, y->ix == HEAP_NONE), BASE_DOWN(shallow_bytes),
	   BASE_UP(class_no), BASE_UP(ix))

int analysis_suspects_find(const struct session *session, unsigned percent,
			   struct analysis_suspects *out, struct hdb_error *err)
{
	BASE_FREED struct by_class *classes = NULL, *buffers = NULL;
	struct rest rest = { .session = session, .out = out };
	struct derive_total whole;

	assert(percent >= SUSPECTS_PERCENT_MIN);
	*out = (struct analysis_suspects){ 0 };
	if (session->left && session->left->list) {
		*out = *session->left;
		*session->left = (struct analysis_suspects){ 0 };
		return HDB_OK;
	}
	TRY(heap_load_classes(session->heap, err));
	TRY(analysis_heap_total(session, &whole, err));
	out->whole_bytes = whole.shallow_bytes;
	out->retained_bytes = whole.retained_bytes;
	/* Very large numbers occur only in a damaged database. The conversion must not overflow. */
	if (percent < 100 && whole.shallow_bytes < UINT64_MAX / 2)
		out->threshold_bytes = (uint64_t)((double)whole.shallow_bytes * percent / 100);
	else
		out->threshold_bytes = whole.shallow_bytes;
	TRY(BASE_ALLOC(out->list, SUSPECTS_MAX, "suspects", err));
	TRY(BASE_ALLOC(classes, (size_t)session->heap->class_count + 1, "suspects", err));
	TRY(BASE_ALLOC(buffers, (size_t)session->heap->class_count + 1, "suspects", err));
	rest.classes = classes;
	rest.buffers = buffers;
	TRY(find_singles(session, out, err));
	TRY(sum_rest(&rest, err));
	TRY(add_groups(&rest, err));
	TRY(find_points(session, out, err));
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), compare_suspects);
	base_vec_sort(&out->values, sizeof(*out->list), compare_suspects);
	return HDB_OK;
}
