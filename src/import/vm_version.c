/*
 * import/vm_version.c - which VM wrote the dump: the version text in a static field of the class
 * library.
 */
#include "import/sizes.h"

#include "base/bytes.h"
#include "layout/layout_known.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes of the version text that are looked at; "1.8.0_05-internal" is a long one. */
#define VERSION_MAX 32

bool sizes_read_object(struct import *im, struct base_view *view, uint64_t id,
		       struct hprof_sub *out)
{
	const uint32_t ix = id ? idset_find(&im->ids, id) : IDSET_NONE;
	uint64_t offset = 0;
	const struct places_wanted wanted = {
		.view = view,
		.ids = &id,
		.count = 1,
		.offsets = &offset,
	};

	return ix != IDSET_NONE && places_block(&im->places, ix, &wanted, NULL) == HDB_OK &&
	       offset && hprof_sub_read(&im->file, view, offset, out, NULL) == HDB_OK;
}

/* ID in the field "value" of a string. */
static uint64_t value_of(struct import *im, struct base_view *view, const struct hprof_sub *string)
{
	const uint32_t no = base_idmap_get(&im->class_map, string->class_id);
	BASE_VIEW(fields, im->source);
	const struct import_class *class;
	uint64_t offset, at = 0;

	if (string->tag != HPROF_INSTANCE_DUMP || no == BASE_IDMAP_NONE)
		return 0;
	class = import_class_at(im, no);
	offset = class->fields_offset;
	for (uint32_t f = 0; f < class->out.field_count; f++) {
		struct hprof_field field;
		const uint8_t *body;

		if (hprof_field_next(&im->file, &fields, &offset, &field, NULL) < 0)
			return 0;
		if (field.type != HPROF_OBJECT ||
		    !import_text_is(im, field.name_string_id, "value")) {
			at += hprof_type_size(field.type, im->file.id_size);
			continue;
		}
		if (at + im->file.id_size > string->body_size)
			return 0;
		body = base_view_at(view, string->body_offset + at, im->file.id_size, NULL);
		return body ? be_id(body, im->file.id_size) : 0;
	}
	return 0;
}

/* Copies the text of a string object; characters that are not ASCII end it. */
static void read_string(struct import *im, uint64_t id, char out[VERSION_MAX])
{
	BASE_VIEW(view, im->source);
	struct hprof_sub sub;
	unsigned width, n;
	const uint8_t *p;

	out[0] = '\0';
	if (!sizes_read_object(im, &view, id, &sub) ||
	    !sizes_read_object(im, &view, value_of(im, &view, &sub), &sub) ||
	    sub.tag != HPROF_PRIMITIVE_ARRAY_DUMP)
		return;
	width = sub.element_type == HPROF_CHAR ? 2 : 1;
	n = sub.length < VERSION_MAX - 1 ? sub.length : VERSION_MAX - 1;
	p = base_view_at(&view, sub.body_offset, (uint64_t)n * width, NULL);
	if (!p)
		return;
	for (unsigned i = 0; i < n; i++) {
		const unsigned c = width == 2 ? be16(p + 2 * (size_t)i) : p[i];

		out[i] = c >= ' ' && c < 127 ? (char)c : '\0';
		out[i + 1] = '\0';
	}
}

/* "17.0.9" is 17, "1.8.0_05" is 8; 0 if it is no version. */
static unsigned feature_of(const char *text)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (v == 1 && *end == '.')
		v = strtoul(end + 1, &end, 10);
	return end != text && v >= 2 && v < 200 ? (unsigned)v : 0;
}

static uint64_t version_field(struct import *im, const struct import_class *class)
{
	BASE_VIEW(view, im->source);
	uint64_t offset = class->statics_offset;

	for (uint32_t f = 0; f < class->out.static_count; f++) {
		struct hprof_static field;

		if (hprof_static_next(&im->file, &view, &offset, &field, NULL) < 0)
			return 0;
		if (field.type == HPROF_OBJECT &&
		    import_text_is(im, field.name_string_id, "java_version"))
			return field.value;
	}
	return 0;
}

unsigned sizes_vm_version(struct import *im, char evidence[SIZES_EVIDENCE_MAX])
{
	char text[VERSION_MAX];

	/* A text that is a hash may begin with a digit, too. */
	if (im->origin.redaction == HPROF_IS_HASHED)
		return 0;
	for (uint32_t no = 0; no < im->classes.count; no++) {
		const struct import_class *class = import_class_at(im, no);
		unsigned java;

		if (!layout_known_has_version(class->known))
			continue;
		read_string(im, version_field(im, class), text);
		java = feature_of(text);
		if (!java)
			continue;
		(void)snprintf(evidence, SIZES_EVIDENCE_MAX,
			       "the class library says it is version %s", text);
		return java;
	}
	return 0;
}
