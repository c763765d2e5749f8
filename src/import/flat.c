/*
 * import/flat.c - finds flat values, which are value objects stored inside another object. Their
 * IDs are not addresses.
 *
 * HotSpot with value objects (JEP 401, JDK 28; openjdk/valhalla, services/heapDumper.cpp,
 * dump_inlined_object) writes each value that is flattened into a field or an array as a separate
 * INSTANCE_DUMP, after the INSTANCE_DUMP of its holder. The value has no address, so its ID comes
 * from a counter that runs through the whole dump: 1, 2, 3 and so on. The holder's field or element
 * has that ID. In memory there is no reference: the holder contains the bytes of the value.
 * Therefore a flat value has no size of its own and must be excluded from distances, and its holder
 * is laid out with the bytes of the value in the field (layout.h).
 */
#include "base/sort.h"
#include "import/sizes.h"

#include <stdlib.h>

/* Number of IDs read from the set at a time. */
#define SCAN_IDS 1024u
/* Minimum number of IDs examined in the search for the last flat value. */
#define LOOK_AT_LEAST 4096u
/*
 * Maximum number of rounds in which the sizes of nested values grow. Each level of nesting adds at
 * least one byte, and only values of up to 8 bytes are flattened into other values.
 */
#define NESTING_MAX 8
/*
 * Maximum size of a field in bytes, which prevents overflows when layouts are added up. Real fields
 * have up to 8 bytes, or rarely a few dozen.
 */
#define FLAT_BYTES_MAX (1u << 20)
/*
 * Size of an atomic write. Values in fields that several threads can access are not larger than
 * this.
 */
#define ATOMIC_BYTES 8u

/* ---- IDs of flat values ---- */

/*
 * Finds the last ID of the sequence 1, 2, 3 and so on. Unlike addresses, at least three quarters of
 * the IDs in the sequence are not multiples of 8. The sequence may have gaps, because objects are
 * missing from a truncated dump.
 */
static uint64_t find_last(const struct import *im)
{
	uint64_t ids[SCAN_IDS], last = 0, all = 0, odd = 0, before = 0;
	uint32_t ix = 0;

	while (ix < im->ids.count) {
		const uint32_t n =
			im->ids.count - ix < SCAN_IDS ? (uint32_t)(im->ids.count - ix) : SCAN_IDS;

		import_idset_scan(&im->ids, ix, n, ids);
		ix += n;
		for (uint32_t i = 0; i < n; i++) {
			if (!ids[i])
				continue;
			all++;
			odd += (ids[i] & 7) != 0;
			if (4 * odd >= 3 * all && (ids[i] & 7 || ids[i] == before + 1))
				last = ids[i];
			before = ids[i];
		}
		if (all > LOOK_AT_LEAST && 2 * odd < all)
			break;
	}
	return last;
}

/*
 * Returns whether the dump numbers all its objects. Class objects are never flat. If most class
 * objects also have IDs like those of flat values, all IDs are numbers.
 */
static bool is_numbered(struct import *im, uint64_t last)
{
	uint64_t all = 0, odd = 0;

	for (uint32_t no = 0; no < im->classes.count; no++) {
		const struct import_class *class = import_class_at(im, no);

		if (!class->has_dump)
			continue;
		all++;
		odd += class->out.class_id <= last || class->out.class_id & 7;
	}
	return 2 * odd >= all;
}

void import_find_flat(struct import *im)
{
	uint64_t last;

	/*
	 * In most dumps, all IDs are multiples of 8. ART dumps contain artificial arrays at other
	 * addresses, which would be mistaken for flat values.
	 */
	if (im->origin.is_android || (!im->ids.is_sparse && im->ids.shift >= 3))
		return;
	last = find_last(im);
	im->flat.is_numbered = is_numbered(im, last);
	im->flat.has_odd_ids = !im->flat.is_numbered;
	im->flat.last = im->flat.is_numbered ? 0 : last;
}

/* ---- fields and arrays that contain flat values ---- */

