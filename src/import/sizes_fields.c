/*
 * import/sizes_fields.c - lays out the classes of a dump with a model of the VM, and compares the
 * resulting object sizes with the distances between addresses.
 */
#include "import/sizes.h"

#include "hprof/reader.h"
#include "layout/layout_known.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Number of classes between two progress reports. */
#define STEP_CLASSES 4096
/*
 * In a class with at least MANY_OBJECTS objects, up to ODD_OBJECTS objects may contradict a model.
 * The contradictions are then attributed to damaged IDs.
 */
#define ODD_OBJECTS 2
#define MANY_OBJECTS 200
/* Buffer size for field names. All names in the layout rules are shorter. */
#define FIELD_NAME_ROOM 64

int import_find_tails(struct import *im, struct hdb_error *err)
{
	const char *name = im->origin.is_android ? HPROF_MORE_BYTES : "size";
	BASE_VIEW(view, im->source);

	for (uint32_t no = 0; no < im->classes.count; no++) {
		struct import_class *class = import_class_at(im, no);
		uint64_t offset = class->fields_offset, at = 0;

		if (!im->origin.is_android &&
		    (class->out.loader_id || !layout_known_is_stack_chunk(class->known)))
			continue;
		for (uint32_t f = 0; f < class->out.field_count; f++) {
			struct hprof_field field;

			TRY(hprof_field_next(&im->file, &view, &offset, &field, err));
			at += hprof_type_size(field.type, im->file.id_size);
			if (field.type == HPROF_INT &&
			    import_text_is(im, field.name_string_id, name))
				class->tail_size_at = (uint32_t)at;
			if (im->origin.is_android) /* it is the first */
				break;
		}
	}
	return HDB_OK;
}

/*
 * Returns whether a static field was invented by the dumper, such as <resolved_references>. Such a
 * field is not part of the class object.
 */
static bool is_made_up(struct import *im, uint64_t string_id)
{
	const struct import_text_place *place = import_text_place(im, string_id);
	BASE_VIEW(view, im->source);
	const uint8_t *raw;

	raw = place && place->size ? base_view_at(&view, place->offset, 1, NULL) : NULL;
	return raw && *raw == '<';
}

static int read_statics(struct import *im, const struct import_class *class,
			struct layout_statics *out, struct hdb_error *err)
{
	BASE_VIEW(view, im->source);
	uint64_t offset = class->statics_offset;

	for (uint32_t f = 0; f < class->out.static_count; f++) {
		struct hprof_static field;

		TRY(hprof_static_next(&im->file, &view, &offset, &field, err));
		if (field.type == HPROF_OBJECT) {
			out->references += !is_made_up(im, field.name_string_id);
			continue;
		}
		switch (hprof_type_size(field.type, im->file.id_size)) {
		case 8:
			out->bytes_8++;
			break;
		case 4:
			out->bytes_4++;
			break;
		case 2:
			out->bytes_2++;
			break;
		case 1:
			out->bytes_1++;
			break;
		default:
			break;
		}
	}
	return HDB_OK;
}

static int read_types(struct import *im, const struct import_class *class, struct base_vec *types,
		      struct hdb_error *err)
{
	BASE_VIEW(view, im->source);
	uint64_t offset = class->fields_offset;

	for (uint32_t f = 0; f < class->out.field_count; f++) {
		struct hprof_field field;

		TRY(hprof_field_next(&im->file, &view, &offset, &field, err));
		TRY(base_vec_push(types, &field.type, sizeof(field.type), err));
	}
	return HDB_OK;
}

int import_sizes_open(struct import *im, struct sizes *s, struct hdb_error *err)
{
	const size_t n = im->classes.count + 1;
	uint32_t longest = 0;

	memset(s, 0, sizeof(*s));
	s->im = im;
	TRY(BASE_ALLOC(s->statics, n, "layouts of classes", err));
	TRY(BASE_ALLOC(s->first_type, n, "layouts of classes", err));
	TRY(BASE_ALLOC(s->shapes, n, "layouts of classes", err));
	/* One additional byte ensures that `types` has memory even if no class has fields. */
	TRY(base_vec_reserve(&s->types, 1, sizeof(uint8_t), err));
	for (uint32_t no = 0; no < im->classes.count; no++) {
		const struct import_class *class = import_class_at(im, no);

		s->first_type[no] = s->types.count;
		if (class->out.field_count > longest)
			longest = class->out.field_count;
		TRY(read_statics(im, class, &s->statics[no], err));
		TRY(read_types(im, class, &s->types, err));
	}
	TRY(BASE_ALLOC(s->fields, (size_t)longest + LAYOUT_INJECTED_MAX, "fields of a class", err));
	return HDB_OK;
}

void import_sizes_release(struct sizes *s)
{
	free(s->statics);
	free(s->first_type);
	free(s->shapes);
	free(s->fields);
	base_vec_release(&s->types);
	base_vec_release(&s->gaps);
}

/* ---- laying out ---- */

