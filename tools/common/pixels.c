/*
 * common/pixels.c - implements pixels.h.
 */
#include "common/pixels.h"

#include "base/error.h"
#include "base/scope.h"

#include <string.h>

/* Array elements per read. */
#define CHUNK 8192u

int image_read(struct hdb *db, uint32_t ix, uint64_t size, uint8_t **out, struct hdb_error *err)
{
	uint64_t bits[CHUNK];
	struct hdb_slice slice = { .struct_size = sizeof(slice), .bits = bits };

	TRY(BASE_ALLOC(*out, size, "an image", err));
	for (; slice.from < size; slice.from += slice.count) {
		slice.room = size - slice.from < CHUNK ? (size_t)(size - slice.from) : CHUNK;
		TRY(hdb_elements(db, ix, &slice, err));
		if (!slice.count)
			return hdb_fail(err, HDB_ECORRUPT,
					"the image array is too short: %" PRIu64
					" bytes, expected %" PRIu64,
					slice.from, size);
		for (size_t i = 0; i < slice.count; i++)
			(*out)[slice.from + i] = (uint8_t)bits[i];
	}
	return HDB_OK;
}

const struct image_kind *image_kind_of(const uint8_t *bytes, size_t size)
{
	static const struct image_kind png = { "png", "image/png" };
	static const struct image_kind jpeg = { "jpg", "image/jpeg" };
	static const struct image_kind webp = { "webp", "image/webp" };

	if (size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0)
		return &png;
	if (size >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
		return &jpeg;
	if (size >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0)
		return &webp;
	return NULL;
}
