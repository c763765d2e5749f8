/*
 * heap/values/strings.c - finds the characters of java.lang.String objects in all kinds of dumps;
 * see strings.h.
 *
 * JDK 5 to 8 store a char[] `value`, and until 7u5 also `offset` and `count`. JDK 9 and later store
 * a byte[] `value` with `coder` 0 (Latin-1) or 1 (UTF-16 in the VM's byte order). Android stores a
 * `count` and, if the dump has it, a char[] or byte[] `value`.
 */
#include "heap/values/strings.h"

#include "base/search.h"
#include "base/bytes.h"
#include "heap/known.h"
#include "heap/values/values.h"

#include <assert.h>
#include <string.h>

/* Maximum size of a field name to compare. */
#define FIELD_NAME_MAX 32
#define NO_FIELD UINT32_MAX

/* ---- layout ---- */

/* Returns whether the name of a field equals `name`. */
static bool is_named(struct heap *heap, const struct store_field *field, const char *name)
{
	char text[FIELD_NAME_MAX];

	return heap_text(heap, field->name_text, text, sizeof(text), NULL) == HDB_OK &&
	       strcmp(text, name) == 0;
}

/*
 * Records a field that describes the characters. Checks name and type, because a dump may define
 * arbitrary fields in a class with this name.
 */
static void note_field(struct heap *heap, const struct store_field *field, uint32_t at,
		       struct heap_string_layout *out)
{
	const bool is_int = field->type == HPROF_INT;

	if (field->type == HPROF_OBJECT && is_named(heap, field, "value"))
		out->value = at;
	else if (field->type == HPROF_BYTE && is_named(heap, field, "coder"))
		out->coder = at;
	else if (is_int && is_named(heap, field, "offset"))
		out->offset = at;
	else if (is_int && is_named(heap, field, "count"))
		out->count = at;
}

/*
 * Finds the fields of a String class. The fields of java.lang.Object, which exist only on Android,
 * follow them.
 */
static int find_layout(struct heap *heap, uint32_t no, struct heap_string_layout *out,
		       struct hdb_error *err)
{
	const struct store_class *class = heap_class(heap, no);
	unsigned references = 0;
	uint64_t at = 0;

	assert(no < heap->class_count);
	*out = (struct heap_string_layout){
		.class_no = no,
		.value = NO_FIELD,
		.coder = NO_FIELD,
		.offset = NO_FIELD,
		.count = NO_FIELD,
	};
	for (uint32_t f = 0; f < class->field_count && at < UINT32_MAX / 2; f++) {
		struct store_field field;

		TRY(heap_field(heap, class->first_field + f, &field, err));
		note_field(heap, &field, (uint32_t)at, out);
		references += field.type == HPROF_OBJECT;
		at += hprof_type_size(field.type, heap->id_size);
	}
	/*
	 * Inherited fields may also contain references. The list of references then does not show
	 * which reference is `value`.
	 */
	out->has_one_reference =
		references == 1 && out->value != NO_FIELD && class->body_size == at;
	return HDB_OK;
}

bool heap_is_big_endian(struct heap *heap)
{
	struct heap_value shift;

	return heap_static_value(heap, "java.lang.StringUTF16.HI_BYTE_SHIFT", &shift, NULL) ==
		       HDB_OK &&
	       shift.type == HPROF_INT && shift.bits == 8;
}

/* ---- one string ---- */

/*
 * Finds the layouts. A dump may contain several classes named java.lang.String, for example a
 * synthetic dump with two class loaders. Each class has its own layout. The layouts are in order of
 * class number, on which heap_string_layout relies.
 */
