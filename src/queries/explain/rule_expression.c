/*
 * queries/explain/rule_expression.c - evaluates field paths and object functions in the expressions
 * of rules. See base/expression.h for the syntax.
 *
 * A function that does not apply to its argument returns no value, not an error, so rules need not
 * check the argument.
 */
#include "queries/explain/rules.h"

#include "analysis/describe.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/idmap.h"
#include "base/search.h"
#include "base/sort.h"
#include "heap/collections/collections.h"
#include "heap/threads.h"
#include "queries/inspect/inspect.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/*
 * Maximum number of entries examined by kind(), and maximum number of different classes among them.
 */
#define KIND_ENTRIES 10000u
/* Maximum number of entries examined by first(), which skips nulls. */
#define FIRST_PLACES 16u
#define KIND_CLASSES 16
/*
 * Maximum number of instances whose references referrer() reads one by one. For more instances, the
 * table of referrers is faster.
 */
#define REFERRING_MAX 50000u

/*
 * Maximum number of bytes of a thread name, and of a method, in user(). Of a longer method, the end
 * is shown: its name and the line. A method is read in full up to USER_FRAME_MAX bytes.
 */
#define USER_PART_MAX (BASE_VALUE_MAX / 2 - 16u)
#define USER_FRAME_MAX 4096

/* Maximum number of dominators above an object that are searched for the entry of a map. */
#define KEY_CLIMBS 16u

/* Arguments common to all functions. */
struct scan {
	struct explain_subject *subject;
	struct hdb_error *err;
};

/* ---- values of the heap ---- */

/* Converts the value of a field or element. */
static int set_value(const struct session *session, const struct heap_value *value,
		     struct base_value *out, struct hdb_error *err)
{
	const uint32_t low = (uint32_t)value->bits;
	int64_t whole;
	double number;
	float small;

	if (value->type == HPROF_OBJECT) {
		if (!value->bits)
			return HDB_OK;
		TRY_FOUND(heap_find(session->heap, value->bits, &out->object, err));
		out->kind = BASE_OBJECT;
		return HDB_OK;
	}
	if (!value->bits && session->heap->state.lacks_values) {
		out->kind = BASE_REMOVED;
	} else if (heap_value_number(value, &whole)) {
		base_value_set_number(out, (double)whole);
	} else if (value->type == HPROF_DOUBLE) {
		memcpy(&number, &value->bits, sizeof(number));
		base_value_set_number(out, number);
	} else if (value->type == HPROF_FLOAT) {
		memcpy(&small, &low, sizeof(small));
		base_value_set_number(out, (double)small);
	}
	return HDB_OK;
}

/* ---- functions of one object ---- */

/* count(): returns the number of entries of a collection, or of elements of an array. */
static int count_entries(struct scan *s, uint32_t ix, struct base_value *out)
{
	const struct session *session = s->subject->session;
	struct heap_collection collection;
	struct heap_object object;

	TRY(heap_object(session->heap, ix, &object, s->err));
	if (object.kind == STORE_OBJECT_ARRAY || object.kind == STORE_PRIMITIVE_ARRAY) {
		base_value_set_number(out, (double)object.length);
		return HDB_OK;
	}
	TRY_FOUND(heap_collection_open(session->heap, ix, &collection, s->err));
	if (!collection.has_size)
		TRY_FOUND(heap_collection_count(session->heap, &collection, &s->subject->steps,
						s->err));
	base_value_set_number(out, (double)collection.size);
	return HDB_OK;
}

static int retained_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	uint64_t bytes;

	TRY(derive_retained(s->subject->session->derive, ix, &bytes, s->err));
	base_value_set_number(out, (double)bytes);
	return HDB_OK;
}

static int share_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	TRY(retained_of(s, ix, out));
	out->number =
		s->subject->whole_bytes ? out->number * 100 / (double)s->subject->whole_bytes : 0;
	return HDB_OK;
}

static int shallow_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	struct heap_object object;

	TRY(heap_object(s->subject->session->heap, ix, &object, s->err));
	base_value_set_number(out, (double)object.shallow_bytes);
	return HDB_OK;
}

static void set_name(struct base_value *out, const char *name)
{
	base_value_set_text(out, name);
	out->text[EXPLAIN_VALUE_MAX - 1] = '\0';
}

static int class_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	set_name(out, heap_class_name_of(s->subject->session->heap, ix));
	return HDB_OK;
}

/*
 * text(): returns the text of a string, or the value of another object as text. Returns nothing if
 * there is no text.
 */
static int text_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	const struct session *session = s->subject->session;
	char text[EXPLAIN_VALUE_MAX] = "";

	if (heap_is_string(session->heap, ix))
		TRY_FOUND(heap_string(session->heap, ix, text, sizeof(text), s->err));
	else
		analysis_describe(session, ix, text, sizeof(text));
	if (text[0])
		base_value_set_text(out, text);
	return HDB_OK;
}

/*
 * string(): returns the text of a string. Returns nothing for other objects, or if the text is
 * empty.
 */
static int string_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	TRY_FOUND(heap_string(s->subject->session->heap, ix, out->text, sizeof(out->text), s->err));
	out->kind = out->text[0] ? BASE_STRING : BASE_NOTHING;
	return HDB_OK;
}

static int thread_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	TRY_FOUND(heap_thread_name(s->subject->session->heap, ix, out->text, sizeof(out->text),
				   s->err));
	out->kind = out->text[0] ? BASE_STRING : BASE_NOTHING;
	return HDB_OK;
}

