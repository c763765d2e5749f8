/*
 * query/leak_parts.c - what piles up in a leak suspect, by class.
 */
#include "query/leak_parts.h"

#include <stdlib.h>
#include <string.h>

/* Children that are counted by class, the largest first; more are only told by their number. */
#define CHILDREN_MAX 2000000u
/* Children that are followed down to what they hold: the largest, and so many of the others. */
#define ELEMENTS_ALL 1024u
#define ELEMENTS_FOLLOWED 200000u
/* An entry dominates a key, a value and the next entry at most. */
#define ELEMENT_CHILDREN 4u
/* Objects that wait, and steps, below one child: buckets and wrappers in wrappers. */
#define ELEMENT_STACK 64u
#define ELEMENT_STEPS 64u
/* Objects below a suspect that are counted by class one by one: half a second of work. */
#define CONTENTS_MAX 1000000u
/* Children of an object that stand for all, if there are more objects than that. */
#define CHILDREN_SAMPLED 1024u
/* Classes that are told (MAT: 20). */
#define CLASSES_SHOWN 8u
/* Objects between two looks at the cancel flag. */
#define STEP_OBJECTS 4096u

struct by_class {
	uint64_t count, shallow_bytes, retained_bytes;
	uint32_t class_no;
};

static int compare_retained(const void *a, const void *b)
{
	const struct by_class *x = a, *y = b;

	if (x->retained_bytes != y->retained_bytes)
		return x->retained_bytes > y->retained_bytes ? -1 : 1;
	if (x->shallow_bytes != y->shallow_bytes)
		return x->shallow_bytes > y->shallow_bytes ? -1 : 1;
	return x->class_no < y->class_no ? -1 : x->class_no > y->class_no;
}

static int new_classes(struct query *q, struct by_class **out, struct hdb_error *err)
{
	*out = calloc((size_t)q->heap->class_count + 1, sizeof(**out));
	if (!*out)
		return hdb_fail_memory(err, "objects by class",
				       q->heap->class_count * sizeof(**out));
	for (uint32_t no = 0; no < q->heap->class_count; no++)
		(*out)[no].class_no = no;
	return HDB_OK;
}

/* Sorts, and tells the first ones. */
static int tell_classes(struct query *q, struct query_story *story, const char *kind, uint64_t part,
			struct by_class *classes, bool with_retained, struct hdb_error *err)
{
	int r = HDB_OK;

	qsort(classes, q->heap->class_count, sizeof(*classes), compare_retained);
	for (uint32_t i = 0; i < q->heap->class_count && i < CLASSES_SHOWN && r == HDB_OK; i++) {
		struct query_story_row row = query_story_row(kind, part);

		if (!classes[i].count)
			break;
		row.step = i;
		row.class_no = classes[i].class_no;
		row.count = classes[i].count;
		row.shallow_bytes = classes[i].shallow_bytes;
		if (with_retained)
			row.retained_bytes = classes[i].retained_bytes;
		r = query_story_add(story, &row, err);
	}
	return r;
}

static int count_object(struct query *q, struct by_class *classes, uint32_t ix,
			struct hdb_error *err)
{
	struct heap_object object;
	uint64_t retained = 0;
	int r = heap_object(q->heap, ix, &object, err);

	if (r == HDB_OK)
		r = derive_retained(q->derive, ix, &retained, err);
	if (r != HDB_OK)
		return r;
	classes[object.class_no].count++;
	classes[object.class_no].shallow_bytes += object.shallow_bytes;
	classes[object.class_no].retained_bytes += retained;
	return HDB_OK;
}

/* ---- immediate children ---- */

