/*
 * analysis/suspects.c - finds leak suspects on the top level of the dominator tree.
 *
 * Two passes over the top level, which is sorted by retained size: the first takes single suspects
 * from its start and sums up the rest by class, the second collects the members of the classes that
 * turned out to be large. Accumulation points are found last.
 */
#include "analysis/suspects.h"

#include "analysis/groups.h"
#include "base/sort.h"
#include "heap/platform_classes.h"

#include <assert.h>
#include <stdlib.h>

/*
 * The way down to an accumulation point ends at a child that retains less than this part of its
 * parent (MAT: 0.7).
 */
#define DROP_NUMERATOR 7u
#define DROP_DENOMINATOR 10u
/* Maximum number of steps down to an accumulation point (MAT's MAX_DEPTH). */
#define DEPTH_MAX 1000u
/* Maximum number of members of a group whose paths are examined (MAT's max_paths). */
#define MEMBERS_MAX 10000u
/*
 * Primitive arrays of at least this size are buffers of the program; smaller ones are usually
 * inside strings and collections.
 */
#define BUFFER_BYTES (64u << 10)
/* Objects between two checks of the cancel flag. */
#define STEP_OBJECTS 16384u

/* Sums of the objects on the top level of one class. */
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

static struct analysis_suspect *add_suspect(struct analysis_suspects *out)
{
	struct analysis_suspect *s = &out->list[out->count++];

	assert(out->count <= SUSPECTS_MAX);
	s->ix = s->point_ix = HEAP_NONE;
	return s;
}

/*
 * Calls `take` for every object on the top level, largest retained size first. Objects of heaps
 * that a filter hides are skipped.
 */
static int each_top(const struct session *session,
		    int (*take)(void *ctx, const struct heap_object *object, uint64_t retained,
				struct hdb_error *err),
		    void *ctx, struct hdb_error *err)
{
	struct store_lists top;
	const uint32_t *batch;
	uint64_t length, done = 0;
	size_t count = 1;

	TRY(derive_children(session->derive, &top, err));
	TRY(store_lists_begin(&top, session->heap->object_count, &length, err));
	base_stage(session->work, "looking for suspects", length, "objects");
	while (count) {
		TRY(store_lists_next(&top, &batch, &count, err));
		for (size_t i = 0; i < count; i++, done++) {
			struct heap_object object;
			uint64_t retained;
			bool is_elsewhere;

			TRY(heap_passes_over(session->heap, batch[i], &is_elsewhere, err));
			if (is_elsewhere)
				continue;
			TRY(heap_object(session->heap, batch[i], &object, err));
			TRY(derive_retained(session->derive, batch[i], &retained, err));
			TRY(take(ctx, &object, retained, err));
			if (done % STEP_OBJECTS == 0)
				TRY(base_step(session->work, done, err));
		}
	}
	return HDB_OK;
}

static void add(struct by_class *class, const struct heap_object *object, uint64_t retained)
{
	class->count++;
	class->shallow_bytes += object->shallow_bytes;
	class->retained_bytes += retained;
}

/* State of the pass that finds single suspects. */
struct first_pass {
	struct analysis_suspects *out;
	struct by_class *classes;
	struct by_class *buffers; /* large primitive arrays by class */
	/* set at the first object that is too small, because all later ones are smaller */
	bool is_rest;
};

static int take_first(void *ctx, const struct heap_object *object, uint64_t retained,
		      struct hdb_error *err)
{
	struct first_pass *pass = ctx;
	struct by_class *class = &pass->classes[object->class_no];
	struct analysis_suspect *s;

	(void)err;
	if (!pass->is_rest && retained > pass->out->threshold_bytes &&
	    pass->out->count < SUSPECTS_MAX) {
		s = add_suspect(pass->out);
		s->ix = object->ix;
		s->class_no = object->class_no;
		s->count = 1;
		s->shallow_bytes = object->shallow_bytes;
		s->retained_bytes = retained;
		return HDB_OK;
	}
	pass->is_rest = true;
	add(class, object, retained);
	if (object->kind == STORE_PRIMITIVE_ARRAY && object->shallow_bytes >= BUFFER_BYTES)
		add(&pass->buffers[object->class_no], object, retained);
	return HDB_OK;
}

