/*
 * queries/explain/rule_entries.c - functions of rules that examine the entries of a collection:
 * first(), kind(), sum(), most(), most_count(), different() and varied().
 */
#include "queries/explain/rule_private.h"

#include "base/error.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "heap/collections/collections.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/*
 * Maximum number of entries examined by kind(), and maximum number of different classes among them.
 */
#define KIND_ENTRIES 10000u
#define KIND_CLASSES 16
/* Maximum number of entries examined by first(), which skips nulls. */
#define FIRST_PLACES 16u

/* The classes of a collection's entries. */
struct entry_kinds {
	uint32_t first_ix; /* first entry that is an object, or HEAP_NONE */
	uint32_t class_no[KIND_CLASSES];
	uint64_t count[KIND_CLASSES];
	unsigned classes;
};

/* The function that is called for each entry. */
struct entry_taker {
	/* receives the object of an entry; for a map, the value */
	int (*take)(struct rule_scan *s, uint32_t ix, void *ctx);
	void *ctx;
	uint64_t most; /* maximum number of entries */
	bool of_keys;  /* whether the keys of a map are passed instead of its values */
};

/* Takes a step. The walk over the entries ends when no step is left. */
static int give_entry(struct rule_scan *s, const struct heap_value *value,
		      const struct entry_taker *taker)
{
	static const struct base_stage unnamed = { .name = NULL };
	struct base_value entry = { .kind = BASE_NOTHING };

	TRY(base_step_of(s->subject->session->work, &unnamed, 0, s->err));
	s->subject->steps -= s->subject->steps > 0;
	TRY(rule_set_value(s->subject->session, value, &entry, s->err));
	return entry.kind == BASE_OBJECT ? taker->take(s, entry.object, taker->ctx) : HDB_OK;
}

/* Counts the classes of entries, and records the first entry. */
static int count_kind(struct rule_scan *s, uint32_t ix, void *ctx)
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
static int walk_entries(struct rule_scan *s, uint32_t ix, const struct entry_taker *taker)
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

int rule_first(struct rule_scan *s, uint32_t ix, struct base_value *out)
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
int rule_kind(struct rule_scan *s, uint32_t ix, struct base_value *out)
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
	rule_set_name(out, dot ? dot + 1 : name);
	/* the number in a generated class name is meaningless to users */
	lambda = strstr(out->text, "$$Lambda");
	if (lambda)
		lambda[strlen("$$Lambda")] = '\0';
	return HDB_OK;
}

/* A sum of an expression over several objects. */
struct addition {
	uint32_t expression;
	double sum;
};

static int add_entry(struct rule_scan *s, uint32_t ix, void *ctx)
{
	struct addition *addition = ctx;
	struct base_value value = { .kind = BASE_NOTHING };

	TRY(rule_evaluate_at(s, ix, addition->expression, &value));
	if (value.kind == BASE_NUMBER)
		addition->sum += value.number;
	return HDB_OK;
}

/* sum(): returns the sum of an expression over the entries of a collection. */
int rule_sum(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	struct addition addition = { a->expression, 0 };
	const struct entry_taker taker = { add_entry, &addition, UINT64_MAX, false };

	if (a->value->kind != BASE_OBJECT)
		return HDB_OK;
	TRY(walk_entries(s, a->value->object, &taker));
	/* a sum over only some of the entries would be wrong */
	if (s->subject->steps)
		base_value_set_number(out, addition.sum);
	return HDB_OK;
}

/* ---- most(), most_count(): the value of an expression for most entries ---- */

/* The value of an expression at one entry. */
struct valued {
	uint64_t hash;
	uint32_t ix;
};
BASE_ORDER(compare_valued, struct valued, BASE_UP(hash), BASE_UP(ix))

struct values {
	uint32_t expression;
	uint64_t entries;      /* including those for which the expression is not a string */
	struct base_vec *list; /* struct valued */
};

static int add_value_of(struct rule_scan *s, uint32_t ix, void *ctx)
{
	struct values *values = ctx;
	struct base_value value = { .kind = BASE_NOTHING };
	struct valued valued = { .ix = ix };

	values->entries++;
	TRY(rule_evaluate_at(s, ix, values->expression, &value));
	if (value.kind != BASE_STRING && value.kind != BASE_OBJECT)
		return HDB_OK;
	valued.hash =
		value.kind == BASE_OBJECT ?
			value.object :
			XXH3_64bits_withSeed(value.text, strlen(value.text), base_hash_seed());
	return base_vec_push(values->list, &valued, sizeof(valued), s->err);
}