int query_leak_children(struct query *q, struct query_story *story, uint64_t part,
			const struct query_suspect *suspect, struct hdb_error *err)
{
	struct store_lists children;
	struct by_class *classes;
	const uint32_t *batch;
	size_t count = 1, done = 0;
	int r;

	if (suspect->point_ix == HEAP_NONE)
		return HDB_OK;
	r = new_classes(q, &classes, err);
	if (r == HDB_OK)
		r = derive_children(q->derive, &children, err);
	if (r == HDB_OK)
		r = store_lists_begin(&children, suspect->point_ix, NULL, err);
	while (r == HDB_OK && count && done < CHILDREN_MAX) {
		r = store_lists_next(&children, &batch, &count, err);
		for (size_t i = 0; i < count && r == HDB_OK; i++)
			r = count_object(q, classes, batch[i], err);
		done += count;
		if (r == HDB_OK && done % STEP_OBJECTS < count)
			r = base_step(q->work, done, err);
	}
	if (r == HDB_OK)
		r = tell_classes(q, story, "child", part, classes, true, err);
	free(classes);
	return r;
}

/* ---- what the children hold ---- */

struct elements {
	struct by_class *classes;
	struct store_lists lists;
	bool is_estimated;
};

static int is_platform_object(struct query *q, uint32_t ix, bool *out, struct hdb_error *err)
{
	struct heap_object object;
	const int r = heap_object(q->heap, ix, &object, err);

	*out = r == HDB_OK && query_is_platform_class(heap_class_name(q->heap, object.class_no));
	return r;
}

/*
 * Puts what an object dominates in its place if that is a few objects which keep most of it: the values of entries, of
 * wrappers, the next entries of a bucket. *taken: whether it did.
 */
static int replace_element(struct query *q, struct elements *e, uint32_t *stack, size_t *depth,
			   bool *taken, struct hdb_error *err)
{
	const uint32_t ix = stack[*depth - 1];
	uint64_t own, sum = 0, length = 0;
	const uint32_t *batch;
	size_t count;
	int r = derive_retained(q->derive, ix, &own, err);

	*taken = false;
	if (r == HDB_OK)
		r = store_lists_begin(&e->lists, ix, &length, err);
	if (r != HDB_OK || !length || length > ELEMENT_CHILDREN ||
	    *depth + length - 1 > ELEMENT_STACK)
		return r;
	r = store_lists_next(&e->lists, &batch, &count, err);
	for (size_t i = 0; i < count && r == HDB_OK; i++) {
		uint64_t bytes;

		r = derive_retained(q->derive, batch[i], &bytes, err);
		sum += r == HDB_OK ? bytes : 0;
	}
	if (r != HDB_OK || count < length || sum <= own / 2)
		return r;
	memcpy(stack + *depth - 1, batch, count * sizeof(*batch));
	*depth += count - 1;
	*taken = true;
	return HDB_OK;
}

/* Counts what one child holds in the end, so many times: itself if all of that is the platform's. */
static int count_element(struct query *q, struct elements *e, uint32_t ix, uint64_t times,
			 struct hdb_error *err)
{
	uint32_t stack[ELEMENT_STACK] = { ix }, ends[ELEMENT_STACK + ELEMENT_STEPS] = { ix };
	size_t depth = 1, end_count = 0;
	bool has_own = false;
	int r = HDB_OK;

	for (unsigned steps = 0; depth && steps < ELEMENT_STEPS && r == HDB_OK; steps++) {
		bool is_platform, is_replaced = false;

		r = is_platform_object(q, stack[depth - 1], &is_platform, err);
		if (r == HDB_OK && is_platform)
			r = replace_element(q, e, stack, &depth, &is_replaced, err);
		if (is_replaced || r != HDB_OK)
			continue;
		has_own |= !is_platform;
		ends[end_count++] = stack[--depth];
	}
	while (depth)
		ends[end_count++] = stack[--depth];
	if (!has_own) {
		ends[0] = ix;
		end_count = 1;
	}
	for (uint64_t i = 0; i < end_count * times && r == HDB_OK; i++)
		r = count_object(q, e->classes, ends[i % end_count], err);
	return r;
}

/* The first children are the largest: all of them are followed; of the others, if they are many, every n-th. */
static int count_elements(struct query *q, struct elements *e, uint32_t point_ix,
			  struct hdb_error *err)
{
	struct store_lists children;
	const uint32_t *batch;
	uint64_t length = 0, done = 0;
	size_t count = 1;
	int r = derive_children(q->derive, &children, err);

