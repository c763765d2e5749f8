/*
 * queries/leaks/leak_parts.c - finds which objects accumulate in a leak suspect, by class.
 *
 * The classes of children and contents come from sums over the whole heap (leak_sums.c) and are
 * exact. "Elements" are the objects that, for a user, a collection contains: 300,000 Session rather
 * than 300,000 HashMap$Node. They are found by following each child down the dominator tree; in a
 * huge collection, only a sample is followed. The nodes of a linked list dominate each other in a
 * chain and are followed node by node.
 */
#include "queries/leaks/leak_parts.h"

#include "base/base_text.h"
#include "base/pipeline.h"
#include "base/sort.h"
#include "derive/build.h"
#include "heap/heap_database.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of children to follow, which takes about half a second. If there are n times as
 * many children, one in n is followed.
 */
#define ELEMENTS_FOLLOWED 400000u
/* Maximum number of list nodes to follow, in about a second. */
#define NODES_FOLLOWED 2000000u
/*
 * Number of largest children that are always followed, because one of them may be most of the
 * suspect.
 */
#define ELEMENTS_ALL 1024u
/*
 * A map entry dominates at most a key, a value and the next entry. An object with more children is
 * not a map entry.
 */
#define ELEMENT_CHILDREN 4u
/*
 * Maximum number of pending objects, and of steps, to follow one child through hash buckets and
 * nested wrappers.
 */
#define ELEMENT_STACK 64u
#define ELEMENT_STEPS 256u
#define ELEMENT_ENDS (ELEMENT_STACK + ELEMENT_STEPS)
/* Maximum number of classes listed one by one (MAT: 20). */
#define CLASSES_SHOWN 8u
/* 95 % of normally distributed estimates are within this many standard errors of the true value. */
#define ERRORS_95 1.96
/* Number of children that a thread follows in one batch. */
#define BATCH 512u
#define BATCHES_PER_THREAD 3u
/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 4096u

/* Sorts by retained size or, if unknown, by shallow size. Classes without objects come last. */
BASE_ORDER(compare_retained, struct analysis_class_sum, BASE_DOWN(retained_bytes),
	   BASE_DOWN(shallow_bytes), BASE_FALSE_FIRST(!x->count, !y->count), BASE_UP(class_no))

/*
 * Options for listing classes. The largest classes have their own rows. All other classes share one
 * row.
 */
struct class_list {
	struct leak_rows *rows;
	enum leak_kind kind;
	bool with_retained; /* whether the sums include retained sizes */
	/* minimum size of a class with its own row; less would be printed as 0.00 % of the heap */
	uint64_t least;
};

static struct leak_row class_row(const struct class_list *list, uint64_t step,
				 const struct analysis_class_sum *sum)
{
	struct leak_row row = leak_row_of(list->rows, list->kind);

	row.class_no = sum->class_no;
	row.cells[LEAK_STEP] = step;
	row.cells[LEAK_COUNT] = sum->count;
	row.cells[LEAK_SHALLOW] = sum->shallow_bytes;
	if (list->with_retained)
		row.cells[LEAK_RETAINED] = sum->retained_bytes;
	return row;
}

/* Returns the size that decides whether a class gets its own row. */
static uint64_t bytes_of(const struct class_list *list, const struct analysis_class_sum *sum)
{
	return list->with_retained ? sum->retained_bytes : sum->shallow_bytes;
}

