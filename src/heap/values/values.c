/*
 * heap/values/values.c - reads field values and array contents from the dump by offset, and
 * determines the strengths of references.
 */
#include "heap/values/values.h"

#include "base/bytes.h"
#include "heap/known.h"

#include <assert.h>
#include <string.h>

/* Maximum size of the field names that are compared. */
#define FIELD_NAME_MAX 512
/* Maximum number of bytes that heap_elements reads at a time. */
#define ELEMENT_BYTES 65536u

/* Reads the sub-record of an object. Returns HDB_NOTFOUND if the dump lacks the sub-record. */
static int read_sub(struct heap *heap, uint32_t ix, struct hprof_sub *sub, struct hdb_error *err)
{
	uint64_t offset;

	TRY(heap_offset(heap, ix, &offset, err));
	if (!offset)
		return HDB_NOTFOUND;
	TRY(heap_open_dump(heap, err));
	return hprof_sub_read(&heap->dump.file, &heap->dump.view, offset, sub, err);
}

/* Moves to the next superclass that has fields. */
static void next_class(struct heap_fields *f)
{
	const struct heap *heap = f->heap;

	assert(f->declaring_no == STORE_NONE || f->declaring_no < heap->class_count);
	while (!f->left && f->declaring_no != STORE_NONE && f->steps++ <= heap->class_count) {
		const struct store_class *class;

		f->declaring_no = heap_class(heap, f->declaring_no)->super_no;
		if (f->declaring_no == STORE_NONE)
			return;
		class = heap_class(heap, f->declaring_no);
		f->at = class->first_field;
		f->left = class->field_count;
	}
}

/*
 * Starts an iteration over the fields of an object. An object without a record in the dump has no
 * fields, so the iteration ends immediately instead of failing.
 */
int heap_fields_begin(struct heap *heap, uint32_t ix, struct heap_fields *out,
		      struct hdb_error *err)
{
	const struct store_class *class;
	struct heap_object object;
	struct hprof_sub sub = { 0 };
	int r = heap_object(heap, ix, &object, err);

	memset(out, 0, sizeof(*out));
	out->heap = heap;
	out->declaring_no = STORE_NONE;
	TRY_ERRORS(r);
	if (object.kind != STORE_INSTANCE)
		return hdb_fail(err, HDB_EUSAGE, "the object is not an instance and has no fields");
	r = read_sub(heap, ix, &sub, err);
	if (r == HDB_NOTFOUND)
		return HDB_OK; /* an object that the dump does not contain has no values */
	TRY_ERRORS(r);
	class = heap_class(heap, object.class_no);
	out->declaring_no = object.class_no;
	out->at = class->first_field;
	out->left = class->field_count;
	out->offset = sub.body_offset;
	out->end = sub.body_offset + sub.body_size;
	return HDB_OK;
}

/*
 * Begins with the static fields of a class. Their values are stored with the class, so this does
 * not need the dump.
 */
void heap_statics_begin(struct heap *heap, uint32_t class_no, struct heap_fields *out)
{
	const struct store_class *class = heap_class(heap, class_no);

	assert(class_no < heap->class_count);
	memset(out, 0, sizeof(*out));
	out->heap = heap;
	out->declaring_no = class_no;
	out->at = class->first_static;
	out->left = class->static_count;
	out->is_static = true;
}

int heap_fields_next(struct heap_fields *f, struct hdb_error *err)
{
	unsigned size;

	/*
	 * The step to the superclass happens here, because declaring_no must describe the previous
	 * field until this call.
	 */
	if (!f->is_static)
		next_class(f);
	if (!f->left || f->declaring_no == STORE_NONE)
		return HDB_END;
	TRY(heap_field(f->heap, f->at, &f->field, err));
	f->value.type = f->field.type;
	f->value.bits = f->field.value;
	f->at++;
	f->left--;
	if (f->is_static)
		return HDB_OK;
	size = hprof_type_size(f->field.type, f->heap->id_size);
	if (!size || f->offset > f->end || size > f->end - f->offset)
		return HDB_END; /* the instance is too short, which the import has reported */
	const uint8_t *p = base_view_at(&f->heap->dump.view, f->offset, size, err);
	if (!p)
		return HDB_ETRUNC;
	f->value.bits = be_bits(p, size);
	f->offset += size;
	return HDB_OK;
}