/*
 * Copies the name of a field. The result is "" if the field has no name, or if the name is longer
 * than all names in the rules.
 */
static void field_name(struct import *im, uint64_t string_id, char out[FIELD_NAME_ROOM])
{
	const struct import_text_place *place = import_text_place(im, string_id);
	BASE_VIEW(view, im->source);
	const uint8_t *raw;

	out[0] = '\0';
	if (!place || place->size >= FIELD_NAME_ROOM)
		return;
	raw = base_view_at(&view, place->offset, place->size, NULL);
	if (!raw)
		return;
	memcpy(out, raw, place->size);
	out[place->size] = '\0';
}

/*
 * For a class known to HotSpot, sets the groups of its @Contended fields, and appends injected
 * fields to fields[], starting at *count. An injected field is skipped if this version of the class
 * declares it.
 */
static int add_known(struct sizes *s, const struct layout_model *model,
		     const struct import_class *class, size_t *count, struct hdb_error *err)
{
	struct layout_field injected[LAYOUT_INJECTED_MAX];
	const char *names[LAYOUT_INJECTED_MAX];
	const size_t injected_count = layout_known_injected(model, class->known, injected, names);
	BASE_VIEW(view, s->im->source);
	uint64_t offset = class->fields_offset;

	if (!injected_count && !layout_known_names_fields(class->known))
		return HDB_OK;
	for (uint32_t f = 0; f < class->out.field_count; f++) {
		struct hprof_field field;
		char name[FIELD_NAME_ROOM];

		TRY(hprof_field_next(&s->im->file, &view, &offset, &field, err));
		field_name(s->im, field.name_string_id, name);
		s->fields[f].group = layout_known_group(model, class->known, name);
		for (size_t i = 0; i < injected_count; i++)
			if (names[i] && strcmp(names[i], name) == 0)
				names[i] = NULL;
	}
	for (size_t i = 0; i < injected_count; i++)
		if (names[i])
			s->fields[(*count)++] = injected[i];
	return HDB_OK;
}

/*
 * Loads the shape of a class. Shapes are stored in a compact form, because the shape of a
 * superclass is needed for every subclass.
 */
static void load_shape(const struct sizes *s, uint32_t no, struct layout_shape *out)
{
	const struct sizes_shape *from = &s->shapes[no];

	out->end = from->end;
	out->size = from->size;
	out->has_fields = from->has_fields;
	out->is_contended = from->is_contended;
	out->ends_with_reference = from->ends_with_reference;
	out->gap_count = from->gap_count;
	if (from->gap_count)
		memcpy(out->gaps, base_vec_at(&s->gaps, struct layout_gap, from->first_gap),
		       from->gap_count * sizeof(out->gaps[0]));
}

static int save_shape(struct sizes *s, uint32_t no, const struct layout_shape *shape,
		      struct hdb_error *err)
{
	s->shapes[no] = (struct sizes_shape){
		.end = shape->end,
		.size = shape->size,
		.first_gap = (uint32_t)s->gaps.count,
		.gap_count = (uint8_t)shape->gap_count,
		.has_fields = shape->has_fields,
		.is_contended = shape->is_contended,
		.ends_with_reference = shape->ends_with_reference,
	};
	for (unsigned i = 0; i < shape->gap_count; i++)
		TRY(base_vec_push(&s->gaps, &shape->gaps[i], sizeof(shape->gaps[i]), err));
	return HDB_OK;
}

/*
 * Returns the number of a class in the table of classes known to HotSpot. HotSpot recognises
 * classes of the boot loader by name. A class of the same name from another class loader is an
 * ordinary class.
 */
static unsigned known_of(const struct import_class *class)
{
	return class->out.loader_id ? LAYOUT_UNKNOWN : class->known;
}

static int lay_out_class(struct sizes *s, const struct layout_model *model, uint32_t no,
			 struct hdb_error *err)
{
	struct import_class *class = import_class_at(s->im, no);
	const unsigned known = known_of(class);
	const uint8_t *types = base_vec_at(&s->types, uint8_t, s->first_type[no]);
	struct layout_traits traits = { 0 };
	struct layout_shape super, shape;
	size_t count = class->out.field_count;

	for (size_t f = 0; f < count; f++) {
		s->fields[f].type = types[f];
		s->fields[f].group = LAYOUT_GROUP_NONE;
		s->fields[f].flat_bytes = 0;
	}
	for (uint32_t k = 0; k < class->flat_count; k++) {
		const struct import_flat_field *flat = base_vec_at(
			&s->im->flat.fields, struct import_flat_field, class->first_flat + k);

		s->fields[flat->field_no].flat_bytes = flat->bytes;
		s->fields[flat->field_no].flat_align = flat->align;
	}
	if (known != LAYOUT_UNKNOWN) {
		layout_known_traits(model, known, &traits);
		TRY(add_known(s, model, class, &count, err));
	}
	if (class->out.super_no != STORE_NONE)
		load_shape(s, class->out.super_no, &super);
	layout_class(model, class->out.super_no == STORE_NONE ? NULL : &super,
		     (struct layout_fields){ s->fields, count }, &traits, &shape);
	class->model_bytes = shape.size;
	return save_shape(s, no, &shape, err);
}