/* Adds one row for each of the first classes that are large enough, and one for all others. */
static int add_sorted(const struct class_list *list, const struct analysis_class_sum *classes,
		      size_t count, struct hdb_error *err)
{
	struct analysis_class_sum others = { .class_no = HEAP_NONE };
	size_t other_classes = 0;
	struct leak_row row;

	for (size_t i = 0; i < count; i++) {
		if (i < CLASSES_SHOWN && bytes_of(list, &classes[i]) >= list->least) {
			row = class_row(list, i, &classes[i]);
			TRY(leak_rows_add(list->rows, &row, err));
			continue;
		}
		other_classes++;
		others.count += classes[i].count;
		others.shallow_bytes += classes[i].shallow_bytes;
		others.retained_bytes += classes[i].retained_bytes;
	}
	if (!other_classes)
		return HDB_OK;
	row = class_row(list, CLASSES_SHOWN, &others);
	TRY(leak_rows_text(list->rows, &row, LEAK_LABEL, err, "others: %zu class%s", other_classes,
			   other_classes == 1 ? "" : "es"));
	return leak_rows_add(list->rows, &row, err);
}

/* Adds one row for each of the largest classes, and one for all others. */
static int list_classes(const struct class_list *list, const struct analysis_class_sum *classes,
			uint32_t class_count, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec used = { 0 };

	for (uint32_t no = 0; no < class_count; no++) {
		if (!classes[no].count)
			continue;
		TRY(base_vec_push(&used, &classes[no], sizeof(classes[no]), err));
	}
	base_vec_sort(&used, sizeof(*classes), compare_retained);
	return add_sorted(list, used.data, used.count, err);
}

/* Returns the smallest size that is printed as at least 0.01 % of the heap. */
static uint64_t least_of(const struct query_leak_suspect *about)
{
	return (about->whole_bytes + 19999) / 20000;
}

int query_leak_children(struct leak_rows *rows, const struct query_leak_suspect *about,
			struct hdb_error *err)
{
	const struct class_list list = { rows, LEAK_ROW_CHILD, true, least_of(about) };

	return list_classes(&list, analysis_leak_sums_children(about->sums, about->no),
			    about->sums->class_count, err);
}

int query_leak_contents(struct leak_rows *rows, const struct query_leak_suspect *about,
			struct hdb_error *err)
{
	const struct class_list list = { rows, LEAK_ROW_CONTENT, false, least_of(about) };

	return list_classes(&list, analysis_leak_sums_contents(about->sums, about->no),
			    about->sums->class_count, err);
}

/* ---- objects that the children hold ---- */

struct elements {
	struct query *q; /* borrowed */
	struct analysis_class_sum *classes;
	/* by class: sums of squares over the sampled children, to estimate the error */
	double *count_squares, *byte_squares;
	uint8_t *is_platform; /* indexed by class */
	/*
	 * by class: nonzero if its objects contain no other elements, so they are not followed;
	 * `classes` already has the exact sums for children of this class
	 */
	uint8_t *is_end;
	/* lists of dominated objects; each read overwrites the buffer */
	struct store_lists lists;
	uint64_t every; /* 1 if all children are followed, n if one in n is followed */
	/* number of children of the accumulation point, and number of children that are followed */
	uint64_t length, followed;
};

/* A stack of objects to examine below a child. */
struct waiting {
	uint32_t ix[ELEMENT_STACK];
	size_t count;
};

/* Where the walk from one child ended. */
struct ends {
	uint32_t ix[ELEMENT_ENDS];
	size_t count;
};

/*
 * Replaces the object on top of the stack with the objects that it dominates, such as the values of
 * entries and wrappers or the next entries of a bucket, if these are few and retain most of its
 * size. Sets *taken to whether the object was replaced.
 */
static int replace_element(struct query *q, struct store_lists *lists, struct waiting *waiting,
			   bool *taken, struct hdb_error *err)
{
	const uint32_t ix = waiting->ix[waiting->count - 1];
	uint64_t own, sum = 0, length = 0;
	const uint32_t *batch;
	size_t count;
	int r;

	assert(waiting->count > 0);
	*taken = false;
	TRY(derive_retained(q->derive, ix, &own, err));
	r = store_lists_begin(lists, ix, &length, err);
	if (r != HDB_OK || !length || length > ELEMENT_CHILDREN ||
	    waiting->count + length - 1 > ELEMENT_STACK)
		return r;
	TRY(store_lists_next(lists, &batch, &count, err));
	for (size_t i = 0; i < count; i++) {
		uint64_t bytes;

		TRY(derive_retained(q->derive, batch[i], &bytes, err));
		sum += bytes;
	}
	if (count < length || sum <= own / 2)
		return HDB_OK;
	memcpy(waiting->ix + waiting->count - 1, batch, count * sizeof(*batch));
	waiting->count += count - 1;
	assert(waiting->count <= ELEMENT_STACK);
	*taken = true;
	return HDB_OK;
}