int heap_load_strings(struct heap *heap, struct hdb_error *err)
{
	int r = heap_load_classes(heap, err);

	if (r < 0 || heap->values.has_strings)
		return r;
	heap->values.string_layouts.count = 0;
	for (uint32_t no = 0;; no++) {
		struct heap_string_layout layout;

		no = heap_class_by_name(heap, "java.lang.String", no);
		if (no == HEAP_NONE)
			break;
		TRY(find_layout(heap, no, &layout, err));
		TRY(base_vec_push(&heap->values.string_layouts, &layout, sizeof(layout), err));
	}
	heap->values.is_big_endian = heap_is_big_endian(heap);
	heap->values.has_strings = true;
	return HDB_OK;
}

const struct heap_string_layout *heap_string_layout(const struct heap *heap, uint32_t class_no)
{
	const struct heap_string_layout *layouts = heap->values.string_layouts.data;
	struct base_search search = base_search_in(heap->values.string_layouts.count);

	assert(heap->values.has_strings);
	/*
	 * A valid heap has one String class, but a damaged dump may contain any number of classes
	 * with this name.
	 */
	while (base_search_next(&search))
		base_search_step(&search, layouts[search.mid].class_no < class_no);
	return search.low < heap->values.string_layouts.count &&
			       layouts[search.low].class_no == class_no ?
		       &layouts[search.low] :
		       NULL;
}

/* Reads an object's sub-record. Returns HDB_NOTFOUND if the dump does not contain the object. */
static int read_sub(struct heap *heap, const struct heap_reader *reader, uint32_t ix,
		    struct hprof_sub *out, struct hdb_error *err)
{
	uint64_t offset;
	const int r = heap_offset_by(heap, reader->groups, ix, &offset, err);

	if (r < 0 || !offset)
		return r < 0 ? r : HDB_NOTFOUND;
	return hprof_sub_read(&heap->dump.file, reader->view, offset, out, err);
}

/* The fields of a String that describe its characters. */
struct string_fields {
	uint64_t value_id;
	bool has_coder, has_offset;
	uint8_t coder;
	int32_t offset, count;
};

static int32_t read_int(const uint8_t *body, uint32_t at)
{
	return at == NO_FIELD ? 0 : (int32_t)be32(body + at);
}

/*
 * Reads the fields of a string. `need` is the offset after the last field, so that a single bounds
 * check covers all fields.
 */
static int read_fields(struct heap *heap, const struct heap_reader *reader,
		       const struct heap_string_at *at, struct string_fields *out,
		       struct hdb_error *err)
{
	const struct heap_string_layout *l = at->layout;
	const unsigned id_size = heap->id_size;
	const uint8_t *body;
	struct hprof_sub sub;
	uint64_t need = (uint64_t)l->value + id_size;

	assert(at->layout->value != NO_FIELD);
	TRY(read_sub(heap, reader, at->ix, &sub, err));
	if (l->coder != NO_FIELD && need < l->coder + 1ull)
		need = l->coder + 1ull;
	if (l->offset != NO_FIELD && need < l->offset + 4ull)
		need = l->offset + 4ull;
	if (l->count != NO_FIELD && need < l->count + 4ull)
		need = l->count + 4ull;
	if (sub.tag != HPROF_INSTANCE_DUMP || need > sub.body_size)
		return HDB_NOTFOUND; /* the instance is too short, which the import has reported */
	body = base_view_at(reader->view, sub.body_offset, need, err);
	if (!body)
		return HDB_ETRUNC;
	out->value_id = be_id(body + l->value, id_size);
	out->has_coder = l->coder != NO_FIELD;
	out->coder = out->has_coder ? body[l->coder] : 0;
	/*
	 * On Android, `count` includes a flag, and there is no `offset`, so the length of the array
	 * is used.
	 */
	out->has_offset = l->offset != NO_FIELD && l->count != NO_FIELD;
	out->offset = read_int(body, l->offset);
	out->count = read_int(body, l->count);
	return HDB_OK;
}

/*
 * Finds the part of the array that belongs to the string. An incomplete unit at the end is ignored.
 */