static int represented_by(struct scan *s, uint32_t ix, struct base_value *out)
{
	base_value_set_text(out, inspect_class_of(s->subject->session->heap, ix));
	return HDB_OK;
}

static int simple_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	base_value_set_text(out,
			    inspect_simple_name(heap_class_name_of(s->subject->session->heap, ix)));
	/* A lambda is named by its class: the rest of its name is generated. */
	if (strstr(out->text, "$$Lambda"))
		*strstr(out->text, "$$Lambda") = '\0';
	return HDB_OK;
}

static int component_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	TRY(inspect_component(s->subject->session->heap, ix, &out->object, s->err));
	if (out->object != HEAP_NONE)
		out->kind = BASE_OBJECT;
	return HDB_OK;
}

static int is_destroyed(struct scan *s, uint32_t ix, struct base_value *out)
{
	bool destroyed;

	TRY(inspect_is_destroyed(s->subject->session->heap, ix, &destroyed, s->err));
	base_value_set_number(out, destroyed);
	return HDB_OK;
}

/* The classes of a collection's entries. */
struct entry_kinds {
	uint32_t first_ix; /* first entry that is an object, or HEAP_NONE */
	uint32_t class_no[KIND_CLASSES];
	uint64_t count[KIND_CLASSES];
	unsigned classes;
};

/* The function called for each entry. */
struct entry_taker {
	/* receives the object of an entry; for a map, the value */
	int (*take)(struct scan *s, uint32_t ix, void *ctx);
	void *ctx;
	uint64_t most; /* maximum number of entries */
	bool of_keys;  /* whether the keys of a map are passed instead of its values */
};

/* Takes a step. The walk over the entries ends when no step is left. */
static int give_entry(struct scan *s, const struct heap_value *value,
		      const struct entry_taker *taker)
{
	static const struct base_stage unnamed = { .name = NULL };
	struct base_value entry = { .kind = BASE_NOTHING };

	TRY(base_step_of(s->subject->session->work, &unnamed, 0, s->err));
	s->subject->steps -= s->subject->steps > 0;
	TRY(set_value(s->subject->session, value, &entry, s->err));
	return entry.kind == BASE_OBJECT ? taker->take(s, entry.object, taker->ctx) : HDB_OK;
}

/* Counts the classes of entries, and records the first entry. */
static int count_kind(struct scan *s, uint32_t ix, void *ctx)
{
	struct entry_kinds *kinds = ctx;
	struct heap_object object;
	unsigned i = 0;

	if (kinds->first_ix == HEAP_NONE)
		kinds->first_ix = ix;
	TRY(heap_object(s->subject->session->heap, ix, &object, s->err));
	while (i < kinds->classes && kinds->class_no[i] != object.class_no)
		i++;
	assert(kinds->classes <= KIND_CLASSES);
	if (i == KIND_CLASSES)
		return HDB_OK;
	if (i == kinds->classes) {
		kinds->class_no[i] = object.class_no;
		kinds->count[i] = 0;
		kinds->classes++;
	}
	kinds->count[i]++;
	return HDB_OK;
}

/* Passes the first entries of a collection or array to a function. For a map, passes the values. */
static int walk_entries(struct scan *s, uint32_t ix, const struct entry_taker *taker)
{
	struct heap *heap = s->subject->session->heap;
	struct heap_collection collection;
	BASE_SCOPED(heap_entries_end) struct heap_entries entries = { .heap = NULL };
	struct heap_object object;
	uint64_t left = taker->most;

	TRY(heap_object(heap, ix, &object, s->err));
	if (object.kind == STORE_OBJECT_ARRAY) {
		for (uint64_t i = 0; i < object.length && i < left && s->subject->steps; i++) {
			uint64_t bits;
			struct heap_slice slice = { .bits = &bits, .room = 1 };

			TRY(heap_elements(heap, ix, i, &slice, s->err));
			if (slice.done)
				TRY(give_entry(
					s, &(struct heap_value){ .type = slice.type, .bits = bits },
					taker));
		}
		return HDB_OK;
	}
	TRY_FOUND(heap_collection_open(heap, ix, &collection, s->err));
	TRY_FOUND(heap_entries_begin(heap, &collection, &entries, s->err));
	while (left-- && s->subject->steps) {
		TRY_FOUND(heap_entries_next(&entries, s->err));
		TRY_FOUND(give_entry(s, taker->of_keys ? &entries.key : &entries.value, taker));
	}
	return HDB_OK;
}

static int first_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	struct entry_kinds kinds = { .first_ix = HEAP_NONE };

	TRY(walk_entries(s, ix, &(struct entry_taker){ count_kind, &kinds, FIRST_PLACES, false }));
	if (kinds.first_ix == HEAP_NONE)
		return HDB_OK;
	out->kind = BASE_OBJECT;
	out->object = kinds.first_ix;
	return HDB_OK;
}

/* kind(): returns the most frequent class among the first entries, without its package. */
static int kind_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	struct entry_kinds kinds = { .first_ix = HEAP_NONE };
	const char *name, *dot;
	char *lambda;
	unsigned most = 0;

	TRY(walk_entries(s, ix, &(struct entry_taker){ count_kind, &kinds, KIND_ENTRIES, false }));
	if (!kinds.classes)
		return HDB_OK;
	for (unsigned i = 1; i < kinds.classes; i++)
		if (kinds.count[i] > kinds.count[most])
			most = i;
	assert(most < kinds.classes && kinds.count[most] > 0);
	name = heap_class_name(s->subject->session->heap, kinds.class_no[most]);
	dot = strrchr(name, '.');
	set_name(out, dot ? dot + 1 : name);
	/* the number in a generated class name is meaningless to users */
	lambda = strstr(out->text, "$$Lambda");
	if (lambda)
		lambda[strlen("$$Lambda")] = '\0';
	return HDB_OK;
}

