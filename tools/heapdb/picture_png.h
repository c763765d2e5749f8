/*
 * heapdb/picture_png.h - the pixels of an Android bitmap as a PNG file.
 */
#ifndef HEAPDB_PICTURE_PNG_H
#define HEAPDB_PICTURE_PNG_H

#include "heapdb.h"

#include <stdbool.h>
#include <stdio.h>

/* Sides of pictures that are written, in pixels: more than any screen's or camera's. */
#define PICTURE_SIDE_MAX 65535

struct picture_pixels {
	uint32_t width, height; /* 1 to PICTURE_SIDE_MAX */
	unsigned
		pixel_bytes; /* 4: RGBA with multiplied alpha; 2: RGB_565; 1: alpha; others: none */
	const uint8_t *bytes; /* width x height x pixel_bytes of them; lent */
};

/* Whether this program was built with libpng. */
bool picture_png_is_there(void);

/*
 * Writes them. HDB_EUSAGE for pixels of another kind, HDB_EIO, HDB_ENOMEM; HDB_EBUG without libpng.
 */
int picture_png_write(const struct picture_pixels *pixels, FILE *file, struct hdb_error *err);

#endif