static void set_chars(const struct heap *heap, const struct hprof_sub *array,
		      const struct string_fields *fields, struct heap_string *out)
{
	struct heap_chars *chars = &out->chars;
	uint64_t from = 0, count;

	assert(array->element_type == HPROF_CHAR || array->element_type == HPROF_BYTE);
	*chars = (struct heap_chars){ .unit_bytes = 1 };
	chars->is_char_array = array->element_type == HPROF_CHAR;
	if (chars->is_char_array || (fields->has_coder && fields->coder == 1))
		chars->unit_bytes = 2;
	chars->is_little = !chars->is_char_array && !heap->values.is_big_endian;
	out->array_units = count = array->body_size / chars->unit_bytes;
	if (fields->has_offset) {
		from = fields->offset > 0 ? (uint64_t)fields->offset : 0;
		from = from < count ? from : count;
		count -= from;
		if (fields->count < 0)
			count = 0;
		else if ((uint64_t)fields->count < count)
			count = (uint64_t)fields->count;
	}
	chars->offset = array->body_offset + from * chars->unit_bytes;
	chars->count = count;
	out->first_unit = from;
}

/*
 * Finds the characters of a string. If the dump does not contain them, returns HDB_OK with
 * has_chars false, because a string without contents is not an error.
 */
int heap_string_find(struct heap *heap, const struct heap_reader *reader,
		     const struct heap_string_at *at, struct heap_string *out,
		     struct hdb_error *err)
{
	struct string_fields fields = { 0 };
	uint32_t target = at->target;
	struct heap_object array;
	struct hprof_sub sub;

	*out = (struct heap_string){ .array_ix = HEAP_NONE };
	if (at->layout->value == NO_FIELD)
		return HDB_OK;
	TRY_FOUND(read_fields(heap, reader, at, &fields, err));
	if (target == HEAP_NONE) {
		if (!fields.value_id)
			return HDB_OK;
		TRY_FOUND(heap_find(heap, fields.value_id, &target, err));
	}
	TRY(heap_object(heap, target, &array, err));
	if (array.kind != STORE_PRIMITIVE_ARRAY)
		return HDB_OK;
	TRY_FOUND(read_sub(heap, reader, target, &sub, err));
	/* The contents are not in the dump, so only the length is known. */
	if (sub.tag != HPROF_PRIMITIVE_ARRAY_DUMP ||
	    (sub.element_type != HPROF_CHAR && sub.element_type != HPROF_BYTE))
		return HDB_OK;
	set_chars(heap, &sub, &fields, out);
	out->has_chars = true;
	out->array_ix = target;
	out->array_bytes = array.shallow_bytes;
	return HDB_OK;
}

/* ---- text of a single string ---- */

int heap_string_at(struct heap *heap, uint32_t ix, struct heap_string_at *out,
		   struct hdb_error *err)
{
	struct heap_object object;

	*out = (struct heap_string_at){ .ix = ix, .target = HEAP_NONE };
	TRY(heap_load_strings(heap, err));
	TRY(heap_object(heap, ix, &object, err));
	if (object.kind == STORE_INSTANCE)
		out->layout = heap_string_layout(heap, object.class_no);
	return out->layout ? HDB_OK : HDB_NOTFOUND;
}

bool heap_is_string(struct heap *heap, uint32_t ix)
{
	struct heap_string_at at;

	return heap_string_at(heap, ix, &at, NULL) == HDB_OK;
}

int heap_string_text(struct heap *heap, uint32_t ix, struct heap_utf8 *out, struct hdb_error *err)
{
	const struct heap_reader reader = { .view = &heap->dump.view,
					    .groups = &heap->blocks.offsets };
	struct heap_string_at at;
	struct heap_string string = { 0 };

	out->buf[0] = '\0';
	out->used = 0;
	out->units = 0;
	out->is_whole = false;
	TRY(heap_string_at(heap, ix, &at, err));
	TRY(heap_open_dump(heap, err));
	TRY(heap_string_find(heap, &reader, &at, &string, err));
	if (!string.has_chars)
		return HDB_NOTFOUND;
	return heap_chars_utf8(&heap->dump.view, &string.chars, out, err);
}