/*
 * loader(): returns the class loader of an object's class or, for a class object, of the class that
 * it represents.
 */
static int loader_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	struct heap_object object;

	TRY(heap_object(heap, ix, &object, s->err));
	out->object = heap_class(heap, heap_known_class(&object))->loader_ix;
	if (out->object != HEAP_BOOT_LOADER && out->object != HEAP_NONE)
		out->kind = BASE_OBJECT;
	return HDB_OK;
}

/*
 * entry(): returns the key, as text, of the only map entry that holds an object, such as one of
 * many queues. Returns nothing if there is no such entry.
 */
static int entry_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	const struct session *session = s->subject->session;
	uint32_t above = ix, key = HEAP_NONE;

	for (unsigned i = 0; i < KEY_CLIMBS && key == HEAP_NONE; i++, ix = above) {
		const char *name;
		int r;

		TRY(derive_dominator(session->derive, ix, &above, s->err));
		if (above == HEAP_NONE || above == ix)
			return HDB_OK;
		name = heap_class_name_of(session->heap, above);
		if (strncmp(name, "java.util.", 10) != 0 || !strchr(name, '$'))
			continue;
		TRY_ERRORS(r = heap_path_object(session->heap, above, "key", &key, s->err));
		if (r != HDB_OK || key == ix)
			key = HEAP_NONE;
	}
	return key == HEAP_NONE ? HDB_OK : text_of(s, key, out);
}

/* ---- functions of an object and a string, or of two strings ---- */

/* A sum of an expression over several objects. */
struct addition {
	uint32_t expression;
	double sum;
};

/*
 * Evaluates an expression with another object as `this`. Both evaluations share the budget of
 * steps.
 */
static int evaluate_at(struct scan *s, uint32_t ix, uint32_t expression, struct base_value *out)
{
	struct explain_subject other = *s->subject;
	int r;

	other.ix = ix;
	other.start_no = HEAP_NONE;
	r = explain_evaluate(&other, expression, out, s->err);
	assert(other.steps <= s->subject->steps);
	s->subject->steps = other.steps;
	return r;
}

static int add_entry(struct scan *s, uint32_t ix, void *ctx)
{
	struct addition *addition = ctx;
	struct base_value value = { .kind = BASE_NOTHING };

	TRY(evaluate_at(s, ix, addition->expression, &value));
	if (value.kind == BASE_NUMBER)
		addition->sum += value.number;
	return HDB_OK;
}

/* sum(): returns the sum of an expression over the entries of a collection. */
static int sum_of(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	struct addition addition = { a->expression, 0 };
	const struct entry_taker taker = { add_entry, &addition, UINT64_MAX, false };

	if (a->value->kind != BASE_OBJECT)
		return HDB_OK;
	TRY(walk_entries(s, a->value->object, &taker));
	/* a partial sum would be wrong */
	if (s->subject->steps)
		base_value_set_number(out, addition.sum);
	return HDB_OK;
}

/* ---- most(), most_count(): the most frequent value of an expression ---- */

/* The value of an expression at one entry. */
struct valued {
	uint64_t hash;
	uint32_t ix;
};
BASE_ORDER(compare_valued, struct valued, BASE_UP(hash), BASE_UP(ix))

struct values {
	uint32_t expression;
	struct base_vec *list; /* struct valued */
};

static int add_value_of(struct scan *s, uint32_t ix, void *ctx)
{
	struct values *values = ctx;
	struct base_value value = { .kind = BASE_NOTHING };
	struct valued valued = { .ix = ix };

	TRY(evaluate_at(s, ix, values->expression, &value));
	if (value.kind != BASE_STRING)
		return HDB_OK;
	valued.hash = XXH3_64bits_withSeed(value.text, strlen(value.text), base_hash_seed());
	return base_vec_push(values->list, &valued, sizeof(valued), s->err);
}

/* Finds the most frequent string. Sets *count to 0 if there is none. */
static int find_most(struct scan *s, const struct base_arguments *a, struct base_value *out,
		     uint64_t *count)
{
	BASE_SCOPED(base_vec_release) struct base_vec list = { 0 };
	struct values values = { .expression = a->expression, .list = &list };
	const struct valued *all;
	uint32_t ix = HEAP_NONE;

	*count = 0;
	if (a->value->kind != BASE_OBJECT)
		return HDB_OK;
	TRY(walk_entries(s, a->value->object,
			 &(struct entry_taker){ add_value_of, &values, UINT64_MAX, false }));
	if (!s->subject->steps)
		return HDB_OK;
	base_vec_sort(&list, sizeof(struct valued), compare_valued);
	all = list.data;
	for (size_t from = 0, to; from < list.count; from = to) {
		for (to = from; to < list.count && all[to].hash == all[from].hash;)
			to++;
		/* Hashes differ between runs, so they must not decide. */
		if (to - from > *count || (to - from == *count && all[from].ix < ix)) {
			*count = to - from;
			ix = all[from].ix;
		}
	}
	return ix == HEAP_NONE ? HDB_OK : evaluate_at(s, ix, a->expression, out);
}

static int most_of(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	uint64_t count;

	return find_most(s, a, out, &count);
}

static int most_count(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	struct base_value most = { .kind = BASE_NOTHING };
	uint64_t count;

	TRY(find_most(s, a, &most, &count));
	if (count)
		base_value_set_number(out, (double)count);
	return HDB_OK;
}

