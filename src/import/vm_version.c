/*
 * import/vm_version.c - finds the version of the VM in a static field of the class library.
 */
#include "import/sizes.h"

#include "base/bytes.h"
#include "layout/layout_known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of bytes of the version string that are read. "1.8.0_05-internal" is a long
 * version.
 */
#define VERSION_MAX 32

bool import_sizes_read_object(struct import *im, struct base_view *view, uint64_t id,
			      struct hprof_sub *out)
{
	const uint32_t ix = id ? import_idset_find(&im->ids, id) : IDSET_NONE;
	uint64_t offset = 0;
	const struct import_wanted wanted = {
		.view = view,
		.ids = &id,
		.count = 1,
		.offsets = &offset,
	};

	return ix != IDSET_NONE &&
	       import_locator_block(&im->locator, ix, &wanted, NULL) == HDB_OK && offset &&
	       hprof_sub_read(&im->file, view, offset, out, NULL) == HDB_OK;
}

/*
 * Returns the bytes of the field with this name and type that the string's own class declares.
 * Returns NULL if there is no such field.
 */
static const uint8_t *field_of(struct import *im, struct base_view *view,
			       const struct hprof_sub *string, const char *name, uint8_t type)
{
	const uint32_t no = base_idmap_get(&im->class_map, string->class_id);
	BASE_VIEW(fields, im->source);
	const struct import_class *class;
	uint64_t offset, at = 0;

	if (string->tag != HPROF_INSTANCE_DUMP || no == BASE_IDMAP_NONE)
		return NULL;
	class = import_class_at(im, no);
	offset = class->fields_offset;
	for (uint32_t f = 0; f < class->out.field_count; f++) {
		struct hprof_field field;
		unsigned bytes;

		if (hprof_field_next(&im->file, &fields, &offset, &field, NULL) < 0)
			return NULL;
		bytes = hprof_type_size(field.type, im->file.id_size);
		if (field.type == type && import_text_is(im, field.name_string_id, name))
			return at + bytes <= string->body_size ?
				       base_view_at(view, string->body_offset + at, bytes, NULL) :
				       NULL;
		at += bytes;
	}
	return NULL;
}

/*
 * Returns code unit `i` of a string. Chars are big-endian in a dump. Bytes of UTF-16 are in the
 * VM's byte order, which can be recognised by the position of the zero byte of an ASCII character.
 */
static unsigned unit_at(const uint8_t *p, unsigned i, unsigned width)
{
	const unsigned c = width == 2 ? be16(p + 2 * (size_t)i) : p[i];

	return c & 0xff ? c : c >> 8;
}

/*
 * Copies the text of a string object. The text is in a char[], in a byte[] of Latin-1, or, if the
 * coder is 1, in a byte[] of UTF-16 (-XX:-CompactStrings). The result is empty if a character is
 * not printable ASCII.
 */
static void read_string(struct import *im, uint64_t id, char out[VERSION_MAX])
{
	BASE_VIEW(view, im->source);
	struct hprof_sub sub;
	unsigned width = 1, n;
	const uint8_t *p;

	out[0] = '\0';
	if (!import_sizes_read_object(im, &view, id, &sub))
		return;
	p = field_of(im, &view, &sub, "coder", HPROF_BYTE);
	width += p && *p == 1;
	p = field_of(im, &view, &sub, "value", HPROF_OBJECT);
	if (!p || !import_sizes_read_object(im, &view, be_id(p, im->file.id_size), &sub) ||
	    sub.tag != HPROF_PRIMITIVE_ARRAY_DUMP)
		return;
	if (sub.element_type == HPROF_CHAR)
		width = 2;
	n = (unsigned)(sub.body_size / width < VERSION_MAX - 1 ? sub.body_size / width :
								 VERSION_MAX - 1);
	p = base_view_at(&view, sub.body_offset, (uint64_t)n * width, NULL);
	for (unsigned i = 0; p && i < n; i++) {
		const unsigned c = unit_at(p, i, width);

		if (c < ' ' || c > '~') {
			out[0] = '\0';
			return;
		}
		out[i] = (char)c;
		out[i + 1] = '\0';
	}
}

/*
 * Parses a version: "17.0.9" gives 17, "1.8.0_05" gives 8, "25-ea" gives 25. Returns 0 if the
 * string is not a version.
 */
static unsigned feature_of(const char *text)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (v == 1 && *end == '.')
		v = strtoul(end + 1, &end, 10);
	return end != text && strchr(".-+_", *end) && v >= 2 && v < 200 ? (unsigned)v : 0;
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

unsigned import_sizes_vm_version(struct import *im, char evidence[SIZES_EVIDENCE_MAX])
{
	char text[VERSION_MAX];

	/* The hash of a version string may happen to begin with a digit. */
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
		(void)snprintf(evidence, SIZES_EVIDENCE_MAX, "the class library is version %s",
			       text);
		return java;
	}
	return 0;
}
