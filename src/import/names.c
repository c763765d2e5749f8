/*
 * import/names.c - finds strings of the dump by string ID, and converts class names to their
 * displayed form.
 */
#include "import/context.h"

#include <string.h>

uint32_t import_text_place_no(const struct import *im, uint64_t string_id)
{
	return base_idmap_get(&im->texts.places_by_id, string_id);
}

const struct import_text_place *import_text_place_at(const struct import *im, uint32_t no)
{
	return no == BASE_IDMAP_NONE ? NULL :
				       base_vec_at(&im->texts.places, struct import_text_place, no);
}

const struct import_text_place *import_text_place(const struct import *im, uint64_t string_id)
{
	return import_text_place_at(im, import_text_place_no(im, string_id));
}

int import_text_put(struct import *im, const char *text, size_t size, uint32_t *no,
		    struct hdb_error *err)
{
	if (im->texts.writer.count >= STORE_NONE)
		return hdb_fail(err, HDB_ELIMIT, "too many strings (limit %" PRIu32 ")",
				STORE_NONE);
	*no = (uint32_t)im->texts.writer.count;
	return store_texts_put(&im->texts.writer, text, size, err);
}

int import_text_read(struct import *im, const struct import_text_place *place,
		     struct base_view *view, struct import_text *out, struct hdb_error *err)
{
	out->size = place->size > STORE_TEXT_MAX ? STORE_TEXT_MAX : place->size;
	out->bytes = (const char *)base_view_at(view, place->offset, out->size, err);
	if (!out->bytes)
		return HDB_EIO;
	if (out->size == place->size)
		return HDB_OK;
	return import_problem(im,
			      &(struct import_trouble){ .kind = STORE_PROBLEM_LONG_TEXT,
							.offset = place->offset,
							.lost_bytes = place->size - out->size },
			      err, "string of %" PRIu32 " bytes truncated to %" PRIu32, place->size,
			      out->size);
}

/* Writes a string to the table when something refers to it for the first time. */
static int write_place(struct import *im, struct import_text_place *place, struct hdb_error *err)
{
	BASE_VIEW(view, im->source);
	struct import_text text;

	TRY(import_text_read(im, place, &view, &text, err));
	return import_text_put(im, text.bytes, text.size, &place->no, err);
}

int import_text_use(struct import *im, uint32_t *text, struct hdb_error *err)
{
	struct import_text_place *place;

	if (*text == BASE_IDMAP_NONE)
		return HDB_OK; /* equal to STORE_NONE */
	place = base_vec_at(&im->texts.places, struct import_text_place, *text);
	if (place->no == STORE_NONE)
		TRY(write_place(im, place, err));
	*text = place->no;
	return HDB_OK;
}

bool import_text_is(const struct import *im, uint64_t string_id, const char *text)
{
	const struct import_text_place *place = import_text_place(im, string_id);
	BASE_VIEW(view, im->source);
	const uint8_t *raw;

	if (!place || place->size != strlen(text))
		return false;
	raw = base_view_at(&view, place->offset, place->size, NULL);
	return raw && memcmp(raw, text, place->size) == 0;
}

/* Type codes of primitive types, in order from HPROF_BOOLEAN. */
static const char signatures[] = "ZCFDBSIJ";

/* Returns the element type for a name like "int[]", or 0 for other names. */
static uint8_t element_of(const char *name)
{
	for (unsigned type = HPROF_BOOLEAN; type <= HPROF_LONG; type++) {
		const char *plain = hprof_type_name((uint8_t)type);
		const size_t n = strlen(plain);

		if (strncmp(name, plain, n) == 0 && strcmp(name + n, "[]") == 0)
			return (uint8_t)type;
	}
	return 0;
}

uint8_t import_class_name(const char *raw, size_t raw_size, char *out, size_t out_size)
{
	uint8_t element_type;
	size_t depth = 0, used;
	const char *core = raw;
	size_t core_size = raw_size;

	while (depth < raw_size && raw[depth] == '[')
		depth++;
	if (depth && raw_size - depth >= 2 && raw[depth] == 'L' && raw[raw_size - 1] == ';') {
		core = raw + depth + 1;
		core_size = raw_size - depth - 2;
	} else if (depth && raw_size - depth == 1) {
		const char *at = memchr(signatures, raw[depth], sizeof(signatures) - 1);

		if (at) {
			core = hprof_type_name((uint8_t)(HPROF_BOOLEAN + (at - signatures)));
			core_size = strlen(core);
		} else {
			depth = 0;
		}
	} else {
		depth = 0;
	}
	/* A name that does not fit is truncated at the end, but its array brackets are kept. */
	if (depth > (out_size - 1) / 4)
		depth = (out_size - 1) / 4;
	if (core_size > out_size - 1 - 2 * depth)
		core_size = out_size - 1 - 2 * depth;
	for (used = 0; used < core_size; used++)
		out[used] = core[used] == '/' ? '.' : core[used];
	for (; depth; depth--) {
		out[used++] = '[';
		out[used++] = ']';
	}
	out[used] = '\0';
	if (used < 2 || strcmp(out + used - 2, "[]") != 0)
		return 0;
	element_type = element_of(out);
	return element_type ? element_type : HPROF_OBJECT;
}
