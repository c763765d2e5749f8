/*
 * queries/explain/suspect_facts.c - walks over the objects that a suspect holds, and counts figures
 * for each; see suspect_facts.h.
 *
 * Each visited object represents `weight` objects. If a list of children is long, only some
 * children are visited. They are spread evenly over the list, which is sorted by size, and
 * represent the others.
 */
#include "queries/explain/suspect_facts.h"

#include "analysis/contents.h"
#include "analysis/describe.h"
#include "base/error.h"
#include "base/sort.h"
#include "heap/collections/collections.h"
#include "queries/inspect/inspect.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Maximum number of objects in a walk, and of children of one object. If this would make the walk
 * too long, it starts again with fewer children per object, but at least FACTS_CHILDREN_MIN.
 */
#define FACTS_OBJECTS_MAX 20000u
#define FACTS_CHILDREN_MAX 1600u
#define FACTS_CHILDREN_MIN 100u
/* Number of the largest children of an object that are always visited. */
#define FACTS_CHILDREN_LARGE 16u
/*
 * Maximum number of array elements that are read. After that, only an even sample of each array is
 * read.
 */
#define FACTS_ELEMENTS_MAX (2u << 20)
#define FACTS_ELEMENTS_PART 4096u
/* Maximum total size of arrays whose contents are compared. */
#define FACTS_CONTENT_BYTES (16u << 20)
/* Shorter arrays, and shorter arrays of strings, are not compared. */
#define FACTS_CONTENT_MIN 8u
#define FACTS_TEXT_MIN 4u
/* Smaller arrays of zeros are not counted. */
#define FACTS_ZEROS_MIN 4096
/* Number of elements of an array that are tested for 0. */
#define FACTS_SLACK_LOOKED 64u
/*
 * Maximum number of dominators above the accumulation point that are tried, and the share of a
 * dominator's size that the object below it must have.
 */
#define FACTS_CLIMBS 8u
#define FACTS_TOP_CLIMBS 32u
#define FACTS_CLIMB_PART 0.8
/* Maximum number of tree or list nodes passed on the way up. */
#define FACTS_NODES 4096u
/* Minimum number of entries of a collection that is examined. */
#define FACTS_ENTRIES_MIN 1000u
/* Minimum number of entries if no collection has as many as above. */
#define FACTS_ENTRIES_SOME 50u
/* Larger numbers are not rounded, because a double has no fractional digits there. */
#define FACTS_NUMBER_MAX 1e15
/*
 * Minimum size of an array of numbers that is tested for zeros, and the number of elements tested.
 */
#define FACTS_NONZERO_BYTES (1u << 20)
#define FACTS_NONZERO_LOOKED 65536u
/*
 * Maximum number of entries of a small map or set, whose tables and nodes take more memory than its
 * contents.
 */
#define FACTS_SMALL 10u
/*
 * Minimum size of an array that is compared with the previous one. The comparison covers this many
 * pieces of this many elements.
 */
#define FACTS_NEAR_BYTES 1024u
#define FACTS_NEAR_PIECES 8u
#define FACTS_NEAR_ELEMENTS 16u
/* Maximum number of classes that a tally counts separately. */
#define FACTS_CLASSES 16u

/* What is known about a class. */
enum held_kind {
	HELD_UNKNOWN,
	HELD_OTHER,
	HELD_COLLECTION,
	HELD_NODE, /* an entry or node of a collection of java.util */
	HELD_STRING,
	HELD_BUILDER, /* a string or stream in an array, of which `count` elements are used */
	HELD_BOX,
	HELD_ERROR,
	HELD_FUTURE,
	HELD_TASK,
	HELD_TIMER_TASK,
	HELD_REFERENCE,
	HELD_VIEW,
	HELD_BUFFER,
	HELD_LOADER
};

static const struct {
	const char *class_name;
	uint8_t kind;
} known[] = {
	{ "java.lang.String", HELD_STRING },
	{ "java.lang.AbstractStringBuilder", HELD_BUILDER },
	{ "java.io.ByteArrayOutputStream", HELD_BUILDER },
	{ "java.lang.Integer", HELD_BOX },
	{ "java.lang.Long", HELD_BOX },
	{ "java.lang.Double", HELD_BOX },
	{ "java.lang.Float", HELD_BOX },
	{ "java.lang.Short", HELD_BOX },
	{ "java.lang.Byte", HELD_BOX },
	{ "java.lang.Character", HELD_BOX },
	{ "java.lang.Throwable", HELD_ERROR },
	{ "java.util.concurrent.CompletableFuture", HELD_FUTURE },
	{ "java.util.concurrent.FutureTask", HELD_TASK },
	{ "java.util.TimerTask", HELD_TIMER_TASK },
	{ "java.lang.ref.Reference", HELD_REFERENCE },
	{ "java.lang.ref.FinalReference", HELD_OTHER },
	{ "java.net.URLClassLoader", HELD_LOADER },
	{ "java.util.ArrayList$SubList", HELD_VIEW },
	{ "java.util.AbstractList$SubList", HELD_VIEW },
	{ "java.util.SubList", HELD_VIEW },
	{ "java.util.ImmutableCollections$SubList", HELD_VIEW },
	{ "java.nio.Buffer", HELD_BUFFER },
};

/* Objects of some kind, by class. */
struct tally {
	struct {
		uint32_t class_no;
		double count, places, used, bytes;
	} list[FACTS_CLASSES];
	unsigned classes;
	double count, bytes; /* of all classes */
	bool is_about;       /* some were left out */
};

/* An amount to add to a tally. */
struct addend {
	uint32_t class_no;
	double weight, places, used, bytes; /* of one object */
};

/* An object of the walk. */
struct node {
	uint32_t ix;
	uint32_t parent; /* the node that dominates it; HEAP_NONE at the top */
	uint32_t class_no;
	double weight;
};

/* The content of an array. */
struct content {
	uint64_t low, high;
	uint32_t ix, owner_ix; /* owner_ix: the string that owns the array, or the array itself */
	double weight, bytes;
};