/*
 * Follows a child through entries and wrappers to the objects inside. If all these objects are of
 * platform classes, finds the child itself: "12 LinkedHashMap" is more informative than the strings
 * and arrays in the maps.
 */
static int find_ends(const struct elements *e, struct store_lists *lists, uint32_t ix,
		     struct ends *out, struct hdb_error *err)
{
	struct waiting waiting = { .ix = { ix }, .count = 1 };
	bool has_own = false;
	/* ELEMENT_STACK and ELEMENT_STEPS limit the number of results, so they fit in out->ix. */

	out->count = 0;
	for (unsigned steps = 0; waiting.count && steps < ELEMENT_STEPS; steps++) {
		const uint32_t at = waiting.ix[waiting.count - 1];
		struct heap_object object;
		bool is_replaced = false;

		TRY(heap_object(e->q->heap, at, &object, err));
		if (!e->is_end[object.class_no])
			TRY(replace_element(e->q, lists, &waiting, &is_replaced, err));
		if (is_replaced)
			continue;
		has_own |= !e->is_platform[object.class_no];
		assert(out->count + waiting.count <= ELEMENT_ENDS);
		out->ix[out->count++] = at;
		waiting.count--;
	}
	while (waiting.count)
		out->ix[out->count++] = waiting.ix[--waiting.count];
	if (!has_own) {
		out->ix[0] = ix;
		out->count = 1;
	}
	return HDB_OK;
}

/*
 * Adds `count` objects held by one child to the sums of their classes, `times` times. Merges
 * objects of the same class first, so that each square is that of one sampled child.
 */
static void add_ends(struct elements *e, struct analysis_class_sum *ends, size_t count,
		     uint64_t times)
{
	for (size_t i = 0; i < count; i++) {
		const uint32_t no = ends[i].class_no;

		for (size_t j = count - 1; j > i; j--) {
			if (ends[j].class_no != no)
				continue;
			ends[i].count += ends[j].count;
			ends[i].shallow_bytes += ends[j].shallow_bytes;
			ends[i].retained_bytes += ends[j].retained_bytes;
			ends[j] = ends[--count];
		}
		e->classes[no].count += ends[i].count * times;
		e->classes[no].shallow_bytes += ends[i].shallow_bytes * times;
		e->classes[no].retained_bytes += ends[i].retained_bytes * times;
		if (times > 1) {
			const double n = (double)ends[i].count * (double)times;
			const double bytes = (double)ends[i].retained_bytes * (double)times;

			e->count_squares[no] += n * n;
			e->byte_squares[no] += bytes * bytes;
		}
	}
}

/* Follows one child, and adds the objects found inside to `sums`. */
static int follow_child(const struct elements *e, struct store_lists *lists, uint32_t ix,
			struct base_vec *sums, struct hdb_error *err)
{
	struct ends ends;
	struct heap_object object;
	int r = heap_object(e->q->heap, ix, &object, err);

	if (r != HDB_OK || e->is_end[object.class_no])
		return r;
	TRY(find_ends(e, lists, ix, &ends, err));
	for (size_t i = 0; i < ends.count; i++) {
		struct analysis_class_sum sum = { .count = 1 };

		TRY(heap_object(e->q->heap, ends.ix[i], &object, err));
		sum.class_no = object.class_no;
		sum.shallow_bytes = object.shallow_bytes;
		TRY(derive_retained(e->q->derive, ends.ix[i], &sum.retained_bytes, err));
		TRY(base_vec_push(sums, &sum, sizeof(sum), err));
	}
	return HDB_OK;
}