/* ---- varied(): the label with the most different values ---- */

/* Maximum number of labels of a metric. */
#define LABELS_MAX 16u

/* The value of a label, which is a tag with a key, or one of the strings of a list. */
struct label_value {
	uint64_t label, value;
	uint32_t label_ix; /* the string that names the label */
};
BASE_ORDER(compare_labels, struct label_value, BASE_UP(label), BASE_UP(value))

struct labels {
	const char *path; /* from an entry to its tags */
	uint32_t names[LABELS_MAX];
	uint64_t count, at;    /* names, and the position of the current string */
	struct base_vec *list; /* struct label_value */
};

static int hash_string(struct scan *s, uint32_t ix, uint64_t *out)
{
	char text[EXPLAIN_VALUE_MAX];

	*out = 0;
	TRY_FOUND(heap_string(s->subject->session->heap, ix, text, sizeof(text), s->err));
	*out = XXH3_64bits_withSeed(text, strlen(text), base_hash_seed());
	return HDB_OK;
}

/* Records the name of a label. */
static int take_name(struct scan *s, uint32_t ix, void *ctx)
{
	struct labels *labels = ctx;

	(void)s;
	labels->names[labels->count++] = ix;
	return HDB_OK;
}

/* Adds a string of a list, or a tag with the fields `key` and `value`. */
static int take_label(struct scan *s, uint32_t ix, void *ctx)
{
	struct heap *heap = s->subject->session->heap;
	struct labels *labels = ctx;
	struct label_value label = { .label = labels->at };
	uint32_t value_ix = ix;

	if (labels->path) {
		TRY_FOUND(heap_path_object(heap, ix, "key", &label.label_ix, s->err));
		TRY_FOUND(heap_path_object(heap, ix, "value", &value_ix, s->err));
		TRY(hash_string(s, label.label_ix, &label.label));
	} else {
		if (labels->at >= labels->count)
			return HDB_OK;
		label.label_ix = labels->names[labels->at++];
	}
	TRY(hash_string(s, value_ix, &label.value));
	return base_vec_push(labels->list, &label, sizeof(label), s->err);
}

/* Adds the labels of an entry, which is a list of strings or leads to an array of tags. */
static int take_labels(struct scan *s, uint32_t ix, void *ctx)
{
	struct labels *labels = ctx;

	labels->at = 0;
	if (labels->path)
		TRY_FOUND(
			heap_path_object(s->subject->session->heap, ix, labels->path, &ix, s->err));
	return walk_entries(s, ix, &(struct entry_taker){ take_label, ctx, LABELS_MAX, false });
}

/* Writes the label with the most different values: "uri has 7,000 different values". */
static int write_varied(struct scan *s, const struct base_vec *list, struct base_value *out)
{
	const struct label_value *all = list->data;
	uint64_t best = 2;
	uint32_t best_ix = HEAP_NONE;
	char name[EXPLAIN_VALUE_MAX - 64];

	for (size_t from = 0, to; from < list->count; from = to) {
		uint64_t kinds = 0;
		uint32_t ix = HEAP_NONE;

		for (to = from; to < list->count && all[to].label == all[from].label; to++) {
			kinds += to == from || all[to].value != all[to - 1].value;
			ix = all[to].label_ix < ix ? all[to].label_ix : ix;
		}
		if (kinds > best || (kinds == best && ix < best_ix)) {
			best = kinds;
			best_ix = ix;
		}
	}
	if (best_ix == HEAP_NONE)
		return HDB_OK;
	TRY_FOUND(heap_string(s->subject->session->heap, best_ix, name, sizeof(name), s->err));
	out->kind = BASE_STRING;
	(void)snprintf(out->text, sizeof(out->text), "%s has %s different values", name,
		       base_number(best).text);
	return HDB_OK;
}

/* varied(MAP, NAMES): see rules/README.md. */
static int varied(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	BASE_SCOPED(base_vec_release) struct base_vec list = { 0 };
	struct labels labels = { .list = &list };
	const char *names = strchr(a->text, ',');
	char map[BASE_WORD_MAX];
	uint32_t map_ix, names_ix;
	int r;

	(void)snprintf(map, sizeof(map), "%.*s", (int)strcspn(a->text, ","), a->text);
	names = names ? names + 1 + strspn(names + 1, " ") : "";
	TRY_FOUND(heap_path_object(heap, s->subject->ix, map, &map_ix, s->err));
	TRY_ERRORS(r = heap_path_object(heap, s->subject->ix, names, &names_ix, s->err));
	if (r == HDB_OK)
		TRY(walk_entries(s, names_ix,
				 &(struct entry_taker){ take_name, &labels, LABELS_MAX, false }));
	else
		labels.path = names;
	TRY(walk_entries(s, map_ix,
			 &(struct entry_taker){ take_labels, &labels, UINT64_MAX, !labels.path }));
	if (!s->subject->steps)
		return HDB_OK;
	base_vec_sort(&list, sizeof(struct label_value), compare_labels);
	return write_varied(s, &list, out);
}

/*
 * Returns whether a class matches the patterns or, if these are a plain name, whether the class or
 * a superclass has this name.
 */
static bool is_of_class(struct heap *heap, uint32_t class_no, const char *patterns)
{
	return strchr(patterns, '*') ? base_glob_list(patterns, heap_class_name(heap, class_no)) :
				       heap_has_superclass(heap, class_no, patterns);
}

/* ---- referrer(): the first instance of a class that refers to an object ---- */