/* Collects the values of an expression, sorted. Returns HDB_NOTFOUND if there are too many. */
static int find_values(struct rule_scan *s, const struct base_arguments *a, struct values *values)
{
	if (a->value->kind != BASE_OBJECT)
		return HDB_NOTFOUND;
	values->expression = a->expression;
	TRY(walk_entries(s, a->value->object,
			 &(struct entry_taker){ add_value_of, values, UINT64_MAX, false }));
	base_vec_sort(values->list, sizeof(struct valued), compare_valued);
	return s->subject->steps ? HDB_OK : HDB_NOTFOUND;
}

/* Finds the value that more than half of the entries have. Sets *count to 0 if there is none. */
static int find_most(struct rule_scan *s, const struct base_arguments *a, struct base_value *out,
		     uint64_t *count)
{
	BASE_SCOPED(base_vec_release) struct base_vec list = { 0 };
	struct values values = { .list = &list };
	const struct valued *all;

	*count = 0;
	TRY_FOUND(find_values(s, a, &values));
	all = list.data;
	for (size_t from = 0, to; from < list.count; from = to) {
		for (to = from; to < list.count && all[to].hash == all[from].hash;)
			to++;
		if (to - from > values.entries / 2) {
			*count = to - from;
			return rule_evaluate_at(s, all[from].ix, a->expression, out);
		}
	}
	return HDB_OK;
}

/* different(): returns the number of different values of an expression over the entries. */
int rule_different(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	BASE_SCOPED(base_vec_release) struct base_vec list = { 0 };
	struct values values = { .list = &list };
	size_t kinds = 0;

	TRY_FOUND(find_values(s, a, &values));
	for (size_t i = 0; i < list.count; i++)
		kinds += !i || base_vec_at(&list, struct valued, i)->hash !=
				       base_vec_at(&list, struct valued, i - 1)->hash;
	base_value_set_number(out, (double)kinds);
	return HDB_OK;
}

int rule_most(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
{
	uint64_t count;

	return find_most(s, a, out, &count);
}

int rule_most_count(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
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
	uint32_t label_ix; /* the string that is the name of the label */
};
BASE_ORDER(compare_labels, struct label_value, BASE_UP(label), BASE_UP(value))

struct labels {
	const char *path; /* from an entry to its tags */
	uint32_t names[LABELS_MAX];
	uint64_t count, at;    /* names, and the position of the current string */
	struct base_vec *list; /* struct label_value */
};

static int hash_string(struct rule_scan *s, uint32_t ix, uint64_t *out)
{
	char text[EXPLAIN_VALUE_MAX];

	*out = 0;
	TRY_FOUND(heap_string(s->subject->session->heap, ix, text, sizeof(text), s->err));
	*out = XXH3_64bits_withSeed(text, strlen(text), base_hash_seed());
	return HDB_OK;
}

/* Records the name of a label. */
static int take_name(struct rule_scan *s, uint32_t ix, void *ctx)
{
	struct labels *labels = ctx;

	(void)s;
	labels->names[labels->count++] = ix;
	return HDB_OK;
}

/* Adds a string of a list, or a tag with the fields `key` and `value`. */
static int take_label(struct rule_scan *s, uint32_t ix, void *ctx)
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
static int take_labels(struct rule_scan *s, uint32_t ix, void *ctx)
{
	struct labels *labels = ctx;

	labels->at = 0;
	if (labels->path)
		TRY_FOUND(
			heap_path_object(s->subject->session->heap, ix, labels->path, &ix, s->err));
	return walk_entries(s, ix, &(struct entry_taker){ take_label, ctx, LABELS_MAX, false });
}

/* Writes the label with the most different values: "uri has 7,000 different values". */
static int write_varied(struct rule_scan *s, const struct base_vec *list, struct base_value *out)
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
int rule_varied(struct rule_scan *s, const struct base_arguments *a, struct base_value *out)
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
