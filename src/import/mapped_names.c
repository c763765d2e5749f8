/* import/mapped_names.c - replaces names in the dump with names from a mapping file. */
#include "import/mapped_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Maximum size of the text for a method and the methods that were inlined into it. */
#define METHOD_MAX_BYTES 4096u

int import_mapping_open(struct import *im, struct hdb_error *err)
{
	if (!im->opt->mapping_path)
		return HDB_OK;
	return import_mapping_read(&im->names.mapping, im->opt->mapping_path, err);
}

int import_put_mapping_meta(struct import *im, struct hdb_error *err)
{
	/*
	 * Stores the full path, so that the file can be found if the dump is imported again from
	 * another directory.
	 */
	char *path = realpath(im->opt->mapping_path, NULL);
	const struct import_number numbers[] = {
		{ "names.classes", im->names.class_count },
		{ "names.fields", im->names.field_count },
		{ "names.frames", im->names.frame_count },
	};
	int r = store_put_meta_text(im->writer, "import.mapping",
				    path ? path : im->opt->mapping_path, err);

	free(path);
	TRY(r);
	return import_put_numbers(im, numbers, BASE_COUNT(numbers), err);
}

/*
 * Returns the number of a string that is not in the dump. Equal strings get the same number. Only
 * hashes of strings are compared.
 */
static int put_text(struct import *im, const char *text, size_t size, uint32_t *no,
		    struct hdb_error *err)
{
	const uint64_t hash = XXH3_64bits_withSeed(text, size, base_hash_seed());

	*no = base_idmap_get(&im->names.texts, hash);
	if (*no != BASE_IDMAP_NONE)
		return HDB_OK;
	TRY(import_text_put(im, text, size, no, err));
	return base_idmap_put(&im->names.texts, hash, *no, err);
}

/*
 * Reads the text at a place of the dump. Returns false if the text cannot be read. The text is
 * valid until the view is used again.
 */
static bool dump_text(const struct import *im, struct base_view *view, uint32_t place_no,
		      struct import_mapping_text *out)
{
	const struct import_text_place *place = import_text_place_at(im, place_no);

	if (!place || place->size > STORE_TEXT_MAX)
		return false; /* names in mapping files are shorter than this */
	out->text = (const char *)base_view_at(view, place->offset, place->size, NULL);
	out->size = place->size;
	return out->text != NULL;
}

/* ---- classes and fields ---- */

/*
 * Replaces the name of a class. The name in the mapping file does not include the brackets of an
 * array class, so this function appends the brackets to the new name.
 */
int import_map_class(struct import *im, struct import_class *class, char *name, size_t room,
		     struct hdb_error *err)
{
	const size_t core = strcspn(name, "["), tail = strlen(name) - core;
	const uint32_t no = import_mapping_find(&im->names.mapping, name, core);
	const struct import_mapping_text *to;

	class->mapping_no = no;
	if (no == BASE_IDMAP_NONE)
		return HDB_OK;
	to = &import_mapping_class(&im->names.mapping, no)->name;
	if (to->size + tail + 1 > room)
		return hdb_fail(err, HDB_ELIMIT, "%s: a class name is too long (%zu bytes)",
				im->opt->mapping_path, to->size);
	memmove(name + to->size, name + core, tail + 1);
	memcpy(name, to->text, to->size);
	im->names.class_count++;
	return import_mapping_use(&im->names.mapping, no, err);
}

int import_map_field(struct import *im, const struct import_class *class, uint64_t string_id,
		     uint32_t *text, struct hdb_error *err)
{
	struct import_mapping_text name, to;
	BASE_VIEW(view, im->source);

	*text = import_text_place_no(im, string_id);
	if (class->mapping_no == BASE_IDMAP_NONE || !im->names.mapping.text ||
	    !dump_text(im, &view, *text, &name) ||
	    !import_mapping_field(&im->names.mapping, class->mapping_no, name.text, name.size, &to))
		return import_text_use(im, text, err);
	im->names.field_count++;
	return put_text(im, to.text, to.size, text, err);
}

/* ---- frames ---- */

/*
 * Writes all methods to which a line belongs, such as "run [inlined into com.acme.Main.start:14]".
 */
static void write_method(const struct import_mapping_frame *frames, size_t count,
			 const struct import_mapping_class *class, char *buf, size_t room)
{
	size_t at = (size_t)snprintf(buf, room, "%.*s", (int)frames[0].method.size,
				     frames[0].method.text);

	for (size_t i = 1; i < count && at < room; i++) {
		const struct import_mapping_text *of =
			frames[i].class_name.size ? &frames[i].class_name : &class->name;

		at += (size_t)snprintf(buf + at, room - at, "%s%.*s.%.*s",
				       i == 1 ? " [inlined into " : ", ", (int)of->size, of->text,
				       (int)frames[i].method.size, frames[i].method.text);
		if (frames[i].line >= 1 && at < room)
			at += (size_t)snprintf(buf + at, room - at, ":%d", frames[i].line);
	}
	if (count > 1 && at < room)
		(void)snprintf(buf + at, room - at, "]");
}

/* Writes the strings that the frame takes from the dump. */
static int use_texts(struct import *im, struct store_frame *frame, bool has_method, bool has_source,
		     struct hdb_error *err)
{
	TRY(import_text_use(im, &frame->signature_text, err));
	if (has_method)
		TRY(import_text_use(im, &frame->method_text, err));
	return has_source ? import_text_use(im, &frame->source_text, err) : HDB_OK;
}

int import_map_frame(struct import *im, struct store_frame *frame, uint32_t no,
		     struct hdb_error *err)
{
	struct import_mapping *m = &im->names.mapping;
	struct import_mapping_frame frames[IMPORT_MAPPING_INLINED];
	const struct import_mapping_class *class;
	struct import_mapping_text name;
	char method[METHOD_MAX_BYTES];
	BASE_VIEW(view, im->source);
	size_t count;

	if (no == BASE_IDMAP_NONE)
		return use_texts(im, frame, true, true, err);
	TRY(import_mapping_use(m, no, err));
	class = import_mapping_class(m, no);
	if (!dump_text(im, &view, frame->method_text, &name))
		return use_texts(im, frame, true, true, err);
	count = import_mapping_method(m, no, &name, frame->line, frames);
	if (count) {
		write_method(frames, count, class, method, sizeof(method));
		TRY(put_text(im, method, strlen(method), &frame->method_text, err));
		frame->line = frames[0].line >= 1 ? frames[0].line : frame->line;
		im->names.frame_count++;
	}
	if (count && frames[0].class_name.size) {
		TRY(put_text(im, frames[0].class_name.text, frames[0].class_name.size,
			     &frame->class_text, err));
		class = import_mapping_original(m, &frames[0].class_name);
	}
	frame->source_text = class ? frame->source_text : STORE_NONE;
	TRY(use_texts(im, frame, !count, !class || !class->source.size, err));
	if (!class || !class->source.size)
		return HDB_OK;
	return put_text(im, class->source.text, class->source.size, &frame->source_text, err);
}
