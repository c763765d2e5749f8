/*
 * import/sizes_art.c - handles objects of Android's runtime, whose sizes the dump records
 * (art/runtime/hprof/hprof.cc).
 *
 * Data of variable size is dumped as an artificial array next to the object that owns it. The
 * characters of a string, which follow its fields in memory, are an array at the string's ID + 16.
 * For an empty string, the array is at the string's ID + 8, the position of the object's hash code.
 * The part of a class object after its fields (method tables) is an array at the class's ID + 1.
 * These arrays do not exist in the heap: they have no header, and end where the object that owns
 * them ends.
 */
#include "import/resolve.h"
#include "import/sizes.h"

#include "layout/layout_known.h"

/* Offset of the artificial array from its string or class. */
static const uint64_t string_value_at[] = { 8, 16 };
#define CLASS_OVERHEAD_AT 1u

/*
 * Returns whether the object with this ID is a string. Sets *exists to whether there is such an
 * object.
 */
static bool is_string(struct import *im, struct base_view *view, uint64_t id, bool *exists)
{
	struct hprof_sub owner;
	uint32_t no;

	*exists = import_sizes_read_object(im, view, id, &owner);
	if (!*exists || owner.tag != HPROF_INSTANCE_DUMP)
		return false;
	no = base_idmap_get(&im->class_map, owner.class_id);
	return no != BASE_IDMAP_NONE && layout_known_is_string(import_class_at(im, no)->known);
}

/*
 * Returns whether object i contains the characters of the previous object in ID order. At the
 * beginning of a block, the previous object belongs to another block and must be read from the
 * dump.
 */
static bool follows_string(struct import *im, struct block_builder *m, uint32_t i)
{
	const uint64_t id = m->ids[i];
	struct store_object before;
	bool exists = false, is = false;

	for (size_t k = 0; !i && !exists && k < 2; k++)
		is = id > string_value_at[k] &&
		     is_string(im, &m->view, id - string_value_at[k], &exists);
	if (!i)
		return is;
	if (id - m->ids[i - 1] != string_value_at[0] && id - m->ids[i - 1] != string_value_at[1])
		return false;
	before = import_get_object(m, i - 1);
	return before.kind == STORE_INSTANCE &&
	       layout_known_is_string(import_class_at(im, before.class_no)->known);
}

void import_mark_embedded(struct import *im, struct block_builder *m, uint32_t i,
			  struct store_object *o)
{
	const uint64_t id = m->ids[i];
	uint32_t no;

	if (o->kind != STORE_PRIMITIVE_ARRAY || o->body_size > 2 || !(m->first_ix + i))
		return;
	if (id % 8 != CLASS_OVERHEAD_AT) {
		o->is_embedded = follows_string(im, m, i);
		return;
	}
	no = base_idmap_get(&im->class_map, id - CLASS_OVERHEAD_AT);
	o->is_embedded = no != BASE_IDMAP_NONE;
	/* a class has only one such array, so two threads never write to the same class */
	if (o->is_embedded && o->length * o->body_size < UINT32_MAX)
		import_class_at(im, no)->overhead_bytes = (uint32_t)(o->length * o->body_size);
}

/* Counts the classes whose computed size equals the recorded size. */
static int count_recorded(struct sizes *s, const struct layout_model *model, uint64_t *count,
			  struct hdb_error *err)
{
	TRY(import_sizes_lay_out(s, model, err));
	*count = 0;
	for (uint32_t no = 0; no < s->im->classes.count; no++) {
		const struct import_class *class = import_class_at(s->im, no);

		*count += class->model_bytes == class->out.declared_size;
	}
	return HDB_OK;
}

int import_sizes_art_model(struct import *im, struct layout_model *out, struct hdb_error *err)
{
	const uint32_t object = im->known.object_no;
	/* Newer dumps list the two fields of the header as fields of java.lang.Object. */
	const bool listed = object != STORE_NONE && import_class_at(im, object)->out.field_count;
	struct layout_model widened;
	uint64_t narrow, wide;
	BASE_SCOPED(import_sizes_release) struct sizes s = { 0 };

	*out = (struct layout_model){
		.rules = LAYOUT_ART,
		.word_bytes = 4,
		.header_bytes = listed ? 0 : 8,
		.reference_bytes = 4,
		.align_bytes = 8,
	};
	TRY(import_sizes_open(im, &s, err));
	TRY(count_recorded(&s, out, &narrow, err));
	widened = *out;
	widened.widens_fields = true;
	TRY(count_recorded(&s, &widened, &wide, err));
	out->widens_fields = wide > narrow;
	return HDB_OK;
}