/*
 * Returns a reproducible pseudo-random number (splitmix64), so that the answer does not depend on
 * the run or the number of threads.
 */
static uint64_t scramble(uint64_t v)
{
	v += 0x9e3779b97f4a7c15u;
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
	v = (v ^ v >> 27) * 0x94d049bb133111ebu;
	return v ^ v >> 31;
}

/*
 * Returns how many children the child at position `at` represents, or 0 if it is not in the sample.
 * The largest children represent only themselves. The others are divided into runs of `every`, and
 * one child of each run is chosen at random.
 */
static uint64_t times_of(const struct elements *e, uint64_t at)
{
	uint64_t run, first, size;

	if (e->every == 1 || at < ELEMENTS_ALL)
		return 1;
	run = (at - ELEMENTS_ALL) / e->every;
	first = ELEMENTS_ALL + run * e->every;
	size = e->length - first < e->every ? e->length - first : e->every;
	return at - first == scramble(run) % size ? size : 0;
}

/* A child to follow, and how many children it represents. */
struct child {
	uint32_t ix, times;
};

/* The objects that the children of a batch hold. */
struct batch {
	struct store_lists lists;
	struct base_vec sums;    /* struct analysis_class_sum, child by child */
	uint32_t sum_end[BATCH]; /* indexed by child */
	BASE_NO_SHARING;
};

struct following {
	struct elements *e;
	struct base_vec children; /* struct child */
	struct batch *batches;    /* indexed by slot */
	unsigned slot_count;
};

static size_t batch_end(const struct following *f, uint64_t no)
{
	const size_t left = f->children.count - no * BATCH;

	return no * BATCH + (left < BATCH ? left : BATCH);
}

static int follow_batch(void *ctx, unsigned slot, uint64_t no, struct hdb_error *err)
{
	const struct following *f = ctx;
	struct batch *batch = &f->batches[slot];

	batch->sums.count = 0;
	for (size_t i = no * BATCH; i < batch_end(f, no); i++) {
		TRY(follow_child(f->e, &batch->lists,
				 base_vec_at(&f->children, struct child, i)->ix, &batch->sums,
				 err));
		batch->sum_end[i % BATCH] = (uint32_t)batch->sums.count;
	}
	return HDB_OK;
}

static int add_batch(void *ctx, unsigned slot, uint64_t no, struct hdb_error *err)
{
	const struct following *f = ctx;
	struct batch *batch = &f->batches[slot];
	size_t from = 0;

	for (size_t i = no * BATCH; i < batch_end(f, no); i++) {
		const size_t end = batch->sum_end[i % BATCH];

		if (end > from)
			add_ends(f->e, base_vec_at(&batch->sums, struct analysis_class_sum, from),
				 end - from, base_vec_at(&f->children, struct child, i)->times);
		from = end;
	}
	return base_step(f->e->q->work, no * BATCH, err);
}

static void release_following(struct following *f)
{
	for (unsigned i = 0; f->batches && i < f->slot_count; i++)
		base_vec_release(&f->batches[i].sums);
	free(f->batches);
	base_vec_release(&f->children);
}

/* Chooses the children of the accumulation point to follow: all, or a sample. */
static int choose_children(struct following *f, const struct analysis_suspect *suspect,
			   struct hdb_error *err)
{
	struct elements *e = f->e;
	struct store_lists lists;
	const uint32_t *batch;
	uint64_t done = 0;
	size_t count = 1;

