/*
 * import/sizes.c - computes and stores the shallow sizes of the instances of each class and of
 * class objects.
 *
 * `vm` computes the layout that the VM used (sizes_vm.c chooses it), and corrects the size of a
 * class if the distances of its objects prove a different size. `mat` is Eclipse MAT's arithmetic
 * (see the manual, SIZES): a class without a superclass has the size of the header. Any other class
 * has the size of its superclass plus the size of its own fields, rounded up to the width of a
 * reference. The size of an instance is the size of its class, rounded up to the alignment. `dump`
 * uses the recorded sizes, as does any model for a dump of ART.
 */
#include "import/sizes.h"

#include "base/bytes.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A different size of a class's instances is considered proven only if at least this many instances
 * have the same distance.
 */
#define OBSERVED_MIN 200u
/*
 * For such a proof, this percentage of the class's objects must have the same distance, and this
 * percentage of all objects in the heap must be contiguous.
 */
#define OBSERVED_PERCENT 95u
#define DENSE_PERCENT 90u

/*
 * One in ODD_SHARE objects of a class may be closer to the next object than the layout allows,
 * because the ID of that object may be wrong. In a heap of contiguous objects, one in
 * ODD_SHARE_DENSE may be closer, because a wrong layout would affect nearly all objects.
 */
#define ODD_SHARE_DENSE 10u
#define ODD_SHARE 100u

/* Parameters of the size model. They are stored as the meta values sizes.*. */
struct layout {
	unsigned header_bytes; /* header of an instance */
	unsigned reference_bytes;
	unsigned align_bytes;
	unsigned array_header_bytes;     /* header of an object array */
	unsigned primitive_header_bytes; /* header of an array of primitives of up to 4 bytes */
	unsigned wide_header_bytes;      /* header of an array of long or double */
	/* whether the dump records the sizes of instances (ART) */
	bool is_recorded;
	struct layout_model model;   /* the VM's layout, which gives the offsets of fields */
	struct sizes_choice *choice; /* set for the model vm on HotSpot, otherwise NULL */
	char evidence[1024];
};

static unsigned field_size(const struct import *im, const struct layout *l, uint8_t type)
{
	return type == HPROF_OBJECT ? l->reference_bytes : hprof_type_size(type, im->file.id_size);
}

/* The instance fields or the static fields of a class. */
struct fields {
	uint64_t offset; /* offset in the dump */
	uint32_t count;
	bool are_static;
};

static int field_bytes(struct import *im, const struct layout *l, const struct fields *fields,
		       uint64_t *out, struct hdb_error *err)
{
	BASE_VIEW(view, im->source);
	uint64_t offset = fields->offset;

	*out = 0;
	for (uint32_t f = 0; f < fields->count; f++) {
		struct hprof_static with_value;
		struct hprof_field field;
		const int r =
			fields->are_static ?
				hprof_static_next(&im->file, &view, &offset, &with_value, err) :
				hprof_field_next(&im->file, &view, &offset, &field, err);

		TRY(r);
		*out += field_size(im, l, fields->are_static ? with_value.type : field.type);
	}
	return HDB_OK;
}

