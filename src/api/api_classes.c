/* api/api_classes.c - implements access to classes and their fields by number. */
#include "api/handle.h"

#include "analysis/groups.h"
#include "analysis/targets.h"
#include "base/bytes.h"
#include "base/scope.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Size of the buffer for the name of a field. Longer names are truncated. */
#define FIELD_NAME_SIZE 4096
/*
 * Maximum number of fields in a class, including inherited ones. A class has at most 65,535, but a
 * damaged dump may have thousands of superclasses.
 */
#define FIELDS_MAX (1u << 20)

uint32_t hdb_class_count(const struct hdb *db)
{
	return db ? db->heap->class_count : 0;
}

int hdb_class_at(struct hdb *db, uint32_t class_no, struct hdb_class *out, struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	struct heap *heap = db->heap;
	const struct store_class *class;
	struct hdb_class facts;

	API_CHECK(out, err);
	TRY(api_check_class(db, class_no, err));
	class = heap_class(heap, class_no);
	facts = (struct hdb_class){
		.class_no = class_no,
		.super_no = class->super_no == STORE_NONE ? HDB_NONE : class->super_no,
		.object_ix = class->ix,
		.loader_ix = class->loader_ix == HEAP_BOOT_LOADER ? HDB_NONE : class->loader_ix,
		.id = class->class_id,
		.loader_id = class->loader_id,
		.name = heap_class_name(heap, class_no),
		.loader_name = heap_loader_name(heap, class),
		.instance_bytes = class->instance_bytes,
		.field_count = class->field_count,
		.static_count = class->static_count,
		.is_array = (class->flags & STORE_CLASS_ARRAY) != 0,
		.is_real = !(class->flags & STORE_CLASS_INVENTED),
		.strength = class->strength,
	};
	API_WRITE(out, &facts);
	return api_end(db, HDB_OK, err);
}

int hdb_class_counts(struct hdb *db, int with_reachable, struct hdb_class_count *out,
		     struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	const struct session session = api_session(db);
	struct derive_total *totals;
	const int r = analysis_count_classes(&session, with_reachable != 0, &totals, err);

	for (uint32_t no = 0; no < db->heap->class_count && r == HDB_OK; no++) {
		const struct derive_total *t = &totals[no];

		out[no] = (struct hdb_class_count){
			.objects = t->count + t->unreachable_count,
			.shallow_bytes = t->shallow_bytes + t->unreachable_bytes,
			.reachable_objects = with_reachable ? t->count : 0,
			.reachable_shallow_bytes = with_reachable ? t->shallow_bytes : 0,
		};
	}
	free(totals);
	return api_end(db, r, err);
}

const char *hdb_class_name(struct hdb *db, uint32_t class_no)
{
	return db ? heap_class_name(db->heap, class_no) : "";
}

uint32_t hdb_class_named(struct hdb *db, const char *name, uint32_t from)
{
	return db && name ? heap_class_by_name(db->heap, name, from) : HDB_NONE;
}

int hdb_classes_like(struct hdb *db, const char *pattern, int subclasses, uint8_t *marks,
		     struct hdb_error *err)
{
	API_NEEDS(db && pattern && marks, err);

	const struct session session = api_session(db);
	struct analysis_class_list classes;
	int r;

	memset(marks, 0, db->heap->class_count);
	r = analysis_classes(&session, pattern, subclasses != 0, &classes, err);
	if (r != HDB_OK)
		return api_end(db, r, err);
	for (size_t i = 0; i < classes.count; i++)
		marks[classes.numbers[i]] = 2;
	free(classes.numbers);
	if (!subclasses)
		memset(marks, 0, db->heap->class_count);
	/* Matching classes are marked with 1, and their subclasses with 2. */
	r = analysis_classes(&session, pattern, false, &classes, err);
	for (size_t i = 0; r == HDB_OK && i < classes.count; i++)
		marks[classes.numbers[i]] = 1;
	if (r == HDB_OK)
		free(classes.numbers);
	return api_end(db, r < 0 ? r : HDB_OK, err);
}

int hdb_is_subclass(struct hdb *db, uint32_t class_no, uint32_t super_no)
{
	return db && heap_load_classes(db->heap, NULL) == HDB_OK &&
	       class_no < db->heap->class_count && heap_is_subclass(db->heap, class_no, super_no);
}

/* ---- fields ---- */

void hdb_basic_of(enum hdb_basic_type type, uint64_t bits, struct hdb_basic *out)
{
	if (!out)
		return;
	*out = (struct hdb_basic){ .type = type };
	switch (type) {
	case HDB_BASIC_OBJECT:
		out->id = bits;
		break;
	case HDB_BASIC_BOOLEAN:
		out->i = (bits & 0xff) != 0;
		break;
	case HDB_BASIC_CHAR:
		out->i = (uint16_t)bits;
		break;
	case HDB_BASIC_FLOAT: {
		const uint32_t word = (uint32_t)bits;
		float value;

		memcpy(&value, &word, sizeof(value));
		out->d = (double)value;
		break;
	}
	case HDB_BASIC_DOUBLE:
		memcpy(&out->d, &bits, sizeof(out->d));
		break;
	case HDB_BASIC_BYTE:
		out->i = (int16_t)(int8_t)bits;
		break;
	case HDB_BASIC_SHORT:
		out->i = (int16_t)bits;
		break;
	case HDB_BASIC_INT:
		out->i = (int32_t)(uint32_t)bits;
		break;
	case HDB_BASIC_LONG:
		out->i = (int64_t)bits;
		break;
	}
}