struct walk {
	const struct session *session;
	struct base_vec nodes;    /* struct node, in the order of the walk */
	struct base_vec contents; /* struct content */
	struct store_lists children;
	uint8_t *kinds;                   /* by class number: enum held_kind */
	uint64_t content_bytes, elements; /* that were read */
	uint64_t enqueued_bits;           /* the ID of ReferenceQueue.ENQUEUED; 0: none */
	uint32_t reference_no;            /* java.lang.ref.Reference */
	/* retained size of the object where the walk starts; 0 if it starts at several */
	uint64_t top_bytes;
	/* the innermost collection that retains half of top_bytes */
	uint32_t most_ix;
	uint32_t largest_ix; /* the first collection with many entries */
	/* the first collection with a moderate number of entries, if none has many */
	uint32_t larger_ix;
	struct tally all, slack, rooms, small, near, direct, empties, boxes, errors, references,
		views, futures, tasks;
	struct addend big; /* the container with the most unused bytes */
	double open_futures, waited, cancelled, enqueued, cleared, soft_bytes, suppressed;
	double loaders, self_kept; /* loaders: closed ones */
	double periodic, dependents, done, queued;
	double waited_bytes;    /* that open futures retain for which actions wait */
	double plumbing;        /* bytes of collections, and of their tables and nodes */
	double locals;          /* bytes that values of thread-locals retain */
	uint32_t last_array[2]; /* of numbers, of references: copies are neighbours in the walk */
	uint32_t loader_ix;
	uint32_t big_array; /* the largest array of numbers */
	uint64_t big_bytes;
	uint64_t children_max;
	bool is_cut; /* the walk was cut off because it visited too many objects */
};

enum explain_fact explain_fact_of(const char *name)
{
#define NAME(name) #name,
	static const char *const names[] = { EXPLAIN_FACTS(NAME) };
#undef NAME
	unsigned no = 0;

	while (no < EXPLAIN_FACT_COUNT && strcmp(names[no], name) != 0)
		no++;
	return (enum explain_fact)no;
}

/* Does not use libm, so that programs using the library need not link it. */
static double rounded(double number)
{
	return number > 0 && number < FACTS_NUMBER_MAX ? (double)(uint64_t)(number + 0.5) : number;
}

void explain_fact_set(struct explain_facts *facts, enum explain_fact no, double number)
{
	assert(no < EXPLAIN_FACT_COUNT);
	facts->figures[no].kind = BASE_NUMBER;
	facts->figures[no].number = rounded(number);
}

void explain_fact_guess(struct explain_facts *facts, enum explain_fact no, double number)
{
	double unit = 1;

	while (number / unit >= 100)
		unit *= 10;
	explain_fact_set(facts, no, rounded(number / unit) * unit);
	facts->figures[no].is_about = true;
}

void explain_fact_text(struct explain_facts *facts, enum explain_fact no, const char *text)
{
	struct explain_figure *figure = &facts->figures[no];

	assert(no < EXPLAIN_FACT_COUNT);
	figure->kind = BASE_STRING;
	(void)snprintf(figure->text, sizeof(figure->text), "%s", text);
}

void explain_fact_object(struct explain_facts *facts, enum explain_fact no, uint32_t ix)
{
	facts->figures[no] = (struct explain_figure){ .kind = BASE_OBJECT, .number = ix };
}

const char *explain_short_class(struct heap *heap, uint32_t class_no)
{
	return inspect_simple_name(heap_class_name(heap, class_no));
}

/* ---- counting ---- */

static void set(struct explain_facts *out, enum explain_fact no, double number, bool is_about)
{
	if (number > 0)
		(is_about ? explain_fact_guess : explain_fact_set)(out, no, number);
}

/*
 * Sets a share of the bytes of all objects of the walk. Retained sizes overlap, so their sum may
 * exceed the total.
 */
static void set_percent(const struct walk *w, struct explain_facts *out, enum explain_fact no,
			double bytes)
{
	set(out, no, bytes < w->all.bytes ? bytes * 100 / w->all.bytes : 100, false);
}

static void add(struct tally *tally, const struct addend *a)
{
	unsigned i = 0;

	assert(a->weight > 0 && tally->classes <= FACTS_CLASSES);
	while (i < tally->classes && tally->list[i].class_no != a->class_no)
		i++;
	tally->is_about |= a->weight > 1;
	tally->count += a->weight;
	tally->bytes += a->weight * a->bytes;
	if (i == FACTS_CLASSES)
		return;
	if (i == tally->classes)
		tally->list[tally->classes++].class_no = a->class_no;
	tally->list[i].count += a->weight;
	tally->list[i].places += a->weight * a->places;
	tally->list[i].used += a->weight * a->used;
	tally->list[i].bytes += a->weight * a->bytes;
}

/* Returns the index of the class with the most bytes. */
static unsigned most_of(const struct tally *tally)
{
	unsigned most = 0;

	for (unsigned i = 1; i < tally->classes; i++)
		if (tally->list[i].bytes > tally->list[most].bytes)
			most = i;
	return most;
}

static enum held_kind kind_of(const struct walk *w, uint32_t class_no)
{
	struct heap *heap = w->session->heap;

	assert(class_no < heap->class_count);
	if (w->kinds[class_no] == HELD_UNKNOWN) {
		const char *name = heap_class_name(heap, class_no);

		w->kinds[class_no] = heap_collection_rule(heap, class_no) ? HELD_COLLECTION :
				     strncmp(name, "java.util.", 10) == 0 && strchr(name, '$') ?
									    HELD_NODE :
									    HELD_OTHER;
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (heap_has_superclass(heap, class_no, known[i].class_name))
				w->kinds[class_no] = known[i].kind;
	}
	return (enum held_kind)w->kinds[class_no];
}

/* Finds the number or the bits of a field; 0 if there is none. */
static int field_of(const struct walk *w, uint32_t ix, const char *path, uint64_t *out,
		    struct hdb_error *err)
{
	struct heap_value value;
	int64_t number;

	*out = 0;
	TRY_FOUND(heap_path_value(w->session->heap, ix, path, &value, err));
	*out = value.type != HPROF_OBJECT && heap_value_number(&value, &number) ? (uint64_t)number :
										  value.bits;
	return HDB_OK;
}

/* Returns NULL at the top of the walk. */
static const struct node *parent_of(const struct walk *w, const struct node *node)
{
	assert(node->parent == HEAP_NONE || node->parent < w->nodes.count);
	return node->parent == HEAP_NONE ? NULL : base_vec_at(&w->nodes, struct node, node->parent);
}

static void add_room(struct walk *w, const struct addend *a)
{
	add(&w->rooms, a);
	if (a->bytes > w->big.bytes)
		w->big = *a;
}

/* ---- what is counted of arrays ---- */

/*
 * Counts an array that differs little from the previous one: at least 90 % of the compared elements
 * are equal, ignoring those that are 0 in both.
 */
static int look_at_copy(struct walk *w, const struct node *node, const struct heap_object *object,
			struct hdb_error *err)
{
	uint32_t *last_array = &w->last_array[object->kind == STORE_OBJECT_ARRAY];
	const uint32_t last = *last_array;
	uint64_t bits[2][FACTS_NEAR_ELEMENTS], looked = 0, equal = 0, varied = 0;
	struct heap_object before;