/* Counts or collects the objects to which instances of some classes refer. */
struct referring {
	struct heap *heap;
	uint8_t *is_wanted; /* indexed by class number */
	uint64_t count;     /* instances */
	struct base_vec *out;
};

static int count_referring(void *ctx, const struct heap_count *c, struct hdb_error *err)
{
	struct referring *r = ctx;

	(void)err;
	if (c->kind == STORE_INSTANCE && r->is_wanted[c->class_no])
		r->count += c->count;
	return HDB_OK;
}

static int collect_of(struct referring *r, struct store_lists *references, uint32_t ix,
		      struct hdb_error *err)
{
	const uint32_t *batch;
	size_t count = 1;

	TRY(store_lists_begin(references, ix, NULL, err));
	while (count) {
		TRY(store_lists_next(references, &batch, &count, err));
		for (size_t i = 0; i < count; i++) {
			const uint64_t pair = (uint64_t)batch[i] << 32 | ix;

			TRY(base_vec_push(r->out, &pair, sizeof(pair), err));
		}
	}
	return HDB_OK;
}

static int collect_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct referring *r = ctx;
	struct store_lists references;

	heap_references(r->heap, &references);
	for (uint32_t i = 0; i < block->count; i++)
		if (block->kind[i] == STORE_INSTANCE && r->is_wanted[block->class_no[i]])
			TRY(collect_of(r, &references, block->first_ix + i, err));
	return HDB_OK;
}

/*
 * Collects the references of all instances of the classes. Nearly every rule names classes with few
 * instances. Reading these takes a tenth of the time needed for the table of referrers.
 */
static int find_referring(const struct session *session, struct explain_referring *out,
			  struct hdb_error *err)
{
	struct heap *heap = session->heap;
	BASE_FREED uint8_t *is_wanted = NULL;
	struct referring r = { .heap = heap, .out = &out->pairs };
	HEAP_FILTER_SCOPE(heap_show_all, heap);

	TRY(BASE_ALLOC(is_wanted, (size_t)heap->class_count + 1, "classes", err));
	r.is_wanted = is_wanted;
	for (uint32_t no = 0; no < heap->class_count; no++)
		is_wanted[no] = is_of_class(heap, no, out->classes);
	TRY(heap_count_all(heap, session->work, count_referring, &r, err));
	out->are_many = r.count > REFERRING_MAX;
	if (!r.count || out->are_many)
		return HDB_OK;
	TRY(heap_each_block_of(heap, &(struct heap_pass){ session->work, is_wanted }, collect_block,
			       &r, err));
	base_vec_sort(&out->pairs, sizeof(uint64_t), base_compare_u64);
	return HDB_OK;
}

/* Returns the cached instances of the classes that referrer() names. */
static int need_referring(struct scan *s, const char *classes, const struct explain_referring **out)
{
	struct explain_counts *known = s->subject->counts;
	struct explain_referring *at = known->referring;

	while (at < known->referring + EXPLAIN_COUNTS && strcmp(at->classes, classes) != 0)
		at++;
	*out = at;
	if (at < known->referring + EXPLAIN_COUNTS)
		return HDB_OK;
	*out = at = &known->referring[known->next_referring++ % EXPLAIN_COUNTS];
	base_vec_release(&at->pairs);
	(void)snprintf(at->classes, sizeof(at->classes), "%s", classes);
	return find_referring(s->subject->session, at, s->err);
}

/* Looks up an object among the collected references. */
static void search_referring(const struct explain_referring *referring, uint32_t ix,
			     struct base_value *out)
{
	const uint64_t *pairs = referring->pairs.data;
	struct base_search search = base_search_in(referring->pairs.count);

	assert(!referring->are_many);
	while (base_search_next(&search))
		base_search_step(&search, pairs[search.mid] < (uint64_t)ix << 32);
	if (search.low == referring->pairs.count || pairs[search.low] >> 32 != ix)
		return;
	out->kind = BASE_OBJECT;
	out->object = (uint32_t)pairs[search.low];
}

/* Examines all referrers of the object. Used if the classes have many instances. */
static int search_referrers(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct session *session = s->subject->session;
	struct store_lists referrers;
	const uint32_t *batch;
	size_t count = 1;

	assert(a->value->kind == BASE_OBJECT);
	TRY(derive_referrers(session->derive, &referrers, s->err));
	TRY(store_lists_begin(&referrers, a->value->object, NULL, s->err));
	while (count && s->subject->steps && out->kind == BASE_NOTHING) {
		TRY(store_lists_next(&referrers, &batch, &count, s->err));
		for (size_t i = 0; i < count && s->subject->steps; i++, s->subject->steps--) {
			struct heap_object object;

			TRY(heap_object(session->heap, batch[i], &object, s->err));
			if (object.kind != STORE_INSTANCE ||
			    !is_of_class(session->heap, object.class_no, a->text))
				continue;
			out->kind = BASE_OBJECT;
			out->object = batch[i];
			break;
		}
	}
	return HDB_OK;
}

static int referrer_of(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct explain_referring *referring;

	if (a->value->kind != BASE_OBJECT)
		return HDB_OK;
	TRY(need_referring(s, a->text, &referring));
	if (referring->are_many)
		return search_referrers(s, a, out);
	search_referring(referring, a->value->object, out);
	return HDB_OK;
}

/* Number of instances for which an expression has a value other than 0. */
struct instances {
	struct scan *s;
	const uint8_t *is_wanted; /* indexed by class number */
	uint32_t expression;
	struct explain_count *out;
};

/* Count that means that not all instances could be examined. */
#define COUNT_UNKNOWN (-1.0)

