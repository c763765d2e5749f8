/*
 * import/sizes.c - shallow sizes: the widths of the object layout, and the size of each class's instances.
 *
 * One arithmetic serves all models; it is Eclipse MAT's (see the manual, SIZES): a class without a super class has the
 * header, any other its super class's size and its own fields, rounded up to the width of a reference; an instance is
 * that rounded up to the alignment. The models differ in how header, reference width and alignment are found.
 */
#include "import/state.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the arithmetic needs; stored as meta values sizes.*. */
struct layout {
	unsigned header_bytes;         /* of an instance */
	unsigned reference_bytes;
	unsigned align_bytes;
	unsigned array_header_bytes;   /* of an object array */
	unsigned primitive_header_bytes; /* of an array of primitives of up to 4 bytes */
	unsigned wide_header_bytes;    /* of an array of long or double */
	bool is_recorded;              /* instance sizes are the dump's own (ART) */
	char evidence[640];
};

static unsigned field_size(const struct import *im, const struct layout *l, uint8_t type)
{
	return type == HPROF_OBJECT ? l->reference_bytes : hprof_type_size(type, im->file.id_size);
}

static int own_bytes(struct import *im, const struct layout *l, const struct import_class *class,
		     uint64_t *out, struct hdb_error *err)
{
	struct base_view view = { .src = im->source };
	uint64_t offset = class->fields_offset;

	*out = 0;
	for (uint32_t f = 0; f < class->out.field_count; f++) {
		struct hprof_field field;
		const int r = hprof_field_next(&im->file, &view, &offset, &field, err);

		if (r < 0)
			return r;
		*out += field_size(im, l, field.type);
	}
	return HDB_OK;
}

static int static_bytes(struct import *im, const struct layout *l,
			const struct import_class *class, uint64_t *out, struct hdb_error *err)
{
	struct base_view view = { .src = im->source };
	uint64_t offset = class->statics_offset;

	*out = 0;
	for (uint32_t f = 0; f < class->out.static_count; f++) {
		struct hprof_static field;
		const int r = hprof_static_next(&im->file, &view, &offset, &field, err);

		if (r < 0)
			return r;
		*out += field_size(im, l, field.type);
	}
	return HDB_OK;
}

/* Computes model_bytes of every class, super classes first. */
static int model_classes(struct import *im, const struct layout *l, struct hdb_error *err)
{
	for (uint32_t i = 0; i < im->classes.count; i++) {
		struct import_class *class = import_class_at(im, im->order[i]);
		uint64_t own;
		int r;

		if (class->out.super_no == STORE_NONE) {
			class->model_bytes = l->header_bytes;
			continue;
		}
		r = own_bytes(im, l, class, &own, err);
		if (r < 0)
			return r;
		class->model_bytes = round_up(own + import_class_at(im, class->out.super_no)->model_bytes,
					      l->reference_bytes);
	}
	return HDB_OK;
}

static void derive_array_headers(struct layout *l)
{
	l->array_header_bytes = l->header_bytes + 4;
	l->primitive_header_bytes = (unsigned)round_up(l->header_bytes + 4, l->reference_bytes);
	l->wide_header_bytes = l->primitive_header_bytes;
}

/* ---- the models ---- */

static void layout_mat(const struct import *im, struct layout *l)
{
	l->reference_bytes = im->array_overlap ? 4 : im->file.id_size;
	l->header_bytes = im->file.id_size + l->reference_bytes;
	l->align_bytes = im->mat_align_bytes;
	derive_array_headers(l);
	(void)snprintf(l->evidence, sizeof(l->evidence),
		       "reference width %u: %" PRIu64 " object arrays begin inside the one before "
		       "them in the file if references have 8 bytes; alignment %u: greatest common "
		       "divisor of all distances, 8 to 256", l->reference_bytes,
		       im->array_overlap, l->align_bytes);
}

