/*
 * import/import_classes.c - numbers classes, links superclasses, and finds the references in
 * instances. class_names.c names the classes, and class_invent.c adds classes that the dump lacks.
 *
 * This step runs after the scan and before the passes over objects. All records have been read by
 * then, so their order in the dump does not matter.
 */
#include "import/classes.h"

#include "base/sort.h"
#include "import/mapped_names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int import_class_of(struct import *im, uint64_t class_id, uint32_t *no, struct hdb_error *err)
{
	struct import_class fresh;

	*no = base_idmap_get(&im->class_map, class_id);
	if (*no != BASE_IDMAP_NONE)
		return HDB_OK;
	memset(&fresh, 0, sizeof(fresh));
	fresh.mapping_no = BASE_IDMAP_NONE;
	fresh.out.class_id = class_id;
	fresh.out.super_no = STORE_NONE;
	fresh.out.name_text = STORE_NONE;
	fresh.field_super = STORE_NONE;
	assert(im->classes.count < STORE_NONE);
	*no = (uint32_t)im->classes.count;
	TRY(base_vec_push(&im->classes, &fresh, sizeof(fresh), err));
	return base_idmap_put(&im->class_map, class_id, *no, err);
}

/* ---- numbering ---- */

BASE_ORDER(compare_classes, struct import_class, BASE_UP(out.class_id))

/* Number of entries in im->known: three classes, and the primitive arrays by basic type. */
#define NOTED (3 + 16)

/* Lists the classes whose ID has been changed, as pairs of the ID in the dump and the new ID. */
static int find_renamed(struct import *im, struct base_vec *renamed, struct hdb_error *err)
{
	for (uint64_t slot = 0; slot < im->class_map.capacity; slot++) {
		const uint32_t no = im->class_map.slots[slot].value;

		if (no == BASE_IDMAP_NONE)
			continue;
		const uint64_t pair[2] = { im->class_map.slots[slot].key,
					   import_class_at(im, no)->out.class_id };
		if (pair[0] == pair[1])
			continue;
		TRY(base_vec_push(renamed, pair, sizeof(pair), err));
	}
	return HDB_OK;
}

/* Numbers the classes in the order of their IDs, and renumbers im->known. */
static int number_classes(struct import *im, struct hdb_error *err)
{
	uint32_t *noted[NOTED] = { &im->known.class_no, &im->known.loader_no,
				   &im->known.object_no };
	uint64_t noted_id[NOTED];
	/* Classes whose ID has changed. Their objects still refer to them by the ID in the dump. */
	BASE_SCOPED(base_vec_release) struct base_vec renamed = { 0 };

	for (unsigned t = 0; t < 16; t++)
		noted[NOTED - 16 + t] = &im->known.primitive_no[t];
	for (unsigned i = 0; i < NOTED; i++)
		noted_id[i] =
			*noted[i] == STORE_NONE ? 0 : import_class_at(im, *noted[i])->out.class_id;
	TRY(find_renamed(im, &renamed, err));
	qsort(im->classes.data, im->classes.count, sizeof(struct import_class), compare_classes);
	for (uint32_t no = 0; no < im->classes.count; no++) {
		struct import_class *class = import_class_at(im, no);

		class->out.ix = import_idset_find(&im->ids, class->out.class_id);
		assert(class->out.ix != IDSET_NONE);
		TRY(base_idmap_put(&im->class_map, class->out.class_id, no, err));
	}
	for (unsigned i = 0; i < NOTED; i++)
		if (*noted[i] != STORE_NONE)
			*noted[i] = base_idmap_get(&im->class_map, noted_id[i]);
	for (size_t i = 0; i < renamed.count; i++) {
		const uint64_t *pair = (const uint64_t *)renamed.data + 2 * i;

		TRY(base_idmap_put(&im->class_map, pair[0], base_idmap_get(&im->class_map, pair[1]),
				   err));
	}
	return HDB_OK;
}

/* ---- superclasses ---- */

/*
 * Links a class to its class loader and superclass. A missing superclass is a problem of the dump,
 * not a failure. The class then has no superclass, but its own fields are known.
 */
static int link_super(struct import *im, uint32_t no, struct hdb_error *err)
{
	struct import_class *class = import_class_at(im, no);

	class->out.loader_ix = 0;
	if (class->out.loader_id) {
		const uint32_t ix = import_idset_find(&im->ids, class->out.loader_id);
		class->out.loader_ix = ix == IDSET_NONE ? 0 : ix;
	}
	if (class->has_dump && !class->out.loader_ix)
		im->known.any_boot_class = true;
	if (class->out.flags & STORE_CLASS_INVENTED) {
		class->out.super_no = im->known.object_no;
		return HDB_OK;
	}
	if (!class->super_id)
		return HDB_OK;
	class->out.super_no = base_idmap_get(&im->class_map, class->super_id);
	if (class->out.super_no != BASE_IDMAP_NONE)
		return HDB_OK;
	class->out.super_no = STORE_NONE;
	return import_problem(
		im,
		&(struct import_trouble){ .kind = STORE_PROBLEM_MISSING_SUPER,
					  .offset = class->out.file_offset,
					  .object_id = class->out.class_id },
		err, "class 0x%" PRIx64 ": its superclass 0x%" PRIx64 " is not in the dump",
		class->out.class_id, class->super_id);
}

