/*
 * queries/explain/held_arrays.c - examines the arrays that a suspect holds: free slots, zeros,
 * copies and equal contents.
 */
#include "queries/explain/held_private.h"

#include "analysis/contents.h"
#include "base/base_text.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "heap/collections/collections.h"

#include <stdio.h>
#include <string.h>

/*
 * Maximum number of elements read from complete arrays. If an array would exceed this limit, only
 * an evenly spaced sample of its elements is read.
 */
#define FACTS_ELEMENTS_MAX (2u << 20)
#define FACTS_ELEMENTS_PART 4096u
/*
 * Maximum total size of arrays whose contents are compared, for arrays of at most
 * FACTS_CONTENT_LARGE bytes and for larger arrays. If the smaller arrays exceed the limit, a sample
 * represents all of them.
 */
#define FACTS_CONTENT_BYTES (16u << 20)
#define FACTS_CONTENT_LARGE (FACTS_CONTENT_BYTES / 64)
/* Fraction of an estimate that is reported as a minimum, because estimates vary. */
#define FACTS_AT_LEAST 0.95
/* Minimum length of an array, or of a string's array, whose content is compared. */
#define FACTS_CONTENT_MIN 8u
#define FACTS_TEXT_MIN 1u
/* Minimum size of an array of zeros that is counted. */
#define FACTS_ZEROS_MIN 4096
/* Number of elements of an array that are checked for 0. */
#define FACTS_SLACK_LOOKED 64u
/* Minimum size of a number array that is checked for zeros, and number of elements checked. */
#define FACTS_NONZERO_BYTES (1u << 20)
#define FACTS_NONZERO_LOOKED 65536u
/*
 * Minimum size of an array that is compared with the previous array. The comparison covers
 * FACTS_NEAR_PIECES pieces of the array.
 */
#define FACTS_NEAR_BYTES 1024u
#define FACTS_NEAR_PIECES 8u
#define FACTS_NEAR_ELEMENTS 16u

/* The content of an array. */
struct content {
	uint64_t low, high;
	uint32_t ix, owner_ix; /* the array, and its owner: the string that refers to the array, or
			        * the array itself */
	uint64_t size;         /* shallow size of the array */
	double weight;
	/*
	 * sizes of the string and of the array. The array counts for only one of its owners: for a
	 * string that dominates it, or for itself. For its other owners, the size of the array is
	 * 0.
	 */
	double string_bytes, array_bytes;
};

/*
 * Counts an array that differs little from the previous one, because at least 90 % of the compared
 * elements are equal. Elements that are 0 in both arrays are ignored.
 */
static int look_at_copy(struct held_walk *w, const struct held_node *node,
			const struct heap_object *object, struct hdb_error *err)
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
	/* Rows of a table that are all filled with the same object do not count as copies. */
	if (object->kind == STORE_OBJECT_ARRAY && varied * 2 < looked)
		return HDB_OK;
	if (looked >= FACTS_NEAR_ELEMENTS && equal * 10 >= looked * 9)
		held_add(&w->near, &(struct held_addend){ .class_no = object->class_no,
							  .weight = node->weight,
							  .bytes = (double)object->shallow_bytes });
	return HDB_OK;
}

/*
 * Determines the number of slots of an object array and the number of used slots. The used slots
 * are counted, unless the collection records their number.
 */