	*last_array = node->ix;
	if (last == HEAP_NONE)
		return HDB_OK;
	TRY(heap_object(w->session->heap, last, &before, err));
	if (before.class_no != object->class_no ||
	    (object->kind == STORE_PRIMITIVE_ARRAY && before.length != object->length))
		return HDB_OK;
	for (uint64_t piece = 0; piece < FACTS_NEAR_PIECES; piece++) {
		struct heap_slice a = { .bits = bits[0], .room = FACTS_NEAR_ELEMENTS };
		struct heap_slice b = { .bits = bits[1], .room = FACTS_NEAR_ELEMENTS };
		const uint64_t from = object->length / FACTS_NEAR_PIECES * piece;

		TRY(heap_elements(w->session->heap, last, from, &a, err));
		TRY(heap_elements(w->session->heap, node->ix, from, &b, err));
		for (uint64_t i = 0; i < a.done && i < b.done; i++) {
			looked += bits[0][i] || bits[1][i];
			equal += bits[0][i] && bits[0][i] == bits[1][i];
			varied += i && bits[0][i] != bits[0][i - 1];
		}
	}
	/* Rows of a table that are filled with one object are no copies. */
	if (object->kind == STORE_OBJECT_ARRAY && varied * 2 < looked)
		return HDB_OK;
	if (looked >= FACTS_NEAR_ELEMENTS && equal * 10 >= looked * 9)
		add(&w->near, &(struct addend){ .class_no = object->class_no,
						.weight = node->weight,
						.bytes = (double)object->shallow_bytes });
	return HDB_OK;
}

/*
 * Finds the places of an array of references, and those in use: as its collection says, or counted.
 */
static int look_at_references(struct walk *w, const struct node *node,
			      const struct heap_object *object, struct hdb_error *err)
{
	const struct node *parent = parent_of(w, node);
	const uint64_t step = object->length <= FACTS_ELEMENTS_MAX - w->elements ?
				      1 :
				      object->length / FACTS_ELEMENTS_PART + 1;
	struct heap_collection collection = { .array_ix = HEAP_NONE };
	struct heap *heap = w->session->heap;
	struct addend a = { .class_no = object->class_no, .weight = node->weight };
	struct heap_walk elements;
	uint64_t used = 0;

	if (parent && kind_of(w, parent->class_no) == HELD_COLLECTION)
		w->plumbing += node->weight * (double)object->shallow_bytes;
	if (object->shallow_bytes >= FACTS_NEAR_BYTES)
		TRY(look_at_copy(w, node, object, err));
	if (object->length < 4)
		return HDB_OK;
	if (parent && kind_of(w, parent->class_no) == HELD_COLLECTION) {
		a.class_no = parent->class_no;
		TRY_ERRORS(heap_collection_open(heap, parent->ix, &collection, err));
	}
	if (collection.array_ix == node->ix && collection.has_size) {
		used = collection.size;
	} else {
		heap_walk_begin(&elements, node->ix, 0, object->length);
		TRY(heap_walk_count(heap, &elements, step, &used, err));
		used *= step;
		w->elements += step == 1 ? object->length : 0;
	}
	if (used > object->length)
		used = object->length;
	a.places = (double)object->length;
	a.used = (double)used;
	a.bytes = (double)(object->length - used) * heap->layout.reference_bytes;
	add_room(w, &a);
	return HDB_OK;
}

/* An even sample of an array of numbers. */
struct sample {
	uint64_t looked, used; /* number of elements read, and number of these that are not 0 */
};

/* Reads at most `most` elements of an array. */
static int sample_array(struct heap *heap, const struct heap_object *array, uint64_t most,
			struct sample *out, struct hdb_error *err)
{
	const uint64_t step = array->length / most + 1;
	struct heap_walk elements;

	out->looked = (array->length + step - 1) / step;
	heap_walk_begin(&elements, array->ix, 0, array->length);
	return heap_walk_count(heap, &elements, step, &out->used, err);
}

/* Estimates the share of an array's bytes that are zeros, from its sample. */
static double zero_bytes(const struct sample *s, uint64_t bytes)
{
	return (double)bytes * (double)(s->looked - s->used) / (double)s->looked;
}

/* Counts a large array of numbers that are mostly 0: most of it was never used. */
static int look_at_slack(struct walk *w, const struct node *node, const struct heap_object *object,
			 struct hdb_error *err)
{
	struct sample s;

	TRY(sample_array(w->session->heap, object, FACTS_SLACK_LOOKED, &s, err));
	if (s.used && s.used * 4 <= s.looked)
		add(&w->slack,
		    &(struct addend){ object->class_no, node->weight, (double)object->length,
				      (double)s.used, zero_bytes(&s, object->shallow_bytes) });
	return HDB_OK;
}

/* Finds the content of an array of numbers, or of a string's characters. */
static int look_at_content(struct walk *w, const struct node *node,
			   const struct heap_object *object, struct hdb_error *err)
{
	const struct node *parent = parent_of(w, node);
	const enum held_kind kind = parent ? kind_of(w, parent->class_no) : HELD_OTHER;
	struct heap *heap = w->session->heap;
	struct content content = { .ix = node->ix,
				   .owner_ix = node->ix,
				   .weight = node->weight,
				   .bytes = (double)object->shallow_bytes };
	struct analysis_content hash;
	uint64_t offset;
	int r;

	if (kind != HELD_BUILDER && object->shallow_bytes > w->big_bytes) {
		w->big_array = node->ix;
		w->big_bytes = object->shallow_bytes;
	}
	if (kind != HELD_BUILDER && object->shallow_bytes >= FACTS_ZEROS_MIN)
		TRY(look_at_slack(w, node, object, err));
	if (kind != HELD_BUILDER && object->shallow_bytes >= FACTS_NEAR_BYTES)
		TRY(look_at_copy(w, node, object, err));
	if (object->length < (kind == HELD_STRING ? FACTS_TEXT_MIN : FACTS_CONTENT_MIN) ||
	    kind == HELD_BUILDER || object->shallow_bytes > FACTS_CONTENT_BYTES - w->content_bytes)
		return HDB_OK;
	w->content_bytes += object->shallow_bytes;
	TRY(heap_offset(heap, node->ix, &offset, err));
	TRY_ERRORS(r = analysis_array_hash(heap, &heap->dump.view, offset, &hash, err));
	if (r != HDB_OK)
		return HDB_OK;
	content.low = hash.low;
	content.high = hash.high;
	if (kind == HELD_STRING) {
		struct heap_object string;

		content.owner_ix = parent->ix;
		TRY(heap_object(heap, parent->ix, &string, err));
		content.bytes += (double)string.shallow_bytes;
	}
	return base_vec_push(&w->contents, &content, sizeof(content), err);
}

