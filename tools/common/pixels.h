/*
 * common/pixels.h - images in a dump: pixels of bitmaps, and image files in byte arrays.
 */
#ifndef COMMON_PIXELS_H
#define COMMON_PIXELS_H

#include "heapdb.h"

#include <stddef.h>

struct pixels {
	uint32_t width, height;
	unsigned pixel_bytes; /* 4 for premultiplied RGBA, 2 for RGB_565, 1 for alpha only */
	const uint8_t *bytes; /* width x height x pixel_bytes bytes; borrowed */
};

struct image_kind {
	const char *suffix; /* file suffix: "jpg" */
	const char *type;   /* media type: "image/jpeg" */
};

/* Reads the first `size` bytes of a byte array. The caller frees *out, even after a failure. */
int image_read(struct hdb *db, uint32_t ix, uint64_t size, uint8_t **out, struct hdb_error *err);

/* Identifies PNG, JPEG or WebP by the first bytes. Returns NULL if the bytes match no format. */
const struct image_kind *image_kind_of(const uint8_t *bytes, size_t size);

#endif