int import_flat_begin(struct import *im, struct hdb_error *err)
{
	for (uint32_t no = 0; no < im->classes.count; no++)
		import_class_at(im, no)->flat_element_no = STORE_NONE;
	if (!im->flat.last)
		return HDB_OK;
	TRY(BASE_ALLOC(im->flat.plan, im->links.plans.count + 1, "flat fields", err));
	return BASE_ALLOC(im->flat.element, im->classes.count + 1, "flat fields", err);
}

/* Returns the class of the instance with this ID, or STORE_NONE. */
static uint32_t class_of(struct import *im, struct base_view *view, uint64_t id)
{
	struct hprof_sub sub;
	uint32_t no;

	if (!import_sizes_read_object(im, view, id, &sub) || sub.tag != HPROF_INSTANCE_DUMP)
		return STORE_NONE;
	no = base_idmap_get(&im->class_map, sub.class_id);
	return no == BASE_IDMAP_NONE ? STORE_NONE : no;
}

/*
 * Collects the flat fields found in the instances of one class, and assigns them to the classes
 * that declare the fields.
 */
static int add_fields(struct import *im, uint32_t no, struct hdb_error *err)
{
	const struct import_class *class = import_class_at(im, no);
	const uint64_t *flat = im->flat.plan + class->plan_first;
	BASE_VIEW(view, im->source);
	uint32_t c = class->out.field_count ? no : class->field_super, k = 0;

	while (c != STORE_NONE && k < class->plan_count) {
		const struct import_class *from = import_class_at(im, c);
		uint64_t offset = from->fields_offset;

		for (uint32_t f = 0; f < from->out.field_count && k < class->plan_count; f++) {
			struct hprof_field field;

			TRY(hprof_field_next(&im->file, &view, &offset, &field, err));
			if (field.type != HPROF_OBJECT)
				continue;
			const struct import_flat_field found = {
				.example_id = flat[k++],
				.class_no = c,
				.field_no = f,
			};
			if (!found.example_id)
				continue;
			TRY(base_vec_push(&im->flat.fields, &found, sizeof(found), err));
		}
		c = from->field_super;
	}
	return HDB_OK;
}

BASE_ORDER(by_field, struct import_flat_field, BASE_UP(class_no), BASE_UP(field_no),
	   BASE_UP(example_id))

static bool has_flat_field(const struct import *im, const struct import_class *class)
{
	for (uint32_t k = 0; k < class->plan_count; k++)
		if (im->flat.plan[class->plan_first + k])
			return true;
	return false;
}

/*
 * Keeps one entry per field, and finds the class of the field's values. Removes an entry if its
 * value is not in the dump.
 */
static void tidy_fields(struct import *im)
{
	BASE_VIEW(view, im->source);
	struct import_flat_field *fields = im->flat.fields.data;
	size_t kept = 0;

	if (im->flat.fields.count)
		qsort(fields, im->flat.fields.count, sizeof(*fields), by_field);
	for (size_t i = 0; i < im->flat.fields.count; i++) {
		struct import_flat_field one = fields[i];
		struct import_class *class = import_class_at(im, one.class_no);

		if (kept && fields[kept - 1].class_no == one.class_no &&
		    fields[kept - 1].field_no == one.field_no)
			continue;
		one.value_no = class_of(im, &view, one.example_id);
		if (one.value_no == STORE_NONE)
			continue;
		if (!class->flat_count++)
			class->first_flat = (uint32_t)kept;
		fields[kept++] = one;
	}
	im->flat.fields.count = kept;
}

int import_flat_end(struct import *im, struct hdb_error *err)
{
	BASE_VIEW(view, im->source);

	if (!im->flat.plan)
		return HDB_OK;
	for (uint32_t no = 0; no < im->classes.count; no++) {
		struct import_class *class = import_class_at(im, no);

		if (has_flat_field(im, class))
			TRY(add_fields(im, no, err));
		if (!im->flat.element[no])
			continue;
		class->flat_element_no = class_of(im, &view, im->flat.element[no]);
		/*
		 * The distance was computed for elements of 4 and 8 bytes, but flat elements have
		 * another width, so the distance is not used.
		 */
		class->distance.count = 0;
	}
	tidy_fields(im);
	return HDB_OK;
}