static void layout_dump(const struct import *im, struct layout *l)
{
	l->reference_bytes = im->file.id_size;
	l->align_bytes = 1;
	(void)snprintf(l->evidence, sizeof(l->evidence), "field and element bytes as the file has them");
}

/* Classes whose instances would not fit before the next object, with this header. */
static int count_contradicted(struct import *im, const struct layout *l, uint64_t *contradicted,
			      uint64_t *exact, struct hdb_error *err)
{
	int r = model_classes(im, l, err);

	*contradicted = *exact = 0;
	for (uint32_t no = 0; no < im->classes.count && r == HDB_OK; no++) {
		const struct import_class *class = import_class_at(im, no);
		const uint64_t size = round_up(class->model_bytes, l->align_bytes);

		if (class->min_gap == STORE_NONE)
			continue;
		*contradicted += size > class->min_gap;
		*exact += size == class->min_gap;
	}
	return r;
}

/*
 * The three widths one by one: 8-byte references if no array contradicts them, then the header with which most
 * classes come out exactly as large as their instances' smallest distance to the next object. Not "the largest that
 * nothing contradicts": the arithmetic rounds up after each super class where HotSpot fills the gaps, so it
 * overestimates a few classes under any header.
 */
static int layout_vm(struct import *im, struct layout *l, struct hdb_error *err)
{
	static const unsigned headers[] = { 16, 12, 8 };
	const bool is_wide = im->file.id_size == 8;
	uint64_t best_exact = 0, best_contradicted = 0;
	unsigned best = is_wide ? 12 : 8;
	int r = HDB_OK;

	l->align_bytes = im->mat_align_bytes;
	l->reference_bytes = is_wide && !im->array_contradictions ? 8 : 4;
	for (unsigned i = is_wide ? 0 : 2; i < 3 && r == HDB_OK; i++) {
		uint64_t contradicted, exact;

		l->header_bytes = headers[i];
		r = count_contradicted(im, l, &contradicted, &exact, err);
		if (exact > best_exact) {
			best = headers[i];
			best_exact = exact;
			best_contradicted = contradicted;
		}
	}
	l->header_bytes = best;
	derive_array_headers(l);
	/* Elements begin where a reference may lie, which MAT's arithmetic leaves out. */
	l->array_header_bytes = l->primitive_header_bytes;
	(void)snprintf(l->evidence, sizeof(l->evidence),
		       "reference width %u: %" PRIu64 " object arrays would reach into the next "
		       "object with 8 bytes; header %u: %" PRIu64 " classes are exactly as large as "
		       "the smallest distance from an instance to the next object, %" PRIu64
		       " larger; alignment %u: greatest common divisor of all distances",
		       l->reference_bytes, im->array_contradictions, l->header_bytes, best_exact,
		       best_contradicted, l->align_bytes);
	return r;
}

/*
 * ART records object_size itself (art runtime/hprof/hprof.cc); objects have 8 bytes of header, arrays 12, elements of
 * 8 bytes begin at 16 (art runtime/mirror/array.h), the allocator aligns to 8.
 */
static void layout_art(struct layout *l)
{
	l->reference_bytes = 4;
	l->align_bytes = 8;
	l->header_bytes = 8;
	l->array_header_bytes = 12;
	l->primitive_header_bytes = 12;
	l->wide_header_bytes = 16;
	l->is_recorded = true;
	(void)snprintf(l->evidence, sizeof(l->evidence),
		       "ART dump: instance sizes as recorded, array header 12, alignment 8");
}