static int count_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct instances *n = ctx;
	struct explain_subject *subject = n->s->subject;

	for (uint32_t i = 0; i < block->count && subject->steps; i++) {
		struct base_value value = { .kind = BASE_NOTHING };
		bool is_reachable;

		if (block->kind[i] != STORE_INSTANCE || !n->is_wanted[block->class_no[i]])
			continue;
		subject->steps--;
		TRY(derive_is_reachable(subject->session->derive, block->first_ix + i,
					&is_reachable, err));
		if (!is_reachable)
			continue;
		TRY(evaluate_at(n->s, block->first_ix + i, n->expression, &value));
		if (value.kind < BASE_NUMBER || (value.kind == BASE_NUMBER && value.number == 0))
			continue;
		if (n->out->count++ == 0)
			n->out->first_ix = block->first_ix + i;
	}
	return HDB_OK;
}

static int count_instances(struct scan *s, const struct base_arguments *a,
			   struct explain_count *out)
{
	const struct session *session = s->subject->session;
	BASE_FREED uint8_t *is_wanted = NULL;
	bool any = false;

	*out = (struct explain_count){ .first_ix = HEAP_NONE };
	TRY(BASE_ALLOC(is_wanted, (size_t)session->heap->class_count + 1, "classes", s->err));
	for (uint32_t no = 0; no < session->heap->class_count; no++) {
		is_wanted[no] = is_of_class(session->heap, no, a->value->text);
		any |= is_wanted[no];
	}
	if (!any)
		return HDB_OK;
	TRY(heap_each_block_of(session->heap, &(struct heap_pass){ session->work, is_wanted },
			       count_block, &(struct instances){ s, is_wanted, a->expression, out },
			       s->err));
	if (!s->subject->steps)
		out->count = COUNT_UNKNOWN;
	return HDB_OK;
}

/*
 * Counts reachable instances of a class for which an expression is true. This takes a pass over the
 * heap, so results are cached.
 */
static int find_instances(struct scan *s, const struct base_arguments *a,
			  const struct explain_count **out)
{
	struct explain_counts *known = s->subject->counts;
	struct explain_count *c = known->list;

	assert(a->value->kind == BASE_STRING);
	while (c < known->list + EXPLAIN_COUNTS &&
	       (strcmp(c->classes, a->value->text) != 0 || strcmp(c->expression, a->text) != 0))
		c++;
	if (c == known->list + EXPLAIN_COUNTS) {
		c = &known->list[known->next++ % EXPLAIN_COUNTS];
		TRY(count_instances(s, a, c));
		(void)snprintf(c->classes, sizeof(c->classes), "%s", a->value->text);
		(void)snprintf(c->expression, sizeof(c->expression), "%s", a->text);
	}
	*out = c;
	return HDB_OK;
}

static int instances_of(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct explain_count *found;

	if (a->value->kind != BASE_STRING)
		return HDB_OK;
	TRY(find_instances(s, a, &found));
	if (found->count != COUNT_UNKNOWN)
		base_value_set_number(out, found->count);
	return HDB_OK;
}

/* instance(): returns the first matching instance. */
static int instance_of(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct explain_count *found;

	if (a->value->kind != BASE_STRING)
		return HDB_OK;
	TRY(find_instances(s, a, &found));
	if (found->first_ix != HEAP_NONE)
		*out = (struct base_value){ .kind = BASE_OBJECT, .object = found->first_ix };
	return HDB_OK;
}

static int exists(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	(void)s;
	base_value_set_number(out, a->value->kind != BASE_NOTHING);
	return HDB_OK;
}

static int static_of(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct session *session = s->subject->session;
	struct heap_value value;

	if (a->value->kind != BASE_STRING)
		return HDB_OK;
	TRY_FOUND(heap_static_value(session->heap, a->value->text, &value, s->err));
	return set_value(session, &value, out, s->err);
}

/* Reads a reference given by a path. Returns HDB_NOTFOUND if the field is not a reference. */
static int reference(const struct explain_subject *subject, const char *path,
		     struct heap_value *out, struct hdb_error *err)
{
	TRY(heap_path_value_as(subject->session->heap,
			       (struct heap_as){ subject->ix, subject->start_no }, path, out, err));
	return out->type == HPROF_OBJECT ? HDB_OK : HDB_NOTFOUND;
}

static int is_null(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	struct heap_value value;

	TRY_FOUND(reference(s->subject, a->text, &value, s->err));
	base_value_set_number(out, !value.bits);
	return HDB_OK;
}

static int described(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	struct heap_value value;
	uint32_t ix = HEAP_NONE;

	TRY_FOUND(reference(s->subject, a->text, &value, s->err));
	if (value.bits)
		TRY_ERRORS(heap_find(heap, value.bits, &ix, s->err));
	TRY_FOUND(inspect_describe(heap, ix, out->text, sizeof(out->text), s->err));
	out->kind = BASE_STRING;
	return HDB_OK;
}

static int is_a(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	if (a->value->kind == BASE_OBJECT)
		base_value_set_number(
			out, inspect_is_a(s->subject->session->heap, a->value->object, a->text));
	return HDB_OK;
}

/*
 * Sets *out to whether a root is a local variable that refers to object ix, whose ID is `id`, or to
 * an object with a field that does.
 */
static int is_user(struct scan *s, const struct store_root *root, uint32_t ix, uint64_t id,
		   bool *out)
{
	*out = root->is_local && root->ix == ix;
	if (!root->is_local || *out)
		return HDB_OK;
	return heap_field_refers(s->subject->session->heap, root->ix, id, out, s->err);
}

