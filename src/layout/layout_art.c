/*
 * layout/layout_art.c - the field layout of Android's runtime.
 *
 * Fields begin directly after the last field of the superclass, without rounding: references, then
 * primitives from largest to smallest. Bytes skipped for alignment are split into aligned gaps of
 * 4, 2 and 1 bytes; later fields take the largest gap first. Gaps of superclasses are not used.
 */
#include "layout/layout.h"

#include <assert.h>

/* Basic types in ART's order: reference, long, double, int, float, char, short, boolean, byte. */
static const uint8_t type_order[] = { LAYOUT_REFERENCE, 11, 7, 10, 6, 5, 9, 4, 8 };

/* Splits the bytes skipped at `from` into gaps of 4, 2 or 1 bytes, each aligned to its size. */
static void cut_gap(struct layout_shape *out, uint64_t from, uint64_t to)
{
	assert(from <= to);
	while (from < to) {
		uint64_t size = 4;

		while (size > 1 && (to - from < size || from % size))
			size /= 2;
		layout_gap_append(out, from, size);
		from += size;
	}
}

/*
 * Returns the largest gap, or LAYOUT_GAPS_MAX if there are no gaps. Of gaps with the same size,
 * returns the lowest.
 */
static unsigned largest_gap(const struct layout_shape *out)
{
	unsigned best = LAYOUT_GAPS_MAX;

	for (unsigned i = 0; i < out->gap_count; i++)
		if (best == LAYOUT_GAPS_MAX || out->gaps[i].size > out->gaps[best].size ||
		    (out->gaps[i].size == out->gaps[best].size &&
		     out->gaps[i].offset < out->gaps[best].offset))
			best = i;
	return best;
}

static void place(struct layout_shape *out, struct layout_field *field, uint64_t size)
{
	unsigned gap;

	if (out->end % size) {
		const uint64_t old = out->end;

		out->end = layout_round(old, size);
		cut_gap(out, old, out->end);
	}
	gap = largest_gap(out);
	if (field->type != LAYOUT_REFERENCE && gap < LAYOUT_GAPS_MAX &&
	    out->gaps[gap].size >= size) {
		const struct layout_gap taken = out->gaps[gap];

		field->offset = taken.offset;
		layout_gap_take(out, gap, taken.offset, taken.size);
		cut_gap(out, taken.offset + size, taken.offset + taken.size);
	} else {
		field->offset = out->end;
		out->end += size;
	}
}

void layout_art(const struct layout_model *model, struct layout_field *fields, size_t count,
		struct layout_shape *out)
{
	out->gap_count = 0;
	for (size_t t = 0; t < sizeof(type_order); t++)
		for (size_t i = 0; i < count; i++)
			if (fields[i].type == type_order[t])
				place(out, &fields[i], layout_type_size(model, fields[i].type));
	for (size_t i = 0; i < count; i++)
		if (!layout_type_size(model, fields[i].type))
			fields[i].offset = out->end;
	out->size = out->end;
}