/* Applies "header=12,ref=4,align=8". */
static int override_layout(struct layout *l, const char *text, struct hdb_error *err)
{
	bool header_set = false;

	while (*text) {
		const char *equals = strchr(text, '=');
		char *end = NULL;
		unsigned long v = equals ? strtoul(equals + 1, &end, 10) : 0;
		const size_t n = equals ? (size_t)(equals - text) : 0;

		if (!equals || end == equals + 1 || (*end && *end != ','))
			return hdb_fail(err, HDB_EUSAGE, "--layout wants header=N,ref=N,align=N, not "
					"\"%s\"", text);
		if (n == 6 && strncmp(text, "header", n) == 0 && v >= 4 && v <= 64) {
			l->header_bytes = (unsigned)v;
			header_set = true;
		} else if (n == 3 && strncmp(text, "ref", n) == 0 && (v == 4 || v == 8)) {
			l->reference_bytes = (unsigned)v;
		} else if (n == 5 && strncmp(text, "align", n) == 0 && v >= 1 && v <= 256 &&
			   (v & (v - 1)) == 0) {
			l->align_bytes = (unsigned)v;
		} else {
			return hdb_fail(err, HDB_EUSAGE, "--layout: bad part \"%s\": header=4 to 64, "
					"ref=4 or 8, align a power of two to 256", text);
		}
		text = *end ? end + 1 : end;
	}
	if (header_set || !l->is_recorded)
		derive_array_headers(l);
	l->is_recorded = l->is_recorded && !header_set;
	return HDB_OK;
}

/* ---- applying ---- */

static uint64_t empty_array(const struct layout *l, uint8_t element_type)
{
	const bool is_wide = element_type == HPROF_LONG || element_type == HPROF_DOUBLE;

	if (element_type == HPROF_OBJECT)
		return round_up(l->array_header_bytes, l->align_bytes);
	return round_up(is_wide ? l->wide_header_bytes : l->primitive_header_bytes,
			l->align_bytes);
}

static int size_class(struct import *im, const struct layout *l, struct import_class *class,
		      struct hdb_error *err)
{
	uint64_t statics;
	const int r = static_bytes(im, l, class, &statics, err);

	if (r < 0)
		return r;
	class->out.class_bytes = round_up(statics, l->align_bytes);
	if (class->out.flags & STORE_CLASS_ARRAY && !class->max_body)
		class->out.instance_bytes = empty_array(l, class->out.element_type);
	else if (im->opt->sizes == HDB_SIZES_DUMP)
		class->out.instance_bytes = class->out.body_size;
	else if (l->is_recorded)
		class->out.instance_bytes = round_up(class->out.declared_size, l->align_bytes);
	else
		class->out.instance_bytes = round_up(class->model_bytes, l->align_bytes);
	return HDB_OK;
}

static int put_layout(struct import *im, const struct layout *l, struct hdb_error *err)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "sizes.model", im->opt->sizes },
		{ "sizes.header_bytes", l->header_bytes },
		{ "sizes.reference_bytes", l->reference_bytes },
		{ "sizes.align_bytes", l->align_bytes },
		{ "sizes.array_header_bytes", l->array_header_bytes },
		{ "sizes.primitive_header_bytes", l->primitive_header_bytes },
		{ "sizes.wide_header_bytes", l->wide_header_bytes },
	};
	int r = HDB_OK;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && r == HDB_OK; i++)
		r = store_put_meta_number(im->writer, numbers[i].name, numbers[i].value, err);
	if (r == HDB_OK)
		r = store_put_meta_text(im->writer, "sizes.evidence", l->evidence, err);
	return r;
}

int import_sizes(struct import *im, struct hdb_error *err)
{
	struct layout l = { 0 };
	int r = HDB_OK;

	if (im->opt->sizes == HDB_SIZES_DUMP)
		layout_dump(im, &l);
	else if (im->opt->sizes == HDB_SIZES_MAT)
		layout_mat(im, &l);
	else if (im->is_android)
		layout_art(&l);
	else
		r = layout_vm(im, &l, err);
	if (r == HDB_OK && im->opt->layout)
		r = override_layout(&l, im->opt->layout, err);
	if (r == HDB_OK)
		r = model_classes(im, &l, err);
	for (uint32_t no = 0; no < im->classes.count && r == HDB_OK; no++)
		r = size_class(im, &l, import_class_at(im, no), err);
	return r == HDB_OK ? put_layout(im, &l, err) : r;
}