enum { MARK_NEW, MARK_OPEN, MARK_DONE };

/*
 * Pushes a class and its superclasses, up to the first class that is done. If the chain returns to
 * a class on the stack, the chain is cut there. An explicit stack replaces recursion, because a
 * hostile dump may have very long chains.
 */
static int climb(struct import *im, uint32_t no, struct base_vec *stack, struct hdb_error *err)
{
	struct import_class *last;

	assert(!stack->count);
	while (no != STORE_NONE && import_class_at(im, no)->mark == MARK_NEW) {
		import_class_at(im, no)->mark = MARK_OPEN;
		TRY(base_vec_push(stack, &no, sizeof(no), err));
		no = import_class_at(im, no)->out.super_no;
	}
	if (no == STORE_NONE || import_class_at(im, no)->mark == MARK_DONE)
		return HDB_OK;
	assert(import_class_at(im, no)->mark == MARK_OPEN);
	assert(stack->count);
	last = import_class_at(im, *base_vec_at(stack, uint32_t, stack->count - 1));
	last->out.super_no = STORE_NONE;
	return import_problem(im,
			      &(struct import_trouble){ .kind = STORE_PROBLEM_SUPER_CYCLE,
							.offset = last->out.file_offset,
							.object_id = last->out.class_id },
			      err,
			      "class 0x%" PRIx64 " is its own superclass; the link was "
			      "removed",
			      last->out.class_id);
}

/* Orders the classes so that superclasses come first, and cuts cycles. */
static int order_classes(struct import *im, struct hdb_error *err)
{
	const uint32_t count = (uint32_t)im->classes.count;
	BASE_SCOPED(base_vec_release) struct base_vec stack = { 0 };
	uint32_t done = 0;

	TRY(BASE_ALLOC(im->known.order, count, "the order of classes", err));
	for (uint32_t first = 0; first < count; first++) {
		TRY(climb(im, first, &stack, err));
		while (stack.count) {
			const uint32_t no = *base_vec_at(&stack, uint32_t, --stack.count);

			import_class_at(im, no)->mark = MARK_DONE;
			im->known.order[done++] = no;
		}
	}
	assert(done == count);
	return HDB_OK;
}

/*
 * Computes the size of the field values of an instance. Superclasses must be processed first,
 * because field_super and strength are inherited.
 */
static int measure_class(struct import *im, struct import_class *class, struct hdb_error *err)
{
	BASE_VIEW(view, im->source);
	uint64_t offset = class->fields_offset, body = 0;

	for (uint32_t f = 0; f < class->out.field_count; f++) {
		struct hprof_field field;
		unsigned size;

		TRY(hprof_field_next(&im->file, &view, &offset, &field, err));
		size = hprof_type_size(field.type, im->file.id_size);
		body += size;
		if (size)
			continue;
		TRY(import_problem(im,
				   &(struct import_trouble){ .kind = STORE_PROBLEM_BAD_FIELD_TYPE,
							     .offset = offset,
							     .object_id = class->out.class_id },
				   err,
				   "field %" PRIu32 " of class 0x%" PRIx64 " has unknown type %u",
				   f, class->out.class_id, field.type));
	}
	if (class->out.super_no != STORE_NONE) {
		const struct import_class *super = import_class_at(im, class->out.super_no);

		assert(super->mark == MARK_DONE);
		body += super->out.body_size;
		class->field_super =
			super->out.field_count ? class->out.super_no : super->field_super;
		if (!class->out.strength)
			class->out.strength = super->out.strength;
	}
	class->out.body_size = body > UINT32_MAX ? UINT32_MAX : (uint32_t)body;
	return HDB_OK;
}

/*
 * Finds the offsets of the references in an instance. The fields of the class come first, followed
 * by the fields of each superclass. Stops at the size of the longest instance of the class, so that
 * the amount of work is bounded by the size of the dump.
 */
static int plan_class(struct import *im, uint32_t no, struct hdb_error *err)
{
	struct import_class *class = import_class_at(im, no);
	BASE_VIEW(view, im->source);
	uint64_t at = 0;
	uint32_t c = class->out.field_count ? no : class->field_super;

	assert(class->max_body);
	class->plan_first = (uint32_t)im->links.plans.count;
	while (c != STORE_NONE && at < class->max_body) {
		const struct import_class *from = import_class_at(im, c);
		uint64_t offset = from->fields_offset;

		for (uint32_t f = 0; f < from->out.field_count && at < class->max_body; f++) {
			struct hprof_field field;

			TRY(hprof_field_next(&im->file, &view, &offset, &field, err));
			if (field.type == HPROF_OBJECT) {
				const uint32_t at32 = (uint32_t)at;
				TRY(base_vec_push(&im->links.plans, &at32, sizeof(at32), err));
			}
			at += hprof_type_size(field.type, im->file.id_size);
		}
		c = from->field_super;
	}
	class->plan_count = (uint32_t)im->links.plans.count - class->plan_first;
	return HDB_OK;
}