/* ---- what is counted of instances ---- */

/* Finds a string builder or a stream: its array, and how much of it is used. */
static int look_at_builder(struct walk *w, const struct node *node, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_object array;
	uint64_t used, coder;
	uint32_t ix;

	TRY_FOUND(heap_path_object(heap, node->ix, "value|buf", &ix, err));
	TRY(heap_object(heap, ix, &array, err));
	TRY(field_of(w, node->ix, "count", &used, err));
	TRY(field_of(w, node->ix, "coder", &coder, err));
	used <<= coder == 1;
	if (!array.length || used > array.length)
		return HDB_OK;
	add_room(w,
		 &(struct addend){ node->class_no, node->weight, (double)array.length, (double)used,
				   (double)array.shallow_bytes * ((double)(array.length - used) /
								  (double)array.length) });
	return HDB_OK;
}

static int look_at_collection(struct walk *w, const struct node *node,
			      const struct heap_object *object, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_collection collection;
	uint64_t bytes;

	TRY_FOUND(heap_collection_open(heap, node->ix, &collection, err));
	if (collection.inner && !(collection.rule->flags & HEAP_PART)) {
		/* the map of a set is the set */
		const struct node *parent = parent_of(w, node);

		if (w->top_bytes && !(parent && parent->ix == w->most_ix) &&
		    (!collection.has_size || collection.size >= FACTS_ENTRIES_SOME)) {
			TRY(derive_retained(w->session->derive, node->ix, &bytes, err));
			if (bytes >= w->top_bytes / 2)
				w->most_ix = node->ix;
		}
		if (w->largest_ix == HEAP_NONE &&
		    (!collection.has_size || collection.size >= FACTS_ENTRIES_MIN))
			w->largest_ix = node->ix;
		if (w->larger_ix == HEAP_NONE && collection.has_size &&
		    collection.size >= FACTS_ENTRIES_SOME)
			w->larger_ix = node->ix;
	}
	w->plumbing += node->weight * (double)object->shallow_bytes;
	if (!collection.has_size || collection.inner_ix != node->ix)
		return HDB_OK;
	if (collection.size && collection.size <= FACTS_SMALL &&
	    (collection.rule->kind == HEAP_MAP || collection.rule->kind == HEAP_SET))
		add(&w->small, &(struct addend){ .class_no = node->class_no,
						 .weight = node->weight,
						 .used = (double)collection.size,
						 .bytes = (double)object->shallow_bytes });
	if (collection.size)
		return HDB_OK;
	add(&w->empties,
	    &(struct addend){ node->class_no, node->weight, 0, 0, (double)object->shallow_bytes });
	return HDB_OK;
}

static int look_at_error(struct walk *w, const struct node *node, struct hdb_error *err)
{
	struct heap_collection collection = { .size = 0 };
	uint64_t bytes;
	uint32_t ix;
	int r;

	TRY(derive_retained(w->session->derive, node->ix, &bytes, err));
	add(&w->errors, &(struct addend){ node->class_no, node->weight, 0, 0, (double)bytes });
	TRY_ERRORS(
		r = heap_path_object(w->session->heap, node->ix, "suppressedExceptions", &ix, err));
	if (r == HDB_OK)
		TRY_ERRORS(heap_collection_open(w->session->heap, ix, &collection, err));
	if ((double)collection.size > w->suppressed)
		w->suppressed = (double)collection.size;
	return HDB_OK;
}

static int look_at_task(struct walk *w, const struct node *node, bool is_timer,
			struct hdb_error *err)
{
	uint64_t state, period, time;

	TRY(field_of(w, node->ix, "state", &state, err));
	TRY(field_of(w, node->ix, "period", &period, err));
	TRY(field_of(w, node->ix, "time", &time, err));
	w->periodic += period ? node->weight : 0;
	add(&w->tasks, &(struct addend){ .class_no = node->class_no, .weight = node->weight });
	/* CANCELLED, INTERRUPTING and INTERRUPTED of FutureTask; CANCELLED of TimerTask */
	if (is_timer ? state == 3 : state >= 4 && state <= 6)
		w->cancelled += node->weight;
	/* COMPLETING, NORMAL and EXCEPTIONAL of FutureTask; EXECUTED of TimerTask */
	else if (is_timer ? state == 2 : state >= 1 && state <= 3)
		w->done += node->weight;
	/* NEW of FutureTask; a task with a scheduled time waits for that time, not for a thread */
	else if (!is_timer && !state && !time)
		w->queued += node->weight;
	return HDB_OK;
}

static int look_at_future(struct walk *w, const struct node *node, struct hdb_error *err)
{
	const struct node *parent = parent_of(w, node);
	uint64_t result, actions;

	/*
	 * the result of thenApply() or a similar method is completed by the future on which it
	 * depends
	 */
	if (parent && heap_has_superclass(w->session->heap, parent->class_no,
					  "java.util.concurrent.CompletableFuture$Completion")) {
		w->dependents += node->weight;
		return HDB_OK;
	}
	TRY(field_of(w, node->ix, "result", &result, err));
	TRY(field_of(w, node->ix, "stack", &actions, err));
	add(&w->futures, &(struct addend){ .class_no = node->class_no, .weight = node->weight });
	if (!result)
		w->open_futures += node->weight;
	if (!result && actions) {
		uint64_t bytes;

		TRY(derive_retained(w->session->derive, node->ix, &bytes, err));
		w->waited += node->weight;
		w->waited_bytes += node->weight * (double)bytes;
	}
	return HDB_OK;
}

/*
 * Counts a key of a weak map that its own entry dominates. The entry refers to the key weakly, so
 * only the entry's value keeps it alive.
 */
static int look_at_key(struct walk *w, const struct node *node, uint64_t referent,
		       struct hdb_error *err)
{
	uint32_t ix, dominator;

	TRY_FOUND(heap_find(w->session->heap, referent, &ix, err));
	for (unsigned i = 0; i < FACTS_CLIMBS; i++) {
		TRY(derive_dominator(w->session->derive, ix, &dominator, err));
		if (dominator == node->ix)
			w->self_kept += node->weight;
		if (dominator == node->ix || dominator == HEAP_NONE || dominator == ix)
			return HDB_OK;
		ix = dominator;
	}
	return HDB_OK;
}

