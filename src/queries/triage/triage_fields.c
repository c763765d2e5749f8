/*
 * queries/triage/triage_fields.c - measures collections in fields whose names indicate their
 * contents, and reports the most important collection of each kind.
 *
 * Fields with such names are found once, in all classes. The pass over all objects collects their
 * instances; then each field is read. If the values of a map are collections, for example one per
 * event type, their elements count instead.
 */
#include "base/glob.h"
#include "heap/collections/collections.h"
#include "queries/triage/triage.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum size of a field name. No name in the table is longer. */
#define FIELD_NAME_MAX 64
/*
 * Budget for examining elements and entries, per object of the heap. Only damaged heaps exceed it.
 */
#define LOOKS 8u
#define STEP_OBJECTS 4096u

/*
 * Number of elements that make a collection large. Of the large collections, the one that retains
 * the most is reported.
 */
#define MANY 1000u

/* Fields whose collections are measured. */
static const struct {
	const char *rule;
	enum triage_measure_no measure;
	const char *class_name, *names;
} measured_fields[] = {
#define RULE_rule(word, text, nth) .rule = text
#define RULE_measure(word, text, nth) .measure = TRIAGE_##word
#define RULE_class(word, text, nth) .class_name = text
#define RULE_names(word, text, nth) .names = text
#include <queries/triage/fields.rules.h>
};

/* A field that the table names. */
struct named_field {
	uint32_t class_no; /* the class that declares it */
	bool is_static;
	enum triage_measure_no measure;
	char name[FIELD_NAME_MAX];
};

struct triage_fields {
	struct base_vec fields; /* struct named_field: instance fields, by class */
	/*
	 * indexed by class: start of the fields that the class declares; they end at the start of
	 * the next class's fields
	 */
	uint32_t *first;
	/*
	 * indexed by class: nearest class with such a field, starting at the class itself, or
	 * HEAP_NONE
	 */
	uint32_t *nearest;
	struct base_vec ixs; /* uint32_t: instances */
	uint64_t looks_left;
	struct heap_entries entries;
};

void triage_fields_close(struct triage_fields *f)
{
	if (!f)
		return;
	base_vec_release(&f->fields);
	base_vec_release(&f->ixs);
	free(f->first);
	free(f->nearest);
	free(f);
}

/* ---- classes ---- */

/* Returns the measure of a field, or TRIAGE_MEASURES if it is not in the table. */
static enum triage_measure_no measure_of(const char *class_name, const char *field)
{
	for (size_t i = 0; i < BASE_COUNT(measured_fields); i++)
		if ((!measured_fields[i].class_name ||
		     strcmp(measured_fields[i].class_name, class_name) == 0) &&
		    base_glob_list(measured_fields[i].names, field))
			return measured_fields[i].measure;
	return TRIAGE_MEASURES;
}

static int find_own_fields(struct triage *t, struct triage_fields *f, uint32_t no,
			   struct hdb_error *err)
{
	struct heap *heap = t->q->heap;
	const struct store_class *class = heap_class(heap, no);

	f->first[no] = (uint32_t)f->fields.count;
	for (uint32_t i = 0; i < class->field_count; i++) {
		struct named_field named = { .class_no = no };
		struct store_field field;
		char name[FIELD_NAME_MAX + 1] = "";

		TRY(heap_field(heap, class->first_field + i, &field, err));
		if (field.type == HPROF_OBJECT)
			TRY(heap_text(heap, field.name_text, name, sizeof(name), err));
		/* A name with "." or "|" would be parsed as a path. */
		if (!name[0] || strlen(name) >= FIELD_NAME_MAX || strpbrk(name, ".|"))
			continue;
		named.measure = measure_of(heap_class_name(heap, no), name);
		if (named.measure == TRIAGE_MEASURES)
			continue;
		memcpy(named.name, name, strlen(name) + 1);
		TRY(base_vec_push(&f->fields, &named, sizeof(named), err));
	}
	return HDB_OK;
}

static bool has_own(const struct triage_fields *f, uint32_t no)
{
	assert(f->first[no] <= f->first[no + 1]);
	return f->first[no] < f->first[no + 1];
}

/*
 * Finds the nearest class with named fields for each class. Visits each class only a few times,
 * however long superclass chains are.
 */