/*
 * Numbers all objects, including the boot class loader's placeholder and the classes that the dump
 * lacks.
 */
static int finish_ids(struct import *im, struct hdb_error *err)
{
	uint64_t duplicates = 0, more = 0;
	int r;

	TRY(import_idset_finish(&im->ids, &duplicates, err));
	if (duplicates) {
		r = import_problem(
			im, &(struct import_trouble){ .kind = STORE_PROBLEM_DUPLICATE_ID }, err,
			"%" PRIu64 " objects have duplicate IDs; only the first object with "
			"each ID is kept",
			duplicates);
		TRY(r);
	}
	im->evidence.mat_align_bytes = import_mat_alignment(im);
	import_find_flat(im);
	/* The placeholder of the boot class loader has ID 0 and index 0. */
	TRY_ERRORS(import_idset_add(&im->ids, 0, err));
	TRY(import_invent_classes(im, err));
	TRY(import_idset_finish(&im->ids, &more, err));
	assert(!more); /* only new IDs were added, so none of them was a duplicate */
	im->object_count = (uint32_t)im->ids.count;
	return HDB_OK;
}

int import_classes(struct import *im, struct hdb_error *err)
{
	TRY(import_name_classes(im, err));
	TRY(finish_ids(im, err));
	/* No more classes are added after this point, so the memory needed for classes is known. */
	TRY(store_count_classes(im->work, im->classes.count, &im->classes_bytes, err));
	TRY(number_classes(im, err));
	for (uint32_t no = 0; no < im->classes.count; no++)
		TRY(link_super(im, no, err));
	TRY(order_classes(im, err));
	for (uint32_t i = 0; i < im->classes.count; i++) {
		TRY(measure_class(im, import_class_at(im, im->known.order[i]), err));
	}
	for (uint32_t no = 0; no < im->classes.count; no++) {
		if (!import_class_at(im, no)->max_body)
			continue;
		TRY(plan_class(im, no, err));
	}
	return import_find_tails(im, err);
}

/* ---- writing ---- */

/* Returns the value that a flat field has in its record. See struct store_field. */
static uint64_t flat_value(const struct import *im, const struct import_class *class,
			   uint32_t field_no)
{
	for (uint32_t k = 0; k < class->flat_count; k++) {
		const struct import_flat_field *flat = base_vec_at(
			&im->flat.fields, struct import_flat_field, class->first_flat + k);

		if (flat->field_no == field_no)
			return store_flat_field(flat->value_no, flat->bytes, flat->align);
	}
	return 0;
}

static int put_fields(struct import *im, struct import_class *class,
		      struct store_records_writer *fields, struct hdb_error *err)
{
	BASE_VIEW(view, im->source);
	uint64_t offset = class->fields_offset;

	class->out.first_field = (uint32_t)fields->count;
	for (uint32_t f = 0; f < class->out.field_count; f++) {
		struct store_field out = { 0 };
		struct hprof_field field;

		TRY(hprof_field_next(&im->file, &view, &offset, &field, err));
		TRY(import_map_field(im, class, field.name_string_id, &out.name_text, err));
		out.type = field.type;
		if (class->flat_count)
			out.value = flat_value(im, class, f);
		TRY(store_records_put(fields, &out, err));
	}
	offset = class->statics_offset;
	class->out.first_static = (uint32_t)fields->count;
	for (uint32_t f = 0; f < class->out.static_count; f++) {
		struct store_field out = { .is_static = 1 };
		struct hprof_static field;

		TRY(hprof_static_next(&im->file, &view, &offset, &field, err));
		TRY(import_map_field(im, class, field.name_string_id, &out.name_text, err));
		out.type = field.type;
		out.value = field.value;
		TRY(store_records_put(fields, &out, err));
	}
	if (fields->count >= UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many fields (limit %" PRIu32 ")",
				UINT32_MAX - 1);
	return HDB_OK;
}

int import_write_classes(struct import *im, struct hdb_error *err)
{
	BASE_SCOPED(store_records_release)
	struct store_records_writer fields = { .writer = im->writer, .table = STORE_FIELDS };
	BASE_SCOPED(store_records_release)
	struct store_records_writer classes = { .writer = im->writer, .table = STORE_CLASSES };

	for (uint32_t no = 0; no < im->classes.count; no++) {
		TRY(put_fields(im, import_class_at(im, no), &fields, err));
		TRY(store_records_put(&classes, &import_class_at(im, no)->out, err));
	}
	TRY(store_records_end(&fields, err));
	return store_records_end(&classes, err);
}
