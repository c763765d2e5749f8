/*
 * heap/heap_layout.c - lays out a class with the model that the import chose, and accounts for
 * every byte.
 */
#include "heap/heap_layout.h"

#include "base/scope.h"
#include "base/sort.h"
#include "layout/layout_known.h"

#include <assert.h>
#include <string.h>

/* Maximum size of a field name to compare with known names. */
#define NAME_MAX_BYTES 128

/*
 * Restores the model that the import chose, so that layouts are the same. Returns false if sizes
 * are not based on a layout.
 */
static bool read_model(const struct heap *heap, struct layout_model *out)
{
	struct store *store = heap->store;
	const uint64_t rules = store_meta_number(store, "sizes.rules", 0);

	*out = (struct layout_model){
		.rules = rules == LAYOUT_CLASSIC ? LAYOUT_CLASSIC :
			 rules == LAYOUT_ART     ? LAYOUT_ART :
						   LAYOUT_BUILDER,
		.word_bytes = store_meta_number(store, "sizes.word_bytes", 8) == 4 ? 4 : 8,
		.header_bytes = (unsigned)store_meta_number(store, "sizes.fields_at", 8),
		.reference_bytes = heap->layout.reference_bytes == 8 ? 8 : 4,
		.align_bytes = heap->layout.align_bytes,
		.contended_bytes = (unsigned)store_meta_number(store, "sizes.contended_bytes", 0),
		.java = (unsigned)store_meta_number(store, "sizes.java", 0),
		.keeps_super_gaps = store_meta_number(store, "sizes.keeps_super_gaps", 0) != 0,
		.keeps_long_gap = store_meta_number(store, "sizes.keeps_long_gap", 0) != 0,
		.references_first = store_meta_number(store, "sizes.references_first", 0) != 0,
		.widens_fields = store_meta_number(store, "sizes.widens_fields", 0) != 0,
		.joins_references = store_meta_number(store, "sizes.joins_references", 0) != 0,
		.packs_arrays = store_meta_number(store, "sizes.packs_arrays", 0) != 0,
		.reverses_fields = store_meta_number(store, "sizes.reverses_fields", 0) != 0,
	};
	return store_meta_number(store, "sizes.is_laid_out", 0) != 0;
}

const char *heap_part_name(uint8_t kind)
{
	static const char *const names[] = {
		[HEAP_PART_HEADER] = "header",     [HEAP_PART_LENGTH] = "length",
		[HEAP_PART_FIELD] = "field",       [HEAP_PART_INJECTED] = "injected field",
		[HEAP_PART_GAP] = "gap",           [HEAP_PART_CONTENDED] = "contended padding",
		[HEAP_PART_PADDING] = "padding",   [HEAP_PART_UNKNOWN] = "not explained",
		[HEAP_PART_ELEMENTS] = "elements",
	};

	return kind < BASE_COUNT(names) ? names[kind] : "?";
}

/* State while the fields of one class are laid out. */
struct own {
	struct heap *heap;
	const struct layout_model *model;
	uint32_t class_no;
	unsigned known;         /* number of the class in HotSpot's table; see layout_known */
	struct base_vec fields; /* struct layout_field; the tag is the index in parts */
	struct base_vec parts;  /* struct heap_part */
	uint64_t total;         /* number of fields added so far, for all classes */
};

static void release_own(struct own *own)
{
	base_vec_release(&own->fields);
	base_vec_release(&own->parts);
}

/*
 * Adds a field. The number of fields is limited, because a hostile class hierarchy could otherwise
 * exhaust memory.
 */
static int add_field(struct own *own, const struct heap_part *part, uint8_t group,
		     struct hdb_error *err)
{
	const struct layout_field field = {
		.tag = (uint32_t)own->parts.count,
		.type = part->type,
		.group = group,
		.flat_bytes = part->flat_bytes,
		.flat_align = part->flat_align,
	};
	struct heap_part sized = *part;

	if (own->total++ >= HEAP_PARTS_MAX)
		return hdb_fail(err, HDB_ELIMIT,
				"too many fields in a class and its superclasses (limit %u)",
				HEAP_PARTS_MAX);
	sized.bytes = layout_field_size(own->model, &field);
	TRY(base_vec_push(&own->parts, &sized, sizeof(sized), err));
	return base_vec_push(&own->fields, &field, sizeof(field), err);
}

/*
 * Sets *out to whether the listed fields exceed the recorded size, which means that ART listed
 * fields that are not in the object.
 */
static int is_crowded(struct heap *heap, const struct layout_model *model,
		      const struct store_class *class, bool *out, struct hdb_error *err)
{
	uint64_t bytes = class->super_no == STORE_NONE ?
				 0 :
				 heap_class(heap, class->super_no)->declared_size;

	for (uint32_t i = 0; i < class->field_count; i++) {
		struct store_field field;

		TRY(heap_field(heap, class->first_field + i, &field, err));
		bytes += layout_type_size(model, field.type);
	}
	*out = bytes > class->declared_size;
	return HDB_OK;
}