/* ---- sizes of flat values ---- */

static uint64_t power_of_two(uint64_t bytes)
{
	uint64_t v = 1;

	while (v < bytes)
		v *= 2;
	return v;
}

/*
 * Returns the total size of the fields of a value class and its superclasses, packed without gaps.
 * Sets *widest to the largest alignment.
 */
static uint64_t value_bytes(const struct sizes *s, const struct layout_model *model, uint32_t no,
			    uint32_t *widest)
{
	struct import *im = s->im;
	uint64_t bytes = 0;
	uint32_t steps = 0;

	*widest = 1;
	/*
	 * Cycles have already been removed. Value classes never nest deeper than NESTING_MAX.
	 */
	for (; no != STORE_NONE && steps < NESTING_MAX;
	     no = import_class_at(im, no)->field_super, steps++) {
		const struct import_class *class = import_class_at(im, no);
		uint32_t k = class->first_flat;

		for (uint32_t f = 0; f < class->out.field_count; f++) {
			const uint8_t type =
				*base_vec_at(&s->types, uint8_t, s->first_type[no] + f);
			uint32_t width = layout_type_size(model, type), align = width;

			if (k < class->first_flat + class->flat_count) {
				const struct import_flat_field *flat =
					base_vec_at(&im->flat.fields, struct import_flat_field, k);

				if (flat->field_no == f) {
					width = flat->bytes;
					align = flat->align;
					k++;
				}
			}
			bytes += width;
			*widest = align > *widest ? align : *widest;
		}
	}
	return bytes < FLAT_BYTES_MAX ? bytes : FLAT_BYTES_MAX;
}

/*
 * Computes the size and alignment of a flat value. A nullable value has an additional byte after
 * its fields, the null marker (FieldLayoutBuilder). A value that fits in an atomic write is padded
 * to a power of two and aligned to that size. A larger value is flattened only in places where no
 * other thread can write, and is aligned like its fields.
 */
static void flat_size(const struct sizes *s, const struct layout_model *model, uint32_t value_no,
		      uint32_t *bytes, uint32_t *align)
{
	uint32_t widest;
	const uint64_t size = value_bytes(s, model, value_no, &widest) + 1;

	if (size <= ATOMIC_BYTES) {
		*bytes = *align = (uint32_t)power_of_two(size);
	} else {
		*bytes = (uint32_t)size;
		*align = widest;
	}
}

void import_sizes_flat(const struct sizes *s, const struct layout_model *model)
{
	struct import *im = s->im;
	bool grew = im->flat.fields.count != 0;

	for (size_t i = 0; i < im->flat.fields.count; i++) {
		struct import_flat_field *flat =
			base_vec_at(&im->flat.fields, struct import_flat_field, i);

		flat->bytes = flat->align = model->reference_bytes;
	}
	for (unsigned round = 0; round < NESTING_MAX && grew; round++) {
		grew = false;
		for (size_t i = 0; i < im->flat.fields.count; i++) {
			struct import_flat_field *flat =
				base_vec_at(&im->flat.fields, struct import_flat_field, i);
			const uint32_t before = flat->bytes;

			flat_size(s, model, flat->value_no, &flat->bytes, &flat->align);
			grew = grew || flat->bytes != before;
		}
	}
}

/*
 * Returns the width of an element, which is the size of the value padded to the next power of two,
 * or to the size of an atomic write (FlatArrayKlass::array_layout_helper).
 */
uint32_t import_sizes_flat_element(const struct sizes *s, const struct layout_model *model,
				   uint32_t value_no)
{
	uint32_t bytes, align;

	flat_size(s, model, value_no, &bytes, &align);
	return (uint32_t)power_of_two(bytes);
}