	if (r == HDB_OK)
		r = derive_children(q->derive, &e->lists, err);
	if (r == HDB_OK)
		r = store_lists_begin(&children, point_ix, &length, err);
	while (r == HDB_OK && count && done < CHILDREN_MAX) {
		const uint64_t every = 1 + length / ELEMENTS_FOLLOWED;

		r = store_lists_next(&children, &batch, &count, err);
		for (size_t i = 0; i < count && r == HDB_OK; i++, done++) {
			const uint64_t times = done < ELEMENTS_ALL ? 1 : every;
			bool is_platform;

			r = is_platform_object(q, batch[i], &is_platform, err);
			if (r == HDB_OK && !is_platform) {
				r = count_object(q, e->classes, batch[i], err);
			} else if (r == HDB_OK && done % times == 0) {
				e->is_estimated |= times > 1;
				r = count_element(q, e, batch[i], times, err);
			}
		}
		if (r == HDB_OK)
			r = base_step(q->work, done, err);
	}
	return r;
}

int query_leak_elements(struct query *q, struct query_story *story, uint64_t part,
			const struct query_suspect *suspect, struct hdb_error *err)
{
	const size_t first = story->rows.count;
	struct elements e = { .is_estimated = false };
	size_t text = 0;
	int r;

	if (suspect->point_ix == HEAP_NONE)
		return HDB_OK;
	r = new_classes(q, &e.classes, err);
	if (r == HDB_OK)
		r = count_elements(q, &e, suspect->point_ix, err);
	if (r == HDB_OK)
		r = tell_classes(q, story, "element", part, e.classes, true, err);
	if (r == HDB_OK && e.is_estimated)
		r = query_story_text(story, &text, err, "estimated");
	for (size_t i = first; i < story->rows.count && r == HDB_OK; i++)
		base_vec_at(&story->rows, struct query_story_row, i)->text = text;
	free(e.classes);
	return r;
}

/* ---- everything below ---- */

/* An object to look at, and how many it stands for. */
struct sample {
	uint32_t ix;
	float weight;
};

struct contents {
	struct base_big stack;    /* struct sample */
	uint64_t depth, visited;
	bool is_cut;              /* more than CONTENTS_MAX: some stand for others, or are left out */
	uint32_t children_max;    /* of an object; of more an even choice stands for all */
	struct store_lists lists;
	double *counts, *bytes;   /* by class */
};

static void put(struct contents *c, uint32_t ix, double weight)
{
	struct sample *stack = c->stack.data;

	if (c->depth == CONTENTS_MAX)
		c->is_cut = true;
	else
		stack[c->depth++] = (struct sample){ ix, (float)weight };
}

/* Puts the children of an object, or some of them evenly, on the stack. */
static int put_children(struct contents *c, const struct sample *of, struct hdb_error *err)
{
	const uint32_t *batch;
	uint64_t length, at = 0;
	size_t count = 1;
	double weight = of->weight;
	int r = store_lists_begin(&c->lists, of->ix, &length, err);

	if (r == HDB_OK && length > c->children_max) {
		weight *= (double)length / c->children_max;
		c->is_cut = true;
	}
	while (r == HDB_OK && count) {
		r = store_lists_next(&c->lists, &batch, &count, err);
		for (size_t i = 0; i < count && r == HDB_OK; i++, at++) {
			if (length > c->children_max &&
			    at * c->children_max / length == (at + 1) * c->children_max / length)
				continue;
			put(c, batch[i], weight);
		}
	}
	return r;
}

