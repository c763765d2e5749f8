/*
 * layout/layout.c - rules common to all VMs: sizes of types, arrays and class objects, and the list
 * of gaps.
 */
#include "layout/layout.h"

#include <assert.h>
#include <string.h>

/* Sizes of HPROF's basic types 4 to 11: boolean, char, float, double, byte, short, int, long. */
static const uint8_t widths[12] = {
	[4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8
};

unsigned layout_type_size(const struct layout_model *model, uint8_t type)
{
	assert(model->reference_bytes == 4 || model->reference_bytes == 8);
	if (type == LAYOUT_REFERENCE)
		return model->reference_bytes;
	if (type >= sizeof(widths))
		return 0;
	return model->widens_fields && widths[type] && widths[type] < 4 ? 4 : widths[type];
}

uint64_t layout_field_size(const struct layout_model *model, const struct layout_field *field)
{
	return field->flat_bytes ? field->flat_bytes : layout_type_size(model, field->type);
}

uint64_t layout_field_align(const struct layout_model *model, const struct layout_field *field)
{
	return field->flat_bytes ? field->flat_align : layout_type_size(model, field->type);
}

static void start(const struct layout_model *model, const struct layout_shape *super,
		  struct layout_shape *out)
{
	assert(!super || super->gap_count <= LAYOUT_GAPS_MAX);
	if (super) {
		*out = *super;
		return;
	}
	memset(out, 0, offsetof(struct layout_shape, gaps));
	out->end = model->header_bytes;
}

void layout_class(const struct layout_model *model, const struct layout_shape *super,
		  struct layout_fields fields, const struct layout_traits *traits,
		  struct layout_shape *out)
{
	assert(fields.field || !fields.count);
	assert(model->word_bytes == 4 || model->word_bytes == 8);
	start(model, super, out);
	switch (model->rules) {
	case LAYOUT_BUILDER:
		layout_builder(model, fields.field, fields.count, traits, out);
		break;
	case LAYOUT_CLASSIC:
		layout_classic(model, fields.field, fields.count, traits, out);
		break;
	default:
		layout_art(model, fields.field, fields.count, out);
		break;
	}
	out->has_fields = out->has_fields || fields.count != 0;
}

/* ---- gaps ---- */

void layout_gap_append(struct layout_shape *shape, uint64_t offset, uint64_t size)
{
	assert(shape->gap_count <= LAYOUT_GAPS_MAX);
	if (shape->gap_count == LAYOUT_GAPS_MAX) {
		shape->gap_count--;
		memmove(shape->gaps, shape->gaps + 1, shape->gap_count * sizeof(shape->gaps[0]));
	}
	shape->gaps[shape->gap_count++] = (struct layout_gap){ .offset = offset, .size = size };
}

void layout_gap_take(struct layout_shape *shape, unsigned i, uint64_t offset, uint64_t size)
{
	struct layout_gap *gap = &shape->gaps[i];
	const struct layout_gap behind = {
		.offset = offset + size,
		.size = gap->offset + gap->size - offset - size,
	};
	const size_t rest = shape->gap_count - i - 1;

	assert(i < shape->gap_count);
	assert(offset >= gap->offset);
	assert(size <= gap->size - (offset - gap->offset));
	gap->size = offset - gap->offset;
	if (gap->size && behind.size) {
		if (shape->gap_count == LAYOUT_GAPS_MAX)
			return;
		memmove(gap + 2, gap + 1, rest * sizeof(*gap));
		gap[1] = behind;
		shape->gap_count++;
	} else if (behind.size) {
		*gap = behind;
	} else if (!gap->size) {
		memmove(gap, gap + 1, rest * sizeof(*gap));
		shape->gap_count--;
	}
}

/* ---- class objects, arrays, stack chunks ---- */

/*
 * Computes the size of a class object. Static fields follow the instance fields of java.lang.Class,
 * from a multiple of the alignment: references, then longs, then smaller fields. No VM fills the
 * gap before the longs, because the builder searches only gaps after it.
 */
uint64_t layout_mirror(const struct layout_model *model, uint64_t mirror_bytes,
		       const struct layout_statics *statics)
{
	uint64_t at = mirror_bytes + (uint64_t)statics->references * model->reference_bytes;

	if (model->java && model->java < 7)
		return mirror_bytes;
	if (statics->bytes_8)
		at = layout_round(at, 8) + 8 * (uint64_t)statics->bytes_8;
	at += 4 * (uint64_t)statics->bytes_4 + 2 * (uint64_t)statics->bytes_2 + statics->bytes_1;
	return layout_round(layout_round(at, model->word_bytes), model->align_bytes);
}

unsigned layout_array_base(const struct layout_model *model, uint8_t element_type)
{
	const unsigned length_end = model->header_bytes + 4;
	const bool is_wide = layout_type_size(model, element_type) == 8;

	if (model->rules == LAYOUT_ART)
		return is_wide ? 16 : 12;
	if (is_wide)
		return (unsigned)layout_round(length_end, 8);
	return model->packs_arrays ? length_end :
				     (unsigned)layout_round(length_end, model->word_bytes);
}

uint32_t layout_array_period(uint32_t modulus, uint32_t width)
{
	uint32_t a = modulus, b = width;

	assert(modulus > 0);
	while (b) {
		const uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a ? modulus / a : 1;
}

uint32_t layout_stack_chunk_period(uint32_t modulus)
{
	assert(modulus > 0);
	/*
	 * The bitmap for 64 words of stack is a whole number of words with either reference size,
	 * and a multiple of 8 bytes.
	 */
	return 64 * layout_array_period(modulus, 8);
}

uint64_t layout_stack_chunk(unsigned reference_bytes, uint64_t stack_words)
{
	const uint64_t bits = stack_words * (reference_bytes == 4 ? 2 : 1);

	return 8 * (stack_words + (bits + 63) / 64);
}