static int find_nearest(const struct heap *heap, struct triage_fields *f, struct hdb_error *err)
{
	BASE_FREED bool *is_known = NULL;

	TRY(BASE_ALLOC(is_known, (size_t)heap->class_count + 1, "classes", err));
	for (uint32_t no = 0; no < heap->class_count; no++) {
		uint32_t at = no, found = HEAP_NONE, steps = 0;

		for (; at != STORE_NONE && steps <= heap->class_count; steps++) {
			if (is_known[at] || has_own(f, at)) {
				found = is_known[at] ? f->nearest[at] : at;
				break;
			}
			at = heap_class(heap, at)->super_no;
		}
		at = no;
		for (uint32_t i = 0; i <= steps && at != STORE_NONE && !is_known[at]; i++) {
			is_known[at] = true;
			f->nearest[at] = found;
			at = heap_class(heap, at)->super_no;
		}
	}
	return HDB_OK;
}

int triage_fields_open(struct triage *t, struct triage_fields **out, struct hdb_error *err)
{
	const struct heap *heap = t->q->heap;
	const size_t classes = heap->class_count;
	struct triage_fields *f;

	TRY(BASE_ALLOC(*out, 1, "fields", err));
	f = *out;
	f->looks_left = (uint64_t)heap->object_count * LOOKS;
	TRY(BASE_ALLOC(f->first, classes + 1, "fields", err));
	TRY(BASE_ALLOC(f->nearest, classes + 1, "fields", err));
	for (uint32_t no = 0; no < classes; no++)
		TRY(find_own_fields(t, f, no, err));
	f->first[classes] = (uint32_t)f->fields.count;
	assert(f->first[0] == 0);
	return find_nearest(heap, f, err);
}

bool triage_fields_has(const struct triage_fields *f, uint32_t class_no)
{
	return f->nearest[class_no] != HEAP_NONE;
}

int triage_fields_add(struct triage_fields *f, uint32_t ix, uint32_t class_no,
		      struct hdb_error *err)
{
	if (!triage_fields_has(f, class_no))
		return HDB_OK;
	return base_vec_push(&f->ixs, &ix, sizeof(ix), err);
}

/* ---- the contents of a field ---- */

/* Takes `looks` from the budget. Returns false if there are not enough. */
static bool spend(struct triage_fields *f, uint64_t looks)
{
	if (f->looks_left < looks)
		return false;
	f->looks_left -= looks;
	return true;
}

static int count_array(struct heap *heap, struct triage_fields *f, const struct heap_object *array,
		       uint64_t *count, struct hdb_error *err)
{
	struct heap_walk walk;

	*count = 0;
	if (!spend(f, array->length))
		return HDB_OK;
	heap_walk_begin(&walk, array->ix, 0, array->length);
	return heap_walk_count(heap, &walk, 1, count, err);
}

/* Opens a collection and finds its size. Returns HDB_OK or HDB_NOTFOUND. */
static int open_sized(struct heap *heap, struct triage_fields *f, uint32_t ix,
		      struct heap_collection *out, struct hdb_error *err)
{
	TRY(heap_collection_open(heap, ix, out, err));
	if (!out->has_size)
		TRY(heap_collection_count(heap, out, &f->looks_left, err));
	return HDB_OK;
}

/* Counts the items in a map's value: elements of a collection or array, or else 1. */
static int count_value(struct heap *heap, struct triage_fields *f, const struct heap_value *value,
		       uint64_t *count, struct hdb_error *err)
{
	struct heap_collection c;
	struct heap_object object;
	uint32_t ix;

	*count = 1;
	TRY_FOUND(value->type == HPROF_OBJECT && value->bits ?
			  heap_find(heap, value->bits, &ix, err) :
			  HDB_NOTFOUND);
	TRY_FOUND(heap_object(heap, ix, &object, err));
	if (object.kind == STORE_OBJECT_ARRAY)
		return count_array(heap, f, &object, count, err);
	if (object.kind != STORE_INSTANCE || !heap_collection_rule(heap, object.class_no))
		return HDB_OK;
	TRY_FOUND(open_sized(heap, f, ix, &c, err));
	*count = c.size;
	return HDB_OK;
}

/* Counts the items in all values of a map. Leaves *count unchanged if the budget is too small. */
static int count_map(struct heap *heap, struct triage_fields *f, const struct heap_collection *map,
		     uint64_t *count, struct hdb_error *err)
{
	uint64_t all = 0, n = 0;
	int r = spend(f, map->size) ? heap_entries_begin(heap, map, &f->entries, err) :
				      HDB_NOTFOUND;

	if (r == HDB_NOTFOUND)
		return HDB_OK;
	while (r == HDB_OK && (r = heap_entries_next(&f->entries, err)) == HDB_OK) {
		r = spend(f, 1) ? count_value(heap, f, &f->entries.value, &n, err) : HDB_NOTFOUND;
		all += n;
	}
	if (r == HDB_END)
		*count = all;
	heap_entries_end(&f->entries);
	return r < 0 ? r : HDB_OK;
}