static int look_at_reference(struct walk *w, const struct node *node, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_value queue = { .bits = 0 };
	uint64_t referent, bytes;

	TRY_ERRORS(heap_path_value_as(heap, (struct heap_as){ node->ix, w->reference_no }, "queue",
				      &queue, err));
	TRY(field_of(w, node->ix, "referent", &referent, err));
	TRY(derive_retained(w->session->derive, node->ix, &bytes, err));
	add(&w->references, &(struct addend){ node->class_no, node->weight, 0, 0, 1 });
	if (queue.bits && queue.bits == w->enqueued_bits)
		w->enqueued += node->weight;
	else if (!referent)
		w->cleared += node->weight;
	if (strcmp(heap_class_name(heap, node->class_no),
		   "java.lang.ThreadLocal$ThreadLocalMap$Entry") == 0)
		w->locals += node->weight * (double)bytes;
	if (heap_has_superclass(heap, node->class_no, "java.lang.ref.SoftReference"))
		w->soft_bytes += node->weight * (double)bytes;
	if (referent && heap_has_superclass(heap, node->class_no, "java.util.WeakHashMap$Entry"))
		TRY(look_at_key(w, node, referent, err));
	return HDB_OK;
}

/* Counts a class loader that was closed. */
static int look_at_loader(struct walk *w, uint32_t ix, double weight, struct hdb_error *err)
{
	uint64_t closed;

	TRY(field_of(w, ix, "ucp.closed", &closed, err));
	if (!closed)
		return HDB_OK;
	w->loaders += weight;
	w->loader_ix = ix;
	return HDB_OK;
}

/*
 * Counts a view that is the only holder of a larger list or array. The elements that it does not
 * show are kept for nothing.
 */
static int look_at_view(struct walk *w, const struct node *node, bool is_buffer,
			struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_collection whole = { .size = 0 };
	struct heap_object object;
	uint64_t shown, all, bytes;
	uint32_t ix, dominator;

	TRY_FOUND(heap_path_object(heap, node->ix, is_buffer ? "hb" : "root|parent|l|list", &ix,
				   err));
	TRY(derive_dominator(w->session->derive, ix, &dominator, err));
	if (dominator != node->ix)
		return HDB_OK;
	TRY(heap_object(heap, ix, &object, err));
	TRY(derive_retained(w->session->derive, ix, &bytes, err));
	TRY(field_of(w, node->ix, is_buffer ? "capacity" : "size", &shown, err));
	all = object.length;
	if (!is_buffer) {
		TRY_FOUND(heap_collection_open(heap, ix, &whole, err));
		all = whole.size;
	}
	if (shown * 2 < all)
		add(&w->views,
		    &(struct addend){ node->class_no, node->weight, (double)all, (double)shown,
				      (double)bytes * ((double)(all - shown) / (double)all) });
	return HDB_OK;
}

/* Counts a direct or mapped buffer that owns its memory outside the heap. */
static int look_at_buffer(struct walk *w, const struct node *node, struct hdb_error *err)
{
	uint64_t cleaner, capacity;

	TRY(field_of(w, node->ix, "cleaner", &cleaner, err));
	TRY(field_of(w, node->ix, "capacity", &capacity, err));
	if (cleaner)
		add(&w->direct, &(struct addend){ .class_no = node->class_no,
						  .weight = node->weight,
						  .bytes = (double)capacity });
	return cleaner ? HDB_OK : look_at_view(w, node, true, err);
}

static int look_at(struct walk *w, size_t no, struct hdb_error *err)
{
	struct node *node = base_vec_at(&w->nodes, struct node, no);
	struct heap_object object;
	enum held_kind kind;

	TRY(heap_object(w->session->heap, node->ix, &object, err));
	add(&w->all, &(struct addend){ .class_no = object.class_no,
				       .weight = node->weight,
				       .bytes = (double)object.shallow_bytes });
	node->class_no = object.class_no;
	if (object.kind == STORE_OBJECT_ARRAY)
		return look_at_references(w, node, &object, err);
	if (object.kind == STORE_PRIMITIVE_ARRAY)
		return look_at_content(w, node, &object, err);
	if (object.kind != STORE_INSTANCE)
		return HDB_OK;
	kind = kind_of(w, object.class_no);
	switch (kind) {
	case HELD_BUILDER:
		return look_at_builder(w, node, err);
	case HELD_COLLECTION:
		return look_at_collection(w, node, &object, err);
	case HELD_BOX:
		add(&w->boxes, &(struct addend){ object.class_no, node->weight, 0, 0,
						 (double)object.shallow_bytes });
		return HDB_OK;
	case HELD_ERROR:
		return look_at_error(w, node, err);
	case HELD_FUTURE:
		return look_at_future(w, node, err);
	case HELD_TASK:
	case HELD_TIMER_TASK:
		return look_at_task(w, node, kind == HELD_TIMER_TASK, err);
	case HELD_REFERENCE:
		return look_at_reference(w, node, err);
	case HELD_NODE:
		w->plumbing += node->weight * (double)object.shallow_bytes;
		return HDB_OK;
	case HELD_VIEW:
		return look_at_view(w, node, false, err);
	case HELD_BUFFER:
		return look_at_buffer(w, node, err);
	case HELD_LOADER:
		return look_at_loader(w, node->ix, node->weight, err);
	case HELD_UNKNOWN:
	case HELD_OTHER:
	case HELD_STRING:
		break;
	}
	return HDB_OK;
}

/* ---- the walk ---- */

/*
 * Appends the children of a node: the largest ones, which represent only themselves, and an even
 * sample of the others.
 */
static int add_children(struct walk *w, size_t no, struct hdb_error *err)
{
	const struct node node = *base_vec_at(&w->nodes, struct node, no);
	const uint32_t *batch;
	uint64_t length, step, at = 0;
	size_t count;

	TRY(store_lists_begin(&w->children, node.ix, &length, err));
	step = length <= w->children_max ?
		       1 :
		       (length - FACTS_CHILDREN_LARGE + w->children_max - 1) / w->children_max;
	assert(step > 0);
	for (;;) {
		TRY(store_lists_next(&w->children, &batch, &count, err));
		if (!count)
			return HDB_OK;
		for (size_t i = 0; i < count; i++, at++) {
			const bool is_large = at < FACTS_CHILDREN_LARGE;
			const struct node child = { .ix = batch[i],
						    .parent = (uint32_t)no,
						    .weight = node.weight *
							      (is_large ? 1 : (double)step) };

			if (!is_large && at % step)
				continue;
			if (w->nodes.count >= FACTS_OBJECTS_MAX) {
				w->is_cut = true;
				return HDB_OK;
			}
			TRY(base_vec_push(&w->nodes, &child, sizeof(child), err));
		}
	}
}

/*
 * Whether an object is a node of the tree or list to which the object above it belongs, or which
 * that object is.
 */