static int walk_contents(struct query *q, struct contents *c, struct hdb_error *err)
{
	const struct sample *stack = c->stack.data;
	int r = HDB_OK;

	while (r == HDB_OK && c->depth && c->visited < CONTENTS_MAX) {
		const struct sample sample = stack[--c->depth];
		struct heap_object object;

		/* The members hold nothing in common, so each object is met once. */
		if (c->visited == q->heap->object_count)
			return store_damaged(q->heap->store, STORE_CHILDREN, sample.ix,
					     "what is dominated forms a circle", err);
		r = heap_object(q->heap, sample.ix, &object, err);
		if (r == HDB_OK) {
			c->counts[object.class_no] += (double)sample.weight;
			c->bytes[object.class_no] +=
				(double)sample.weight * (double)object.shallow_bytes;
			r = put_children(c, &sample, err);
		}
		c->visited++;
		if (r == HDB_OK && c->visited % STEP_OBJECTS == 0)
			r = base_step(q->work, c->visited, err);
	}
	c->is_cut |= c->depth > 0;
	return r;
}

/* One walk; `children_max` bounds how many children of an object are looked at. */
static int count_contents(struct query *q, struct contents *c, const struct query_suspect *s,
			  uint32_t children_max, struct hdb_error *err)
{
	const double weight = s->members.count ? (double)s->count / (double)s->members.count : 1;

	c->depth = c->visited = 0;
	c->is_cut = weight > 1;
	c->children_max = children_max;
	memset(c->counts, 0, q->heap->class_count * sizeof(*c->counts));
	memset(c->bytes, 0, q->heap->class_count * sizeof(*c->bytes));
	if (s->ix != HEAP_NONE)
		put(c, s->ix, 1);
	for (size_t i = 0; i < s->members.count; i++)
		put(c, *base_vec_at(&s->members, uint32_t, i), weight);
	return walk_contents(q, c, err);
}

/* Sizes in a damaged database add up to more than a number holds. */
static uint64_t rounded(double v)
{
	return v < 0x1p63 ? (uint64_t)(v + 0.5) : UINT64_MAX;
}

static int tell_contents(struct query *q, struct query_story *story, uint64_t part,
			 const struct contents *c, struct hdb_error *err)
{
	const size_t first = story->rows.count;
	struct by_class *classes;
	size_t text = 0;
	int r = new_classes(q, &classes, err);

	for (uint32_t no = 0; r == HDB_OK && no < q->heap->class_count; no++) {
		classes[no].count = rounded(c->counts[no]);
		classes[no].shallow_bytes = rounded(c->bytes[no]);
	}
	if (r == HDB_OK)
		r = tell_classes(q, story, "content", part, classes, false, err);
	if (r == HDB_OK && c->is_cut)
		r = query_story_text(story, &text, err, "estimated from %" PRIu64 " of its objects",
				     c->visited);
	for (size_t i = first; i < story->rows.count && r == HDB_OK; i++)
		base_vec_at(&story->rows, struct query_story_row, i)->text = text;
	free(classes);
	return r;
}

int query_leak_contents(struct query *q, struct query_story *story, uint64_t part,
			const struct query_suspect *suspect, struct hdb_error *err)
{
	struct contents c = { .depth = 0 };
	int r = derive_children(q->derive, &c.lists, err);

	c.counts = calloc((size_t)q->heap->class_count + 1, sizeof(*c.counts));
	c.bytes = calloc((size_t)q->heap->class_count + 1, sizeof(*c.bytes));
	if (r == HDB_OK && (!c.counts || !c.bytes))
		r = hdb_fail_memory(err, "objects by class", q->heap->class_count * 16ull);
	if (r == HDB_OK)
		r = base_big_alloc(q->work, &c.stack, CONTENTS_MAX * sizeof(struct sample),
				   "what a suspect holds", err);
	base_stage(q->work, "looking into a suspect", 0, "objects");
	if (r == HDB_OK)
		r = count_contents(q, &c, suspect, UINT32_MAX, err);
	if (r == HDB_OK && c.is_cut)
		r = count_contents(q, &c, suspect, CHILDREN_SAMPLED, err);
	if (r == HDB_OK)
		r = tell_contents(q, story, part, &c, err);
	base_big_free(q->work, &c.stack);
	free(c.counts);
	free(c.bytes);
	return r;
}