/* The fields of a class, followed by their names in the same allocation. */
struct hdb_fields {
	size_t count;
	struct hdb_field field[];
};

/*
 * A growing list of fields. Growing moves the names, so fields hold offsets in `names` until the
 * list is complete.
 */
struct field_list {
	struct base_vec fields; /* struct hdb_field */
	struct base_vec names;  /* bytes */
	struct base_vec starts; /* size_t, one per field */
};

static int add_field(struct hdb *db, struct field_list *list, uint32_t declaring_no, uint32_t at,
		     struct hdb_error *err)
{
	struct hdb_field field = { .declaring_no = declaring_no };
	const size_t start = list->names.count;
	char name[FIELD_NAME_SIZE];
	struct store_field stored;

	TRY(heap_field(db->heap, at, &stored, err));
	TRY(heap_text(db->heap, stored.name_text, name, sizeof(name), err));
	if (list->fields.count >= FIELDS_MAX)
		return hdb_fail(err, HDB_ELIMIT, "%s has too many fields (limit %u)",
				heap_class_name(db->heap, declaring_no), FIELDS_MAX);

	field.type = (enum hdb_basic_type)stored.type;
	if (stored.is_static)
		hdb_basic_of(field.type, stored.value, &field.value);
	TRY(base_vec_push(&list->fields, &field, sizeof(field), err));
	TRY(base_bytes_append(&list->names, name, strlen(name) + 1, err));
	return base_vec_push(&list->starts, &start, sizeof(start), err);
}

/* Copies fields and names into one allocation, and turns offsets into pointers. */
static int finish(struct hdb *db, struct field_list *list, uint32_t class_no,
		  struct hdb_fields **out, struct hdb_error *err)
{
	const size_t n = list->fields.count, bytes = n * sizeof(struct hdb_field);
	const size_t *starts = list->starts.data;
	struct hdb_fields *fields = malloc(sizeof(*fields) + bytes + list->names.count);
	uint64_t left = 0;

	assert(list->fields.count <= FIELDS_MAX);
	if (!fields)
		return hdb_fail_memory(err, "fields", bytes + list->names.count);
	fields->count = n;
	if (n) {
		memcpy(fields->field, list->fields.data, bytes);
		memcpy((char *)&fields->field[n], list->names.data, list->names.count);
	}
	for (size_t i = n; i-- > 0;) {
		struct hdb_field *field = &fields->field[i];

		left += hprof_type_size((uint8_t)field->type, db->heap->id_size);
		field->name = (const char *)&fields->field[n] + starts[i];
		field->class_no = class_no;
		field->from_end = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
	}
	*out = fields;
	return HDB_OK;
}

static void release(struct field_list *list)
{
	base_vec_release(&list->fields);
	base_vec_release(&list->names);
	base_vec_release(&list->starts);
}

int hdb_class_fields(struct hdb *db, uint32_t class_no, struct hdb_fields **out, size_t *count,
		     struct hdb_error *err)
{
	API_NEEDS(db && out && count, err);

	BASE_SCOPED(release) struct field_list list = { 0 };
	uint32_t no = class_no;

	TRY(api_check_class(db, class_no, err));
	/*
	 * The import breaks cycles, but the database may have been damaged since, so the number of
	 * steps is limited.
	 */
	for (uint32_t steps = 0; no != STORE_NONE && steps <= db->heap->class_count; steps++) {
		const struct store_class *class = heap_class(db->heap, no);

		for (uint32_t f = 0; f < class->field_count; f++)
			TRY(add_field(db, &list, no, class->first_field + f, err));
		no = class->super_no;
	}
	*count = list.fields.count;
	return finish(db, &list, class_no, out, err);
}

int hdb_class_statics(struct hdb *db, uint32_t class_no, struct hdb_fields **out, size_t *count,
		      struct hdb_error *err)
{
	API_NEEDS(db && out && count, err);

	BASE_SCOPED(release) struct field_list list = { 0 };
	const struct store_class *class;

	TRY(api_check_class(db, class_no, err));
	class = heap_class(db->heap, class_no);
	for (uint32_t f = 0; f < class->static_count; f++)
		TRY(add_field(db, &list, class_no, class->first_static + f, err));
	*count = list.fields.count;
	return finish(db, &list, class_no, out, err);
}

const struct hdb_field *hdb_field_at(const struct hdb_fields *fields, size_t no)
{
	return fields && no < fields->count ? &fields->field[no] : NULL;
}

void hdb_fields_free(struct hdb_fields *fields)
{
	free(fields);
}