static bool is_node_of(struct heap *heap, uint32_t class_no, uint32_t above_no)
{
	const char *name = heap_class_name(heap, class_no),
		   *above = heap_class_name(heap, above_no);
	const size_t size = strlen(above);

	return class_no == above_no || (strncmp(name, above, size) == 0 && name[size] == '$');
}

/*
 * Finds where the walk begins: at the highest object that holds little else than the accumulation
 * point, or of which the accumulation point is a node.
 */
static int find_top(const struct session *session, const struct analysis_suspect *s, uint32_t *top,
		    struct hdb_error *err)
{
	struct heap_object object;
	uint64_t bytes, more;
	uint32_t above;

	*top = s->point_ix == HEAP_NONE ? s->ix : s->point_ix;
	TRY(heap_object(session->heap, *top, &object, err));
	TRY(derive_retained(session->derive, *top, &bytes, err));
	for (unsigned i = 0, nodes = 0;
	     i < FACTS_TOP_CLIMBS && nodes < FACTS_NODES && *top != s->ix;) {
		const uint32_t class_no = object.class_no;
		bool is_node;

		TRY(derive_dominator(session->derive, *top, &above, err));
		if (above == HEAP_NONE || above == *top)
			return HDB_OK;
		TRY(heap_object(session->heap, above, &object, err));
		if (object.kind == STORE_CLASS)
			return HDB_OK;
		is_node = is_node_of(session->heap, class_no, object.class_no);
		TRY(derive_retained(session->derive, above, &more, err));
		if (!is_node && (double)bytes < (double)more * FACTS_CLIMB_PART)
			return HDB_OK;
		bytes = is_node ? more : bytes;
		nodes += is_node;
		i += !is_node;
		*top = above;
	}
	return HDB_OK;
}

static int add_tops(struct walk *w, const struct analysis_suspect *s, struct hdb_error *err)
{
	const size_t step = (s->members.count + w->children_max - 1) / w->children_max;
	struct node node = { .parent = HEAP_NONE, .weight = 1 };

	if (s->ix != HEAP_NONE) {
		TRY(find_top(w->session, s, &node.ix, err));
		return base_vec_push(&w->nodes, &node, sizeof(node), err);
	}
	assert(step > 0 && s->members.count <= s->count);
	for (size_t i = 0; i < s->members.count; i += step) {
		node.ix = *base_vec_at(&s->members, uint32_t, i);
		TRY(base_vec_push(&w->nodes, &node, sizeof(node), err));
	}
	for (size_t i = 0; i < w->nodes.count; i++)
		base_vec_at(&w->nodes, struct node, i)->weight =
			(double)s->count / (double)w->nodes.count;
	return HDB_OK;
}

/* ---- equal contents ---- */

BASE_ORDER(compare_contents, struct content, BASE_UP(low), BASE_UP(high), BASE_UP(ix))

/* Names a content: the text of a string, or the class and length of an array. */
static int name_content(const struct walk *w, const struct content *c, enum explain_fact to,
			struct explain_facts *out, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	char text[EXPLAIN_CONTENT_MAX - 8], name[EXPLAIN_CONTENT_MAX];
	struct heap_object object;

	TRY(heap_object(heap, c->ix, &object, err));
	if (c->owner_ix != c->ix) {
		TRY_FOUND(heap_string(heap, c->owner_ix, text, sizeof(text), err));
		(void)snprintf(name, sizeof(name), "\"%s\"", text);
	} else {
		const char *class_name = heap_class_name(heap, object.class_no);

		(void)snprintf(name, sizeof(name), "%.*s[%" PRIu64 "]",
			       (int)strcspn(class_name, "["), class_name, object.length);
	}
	explain_fact_text(out, to, name);
	return HDB_OK;
}

/* Equal contents, or zeros. */
struct equals {
	const struct content *most; /* the content that takes most */
	double count, bytes, most_count, most_bytes, kinds;
};

/*
 * The order of hashes differs from run to run, so the order of objects decides between equal
 * entries.
 */
static void add_run(struct equals *e, const struct content *first, double count, double bytes)
{
	e->count += count;
	e->bytes += bytes;
	e->kinds++;
	if (e->most &&
	    (bytes < e->most_bytes || (bytes == e->most_bytes && first->ix > e->most->ix)))
		return;
	e->most = first;
	e->most_bytes = bytes;
	e->most_count = count;
}

static int is_zero(const struct walk *w, const struct content *c, bool *out, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_object object;
	struct sample s;

	TRY(heap_object(heap, c->ix, &object, err));
	TRY(sample_array(heap, &object, UINT64_MAX, &s, err));
	*out = !s.used;
	return HDB_OK;
}

static int set_equals(const struct walk *w, const struct equals *e, bool is_zeros,
		      struct explain_facts *out, struct hdb_error *err)
{
	const bool is_about = w->is_cut || w->all.is_about;

	if (!e->most)
		return HDB_OK;
	if (is_zeros) {
		set(out, EXPLAIN_FACT_zeros, e->count, is_about);
		set_percent(w, out, EXPLAIN_FACT_zero_percent, e->bytes);
		return name_content(w, e->most, EXPLAIN_FACT_zero_kind, out, err);
	}
	set(out, EXPLAIN_FACT_equals, e->count, is_about);
	set_percent(w, out, EXPLAIN_FACT_equal_percent, e->bytes);
	/* Copies are adjacent, so a sample cannot show how many copies of one content there are. */
	if (!is_about)
		explain_fact_set(out, EXPLAIN_FACT_most_count, e->most_count);
	return name_content(w, e->most, EXPLAIN_FACT_most_equal, out, err);
}

/* Finds equal contents. Small arrays of zeros are counters and the like, and are ignored. */
static int find_equals(struct walk *w, struct explain_facts *out, struct hdb_error *err)
{
	const struct content *list = w->contents.data;
	struct equals equals = { .count = 0 }, zeros = { .count = 0 };

	base_vec_sort(&w->contents, sizeof(struct content), compare_contents);
	for (size_t from = 0, to; from < w->contents.count; from = to) {
		double count = 0, bytes = 0;
		bool is_empty;

		for (to = from; to < w->contents.count && list[to].low == list[from].low &&
				list[to].high == list[from].high;
		     to++) {
			count += list[to].weight;
			bytes += list[to].weight * list[to].bytes;
		}
		if (to - from < 2)
			continue;
		TRY(is_zero(w, &list[from], &is_empty, err));
		if (!is_empty)
			add_run(&equals, &list[from], count, bytes - list[from].bytes);
		else if (list[from].bytes >= FACTS_ZEROS_MIN)
			add_run(&zeros, &list[from], count, bytes);
	}
	TRY(set_equals(w, &equals, false, out, err));
	return set_equals(w, &zeros, true, out, err);
}

