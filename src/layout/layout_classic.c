/*
 * layout/layout_classic.c - the field layout of HotSpot before JDK 15.
 *
 * The fields of a class begin at the end of its superclass's fields, rounded up to the reference
 * size, in the order longs, ints, shorts, bytes, references. Only the gap before the longs is
 * filled, once. @Contended (JDK 8) follows ClassFileParser::layout_fields.
 */
#include "layout/layout.h"

/* Kinds of fields in the order of placement. References may come first instead. */
enum { LONGS, INTS, SHORTS, BYTES, REFERENCES, KINDS };

struct classic {
	const struct layout_model *model;
	uint64_t next[KINDS];
	/* offset of the gap for the first gap_left fields of this kind */
	uint64_t gap[KINDS];
	unsigned gap_left[KINDS];
	uint64_t count[KINDS]; /* number of fields that are not @Contended */
	uint64_t end;
};

static const unsigned kind_size[] = { 8, 4, 2, 1 };

static int kind_of(const struct layout_model *model, uint8_t type)
{
	if (type == LAYOUT_REFERENCE)
		return REFERENCES;
	for (int kind = LONGS; kind < REFERENCES; kind++)
		if (layout_type_size(model, type) == kind_size[kind])
			return kind;
	return KINDS;
}

/*
 * Fills the 4-byte gap before the longs with an int, with shorts and bytes, or with a 4-byte
 * reference.
 */
static void fill_gap(struct classic *c, uint64_t at, uint64_t length, bool references_first)
{
	for (int kind = INTS; kind < REFERENCES; kind++) {
		c->gap[kind] = at;
		while (length >= kind_size[kind] && c->count[kind]) {
			c->count[kind]--;
			c->gap_left[kind]++;
			length -= kind_size[kind];
			at += kind_size[kind];
		}
	}
	c->gap[REFERENCES] = at;
	if (length >= c->model->reference_bytes && c->count[REFERENCES] && !references_first) {
		c->count[REFERENCES]--;
		c->gap_left[REFERENCES] = 1;
	}
}

/* Computes where each kind of field begins. */
static void plan(struct classic *c, uint64_t start, bool references_first, bool fills)
{
	const unsigned ref = c->model->reference_bytes;
	uint64_t at = start;

	if (references_first) {
		c->next[REFERENCES] = at;
		at += c->count[REFERENCES] * ref;
	}
	if (c->count[LONGS]) {
		const uint64_t aligned = layout_round(at, 8);

		if (fills && aligned != at)
			fill_gap(c, at, aligned - at, references_first);
		at = aligned;
	}
	for (int kind = LONGS; kind < REFERENCES; kind++) {
		c->next[kind] = at;
		at += c->count[kind] * kind_size[kind];
	}
	if (!references_first) {
		if (c->count[REFERENCES])
			at = layout_round(at, ref);
		c->next[REFERENCES] = at;
		at += c->count[REFERENCES] * ref;
	}
	c->end = at;
}

static void place(struct classic *c, struct layout_field *field)
{
	const int kind = kind_of(c->model, field->type);
	const unsigned size = layout_type_size(c->model, field->type);
	uint64_t *at;

	if (kind == KINDS) {
		field->offset = c->end;
		return;
	}
	at = c->gap_left[kind] ? &c->gap[kind] : &c->next[kind];
	c->gap_left[kind] -= c->gap_left[kind] != 0;
	field->offset = *at;
	*at += size;
}

/*
 * Places @Contended fields after all others: first fields without a group, each with its own
 * padding, then the named group.
 */
static void place_contended(struct classic *c, struct layout_field *fields, size_t count)
{
	bool any[LAYOUT_GROUP_NAMED + 1] = { false };

	for (size_t i = 0; i < count; i++)
		any[fields[i].group] = true;
	if (!any[LAYOUT_GROUP_ALONE] && !any[LAYOUT_GROUP_NAMED])
		return;
	c->end += c->model->contended_bytes;
	for (int group = LAYOUT_GROUP_ALONE; group <= LAYOUT_GROUP_NAMED; group++) {
		for (size_t i = 0; i < count; i++) {
			const unsigned size = layout_type_size(c->model, fields[i].type);

			if (fields[i].group != group)
				continue;
			fields[i].offset = size ? layout_round(c->end, size) : c->end;
			c->end = fields[i].offset + size;
			if (group == LAYOUT_GROUP_ALONE)
				c->end += c->model->contended_bytes;
		}
		if (group == LAYOUT_GROUP_NAMED && any[group])
			c->end += c->model->contended_bytes;
	}
}

void layout_classic(const struct layout_model *model, struct layout_field *fields, size_t count,
		    const struct layout_traits *traits, struct layout_shape *out)
{
	struct classic c = { .model = model };
	const bool references_first = model->references_first || traits->references_first;
	const bool fills = !model->keeps_long_gap && !traits->references_first;

	for (size_t i = 0; i < count; i++) {
		const int kind = kind_of(model, fields[i].type);

		if (kind < KINDS && fields[i].group == LAYOUT_GROUP_NONE)
			c.count[kind]++;
	}
	plan(&c, out->end + (traits->is_contended ? model->contended_bytes : 0), references_first,
	     fills);
	for (size_t i = 0; i < count; i++)
		if (fields[i].group == LAYOUT_GROUP_NONE)
			place(&c, &fields[i]);
	place_contended(&c, fields, count);
	if (traits->is_contended)
		c.end += model->contended_bytes;
	out->is_contended = out->is_contended || traits->is_contended;
	out->end = layout_round(c.end, model->reference_bytes);
	out->size = layout_round(c.end, model->word_bytes);
}
