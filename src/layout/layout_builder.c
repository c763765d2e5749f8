/*
 * layout/layout_builder.c - the field layout of HotSpot since JDK 15.
 *
 * Primitive fields come first, from largest to smallest, each in the smallest gap that it fits (the
 * last one of that size) or at the end. References follow in the same way, or come first if the
 * superclass ends with one (JDK 25). Gaps of superclasses are used unless a superclass is
 * @Contended or -UseEmptySlotsInSupers is set. @Contended fields and classes are appended, with
 * padding before each group and after the last. A value flattened into a field counts as a
 * primitive of its size (JEP 401).
 */
#include "layout/layout.h"

#include <assert.h>

/*
 * Maximum number of distinct field sizes to place in order, with one pass per size: four for
 * primitives, the others for flat values.
 */
#define SIZES_MAX 64

struct builder {
	const struct layout_model *model;
	struct layout_shape *out;
	bool appends; /* whether fields may not be placed in gaps */
};

static unsigned find_gap(const struct layout_shape *shape, uint64_t size, uint64_t align)
{
	unsigned best = LAYOUT_GAPS_MAX;

	for (unsigned i = shape->gap_count; i-- > 0;) {
		const struct layout_gap *gap = &shape->gaps[i];
		const uint64_t skip = layout_round(gap->offset, align) - gap->offset;

		if (gap->size >= size + skip &&
		    (best == LAYOUT_GAPS_MAX || gap->size < shape->gaps[best].size))
			best = i;
	}
	return best;
}

static bool is_reference(const struct layout_field *field)
{
	return field->type == LAYOUT_REFERENCE && !field->flat_bytes;
}

static void place(struct builder *b, struct layout_field *field)
{
	struct layout_shape *out = b->out;
	const uint64_t size = layout_field_size(b->model, field);
	const uint64_t align = layout_field_align(b->model, field);
	const unsigned gap = b->appends || !size ? LAYOUT_GAPS_MAX : find_gap(out, size, align);

	if (!size) {
		field->offset = out->end;
	} else if (gap < LAYOUT_GAPS_MAX) {
		field->offset = layout_round(out->gaps[gap].offset, align);
		layout_gap_take(out, gap, field->offset, size);
	} else {
		field->offset = layout_round(out->end, align);
		out->ends_with_reference = is_reference(field);
		if (field->offset != out->end)
			layout_gap_append(out, out->end, field->offset - out->end);
		out->end = field->offset + size;
	}
}

/* The group of fields being placed. In group ALONE, only the field with index `only` is placed. */
struct group {
	struct layout_field *fields;
	size_t count, only;
	unsigned group;
};

static bool in_group(const struct group *g, size_t i)
{
	assert(i < g->count);
	return g->fields[i].group == g->group && (g->group != LAYOUT_GROUP_ALONE || i == g->only);
}

/* Places the fields of this size, except references. Returns the next smaller size, or 0. */
static uint64_t place_size(struct builder *b, const struct group *g, uint64_t size)
{
	uint64_t next = 0;

	assert(size > 0);
	for (size_t i = 0; i < g->count; i++) {
		struct layout_field *field = &g->fields[i];
		const uint64_t bytes = layout_field_size(b->model, field);

		if (!in_group(g, i) || is_reference(field))
			continue;
		if (bytes == size)
			place(b, field);
		else if (bytes < size && bytes > next)
			next = bytes;
	}
	return next;
}

static void place_primitives(struct builder *b, const struct group *g)
{
	uint64_t size = place_size(b, g, UINT64_MAX);

	for (unsigned sizes = 0; size && sizes < SIZES_MAX; sizes++)
		size = place_size(b, g, size);
	/* No real class has this many sizes. Place the remaining fields in declaration order. */
	for (size_t i = 0; size && i < g->count; i++)
		if (in_group(g, i) && !is_reference(&g->fields[i]) &&
		    layout_field_size(b->model, &g->fields[i]) <= size)
			place(b, &g->fields[i]);
}

static void place_references(struct builder *b, const struct group *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (in_group(g, i) &&
		    (is_reference(&g->fields[i]) || !layout_field_size(b->model, &g->fields[i])))
			place(b, &g->fields[i]);
}

/*
 * Places the groups of @Contended fields, in the order of their first fields. Returns whether there
 * are any.
 */
static bool place_contended(struct builder *b, struct layout_field *fields, size_t count)
{
	bool named_done = false, any = false;

	b->appends = true;
	for (size_t i = 0; i < count; i++) {
		const uint8_t group = fields[i].group;

		if (group == LAYOUT_GROUP_NONE || (group == LAYOUT_GROUP_NAMED && named_done))
			continue;
		const struct group g = { fields, count, i, group };

		b->out->end += b->model->contended_bytes;
		place_primitives(b, &g);
		place_references(b, &g);
		named_done = named_done || group == LAYOUT_GROUP_NAMED;
		any = true;
	}
	return any;
}

void layout_builder(const struct layout_model *model, struct layout_field *fields, size_t count,
		    const struct layout_traits *traits, struct layout_shape *out)
{
	const struct group plain = { fields, count, 0, LAYOUT_GROUP_NONE };
	struct builder b = { .model = model, .out = out };
	bool padded = traits->is_contended;

	b.appends = out->has_fields && (model->keeps_super_gaps || out->is_contended);
	if (model->keeps_super_gaps && out->end % model->reference_bytes) {
		/*
		 * This option restores the rules before JDK 15, under which superclasses end at a
		 * multiple of the reference size.
		 */
		const uint64_t end = layout_round(out->end, model->reference_bytes);

		layout_gap_append(out, out->end, end - out->end);
		out->end = end;
	}
	if (out->is_contended) {
		/*
		 * Fields of a subclass must not share a cache line with fields of the superclass.
		 */
		out->end += model->contended_bytes;
		out->gap_count = 0;
	}
	if (traits->is_contended) {
		out->end += model->contended_bytes;
		b.appends = true;
	}
	if (model->joins_references && out->ends_with_reference) {
		place_references(&b, &plain);
		place_primitives(&b, &plain);
	} else {
		place_primitives(&b, &plain);
		place_references(&b, &plain);
	}
	padded = place_contended(&b, fields, count) || padded;
	out->is_contended = out->is_contended || padded;
	/*
	 * out->end excludes the padding after the fields, because fields of a subclass start
	 * directly after the last one and have their own padding at the end.
	 */
	out->size =
		layout_round(out->end + (padded ? model->contended_bytes : 0), model->word_bytes);
}