/* ---- the figures ---- */

/* Sets the facts derived from a tally: number and class. EXPLAIN_FACT_COUNT means no fact. */
static void set_tally(const struct walk *w, const struct tally *tally,
		      const enum explain_fact to[2], struct explain_facts *out)
{
	if (!tally->classes)
		return;
	set(out, to[0], tally->count, tally->is_about);
	if (to[1] != EXPLAIN_FACT_COUNT)
		explain_fact_text(out, to[1],
				  explain_short_class(w->session->heap,
						      tally->list[most_of(tally)].class_no));
}

/*
 * Reports unused slots: those of the class that has the most, and those of the container that has
 * the most.
 */
static void set_rooms(const struct walk *w, struct explain_facts *out)
{
	const unsigned most = most_of(&w->rooms);
	const double count = w->rooms.list[most].count;

	if (!w->rooms.classes || w->rooms.bytes <= 0)
		return;
	assert(count > 0);
	set(out, EXPLAIN_FACT_rooms, count, w->rooms.is_about);
	explain_fact_text(out, EXPLAIN_FACT_room_kind,
			  explain_short_class(w->session->heap, w->rooms.list[most].class_no));
	explain_fact_set(out, EXPLAIN_FACT_room_places, w->rooms.list[most].places / count);
	explain_fact_set(out, EXPLAIN_FACT_room_used, w->rooms.list[most].used / count);
	set_percent(w, out, EXPLAIN_FACT_free_percent, w->rooms.bytes);
	explain_fact_text(out, EXPLAIN_FACT_big_kind,
			  explain_short_class(w->session->heap, w->big.class_no));
	explain_fact_set(out, EXPLAIN_FACT_big_places, w->big.places);
	explain_fact_set(out, EXPLAIN_FACT_big_used, w->big.used);
	explain_fact_set(out, EXPLAIN_FACT_big_free, w->big.bytes);
}

static void set_figures(const struct walk *w, struct explain_facts *out)
{
	const struct {
		const struct tally *tally;
		enum explain_fact to[2];
	} tallies[] = {
#define TALLY(member, count, kind) \
	{ \
		&w->member, \
		{ \
			EXPLAIN_FACT_##count, EXPLAIN_FACT_##kind \
		} \
	}
		TALLY(empties, empties, empty_kind), TALLY(boxes, boxes, box_kind),
		TALLY(errors, errors, error_kind),   TALLY(references, references, reference_kind),
		TALLY(views, views, view_kind),      TALLY(futures, futures, COUNT),
		TALLY(tasks, tasks, COUNT),          TALLY(slack, slack, slack_kind),
		TALLY(small, small, small_kind),     TALLY(near, near, near_kind),
		TALLY(direct, direct, COUNT),
	};

	if (w->all.bytes <= 0)
		return;
	explain_fact_set(out, EXPLAIN_FACT_bytes, w->all.bytes);
	for (size_t i = 0; i < sizeof(tallies) / sizeof(tallies[0]); i++)
		set_tally(w, tallies[i].tally, tallies[i].to, out);
	set_rooms(w, out);
	set(out, EXPLAIN_FACT_suppressed, w->suppressed, false);
	set(out, EXPLAIN_FACT_open_futures, w->open_futures, w->futures.is_about);
	set(out, EXPLAIN_FACT_waited, w->waited, w->futures.is_about);
	set(out, EXPLAIN_FACT_cancelled, w->cancelled, w->tasks.is_about);
	set(out, EXPLAIN_FACT_enqueued, w->enqueued, w->references.is_about);
	set(out, EXPLAIN_FACT_self_kept, w->self_kept, w->references.is_about);
	set(out, EXPLAIN_FACT_done, w->done, w->tasks.is_about);
	set(out, EXPLAIN_FACT_queued, w->queued, w->tasks.is_about);
	set(out, EXPLAIN_FACT_periodic, w->periodic, w->tasks.is_about);
	set(out, EXPLAIN_FACT_dependents, w->dependents, w->is_cut || w->futures.is_about);
	set(out, EXPLAIN_FACT_loaders, w->loaders, false);
	if (w->loaders > 0)
		explain_fact_object(out, EXPLAIN_FACT_loader, w->loader_ix);
	set(out, EXPLAIN_FACT_cleared, w->cleared, w->references.is_about);
	set_percent(w, out, EXPLAIN_FACT_soft_percent, w->soft_bytes);
	set_percent(w, out, EXPLAIN_FACT_slack_percent, w->slack.bytes);
	if (w->slack.classes) {
		const size_t most = most_of(&w->slack);

		explain_fact_set(out, EXPLAIN_FACT_slack_length,
				 w->slack.list[most].places / w->slack.list[most].count);
	}
	set_percent(w, out, EXPLAIN_FACT_near_percent, w->near.bytes);
	set_percent(w, out, EXPLAIN_FACT_local_percent, w->locals);
	set_percent(w, out, EXPLAIN_FACT_waited_percent, w->waited_bytes);
	set_percent(w, out, EXPLAIN_FACT_plumbing_percent, w->plumbing);
	if (w->small.classes) {
		const unsigned most = most_of(&w->small);

		explain_fact_set(out, EXPLAIN_FACT_small_used,
				 w->small.list[most].used / w->small.list[most].count);
	}
	set(out, EXPLAIN_FACT_direct_bytes, w->direct.bytes, w->direct.is_about);
	set_percent(w, out, EXPLAIN_FACT_view_percent, w->views.bytes);
	set_percent(w, out, EXPLAIN_FACT_empty_percent, w->empties.bytes);
	set_percent(w, out, EXPLAIN_FACT_error_percent, w->errors.bytes);
	set_percent(w, out, EXPLAIN_FACT_box_percent, w->boxes.bytes);
}

/*
 * Estimates which share of the largest array of numbers is not 0. A low share indicates a sparse
 * table, or a buffer that was never filled.
 */
static int set_nonzero(const struct walk *w, struct explain_facts *out, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_object object;
	char name[EXPLAIN_CONTENT_MAX];
	struct sample s;

	if (w->big_bytes < FACTS_NONZERO_BYTES)
		return HDB_OK;
	TRY(heap_object(heap, w->big_array, &object, err));
	TRY(sample_array(heap, &object, FACTS_NONZERO_LOOKED, &s, err));
	explain_fact_set(out, EXPLAIN_FACT_nonzero, (double)s.used * 100 / (double)s.looked);
	explain_fact_set(out, EXPLAIN_FACT_nonzero_free, zero_bytes(&s, w->big_bytes));
	(void)snprintf(name, sizeof(name), "%.*s[%" PRIu64 "]",
		       (int)strcspn(heap_class_name(heap, object.class_no), "["),
		       heap_class_name(heap, object.class_no), object.length);
	explain_fact_text(out, EXPLAIN_FACT_nonzero_kind, name);
	return HDB_OK;
}

