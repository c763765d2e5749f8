/*
 * layout/layout_builder.c - HotSpot since JDK 15.
 *
 * Primitive fields go first, largest first, each into the smallest gap that holds it (of equal gaps the
 * last one), or to the end; then references the same way, or first of all (JDK 25) if the super class ends
 * with one. Gaps of super classes count, unless a super class is @Contended or the switch is off.
 * @Contended fields and classes are appended, with padding before each group and behind the last.
 */
#include "layout/layout.h"

struct builder {
	const struct layout_model *model;
	struct layout_shape *out;
	bool appends; /* no gap may be used */
};

static unsigned find_gap(const struct layout_shape *shape, uint64_t size)
{
	unsigned best = LAYOUT_GAPS_MAX;

	for (unsigned i = shape->gap_count; i-- > 0;) {
		const struct layout_gap *gap = &shape->gaps[i];
		const uint64_t skip = layout_round(gap->offset, size) - gap->offset;

		if (gap->size >= size + skip &&
		    (best == LAYOUT_GAPS_MAX || gap->size < shape->gaps[best].size))
			best = i;
	}
	return best;
}

static void place(struct builder *b, struct layout_field *field)
{
	struct layout_shape *out = b->out;
	const uint64_t size = layout_type_size(b->model, field->type);
	const unsigned gap = b->appends || !size ? LAYOUT_GAPS_MAX : find_gap(out, size);

	if (!size) {
		field->offset = out->end;
	} else if (gap < LAYOUT_GAPS_MAX) {
		field->offset = layout_round(out->gaps[gap].offset, size);
		layout_gap_take(out, gap, field->offset, size);
	} else {
		field->offset = layout_round(out->end, size);
		out->ends_with_reference = field->type == LAYOUT_REFERENCE;
		if (field->offset != out->end)
			layout_gap_append(out, out->end, field->offset - out->end);
		out->end = field->offset + size;
	}
}

/* Fields to place: those of one group; group ALONE means the field `only`. */
struct group {
	struct layout_field *fields;
	size_t count, only;
	unsigned group;
};

static bool in_group(const struct group *g, size_t i)
{
	return g->fields[i].group == g->group && (g->group != LAYOUT_GROUP_ALONE || i == g->only);
}

static void place_primitives(struct builder *b, const struct group *g)
{
	for (unsigned size = 8; size; size /= 2)
		for (size_t i = 0; i < g->count; i++)
			if (in_group(g, i) && g->fields[i].type != LAYOUT_REFERENCE &&
			    layout_type_size(b->model, g->fields[i].type) == size)
				place(b, &g->fields[i]);
}

static void place_references(struct builder *b, const struct group *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (in_group(g, i) && (g->fields[i].type == LAYOUT_REFERENCE ||
				       !layout_type_size(b->model, g->fields[i].type)))
			place(b, &g->fields[i]);
}

/* The groups of @Contended fields, in the order in which the first field of each comes; whether there are any. */
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
		/* The switch emulates the rules before JDK 15, super classes that end at a reference's width. */
		const uint64_t end = layout_round(out->end, model->reference_bytes);

		layout_gap_append(out, out->end, end - out->end);
		out->end = end;
	}
	if (out->is_contended) {
		/* Fields of a sub class must not share a cache line with the super class's. */
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
	/* The padding behind is no field: a sub class starts behind the last one, and pads again. */
	out->size = layout_round(out->end + (padded ? model->contended_bytes : 0),
				 model->word_bytes);
}