/* They follow the single suspects on the top level. */
/* ---- the members of groups ---- */

struct second_pass {
	struct analysis_suspects *out;
	uint32_t *group; /* by class: index of its suspect, or HEAP_NONE */
	uint64_t *seen;  /* by suspect: members seen so far */
	size_t singles;  /* number of single suspects, which come first on the top level */
	size_t passed;   /* number of those already skipped */
};

/* Adds an object to its group: every member, or MEMBERS_MAX of them at even distances. */
static int take_member(void *ctx, const struct heap_object *object, uint64_t retained,
		       struct hdb_error *err)
{
	struct second_pass *pass = ctx;
	const uint32_t group = pass->group[object->class_no];
	struct analysis_suspect *s;
	uint64_t at;

	(void)retained;
	if (pass->passed < pass->singles) {
		pass->passed++;
		return HDB_OK;
	}
	if (group == HEAP_NONE)
		return HDB_OK;
	s = &pass->out->list[group];
	at = pass->seen[group]++;
	/*
	 * The top level is sorted, so the large arrays of a class come first; the small ones after
	 * them are no members.
	 */
	if (at >= s->count)
		return HDB_OK;
	if (s->count > MEMBERS_MAX &&
	    at * MEMBERS_MAX / s->count == (at + 1) * MEMBERS_MAX / s->count)
		return HDB_OK;
	return base_vec_push(&s->members, &object->ix, sizeof(object->ix), err);
}

/*
 * Records a class of values that retains more than the threshold. It is reported, but is no
 * suspect.
 */
static int add_values(struct analysis_suspects *out, uint32_t class_no,
		      const struct by_class *class, struct hdb_error *err)
{
	const struct analysis_suspect group = {
		.ix = HEAP_NONE,
		.point_ix = HEAP_NONE,
		.class_no = class_no,
		.count = class->count,
		.shallow_bytes = class->shallow_bytes,
		.retained_bytes = class->retained_bytes,
	};

	return base_vec_push(&out->values, &group, sizeof(group), err);
}

/*
 * Splits a class of values: its large arrays may form a group, the rest is recorded as values.
 * *group is what may become a suspect; for other classes, all objects of the class.
 */
static int set_values_aside(const struct session *session, struct first_pass *first, uint32_t no,
			    struct by_class *group, struct hdb_error *err)
{
	const uint64_t threshold = first->out->threshold_bytes;
	struct by_class *values = &first->classes[no];

	*group = *values;
	if (values->retained_bytes <= threshold ||
	    !heap_is_value_class(heap_class_name(session->heap, no)))
		return HDB_OK;
	*group = first->buffers[no];
	if (group->retained_bytes > threshold) {
		values->count -= group->count;
		values->shallow_bytes -= group->shallow_bytes;
		values->retained_bytes -= group->retained_bytes;
	}
	return values->retained_bytes > threshold ? add_values(first->out, no, values, err) :
						    HDB_OK;
}

static void release_second(struct second_pass *pass)
{
	free(pass->group);
	free(pass->seen);
}

/* Adds a suspect for each class that is large enough, then collects the members. */
static int add_groups(const struct session *session, struct first_pass *first,
		      struct hdb_error *err)
{
	struct analysis_suspects *out = first->out;
	BASE_SCOPED(release_second)
	struct second_pass pass = { .out = out, .singles = out->count };

	TRY(BASE_ALLOC(pass.group, (size_t)session->heap->class_count + 1, "groups of suspects",
		       err));
	TRY(BASE_ALLOC(pass.seen, SUSPECTS_MAX, "groups of suspects", err));
	for (uint32_t no = 0; no < session->heap->class_count; no++) {
		struct analysis_suspect *s;
		struct by_class group;

		pass.group[no] = HEAP_NONE;
		TRY(set_values_aside(session, first, no, &group, err));
		if (group.retained_bytes <= out->threshold_bytes || out->count == SUSPECTS_MAX)
			continue;
		pass.group[no] = (uint32_t)out->count;
		s = add_suspect(out);
		s->class_no = no;
		s->count = group.count;
		s->least_bytes =
			heap_is_value_class(heap_class_name(session->heap, no)) ? BUFFER_BYTES : 0;
		s->shallow_bytes = group.shallow_bytes;
		s->retained_bytes = group.retained_bytes;
	}
	return out->count > pass.singles ? each_top(session, take_member, &pass, err) : HDB_OK;
}