/*
 * users(): returns the number of local variables that refer to the object, or to an object with a
 * field that does. They belong to methods that use the object. Returns nothing if the dump has no
 * local variables.
 */
static int users_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	double users = 0;
	bool has_locals = false;
	uint64_t id;

	TRY(heap_load_roots(heap, s->err));
	TRY(heap_id(heap, ix, &id, s->err));
	for (uint64_t i = 0; i < heap->roots.count && s->subject->steps; i++) {
		const struct store_root *root = &heap->roots.records[i];
		bool found;

		TRY(is_user(s, root, ix, id, &found));
		users += found;
		has_locals |= root->is_local;
		s->subject->steps -= root->is_local;
	}
	/* if the budget of steps is used up, other local variables may be users */
	if (has_locals && s->subject->steps)
		base_value_set_number(out, users);
	return HDB_OK;
}

/* waiters(): returns the number of threads that wait for a condition of a lock. */
static int waiters_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	double count = 0;
	int r;

	TRY_ERRORS(r = heap_path_object(heap, ix, "firstWaiter", &ix, s->err));
	for (; r == HDB_OK && s->subject->steps; s->subject->steps--, count++)
		TRY_ERRORS(r = heap_path_object(heap, ix, "nextWaiter", &ix, s->err));
	/* a list that does not end, as in a damaged dump, has no count */
	if (count > 0 && s->subject->steps)
		base_value_set_number(out, count);
	return HDB_OK;
}

/*
 * user(): names the first thread with a local variable that refers to the object, or to an object
 * with a field that does, and the method: "http-worker-2 in a.Export.write(Export.java:12)".
 */
static int user_of(struct scan *s, uint32_t ix, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	uint64_t id;

	TRY(heap_load_roots(heap, s->err));
	TRY(heap_id(heap, ix, &id, s->err));
	for (uint64_t i = 0; i < heap->roots.count && s->subject->steps; i++, s->subject->steps--) {
		const struct store_root *root = &heap->roots.records[i];
		char name[USER_PART_MAX + 1] = "", frame[USER_FRAME_MAX] = "";
		const char *end = frame;
		struct store_thread thread;
		struct store_trace trace;
		bool found;
		int r;

		TRY(is_user(s, root, ix, id, &found));
		if (!found)
			continue;
		TRY_ERRORS(r = heap_thread_by_serial(heap, root->thread_serial, &thread, s->err));
		if (r != HDB_OK || thread.ix == STORE_NONE)
			continue;
		TRY_FOUND(heap_thread_name(heap, thread.ix, name, sizeof(name), s->err));
		TRY_FOUND(heap_trace(heap, thread.trace_serial, &trace, s->err));
		TRY(heap_own_frame(heap, &trace,
				   root->frame_number == STORE_NONE ? 0 : root->frame_number,
				   BASE_TEXT(frame), s->err));
		if (strlen(frame) > USER_PART_MAX)
			end += strlen(frame) - USER_PART_MAX;
		while (((unsigned char)*end & 0xc0) == 0x80)
			end++;
		out->kind = BASE_STRING;
		(void)snprintf(out->text, sizeof(out->text), "%s%s%s%s%.*s", name,
			       strlen(name) == USER_PART_MAX ? "..." : "", frame[0] ? " in " : "",
			       end > frame ? "..." : "", (int)USER_PART_MAX, end);
		return HDB_OK;
	}
	return HDB_OK;
}

/*
 * reaches(PATH, PATH): returns whether the first object, or an object in one of its fields, refers
 * to the second object.
 */
static int reaches(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	struct heap *heap = s->subject->session->heap;
	struct explain_subject *subject = s->subject;
	char first[BASE_WORD_MAX];
	const char *second = strchr(a->text, ',');
	struct heap_value from, wanted;
	struct heap_fields fields;
	bool found;
	uint32_t ix;
	int r = HDB_OK;

	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(a->text, ","), a->text);
	TRY_FOUND(reference(subject, first, &from, s->err));
	TRY_FOUND(reference(subject, second ? second + 1 + strspn(second + 1, " ") : "", &wanted,
			    s->err));
	if (!from.bits || !wanted.bits)
		return HDB_OK;
	TRY_FOUND(heap_find(heap, from.bits, &ix, s->err));
	TRY(heap_field_refers(s->subject->session->heap, ix, wanted.bits, &found, s->err));
	TRY_FOUND(heap_fields_begin(heap, ix, &fields, s->err));
	while (!found && (r = heap_fields_next(&fields, s->err)) == HDB_OK) {
		if (fields.value.type != HPROF_OBJECT || !fields.value.bits)
			continue;
		TRY_ERRORS(r = heap_find(heap, fields.value.bits, &ix, s->err));
		if (r == HDB_OK)
			TRY(heap_field_refers(s->subject->session->heap, ix, wanted.bits, &found,
					      s->err));
	}
	base_value_set_number(out, found);
	return r < 0 ? r : HDB_OK;
}

/* ---- functions of suspects ---- */

static int figure_of(struct scan *s, const char *name, const struct explain_figure **out)
{
	const enum explain_fact no = explain_fact_of(name);

	*out = NULL;
	if (no == EXPLAIN_FACT_COUNT)
		return hdb_fail(s->err, HDB_EUSAGE, "a rule refers to %s, which is not measured",
				name);
	if (s->subject->facts)
		*out = &s->subject->facts->figures[no];
	return HDB_OK;
}