/*
 * Adds the fields that the dump lists, in class file order. Removes from `injected` any injected
 * field among them.
 */
static int add_listed(struct own *own, const char **injected, size_t injected_count,
		      struct hdb_error *err)
{
	struct heap *heap = own->heap;
	const struct layout_model *model = own->model;
	const struct store_class *class = heap_class(heap, own->class_no);
	const unsigned known = own->known;
	bool crowded = false;

	assert(injected_count <= LAYOUT_INJECTED_MAX);
	if (model->rules == LAYOUT_ART && known != LAYOUT_UNKNOWN)
		TRY(is_crowded(heap, model, class, &crowded, err));
	for (uint32_t i = 0; i < class->field_count; i++) {
		const uint32_t at = model->reverses_fields ? class->field_count - 1 - i : i;
		struct heap_part part = { .class_no = own->class_no, .kind = HEAP_PART_FIELD };
		char name[NAME_MAX_BYTES] = "";
		struct store_field field;

		TRY(heap_field(heap, class->first_field + at, &field, err));
		if (known != LAYOUT_UNKNOWN)
			TRY(heap_text(heap, field.name_text, name, sizeof(name), err));
		if (crowded && layout_known_is_made_up(known, name))
			continue;
		part.type = field.type;
		part.name_text = field.name_text;
		if (field.value) {
			part.flat_bytes = store_flat_bytes(field.value);
			part.flat_align = store_flat_align(field.value);
			part.flat_class = store_flat_class(field.value);
		}
		for (size_t k = 0; k < injected_count; k++)
			if (injected[k] && strcmp(injected[k], name) == 0)
				injected[k] = NULL;
		TRY(add_field(own, &part, layout_known_group(model, known, name), err));
	}
	return HDB_OK;
}

static int add_fields(struct own *own, struct hdb_error *err)
{
	struct layout_field injected[LAYOUT_INJECTED_MAX];
	const char *names[LAYOUT_INJECTED_MAX];
	const size_t count = layout_known_injected(own->model, own->known, injected, names);

	TRY(add_listed(own, names, count, err));
	for (size_t i = 0; i < count; i++) {
		const struct heap_part part = {
			.class_no = own->class_no,
			.name_text = STORE_NONE,
			.name = names[i],
			.kind = HEAP_PART_INJECTED,
			.type = injected[i].type,
		};

		if (names[i])
			TRY(add_field(own, &part, injected[i].group, err));
	}
	return HDB_OK;
}

/* Lists a class and its superclasses, topmost first. */
static int list_line(struct heap *heap, uint32_t class_no, struct base_vec *line,
		     struct hdb_error *err)
{
	assert(class_no < heap->class_count);
	assert(line->count == 0);
	for (uint32_t no = class_no; no != STORE_NONE && line->count <= heap->class_count;
	     no = heap_class(heap, no)->super_no)
		TRY(base_vec_push(line, &no, sizeof(no), err));
	for (size_t i = 0; i < line->count / 2; i++) {
		uint32_t *a = base_vec_at(line, uint32_t, i);
		uint32_t *b = base_vec_at(line, uint32_t, line->count - 1 - i);
		const uint32_t held = *a;

		*a = *b;
		*b = held;
	}
	return HDB_OK;
}

/* Lays out a chain of classes, and appends all their fields to `out`. */
static int lay_out_line(struct own *own, const struct base_vec *line, struct base_vec *out,
			struct layout_shape *shape, struct hdb_error *err)
{
	struct layout_shape super;

	assert(line->count > 0);
	for (size_t i = 0; i < line->count; i++) {
		struct layout_traits traits = { 0 };
		struct layout_fields fields;

		own->class_no = *base_vec_at(line, uint32_t, i);
		own->known = heap_class(own->heap, own->class_no)->loader_id ?
				     LAYOUT_UNKNOWN :
				     layout_known(heap_class_name(own->heap, own->class_no));
		own->fields.count = own->parts.count = 0;
		TRY(base_vec_reserve(&own->fields, 1, sizeof(struct layout_field), err));
		TRY(add_fields(own, err));
		layout_known_traits(own->model, own->known, &traits);
		super = *shape;
		fields = (struct layout_fields){ own->fields.data, own->fields.count };
		layout_class(own->model, i ? &super : NULL, fields, &traits, shape);
		for (size_t f = 0; f < fields.count; f++) {
			struct heap_part *part =
				base_vec_at(&own->parts, struct heap_part, fields.field[f].tag);

			part->offset = fields.field[f].offset;
			TRY(base_vec_push(out, part, sizeof(*part), err));
		}
	}
	return HDB_OK;
}

