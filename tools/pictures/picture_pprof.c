/*
 * pictures/picture_pprof.c - writes a profile for pprof. It has one function per name, and one
 * sample per node with its own bytes, whose stack is the node's path. The format is profile.proto,
 * a protocol buffer: each field is a tag followed by a number, or by a size and bytes.
 */
#include "pictures/picture_private.h"

#include "base/scope.h"
#include "base/error.h"

#include <string.h>

/* Field numbers of Profile, and wire types. */
enum { SAMPLE_TYPE = 1, SAMPLE, LOCATION = 4, FUNCTION, STRINGS, COMMENT = 13 };
enum { NUMBER, BYTES = 2 };

/* Fixed strings, in the order of their indexes. */
enum { NOTHING, RETAINED, UNIT, TITLE, NAMES };

static size_t size_of(uint64_t number)
{
	size_t size = 1;

	for (; number > 127; number >>= 7)
		size++;
	return size;
}

static void put(struct output *out, uint64_t number)
{
	for (; number > 127; number >>= 7)
		output_char(out, (char)(number | 128));
	output_char(out, (char)number);
}

static void put_number(struct output *out, unsigned field, uint64_t number)
{
	put(out, field << 3 | NUMBER);
	put(out, number);
}

/* Begins a field of `size` bytes, which follow. */
static void put_head(struct output *out, unsigned field, size_t size)
{
	put(out, field << 3 | BYTES);
	put(out, size);
}

static void put_text(struct output *out, const char *text, size_t size)
{
	put_head(out, STRINGS, size);
	for (size_t i = 0; i < size; i++)
		output_char(out, text[i]);
}

static void put_sample(struct output *out, const struct picture *picture, const size_t *of,
		       size_t node)
{
	const uint64_t bytes = picture->nodes[node].self;
	size_t ids = 0;

	for (size_t n = node; n != 0; n = picture->nodes[n].parent)
		ids += size_of(of[n] + 1);
	put_head(out, SAMPLE, 1 + size_of(ids) + ids + 2 + size_of(bytes));
	put_head(out, 1, ids);
	for (size_t n = node; n != 0; n = picture->nodes[n].parent)
		put(out, of[n] + 1);
	put_head(out, 2, size_of(bytes));
	put(out, bytes);
}

/* Writes a function and its only location. */
static void put_function(struct output *out, size_t no)
{
	const size_t size = size_of(no + 1);

	put_head(out, LOCATION, 1 + size + 3 + size);
	put_number(out, 1, no + 1);
	put_head(out, 4, 1 + size);
	put_number(out, 1, no + 1);
	put_head(out, FUNCTION, 1 + size + 1 + size_of(NAMES + no));
	put_number(out, 1, no + 1);
	put_number(out, 2, NAMES + no);
}

int picture_pprof(struct picture *picture, struct output *out, struct hdb_error *err)
{
	static const char *const texts[] = {
		[NOTHING] = "", [RETAINED] = "retained", [UNIT] = "bytes"
	};
	BASE_SCOPED(picture_frames_release) struct picture_frames frames = { 0 };

	if (out->is_terminal)
		return hdb_fail(err, HDB_EUSAGE,
				"pprof profiles are binary; use -o FILE to write to a file");
	TRY(picture_frames(picture, &frames, err));
	put_head(out, SAMPLE_TYPE, 4);
	put_number(out, 1, RETAINED);
	put_number(out, 2, UNIT);
	for (size_t i = 1; i < picture->count; i++)
		if (picture->nodes[i].self)
			put_sample(out, picture, frames.of, i);
	for (size_t i = 0; i < frames.count; i++)
		put_function(out, i);
	for (size_t i = NOTHING; i < TITLE; i++)
		put_text(out, texts[i], strlen(texts[i]));
	put_text(out, picture->title, strlen(picture->title));
	for (size_t i = 0; i < frames.count; i++)
		put_text(out, picture_name(picture, frames.nodes[i]),
			 picture->nodes[frames.nodes[i]].size);
	put_number(out, COMMENT, TITLE);
	return HDB_OK;
}