/* held(): returns a figure about the objects that a suspect holds. */
static int held(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct explain_figure *figure;

	TRY(figure_of(s, a->text, &figure));
	if (!figure)
		return HDB_OK;
	if (figure->kind == BASE_STRING)
		base_value_set_text(out, figure->text);
	if (figure->kind == BASE_NUMBER)
		base_value_set_number(out, figure->number);
	if (figure->kind == BASE_OBJECT)
		*out = (struct base_value){ .kind = BASE_OBJECT,
					    .object = (uint32_t)figure->number };
	return HDB_OK;
}

/* about(): returns "about " if the figure is an estimate. */
static int about(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	const struct explain_figure *figure;

	TRY(figure_of(s, a->text, &figure));
	if (figure)
		TRY(explain_facts_count(s->subject->session, explain_fact_of(a->text),
					s->subject->facts, s->err));
	if (figure && figure->is_about)
		base_value_set_text(out, "about ");
	return HDB_OK;
}

/*
 * least(): returns "at least " if the figure is an estimate from a sample, which misses some of the
 * counted objects.
 */
static int least(struct scan *s, const struct base_arguments *a, struct base_value *out)
{
	TRY(about(s, a, out));
	if (out->kind == BASE_STRING)
		base_value_set_text(out, "at least ");
	return HDB_OK;
}

/* ---- all functions ---- */

/*
 * For each function: the name, the kind of argument, and the function that implements it, which
 * takes one object or any value.
 */
#define FUNCTIONS(X) \
	X("count", VALUE, count_entries, NULL) \
	X("retained", VALUE, retained_of, NULL) \
	X("share", VALUE, share_of, NULL) \
	X("shallow", VALUE, shallow_of, NULL) \
	X("class", VALUE, class_of, NULL) \
	X("text", VALUE, text_of, NULL) \
	X("first", VALUE, first_of, NULL) \
	X("kind", VALUE, kind_of, NULL) \
	X("loader", VALUE, loader_of, NULL) \
	X("string", VALUE, string_of, NULL) \
	X("thread", VALUE, thread_of, NULL) \
	X("users", VALUE, users_of, NULL) \
	X("user", VALUE, user_of, NULL) \
	X("waiters", VALUE, waiters_of, NULL) \
	X("represents", VALUE, represented_by, NULL) \
	X("simple", VALUE, simple_of, NULL) \
	X("entry", VALUE, entry_of, NULL) \
	X("component", VALUE, component_of, NULL) \
	X("is", TEXT, NULL, is_a) \
	X("destroyed", VALUE, is_destroyed, NULL) \
	X("null", RAW, NULL, is_null) \
	X("reference", RAW, NULL, described) \
	X("held", RAW, NULL, held) \
	X("about", RAW, NULL, about) \
	X("least", RAW, NULL, least) \
	X("reaches", RAW, NULL, reaches) \
	X("exists", VALUE, NULL, exists) \
	X("static", VALUE, NULL, static_of) \
	X("sum", EXPRESSION, NULL, sum_of) \
	X("most", EXPRESSION, NULL, most_of) \
	X("most_count", EXPRESSION, NULL, most_count) \
	X("varied", RAW, NULL, varied) \
	X("referrer", TEXT, NULL, referrer_of) \
	X("instances", EXPRESSION, NULL, instances_of) \
	X("instance", EXPRESSION, NULL, instance_of)

#define DECLARED(name, takes, of_object, of_any) { name, BASE_TAKES_##takes },
#define DEFINED(name, takes, of_object, of_any) { of_object, of_any },

static const struct base_function functions[] = { FUNCTIONS(DECLARED) };
static const struct {
	int (*of_object)(struct scan *s, uint32_t ix, struct base_value *out);
	int (*of_any)(struct scan *s, const struct base_arguments *a, struct base_value *out);
} bodies[] = { FUNCTIONS(DEFINED) };

const struct base_grammar explain_grammar = {
	.functions = functions,
	.function_count = sizeof(functions) / sizeof(functions[0]),
	.first = "a field, a number, a string or a function",
	.operand = "a field, a number, a string or a function",
};

static int call(void *ctx, unsigned function, const struct base_arguments *a,
		struct base_value *out, struct hdb_error *err)
{
	struct scan s = { ctx, err };

	assert(function < sizeof(bodies) / sizeof(bodies[0]));
	assert(!bodies[function].of_any != !bodies[function].of_object);
	if (bodies[function].of_any)
		return bodies[function].of_any(&s, a, out);
	return a->value->kind == BASE_OBJECT ?
		       bodies[function].of_object(&s, a->value->object, out) :
		       HDB_OK;
}

/* Follows a field path from an object. "this" is the object itself. */
static int follow(void *ctx, const struct base_value *from, const char *path,
		  struct base_value *out, struct hdb_error *err)
{
	const struct explain_subject *subject = ctx;
	struct heap_value value;

	if (!from && strcmp(path, "this") == 0) {
		*out = (struct base_value){ .kind = BASE_OBJECT, .object = subject->ix };
		return HDB_OK;
	}
	TRY_FOUND(heap_path_value_as(subject->session->heap,
				     from ? (struct heap_as){ from->object, HEAP_NONE } :
					    (struct heap_as){ subject->ix, subject->start_no },
				     path, &value, err));
	return set_value(subject->session, &value, out, err);
}

int explain_evaluate(struct explain_subject *subject, uint32_t expression, struct base_value *out,
		     struct hdb_error *err)
{
	const struct base_evaluator evaluator = { subject->nodes, follow, call, subject };

	return base_expression_evaluate(&evaluator, expression, out, err);
}