/*
 * Reads a field by name, with a linear search over all fields. To read a field of many objects of a
 * class, use known.h, which caches the position.
 */
int heap_field_value(struct heap *heap, uint32_t ix, struct heap_field_name field,
		     struct heap_value *out, struct hdb_error *err)
{
	struct heap_fields fields;
	char field_name[FIELD_NAME_MAX];
	int r;

	assert(field.name);
	TRY(heap_fields_begin(heap, ix, &fields, err));
	while ((r = heap_fields_next(&fields, err)) == HDB_OK) {
		TRY(heap_text(heap, fields.field.name_text, field_name, sizeof(field_name), err));
		if (strcmp(field_name, field.name) != 0 ||
		    (field.class_name &&
		     strcmp(heap_class_name(heap, fields.declaring_no), field.class_name) != 0))
			continue;
		*out = fields.value;
		return HDB_OK;
	}
	return r < 0 ? r : HDB_NOTFOUND;
}

int heap_field_object(struct heap *heap, uint32_t ix, struct heap_field_name field,
		      uint32_t *target, struct hdb_error *err)
{
	struct heap_value value;

	TRY(heap_field_value(heap, ix, field, &value, err));
	if (value.type != HPROF_OBJECT || !value.bits)
		return HDB_NOTFOUND;
	return heap_find(heap, value.bits, target, err);
}

int heap_field_refers(struct heap *heap, uint32_t ix, uint64_t bits, bool *found,
		      struct hdb_error *err)
{
	struct heap_fields fields;
	struct heap_object object;
	int r = HDB_OK;

	*found = false;
	TRY(heap_object(heap, ix, &object, err));
	if (object.kind != STORE_INSTANCE ||
	    heap_has_superclass(heap, object.class_no, "java.lang.ref.Reference"))
		return HDB_OK;
	TRY(heap_fields_begin(heap, ix, &fields, err));
	while (!*found && (r = heap_fields_next(&fields, err)) == HDB_OK)
		*found = fields.value.type == HPROF_OBJECT && fields.value.bits == bits;
	return r < 0 ? r : HDB_OK;
}

/*
 * Reads elements, in pieces of at most ELEMENT_BYTES, so that the view's window stays small for
 * arrays of any length. Android's NODATA arrays have a length but no contents.
 */
int heap_elements(struct heap *heap, uint32_t ix, uint64_t from, struct heap_slice *slice,
		  struct hdb_error *err)
{
	uint64_t count = slice->room;
	struct hprof_sub sub;
	unsigned size;
	int r = read_sub(heap, ix, &sub, err);

	slice->done = 0;
	slice->type = 0;
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	if (sub.tag == HPROF_OBJECT_ARRAY_DUMP)
		slice->type = HPROF_OBJECT;
	else if (sub.tag == HPROF_PRIMITIVE_ARRAY_DUMP || sub.tag == HPROF_PRIMITIVE_ARRAY_NODATA)
		slice->type = sub.element_type;
	else
		return hdb_fail(err, HDB_EUSAGE, "the object is not an array");
	size = hprof_type_size(slice->type, heap->id_size);
	if (!size || sub.tag == HPROF_PRIMITIVE_ARRAY_NODATA || from >= sub.length)
		return HDB_OK;
	if (count > sub.length - from)
		count = sub.length - from;
	while (slice->done < count) {
		const uint64_t left = count - slice->done;
		const uint64_t n = left < ELEMENT_BYTES / 8 ? left : ELEMENT_BYTES / 8;
		const uint64_t at = sub.body_offset + (from + slice->done) * size;
		const uint8_t *p = base_view_at(&heap->dump.view, at, n * size, err);

		if (!p)
			return HDB_ETRUNC;
		for (uint64_t i = 0; i < n; i++)
			slice->bits[slice->done + i] = be_bits(p + i * size, size);
		slice->done += n;
	}
	return HDB_OK;
}