static int look_at_references(struct held_walk *w, const struct held_node *node,
			      const struct heap_object *object, struct hdb_error *err)
{
	const struct held_node *parent = held_parent(w, node);
	const uint64_t step = object->length <= FACTS_ELEMENTS_MAX - w->elements ?
				      1 :
				      object->length / FACTS_ELEMENTS_PART + 1;
	struct heap_collection collection = { .array_ix = HEAP_NONE };
	struct heap *heap = w->session->heap;
	struct held_addend a = { .class_no = object->class_no, .weight = node->weight };
	struct heap_walk elements;
	uint64_t used = 0;

	if (parent && held_kind_of(w, parent->class_no) == HELD_COLLECTION)
		w->plumbing += node->weight * (double)object->shallow_bytes;
	if (object->shallow_bytes >= FACTS_NEAR_BYTES)
		TRY(look_at_copy(w, node, object, err));
	if (object->length < 4)
		return HDB_OK;
	if (parent && held_kind_of(w, parent->class_no) == HELD_COLLECTION) {
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
	held_add_room(w, &a);
	return HDB_OK;
}

/* An evenly spaced sample of an array of numbers. */
struct sample {
	uint64_t looked; /* number of elements read */
	uint64_t used;   /* number of elements in the sample that are not 0 */
};

/* Reads an evenly spaced sample of at most `max` elements of an array. */
static int sample_array(struct heap *heap, const struct heap_object *array, uint64_t max,
			struct sample *out, struct hdb_error *err)
{
	const uint64_t step = array->length / max + 1;
	struct heap_walk elements;

	out->looked = (array->length + step - 1) / step;
	heap_walk_begin(&elements, array->ix, 0, array->length);
	return heap_walk_count(heap, &elements, step, &out->used, err);
}

/* Estimates from the sample how many bytes of an array are zero. */
static double zero_bytes(const struct sample *s, uint64_t bytes)
{
	return (double)bytes * (double)(s->looked - s->used) / (double)s->looked;
}

/* Counts a large number array that consists mostly of zeros, because most of it was never used. */
static int look_at_slack(struct held_walk *w, const struct held_node *node,
			 const struct heap_object *object, struct hdb_error *err)
{
	struct sample s;

	TRY(sample_array(w->session->heap, object, FACTS_SLACK_LOOKED, &s, err));
	if (s.used && s.used * 4 <= s.looked)
		held_add(&w->slack, &(struct held_addend){ object->class_no, node->weight,
							   (double)object->length, (double)s.used,
							   zero_bytes(&s, object->shallow_bytes) });
	return HDB_OK;
}

/*
 * Returns whether a content belongs to the sample. A hash decides, because the first arrays of a
 * walk all come from its top levels.
 */
static bool is_sampled(const struct held_walk *w, const struct content *content)
{
	return content->size > FACTS_CONTENT_LARGE ||
	       base_hash(content->owner_ix, 0) % w->contents_part == 0;
}

/* Halves the sample. */
static void thin_contents(struct held_walk *w)
{
	struct content *list = w->contents.data;
	size_t kept = 0;

	w->contents_part *= 2;
	for (size_t i = 0; i < w->contents.count; i++) {
		if (is_sampled(w, &list[i]))
			list[kept++] = list[i];
		else
			w->content_bytes -= list[i].size;
	}
	w->contents.count = kept;
}

/* Reads the content of an array, unless it exceeds the limit or does not belong to the sample. */
static int read_content(struct held_walk *w, struct content *content, struct hdb_error *err)
{
	const bool is_large = content->size > FACTS_CONTENT_LARGE;
	struct heap *heap = w->session->heap;
	struct analysis_content hash;
	uint64_t *bytes = is_large ? &w->large_bytes : &w->content_bytes;
	uint64_t offset;
	int r;

	while (is_sampled(w, content) && content->size > FACTS_CONTENT_BYTES - *bytes) {
		if (is_large)
			return HDB_OK;
		thin_contents(w);
	}
	if (!is_sampled(w, content))
		return HDB_OK;
	TRY(heap_offset(heap, content->ix, &offset, err));
	TRY_ERRORS(r = analysis_array_hash(heap, &heap->dump.view, offset, &hash, err));
	if (r != HDB_OK)
		return HDB_OK;
	*bytes += content->size;
	content->low = hash.low;
	content->high = hash.high;
	return base_vec_push(&w->contents, content, sizeof(*content), err);
}

/* Examines an array of numbers, except the characters of a string. */
static int look_at_numbers(struct held_walk *w, const struct held_node *node,
			   const struct heap_object *object, struct hdb_error *err)
{
	const struct held_node *parent = held_parent(w, node);
	const enum held_kind kind = parent ? held_kind_of(w, parent->class_no) : HELD_OTHER;
	struct content content = { .ix = node->ix,
				   .owner_ix = node->ix,
				   .size = object->shallow_bytes,
				   .weight = node->weight,
				   .array_bytes = (double)object->shallow_bytes };

	if (kind == HELD_BUILDER)
		return HDB_OK;
	if (object->shallow_bytes > w->big_bytes) {
		w->big_array = node->ix;
		w->big_bytes = object->shallow_bytes;
	}
	if (object->shallow_bytes >= FACTS_ZEROS_MIN)
		TRY(look_at_slack(w, node, object, err));
	if (object->shallow_bytes >= FACTS_NEAR_BYTES)
		TRY(look_at_copy(w, node, object, err));
	if (kind == HELD_STRING || object->length < FACTS_CONTENT_MIN)
		return HDB_OK;
	return read_content(w, &content, err);
}

int held_count_string(struct held_walk *w, const struct held_node *node,
		      const struct heap_object *object, struct hdb_error *err)
{
	struct content content = { .owner_ix = node->ix,
				   .weight = node->weight,
				   .string_bytes = (double)object->shallow_bytes };
	struct heap *heap = w->session->heap;
	struct heap_object array;
	int64_t offset = 0, count;
	uint32_t dominator;

	TRY_FOUND(heap_path_object(heap, node->ix, "value", &content.ix, err));
	TRY(heap_object(heap, content.ix, &array, err));
	content.size = array.shallow_bytes;
	TRY(derive_dominator(w->session->derive, content.ix, &dominator, err));
	if (dominator == node->ix) {
		content.array_bytes = (double)array.shallow_bytes;
	} else {
		/* In Java 6, strings that share an array may use different parts of the array. */
		count = (int64_t)array.length;
		TRY_ERRORS(heap_path_number(heap, node->ix, "offset", &offset, err));
		TRY_ERRORS(heap_path_number(heap, node->ix, "count", &count, err));
		if (offset || count != (int64_t)array.length)
			return HDB_OK;
	}
	if (array.kind != STORE_PRIMITIVE_ARRAY || array.length < FACTS_TEXT_MIN)
		return HDB_OK;
	return read_content(w, &content, err);
}

int held_count_array(struct held_walk *w, const struct held_node *node,
		     const struct heap_object *object, struct hdb_error *err)
{
	return object->kind == STORE_OBJECT_ARRAY ? look_at_references(w, node, object, err) :
						    look_at_numbers(w, node, object, err);
}

/* ---- equal contents ---- */

BASE_ORDER(compare_contents, struct content, BASE_UP(low), BASE_UP(high), BASE_UP(ix),
	   BASE_UP(owner_ix))

/* Describes an array by class and length: "byte[4096]". */
static void name_array(struct heap *heap, const struct heap_object *array, struct base_text to)
{
	const char *class_name = heap_class_name(heap, array->class_no);

	(void)snprintf(to.buf, to.size, "%.*s[%" PRIu64 "]", (int)strcspn(class_name, "["),
		       class_name, array->length);
}

/* Describes a content: the text of a string, or the class and length of an array. */
static int name_content(const struct held_walk *w, const struct content *c, enum explain_fact to,
			struct explain_facts *out, struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	char text[EXPLAIN_CONTENT_MAX - 8], name[EXPLAIN_CONTENT_MAX];
	struct heap_object object;

	if (c->owner_ix != c->ix) {
		TRY_FOUND(heap_string(heap, c->owner_ix, text, sizeof(text), err));
		(void)snprintf(name, sizeof(name), "\"%s\"", text);
	} else {
		TRY(heap_object(heap, c->ix, &object, err));
		name_array(heap, &object, BASE_TEXT(name));
	}
	explain_fact_text(out, to, name);
	return HDB_OK;
}

/* Equal contents. */
struct run {
	const struct content *first;
	size_t objects; /* number of objects read */
	double count;   /* number of objects that the objects read represent */
	double bytes, saved;
};

/* All runs of equal contents, or of arrays of zeros. */
struct equals {
	const struct content *most; /* the content that takes the most memory */
	double count, bytes, most_count, most_bytes, kinds;
};

/*
 * Adds a run of equal contents. The order of the hashes differs between runs of the program, so
 * ties are decided by the order of objects.
 */
static void add_run(struct equals *e, const struct run *run, double bytes)
{
	e->count += run->count;
	e->bytes += bytes;
	e->kinds++;
	if (e->most &&
	    (bytes < e->most_bytes || (bytes == e->most_bytes && run->first->ix > e->most->ix)))
		return;
	e->most = run->first;
	e->most_bytes = bytes;
	e->most_count = run->count;
}

static int is_zero(const struct held_walk *w, const struct content *c, bool *out,
		   struct hdb_error *err)
{
	struct heap *heap = w->session->heap;
	struct heap_object object;
	struct sample s;

	TRY(heap_object(heap, c->ix, &object, err));
	TRY(sample_array(heap, &object, UINT64_MAX, &s, err));
	*out = !s.used;
	return HDB_OK;
}

static int set_equals(const struct held_walk *w, const struct equals *e, bool is_zeros,
		      struct explain_facts *out, struct hdb_error *err)
{
	const bool is_about = w->is_about || w->contents_part > 1;
	/* Rules say "at least". */
	const double scale = is_about && !is_zeros ? FACTS_AT_LEAST : 1;

	if (!e->most)
		return HDB_OK;
	if (is_zeros) {
		held_set(out, EXPLAIN_FACT_zeros, e->count, is_about);
		held_set_percent(w, out, EXPLAIN_FACT_zero_percent, e->bytes);
		return name_content(w, e->most, EXPLAIN_FACT_zero_kind, out, err);
	}
	held_set(out, EXPLAIN_FACT_equals, e->count * scale, is_about);
	held_set_percent(w, out, EXPLAIN_FACT_equal_percent, e->bytes * scale);
	/* Copies are adjacent, so their number cannot be estimated from a sample. */
	if (!is_about)
		explain_fact_set(out, EXPLAIN_FACT_most_count, e->most_count);
	return name_content(w, e->most, EXPLAIN_FACT_most_equal, out, err);
}

/*
 * Adds up a run of equal contents. An array is not counted separately if a string of the run refers
 * to it. Returns false if fewer than two objects remain.
 */
static bool sum_run(const struct held_walk *w, const struct content *list, size_t length,
		    struct run *run)
{
	double string_bytes = 0, array_bytes = 0;

	*run = (struct run){ .first = NULL };
	for (size_t i = 0; i < length; i++) {
		const struct content *c = &list[i];
		const double weight =
			c->weight * (double)(c->size > FACTS_CONTENT_LARGE ? 1 : w->contents_part);

		run->bytes += weight * (c->string_bytes + c->array_bytes);
		/*
		 * A run below a sampled object represents `weight` runs, and one copy per run is
		 * needed.
		 */
		if (weight * c->string_bytes > string_bytes)
			string_bytes = weight * c->string_bytes;
		if (weight * c->array_bytes > array_bytes)
			array_bytes = weight * c->array_bytes;
		if (c->owner_ix == c->ix &&
		    ((i && list[i - 1].ix == c->ix) || (i + 1 < length && list[i + 1].ix == c->ix)))
			continue;
		if (!run->first)
			run->first = c;
		run->objects++;
		run->count += weight;
	}
	run->saved = run->bytes - string_bytes - array_bytes;
	return run->objects > 1;
}

/* Finds equal contents. Small arrays of zeros are ignored, because they are usually counters. */
int held_find_equals(struct held_walk *w, struct explain_facts *out, struct hdb_error *err)
{
	const struct content *list = w->contents.data;
	struct equals equals = { .count = 0 }, zeros = { .count = 0 };

	base_vec_sort(&w->contents, sizeof(struct content), compare_contents);
	for (size_t from = 0, to; from < w->contents.count; from = to) {
		struct run run;
		bool is_empty;

		for (to = from + 1; to < w->contents.count && list[to].low == list[from].low &&
				    list[to].high == list[from].high;)
			to++;
		if (!sum_run(w, &list[from], to - from, &run))
			continue;
		TRY(is_zero(w, run.first, &is_empty, err));
		if (!is_empty)
			add_run(&equals, &run, run.saved);
		else if (run.first->size >= FACTS_ZEROS_MIN)
			add_run(&zeros, &run, run.bytes);
	}
	TRY(set_equals(w, &equals, false, out, err));
	return set_equals(w, &zeros, true, out, err);
}

/* ---- the largest array of numbers ---- */

/*
 * Estimates the percentage of the largest number array that is not 0. A low percentage indicates a
 * sparse table, or a buffer that was never filled.
 */
int held_set_nonzero(const struct held_walk *w, struct explain_facts *out, struct hdb_error *err)
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
	name_array(heap, &object, BASE_TEXT(name));
	explain_fact_text(out, EXPLAIN_FACT_nonzero_kind, name);
	return HDB_OK;
}