	TRY(derive_children(e->q->derive, &lists, err));
	TRY(store_lists_begin(&lists, suspect->point_ix, &e->length, err));
	e->every = 1 + e->length / ELEMENTS_FOLLOWED;
	while (count) {
		TRY(store_lists_next(&lists, &batch, &count, err));
		for (size_t i = 0; i < count; i++, done++) {
			const struct child child = { batch[i], (uint32_t)times_of(e, done) };
			uint64_t bytes = 0;

			if (suspect->split_bytes)
				TRY(derive_retained(e->q->derive, batch[i], &bytes, err));
			if (child.times && (!bytes || bytes < suspect->split_bytes))
				TRY(base_vec_push(&f->children, &child, sizeof(child), err));
			if (done % STEP_OBJECTS == 0)
				TRY(base_step(e->q->work, done, err));
		}
	}
	e->followed = f->children.count;
	return HDB_OK;
}

/*
 * Follows the children of the accumulation point on all threads. They are sorted by retained size,
 * largest first, as times_of requires, and are added in this order.
 */
static int follow_children(struct query *q, struct elements *e,
			   const struct analysis_suspect *suspect, struct hdb_error *err)
{
	const unsigned threads = q->work->threads;
	BASE_SCOPED(release_following)
	struct following f = { .e = e, .slot_count = BATCHES_PER_THREAD * threads };

	TRY(choose_children(&f, suspect, err));
	base_stage(q->work, "what suspects hold", f.children.count, "objects");
	TRY(derive_tree_prepare(q->derive, err));
	TRY(heap_prepare_blocks(q->heap, threads, err));
	TRY(BASE_ALLOC(f.batches, f.slot_count, "elements", err));
	for (unsigned i = 0; i < f.slot_count; i++)
		TRY(derive_children(q->derive, &f.batches[i].lists, err));
	return base_pipeline_run(
		&(struct base_pipeline){ .item_count = (f.children.count + BATCH - 1) / BATCH,
					 .threads = threads,
					 .slot_count = f.slot_count,
					 .ctx = &f,
					 .produce = follow_batch,
					 .consume = add_batch },
		err);
}

/*
 * Takes the exact sums for children of classes that contain no other elements (application classes,
 * strings, arrays of numbers). Sets *any to whether there are children of other classes.
 */
static void take_ends(struct elements *e, const struct analysis_leak_sums *sums, size_t suspect_no,
		      bool *any)
{
	const struct analysis_class_sum *children = analysis_leak_sums_children(sums, suspect_no);

	for (uint32_t no = 0; no < sums->class_count; no++) {
		if (!children[no].count)
			continue;
		if (e->is_end[no])
			e->classes[no] = children[no];
		else
			*any = true;
	}
}

/* ---- objects that the nodes of a list hold ---- */

/* Adds one object that a list node dominates and that is not the next node. */
static int take_item(struct query *q, struct elements *e, uint32_t ix, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec sums = { 0 };
	struct analysis_class_sum sum = { .count = 1 };
	struct heap_object object;

	TRY(heap_object(q->heap, ix, &object, err));
	if (!e->is_end[object.class_no]) {
		TRY(follow_child(e, &e->lists, ix, &sums, err));
		add_ends(e, sums.data, sums.count, 1);
		return HDB_OK;
	}
	TRY(derive_retained(q->derive, ix, &sum.retained_bytes, err));
	sum.class_no = object.class_no;
	sum.shallow_bytes = object.shallow_bytes;
	add_ends(e, &sum, 1, 1);
	return HDB_OK;
}

/*
 * Adds all objects that a list node dominates, except the next node (the first of the node's own
 * class) and with it the rest of the list. Adds the node itself if it is of an application class or
 * dominates nothing else. Sets *next to the next node, or to HEAP_NONE at the end.
 */
static int take_node(struct query *q, struct elements *e, uint32_t ix, uint32_t *next,
		     struct hdb_error *err)
{
	struct heap_object node, child;
	struct analysis_class_sum sum = { .count = 1 };
	uint32_t items[ELEMENT_CHILDREN];
	const uint32_t *batch;
	size_t count = 0, item_count = 0;
	uint64_t rest = 0;