/* Collects the objects of the walk, with at most children_max of each. */
static int collect(struct walk *w, const struct analysis_suspect *s, struct hdb_error *err)
{
	w->nodes.count = 0;
	w->is_cut = false;
	TRY(add_tops(w, s, err));
	for (size_t i = 0; i < w->nodes.count && !w->is_cut; i++)
		TRY(add_children(w, i, err));
	return HDB_OK;
}

/*
 * Follows the children that hold at least half of the top: each is the first, as they are sorted by
 * size. Keeps the last one that is the value of a map's entry.
 */
static int find_heavy(struct walk *w, struct explain_facts *out, struct hdb_error *err)
{
	uint32_t no = 0;

	for (uint32_t i = 1; i < w->nodes.count && w->top_bytes; i++) {
		const struct node *child = base_vec_at(&w->nodes, struct node, i);
		const uint32_t above_no = base_vec_at(&w->nodes, struct node, no)->class_no;
		uint64_t bytes;

		if (child->parent != no)
			continue;
		TRY(derive_retained(w->session->derive, child->ix, &bytes, err));
		if (bytes < w->top_bytes / 2)
			break;
		no = i;
		if (kind_of(w, above_no) != HELD_NODE || kind_of(w, child->class_no) == HELD_NODE)
			continue;
		explain_fact_object(out, EXPLAIN_FACT_heavy, child->ix);
		explain_fact_set(out, EXPLAIN_FACT_heavy_percent,
				 (double)bytes * 100 / (double)w->top_bytes);
	}
	return HDB_OK;
}

/* Names the field by which another object refers to the largest collection, or what wraps it. */
static int name_field(struct walk *w, struct explain_facts *out, struct hdb_error *err)
{
	uint32_t ix = w->largest_ix, above;
	struct analysis_link link;
	struct heap_object object;

	for (unsigned i = 0; i < FACTS_CLIMBS; i++, ix = above) {
		TRY(derive_dominator(w->session->derive, ix, &above, err));
		if (above == HEAP_NONE || above == ix)
			return HDB_OK;
		TRY(heap_object(w->session->heap, above, &object, err));
		if (object.kind == STORE_CLASS ||
		    (object.kind == STORE_INSTANCE && kind_of(w, object.class_no) == HELD_OTHER))
			break;
	}
	TRY(analysis_link_find(w->session, above, ix, &link, err));
	if (link.kind == ANALYSIS_LINK_FIELD || link.kind == ANALYSIS_LINK_STATIC)
		explain_fact_text(out, EXPLAIN_FACT_holder_field, analysis_link_name(&link));
	return HDB_OK;
}

/* The object at the top of the walk may itself belong to a closed class loader. */
static int look_above(struct walk *w, struct hdb_error *err)
{
	const struct node *top = w->nodes.data;
	struct heap *heap = w->session->heap;
	uint32_t ix = w->nodes.count ? top->ix : HEAP_NONE, above;

	for (unsigned i = 0; i < FACTS_CLIMBS && ix != HEAP_NONE && w->loaders == 0; i++) {
		struct heap_object object, loader;
		uint32_t loader_ix;

		TRY(heap_object(heap, ix, &object, err));
		loader_ix = heap_class(heap, heap_known_class(&object))->loader_ix;
		if (loader_ix != HEAP_BOOT_LOADER && loader_ix != HEAP_NONE) {
			TRY(heap_object(heap, loader_ix, &loader, err));
			if (kind_of(w, loader.class_no) == HELD_LOADER)
				TRY(look_at_loader(w, loader_ix, top->weight, err));
		}
		TRY(derive_dominator(w->session->derive, ix, &above, err));
		if (above == ix)
			break;
		ix = above;
	}
	return HDB_OK;
}

static int walk(struct walk *w, const struct analysis_suspect *s, struct explain_facts *out,
		struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_value enqueued = { .bits = 0 };

	TRY(heap_open_dump(heap, err));
	TRY(heap_load_classes(heap, err));
	TRY(BASE_ALLOC(w->kinds, (size_t)heap->class_count + 1, "classes", err));
	TRY(derive_children(w->session->derive, &w->children, err));
	TRY_ERRORS(
		heap_static_value(heap, "java.lang.ref.ReferenceQueue.ENQUEUED", &enqueued, err));
	w->enqueued_bits = enqueued.bits;
	w->reference_no = heap_class_by_name(heap, "java.lang.ref.Reference", 0);
	do {
		TRY(collect(w, s, err));
		w->children_max /= 4;
	} while (w->is_cut && w->children_max >= FACTS_CHILDREN_MIN);
	if (s->ix != HEAP_NONE)
		TRY(derive_retained(w->session->derive, base_vec_at(&w->nodes, struct node, 0)->ix,
				    &w->top_bytes, err));
	for (size_t i = 0; i < w->nodes.count; i++)
		TRY(look_at(w, i, err));
	TRY(look_above(w, err));
	set_figures(w, out);
	TRY(find_equals(w, out, err));
	TRY(set_nonzero(w, out, err));
	if (w->largest_ix == HEAP_NONE)
		w->largest_ix = w->larger_ix;
	if (w->most_ix != HEAP_NONE)
		w->largest_ix = w->most_ix;
	TRY(find_heavy(w, out, err));
	if (w->largest_ix == HEAP_NONE)
		return HDB_OK;
	TRY(name_field(w, out, err));
	return explain_entry_facts(w->session, w->largest_ix, out, err);
}

int explain_facts_find(const struct session *session, const struct analysis_suspect *suspect,
		       struct explain_facts *out, struct hdb_error *err)
{
	struct walk w = { .session = session,
			  .last_array = { HEAP_NONE, HEAP_NONE },
			  .most_ix = HEAP_NONE,
			  .largest_ix = HEAP_NONE,
			  .larger_ix = HEAP_NONE,
			  .children_max = FACTS_CHILDREN_MAX };
	int r;

	memset(out, 0, sizeof(*out));
	/* Removed values are zeros, and a portable heap dump has no values. */
	if (session->heap->state.redacted || session->heap->is_phd)
		return HDB_OK;
	if (suspect->retained_bytes < FACTS_BYTES_MIN)
		return HDB_OK;
	r = walk(&w, suspect, out, err);
	base_vec_release(&w.nodes);
	base_vec_release(&w.contents);
	free(w.kinds);
	return r;
}
