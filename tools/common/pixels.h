/*
 * common/pixels.h - pictures that a dump has: pixels of bitmaps, and files of images in arrays.
 */
#ifndef COMMON_PIXELS_H
#define COMMON_PIXELS_H

#include "heapdb.h"

#include <stddef.h>

struct pixels {
	uint32_t width, height;
	unsigned pixel_bytes; /* 4: RGBA with multiplied alpha; 2: RGB_565; 1: alpha */
	const uint8_t *bytes; /* width x height x pixel_bytes of them; lent */
};

struct image_kind {
	const char *suffix; /* "jpg" */
	const char *type;   /* "image/jpeg" */
};

/* The first `size` bytes of an array of bytes. *out is owned, even after a failure: free(). */
int image_read(struct hdb *db, uint32_t ix, uint64_t size, uint8_t **out, struct hdb_error *err);

/* What file begins with these bytes: PNG, JPEG or WebP; NULL: none of them. */
const struct image_kind *image_kind_of(const uint8_t *bytes, size_t size);

#endif