	*next = HEAP_NONE;
	TRY(heap_object(q->heap, ix, &node, err));
	TRY(store_lists_begin(&e->lists, ix, NULL, err));
	TRY(store_lists_next(&e->lists, &batch, &count, err));
	for (size_t i = 0; i < count; i++) {
		TRY(heap_object(q->heap, batch[i], &child, err));
		if (*next == HEAP_NONE && child.class_no == node.class_no)
			*next = batch[i];
		else if (item_count < ELEMENT_CHILDREN)
			items[item_count++] = batch[i];
	}
	if (*next != HEAP_NONE)
		TRY(derive_retained(q->derive, *next, &rest, err));
	TRY(derive_retained(q->derive, ix, &sum.retained_bytes, err));
	if (!e->is_platform[node.class_no] || !item_count) {
		sum.class_no = node.class_no;
		sum.shallow_bytes = node.shallow_bytes;
		sum.retained_bytes -= rest;
		add_ends(e, &sum, 1, 1);
		return HDB_OK;
	}
	for (size_t i = 0; i < item_count; i++)
		TRY(take_item(q, e, items[i], err));
	return HDB_OK;
}

/*
 * Follows a list from its first node. If the list is too long to be read completely, the rows state
 * how many nodes were read.
 */
static int follow_list(struct query *q, struct elements *e, const struct class_list *list,
		       uint32_t ix, struct hdb_error *err)
{
	struct leak_rows *rows = list->rows;
	const size_t first = rows->rows.count;
	uint64_t nodes = 0;

	TRY(derive_children(q->derive, &e->lists, err));
	for (; ix != HEAP_NONE && nodes < NODES_FOLLOWED; nodes++) {
		/* ends the walk even if a damaged table has a cycle */
		if (nodes == q->heap->object_count)
			return heap_damaged(q->heap, STORE_CHILDREN, ix, "children form a circle",
					    err);
		TRY(take_node(q, e, ix, &ix, err));
		if (nodes % STEP_OBJECTS == 0)
			TRY(base_step(q->work, nodes, err));
	}
	TRY(list_classes(list, e->classes, q->heap->class_count, err));
	for (size_t i = first; i < rows->rows.count && ix != HEAP_NONE; i++)
		TRY(leak_rows_text(rows, leak_rows_at(rows, i), LEAK_TEXT, err,
				   "of the first %s nodes of the list", base_number(nodes).text));
	return HDB_OK;
}

/*
 * Computes a square root by Newton's method, accurate enough for an error estimate without linking
 * libm.
 */
static double root_of(double v)
{
	double root = v > 1 ? v : 1;

	if (v <= 0)
		return 0;
	while (root * root > v * 1.0001)
		root = (root + v / root) / 2;
	return root;
}

/*
 * Returns the relative error of a class's estimates in percent, for count or size, whichever is
 * larger. Clears the sums, so that the row for all other classes excludes this class.
 */
static double take_error(struct elements *e, const struct leak_row *row, uint32_t no)
{
	const double count = row->cells[LEAK_COUNT] ? root_of(e->count_squares[no]) /
							      (double)row->cells[LEAK_COUNT] :
						      0;
	const double bytes = row->cells[LEAK_RETAINED] ? root_of(e->byte_squares[no]) /
								 (double)row->cells[LEAK_RETAINED] :
							 0;

	e->count_squares[no] = e->byte_squares[no] = 0;
	return 100 * ERRORS_95 * (count > bytes ? count : bytes);
}

/*
 * Adds the sample size and the error to each row with estimates. The row for all other classes must
 * come last.
 */