int heap_walk_chunk_next(struct heap *heap, struct heap_walk *walk, struct hdb_error *err)
{
	struct heap_slice slice = { .bits = walk->chunk };
	const uint64_t left = walk->end > walk->at ? walk->end - walk->at : 0;

	slice.room = left < HEAP_WALK_CHUNK ? left : HEAP_WALK_CHUNK;
	walk->chunk_from = walk->at;
	walk->chunk_count = 0;
	if (!left)
		return HDB_END;
	TRY(heap_elements(heap, walk->ix, walk->at, &slice, err));
	assert(slice.done <= slice.room);
	walk->chunk_count = slice.done;
	walk->type = slice.type;
	return slice.done ? HDB_OK : HDB_END;
}

int heap_walk_target_next(struct heap *heap, struct heap_walk *walk, uint32_t *ix,
			  struct hdb_error *err)
{
	uint64_t id;
	int r;

	do {
		TRY(heap_walk_next(heap, walk, &id, err));
		r = id ? heap_find(heap, id, ix, err) : HDB_NOTFOUND;
	} while (r == HDB_NOTFOUND);
	return r;
}

int heap_walk_count(struct heap *heap, struct heap_walk *walk, uint64_t step, uint64_t *count,
		    struct hdb_error *err)
{
	const uint64_t first = walk->at;
	uint64_t bits;
	int r;

	assert(step > 0);
	*count = 0;
	while ((r = heap_walk_next(heap, walk, &bits, err)) == HDB_OK)
		*count += bits != 0 && (walk->at - 1 - first) % step == 0;
	return r < 0 ? r : HDB_OK;
}

int heap_walk_to_next(struct heap *heap, struct heap_walk *walk, uint64_t bits,
		      struct hdb_error *err)
{
	uint64_t found;

	do {
		TRY(heap_walk_next(heap, walk, &found, err));
	} while (found != bits);
	return HDB_OK;
}

/*
 * Finds the referent. The search starts at java.lang.ref.Reference, because a subclass may declare
 * another field named `referent`.
 */
int heap_referent_id(struct heap *heap, uint32_t ix, uint32_t class_no, uint64_t *id,
		     struct hdb_error *err)
{
	struct heap_as reference = { ix, class_no };
	struct heap_value value;
	uint32_t steps = 0;

	while (reference.class_no != STORE_NONE && steps++ <= heap->class_count &&
	       strcmp(heap_class_name(heap, reference.class_no), "java.lang.ref.Reference") != 0)
		reference.class_no = heap_class(heap, reference.class_no)->super_no;
	if (reference.class_no == STORE_NONE)
		return HDB_NOTFOUND;
	TRY(heap_path_value_as(heap, reference, "referent", &value, err));
	*id = value.type == HPROF_OBJECT ? value.bits : 0;
	return *id ? HDB_OK : HDB_NOTFOUND;
}

/*
 * Finds the target of a weak reference. A reference has the strength of its class only if no other
 * reference of the object leads to the same target.
 */
int heap_weak_target(struct heap *heap, uint32_t from, struct heap_weak *out, struct hdb_error *err)
{
	const struct store_class *class;
	struct heap_fields fields;
	struct heap_object object;
	uint64_t referent_id;
	uint32_t to;
	unsigned holders = 0; /* number of fields that refer to the referent */
	int r = heap_object(heap, from, &object, err);

	*out = (struct heap_weak){ HEAP_NONE, STORE_STRONG };
	if (r < 0 || object.kind != STORE_INSTANCE || !heap_class(heap, object.class_no)->strength)
		return r;
	class = heap_class(heap, object.class_no);
	TRY_FOUND(heap_referent_id(heap, from, object.class_no, &referent_id, err));
	TRY(heap_fields_begin(heap, from, &fields, err));
	while ((r = heap_fields_next(&fields, err)) == HDB_OK)
		holders += fields.value.type == HPROF_OBJECT && fields.value.bits == referent_id;
	TRY_ERRORS(r);
	if (holders != 1)
		return HDB_OK;
	TRY_FOUND(heap_find(heap, referent_id, &to, err));
	if (to != class->ix)
		*out = (struct heap_weak){ to, class->strength };
	return HDB_OK;
}

int heap_strength(struct heap *heap, uint32_t from, uint32_t to, uint8_t *strength,
		  struct hdb_error *err)
{
	struct heap_weak weak;

	TRY(heap_weak_target(heap, from, &weak, err));
	*strength = weak.to == to ? weak.strength : STORE_STRONG;
	return HDB_OK;
}