/* ---- accumulation points ---- */

/* An object on the way down to an accumulation point. */
struct way {
	uint32_t ix, class_no;
	uint64_t bytes;
};

/*
 * Finds the child that retains most; out->ix is HEAP_NONE if there are no children. Lists of
 * children are sorted by retained size.
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
 * Finds the accumulation point of a single object: goes down as long as the largest child retains
 * most of its parent. MAT stops after DEPTH_MAX steps. Only linked lists are that deep; they
 * accumulate at their start, the first object of the class of their nodes.
 */
static int find_point(const struct session *session, struct analysis_suspect *s,
		      struct hdb_error *err)
{
	BASE_FREED struct way *ways = calloc(DEPTH_MAX + 1, sizeof(*ways));
	struct store_lists children;
	uint32_t at = 0;
	int r = ways ? derive_children(session->derive, &children, err) :
		       hdb_fail_memory(err, "the way to an accumulation point",
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
	s->point_bytes = ways[at].bytes;
	return r;
}

static int find_points(const struct session *session, struct analysis_suspects *out,
		       struct hdb_error *err)
{
	for (size_t i = 0; i < out->count; i++) {
		struct analysis_suspect *s = &out->list[i];

		if (s->ix != HEAP_NONE) {
			TRY(find_point(session, s, err));
			continue;
		}
		TRY(analysis_common_path(session, s, err));
	}
	return HDB_OK;
}

/*
 * By retained size, largest first; then single objects before groups, and by shallow size. Class
 * and index make the order unique.
 */
static int compare_suspects(const void *a, const void *b)
{
	const struct analysis_suspect *x = a, *y = b;

	BASE_DESCENDING(x->retained_bytes, y->retained_bytes);
	if ((x->ix == HEAP_NONE) != (y->ix == HEAP_NONE))
		return x->ix == HEAP_NONE ? 1 : -1;
	BASE_DESCENDING(x->shallow_bytes, y->shallow_bytes);
	BASE_ASCENDING(x->class_no, y->class_no);
	return x->ix < y->ix ? -1 : x->ix > y->ix;
}

int analysis_suspects_find(const struct session *session, unsigned percent,
			   struct analysis_suspects *out, struct hdb_error *err)
{
	BASE_FREED struct by_class *classes = NULL, *buffers = NULL;
	struct first_pass pass = { .out = out };
	struct derive_total whole;

	assert(percent >= SUSPECTS_PERCENT_MIN);
	*out = (struct analysis_suspects){ 0 };
	TRY(heap_load_classes(session->heap, err));
	TRY(analysis_heap_total(session, &whole, err));
	out->whole_bytes = whole.shallow_bytes;
	out->retained_bytes = whole.retained_bytes;
	/*
	 * Large numbers come only from a damaged database; do not let them overflow in the
	 * conversion.
	 */
	if (percent < 100 && whole.shallow_bytes < UINT64_MAX / 2)
		out->threshold_bytes = (uint64_t)((double)whole.shallow_bytes * percent / 100);
	else
		out->threshold_bytes = whole.shallow_bytes;
	TRY(BASE_ALLOC(out->list, SUSPECTS_MAX, "suspects", err));
	TRY(BASE_ALLOC(classes, (size_t)session->heap->class_count + 1, "suspects", err));
	TRY(BASE_ALLOC(buffers, (size_t)session->heap->class_count + 1, "suspects", err));
	pass.classes = classes;
	pass.buffers = buffers;
	TRY(each_top(session, take_first, &pass, err));
	TRY(add_groups(session, &pass, err));
	TRY(find_points(session, out, err));
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), compare_suspects);
	base_vec_sort(&out->values, sizeof(*out->list), compare_suspects);
	return HDB_OK;
}