static int mark_estimates(struct leak_rows *rows, size_t first_row, struct elements *e,
			  uint32_t class_count, struct hdb_error *err)
{
	for (size_t i = first_row; i < rows->rows.count; i++) {
		struct leak_row *row = leak_rows_at(rows, i);
		double error = 0;

		if (row->class_no != HEAP_NONE)
			error = take_error(e, row, row->class_no);
		for (uint32_t no = 0; row->class_no == HEAP_NONE && no < class_count; no++)
			error += take_error(e, row, no);
		if (error > 0)
			TRY(leak_rows_text(
				rows, row, LEAK_TEXT, err,
				"estimated from %s of %s entries, within %.2f %% (95 of 100 times)",
				base_number(e->followed).text, base_number(e->length).text, error));
	}
	return HDB_OK;
}

static int make_elements(struct query *q, struct elements *e, struct hdb_error *err)
{
	const size_t count = (size_t)q->heap->class_count + 1;

	TRY(BASE_ALLOC(e->classes, count, "objects by class", err));
	TRY(BASE_ALLOC(e->count_squares, count, "objects by class", err));
	TRY(BASE_ALLOC(e->byte_squares, count, "objects by class", err));
	TRY(BASE_ALLOC(e->is_platform, count, "objects by class", err));
	TRY(BASE_ALLOC(e->is_end, count, "objects by class", err));
	for (uint32_t no = 0; no < q->heap->class_count; no++) {
		const char *name = heap_class_name(q->heap, no);

		e->classes[no].class_no = no;
		e->is_platform[no] = heap_is_platform_class(name);
		e->is_end[no] = !e->is_platform[no] || heap_is_number_array(name) ||
				strcmp(name, "java.lang.String") == 0;
	}
	return HDB_OK;
}

/*
 * Removes the rows of kind "child" if the rows for elements have the same classes and counts,
 * ignoring a final row of combined small classes.
 */
static void drop_same(struct leak_rows *rows, size_t from, size_t elements, uint64_t least)
{
	struct leak_row *list = rows->rows.data;
	const size_t count = rows->rows.count - elements;
	size_t children = elements, end = elements;

	while (children > from && list[children - 1].kind == LEAK_ROW_CHILD)
		children--;
	if (end - children == count + 1 && list[end - 1].cells[LEAK_RETAINED] < least)
		end--;
	if (!count || end - children != count)
		return;
	for (size_t i = 0; i < count; i++)
		if (list[children + i].class_no != list[elements + i].class_no ||
		    list[children + i].cells[LEAK_COUNT] != list[elements + i].cells[LEAK_COUNT] ||
		    list[children + i].cells[LEAK_RETAINED] !=
			    list[elements + i].cells[LEAK_RETAINED])
			return;
	memmove(list + children, list + elements, count * sizeof(*list));
	rows->rows.count = children + count;
}

static void release_elements(struct elements *e)
{
	free(e->classes);
	free(e->count_squares);
	free(e->byte_squares);
	free(e->is_platform);
	free(e->is_end);
}

int query_leak_elements(struct query *q, struct leak_rows *rows,
			const struct query_leak_suspect *about, struct hdb_error *err)
{
	const struct class_list list = { rows, LEAK_ROW_ELEMENT, true, least_of(about) };
	const struct analysis_suspect *suspect = about->suspect;
	const uint32_t class_count = about->sums->class_count;
	const size_t first = rows->rows.count;
	BASE_SCOPED(release_elements) struct elements e = { .q = q, .every = 1 };
	bool any = false;

	if (suspect->point_ix == HEAP_NONE)
		return HDB_OK;
	TRY(make_elements(q, &e, err));
	if (suspect->is_list)
		return follow_list(q, &e, &list, suspect->point_ix, err);
	take_ends(&e, about->sums, about->no, &any);
	if (any)
		TRY(follow_children(q, &e, suspect, err));
	TRY(list_classes(&list, e.classes, class_count, err));
	if (e.every > 1)
		TRY(mark_estimates(rows, first, &e, class_count, err));
	drop_same(rows, about->first_row, first, list.least);
	return HDB_OK;
}