int import_sizes_lay_out(struct sizes *s, const struct layout_model *model, struct hdb_error *err)
{
	struct import *im = s->im;
	uint64_t mirror;

	s->gaps.count = 0;
	import_sizes_flat(s, model);
	for (uint32_t i = 0; i < im->classes.count; i++) {
		TRY(lay_out_class(s, model, im->known.order[i], err));
		if (i % STEP_CLASSES == 0)
			TRY(base_step(im->work, i, err));
	}
	assert(im->known.class_no < im->classes.count); /* synthesised if the dump does not contain
							 * java.lang.Class */
	mirror = layout_round(import_class_at(im, im->known.class_no)->model_bytes,
			      model->align_bytes);
	for (uint32_t no = 0; no < im->classes.count; no++)
		import_class_at(im, no)->mirror_bytes =
			layout_mirror(model, mirror, &s->statics[no]);
	return HDB_OK;
}

/* ---- comparing with distances ---- */

uint8_t import_sizes_basis(uint64_t bytes, uint64_t align, const struct import_distance *distance,
			   int64_t least)
{
	if (!distance->count)
		return STORE_SIZE_COMPUTED;
	if (least < 0 || (uint64_t)least < bytes)
		return STORE_SIZE_CUT;
	return (uint64_t)least - bytes < align ? STORE_SIZE_EXACT : STORE_SIZE_COMPUTED;
}

int64_t import_sizes_least(const struct import_distance *distance, uint64_t bytes, uint32_t most)
{
	const bool is_odd = distance->least < (int64_t)bytes && distance->at_least <= most &&
			    distance->next_least != INT64_MAX;

	return is_odd ? distance->next_least : distance->least;
}

static void count_basis(struct sizes_score *score, uint8_t basis)
{
	if (basis == STORE_SIZE_CUT)
		score->contradicted++;
	else if (basis == STORE_SIZE_EXACT)
		score->exact++;
	else
		score->loose++;
}

bool import_sizes_is_wide(const struct layout_model *model, const struct import_class *class)
{
	return model->reference_bytes == 8 && !(class->out.flags & STORE_CLASS_FILLER) &&
	       (class->tail_size_at || class->out.element_type == HPROF_OBJECT);
}

unsigned import_sizes_array_base(const struct layout_model *model, const struct import_class *class)
{
	uint8_t type = class->out.element_type;

	if (class->out.flags & STORE_CLASS_FILLER)
		type = HPROF_INT;
	else if (class->flat_element_no != STORE_NONE)
		type = HPROF_LONG;
	return layout_array_base(model, type);
}

static bool is_array(const struct import_class *class)
{
	return class->out.flags & STORE_CLASS_ARRAY && !class->max_body;
}

struct sizes_score import_sizes_score_arrays(const struct sizes *s,
					     const struct layout_model *model)
{
	struct sizes_score score = { 0 };
	bool is_tight[16] = { false };

	for (uint32_t no = 0; no < s->im->classes.count; no++) {
		const struct import_class *class = import_class_at(s->im, no);
		const uint8_t type = class->out.element_type & 15;
		const int64_t least = import_sizes_is_wide(model, class) ?
					      class->distance.least_wide :
					      class->distance.least;
		const unsigned base = import_sizes_array_base(model, class);

		if (!is_array(class) || !class->distance.count)
			continue;
		count_basis(&score,
			    import_sizes_basis(base, model->align_bytes, &class->distance, least));
		is_tight[type] = is_tight[type] || least == base;
	}
	for (unsigned t = 0; t < 16; t++)
		score.tight_arrays += is_tight[t];
	return score;
}

struct sizes_score import_sizes_score(const struct sizes *s, const struct layout_model *model)
{
	struct sizes_score score = import_sizes_score_arrays(s, model), mirrors = { 0 };

	for (uint32_t no = 0; no < s->im->classes.count; no++) {
		const struct import_class *class = import_class_at(s->im, no);
		const bool is_wide = class->tail_size_at && model->reference_bytes == 8;

		if (!is_array(class) && class->distance.count) {
			const uint64_t bytes = layout_round(class->model_bytes, model->align_bytes);
			const uint32_t most =
				class->distance.count >= MANY_OBJECTS ? ODD_OBJECTS : 0;
			const int64_t least =
				is_wide ? class->distance.least_wide :
					  import_sizes_least(&class->distance, bytes, most);

			count_basis(&score, import_sizes_basis(bytes, model->align_bytes,
							       &class->distance, least));
		}
		if (class->mirror_distance.count && !(class->out.flags & STORE_CLASS_INVENTED))
			count_basis(&mirrors,
				    import_sizes_basis(class->mirror_bytes, model->align_bytes,
						       &class->mirror_distance,
						       class->mirror_distance.least));
	}
	score.contradicted += mirrors.contradicted;
	score.exact += mirrors.exact;
	return score;
}