/* A field of unknown type has no bytes, so it precedes another field at the same offset. */
BASE_ORDER(compare_parts, struct heap_part, BASE_UP(offset), BASE_UP(bytes))

static int add_part(struct base_vec *out, uint8_t kind, uint64_t from, uint64_t to,
		    struct hdb_error *err)
{
	const struct heap_part part = {
		.offset = from,
		.bytes = to - from,
		.class_no = HEAP_NONE,
		.name_text = STORE_NONE,
		.kind = kind,
	};

	assert(kind <= HEAP_PART_ELEMENTS);
	return from < to ? base_vec_push(out, &part, sizeof(part), err) : HDB_OK;
}

/* Returns the kind of a gap between fields. */
static uint8_t hole_kind(const struct layout_model *model, uint64_t bytes)
{
	return model->contended_bytes && bytes >= model->contended_bytes ? HEAP_PART_CONTENDED :
									   HEAP_PART_GAP;
}

/* Adds parts for the bytes before, between and after the fields of an instance of `size` bytes. */
static int fill_holes(const struct layout_model *model, const struct layout_shape *shape,
		      uint64_t size, struct base_vec *out, struct hdb_error *err)
{
	const uint64_t laid_out = layout_round(shape->size, model->align_bytes);
	const size_t count = out->count;
	uint64_t at = model->header_bytes;

	TRY(add_part(out, HEAP_PART_HEADER, 0, model->header_bytes, err));
	for (size_t i = 0; i < count; i++) {
		const struct heap_part *part = base_vec_at(out, struct heap_part, i);
		const uint64_t from = part->offset, to = from + part->bytes;

		if (from > at)
			TRY(add_part(out, hole_kind(model, from - at), at, from, err));
		at = to > at ? to : at;
	}
	if (shape->size >= at + model->contended_bytes && model->contended_bytes) {
		TRY(add_part(out, HEAP_PART_CONTENDED, at, at + model->contended_bytes, err));
		at += model->contended_bytes;
	}
	if (at < laid_out && at < size) {
		TRY(add_part(out, HEAP_PART_PADDING, at, laid_out < size ? laid_out : size, err));
		at = laid_out;
	}
	return at < size ? add_part(out, HEAP_PART_UNKNOWN, at, size, err) : HDB_OK;
}

/* Appends the header, the length, the padding, and an empty part for the elements. */
static int lay_out_array(struct heap *heap, const struct layout_model *model, uint32_t class_no,
			 struct base_vec *out, struct hdb_error *err)
{
	const struct store_class *class = heap_class(heap, class_no);
	const uint64_t length = model->rules == LAYOUT_ART ? 8 : model->header_bytes;
	const uint64_t base =
		layout_array_base(model, !class->element_bytes             ? class->element_type :
					 class->flags & STORE_CLASS_FILLER ? HPROF_INT :
									     HPROF_LONG);
	const struct heap_part elements = {
		.offset = base,
		.class_no = HEAP_NONE,
		.name_text = STORE_NONE,
		.kind = HEAP_PART_ELEMENTS,
		.type = class->element_type,
	};

	TRY(add_part(out, HEAP_PART_HEADER, 0, length, err));
	TRY(add_part(out, HEAP_PART_LENGTH, length, length + 4, err));
	TRY(add_part(out, HEAP_PART_GAP, length + 4, base, err));
	TRY(base_vec_push(out, &elements, sizeof(elements), err));
	return add_part(out, HEAP_PART_PADDING, base, class->instance_bytes, err);
}

/*
 * Lays out a class. Sorts twice, because fill_holes needs parts in order of offset and appends
 * more.
 */
int heap_lay_out(struct heap *heap, uint32_t class_no, struct base_vec *out, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec line = { 0 };
	BASE_SCOPED(release_own) struct own own = { .heap = heap };
	struct layout_shape shape = { 0 };
	struct layout_model model;

	assert(class_no < heap->class_count);
	TRY(heap_load_classes(heap, err));
	if (!read_model(heap, &model))
		return hdb_fail(
			err, HDB_EUSAGE,
			heap->is_phd ?
				"a portable heap dump does not record fields" :
				"this database does not record layouts; import the dump with "
				"--sizes vm");
	if (heap_class(heap, class_no)->flags & STORE_CLASS_ARRAY) {
		TRY(lay_out_array(heap, &model, class_no, out, err));
	} else {
		own.model = &model;
		TRY(list_line(heap, class_no, &line, err));
		TRY(lay_out_line(&own, &line, out, &shape, err));
		base_vec_sort(out, sizeof(struct heap_part), compare_parts);
		TRY(fill_holes(&model, &shape, heap_class(heap, class_no)->instance_bytes, out,
			       err));
	}
	base_vec_sort(out, sizeof(struct heap_part), compare_parts);
	return HDB_OK;
}
