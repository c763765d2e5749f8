/*
 * import/sizes_art.c - objects of Android's runtime, whose sizes the dump records (art/runtime/hprof/hprof.cc).
 *
 * What has no fixed size is dumped as a made-up array beside its owner: the characters of a string at the string's ID
 * + 8, where the object proper has its hash code; what a class object holds behind its fields (method tables) at
 * the class's ID + 1. Neither is an array in the heap: no header, and its bytes end where its owner's do.
 */
#include "import/sizes.h"

#include "layout/known.h"

/* Distance of the array of characters from its string, bytes; and of a class's from the class. */
#define STRING_VALUE_AT 8u
#define CLASS_OVERHEAD_AT 1u

bool sizes_read_object(struct import *im, struct base_view *view, uint64_t id,
		       struct hprof_sub *out)
{
	const uint32_t ix = id ? idset_find(&im->ids, id) : IDSET_NONE;
	const uint64_t *offsets = im->offsets.data;

	return ix != IDSET_NONE && offsets && offsets[ix] &&
	       hprof_sub_read(&im->file, view, offsets[ix], im->source->size, out, NULL) == HDB_OK;
}

bool import_is_embedded(struct import *im, struct base_view *view, const struct store_object *o,
			uint64_t id)
{
	struct hprof_sub owner;
	uint32_t no;

	if (o->kind != STORE_PRIMITIVE_ARRAY || o->body_size > 2 || id < STRING_VALUE_AT)
		return false;
	if (id % 8 == CLASS_OVERHEAD_AT)
		return base_idmap_get(&im->class_map, id - CLASS_OVERHEAD_AT) != BASE_IDMAP_NONE;
	if (!sizes_read_object(im, view, id - STRING_VALUE_AT, &owner) ||
	    owner.tag != HPROF_INSTANCE_DUMP)
		return false;
	no = base_idmap_get(&im->class_map, owner.class_id);
	return no != BASE_IDMAP_NONE && layout_known_is_string(import_class_at(im, no)->known);
}

int sizes_class_overhead(struct import *im, const struct import_class *class, uint64_t *bytes,
			 struct hdb_error *err)
{
	struct base_view view = { .src = im->source };
	uint64_t offset = class->statics_offset;

	*bytes = 0;
	for (uint32_t f = 0; f < class->out.static_count; f++) {
		struct hprof_static field;
		struct hprof_sub array;
		const int r = hprof_static_next(&im->file, &view, &offset, &field, err);

		if (r < 0)
			return r;
		if (field.type != HPROF_OBJECT ||
		    field.value != class->out.class_id + CLASS_OVERHEAD_AT)
			continue;
		if (sizes_read_object(im, &(struct base_view){ .src = im->source }, field.value,
				      &array) && array.tag == HPROF_PRIMITIVE_ARRAY_DUMP)
			*bytes = array.body_size;
	}
	return HDB_OK;
}

/* Classes that are laid out as large as the dump records. */
static int count_recorded(struct sizes *s, const struct layout_model *model, uint64_t *count,
			  struct hdb_error *err)
{
	const int r = sizes_lay_out(s, model, err);

	*count = 0;
	for (uint32_t no = 0; r == HDB_OK && no < s->im->classes.count; no++) {
		const struct import_class *class = import_class_at(s->im, no);

		*count += class->model_bytes == class->out.declared_size;
	}
	return r;
}

int sizes_art_model(struct import *im, struct layout_model *out, struct hdb_error *err)
{
	const uint32_t object = im->object_class_no;
	/* Newer dumps list the header's two fields as fields of java.lang.Object. */
	const bool listed = object != STORE_NONE && import_class_at(im, object)->out.field_count;
	uint64_t narrow, wide = 0;
	struct sizes s;
	int r = sizes_open(im, &s, err);

	*out = (struct layout_model){
		.rules = LAYOUT_ART, .word_bytes = 4, .header_bytes = listed ? 0 : 8,
		.reference_bytes = 4, .align_bytes = 8,
	};
	if (r == HDB_OK)
		r = count_recorded(&s, out, &narrow, err);
	out->widens_fields = true;
	if (r == HDB_OK)
		r = count_recorded(&s, out, &wide, err);
	out->widens_fields = r == HDB_OK && wide > narrow;
	sizes_release(&s);
	return r;
}