/* Returns HDB_NOTFOUND if ix is not a known collection. */
static int count_held(struct heap *heap, struct triage_fields *f, uint32_t ix, uint64_t *count,
		      struct hdb_error *err)
{
	struct heap_collection c;
	struct heap_object object;

	TRY(heap_object(heap, ix, &object, err));
	if (object.kind == STORE_OBJECT_ARRAY)
		return count_array(heap, f, &object, count, err);
	if (object.kind != STORE_INSTANCE || !heap_collection_rule(heap, object.class_no))
		return HDB_NOTFOUND;
	TRY(open_sized(heap, f, ix, &c, err));
	*count = c.size;
	return c.rule->kind == HEAP_MAP && c.size ? count_map(heap, f, &c, count, err) : HDB_OK;
}

/*
 * Adds the collection in a field. Keeps the large collection that retains the most or, if none is
 * large, the collection with the most elements.
 */
static int add_held(struct triage *t, struct triage_fields *f, const struct named_field *field,
		    uint32_t ix, struct hdb_error *err)
{
	struct triage_figure *best = &t->figures[field->measure];
	const bool has_many = best->count >= MANY;
	uint64_t count, bytes;
	int r = count_held(t->q->heap, f, ix, &count, err);

	assert(field->measure < TRIAGE_MEASURES);
	TRY_ERRORS(r);
	if (r == HDB_NOTFOUND || (has_many ? count < MANY : count <= best->count))
		return HDB_OK;
	TRY(derive_retained(t->q->derive, ix, &bytes, err));
	if (has_many && bytes <= best->bytes)
		return HDB_OK;
	best->count = count;
	best->bytes = bytes;
	best->ix = ix;
	(void)snprintf(best->detail, sizeof(best->detail), "in %s.%s%s",
		       heap_class_name(t->q->heap, field->class_no), field->name,
		       field->is_static ? " (static)" : "");
	return HDB_OK;
}

static int look_at_instance(struct triage *t, struct triage_fields *f, uint32_t ix,
			    struct hdb_error *err)
{
	struct heap *heap = t->q->heap;
	struct heap_object object;
	uint32_t no, target;
	int r;

	TRY(heap_object(heap, ix, &object, err));
	for (no = f->nearest[object.class_no]; no != HEAP_NONE;) {
		const uint32_t super_no = heap_class(heap, no)->super_no;

		for (uint32_t i = f->first[no]; i < f->first[no + 1]; i++) {
			const struct named_field *field =
				base_vec_at(&f->fields, struct named_field, i);

			assert(field->class_no == no);
			TRY_ERRORS(r = heap_path_object_as(heap, (struct heap_as){ ix, no },
							   field->name, &target, err));
			if (r == HDB_OK)
				TRY(add_held(t, f, field, target, err));
		}
		no = super_no == STORE_NONE || !spend(f, 1) ? HEAP_NONE : f->nearest[super_no];
	}
	return HDB_OK;
}

static int look_at_statics(struct triage *t, struct triage_fields *f, uint32_t no,
			   struct hdb_error *err)
{
	struct heap *heap = t->q->heap;
	struct heap_fields statics;
	int r;

	heap_statics_begin(heap, no, &statics);
	while ((r = heap_fields_next(&statics, err)) == HDB_OK) {
		struct named_field field = { .class_no = no, .is_static = true };
		char name[FIELD_NAME_MAX + 1] = "";
		uint32_t ix;

		if (statics.value.type != HPROF_OBJECT || !statics.value.bits)
			continue;
		TRY(heap_text(heap, statics.field.name_text, name, sizeof(name), err));
		if (strlen(name) >= FIELD_NAME_MAX)
			continue;
		memcpy(field.name, name, strlen(name) + 1);
		field.measure = measure_of(heap_class_name(heap, no), name);
		if (field.measure == TRIAGE_MEASURES)
			continue;
		TRY_ERRORS(r = heap_find(heap, statics.value.bits, &ix, err));
		if (r == HDB_OK)
			TRY(add_held(t, f, &field, ix, err));
	}
	return r == HDB_END ? HDB_OK : r;
}

int triage_fields_look(struct triage *t, struct triage_fields *f, struct hdb_error *err)
{
	struct heap *heap = t->q->heap;
	bool is_elsewhere;

	for (uint32_t no = 0; no < heap->class_count; no++) {
		TRY(heap_passes_over(heap, heap_class(heap, no)->ix, &is_elsewhere, err));
		if (!is_elsewhere)
			TRY(look_at_statics(t, f, no, err));
	}
	for (size_t i = 0; i < f->ixs.count; i++) {
		TRY(look_at_instance(t, f, *base_vec_at(&f->ixs, uint32_t, i), err));
		if (i % STEP_OBJECTS == 0)
			TRY(base_step(t->q->work, i, err));
	}
	return HDB_OK;
}