/* Computes model_bytes of every class, superclasses first. */
static int model_classes(struct import *im, const struct layout *l, struct hdb_error *err)
{
	for (uint32_t i = 0; i < im->classes.count; i++) {
		struct import_class *class = import_class_at(im, im->known.order[i]);
		const struct fields fields = { class->fields_offset, class->out.field_count,
					       false };
		uint64_t own;

		if (class->out.super_no == STORE_NONE) {
			class->model_bytes = l->header_bytes;
			continue;
		}
		TRY(field_bytes(im, l, &fields, &own, err));
		class->model_bytes =
			round_up(own + import_class_at(im, class->out.super_no)->model_bytes,
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

/* ---- the size models ---- */

static void as_mat(const struct import *im, struct layout *l)
{
	l->reference_bytes = im->evidence.array_overlap ? 4 : im->file.id_size;
	l->header_bytes = im->file.id_size + l->reference_bytes;
	l->align_bytes = im->evidence.mat_align_bytes;
	derive_array_headers(l);
	(void)snprintf(l->evidence, sizeof(l->evidence),
		       "reference width %u: %" PRIu64 " object arrays would overlap the previous "
		       "one if references had 8 bytes; alignment %u: greatest common divisor of "
		       "all distances, 8 to 256",
		       l->reference_bytes, im->evidence.array_overlap, l->align_bytes);
}

static void as_recorded(const struct import *im, struct layout *l)
{
	l->reference_bytes = im->file.id_size;
	l->align_bytes = 1;
	(void)snprintf(l->evidence, sizeof(l->evidence),
		       "bytes of fields and elements as recorded in the file");
}

static void as_ahat(const struct import *im, struct layout *l)
{
	l->reference_bytes = im->file.id_size;
	l->align_bytes = 1;
	(void)snprintf(l->evidence, sizeof(l->evidence),
		       "recorded instance sizes, also of array classes and java.lang.Class, plus "
		       "recorded elements and static fields");
}

/*
 * Sets the layout for ART, which records object_size (its runtime/hprof/hprof.cc). Objects have a
 * header of 8 bytes, and arrays a header of 12 bytes; elements of 8 bytes begin at 16 (its
 * runtime/mirror/array.h). The allocator aligns to 8 bytes.
 */
static int as_art(struct import *im, struct layout *l, struct hdb_error *err)
{
	l->reference_bytes = 4;
	l->align_bytes = 8;
	l->header_bytes = 8;
	l->array_header_bytes = 12;
	l->primitive_header_bytes = 12;
	l->wide_header_bytes = 16;
	l->is_recorded = true;
	(void)snprintf(l->evidence, sizeof(l->evidence),
		       "ART dump: recorded instance sizes, array header 12, alignment 8");
	return import_sizes_art_model(im, &l->model, err);
}

/*
 * Sets the layout for OpenJ9, which aligns to 8 bytes and stores static fields outside the class
 * object.
 */
static void as_phd(const struct import *im, struct layout *l)
{
	const struct hprof_phd *phd = &im->origin.phd;

	l->reference_bytes = phd->reference;
	l->align_bytes = 8;
	l->header_bytes = phd->object_header - 4;
	l->array_header_bytes = phd->object_header;
	l->primitive_header_bytes = l->wide_header_bytes = phd->primitive_header;
	l->is_recorded = true;
	(void)snprintf(l->evidence, sizeof(l->evidence),
		       "portable heap dump: recorded instance sizes; array header %u and "
		       "references of %u bytes, inferred from the sizes of arrays or the space up "
		       "to the next object; alignment 8",
		       phd->object_header, phd->reference);
}

/*
 * Parses a string such as "header=12,ref=4,align=8", in which any part may be missing. NULL is
 * treated as an empty string.
 */
static int parse_layout(const char *text, struct sizes_fixed *out, struct hdb_error *err)
{
	*out = (struct sizes_fixed){ 0 };
	while (text && *text) {
		const char *equals = strchr(text, '=');
		char *end = NULL;
		unsigned long v = equals ? strtoul(equals + 1, &end, 10) : 0;
		const size_t n = equals ? (size_t)(equals - text) : 0;

		if (!equals || end == equals + 1 || (*end && *end != ','))
			return hdb_fail(err, HDB_EUSAGE,
					"the layout must be header=N,ref=N,align=N, not "
					"\"%s\"",
					text);
		if (n == 6 && strncmp(text, "header", n) == 0 && v >= 4 && v <= 64) {
			out->header_bytes = (unsigned)v;
		} else if (n == 3 && strncmp(text, "ref", n) == 0 && (v == 4 || v == 8)) {
			out->reference_bytes = (unsigned)v;
		} else if (n == 5 && strncmp(text, "align", n) == 0 && v >= 1 && v <= 256 &&
			   (v & (v - 1)) == 0) {
			out->align_bytes = (unsigned)v;
		} else {
			return hdb_fail(err, HDB_EUSAGE,
					"invalid part \"%s\" of the layout: expected header=4 to "
					"64, ref=4 or 8, align=8 to 256 (a power of two)",
					text);
		}
		text = *end ? end + 1 : end;
	}
	return HDB_OK;
}

/* Replaces parameters of a layout with the parameters that the user specified. */
static void override_layout(struct layout *l, const struct sizes_fixed *fixed)
{
	if (fixed->header_bytes)
		l->header_bytes = fixed->header_bytes;
	if (fixed->reference_bytes)
		l->reference_bytes = fixed->reference_bytes;
	if (fixed->align_bytes)
		l->align_bytes = fixed->align_bytes;
	if (fixed->header_bytes || !l->is_recorded)
		derive_array_headers(l);
	l->is_recorded = l->is_recorded && !fixed->header_bytes;
}

/* ---- applying a model ---- */

static uint64_t empty_array(const struct layout *l, uint8_t element_type)
{
	const bool is_wide = element_type == HPROF_LONG || element_type == HPROF_DOUBLE;

	if (element_type == HPROF_OBJECT)
		return round_up(l->array_header_bytes, l->align_bytes);
	return round_up(is_wide ? l->wide_header_bytes : l->primitive_header_bytes, l->align_bytes);
}

static int size_class(struct import *im, const struct layout *l, struct import_class *class,
		      struct hdb_error *err)
{
	const struct fields fields = { class->statics_offset, class->out.static_count, true };
	uint64_t statics;

	TRY(field_bytes(im, l, &fields, &statics, err));
	if (im->origin.phd.version && l->is_recorded)
		statics = 0;
	/* A class object also has the instance fields of java.lang.Class. */
	if ((l->is_recorded || im->opt->sizes == HDB_SIZES_AHAT) &&
	    im->known.class_no != STORE_NONE && class->out.file_offset)
		statics += import_class_at(im, im->known.class_no)->out.declared_size;
	class->out.class_bytes = round_up(statics, l->align_bytes);
	if (l->is_recorded) {
		/*
		 * The end of the class object, including padding, is dumped as an artificial array.
		 */
		class->out.class_bytes = round_up(statics + class->overhead_bytes, l->align_bytes) -
					 round_up(class->overhead_bytes, l->align_bytes);
	}
	if (im->opt->sizes == HDB_SIZES_AHAT)
		class->out.instance_bytes = class->out.declared_size;
	else if (class->out.flags & STORE_CLASS_ARRAY && !class->max_body)
		class->out.instance_bytes = empty_array(l, class->out.element_type);
	else if (im->opt->sizes == HDB_SIZES_DUMP)
		class->out.instance_bytes = class->out.body_size;
	else if (l->is_recorded)
		class->out.instance_bytes = round_up(class->out.declared_size, l->align_bytes);
	else
		class->out.instance_bytes = round_up(class->model_bytes, l->align_bytes);
	class->out.layout_bytes = class->out.instance_bytes;
	class->out.distance_bytes = STORE_NONE;
	return HDB_OK;
}

/* ---- the VM's layout ---- */

/*
 * Returns whether nearly all instances are contiguous. In this case, a distance shared by all
 * instances of a class is their size.
 */
static bool is_dense(struct import *im, const struct layout_model *model)
{
	uint64_t all = 0, exact = 0;

	for (uint32_t no = 0; no < im->classes.count; no++) {
		const struct import_class *class = import_class_at(im, no);
		const uint64_t size = layout_round(class->model_bytes, model->align_bytes);

		if (class->out.flags & STORE_CLASS_ARRAY || !class->distance.count)
			continue;
		all += class->distance.count;
		if (class->distance.least >= 0 && (uint64_t) class->distance.least == size)
			exact += class->distance.at_least;
	}
	return exact >= all / 100 * DENSE_PERCENT && all;
}

/* A computed size. */
struct laid_out {
	uint64_t bytes;
	unsigned align;
	bool may_grow; /* whether `bytes` may be corrected to the observed size */
};

/*
 * Returns the computed size, or the distance if the distance proves that the layout is wrong. In a
 * damaged dump, a class can have both arrays and instances, so the distance may not be a multiple
 * of the alignment and is rounded up.
 */
static uint64_t correct(const struct import_distance *distance, int64_t least,
			struct laid_out laid_out, uint8_t *basis)
{
	if (*basis == STORE_SIZE_CUT)
		return least > 0 ? layout_round((uint64_t)least, laid_out.align) : laid_out.bytes;
	if (*basis == STORE_SIZE_COMPUTED && laid_out.may_grow && distance->count >= OBSERVED_MIN &&
	    distance->at_least >= (uint64_t)distance->count * OBSERVED_PERCENT / 100) {
		*basis = STORE_SIZE_OBSERVED;
		return layout_round((uint64_t)least, laid_out.align);
	}
	return laid_out.bytes;
}

/*
 * Computes the size of a class. Parameters specified by the user are used even if distances
 * contradict them. The contradiction is only recorded.
 */
static void size_vm_class(struct import_class *class, const struct layout *l, bool dense,
			  bool fixed)
{
	const struct layout_model *model = &l->choice->model;
	const bool is_array = class->out.flags & STORE_CLASS_ARRAY && !class->max_body;
	const bool is_wide = import_sizes_is_wide(model, class);
	const struct import_distance *distance = &class->distance;
	const uint64_t bytes = is_array ? import_sizes_array_base(model, class) :
					  layout_round(class->model_bytes, model->align_bytes);
	const int64_t least =
		is_wide ?
			distance->least_wide :
		is_array ?
			distance->least :
			import_sizes_least(distance, bytes,
					   distance->count / (dense ? ODD_SHARE_DENSE : ODD_SHARE));
	uint8_t basis = STORE_SIZE_COMPUTED;

	if (l->choice->has_addresses)
		basis = import_sizes_basis(bytes, model->align_bytes, distance, least);
	class->out.layout_bytes = layout_round(bytes, model->align_bytes);
	class->out.instance_bytes = class->out.layout_bytes;
	if (!is_array && !class->tail_size_at && !fixed)
		class->out.instance_bytes =
			correct(distance, least,
				(struct laid_out){ bytes, model->align_bytes, dense }, &basis);
	class->out.size_basis = basis;
	basis = STORE_SIZE_COMPUTED;
	if (l->choice->has_addresses && !(class->out.flags & STORE_CLASS_INVENTED))
		basis = import_sizes_basis(class->mirror_bytes, model->align_bytes,
					   &class->mirror_distance, class->mirror_distance.least);
	class->out.class_bytes =
		fixed ? class->mirror_bytes :
			correct(&class->mirror_distance, class->mirror_distance.least,
				(struct laid_out){ class->mirror_bytes, model->align_bytes, false },
				&basis);
	class->out.class_basis = basis;
	class->out.distance_count = distance->count;
	class->out.distance_bytes =
		distance->count && least >= 0 && least < STORE_NONE ? (uint32_t)least : STORE_NONE;
}

/*
 * Returns the width of an element in an array of flat values. Returns 0 if the elements are
 * references, or if the class is not a class of object arrays.
 */
static uint8_t element_bytes(const struct sizes *s, const struct layout_model *model,
			     const struct import_class *class)
{
	uint32_t bytes;

	if (class->out.element_type != HPROF_OBJECT)
		return 0;
	if (class->out.flags & STORE_CLASS_FILLER)
		return SIZES_FILLER_BYTES;
	if (class->flat_element_no == STORE_NONE)
		return 0;
	bytes = import_sizes_flat_element(s, model, class->flat_element_no);
	return bytes <= SIZES_ELEMENT_MAX ? (uint8_t)bytes : SIZES_ELEMENT_MAX;
}

/* Copies the chosen layout. The classes have already been laid out with this layout. */
static void apply_choice(struct import *im, struct layout *l, const struct sizes *s)
{
	const struct layout_model *model = &l->choice->model;
	const bool dense = l->choice->has_addresses && is_dense(im, model);

	l->model = *model;
	l->header_bytes = model->header_bytes;
	l->reference_bytes = model->reference_bytes;
	l->align_bytes = model->align_bytes;
	l->array_header_bytes = layout_array_base(model, HPROF_OBJECT);
	l->primitive_header_bytes = layout_array_base(model, HPROF_INT);
	l->wide_header_bytes = layout_array_base(model, HPROF_LONG);
	for (uint32_t no = 0; no < im->classes.count; no++) {
		struct import_class *class = import_class_at(im, no);

		class->out.element_bytes = element_bytes(s, model, class);
		size_vm_class(class, l, dense, im->opt->layout != NULL);
	}
	(void)snprintf(l->evidence, sizeof(l->evidence), "reference width %u: %s; header %u: %s",
		       l->reference_bytes, l->choice->evidence[SIZES_REFERENCE], l->header_bytes,
		       l->choice->evidence[SIZES_HEADER]);
}

static int size_vm(struct import *im, struct layout *l, const struct sizes_fixed *fixed,
		   struct hdb_error *err)
{
	BASE_SCOPED(import_sizes_release) struct sizes s = { 0 };

	TRY(import_sizes_open(im, &s, err));
	TRY(import_sizes_choose(&s, fixed, l->choice, err));
	apply_choice(im, l, &s);
	return HDB_OK;
}

/* Computes sizes by all models except the VM's. */
static int size_by_rule(struct import *im, struct layout *l, const struct sizes_fixed *fixed,
			struct hdb_error *err)
{
	if (im->opt->sizes == HDB_SIZES_DUMP)
		as_recorded(im, l);
	else if (im->opt->sizes == HDB_SIZES_AHAT)
		as_ahat(im, l);
	else if (im->opt->sizes == HDB_SIZES_MAT)
		as_mat(im, l);
	else if (im->origin.phd.version)
		as_phd(im, l);
	else
		TRY(as_art(im, l, err));
	if (im->opt->layout)
		override_layout(l, fixed);
	TRY(model_classes(im, l, err));
	for (uint32_t no = 0; no < im->classes.count; no++)
		TRY(size_class(im, l, import_class_at(im, no), err));
	return HDB_OK;
}

/* ---- writing ---- */

static int put_evidence(struct import *im, const struct layout *l, struct hdb_error *err)
{
	static const char *const names[SIZES_PARAMETERS] = {
		[SIZES_RULES] = "sizes.evidence.rules",
		[SIZES_HEADER] = "sizes.evidence.header",
		[SIZES_REFERENCE] = "sizes.evidence.reference",
		[SIZES_ALIGN] = "sizes.evidence.align",
	};

	TRY(store_put_meta_text(im->writer, "sizes.evidence", l->evidence, err));
	for (unsigned i = 0; l->choice && i < SIZES_PARAMETERS; i++) {
		TRY(store_put_meta_text(im->writer, names[i], l->choice->evidence[i], err));
	}
	return HDB_OK;
}

static int put_layout(struct import *im, const struct layout *l, struct hdb_error *err)
{
	const struct import_number numbers[] = {
		{ "sizes.model", im->opt->sizes },
		{ "sizes.header_bytes", l->header_bytes },
		{ "sizes.reference_bytes", l->reference_bytes },
		{ "sizes.align_bytes", l->align_bytes },
		{ "sizes.array_header_bytes", l->array_header_bytes },
		{ "sizes.primitive_header_bytes", l->primitive_header_bytes },
		{ "sizes.wide_header_bytes", l->wide_header_bytes },
		{ "sizes.is_recorded", l->is_recorded },
		{ "sizes.is_laid_out", l->choice || (l->is_recorded && im->origin.is_android) },
		{ "sizes.rules", l->model.rules },
		{ "sizes.fields_at", l->model.header_bytes },
		{ "sizes.java", l->model.java },
		{ "sizes.word_bytes", l->model.word_bytes },
		{ "sizes.contended_bytes", l->model.contended_bytes },
		{ "sizes.keeps_super_gaps", l->model.keeps_super_gaps },
		{ "sizes.keeps_long_gap", l->model.keeps_long_gap },
		{ "sizes.references_first", l->model.references_first },
		{ "sizes.widens_fields", l->model.widens_fields },
		{ "sizes.joins_references", l->model.joins_references },
		{ "sizes.packs_arrays", l->model.packs_arrays },
		{ "sizes.reverses_fields", l->model.reverses_fields },
		{ "sizes.has_addresses", l->choice && l->choice->has_addresses },
		{ "sizes.mat_reference_bytes", im->evidence.array_overlap ? 4 : im->file.id_size },
		{ "sizes.mat_align_bytes", im->evidence.mat_align_bytes },
	};

	TRY(import_put_numbers(im, numbers, BASE_COUNT(numbers), err));
	return put_evidence(im, l, err);
}

int import_fixed_alignment(const struct import *im, unsigned *align_bytes, struct hdb_error *err)
{
	struct sizes_fixed fixed;
	const int r = parse_layout(im->opt->layout, &fixed, err);

	*align_bytes = fixed.align_bytes;
	return r;
}

/* Computes the sizes of all classes. The layout borrows `choice`. */
static int find_sizes(struct import *im, struct sizes_choice *choice, struct hdb_error *err)
{
	struct layout l = { .model = { .align_bytes = 1 } };
	struct sizes_fixed fixed;

	TRY(parse_layout(im->opt->layout, &fixed, err));
	if (im->opt->sizes == HDB_SIZES_VM && !im->origin.is_android && !im->origin.phd.version) {
		l.choice = choice;
		TRY(size_vm(im, &l, &fixed, err));
	} else {
		TRY(size_by_rule(im, &l, &fixed, err));
	}
	assert(l.align_bytes);
	im->evidence.align_bytes = l.align_bytes;
	return put_layout(im, &l, err);
}

int import_sizes(struct import *im, struct hdb_error *err)
{
	BASE_FREED struct sizes_choice *choice = NULL;

	base_stage(im->work, "computing sizes", im->classes.count, "classes");
	TRY(BASE_ALLOC(choice, 1, "a layout", err));
	TRY(find_sizes(im, choice, err));
	import_locator_release(&im->locator);
	return HDB_OK;
}
